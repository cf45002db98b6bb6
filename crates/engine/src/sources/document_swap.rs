//! One text of a document in the place of another: what was cut goes through the gate and is switched.
//!
//! A document is many memories, and one transaction puts all of a text in the place of all of another with the record
//! that tells of it: readers see one of the two, and so does whoever comes after a process that died. What takes long,
//! the gate and the vectors, comes before it. Whoever ingests a document says so first, in a row that transaction
//! relies on. The last to begin has it: one that began earlier writes nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::json;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::row::{Row, RowKind, SideRecord};
use crate::model::vocabulary::Operation;
use crate::ports::change::{Change, Write};
use crate::ports::refusals;
use crate::ports::retry::retry_times;
use crate::sources::ingest::{IngestOutcome, IngestReport, RemovedDocument};
use crate::sources::knowledge::Document;
use crate::write::{quota, remember};

/// What it takes to have a document as it should be.
pub(crate) struct DocumentDiff {
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
pub(crate) struct DocumentRemoval {
    pub(crate) document: Document,
    pub(crate) chunks: Vec<Memory>,
}

/// What the chunks of a document come to once they have been through the gate.
struct ClearedChunks {
    change: Change,
    written: usize,
    refused: Vec<(usize, Refusal)>,
}

/// One process's hold on a document, until another begins.
pub(crate) struct DocumentLease<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    acquired_at: Timestamp,
    lease_id: String,
    lease_state: String,
}

