//! Import of Ingrain's own exports: JSON and JSONL with history, Markdown with front matter.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use engine::text::decode_error;
use engine::{ExportFile, ExportLineReader, ImportReport};

use crate::commands::Job;
use crate::commands::export::ProgressCounter;
use crate::error::Failure;
use crate::output::Tone;

/// An export to import.
pub struct OwnExport<'a> {
    pub path: &'a Path,
    /// Store of Markdown files that name none.
    pub store: Option<&'a str>,
}

impl OwnExport<'_> {
    pub fn import(self, job: &Job<'_>) -> Result<(), Failure> {
        let mut done = ImportReport::default();
        let mut progress = ProgressCounter::new(job.output, "imported");
        match self.path.extension().and_then(|ending| ending.to_str()) {
            // First, because a folder may be called `notes.json`.
            _ if self.path.is_dir() => self.import_markdown(job, &mut done, &mut progress)?,
            Some("md") => self.import_markdown(job, &mut done, &mut progress)?,
            Some("jsonl" | "ndjson") => self.import_lines(job, &mut done, &mut progress)?,
            // Any other file is tried as a JSON export.
            _ => self.import_json(job, &mut done, &mut progress)?,
        }
        progress.finish();
        job.output.print_answer(&done, || {
            let mut text = format!(
                "{} {}, unchanged {}, skipped {} that were not active, refused {}",
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
        // Exit 3 although the other memories were imported: a script must notice the refused ones.
        if done.refused.is_empty() { Ok(()) } else { Err(Failure::REFUSAL_REPORTED) }
    }

    fn import_json(
        &self,
        job: &Job<'_>,
        done: &mut ImportReport,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<(), Failure> {
        let read: ExportFile = serde_json::from_reader(self.open_file()?).map_err(|_| self.parse_failure())?;
        for piece in read.into_pieces()? {
            job.session.engine.import(&job.session.caller, piece, done)?;
            progress.count_piece();
        }
        Ok(())
    }

    /// Imports line by line, in constant memory. Records before a bad line stay imported; a second import adds the
    /// rest.
    fn import_lines(
        &self,
        job: &Job<'_>,
        done: &mut ImportReport,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<(), Failure> {
        let mut export = ExportLineReader::default();
        for line in self.open_file()?.lines() {
            if let Some(piece) = export.parse_line(&line.map_err(|error| self.read_failure(&error))?)? {
                job.session.engine.import(&job.session.caller, piece, done)?;
                progress.count_piece();
            }
        }
        // A file cut off at the end of a line parses without an error; only its footer is missing.
        Ok(export.check_complete()?)
    }

    /// Describes a parse error. Reads the file a second time, with the slower reader that reports the position.
    fn parse_failure(&self) -> Failure {
        let name = self.path.display();
        match std::fs::read(self.path).map(|bytes| decode_error::from_slice::<ExportFile>(&bytes)) {
            Err(error) => self.read_failure(&error),
            Ok(Err(words)) => Failure::user_error("shape.export", format!("`{name}` is not a valid export: {words}")),
            Ok(Ok(_)) => Failure::user_error("input.unreadable", format!("`{name}` changed while it was read")),
        }
    }

    fn open_file(&self) -> Result<BufReader<File>, Failure> {
        Ok(BufReader::new(File::open(self.path).map_err(|error| self.read_failure(&error))?))
    }

    fn read_failure(&self, error: &std::io::Error) -> Failure {
        Failure::unreadable_input(self.path.display(), error)
    }

    fn import_markdown(
        &self,
        job: &Job<'_>,
        done: &mut ImportReport,
        progress: &mut ProgressCounter<'_>,
    ) -> Result<(), Failure> {
        let mut files = Vec::new();
        collect_markdown_files(self.path, &mut files)?;
        if files.is_empty() {
            let message = format!("no Markdown file in `{}`", self.path.display());
            return Err(Failure::user_error("not_found", message));
        }
        // `read_dir` has no order, and two imports of one folder must report alike.
        files.sort();
        for file in &files {
            // The first folder below the given path names the store.
            let folder = file.strip_prefix(self.path).ok().and_then(|below| below.components().next());
            let folder = folder
                .map(|part| part.as_os_str().to_string_lossy().into_owned())
                // A file directly in the given folder is its own first component.
                .filter(|part| !part.ends_with(".md"));
            let store = self.store.map(str::to_owned).or(folder).unwrap_or_else(|| "user_notes".to_owned());
            let text = crate::text_io::read_text_file(file)?;
            let before = done.refused.len();
            job.session.engine.import_markdown(&job.session.caller, &store, &text, done)?;
            // Adds the file name to the refusals of this file.
            for refused in &mut done.refused[before..] {
                refused.what = format!("{} ({})", file.display(), refused.what);
            }
            progress.count_piece();
        }
        Ok(())
    }
}

fn collect_markdown_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::unreadable_input(path.display(), &error);
    // A link given by the user is followed here; links found below are not.
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // Links are not followed: they could form a cycle.
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() || (kind.is_file() && entry.path().extension().is_some_and(|ending| ending == "md")) {
            collect_markdown_files(&entry.path(), files)?;
        }
    }
    Ok(())
}
