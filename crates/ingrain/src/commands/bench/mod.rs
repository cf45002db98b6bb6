//! `bench`: measures this binary on this machine with generated data.

mod corpus;
mod doors;
mod generated_set;
mod governance;
mod mcp;
mod measure;
mod process;
mod report;
mod retrieval;
mod scan;
mod search;
mod serve;
mod upkeep;

use std::path::Path;

use clap::{Args, Subcommand};
use engine::model::caller::Caller;
use engine::model::memory::Draft;
use engine::model::review::Risk;
use engine::review::ReadReview;
use engine::{ContextRequest, MemoryReference, Promotion, ProposalOutcome, Remembered};
use serde::{Deserialize, Serialize};

use crate::assemble::{Session, open_engine};
use crate::cli::GlobalArgs;
use crate::commands::temp_home::TempHome;
use crate::config::Config;
use crate::error::Failure;
use crate::output::Output;
use measure::{Figures, Meter};
use retrieval::all_sets::{self, AllReport, ByQuestion, SetReport};
use retrieval::default_doors;

/// Default number of searches: enough for a stable median.
const QUERIES_DEFAULT: usize = 1_000;
/// Searches before measuring, so that loading the index is measured apart.
const WARM_UP: usize = 20;

#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Measure saves, one after the other
    Save {
        /// Number of memories
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        count: usize,
    },
    /// Measure what the doors and rankers find on a set of turns and questions
    Retrieval {
        /// Retrieval set (JSON): collections of memories, and queries with the ids of their answers
        #[arg(required_unless_present_any = ["generated", "all"], conflicts_with_all = ["generated", "all"])]
        file: Option<std::path::PathBuf>,
        /// Every retrieval set (*.json) of this folder, in one table with 95 % intervals by question
        #[arg(long, value_name = "DIR", conflicts_with = "generated")]
        all: Option<std::path::PathBuf>,
        /// Compare with the `--json` answer of an earlier `--all`, question by question
        #[arg(long, value_name = "FILE", requires = "all")]
        against: Option<std::path::PathBuf>,
        /// Number of generated notes to use instead of a file; half of the questions are paraphrases
        #[arg(long, value_name = "N")]
        generated: Option<usize>,
    },
    /// Measure recall, false alarms and speed of the scanner, by kind and tier
    Scan {
        /// JSON Lines file with `text`, `label` (1: must be caught), `kind` and `tier`
        #[arg(required = true, value_name = "FILE")]
        files: Vec<std::path::PathBuf>,
    },
    /// Run the benchmarks and write benchmarks.md with plots
    ///
    /// The hand-written part of an existing benchmarks.md, below its mark, is kept.
    Report(report::ReportArgs),
    /// Check the guarantees on trust, isolation and forgetting
    Governance,
    /// Measure proposals, and the approval of all of them at once
    Review {
        /// Number of proposals
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        count: usize,
    },
    /// Measure searches over HTTP, concurrent saves and event streams
    Serve {
        /// Number of memories to search
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        count: usize,
        /// Number of searches
        #[arg(long, value_name = "N", default_value_t = QUERIES_DEFAULT)]
        queries: usize,
        /// Number of event streams
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        streams: usize,
    },
    /// Measure searches as MCP tool calls
    Mcp {
        /// Number of memories to search
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        count: usize,
        /// Number of searches
        #[arg(long, value_name = "N", default_value_t = QUERIES_DEFAULT)]
        queries: usize,
    },
    /// Measure saves in process, over MCP (stdio) and over REST, one at a time
    Doors {
        /// Number of memories saved before
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        count: usize,
        /// Number of saves per interface
        #[arg(long, value_name = "N", default_value_t = 2_000)]
        saves: usize,
    },
    /// Measure contexts with their receipts
    Context {
        /// Number of memories to choose from
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        count: usize,
        /// Number of contexts
        #[arg(long, value_name = "N", default_value_t = QUERIES_DEFAULT)]
        queries: usize,
    },
    /// Measure upkeep while another thread saves
    Upkeep {
        /// Number of memories; one in four is due
        #[arg(long, value_name = "N", default_value_t = 100_000)]
        count: usize,
    },
    /// Measure searches by an admin and by an agent in one conversation
    Search {
        /// Number of conversations that half of the memories are spread over
        #[arg(long, value_name = "N", default_value_t = corpus::CONVERSATIONS)]
        conversations: usize,
        /// Number of memories to search
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        count: usize,
        /// Number of searches
        #[arg(long, value_name = "N", default_value_t = QUERIES_DEFAULT)]
        queries: usize,
    },
}

