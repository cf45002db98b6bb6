//! Measures a Postgres with many tenants:
//! `scripts/postgres-test 16 -- cargo run --release -p store --example postgres`.
//!
//! Fills the tables by SQL, which is quick, and then finds and saves through the backend as a server would.

use std::time::{Duration, Instant};

use engine::model::caller::Caller;
use engine::model::event::{EventBody, EventName};
use engine::model::guard::Guard;
use engine::model::id::TenantId;
use engine::model::row::{Row, RowKind};
use engine::model::scope::Scope;
use engine::model::vector::{Embedding, Vector};
use engine::policy::{Readable, ReadableScopes, VisibleCandidates};
use engine::ports::change::{Change, Write};
use engine::ports::{Backend, CandidateQuery};
use engine::text::words::{QueryTerm, QueryWords};
use jiff::Timestamp;
use store::{MigrateOptions, PostgresOptions, migrate_postgres, open_postgres};
use uuid::Uuid;

const TENANTS: u32 = 100;
const MEMORIES_EACH: u32 = 1_000;
const DIMENSIONS: u32 = 256;
const SAMPLES: u32 = 300;
/// Finds before the clock starts: a connection plans its functions on first use.
const WARM_UP: u32 = 20;

fn fill() -> String {
    include_str!("../tests/it/fill.sql")
        .replace("@tenants", &TENANTS.to_string())
        .replace("@each", &MEMORIES_EACH.to_string())
        .replace("@dimensions", &DIMENSIONS.to_string())
}

fn main() {
    let server = std::env::args().nth(1).expect("the superuser's URL");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let sql = |text: &str| {
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.expect("connects");
            tokio::spawn(async move { drop(connection.await) });
            client.batch_execute(text).await.unwrap_or_else(|error| panic!("{error:?}"));
        });
    };
    let start = Instant::now();
    let migrated = migrate_postgres(&server, &MigrateOptions::default()).expect("migrates");
    report(&format!("migrated {} to {}: {}", migrated.from, migrated.to, migrated.notes.join("; ")), start.elapsed());
    if migrated.from == 0 {
        let start = Instant::now();
        sql(&fill());
        report("filled", start.elapsed());
        let start = Instant::now();
        sql("vacuum analyze");
        report("analysed", start.elapsed());
    }
    let backend = open_postgres(&server, &PostgresOptions { connections_max: 1, ..PostgresOptions::default() });
    let backend = backend.expect("opens");
    let pids = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.expect("connects");
        tokio::spawn(async move { drop(connection.await) });
        let of = "select pid from pg_stat_activity where application_name = 'ingrain' and datname = current_database()";
        client.query(of, &[]).await.expect("asks").iter().map(|row| row.get::<_, i32>(0)).collect::<Vec<_>>()
    });
    let cpu = move || pids.iter().map(|pid| cpu_of(*pid)).sum::<Duration>();
    finds(&*backend, &cpu, "find, words and vectors, one conversation and the workspace", true, true);
    finds(&*backend, &cpu, "find, words only, one conversation and the workspace", false, true);
    finds(&*backend, &cpu, "find, words and vectors, everything of the tenant", true, false);
    saves(&*backend, &cpu);
    report(&format!("{:?}", backend.health().expect("is well")), Duration::ZERO);
}

fn tenant(n: u32) -> TenantId {
    TenantId(Uuid::from_u128(u128::from(n % TENANTS + 1)))
}

fn finds(backend: &dyn Backend, cpu: &dyn Fn() -> Duration, what: &str, vectors: bool, narrow: bool) {
    let mut times = Vec::new();
    let mut found = 0;
    let mut before = cpu();
    for n in 0..SAMPLES {
        if n == WARM_UP {
            before = cpu();
        }
        let term = |term: u32| QueryTerm { term, weight: 1.0, group: term as u16, exact: false };
        let terms = (0..6).map(|i| term(100 + (n * 37 + i * i * 211) % 3_000)).collect();
        let values: Vec<f32> = (0..DIMENSIONS).map(|i| ((n * 31 + i * 17) % 255) as f32 - 127.0).collect();
        let vector = Vector::quantise(&values).map(|vector| Embedding { model: "bench".to_owned(), vector });
        let find = CandidateQuery {
            words: QueryWords { terms },
            vector: vector.filter(|_| vectors),
            pool: 60,
            ..CandidateQuery::default()
        };
        let conversation = format!("c{}", n % 40 + 1);
        let scopes = match narrow {
            true => ReadableScopes::These(vec![Scope::Workspace, Scope::Conversation { conversation }]),
            false => ReadableScopes::All,
        };
        let readable =
            Readable { tenant: tenant(n), scopes, constrained: VisibleCandidates::All, hidden_stores: Vec::new() };
        let start = Instant::now();
        found += backend.find_candidates(&readable, &find).expect("finds").candidates.len();
        times.push(start.elapsed());
    }
    report("  CPU of the server each", (cpu() - before) / (SAMPLES - WARM_UP));
    report(&format!("{what}: {} hits each", found / SAMPLES as usize), percentiles(times));
}

fn saves(backend: &dyn Backend, cpu: &dyn Fn() -> Duration) {
    let mut times = Vec::new();
    let before = cpu();
    for n in 0..SAMPLES {
        let tenant = tenant(n);
        let caller = Caller::agent(tenant, "bench");
        let row = Row {
            kind: RowKind::Receipts,
            id: format!("r{n}-{}", std::process::id()),
            state: String::new(),
            subject: String::new(),
            parent: String::new(),
            at: Timestamp::UNIX_EPOCH,
            body: serde_json::Value::Null,
        };
        let change = Change::new(tenant, Timestamp::UNIX_EPOCH)
            .with_guard(Guard::RowInState { kind: RowKind::Receipts, id: row.id.clone(), state: None })
            .with_write(Write::Row(row))
            .with_event(EventBody::new(EventName::AuditRecorded, &caller, Timestamp::UNIX_EPOCH));
        let start = Instant::now();
        backend.commit(change.scanned()).expect("commits");
        times.push(start.elapsed());
    }
    report("  CPU of the server each", (cpu() - before) / SAMPLES);
    report("commit of a row with its event", percentiles(times));
}

/// What the system says a process has computed; on busy machines the only figure that means something.
fn cpu_of(pid: i32) -> Duration {
    let line = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let nanos = line.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0);
    Duration::from_nanos(nanos)
}

/// The median; the rest is printed.
fn percentiles(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    report("  95 of 100 within", at(95));
    report("  99 of 100 within", at(99));
    at(50)
}

fn report(what: &str, time: Duration) {
    use std::io::Write;
    // An example's output is its purpose.
    let _ = writeln!(std::io::stdout(), "{:>10.2} ms  {what}", time.as_secs_f64() * 1e3);
}
