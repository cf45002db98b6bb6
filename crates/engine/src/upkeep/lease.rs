//! Work leases: only one of many processes does a tenant's background work. The lease of a process that died runs out
//! after some minutes.

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

/// Seconds a lease is valid without renewal: longer than the slowest batch, short enough that the work of a dead
/// process is soon taken over.
const LEASE_SECONDS: i64 = 300;

/// The stored lease. `holder` is a fresh id for each acquisition, and serves as the row state that guards check.
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

/// A lease as one process sees it. Nothing is written until the first [`WorkLease::acquire_or_renew`].
pub(crate) struct WorkLease<'a> {
    engine: &'a Engine,
    tenant: TenantId,
    work: &'static str,
    lease: Option<LeaseRow>,
    is_held_elsewhere: bool,
    batch_sizer: BatchSizer,
}

/// Result of acquiring or renewing a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseStatus {
    /// New lease: the previous holder may have done the listed work, so list it again.
    Acquired,
    Held,
    /// Another process holds it.
    HeldElsewhere,
}

impl<'a> WorkLease<'a> {
    pub(crate) fn new(engine: &'a Engine, tenant: TenantId, work: &'static str) -> WorkLease<'a> {
        WorkLease { engine, tenant, work, lease: None, is_held_elsewhere: false, batch_sizer: BatchSizer::default() }
    }

    /// Acquires the lease, or renews it once half of its time has passed.
    pub(crate) fn acquire_or_renew(&mut self) -> Result<LeaseStatus, Error> {
        let now = self.engine.clock.now();
        let stored = match &self.lease {
            // Renewing at half time leaves a slow batch the other half.
            Some(lease) if lease.until.duration_since(now).as_secs() > LEASE_SECONDS / 2 => {
                return Ok(LeaseStatus::Held);
            }
            Some(lease) => Some(lease.clone()),
            None => row::get_record::<LeaseRow>(&*self.engine.backend, self.tenant, self.work)?,
        };
        // A lease that is not in force belongs to a process that died: it is overwritten below.
        if self.lease.is_none() && stored.as_ref().is_some_and(|lease| is_in_force(lease.until, now)) {
            self.is_held_elsewhere = true;
            return Ok(LeaseStatus::HeldElsewhere);
        }
        let holder = self.lease.as_ref().map_or_else(|| self.engine.clock.fresh_id(), |lease| lease.holder);
        let until = now.saturating_add(SignedDuration::from_secs(LEASE_SECONDS)).unwrap_or(now);
        let lease = LeaseRow { work: self.work.to_owned(), holder, until };
        let change =
            self.guarded_change(now, stored.map(|lease| lease.row_state())).with_write(Write::Row(lease.to_row()));
        // `commit_setup`: a lease is no effect of the call under an idempotency key.
        // The guard on the stored holder lets one of several successors win.
        match self.engine.commit_setup(change) {
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

    /// Runs `work` on a batch in small transactions of an adaptive size.
    pub(crate) fn run_in_batches<T>(
        &mut self,
        batch: &[T],
        work: impl Fn(&[T]) -> Result<u64, Error>,
    ) -> Result<u64, Error> {
        self.batch_sizer.run_batches(&*self.engine.clock, batch, work)
    }

    /// Number of transactions so far, and the duration of the longest.
    pub(crate) fn batch_stats(&self) -> (u64, SignedDuration) {
        self.batch_sizer.transaction_stats()
    }

    /// Whether another process held the lease at some attempt.
    pub(crate) fn was_held_elsewhere(&self) -> bool {
        self.is_held_elsewhere
    }

    /// Deletes the lease. If it ran out and another process took it, the guard fails and nothing happens.
    pub(crate) fn release_lease(self) -> Result<(), Error> {
        let Some(lease) = &self.lease else { return Ok(()) };
        let delete = Write::DeleteRow { kind: RowKind::Leases, id: lease.row_id() };
        match self
            .engine
            .commit(self.guarded_change(self.engine.clock.now(), Some(lease.row_state())).with_write(delete))
        {
            Ok(_) | Err(StoreError::Guard(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A change that commits only if the lease row is in this state (`None`: absent).
    fn guarded_change(&self, now: Timestamp, state: Option<String>) -> Change {
        Change::new(self.tenant, now).with_guard(Guard::RowInState {
            kind: RowKind::Leases,
            id: self.work.to_owned(),
            state,
        })
    }
}

/// Whether a lease that ends at `until` holds now. One that ends later than any lease taken now was taken by a clock
/// that ran ahead: waiting for its end could take years.
fn is_in_force(until: Timestamp, now: Timestamp) -> bool {
    let left = until.duration_since(now).as_secs();
    until > now && left <= 2 * LEASE_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_of_a_clock_that_ran_ahead_is_not_waited_for() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        for (seconds_left, in_force) in
            [(-1, false), (0, false), (1, true), (LEASE_SECONDS, true), (2 * LEASE_SECONDS, true), (31_536_000, false)]
        {
            let until = now + SignedDuration::from_secs(seconds_left);
            assert_eq!(is_in_force(until, now), in_force, "{seconds_left} s left");
        }
    }
}
