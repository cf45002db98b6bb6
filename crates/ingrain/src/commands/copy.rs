//! `copy`: everything from one database to another, of either sort, compared at the end.

use engine::text::count::counted;
use std::io::{IsTerminal, Write};

use serde::Serialize;
use store::{Compared, Copied, CopyError, Progress, Stage};

use crate::assemble;
use crate::config::Config;
use crate::error::Failure;
use crate::output::{Output, Tone};

/// Move everything to another database: all tenants, every state, the whole history
///
/// A copy that broke goes on where it stopped, and one that is complete only compares. Stop whoever writes to the
/// source first: what is written later is not copied.
#[derive(Debug, clap::Args)]
pub struct Copy {
    /// The database to read: a path, `sqlite:PATH` or `postgres://…`
    #[arg(long, value_name = "URL")]
    from: String,
    /// The database to fill: empty, or one that an earlier copy left unfinished
    #[arg(long, value_name = "URL")]
    to: String,
}

#[derive(Serialize)]
struct Done {
    status: &'static str,
    equal: bool,
    tenants: usize,
    /// Rows this call wrote.
    written: u64,
    /// Rows of the source.
    rows: u64,
    tables: Vec<OfTable>,
}

#[derive(Serialize)]
struct OfTable {
    table: &'static str,
    equal: bool,
    rows_from: u64,
    rows_to: u64,
    sha256_from: String,
    sha256_to: String,
}

impl Copy {
    pub fn run(self, config: &Config, output: &Output) -> Result<(), Failure> {
        let from = assemble::database(&self.from, &config.home)?;
        let to = assemble::database(&self.to, &config.home)?;
        if from == to {
            return Err(Failure::wrong("copy.same", "source and target are the same database"));
        }
        let mut bar = Bar { shown: !output.json && std::io::stderr().is_terminal(), width: 0 };
        let copied = store::copy(&from, &to, &mut |progress| bar.show(progress));
        bar.clear();
        let done = done(copied.map_err(failure)?);
        output.answer(&done, || words(output, &done))?;
        if done.equal { Ok(()) } else { Err(Failure::Told(1)) }
    }
}

fn failure(error: CopyError) -> Failure {
    match error {
        CopyError::Occupied(why) => Failure::wrong("copy.occupied", format!("the target holds something else: {why}"))
            .hint("copy into an empty database, or into one that an unfinished copy of this source left behind"),
        CopyError::From(error) | CopyError::To(error) => error.into(),
    }
}

fn done(copied: Copied) -> Done {
    let equal = copied.is_equal();
    let of_table = |compared: Compared| OfTable {
        table: compared.table,
        equal: compared.is_equal(),
        rows_from: compared.rows_from,
        rows_to: compared.rows_to,
        sha256_from: compared.sha256_from,
        sha256_to: compared.sha256_to,
    };
    Done {
        status: if equal { "copied" } else { "different" },
        equal,
        tenants: copied.tenants,
        written: copied.written,
        rows: copied.tables.iter().map(|table| table.rows_from).sum(),
        tables: copied.tables.into_iter().map(of_table).collect(),
    }
}

fn words(output: &Output, done: &Done) -> String {
    // Twelve digits tell two hashes apart for a person; `--json` has all of them.
    let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
    let row = |table: &OfTable| {
        let verdict = match table.equal {
            true => output.paint(Tone::Good, "equal"),
            false => output.paint(Tone::Bad, &format!("different: {} of {}", short(&table.sha256_to), table.rows_to)),
        };
        vec![table.table.to_owned(), table.rows_from.to_string(), short(&table.sha256_from), verdict]
    };
    let filled = done.tables.iter().filter(|table| table.rows_from > 0 || table.rows_to > 0);
    let table = output.table(&["table", "rows", "sha256", ""], filled.map(row));
    let verdict = match done.equal {
        true => output.paint(Tone::Good, "both hold the same"),
        false => {
            output.paint(Tone::Bad, "the two differ: was the source written to, or the target? begin with an empty one")
        }
    };
    let (written, tenants) = (counted(done.written, "row", "rows"), counted(done.tenants, "tenant", "tenants"));
    format!("{table}\n{written} written, {} in all, {tenants}: {verdict}", done.rows)
}

/// One line on a terminal that is written over.
struct Bar {
    shown: bool,
    width: usize,
}

impl Bar {
    const CELLS: u64 = 30;

    fn show(&mut self, progress: Progress) {
        if !self.shown {
            return;
        }
        let Progress { stage, table, done, total } = progress;
        let stage = match stage {
            Stage::Copying => "copying",
            Stage::Comparing => "comparing",
        };
        let full = (done.min(total) * Bar::CELLS / total.max(1)) as usize;
        let cells = format!("{}{}", "█".repeat(full), "░".repeat(Bar::CELLS as usize - full));
        let line = format!("{stage:<9} {cells} {done} of {total} {table}");
        let width = line.chars().count();
        // Nothing sensible is left to do when even stderr is closed.
        let _ = write!(std::io::stderr(), "\r{line}{}", " ".repeat(self.width.saturating_sub(width)));
        self.width = width;
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r{}\r", " ".repeat(self.width));
        }
    }
}
