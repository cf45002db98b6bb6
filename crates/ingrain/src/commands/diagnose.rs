//! `why-not`, `diagnose`: why a memory did not come. Asking leaves no trace.

use clap::{Args, Subcommand};
use engine::{Diagnosis, Query, Reference, SessionMemory, SessionReceipt, SessionReport};

use crate::commands::Job;
use crate::commands::filters::Filters;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct WhyNot {
    /// What was asked
    #[arg(long, value_name = "TEXT")]
    query: String,
    /// The memory: its id or path
    #[arg(long, value_name = "MEMORY")]
    id: String,
    #[command(flatten)]
    filters: Filters,
}

#[derive(Debug, Args)]
pub struct Diagnose {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// One session or conversation
    Session {
        #[arg(value_name = "ID")]
        id: String,
    },
}

impl WhyNot {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let id = engine.locate(caller, &Reference::parse(None, &self.id))?.id;
        let query = Query { text: self.query, filter: self.filters.filter(job)?, ..Query::default() };
        let diagnosis = engine.diagnose(caller, &query, id)?;
        job.output.answer(&diagnosis, || told(job.output, &diagnosis))
    }
}

fn told(output: &Output, diagnosis: &Diagnosis) -> String {
    let search = &diagnosis.search;
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

impl Diagnose {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let What::Session { id } = self.what;
        let report = job.session.engine.diagnose_session(&job.session.caller, &id)?;
        job.output.answer(&report, || told_session(job.output, &report))
    }
}

fn told_session(output: &Output, report: &SessionReport) -> String {
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
    let kept = ["turn", "store", "state", "importance", "recall", "id"];
    let told = ["receipt", "at", "tokens", "shown", "over budget", "below", "skipped"];
    [output.table(&kept, report.memories.iter().map(memory)), output.table(&told, report.receipts.iter().map(receipt))]
        .join("\n")
}
