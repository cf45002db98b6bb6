//! Health and integrity of the database file.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use engine::model::error::StoreError;
use engine::ports::BackendHealth;
use rusqlite::Connection;

use super::Location;
use super::fault::Fault;

/// Reported problems of a damaged file: the first few are enough.
const DAMAGE_MAX: u32 = 5;

/// Bytes of a write probe: more than most saves write, less than any disk notices.
const PROBE_BYTES: usize = 64 * 1024;

/// Writes a file beside the database. Not into the database: its log may have room left from before the disk was full,
/// and another process may hold its lock.
pub(super) fn probe_write(database: &Path) -> Result<(), StoreError> {
    let mut name = database.as_os_str().to_owned();
    name.push(format!("-probe-{}", std::process::id()));
    let path = PathBuf::from(name);
    let unwritable = |error| StoreError::Unwritable(format!("beside `{}`: {error}", database.display()));
    super::create_private_file(&path).map_err(unwritable)?;
    let opened = File::options().write(true).open(&path);
    // Before the write: a process that dies here leaves nothing behind.
    std::fs::remove_file(&path).map_err(unwritable)?;
    let write = |mut file: File| file.write_all(&[0; PROBE_BYTES]).and_then(|()| file.sync_data());
    opened.and_then(write).map_err(unwritable)
}

/// Reads every page; returns what SQLite finds wrong. `deep`: compares every index with its table, which takes longer.
pub(super) fn find_damage(conn: &Connection, deep: bool) -> Result<Vec<String>, Fault> {
    let check = if deep { "integrity_check" } else { "quick_check" };
    let mut statement = conn.prepare(&format!("pragma {check}({DAMAGE_MAX})"))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

pub(super) fn read_health(conn: &Connection, location: &Location) -> Result<BackendHealth, Fault> {
    let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, u64>(0));
    let location = match location {
        Location::File(path) => path.display().to_string(),
        Location::Memory => "memory".to_owned(),
    };
    Ok(BackendHealth {
        backend: "sqlite".to_owned(),
        location,
        version: rusqlite::version().to_owned(),
        migration: conn.pragma_query_value(None, "user_version", |row| row.get(0))?,
        vectors: "8-bit, in memory; exact search for small sets, approximate for large ones".to_owned(),
        memories: number("select coalesce(sum(live), 0) from scopes")?,
        syncs: None,
        bypasses_walls: false,
        bytes: number("pragma page_count")? * number("pragma page_size")?,
    })
}
