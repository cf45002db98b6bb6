//! Repeats: a call sent twice under one idempotency key is done once and answered twice.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::row::{Row, RowFilter, RowKind, SideRecord};
use crate::ports::change::{Change, CommitResult, Write};
use crate::ports::retry::retry_times;
use crate::ports::{Backend, row};
use crate::text::digest::content_sha256;

/// How long an answer can be asked for again.
pub const ANSWER_KEPT_HOURS: i64 = 24;
/// A call that has not answered after this died with its process: the next may do it, if nothing of it was written.
const ABANDONED_SECS: i64 = 120;
/// Looks at a key that others change meanwhile.
const CLAIM_ATTEMPTS_MAX: usize = 3;
/// Rows removed in one transaction, so that writers never wait long.
const PURGE_BATCH: usize = 200;

/// How far a call is.
const STARTED: &str = "started";
const DONE: &str = "done";
const ANSWERED: &str = "answered";

/// A call under an idempotency key. Holds ids and codes of its answer, never content.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IdempotentCall {
    pub id: String,
    /// Of the request: another one under the same key is a mistake.
    pub request_sha256: String,
    pub at: Timestamp,
    /// Something of it was written.
    #[serde(default)]
    pub done: bool,
    /// What was answered; absent while the first call is still at it.
    pub answer: Option<Value>,
}

impl SideRecord for IdempotentCall {
    const KIND: RowKind = RowKind::Idempotency;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        let state = match self.answer {
            Some(_) => ANSWERED,
            None if self.done => DONE,
            None => STARTED,
        };
        state.to_owned()
    }
}

impl IdempotentCall {
    /// What whoever comes again hears; nothing where the key is free again.
    fn outcome_for_repeat(&self, now: Timestamp, request_sha256: &str) -> Result<Option<Value>, Error> {
        if self.at <= seconds_before(now, ANSWER_KEPT_HOURS * 3600) {
            return Ok(None);
        }
        if self.request_sha256 != request_sha256 {
            let message = "this idempotency key was used for another request";
            return Err(Error::invalid("idempotency.other_request", message));
        }
        match &self.answer {
            Some(answer) => Ok(Some(answer.clone())),
            None if self.at > seconds_before(now, ABANDONED_SECS) => Err(in_progress_error()),
            None if self.done => Err(answer_lost_error()),
            None => Ok(None),
        }
    }
}

/// What a call under an idempotency key meets.
#[derive(Clone, PartialEq, Debug)]
pub enum IdempotencyClaim {
    /// Nobody was here: do it, then say what was answered.
    Claimed(IdempotentCall),
    /// It was done: this was the answer.
    Answered(Value),
}

/// Marks an idempotency key as used with the first change that a call commits.
///
/// A process that dies before it answers leaves a key that is not taken for unused.
#[derive(Debug)]
pub(crate) struct IdempotencyMark {
    tenant: TenantId,
    /// `None` once it is written.
    row: Mutex<Option<Row>>,
}

impl IdempotencyMark {
    pub(crate) fn commit(&self, backend: &dyn Backend, change: Change) -> Result<CommitResult, StoreError> {
        // Locked during the commit: of two concurrent changes only one may carry the mark.
        let mut row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        // A change without writes only logs an event, such as a refusal: the call may be repeated.
        let has_effect = change.tenant == self.tenant && !change.writes.is_empty();
        let Some(mark) = row.clone().filter(|_| has_effect) else {
            drop(row);
            return backend.commit(change);
        };
        let committed = backend.commit(change.with_write(Write::Row(mark)))?;
        *row = None;
        Ok(committed)
    }
}

impl Engine {
    /// This engine for one call under an idempotency key: the first change it commits marks the key as used.
    #[must_use]
    pub fn with_idempotency_mark(&self, tenant: TenantId, call: &IdempotentCall) -> Engine {
        let row = Mutex::new(Some(IdempotentCall { done: true, ..call.clone() }.to_row()));
        Engine { idempotency_mark: Some(Arc::new(IdempotencyMark { tenant, row })), ..self.clone() }
    }

