//! One text of a document in the place of another: what was cut goes through the gate and is switched.
//!
//! A document is many memories, and one transaction puts all of a text in the place of all of another with the record
//! that tells of it: readers see one of the two, and so does whoever comes after a process that died. What takes long,
//! the gate and the vectors, comes before it. Whoever ingests a document says so first, in a row that transaction relies
//! on. The last to begin has it: one that began earlier writes nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::json;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::vocabulary::Operation;
use crate::ports::StoreError;
use crate::ports::change::{Change, Guard, Write};
use crate::ports::row::{Kept, Row, RowKind};
use crate::sources::ingest::{IngestOutcome, Ingested, Removed};
use crate::sources::knowledge::Document;

/// What it takes to have a document as it should be.
pub(crate) struct Due {
    pub(crate) before: Option<Document>,
    pub(crate) document: Document,
    /// Chunks that do not stand yet, by number.
    pub(crate) drafts: Vec<(usize, Draft)>,
    /// Chunks that stand where the document's do, by number.
    pub(crate) standing: BTreeMap<usize, Memory>,
    /// Chunks that stand no longer.
    pub(crate) stale: Vec<Memory>,
}

/// A document that goes, and what stands of it.
pub(crate) struct Outgoing {
    pub(crate) document: Document,
    pub(crate) chunks: Vec<Memory>,
}

/// What the chunks of a document come to once they have been through the gate.
struct Cleared {
    change: Change,
    written: usize,
    refused: Vec<(usize, Refusal)>,
}

/// One process's hold on a document, until another begins.
pub(crate) struct Turn<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    begun: Timestamp,
    lease: String,
    state: String,
}

impl<'a> Turn<'a> {
    /// Takes the document, from whoever is at it.
    pub(crate) fn begin(engine: &'a Engine, caller: &'a Caller, path: &str) -> Result<Turn<'a>, Error> {
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

    /// Puts one text in the place of the other.
    pub(crate) fn switch(self, look: impl Fn() -> Result<Due, Error>) -> Result<Ingested, Error> {
        self.settle(|| self.switching(look()?))
    }

    /// Takes a document out, all of it.
    pub(crate) fn remove(self, look: impl Fn() -> Result<Outgoing, Error>) -> Result<Removed, Error> {
        self.settle(|| Ok(self.removing(look()?)))
    }

    /// Does it. Where somebody wrote between the look and the switch, looks again.
    fn settle<T>(&self, prepared: impl Fn() -> Result<(Change, T), Error>) -> Result<T, Error> {
        for _ in 0..self.engine.limits().commit_attempts {
            let (change, done) = prepared()?;
            match self.engine.backend.commit(change) {
                Ok(_) => return Ok(done),
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
        let archived = stale.len() as u64;
        change = self.retired(change, &stale, None);
        let sha256 = if refused.is_empty() { document.sha256 } else { String::new() };
        let document = Document { sha256, chunks: document.chunks - refused.len(), ..document };
        // What was refused before is refused again: nothing changed.
        let is_kept = |before: &&Document| written == 0 && archived == 0 && before.keeps(&document);
        let kept = before.as_ref().filter(is_kept).cloned();
        if let Some(before) = kept.as_ref().filter(|before| before.source == document.source) {
            return Ok((change, Ingested { refused, ..Ingested::unchanged(before.clone()) }));
        }
        let event = Happening::new(EventName::Ingested, self.caller, document.ingested_at)
            .with("path", &document.path)
            .with("status", document.status)
            .with("chunks", document.chunks)
            .with("written", written)
            .with("archived", archived);
        let change = change.write(Write::Row(document.to_row())).event(event);
        // The same text from another place: the record learns where it is now, and readers see no change.
        if kept.is_some() {
            return Ok((change, Ingested { refused, ..Ingested::unchanged(document) }));
        }
        let outcome = if before.is_some() { IngestOutcome::Updated } else { IngestOutcome::Created };
        let replaces = |before: &Document| before.sha256 != document.sha256 && document.is_from_elsewhere(before);
        let replaced_other = before.as_ref().is_some_and(replaces);
        Ok((change, Ingested { outcome, document, written, archived, refused, replaced_other }))
    }

    fn removing(&self, Outgoing { document, chunks }: Outgoing) -> (Change, Removed) {
        let archived = chunks.len() as u64;
        let event = Happening::new(EventName::Removed, self.caller, self.engine.clock.now())
            .with("path", &document.path)
            .with("status", document.status)
            .with("archived", archived);
        let gone = Write::RowGone { kind: Document::KIND, id: document.id() };
        let change = self.retired(self.change(), &chunks, Some("its document was removed"));
        (change.write(gone).event(event), Removed { document, archived })
    }

    /// With chunks that stand no longer, which the product takes away and no person.
    fn retired(&self, mut change: Change, chunks: &[Memory], reason: Option<&str>) -> Change {
        let keeper = Caller { principal: "ingrain".to_owned(), ..Caller::admin(self.caller.tenant) };
        let (now, operation, name) = (self.engine.clock.now(), Operation::Archive, EventName::Archived);
        for memory in chunks {
            let reason = reason.map(str::to_owned);
            change = change.and(self.engine.retiring(&keeper, memory, operation, name, now, reason));
        }
        change
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

/// The row that says who is at a document.
fn lease(path: &str) -> String {
    format!("ingest:{path}")
}

/// Somebody else began meanwhile.
pub(crate) fn overtaken(error: Error, path: &str) -> Error {
    match error {
        Error::Store(StoreError::Guard(guard)) if is_lease(&guard) => {
            let message =
                format!("`{path}` was ingested again meanwhile, and that stands: ingest yours again to replace it");
            Error::conflict("conflict.overtaken", message)
        }
        error => error,
    }
}

fn reads_same(memory: &Memory, other: &Memory) -> bool {
    memory.sha256 == other.sha256 && memory.title == other.title && memory.tags == other.tags
}
