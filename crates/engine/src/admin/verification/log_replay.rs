//! Reads the log: checks the hash chain and keeps the last digest of everything the entries wrote. About 150 bytes of
//! memory for each version and record.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::Deserialize;

use super::{BrokenEntry, PAGE_ROWS};
use crate::model::error::StoreError;
use crate::model::event::chain_hash;
use crate::model::id::{MemoryId, TenantId};
use crate::model::row::RowKind;
use crate::model::write_digest::{LoggedRow, LoggedWrite, WriteDigest, read_digests};
use crate::ports::Backend;
use crate::ports::scan::{LogEntry, LogHead};

/// A version or record, as the log names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    /// `None`: a version.
    pub(super) kind: Option<RowKind>,
    pub(super) number: u32,
    pub(super) id: [u8; 16],
}

impl Key {
    pub(super) fn of_version(memory: MemoryId, number: u32) -> Key {
        Key { kind: None, number, id: memory.0.into_bytes() }
    }

    pub(super) fn of_row(row: &LoggedRow) -> Key {
        Key { kind: Some(row.kind), number: 0, id: row.key }
    }

    /// What stands for a change of this key among the touched ones: for versions, their memory.
    fn touch_mark(self) -> Key {
        Key { number: 0, ..self }
    }
}

/// What the log says about a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged {
    pub(super) digest: WriteDigest,
    /// Number of the entry.
    pub(super) seq: u64,
    /// Kept only while the log is older than digests: an adoption must not bring it back.
    is_gone: bool,
    /// A row with this key was read.
    pub(super) seen: bool,
    /// The live row of the memory with this version was read.
    pub(super) live_seen: bool,
}

#[derive(Default)]
pub(super) struct LogReplay {
    /// Number of the first entry that must have digests.
    covered_from: u64,
    /// An entry with digests was read: all later ones have them too.
    has_digests: bool,
    /// Number and hash of an entry that the log is known to have had, and whether it has it.
    expected: Option<(u64, String)>,
    has_expected: bool,
    seq: u64,
    hash: String,
    broken: Option<BrokenEntry>,
    known: HashMap<Key, Logged>,
    /// Ids of records that are no UUID, for those that are missing.
    names: HashMap<Key, Box<str>>,
    /// Everything in the database must be in the log: the log had digests from its first entry on, or was adopted.
    strict: bool,
    /// Keys that entries changed since [`LogReplay::forget_touched`].
    touched: HashSet<Key>,
    tracks_touched: bool,
}

/// The columns that repeat a part of the entry.
#[derive(Deserialize)]
struct EntryFace<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    at: Timestamp,
}

impl LogReplay {
    pub(super) fn new(head: &LogHead, position: Option<&LogHead>) -> LogReplay {
        let expected = position.map(|position| (position.seq, position.hash.clone()));
        LogReplay { covered_from: head.covered_from, expected, ..LogReplay::default() }
    }

