//! Taking documents into the knowledge base: cut, chunk by chunk through the gate, what went stale archived.
//!
//! What it takes is found here; [`intake`](crate::sources::document_swap) does it.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Engine;
use crate::gate::{check_label, check_text, normalize_new_path, normalize_path};
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

/// A text on its way into the knowledge base.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Its address among the documents.
    pub path: String,
    pub text: String,
    pub format: DocumentFormat,
    /// `None` keeps the one the document has, an empty one takes it away.
    pub category: Option<String>,
    /// `None` keeps the one the document has; one that is new is published.
    pub status: Option<DocumentStatus>,
    /// A digest of where it was read; `None` keeps the one the document has.
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
    /// Chunks that no longer stand in the document.
    pub archived: u64,
    /// Chunks the gate refused, by number.
    pub refused: Vec<(usize, Refusal)>,
    /// Whether another text stood there, read from another place.
    pub replaced_other: bool,
}

/// A document that is there no longer.
#[derive(Clone, Debug, Serialize)]
pub struct RemovedDocument {
    /// As it stood.
    pub document: Document,
    /// Chunks that went with it.
    pub archived: u64,
}

impl IngestReport {
    pub(crate) fn for_unchanged(document: Document) -> IngestReport {
        let (outcome, refused) = (IngestOutcome::Unchanged, Vec::new());
        IngestReport { outcome, document, written: 0, archived: 0, refused, replaced_other: false }
    }
}

impl Engine {
    /// Takes a document into the knowledge base, chunk by chunk through the gate. Doing it again changes nothing; a
    /// changed document replaces its stale chunks, and a chunk that was changed by hand is as in the document again.
    pub fn ingest(&self, caller: &Caller, given: &DocumentText) -> Result<IngestReport, Error> {
        self.ensure_memory_enabled()?;
        admins_only(caller)?;
        let path = normalize_new_path(&given.path, self.limits())?;
        check_text("document", &given.text)?;
        if let Some(category) = given.category.as_ref().filter(|category| !category.is_empty()) {
            check_label("category", category, self.limits())?;
        }
        let (title, chunks) = split_document(&path, given);
        // The record keeps it whatever the gate says of the chunks.
        let title = safety::without_secrets(title);
        let look = || diff_document(self, caller, given, &path, &title, &chunks);
        // Most documents of a folder are as they were: nobody needs to wait for a turn to find that out.
        match look()? {
            DocumentDiff { before: Some(before), document, drafts, stale, .. }
                if drafts.is_empty()
                    && stale.is_empty()
                    && before.has_same_record(&document)
                    && before.source == document.source =>
            {
                Ok(IngestReport::for_unchanged(before))
            }
            _ => DocumentLease::acquire_lease(self, caller, &path)?
                .replace_text(look)
                .map_err(|error| explain_overtaken(error, &path)),
        }
    }

    /// Lets a draft be found: its chunks move to the published ones, through the gate again.
    pub fn publish(&self, caller: &Caller, path: &str) -> Result<IngestReport, Error> {
        self.ensure_memory_enabled()?;
        admins_only(caller)?;
        let path = normalize_path(path, self.limits())?;
        let standing = load_document(self, caller, &path)?;
        if standing.status == DocumentStatus::Published {
            return Ok(IngestReport::for_unchanged(standing));
        }
        let look = || diff_publication(self, caller, load_document(self, caller, &path)?);
        DocumentLease::acquire_lease(self, caller, &path)?
            .replace_text(look)
            .map_err(|error| explain_overtaken(error, &path))
    }

    /// Takes a document out of the knowledge base: its chunks are archived, and its text may come back any time.
    pub fn remove_document(&self, caller: &Caller, path: &str) -> Result<RemovedDocument, Error> {
        self.ensure_memory_enabled()?;
        admins_only(caller)?;
        let path = normalize_path(path, self.limits())?;
        let look = || -> Result<DocumentRemoval, Error> {
            let document = load_document(self, caller, &path)?;
            let (found, drafts) = (KNOWLEDGE_BASE, KNOWLEDGE_DRAFTS);
            let chunks =
                list_chunks(self, caller, &path, found)?.into_iter().chain(list_chunks(self, caller, &path, drafts)?);
            Ok(DocumentRemoval { document, chunks: chunks.map(|(_, memory)| memory).collect() })
        };
        // Whoever names a document that is not there takes it from nobody.
        load_document(self, caller, &path)?;
        DocumentLease::acquire_lease(self, caller, &path)?
            .remove_document(look)
            .map_err(|error| explain_overtaken(error, &path))
    }
}

fn load_document(engine: &Engine, caller: &Caller, path: &str) -> Result<Document, Error> {
    let document: Option<Document> = row::get_record(&*engine.backend, caller.tenant, path)?;
    document.ok_or_else(|| Error::not_found(format!("document `{path}`")))
}

