//! Runs this binary as a child process, to measure an interface from outside.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::measure::peak_memory_bytes;
use crate::commands::temp_home::TempHome;
use crate::error::Failure;

/// Unit of CPU times in `/proc` (USER_HZ); 100 on all Linux systems.
const TICKS_PER_SECOND: u64 = 100;

/// Fields of `/proc/PID/stat` after the program name: utime and stime of the process, cutime and cstime of its ended
/// children.
const OWN_TICKS: usize = 11;
const CHILDREN_TICKS: usize = 13;

fn read_cpu_time(process: &str, field: usize) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program name in brackets may contain spaces; the fields after it do not.
    let mut fields = text.rsplit_once(") ")?.1.split(' ').skip(field);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// CPU time of all ended child processes.
pub fn children_cpu_time() -> Option<Duration> {
    read_cpu_time("self", CHILDREN_TICKS)
}

/// Child process, killed on drop.
pub struct Process {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    /// Starts `ingrain` with these arguments and this home.
    pub fn start(place: &TempHome, words: &[&str]) -> Result<Process, Failure> {
        let program = std::env::current_exe().map_err(process_failure)?;
        let mut command = Command::new(program);
        // Without the variables of this shell, which could configure another database.
        command.args(words).env_clear().env("INGRAIN_HOME", place.path()).env("USER", "bench");
        // All calls come from one principal; its rate limit must not affect the measurement.
        for limit in ["RATE_PER_SECOND", "RATE_BURST"] {
            command.env(format!("INGRAIN_SERVER_LIMITS_{limit}"), "1000000");
        }
        // stderr is dropped, because a full pipe that nobody reads would block the child.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(process_failure)?;
        let stdout = child.stdout.take().ok_or_else(|| process_failure("the process has no stdout"))?;
        Ok(Process { child, stdout: BufReader::new(stdout) })
    }

    /// Next JSON value on its stdout, on one or several lines.
    pub fn read_json(&mut self) -> Result<Value, Failure> {
        let mut text = String::new();
        loop {
            if self.stdout.read_line(&mut text).map_err(process_failure)? == 0 {
                return Err(process_failure("the process ended early"));
            }
            if let Ok(value) = serde_json::from_str(&text) {
                return Ok(value);
            }
        }
    }

    pub fn write_line(&mut self, line: &Value) -> Result<(), Failure> {
        let stdin = self.child.stdin.as_mut().ok_or_else(|| process_failure("the process closed its stdin"))?;
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).map_err(process_failure)
    }

    /// CPU time of all its threads.
    pub fn cpu_time(&self) -> Result<Duration, Failure> {
        read_cpu_time(&self.child.id().to_string(), OWN_TICKS)
            .ok_or_else(|| process_failure("its CPU time cannot be read from `/proc`"))
    }

    /// Its peak resident memory.
    pub fn peak_memory_bytes(&self) -> u64 {
        peak_memory_bytes(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself. `wait` reaps it, and only then does its CPU time count for `children_cpu_time`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn process_failure(error: impl std::fmt::Display) -> Failure {
    Failure::system_error("bench.process", error.to_string())
}
