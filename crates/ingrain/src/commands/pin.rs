//! `pin` and `unpin`: whether every context includes a memory.

use clap::Args;
use engine::model::memory::Memory;
use engine::{Pin, TransitionOutcome};
use serde_json::json;

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::error::Failure;
use crate::json_views::StatusView;
use crate::output::Tone;
use crate::text_io::{escape_controls, one_line};

#[derive(Debug, Args)]
pub struct PinArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
}

impl PinArgs {
    pub fn run(self, job: &Job<'_>, always_inject: bool) -> Result<(), Failure> {
        let word = if always_inject { "pinned" } else { "unpinned" };
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        // What is shown below is what was decided on: a version that came in between is a conflict.
        let seen = engine.locate(caller, &self.reference.to_reference())?;
        let pin = Pin { always_inject, expected_version: Some(seen.version) };
        match engine.pin(caller, seen.id, pin)? {
            TransitionOutcome::Refused(refusal) => Err(refusal.into()),
            TransitionOutcome::Done(memory) => job.output.print_answer(&StatusView::new(word, &memory), || {
                let done = format!("{} {}", job.output.paint(Tone::Good, word), memory.id);
                let confirmed = (memory.trust, &memory.field_trust) != (seen.trust, &seen.field_trust);
                if confirmed { done + &confirmed_text(&memory) } else { done }
            }),
        }
    }
}

/// The text that the pin has made the person's own.
fn confirmed_text(memory: &Memory) -> String {
    let tags = (!memory.tags.is_empty()).then(|| memory.tags.join(", "));
    let metadata = (!memory.metadata.is_empty()).then(|| json!(memory.metadata).to_string());
    let heads = [
        ("path", memory.path.as_deref()),
        ("title", memory.title.as_deref()),
        ("hint", memory.recall_hint.as_deref()),
        ("tags", tags.as_deref()),
        ("metadata", metadata.as_deref()),
    ];
    let line = |(name, value): (&str, Option<&str>)| value.map(|value| format!("\n  {name}: {}", one_line(value)));
    let heads: String = heads.into_iter().filter_map(line).collect();
    format!("\nconfirmed as {}:{heads}\n{}", memory.trust, escape_controls(&memory.content))
}
