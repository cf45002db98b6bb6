//! `pin` and `unpin`: whether every context includes a memory.

use clap::Args;
use engine::TransitionOutcome;

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::error::Failure;
use crate::json_views::StatusView;
use crate::output::Tone;

#[derive(Debug, Args)]
pub struct PinArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
}

impl PinArgs {
    pub fn run(self, job: &Job<'_>, always_inject: bool) -> Result<(), Failure> {
        let word = if always_inject { "pinned" } else { "unpinned" };
        match job.session.engine.pin(&job.session.caller, self.reference.resolve_id(job)?, always_inject)? {
            TransitionOutcome::Refused(refusal) => Err(refusal.into()),
            TransitionOutcome::Done(memory) => job.output.print_answer(&StatusView::new(word, &memory), || {
                format!("{} {}", job.output.paint(Tone::Good, word), memory.id)
            }),
        }
    }
}
