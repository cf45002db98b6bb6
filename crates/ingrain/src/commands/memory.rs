//! `memory`: the words of seed 003 for the same commands.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::commands::read::Which;
use crate::commands::{Job, export, layers, list, review, rollback, search};
use crate::error::Failure;
use crate::text::{one_line, printable};
use crate::view::{MemoryView, VersionView};

#[derive(Debug, Args)]
pub struct Memory {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// List memories
    List(list::List),
    /// One memory with its history, lineage and review
    Inspect(Inspect),
    /// Find memories, best first
    Search(search::Search),
    /// Propose a profile fact
    Profile(layers::Profile),
    /// What waits for a decision, and the decision
    Review(review::Review),
    /// Find semantic memories that say the same
    Semantic(layers::Semantic),
    /// Find procedures of the same workflow
    Procedural(layers::Procedural),
    /// Take back what was activated
    Rollback(rollback::Rollback),
    /// What planning is given for a goal: at most three of each layer
    Context(layers::PlanContext),
    /// Write everything into a file
    Export(export::Export),
}

impl Memory {
    pub fn run(self, job: &Job<'_>, home: &std::path::Path) -> Result<(), Failure> {
        match self.deed {
            Deed::List(command) => command.run(job),
            Deed::Inspect(command) => command.run(job),
            Deed::Search(command) => command.run(job),
            Deed::Profile(command) => command.run(job),
            Deed::Review(command) => command.run(job),
            Deed::Semantic(command) => command.run(job),
            Deed::Procedural(command) => command.run(job),
            Deed::Rollback(command) => command.run(job),
            Deed::Context(command) => command.run(job),
            Deed::Export(command) => command.run(job, home),
        }
    }
}

/// Everything about one memory.
#[derive(Debug, Args)]
pub struct Inspect {
    #[command(flatten)]
    which: Which,
}

impl Inspect {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let reference = self.which.reference();
        let memory = engine.read(caller, &reference)?;
        let versions = engine.history(caller, &engine::Reference::Id(memory.id), None, None)?;
        let lineage = engine.lineage(caller, memory.id)?;
        // A memory nothing was ever proposed about has no review, which is no failure.
        let review = engine.review(caller, &memory.id.to_string()).ok().map(|seen| seen.review);
        let ids =
            |memories: &[engine::model::memory::Memory]| memories.iter().map(|memory| memory.id).collect::<Vec<_>>();
        let view = json!({
            "memory": MemoryView::from(&memory),
            "stale": memory.is_stale(engine.clock.now()),
            "versions": versions.iter().map(VersionView::from).collect::<Vec<_>>(),
            "sources": ids(&lineage.sources),
            "derived": ids(&lineage.derived),
            "review": review,
        });
        job.output.answer(&view, || {
            let mut text = format!("{} {} {} {}\n", memory.id, memory.layer, memory.state, memory.trust);
            text += &format!("{}\n\n{}\n", one_line(memory.summary()), printable(&memory.content));
            for version in &versions {
                text +=
                    &format!("\nversion {} {} by {} {}", version.number, version.operation, version.actor, version.at);
            }
            ids(&lineage.sources).iter().for_each(|id| text += &format!("\nmade from {id}"));
            ids(&lineage.derived).iter().for_each(|id| text += &format!("\ngave rise to {id}"));
            if let Some(review) = &review {
                text += &format!("\nreview {} {} {}", review.id, review.action, review.state);
            }
            text
        })
    }
}
