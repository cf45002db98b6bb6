//! Compares the log with its position outside the database: a log that lost its end is intact in itself.

use super::log_replay::LogReplay;
use super::{Finding, Verification};
use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::id::TenantId;
use crate::policy::admins_only;
use crate::ports::Backend;
use crate::ports::scan::{LogHead, LogPosition};

const CAUSE: &str = "the write-ahead log was lost, or another file was put in place of the database";

impl Engine {
    /// Takes the logs of all tenants as they are, after an older database was put back on purpose. Admins only, and
    /// only where the caller may write the files.
    pub fn accept_restored(&self, caller: &Caller) -> Result<(), Error> {
        admins_only(caller)?;
        Ok(self.backend.accept_log_positions()?)
    }
}

pub(super) fn of_tenant(positions: &[LogPosition], tenant: TenantId) -> Option<&LogHead> {
    positions.iter().find(|position| position.tenant == tenant).map(|position| &position.head)
}

/// `positions` and `head` were read before the log.
pub(super) fn check_positions(
    backend: &dyn Backend,
    tenant: TenantId,
    positions: &[LogPosition],
    head: &LogHead,
    replay: &LogReplay,
    verified: &mut Verification,
) -> Result<(), StoreError> {
    if let Some(position) = of_tenant(positions, tenant).filter(|position| position.seq > 0) {
        let (written, last) = (position.seq, replay.seq());
        if last < written {
            let reason = format!("it was written, and the log ends at entry {last}: {CAUSE}");
            verified.add_finding(Finding::of_log(written, reason));
        } else if !replay.has_expected() {
            verified.add_finding(Finding::of_log(written, format!("it is not the one that was written: {CAUSE}")));
        }
        if head.covered_from > position.covered_from {
            let reason = format!(
                "the log covered the data from entry {} on, and now says from {}: it was rewritten",
                position.covered_from, head.covered_from
            );
            verified.add_finding(Finding::of_log(position.covered_from, reason));
        }
    }
    // Without positions, as on Postgres, nothing more is read.
    if positions.iter().any(|position| position.tenant != tenant) {
        let tenants = backend.list_tenants()?;
        let is_gone = |position: &&LogPosition| tenants.iter().all(|tenant| tenant.id != position.tenant);
        for position in positions.iter().filter(is_gone).filter(|position| position.head.seq > 0) {
            let reason = format!("a log that came to this entry is not in the database with its tenant: {CAUSE}");
            verified.add_finding(Finding::of_log(position.head.seq, reason));
        }
    }
    Ok(())
}
