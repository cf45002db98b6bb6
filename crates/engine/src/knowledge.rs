//! The knowledge base: documents in, chunks kept, what went stale archived.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Engine;
use crate::caller::Caller;
use crate::change::{Change, Write};
use crate::chunks::{self, Chunk, Format};
use crate::container::{KNOWLEDGE_BASE, KNOWLEDGE_DRAFTS};
use crate::error::Error;
use crate::event::{EventName, Happening};
use crate::gate::{checked_label, checked_path};
use crate::html;
use crate::limits::how_many;
use crate::memory::{Draft, Memory, content_sha256};
use crate::pipeline::admins_only;
use crate::policy::Readable;
use crate::ports::{Filter, Order, Page};
use crate::ranking::Hit;
use crate::refusal::Refusal;
use crate::remember::Remembered;
use crate::row::{self, Kept, RowFilter, RowKind};
use crate::search::Query;
use crate::vocabulary;
use crate::vocabulary::{Kind, Operation, Ranker};

vocabulary! {
    /// Whether a document is searched.
    DocumentStatus ("document status") {
        Published = "published",
        Draft = "draft",
    }
}

/// A document that was ingested; its text is in its chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub path: String,
    pub title: String,
    pub category: Option<String>,
    pub status: DocumentStatus,
    /// Of the whole text; empty where some of it was refused, so that the next ingestion tries again.
    pub sha256: String,
    pub chunks: usize,
    pub ingested_at: Timestamp,
    pub ingested_by: String,
}

impl Kept for Document {
    const KIND: RowKind = RowKind::Documents;
    fn id(&self) -> String {
        self.path.clone()
    }
    fn at(&self) -> Timestamp {
        self.ingested_at
    }
    fn state(&self) -> String {
        self.status.to_string()
    }
    fn subject(&self) -> String {
        self.category.clone().unwrap_or_default()
    }
}

impl Document {
    /// Whether this is the other, whoever ingested it and when.
    fn keeps(&self, other: &Document) -> bool {
        let (ingested_at, ingested_by) = (self.ingested_at, self.ingested_by.clone());
        *self == Document { ingested_at, ingested_by, ..other.clone() }
    }
}

/// A text on its way into the knowledge base.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Its address among the documents.
    pub path: String,
    pub text: String,
    pub format: Format,
    /// `None` keeps the one the document has, an empty one takes it away.
    pub category: Option<String>,
    pub status: DocumentStatus,
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
pub struct Ingested {
    pub outcome: IngestOutcome,
    pub document: Document,
    pub written: usize,
    /// Chunks that no longer stand in the document.
    pub archived: u64,
    /// Chunks the gate refused, by number.
    pub refused: Vec<(usize, Refusal)>,
}

impl Engine {
    /// Takes a document into the knowledge base, chunk by chunk through the gate. Doing it again changes nothing; a
    /// changed document replaces its stale chunks.
    pub fn ingest(&self, caller: &Caller, given: &DocumentText) -> Result<Ingested, Error> {
        self.is_on()?;
        admins_only(caller)?;
        let path = checked_path(&given.path, self.limits())?;
        let sha256 = content_sha256(&given.text);
        let before: Option<Document> = row::get(&*self.backend, caller.tenant, &path)?;
        let category = match &given.category {
            Some(named) if named.is_empty() => None,
            Some(named) => {
                checked_label("category", named, self.limits())?;
                Some(named.clone())
            }
            None => before.as_ref().and_then(|document| document.category.clone()),
        };
        if let Some(document) = before.as_ref().filter(|document| {
            document.sha256 == sha256 && document.status == given.status && document.category == category
        }) {
            let document = document.clone();
            let outcome = IngestOutcome::Unchanged;
            return Ok(Ingested { outcome, document, written: 0, archived: 0, refused: Vec::new() });
        }
        let (title, chunks) = cut(&path, given);
        let (store, other) = match given.status {
            DocumentStatus::Published => (KNOWLEDGE_BASE, KNOWLEDGE_DRAFTS),
            DocumentStatus::Draft => (KNOWLEDGE_DRAFTS, KNOWLEDGE_BASE),
        };
        let standing = self.chunks_of(caller, store, &path)?;
        let (mut written, mut refused) = (0, Vec::new());
        for (number, chunk) in chunks.iter().enumerate() {
            let draft = draft(store, &path, &title, number + 1, chunk, category.as_deref());
            if standing.iter().any(|memory| is_same(memory, &draft)) {
                continue;
            }
            match self.remember(caller, draft)? {
                Remembered::Saved(_) => written += 1,
                Remembered::Refused(refusal) => refused.push((number + 1, refusal)),
            }
        }
        let refused_at = |memory: &Memory| refused.iter().any(|(number, _)| number_of(memory) == Some(*number));
        let mut stale: Vec<Memory> = standing
            .into_iter()
            .filter(|memory| number_of(memory).is_none_or(|number| number > chunks.len()) || refused_at(memory))
            .collect();
        stale.extend(self.chunks_of(caller, other, &path)?);
        let now = self.clock.now();
        let archived = self.retire(caller.tenant, &stale, Operation::Archive, EventName::Archived, now)?;
        let document = Document {
            path,
            title,
            category,
            status: given.status,
            sha256: if refused.is_empty() { sha256 } else { String::new() },
            chunks: chunks.len() - refused.len(),
            ingested_at: now,
            ingested_by: caller.principal.clone(),
        };
        // What was refused before is refused again: nothing changed.
        if let Some(before) = before.as_ref().filter(|before| written == 0 && archived == 0 && before.keeps(&document))
        {
            let document = before.clone();
            return Ok(Ingested { outcome: IngestOutcome::Unchanged, document, written, archived, refused });
        }
        self.keep_document(caller, &document, written, archived)?;
        let outcome = if before.is_some() { IngestOutcome::Updated } else { IngestOutcome::Created };
        Ok(Ingested { outcome, document, written, archived, refused })
    }

