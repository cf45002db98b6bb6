//! `pin` and `unpin`: whether every context includes a memory.

use clap::Args;
use engine::model::error::Error;
use engine::model::id::VersionId;
use engine::{Pin, TransitionOutcome};

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::commands::read_first::{confirm_shown, render_text};
use crate::error::Failure;
use crate::json_views::StatusView;
use crate::output::Tone;

#[derive(Debug, Args)]
pub struct PinArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    /// Version that you read (`ingrain read`). A pin of an agent's draft makes that text yours, so it needs it
    #[arg(long, value_name = "VERSION")]
    read: Option<VersionId>,
}

impl PinArgs {
    pub fn run(self, job: &Job<'_>, always_inject: bool) -> Result<(), Failure> {
        let word = if always_inject { "pinned" } else { "unpinned" };
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let seen = engine.locate(caller, &self.reference.to_reference())?;
        let pin = |expected_version| engine.pin(caller, seen.id, Pin { always_inject, expected_version });
        let outcome = match pin(self.read) {
            // The pin would confirm somebody else's words, and no version was named.
            Err(Error::Invalid { code: "shape.version_missing", .. }) => {
                let next = format!("ingrain pin {} --read {}", seen.id, seen.version);
                confirm_shown(job, &seen, &next)?;
                // A version that came in between is a conflict: what was shown is what is confirmed.
                pin(Some(seen.version))?
            }
            other => other?,
        };
        match outcome {
            TransitionOutcome::Refused(refusal) => Err(refusal.into()),
            TransitionOutcome::Done(memory) => job.output.print_answer(&StatusView::new(word, &memory), || {
                let done = format!("{} {}", job.output.paint(Tone::Good, word), memory.id);
                match (memory.trust, &memory.field_trust) != (seen.trust, &seen.field_trust) {
                    true => format!("{done}\nconfirmed as {}:\n{}", memory.trust, render_text(&memory)),
                    false => done,
                }
            }),
        }
    }
}