    /// Whether an entry was read that has this number and hash; they were given to [`LogReplay::new`].
    pub(super) fn has_expected(&self) -> bool {
        self.has_expected
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    pub(super) fn broken(&self) -> Option<BrokenEntry> {
        self.broken.clone()
    }

    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    /// Reads the entries that were not read yet. `head`: the hash that the entry with this number must have.
    pub(super) fn read_to_end(
        &mut self,
        backend: &dyn Backend,
        tenant: TenantId,
        head: Option<&LogHead>,
    ) -> Result<(), StoreError> {
        loop {
            let entries = backend.scan_log(tenant, self.seq, PAGE_ROWS)?;
            if entries.is_empty() {
                return Ok(());
            }
            for entry in &entries {
                self.add_entry(entry);
                if head.is_some_and(|head| head.seq == entry.seq && head.hash != entry.hash) {
                    self.mark_broken(entry.seq, "its hash is not the one that the head of the log has");
                }
            }
        }
    }

    /// Compares the end of the log with its head: entries cut off leave the rest of the chain intact.
    pub(super) fn check_end(&mut self, before: &LogHead, after: &LogHead) {
        if before.seq > self.seq {
            self.mark_broken(self.seq + 1, "it is missing at the end of the log");
        }
        if after.seq < self.seq {
            self.mark_broken(after.seq + 1, "it is behind the head of the log, which was set back");
        }
    }

    pub(super) fn mark_unreadable(&mut self, reason: &str) {
        self.mark_broken(self.seq + 1, &format!("the log cannot be read further: {reason}"));
    }

    pub(super) fn mark_empty(&mut self) {
        self.mark_broken(1, "it is missing: the log is empty, though there is data");
    }

    fn mark_broken(&mut self, seq: u64, reason: &str) {
        self.broken.get_or_insert_with(|| BrokenEntry { seq, reason: reason.to_owned() });
    }

    /// Adds an entry. After one that does not fit, the replay goes on from what it says.
    fn add_entry(&mut self, entry: &LogEntry) {
        // Numbers are checked first: without an entry the hash of the next one cannot fit either.
        if entry.seq != self.seq + 1 {
            self.mark_broken(entry.seq, "an entry before it is missing");
        } else if entry.hash != chain_hash(&self.hash, entry.seq, &entry.body, entry.digests.as_deref())
            || !face_fits(entry)
        {
            self.mark_broken(entry.seq, "it is not what was written");
        }
        let must_cover = self.has_digests || entry.seq >= self.covered_from;
        if entry.digests.is_none() && must_cover {
            self.mark_broken(entry.seq, "it has no digests, though the log covered the data by then");
        }
        self.has_digests |= entry.digests.is_some();
        self.has_expected |= self.expected.as_ref().is_some_and(|(seq, hash)| (*seq, hash) == (entry.seq, &entry.hash));
        // A log that starts with digests has had them ever since: older programs cannot write to it.
        self.strict |= entry.seq == 1 && entry.digests.is_some();
        self.seq = entry.seq;
        self.hash.clone_from(&entry.hash);
        match read_digests(entry.digests.as_deref().unwrap_or_default()) {
            Some(writes) => writes.into_iter().for_each(|write| self.add_write(write)),
            None => self.mark_broken(entry.seq, "its digests cannot be read"),
        }
    }

    fn add_write(&mut self, write: LoggedWrite) {
        match write {
            LoggedWrite::Version { memory, number, digest } => self.insert(Key::of_version(memory, number), digest),
            LoggedWrite::Row { row, digest } => self.insert_row(row, digest),
            LoggedWrite::RowDeleted { row } => self.remove(Key::of_row(&row)),
            LoggedWrite::Erased { memory, number } => {
                (1..=number).for_each(|number| self.remove(Key::of_version(memory, number)));
            }
            // What was written after it was read for the adoption is newer than the adopted form.
            LoggedWrite::Adopted(write) => match *write {
                LoggedWrite::Version { memory, number, digest } => {
                    let key = Key::of_version(memory, number);
                    if !self.known.contains_key(&key) {
                        self.insert(key, digest);
                    }
                }
                LoggedWrite::Row { row, digest } if !self.known.contains_key(&Key::of_row(&row)) => {
                    self.insert_row(row, digest);
                }
                _ => {}
            },
            LoggedWrite::AdoptionDone => {
                self.strict = true;
                self.known.retain(|_, logged| !logged.is_gone);
            }
        }
    }

    fn insert_row(&mut self, row: LoggedRow, digest: WriteDigest) {
        let key = Key::of_row(&row);
        if let Some(id) = row.id.filter(|id| id.len() != uuid::fmt::Hyphenated::LENGTH) {
            self.names.entry(key).or_insert_with(|| id.into_boxed_str());
        }
        self.insert(key, digest);
    }

    fn insert(&mut self, key: Key, digest: WriteDigest) {
        self.touch(key);
        let logged = Logged { digest, seq: self.seq, is_gone: false, seen: false, live_seen: false };
        self.known.insert(key, logged);
    }

    fn remove(&mut self, key: Key) {
        self.touch(key);
        self.names.remove(&key);
        match self.strict {
            true => drop(self.known.remove(&key)),
            false => {
                let gone = Logged { digest: [0; 32], seq: self.seq, is_gone: true, seen: false, live_seen: false };
                self.known.insert(key, gone);
            }
        }
    }

    fn touch(&mut self, key: Key) {
        if self.tracks_touched {
            self.touched.insert(key.touch_mark());
        }
    }

    /// From here on [`LogReplay::is_touched`] tells of later entries only.
    pub(super) fn forget_touched(&mut self) {
        self.tracks_touched = true;
        self.touched.clear();
    }

    pub(super) fn is_touched(&self, key: Key) -> bool {
        self.touched.contains(&key.touch_mark())
    }

    pub(super) fn logged(&self, key: Key) -> Option<&Logged> {
        self.known.get(&key).filter(|logged| !logged.is_gone)
    }

    pub(super) fn logged_mut(&mut self, key: Key) -> Option<&mut Logged> {
        self.known.get_mut(&key).filter(|logged| !logged.is_gone)
    }

    /// Whether this is the newest version of its memory in the log.
    pub(super) fn is_newest(&self, key: Key) -> bool {
        self.logged(Key { number: key.number + 1, ..key }).is_none()
    }

    /// All keys that the log has.
    pub(super) fn all_logged(&self) -> impl Iterator<Item = (Key, &Logged)> {
        self.known.iter().filter(|(_, logged)| !logged.is_gone).map(|(key, logged)| (*key, logged))
    }

    /// Id of a record; `None` where the log has only a digest of it.
    pub(super) fn row_id(&self, key: Key) -> Option<String> {
        self.names.get(&key).map(|name| name.to_string()).or_else(|| {
            let id = uuid::Uuid::from_bytes(key.id);
            // The digest of another id has no version.
            (id.get_version_num() == 7).then(|| id.to_string())
        })
    }
}

fn face_fits(entry: &LogEntry) -> bool {
    serde_json::from_str::<EntryFace<'_>>(&entry.body)
        .is_ok_and(|face| face.name == entry.name && face.at.as_microsecond() == entry.at)
}
