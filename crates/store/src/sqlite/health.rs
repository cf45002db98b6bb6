//! Health and integrity of the database file.

use engine::ports::BackendHealth;
use rusqlite::Connection;

use super::Location;
use super::fault::Fault;

/// Reported problems of a damaged file: the first few are enough.
const DAMAGE_MAX: u32 = 5;

/// Reads every page; returns what SQLite finds wrong.
pub(super) fn find_damage(conn: &Connection) -> Result<Vec<String>, Fault> {
    let mut statement = conn.prepare(&format!("pragma quick_check({DAMAGE_MAX})"))?;
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
        bytes: number("pragma page_count")? * number("pragma page_size")?,
    })
}
