//! `forget`: tombstones a memory and bans its value.

use clap::Args;
use engine::{ForgetOptions, ForgetOutcome, ProposalOutcome};

use crate::commands::Job;
use crate::commands::propose::print_proposal;
use crate::commands::read::MemoryReferenceArgs;
use crate::error::Failure;
use crate::json_views::StatusView;
use crate::output::Tone;

#[derive(Debug, Args)]
pub struct ForgetArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    #[arg(long, help = "Reason, kept in the history")]
    reason: Option<String>,
    /// Allow the same text to be saved again
    #[arg(long)]
    may_return: bool,
}

impl ForgetArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let id = self.reference.resolve_id(job)?;
        let how = ForgetOptions { reason: self.reason, may_return: self.may_return, ..ForgetOptions::default() };
        match job.session.engine.forget_with_options(&job.session.caller, id, &how)? {
            ForgetOutcome::Refused(refusal) => Err(refusal.into()),
            ForgetOutcome::Proposed { review, new } => print_proposal(job, ProposalOutcome::Waiting { review, new }),
            ForgetOutcome::Done(memory) => job.output.print_answer(&StatusView::new("forgotten", &memory), || {
                format!("{} {}; its history stays", job.output.paint(Tone::Good, "forgotten"), memory.id)
            }),
        }
    }
}
