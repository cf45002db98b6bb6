//! `bench doors`: cost of a save in process, over MCP and over REST, by one saver who waits for each answer.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::measure::{Figures, Meter};
use super::process::Process;
use super::{corpus, fill_corpus, mcp, serve};
use crate::assemble::Session;
use crate::commands::temp_home::TempHome;
use crate::config::Config;
use crate::error::Failure;
use crate::output::Output;

/// Saves before measuring, while a new process fills its caches.
const WARM_UP: usize = 200;

pub const IN_PROCESS: &str = "save in process";
pub const OVER_MCP: &str = "save over MCP";
pub const OVER_REST: &str = "save over REST";

#[derive(Serialize, Deserialize)]
pub struct DoorsReport {
    pub count: usize,
    pub figures: Vec<Figures>,
}

/// Measures the interfaces one after the other, so that each has the database to itself.
pub fn run(config: &Config, output: &Output, count: usize, saves: usize) -> Result<(), Failure> {
    let place = TempHome::new("bench")?;
    // Each interface saves other memories: an equal text would only be deduplicated.
    let numbers_of = |nth: usize| count + nth * (WARM_UP + saves)..count + (nth + 1) * (WARM_UP + saves);
    let in_process = measure_in_process(&place.redirect_config(config), numbers_of(0))?.with_name(IN_PROCESS);
    let over_mcp = measure_over_mcp(&place, numbers_of(1))?.with_name(OVER_MCP);
    let over_rest = measure_over_rest(&place, numbers_of(2))?.with_name(OVER_REST);
    let report = DoorsReport { count, figures: vec![in_process, over_mcp, over_rest] };
    output.print_answer(&report, || super::render_timings(output, &report.figures))
}

fn measure_in_process(config: &Config, numbers: Range<usize>) -> Result<Figures, Failure> {
    let session = Session::open(config)?;
    let measured = numbers.start + WARM_UP..numbers.end;
    fill_corpus(&session, 0..measured.start)?;
    let figures = fill_corpus(&session, measured)?;
    session.close()?;
    Ok(figures)
}

fn measure_over_mcp(place: &TempHome, numbers: Range<usize>) -> Result<Figures, Failure> {
    let mut server = mcp::start_server(place, &["--as", "agent:bench", "--conversation", "bench"])?;
    measure_saves(numbers, &mut server, |server, number| {
        let arguments = json!({
            "target_store_slug": "conversation_memory", "document_type": "tool_usage_lesson",
            "path": format!("bench/{number}"), "content": corpus::memory_text(number),
            "evidence_summary": "seen in a benchmark",
        });
        mcp::call_tool(server, number, "memory_remember", &arguments)
    })
}

fn measure_over_rest(place: &TempHome, numbers: Range<usize>) -> Result<Figures, Failure> {
    let (mut server, access) = serve::start_server(place)?;
    let mut connection = access.open_connection()?;
    measure_saves(numbers, &mut server, |_, number| connection.save_memory(&corpus::memory_text(number)))
}

/// Measures saves after the warm-up, with the CPU time of the server process.
fn measure_saves(
    mut numbers: Range<usize>,
    server: &mut Process,
    mut save: impl FnMut(&mut Process, usize) -> Result<(), Failure>,
) -> Result<Figures, Failure> {
    numbers.by_ref().take(WARM_UP).try_for_each(|number| save(server, number))?;
    let before = server.cpu_time()?;
    let mut meter = Meter::start(numbers.len());
    for number in numbers {
        meter.time_operation(|| save(server, number))?;
    }
    Ok(meter.stop().with_process_cpu(server.cpu_time()?.saturating_sub(before)))
}
