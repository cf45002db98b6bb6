//! `receipt`, `blame` and `reach`: which memories were injected where, and why.

use clap::{Args, Subcommand};
use engine::MemoryReference;
use engine::model::id::MemoryId;
use engine::ports::row::RecordPage;
use engine::recall::usage::MemoryUsage;
use engine::receipts::receipt::{ConsideredMemory, Receipt};
use engine::receipts::render::ContextBlock;
use engine::text::plural::format_count;
use serde_json::json;

use crate::commands::Job;
use crate::commands::page_args::{PageArgs, append_next_cursor};
use crate::error::Failure;
use crate::output::{Output, Tone};
use crate::text_io::one_line;

#[derive(Debug, Args)]
pub struct ReceiptArgs {
    #[command(subcommand)]
    command: ReceiptCommand,
}

#[derive(Debug, Subcommand)]
enum ReceiptCommand {
    /// List receipts, newest first; with --run, only of that run
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one receipt: every candidate, whether it was shown, and why
    Show {
        /// Id of the receipt
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Rebuild the injected block from the same versions of its memories; exit 1 if the bytes differ
    Replay {
        /// Id of the receipt
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Debug, Args)]
pub struct BlameArgs {
    /// Id of the run
    #[arg(value_name = "RUN")]
    run_id: String,
}

#[derive(Debug, Args)]
pub struct ReachArgs {
    /// Id or path of the memory
    #[arg(value_name = "MEMORY")]
    memory: String,
}

/// Exit code of a replay that differs from the injected block, because a version was redacted or erased.
const NOT_EXACT_EXIT_CODE: u8 = 1;

impl ReceiptArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            ReceiptCommand::List { page } => {
                // Elsewhere `--run` says where a call belongs; here it filters.
                let RecordPage { items, next } = engine.receipts(caller, caller.run.as_deref(), &page.into_paging())?;
                let view = json!({ "receipts": items, "next": next });
                job.output
                    .print_answer(&view, || append_next_cursor(render_receipts(job.output, &items), next.as_deref()))
            }
            ReceiptCommand::Show { id } => {
                let receipt = engine.receipt(caller, &id)?;
                job.output.print_answer(&receipt, || render_receipt(job.output, &receipt))
            }
            ReceiptCommand::Replay { id } => {
                let replay = engine.replay(caller, &id)?;
                job.output.print_answer(&replay, || replay.text.clone())?;
                if replay.exact {
                    return Ok(());
                }
                // On stderr: stdout holds the block and nothing else. With `--json` the answer lists the versions.
                if !job.output.json {
                    let redacted = format_count(replay.redacted.len(), "version was", "versions were");
                    let missing = format_count(replay.missing.len(), "is", "are");
                    job.output.print_note(&format!(
                        "note: differs from the injected block; {redacted} redacted since, \
                         {missing} erased or in an archived store"
                    ));
                }
                Err(Failure::AlreadyReported(NOT_EXACT_EXIT_CODE))
            }
        }
    }
}

fn render_receipts(output: &Output, receipts: &[Receipt]) -> String {
    let row = |receipt: &Receipt| {
        let shown = receipt.candidates.iter().filter(|considered| considered.block.is_some()).count();
        vec![
            receipt.id.clone(),
            receipt.at.strftime("%F %T").to_string(),
            receipt.caller.principal.clone(),
            receipt.caller.run.clone().unwrap_or_default(),
            format!("{shown} of {}", receipt.candidates.len()),
            receipt.tokens.to_string(),
            one_line(&receipt.query),
        ]
    };
    output.render_table(&["receipt", "at", "caller", "run", "shown", "tokens", "query"], receipts.iter().map(row))
}

fn render_receipt(output: &Output, receipt: &Receipt) -> String {
    let row = |considered: &ConsideredMemory| {
        let block = match considered.block {
            Some(ContextBlock::Trusted) => "trusted",
            Some(ContextBlock::Untrusted) => "untrusted",
            None => "-",
        };
        vec![
            block.to_owned(),
            format!("{:.4}", considered.score),
            considered.tokens.to_string(),
            format!("{}/{}", considered.store, considered.path.as_deref().unwrap_or_default()),
            considered.reason.clone(),
            considered.memory.to_string(),
        ]
    };
    let head = format!(
        "{} {} for {}, {} of {} tokens\n  query   {}\n  sha256  {}\n",
        output.paint(Tone::Strong, &receipt.id),
        receipt.at.strftime("%F %T"),
        receipt.caller.principal,
        receipt.tokens,
        receipt.settings.budget_tokens,
        one_line(&receipt.query),
        receipt.block_sha256,
    );
    let skipped: String = receipt.skipped.iter().map(|what| format!("  skipped {what}\n")).collect();
    let header = ["block", "score", "tokens", "memory", "reason", "id"];
    head + &skipped + &output.render_table(&header, receipt.candidates.iter().map(row))
}

impl BlameArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let usages = job.session.engine.blame(&job.session.caller, &self.run_id)?;
        let since = job.session.engine.receipts_kept_since(&job.session.caller)?;
        let view = json!({ "run": self.run_id, "memories": usages, "kept_since": since });
        job.output.print_answer(&view, || render_usages(job.output, &usages, since))
    }
}

impl ReachArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let id: MemoryId = engine.locate(caller, &MemoryReference::parse(None, &self.memory))?.id;
        let usages = engine.reach(caller, id)?;
        let since = engine.receipts_kept_since(caller)?;
        let view = json!({ "memory": id, "touches": usages, "kept_since": since });
        job.output.print_answer(&view, || render_usages(job.output, &usages, since))
    }
}

fn render_usages(output: &Output, usages: &[MemoryUsage], since: Option<jiff::Timestamp>) -> String {
    // Even beside an empty answer: older receipts may have been removed.
    let kept = since.map(|since| format!("\nreceipts are kept since {}", since.strftime("%F"))).unwrap_or_default();
    if usages.is_empty() {
        return format!("nothing found{kept}");
    }
    let row = |usage: &MemoryUsage| {
        vec![
            usage.touch.to_string(),
            usage.at.strftime("%F %T").to_string(),
            usage.actor.clone(),
            usage.run.clone().unwrap_or_default(),
            usage.conversation.clone().unwrap_or_default(),
            usage.memory.to_string(),
            usage.version.to_string(),
        ]
    };
    output.render_table(&["touch", "at", "actor", "run", "conversation", "memory", "version"], usages.iter().map(row))
        + &kept
}
