//! Reads everything that is stored and compares it with the log.

use std::collections::HashSet;
use std::hash::Hash;

use super::log_replay::{Key, LogReplay};
use super::{Finding, FindingCode, PAGE_ROWS, Verification};
use crate::gate::index_memory;
use crate::model::error::StoreError;
use crate::model::id::{MemoryId, TenantId};
use crate::model::live_row::{LIVE_COLUMNS, live_columns};
use crate::model::memory::Memory;
use crate::model::row::RowKind;
use crate::model::vocabulary::State;
use crate::model::write_digest::{LoggedRow, LoggedWrite, WriteDigest, is_covered};
use crate::ports::Backend;
use crate::ports::scan::{ScanFrom, ScannedMemory, ScannedRow, ScannedVersion};
use crate::text::digest::content_sha256;
use crate::text::words::IndexedWords;

/// How often a row is read again that a live server changed meanwhile.
const ROUNDS_MAX: usize = 32;

/// A row that differs from the log as read so far: damaged, or changed by an entry that was not read yet.
struct Suspect {
    key: Key,
    row: RowAddress,
    finding: Finding,
}

enum RowAddress {
    Version(MemoryId, u32),
    Memory(MemoryId),
    Row(RowKind, String),
}

/// State of a scan.
#[derive(Default)]
pub(super) struct DataScan {
    suspects: Vec<Suspect>,
    /// What the log does not cover, in its form, for an adoption.
    pub(super) uncovered: Vec<LoggedWrite>,
    /// Tables that could not be read to the end: `None` for versions. Nothing is said to be missing from them.
    unread: Vec<Option<RowKind>>,
    is_live_unread: bool,
    /// Everything must be in the log: nothing is left to adopt.
    pub(super) is_strict: bool,
}

impl DataScan {
    pub(super) fn run(
        &mut self,
        backend: &dyn Backend,
        tenant: TenantId,
        replay: &mut LogReplay,
        verified: &mut Verification,
    ) -> Result<(), StoreError> {
        replay.forget_touched();
        // Written before the scan began, so the scan reads them unless they change meanwhile.
        let scanned_to = replay.seq();
        self.scan_versions(backend, tenant, replay, verified)?;
        self.scan_memories(backend, tenant, replay, verified)?;
        scan_places(backend, tenant, verified)?;
        for kind in RowKind::ALL.iter().copied().filter(|kind| is_covered(*kind)) {
            self.scan_rows(backend, tenant, kind, replay, verified)?;
        }
        replay.read_to_end(backend, tenant, None)?;
        self.find_missing(replay, scanned_to, verified);
        self.settle_suspects(backend, tenant, replay, verified)?;
        verified.uncovered = self.uncovered.len() as u64;
        self.is_strict = replay.is_strict();
        Ok(())
    }

    fn scan_versions(
        &mut self,
        backend: &dyn Backend,
        tenant: TenantId,
        replay: &mut LogReplay,
        verified: &mut Verification,
    ) -> Result<(), StoreError> {
        let mut pages = PageKeys::default();
        loop {
            let page = backend.scan_versions(tenant, &pages.from, PAGE_ROWS);
            let key = |last: &ScannedVersion| (last.memory, last.number);
            let Some(page) = pages.next_page(page, key, "versions", verified)? else {
                self.unread.push(None);
                return Ok(());
            };
            if page.is_empty() {
                return Ok(());
            }
            for version in &page {
                verified.checked.versions += 1;
                self.check_version(version, replay, verified);
            }
        }
    }

