//! `copy`: copies a whole database to another one of either backend, then compares the two.

use engine::text::plural::format_count;
use std::io::{IsTerminal, Write};

use serde::Serialize;
use store::{CopyError, CopyProgress, CopyReport, CopyStage, TableComparison};

use crate::assemble;
use crate::config::Config;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, clap::Args)]
pub struct CopyArgs {
    /// Source database: a path, `sqlite:PATH` or `postgres://…`
    #[arg(long, value_name = "URL")]
    from: String,
    /// Target database: empty, or left by an interrupted copy of the same source
    #[arg(long, value_name = "URL")]
    to: String,
}

#[derive(Serialize)]
struct CopyView {
    status: &'static str,
    equal: bool,
    tenants: usize,
    /// Rows written by this call.
    written: u64,
    /// Rows in the source.
    rows: u64,
    tables: Vec<TableView>,
}

#[derive(Serialize)]
struct TableView {
    table: &'static str,
    equal: bool,
    rows_from: u64,
    rows_to: u64,
    sha256_from: String,
    sha256_to: String,
}

impl CopyArgs {
    pub fn run(self, config: &Config, output: &Output) -> Result<(), Failure> {
        let from = assemble::parse_database(&self.from, &config.home)?;
        let to = assemble::parse_database(&self.to, &config.home)?;
        // Compared as written: another spelling of the same path is not noticed here.
        if from == to {
            return Err(Failure::user_error("copy.same", "source and target are the same database"));
        }
        let mut bar = ProgressBar { shown: !output.json && std::io::stderr().is_terminal(), width: 0 };
        let copied = store::copy_database(&from, &to, &mut |progress| bar.show_progress(progress));
        // Before the result is looked at, or an error message would follow the bar on its line.
        bar.clear();
        let done = build_view(copied.map_err(copy_failure)?);
        output.print_answer(&done, || render_report(output, &done))?;
        // Exit 1 although all rows were written: such a copy is not to be relied on.
        if done.equal { Ok(()) } else { Err(Failure::AlreadyReported(1)) }
    }
}

fn copy_failure(error: CopyError) -> Failure {
    match error {
        CopyError::Occupied(why) => {
            Failure::user_error("copy.occupied", format!("the target contains other data: {why}"))
                .with_hint("copy into an empty database, or continue an interrupted copy of the same source")
        }
        CopyError::From(error) | CopyError::To(error) => error.into(),
    }
}

fn build_view(copied: CopyReport) -> CopyView {
    let equal = copied.is_equal();
    let table_view = |compared: TableComparison| TableView {
        table: compared.table,
        equal: compared.is_equal(),
        rows_from: compared.rows_from,
        rows_to: compared.rows_to,
        sha256_from: compared.sha256_from,
        sha256_to: compared.sha256_to,
    };
    CopyView {
        status: if equal { "copied" } else { "different" },
        equal,
        tenants: copied.tenants,
        written: copied.written,
        rows: copied.tables.iter().map(|table| table.rows_from).sum(),
        tables: copied.tables.into_iter().map(table_view).collect(),
    }
}

fn render_report(output: &Output, done: &CopyView) -> String {
    // 12 digits are enough to compare by eye; `--json` has the full hashes.
    let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
    let row = |table: &TableView| {
        let verdict = match table.equal {
            true => output.paint(Tone::Good, "equal"),
            false => output.paint(Tone::Bad, &format!("different: {} of {}", short(&table.sha256_to), table.rows_to)),
        };
        vec![table.table.to_owned(), table.rows_from.to_string(), short(&table.sha256_from), verdict]
    };
    // Empty tables are left out for people; `--json` lists all.
    let filled = done.tables.iter().filter(|table| table.rows_from > 0 || table.rows_to > 0);
    let table = output.render_table(&["table", "rows", "sha256", ""], filled.map(row));
    let verdict = match done.equal {
        true => output.paint(Tone::Good, "the databases are equal"),
        false => output.paint(
            Tone::Bad,
            "the databases differ: one was written to during the copy; start again with an empty target",
        ),
    };
    let (written, tenants) =
        (format_count(done.written, "row", "rows"), format_count(done.tenants, "tenant", "tenants"));
    format!("{table}\n{written} written, {} in all, {tenants}: {verdict}", done.rows)
}

/// Progress bar on one line of the terminal, overwritten in place.
struct ProgressBar {
    shown: bool,
    width: usize,
}

impl ProgressBar {
    const CELLS: u64 = 30;

    fn show_progress(&mut self, progress: CopyProgress) {
        if !self.shown {
            return;
        }
        let CopyProgress { stage, table, done, total } = progress;
        let stage = match stage {
            CopyStage::Copying => "copying",
            CopyStage::Comparing => "comparing",
        };
        // An empty source has a total of 0.
        let full = (done.min(total) * ProgressBar::CELLS / total.max(1)) as usize;
        let cells = format!("{}{}", "█".repeat(full), "░".repeat(ProgressBar::CELLS as usize - full));
        let line = format!("{stage:<9} {cells} {done} of {total} {table}");
        // Not in bytes: each cell of the bar has three.
        let width = line.chars().count();
        // A closed stderr must not stop the copy. Trailing spaces erase the rest of a longer line.
        let _ = write!(std::io::stderr(), "\r{line}{}", " ".repeat(self.width.saturating_sub(width)));
        self.width = width;
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r{}\r", " ".repeat(self.width));
        }
    }
}
