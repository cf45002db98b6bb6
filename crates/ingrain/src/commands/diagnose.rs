//! `why-not` and `diagnose`: explain why a memory is or is not found. Neither writes usage counters or receipts.

use clap::{Args, Subcommand};
use engine::{Diagnosis, MemoryReference, SearchQuery, SessionMemory, SessionReceipt, SessionReport};

use crate::commands::Job;
use crate::commands::filter_args::FilterArgs;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct WhyNotArgs {
    /// Query to explain
    #[arg(long, value_name = "TEXT")]
    query: String,
    /// Id or path of the memory
    #[arg(long, value_name = "MEMORY")]
    id: String,
    #[command(flatten)]
    filters: FilterArgs,
}

#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    #[command(subcommand)]
    command: DiagnoseCommand,
}

#[derive(Debug, Subcommand)]
enum DiagnoseCommand {
    /// Show the memories and receipts of one session or conversation
    Session {
        /// Id of the session or conversation
        #[arg(value_name = "ID")]
        id: String,
    },
}

impl WhyNotArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let id = engine.locate(caller, &MemoryReference::parse(None, &self.id))?.id;
        let query = SearchQuery { text: self.query, filter: self.filters.to_filter(job)?, ..SearchQuery::default() };
        let diagnosis = engine.diagnose(caller, &query, id)?;
        job.output.print_answer(&diagnosis, || render_diagnosis(job.output, &diagnosis))
    }
}

fn render_diagnosis(output: &Output, diagnosis: &Diagnosis) -> String {
    let search = &diagnosis.search;
    // The headings have the length of `context`, so that the answers line up.
    let mut text = format!("{} {}", output.paint(Tone::Strong, "search "), search.reason);
    if let (Some(score), Some(cutoff)) = (search.score, search.cutoff) {
        text += &format!(" (score {score:.4}, the last one returned has {cutoff:.4})");
    }
    let context = match &diagnosis.context {
        None => match &diagnosis.context_left_out {
            Some(reason) => format!("not a candidate: {reason}"),
            None => "not a candidate".to_owned(),
        },
        Some(considered) => match considered.block {
            Some(_) => format!("shown: {}", considered.reason),
            None => format!("not shown: {}", considered.reason),
        },
    };
    text += &format!("\n{} {context}", output.paint(Tone::Strong, "context"));
    if let Some(recall) = &diagnosis.recall {
        text += &format!("\n{} {recall}", output.paint(Tone::Strong, "recall "));
    }
    text
}

impl DiagnoseArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let DiagnoseCommand::Session { id } = self.command;
        let report = job.session.engine.diagnose_session(&job.session.caller, &id)?;
        job.output.print_answer(&report, || render_session(job.output, &report))
    }
}

fn render_session(output: &Output, report: &SessionReport) -> String {
    let memory = |memory: &SessionMemory| {
        vec![
            memory.turn.map(|turn| turn.to_string()).unwrap_or_default(),
            memory.store.clone(),
            memory.state.to_string(),
            format!("{:.4}", memory.importance_now),
            memory.left_out.clone().unwrap_or_else(|| "can be recalled".to_owned()),
            memory.id.to_string(),
        ]
    };
    let receipt = |receipt: &SessionReceipt| {
        vec![
            receipt.id.clone(),
            receipt.at.strftime("%F %T").to_string(),
            receipt.tokens.to_string(),
            receipt.shown.to_string(),
            receipt.over_budget.to_string(),
            receipt.below.to_string(),
            receipt.skipped.join("; "),
        ]
    };
    let memory_header = ["turn", "store", "state", "importance", "recall", "id"];
    let receipt_header = ["receipt", "at", "tokens", "shown", "over budget", "below", "skipped"];
    [
        output.render_table(&memory_header, report.memories.iter().map(memory)),
        output.render_table(&receipt_header, report.receipts.iter().map(receipt)),
    ]
    .join("\n")
}
