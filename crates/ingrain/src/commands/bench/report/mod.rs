//! `bench report`: runs the benchmarks, each in its own process, and writes a page with plots.

mod page;
mod plot;
mod targets;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use engine::ports::Clock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::doors::DoorsReport;
use super::measure::Figures;
use super::process::{children_cpu_time, process_failure};
use super::retrieval::RetrievalReport;
use super::{BenchReport, QUERIES_DEFAULT, corpus};
use crate::cli::GlobalArgs;
use crate::clock::SystemClock;
use crate::commands::temp_home::TempHome;
use crate::error::Failure;
use crate::output::Output;
use plot::{BarChart, LineChart, Series};

/// Default size of the generated retrieval set; reports of equal size can be compared.
const GENERATED_DEFAULT: usize = 2_000;
/// Commands run to measure a cold start. Several, because the system counts CPU time in 10 ms.
const COLD_RUNS: usize = 20;

/// Output folder and size of the measurements.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Directory for benchmarks.md and its plots
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Numbers of memories at which to measure saves, searches and contexts (comma-separated)
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    sizes: Vec<usize>,
    /// Number of searches and contexts at each size; each interface is measured with twice as many saves
    #[arg(long, value_name = "N", default_value_t = QUERIES_DEFAULT)]
    queries: usize,
    /// Number of notes in the generated retrieval set
    #[arg(long, value_name = "N", default_value_t = GENERATED_DEFAULT)]
    generated: usize,
    /// Retrieval set to measure besides the generated one
    #[arg(long, value_name = "FILE")]
    retrieval: Option<PathBuf>,
}

/// Data of a report.
#[derive(Serialize)]
struct ReportData {
    machine: MachineInfo,
    retrieval: Option<NamedRetrieval>,
    generated: RetrievalReport,
    speed: Vec<SpeedReport>,
    governance: GovernanceScore,
    pages: Vec<PathBuf>,
}

#[derive(Serialize)]
struct MachineInfo {
    version: &'static str,
    date: String,
    cores: usize,
    processor: String,
    system: String,
    binary_bytes: u64,
    /// Debug build; its times are meaningless.
    debug: bool,
}

#[derive(Serialize)]
struct NamedRetrieval {
    /// File name without its directory, which may be private.
    name: String,
    report: RetrievalReport,
}

#[derive(Serialize)]
struct SpeedReport {
    count: usize,
    save: BenchReport,
    search: BenchReport,
    context: BenchReport,
    doors: DoorsReport,
    /// CPU time of a `search` command, from process start to exit, in milliseconds.
    cold_cpu_ms: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct GovernanceScore {
    passed: usize,
    total: usize,
}

pub fn run(args: &ReportArgs, global: &GlobalArgs, output: &Output) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| {
        Failure::user_error("bench.out", format!("cannot write to `{}`: {error}", args.out.display()))
    };
    std::fs::create_dir_all(&args.out).map_err(unwritable)?;
    // After the folder exists: measuring takes minutes and must not fail at the end.
    let mut measured = measure_all(args, global, output)?;
    let target = args.out.join("benchmarks.md");
    // The first report has no earlier page.
    let earlier_page = std::fs::read_to_string(&target).unwrap_or_default();
    let mut files = render_plots(&measured);
    // The page is written last, so that it never names a plot that could not be written.
    files.push(("benchmarks.md", page::render_page(&measured, args, page::hand_written_part(&earlier_page))));
    for (name, text) in files {
        let path = args.out.join(name);
        std::fs::write(&path, text).map_err(unwritable)?;
        measured.pages.push(path);
    }
    output.print_answer(&measured, || {
        let pages = measured.pages.iter().map(|page| page.display().to_string());
        format!("wrote {}", pages.collect::<Vec<_>>().join(", "))
    })
}

fn measure_all(args: &ReportArgs, global: &GlobalArgs, output: &Output) -> Result<ReportData, Failure> {
    let place = TempHome::new("report")?;
    let runs = BenchRunner { global, output, place: place.path() };
    let retrieval = args.retrieval.as_deref().map(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok::<_, Failure>(NamedRetrieval {
            name,
            report: runs.run_json(&["bench", "retrieval", &file.display().to_string()])?,
        })
    });
    let generated = args.generated.to_string();
    Ok(ReportData {
        machine: read_machine_info()?,
        retrieval: retrieval.transpose()?,
        generated: runs.run_json(&["bench", "retrieval", "--generated", &generated])?,
        governance: runs.run_json(&["bench", "governance"])?,
        speed: args.sizes.iter().map(|count| runs.measure_speed(*count, args.queries)).collect::<Result<_, _>>()?,
        pages: Vec::new(),
    })
}

/// Runs this binary with the same settings. One process per measurement, so that peak memory belongs to it alone.
struct BenchRunner<'a> {
    global: &'a GlobalArgs,
    output: &'a Output,
    place: &'a Path,
}