    fn check_version(&mut self, version: &ScannedVersion, replay: &mut LogReplay, verified: &mut Verification) {
        let ScannedVersion { memory, number, .. } = *version;
        let finding =
            |code, reason| Finding::of_memory(code, memory, number, reason).with_snapshot_name(&version.snapshot);
        // In the row itself, so no later entry explains it.
        let is_content_right = match version.redacted_at {
            Some(_) => version.content.is_empty(),
            None => content_sha256(&version.content) == version.sha256,
        };
        if !is_content_right {
            verified.add_finding(finding(
                FindingCode::ContentChanged,
                "its text does not have the sha256 it was saved with",
            ));
        }
        let key = Key::of_version(memory, number);
        let (finding, entry) = match compare(replay, key, version.digest()) {
            Comparison::Same => return,
            Comparison::NotInLog if !replay.is_strict() => {
                let digest = version.digest();
                return self.uncovered.push(LoggedWrite::Version { memory, number, digest });
            }
            Comparison::NotInLog => (finding(FindingCode::NotInLog, "the log has no such version"), None),
            Comparison::Changed(seq) => {
                let reason = "what is stored about it (trust, state, author, evidence …) is not what was written";
                (finding(FindingCode::Changed, reason), Some(seq))
            }
        };
        let finding = entry.map_or(finding.clone(), |seq| finding.with_entry(seq));
        self.suspects.push(Suspect { key, row: RowAddress::Version(memory, number), finding });
    }

    fn scan_memories(
        &mut self,
        backend: &dyn Backend,
        tenant: TenantId,
        replay: &mut LogReplay,
        verified: &mut Verification,
    ) -> Result<(), StoreError> {
        let mut pages = PageKeys::default();
        loop {
            let page = backend.scan_memories(tenant, &pages.from, PAGE_ROWS);
            let Some(page) = pages.next_page(page, |last| last.id, "memories", verified)? else {
                self.is_live_unread = true;
                return Ok(());
            };
            if page.is_empty() {
                return Ok(());
            }
            for memory in &page {
                verified.checked.memories += 1;
                self.check_memory(memory, replay, verified);
            }
        }
    }

    /// Compares a live row with the version it names, and that one with the newest in the log.
    fn check_memory(&mut self, memory: &ScannedMemory, replay: &mut LogReplay, verified: &mut Verification) {
        let (id, number) = (memory.id, memory.number);
        let key = Key::of_version(id, number);
        let finding = |code, reason: String| {
            let finding = Finding::of_live_row(code, id, number, reason);
            match &memory.version {
                Some((snapshot, _)) => finding.with_snapshot_name(snapshot),
                None => finding,
            }
        };
        let is_logged = replay.logged_mut(key).map(|logged| logged.live_seen = true).is_some();
        // Both from one query, so no later entry explains a difference.
        match memory.version.as_ref().map(|(snapshot, content)| read_newest(snapshot, content)) {
            None => {
                let reason = "its row names a version that does not exist".to_owned();
                verified.add_finding(finding(FindingCode::LiveRowDiffers, reason));
            }
            Some(None) => {
                let reason = "its newest version cannot be read";
                verified.add_finding(Finding::of_memory(FindingCode::Unreadable, id, number, reason));
            }
            Some(Some(newest)) => {
                let expected = live_columns(&newest);
                // A program from before the log covered the data may have chosen another line for lists.
                let is_compared = |name: &str| is_logged || name != "summary";
                let differing: Vec<&str> = LIVE_COLUMNS
                    .iter()
                    .zip(expected.iter().zip(&memory.columns))
                    .filter(|(name, (expected, stored))| is_compared(name) && expected != stored)
                    .map(|(name, _)| *name)
                    .collect();
                if !differing.is_empty() {
                    let reason = format!("its row differs from its newest version in {}", differing.join(", "));
                    verified.add_finding(finding(FindingCode::LiveRowDiffers, reason));
                } else if !memory.is_indexed {
                    let reason = "its row in the search index differs from it".to_owned();
                    verified.add_finding(finding(FindingCode::IndexDiffers, reason));
                } else if is_logged && memory.words.as_ref() != Some(&indexed_words(&newest)) {
                    let reason = "it is not found by its own words".to_owned();
                    verified.add_finding(finding(FindingCode::IndexDiffers, reason));
                }
            }
        }
        // A log older than digests may not know the memory at all.
        let is_newest = replay.is_newest(key) && (is_logged || !replay.is_strict());
        if !is_newest {
            let reason = "its row does not name the newest version in the log".to_owned();
            let finding = finding(FindingCode::LiveRowDiffers, reason);
            self.suspects.push(Suspect { key, row: RowAddress::Memory(id), finding });
        }
    }