#[derive(Serialize, Deserialize)]
struct BenchReport {
    bench: String,
    backend: String,
    /// Memories in the database at the end of the run.
    count: usize,
    embedder: String,
    figures: Vec<Figures>,
    database_bytes: u64,
    bytes_per_memory: f64,
    peak_memory_bytes: u64,
    /// Number of fdatasync calls, without those of checkpoints.
    disk_syncs: Option<u64>,
}

impl BenchReport {
    fn figures_named(&self, name: &str) -> Option<&Figures> {
        self.figures.iter().find(|figures| figures.name == name)
    }
}

impl BenchArgs {
    pub fn run(self, config: &Config, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
        // Only the flag counts: a bench must never fill a database that is merely configured.
        let db = global.db_flag();
        let measured = |bench, count, measure: &dyn Fn(&Session) -> Result<Vec<Figures>, Failure>| {
            run_measurement(config, db, output, bench, count, measure)
        };
        match self.command {
            BenchCommand::Report(args) => report::run(&args, global, output),
            BenchCommand::Governance => governance::run(config, output),
            BenchCommand::Scan { files } => scan::run(output, &files),
            BenchCommand::Retrieval { all: Some(folder), against, .. } => {
                run_all_sets(config, output, &folder, against.as_deref())
            }
            BenchCommand::Retrieval { file, generated, .. } => {
                let set = match file {
                    Some(file) => retrieval::read_set_file(&file)?,
                    None => generated_set::generate_set(generated.unwrap_or_default()),
                };
                run_retrieval(config, output, &set)
            }
            BenchCommand::Serve { count, queries, streams } => serve::run(config, output, count, queries, streams),
            BenchCommand::Mcp { count, queries } => mcp::run(config, output, count, queries),
            BenchCommand::Doors { count, saves } => doors::run(config, output, count, saves),
            BenchCommand::Save { count } => measured("save", count, &|session| measure_saves(session, count)),
            BenchCommand::Review { count } => measured("review", count, &|session| measure_reviews(session, count)),
            BenchCommand::Upkeep { count } => measured("upkeep", count, &|session| upkeep::run(session, count)),
            BenchCommand::Context { count, queries } => measured("context", count, &|session| {
                let saving = fill_corpus(session, 0..count)?;
                let first = measure_contexts(session, 0, WARM_UP)?.with_name("first contexts");
                let rest = measure_contexts(session, WARM_UP, queries)?.with_name("context");
                Ok(vec![saving.with_name("fill"), first, rest])
            }),
            BenchCommand::Search { count, conversations, queries } => {
                measured("search", count, &|session| search::run(session, count, conversations, queries))
            }
        }
    }
}

fn run_retrieval(config: &Config, output: &Output, set: &retrieval::RetrievalSet) -> Result<(), Failure> {
    let (report, _) = measure_set(config, set)?;
    output.print_answer(&report, || render_retrieval(output, &report))
}

/// Measures a set on a database of its own.
fn measure_set(
    config: &Config,
    set: &retrieval::RetrievalSet,
) -> Result<(retrieval::RetrievalReport, ByQuestion), Failure> {
    let place = TempHome::new("bench")?;
    let session = Session::open(&place.redirect_config(config))?;
    let measured = retrieval::run(&session.engine, session.caller.tenant, set)?;
    session.close()?;
    Ok(measured)
}

fn run_all_sets(config: &Config, output: &Output, folder: &Path, against: Option<&Path>) -> Result<(), Failure> {
    let before = against.map(all_sets::read_report).transpose()?;
    let mut sets = Vec::new();
    for (name, set) in all_sets::read_folder(folder)? {
        let (report, by_question) = measure_set(config, &set)?;
        sets.push(SetReport { name, report, by_question });
    }
    let all = AllReport { sets };
    output.print_answer(&all, || {
        let (header, rows) = all_sets::table(&all);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let table = output.render_table(&header, rows);
        let compared = before
            .as_ref()
            .map(|before| output.render_table(&all_sets::COMPARISON_HEADER, all_sets::comparison(before, &all)));
        [Some(table), compared].into_iter().flatten().collect::<Vec<_>>().join("\n")
    })
}

