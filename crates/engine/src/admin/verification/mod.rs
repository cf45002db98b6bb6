//! Verification: replays the event log against the data. The hash of each log entry covers the entry before it and the
//! digests of what its change wrote (`model/write_digest.rs`), so everything stored must be what the log says, and
//! nothing else may be there.
//!
//! 1. `log_replay` reads the log, checks its hashes and keeps the last digest of each version and record.
//! 2. `data_scan` reads versions, live rows and records in pages, computes their digests again and compares.
//! 3. What changed meanwhile is compared with the entries that came meanwhile. Nothing is locked.

mod adoption;
mod checkpoint;
mod data_scan;
mod finding;
mod log_position;
mod log_replay;
mod repair;

use serde::Serialize;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::id::MemoryId;
use crate::policy::admins_only;
pub use checkpoint::Checkpoint;
use data_scan::DataScan;
use finding::DamagedPart;
pub use finding::{Finding, FindingCode};
use log_replay::LogReplay;
pub use repair::Repair;

/// Result of a verification.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Verification {
    /// Number of log entries read.
    pub entries: u64,
    /// Hash of the last entry. Stored elsewhere, it proves all entries up to it.
    pub hash: String,
    /// The first entry that does not fit the chain.
    pub broken: Option<BrokenEntry>,
    /// What was compared with the log.
    pub checked: CheckedCounts,
    /// Versions and records from before the log had digests. They are compared with nothing until they are adopted.
    pub uncovered: u64,
    /// Everything that is not what the log says, at most so many as the limit says.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub findings_left_out: u64,
    /// Rows that changed in every round of the comparison, so that nothing can be said about them.
    pub unsettled: u64,
    #[serde(skip)]
    damage: DamageByPart,
}

/// The result in one word, for programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Intact,
    /// Nothing differs, but not everything could be compared with the log.
    NotCovered,
    Damaged,
}

/// Findings by what a repair does about them; complete, also where not all are named.
#[derive(Clone, PartialEq, Debug, Default)]
struct DamageByPart {
    live_rows: Vec<MemoryId>,
    places: u64,
    /// Versions and whole tables, which nothing rebuilds.
    versions: u64,
}

/// Numbers of rows compared with the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CheckedCounts {
    pub versions: u64,
    pub memories: u64,
    pub records: u64,
}

/// The first entry that does not fit the chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BrokenEntry {
    pub seq: u64,
    pub reason: String,
}

impl Verification {
    /// Nothing differs, and everything that the log covers could be compared.
    pub fn is_intact(&self) -> bool {
        self.broken.is_none() && self.findings.is_empty() && self.unsettled == 0
    }

    pub fn verdict(&self) -> Verdict {
        match (self.is_intact(), self.uncovered) {
            (true, 0) => Verdict::Intact,
            (true, _) => Verdict::NotCovered,
            (false, _) => Verdict::Damaged,
        }
    }

    fn add_finding(&mut self, finding: Finding) {
        match finding.part {
            DamagedPart::LiveRow(memory) => self.damage.live_rows.push(memory),
            DamagedPart::Place => self.damage.places += 1,
            DamagedPart::Version => self.damage.versions += 1,
            DamagedPart::Record => {}
        }
        match self.findings.len() < FINDINGS_MAX {
            true => self.findings.push(finding),
            false => self.findings_left_out += 1,
        }
    }
}

/// Findings that are named. A lost table has as many as it had rows.
const FINDINGS_MAX: usize = 1_000;
/// Rows read at a time. A version may hold 100 kB.
const PAGE_ROWS: usize = 500;

impl Engine {
    /// Replays the log of the caller's tenant against its data. Admins only. Runs beside a live server.
    pub fn verify(&self, caller: &Caller) -> Result<Verification, Error> {
        Ok(self.replay_log(caller)?.0)
    }

    /// Also returns what the log does not cover, in the form of the log.
    fn replay_log(&self, caller: &Caller) -> Result<(Verification, DataScan), Error> {
        admins_only(caller)?;
        let (backend, tenant) = (&*self.backend, caller.tenant);
        let mut verified = Verification::default();
        // Both read first, and in this order: concurrent writes only add entries.
        let positions = backend.log_positions()?;
        let head = backend.log_head(tenant)?;
        let mut replay = LogReplay::new(&head, log_position::of_tenant(&positions, tenant));
        let mut scan = DataScan::default();
        match replay.read_to_end(backend, tenant, Some(&head)) {
            Ok(()) => replay.check_end(&head, &backend.log_head(tenant)?),
            Err(StoreError::Corrupt(reason)) => replay.mark_unreadable(&reason),
            Err(error) => return Err(error.into()),
        }
        log_position::check_positions(backend, tenant, &positions, &head, &replay, &mut verified)?;
        verified.entries = replay.seq();
        verified.hash = replay.hash().to_owned();
        scan.run(backend, tenant, &mut replay, &mut verified)?;
        // Every program wrote an entry with the first store of a tenant.
        if replay.seq() == 0 && verified.checked != CheckedCounts::default() {
            replay.mark_empty();
        }
        verified.broken = replay.broken();
        Ok((verified, scan))
    }
}
