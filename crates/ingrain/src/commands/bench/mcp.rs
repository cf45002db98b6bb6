//! `bench mcp`: overhead of an MCP tool call over stdio on a search.

use serde::Serialize;
use serde_json::{Value, json};

use super::measure::{Figures, Meter};
use super::process::{Process, process_failure};
use super::search::measure_searches;
use super::{WARM_UP, corpus, fill_corpus};
use crate::assemble::Session;
use crate::commands::temp_home::TempHome;
use crate::config::Config;
use crate::error::Failure;
use crate::output::Output;

/// Alternating rounds of engine and tool calls, so that changes in the speed of the machine affect both.
const ROUNDS: usize = 10;

#[derive(Serialize)]
pub struct McpReport {
    count: usize,
    /// Searches in process, as the same caller.
    engine: Figures,
    /// The same searches as tool calls.
    tool: Figures,
    /// CPU time that a tool call adds in the serving process.
    added_cpu_ms_each: f64,
}

pub fn run(config: &Config, output: &Output, count: usize, queries: usize) -> Result<(), Failure> {
    let place = TempHome::new("bench")?;
    let session = Session::open(&place.redirect_config(config))?;
    fill_corpus(&session, 0..count)?;
    measure_searches(&session, 0, WARM_UP)?;
    // Both warmed up alike, so that neither pays for loading the index.
    let mut server = start_server(&place, &["--as", "admin"])?;
    (0..WARM_UP).try_for_each(|number| call_search(&mut server, number))?;
    let each = queries.div_ceil(ROUNDS);
    let (mut engine, mut tool) = (Vec::new(), Vec::new());
    for from in (0..ROUNDS).map(|round| WARM_UP + round * each) {
        engine.push(measure_searches(&session, from, each)?);
        tool.push(measure_calls(&mut server, from, each)?);
    }
    let (engine, tool) = (mean_figures(&engine).with_name("engine"), mean_figures(&tool).with_name("tool call"));
    let report = McpReport { count, added_cpu_ms_each: tool.cpu_ms_each - engine.cpu_ms_each, engine, tool };
    output.print_answer(&report, || {
        let table = super::render_timings(output, [&report.engine, &report.tool]);
        format!("{table}\na tool call adds {:.3} ms of CPU, among {count} memories", report.added_cpu_ms_each)
    })
}

/// Starts an MCP server over stdio and initializes the session.
pub(super) fn start_server(place: &TempHome, flags: &[&str]) -> Result<Process, Failure> {
    let mut server = Process::start(place, &[&["mcp"], flags].concat())?;
    let client = json!({ "name": "bench", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    send_request(&mut server, 0, "initialize", &hello)?;
    server.write_line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    Ok(server)
}

/// Measures searches as tool calls, with the CPU time of the server process.
fn measure_calls(server: &mut Process, from: usize, queries: usize) -> Result<Figures, Failure> {
    let before = server.cpu_time()?;
    let mut meter = Meter::start(queries);
    for number in from..from + queries {
        meter.time_operation(|| call_search(server, number))?;
    }
    Ok(meter.stop().with_process_cpu(server.cpu_time()?.saturating_sub(before)))
}

/// Mean over rounds of equal length.
fn mean_figures(rounds: &[Figures]) -> Figures {
    let mean = |part: fn(&Figures) -> f64| rounds.iter().map(part).sum::<f64>() / rounds.len().max(1) as f64;
    Figures {
        operations: rounds.iter().map(|figures| figures.operations).sum(),
        cpu_ms_each: mean(|figures| figures.cpu_ms_each),
        wall_ms_median: mean(|figures| figures.wall_ms_median),
        wall_ms_p95: mean(|figures| figures.wall_ms_p95),
        ..Figures::default()
    }
}

fn call_search(server: &mut Process, number: usize) -> Result<(), Failure> {
    // Id 0 was taken by `initialize`.
    call_tool(server, number + 1, "memory_search", &json!({ "query": corpus::generate_query(number) }))
}

pub(super) fn call_tool(server: &mut Process, id: usize, tool: &str, arguments: &Value) -> Result<(), Failure> {
    let answer = send_request(server, id, "tools/call", &json!({ "name": tool, "arguments": arguments }))?;
    match answer["result"]["isError"].as_bool() {
        Some(false) => Ok(()),
        // A protocol error has no `result` and ends here too.
        _ => Err(process_failure(answer)),
    }
}

fn send_request(server: &mut Process, id: usize, method: &str, params: &Value) -> Result<Value, Failure> {
    server.write_line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
    server.read_json()
}
