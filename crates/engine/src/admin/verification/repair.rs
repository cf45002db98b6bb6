//! Repair: writes what is derived from versions anew, where a verification found that it differs. Live rows, tags,
//! words of the search index and counters of places are derived; vectors are dropped and made again by upkeep. Versions
//! and the log are stored once: where they are damaged themselves, nothing can be rebuilt from them.

use std::collections::BTreeSet;

use serde::Serialize;

use super::data_scan::{indexed_words, read_newest};
use super::{Finding, Verification};
use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::id::{MemoryId, TenantId};
use crate::ports::change::{Change, DerivedRows, Write};
use crate::ports::scan::{ScanFrom, ScannedVersion};
use crate::text::plural::format_count;

/// Memories rebuilt in one transaction. Each has its whole text, at most 100 kB.
const BATCH_MEMORIES: usize = 500;
/// Versions read at a time: few memories have more.
const VERSION_ROWS: usize = 16;
/// Damaged versions that a refusal names.
const NAMED_MAX: usize = 5;

/// Result of a repair.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Repair {
    /// Only looked at: nothing was written.
    pub dry_run: bool,
    /// Memories whose derived rows were written anew, or would be.
    pub memories: u64,
    /// Places whose counters were wrong.
    pub places: u64,
    /// What was found, as `verify` names it. Damaged records are listed too, and stay.
    pub findings: Vec<Finding>,
    pub findings_left_out: u64,
    /// The verification after the repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Verification>,
}

impl Engine {
    /// Rebuilds what is derived from versions where it differs. Admins only. Refuses while versions or the log are
    /// damaged. Safe beside a live server: a memory that is saved meanwhile is left as it is.
    pub fn repair(&self, caller: &Caller, dry_run: bool) -> Result<Repair, Error> {
        let (found, _) = self.replay_log(caller)?;
        refuse_damaged_sources(&found)?;
        let ids: BTreeSet<MemoryId> = found.damage.live_rows.iter().copied().collect();
        let mut rebuilt = Vec::new();
        let mut repair = Repair {
            dry_run,
            places: found.damage.places,
            findings: found.findings,
            findings_left_out: found.findings_left_out,
            ..Repair::default()
        };
        let mut ids = ids.into_iter().peekable();
        let has_damage = ids.peek().is_some() || repair.places > 0;
        while let Some(id) = ids.next() {
            // A row of a memory that has no version at all is nobody's: nothing to rebuild it from, never served.
            if let Some(rows) = self.derive_rows(caller.tenant, id)? {
                repair.memories += 1;
                rebuilt.push(rows);
            }
            if !dry_run && rebuilt.len() == BATCH_MEMORIES && ids.peek().is_some() {
                self.commit_rebuilt(caller, std::mem::take(&mut rebuilt), None)?;
            } else if dry_run {
                rebuilt.clear();
            }
        }
        if !dry_run && has_damage {
            self.commit_rebuilt(caller, rebuilt, Some(repair.places))?;
            repair.after = Some(self.verify(caller)?);
        }
        Ok(repair)
    }

    /// The last commit of a repair names the places it counted anew.
    fn commit_rebuilt(&self, caller: &Caller, rebuilt: Vec<DerivedRows>, places: Option<u64>) -> Result<(), Error> {
        let now = self.clock.now();
        let event = EventBody::new(EventName::LogRepaired, caller, now)
            .with_field("memories", rebuilt.len())
            .with_field("places", places.unwrap_or_default())
            .with_field("done", places.is_some());
        let mut change = Change::new(caller.tenant, now).with_write(Write::Rebuild(rebuilt)).with_event(event);
        if places.is_some() {
            change = change.with_write(Write::RecountPlaces);
        }
        self.commit(change)?;
        Ok(())
    }

    /// What the newest version of a memory says its derived rows must hold.
    fn derive_rows(&self, tenant: TenantId, id: MemoryId) -> Result<Option<DerivedRows>, Error> {
        let mut newest: Option<ScannedVersion> = None;
        loop {
            let from = ScanFrom::After((id, newest.as_ref().map_or(0, |version| version.number)));
            let page = self.backend.scan_versions(tenant, &from, VERSION_ROWS)?;
            let is_last = page.len() < VERSION_ROWS || page.last().is_some_and(|version| version.memory != id);
            newest = page.into_iter().rfind(|version| version.memory == id).or(newest);
            if is_last {
                break;
            }
        }
        let Some(version) = newest else { return Ok(None) };
        let memory = read_newest(&version.snapshot, &version.content)
            .ok_or_else(|| StoreError::Corrupt(format!("the newest version of memory {id} cannot be read")))?;
        let words = indexed_words(&memory);
        Ok(Some(DerivedRows { memory, words }))
    }
}

fn refuse_damaged_sources(found: &Verification) -> Result<(), Error> {
    let next = "nothing can be rebuilt from it: restore a backup";
    if let Some(broken) = &found.broken {
        let message = format!("the log is damaged at entry {}: {}; {next}", broken.seq, broken.reason);
        return Err(Error::conflict("conflict.unrepairable", message));
    }
    if found.damage.versions > 0 {
        let is_version = |finding: &&Finding| finding.part == super::DamagedPart::Version;
        let named: Vec<String> =
            found.findings.iter().filter(is_version).take(NAMED_MAX).map(ToString::to_string).collect();
        let count = format_count(found.damage.versions, "version is", "versions are");
        let message = format!("{count} damaged: {}; {next}", named.join("; "));
        return Err(Error::conflict("conflict.unrepairable", message));
    }
    Ok(())
}
