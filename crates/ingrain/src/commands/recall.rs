//! `recall`: searches four sources at once. `audit` and `workflow`: write to two of them.

use clap::{Args, Subcommand};
use engine::{AuditEntry, RecallQuery, RecallResults, Remembered, StepOutput};
use serde_json::{Map, Value};

use crate::commands::Job;
use crate::commands::page_args::LimitArgs;
use crate::error::Failure;
use crate::json_views::SavedView;
use crate::output::{Output, Tone};
use crate::text_io::{one_line, parse_time, read_content};

#[derive(Debug, Args)]
pub struct RecallArgs {
    /// Query, for episodes, audit log, workflow steps and documents
    #[arg(value_name = "QUERY", required = true)]
    words: Vec<String>,
    /// Minimum similarity of hits found by vector only; default: the setting `limits.similarity_min` (0.7)
    #[arg(long, value_name = "0..1")]
    similarity: Option<f64>,
    #[command(flatten)]
    limit: LimitArgs,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Add an entry that every caller of the tenant can find
    Add {
        /// Text of the entry; `-` reads stdin
        message: String,
        #[arg(long, value_name = "NAME", help = "Name of the action, for example deploy.finished")]
        action: String,
        /// Metadata as a JSON object
        #[arg(long, value_name = "JSON")]
        meta: Option<String>,
        #[arg(long, value_name = "TIME", help = "Time of the action; default: now")]
        at: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct WorkflowArgs {
    #[command(subcommand)]
    command: WorkflowCommand,
}

#[derive(Debug, Subcommand)]
enum WorkflowCommand {
    /// Save the output of a step, for every caller of the tenant to find
    Step {
        /// Name of the workflow
        #[arg(value_name = "WORKFLOW")]
        workflow: String,
        /// Name of the step
        #[arg(value_name = "STEP")]
        step: String,
        /// Output of the step; `-` reads stdin
        output: String,
        #[arg(long, value_name = "TIME", help = "Time of completion; default: now")]
        at: Option<String>,
    },
}

impl RecallArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let query = RecallQuery {
            // People do not quote a query; all words are one.
            text: self.words.join(" "),
            similarity_min: self.similarity,
            limit: self.limit.requested_count(),
        };
        let recalled = job.session.engine.search_my_memories(&job.session.caller, &query)?;
        job.output.print_answer(&recalled, || render_recalled(job.output, &recalled))
    }
}

fn render_recalled(output: &Output, recalled: &RecallResults) -> String {
    let mut text = String::new();
    for (rank, found) in recalled.recollections.iter().enumerate() {
        let head = format!("{}. {}", rank + 1, found.title.as_deref().map(one_line).unwrap_or_default());
        // Same spelling as in JSON.
        let source = serde_json::to_value(found.source).ok().and_then(|word| word.as_str().map(str::to_owned));
        text += &format!(
            "{}  {}\n   {}\n   {}\n",
            output.paint(Tone::Strong, &head),
            output.paint(Tone::Good, &format!("{:.4}", found.score)),
            one_line(&found.content),
            output.paint(
                Tone::Faint,
                &format!("{} · {} · {}", source.unwrap_or_default(), found.author, found.at.strftime("%F"))
            ),
        );
    }
    if recalled.recollections.is_empty() {
        text += "nothing found\n";
    }
    // Only a note, and exit 0: the other sources have answered.
    for warning in &recalled.warnings {
        text += &format!("note: {}\n", one_line(warning));
    }
    for failure in &recalled.failed {
        text += &format!("note: {:?} could not be searched [{}]\n", failure.source, failure.code);
    }
    text
}

impl AuditArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let AuditCommand::Add { message, action, meta, at } = self.command;
        // A span counts back: an action is recorded after it happened.
        let at = at.as_deref().map(|text| parse_time(&*job.session.engine.clock, text, false)).transpose()?;
        let meta = meta.as_deref().map(parse_object).transpose()?.unwrap_or_default();
        let entry = AuditEntry { action, message: read_content(Some(&message), None)?, meta, at };
        print_recorded(job, job.session.engine.record_audit(&job.session.caller, entry)?)
    }
}

impl WorkflowArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let WorkflowCommand::Step { workflow, step, output, at } = self.command;
        let completed_at = at.as_deref().map(|text| parse_time(&*job.session.engine.clock, text, false)).transpose()?;
        let output = read_content(Some(&output), None)?;
        let step = StepOutput { workflow, step, output, completed_at };
        print_recorded(job, job.session.engine.record_step(&job.session.caller, step)?)
    }
}

fn print_recorded(job: &Job<'_>, answer: Remembered) -> Result<(), Failure> {
    match answer {
        Remembered::Refused(refusal) => Err(refusal.into()),
        Remembered::Saved(saved) => {
            job.output.print_answer(&SavedView::from(&*saved), || format!("recorded {}", saved.memory.id))
        }
    }
}

fn parse_object(text: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text).map_err(|_| Failure::user_error("shape.metadata", "`--meta` is not a JSON object"))
}
