//! Text that a person reads before they confirm it: shown whole with its version, then decided by a yes on the terminal
//! or by `--read VERSION`. What a command looks up at the moment it runs, nobody has read.

use engine::model::memory::Memory;
use engine::model::refusal::Refusal;
use serde_json::{Value, json};

use crate::commands::Job;
use crate::commands::connect::{can_ask, read_answer};
use crate::error::Failure;
use crate::json_views::MemoryView;
use crate::text_io::escape_controls;

/// Shows the text and asks whether it is confirmed. Where nobody can be asked this is refused, with the command `next`
/// that confirms exactly what was shown.
pub fn confirm_shown(job: &Job<'_>, memory: &Memory, next: &str) -> Result<(), Failure> {
    let message = "this confirms words of somebody else: read them first";
    let refusal = Refusal::new("policy.unread", message).with_hint(format!("if you agree with the text: `{next}`"));
    let failure = Failure::from(refusal);
    if job.output.json {
        let mut view = failure.to_json();
        if let Value::Object(fields) = &mut view {
            fields.insert("memory".to_owned(), json!(MemoryView::from(memory)));
        }
        job.output.print_json(&view)?;
        return Err(Failure::REFUSAL_REPORTED);
    }
    job.output.print_answer(&(), || render_text(memory))?;
    if !can_ask(job.output) {
        return Err(failure);
    }
    // Unlike elsewhere, Enter alone is no yes.
    match read_answer("Confirm this text? [y/N] ").as_deref() {
        Some("y" | "yes") => Ok(()),
        _ => Err(Refusal::new("policy.unread", "not confirmed").into()),
    }
}

/// The text with its version and every field that a confirmation raises.
pub fn render_text(memory: &Memory) -> String {
    let fields = render_fields(memory);
    format!("version: {}{fields}\ntext:\n{}", memory.version, escape_controls(&memory.content))
}

/// Every field besides the content that a confirmation raises with it.
pub fn render_fields(memory: &Memory) -> String {
    let metadata = || Value::Object(memory.metadata.clone()).to_string();
    let fields = [
        ("path", memory.path.clone()),
        ("title", memory.title.clone()),
        ("hint", memory.recall_hint.clone()),
        ("tags", (!memory.tags.is_empty()).then(|| memory.tags.join(", "))),
        ("metadata", (!memory.metadata.is_empty()).then(metadata)),
        ("speaker", memory.speaker.clone()),
        ("session", memory.session.clone()),
        ("pinned", memory.always_inject.then(|| "yes".to_owned())),
    ];
    let shown = fields.into_iter().filter_map(|(name, value)| {
        Some(format!("\n{name}: {}", escape_controls(&value?.split_whitespace().collect::<Vec<_>>().join(" "))))
    });
    shown.collect()
}
