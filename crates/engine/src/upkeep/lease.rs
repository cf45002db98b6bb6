//! Leases: of many processes, one does a piece of a tenant's work. Whoever dies holding one holds it up for minutes.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Engine;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::row::{RowKind, SideRecord};
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::upkeep::batch_size::BatchSizer;

/// How long a lease holds without a sign of life: longer than the slowest batch, short enough that work left by a
/// process that died is taken up soon.
const LEASE_SECONDS: i64 = 300;

/// Who does it, and until when nobody else may.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LeaseRow {
    work: String,
    holder: Uuid,
    until: Timestamp,
}

impl SideRecord for LeaseRow {
    const KIND: RowKind = RowKind::Leases;

    fn row_id(&self) -> String {
        self.work.clone()
    }

    fn row_time(&self) -> Timestamp {
        self.until
    }

    fn row_state(&self) -> String {
        self.holder.to_string()
    }
}

/// One process's turn at a piece of work. Nothing is written before there is something to do.
pub(crate) struct WorkLease<'a> {
    engine: &'a Engine,
    tenant: TenantId,
    work: &'static str,
    lease: Option<LeaseRow>,
    is_held_elsewhere: bool,
    pace: BatchSizer,
}

/// What came of asking for the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseStatus {
    /// Just got it: somebody may have done the work meanwhile, so look again.
    Acquired,
    Held,
    /// Another process has it.
    HeldElsewhere,
}

impl<'a> WorkLease<'a> {
    pub(crate) fn new(engine: &'a Engine, tenant: TenantId, work: &'static str) -> WorkLease<'a> {
        WorkLease { engine, tenant, work, lease: None, is_held_elsewhere: false, pace: BatchSizer::default() }
    }

    /// Takes the lease, or keeps it alive.
    pub(crate) fn acquire_or_renew(&mut self) -> Result<LeaseStatus, Error> {
        let now = self.engine.clock.now();
        let standing = match &self.lease {
            Some(lease) if lease.until.duration_since(now).as_secs() > LEASE_SECONDS / 2 => {
                return Ok(LeaseStatus::Held);
            }
            Some(lease) => Some(lease.clone()),
            None => row::get_record::<LeaseRow>(&*self.engine.backend, self.tenant, self.work)?,
        };
        if self.lease.is_none() && standing.as_ref().is_some_and(|lease| lease.until > now) {
            self.is_held_elsewhere = true;
            return Ok(LeaseStatus::HeldElsewhere);
        }
        let holder = self.lease.as_ref().map_or_else(|| self.engine.clock.fresh_id(), |lease| lease.holder);
        let until = now.saturating_add(SignedDuration::from_secs(LEASE_SECONDS)).unwrap_or(now);
        let lease = LeaseRow { work: self.work.to_owned(), holder, until };
        let change =
            self.guarded_change(now, standing.map(|lease| lease.row_state())).with_write(Write::Row(lease.to_row()));
        match self.engine.backend.commit_setup(change) {
            Ok(_) => {
                let renewed = self.lease.replace(lease).is_some();
                Ok(if renewed { LeaseStatus::Held } else { LeaseStatus::Acquired })
            }
            Err(StoreError::Guard(_)) => {
                self.lease = None;
                self.is_held_elsewhere = true;
                Ok(LeaseStatus::HeldElsewhere)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Does a batch in small transactions, at the pace found so far.
    pub(crate) fn run_in_batches<T>(
        &mut self,
        batch: &[T],
        work: impl Fn(&[T]) -> Result<u64, Error>,
    ) -> Result<u64, Error> {
        self.pace.run_batches(&*self.engine.clock, batch, work)
    }

    /// Transactions so far, and the longest of them.
    pub(crate) fn batch_stats(&self) -> (u64, SignedDuration) {
        self.pace.transaction_stats()
    }

    /// Whether another process was at it.
    pub(crate) fn was_held_elsewhere(&self) -> bool {
        self.is_held_elsewhere
    }

    /// Lets others have it. A lease that ran out meanwhile is somebody else's.
    pub(crate) fn release_lease(self) -> Result<(), Error> {
        let Some(lease) = &self.lease else { return Ok(()) };
        let gone = Write::DeleteRow { kind: RowKind::Leases, id: lease.row_id() };
        match self.engine.commit(self.guarded_change(self.engine.clock.now(), Some(lease.row_state())).with_write(gone))
        {
            Ok(_) | Err(StoreError::Guard(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Only if the lease is still as it was seen.
    fn guarded_change(&self, now: Timestamp, state: Option<String>) -> Change {
        Change::new(self.tenant, now).with_guard(Guard::RowInState {
            kind: RowKind::Leases,
            id: self.work.to_owned(),
            state,
        })
    }
}
