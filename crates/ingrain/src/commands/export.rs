//! `export`: memories with their history to files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use engine::model::memory::Memory;
use engine::model::refusal::Refusal;
use engine::model::scope::Scope;
use engine::text::plural::format_count;
use engine::{EXPORT_FORMAT, ExportLayout, ExportPiece, ExportWriter, markdown};
use serde_json::json;

use crate::commands::{Job, instruction_file};
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// json: one file with all states and versions; jsonl: the same, one record per line; markdown: one folder per
    /// store, one file per memory; claude-md, agents-md: a readable section of one file, whose other text stays
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    format: ExportFormat,
    /// File or folder to write; default: a name made of the time, in exports/ of the home
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Only this store (repeatable). Default: all; for claude-md and agents-md the project's, else your own; with
    /// --project, markdown writes that project only
    #[arg(long, value_name = "SLUG")]
    store: Vec<String>,
    /// Allow an output path outside the home
    #[arg(long)]
    output_anywhere: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    Json,
    Jsonl,
    Markdown,
    ClaudeMd,
    AgentsMd,
}

impl ExportFormat {
    /// File extension; `None` for a folder.
    fn file_extension(self) -> Option<&'static str> {
        match self {
            ExportFormat::Json => Some(".json"),
            ExportFormat::Jsonl => Some(".jsonl"),
            ExportFormat::Markdown => None,
            ExportFormat::ClaudeMd => Some("-CLAUDE.md"),
            ExportFormat::AgentsMd => Some("-AGENTS.md"),
        }
    }
}

impl ExportArgs {
    pub fn run(self, job: &Job<'_>, home: &Path) -> Result<(), Failure> {
        let path = self.resolve_path(job, home)?;
        let mut progress = ProgressCounter::new(job.output, "exported");
        let counts = match self.format {
            ExportFormat::Json => export_to_file(job, ExportLayout::Document, &self.store, &path, &mut progress)?,
            ExportFormat::Jsonl => export_to_file(job, ExportLayout::Lines, &self.store, &path, &mut progress)?,
            ExportFormat::Markdown => export_markdown(job, &self.store, &path, &mut progress)?,
            ExportFormat::ClaudeMd | ExportFormat::AgentsMd => {
                instruction_file::export_section(job, &self.store, &path, &mut progress)?
            }
        };
        progress.finish();
        let view = json!({ "status": "exported", "path": path, "format": EXPORT_FORMAT, "counts": counts });
        job.output.print_answer(&view, || {
            let memories = counts.get("memories").copied().unwrap_or_default();
            let memories = format_count(memories, "memory", "memories");
            format!("{} {memories} to {}", job.output.paint(Tone::Good, "exported"), path.display())
        })
    }

    /// Folder of the file to write, for the formats that are about one project.
    pub fn folder(&self) -> Option<PathBuf> {
        if !matches!(self.format, ExportFormat::ClaudeMd | ExportFormat::AgentsMd) {
            return None;
        }
        let path = std::path::absolute(self.output.as_ref()?).ok()?;
        if path.is_dir() { Some(path) } else { path.parent().map(Path::to_owned) }
    }

    /// Path to write to; refused outside the home unless `--output-anywhere` is given.
    fn resolve_path(&self, job: &Job<'_>, home: &Path) -> Result<PathBuf, Failure> {
        let path = match &self.output {
            // Not `canonicalize`, which fails for a file that does not exist yet.
            Some(path) => std::path::absolute(path).map_err(|error| write_failure(path, &error))?,
            None => {
                // Microseconds, so that two exports in one second have different names.
                let name = job.session.engine.clock.now().strftime("%Y%m%dT%H%M%S%.6fZ").to_string();
                let name = name + self.format.file_extension().unwrap_or_default();
                std::path::absolute(home.join("exports")).map_err(|error| write_failure(home, &error))?.join(name)
            }
        };
        // Checked before any folder is created: a refused export leaves nothing behind.
        if !self.output_anywhere && !is_inside(&path, home) {
            let message = format!("`{}` is outside the home", path.display());
            return Err(Refusal::new("policy.export_outside", message)
                .with_hint("an export contains all memories; add `--output-anywhere` to write it there")
                .into());
        }
        let folder = if self.format.file_extension().is_some() { path.parent() } else { Some(path.as_path()) };
        folder.map_or(Ok(()), std::fs::create_dir_all).map_err(|error| write_failure(&path, &error))?;
        Ok(path)
    }
}

/// Whether a path, which need not exist, is inside a folder. Links in its existing part are resolved, `..` is rejected.
fn is_inside(path: &Path, folder: &Path) -> bool {
    // A home that does not exist contains nothing, so the strict answer is given.
    let Ok(folder) = folder.canonicalize() else { return false };
    // `absolute` keeps `..`, and behind a missing folder it cannot be resolved.
    let goes_up = path.components().any(|part| matches!(part, std::path::Component::ParentDir));
    let existing = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
    !goes_up && existing.is_some_and(|existing| existing.starts_with(folder))
}

