//! `ingest`: files and folders into the knowledge base.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use engine::chunks::Format;
use engine::{Document, DocumentStatus, DocumentText, IngestOutcome, Ingested};
use serde_json::{Value, json};

use crate::commands::Job;
use crate::error::Failure;
use crate::text::file_text;

#[derive(Debug, Args)]
pub struct Ingest {
    /// Files and folders of Markdown, text and HTML; without any, the documents there are
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What the documents are about, to search by
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Keep them out of every search until they are ingested again without this
    #[arg(long)]
    draft: bool,
}

/// A file and the address its document gets.
struct Source {
    file: PathBuf,
    address: String,
    format: Format,
}

impl Ingest {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        if self.paths.is_empty() {
            return documents(job);
        }
        let mut sources = Vec::new();
        for path in &self.paths {
            gather(path, &mut sources)?;
        }
        if sources.is_empty() {
            return Err(Failure::wrong("not_found", "there is no Markdown, text or HTML file in these places"));
        }
        let status = if self.draft { DocumentStatus::Draft } else { DocumentStatus::Published };
        let shows_progress = !job.output.json && std::io::stderr().is_terminal();
        let mut done = Vec::with_capacity(sources.len());
        for (at, source) in sources.iter().enumerate() {
            if shows_progress {
                job.output.note(&format!("[{}/{}] {}", at + 1, sources.len(), source.address));
            }
            let given = DocumentText {
                path: source.address.clone(),
                text: file_text(&source.file)?,
                format: source.format,
                category: self.category.clone(),
                status,
            };
            done.push(job.session.engine.ingest(&job.session.caller, &given)?);
        }
        told(job, &done)
    }
}

fn told(job: &Job<'_>, done: &[Ingested]) -> Result<(), Failure> {
    let refused: usize = done.iter().map(|ingested| ingested.refused.len()).sum();
    let count = |outcome| done.iter().filter(|ingested| ingested.outcome == outcome).count();
    let written: usize = done.iter().map(|ingested| ingested.written).sum();
    let view: Vec<Value> = done.iter().map(|ingested| json!(ingested)).collect();
    job.output.answer(&json!({ "documents": view, "written": written, "refused": refused }), || {
        let mut text = format!(
            "{} new, {} changed, {} unchanged documents; {written} chunks written",
            count(IngestOutcome::Created),
            count(IngestOutcome::Updated),
            count(IngestOutcome::Unchanged)
        );
        for ingested in done {
            for (number, refusal) in &ingested.refused {
                text +=
                    &format!("\n  refused {}#{number}: {} [{}]", ingested.document.path, refusal.message, refusal.code);
            }
        }
        text
    })?;
    if refused == 0 { Ok(()) } else { Err(Failure::Told(REFUSED)) }
}

/// Exit code where the gate refused a part.
const REFUSED: u8 = 3;

fn documents(job: &Job<'_>) -> Result<(), Failure> {
    let documents = job.session.engine.documents(&job.session.caller)?;
    let row = |document: &Document| {
        vec![
            document.path.clone(),
            document.title.clone(),
            document.category.clone().unwrap_or_default(),
            document.status.to_string(),
            document.chunks.to_string(),
            document.ingested_at.strftime("%F %R").to_string(),
        ]
    };
    job.output.answer(&json!({ "documents": documents }), || {
        job.output.table(&["document", "title", "category", "status", "chunks", "ingested"], documents.iter().map(row))
    })
}

/// The files under a path, in order. A folder's documents are addressed below its name.
fn gather(path: &Path, sources: &mut Vec<Source>) -> Result<(), Failure> {
    let unreadable =
        |error: std::io::Error| Failure::wrong("not_found", format!("cannot read `{}`: {error}", path.display()));
    let name = path.canonicalize().map_err(unreadable)?;
    let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match path.is_dir() {
        true => gather_folder(path, &name, sources),
        false => {
            let format = format(path).unwrap_or(Format::Text);
            sources.push(Source { file: path.to_owned(), address: name, format });
            Ok(())
        }
    }
}

fn gather_folder(folder: &Path, address: &str, sources: &mut Vec<Source>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::broken("ingest.unreadable", format!("cannot read `{}`: {error}", folder.display()))
    };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Links could lead in a circle or out of the folder; hidden files were not meant.
        let kind = entry.file_type().map_err(unreadable)?;
        if name.starts_with('.') || kind.is_symlink() {
            continue;
        }
        let address = format!("{address}/{name}");
        match format(&entry.path()) {
            _ if kind.is_dir() => gather_folder(&entry.path(), &address, sources)?,
            Some(format) => sources.push(Source { file: entry.path(), address, format }),
            None => {}
        }
    }
    Ok(())
}

fn format(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "md" | "markdown" => Some(Format::Markdown),
        "txt" | "text" => Some(Format::Text),
        "html" | "htm" => Some(Format::Html),
        _ => None,
    }
}
