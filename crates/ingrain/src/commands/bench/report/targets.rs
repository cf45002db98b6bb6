//! Performance targets, compared with the measurements.

use super::{Figures, ReportData, SpeedReport};
use crate::commands::bench::doors;

/// CPU milliseconds of a search, by number of memories.
const SEARCH_CPU_MS_MAX: &[(usize, f64)] = &[(10_000, 1.0), (100_000, 5.0), (1_000_000, 40.0)];
/// CPU milliseconds of a save, at any number of memories.
const SAVE_CPU_MS_MAX: f64 = 0.3;
/// Cost of a save at the largest size, relative to the smallest.
const SAVE_GROWTH_MAX: f64 = 1.3;
/// Disk syncs per save.
const SAVE_SYNCS_MAX: f64 = 1.0;
/// Number of memories, and CPU milliseconds of a cold search command at that size.
const COLD_CPU_MS_MAX: (usize, f64) = (10_000, 25.0);
/// Number of memories, and peak memory of a process in MB at that size.
const MEMORY_MB_MAX: (usize, f64) = (100_000, 150.0);
const BINARY_MB_MAX: f64 = 40.0;
/// Recall at 10 in percent, with the built-in model and with the transformer.
const RECALL_MIN: f64 = 74.0;
const RECALL_TRANSFORMER_MIN: f64 = 77.0;

const MB: f64 = 1e6;

/// One target with its measurement.
pub struct Target {
    pub description: String,
    pub measured: f64,
    pub bound: Bound,
    pub unit: &'static str,
}

pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn at_most(what: String, measured: Option<f64>, most: f64, unit: &'static str) -> Option<Target> {
        Some(Target { description: what, measured: measured?, bound: Bound::AtMost(most), unit })
    }

    pub fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.measured <= most,
            Bound::AtLeast(least) => self.measured >= least,
        }
    }
}

/// All targets that this report measured.
pub fn evaluate_targets(measured: &ReportData) -> Vec<Target> {
    let mut targets: Vec<Target> = measured.speed.iter().flat_map(targets_at_size).collect();
    targets.extend(growth_targets(&measured.speed));
    let binary = measured.machine.binary_bytes as f64 / MB;
    targets.extend(Target::at_most("binary".to_owned(), Some(binary), BINARY_MB_MAX, "MB"));
    targets.extend(measured.retrieval.as_ref().and_then(|retrieved| {
        // The transformer has a higher target.
        let transformer = retrieved.report.embedder.contains("MiniLM");
        let least = if transformer { RECALL_TRANSFORMER_MIN } else { RECALL_MIN };
        let measured = *retrieved.report.main.recall.get("10")?;
        Some(Target {
            description: format!("R@10 on {}", retrieved.name),
            measured,
            bound: Bound::AtLeast(least),
            unit: "%",
        })
    }));
    targets
}

fn targets_at_size(speed: &SpeedReport) -> Vec<Target> {
    let count = speed.count;
    // A target applies only at its own size.
    let bound = |(at, most): (usize, f64)| (at == count).then_some(most);
    let cpu = |figures: Option<&Figures>| figures.map(|figures| figures.cpu_ms_each);
    let peak = [&speed.save, &speed.search, &speed.context].map(|report| report.peak_memory_bytes).into_iter().max();
    let syncs = speed.save_figures().and_then(|figures| figures.disk_syncs_each);
    let search_most = SEARCH_CPU_MS_MAX.iter().find_map(|limit| bound(*limit));
    [
        search_most.and_then(|most| {
            Target::at_most(format!("search, CPU, among {count}"), cpu(speed.search_figures()), most, "ms")
        }),
        bound(COLD_CPU_MS_MAX).and_then(|most| {
            Target::at_most(
                format!("search command from start to answer, CPU, among {count}"),
                speed.cold_cpu_ms,
                most,
                "ms",
            )
        }),
        Target::at_most(format!("save, CPU, among {count}"), cpu(speed.save_figures()), SAVE_CPU_MS_MAX, "ms"),
        door_target(speed, doors::OVER_MCP),
        door_target(speed, doors::OVER_REST),
        Target::at_most(format!("disk syncs per save, among {count}"), syncs, SAVE_SYNCS_MAX, ""),
        bound(MEMORY_MB_MAX).and_then(|most| {
            Target::at_most(format!("peak memory among {count}"), peak.map(|bytes| bytes as f64 / MB), most, "MB")
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn door_target(speed: &SpeedReport, door: &str) -> Option<Target> {
    let measured = speed.door_figures(door).map(|figures| figures.cpu_ms_each);
    Target::at_most(format!("{door}, CPU, among {}", speed.count), measured, SAVE_CPU_MS_MAX, "ms")
}

/// Growth of the cost of a save, per interface, from the smallest to the largest size.
fn growth_targets(speed: &[SpeedReport]) -> Vec<Target> {
    let by_count = |speed: &&SpeedReport| speed.count;
    let (Some(few), Some(many)) = (speed.iter().min_by_key(by_count), speed.iter().max_by_key(by_count)) else {
        return Vec::new();
    };
    let grown = |name: &str, figures: fn(&SpeedReport) -> Option<&Figures>| {
        let ratio = figures(many)?.cpu_ms_each / figures(few)?.cpu_ms_each.max(f64::EPSILON);
        let what = format!("{name}, CPU, growth from {} to {}", few.count, many.count);
        Target::at_most(what, (few.count < many.count).then_some(ratio), SAVE_GROWTH_MAX, "times")
    };
    let ways = [
        grown("save", SpeedReport::save_figures),
        grown(doors::OVER_MCP, |speed| speed.door_figures(doors::OVER_MCP)),
        grown(doors::OVER_REST, |speed| speed.door_figures(doors::OVER_REST)),
    ];
    ways.into_iter().flatten().collect()
}
