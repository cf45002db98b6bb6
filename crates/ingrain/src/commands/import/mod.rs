//! `import`: Ingrain's own exports, and memory files of other tools with a preview and an undo.

mod gather;
mod own_export;
mod preview;

use std::path::{Path, PathBuf};

use clap::Args;
use engine::model::caller::Caller;
use engine::model::memory::{Draft, Evidence};
use engine::model::refusal::Refusal;
use engine::model::store::PROJECT_MEMORY;
use engine::model::vocabulary::{EvidenceKind, Role};
use engine::text::plural::format_count;
use engine::{ImportAction, ImportedDraft, KeptMemory, PlannedDraft, Remembered, SOURCE_FIELD};
use serde_json::{Value, json};

use crate::commands::Job;
use crate::commands::connect::{ask, can_ask};
use crate::commands::export::ProgressCounter;
use crate::error::Failure;
use crate::import_formats::{FormatError, FoundMemories, FoundMemory, SourceFormat, parse_files};
use gather::GatheredSources;
use own_export::OwnExport;
use preview::Preview;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// CLAUDE.md, AGENTS.md, GEMINI.md, .cursor/rules, a MEMORY.md folder, a mem0, basic-memory or MCP memory export,
    /// Markdown, JSONL, a repository (its instruction files), or an export of Ingrain
    #[arg(value_name = "PATH", required_unless_present_any = ["list", "undo"])]
    paths: Vec<PathBuf>,
    /// Store to save in. Default: project_memory for files of a repository, else your own user_memory; for an export of
    /// Ingrain, the store it names
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
    /// Format of the files; default: recognised
    #[arg(long, value_enum)]
    format: Option<SourceFormat>,
    /// Import without asking; needed without a terminal
    #[arg(long, short)]
    yes: bool,
    /// Only show what would be imported
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Also replace memories that were written or changed here since
    #[arg(long)]
    replace: bool,
    /// List earlier imports from other tools
    #[arg(long, conflicts_with_all = ["paths", "undo"])]
    list: bool,
    /// Undo one import: remove what it added, restore what it replaced, keep what was changed since
    #[arg(long, value_name = "BATCH", conflicts_with = "paths")]
    undo: Option<String>,
}

impl ImportArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        if let Some(batch) = &self.undo {
            return undo_batch(job, batch);
        }
        if self.list {
            return list_batches(job);
        }
        let mut sources = GatheredSources::default();
        for path in &self.paths {
            sources.add_path(path, self.format)?;
        }
        match (sources.own.is_empty(), sources.foreign.is_empty()) {
            (true, _) => self.import_foreign(job, sources),
            (false, true) => self.import_own(job, &sources.own),
            (false, false) => {
                let message = "exports of Ingrain and files of other tools cannot be imported together";
                Err(Failure::user_error("usage", message).with_hint("run `ingrain import` once for each"))
            }
        }
    }

    /// Folder of the first file: the repository that the files are of.
    pub fn folder(&self) -> Option<PathBuf> {
        let path = std::path::absolute(self.paths.first()?).ok()?;
        if path.is_dir() { Some(path) } else { path.parent().map(Path::to_owned) }
    }

    fn import_own(&self, job: &Job<'_>, paths: &[PathBuf]) -> Result<(), Failure> {
        if self.dry_run {
            let message = "an export of Ingrain is imported as it is, without a preview";
            return Err(Failure::user_error("usage", message).with_hint("leave out `--dry-run`"));
        }
        let [path] = paths else {
            return Err(Failure::user_error("usage", "import one export of Ingrain at a time"));
        };
        OwnExport { path, store: self.store.as_deref() }.import(job)
    }

    fn import_foreign(&self, job: &Job<'_>, sources: GatheredSources) -> Result<(), Failure> {
        let caller = &job.session.caller;
        let store = self.store.clone().map_or_else(|| default_store(caller), Ok)?;
        let mut found = FoundMemories::default();
        for (format, files) in &sources.foreign {
            let wrong =
                |FormatError(why)| Failure::user_error("shape.import", format!("not valid {}: {why}", format.name()));
            parse_files(*format, files, &mut found).map_err(wrong)?;
        }
        let mut notes = sources.notes;
        notes.append(&mut found.notes);
        let system = job.global.system.clone();
        let drafts: Vec<ImportedDraft> =
            found.memories.iter().map(|memory| build_draft(memory, &store, system.clone(), caller)).collect();
        let plans = job.session.engine.plan_import(caller, &drafts, self.replace)?;
        let formats: Vec<String> = sources.foreign.iter().map(|(format, _)| format.name()).collect();
        let mut preview = Preview { store, formats, memories: found.memories, plans, notes, batch: None };
        if self.dry_run {
            return preview.print_plan(job.output, "preview");
        }
        if preview.to_save() == 0 {
            preview.print_plan(job.output, "imported")?;
            return preview.exit();
        }
        if !self.yes {
            if !can_ask(job.output) {
                return Err(needs_yes(job, &preview));
            }
            preview.print_plan(job.output, "preview")?;
            if !ask(&format!("import {}? [Y/n] ", format_count(preview.to_save(), "memory", "memories"))) {
                job.output.print_note("nothing was imported");
                return Ok(());
            }
        }
        save_planned(job, &mut preview, drafts)?;
        preview.print_done(job.output)?;
        preview.exit()
    }
}

