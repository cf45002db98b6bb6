//! Taking documents into the knowledge base: cut, chunk by chunk through the gate, what went stale archived.
//!
//! A document is many memories, and one transaction puts all of a text in the place of all of another with the record
//! that tells of it: readers see one of the two, and so does whoever comes after a process that died. What takes long,
//! the gate and the vectors, comes before it. Whoever ingests a document says so first, in a row that transaction relies
//! on. The last to begin has it: one that began earlier writes nothing.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Engine;
use crate::blocks;
use crate::caller::Caller;
use crate::change::{Change, Guard, Write};
use crate::chunks::{self, Chunk, Format};
use crate::container::{KNOWLEDGE_BASE, KNOWLEDGE_DRAFTS};
use crate::error::Error;
use crate::event::{EventName, Happening};
use crate::gate::{checked_label, checked_path, checked_text};
use crate::html;
use crate::knowledge::{Document, DocumentStatus, category_tag};
use crate::memory::{Draft, Memory, content_sha256};
use crate::pipeline::admins_only;
use crate::policy::Readable;
use crate::ports::{Filter, Order, Page, StoreError};
use crate::refusal::Refusal;
use crate::row::{self, Kept, Row, RowKind};
use crate::vocabulary::{Kind, Operation};

/// A text on its way into the knowledge base.
#[derive(Clone, Debug)]
pub struct DocumentText {
    /// Its address among the documents.
    pub path: String,
    pub text: String,
    pub format: Format,
    /// `None` keeps the one the document has, an empty one takes it away.
    pub category: Option<String>,
    /// `None` keeps the one the document has; one that is new is published.
    pub status: Option<DocumentStatus>,
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

impl Ingested {
    fn unchanged(document: Document) -> Ingested {
        Ingested { outcome: IngestOutcome::Unchanged, document, written: 0, archived: 0, refused: Vec::new() }
    }
}

impl Engine {
    /// Takes a document into the knowledge base, chunk by chunk through the gate. Doing it again changes nothing; a
    /// changed document replaces its stale chunks, and a chunk that was changed by hand is as in the document again.
    pub fn ingest(&self, caller: &Caller, given: &DocumentText) -> Result<Ingested, Error> {
        self.is_on()?;
        admins_only(caller)?;
        let path = checked_path(&given.path, self.limits())?;
        checked_text("document", &given.text)?;
        if let Some(category) = given.category.as_ref().filter(|category| !category.is_empty()) {
            checked_label("category", category, self.limits())?;
        }
        let (title, chunks) = cut(&path, given);
        let look = || self.compared(caller, given, &path, &title, &chunks);
        // Most documents of a folder are as they were: nobody needs to wait for a turn to find that out.
        match look()? {
            Due { before: Some(before), document, drafts, stale, .. }
                if drafts.is_empty() && stale.is_empty() && before.keeps(&document) =>
            {
                Ok(Ingested::unchanged(before))
            }
            _ => Turn::begin(self, caller, &path)?.switch(look).map_err(|error| overtaken(error, &path)),
        }
    }

    /// Lets a draft be found: its chunks move to the published ones, through the gate again.
    pub fn publish(&self, caller: &Caller, path: &str) -> Result<Ingested, Error> {
        self.is_on()?;
        admins_only(caller)?;
        let path = checked_path(path, self.limits())?;
        let document = || -> Result<Document, Error> {
            let document: Option<Document> = row::get(&*self.backend, caller.tenant, &path)?;
            document.ok_or_else(|| Error::not_found(format!("document `{path}`")))
        };
        let standing = document()?;
        if standing.status == DocumentStatus::Published {
            return Ok(Ingested::unchanged(standing));
        }
        let look = || self.unpublished(caller, document()?);
        Turn::begin(self, caller, &path)?.switch(look).map_err(|error| overtaken(error, &path))
    }

    /// What it takes to have this text stand as the document.
    fn compared(
        &self,
        caller: &Caller,
        given: &DocumentText,
        path: &str,
        title: &str,
        chunks: &[Chunk],
    ) -> Result<Due, Error> {
        let before: Option<Document> = row::get(&*self.backend, caller.tenant, path)?;
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
            ingested_at: self.clock.now(),
            ingested_by: caller.principal.clone(),
        };
        let store = store_of(document.status);
        let drafts =
            chunks.iter().zip(1..).map(|(chunk, number)| (number, draft(store, &document, number, chunk))).collect();
        self.due(caller, before, document, drafts)
    }

    /// What it takes to have the chunks of a draft stand where they are found.
    fn unpublished(&self, caller: &Caller, before: Document) -> Result<Due, Error> {
        let published = |(number, memory): &(usize, Memory)| {
            let (store, reason) = (KNOWLEDGE_BASE.to_owned(), Some("published".to_owned()));
            (*number, Draft { store, reason, ..Draft::of(memory) })
        };
        let drafts: Vec<_> = self.chunks_of(caller, &before.path, KNOWLEDGE_DRAFTS)?.iter().map(published).collect();
        let (status, chunks, ingested_at) = (DocumentStatus::Published, drafts.len(), self.clock.now());
        let document = Document { status, chunks, ingested_at, ..before.clone() };
        self.due(caller, Some(before), document, drafts)
    }

