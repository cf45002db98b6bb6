//! Ingestion of documents into the knowledge base: split into chunks, compared with the stored ones, published,
//! removed.
//!
//! This file finds the difference; [`document_swap`](crate::sources::document_swap) commits it.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Engine;
use crate::gate::{check_label, check_secret, check_text, normalize_new_path, normalize_path};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::store::{KNOWLEDGE_BASE, KNOWLEDGE_DRAFTS};
use crate::model::vocabulary::Kind;
use crate::policy::{Readable, admins_only};
use crate::ports::{Filter, PageRequest, SortOrder, row};
use crate::safety;
use crate::sources::document_swap::{DocumentDiff, DocumentLease, DocumentRemoval, explain_overtaken};
use crate::sources::knowledge::{Document, DocumentStatus, category_tag};
use crate::text::chunks::{self, Chunk, DocumentFormat};
use crate::text::digest::content_sha256;
use crate::text::{html, markdown};

/// A document to ingest.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Address of the document in the knowledge base.
    pub path: String,
    pub text: String,
    pub format: DocumentFormat,
    /// `None` keeps the category of the document, an empty one removes it.
    pub category: Option<String>,
    /// `None` keeps the status of the document; a new document is published.
    pub status: Option<DocumentStatus>,
    /// Digest of the file or URL it was read from; `None` keeps the one of the document.
    pub source: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IngestOutcome {
    Created,
    Updated,
    /// The same text as before: nothing was written.
    Unchanged,
}

#[derive(Clone, Debug, Serialize)]
pub struct IngestReport {
    pub outcome: IngestOutcome,
    pub document: Document,
    pub written: usize,
    /// Chunks archived because the new text does not have them.
    pub archived: u64,
    /// Chunks the gate refused, by number.
    pub refused: Vec<(usize, Refusal)>,
    /// The document had another text from another source: perhaps two files share one path.
    pub replaced_other: bool,
}

/// A document that was removed.
#[derive(Clone, Debug, Serialize)]
pub struct RemovedDocument {
    /// Its last record.
    pub document: Document,
    /// Number of its chunks that were archived.
    pub archived: u64,
}

impl IngestReport {
    pub(crate) fn for_unchanged(document: Document) -> IngestReport {
        let (outcome, refused) = (IngestOutcome::Unchanged, Vec::new());
        IngestReport { outcome, document, written: 0, archived: 0, refused, replaced_other: false }
    }
}

impl Engine {
    /// Ingests a document, each chunk through the gate. The same text again changes nothing. A changed text replaces
    /// the chunks that differ, also those that were edited by hand. Admins only.
    pub fn ingest(&self, caller: &Caller, input: &DocumentText) -> Result<IngestReport, Error> {
        self.ensure_memory_enabled()?;
        admins_only(caller)?;
        let path = normalize_new_path(&input.path, self.limits())?;
        // The record keeps the path even if the gate refuses every chunk.
        check_secret("path", &path)?;
        check_text("document", &input.text)?;
        if let Some(category) = input.category.as_ref().filter(|category| !category.is_empty()) {
            check_label("category", category, self.limits())?;
        }
        let (title, chunks) = split_document(&path, input);
        // The title goes into the record, which the gate does not see.
        let title = safety::without_secrets(title);
        let find_diff = || diff_document(self, caller, input, &path, &title, &chunks);
        // Most documents of an ingested folder are unchanged: these need no lease and no write.
        match find_diff()? {
            DocumentDiff { before: Some(before), document, drafts, stale, .. }
                if drafts.is_empty()
                    && stale.is_empty()
                    && before.has_same_record(&document)
                    && before.source == document.source =>
            {
                Ok(IngestReport::for_unchanged(before))
            }
            _ => DocumentLease::acquire_lease(self, caller, &path)?
                .replace_text(find_diff)
                .map_err(|error| explain_overtaken(error, &path)),
        }
    }

    /// Publishes a draft: moves its chunks to the searched store, through the gate again. Admins only.
    pub fn publish(&self, caller: &Caller, path: &str) -> Result<IngestReport, Error> {
        self.ensure_memory_enabled()?;
        admins_only(caller)?;
        let path = normalize_path(path, self.limits())?;
        let document = load_document(self, caller, &path)?;
        if document.status == DocumentStatus::Published {
            return Ok(IngestReport::for_unchanged(document));
        }
        let find_diff = || diff_publication(self, caller, load_document(self, caller, &path)?);
        DocumentLease::acquire_lease(self, caller, &path)?
            .replace_text(find_diff)
            .map_err(|error| explain_overtaken(error, &path))
    }

