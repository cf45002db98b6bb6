//! Output of commands: text, tables and colours for people, one JSON value for programs, messages on stderr.

use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use comfy_table::{ContentArrangement, Table, TableComponent, presets};
use serde::Serialize;

use crate::config::Environment;
use crate::error::Failure;
use crate::text_io::{escape_controls, one_line};

/// Output settings of this process.
pub struct Output {
    pub json: bool,
    /// Colours are on: stdout is a terminal and `NO_COLOR` is not set.
    colour: bool,
    terminal: bool,
}

/// Colours by meaning.
#[derive(Clone, Copy)]
pub enum Tone {
    Good,
    Bad,
    Faint,
    Strong,
}

/// All escape sequences that [`Output::paint`] writes; any other is escaped before printing.
const COLOURS: [&str; 5] = ["\u{1b}[32m", "\u{1b}[31m", "\u{1b}[2m", "\u{1b}[1m", "\u{1b}[0m"];

impl Output {
    pub fn new(json: bool, environment: &Environment) -> Output {
        let terminal = std::io::stdout().is_terminal();
        // By the convention of no-color.org an empty value counts as not set.
        let plain = environment.get("NO_COLOR").is_some_and(|value| !value.is_empty());
        Output { json, colour: terminal && !plain, terminal }
    }

    /// Prints data on stdout. A closed pipe becomes [`Failure::PipeClosed`], which exits with 0.
    pub fn print_text(&self, text: &str) -> Result<(), Failure> {
        // Not `println!`, which panics on a closed pipe.
        let mut stdout = std::io::stdout().lock();
        // Text that ends with a newline keeps its exact bytes, so that it can be piped into a file.
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        map_write_error(stdout.write_all(text.as_bytes()))?;
        map_write_error(stdout.write_all(newline.as_bytes()))?;
        // At exit Rust flushes too, but ignores the error.
        map_write_error(stdout.flush())
    }

    /// Prints one JSON value on one line.
    pub fn print_json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text =
            serde_json::to_string(value).map_err(|error| Failure::system_error("output.json", error.to_string()))?;
        self.print_text(&text)
    }

    /// Prints the answer: `value` as JSON with `--json`, else the text of `words`.
    pub fn print_answer(&self, value: &impl Serialize, words: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { self.print_json(value) } else { self.print_text(&self.escape_except_colours(&words())) }
    }

    /// Escapes control characters except our own colour sequences, so that stored text cannot control the terminal.
    fn escape_except_colours(&self, words: &str) -> String {
        if !self.colour {
            // Without colours of our own, every sequence in the text is foreign.
            return escape_controls(words);
        }
        let (mut shown, mut rest) = (String::with_capacity(words.len()), words);
        // No code is the beginning of another, so the earliest match is the right one.
        // Stored text may contain the same codes; they change nothing but the colour.
        while let Some((at, colour)) = COLOURS.iter().filter_map(|code| Some((rest.find(code)?, *code))).min() {
            shown += &escape_controls(&rest[..at]);
            shown += colour;
            rest = &rest[at + colour.len()..];
        }
        shown + &escape_controls(rest)
    }

    /// Prints a message on stderr.
    pub fn print_note(&self, message: &str) {
        // A closed stderr leaves no way to report it.
        let _ = writeln!(std::io::stderr(), "{}", escape_controls(message));
    }

    pub fn report_failure(&self, failure: &Failure) -> ExitCode {
        if !matches!(failure, Failure::AlreadyReported(_) | Failure::PipeClosed) {
            self.print_failure(failure);
        }
        ExitCode::from(failure.exit_code())
    }

    fn print_failure(&self, failure: &Failure) {
        if self.json {
            // On stdout, where a program reads the answer; a closed stdout cannot be reported.
            let _ = self.print_json(&failure.to_json());
            return;
        }
        let word = if failure.exit_code() == 3 { "refused" } else { "error" };
        let mut message = format!("{word}: {} [{}]", failure.message(), failure.code());
        if let Failure::Refused(refusal) = failure {
            for finding in &refusal.findings {
                let _ = write!(
                    message,
                    "\n  {} at {}..{}: rule {}",
                    finding.field, finding.start, finding.end, finding.rule
                );
            }
        }
        if let Some(current) = failure.conflicting_content() {
            let _ = write!(message, "\n  now {}: {}", current.sha256, one_line(&current.excerpt));
        }
        if let Some(hint) = failure.next_step() {
            let _ = write!(message, "\n  next: {hint}");
        }
        self.print_note(&message);
    }

    pub fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Table text: wrapped to the width of a terminal, one line per row elsewhere.
    pub fn render_table(&self, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_style(TableComponent::HeaderLines, '─').set_style(TableComponent::MiddleHeaderIntersections, '─');
        // In a pipe each row stays on one line, for grep and the like.
        table.set_content_arrangement(match self.terminal {
            true => ContentArrangement::Dynamic,
            false => ContentArrangement::Disabled,
        });
        table.set_header(header);
        for row in rows {
            // This escapes colour codes too, so callers must not paint cells.
            table.add_row(row.iter().map(|cell| escape_controls(cell)));
        }
        // A header without rows would look like output that was cut off.
        if table.row_count() == 0 { "nothing here".to_owned() } else { table.trim_fmt() }
    }
}

/// `/path`, to follow the name of a store; empty for a memory without a path.
pub fn path_suffix(path: Option<&str>) -> String {
    path.map(|path| format!("/{path}")).unwrap_or_default()
}

/// Maps a closed pipe to [`Failure::PipeClosed`], which ends the command silently, and other errors to a failure.
pub fn map_write_error(result: std::io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::PipeClosed,
        _ => Failure::system_error("output.write", format!("cannot write the answer: {error}")),
    })
}
