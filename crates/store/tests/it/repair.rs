//! `repair` writes anew what is derived from versions, and nothing else.

use engine::model::caller::Caller;
use engine::model::id::TenantId;
use engine::model::memory::{Draft, Memory};
use engine::model::vocabulary::{Kind, State, Trust};
use engine::{Engine, FindingCode, MemoryReference, SearchQuery};

use crate::verify::{Ground, agent, assert_intact, fill, note, saved, verify};

/// A change behind the program's back: statements for SQLite and Postgres, and what the verification must say.
struct Tampering {
    what: &'static str,
    sqlite: &'static [&'static str],
    /// Empty: the same.
    postgres: &'static [&'static str],
    code: FindingCode,
}

const TAMPERINGS: &[Tampering] = &[
    Tampering {
        what: "trust raised",
        sqlite: &[
            "update memories set trust = 'admin_approved' where trust = 'agent_draft'",
            "update recall set trust = 'admin_approved' where trust = 'agent_draft'",
        ],
        postgres: &[],
        code: FindingCode::LiveRowDiffers,
    },
    Tampering {
        what: "forgotten memory active again",
        sqlite: &["update memories set state = 'active' where state = 'tombstoned'"],
        postgres: &[],
        code: FindingCode::LiveRowDiffers,
    },
    Tampering {
        what: "paths exchanged",
        sqlite: &[
            "update memories set path = 'x' where path = 'gateway/reload'",
            "update memories set path = 'gateway/reload' where path = 'crane/paint'",
            "update memories set path = 'crane/paint' where path = 'x'",
        ],
        postgres: &[],
        code: FindingCode::LiveRowDiffers,
    },
    Tampering {
        what: "row set back to an older version",
        sqlite: &["update memories set number = 1 where path = 'gateway/reload'"],
        postgres: &[],
        code: FindingCode::LiveRowDiffers,
    },
    Tampering {
        what: "live row removed",
        sqlite: &["delete from memories where path = 'crane/paint'"],
        postgres: &[],
        code: FindingCode::Missing,
    },
    Tampering {
        what: "tags changed",
        sqlite: &["update memories set tags = '[\"planted\"]' where path = 'crane/paint'"],
        postgres: &["update tags set tag = 'planted'"],
        code: FindingCode::LiveRowDiffers,
    },
    Tampering {
        what: "words changed",
        sqlite: &["update recall set words = (
                     select r.words from recall r join memories m on m.recall_seq = r.seq
                     where m.path = 'gateway/reload')
                   where seq = (select recall_seq from memories where path = 'crane/paint')"],
        postgres: &["update recall r set once = o.once, often = o.often, times = o.times, len = o.len
                     from recall o, memories a, memories b
                     where a.path = 'crane/paint' and b.path = 'gateway/reload' and r.memory = a.id
                       and o.memory = b.id"],
        code: FindingCode::IndexDiffers,
    },
    Tampering {
        what: "index row removed",
        sqlite: &["delete from recall where seq = (select recall_seq from memories where path = 'crane/paint')"],
        postgres: &["delete from recall where memory = (select id from memories where path = 'crane/paint')"],
        code: FindingCode::IndexDiffers,
    },
    Tampering {
        what: "place renamed",
        sqlite: &["update scopes set store = 'lessons' where store = 'workspace_runbooks'"],
        postgres: &[],
        code: FindingCode::LiveRowDiffers,
    },
    Tampering {
        what: "counters changed",
        sqlite: &["update scopes set live = live + 7"],
        postgres: &[],
        code: FindingCode::CountersDiffer,
    },
    Tampering {
        what: "length of a place changed, newest row of the index set back",
        sqlite: &["update scopes set recall_seq = 0"],
        postgres: &["update scopes set live_len = live_len + 7"],
        code: FindingCode::CountersDiffer,
    },
];

fn fill_tagged(engine: &Engine, tenant: TenantId) {
    fill(engine, tenant);
    let crane = Draft {
        store: "workspace_runbooks".to_owned(),
        path: Some("crane/paint".to_owned()),
        kind: Some(Kind::Runbook),
        tags: Some(vec!["harbour".to_owned()]),
        ..note("paint the crane with zincphosphate first")
    };
    saved(engine, &Caller::admin(tenant), crane);
    engine.database().flush().expect("written");
}

fn read(engine: &Engine, tenant: TenantId, path: &str) -> Memory {
    let reference = MemoryReference::Path { store: None, path: path.to_owned() };
    engine.read(&Caller::admin(tenant), &reference).expect("reads")
}

fn found_by(engine: &Engine, tenant: TenantId, words: &str) -> Vec<Memory> {
    let query = SearchQuery { text: words.to_owned(), ..SearchQuery::default() };
    let found = engine.search(&Caller::admin(tenant), &query).expect("answers");
    found.hits.into_iter().map(|hit| hit.memory).collect()
}

/// What callers see of what [`fill_tagged`] wrote.
#[track_caller]
fn assert_as_written(engine: &Engine, tenant: TenantId, what: &str) {
    let crane = read(engine, tenant, "crane/paint");
    assert_eq!((crane.tags, crane.state), (vec!["harbour".to_owned()], State::Active), "{what}");
    assert_eq!(read(engine, tenant, "gateway/reload").content, "reload the gateway by restarting it", "{what}");
    let paths: Vec<_> = found_by(engine, tenant, "zincphosphate").into_iter().map(|memory| memory.path).collect();
    assert_eq!(paths, [Some("crane/paint".to_owned())], "{what}");
    let drains = found_by(engine, tenant, "drains ninety seconds");
    assert_eq!(drains.first().map(|memory| memory.trust), Some(Trust::AgentDraft), "{what}");
    assert!(found_by(engine, tenant, "harbour crane").iter().all(|memory| !memory.content.starts_with("forget")));
}

fn derived_rows_are_rebuilt_from_versions(ground: impl Fn() -> Ground) {
    for Tampering { what, sqlite, postgres, code } in TAMPERINGS {
        let ground = ground();
        let (engine, tenant) = ground.engine();
        fill_tagged(&engine, tenant);
        assert_intact(&engine, tenant);
        assert_as_written(&engine, tenant, what);
        // Another process, with its index in memory.
        let statements = if matches!(ground, Ground::Postgres(_)) && !postgres.is_empty() { postgres } else { sqlite };
        statements.iter().for_each(|sql| assert!(ground.tamper(sql) > 0, "{what}: nothing was changed"));
        let (operator, _) = ground.engine();
        let admin = Caller::admin(tenant);
        let found = verify(&operator, tenant);
        assert!(found.findings.iter().any(|finding| finding.code == *code), "{what}: {found:#?}");
        let entries = found.entries;
        let planned = operator.repair(&admin, true).expect("looks");
        assert!(planned.dry_run && planned.after.is_none() && planned.memories + planned.places > 0, "{what}");
        assert_eq!(planned.findings, found.findings, "{what}");
        assert_eq!(verify(&operator, tenant).findings, found.findings, "{what}: nothing is written");
        let repair = operator.repair(&admin, false).expect("repairs");
        assert!(repair.after.as_ref().is_some_and(engine::Verification::is_intact), "{what}: {repair:#?}");
        assert_eq!((repair.memories, repair.places), (planned.memories, planned.places), "{what}");
        assert_intact(&operator, tenant);
        assert_as_written(&operator, tenant, what);
        assert_as_written(&engine, tenant, what);
        let events = engine.event_feed().events_after(tenant, entries, 100).expect("reads");
        assert!(events.iter().any(|event| event.happening.name.as_str() == "log.repaired"), "{what}");
        // Saves go on.
        saved(&engine, &agent(tenant), note("the crane is dry after a day"));
        saved(&operator, &agent(tenant), note("the crane is wet after rain"));
        assert_intact(&engine, tenant);
        let nothing = operator.repair(&admin, false).expect("repairs");
        assert_eq!((nothing.memories, nothing.places, nothing.after), (0, 0, None), "{what}");
    }
}

#[test]
fn derived_rows_are_rebuilt_from_versions_on_sqlite() {
    derived_rows_are_rebuilt_from_versions(Ground::sqlite);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn derived_rows_are_rebuilt_from_versions_on_postgres() {
    derived_rows_are_rebuilt_from_versions(Ground::postgres);
}

fn nothing_is_rebuilt_from_damaged_versions(ground: impl Fn() -> Ground) {
    for (sql, named) in [
        ("update versions set content = 'rm -rf' where content like 'reload%signal'", "gateway/reload"),
        ("delete from versions where number = 2 and content like 'reload%'", "version 2"),
        ("update events set name = 'memory.search' where seq = 4", "entry 4"),
    ] {
        let ground = ground();
        let (engine, tenant) = ground.engine();
        fill_tagged(&engine, tenant);
        drop(engine);
        assert!(ground.tamper("update memories set trust = 'admin_approved'") > 0);
        assert_eq!(ground.tamper(sql), 1, "{sql}");
        let (engine, tenant) = ground.engine();
        for dry_run in [true, false] {
            let refused = engine.repair(&Caller::admin(tenant), dry_run).expect_err("refuses");
            assert_eq!(refused.code(), "conflict.unrepairable");
            assert!(refused.to_string().contains(named), "{refused}");
        }
        assert_eq!(engine.repair(&agent(tenant), false).expect_err("admins only").code(), "policy.admins_only");
    }
}

#[test]
fn nothing_is_rebuilt_from_damaged_versions_on_sqlite() {
    nothing_is_rebuilt_from_damaged_versions(Ground::sqlite);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn nothing_is_rebuilt_from_damaged_versions_on_postgres() {
    nothing_is_rebuilt_from_damaged_versions(Ground::postgres);
}

/// A damaged record stays, and is said; what memories need is rebuilt all the same.
#[test]
fn damaged_records_do_not_keep_memories_from_being_rebuilt() {
    let ground = Ground::sqlite();
    let (engine, tenant) = ground.engine();
    fill_tagged(&engine, tenant);
    drop(engine);
    assert!(ground.tamper("delete from bans") > 0);
    assert!(ground.tamper("update memories set trust = 'admin_approved' where trust = 'agent_draft'") > 0);
    let (engine, tenant) = ground.engine();
    let repair = engine.repair(&Caller::admin(tenant), false).expect("repairs");
    let left = repair.after.expect("verified").findings;
    assert!(!left.is_empty() && left.iter().all(|finding| finding.kind == "bans"), "{left:#?}");
    assert_as_written(&engine, tenant, "bans");
}