/// Opens a session on an empty database; an error if it has tenants.
fn open_empty(config: &Config, db: &str) -> Result<Session, Failure> {
    let config = Config { db: db.to_owned(), tenant: "default".to_owned(), ..config.clone() };
    // Checked with a bare engine: `Session::open` would create the default tenant.
    match open_engine(&config)?.database().list_tenants()?.is_empty() {
        true => Session::open(&config),
        false => Err(Failure::user_error("bench.occupied", "the database is not empty, and a bench would fill it")
            .with_hint("give an empty database to `--db`")),
    }
}

/// Runs a measurement on a temporary database, or on the one of `--db`, and prints it with sizes and peak memory.
fn run_measurement(
    config: &Config,
    db: Option<&str>,
    output: &Output,
    bench: &'static str,
    count: usize,
    measure: &dyn Fn(&Session) -> Result<Vec<Figures>, Failure>,
) -> Result<(), Failure> {
    let place = TempHome::new("bench")?;
    let session = match db {
        Some(db) => open_empty(config, db)?,
        None => Session::open(&place.redirect_config(config))?,
    };
    let figures = measure(&session)?;
    session.close()?;
    // After the close, so that the size includes deferred writes.
    let health = session.engine.database().health()?;
    let database_bytes = health.bytes;
    let report = BenchReport {
        bench: bench.to_owned(),
        backend: health.backend,
        count,
        embedder: session.engine.embedder.model().to_owned(),
        figures,
        database_bytes,
        bytes_per_memory: database_bytes as f64 / count.max(1) as f64,
        peak_memory_bytes: measure::peak_memory_bytes("self"),
        disk_syncs: health.syncs,
    };
    output.print_answer(&report, || render_report(output, &report))
}

/// Measures saves in ten parts, so that a slowdown with the size of the store shows.
fn measure_saves(session: &Session, count: usize) -> Result<Vec<Figures>, Failure> {
    const PARTS: usize = 10;
    let mut figures = Vec::new();
    let mut from = 0;
    for part in 1..=PARTS {
        // Multiplied first, so that the parts add up to the count.
        let to = count * part / PARTS;
        // With fewer than ten memories some parts are empty.
        if to > from {
            figures.push(fill_corpus(session, from..to)?.with_name(&format!("save {from}..{to}")));
        }
        from = to;
    }
    Ok(figures)
}

/// Saves and proposes drafts one by one, then approves all in one call.
fn measure_reviews(session: &Session, count: usize) -> Result<Vec<Figures>, Failure> {
    let (engine, tenant) = (&session.engine, session.caller.tenant);
    let agent = Caller::agent(tenant, "bench").in_conversation("bench");
    let (mut saving, mut proposing) = (Meter::start(count), Meter::start(count));
    let mut waiting = Vec::with_capacity(count);
    for number in 0..count {
        let (_, draft) = corpus::generate_memory(tenant, number, corpus::CONVERSATIONS);
        let path = Some(format!("notes/{number}"));
        let draft = Draft { store: "conversation_memory".to_owned(), path: path.clone(), ..draft };
        let saved = match saving.time_operation(|| engine.remember(&agent, draft))? {
            Remembered::Saved(saved) => saved.memory,
            Remembered::Refused(refusal) => return Err(refusal.into()),
        };
        let promotion = Promotion {
            source: MemoryReference::Id(saved.id),
            target_store: "workspace_runbooks".to_owned(),
            target_path: path,
            rationale: "it helped".to_owned(),
            evidence: Vec::new(),
            risk: Risk::Low,
        };
        match proposing.time_operation(|| engine.propose(&agent, promotion))? {
            ProposalOutcome::Waiting { review, .. } => waiting.push(ReadReview::from(&*review)),
            ProposalOutcome::Refused(refusal) => return Err(refusal.into()),
        }
    }
    // One measured operation: the bulk decision.
    let mut deciding = Meter::start(1);
    let decided = deciding.time_operation(|| engine.decide_all(&session.caller, &waiting, true, None))?;
    if decided.decided != count as u64 {
        return Err(Failure::system_error("bench.review", format!("{} of {count} were approved", decided.decided)));
    }
    let all = format!("approve all {count}");
    Ok(vec![saving.stop().with_name("save"), proposing.stop().with_name("propose"), deciding.stop().with_name(&all)])
}