    fn due(
        &self,
        caller: &Caller,
        before: Option<Document>,
        document: Document,
        mut drafts: Vec<(usize, Draft)>,
    ) -> Result<Due, Error> {
        let elsewhere = match document.status {
            DocumentStatus::Published => KNOWLEDGE_DRAFTS,
            DocumentStatus::Draft => KNOWLEDGE_BASE,
        };
        let standing = self.chunks_of(caller, &document.path, store_of(document.status))?;
        let numbers: HashSet<usize> = drafts.iter().map(|(number, _)| *number).collect();
        let (standing, beyond): (Vec<_>, Vec<_>) =
            standing.into_iter().partition(|(number, _)| numbers.contains(number));
        let stale = beyond.into_iter().chain(self.chunks_of(caller, &document.path, elsewhere)?);
        let stale = stale.map(|(_, memory)| memory).collect();
        let standing: BTreeMap<usize, Memory> = standing.into_iter().collect();
        drafts.retain(|(number, draft)| !standing.get(number).is_some_and(|memory| is_same(memory, draft)));
        Ok(Due { before, document, drafts, standing, stale })
    }

    /// The live chunks of a document in a store, by number.
    fn chunks_of(&self, caller: &Caller, path: &str, store: &str) -> Result<Vec<(usize, Memory)>, Error> {
        let prefix = format!("{path}#");
        let number = |memory: &Memory| memory.path.as_deref()?.strip_prefix(&prefix)?.parse::<usize>().ok();
        let filter = Filter { stores: vec![store.to_owned()], path_prefix: Some(prefix.clone()), ..Filter::default() };
        let (mut chunks, mut after) = (Vec::new(), None);
        loop {
            let page = Page { order: Order::Path, after, limit: self.limits().list_max };
            let found = self.backend.list(&Readable::everything(caller.tenant), &filter, &page)?;
            after = found.last().and_then(|last| crate::read::cursor(Order::Path, last));
            let more = found.len() == page.limit;
            chunks.extend(found.into_iter().filter_map(|memory| Some((number(&memory)?, memory))));
            if !more {
                return Ok(chunks);
            }
        }
    }
}

/// What it takes to have a document as it should be.
struct Due {
    before: Option<Document>,
    document: Document,
    /// Chunks that do not stand yet, by number.
    drafts: Vec<(usize, Draft)>,
    /// Chunks that stand where the document's do, by number.
    standing: BTreeMap<usize, Memory>,
    /// Chunks that stand no longer.
    stale: Vec<Memory>,
}

/// What the chunks of a document come to once they have been through the gate.
struct Cleared {
    change: Change,
    written: usize,
    refused: Vec<(usize, Refusal)>,
}

/// One process's hold on a document, until another begins.
struct Turn<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    begun: Timestamp,
    lease: String,
    state: String,
}

