//! Taking documents into the knowledge base: cut, chunk by chunk through the gate, what went stale archived.
//!
//! A document is many memories and takes many transactions, so whoever ingests it says so first, in a row that every
//! one of those transactions relies on. The last to begin has it: one that began earlier, or was left behind by a
//! process that died, writes nothing more. And the record says what its document holds only once all of it stands.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Engine;
use crate::caller::Caller;
use crate::change::{Change, Committed, Guard, Write};
use crate::chunks::{self, Chunk, Format};
use crate::container::{KNOWLEDGE_BASE, KNOWLEDGE_DRAFTS};
use crate::error::Error;
use crate::event::{EventName, Happening};
use crate::gate::{checked_label, checked_path, new_path};
use crate::html;
use crate::knowledge::{Document, DocumentStatus, category_tag};
use crate::memory::{Draft, Memory, content_sha256};
use crate::pace::Pace;
use crate::pipeline::admins_only;
use crate::policy::Readable;
use crate::ports::{Filter, Order, Page, StoreError};
use crate::refusal::Refusal;
use crate::remember::Remembered;
use crate::row::{self, Kept, Row, RowKind};
use crate::saving::Step;
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

impl Ingested {
    fn unchanged(document: Document) -> Ingested {
        Ingested { outcome: IngestOutcome::Unchanged, document, written: 0, archived: 0, refused: Vec::new() }
    }
}

impl Engine {
    /// Takes a document into the knowledge base, chunk by chunk through the gate. Doing it again changes nothing; a
    /// changed document replaces its stale chunks.
    pub fn ingest(&self, caller: &Caller, given: &DocumentText) -> Result<Ingested, Error> {
        self.is_on()?;
        admins_only(caller)?;
        let path = new_path(&given.path, self.limits())?;
        let before: Option<Document> = row::get(&*self.backend, caller.tenant, &path)?;
        let category = match &given.category {
            Some(named) if named.is_empty() => None,
            Some(named) => {
                checked_label("category", named, self.limits())?;
                Some(named.clone())
            }
            None => before.as_ref().and_then(|document| document.category.clone()),
        };
        let sha256 = content_sha256(&given.text);
        if let Some(document) = before.as_ref().filter(|document| {
            document.sha256 == sha256 && document.status == given.status && document.category == category
        }) {
            return Ok(Ingested::unchanged(document.clone()));
        }
        let (title, chunks) = cut(&path, given);
        let (status, ingested_at, ingested_by) = (given.status, self.clock.now(), caller.principal.clone());
        let document = Document { path, title, category, status, sha256, chunks: 0, ingested_at, ingested_by };
        let unfinished = before.as_ref().unwrap_or(&document);
        Intake::begin(self, caller, unfinished, INGEST)?
            .replace(before.as_ref(), document, &chunks)
            .map_err(|error| overtaken(error, &given.path))
    }

    /// Lets a draft be found: its chunks move to the published ones, through the gate again.
    pub fn publish(&self, caller: &Caller, path: &str) -> Result<Ingested, Error> {
        self.is_on()?;
        admins_only(caller)?;
        let path = checked_path(path, self.limits())?;
        let document: Option<Document> = row::get(&*self.backend, caller.tenant, &path)?;
        let document = document.ok_or_else(|| Error::not_found(format!("document `{path}`")))?;
        if document.status == DocumentStatus::Published {
            return Ok(Ingested::unchanged(document));
        }
        let taken = self.backend.row(caller.tenant, RowKind::Leases, &lease(&path))?;
        if taken.is_some_and(|row| row.parent == INGEST) {
            let message =
                format!("`{path}` is being ingested, or that was broken off: ingest it again, then publish it");
            return Err(Error::conflict("conflict.unfinished", message));
        }
        Intake::begin(self, caller, &document, PUBLISH)?.publish(document).map_err(|error| overtaken(error, &path))
    }
}

/// Why a document is taken.
const INGEST: &str = "ingest";
const PUBLISH: &str = "publish";

/// One process's hold on a document, until another begins.
struct Intake<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    path: String,
    still_ours: Guard,
}

