//! Idempotency keys: a call sent twice under one key runs once, and both requests get the same answer.
//!
//! A key is claimed (`started`), marked with the first change the call commits (`done`), and finished with the answer
//! (`answered`). A call that died before `done` may run again; one that died after it may not.

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
use crate::ports::row;
use crate::text::digest::content_sha256;

/// Hours an answer is kept for a repeated request.
pub const ANSWER_KEPT_HOURS: i64 = 24;
/// Seconds after which a call without an answer counts as dead with its process. The key can then be claimed again,
/// unless the call has written something.
const ABANDONED_SECS: i64 = 120;
/// Attempts to claim a key while other calls change its row.
const CLAIM_ATTEMPTS_MAX: usize = 3;
/// Rows deleted in one transaction, few enough that other writers do not wait long.
const PURGE_BATCH: usize = 200;

// Row states of a call.
const STARTED: &str = "started";
/// Something was written; the answer is not stored yet.
const DONE: &str = "done";
const ANSWERED: &str = "answered";

/// A call under an idempotency key. Its answer holds ids and codes, never content.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IdempotentCall {
    pub id: String,
    /// Digest of the request. A different request under the same key is an error.
    pub request_sha256: String,
    pub at: Timestamp,
    /// The call has committed at least one change.
    #[serde(default)]
    pub done: bool,
    /// `None` while the call is running, or if it died.
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
    /// Outcome for a repeated request; `None` if the key can be claimed again.
    fn outcome_for_repeat(&self, now: Timestamp, request_sha256: &str) -> Result<Option<Value>, Error> {
        // Expired but not purged yet: treated as if it were gone.
        if self.at <= seconds_before(now, ANSWER_KEPT_HOURS * 3600) {
            return Ok(None);
        }
        if self.request_sha256 != request_sha256 {
            let message = "this idempotency key was used for another request; use a new key";
            return Err(Error::invalid("idempotency.other_request", message));
        }
        match &self.answer {
            Some(answer) => Ok(Some(answer.clone())),
            None if self.may_be_running(now) => Err(in_progress_error()),
            None if self.done => Err(answer_lost_error()),
            None => Ok(None),
        }
    }
}

impl IdempotentCall {
    /// Whether the call may still be running. Not if it began at a time that is still to come: then the clock was set
    /// back since.
    fn may_be_running(&self, now: Timestamp) -> bool {
        self.at > seconds_before(now, ABANDONED_SECS) && seconds_before(self.at, ABANDONED_SECS) <= now
    }
}

/// Removes the stored answers, and digests of requests, that mention something erased. Their keys stay used: a repeated
/// request is refused.
pub(crate) fn plan_answer_removal(
    engine: &Engine,
    caller: &Caller,
    is_erased: impl Fn(&Value) -> bool,
) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    row::for_each_row(engine, caller, RowKind::Idempotency, |row| {
        let call = IdempotentCall::from_row(row.clone()).ok();
        if let Some(call) = call.filter(|call| call.answer.as_ref().is_some_and(&is_erased)) {
            let blank = IdempotentCall { request_sha256: String::new(), done: true, answer: None, ..call };
            writes.push(Write::Row(blank.to_row()));
        }
    })?;
    Ok(writes)
}

/// Result of claiming an idempotency key.
#[derive(Clone, PartialEq, Debug)]
pub enum IdempotencyClaim {
    /// Key claimed: run the call, then store its answer with [`Engine::finish_idempotent_call`].
    Claimed(IdempotentCall),
    /// The call ran before: its stored answer.
    Answered(Value),
}

/// Marks an idempotency key as `done` in the same transaction as the first change of its call.
///
/// So a process that dies before it answers leaves a key that shows whether something was written.
#[derive(Debug)]
pub(crate) struct IdempotencyMark {
    tenant: TenantId,
    /// `None` once it is committed.
    row: Mutex<Option<Row>>,
}