    /// Lets a draft be found: its chunks move to the published ones, through the gate again.
    pub fn publish(&self, caller: &Caller, path: &str) -> Result<Ingested, Error> {
        self.is_on()?;
        admins_only(caller)?;
        let path = checked_path(path, self.limits())?;
        let document: Option<Document> = row::get(&*self.backend, caller.tenant, &path)?;
        let document = document.ok_or_else(|| Error::not_found(format!("document `{path}`")))?;
        if document.status == DocumentStatus::Published {
            let outcome = IngestOutcome::Unchanged;
            return Ok(Ingested { outcome, document, written: 0, archived: 0, refused: Vec::new() });
        }
        let drafts = self.chunks_of(caller, KNOWLEDGE_DRAFTS, &path)?;
        let (mut written, mut refused) = (0, Vec::new());
        for memory in &drafts {
            let draft =
                Draft { store: KNOWLEDGE_BASE.to_owned(), reason: Some("published".to_owned()), ..Draft::of(memory) };
            match self.remember(caller, draft)? {
                Remembered::Saved(_) => written += 1,
                Remembered::Refused(refusal) => refused.push((number_of(memory).unwrap_or_default(), refusal)),
            }
        }
        let now = self.clock.now();
        let archived = self.retire(caller.tenant, &drafts, Operation::Archive, EventName::Archived, now)?;
        let document = Document { status: DocumentStatus::Published, chunks: written, ingested_at: now, ..document };
        self.keep_document(caller, &document, written, archived)?;
        Ok(Ingested { outcome: IngestOutcome::Updated, document, written, archived, refused })
    }

    fn keep_document(&self, caller: &Caller, document: &Document, written: usize, archived: u64) -> Result<(), Error> {
        let event = Happening::new(EventName::Ingested, caller, document.ingested_at)
            .with("path", &document.path)
            .with("status", document.status)
            .with("chunks", document.chunks)
            .with("written", written)
            .with("archived", archived);
        let change = Change::new(caller.tenant, document.ingested_at);
        self.backend.commit(change.write(Write::Row(document.to_row())).event(event))?;
        Ok(())
    }

    /// The first document that stands at one of these addresses and that the caller sees.
    pub fn document(
        &self,
        caller: &Caller,
        addresses: impl IntoIterator<Item = String>,
    ) -> Result<Option<Document>, Error> {
        self.eyes(caller)?;
        for address in addresses {
            let document: Option<Document> = row::get(&*self.backend, caller.tenant, &address)?;
            if let Some(document) = document.filter(|document| lists(caller, document)) {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }

    /// The documents, newest first.
    pub fn documents(&self, caller: &Caller) -> Result<Vec<Document>, Error> {
        self.eyes(caller)?;
        let filter = RowFilter { newest_first: true, limit: self.limits().list_max, ..RowFilter::default() };
        row::select_seen(&*self.backend, caller.tenant, &filter, |document| lists(caller, document))
    }

    /// The chunks of published documents that answer, of these categories where some are named. An agent that is
    /// mapped to categories sees no others.
    pub fn search_knowledge(
        &self,
        caller: &Caller,
        text: &str,
        categories: &[String],
        limit: Option<usize>,
    ) -> Result<Vec<Hit>, Error> {
        let limit = how_many(limit, self.limits().results_default, self.limits().results_max)?;
        let mut hits = self.knowledge_hits(caller, text, categories, Ranker::Operational, limit)?;
        let query = Query { text: text.to_owned(), ..Query::default() };
        self.recalled(caller, &query, &mut hits);
        Ok(hits)
    }

    /// As [`Engine::search_knowledge`], leaving no trace.
    pub(crate) fn knowledge_hits(
        &self,
        caller: &Caller,
        text: &str,
        categories: &[String],
        ranker: Ranker,
        limit: usize,
    ) -> Result<Vec<Hit>, Error> {
        let eyes = self.eyes(caller)?;
        let mut hits: Vec<Hit> = Vec::new();
        for tags in self.categories(caller, categories) {
            let filter = Filter { stores: vec![KNOWLEDGE_BASE.to_owned()], tags, ..Filter::default() };
            let query = Query { text: text.to_owned(), filter, ..Query::default() };
            let (found, _) = self.found(&eyes, &query, ranker, limit)?;
            hits.extend(found.into_iter().filter(|hit| eyes.shows(&hit.memory)));
        }
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.memory.id.cmp(&other.memory.id)));
        hits.truncate(limit);
        Ok(hits)
    }