/// Without a terminal nobody can be asked: shows what would happen and how to agree.
fn needs_yes(job: &Job<'_>, preview: &Preview) -> Failure {
    if !job.output.json {
        // On stdout, where a dry run prints it too.
        let _ = preview.print_plan(job.output, "preview");
    }
    Failure::user_error("import.needs_yes", "nothing was imported: there is no terminal to ask on")
        .with_hint("add `--yes` to import, or `--dry-run` to see what would be imported")
}

/// Saves what the plan says, one memory after the other. A refusal does not stop the rest.
fn save_planned(job: &Job<'_>, preview: &mut Preview, drafts: Vec<ImportedDraft>) -> Result<(), Failure> {
    let (engine, caller) = (&job.session.engine, &job.session.caller);
    let batch = engine.new_import_batch();
    let mut progress = ProgressCounter::new(job.output, "imported");
    for (plan, draft) in preview.plans.iter_mut().zip(drafts) {
        if !matches!(plan.action, ImportAction::Save | ImportAction::Update) {
            continue;
        }
        let refusal = match engine.import_planned(caller, draft, plan, &batch) {
            Ok(Remembered::Saved(_)) => None,
            Ok(Remembered::Refused(refusal)) => Some(refusal),
            // What was saved before can be undone, so the batch is named.
            Err(error @ engine::model::error::Error::Store(_)) => {
                job.output.print_note(&format!("stopped: undo with `ingrain import --undo {batch}`"));
                return Err(error.into());
            }
            Err(error) => Some(Refusal::new(error.code(), error.to_string())),
        };
        if let Some(refusal) = refusal {
            *plan = PlannedDraft { action: ImportAction::Refuse, refusal: Some(refusal), ..plan.clone() };
        }
        progress.count_piece();
    }
    progress.finish();
    preview.batch = Some(batch);
    Ok(())
}

/// Store of an import that names none: the project's, else the caller's own. Never a store that every agent of the
/// workspace trusts.
pub(super) fn default_store(caller: &Caller) -> Result<String, Failure> {
    match caller {
        Caller { project: Some(_), .. } => Ok(PROJECT_MEMORY.to_owned()),
        Caller { user: Some(_), .. } => Ok("user_memory".to_owned()),
        Caller { conversation: Some(_), .. } => Ok("conversation_memory".to_owned()),
        _ => Err(Failure::user_error("shape.store_missing", "no store given, and the caller has no default store")
            .with_hint("give `--store SLUG`; `ingrain store list` lists the stores")),
    }
}

fn build_draft(memory: &FoundMemory, store: &str, system: Option<String>, caller: &Caller) -> ImportedDraft {
    let mut metadata = memory.metadata.clone();
    metadata.insert(SOURCE_FIELD.to_owned(), Value::String(memory.source.chars().take(SOURCE_CHARS_MAX).collect()));
    // Default kind by role, as for `remember`: people state, programs observe.
    let kind = match caller.role {
        Role::Admin | Role::Reviewer => EvidenceKind::AdminEntry,
        Role::User => EvidenceKind::UserStatement,
        Role::Agent | Role::Service => EvidenceKind::ToolResult,
    };
    let source: String = memory.source.chars().take(SOURCE_CHARS_MAX).collect();
    let draft = Draft {
        store: store.to_owned(),
        system,
        path: Some(memory.path.clone()),
        kind: Some(memory.kind),
        title: memory.title.clone(),
        recall_hint: memory.hint.clone(),
        content: memory.content.clone(),
        tags: Some(memory.tags.clone()),
        metadata: Some(metadata),
        evidence: vec![Evidence::new(kind, format!("imported from {source}"))],
        ..Draft::default()
    };
    ImportedDraft { draft, recorded: memory.writer.trust() }
}

/// Longest source kept with a memory, in characters.
const SOURCE_CHARS_MAX: usize = 300;

fn list_batches(job: &Job<'_>) -> Result<(), Failure> {
    let batches = job.session.engine.import_batches(&job.session.caller)?;
    job.output.print_answer(&json!({ "imports": batches }), || {
        let rows = batches.iter().map(|batch| {
            let (all, in_use) = (batch.memories.to_string(), batch.in_use.to_string());
            vec![
                batch.batch.clone(),
                batch.imported_at.strftime("%F %R").to_string(),
                batch.stores.join(", "),
                all,
                in_use,
            ]
        });
        job.output.render_table(&["import", "time", "store", "memories", "in use"], rows)
    })
}

fn undo_batch(job: &Job<'_>, batch: &str) -> Result<(), Failure> {
    let report = job.session.engine.undo_import(&job.session.caller, batch)?;
    job.output.print_answer(&json!({ "status": "undone", "batch": batch, "report": report }), || {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let mut text = format!(
            "undone: {} removed, {} restored, {} kept",
            format_count(count(report.removed), "memory", "memories"),
            report.restored,
            report.kept.len()
        );
        for KeptMemory { store, path, id, message, .. } in &report.kept {
            let name = path.clone().unwrap_or_else(|| id.to_string());
            text += &format!("\n  kept {store}/{name}: {message}");
        }
        text
    })
}
