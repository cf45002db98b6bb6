//! The trust property: whatever an agent does, no word of its own gets into the trusted block, into a read-only store
//! or above `agent_draft`, unless a person decided about exactly that text. No step of an agent changes or lowers what
//! a person wrote or trusted.
//!
//! Each script runs in a tenant of its own. Every text of the agent carries a marker, a word used once; a marker is
//! decided when a person sends it, or approves the version that shows it. A failed script names its seed:
//! `INGRAIN_TEST_TRUST_SEED=N` runs that script alone.

mod agent;
mod people;
mod proof;
mod script;

use std::sync::Arc;

use engine::ports::Backend;
use store::{Location, SqliteOptions, open_sqlite};

use crate::postgres::{Database, server};
use script::{Counts, Script};

/// Steps of one script: enough for several rounds of save, review and rollback at the same few paths.
const SCRIPT_STEPS: usize = 50;

/// Runs scripts until `steps` are done; `long_steps` with `INGRAIN_TEST_LONG=1`.
fn run_scripts(backend: &Arc<dyn Backend>, steps: usize, long_steps: usize) {
    let variable = |name: &str| std::env::var_os(name).and_then(|value| value.into_string().ok());
    let is_long = variable("INGRAIN_TEST_LONG").is_some_and(|value| value == "1");
    let only: Option<u64> = variable("INGRAIN_TEST_TRUST_SEED").map(|seed| seed.parse().expect("a number"));
    let steps = if is_long { long_steps } else { steps };
    let mut counts = Counts::default();
    let seeds = only.map_or(0..(steps / SCRIPT_STEPS) as u64, |seed| seed..seed + 1);
    for seed in seeds {
        Script::new(backend, seed).run(SCRIPT_STEPS, &mut counts);
    }
    if only.is_none() {
        // A script in which nothing succeeds would prove nothing.
        assert!(counts.done * 3 > counts.steps, "too many steps are refused: {counts:?}");
        assert!(counts.approved > 0 && counts.mixed > 0 && counts.changed_after_reading > 0, "{counts:?}");
    }
}

#[test]
fn no_agents_word_is_trusted_without_a_decision_on_sqlite() {
    let backend = open_sqlite(&Location::Memory, &SqliteOptions::default()).expect("opens");
    run_scripts(&backend, 1_500, 100_000);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn no_agents_word_is_trusted_without_a_decision_on_postgres() {
    let database = Database::fresh(&server());
    run_scripts(&database.open(), 500, 10_000);
}
