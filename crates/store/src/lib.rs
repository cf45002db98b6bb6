//! Where memories are kept and found. No driver's type leaves this crate.

mod bell;
mod copy;
mod fault;
mod matching;
mod postgres;
mod score;
mod sqlite;

pub use copy::{Compared, Copied, CopyError, Database, Progress, Stage, copy};
pub use postgres::{MigrateOptions, Migrated, PostgresOptions, migrate_postgres, open_postgres};
pub use sqlite::{Location, Options, open_sqlite};