impl IdempotencyMark {
    pub(crate) fn commit(
        &self,
        change: Change,
        commit: impl FnOnce(Change) -> Result<CommitResult, StoreError>,
    ) -> Result<CommitResult, StoreError> {
        // Locked during the commit: of two concurrent changes only one may carry the mark.
        let mut row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        // A change without writes only logs an event, such as a refusal: the call may be repeated.
        let has_effect = change.tenant == self.tenant && !change.writes.is_empty();
        let Some(mark) = row.clone().filter(|_| has_effect) else {
            drop(row);
            return commit(change);
        };
        let committed = commit(change.with_write(Write::Row(mark)))?;
        *row = None;
        Ok(committed)
    }
}

impl Engine {
    /// A copy of this engine for one call under an idempotency key: its first commit marks the key as `done`.
    #[must_use]
    pub fn with_idempotency_mark(&self, tenant: TenantId, call: &IdempotentCall) -> Engine {
        let row = Mutex::new(Some(IdempotentCall { done: true, ..call.clone() }.to_row()));
        Engine { idempotency_mark: Some(Arc::new(IdempotencyMark { tenant, row })), ..self.clone() }
    }

    /// Claims an idempotency key for a request, or returns the stored answer. `door` names the interface (REST, MCP):
    /// each has its own keys.
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
            let call = IdempotentCall {
                id: id.clone(),
                request_sha256: request_sha256.to_owned(),
                at: now,
                done: false,
                answer: None,
            };
            // Guards the state that was read: of two calls that find the key free, one claims it.
            let state = found.as_ref().map(SideRecord::row_state);
            let guard = Guard::RowInState { kind: RowKind::Idempotency, id: id.clone(), state };
            let change = Change::new(caller.tenant, now).with_guard(guard).with_write(Write::Row(call.to_row()));
            match self.commit(change) {
                Ok(_) => Ok(Some(IdempotencyClaim::Claimed(call))),
                // Another call took the key, or the write of a dead process arrived late.
                Err(StoreError::Guard(_)) => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        retry_times(CLAIM_ATTEMPTS_MAX, claim)?.ok_or_else(in_progress_error)
    }

    /// Stores the answer for repeated requests; `None` frees the key.
    pub fn finish_idempotent_call(
        &self,
        caller: &Caller,
        call: IdempotentCall,
        answer: Option<Value>,
    ) -> Result<(), Error> {
        let write = match answer {
            Some(answer) => Write::Row(IdempotentCall { answer: Some(answer), ..call }.to_row()),
            None => Write::DeleteRow { kind: RowKind::Idempotency, id: call.id },
        };
        self.commit(Change::new(caller.tenant, self.clock.now()).with_write(write))?;
        Ok(())
    }

    /// Deletes keys older than [`ANSWER_KEPT_HOURS`]; returns how many.
    pub fn purge_idempotency_keys(&self, tenant: TenantId) -> Result<u64, Error> {
        let now = self.clock.now();
        let before = Some(seconds_before(now, ANSWER_KEPT_HOURS * 3600));
        let mut purged = 0;
        // One query for each state: the index sorts by state, then time.
        for state in [ANSWERED, DONE, STARTED] {
            let state = Some(state.to_owned());
            let old = RowFilter { state, before, limit: PURGE_BATCH, ..RowFilter::default() };
            loop {
                let rows = self.backend.list_rows(tenant, RowKind::Idempotency, &old)?;
                if rows.is_empty() {
                    break;
                }
                purged += rows.len() as u64;
                let delete =
                    |change: Change, row: Row| change.with_write(Write::DeleteRow { kind: row.kind, id: row.id });
                self.commit(rows.into_iter().fold(Change::new(tenant, now), delete))?;
            }
        }
        Ok(purged)
    }
}

/// All of the caller's identity: the same key from another caller, or for another user, is another call.
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
    let message = "the process of the first call under this idempotency key died after it had written all or a part: \
                   read what was saved, and send the missing part under another key";
    Error::conflict("idempotency.answer_lost", message)
}
