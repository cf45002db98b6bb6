//! Migrates a database to the newest schema when it is opened, all missing migrations in one transaction.

use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use crate::migrations::{LATEST_MIGRATION, SQLITE_MIGRATIONS, check_known};

/// Marks the file as an Ingrain database ("Ingr" in ASCII): a database of another program is never written to.
const APPLICATION_ID: i32 = 0x496e_6772;

pub(super) fn run_migrations(conn: &Connection) -> Result<(), Fault> {
    migrate_to(conn, LATEST_MIGRATION)
}

/// Migrates up to a version; tests start from every older one.
fn migrate_to(conn: &Connection, last: u32) -> Result<(), Fault> {
    if read_version_atomically(conn)? < last {
        // Another process may migrate at the same time. The one that gets the lock second finds nothing left to do.
        conn.execute_batch("begin immediate")?;
        if let Err(fault) = apply_migrations(conn, last) {
            conn.execute_batch("rollback")?;
            return Err(fault);
        }
        conn.execute_batch("commit")?;
    }
    verify_checksums(conn)
}

fn apply_migrations(conn: &Connection, last: u32) -> Result<(), Fault> {
    // Read again under the lock: another process may have migrated since.
    let found = schema_version(conn)?;
    conn.execute_batch(
        "create table if not exists migrations (number integer primary key, name text not null, sha256 text not null)",
    )?;
    for (number, migration) in (1..=last).zip(SQLITE_MIGRATIONS).skip(found as usize) {
        conn.execute_batch(migration.sql)?;
        conn.execute(
            "insert into migrations (number, name, sha256) values (?1, ?2, ?3)",
            (number, migration.name, migration.sha256()),
        )?;
    }
    // Both pragmas write to the file header and so belong to the transaction.
    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    conn.pragma_update(None, "user_version", last)?;
    Ok(())
}

/// As [`schema_version`], in one read transaction: another process may create the tables between two queries.
fn read_version_atomically(conn: &Connection) -> Result<u32, Fault> {
    let transaction = conn.unchecked_transaction()?;
    let found = schema_version(&transaction)?;
    transaction.commit()?;
    Ok(found)
}

/// Number of the last migration. Refuses a database of another program.
fn schema_version(conn: &Connection) -> Result<u32, Fault> {
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, found) = (number("application_id")?, number("user_version")?);
    let tables: u32 = conn.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?;
    // Zero with no tables is an empty file, which becomes ours.
    if application != APPLICATION_ID && (application != 0 || tables > 0) {
        return Err(Fault::corrupt("the file is a database of another program"));
    }
    check_version_number(found)
}

fn check_version_number(found: i32) -> Result<u32, Fault> {
    let found = u32::try_from(found).map_err(|_| Fault::corrupt("the schema version is negative"))?;
    Ok(check_known(found)?)
}

/// Refuses an open database that a newer program has migrated.
pub(super) fn check_not_newer(conn: &Connection) -> Result<(), Fault> {
    check_version_number(conn.pragma_query_value(None, "user_version", |row| row.get(0))?).map(drop)
}

fn verify_checksums(conn: &Connection) -> Result<(), Fault> {
    let found = schema_version(conn)?;
    let mut recorded = conn.prepare("select sha256 from migrations where number = ?1")?;
    for (number, migration) in (1..=found).zip(SQLITE_MIGRATIONS) {
        let sha256: Option<String> = recorded.query_row([number], |row| row.get(0)).optional()?;
        migration.check_unedited(sha256.as_deref())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use engine::model::error::StoreError;

    use super::*;

    fn schema(conn: &Connection) -> Vec<String> {
        let mut rows = conn.prepare("select sql from sqlite_schema where sql is not null order by name").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn every_older_version_becomes_the_newest() {
        let fresh = Connection::open_in_memory().unwrap();
        run_migrations(&fresh).unwrap();
        for older in 0..LATEST_MIGRATION {
            let conn = Connection::open_in_memory().unwrap();
            migrate_to(&conn, older).ok();
            assert_eq!(schema_version(&conn).unwrap(), older);
            run_migrations(&conn).unwrap();
            assert_eq!(schema(&conn), schema(&fresh), "from {older}");
        }
    }

    #[test]
    fn running_twice_changes_nothing() {
        let conn = Connection::open_in_memory().unwrap();
        run_migrations(&conn).unwrap();
        run_migrations(&conn).unwrap();
        assert_eq!(schema_version(&conn).unwrap(), LATEST_MIGRATION);
    }

    #[test]
    fn a_newer_an_edited_or_a_foreign_database_is_refused() {
        let check = |sql: &str, code: &str| {
            let conn = Connection::open_in_memory().unwrap();
            if !sql.contains("strangers") {
                run_migrations(&conn).unwrap();
            }
            conn.execute_batch(sql).unwrap();
            let error = StoreError::from(run_migrations(&conn).unwrap_err());
            assert_eq!(error.code(), code, "{sql}: {error}");
        };
        check("pragma user_version = 999", "store.newer");
        check("update migrations set sha256 = 'x' where number = 2", "store.corrupt");
        check("create table strangers (x)", "store.corrupt");
        check("pragma user_version = -1", "store.corrupt");
    }
}
