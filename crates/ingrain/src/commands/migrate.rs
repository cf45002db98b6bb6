//! `migrate`: creates or updates the schema of a Postgres database, as its owner.

use serde::Serialize;

use store::Database;

use crate::assemble;
use crate::config::Config;
use crate::error::Failure;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub struct MigrateArgs {
    /// Distribute the tables by tenant over a Citus cluster; no effect without Citus
    #[arg(long)]
    citus: bool,
}

#[derive(Serialize)]
struct MigrateReport {
    from: u32,
    to: u32,
    notes: Vec<String>,
}

impl MigrateArgs {
    pub fn run(self, config: &Config, output: &Output) -> Result<(), Failure> {
        let Database::Postgres(url) = assemble::parse_database(&config.db, &config.home)? else {
            return Err(Failure::user_error("config.db", "a SQLite file is migrated automatically when it is opened")
                .with_hint("for Postgres: `ingrain migrate --db postgres://OWNER@HOST/DATABASE`"));
        };
        let migrated = store::migrate_postgres(&url, &store::MigrateOptions { citus: self.citus })?;
        let done = MigrateReport { from: migrated.from, to: migrated.to, notes: migrated.notes };
        output.print_answer(&done, || {
            let head = match done.from == done.to {
                true => format!("up to date at migration {}", done.to),
                false => format!("migrated from {} to {}", done.from, done.to),
            };
            std::iter::once(head).chain(done.notes.iter().cloned()).collect::<Vec<_>>().join("\n")
        })
    }
}