    /// Removes a document: archives its chunks and deletes its record. The text is not banned and may be ingested
    /// again. Admins only.
    pub fn remove_document(&self, caller: &Caller, path: &str) -> Result<RemovedDocument, Error> {
        self.ensure_memory_enabled()?;
        admins_only(caller)?;
        let path = normalize_path(path, self.limits())?;
        let find_removal = || -> Result<DocumentRemoval, Error> {
            let document = load_document(self, caller, &path)?;
            let published = list_chunks(self, caller, &path, KNOWLEDGE_BASE)?;
            let drafts = list_chunks(self, caller, &path, KNOWLEDGE_DRAFTS)?;
            let chunks = published.into_iter().chain(drafts).map(|(_, memory)| memory).collect();
            Ok(DocumentRemoval { document, chunks })
        };
        // Checked before the lease is written: a wrong path must not stop an ingestion that is creating the document.
        load_document(self, caller, &path)?;
        DocumentLease::acquire_lease(self, caller, &path)?
            .remove_document(find_removal)
            .map_err(|error| explain_overtaken(error, &path))
    }
}

fn load_document(engine: &Engine, caller: &Caller, path: &str) -> Result<Document, Error> {
    let document: Option<Document> = row::get_record(&*engine.backend, caller.tenant, path)?;
    document.ok_or_else(|| Error::not_found(format!("document `{path}`")))
}

/// Difference between the stored document and a new text.
fn diff_document(
    engine: &Engine,
    caller: &Caller,
    input: &DocumentText,
    path: &str,
    title: &str,
    chunks: &[Chunk],
) -> Result<DocumentDiff, Error> {
    let before: Option<Document> = row::get_record(&*engine.backend, caller.tenant, path)?;
    let category = match &input.category {
        Some(named) => Some(named.clone()).filter(|named| !named.is_empty()),
        None => before.as_ref().and_then(|document| document.category.clone()),
    };
    let status = input.status.or(before.as_ref().map(|document| document.status));
    let document = Document {
        path: path.to_owned(),
        title: title.to_owned(),
        category,
        status: status.unwrap_or(DocumentStatus::Published),
        sha256: content_sha256(&input.text),
        chunks: chunks.len(),
        ingested_at: engine.clock.now(),
        ingested_by: caller.principal.clone(),
        source: input.source.clone().or(before.as_ref().and_then(|document| document.source.clone())),
    };
    let store = store_for_status(document.status);
    let drafts =
        chunks.iter().zip(1..).map(|(chunk, number)| (number, chunk_draft(store, &document, number, chunk))).collect();
    diff_chunks(engine, caller, before, document, drafts)
}

/// Difference that moves the chunks of a draft to the searched store.
fn diff_publication(engine: &Engine, caller: &Caller, before: Document) -> Result<DocumentDiff, Error> {
    let to_published = |(number, memory): &(usize, Memory)| {
        let (store, reason) = (KNOWLEDGE_BASE.to_owned(), Some("published".to_owned()));
        Ok((*number, Draft { store, reason, ..Draft::from_intact(memory)? }))
    };
    let drafts: Vec<_> = list_chunks(engine, caller, &before.path, KNOWLEDGE_DRAFTS)?
        .iter()
        .map(to_published)
        .collect::<Result<_, Error>>()?;
    let (status, chunks, ingested_at) = (DocumentStatus::Published, drafts.len(), engine.clock.now());
    let document = Document { status, chunks, ingested_at, ..before.clone() };
    diff_chunks(engine, caller, Some(before), document, drafts)
}

/// Compares the drafts with the live chunks: drops unchanged drafts, finds stale chunks.
fn diff_chunks(
    engine: &Engine,
    caller: &Caller,
    before: Option<Document>,
    document: Document,
    mut drafts: Vec<(usize, Draft)>,
) -> Result<DocumentDiff, Error> {
    // Chunks of the other status are stale too: a document is either published or a draft.
    let other_store = match document.status {
        DocumentStatus::Published => KNOWLEDGE_DRAFTS,
        DocumentStatus::Draft => KNOWLEDGE_BASE,
    };
    let live = list_chunks(engine, caller, &document.path, store_for_status(document.status))?;
    let numbers: HashSet<usize> = drafts.iter().map(|(number, _)| *number).collect();
    let (current, beyond): (Vec<_>, Vec<_>) = live.into_iter().partition(|(number, _)| numbers.contains(number));
    let stale = beyond.into_iter().chain(list_chunks(engine, caller, &document.path, other_store)?);
    let stale = stale.map(|(_, memory)| memory).collect();
    let current: BTreeMap<usize, Memory> = current.into_iter().collect();
    drafts.retain(|(number, draft)| !current.get(number).is_some_and(|memory| is_chunk_unchanged(memory, draft)));
    Ok(DocumentDiff { before, document, drafts, current, stale })
}

