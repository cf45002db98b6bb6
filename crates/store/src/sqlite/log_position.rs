//! The position file beside the database (`ingrain.db-position`): number and hash of the last log entry of each tenant,
//! written after each commit. A database that lost its write-ahead log, or was replaced by an older file, is intact in
//! itself; its log ends before the position. Not synced: after a power failure the position may be older than the log,
//! which proves less and alarms nobody.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use engine::model::error::StoreError;
use engine::model::id::TenantId;
use engine::ports::scan::{LogHead, LogPosition};
use rusqlite::Connection;

use super::commit::Head;
use super::fault::Fault;
use super::{records, scan};

/// Tenants whose lines are remembered; above it, all are looked up anew.
const SLOTS_MAX: usize = 256;

/// The file beside the database itself, also where the path is a link.
pub(super) fn position_path(database: &Path) -> PathBuf {
    let mut name = database.canonicalize().unwrap_or_else(|_| database.to_owned()).into_os_string();
    name.push("-position");
    name.into()
}

/// Writes positions. Opens the file at the first commit.
pub(super) struct PositionWriter {
    path: PathBuf,
    file: Option<File>,
    /// Where the lines of tenants start.
    slots: Vec<(TenantId, u64)>,
}

impl PositionWriter {
    pub(super) fn new(database: &Path) -> PositionWriter {
        PositionWriter { path: position_path(database), file: None, slots: Vec::new() }
    }

    /// Records the head after its commit. A failure is ignored: the save is durable, and `verify` reads an older
    /// position.
    pub(super) fn record(&mut self, conn: &Connection, head: &Head) {
        let _ = self.try_record(conn, head);
    }

    fn try_record(&mut self, conn: &Connection, head: &Head) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(open_file(&self.path)?),
        };
        let known = self.slots.iter().find(|(tenant, _)| *tenant == head.tenant);
        let start = match known {
            Some((_, start)) => *start,
            None => {
                let Some(start) = with_lock(file, |file| find_slot(file, conn, head.tenant))? else { return Ok(()) };
                if self.slots.len() >= SLOTS_MAX {
                    self.slots.clear();
                }
                self.slots.push((head.tenant, start));
                start
            }
        };
        let line = write_line(head.tenant, head.event_seq, &head.event_hash, head.covered_from);
        file.write_all_at(&line, start)
    }
}

fn open_file(path: &Path) -> std::io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Other processes add lines too.
fn with_lock<T>(file: &mut File, work: impl FnOnce(&mut File) -> std::io::Result<T>) -> std::io::Result<T> {
    file.lock()?;
    let done = work(file);
    file.unlock()?;
    done
}

/// Start of the tenant's line; the end of the file if it has none. `None` where the log does not continue from the
/// position in the file, which then stays, so that `verify` can tell.
fn find_slot(file: &mut File, conn: &Connection, tenant: TenantId) -> std::io::Result<Option<u64>> {
    let text = read_text(file)?;
    let mut lines = text.chunks(LINE_BYTES).map(read_line);
    let Some(index) = lines.position(|line| line.is_some_and(|position| position.tenant == tenant)) else {
        let end = (text.len().div_ceil(LINE_BYTES) * LINE_BYTES) as u64;
        // Taken at once, so that no other process takes the place.
        file.write_all_at(&write_line(tenant, 0, "", 0), end)?;
        return Ok(Some(end));
    };
    let start = index * LINE_BYTES;
    let position = read_line(&text[start..][..LINE_BYTES]);
    // A log that cannot be read does not continue either: the position stays.
    let continues = position.is_none_or(|position| continues_from(conn, &position).unwrap_or(false));
    Ok(continues.then_some(start as u64))
}

fn continues_from(conn: &Connection, position: &LogPosition) -> Result<bool, Fault> {
    let LogHead { seq, hash, covered_from } = &position.head;
    let is_kept = scan::log_head(conn, position.tenant)?.covered_from <= *covered_from;
    let entry = scan::scan_log(conn, position.tenant, seq.saturating_sub(1), 1)?;
    Ok(*seq == 0 || (is_kept && entry.first().is_some_and(|entry| entry.seq == *seq && entry.hash == *hash)))
}

