//! A log that lost its end, or its digests, is intact in itself: the position outside the database tells.

use std::path::Path;
use std::sync::Arc;

use engine::model::caller::Caller;
use engine::{Engine, FindingCode};
use store::{Location, SqliteOptions, copy_database, open_sqlite};

use crate::verify::{Ground, agent, assert_intact, engine_on, fill, forget_digests, note, saved, verify};

fn copy_files(from: &Path, to: &Path, names: &[&str]) {
    for name in names {
        std::fs::copy(from.join(name), to.join(name)).expect("copies");
    }
}

/// Saves 50 notes; `before_them` runs between the first contents and these.
fn lose_fifty_saves(before_them: impl Fn(Engine, &Ground) -> Engine) -> tempfile::TempDir {
    let (ground, lost) = (Ground::sqlite(), tempfile::tempdir().expect("a folder"));
    let (engine, tenant) = ground.engine();
    let engine = before_them(engine, &ground);
    for number in 0..50 {
        saved(&engine, &agent(tenant), note(&format!("valve {number} is open")));
    }
    assert_intact(&engine, tenant);
    // As after a crash: with the program running, the saves are in the write-ahead log only.
    copy_files(ground.file().parent().expect("a folder"), lost.path(), &["ingrain.db", "ingrain.db-position"]);
    lost
}

fn open(folder: &Path) -> Arc<dyn engine::ports::Backend> {
    open_sqlite(&Location::File(folder.join("ingrain.db")), &SqliteOptions::default()).expect("opens")
}

#[test]
fn a_lost_write_ahead_log_is_named() {
    let lost = lose_fifty_saves(|engine, ground| {
        drop(engine);
        ground.engine().0
    });
    let (engine, tenant) = engine_on(open(lost.path()));
    let verified = verify(&engine, tenant);
    assert!(!verified.is_intact());
    let finding = &verified.findings[0];
    assert_eq!((finding.code, finding.kind.as_str()), (FindingCode::LogLost, "log"));
    assert!(finding.to_string().contains("the write-ahead log was lost"), "{finding}");
    // Later saves do not hide it, also where the log gets as long as it was.
    for number in 0..70 {
        saved(&engine, &agent(tenant), note(&format!("pump {number} leaks")));
    }
    drop(engine);
    let (engine, tenant) = engine_on(open(lost.path()));
    let verified = verify(&engine, tenant);
    assert!(verified.findings[0].to_string().contains("is not the one that was written"), "{verified:#?}");
    assert!(engine.adopt_uncovered(&Caller::admin(tenant)).is_err());
    assert!(engine.accept_restored(&agent(tenant)).is_err(), "for admins only");
    engine.accept_restored(&Caller::admin(tenant)).expect("accepts");
    assert_intact(&engine, tenant);
    saved(&engine, &agent(tenant), note("one more"));
    assert_intact(&engine, tenant);
}

/// Everything was in the write-ahead log, also the tenant: the program makes another one.
#[test]
fn a_database_that_lost_all_of_its_saves_is_named() {
    let lost = lose_fifty_saves(|engine, _| engine);
    // A file without tables is a new database.
    std::fs::write(lost.path().join("ingrain.db"), "").expect("empties");
    let (engine, tenant) = engine_on(open(lost.path()));
    let verified = verify(&engine, tenant);
    assert!(verified.findings[0].to_string().contains("is not in the database with its tenant"), "{verified:#?}");
    engine.accept_restored(&Caller::admin(tenant)).expect("accepts");
    assert_intact(&engine, tenant);
}

#[test]
fn an_older_file_put_back_is_named() {
    let ground = Ground::sqlite();
    let (engine, tenant) = ground.engine();
    fill(&engine, tenant);
    drop(engine);
    let before = std::fs::read(ground.file()).expect("reads");
    let (engine, _) = ground.engine();
    saved(&engine, &agent(tenant), note("the valve is open"));
    drop(engine);
    std::fs::write(ground.file(), before).expect("puts the old file back");
    let (engine, tenant) = ground.engine();
    assert_eq!(verify(&engine, tenant).findings[0].code, FindingCode::LogLost);
}

#[test]
fn programs_that_write_in_turns_and_copies_never_alarm() {
    let ground = Ground::sqlite();
    let engines = [ground.engine(), ground.engine()];
    for number in 0..20 {
        let (engine, tenant) = &engines[number % 2];
        saved(engine, &agent(*tenant), note(&format!("valve {number} is open")));
        engine.start_tenant(&format!("tenant{number}")).expect("a tenant");
        if number % 3 == 0 {
            engine.accept_restored(&Caller::admin(*tenant)).expect("accepts");
        }
        assert_intact(engine, *tenant);
    }
    drop(engines);
    for tenant in ground.open().list_tenants().expect("lists") {
        assert_intact(&ground.engine().0, tenant.id);
    }
    // A copy to where another database was.
    let copy = Ground::sqlite();
    let (engine, tenant) = copy.engine();
    fill(&engine, tenant);
    drop(engine);
    std::fs::remove_file(copy.file()).expect("removes");
    copy_database(&ground.location(), &copy.location(), &mut |_| {}).expect("copies");
    let (engine, tenant) = copy.engine();
    assert_intact(&engine, tenant);
}

#[test]
fn a_folder_or_file_that_cannot_be_written_fails_no_save() {
    let ground = Ground::sqlite();
    std::fs::create_dir(ground.file().with_file_name("ingrain.db-position")).expect("in the way");
    let (engine, tenant) = ground.engine();
    saved(&engine, &agent(tenant), note("the valve is open"));
}

fn a_log_without_digests_is_damage(ground: &Ground) {
    let (engine, tenant) = ground.engine();
    fill(&engine, tenant);
    drop(engine);
    forget_digests(ground, tenant);
    let (engine, _) = ground.engine();
    let broken = verify(&engine, tenant).broken.expect("broken");
    assert_eq!(broken.seq, 1);
    assert!(broken.reason.contains("it has no digests"), "{broken:?}");
}

#[test]
fn a_log_without_digests_is_damage_on_sqlite() {
    let ground = Ground::sqlite();
    a_log_without_digests_is_damage(&ground);
    // With the mark in the database changed too, the position outside it tells.
    assert_eq!(ground.tamper("update heads set covered_from = event_seq + 1"), 1);
    let (engine, tenant) = ground.engine();
    let verified = verify(&engine, tenant);
    assert!(verified.findings.iter().any(|finding| finding.reason.contains("it was rewritten")), "{verified:#?}");
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_log_without_digests_is_damage_on_postgres() {
    a_log_without_digests_is_damage(&Ground::postgres());
}
