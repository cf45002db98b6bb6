//! The storage backends, SQLite and Postgres, behind the engine's `Backend` port, and copying between them. No type of
//! a database driver leaves this crate.

mod as_of;
mod column_codec;
mod copy;
mod digests;
mod fault;
mod matching;
mod migrations;
mod notifier;
mod postgres;
mod sqlite;
mod sync;
mod word_score;

pub use copy::{CopyError, CopyProgress, CopyReport, CopyStage, Database, TableComparison, copy_database};
pub use postgres::{
    MigrateOptions, MigrationReport, PostgresOptions, allows_plaintext, migrate_postgres, open_postgres,
};
pub use sqlite::{Location, SqliteOptions, open_sqlite};
