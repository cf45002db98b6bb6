//! `pin` and `unpin`: whether a memory is always given to the model.

use clap::Args;
use engine::Forgotten;

use crate::commands::Job;
use crate::commands::read::Which;
use crate::error::Failure;
use crate::output::Tone;
use crate::view::DoneView;

#[derive(Debug, Args)]
pub struct Pin {
    #[command(flatten)]
    which: Which,
}

impl Pin {
    pub fn run(self, job: &Job<'_>, always_inject: bool) -> Result<(), Failure> {
        let word = if always_inject { "pinned" } else { "unpinned" };
        match job.session.engine.pin(&job.session.caller, self.which.id(job)?, always_inject)? {
            Forgotten::Refused(refusal) => Err(refusal.into()),
            Forgotten::Done(memory) => job.output.answer(&DoneView::new(word, &memory), || {
                format!("{} {}", job.output.paint(Tone::Good, word), memory.id)
            }),
        }
    }
}