impl<'a> Turn<'a> {
    /// Takes the document, from whoever is at it.
    fn begin(engine: &'a Engine, caller: &'a Caller, path: &str) -> Result<Turn<'a>, Error> {
        let (begun, lease, state) = (engine.clock.now(), lease(path), engine.clock.fresh_id().to_string());
        let taken = Row {
            kind: RowKind::Leases,
            id: lease.clone(),
            state: state.clone(),
            subject: path.to_owned(),
            parent: String::new(),
            at: begun,
            body: json!({}),
        };
        engine.backend.prepare(Change::new(caller.tenant, begun).write(Write::Row(taken)))?;
        Ok(Turn { engine, caller, begun, lease, state })
    }

    /// Puts one text in the place of the other. Where somebody wrote between the look and the switch, looks again.
    fn switch(self, look: impl Fn() -> Result<Due, Error>) -> Result<Ingested, Error> {
        for _ in 0..self.engine.limits().commit_attempts {
            let (change, ingested) = self.switching(look()?)?;
            match self.engine.backend.commit(change) {
                Ok(_) => return Ok(ingested),
                Err(StoreError::Guard(guard)) if !is_lease(&guard) => {
                    self.engine.unlearn(self.caller.tenant, &guard, self.begun)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::conflict("conflict.lost_race", "many writers are at this document; try again"))
    }

    /// The one transaction, which also ends the turn.
    fn switching(&self, due: Due) -> Result<(Change, Ingested), Error> {
        let Cleared { mut change, written, refused } = self.clear(&due)?;
        let Due { before, document, standing, mut stale, .. } = due;
        stale.extend(refused.iter().filter_map(|(number, _)| standing.get(number)).cloned());
        let (now, archived) = (self.engine.clock.now(), stale.len() as u64);
        let keeper = Caller { principal: "ingrain".to_owned(), ..Caller::admin(self.caller.tenant) };
        for memory in &stale {
            let (operation, name) = (Operation::Archive, EventName::Archived);
            change = change.and(self.engine.retiring(&keeper, memory, operation, name, now, None));
        }
        let sha256 = if refused.is_empty() { document.sha256 } else { String::new() };
        let document = Document { sha256, chunks: document.chunks - refused.len(), ..document };
        // What was refused before is refused again: nothing changed.
        if let Some(before) = before.as_ref().filter(|before| written == 0 && archived == 0 && before.keeps(&document))
        {
            return Ok((change, Ingested { refused, ..Ingested::unchanged(before.clone()) }));
        }
        let event = Happening::new(EventName::Ingested, self.caller, document.ingested_at)
            .with("path", &document.path)
            .with("status", document.status)
            .with("chunks", document.chunks)
            .with("written", written)
            .with("archived", archived);
        let outcome = if before.is_some() { IngestOutcome::Updated } else { IngestOutcome::Created };
        let change = change.write(Write::Row(document.to_row())).event(event);
        Ok((change, Ingested { outcome, document, written, archived, refused }))
    }

    /// The chunks through the gate, each as it would be saved alone.
    fn clear(&self, due: &Due) -> Result<Cleared, Error> {
        let (mut written, mut refused) = (0, Vec::new());
        let mut change = self.change();
        for (number, draft) in &due.drafts {
            let (save, memory) = match self.engine.looked_up(self.caller, draft)? {
                Ok(save) => save,
                Err(refusal) => {
                    change = change.and(self.engine.refusal(self.caller, &draft.store, &refusal));
                    refused.push((*number, refusal));
                    continue;
                }
            };
            // The gate may have changed what was given into what stands.
            if due.standing.get(number).is_some_and(|standing| reads_same(standing, &memory)) {
                continue;
            }
            written += 1;
            change = together(change, save);
        }
        Ok(Cleared { change, written, refused })
    }

    /// What is written in this turn, and in no other.
    fn change(&self) -> Change {
        let (kind, id, state) = (RowKind::Leases, self.lease.clone(), Some(self.state.clone()));
        Change::new(self.caller.tenant, self.engine.clock.now())
            .guard(Guard::RowIs { kind, id: id.clone(), state })
            .write(Write::RowGone { kind, id })
    }
}

/// Both changes as one; what each relies on about its tenant is asked once.
fn together(change: Change, mut other: Change) -> Change {
    let shared = &change.guards[..change.guards.len().min(SHARED_GUARDS_MAX)];
    other.guards.retain(|guard| !shared.contains(guard));
    change.and(other)
}

/// The guards that all saves share stand with the first of them.
const SHARED_GUARDS_MAX: usize = 16;

fn is_lease(guard: &Guard) -> bool {
    matches!(guard, Guard::RowIs { kind: RowKind::Leases, .. })
}

/// Where the chunks of such documents stand.
fn store_of(status: DocumentStatus) -> &'static str {
    match status {
        DocumentStatus::Published => KNOWLEDGE_BASE,
        DocumentStatus::Draft => KNOWLEDGE_DRAFTS,
    }
}

/// The row that says who is at a document.
fn lease(path: &str) -> String {
    format!("ingest:{path}")
}

/// Somebody else began meanwhile.
fn overtaken(error: Error, path: &str) -> Error {
    match error {
        Error::Store(StoreError::Guard(guard)) if is_lease(&guard) => {
            let message =
                format!("`{path}` was ingested again meanwhile, and that stands: ingest yours again to replace it");
            Error::conflict("conflict.overtaken", message)
        }
        error => error,
    }
}

/// The title of a document and its chunks, each under the names it goes by.
fn cut(path: &str, given: &DocumentText) -> (String, Vec<Chunk>) {
    let (text, page_title) = match given.format {
        Format::Html => (html::to_markdown(&given.text), html::title(&given.text)),
        Format::Markdown | Format::Text => (blocks::plain(&given.text), None),
    };
    let mut chunks = chunks::cut(&text);
    let first_heading = chunks.first().and_then(|chunk| chunk.trail.first().cloned());
    let file_name = || path.rsplit('/').next().unwrap_or(path).to_owned();
    let named = page_title.or_else(|| blocks::title(&text).map(str::to_owned));
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

fn draft(store: &str, document: &Document, number: usize, chunk: &Chunk) -> Draft {
    let Document { path, category, .. } = document;
    let metadata: Map<String, Value> = [("document", json!(path)), ("chunk", json!(number))]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    Draft {
        store: store.to_owned(),
        path: Some(format!("{path}#{number}")),
        kind: Some(Kind::Note),
        title: Some(crate::tokens::head(&chunk.trail.join(" > "), TITLE_TOKENS_MAX).to_owned()),
        content: chunk.text.clone(),
        tags: Some(category.iter().map(|category| category_tag(category)).collect()),
        metadata: Some(metadata),
        reason: Some("ingested".to_owned()),
        ..Draft::default()
    }
}

/// A trail of headings longer than this says no more.
const TITLE_TOKENS_MAX: usize = 80;

fn is_same(memory: &Memory, draft: &Draft) -> bool {
    memory.sha256 == content_sha256(&draft.content)
        && memory.title == draft.title
        && Some(&memory.tags) == draft.tags.as_ref()
}

fn reads_same(memory: &Memory, other: &Memory) -> bool {
    memory.sha256 == other.sha256 && memory.title == other.title && memory.tags == other.tags
}
