//! `scan`: the scanner on any text, without a database. `allow_list` and `rescan` hold the parts that need one.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use engine::safety::{self, Finding, ScanVerdict, Severity, Strictness};
use engine::text::digest::content_sha256;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::commands::allow_list::AllowlistCommand;
use crate::commands::{Job, rescan};
use crate::error::Failure;
use crate::output::{Output, Tone, map_write_error};
use crate::text_io::{escape_controls, read_stdin, read_text_file};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ScanArgs {
    #[command(subcommand)]
    command: Option<AllowlistCommand>,
    /// Files to scan; `-` reads stdin
    #[arg(value_name = "FILE", required_unless_present_any = ["jsonl", "all"])]
    files: Vec<PathBuf>,
    /// JSON Lines file: scan the `text` of each line and print one result per line; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    jsonl: Option<PathBuf>,
    /// Scan all stored memories with the current rules (admins only)
    #[arg(long, conflicts_with_all = ["files", "jsonl", "scope"])]
    all: bool,
    /// With --all: propose to redact each memory that would be refused
    #[arg(long, requires = "all", conflicts_with_all = ["files", "jsonl"])]
    propose: bool,
    /// Let values pass that `scan allow` allows in this tenant; needs the database
    #[arg(long, conflicts_with = "all")]
    allowed: bool,
    /// Strictness of the verdict
    #[arg(long, value_enum, default_value_t = ScanScope::Strict)]
    scope: ScanScope,
}

/// Scanning function: the rules alone, or the rules with the tenant's allow list.
type Inspector<'a> = dyn Fn(&str) -> Result<Vec<Finding>, Failure> + 'a;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScanScope {
    /// As for a save in a workspace store: planted instructions are blocked
    Strict,
    /// As for a save in a conversation: planted instructions are flagged
    Conversation,
}

#[derive(Serialize)]
struct FindingView {
    rule: &'static str,
    severity: Severity,
    start: usize,
    end: usize,
    /// SHA-256 of the exact text found, for `scan allow --digest`.
    sha256: String,
}

#[derive(Serialize)]
struct ScanResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    verdict: &'static str,
    findings: Vec<FindingView>,
}

/// One line of a JSON Lines file.
#[derive(Deserialize)]
struct JsonLine {
    #[serde(default)]
    id: Option<Value>,
    text: String,
}

impl ScanArgs {
    /// Whether this call reads the database.
    pub fn needs_database(&self) -> bool {
        self.command.is_some() || self.all || self.allowed
    }

    pub fn run_on_database(self, job: &Job<'_>) -> Result<(), Failure> {
        match self.command {
            Some(command) => command.run(job),
            None if self.all => rescan::run(job, self.propose),
            None => self.scan_inputs(job.output, &|text| Ok(job.session.engine.scan(&job.session.caller, text)?)),
        }
    }

    /// Scans with the rules alone, without a database.
    pub fn run(self, output: &Output) -> Result<(), Failure> {
        self.scan_inputs(output, &|text| Ok(safety::inspect(text)))
    }

    fn scan_inputs(self, output: &Output, inspect: &Inspector<'_>) -> Result<(), Failure> {
        match &self.jsonl {
            Some(file) => self.scan_lines(file, inspect),
            None => self.scan_files(output, inspect),
        }
    }

    fn judge_text(&self, text: &str, inspect: &Inspector<'_>) -> Result<(&'static str, Vec<FindingView>), Failure> {
        let findings = inspect(text)?;
        let strictness = match self.scope {
            ScanScope::Strict => Strictness::Strict,
            ScanScope::Conversation => Strictness::Conversation,
        };
        let verdict = match safety::decide_verdict(&findings, strictness) {
            ScanVerdict::Clean => "clean",
            ScanVerdict::Flagged => "flagged",
            ScanVerdict::Blocked => "blocked",
        };
        let view = |f: &Finding| FindingView {
            rule: f.rule,
            severity: f.severity,
            start: f.start,
            end: f.end,
            sha256: content_sha256(text.get(f.start..f.end).unwrap_or_default()),
        };
        Ok((verdict, findings.iter().map(view).collect()))
    }

