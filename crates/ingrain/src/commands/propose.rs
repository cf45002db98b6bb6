//! `propose`: put a memory up for everybody, or for forgetting; a person decides.

use clap::Args;
use engine::review::{Review, Risk};
use engine::{Promotion, Proposed};
use serde_json::json;

use crate::commands::Job;
use crate::commands::read::Which;
use crate::commands::remember::Proof;
use crate::error::Failure;
use crate::output::Tone;

#[derive(Debug, Args)]
pub struct Propose {
    #[command(flatten)]
    which: Which,
    /// The store everybody reads
    #[arg(long = "to", alias = "target-store", value_name = "SLUG", default_value = "workspace_runbooks")]
    target_store: String,
    /// Its path there; default: the path it has
    #[arg(long = "path", alias = "target-path", value_name = "PATH")]
    target_path: Option<String>,
    /// Why others should rely on it
    #[arg(long, alias = "rationale", value_name = "TEXT", default_value = "")]
    reason: String,
    #[command(flatten)]
    proof: Proof,
    /// What a wrong approval would cost: low, medium or high
    #[arg(long, default_value = "low")]
    risk: Risk,
    /// Propose to forget it instead
    #[arg(long, conflicts_with_all = ["target_store", "target_path", "risk"])]
    forget: bool,
}

impl Propose {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let proposed = if self.forget {
            engine.propose_forget(caller, &self.which.reference(), self.reason)?
        } else {
            let promotion = Promotion {
                source: self.which.reference(),
                target_store: self.target_store,
                target_path: self.target_path,
                rationale: self.reason,
                evidence: self.proof.pieces(caller),
                risk: self.risk,
            };
            engine.propose(caller, promotion)?
        };
        answer(job, proposed)
    }
}

/// What every proposal answers.
pub fn answer(job: &Job<'_>, proposed: Proposed) -> Result<(), Failure> {
    match proposed {
        Proposed::Refused(refusal) => Err(refusal.into()),
        Proposed::Waiting { review, new } => {
            let review: Review = *review;
            let view = json!({
                "status": review.state,
                "review_item_id": review.id,
                "record_id": review.candidate.or_else(|| review.sources.first().map(|source| source.memory)),
                "new": new,
                "review": review,
            });
            job.output.answer(&view, || {
                let word = if new { "proposed" } else { "waiting already" };
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
