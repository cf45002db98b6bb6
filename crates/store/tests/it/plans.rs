//! Query plans of Postgres: searches use indexes, and the vector index finds nearly all that an exact search finds.

use std::collections::HashSet;

use engine::model::id::{MemoryId, TenantId};
use engine::model::scope::Scope;
use engine::policy::{Readable, ReadableScopes, VisibleCandidates};
use engine::ports::{Backend, CandidateQuery};
use engine::text::words::{QueryTerm, QueryWords};
use store::PostgresOptions;
use uuid::Uuid;

use crate::postgres::{Database, connect, has_vectors, runtime, server, superuser};
use crate::world::embedding;

const DIMENSIONS: usize = 16;

fn filled(server: &str, tenants: u32, each: u32) -> Database {
    let database = Database::fresh(server);
    let sql = include_str!("fill.sql")
        .replace("@tenants", &tenants.to_string())
        .replace("@each", &each.to_string())
        .replace("@dimensions", &DIMENSIONS.to_string());
    superuser(&database.url("postgres"), &[&sql, "vacuum analyze"]);
    database
}

/// The n-th question of a row that never repeats itself soon.
fn find(n: u32, words: bool) -> CandidateQuery {
    let term = |i: u32| QueryTerm { term: 100 + (n * 37 + i * i * 211) % 3_000, weight: 1.0, group: 0, exact: false };
    let values: Vec<f32> = (0..DIMENSIONS as u32).map(|i| ((n * 31 + i * i * 17) % 255) as f32 - 127.0).collect();
    let terms = if words { (0..6).map(term).collect() } else { Vec::new() };
    CandidateQuery {
        words: QueryWords { terms },
        vector: Some(embedding("bench", &values)),
        pool: 60,
        ..CandidateQuery::default()
    }
}

fn readable(n: u32, scopes: ReadableScopes) -> Readable {
    let tenant = TenantId(Uuid::from_u128(u128::from(n)));
    Readable { tenant, scopes, constrained: VisibleCandidates::All, hidden_stores: Vec::new() }
}

fn ids(backend: &dyn Backend, readable: &Readable, find: &CandidateQuery) -> HashSet<MemoryId> {
    let found = backend.find_candidates(readable, find).expect("finds");
    found.candidates.iter().map(|candidate| candidate.memory.id).collect()
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_search_never_reads_a_whole_table() {
    let server = server();
    let database = filled(&server, 100, 1_000);
    let backend = database.open();
    superuser(&database.url("postgres"), &["select pg_stat_reset()"]);
    for n in 0..200 {
        let conversation = format!("c{}", n % 40 + 1);
        let few = ReadableScopes::These(vec![Scope::Workspace, Scope::Conversation { conversation }]);
        for scopes in [few, ReadableScopes::All] {
            backend.find_candidates(&readable(n % 100 + 1, scopes), &find(n, true)).expect("finds");
        }
    }
    drop(backend);
    let scans = "select relname::text, seq_scan from pg_stat_user_tables
         where schemaname = 'ingrain' and seq_scan > 0
           and relname in ('recall', 'memories', 'versions', 'recalls', 'scopes')";
    assert_eq!(counted(&database, scans), [], "tables that were read from end to end");
}

/// What the server counted of sessions that have ended: names and numbers.
fn counted(database: &Database, sql: &str) -> Vec<(String, i64)> {
    runtime().block_on(async {
        let client = connect(&database.url("postgres")).await;
        let sessions =
            "select 1 from pg_stat_activity where application_name = 'ingrain' and datname = current_database()";
        while !client.query(sessions, &[]).await.expect("asks").is_empty() {}
        let rows = client.query(sql, &[]).await.expect("asks");
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    })
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn the_index_finds_what_comparing_one_by_one_finds() {
    let server = server();
    let database = filled(&server, 2, 2_000);
    let exact = database.open();
    if !has_vectors(&*exact) {
        return;
    }
    superuser(&database.url("postgres"), &["select ingrain.add_model('bench', 16)", "analyze ingrain.recall"]);
    let by_index = database.open_with(&PostgresOptions { exact_max: 0, ..PostgresOptions::default() });
    let (mut same, mut all) = (0, 0);
    for n in 0..40 {
        let (readable, find) = (readable(n % 2 + 1, ReadableScopes::All), find(n, false));
        let wanted = ids(&*exact, &readable, &find);
        same += ids(&*by_index, &readable, &find).intersection(&wanted).count();
        all += wanted.len();
    }
    assert_eq!(all, 40 * 60);
    assert!(same as f64 >= 0.99 * all as f64, "{same} of {all}");
    drop((exact, by_index));
    let used = "select indexrelname::text, idx_scan from pg_stat_user_indexes
         where indexrelname like 'recall_by_meaning_%' and idx_scan > 0";
    assert_eq!(counted(&database, used).len(), 1, "the index was asked");
}