    fn scan_files(&self, output: &Output, inspect: &Inspector<'_>) -> Result<(), Failure> {
        let mut scanned = Vec::new();
        for file in &self.files {
            let text = if file == Path::new("-") { read_stdin()? } else { read_text_file(file)? };
            let (verdict, findings) = self.judge_text(&text, inspect)?;
            let name = file.display().to_string();
            // For people file by file; with `--json` one value at the end.
            if !output.json {
                output.print_text(&render_findings(output, &name, &text, verdict, &findings))?;
            }
            scanned.push(ScanResult { file: Some(name), id: None, verdict, findings });
        }
        if output.json {
            output.print_json(&json!({ "files": scanned }))?;
        }
        match scanned.iter().any(|scanned| scanned.verdict == "blocked") {
            true => Err(Failure::REFUSAL_REPORTED),
            false => Ok(()),
        }
    }

    /// Prints results while reading, so that the file may be larger than memory.
    fn scan_lines(&self, file: &Path, inspect: &Inspector<'_>) -> Result<(), Failure> {
        let unreadable = |error: std::io::Error| Failure::unreadable_input(file.display(), &error);
        let reader: Box<dyn Read> = match file == Path::new("-") {
            true => Box::new(std::io::stdin().lock()),
            false => Box::new(std::fs::File::open(file).map_err(unreadable)?),
        };
        // Not through `Output`, which flushes after every answer. The lines are JSON even without `--json`.
        let mut answers = BufWriter::new(std::io::stdout().lock());
        let mut malformed = 0_u64;
        // Split by bytes: invalid UTF-8 is then one malformed line and does not end the scan.
        for (at, line) in BufReader::new(reader).split(b'\n').enumerate() {
            let line = line.map_err(unreadable)?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let answer = match serde_json::from_slice::<JsonLine>(&line) {
                Ok(JsonLine { id, text }) => {
                    let (verdict, findings) = self.judge_text(&text, inspect)?;
                    // The line number counts empty lines too, as an editor does.
                    let id = id.unwrap_or_else(|| json!(at + 1));
                    serde_json::to_string(&ScanResult { file: None, id: Some(id), verdict, findings })
                        .unwrap_or_default()
                }
                Err(error) => {
                    malformed += 1;
                    let id = line_id(&line).unwrap_or_else(|| json!(at + 1));
                    let message = error.to_string();
                    json!({ "id": id, "line": at + 1, "status": "error", "code": "input.line", "error": message })
                        .to_string()
                }
            };
            map_write_error(writeln!(answers, "{answer}"))?;
        }
        map_write_error(answers.flush())?;
        match malformed {
            // Blocked lines do not change the exit code: each line carries its own verdict.
            0 => Ok(()),
            // Each malformed line was reported in its place.
            _ => Err(Failure::AlreadyReported(2)),
        }
    }
}

/// The `id` field of a line that is otherwise malformed.
fn line_id(line: &[u8]) -> Option<Value> {
    let line: Value = serde_json::from_slice(line).ok()?;
    line.get("id").filter(|id| !id.is_null()).cloned()
}

/// Position and rule of each finding, never the text.
fn render_findings(output: &Output, name: &str, text: &str, verdict: &str, findings: &[FindingView]) -> String {
    let tone = if verdict == "clean" { Tone::Good } else { Tone::Bad };
    let mut lines = format!("{}: {}\n", escape_controls(name), output.paint(tone, verdict));
    for finding in findings {
        // Offsets are bytes; the line and column shown count characters.
        let before = &text[..text.floor_char_boundary(finding.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        lines += &format!("  {line}:{column} {} ({:?})\n", finding.rule, finding.severity);
    }
    lines
}