fn fill_corpus(session: &Session, range: std::ops::Range<usize>) -> Result<Figures, Failure> {
    fill_spread(session, range, corpus::CONVERSATIONS)
}

fn fill_spread(session: &Session, range: std::ops::Range<usize>, conversations: usize) -> Result<Figures, Failure> {
    let before = disk_sync_count(session)?;
    let mut meter = Meter::start(range.len());
    for number in range {
        let (caller, draft) = corpus::generate_memory(session.caller.tenant, number, conversations);
        let saved = meter.time_operation(|| session.engine.remember(&caller, draft))?;
        if let Remembered::Refused(refusal) = saved {
            return Err(refusal.into());
        }
    }
    Ok(meter.stop().with_disk_syncs(before, disk_sync_count(session)?))
}

/// Number of disk syncs of this process so far.
fn disk_sync_count(session: &Session) -> Result<Option<u64>, Failure> {
    Ok(session.engine.database().health()?.syncs)
}

/// Measures contexts of one agent, including their deferred writes: receipts, touches, counters, events.
fn measure_contexts(session: &Session, from: usize, queries: usize) -> Result<Figures, Failure> {
    let agent = Caller::agent(session.caller.tenant, "bench").in_conversation("c1");
    let agent = Caller { run: Some("bench".to_owned()), ..agent };
    let before = disk_sync_count(session)?;
    let mut meter = Meter::start(queries);
    for number in from..from + queries {
        let request = ContextRequest { message: corpus::generate_query(number), ..ContextRequest::default() };
        meter.time_operation(|| session.engine.context(&agent, &request))?;
    }
    // Deferred writes belong to the cost of a context.
    session.engine.database().flush()?;
    Ok(meter.stop().with_disk_syncs(before, disk_sync_count(session)?))
}

fn render_retrieval(output: &Output, report: &retrieval::RetrievalReport) -> String {
    let doors = output.render_table(&default_doors::DOOR_HEADER, default_doors::door_rows(&report.doors));
    let rows = report.table_rows(|ranker| format!("ranker {ranker}"));
    let table = output.render_table(&retrieval::RECALL_HEADER, rows);
    format!(
        "{doors}\n\n{table}\n{} memories ({} refused), embedder {}; all rows but `category 5` exclude category 5",
        report.memories, report.refused, report.embedder
    )
}

/// Table of CPU and wall times.
fn render_timings<'a>(output: &Output, figures: impl IntoIterator<Item = &'a Figures>) -> String {
    let row = |figures: &Figures| {
        let numbers = [figures.cpu_ms_each, figures.wall_ms_median, figures.wall_ms_p95];
        let shown = numbers.iter().map(|ms| format!("{ms:.3}"));
        std::iter::once(figures.name.clone()).chain(shown).collect::<Vec<_>>()
    };
    output.render_table(&["", "CPU ms each", "wall ms median", "wall ms p95"], figures.into_iter().map(row))
}

fn render_report(output: &Output, report: &BenchReport) -> String {
    let row = |figures: &Figures| {
        vec![
            figures.name.clone(),
            figures.operations.to_string(),
            format!("{:.3}", figures.cpu_ms_each),
            format!("{:.3}", figures.cpu_ms_max),
            format!("{:.3}", figures.wall_ms_median),
            format!("{:.3}", figures.wall_ms_p95),
            format!("{:.3}", figures.wall_ms_max),
            format!("{:.0}", figures.per_second),
            figures.disk_syncs_each.map(|each| format!("{each:.3}")).unwrap_or_default(),
        ]
    };
    let header = [
        "",
        "operations",
        "CPU ms each",
        "CPU ms max",
        "wall ms median",
        "wall ms p95",
        "wall ms max",
        "per second",
        "disk syncs each",
    ];
    let table = output.render_table(&header, report.figures.iter().map(row));
    format!(
        "{table}\n{} memories in {}, embedder {}\n\
         database {:.1} MB ({:.0} bytes per memory), peak memory {:.1} MB, {} disk syncs",
        report.count,
        report.backend,
        report.embedder,
        report.database_bytes as f64 / 1e6,
        report.bytes_per_memory,
        report.peak_memory_bytes as f64 / 1e6,
        report.disk_syncs.map_or_else(|| "unknown".to_owned(), |syncs| syncs.to_string())
    )
}