    fn scan_rows(
        &mut self,
        backend: &dyn Backend,
        tenant: TenantId,
        kind: RowKind,
        replay: &mut LogReplay,
        verified: &mut Verification,
    ) -> Result<(), StoreError> {
        let mut pages = PageKeys::default();
        loop {
            let page = backend.scan_rows(tenant, kind, &pages.from, PAGE_ROWS);
            let Some(page) = pages.next_page(page, |last| last.id.clone(), kind.as_str(), verified)? else {
                self.unread.push(Some(kind));
                return Ok(());
            };
            if page.is_empty() {
                return Ok(());
            }
            for row in &page {
                verified.checked.records += 1;
                self.check_row(row, replay, verified);
            }
        }
    }

    fn check_row(&mut self, row: &ScannedRow, replay: &mut LogReplay, verified: &mut Verification) {
        let finding =
            |code, reason| Finding::of_row(code, row.kind, Some(row.id.clone()), reason).with_body_name(&row.body);
        let logged_row = LoggedRow::new(row.kind, &row.id);
        let key = Key::of_row(&logged_row);
        let Some(digest) = row.digest() else {
            if let Some(logged) = replay.logged_mut(key) {
                logged.seen = true;
            }
            return verified.add_finding(finding(FindingCode::Unreadable, "its body is not JSON"));
        };
        let finding = match compare(replay, key, digest) {
            Comparison::Same => return,
            Comparison::NotInLog if !replay.is_strict() => {
                return self.uncovered.push(LoggedWrite::Row { row: logged_row, digest });
            }
            Comparison::NotInLog => finding(FindingCode::NotInLog, "the log has no such record"),
            Comparison::Changed(seq) => finding(FindingCode::Changed, "it is not what was written").with_entry(seq),
        };
        self.suspects.push(Suspect { key, row: RowAddress::Row(row.kind, row.id.clone()), finding });
    }

    /// What the log has and the scan did not find. Complete: the scan reads every row that exists all the while, and
    /// what entries changed meanwhile is left out.
    fn find_missing(&self, replay: &LogReplay, scanned_to: u64, verified: &mut Verification) {
        let mut missing: Vec<Finding> = Vec::new();
        for (key, logged) in
            replay.all_logged().filter(|(key, logged)| logged.seq <= scanned_to && !replay.is_touched(*key))
        {
            let memory = MemoryId(uuid::Uuid::from_bytes(key.id));
            if !logged.seen && !self.unread.contains(&key.kind) {
                missing.push(match key.kind {
                    None => Finding::of_memory(FindingCode::Missing, memory, key.number, "this version is missing"),
                    Some(kind) => Finding::of_row(FindingCode::Missing, kind, replay.row_id(key), "it is missing"),
                });
            } else if key.kind.is_none() && !logged.live_seen && !self.is_live_unread && replay.is_newest(key) {
                let reason = "its row is missing or does not name this version";
                missing.push(Finding::of_live_row(FindingCode::Missing, memory, key.number, reason));
            } else {
                continue;
            }
            if let Some(last) = missing.last_mut() {
                last.entry = Some(logged.seq);
            }
        }
        // The map has no order, and a report should read the same each time.
        missing.sort_by_key(|finding| (finding.entry, finding.id.clone()));
        missing.into_iter().for_each(|finding| verified.add_finding(finding));
    }

    /// Reads again what entries changed since it was read; the rest stands.
    fn settle_suspects(
        &mut self,
        backend: &dyn Backend,
        tenant: TenantId,
        replay: &mut LogReplay,
        verified: &mut Verification,
    ) -> Result<(), StoreError> {
        for _ in 0..ROUNDS_MAX {
            let (again, stand): (Vec<Suspect>, Vec<Suspect>) =
                std::mem::take(&mut self.suspects).into_iter().partition(|suspect| replay.is_touched(suspect.key));
            stand.into_iter().for_each(|suspect| verified.add_finding(suspect.finding));
            if again.is_empty() {
                return Ok(());
            }
            replay.forget_touched();
            for suspect in again {
                self.read_again(backend, tenant, suspect.row, replay, verified)?;
            }
            replay.read_to_end(backend, tenant, None)?;
        }
        verified.unsettled = self.suspects.len() as u64;
        Ok(())
    }