impl<'a> DocumentLease<'a> {
    /// Takes the document, from whoever is at it.
    pub(crate) fn acquire_lease(
        engine: &'a Engine,
        caller: &'a Caller,
        path: &str,
    ) -> Result<DocumentLease<'a>, Error> {
        let (begun, lease, state) = (engine.clock.now(), ingest_lease_id(path), engine.clock.fresh_id().to_string());
        let taken = Row {
            kind: RowKind::Leases,
            id: lease.clone(),
            state: state.clone(),
            subject: path.to_owned(),
            parent: String::new(),
            at: begun,
            body: json!({}),
        };
        engine.backend.commit_setup(Change::new(caller.tenant, begun).with_write(Write::Row(taken)))?;
        Ok(DocumentLease { engine, caller, acquired_at: begun, lease_id: lease, lease_state: state })
    }

    /// Puts one text in the place of the other.
    pub(crate) fn replace_text(self, look: impl Fn() -> Result<DocumentDiff, Error>) -> Result<IngestReport, Error> {
        self.commit_with_retry(|| self.plan_replacement(look()?))
    }

    /// Takes a document out, all of it.
    pub(crate) fn remove_document(
        self,
        look: impl Fn() -> Result<DocumentRemoval, Error>,
    ) -> Result<RemovedDocument, Error> {
        self.commit_with_retry(|| Ok(self.plan_removal(look()?)))
    }

    /// Does it. Where somebody wrote between the look and the switch, looks again.
    fn commit_with_retry<T>(&self, prepared: impl Fn() -> Result<(Change, T), Error>) -> Result<T, Error> {
        let attempt = || {
            let (change, done) = prepared()?;
            match self.engine.commit(change) {
                Ok(_) => Ok(Some(done)),
                Err(StoreError::Guard(guard)) if !is_lease_guard(&guard) => {
                    remember::invalidate_cache(self.engine, self.caller.tenant, &guard, self.acquired_at)?;
                    Ok(None)
                }
                Err(error) => Err(error.into()),
            }
        };
        let contended = || Error::conflict("conflict.lost_race", "many writers are at this document; try again");
        retry_times(self.engine.limits().commit_attempts, attempt)?.ok_or_else(contended)
    }

    /// The one transaction, which also ends the turn.
    fn plan_replacement(&self, due: DocumentDiff) -> Result<(Change, IngestReport), Error> {
        let ClearedChunks { mut change, written, refused } = self.clear_chunks(&due)?;
        let DocumentDiff { before, document, standing, mut stale, .. } = due;
        stale.extend(refused.iter().filter_map(|(number, _)| standing.get(number)).cloned());
        let archived = stale.len() as u64;
        change = self.plan_chunk_archival(change, &stale, None);
        let sha256 = if refused.is_empty() { document.sha256 } else { String::new() };
        let document = Document { sha256, chunks: document.chunks - refused.len(), ..document };
        // What was refused before is refused again: nothing changed.
        let is_kept = |before: &&Document| written == 0 && archived == 0 && before.has_same_record(&document);
        let kept = before.as_ref().filter(is_kept).cloned();
        if let Some(before) = kept.as_ref().filter(|before| before.source == document.source) {
            return Ok((change, IngestReport { refused, ..IngestReport::for_unchanged(before.clone()) }));
        }
        let event = EventBody::new(EventName::Ingested, self.caller, document.ingested_at)
            .with_field("path", &document.path)
            .with_field("status", document.status)
            .with_field("chunks", document.chunks)
            .with_field("written", written)
            .with_field("archived", archived);
        let change = change.with_write(Write::Row(document.to_row())).with_event(event);
        // The same text from another place: the record learns where it is now, and readers see no change.
        if kept.is_some() {
            return Ok((change, IngestReport { refused, ..IngestReport::for_unchanged(document) }));
        }
        let outcome = if before.is_some() { IngestOutcome::Updated } else { IngestOutcome::Created };
        let replaces = |before: &Document| before.sha256 != document.sha256 && document.is_from_elsewhere(before);
        let replaced_other = before.as_ref().is_some_and(replaces);
        Ok((change, IngestReport { outcome, document, written, archived, refused, replaced_other }))
    }

    fn plan_removal(&self, DocumentRemoval { document, chunks }: DocumentRemoval) -> (Change, RemovedDocument) {
        let archived = chunks.len() as u64;
        let event = EventBody::new(EventName::Removed, self.caller, self.engine.clock.now())
            .with_field("path", &document.path)
            .with_field("status", document.status)
            .with_field("archived", archived);
        let gone = Write::DeleteRow { kind: Document::KIND, id: document.row_id() };
        let change = self.plan_chunk_archival(self.leased_change(), &chunks, Some("its document was removed"));
        (change.with_write(gone).with_event(event), RemovedDocument { document, archived })
    }

    /// With chunks that stand no longer, which the product takes away and no person.
    fn plan_chunk_archival(&self, mut change: Change, chunks: &[Memory], reason: Option<&str>) -> Change {
        let keeper = Caller { principal: "ingrain".to_owned(), ..Caller::admin(self.caller.tenant) };
        let (now, operation, name) = (self.engine.clock.now(), Operation::Archive, EventName::Archived);
        for memory in chunks {
            let reason = reason.map(str::to_owned);
            change =
                change.with_change(quota::plan_archive(self.engine, &keeper, memory, operation, name, now, reason));
        }
        change
    }

    /// The chunks through the gate, each as it would be saved alone.
    fn clear_chunks(&self, due: &DocumentDiff) -> Result<ClearedChunks, Error> {
        let (mut written, mut refused) = (0, Vec::new());
        let mut change = self.leased_change();
        for (number, draft) in &due.drafts {
            let (save, memory) = match remember::plan_save_at_path(self.engine, self.caller, draft)? {
                Ok(save) => save,
                Err(refusal) => {
                    change = change.with_change(refusals::plan_refusal_event(
                        self.engine,
                        self.caller,
                        &draft.store,
                        &refusal,
                    ));
                    refused.push((*number, refusal));
                    continue;
                }
            };
            // The gate may have changed what was given into what stands.
            if due.standing.get(number).is_some_and(|standing| has_same_text(standing, &memory)) {
                continue;
            }
            written += 1;
            change = merge_changes(change, save);
        }
        Ok(ClearedChunks { change, written, refused })
    }

    /// What is written in this turn, and in no other.
    fn leased_change(&self) -> Change {
        let (kind, id, state) = (RowKind::Leases, self.lease_id.clone(), Some(self.lease_state.clone()));
        Change::new(self.caller.tenant, self.engine.clock.now())
            .with_guard(Guard::RowInState { kind, id: id.clone(), state })
            .with_write(Write::DeleteRow { kind, id })
    }
}

/// Both changes as one; what each relies on about its tenant is asked once.
fn merge_changes(change: Change, mut other: Change) -> Change {
    let shared = &change.guards[..change.guards.len().min(SHARED_GUARDS_MAX)];
    other.guards.retain(|guard| !shared.contains(guard));
    change.with_change(other)
}

/// The guards that all saves share stand with the first of them.
const SHARED_GUARDS_MAX: usize = 16;

fn is_lease_guard(guard: &Guard) -> bool {
    matches!(guard, Guard::RowInState { kind: RowKind::Leases, .. })
}

/// The row that says who is at a document.
fn ingest_lease_id(path: &str) -> String {
    format!("ingest:{path}")
}

/// Somebody else began meanwhile.
pub(crate) fn explain_overtaken(error: Error, path: &str) -> Error {
    match error {
        Error::Store(StoreError::Guard(guard)) if is_lease_guard(&guard) => {
            let message =
                format!("`{path}` was ingested again meanwhile, and that stands: ingest yours again to replace it");
            Error::conflict("conflict.overtaken", message)
        }
        error => error,
    }
}

fn has_same_text(memory: &Memory, other: &Memory) -> bool {
    memory.sha256 == other.sha256 && memory.title == other.title && memory.tags == other.tags
}
