//! Where memories are kept and found. No driver's type leaves this crate.

mod as_of;
mod column_codec;
mod copy;
mod fault;
mod matching;
mod migrations;
mod notifier;
mod postgres;
mod sqlite;
mod sync;
mod word_score;

pub use copy::{CopyError, CopyProgress, CopyReport, CopyStage, Database, TableComparison, copy_database};
pub use postgres::{MigrateOptions, MigrationReport, PostgresOptions, migrate_postgres, open_postgres};
pub use sqlite::{Location, SqliteOptions, open_sqlite};
