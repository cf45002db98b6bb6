//! `context`: what a model is shown before its turn.

use clap::{Args, ValueEnum};
use engine::receipt::Considered;
use engine::{Context, ContextRequest};
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::Job;
use crate::commands::filters::Filters;
use crate::error::Failure;
use crate::text::content;

#[derive(Debug, Args)]
pub struct ContextCommand {
    /// The latest message of the user; `-` reads stdin
    #[arg(value_name = "MESSAGE")]
    message: String,
    /// Tokens it may cost; default: `limits.context_budget_tokens`
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Ranked memories shown at most
    #[arg(long, value_name = "N")]
    max: Option<usize>,
    #[arg(long, value_enum, default_value_t = Format::Text, help = "How to answer")]
    format: Format,
    #[command(flatten)]
    filters: Filters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The two blocks, ready for a system message
    Text,
    /// Everything, with the candidates and what became of them
    Json,
    /// Chat messages: the blocks as a system message, then the user's
    Messages,
}

#[derive(Serialize)]
struct ContextView<'a> {
    text: &'a str,
    tokens: usize,
    receipt: Option<&'a str>,
    candidates: &'a [Considered],
    skipped: &'a [String],
}

impl ContextCommand {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let message = content(Some(&self.message), None)?;
        let request = ContextRequest {
            message: message.clone(),
            budget_tokens: self.budget,
            memories_max: self.max,
            filter: self.filters.filter(job)?,
        };
        let context = job.session.engine.context(&job.session.caller, &request)?;
        match self.format {
            Format::Messages => job.output.value(&messages(&context, &message)),
            Format::Text if !job.output.json => {
                context.skipped.iter().for_each(|what| job.output.note(&format!("note: {what}")));
                job.output.text(&context.text)
            }
            Format::Text | Format::Json => job.output.value(&view(&context)),
        }
    }
}

fn view(context: &Context) -> ContextView<'_> {
    ContextView {
        text: &context.text,
        tokens: context.tokens,
        receipt: context.receipt.as_deref(),
        candidates: &context.candidates,
        skipped: &context.skipped,
    }
}

fn messages(context: &Context, message: &str) -> Value {
    let memory = (!context.text.is_empty()).then(|| json!({ "role": "system", "content": context.text }));
    let user = json!({ "role": "user", "content": message });
    json!({ "messages": memory.into_iter().chain([user]).collect::<Vec<_>>(), "receipt": context.receipt })
}
