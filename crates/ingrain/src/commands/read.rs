//! `read`: shows one memory; and the arguments that name a memory.

use clap::Args;
use engine::MemoryReference;
use engine::model::id::MemoryId;
use engine::model::memory::Memory;

use crate::commands::Job;
use crate::error::Failure;
use crate::json_views::MemoryView;
use crate::output::{Output, Tone};
use crate::text_io::{escape_controls, one_line, parse_as_of};

/// Arguments that name one memory, shared by all commands on a memory.
#[derive(Debug, Args)]
pub struct MemoryReferenceArgs {
    /// Id, path or store/path of the memory
    #[arg(value_name = "PATH_OR_ID")]
    memory: String,
    /// Store of the path
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
}

impl MemoryReferenceArgs {
    pub fn to_reference(&self) -> MemoryReference {
        MemoryReference::parse(self.store.as_deref(), &self.memory)
    }

    /// Id of the memory; a path is looked up.
    pub fn resolve_id(&self, job: &Job<'_>) -> Result<MemoryId, Failure> {
        match self.to_reference() {
            // Not looked up: the call that follows reports an unknown id itself.
            MemoryReference::Id(id) => Ok(id),
            reference => Ok(job.session.engine.locate(&job.session.caller, &reference)?.id),
        }
    }
}

#[derive(Debug, Args)]
pub struct ReadArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    /// Print only the content
    #[arg(long)]
    raw: bool,
    /// State of the memory at a past time, at the end of a day (2026-01-31) or a span ago (7d)
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
}

impl ReadArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller, reference) = (&job.session.engine, &job.session.caller, self.reference.to_reference());
        let memory = match &self.as_of {
            Some(time) => engine.read_as_of(caller, &reference, parse_as_of(&*engine.clock, time)?)?,
            None => engine.read(caller, &reference)?,
        };
        match self.raw {
            // Neither escaped nor wrapped in JSON: `--raw` is for pipes.
            true => job.output.print_text(&memory.content),
            false => job.output.print_answer(&MemoryView::from(&memory), || render_memory(job.output, &memory)),
        }
    }
}

fn render_memory(output: &Output, memory: &Memory) -> String {
    let row = |name: &str, value: String| format!("{}{value}", output.paint(Tone::Faint, &format!("{name:<9}")));
    let mut rows = vec![
        row("id", memory.id.to_string()),
        row("store", format!("{} ({})", memory.store, memory.scope)),
        row("kind", format!("{}, {}", memory.kind, memory.layer)),
        row("trust", format!("{}, by {}", memory.trust, memory.author)),
        row("state", memory.state.to_string()),
        row("version", format!("{} ({})", memory.version_number, memory.version)),
        row("sha256", memory.sha256.clone()),
        row("updated", memory.updated_at.to_string()),
    ];
    let optional = [
        ("path", memory.path.clone()),
        ("title", memory.title.clone()),
        ("hint", memory.recall_hint.clone()),
        ("tags", (!memory.tags.is_empty()).then(|| memory.tags.join(", "))),
        ("expires", memory.expires_at.map(|at| at.to_string())),
        ("flags", (!memory.flags.is_empty()).then(|| memory.flags.join(", "))),
        ("pinned", memory.always_inject.then(|| "yes".to_owned())),
    ];
    rows.extend(optional.into_iter().filter_map(|(name, value)| Some(row(name, one_line(&value?)))));
    let others = memory.field_trust.iter().map(|(field, trust)| row("trust of", format!("{field}: {trust}")));
    rows.extend(others);
    format!("{}\n\n{}", rows.join("\n"), escape_controls(&memory.content))
}
