//! `bench doors`: what a save costs in process, as a tool call and over REST: one saver, who waits for each answer.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::measure::{Figures, Meter};
use super::process::Process;
use super::{corpus, fill, mcp, serve};
use crate::assemble::Session;
use crate::commands::demo::Throwaway;
use crate::config::Config;
use crate::error::Failure;
use crate::output::Output;

/// Saves before measuring: a process that just started reads what it needs.
const WARM_UP: usize = 200;

pub const IN_PROCESS: &str = "save in process";
pub const OVER_MCP: &str = "save over MCP";
pub const OVER_REST: &str = "save over REST";

#[derive(Serialize, Deserialize)]
pub struct DoorsReport {
    pub count: usize,
    pub figures: Vec<Figures>,
}

/// One after the other: each has the database to itself.
pub fn run(config: &Config, output: &Output, count: usize, saves: usize) -> Result<(), Failure> {
    let place = Throwaway::new("bench")?;
    let stretch = |nth: usize| count + nth * (WARM_UP + saves)..count + (nth + 1) * (WARM_UP + saves);
    let in_process = in_process(&place.config(config), stretch(0))?.named(IN_PROCESS);
    let over_mcp = over_mcp(&place, stretch(1))?.named(OVER_MCP);
    let over_rest = over_rest(&place, stretch(2))?.named(OVER_REST);
    let report = DoorsReport { count, figures: vec![in_process, over_mcp, over_rest] };
    output.answer(&report, || super::timed(output, &report.figures))
}

fn in_process(config: &Config, numbers: Range<usize>) -> Result<Figures, Failure> {
    let session = Session::open(config)?;
    let measured = numbers.start + WARM_UP..numbers.end;
    fill(&session, 0..measured.start)?;
    let figures = fill(&session, measured)?;
    session.close()?;
    Ok(figures)
}

fn over_mcp(place: &Throwaway, numbers: Range<usize>) -> Result<Figures, Failure> {
    let mut door = mcp::open(place, &["--as", "agent:bench", "--conversation", "bench"])?;
    measured(numbers, &mut door, |door, number| {
        let arguments = json!({
            "target_store_slug": "conversation_memory", "document_type": "tool_usage_lesson",
            "path": format!("bench/{number}"), "content": corpus::text(number), "evidence_summary": "seen in a benchmark",
        });
        mcp::call(door, number, "memory_remember", &arguments)
    })
}

fn over_rest(place: &Throwaway, numbers: Range<usize>) -> Result<Figures, Failure> {
    let (mut server, house) = serve::open(place)?;
    let mut line = house.line()?;
    measured(numbers, &mut server, |_, number| line.save(&corpus::text(number)))
}

/// The saves after the first ones, with the CPU time of the process that answers them.
fn measured(
    mut numbers: Range<usize>,
    door: &mut Process,
    mut save: impl FnMut(&mut Process, usize) -> Result<(), Failure>,
) -> Result<Figures, Failure> {
    numbers.by_ref().take(WARM_UP).try_for_each(|number| save(door, number))?;
    let before = door.cpu()?;
    let mut meter = Meter::start(numbers.len());
    for number in numbers {
        meter.time(|| save(door, number))?;
    }
    Ok(meter.stop().of_other(door.cpu()?.saturating_sub(before)))
}