    fn read_again(
        &mut self,
        backend: &dyn Backend,
        tenant: TenantId,
        row: RowAddress,
        replay: &mut LogReplay,
        verified: &mut Verification,
    ) -> Result<(), StoreError> {
        match row {
            RowAddress::Version(memory, number) => {
                let found = backend.scan_versions(tenant, &ScanFrom::Only((memory, number)), 1)?;
                found.iter().for_each(|version| self.check_version(version, replay, verified));
            }
            RowAddress::Memory(id) => {
                let found = backend.scan_memories(tenant, &ScanFrom::Only(id), 1)?;
                found.iter().for_each(|memory| self.check_memory(memory, replay, verified));
            }
            RowAddress::Row(kind, id) => {
                let found = backend.scan_rows(tenant, kind, &ScanFrom::Only(id), 1)?;
                found.iter().for_each(|row| self.check_row(row, replay, verified));
            }
        }
        Ok(())
    }
}

enum Comparison {
    Same,
    /// The entry that says otherwise.
    Changed(u64),
    NotInLog,
}

fn compare(replay: &mut LogReplay, key: Key, digest: WriteDigest) -> Comparison {
    match replay.logged_mut(key) {
        None => Comparison::NotInLog,
        Some(logged) => {
            logged.seen = true;
            if logged.digest == digest { Comparison::Same } else { Comparison::Changed(logged.seq) }
        }
    }
}

/// Compares the counters of places with what they count.
fn scan_places(backend: &dyn Backend, tenant: TenantId, verified: &mut Verification) -> Result<(), StoreError> {
    let Some(places) = readable(backend.scan_places(tenant), "scopes", verified)? else { return Ok(()) };
    for place in places {
        let differing: Vec<String> = place
            .counters
            .iter()
            .filter(|(_, stored, counted)| stored != counted)
            .map(|(name, stored, counted)| format!("{name} is {stored} and must be {counted}"))
            .collect();
        if !differing.is_empty() {
            verified.add_finding(Finding::of_place(place.name, differing.join(", ")));
        }
    }
    Ok(())
}

/// The memory as its version says; `None` where the snapshot cannot be read.
pub(super) fn read_newest(snapshot: &str, content: &str) -> Option<Memory> {
    let mut memory: Memory = serde_json::from_str(snapshot).ok()?;
    content.clone_into(&mut memory.content);
    Some(memory)
}

/// The words that the search index must have. A forgotten or redacted memory has none; no other text is empty.
pub(super) fn indexed_words(memory: &Memory) -> IndexedWords {
    match memory.state == State::Tombstoned || memory.content.is_empty() {
        true => IndexedWords::default(),
        false => index_memory(memory),
    }
}

/// Where the pages of a table ended.
struct PageKeys<K> {
    from: ScanFrom<K>,
    ends: HashSet<K>,
}

impl<K> Default for PageKeys<K> {
    fn default() -> Self {
        PageKeys { from: ScanFrom::Start, ends: HashSet::new() }
    }
}

impl<K: Clone + Eq + Hash> PageKeys<K> {
    /// The next page; `None` where the table cannot be read further. A key that is not what was written may sort
    /// elsewhere than it reads, so that a page comes again: that would never end.
    fn next_page<T>(
        &mut self,
        page: Result<Vec<T>, StoreError>,
        key: impl Fn(&T) -> K,
        table: &str,
        verified: &mut Verification,
    ) -> Result<Option<Vec<T>>, StoreError> {
        let Some(page) = readable(page, table, verified)? else { return Ok(None) };
        let Some(end) = page.last().map(key) else { return Ok(Some(page)) };
        if !self.ends.insert(end.clone()) {
            verified.add_finding(Finding::of_table(table, "its keys are not in order"));
            return Ok(None);
        }
        self.from = ScanFrom::After(end);
        Ok(Some(page))
    }
}

/// A page; `None` where the table is damaged, which is a finding and not the end of the verification.
fn readable<T>(
    page: Result<Vec<T>, StoreError>,
    table: &str,
    verified: &mut Verification,
) -> Result<Option<Vec<T>>, StoreError> {
    match page {
        Ok(page) => Ok(Some(page)),
        Err(StoreError::Corrupt(reason)) => {
            verified.add_finding(Finding::of_table(table, &reason));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
