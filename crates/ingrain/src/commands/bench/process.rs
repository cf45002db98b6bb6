//! This same binary as another process: what a door costs is measured from outside.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::measure::peak_memory_bytes;
use crate::commands::temp_home::TempHome;
use crate::error::Failure;

/// Ticks of the processor clock in `/proc`: what Linux tells every program, whatever its own clock does.
const TICKS_PER_SECOND: u64 = 100;

/// Where `/proc/PID/stat` counts the process's own time, and that of the children it waited for; each in and out of the system.
const OWN_TICKS: usize = 11;
const CHILDREN_TICKS: usize = 13;

fn read_cpu_time(process: &str, field: usize) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of a program may hold spaces; what follows its bracket does not.
    let mut fields = text.rsplit_once(") ")?.1.split(' ').skip(field);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// CPU time of all processes that were started here and have ended.
pub fn children_cpu_time() -> Option<Duration> {
    read_cpu_time("self", CHILDREN_TICKS)
}

pub struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts `ingrain` with these words on the database in this place.
    pub fn start(place: &TempHome, words: &[&str]) -> Result<Process, Failure> {
        let program = std::env::current_exe().map_err(process_failure)?;
        let mut command = Command::new(program);
        command.args(words).env_clear().env("INGRAIN_HOME", place.path()).env("USER", "bench");
        // One principal makes all the calls here; how often it may is not what is measured.
        for limit in ["RATE_PER_SECOND", "RATE_BURST"] {
            command.env(format!("INGRAIN_SERVER_LIMITS_{limit}"), "1000000");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(process_failure)?;
        let stdout = child.stdout.take().ok_or_else(|| process_failure("it has no output"))?;
        Ok(Process { child, stdout: BufReader::new(stdout) })
    }

    /// The next JSON value it says, over one line or several.
    pub fn read_json(&mut self) -> Result<Value, Failure> {
        let mut text = String::new();
        loop {
            if self.stdout.read_line(&mut text).map_err(process_failure)? == 0 {
                return Err(process_failure("it ended early"));
            }
            if let Ok(value) = serde_json::from_str(&text) {
                return Ok(value);
            }
        }
    }

    pub fn write_line(&mut self, line: &Value) -> Result<(), Failure> {
        let stdin = self.child.stdin.as_mut().ok_or_else(|| process_failure("it listens no more"))?;
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).map_err(process_failure)
    }

    /// CPU time of all its threads so far.
    pub fn cpu_time(&self) -> Result<Duration, Failure> {
        read_cpu_time(&self.child.id().to_string(), OWN_TICKS)
            .ok_or_else(|| process_failure("the system does not tell its CPU time"))
    }

    /// The most memory it ever held.
    pub fn peak_memory_bytes(&self) -> u64 {
        peak_memory_bytes(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn process_failure(error: impl std::fmt::Display) -> Failure {
    Failure::system_error("bench.process", error.to_string())
}
