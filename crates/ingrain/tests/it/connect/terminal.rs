//! A person at a terminal is asked before anything is written.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::machine::Machine;

/// Runs a command on a terminal of its own; the exit code and everything it showed.
pub fn at_a_terminal(mut command: Command, typed: &str) -> (Option<i32>, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("a name");
    let theirs: OwnedFd = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("opens");
    let stream = || Stdio::from(theirs.try_clone().expect("a copy"));
    let mut child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().expect("the binary starts");
    // The command holds copies of the terminal's side, too.
    drop((theirs, command));
    let mut terminal = File::from(ours);
    // The line waits in the terminal until it is read.
    terminal.write_all(typed.as_bytes()).expect("typed");
    let mut shown = Vec::new();
    // Reading fails when the last process has closed its side.
    let mut part = [0; 4096];
    while let Ok(length @ 1..) = terminal.read(&mut part) {
        shown.extend_from_slice(&part[..length]);
    }
    (child.wait().expect("it ends").code(), String::from_utf8_lossy(&shown).into_owned())
}

#[test]
fn connect_asks_in_a_terminal_and_takes_no_for_an_answer() {
    let machine = Machine::new();
    machine.put(".cursor/mcp.json", "{}\n");
    let before = machine.snapshot();
    let (exit, shown) = at_a_terminal(machine.command("connect cursor"), "n\n");
    assert!(exit == Some(0) && shown.contains("\"ingrain\": {") && shown.contains("[Y/n]"), "{shown}");
    assert_eq!(machine.snapshot(), before);
    let (exit, shown) = at_a_terminal(machine.command("connect cursor"), "\n");
    assert!(exit == Some(0) && shown.contains("next:"), "{shown}");
    assert_ne!(machine.snapshot(), before);
    at_a_terminal(machine.command("disconnect"), "y\n");
    assert_eq!(machine.snapshot(), before);
    let (_, shown) = at_a_terminal(machine.command("connect cursor --yes"), "");
    assert!(!shown.contains("[Y/n]"), "{shown}");
}

#[test]
fn init_offers_to_connect_in_a_terminal() {
    let machine = Machine::new();
    machine.install("claude");
    let (exit, shown) = at_a_terminal(machine.command("init"), "n\n");
    assert!(exit == Some(0) && shown.contains("connect Claude Code? [Y/n]") && shown.contains("next:"), "{shown}");
    assert!(!machine.home().join(".claude.json").exists());
    // Twice: once to connect, once for the change that is shown.
    let (exit, shown) = at_a_terminal(machine.command("init"), "y\ny\n");
    assert!(exit == Some(0) && machine.home().join(".claude.json").exists(), "{shown}");
}
