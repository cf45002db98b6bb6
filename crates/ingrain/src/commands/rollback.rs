//! `rollback`: undoes the activation of a memory.

use clap::Args;
use engine::RollbackOutcome;
use serde_json::json;

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::error::Failure;
use crate::output::Tone;

#[derive(Debug, Args)]
pub struct RollbackArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    /// Restore the memory it replaced, or its own version before; repeated, one version further back, then none
    #[arg(long)]
    restore: bool,
    #[arg(long, help = "Reason, kept in the history")]
    reason: Option<String>,
}

impl RollbackArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let id = self.reference.resolve_id(job)?;
        match job.session.engine.rollback(&job.session.caller, id, self.restore, self.reason.as_deref())? {
            RollbackOutcome::Refused(refusal) => Err(refusal.into()),
            RollbackOutcome::Done(done) => {
                let restored: Vec<_> = done.restored.iter().map(|memory| memory.id).collect();
                let not_restored: Vec<_> =
                    done.not_restored.iter().map(|(id, why)| json!({ "id": id, "why": why })).collect();
                let view = json!({
                    "status": "rolled_back",
                    "id": done.memory.id,
                    "state": done.memory.state,
                    "restored": restored,
                    "not_restored": not_restored,
                });
                job.output.print_answer(&view, || {
                    let mut text = format!("{} {}", job.output.paint(Tone::Good, "rolled back"), done.memory.id);
                    for id in &restored {
                        let how = if *id == done.memory.id { "earlier version restored" } else { "active again" };
                        text += &format!("\n  {how}: {id}");
                    }
                    done.not_restored.iter().for_each(|(id, why)| text += &format!("\n  not restored: {id}: {why}"));
                    text
                })
            }
        }
    }
}