/// The positions in the file beside a database; none where there is no file. Damaged lines are left out.
pub(super) fn read_positions(database: &Path) -> std::io::Result<Vec<LogPosition>> {
    match File::open(position_path(database)) {
        Ok(mut file) => Ok(read_text(&mut file)?.chunks(LINE_BYTES).filter_map(read_line).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Replaces the positions by the heads in the database, in their places: other processes remember these. Lines of
/// tenants that the database does not have are blanked.
pub(super) fn accept_positions(database: &Path, conn: &Connection) -> Result<(), Fault> {
    let path = position_path(database);
    let failed = |error: std::io::Error| Fault::from(StoreError::Unwritable(format!("`{}`: {error}", path.display())));
    let mut file = open_file(&path).map_err(failed)?;
    let tenants = records::list_tenants(conn)?;
    let mut heads = Vec::with_capacity(tenants.len());
    for tenant in &tenants {
        heads.push((tenant.id, scan::log_head(conn, tenant.id)?));
    }
    let rewrite = |file: &mut File| {
        for (index, line) in read_text(file)?.chunks(LINE_BYTES).enumerate() {
            let Some(position) = read_line(line) else { continue };
            let line = match heads.iter().find(|(tenant, _)| *tenant == position.tenant) {
                Some((tenant, head)) => write_line(*tenant, head.seq, &head.hash, head.covered_from),
                None => [b' '; LINE_BYTES],
            };
            file.write_all_at(&line, (index * LINE_BYTES) as u64)?;
        }
        Ok(())
    };
    with_lock(&mut file, rewrite).map_err(failed)
}

fn read_text(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut text)?;
    Ok(text)
}

const TENANT_CHARS: usize = 36;
const NUMBER_DIGITS: usize = 20;
const HASH_DIGITS: usize = 64;
const CHECK_DIGITS: usize = 16;
/// A line: tenant, number, first covered number, hash, checksum, a blank or line feed after each. All lines have one
/// length, so that each is replaced in its place.
const LINE_BYTES: usize = TENANT_CHARS + 1 + 2 * (NUMBER_DIGITS + 1) + HASH_DIGITS + 1 + CHECK_DIGITS + 1;

/// By hand: written with each commit.
fn write_line(tenant: TenantId, seq: u64, hash: &str, covered_from: u64) -> [u8; LINE_BYTES] {
    let mut line = [b' '; LINE_BYTES];
    tenant.0.hyphenated().encode_lower(&mut line[..TENANT_CHARS]);
    let (numbers, rest) = line[TENANT_CHARS + 1..].split_at_mut(2 * (NUMBER_DIGITS + 1));
    write_number(&mut numbers[..NUMBER_DIGITS], seq, 10);
    write_number(&mut numbers[NUMBER_DIGITS + 1..][..NUMBER_DIGITS], covered_from, 10);
    // The hash of an empty log is empty. Another length was not written by this program.
    let hash = &hash.as_bytes()[..hash.len().min(HASH_DIGITS)];
    rest[..hash.len()].copy_from_slice(hash);
    let (facts, check) = line.split_at_mut(LINE_BYTES - CHECK_DIGITS - 1);
    write_number(&mut check[..CHECK_DIGITS], checksum(facts), 16);
    check[CHECK_DIGITS] = b'\n';
    line
}

fn write_number(digits: &mut [u8], mut number: u64, base: u64) {
    for digit in digits.iter_mut().rev() {
        // Below 16, so it fits.
        *digit = b"0123456789abcdef"[(number % base) as usize];
        number /= base;
    }
}

/// FNV-1a: against a line that was half written, not against people.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// `None` where the line is torn or was never written.
fn read_line(line: &[u8]) -> Option<LogPosition> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let tenant = words.next()?.parse().ok()?;
    let (seq, covered_from) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let hash = words.next()?.to_owned();
    let position = LogPosition { tenant, head: LogHead { seq, hash, covered_from } };
    (write_line(tenant, seq, &position.head.hash, covered_from) == line).then_some(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_and_a_torn_one_is_not() {
        let tenant = TenantId(uuid::Uuid::from_u128(7));
        for (seq, hash) in [(12, "ab".repeat(32)), (0, String::new())] {
            let line = write_line(tenant, seq, &hash, 5);
            let position = read_line(&line).expect("reads");
            assert_eq!(position, LogPosition { tenant, head: LogHead { seq, hash, covered_from: 5 } });
            for cut in 0..line.len() {
                assert_eq!(read_line(&line[..cut]), None, "{cut} bytes");
                let mut torn = line;
                torn[cut] ^= 1;
                assert_eq!(read_line(&torn), None, "byte {cut}");
            }
        }
        assert_eq!(read_line(&[b' '; LINE_BYTES]), None);
        assert_eq!(read_line(&[0; LINE_BYTES]), None);
    }
}
