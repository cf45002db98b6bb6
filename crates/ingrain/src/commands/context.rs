//! `context`: the memory block for a turn, or with `--window` the messages of a whole model call.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use engine::model::error::Error;
use engine::model::vocabulary::Purpose;
use engine::receipts::receipt::ConsideredMemory;
use engine::text::decode_error;
use engine::{Context, ContextRequest, SkippedSkill, WindowRequest};
use serde::Serialize;
use serde_json::json;

use crate::commands::Job;
use crate::commands::filter_args::FilterArgs;
use crate::commands::page_args::parse_count;
use crate::error::Failure;
use crate::skills;
use crate::text_io::{read_content, read_stdin, read_text_file};

/// Flags for a turn; rejected together with `--window`.
const TURN_ONLY_FLAGS: [&str; 15] = [
    // Ids of clap, with all fields of `FilterArgs`.
    "message", "budget", "max", "format", "store", "scope", "layer", "kind", "tag", "state", "trust", "since", "until",
    "prefix", "as_of",
];

#[derive(Debug, Args)]
pub struct ContextArgs {
    /// Latest message of the user; `-` reads stdin
    #[arg(value_name = "MESSAGE", required_unless_present = "window")]
    message: Option<String>,
    /// JSON file of a whole model call (window_tokens, system_prompt, skills, turns, tool_results, message): print the
    /// messages that fit; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = TURN_ONLY_FLAGS)]
    window: Option<PathBuf>,
    /// Folder of SKILL.md files to include in the window, never cut (repeatable)
    #[arg(long, value_name = "DIR", requires = "window")]
    skills: Vec<PathBuf>,
    /// Maximum number of tokens; default: the setting `limits.context_budget_tokens` (2200)
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true, value_parser = parse_count)]
    budget: Option<usize>,
    /// Maximum number of ranked memories; default: the setting `limits.context_memories_max` (6)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    max: Option<usize>,
    #[arg(long, value_enum, default_value_t = ContextFormat::Text, help = "Output format")]
    format: ContextFormat,
    /// Decision point to search for: task, tool, approval, content or delegation
    #[arg(long = "for", value_name = "PURPOSE", conflicts_with = "window")]
    purpose: Option<Purpose>,
    #[command(flatten)]
    filters: FilterArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ContextFormat {
    /// The two blocks, for a system message
    Text,
    /// The blocks, the receipt and all candidates with the reason for each
    Json,
    /// Chat messages: the blocks as a system message, then the user's message
    Messages,
}

#[derive(Serialize)]
struct ContextView<'a> {
    text: &'a str,
    tokens: usize,
    receipt: Option<&'a str>,
    candidates: &'a [ConsideredMemory],
    skipped: &'a [String],
}

impl ContextArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        if let Some(file) = &self.window {
            return print_window(job, file, &self.skills);
        }
        let message = read_content(self.message.as_deref(), None)?;
        let request = ContextRequest {
            message: message.clone(),
            budget_tokens: self.budget,
            memories_max: self.max,
            purpose: self.purpose,
            filter: self.filters.to_filter(job)?,
        };
        let mut context = job.session.engine.context(&job.session.caller, &request)?;
        confirm_receipt(job, &mut context.receipt, &mut context.skipped);
        // Both JSON formats answer JSON with and without `--json`.
        match self.format {
            ContextFormat::Messages => {
                let (messages, receipt) = (context.to_messages(&message), &context.receipt);
                job.output.print_json(&json!({ "messages": messages, "receipt": receipt, "skipped": context.skipped }))
            }
            ContextFormat::Text if !job.output.json => {
                // On stderr, so that stdout can go straight into a prompt.
                context.skipped.iter().for_each(|what| job.output.print_note(&format!("note: {what}")));
                job.output.print_text(&context.text)
            }
            ContextFormat::Text | ContextFormat::Json => job.output.print_json(&context_view(&context)),
        }
    }
}

/// Removes the receipt id from the answer if the receipt could not be saved. Waiting for the disk costs nothing extra
/// here: the process flushes before it ends anyway.
fn confirm_receipt(job: &Job<'_>, receipt: &mut Option<String>, skipped: &mut Vec<String>) {
    let Some(id) = receipt.as_deref() else { return };
    let engine = &job.session.engine;
    let flushed = engine.database().flush().map_err(Error::from);
    if let Err(error) = flushed.and_then(|()| engine.receipt(&job.session.caller, id)) {
        // "pending" would be wrong: it will never be saved.
        skipped.retain(|what| what != engine::RECEIPT_PENDING);
        skipped.push(format!("the receipt was not saved: {error}"));
        *receipt = None;
    }
}

/// Prints the messages that fit into the window, and notes on what was cut.
fn print_window(job: &Job<'_>, file: &Path, folders: &[PathBuf]) -> Result<(), Failure> {
    let text = match file.as_os_str() == "-" {
        true => read_stdin()?,
        false => read_text_file(file)?,
    };
    let wrong = |words: String| Failure::user_error("shape.window", format!("the window is not valid: {words}"));
    let mut request: WindowRequest = decode_error::from_slice(text.as_bytes()).map_err(wrong)?;
    let mut left_out = Vec::new();
    for folder in folders {
        let found = skills::read_folder(folder)?;
        request.skills.extend(found.skills.into_iter().map(|(_, skill)| skill));
        left_out.extend(found.left_out.iter().map(SkippedSkill::to_note));
    }
    let mut window = job.session.engine.working_memory(&job.session.caller, &request)?;
    window.notes.extend(left_out);
    confirm_receipt(job, &mut window.receipt, &mut window.notes);
    job.output.print_json(&window)
}

fn context_view(context: &Context) -> ContextView<'_> {
    ContextView {
        text: &context.text,
        tokens: context.tokens,
        receipt: context.receipt.as_deref(),
        candidates: &context.candidates,
        skipped: &context.skipped,
    }
}
