//! `forget`: take a memory out of use.

use clap::Args;
use engine::{Forgetting, Forgotten};

use crate::commands::Job;
use crate::commands::read::Which;
use crate::error::Failure;
use crate::output::Tone;
use crate::view::DoneView;

#[derive(Debug, Args)]
pub struct Forget {
    #[command(flatten)]
    which: Which,
    #[arg(long, help = "Why, for the history")]
    reason: Option<String>,
    /// The same text may be saved again
    #[arg(long)]
    may_return: bool,
}

impl Forget {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let id = self.which.id(job)?;
        let how = Forgetting { reason: self.reason, may_return: self.may_return, expected: None };
        match job.session.engine.forget_as(&job.session.caller, id, &how)? {
            Forgotten::Refused(refusal) => Err(refusal.into()),
            Forgotten::Done(memory) => job.output.answer(&DoneView::new("forgotten", &memory), || {
                format!("{} {}; its history stays", job.output.paint(Tone::Good, "forgotten"), memory.id)
            }),
        }
    }
}