    /// Claims an idempotency key for a request, or finds what was answered.
    pub fn claim_idempotency_key(
        &self,
        caller: &Caller,
        door: &str,
        key: &str,
        request_sha256: &str,
    ) -> Result<IdempotencyClaim, Error> {
        let id = content_sha256(&format!("{}\n{door}\n{key}", caller_identity(caller)));
        let claim = || {
            let now = self.clock.now();
            let found: Option<IdempotentCall> = row::get_record(&*self.backend, caller.tenant, &id)?;
            if let Some(answer) =
                found.as_ref().map_or(Ok(None), |found| found.outcome_for_repeat(now, request_sha256))?
            {
                return Ok(Some(IdempotencyClaim::Answered(answer)));
            }
            let repeat = IdempotentCall {
                id: id.clone(),
                request_sha256: request_sha256.to_owned(),
                at: now,
                done: false,
                answer: None,
            };
            let state = found.as_ref().map(SideRecord::row_state);
            let guard = Guard::RowInState { kind: RowKind::Idempotency, id: id.clone(), state };
            let change = Change::new(caller.tenant, now).with_guard(guard).with_write(Write::Row(repeat.to_row()));
            match self.commit(change) {
                Ok(_) => Ok(Some(IdempotencyClaim::Claimed(repeat))),
                // Another call took the key, or the write of a dead process arrived late.
                Err(StoreError::Guard(_)) => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        retry_times(CLAIM_ATTEMPTS_MAX, claim)?.ok_or_else(in_progress_error)
    }

    /// Keeps the answer for those who ask again; without one, the key is free again.
    pub fn finish_idempotent_call(
        &self,
        caller: &Caller,
        repeat: IdempotentCall,
        answer: Option<Value>,
    ) -> Result<(), Error> {
        let write = match answer {
            Some(answer) => Write::Row(IdempotentCall { answer: Some(answer), ..repeat }.to_row()),
            None => Write::DeleteRow { kind: RowKind::Idempotency, id: repeat.id },
        };
        self.commit(Change::new(caller.tenant, self.clock.now()).with_write(write))?;
        Ok(())
    }

    /// Removes answers nobody can ask for any more; says how many.
    pub fn purge_idempotency_keys(&self, tenant: TenantId) -> Result<u64, Error> {
        let now = self.clock.now();
        let before = Some(seconds_before(now, ANSWER_KEPT_HOURS * 3600));
        let mut purged = 0;
        // By state, because that is how the table is sorted by time.
        for state in [ANSWERED, DONE, STARTED] {
            let state = Some(state.to_owned());
            let old = RowFilter { state, before, limit: PURGE_BATCH, ..RowFilter::default() };
            loop {
                let rows = self.backend.list_rows(tenant, RowKind::Idempotency, &old)?;
                if rows.is_empty() {
                    break;
                }
                purged += rows.len() as u64;
                let gone =
                    |change: Change, row: Row| change.with_write(Write::DeleteRow { kind: row.kind, id: row.id });
                self.commit(rows.into_iter().fold(Change::new(tenant, now), gone))?;
            }
        }
        Ok(purged)
    }
}

/// Who asks and for whom, whole: the same words for somebody else are another call.
fn caller_identity(caller: &Caller) -> String {
    let Caller { principal, role, agent, user, conversation, session, run, pipeline, .. } = caller;
    serde_json::json!([principal, role, agent, user, conversation, session, run, pipeline]).to_string()
}

fn seconds_before(now: Timestamp, secs: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_secs(secs)).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn in_progress_error() -> Error {
    Error::conflict("idempotency.in_progress", "the first call under this idempotency key has not answered yet")
}

fn answer_lost_error() -> Error {
    let message = "a call under this idempotency key was cut off with its process, after all or a part of it was \
                   written: look, and send what is missing under another key";
    Error::conflict("idempotency.answer_lost", message)
}
