//! `ingest`: adds files and folders to the knowledge base, installs skills, lists documents.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use engine::model::refusal::Refusal;
use engine::model::vocabulary::Role;
use engine::ports::row::{Paging, RecordPage};
use engine::text::digest::content_sha256;
use engine::text::plural::format_count;
use engine::{Document, DocumentStatus, DocumentText, IngestOutcome, IngestReport};
use serde_json::{Value, json};

use crate::commands::Job;
use crate::document_address::{self, AddressResolver};
use crate::error::Failure;
use crate::skills;
use crate::source_files::{self, GatheredFiles, SourceFile};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct IngestArgs {
    #[command(subcommand)]
    command: Option<IngestCommand>,
    /// Files and folders of Markdown, text, HTML and, if `pdftotext` is installed, PDF. A document's address is the
    /// name of its folder and its own name; a file that was ingested before keeps its address
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Install the SKILL.md files of this folder and its direct subfolders (repeatable; admins only)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "category", "draft"])]
    skills: Vec<PathBuf>,
    /// Category of the documents, to search by; default: unchanged ('' removes it)
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Save as drafts, which no search finds until `ingest publish`; default: unchanged
    #[arg(long)]
    draft: bool,
}

#[derive(Debug, Subcommand)]
enum IngestCommand {
    /// Publish a draft document, so that searches find it
    Publish {
        /// Address of the document, as `ingest` lists it
        #[arg(value_name = "DOCUMENT")]
        document: String,
    },
    /// Remove a document; it may be ingested again at any time
    Remove {
        /// Address of the document, as `ingest` lists it
        #[arg(value_name = "DOCUMENT")]
        document: String,
    },
}

impl IngestArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        match &self.command {
            Some(IngestCommand::Publish { document }) => {
                let done = job.session.engine.publish(&job.session.caller, document)?;
                return print_ingested(job, &[done], &[]);
            }
            Some(IngestCommand::Remove { document }) => return remove_document(job, document),
            None => {}
        }
        if !self.skills.is_empty() {
            return install_skills(job, &self.skills);
        }
        if self.paths.is_empty() {
            return list_documents(job);
        }
        let mut gathered = GatheredFiles::default();
        for path in &self.paths {
            gathered.add_path(path)?;
        }
        let mut left_out = report_left_out(job, &gathered);
        let GatheredFiles { sources, .. } = gathered;
        // After the notes, which may say why nothing is left.
        if sources.is_empty() {
            return Err(Failure::user_error("not_found", "no Markdown, text, HTML or PDF file in these paths"));
        }
        // `None` keeps the status of a document that exists.
        let status = self.draft.then_some(DocumentStatus::Draft);
        let shows_progress = !job.output.json && std::io::stderr().is_terminal();
        let (mut done, mut taken) = (Vec::with_capacity(sources.len()), HashSet::new());
        for (at, source) in sources.iter().enumerate() {
            if shows_progress {
                job.output.print_note(&format!("[{}/{}] {}", at + 1, sources.len(), source.address));
            }
            let text = match source.read_text() {
                // An unreadable file in a folder is skipped; one named on the command line is an error.
                Err(failure) if !source.is_explicit => {
                    left_out.push(source.address.clone());
                    job.output.print_note(&format!("note: left out: {}", failure.message()));
                    continue;
                }
                text => text?,
            };
            let given = DocumentText {
                category: self.category.clone(),
                status,
                ..build_document_text(job, source, text, &taken)?
            };
            // Taken even if the file is refused below, so that no other file of this run gets the address.
            taken.insert(given.path.clone());
            match job.session.engine.ingest(&job.session.caller, &given) {
                // Also skipped: a file with invalid content, or one that another process ingested meanwhile.
                Err(error) if is_file_specific(error.code()) && !source.is_explicit => {
                    left_out.push(source.address.clone());
                    job.output.print_note(&format!("note: left out: `{}`: {error}", source.address));
                }
                ingested => done.push(ingested?),
            }
        }
        print_ingested(job, &done, &left_out)
    }
}

/// Whether the error concerns this file only, so that the others can still be ingested.
fn is_file_specific(code: &str) -> bool {
    // Any other error, for example of policy or of the store, would meet every file alike.
    ["shape.control_character", "shape.path", "conflict.overtaken"].contains(&code)
}

fn remove_document(job: &Job<'_>, document: &str) -> Result<(), Failure> {
    let removed = job.session.engine.remove_document(&job.session.caller, document)?;
    let archived = usize::try_from(removed.archived).unwrap_or(usize::MAX);
    job.output.print_answer(&json!(removed), || {
        format!("removed {}: {} archived", removed.document.path, format_count(archived, "chunk", "chunks"))
    })
}

/// Reports unreadable folders and links, and returns their addresses.
fn report_left_out(job: &Job<'_>, gathered: &GatheredFiles) -> Vec<String> {
    let GatheredFiles { unreadable, links, .. } = gathered;
    for (_, failure) in unreadable {
        job.output.print_note(&format!("note: left out: {}", failure.message()));
    }
    if !links.is_empty() {
        let named = links.iter().take(LINKS_NAMED_MAX).map(|link| format!("`{link}`")).collect::<Vec<_>>().join(", ");
        let more = links.len().saturating_sub(LINKS_NAMED_MAX);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        let count = format_count(links.len(), "link", "links");
        job.output.print_note(&format!("note: left out: {count}, which are not followed: {named}{rest}"));
    }
    unreadable.iter().map(|(address, _)| address).chain(links).cloned().collect()
}

