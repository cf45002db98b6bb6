//! `export` and `import`: everything out, everything back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use engine::model::memory::Memory;
use engine::model::refusal::Refusal;
use engine::model::scope::Scope;
use engine::text::count::counted;
use engine::text::decode_error;
use engine::{EXPORT_FORMAT, ExportFile, ExportLines, ExportText, Exported, ImportDone, Layout, markdown};
use serde_json::json;

use crate::commands::Job;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct Export {
    /// json: one file with every state and all history; jsonl: the same, a piece a line; markdown: a folder a store, a
    /// file a memory
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Where to; default: exports/ in the data directory, named by the time
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Only these stores (repeatable)
    #[arg(long, value_name = "SLUG")]
    store: Vec<String>,
    /// Write outside the data directory too
    #[arg(long)]
    output_anywhere: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Jsonl,
    Markdown,
}

impl Format {
    /// How such a file's name ends; a folder's does not.
    fn ending(self) -> Option<&'static str> {
        match self {
            Format::Json => Some(".json"),
            Format::Jsonl => Some(".jsonl"),
            Format::Markdown => None,
        }
    }
}

impl Export {
    pub fn run(self, job: &Job<'_>, home: &Path) -> Result<(), Failure> {
        let path = self.place(job, home)?;
        let mut progress = Progress::new(job.output, "exported");
        let counts = match self.format {
            Format::Json => to_file(job, Layout::Document, &self.store, &path, &mut progress)?,
            Format::Jsonl => to_file(job, Layout::Lines, &self.store, &path, &mut progress)?,
            Format::Markdown => to_markdown(job, &self.store, &path, &mut progress)?,
        };
        progress.end();
        let view = json!({ "status": "exported", "path": path, "format": EXPORT_FORMAT, "counts": counts });
        job.output.answer(&view, || {
            let memories = counts.get("memories").copied().unwrap_or_default();
            let memories = counted(memories, "memory", "memories");
            format!("{} {memories} to {}", job.output.paint(Tone::Good, "exported"), path.display())
        })
    }

    /// Where the export goes; outside the data directory only where that was asked for.
    fn place(&self, job: &Job<'_>, home: &Path) -> Result<PathBuf, Failure> {
        let path = match &self.output {
            Some(path) => std::path::absolute(path).map_err(|error| unwritable(path, &error))?,
            None => {
                let name = job.session.engine.clock.now().strftime("%Y%m%dT%H%M%S%.6fZ").to_string();
                let name = name + self.format.ending().unwrap_or_default();
                std::path::absolute(home.join("exports")).map_err(|error| unwritable(home, &error))?.join(name)
            }
        };
        if !self.output_anywhere && !is_inside(&path, home) {
            let message = format!("`{}` is outside the data directory", path.display());
            return Err(Refusal::new("policy.export_outside", message)
                .hint("an export holds everything: repeat with `--output-anywhere` if you mean it")
                .into());
        }
        let folder = if self.format.ending().is_some() { path.parent() } else { Some(path.as_path()) };
        folder.map_or(Ok(()), std::fs::create_dir_all).map_err(|error| unwritable(&path, &error))?;
        Ok(path)
    }
}

/// Whether a path that need not exist yet lies under a folder, links followed as far as they exist.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let climbs = path.components().any(|part| matches!(part, std::path::Component::ParentDir));
    let standing = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
    !climbs && standing.is_some_and(|standing| standing.starts_with(folder))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::broken("output.write", format!("cannot write `{}`: {error}", path.display()))
}

type Counts = BTreeMap<&'static str, u64>;

/// Written piece by piece under a name of its own, then renamed: a torn export never looks whole.
fn to_file(
    job: &Job<'_>,
    layout: Layout,
    stores: &[String],
    path: &Path,
    progress: &mut Progress<'_>,
) -> Result<Counts, Failure> {
    let unfinished = path.with_extension("unfinished");
    let counts = write_file(job, layout, stores, &unfinished, progress).and_then(|counts| {
        std::fs::rename(&unfinished, path).map(|()| counts).map_err(|error| unwritable(&unfinished, &error))
    });
    if counts.is_err() {
        // Half an export is of no use to anybody; the failure is told.
        let _ = std::fs::remove_file(&unfinished);
    }
    counts
}