pub(super) fn write_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::system_error("output.write", format!("cannot write `{}`: {error}", path.display()))
}

pub(super) type Counts = BTreeMap<&'static str, u64>;

/// Writes to a temporary name and renames it at the end, so that an incomplete export never has the final name.
fn export_to_file(
    job: &Job<'_>,
    layout: ExportLayout,
    stores: &[String],
    path: &Path,
    progress: &mut ProgressCounter<'_>,
) -> Result<Counts, Failure> {
    // In the same folder, so that the rename is atomic.
    let unfinished = path.with_extension("unfinished");
    let counts = write_pieces(job, layout, stores, &unfinished, progress).and_then(|counts| {
        std::fs::rename(&unfinished, path).map(|()| counts).map_err(|error| write_failure(&unfinished, &error))
    });
    if counts.is_err() {
        // The original failure is reported; a failed clean-up is not.
        let _ = std::fs::remove_file(&unfinished);
    }
    counts
}

fn write_pieces(
    job: &Job<'_>,
    layout: ExportLayout,
    stores: &[String],
    path: &Path,
    progress: &mut ProgressCounter<'_>,
) -> Result<Counts, Failure> {
    let failed = |error: std::io::Error| write_failure(path, &error);
    let mut file = BufWriter::new(create_private_file(path).map_err(failed)?);
    let mut text = ExportWriter::new(layout);
    file.write_all(text.write_header(job.session.engine.clock.now())?.as_bytes()).map_err(failed)?;
    job.session.engine.export(&job.session.caller, stores, |piece| -> Result<(), Failure> {
        progress.count_piece();
        file.write_all(text.write_piece(&piece)?.as_bytes()).map_err(failed)
    })?;
    let (end, counts) = text.write_footer()?;
    file.write_all(end.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    // On disk before the rename, or a crash could leave an empty file with the final name.
    file.get_ref().sync_all().map_err(failed)?;
    Ok(counts)
}

/// Creates a file that only its owner can read.
fn create_private_file(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // The mode applies to new files only; an existing file keeps its own.
    std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn export_markdown(
    job: &Job<'_>,
    stores: &[String],
    folder: &Path,
    progress: &mut ProgressCounter<'_>,
) -> Result<Counts, Failure> {
    let mut counts = Counts::new();
    let caller = &job.session.caller;
    job.session.engine.export(caller, stores, |piece| -> Result<(), Failure> {
        // Stores, reviews, bans and runs have no Markdown form; the other formats contain them.
        let ExportPiece::Memory(story) = piece else { return Ok(()) };
        let memory = Memory { content: story.content, ..story.memory };
        // Of one project, when one is named: an admin sees them all.
        let is_left_out = match &memory.scope {
            Scope::Project { project } => !caller.is_in_project(Some(project)),
            _ => true,
        };
        if caller.project.is_some() && is_left_out {
            return Ok(());
        }
        let path = folder.join(markdown_path(&memory));
        let failed = |error: std::io::Error| write_failure(&path, &error);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        // Without a temporary name: a later export to the same folder replaces file by file.
        create_private_file(&path)
            .and_then(|mut file| file.write_all(markdown::render_memory(&memory).as_bytes()))
            .map_err(failed)?;
        *counts.entry("memories").or_default() += 1;
        progress.count_piece();
        Ok(())
    })?;
    Ok(counts)
}

/// `store/path.md` for workspace memories, `store/scope/path.md` for others.
fn markdown_path(memory: &Memory) -> PathBuf {
    let name = markdown::file_name(memory);
    let name = match memory.state {
        engine::model::vocabulary::State::Active => name,
        // An inactive memory may have the same path as an active one.
        state => format!("{}.{state}.{}.md", name.trim_end_matches(".md"), memory.id),
    };
    let place = match &memory.scope {
        Scope::Workspace => String::new(),
        // A scope contains names of callers, and a slash in one must not make another folder.
        scope => scope.to_string().replace(['/', '\\'], "_"),
    };
    Path::new(&memory.store).join(place).join(name)
}

/// Progress counter on stderr, only on a terminal and without `--json`.
pub(super) struct ProgressCounter<'a> {
    output: &'a Output,
    word: &'static str,
    shown: bool,
    count: u64,
}

/// Records between two updates of the counter.
const PROGRESS_STEP: u64 = 250;

impl<'a> ProgressCounter<'a> {
    pub(super) fn new(output: &'a Output, word: &'static str) -> ProgressCounter<'a> {
        ProgressCounter { output, word, shown: std::io::stderr().is_terminal() && !output.json, count: 0 }
    }

    pub(super) fn count_piece(&mut self) {
        self.count += 1;
        if self.shown && self.count.is_multiple_of(PROGRESS_STEP) {
            // A closed terminal must not stop the export.
            let _ = write!(std::io::stderr(), "\r{} {} …", self.word, self.count);
        }
    }

    pub(super) fn finish(&self) {
        // Ends the line that `\r` kept open; before the first update there is none.
        if self.shown && self.count >= PROGRESS_STEP {
            self.output.print_note("");
        }
    }
}