impl<'a> Intake<'a> {
    /// Takes the document, from whoever is at it. What its record says of its text holds no longer.
    fn begin(engine: &'a Engine, caller: &'a Caller, document: &Document, purpose: &str) -> Result<Intake<'a>, Error> {
        let (at, path) = (engine.clock.now(), document.path.clone());
        let (kind, id, state) = (RowKind::Leases, lease(&path), engine.clock.fresh_id().to_string());
        let still_ours = Guard::RowIs { kind, id: id.clone(), state: Some(state.clone()) };
        let taken = Row { kind, id, state, subject: path.clone(), parent: purpose.to_string(), at, body: json!({}) };
        let untrusted = Document { sha256: String::new(), ..document.clone() };
        let change = Change::new(caller.tenant, at).write(Write::Row(taken)).write(Write::Row(untrusted.to_row()));
        engine.backend.prepare(change)?;
        Ok(Intake { engine, caller, path, still_ours })
    }

    /// Puts these chunks in the place of those that stand.
    fn replace(self, before: Option<&Document>, document: Document, chunks: &[Chunk]) -> Result<Ingested, Error> {
        let (store, elsewhere) = match document.status {
            DocumentStatus::Published => (KNOWLEDGE_BASE, KNOWLEDGE_DRAFTS),
            DocumentStatus::Draft => (KNOWLEDGE_DRAFTS, KNOWLEDGE_BASE),
        };
        let standing = self.chunks_of(store)?;
        let drafts: Vec<(usize, Draft)> = chunks
            .iter()
            .zip(1..)
            .map(|(chunk, number)| (number, draft(store, &document, number, chunk)))
            .filter(|(_, draft)| !standing.iter().any(|memory| is_same(memory, draft)))
            .collect();
        let (written, refused) = self.write(&drafts)?;
        let is_stale = |memory: &Memory| {
            let refused_at = |number| refused.iter().any(|(refused, _)| *refused == number);
            number_of(memory).is_none_or(|number| number > chunks.len() || refused_at(number))
        };
        let mut stale: Vec<Memory> = standing.into_iter().filter(is_stale).collect();
        stale.extend(self.chunks_of(elsewhere)?);
        let archived = self.archive(&stale)?;
        let sha256 = if refused.is_empty() { document.sha256 } else { String::new() };
        let document = Document { sha256, chunks: chunks.len() - refused.len(), ..document };
        // What was refused before is refused again: nothing changed.
        if let Some(before) = before.filter(|before| written == 0 && archived == 0 && before.keeps(&document)) {
            self.end(None, written, archived)?;
            return Ok(Ingested { refused, ..Ingested::unchanged(before.clone()) });
        }
        self.end(Some(&document), written, archived)?;
        let outcome = if before.is_some() { IngestOutcome::Updated } else { IngestOutcome::Created };
        Ok(Ingested { outcome, document, written, archived, refused })
    }

    /// Moves the chunks of a draft.
    fn publish(self, document: Document) -> Result<Ingested, Error> {
        let waiting = self.chunks_of(KNOWLEDGE_DRAFTS)?;
        let published = |memory: &Memory| {
            let (store, reason) = (KNOWLEDGE_BASE.to_owned(), Some("published".to_owned()));
            (number_of(memory).unwrap_or_default(), Draft { store, reason, ..Draft::of(memory) })
        };
        let drafts: Vec<(usize, Draft)> = waiting.iter().map(published).collect();
        let (written, refused) = self.write(&drafts)?;
        let archived = self.archive(&waiting)?;
        let (status, chunks) = (DocumentStatus::Published, self.chunks_of(KNOWLEDGE_BASE)?.len());
        let document = Document { status, chunks, ingested_at: self.engine.clock.now(), ..document };
        self.end(Some(&document), written, archived)?;
        Ok(Ingested { outcome: IngestOutcome::Updated, document, written, archived, refused })
    }

    /// Saves chunks, some in one transaction; how many were written, and which the gate refused.
    fn write(&self, drafts: &[(usize, Draft)]) -> Result<(usize, Vec<(usize, Refusal)>), Error> {
        let mut refused = Vec::new();
        let written = Pace::default().through(&*self.engine.clock, drafts, |group| {
            let mut written = 0;
            for (number, remembered) in self.write_together(group)? {
                match remembered {
                    Remembered::Saved(_) => written += 1,
                    Remembered::Refused(refusal) => refused.push((number, refusal)),
                }
            }
            Ok(written)
        })?;
        Ok((written as usize, refused))
    }

    fn write_together(&self, group: &[(usize, Draft)]) -> Result<Vec<(usize, Remembered)>, Error> {
        let (mut answers, mut savings) = (Vec::with_capacity(group.len()), Vec::new());
        let mut together = self.change();
        for (number, draft) in group {
            match self.engine.begin(self.caller, draft.clone())? {
                Step::Done(remembered) => answers.push((*number, remembered)),
                Step::Write(change, saving) => {
                    savings.push((*number, change.clone(), saving));
                    together = together.and(change);
                }
            }
        }
        // Where one of them lost a race, each on its own: the gate looks again at that one.
        let stands = match self.commit(together) {
            Ok(committed) => Some(committed),
            Err(StoreError::Guard(_)) => None,
            Err(error) => return Err(error.into()),
        };
        for (number, change, saving) in savings {
            let step = match &stands {
                Some(committed) => self.engine.hear(self.caller, saving, Ok(committed.clone()))?,
                None => Step::Write(change, saving),
            };
            let write = |change| self.commit(self.change().and(change));
            answers.push((number, self.engine.carry_out(self.caller, step, write)?));
        }
        Ok(answers)
    }

    /// Archives chunks that stand no longer.
    fn archive(&self, stale: &[Memory]) -> Result<u64, Error> {
        let now = self.engine.clock.now();
        let guards = [self.still_ours.clone()];
        Pace::default().through(&*self.engine.clock, stale, |group| {
            let (operation, name) = (Operation::Archive, EventName::Archived);
            self.engine.retire_together(self.caller.tenant, group, operation, name, now, &guards)
        })
    }

    /// Lets go of the document, with what its record says from now on.
    fn end(self, document: Option<&Document>, written: usize, archived: u64) -> Result<(), Error> {
        let Guard::RowIs { kind, id, .. } = self.still_ours.clone() else { return Ok(()) };
        let mut change = self.change().write(Write::RowGone { kind, id });
        if let Some(document) = document {
            let event = Happening::new(EventName::Ingested, self.caller, document.ingested_at)
                .with("path", &document.path)
                .with("status", document.status)
                .with("chunks", document.chunks)
                .with("written", written)
                .with("archived", archived);
            change = change.write(Write::Row(document.to_row())).event(event);
        }
        self.engine.backend.commit(change)?;
        Ok(())
    }

    /// What is written in this turn, and in no other.
    fn change(&self) -> Change {
        Change::new(self.caller.tenant, self.engine.clock.now()).guard(self.still_ours.clone())
    }

    /// Chunks alone are not what was asked for: done twice, they are the same.
    fn commit(&self, change: Change) -> Result<Committed, StoreError> {
        self.engine.backend.prepare(change)
    }

    /// The live chunks of a document.
    fn chunks_of(&self, store: &str) -> Result<Vec<Memory>, Error> {
        let path_prefix = Some(format!("{}#", self.path));
        let filter = Filter { stores: vec![store.to_owned()], path_prefix, ..Filter::default() };
        let (mut chunks, mut after) = (Vec::new(), None);
        loop {
            let page = Page { order: Order::Path, after, limit: self.engine.limits().list_max };
            let found = self.engine.backend.list(&Readable::everything(self.caller.tenant), &filter, &page)?;
            after = found.last().and_then(|last| crate::read::cursor(Order::Path, last));
            let more = found.len() == page.limit;
            chunks.extend(found);
            if !more {
                return Ok(chunks);
            }
        }
    }
}

/// The row that says who is at a document.
fn lease(path: &str) -> String {
    format!("ingest:{path}")
}

/// Somebody else began meanwhile.
fn overtaken(error: Error, path: &str) -> Error {
    match error {
        Error::Store(StoreError::Guard(Guard::RowIs { kind: RowKind::Leases, .. })) => {
            let message =
                format!("`{path}` was ingested again meanwhile, and that stands: ingest yours again to replace it");
            Error::conflict("conflict.overtaken", message)
        }
        error => error,
    }
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

fn draft(store: &str, document: &Document, number: usize, chunk: &Chunk) -> Draft {
    let Document { path, title, category, .. } = document;
    let mut names: Vec<&str> = chunk.trail.iter().map(String::as_str).collect();
    if names.first() != Some(&title.as_str()) {
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
        tags: Some(category.iter().map(|category| category_tag(category)).collect()),
        metadata: Some(metadata),
        reason: Some("ingested".to_owned()),
        ..Draft::default()
    }
}

/// A trail of headings longer than this says no more.
const TITLE_TOKENS_MAX: usize = 80;

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
