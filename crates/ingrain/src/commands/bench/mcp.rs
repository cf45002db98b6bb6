//! `bench mcp`: what a tool call over the standard streams adds to the engine's own time.

use serde::Serialize;
use serde_json::{Value, json};

use super::measure::{Figures, Meter};
use super::process::{Process, broken};
use super::{WARM_UP, corpus, fill, searches};
use crate::assemble::Session;
use crate::commands::demo::Throwaway;
use crate::config::Config;
use crate::error::Failure;
use crate::output::Output;

#[derive(Serialize)]
pub struct McpReport {
    count: usize,
    /// The engine's own searches, as the same caller.
    engine: Figures,
    /// The same searches as tool calls.
    tool: Figures,
    /// CPU time a call adds in the process that serves it.
    added_cpu_ms_each: f64,
}

pub fn run(config: &Config, output: &Output, count: usize, queries: usize) -> Result<(), Failure> {
    let place = Throwaway::new("bench")?;
    let session = Session::open(&place.config(config))?;
    fill(&session, 0..count)?;
    searches(&session, 0, WARM_UP)?;
    let engine = searches(&session, WARM_UP, queries)?.named("engine");
    session.close()?;
    let mut door = Process::start(&place, &["mcp", "--as", "admin"])?;
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
    ask(&mut door, 0, "initialize", &hello)?;
    door.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    (0..WARM_UP).try_for_each(|number| search(&mut door, number))?;
    let before = door.cpu().ok_or_else(|| broken("the system does not tell its CPU time"))?;
    let mut meter = Meter::start(queries);
    for number in WARM_UP..WARM_UP + queries {
        meter.time(|| search(&mut door, number))?;
    }
    let spent = door.cpu().unwrap_or_default().saturating_sub(before);
    let cpu_ms_each = spent.as_secs_f64() * 1e3 / queries.max(1) as f64;
    let tool = Figures { cpu_ms_each, ..meter.stop().named("tool call") };
    let report = McpReport { count, added_cpu_ms_each: cpu_ms_each - engine.cpu_ms_each, engine, tool };
    output.answer(&report, || {
        let row = |figures: &Figures| {
            let numbers = [figures.cpu_ms_each, figures.wall_ms_median, figures.wall_ms_p95];
            let shown = numbers.iter().map(|ms| format!("{ms:.3}"));
            std::iter::once(figures.name.clone()).chain(shown).collect::<Vec<_>>()
        };
        let rows = [row(&report.engine), row(&report.tool)];
        let table = output.table(&["", "CPU ms each", "wall ms median", "wall ms p95"], rows);
        format!("{table}\na tool call adds {:.3} ms of CPU, among {count} memories", report.added_cpu_ms_each)
    })
}

fn search(door: &mut Process, number: usize) -> Result<(), Failure> {
    let arguments = json!({ "query": corpus::query(number) });
    let answer = ask(door, number + 1, "tools/call", &json!({ "name": "memory_search", "arguments": arguments }))?;
    match answer["result"]["isError"].as_bool() {
        Some(false) => Ok(()),
        _ => Err(broken(answer)),
    }
}

fn ask(door: &mut Process, id: usize, method: &str, params: &Value) -> Result<Value, Failure> {
    door.tell(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
    door.said()
}