/// Most links named in the note; `--json` lists all.
const LINKS_NAMED_MAX: usize = 5;

/// The text of a file with the address of its document.
fn build_document_text(
    job: &Job<'_>,
    file: &SourceFile,
    text: String,
    taken: &HashSet<String>,
) -> Result<DocumentText, Failure> {
    let (path_suffixes, source, sha256) =
        (document_address::path_suffixes(&file.file), source_files::path_digest(&file.file), content_sha256(&text));
    let documents_there = job.session.engine.documents_at(&job.session.caller, &path_suffixes)?;
    let resolver = AddressResolver {
        default_address: &file.address,
        path_suffixes: &path_suffixes,
        source: source.as_deref(),
        sha256: &sha256,
    };
    let path = resolver.resolve_address(&documents_there, taken);
    Ok(DocumentText { path, text, format: file.format, category: None, status: None, source })
}

/// Message for a document whose earlier text came from another file.
const REPLACED_OTHER: &str =
    "was ingested from another file before, whose text is now replaced; to keep both, ingest their parent folder";

fn print_ingested(job: &Job<'_>, done: &[IngestReport], left_out: &[String]) -> Result<(), Failure> {
    let refused: usize = done.iter().map(|ingested| ingested.refused.len()).sum();
    // Documents whose chunks were all refused count as refused, not as new or changed.
    let (kept_out, admitted): (Vec<&IngestReport>, Vec<&IngestReport>) =
        done.iter().partition(|ingested| ingested.document.chunks == 0 && !ingested.refused.is_empty());
    let count = |outcome| admitted.iter().filter(|ingested| ingested.outcome == outcome).count();
    let written: usize = done.iter().map(|ingested| ingested.written).sum();
    let view: Vec<Value> = done.iter().map(|ingested| json!(ingested)).collect();
    let answer = json!({ "documents": view, "written": written, "refused": refused, "left_out": left_out });
    job.output.print_answer(&answer, || {
        let mut text = format!(
            "documents: {} new, {} changed, {} unchanged, {} refused; {} written",
            count(IngestOutcome::Created),
            count(IngestOutcome::Updated),
            count(IngestOutcome::Unchanged),
            kept_out.len(),
            format_count(written, "chunk", "chunks")
        );
        for ingested in done {
            if ingested.document.chunks == 0 && ingested.refused.is_empty() {
                text += &format!("\n  {} contains no text", ingested.document.path);
            }
            if ingested.replaced_other {
                text += &format!("\n  {} {REPLACED_OTHER}", ingested.document.path);
            }
            for (number, refusal) in &ingested.refused {
                text +=
                    &format!("\n  refused {}#{number}: {} [{}]", ingested.document.path, refusal.message, refusal.code);
            }
        }
        text
    })?;
    // Exit 3 although the other chunks were saved: a script must notice the refused ones.
    if refused == 0 { Ok(()) } else { Err(Failure::REFUSAL_REPORTED) }
}

/// Installs skills into the home. Admins only, because every agent gets them.
fn install_skills(job: &Job<'_>, folders: &[PathBuf]) -> Result<(), Failure> {
    // Checked here, because installing writes files and never asks the engine.
    if job.session.caller.role != Role::Admin {
        return Err(
            Refusal::new("policy.admins_only", "only an admin installs skills, because every agent gets them").into()
        );
    }
    let (mut installed, mut refused) = (Vec::new(), Vec::new());
    for folder in folders {
        let found = skills::read_folder(folder)?;
        for (file, skill) in found.skills {
            match skills::install_skill(&job.skills_folder, &file, &skill)? {
                None => installed.push(skill.name),
                Some(out) => refused.push(out),
            }
        }
        refused.extend(found.left_out);
    }
    // With nothing installed the first problem is the failure; otherwise all are listed in the answer.
    if installed.is_empty() {
        return Err(match refused.first() {
            // A secret is a refusal (exit 3), any other problem of the file a usage error (exit 2).
            Some(out) if out.code == "safety.secret_found" => {
                Refusal::new("safety.secret_found", format!("`{}`: {}", out.file, out.why)).into()
            }
            Some(out) => Failure::user_error(out.code, format!("`{}`: {}", out.file, out.why)),
            None => Failure::user_error("not_found", "no SKILL.md in these folders"),
        });
    }
    let view = json!({ "skills": installed, "folder": job.skills_folder, "refused": refused });
    job.output.print_answer(&view, || {
        let mut text = format!("installed {} into {}", installed.join(", "), job.skills_folder.display());
        for out in &refused {
            text += &format!("\n  refused {}: {} [{}]", out.file, out.why, out.code);
        }
        text
    })?;
    if refused.is_empty() { Ok(()) } else { Err(Failure::REFUSAL_REPORTED) }
}

fn list_documents(job: &Job<'_>) -> Result<(), Failure> {
    // All pages: the listing has no `--after`.
    let (mut documents, mut paging) = (Vec::new(), Paging::default());
    loop {
        let RecordPage { items, next } = job.session.engine.documents(&job.session.caller, &paging)?;
        documents.extend(items);
        paging.after = next;
        if paging.after.is_none() {
            break;
        }
    }
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
    job.output.print_answer(&json!({ "documents": documents }), || {
        job.output
            .render_table(&["document", "title", "category", "status", "chunks", "ingested"], documents.iter().map(row))
    })
}
