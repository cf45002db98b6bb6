//! One user's machine: a home that goes away, a clock that stands still, and the binary.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::postgres::{self, APP, Database};

/// Where the tests' time begins.
pub const START: &str = "2026-03-01T12:00:00Z";

/// A machine with nothing on it yet.
pub struct World {
    home: TempDir,
    /// A database of a server; without one it is a file at home.
    server: Option<Database>,
    now: RefCell<String>,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    /// On the backend this run is about: SQLite, or Postgres with `INGRAIN_TEST_BACKEND=postgres`.
    pub fn new() -> World {
        match std::env::var_os("INGRAIN_TEST_BACKEND").is_some_and(|value| value == "postgres") {
            true => World::on_server(Database::fresh(&postgres::server())),
            false => World::on_file(),
        }
    }

    /// On SQLite in any run: what only a file can be asked.
    pub fn on_file() -> World {
        World::on(None)
    }

    pub fn on_server(database: Database) -> World {
        World::on(Some(database))
    }

    fn on(server: Option<Database>) -> World {
        let home = tempfile::tempdir().expect("a temporary directory");
        World { home, server, now: RefCell::new(START.to_owned()) }
    }

    pub fn with_config(text: &str) -> World {
        World::new().configured(text)
    }

    pub fn configured(self, text: &str) -> World {
        std::fs::write(self.home().join("config.toml"), text).expect("config.toml is written");
        self
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn server(&self) -> Option<&Database> {
        self.server.as_ref()
    }

    pub fn into_server(self) -> Option<Database> {
        self.server
    }

    pub fn database(&self) -> std::path::PathBuf {
        self.home().join("ingrain.db")
    }

    /// Moves the clock.
    pub fn at(&self, now: &str) -> &World {
        *self.now.borrow_mut() = now.to_owned();
        self
    }

    /// The time its clock shows.
    pub fn clock(&self) -> String {
        self.now.borrow().clone()
    }

    /// The binary with this world's home and clock, and nothing else of the outside.
    pub fn command(&self, line: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ingrain"));
        command
            .env_clear()
            .env("INGRAIN_HOME", self.home())
            .env("INGRAIN_NOW", &*self.now.borrow())
            .env("USER", "ann")
            // No program of this machine, only those a test puts there.
            .env("PATH", self.home().join("bin"))
            .envs(self.server.as_ref().map(|database| ("INGRAIN_DB", database.url(APP))))
            .args(line.split_whitespace())
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, line: &str, more: &[&str]) -> Ran {
        finished(self.command(line, more).spawn().expect("the binary starts"))
    }

    /// With bytes on stdin.
    pub fn piped(&self, line: &str, input: &[u8]) -> Ran {
        let mut child = self.command(line, &[]).stdin(Stdio::piped()).spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::thread::scope(|scope| {
            // From another thread, or both sides could wait for each other on a long input.
            scope.spawn(move || stdin.write_all(input));
            finished(child)
        })
    }

    /// What a program gets: the JSON of a command that worked.
    pub fn json(&self, line: &str, more: &[&str]) -> Value {
        let ran = self.run(&format!("--json {line}"), more);
        assert_eq!(ran.exit, 0, "{line} {more:?}: {ran:?}");
        ran.json()
    }

    /// The JSON of a command that ends with this exit code.
    pub fn fails(&self, exit: i32, line: &str, more: &[&str]) -> Value {
        let ran = self.run(&format!("--json {line}"), more);
        assert_eq!(ran.exit, exit, "{line} {more:?}: {ran:?}");
        ran.json()
    }

    /// The stable code of a command that ends with this exit code.
    pub fn code(&self, exit: i32, line: &str, more: &[&str]) -> String {
        text(&self.fails(exit, line, more)["code"])
    }

    /// The names of all events so far, as the admin sees them.
    pub fn events(&self) -> Vec<String> {
        let events = self.json("events --limit 1000", &[]);
        rows(&events["events"]).iter().map(|event| text(&event["name"])).collect()
    }

    /// Whether these bytes are anywhere in the home or in the database: its log, anything.
    pub fn holds(&self, needle: &str) -> bool {
        self.server.as_ref().is_some_and(|database| database.holds(needle)) || self.home_holds(needle)
    }

    fn home_holds(&self, needle: &str) -> bool {
        let files = std::fs::read_dir(self.home()).expect("the home is readable");
        files.flatten().any(|file| {
            let bytes = std::fs::read(file.path()).unwrap_or_default();
            bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        })
    }
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not one JSON value: {error}: {self:?}"))
    }
}

pub fn finished(child: std::process::Child) -> Ran {
    let output = child.wait_with_output().expect("the binary ends");
    Ran {
        exit: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

pub fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

/// One field of every row.
pub fn column(value: &Value, field: &str) -> Vec<String> {
    rows(value).iter().map(|row| row[field].as_str().unwrap_or_default().to_owned()).collect()
}
