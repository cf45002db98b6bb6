//! `verify` replays the log against the data: whatever is changed behind the program's back is found and named, and
//! what the program itself wrote never is.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use engine::admin::keys::NewKey;
use engine::model::caller::Caller;
use engine::model::id::{MemoryId, TenantId, uuid_v7};
use engine::model::key::KeyRights;
use engine::model::memory::{Draft, Evidence};
use engine::model::vocabulary::{EvidenceKind, Kind, Role};
use engine::ports::{Backend, Calibration, Clock, EmbedError, Embedder};
use engine::review::owners::OwnerRule;
use engine::{ContextRequest, Engine, FindingCode, Remembered, Settings, Verification};
use jiff::Timestamp;
use store::{Location, SqliteOptions, copy_database, open_sqlite};

use crate::postgres::{self, APP, connect, runtime};

/// Goes on by a microsecond at every look, also from one engine to the next.
struct Ticks;

static TICKS: AtomicU64 = AtomicU64::new(0);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        let micros = 1_772_366_400_000_000 + TICKS.fetch_add(1, Ordering::Relaxed) as i64;
        Timestamp::from_microsecond(micros).expect("in range")
    }

    fn fresh_id(&self) -> uuid::Uuid {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&TICKS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        uuid_v7(self.now().as_microsecond(), random)
    }
}

#[derive(Debug)]
struct NoVectors;

impl Embedder for NoVectors {
    fn model(&self) -> &'static str {
        "none"
    }
    fn dimensions(&self) -> usize {
        0
    }
    fn embed(&self, _texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Off)
    }
    fn is_instant(&self) -> bool {
        true
    }
    fn calibration(&self) -> Calibration {
        Calibration { unrelated: 0.0, same: 1.0 }
    }
}

/// A database that a test may change behind the program's back.
pub(crate) enum Ground {
    Sqlite(tempfile::TempDir),
    Postgres(postgres::Database),
}

