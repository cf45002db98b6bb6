//! `ingest`: files and folders into the knowledge base.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use engine::chunks::Format;
use engine::count::counted;
use engine::refusal::Refusal;
use engine::vocabulary::Role;
use engine::{Document, DocumentStatus, DocumentText, IngestOutcome, Ingested, Skill};
use serde_json::{Value, json};

use crate::commands::Job;
use crate::error::Failure;
use crate::pdf;
use crate::skills;
use crate::text::file_text;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Ingest {
    #[command(subcommand)]
    deed: Option<Deed>,
    /// Files and folders of Markdown, text, HTML and, where `pdftotext` is installed, PDF; without any, the documents
    /// there are. A document's address is its folder's name and its own; one that stands keeps its address, whether it
    /// comes alone or with a folder
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Install the SKILL.md files of this folder and of the folders in it (repeatable)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "category", "draft"])]
    skills: Vec<PathBuf>,
    /// What the documents are about, to search by; left out, each keeps the one it has ('' takes it away)
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Keep them out of every search until they are published; left out, a document that is a draft stays one
    #[arg(long)]
    draft: bool,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Let a draft be found from now on
    Publish {
        /// The document's address, as `ingest` lists it
        #[arg(value_name = "DOCUMENT")]
        document: String,
    },
}

/// A file and the address its document gets.
struct Source {
    file: PathBuf,
    address: String,
    format: Format,
    is_pdf: bool,
    /// Asked for itself, not with its folder.
    is_named: bool,
}

impl Source {
    fn text(&self) -> Result<String, Failure> {
        if self.is_pdf { pdf::text(&self.file) } else { file_text(&self.file) }
    }
}

impl Ingest {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        if let Some(Deed::Publish { document }) = &self.deed {
            let done = job.session.engine.publish(&job.session.caller, document)?;
            return told(job, &[done], &[]);
        }
        if !self.skills.is_empty() {
            return install(job, &self.skills);
        }
        if self.paths.is_empty() {
            return documents(job);
        }
        let mut sources = Vec::new();
        for path in &self.paths {
            gather(path, &mut sources)?;
        }
        if sources.is_empty() {
            return Err(Failure::wrong("not_found", "there is no Markdown, text, HTML or PDF file in these places"));
        }
        let status = self.draft.then_some(DocumentStatus::Draft);
        let shows_progress = !job.output.json && std::io::stderr().is_terminal();
        let (mut done, mut left_out) = (Vec::with_capacity(sources.len()), Vec::new());
        let mut taken = HashSet::new();
        for (at, source) in sources.iter().enumerate() {
            if shows_progress {
                job.output.note(&format!("[{}/{}] {}", at + 1, sources.len(), source.address));
            }
            let text = match source.text() {
                // One file that cannot be read does not hold up the folder it is in.
                Err(failure) if !source.is_named => {
                    left_out.push(source.address.clone());
                    job.output.note(&format!("note: left out: {}", failure.message()));
                    continue;
                }
                text => text?,
            };
            let path = address(job, source, &taken)?;
            taken.insert(path.clone());
            let (format, category) = (source.format, self.category.clone());
            let given = DocumentText { path, text, format, category, status };
            match job.session.engine.ingest(&job.session.caller, &given) {
                // Nor does one that nobody could keep, or that somebody else brought meanwhile from the same folder.
                Err(error) if is_about_one(error.code()) && !source.is_named => {
                    left_out.push(source.address.clone());
                    job.output.note(&format!("note: left out: `{}`: {error}", source.address));
                }
                ingested => done.push(ingested?),
            }
        }
        told(job, &done, &left_out)
    }
}

/// Whether what went wrong says nothing about the other files.
fn is_about_one(code: &str) -> bool {
    ["shape.control_character", "shape.path", "conflict.overtaken"].contains(&code)
}

fn told(job: &Job<'_>, done: &[Ingested], left_out: &[String]) -> Result<(), Failure> {
    let refused: usize = done.iter().map(|ingested| ingested.refused.len()).sum();
    // Of which the gate let nothing in: neither new nor changed to anybody.
    let (kept_out, taken): (Vec<&Ingested>, Vec<&Ingested>) =
        done.iter().partition(|ingested| ingested.document.chunks == 0 && !ingested.refused.is_empty());
    let count = |outcome| taken.iter().filter(|ingested| ingested.outcome == outcome).count();
    let written: usize = done.iter().map(|ingested| ingested.written).sum();
    let view: Vec<Value> = done.iter().map(|ingested| json!(ingested)).collect();
    let answer = json!({ "documents": view, "written": written, "refused": refused, "left_out": left_out });
    job.output.answer(&answer, || {
        let mut text = format!(
            "documents: {} new, {} changed, {} unchanged, {} refused; {} written",
            count(IngestOutcome::Created),
            count(IngestOutcome::Updated),
            count(IngestOutcome::Unchanged),
            kept_out.len(),
            counted(written, "chunk", "chunks")
        );
        for ingested in done {
            if ingested.document.chunks == 0 && ingested.refused.is_empty() {
                text += &format!("\n  {} holds no text", ingested.document.path);
            }
            for (number, refusal) in &ingested.refused {
                text +=
                    &format!("\n  refused {}#{number}: {} [{}]", ingested.document.path, refusal.message, refusal.code);
            }
        }
        text
    })?;
    if refused == 0 { Ok(()) } else { Err(Failure::TOLD_REFUSED) }
}

