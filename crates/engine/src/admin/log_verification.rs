//! Log verification: checks the hash chain of the event log. The hash of each entry covers the entry before it.

use serde::Serialize;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{Event, chain_hash};
use crate::policy::admins_only;

/// Result of a log verification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LogVerification {
    /// Number of intact entries, from the first on.
    pub entries: u64,
    /// Hash of the last intact entry. Stored elsewhere, it proves all entries up to it.
    pub hash: String,
    pub broken: Option<BrokenEntry>,
}

/// The first entry that does not fit the chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BrokenEntry {
    pub seq: u64,
    pub reason: String,
}

impl LogVerification {
    /// Checks the next entries; stops at the first that breaks the chain.
    fn follow_chain(&mut self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            let text =
                serde_json::to_string(&event.happening).map_err(|error| StoreError::Corrupt(error.to_string()))?;
            let reason = match () {
                // Numbers are checked first: without an entry the hash of the next one cannot fit either.
                () if event.seq != self.entries + 1 => "an entry before it is missing",
                () if event.hash != chain_hash(&self.hash, event.seq, &text) => "it is not what was written",
                () => {
                    self.entries = event.seq;
                    self.hash.clone_from(&event.hash);
                    continue;
                }
            };
            self.broken = Some(BrokenEntry { seq: event.seq, reason: reason.to_owned() });
            return Ok(());
        }
        Ok(())
    }
}

impl Engine {
    /// Checks the whole event log of the caller's tenant. Admins only.
    pub fn verify(&self, caller: &Caller) -> Result<LogVerification, Error> {
        admins_only(caller)?;
        // If entries are cut off the end, the rest of the chain is intact, but the stored number of the last entry
        // shows the loss. Read first: concurrent writes only add entries.
        let last = self.backend.last_event_seq(caller.tenant)?;
        let mut verified = LogVerification::default();
        loop {
            let events = self.backend.events_after(caller.tenant, verified.entries, self.limits().list_max)?;
            if events.is_empty() {
                break;
            }
            verified.follow_chain(&events)?;
            if verified.broken.is_some() {
                return Ok(verified);
            }
        }
        if last > verified.entries {
            let reason = "it is missing at the end of the log".to_owned();
            verified.broken = Some(BrokenEntry { seq: verified.entries + 1, reason });
        }
        Ok(verified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::{EventBody, EventName};
    use crate::model::id::TenantId;

    fn build_log(entries: u64) -> Vec<Event> {
        let caller = Caller::admin(TenantId(uuid::Uuid::nil()));
        let mut hash = String::new();
        let entry = |seq| {
            let happening =
                EventBody::new(EventName::Search, &caller, jiff::Timestamp::UNIX_EPOCH).with_field("seq", seq);
            let text = serde_json::to_string(&happening).expect("plain values");
            hash = chain_hash(&hash, seq, &text);
            Event { seq, happening, hash: hash.clone() }
        };
        (1..=entries).map(entry).collect()
    }

    #[test]
    fn a_changed_or_missing_entry_breaks_the_chain() {
        let broken_at = |alter: fn(&mut Vec<Event>)| {
            let mut events = build_log(4);
            alter(&mut events);
            let mut verified = LogVerification::default();
            verified.follow_chain(&events).expect("plain values");
            verified.broken.map(|broken| broken.seq)
        };
        assert_eq!(broken_at(|_| {}), None);
        assert_eq!(broken_at(|events| events[1].happening.actor = "another actor".to_owned()), Some(2));
        assert_eq!(broken_at(|events| drop(events.remove(2))), Some(4));
        assert_eq!(broken_at(|events| events[3].hash = String::new()), Some(4));
    }
}
