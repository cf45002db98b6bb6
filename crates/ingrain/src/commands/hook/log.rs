//! The log of the hooks: one line a call, in a file of the home that only its owner reads. It never holds content.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::Failure;
use crate::output::Output;

/// Size from which the file is put aside; the one put aside before is dropped. Some 2,000 calls.
const LOG_BYTES_MAX: u64 = 256 * 1024;

/// What a hook did, in codes and counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub status: &'static str,
    /// Why nothing or not everything was done.
    pub code: Option<&'static str>,
    /// What the client is told. Not logged.
    pub text: Option<String>,
    pub memories: usize,
    pub tokens: usize,
    /// Turns kept.
    pub kept: usize,
    /// Turns that the scanner or the policy refused.
    pub refused: usize,
    /// Turns beyond the most that one hook keeps.
    pub left_out: usize,
}

impl Outcome {
    pub fn failed(code: &'static str) -> Outcome {
        Outcome { status: "failed", code: Some(code), ..Outcome::default() }
    }

    pub fn nothing(code: &'static str) -> Outcome {
        Outcome { status: "nothing", code: Some(code), ..Outcome::default() }
    }

    /// Switched off in the settings.
    pub fn off() -> Outcome {
        Outcome { status: "off", ..Outcome::default() }
    }
}

/// One line of the log.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LogEntry {
    at: Option<Timestamp>,
    client: String,
    event: String,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    memories: usize,
    tokens: usize,
    kept: usize,
    refused: usize,
    left_out: usize,
    ms: u64,
}

impl LogEntry {
    pub fn new(client: &str, event: &str) -> LogEntry {
        LogEntry { client: client.to_owned(), event: event.to_owned(), ..LogEntry::default() }
    }

    pub fn ended(&self, outcome: &Outcome, taken: Duration) -> LogEntry {
        LogEntry {
            status: outcome.status.to_owned(),
            code: outcome.code.map(str::to_owned),
            memories: outcome.memories,
            tokens: outcome.tokens,
            kept: outcome.kept,
            refused: outcome.refused,
            left_out: outcome.left_out,
            ms: taken.as_millis() as u64,
            ..self.clone()
        }
    }

    /// What it did, in words.
    fn describe(&self) -> String {
        let mut parts = Vec::new();
        let mut add = |number: usize, what: &str| {
            if number > 0 {
                parts.push(format!("{number} {what}"));
            }
        };
        add(self.memories, "memories");
        add(self.tokens, "tokens");
        add(self.kept, "turns kept");
        add(self.refused, "refused");
        add(self.left_out, "left out");
        parts.extend(self.code.as_ref().map(|code| format!("[{code}]")));
        parts.join(", ")
    }
}

/// The log file of a home.
#[derive(Clone)]
pub struct HookLog {
    file: PathBuf,
}

impl HookLog {
    pub fn in_home(home: &Path) -> HookLog {
        HookLog { file: home.join("hooks/log.jsonl") }
    }

    /// Adds a line. A home that cannot be written gets none: the hook has nobody to tell.
    pub fn append(&self, entry: &LogEntry) {
        // The real time, also where the database's clock is fixed for a replay.
        #[expect(clippy::disallowed_methods, reason = "a log line tells when it was written")]
        let entry = LogEntry { at: Some(Timestamp::now()), ..entry.clone() };
        let Ok(line) = serde_json::to_string(&entry) else { return };
        let _ = self.append_line(&format!("{line}\n"));
    }

    fn append_line(&self, line: &str) -> std::io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        if std::fs::metadata(&self.file).is_ok_and(|file| file.len() >= LOG_BYTES_MAX) {
            // Of two hooks at once the second finds a short file or none: at worst one of the two files is empty.
            let _ = std::fs::rename(&self.file, self.put_aside());
        }
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.file)?;
        // One write: lines of hooks that run at once do not mix.
        file.write_all(line.as_bytes())
    }

    fn put_aside(&self) -> PathBuf {
        self.file.with_extension("old.jsonl")
    }

    /// The last lines, oldest first. A line that was cut by a full disk is left out.
    fn read(&self, count: usize) -> Vec<LogEntry> {
        let texts = [self.put_aside(), self.file.clone()].map(|file| std::fs::read_to_string(file).unwrap_or_default());
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
        let parsed = lines.iter().rev().filter_map(|line| serde_json::from_str(line).ok());
        let mut entries: Vec<LogEntry> = parsed.take(count).collect();
        entries.reverse();
        entries
    }
}

#[derive(Debug, Args)]
pub struct LogArgs {
    /// Number of calls to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

impl LogArgs {
    pub fn run(&self, home: &Path, output: &Output) -> Result<(), Failure> {
        let entries = HookLog::in_home(home).read(self.limit);
        let row = |entry: &LogEntry| {
            let at = entry.at.map(|at| at.strftime("%F %T").to_string()).unwrap_or_default();
            let ms = entry.ms.to_string();
            vec![at, entry.client.clone(), entry.event.clone(), entry.status.clone(), ms, entry.describe()]
        };
        output.print_answer(&json!({ "hooks": entries }), || match entries.is_empty() {
            true => "no hook was called yet; `ingrain connect` installs them".to_owned(),
            false => output.render_table(&["at", "client", "event", "status", "ms", "what"], entries.iter().map(row)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_log_is_private_bounded_and_read_in_order() {
        let home = tempfile::tempdir().expect("a folder");
        let log = HookLog::in_home(home.path());
        for number in 0..6_000 {
            let outcome = Outcome { status: "kept", kept: number, ..Outcome::default() };
            log.append(&LogEntry::new("codex", "stop").ended(&outcome, Duration::from_millis(7)));
        }
        for file in [log.file.clone(), log.put_aside()] {
            let metadata = std::fs::metadata(&file).expect("a file");
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
            assert!(metadata.len() < LOG_BYTES_MAX + 1_000, "{}", metadata.len());
        }
        log.append_line("{\"at\": broken\n").expect("written");
        let last: Vec<usize> = log.read(3).iter().map(|entry| entry.kept).collect();
        assert_eq!(last, [5_997, 5_998, 5_999]);
    }
}
