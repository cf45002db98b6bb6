//! `quarantine`, `lineage`, `verify-by` and `ban`.

use clap::{Args, Subcommand};
use engine::text::plural::format_count;
use engine::{QuarantineOutcome, TransitionOutcome};
use serde_json::json;

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::error::Failure;
use crate::json_views::{MemoryView, StatusView};
use crate::output::Tone;
use crate::text_io::{one_line, parse_time};

#[derive(Debug, Args)]
pub struct QuarantineArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    /// Also hold back everything derived from it
    #[arg(long)]
    derived: bool,
    /// Release what a quarantine of this memory held back
    #[arg(long, visible_alias = "release", conflicts_with = "derived")]
    undo: bool,
    #[arg(long, help = "Reason, kept in the history")]
    reason: Option<String>,
}

impl QuarantineArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let (id, reason) = (self.reference.resolve_id(job)?, self.reason.as_deref());
        let (done, status) = match self.undo {
            true => (engine.release(caller, id, reason)?, "released"),
            false => (engine.quarantine(caller, id, self.derived, reason)?, "quarantined"),
        };
        match done {
            QuarantineOutcome::Refused(refusal) => Err(refusal.into()),
            QuarantineOutcome::Done(reach) => {
                let ids: Vec<_> = reach.memories.iter().map(|memory| memory.id).collect();
                job.output.print_answer(&json!({ "status": status, "memories": ids, "reached": reach.reached }), || {
                    let reached = format_count(ids.len(), "memory", "memories");
                    let mut text = format!("{} {reached}", job.output.paint(Tone::Good, status));
                    for memory in &reach.memories {
                        text += &format!("\n  {} {}: {}", memory.id, memory.store, one_line(memory.summary_line()));
                    }
                    reach.reached.iter().for_each(|name| text += &format!("\n  had reached {name}"));
                    text
                })
            }
        }
    }
}

#[derive(Debug, Args)]
pub struct LineageArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
}

impl LineageArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let lineage = job.session.engine.lineage(&job.session.caller, self.reference.resolve_id(job)?)?;
        let views = |memories: &'_ [engine::model::memory::Memory]| {
            json!(memories.iter().map(MemoryView::from).collect::<Vec<_>>())
        };
        job.output.print_answer(
            &json!({ "sources": views(&lineage.sources), "derived": views(&lineage.derived) }),
            || {
                let row = |word: &'static str| {
                    move |memory: &engine::model::memory::Memory| {
                        vec![
                            word.to_owned(),
                            memory.id.to_string(),
                            memory.store.clone(),
                            memory.state.to_string(),
                            one_line(memory.summary_line()),
                        ]
                    }
                };
                let rows =
                    lineage.sources.iter().map(row("derived from")).chain(lineage.derived.iter().map(row("source of")));
                job.output.render_table(&["", "id", "store", "state", "summary"], rows)
            },
        )
    }
}

#[derive(Debug, Args)]
pub struct VerifyByArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    /// Time, date or span from now (90d) until which it is valid; afterwards it has the trust of a draft
    #[arg(long, value_name = "TIME", required_unless_present = "never")]
    until: Option<String>,
    /// It needs no further verification
    #[arg(long, conflicts_with = "until")]
    never: bool,
    #[arg(long, help = "Reason, kept in the history")]
    reason: Option<String>,
}

impl VerifyByArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let engine = &job.session.engine;
        let until = self.until.as_deref().map(|text| parse_time(&*engine.clock, text, true)).transpose()?;
        match engine.verify_by(&job.session.caller, self.reference.resolve_id(job)?, until, self.reason)? {
            TransitionOutcome::Refused(refusal) => Err(refusal.into()),
            TransitionOutcome::Done(memory) => job.output.print_answer(&StatusView::new("confirmed", &memory), || {
                let until = memory.verify_by.map_or("without an end".to_owned(), |at| format!("until {at}"));
                format!("{} {} {until}", job.output.paint(Tone::Good, "confirmed"), memory.id)
            }),
        }
    }
}

#[derive(Debug, Args)]
pub struct BanArgs {
    #[command(subcommand)]
    command: BanCommand,
}

#[derive(Debug, Subcommand)]
enum BanCommand {
    /// List bans, newest first: digest, scope, cause, time and reason, not the text
    List,
    /// Allow a banned value to be saved again
    Lift {
        /// Digest of the value, as `ban list` prints it
        #[arg(value_name = "DIGEST")]
        digest: String,
    },
}

impl BanArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            BanCommand::List => {
                let bans = engine.bans(caller)?;
                job.output.print_answer(&json!({ "bans": bans }), || {
                    let row = |ban: &engine::tenant::bans::Ban| {
                        vec![
                            ban.digest.clone(),
                            ban.scope.to_string(),
                            ban.cause.to_string(),
                            ban.at.to_string(),
                            ban.why.clone().unwrap_or_default(),
                        ]
                    };
                    job.output.render_table(&["digest", "scope", "cause", "when", "why"], bans.iter().map(row))
                })
            }
            BanCommand::Lift { digest } => {
                let ban = engine.lift_ban(caller, &digest)?;
                job.output.print_answer(&json!({ "status": "lifted", "ban": ban }), || {
                    format!("{} it may be saved again in {}", job.output.paint(Tone::Good, "lifted;"), ban.scope)
                })
            }
        }
    }
}
