//! Verify: is the log as it was written? Every entry's hash covers the one before it.

use serde::Serialize;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{Event, chain_hash};
use crate::policy::admins_only;

/// What a check of the log found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LogVerification {
    /// Entries that hold together, from the first on.
    pub entries: u64,
    /// Hash of the last of them: written down elsewhere, it proves everything before it.
    pub hash: String,
    pub broken: Option<BrokenEntry>,
}

/// The first entry that does not follow from the ones before it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BrokenEntry {
    pub seq: u64,
    pub reason: String,
}

impl LogVerification {
    /// Follows the chain over the next entries; stops at the first that breaks it.
    fn follow_chain(&mut self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            let text =
                serde_json::to_string(&event.happening).map_err(|error| StoreError::Corrupt(error.to_string()))?;
            let reason = match () {
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
    /// Follows the chain of hashes through the whole log of the caller's tenant.
    pub fn verify(&self, caller: &Caller) -> Result<LogVerification, Error> {
        admins_only(caller)?;
        // Entries cut off the end leave a chain that holds; the head of the log still knows how many there were. Asked
        // first: whoever writes meanwhile only adds to them.
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
            let reason = "the log ends before it".to_owned();
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

    fn log(entries: u64) -> Vec<Event> {
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
            let mut events = log(4);
            alter(&mut events);
            let mut verified = LogVerification::default();
            verified.follow_chain(&events).expect("plain values");
            verified.broken.map(|broken| broken.seq)
        };
        assert_eq!(broken_at(|_| {}), None);
        assert_eq!(broken_at(|events| events[1].happening.actor = "somebody else".to_owned()), Some(2));
        assert_eq!(broken_at(|events| drop(events.remove(2))), Some(4));
        assert_eq!(broken_at(|events| events[3].hash = String::new()), Some(4));
    }
}
