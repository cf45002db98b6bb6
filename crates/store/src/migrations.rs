//! The numbered migrations of both backends, and the check that a recorded one was not edited.

use engine::model::error::StoreError;
use engine::text::digest::content_sha256;

pub(crate) struct Migration {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

/// One list of names for both backends: a name without a file in both folders does not compile.
macro_rules! migrations {
    ($($name:literal),+ $(,)?) => {
        pub(crate) const SQLITE_MIGRATIONS: &[Migration] = &[
            $(Migration { name: $name, sql: include_str!(concat!("../migrations/sqlite/", $name, ".sql")) }),+
        ];
        pub(crate) const POSTGRES_MIGRATIONS: &[Migration] = &[
            $(Migration { name: $name, sql: include_str!(concat!("../migrations/postgres/", $name, ".sql")) }),+
        ];
    };
}

// In order; the number of a migration is its position, counted from one.
migrations![
    "0001_tenants",
    "0002_memories",
    "0003_recall",
    "0004_events",
    "0005_fewer_trees",
    "0006_leases",
    "0007_redacted_evidence",
    "0008_due",
    "0009_term_by_term",
    "0010_words_in_lists",
    "0011_trees_in_use",
    "0012_write_digests",
    "0013_questions",
    "0014_projects",
    "0015_covered_from",
];

/// Number of the newest migration: the schema version this program reads and writes.
pub(crate) const LATEST_MIGRATION: u32 = SQLITE_MIGRATIONS.len() as u32;

impl Migration {
    pub(crate) fn sha256(&self) -> String {
        content_sha256(self.sql)
    }

    /// INVARIANT: a migration is never edited after it has shipped. `recorded`: the hash the database holds for it.
    pub(crate) fn check_unedited(&self, recorded: Option<&str>) -> Result<(), StoreError> {
        match recorded == Some(self.sha256().as_str()) {
            true => Ok(()),
            false => Err(StoreError::Corrupt(format!("migration `{}` is not the one this program knows", self.name))),
        }
    }
}

/// Refuses a database that a newer program has migrated.
pub(crate) fn check_known(found: u32) -> Result<u32, StoreError> {
    match found > LATEST_MIGRATION {
        true => Err(StoreError::SchemaTooNew { found, known: LATEST_MIGRATION }),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_numbered_file_is_in_the_list() {
        let listed: Vec<&str> = SQLITE_MIGRATIONS.iter().map(|migration| migration.name).collect();
        for backend in ["sqlite", "postgres"] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(backend);
            let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
            let mut numbered: Vec<String> = names
                .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
                .map(|name| name.trim_end_matches(".sql").to_owned())
                .collect();
            numbered.sort_unstable();
            assert_eq!(numbered, listed, "{backend}");
        }
        for (number, name) in (1..).zip(listed) {
            assert!(name.starts_with(&format!("{number:04}_")), "{name}");
        }
    }
}