impl BenchRunner<'_> {
    fn build_command(&self, words: &[&str]) -> Result<Command, Failure> {
        let mut command = Command::new(std::env::current_exe().map_err(process_failure)?);
        command.args(words).arg("--json").stdin(Stdio::null());
        // Only these two: the database of each measurement is its own.
        let settings = [("--home", &self.global.home), ("--config", &self.global.config)];
        for (flag, value) in settings.iter().filter_map(|(flag, value)| Some((flag, value.as_ref()?))) {
            command.arg(flag).arg(value);
        }
        Ok(command)
    }

    fn run_json<T: DeserializeOwned>(&self, words: &[&str]) -> Result<T, Failure> {
        self.output.print_note(&format!("ingrain {}", words.join(" ")));
        let stdout = self.build_command(words)?.output().map_err(process_failure)?.stdout;
        // A failure is also JSON, of another shape, and ends up in the error message.
        serde_json::from_slice(&stdout).map_err(|_| process_failure(String::from_utf8_lossy(&stdout).trim()))
    }

    fn measure_speed(&self, count: usize, queries: usize) -> Result<SpeedReport, Failure> {
        // Twice as many saves: the CPU time of other processes is counted in 10 ms.
        let saves = (2 * queries).to_string();
        let (number, queries) = (count.to_string(), queries.to_string());
        // A database of its own for `search`, because the cold searches below read it again.
        let db = self.place.join(format!("{count}.db")).display().to_string();
        let speed = SpeedReport {
            count,
            save: self.run_json(&["bench", "save", "--count", &number])?,
            search: self.run_json(&["bench", "search", "--count", &number, "--queries", &queries, "--db", &db])?,
            context: self.run_json(&["bench", "context", "--count", &number, "--queries", &queries])?,
            doors: self.run_json(&["bench", "doors", "--count", &number, "--saves", &saves])?,
            cold_cpu_ms: self.measure_cold_search(&db)?,
        };
        // Deleted before the next size: a million memories take gigabytes.
        std::fs::remove_file(&db).map_err(process_failure)?;
        Ok(speed)
    }

    /// Mean CPU time of a cold search; `None` without `/proc`.
    fn measure_cold_search(&self, db: &str) -> Result<Option<f64>, Failure> {
        let before = children_cpu_time();
        for number in 0..COLD_RUNS {
            let query = corpus::generate_query(number);
            let done = self.build_command(&["search", &query, "--db", db])?.output().map_err(process_failure)?;
            if !done.status.success() {
                return Err(process_failure(String::from_utf8_lossy(&done.stdout).trim()));
            }
        }
        let spent = children_cpu_time().zip(before).map(|(after, before)| after.saturating_sub(before));
        Ok(spent.map(|spent| spent.as_secs_f64() * 1e3 / COLD_RUNS as f64))
    }
}

fn read_machine_info() -> Result<MachineInfo, Failure> {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let binary = std::env::current_exe().and_then(std::fs::metadata).map_err(process_failure)?;
    Ok(MachineInfo {
        version: env!("CARGO_PKG_VERSION"),
        date: SystemClock::new(None).now().strftime("%Y-%m-%d").to_string(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        processor: model.map_or("processor unknown", |(_, model)| model.trim()).to_owned(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        binary_bytes: binary.len(),
        debug: cfg!(debug_assertions),
    })
}

impl SpeedReport {
    /// Saves at full size: the last part of the measurement.
    fn save_figures(&self) -> Option<&Figures> {
        self.save.figures.last()
    }

    fn search_figures(&self) -> Option<&Figures> {
        self.search.figures_named("search")
    }

    fn door_figures(&self, door: &str) -> Option<&Figures> {
        self.doors.figures.iter().find(|figures| figures.name == door)
    }

    fn context_figures(&self) -> Option<&Figures> {
        self.context.figures_named("context")
    }
}

fn render_plots(measured: &ReportData) -> Vec<(&'static str, String)> {
    let line = |name, figures: fn(&SpeedReport) -> Option<&Figures>| {
        let point = |speed: &SpeedReport| Some((speed.count as f64, figures(speed)?.cpu_ms_each));
        Series { name, points: measured.speed.iter().filter_map(point).collect() }
    };
    let series = vec![
        line("search", SpeedReport::search_figures),
        line("save", SpeedReport::save_figures),
        line("context", SpeedReport::context_figures),
    ];
    let latency = LineChart {
        title: "CPU time of one operation against the number of memories",
        x: "memories",
        y: "milliseconds of CPU",
        series,
    };
    let mut plots = vec![("benchmarks-latency.svg", latency.to_svg())];
    if let Some(NamedRetrieval { name, report }) = &measured.retrieval {
        plots.push(("benchmarks-quality.svg", render_recall_chart(&format!("Recall by method: {name}"), report)));
    }
    plots.push((
        "benchmarks-generated.svg",
        render_recall_chart("Recall by method: generated notes", &measured.generated),
    ));
    plots
}

fn render_recall_chart(title: &str, report: &RetrievalReport) -> String {
    let mut groups: Vec<(&str, Vec<f64>)> =
        vec![("text relevance", report.main.recalls()), ("without vectors", report.without_vectors.recalls())];
    groups.extend(report.by_ranker.iter().map(|(ranker, quality)| (ranker.as_str(), quality.recalls())));
    BarChart { title, y: "percent of the answers among the first 5, 10 and 20", keys: &["R@5", "R@10", "R@20"], groups }
        .to_svg()
}
