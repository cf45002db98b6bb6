//! `memory`: the commands for layered memory in one group; and `inspect`.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::commands::read::MemoryReferenceArgs;
use crate::commands::{Job, export, layers, list, review, rollback, search};
use crate::error::Failure;
use crate::json_views::{MemoryView, VersionView};
use crate::text_io::{escape_controls, one_line};

#[derive(Debug, Args)]
pub struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// List memories, a page at a time
    List(list::ListArgs),
    /// Show one memory with its history, lineage and review
    Inspect(InspectArgs),
    /// Search memories, best match first
    Search(search::SearchArgs),
    /// Propose profile facts
    Profile(layers::ProfileArgs),
    /// List proposals, and approve or reject them
    Review(review::ReviewArgs),
    /// Find semantic memories that say the same
    Semantic(layers::SemanticArgs),
    /// Find procedures of the same workflow
    Procedural(layers::ProceduralArgs),
    /// Undo the activation of a memory
    Rollback(rollback::RollbackArgs),
    /// Show the memories for planning a goal, at most three per layer
    Context(layers::PlanContextArgs),
    /// Export all memories to a file or folder
    Export(export::ExportArgs),
}

impl MemoryArgs {
    pub fn run(self, job: &Job<'_>, home: &std::path::Path) -> Result<(), Failure> {
        match self.command {
            MemoryCommand::List(command) => command.run(job),
            MemoryCommand::Inspect(command) => command.run(job),
            MemoryCommand::Search(command) => command.run(job),
            MemoryCommand::Profile(command) => command.run(job),
            MemoryCommand::Review(command) => command.run(job),
            MemoryCommand::Semantic(command) => command.run(job),
            MemoryCommand::Procedural(command) => command.run(job),
            MemoryCommand::Rollback(command) => command.run(job),
            MemoryCommand::Context(command) => command.run(job),
            MemoryCommand::Export(command) => command.run(job, home),
        }
    }
}

/// `inspect`: everything about one memory.
#[derive(Debug, Args)]
pub struct InspectArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
}

impl InspectArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let reference = self.reference.to_reference();
        let memory = engine.read(caller, &reference)?;
        // By id: meanwhile the path may name another memory.
        let versions = engine.history(caller, &engine::MemoryReference::Id(memory.id), None, None)?;
        let lineage = engine.lineage(caller, memory.id)?;
        // Most memories have no review; that is not an error.
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
        job.output.print_answer(&view, || {
            let mut text = format!("{} {} {} {}\n", memory.id, memory.layer, memory.state, memory.trust);
            text += &format!("{}\n\n{}\n", one_line(memory.summary_line()), escape_controls(&memory.content));
            for version in &versions {
                text +=
                    &format!("\nversion {} {} by {} {}", version.number, version.operation, version.actor, version.at);
            }
            ids(&lineage.sources).iter().for_each(|id| text += &format!("\nderived from {id}"));
            ids(&lineage.derived).iter().for_each(|id| text += &format!("\nsource of {id}"));
            if let Some(review) = &review {
                text += &format!("\nreview {} {} {}", review.id, review.action, review.state);
            }
            text
        })
    }
}