    /// The tags to look for, one search each: what was asked for, within what the agent is mapped to.
    fn categories(&self, caller: &Caller, asked: &[String]) -> Vec<Vec<String>> {
        let mapped = caller.agent.as_ref().and_then(|agent| self.settings.knowledge_categories.get(agent));
        let chosen: Vec<&String> = match (mapped, asked) {
            (None, []) => return vec![Vec::new()],
            (None, asked) => asked.iter().collect(),
            (Some(mapped), []) => mapped.iter().collect(),
            (Some(mapped), asked) => asked.iter().filter(|category| mapped.contains(category)).collect(),
        };
        chosen.into_iter().map(|category| vec![category_tag(category)]).collect()
    }

    /// The live chunks of a document.
    fn chunks_of(&self, caller: &Caller, store: &str, path: &str) -> Result<Vec<Memory>, Error> {
        let filter =
            Filter { stores: vec![store.to_owned()], path_prefix: Some(format!("{path}#")), ..Filter::default() };
        let (mut chunks, mut after) = (Vec::new(), None);
        loop {
            let page = Page { order: Order::Path, after, limit: self.limits().list_max };
            let found = self.backend.list(&Readable::everything(caller.tenant), &filter, &page)?;
            after = found.last().and_then(|last| crate::read::cursor(Order::Path, last));
            let more = found.len() == page.limit;
            chunks.extend(found);
            if !more {
                return Ok(chunks);
            }
        }
    }
}

/// Drafts are for those who decide.
fn lists(caller: &Caller, document: &Document) -> bool {
    caller.role.decides() || document.status == DocumentStatus::Published
}

/// The title of a document and its chunks.
fn cut(path: &str, given: &DocumentText) -> (String, Vec<Chunk>) {
    let (text, page_title) = match given.format {
        Format::Html => (html::to_markdown(&given.text), html::title(&given.text)),
        Format::Markdown | Format::Text => (given.text.clone(), None),
    };
    let chunks = chunks::cut(&text);
    let first_heading = || chunks.first().and_then(|chunk| chunk.trail.first().cloned());
    let file_name = || path.rsplit('/').next().unwrap_or(path).to_owned();
    (page_title.or_else(first_heading).unwrap_or_else(file_name), chunks)
}

fn draft(store: &str, path: &str, title: &str, number: usize, chunk: &Chunk, category: Option<&str>) -> Draft {
    let mut names: Vec<&str> = chunk.trail.iter().map(String::as_str).collect();
    if names.first() != Some(&title) {
        names.insert(0, title);
    }
    let metadata: Map<String, Value> = [("document", json!(path)), ("chunk", json!(number))]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    Draft {
        store: store.to_owned(),
        path: Some(format!("{path}#{number}")),
        kind: Some(Kind::Note),
        title: Some(crate::tokens::head(&names.join(" > "), TITLE_TOKENS_MAX).to_owned()),
        content: chunk.text.clone(),
        tags: Some(category.map(category_tag).into_iter().collect()),
        metadata: Some(metadata),
        reason: Some("ingested".to_owned()),
        ..Draft::default()
    }
}

/// A trail of headings longer than this says no more.
const TITLE_TOKENS_MAX: usize = 80;

fn category_tag(category: &str) -> String {
    format!("category:{category}")
}

fn is_same(memory: &Memory, draft: &Draft) -> bool {
    memory.path == draft.path
        && memory.sha256 == content_sha256(&draft.content)
        && memory.title == draft.title
        && Some(&memory.tags) == draft.tags.as_ref()
}

/// Which chunk of its document a memory is.
fn number_of(memory: &Memory) -> Option<usize> {
    memory.path.as_deref()?.rsplit_once('#')?.1.parse().ok()
}