fn write_file(
    job: &Job<'_>,
    layout: Layout,
    stores: &[String],
    path: &Path,
    progress: &mut Progress<'_>,
) -> Result<Counts, Failure> {
    let failed = |error: std::io::Error| unwritable(path, &error);
    let mut file = BufWriter::new(private_file(path).map_err(failed)?);
    let mut text = ExportText::new(layout);
    file.write_all(text.start(job.session.engine.clock.now())?.as_bytes()).map_err(failed)?;
    job.session.engine.export(&job.session.caller, stores, |piece| -> Result<(), Failure> {
        progress.step();
        file.write_all(text.piece(&piece)?.as_bytes()).map_err(failed)
    })?;
    let (end, counts) = text.end()?;
    file.write_all(end.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    file.get_ref().sync_all().map_err(failed)?;
    Ok(counts)
}

/// Only its owner may read an export.
fn private_file(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn to_markdown(
    job: &Job<'_>,
    stores: &[String],
    folder: &Path,
    progress: &mut Progress<'_>,
) -> Result<Counts, Failure> {
    let mut counts = Counts::new();
    job.session.engine.export(&job.session.caller, stores, |piece| -> Result<(), Failure> {
        let Exported::Memory(story) = piece else { return Ok(()) };
        let memory = Memory { content: story.content, ..story.memory };
        let path = folder.join(markdown_path(&memory));
        let failed = |error: std::io::Error| unwritable(&path, &error);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        private_file(&path)
            .and_then(|mut file| file.write_all(markdown::render(&memory).as_bytes()))
            .map_err(failed)?;
        *counts.entry("memories").or_default() += 1;
        progress.step();
        Ok(())
    })?;
    Ok(counts)
}

/// store/path.md; below the store, a folder for each place that is not everybody's.
fn markdown_path(memory: &Memory) -> PathBuf {
    let name = markdown::file_name(memory);
    let name = match memory.state {
        engine::model::vocabulary::State::Active => name,
        // What is not in use may share its path with what is.
        state => format!("{}.{state}.{}.md", name.trim_end_matches(".md"), memory.id),
    };
    let place = match &memory.scope {
        Scope::Workspace => String::new(),
        scope => scope.to_string().replace(['/', '\\'], "_"),
    };
    Path::new(&memory.store).join(place).join(name)
}

#[derive(Debug, Args)]
pub struct Import {
    /// An export (.json, or .jsonl for one of lines), a Markdown file, or a folder of Markdown (a folder a store)
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The store of a Markdown file that names none
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
}

impl Import {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let mut done = ImportDone::default();
        let mut progress = Progress::new(job.output, "imported");
        match self.path.extension().and_then(|ending| ending.to_str()) {
            _ if self.path.is_dir() => self.markdown(job, &mut done, &mut progress)?,
            Some("md") => self.markdown(job, &mut done, &mut progress)?,
            Some("jsonl" | "ndjson") => self.lines(job, &mut done, &mut progress)?,
            _ => self.json(job, &mut done, &mut progress)?,
        }
        progress.end();
        job.output.answer(&done, || {
            let mut text = format!(
                "{} {}, unchanged {}, left behind {} that were not active, refused {}",
                job.output.paint(Tone::Good, "imported"),
                done.imported,
                done.unchanged,
                done.left_behind,
                done.refused.len()
            );
            for refused in &done.refused {
                text += &format!("\n  {}: {} [{}]", refused.what, refused.message, refused.code);
            }
            text
        })?;
        if done.refused.is_empty() { Ok(()) } else { Err(Failure::TOLD_REFUSED) }
    }

    fn json(&self, job: &Job<'_>, done: &mut ImportDone, progress: &mut Progress<'_>) -> Result<(), Failure> {
        let read: ExportFile = serde_json::from_reader(self.open()?).map_err(|_| self.misfit())?;
        for piece in read.pieces()? {
            job.session.engine.import(&job.session.caller, piece, done)?;
            progress.step();
        }
        Ok(())
    }

    /// Holds one line at a time. What was taken before a bad line stays; importing again takes the rest.
    fn lines(&self, job: &Job<'_>, done: &mut ImportDone, progress: &mut Progress<'_>) -> Result<(), Failure> {
        let mut export = ExportLines::default();
        for line in self.open()?.lines() {
            if let Some(piece) = export.next(&line.map_err(|error| self.unreadable(&error))?)? {
                job.session.engine.import(&job.session.caller, piece, done)?;
                progress.step();
            }
        }
        Ok(export.end()?)
    }

    /// Says what does not fit: read anew, whole, as only what went wrong pays for it.
    fn misfit(&self) -> Failure {
        let name = self.path.display();
        match std::fs::read(&self.path).map(|bytes| decode_error::from_slice::<ExportFile>(&bytes)) {
            Err(error) => self.unreadable(&error),
            Ok(Err(words)) => Failure::wrong("shape.export", format!("`{name}` is not an export {words}")),
            Ok(Ok(_)) => Failure::wrong("input.unreadable", format!("`{name}` changed while it was read")),
        }
    }

    fn open(&self) -> Result<BufReader<File>, Failure> {
        Ok(BufReader::new(File::open(&self.path).map_err(|error| self.unreadable(&error))?))
    }

    fn unreadable(&self, error: &std::io::Error) -> Failure {
        Failure::wrong("input.unreadable", format!("cannot read `{}`: {error}", self.path.display()))
    }

    fn markdown(&self, job: &Job<'_>, done: &mut ImportDone, progress: &mut Progress<'_>) -> Result<(), Failure> {
        let mut files = Vec::new();
        collect(&self.path, &mut files)?;
        if files.is_empty() {
            let message = format!("there is no Markdown file in `{}`", self.path.display());
            return Err(Failure::wrong("not_found", message));
        }
        files.sort();
        for file in &files {
            let folder = file.strip_prefix(&self.path).ok().and_then(|below| below.components().next());
            let folder = folder
                .map(|part| part.as_os_str().to_string_lossy().into_owned())
                .filter(|part| !part.ends_with(".md"));
            let store = self.store.clone().or(folder).unwrap_or_else(|| "user_notes".to_owned());
            let text = crate::text::file_text(file)?;
            let before = done.refused.len();
            job.session.engine.import_markdown(&job.session.caller, &store, &text, done)?;
            for refused in &mut done.refused[before..] {
                refused.what = format!("{} ({})", file.display(), refused.what);
            }
            progress.step();
        }
        Ok(())
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::wrong("input.unreadable", format!("cannot read `{}`: {error}", path.display()))
    };
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // A link could lead anywhere, also back up.
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() || (kind.is_file() && entry.path().extension().is_some_and(|ending| ending == "md")) {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// A counter on stderr while a person waits; programs and files see nothing of it.
pub(super) struct Progress<'a> {
    output: &'a Output,
    word: &'static str,
    shown: bool,
    count: u64,
}

/// Pieces between two signs of life.
const PROGRESS_STEP: u64 = 250;

impl<'a> Progress<'a> {
    pub(super) fn new(output: &'a Output, word: &'static str) -> Progress<'a> {
        Progress { output, word, shown: std::io::stderr().is_terminal() && !output.json, count: 0 }
    }

    pub(super) fn step(&mut self) {
        self.count += 1;
        if self.shown && self.count.is_multiple_of(PROGRESS_STEP) {
            // A terminal that has gone away is no reason to stop.
            let _ = write!(std::io::stderr(), "\r{} {} …", self.word, self.count);
        }
    }

    pub(super) fn end(&self) {
        if self.shown && self.count >= PROGRESS_STEP {
            self.output.note("");
        }
    }
}