/// The live chunks of a document in a store, with their numbers (the part of the path after `#`).
fn list_chunks(engine: &Engine, caller: &Caller, path: &str, store: &str) -> Result<Vec<(usize, Memory)>, Error> {
    let prefix = format!("{path}#");
    let number = |memory: &Memory| memory.path.as_deref()?.strip_prefix(&prefix)?.parse::<usize>().ok();
    let filter = Filter { stores: vec![store.to_owned()], path_prefix: Some(prefix.clone()), ..Filter::default() };
    let (mut chunks, mut after) = (Vec::new(), None);
    loop {
        let page = PageRequest { order: SortOrder::Path, after, limit: engine.limits().list_max };
        let found = engine.backend.list_memories(&Readable::whole_tenant(caller.tenant), &filter, &page)?;
        after = found.last().and_then(|last| crate::recall::read::cursor_after(SortOrder::Path, last));
        let more = found.len() == page.limit;
        chunks.extend(found.into_iter().filter_map(|memory| Some((number(&memory)?, memory))));
        if !more {
            return Ok(chunks);
        }
    }
}

/// The store for chunks of documents with this status.
fn store_for_status(status: DocumentStatus) -> &'static str {
    match status {
        DocumentStatus::Published => KNOWLEDGE_BASE,
        DocumentStatus::Draft => KNOWLEDGE_DRAFTS,
    }
}

/// Title and chunks of a document. Each chunk gets the title of the document in front of its headings.
fn split_document(path: &str, input: &DocumentText) -> (String, Vec<Chunk>) {
    let (text, page_title) = match input.format {
        DocumentFormat::Html => (html::to_markdown(&input.text), html::page_title(&input.text)),
        DocumentFormat::Markdown | DocumentFormat::Text => (markdown::normalise_whitespace(&input.text), None),
    };
    let mut chunks = chunks::chunk_markdown(&text);
    // Titles in order of preference: HTML title or front matter, first heading, file name.
    let first_heading = chunks.first().and_then(|chunk| chunk.trail.first().cloned());
    let file_name = || path.rsplit('/').next().unwrap_or(path).to_owned();
    let explicit_title = page_title.or_else(|| markdown::front_matter_title(&text).map(str::to_owned));
    // A title taken from the first heading is not put above the other headings: they are its siblings, not its
    // children.
    let is_parent = explicit_title.is_some();
    let title = explicit_title.or(first_heading).unwrap_or_else(file_name);
    for chunk in &mut chunks {
        if chunk.trail.is_empty() || is_parent && chunk.trail.first() != Some(&title) {
            chunk.trail.insert(0, title.clone());
        }
    }
    (title, chunks)
}

fn chunk_draft(store: &str, document: &Document, number: usize, chunk: &Chunk) -> Draft {
    let Document { path, category, .. } = document;
    let metadata: Map<String, Value> = [("document", json!(path)), ("chunk", json!(number))]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    Draft {
        store: store.to_owned(),
        path: Some(format!("{path}#{number}")),
        kind: Some(Kind::Note),
        title: Some(crate::text::token_estimate::truncate_to(&chunk.trail.join(" > "), TITLE_TOKENS_MAX).to_owned()),
        content: chunk.text.clone(),
        // Categories are tags: the search filters by tags.
        tags: Some(category.iter().map(|category| category_tag(category)).collect()),
        metadata: Some(metadata),
        reason: Some("ingested".to_owned()),
        ..Draft::default()
    }
}

/// Tokens of a chunk's title. A longer trail of headings adds nothing for search.
const TITLE_TOKENS_MAX: usize = 80;

fn is_chunk_unchanged(memory: &Memory, draft: &Draft) -> bool {
    memory.sha256 == content_sha256(&draft.content)
        && memory.title == draft.title
        && Some(&memory.tags) == draft.tags.as_ref()
}
