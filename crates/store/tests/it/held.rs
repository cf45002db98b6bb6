//! A file that another process holds.

use std::sync::Arc;

use engine::ports::Filter;
use engine::ports::change::Write;
use store::{Location, SqliteOptions, open_sqlite};

use crate::file::folder;
use crate::world::*;

#[test]
fn a_file_somebody_else_holds_is_named() {
    let (_folder, path) = folder();
    let options = SqliteOptions { wait_max: std::time::Duration::from_millis(1), ..SqliteOptions::default() };
    let backend = open_sqlite(&Location::File(path.clone()), &options).unwrap();
    let world = World::new(&*backend);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let change = || world.change().with_write(Write::CountRunSave { run: "r1".to_owned() });
    let (tell, told) = std::sync::mpsc::channel();
    backend.submit(Arc::new(change().scanned()), Box::new(move |outcome| tell.send(outcome).unwrap()));
    for error in [told.recv().unwrap().unwrap_err(), backend.commit(change().scanned()).unwrap_err()] {
        let named = format!("{error:?}").contains(&path.display().to_string());
        assert_eq!((error.code(), named), ("store.busy", true), "{error:?}");
    }
}

#[test]
fn who_waits_behind_a_held_file_hears_of_it_with_the_first() {
    let (_folder, path) = folder();
    let options = SqliteOptions { wait_max: std::time::Duration::from_millis(300), ..SqliteOptions::default() };
    let backend = open_sqlite(&Location::File(path.clone()), &options).unwrap();
    let world = World::new(&*backend);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let save = |path: &str| world.change().with_write(Write::Entry(Box::new(world.entry("c1", at_path(path, path)))));
    // More than two groups, so that most of them wait behind the first. Built beforehand: all must be queued before the
    // first one gives up.
    let changes: Vec<_> = (0..600).map(|number| Arc::new(save(&format!("p/{number}")).scanned())).collect();
    backend.commit_later(save("later").scanned());
    let (tell, told) = std::sync::mpsc::channel();
    for change in changes {
        let tell = tell.clone();
        backend.submit(change, Box::new(move |outcome| drop(tell.send(outcome))));
    }
    drop(tell);
    let first = told.recv().unwrap();
    other.execute_batch("rollback").unwrap();
    let codes: Vec<_> = std::iter::once(first).chain(told).map(|outcome| outcome.unwrap_err().code()).collect();
    assert_eq!((codes.len(), codes.iter().all(|code| *code == "store.busy")), (600, true));
    backend.flush().unwrap();
    let paths: Vec<_> = world.list(&Filter::default()).into_iter().filter_map(|memory| memory.path).collect();
    assert_eq!(paths, ["later"], "what nobody waits for is kept, and what was told to fail is not written");
}

#[test]
fn what_reads_leave_behind_waits_for_nobody() {
    const READS: u32 = 5_000;
    let (_folder, path) = folder();
    let options = SqliteOptions { wait_max: std::time::Duration::from_secs(20), ..SqliteOptions::default() };
    let backend = open_sqlite(&Location::File(path.clone()), &options).unwrap();
    let world = World::new(&*backend);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let save = || world.change().with_write(Write::CountRunSave { run: "r1".to_owned() });
    (0..READS).for_each(|_| backend.commit_later(save().scanned()));
    // Nor does who brings a change and has other things to do.
    let (tell, told) = std::sync::mpsc::channel();
    backend.submit(Arc::new(save().scanned()), Box::new(move |outcome| tell.send(outcome).unwrap()));
    // Released only now: if one of the calls above had waited, it would have failed.
    other.execute_batch("rollback").unwrap();
    told.recv().unwrap().unwrap();
    backend.flush().unwrap();
}
