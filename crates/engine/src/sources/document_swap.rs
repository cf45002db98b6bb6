//! Replaces the text of a document in one transaction.
//!
//! A document is many memories (chunks) and one record. One transaction replaces all of them, so readers see the old
//! text or the new one, also after a process died half-way. The slow part, gate and vectors, runs before the
//! transaction.
//!
//! Each ingestion first writes a lease row with a fresh state, and its transaction guards that state. A later ingestion
//! of the same document overwrites the row: the last to begin wins, and an earlier one commits nothing. Unlike a
//! `WorkLease` this lease neither excludes others nor expires.

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

/// Difference between a document and its new text.
pub(crate) struct DocumentDiff {
    pub(crate) before: Option<Document>,
    pub(crate) document: Document,
    /// Chunks to write, by number.
    pub(crate) drafts: Vec<(usize, Draft)>,
    /// Live chunks with a number that the new text has too.
    pub(crate) current: BTreeMap<usize, Memory>,
    /// Live chunks that the new text no longer has.
    pub(crate) stale: Vec<Memory>,
}

/// A document to remove, and its live chunks.
pub(crate) struct DocumentRemoval {
    pub(crate) document: Document,
    pub(crate) chunks: Vec<Memory>,
}

/// The chunks of a document after the gate.
struct ClearedChunks {
    change: Change,
    written: usize,
    refused: Vec<(usize, Refusal)>,
}

/// The right to replace a document, until another ingestion of it begins.
pub(crate) struct DocumentLease<'a> {
    engine: &'a Engine,
    caller: &'a Caller,
    acquired_at: Timestamp,
    lease_id: String,
    lease_state: String,
}

