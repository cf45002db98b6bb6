//! `propose`: proposes a memory for the workspace, or to forget it; a reviewer decides.

use clap::Args;
use engine::model::review::{Review, Risk};
use engine::{Promotion, ProposalOutcome};
use serde_json::json;

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::commands::remember::EvidenceArgs;
use crate::error::Failure;
use crate::output::Tone;

#[derive(Debug, Args)]
pub struct ProposeArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    /// Target store
    #[arg(long = "to", alias = "target-store", value_name = "SLUG", default_value = "workspace_runbooks")]
    target_store: String,
    /// Target path; default: the path of the memory
    #[arg(long = "path", alias = "target-path", value_name = "PATH")]
    target_path: Option<String>,
    /// Reason, shown to the reviewer
    #[arg(long, alias = "rationale", value_name = "TEXT", default_value = "")]
    reason: String,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// Risk of a wrong approval: low, medium or high
    #[arg(long, default_value = "low")]
    risk: Risk,
    /// Propose to forget the memory instead
    #[arg(long, conflicts_with_all = ["target_store", "target_path", "risk"])]
    forget: bool,
}

impl ProposeArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let proposed = if self.forget {
            engine.propose_forget(caller, &self.reference.to_reference(), self.reason)?
        } else {
            let promotion = Promotion {
                source: self.reference.to_reference(),
                target_store: self.target_store,
                target_path: self.target_path,
                rationale: self.reason,
                evidence: self.evidence.into_evidence(caller),
                risk: self.risk,
            };
            engine.propose(caller, promotion)?
        };
        print_proposal(job, proposed)
    }
}

/// Prints the outcome of a proposal.
pub fn print_proposal(job: &Job<'_>, proposed: ProposalOutcome) -> Result<(), Failure> {
    match proposed {
        ProposalOutcome::Refused(refusal) => Err(refusal.into()),
        ProposalOutcome::Waiting { review, new } => {
            let review: Review = *review;
            let view = json!({
                "status": review.state,
                "review_item_id": review.id,
                // The proposed memory, or the source if the proposal creates none.
                "record_id": review.candidate.or_else(|| review.sources.first().map(|source| source.memory)),
                "new": new,
                "review": review,
            });
            job.output.print_answer(&view, || {
                let word = if new { "proposed" } else { "already proposed" };
                format!(
                    "{} {}; decide with `ingrain review confirm {}`",
                    job.output.paint(Tone::Good, word),
                    review.id,
                    review.id
                )
            })
        }
    }
}