impl Ground {
    pub(crate) fn sqlite() -> Ground {
        Ground::Sqlite(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn postgres() -> Ground {
        Ground::Postgres(postgres::Database::fresh(&postgres::server()))
    }

    pub(crate) fn file(&self) -> PathBuf {
        match self {
            Ground::Sqlite(folder) => folder.path().join("ingrain.db"),
            Ground::Postgres(_) => panic!("a server has no file"),
        }
    }

    pub(crate) fn remove_position_file(&self) {
        if let Ground::Sqlite(folder) = self {
            std::fs::remove_file(folder.path().join("ingrain.db-position")).expect("removes");
        }
    }

    pub(crate) fn location(&self) -> store::Database {
        match self {
            Ground::Sqlite(_) => store::Database::Sqlite(self.file()),
            Ground::Postgres(database) => store::Database::Postgres(database.url(APP)),
        }
    }

    pub(crate) fn open(&self) -> Arc<dyn Backend> {
        match self {
            Ground::Sqlite(_) => open_sqlite(&Location::File(self.file()), &SqliteOptions::default()).expect("opens"),
            Ground::Postgres(database) => database.open(),
        }
    }

    pub(crate) fn engine(&self) -> (Engine, TenantId) {
        engine_on(self.open())
    }

    /// Runs SQL as somebody with every right, past triggers and walls. Returns the number of changed rows.
    pub(crate) fn tamper(&self, sql: &str) -> u64 {
        match self {
            Ground::Sqlite(_) => {
                let conn = rusqlite::Connection::open(self.file()).expect("opens");
                conn.execute_batch("pragma foreign_keys = off").expect("sets");
                let triggers: Vec<String> = conn
                    .prepare("select 'drop trigger ' || name from sqlite_schema where type = 'trigger'")
                    .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
                    .expect("lists");
                conn.execute_batch(&triggers.join(";")).expect("drops");
                conn.execute(sql, []).unwrap_or_else(|error| panic!("{sql}: {error}")) as u64
            }
            Ground::Postgres(database) => runtime().block_on(async {
                let client = connect(&database.url("postgres")).await;
                let set = "set search_path = ingrain; set session_replication_role = replica";
                client.batch_execute(set).await.expect("sets");
                client.execute(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"))
            }),
        }
    }
}

pub(crate) fn engine_on(backend: Arc<dyn Backend>) -> (Engine, TenantId) {
    let engine = Engine::new(backend, Arc::new(NoVectors), Arc::new(Ticks), Settings::default());
    let tenant = engine.start_tenant("default").expect("a tenant").id;
    (engine, tenant)
}

pub(crate) fn note(content: &str) -> Draft {
    Draft {
        store: "conversation_memory".to_owned(),
        content: content.to_owned(),
        evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 17")],
        ..Draft::default()
    }
}

pub(crate) fn agent(tenant: TenantId) -> Caller {
    Caller { run: Some("r1".to_owned()), ..Caller::agent(tenant, "triage").in_conversation("c1") }
}

pub(crate) fn saved(engine: &Engine, caller: &Caller, draft: Draft) -> MemoryId {
    match engine.remember(caller, draft).expect("answers") {
        Remembered::Saved(saved) => saved.memory.id,
        other => panic!("{other:?}"),
    }
}

/// Something of everything; returns a note of the agent.
pub(crate) fn fill(engine: &Engine, tenant: TenantId) -> MemoryId {
    let (admin, agent) = (Caller::admin(tenant), agent(tenant));
    let note_id = saved(engine, &agent, note("the gateway drains in ninety seconds"));
    let (path, kind) = (Some("gateway/reload".to_owned()), Some(Kind::Runbook));
    let rule = Draft { store: "workspace_runbooks".to_owned(), path, kind, ..note("reload the gateway with a signal") };
    saved(engine, &admin, rule.clone());
    saved(engine, &admin, Draft { content: "reload the gateway by restarting it".to_owned(), ..rule });
    let gone = saved(engine, &agent, note("forget this about the harbour crane"));
    engine.forget(&admin, gone, Some("wrong".to_owned())).expect("forgets");
    for (name, role) in [("triage key", Role::Agent), ("root key", Role::Admin)] {
        let names = (Some("triage".to_owned()), Some("ana".to_owned()).filter(|_| role == Role::Admin));
        let rights = KeyRights { agent: names.0, user: names.1, ..KeyRights::for_role(role) };
        let new = NewKey { name: name.to_owned(), rights, expires_at: None };
        engine.create_key(&admin, new, [role as u8; 32]).expect("a key");
    }
    let request = ContextRequest { message: "how do I reload the gateway".to_owned(), ..ContextRequest::default() };
    assert!(engine.context(&agent, &request).expect("answers").receipt.is_some());
    let rules = vec![OwnerRule { pattern: "gateway/*".to_owned(), reviewers: vec!["ana".to_owned()] }];
    engine.set_owners(&admin, "workspace_runbooks", rules).expect("sets");
    engine
        .propose(
            &agent,
            engine::Promotion {
                source: engine::MemoryReference::Id(note_id),
                target_store: "workspace_runbooks".to_owned(),
                target_path: Some("gateway/drain".to_owned()),
                rationale: "seen twice".to_owned(),
                evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 18")],
                risk: engine::model::review::Risk::Low,
            },
        )
        .expect("proposes");
    engine.database().flush().expect("written");
    note_id
}

fn whole_redaction(memory: MemoryId) -> engine::RedactionRequest {
    engine::RedactionRequest { memory, versions: None, reason: "private".to_owned(), may_return: false }
}

pub(crate) fn verify(engine: &Engine, tenant: TenantId) -> Verification {
    engine.verify(&Caller::admin(tenant)).expect("verifies")
}

#[track_caller]
pub(crate) fn assert_intact(engine: &Engine, tenant: TenantId) {
    let verified = verify(engine, tenant);
    assert!(verified.is_intact() && verified.unsettled == 0, "{verified:#?}");
    assert_eq!(verified.uncovered, 0);
}

/// A change behind the program's back, and what the verification must say: codes, kind and a name.
type Tampering = (&'static str, &'static [&'static str], FindingCode, &'static str, &'static str);

const TAMPERINGS: &[Tampering] = &[
    (
        "changed text",
        &["update versions set content = 'reload the gateway with rm -rf' where content like 'reload%signal'"],
        FindingCode::ContentChanged,
        "memory",
        "workspace_runbooks/gateway/reload",
    ),
    (
        "changed text with its hash",
        &["update versions
           set content = 'y', sha256 = 'a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa'
           where content like 'reload%signal'"],
        FindingCode::Changed,
        "memory",
        "workspace_runbooks/gateway/reload",
    ),
    (
        "draft raised in the live row",
        &[
            "update memories set trust = 'admin_approved' where trust = 'agent_draft'",
            "update recall set trust = 'admin_approved' where trust = 'agent_draft'",
        ],
        FindingCode::LiveRowDiffers,
        "memory",
        "conversation_memory/",
    ),
    (
        "draft raised everywhere",
        &[
            "update memories set trust = 'admin_approved' where trust = 'agent_draft'",
            "update recall set trust = 'admin_approved' where trust = 'agent_draft'",
            "update versions set snapshot = replace(snapshot, '\"agent_draft\"', '\"admin_approved\"')",
        ],
        FindingCode::Changed,
        "memory",
        "conversation_memory/",
    ),
    (
        "draft raised in the search index",
        &["update recall set trust = 'admin_approved' where trust = 'agent_draft'"],
        FindingCode::IndexDiffers,
        "memory",
        "conversation_memory/",
    ),
    ("agent key made admin", &["{key}"], FindingCode::Changed, "keys", "triage key"),
    ("key added", &["{new key}"], FindingCode::NotInLog, "keys", "triage key"),
    ("receipts deleted", &["delete from receipts"], FindingCode::Missing, "receipts", ""),
    ("review decided", &["update reviews set state = 'approved'"], FindingCode::Changed, "reviews", ""),
    (
        "forgotten memory active again",
        &[
            "update memories set state = 'active' where state = 'tombstoned'",
            "update recall set state = 'active' where state = 'tombstoned'",
        ],
        FindingCode::LiveRowDiffers,
        "memory",
        "conversation_memory/",
    ),
    ("last version removed", &["{cut version}"], FindingCode::Missing, "memory", ""),
    ("owners removed", &["delete from owners"], FindingCode::Missing, "owners", "workspace_runbooks"),
    ("bans removed", &["delete from bans"], FindingCode::Missing, "bans", ""),
    (
        "store archived",
        &["update stores set state = 'archived' where id = 'workspace_runbooks'"],
        FindingCode::Changed,
        "stores",
        "",
    ),
    ("live row removed", &["delete from memories where state = 'tombstoned'"], FindingCode::Missing, "memory", ""),
    (
        "log cut with its head set back",
        &[
            "delete from events where seq > (select max(seq) - 6 from events)",
            "update heads set event_seq = (select max(seq) from events),
           event_hash = (select hash from events order by seq desc limit 1)",
        ],
        FindingCode::NotInLog,
        "owners",
        "",
    ),
];

/// What differs by backend.
fn spelled(sql: &str, is_sqlite: bool) -> String {
    let text = match sql {
        "{key}" if is_sqlite => "update keys set body = replace(body, '\"role\":\"agent\"', '\"role\":\"admin\"')",
        "{key}" => {
            "update keys set body = jsonb_set(body, '{rights,role}', '\"admin\"') where body->>'name' = 'triage key'"
        }
        "{new key}" if is_sqlite => {
            "insert into keys select tenant, 'x', state, subject, parent, at, body
             from keys where body like '%triage key%'"
        }
        "{new key}" => {
            "insert into keys select tenant, 'x', state, subject, parent, at, body
             from keys where body->>'name' like 'triage%'"
        }
        "{cut version}" => "delete from versions where number = 2 and content like 'reload%'",
        sql => sql,
    };
    text.to_owned()
}

fn every_tampering_is_found_and_named(ground: impl Fn() -> Ground) {
    for (what, statements, code, kind, name) in TAMPERINGS {
        let ground = ground();
        let (engine, tenant) = ground.engine();
        fill(&engine, tenant);
        assert_intact(&engine, tenant);
        drop(engine);
        for sql in *statements {
            let changed = ground.tamper(&spelled(sql, matches!(ground, Ground::Sqlite(_))));
            assert!(changed > 0, "{what}: nothing was changed");
        }
        let (engine, tenant) = ground.engine();
        let verified = verify(&engine, tenant);
        let named = verified.findings.iter().any(|finding| {
            finding.code == *code
                && finding.kind == *kind
                && (name.is_empty() || finding.name.as_deref() == Some(name) || finding.id.as_deref() == Some(name))
        });
        assert!(named, "{what}: {verified:#?}");
    }
}

#[test]
fn every_tampering_is_found_and_named_on_sqlite() {
    every_tampering_is_found_and_named(Ground::sqlite);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn every_tampering_is_found_and_named_on_postgres() {
    every_tampering_is_found_and_named(Ground::postgres);
}

fn a_log_that_is_gone_is_damage(ground: impl Fn() -> Ground) {
    for head in ["update heads set event_seq = 0, event_hash = ''", "delete from heads"] {
        let ground = ground();
        let (engine, tenant) = ground.engine();
        fill(&engine, tenant);
        drop(engine);
        assert!(ground.tamper("delete from events") > 0);
        assert_eq!(ground.tamper(head), 1);
        let (engine, tenant) = ground.engine();
        let verified = verify(&engine, tenant);
        assert!(verified.broken.is_some_and(|broken| broken.reason.contains("the log is empty")), "{head}");
        let refused = engine.adopt_uncovered(&Caller::admin(tenant)).expect_err("not adopted");
        assert_eq!(refused.code(), "conflict.damaged");
    }
}

#[test]
fn a_log_that_is_gone_is_damage_on_sqlite() {
    a_log_that_is_gone_is_damage(Ground::sqlite);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_log_that_is_gone_is_damage_on_postgres() {
    a_log_that_is_gone_is_damage(Ground::postgres);
}

/// Only SQLite keeps a value in another storage class than that of its column.
#[test]
fn verification_ends_though_keys_have_another_storage_class() {
    for (sql, table) in [
        ("update keys set id = cast(id as blob)", "keys"),
        ("update versions set number = cast(number as blob)", "versions"),
        ("update memories set id = substr(hex(id), 17)", "memories"),
    ] {
        let ground = Ground::sqlite();
        let (engine, tenant) = ground.engine();
        fill(&engine, tenant);
        drop(engine);
        assert!(ground.tamper(sql) > 0, "{sql}");
        let (engine, tenant) = ground.engine();
        let verified = verify(&engine, tenant);
        let named =
            |finding: &engine::Finding| finding.kind == table || (table == "memories" && finding.kind == "memory");
        assert!(!verified.is_intact() && verified.findings.iter().any(named), "{sql}: {verified:#?}");
    }
}

/// Such a value looks the same, but no comparison in SQL finds it: a ban in it bans nothing.
#[test]
fn a_value_of_another_storage_class_is_found() {
    let columns = [
        ("bans", "state"),
        ("bans", "subject"),
        ("memories", "path"),
        ("memories", "state"),
        ("memories", "updated_at"),
        ("versions", "content"),
        ("versions", "snapshot"),
        ("versions", "actor"),
        ("keys", "body"),
        ("keys", "state"),
        ("owners", "body"),
        ("receipts", "parent"),
        ("reviews", "state"),
        ("scopes", "first"),
        ("events", "happening"),
    ];
    for (table, column) in columns {
        let ground = Ground::sqlite();
        let (engine, tenant) = ground.engine();
        fill(&engine, tenant);
        drop(engine);
        let sql = format!("update {table} set {column} = cast({column} as blob) where {column} is not null");
        assert!(ground.tamper(&sql) > 0, "{sql}");
        // Not through a start of the tenant, which reads some of it.
        let engine = Engine::new(ground.open(), Arc::new(NoVectors), Arc::new(Ticks), Settings::default());
        assert!(!verify(&engine, tenant).is_intact(), "{sql}");
    }
    let ground = Ground::sqlite();
    let (engine, tenant) = ground.engine();
    fill(&engine, tenant);
    drop(engine);
    let as_text = "lower(substr(hex(version), 1, 8) || '-' || substr(hex(version), 9, 4) || '-' ||
        substr(hex(version), 13, 4) || '-' || substr(hex(version), 17, 4) || '-' || substr(hex(version), 21))";
    assert!(ground.tamper(&format!("update memories set version = {as_text}")) > 0);
    let (engine, tenant) = ground.engine();
    assert!(!verify(&engine, tenant).is_intact());
}

fn a_changed_or_removed_event_breaks_the_chain(ground: impl Fn() -> Ground) {
    for (sql, seq) in [
        ("update events set happening = replace(happening, 'actor', 'author') where seq = 9", 9),
        ("update events set name = 'memory.search' where seq = 4", 4),
        ("update events set digests = null where seq = 5", 5),
        ("update events set hash = 'x' where seq = 6", 6),
        ("delete from events where seq = 7", 8),
        ("delete from events where seq = (select max(seq) from events)", 0),
        ("update heads set (event_seq, event_hash) = (select seq, hash from events where seq = event_seq - 1)", 0),
    ] {
        let ground = ground();
        let (engine, tenant) = ground.engine();
        fill(&engine, tenant);
        let last = engine.event_feed().last_event_seq(tenant).expect("reads");
        drop(engine);
        assert_eq!(ground.tamper(sql), 1, "{sql}");
        let (engine, tenant) = ground.engine();
        let broken = verify(&engine, tenant).broken.unwrap_or_else(|| panic!("{sql}"));
        assert_eq!(broken.seq, if seq == 0 { last } else { seq }, "{sql}: {broken:?}");
    }
}

#[test]
fn a_changed_or_removed_event_breaks_the_chain_on_sqlite() {
    a_changed_or_removed_event_breaks_the_chain(Ground::sqlite);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_changed_or_removed_event_breaks_the_chain_on_postgres() {
    a_changed_or_removed_event_breaks_the_chain(Ground::postgres);
}

/// Everything the program does to stored rows, some of it twice.
pub(crate) fn live_through_everything(engine: &Engine, tenant: TenantId, rounds: u32) {
    let (admin, agent) = (Caller::admin(tenant), agent(tenant));
    for round in (0..rounds).map(|_| TICKS.fetch_add(1, Ordering::Relaxed)) {
        let id = saved(engine, &agent, note(&format!("the pump number {round} leaks")));
        let secret = saved(engine, &agent, note(&format!("the name of patient {round} is written here")));
        engine
            .context(&agent, &ContextRequest { message: "pump leaks".to_owned(), ..Default::default() })
            .expect("a context");
        engine.read(&agent, &engine::MemoryReference::Id(id)).expect("reads");
        let redaction = whole_redaction(secret);
        engine.redact(&admin, &redaction).expect("redacts");
        if round % 3 == 0 {
            engine.forget(&admin, id, None).expect("forgets");
        }
        let user = Caller::user(tenant, &format!("ana{round}"));
        saved(engine, &user, Draft { store: "user_memory".to_owned(), ..note("I like short answers") });
        engine.erase(&admin, &engine::EraseTarget::User(format!("ana{round}")), None, false).expect("erases");
        engine.upkeep_now(&admin, engine::UpkeepOptions::default()).expect("upkeep");
    }
    for key in engine.keys(&admin).expect("lists") {
        engine.record_key_use(tenant, &key);
    }
    engine.database().flush().expect("written");
}

fn what_the_program_writes_is_never_called_damaged(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    assert_intact(&engine, tenant);
    fill(&engine, tenant);
    live_through_everything(&engine, tenant, 7);
    assert_intact(&engine, tenant);
    // An import elsewhere writes the same through other changes.
    let elsewhere = Ground::sqlite();
    let (other, there) = elsewhere.engine();
    let mut report = engine::ImportReport::default();
    engine
        .export(&Caller::admin(tenant), &[], |piece| other.import(&Caller::admin(there), piece, &mut report))
        .expect("imports");
    assert!(report.imported > 5, "{report:?}");
    assert_intact(&other, there);
    // A copy has the log and the rows.
    drop((engine, other));
    let copy = Ground::sqlite();
    copy_database(&ground.location(), &copy.location(), &mut |_| {}).expect("copies");
    let (copied, tenant) = copy.engine();
    assert_intact(&copied, tenant);
    live_through_everything(&copied, tenant, 2);
    assert_intact(&copied, tenant);
}

#[test]
fn what_the_program_writes_is_never_called_damaged_on_sqlite() {
    what_the_program_writes_is_never_called_damaged(&Ground::sqlite());
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn what_the_program_writes_is_never_called_damaged_on_postgres() {
    let ground = Ground::postgres();
    what_the_program_writes_is_never_called_damaged(&ground);
    // And back: JSON that one backend printed is read by the other.
    let (back, target) = (Ground::sqlite(), Ground::postgres());
    copy_database(&ground.location(), &back.location(), &mut |_| {}).expect("copies");
    copy_database(&back.location(), &target.location(), &mut |_| {}).expect("copies");
    let (engine, tenant) = target.engine();
    assert_intact(&engine, tenant);
}

fn verification_beside_saves_never_alarms(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    fill(&engine, tenant);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for writer in 0..3 {
            let (engine, done) = (&engine, &done);
            threads.spawn(move || {
                let agent = Caller { conversation: Some(format!("w{writer}")), ..agent(tenant) };
                for round in 0.. {
                    let id = saved(engine, &agent, note(&format!("writer {writer} saw pump {round}")));
                    match round % 4 {
                        0 => drop(engine.forget(&Caller::admin(tenant), id, None).expect("forgets")),
                        1 => {
                            let redaction = whole_redaction(id);
                            drop(engine.redact(&Caller::admin(tenant), &redaction).expect("redacts"));
                        }
                        _ => {}
                    }
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        for _ in 0..12 {
            let verified = verify(&engine, tenant);
            if !verified.is_intact() {
                done.store(true, Ordering::Relaxed);
                panic!("{verified:#?}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_intact(&engine, tenant);
}

#[test]
fn verification_beside_saves_never_alarms_on_sqlite() {
    verification_beside_saves_never_alarms(&Ground::sqlite());
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn verification_beside_saves_never_alarms_on_postgres() {
    verification_beside_saves_never_alarms(&Ground::postgres());
}

fn a_database_from_before_is_adopted(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    fill(&engine, tenant);
    let covered = verify(&engine, tenant).checked;
    drop(engine);
    // As an older program wrote it: hashes without digests, and nothing says since when there are some.
    forget_digests(ground, tenant);
    assert_eq!(ground.tamper("update heads set covered_from = event_seq + 1"), 1);
    ground.remove_position_file();
    let (engine, tenant) = ground.engine();
    let before = verify(&engine, tenant);
    assert!(before.is_intact(), "{before:#?}");
    assert_eq!(before.uncovered, covered.versions + covered.records);
    live_through_everything(&engine, tenant, 2);
    let mixed = verify(&engine, tenant);
    assert!(mixed.is_intact() && mixed.uncovered > 0, "{mixed:#?}");
    assert_eq!(engine.adopt_uncovered(&Caller::admin(tenant)).expect("adopts"), mixed.uncovered);
    assert_intact(&engine, tenant);
    live_through_everything(&engine, tenant, 1);
    assert_intact(&engine, tenant);
    drop(engine);
    assert!(ground.tamper("update reviews set state = 'approved'") > 0);
    let (engine, tenant) = ground.engine();
    assert_eq!(verify(&engine, tenant).findings.len(), 1);
    let refused = engine.adopt_uncovered(&Caller::admin(tenant)).expect_err("damage is not adopted");
    assert_eq!(refused.code(), "conflict.damaged");
}

pub(crate) fn forget_digests(ground: &Ground, tenant: TenantId) {
    let backend = ground.open();
    let (mut hash, mut statements) = (String::new(), Vec::new());
    for entry in backend.scan_log(tenant, 0, 10_000).expect("reads") {
        hash = engine::model::event::chain_hash(&hash, entry.seq, &entry.body, None);
        statements.push(format!("update events set digests = null, hash = '{hash}' where seq = {}", entry.seq));
    }
    statements.push(format!("update heads set event_hash = '{hash}'"));
    drop(backend);
    statements.iter().for_each(|sql| assert_eq!(ground.tamper(sql), 1));
}

#[test]
fn a_database_from_before_is_adopted_on_sqlite() {
    a_database_from_before_is_adopted(&Ground::sqlite());
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_database_from_before_is_adopted_on_postgres() {
    a_database_from_before_is_adopted(&Ground::postgres());
}

const KEY: &str = "a key outside the database";

fn a_recomputed_log_contradicts_its_checkpoint(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    fill(&engine, tenant);
    let admin = Caller::admin(tenant);
    let checkpoint = engine.checkpoint(&admin, &verify(&engine, tenant), KEY).expect("a checkpoint");
    live_through_everything(&engine, tenant, 1);
    let contradiction = |engine: &Engine, key| engine.contradicts_checkpoint(&admin, &checkpoint, key).expect("reads");
    assert_eq!(contradiction(&engine, KEY), None, "the log goes on");
    assert!(contradiction(&engine, "another key").is_some_and(|why| why.contains("not signed")));
    let forged = engine::Checkpoint { seq: checkpoint.seq - 1, ..checkpoint.clone() };
    assert!(engine.contradicts_checkpoint(&admin, &forged, KEY).expect("reads").is_some());
    drop(engine);
    // Without its checkpoint the log looks like that of an older program.
    forget_digests(ground, tenant);
    assert_eq!(ground.tamper("update heads set covered_from = event_seq + 1"), 1);
    ground.remove_position_file();
    let (engine, tenant) = ground.engine();
    assert!(verify(&engine, tenant).is_intact());
    assert!(contradiction(&engine, KEY).is_some_and(|why| why.contains("rewritten")));
}

#[test]
fn a_recomputed_log_contradicts_its_checkpoint_on_sqlite() {
    a_recomputed_log_contradicts_its_checkpoint(&Ground::sqlite());
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_recomputed_log_contradicts_its_checkpoint_on_postgres() {
    a_recomputed_log_contradicts_its_checkpoint(&Ground::postgres());
}

#[test]
fn a_lost_write_ahead_log_contradicts_the_checkpoint() {
    let ground = Ground::sqlite();
    let (engine, tenant) = ground.engine();
    fill(&engine, tenant);
    drop(engine);
    let before = std::fs::read(ground.file()).expect("reads");
    let (engine, tenant) = ground.engine();
    for number in 0..50 {
        saved(&engine, &agent(tenant), note(&format!("valve {number} is open")));
    }
    let checkpoint = engine.checkpoint(&Caller::admin(tenant), &verify(&engine, tenant), KEY).expect("a checkpoint");
    drop(engine);
    for name in ["ingrain.db-wal", "ingrain.db-shm"] {
        let _ = std::fs::remove_file(ground.file().with_file_name(name));
    }
    std::fs::write(ground.file(), before).expect("puts the old file back");
    ground.remove_position_file();
    let (engine, tenant) = ground.engine();
    assert!(verify(&engine, tenant).is_intact(), "as it once was");
    let why = engine.contradicts_checkpoint(&Caller::admin(tenant), &checkpoint, KEY).expect("reads");
    assert!(why.is_some_and(|why| why.contains("lost")));
}

fn a_changed_text_is_never_served(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    let admin = Caller::admin(tenant);
    fill(&engine, tenant);
    drop(engine);
    let sql =
        "update versions set content = 'reload the gateway with rm -rf' where content like 'reload%restarting it'";
    assert_eq!(ground.tamper(sql), 1);
    let (engine, _) = ground.engine();
    let reference = engine::MemoryReference::Path { store: None, path: "gateway/reload".to_owned() };
    let named = |error: engine::model::error::Error| {
        assert_eq!(error.code(), "store.altered");
        assert!(error.to_string().contains("workspace_runbooks/gateway/reload"), "{error}");
    };
    named(engine.read(&admin, &reference).expect_err("not served"));
    named(engine.history(&admin, &reference, None, None).expect_err("not served"));
    named(engine.export(&admin, &[], |_| Ok(())).expect_err("not served"));
    let query = engine::SearchQuery { text: "reload the gateway".to_owned(), ..Default::default() };
    let found = engine.search(&admin, &query).expect("answers");
    assert!(found.hits.iter().all(|hit| !hit.memory.content.contains("rm -rf")));
    assert!(!found.hits.is_empty(), "the others are found");
    assert!(found.warnings.iter().any(|warning| warning.contains("gateway/reload")), "{:?}", found.warnings);
    let request = ContextRequest { message: "how do I reload the gateway".to_owned(), ..ContextRequest::default() };
    let context = engine.context(&agent(tenant), &request).expect("answers");
    assert!(!context.text.contains("rm -rf"));
    assert!(context.skipped.iter().any(|note| note.contains("gateway/reload")), "{:?}", context.skipped);
}

#[test]
fn a_changed_text_is_never_served_on_sqlite() {
    a_changed_text_is_never_served(&Ground::sqlite());
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_changed_text_is_never_served_on_postgres() {
    a_changed_text_is_never_served(&Ground::postgres());
}

/// A changed text would get a fresh hash by an approval or a rollback, and could not be told from a saved one.
fn a_changed_text_is_neither_approved_nor_restored(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    let (admin, agent) = (Caller::admin(tenant), agent(tenant));
    let crane = saved(&engine, &agent, note("the crane stops at wind force seven"));
    let pump = saved(&engine, &agent, note("the pump starts at noon"));
    let path = Some("gateway/reload".to_owned());
    let rule =
        Draft { store: "workspace_runbooks".to_owned(), path, kind: Some(Kind::Runbook), ..note("reload softly") };
    let rule_id = saved(&engine, &admin, rule.clone());
    saved(&engine, &admin, Draft { content: "reload by a signal".to_owned(), ..rule });
    let promotion = |source| engine::Promotion {
        source: engine::MemoryReference::Id(source),
        target_store: "workspace_runbooks".to_owned(),
        target_path: Some("crane/wind".to_owned()),
        rationale: "seen twice".to_owned(),
        evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 17")],
        risk: engine::model::review::Risk::Low,
    };
    let review = match engine.propose(&agent, promotion(crane)).expect("answers") {
        engine::ProposalOutcome::Waiting { review, .. } => *review,
        other => panic!("{other:?}"),
    };
    drop(engine);
    for (saved, changed) in [
        ("the crane stops at wind force seven", "the crane never stops"),
        ("the pump starts at noon", "the pump never starts"),
        ("reload softly", "reload with rm -rf"),
    ] {
        assert_eq!(ground.tamper(&format!("update versions set content = '{changed}' where content = '{saved}'")), 1);
    }
    let (engine, _) = ground.engine();
    let altered = |error: engine::model::error::Error| assert_eq!(error.code(), "store.altered", "{error}");
    let id = review.id.to_string();
    altered(engine.review(&admin, &id).expect_err("not shown"));
    let decision = engine::model::review::Decision { version: review.version, comment: None };
    altered(engine.approve(&admin, &id, &decision).expect_err("not approved"));
    altered(engine.propose(&agent, promotion(pump)).expect_err("not proposed"));
    altered(engine.rollback(&admin, rule_id, true, None).expect_err("not restored"));
}

#[test]
fn a_changed_text_is_neither_approved_nor_restored_on_sqlite() {
    a_changed_text_is_neither_approved_nor_restored(&Ground::sqlite());
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_changed_text_is_neither_approved_nor_restored_on_postgres() {
    a_changed_text_is_neither_approved_nor_restored(&Ground::postgres());
}

/// Everything that a reader could be shown, as text; the error where it cannot be read.
fn shown(engine: &Engine, tenant: TenantId) -> String {
    let mut text = String::new();
    let done: Result<(), engine::model::error::Error> = engine.export(&Caller::admin(tenant), &[], |piece| {
        text += &format!("{piece:?}");
        Ok(())
    });
    format!("{text} {done:?} {:?}", engine.keys(&Caller::admin(tenant)))
}

/// A byte of each page that holds content, trust or a key is changed, one page after the other.
#[test]
fn sixty_corrupted_pages_are_all_found() {
    const PAGE: usize = 4096;
    let ground = Ground::sqlite();
    let (engine, tenant) = ground.engine();
    let rights = || KeyRights { agent: Some("triage".to_owned()), ..KeyRights::for_role(Role::Agent) };
    for number in 0..150_u8 {
        saved(&engine, &agent(tenant), note(&format!("the pump number {number} leaks {}", "much ".repeat(60))));
        let new = NewKey { name: format!("key {number}"), rights: rights(), expires_at: None };
        engine.create_key(&Caller::admin(tenant), new, [number; 32]).expect("a key");
    }
    engine.database().flush().expect("written");
    let before = shown(&engine, tenant);
    drop(engine);
    let whole = std::fs::read(ground.file()).expect("reads");
    let marks: [&[u8]; 4] = [b"the pump number", b"agent_draft", b"\"role\":\"agent\"", b"much much"];
    let (mut changed, mut unnoticed) = (0, Vec::new());
    for (page, bytes) in whole.chunks(PAGE).enumerate().skip(1) {
        let find = |mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark);
        let Some(at) = marks.iter().cycle().skip(page).take(marks.len()).find_map(|mark| find(mark)) else { continue };
        let mut damaged = whole.clone();
        damaged[page * PAGE + at + 5] ^= 1;
        std::fs::write(ground.file(), damaged).expect("writes");
        let Ok(backend) = open_sqlite(&Location::File(ground.file()), &SqliteOptions::default()) else { continue };
        let (engine, tenant) = engine_on(backend);
        let is_noticed = match engine.verify(&Caller::admin(tenant)) {
            Ok(verified) => !verified.is_intact(),
            Err(_) => true,
        };
        let is_noticed = is_noticed || engine.database().check_integrity(true).is_ok_and(|damage| !damage.is_empty());
        if shown(&engine, tenant) != before {
            changed += 1;
        }
        if !is_noticed {
            unnoticed.push(page);
        }
        drop(engine);
        for name in ["ingrain.db-wal", "ingrain.db-shm"] {
            let _ = std::fs::remove_file(ground.file().with_file_name(name));
        }
    }
    assert!(changed >= 60, "only {changed} pages changed what is shown");
    assert_eq!(unnoticed, Vec::<usize>::new());
}