impl<'a> DocumentLease<'a> {
    /// Writes the lease row, and so takes the document over from an ingestion that is still running.
    pub(crate) fn acquire_lease(
        engine: &'a Engine,
        caller: &'a Caller,
        path: &str,
    ) -> Result<DocumentLease<'a>, Error> {
        let (now, id, state) = (engine.clock.now(), ingest_lease_id(path), engine.clock.fresh_id().to_string());
        let row = Row {
            kind: RowKind::Leases,
            id: id.clone(),
            state: state.clone(),
            subject: path.to_owned(),
            parent: String::new(),
            at: now,
            body: json!({}),
        };
        engine.commit_setup(Change::new(caller.tenant, now).with_write(Write::Row(row)))?;
        Ok(DocumentLease { engine, caller, acquired_at: now, lease_id: id, lease_state: state })
    }

    /// Replaces the text of the document.
    pub(crate) fn replace_text(
        self,
        find_diff: impl Fn() -> Result<DocumentDiff, Error>,
    ) -> Result<IngestReport, Error> {
        self.commit_with_retry(|| self.plan_replacement(find_diff()?))
    }

    /// Removes the document and all of its chunks.
    pub(crate) fn remove_document(
        self,
        find_removal: impl Fn() -> Result<DocumentRemoval, Error>,
    ) -> Result<RemovedDocument, Error> {
        self.commit_with_retry(|| Ok(self.plan_removal(find_removal()?)))
    }

    /// Plans and commits; plans again if a chunk changed in between. A failed lease guard is final.
    fn commit_with_retry<T>(&self, plan: impl Fn() -> Result<(Change, T), Error>) -> Result<T, Error> {
        let attempt = || {
            let (change, done) = plan()?;
            match self.engine.commit(change) {
                Ok(_) => Ok(Some(done)),
                // Chunks, bans or the store changed: read them again.
                Err(StoreError::Guard(guard)) if !is_lease_guard(&guard) => {
                    remember::invalidate_cache(self.engine, self.caller.tenant, &guard, self.acquired_at)?;
                    Ok(None)
                }
                Err(error) => Err(error.into()),
            }
        };
        let contended = || Error::conflict("conflict.lost_race", "too many writers change this document; try again");
        retry_times(self.engine.limits().commit_attempts, attempt)?.ok_or_else(contended)
    }

    /// Plans the one transaction of an ingestion. It also deletes the lease.
    fn plan_replacement(&self, diff: DocumentDiff) -> Result<(Change, IngestReport), Error> {
        let ClearedChunks { mut change, written, refused } = self.clear_chunks(&diff)?;
        let DocumentDiff { before, document, current, mut stale, .. } = diff;
        // The old version of a refused chunk does not stay: the document would mix two texts.
        stale.extend(refused.iter().filter_map(|(number, _)| current.get(number)).cloned());
        let archived = stale.len() as u64;
        change = self.plan_chunk_archival(change, &stale, None);
        // No digest if a chunk was refused: the next ingestion of the same text tries again.
        let sha256 = if refused.is_empty() { document.sha256 } else { String::new() };
        let document = Document { sha256, chunks: document.chunks - refused.len(), ..document };
        // The same chunks were refused before: nothing changed.
        let is_kept = |before: &&Document| written == 0 && archived == 0 && before.has_same_record(&document);
        let kept = before.as_ref().filter(is_kept).cloned();
        // Nothing to record, but the change is still committed: it logs the refusals and deletes the lease.
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
        // The same text from another source: only the record is updated, so the outcome is `Unchanged`.
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
        let delete = Write::DeleteRow { kind: Document::KIND, id: document.row_id() };
        let change = self.plan_chunk_archival(self.leased_change(), &chunks, Some("its document was removed"));
        (change.with_write(delete).with_event(event), RemovedDocument { document, archived })
    }

    /// Adds the archiving of chunks, with the product as author.
    fn plan_chunk_archival(&self, mut change: Change, chunks: &[Memory], reason: Option<&str>) -> Change {
        let author = Caller::system(self.caller.tenant);
        let (now, operation, name) = (self.engine.clock.now(), Operation::Archive, EventName::Archived);
        for memory in chunks {
            let reason = reason.map(str::to_owned);
            change =
                change.with_change(quota::plan_archive(self.engine, &author, memory, operation, name, now, reason));
        }
        change
    }

    /// Clears each chunk as a save of its own; a refused chunk does not stop the others.
    fn clear_chunks(&self, diff: &DocumentDiff) -> Result<ClearedChunks, Error> {
        let (mut written, mut refused) = (0, Vec::new());
        let mut change = self.leased_change();
        for (number, draft) in &diff.drafts {
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
            // The gate may change a chunk, such as by redacting a secret, into the text that is already stored.
            if diff.current.get(number).is_some_and(|current| has_same_text(current, &memory)) {
                continue;
            }
            written += 1;
            change = merge_changes(change, save);
        }
        Ok(ClearedChunks { change, written, refused })
    }

    /// Empty change that commits only while this lease is the latest, and deletes it.
    fn leased_change(&self) -> Change {
        let (kind, id, state) = (RowKind::Leases, self.lease_id.clone(), Some(self.lease_state.clone()));
        Change::new(self.caller.tenant, self.engine.clock.now())
            .with_guard(Guard::RowInState { kind, id: id.clone(), state })
            .with_write(Write::DeleteRow { kind, id })
    }
}

/// Merges two changes. Guards that all saves share (bans, store, erasures) are kept once.
fn merge_changes(change: Change, mut other: Change) -> Change {
    let shared = &change.guards[..change.guards.len().min(SHARED_GUARDS_MAX)];
    other.guards.retain(|guard| !shared.contains(guard));
    change.with_change(other)
}

/// Guards compared for duplicates. The shared ones come with the first save, so comparing the start of the list is
/// enough.
const SHARED_GUARDS_MAX: usize = 16;

fn is_lease_guard(guard: &Guard) -> bool {
    matches!(guard, Guard::RowInState { kind: RowKind::Leases, .. })
}

/// Id of the lease row of a document.
fn ingest_lease_id(path: &str) -> String {
    format!("ingest:{path}")
}

/// Turns a failed lease guard into a conflict that says what happened.
pub(crate) fn explain_overtaken(error: Error, path: &str) -> Error {
    match error {
        Error::Store(StoreError::Guard(guard)) if is_lease_guard(&guard) => {
            let message =
                format!("another ingestion of `{path}` began later and wins; ingest yours again to replace it");
            Error::conflict("conflict.overtaken", message)
        }
        error => error,
    }
}

fn has_same_text(memory: &Memory, other: &Memory) -> bool {
    memory.sha256 == other.sha256 && memory.title == other.title && memory.tags == other.tags
}