/// Copies skills into the folder every window takes them from. Global, so an operator's to do.
fn install(job: &Job<'_>, folders: &[PathBuf]) -> Result<(), Failure> {
    if job.session.caller.role != Role::Admin {
        return Err(
            Refusal::new("policy.admins_only", "only an admin installs skills: every agent is given them").into()
        );
    }
    let (mut installed, mut refused) = (Vec::new(), Vec::new());
    for folder in folders {
        let found = skills::of_folder(folder)?;
        for (file, skill) in found.skills {
            write_skill(job, &skill, &file_text(&file)?)?;
            installed.push(skill.name);
        }
        refused.extend(found.left_out);
    }
    if installed.is_empty() {
        return Err(match refused.first() {
            Some(out) if out.code == "safety.secret_found" => {
                Refusal::new("safety.secret_found", format!("`{}`: {}", out.file, out.why)).into()
            }
            Some(out) => Failure::wrong(out.code, format!("`{}`: {}", out.file, out.why)),
            None => Failure::wrong("not_found", "there is no SKILL.md in these folders"),
        });
    }
    let view = json!({ "skills": installed, "folder": job.skills, "refused": refused });
    job.output.answer(&view, || {
        let mut text = format!("installed {} into {}", installed.join(", "), job.skills.display());
        for out in &refused {
            text += &format!("\n  refused {}: {} [{}]", out.file, out.why, out.code);
        }
        text
    })?;
    if refused.is_empty() { Ok(()) } else { Err(Failure::TOLD_REFUSED) }
}

fn write_skill(job: &Job<'_>, skill: &Skill, text: &str) -> Result<(), Failure> {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let place = job.skills.join(skill.name.chars().map(plain).collect::<String>());
    let unwritable = |error: std::io::Error| {
        Failure::broken("ingest.unwritable", format!("cannot write `{}`: {error}", place.display()))
    };
    std::fs::create_dir_all(&place).map_err(unwritable)?;
    std::fs::write(place.join(skills::FILE), text).map_err(unwritable)
}

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

/// The address a file's document has already, the longest there is: it may have come with a folder further up, or alone.
/// Two files never share one: where another file of this run took it, more folders are named.
fn address(job: &Job<'_>, source: &Source, taken: &HashSet<String>) -> Result<String, Failure> {
    let Ok(whole) = source.file.canonicalize() else { return Ok(source.address.clone()) };
    let names: Vec<_> = whole.iter().skip(1).map(|name| name.to_string_lossy()).collect();
    // A name alone says too little about which file it was.
    let ends = (0..names.len().saturating_sub(1)).map(|from| names[from..].join("/"));
    let free = ends.filter(|end| !taken.contains(end)).collect::<Vec<_>>();
    let document = job.session.engine.document(&job.session.caller, free.iter().cloned())?;
    let own = Some(&source.address).filter(|own| !taken.contains(*own));
    Ok(document.map(|document| document.path).or(own.cloned()).or(free.last().cloned()).unwrap_or_default())
}

/// The files under a path, in order. A folder's documents are addressed below its name, and so is a file named alone.
fn gather(path: &Path, sources: &mut Vec<Source>) -> Result<(), Failure> {
    let unreadable =
        |error: std::io::Error| Failure::wrong("not_found", format!("cannot read `{}`: {error}", path.display()));
    let whole = path.canonicalize().map_err(unreadable)?;
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    match path.is_dir() {
        true => gather_folder(path, &name(&whole).unwrap_or_default(), sources),
        false => {
            let folder = whole.parent().and_then(name);
            let address = folder.into_iter().chain(name(&whole)).collect::<Vec<_>>().join("/");
            let format = format(path).unwrap_or(Format::Text);
            let (file, is_pdf) = (path.to_owned(), is_pdf(path));
            sources.push(Source { file, address, format, is_pdf, is_named: true });
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
        // Links could lead in a circle or out of the folder, pipes would be waited for; hidden files were not meant.
        let kind = entry.file_type().map_err(unreadable)?;
        if name.starts_with('.') || !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        let (file, address) = (entry.path(), format!("{address}/{name}"));
        if kind.is_dir() {
            gather_folder(&file, &address, sources)?;
        } else if let Some(format) = format(&file) {
            let is_pdf = is_pdf(&file);
            sources.push(Source { file, address, format, is_pdf, is_named: false });
        }
    }
    Ok(())
}

fn is_pdf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf"))
}

/// What is in a file, by its name; `None`: not a document.
fn format(path: &Path) -> Option<Format> {
    if is_pdf(path) { Some(Format::Text) } else { Format::of(path.to_str()?) }
}