/// What it takes to have this text stand as the document.
fn diff_document(
    engine: &Engine,
    caller: &Caller,
    given: &DocumentText,
    path: &str,
    title: &str,
    chunks: &[Chunk],
) -> Result<DocumentDiff, Error> {
    let before: Option<Document> = row::get_record(&*engine.backend, caller.tenant, path)?;
    let category = match &given.category {
        Some(named) => Some(named.clone()).filter(|named| !named.is_empty()),
        None => before.as_ref().and_then(|document| document.category.clone()),
    };
    let status = given.status.or(before.as_ref().map(|document| document.status));
    let document = Document {
        path: path.to_owned(),
        title: title.to_owned(),
        category,
        status: status.unwrap_or(DocumentStatus::Published),
        sha256: content_sha256(&given.text),
        chunks: chunks.len(),
        ingested_at: engine.clock.now(),
        ingested_by: caller.principal.clone(),
        source: given.source.clone().or(before.as_ref().and_then(|document| document.source.clone())),
    };
    let store = store_for_status(document.status);
    let drafts =
        chunks.iter().zip(1..).map(|(chunk, number)| (number, chunk_draft(store, &document, number, chunk))).collect();
    diff_chunks(engine, caller, before, document, drafts)
}

/// What it takes to have the chunks of a draft stand where they are found.
fn diff_publication(engine: &Engine, caller: &Caller, before: Document) -> Result<DocumentDiff, Error> {
    let published = |(number, memory): &(usize, Memory)| {
        let (store, reason) = (KNOWLEDGE_BASE.to_owned(), Some("published".to_owned()));
        (*number, Draft { store, reason, ..Draft::from_memory(memory) })
    };
    let drafts: Vec<_> = list_chunks(engine, caller, &before.path, KNOWLEDGE_DRAFTS)?.iter().map(published).collect();
    let (status, chunks, ingested_at) = (DocumentStatus::Published, drafts.len(), engine.clock.now());
    let document = Document { status, chunks, ingested_at, ..before.clone() };
    diff_chunks(engine, caller, Some(before), document, drafts)
}

fn diff_chunks(
    engine: &Engine,
    caller: &Caller,
    before: Option<Document>,
    document: Document,
    mut drafts: Vec<(usize, Draft)>,
) -> Result<DocumentDiff, Error> {
    let elsewhere = match document.status {
        DocumentStatus::Published => KNOWLEDGE_DRAFTS,
        DocumentStatus::Draft => KNOWLEDGE_BASE,
    };
    let standing = list_chunks(engine, caller, &document.path, store_for_status(document.status))?;
    let numbers: HashSet<usize> = drafts.iter().map(|(number, _)| *number).collect();
    let (standing, beyond): (Vec<_>, Vec<_>) = standing.into_iter().partition(|(number, _)| numbers.contains(number));
    let stale = beyond.into_iter().chain(list_chunks(engine, caller, &document.path, elsewhere)?);
    let stale = stale.map(|(_, memory)| memory).collect();
    let standing: BTreeMap<usize, Memory> = standing.into_iter().collect();
    drafts.retain(|(number, draft)| !standing.get(number).is_some_and(|memory| is_chunk_unchanged(memory, draft)));
    Ok(DocumentDiff { before, document, drafts, standing, stale })
}

/// The live chunks of a document in a store, by number.
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

/// Where the chunks of such documents stand.
fn store_for_status(status: DocumentStatus) -> &'static str {
    match status {
        DocumentStatus::Published => KNOWLEDGE_BASE,
        DocumentStatus::Draft => KNOWLEDGE_DRAFTS,
    }
}

/// The title of a document and its chunks, each under the names it goes by.
fn split_document(path: &str, given: &DocumentText) -> (String, Vec<Chunk>) {
    let (text, page_title) = match given.format {
        DocumentFormat::Html => (html::to_markdown(&given.text), html::page_title(&given.text)),
        DocumentFormat::Markdown | DocumentFormat::Text => (markdown::normalise_whitespace(&given.text), None),
    };
    let mut chunks = chunks::chunk_markdown(&text);
    let first_heading = chunks.first().and_then(|chunk| chunk.trail.first().cloned());
    let file_name = || path.rsplit('/').next().unwrap_or(path).to_owned();
    let named = page_title.or_else(|| markdown::front_matter_title(&text).map(str::to_owned));
    // Of headings beside one another the first is the title of the document, not the others' parent.
    let is_above = named.is_some();
    let title = named.or(first_heading).unwrap_or_else(file_name);
    for chunk in &mut chunks {
        if chunk.trail.is_empty() || is_above && chunk.trail.first() != Some(&title) {
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
        tags: Some(category.iter().map(|category| category_tag(category)).collect()),
        metadata: Some(metadata),
        reason: Some("ingested".to_owned()),
        ..Draft::default()
    }
}

/// A trail of headings longer than this says no more.
const TITLE_TOKENS_MAX: usize = 80;

fn is_chunk_unchanged(memory: &Memory, draft: &Draft) -> bool {
    memory.sha256 == content_sha256(&draft.content)
        && memory.title == draft.title
        && Some(&memory.tags) == draft.tags.as_ref()
}
