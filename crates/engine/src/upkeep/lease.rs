//! Leases: of many processes, one does a piece of a tenant's work. Whoever dies holding one holds it up for minutes.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Engine;
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::ports::StoreError;
use crate::ports::change::{Change, Guard, Write};
use crate::ports::row::{self, Kept, RowKind};
use crate::upkeep::batch_size::Pace;

/// How long a lease holds without a sign of life: longer than the slowest batch, short enough that work left by a
/// process that died is taken up soon.
const LEASE_SECONDS: i64 = 300;

/// Who does it, and until when nobody else may.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Lease {
    work: String,
    holder: Uuid,
    until: Timestamp,
}

impl Kept for Lease {
    const KIND: RowKind = RowKind::Leases;

    fn id(&self) -> String {
        self.work.clone()
    }

    fn at(&self) -> Timestamp {
        self.until
    }

    fn state(&self) -> String {
        self.holder.to_string()
    }
}

/// One process's turn at a piece of work. Nothing is written before there is something to do.
pub(crate) struct Shift<'a> {
    engine: &'a Engine,
    tenant: TenantId,
    work: &'static str,
    lease: Option<Lease>,
    elsewhere: bool,
    pace: Pace,
}

/// What came of asking for the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Just got it: somebody may have done the work meanwhile, so look again.
    Begun,
    Held,
    /// Another process has it.
    Elsewhere,
}

impl<'a> Shift<'a> {
    pub(crate) fn new(engine: &'a Engine, tenant: TenantId, work: &'static str) -> Shift<'a> {
        Shift { engine, tenant, work, lease: None, elsewhere: false, pace: Pace::default() }
    }

    /// Takes the lease, or keeps it alive.
    pub(crate) fn hold(&mut self) -> Result<Hold, Error> {
        let now = self.engine.clock.now();
        let standing = match &self.lease {
            Some(lease) if lease.until.duration_since(now).as_secs() > LEASE_SECONDS / 2 => return Ok(Hold::Held),
            Some(lease) => Some(lease.clone()),
            None => row::get::<Lease>(&*self.engine.backend, self.tenant, self.work)?,
        };
        if self.lease.is_none() && standing.as_ref().is_some_and(|lease| lease.until > now) {
            self.elsewhere = true;
            return Ok(Hold::Elsewhere);
        }
        let holder = self.lease.as_ref().map_or_else(|| self.engine.clock.fresh_id(), |lease| lease.holder);
        let until = now.saturating_add(SignedDuration::from_secs(LEASE_SECONDS)).unwrap_or(now);
        let lease = Lease { work: self.work.to_owned(), holder, until };
        let change = self.change(now, standing.map(|lease| lease.state())).write(Write::Row(lease.to_row()));
        match self.engine.backend.prepare(change) {
            Ok(_) => {
                let renewed = self.lease.replace(lease).is_some();
                Ok(if renewed { Hold::Held } else { Hold::Begun })
            }
            Err(StoreError::Guard(_)) => {
                self.lease = None;
                self.elsewhere = true;
                Ok(Hold::Elsewhere)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Does a batch in small transactions, at the pace found so far.
    pub(crate) fn paced<T>(&mut self, batch: &[T], work: impl Fn(&[T]) -> Result<u64, Error>) -> Result<u64, Error> {
        self.pace.through(&*self.engine.clock, batch, work)
    }

    /// Transactions so far, and the longest of them.
    pub(crate) fn took(&self) -> (u64, SignedDuration) {
        self.pace.took()
    }

    /// Whether another process was at it.
    pub(crate) fn was_elsewhere(&self) -> bool {
        self.elsewhere
    }

    /// Lets others have it. A lease that ran out meanwhile is somebody else's.
    pub(crate) fn end(self) -> Result<(), Error> {
        let Some(lease) = &self.lease else { return Ok(()) };
        let gone = Write::RowGone { kind: RowKind::Leases, id: lease.id() };
        match self.engine.backend.commit(self.change(self.engine.clock.now(), Some(lease.state())).write(gone)) {
            Ok(_) | Err(StoreError::Guard(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Only if the lease is still as it was seen.
    fn change(&self, now: Timestamp, state: Option<String>) -> Change {
        Change::new(self.tenant, now).guard(Guard::RowIs { kind: RowKind::Leases, id: self.work.to_owned(), state })
    }
}
