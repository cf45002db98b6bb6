//! `repair`: rebuilds what is derived from versions.

use clap::Args;
use engine::text::plural::format_count;
use engine::{Repair, Verification};

use crate::commands::Job;
use crate::error::Failure;
use crate::output::{Output, Tone};

/// Rebuild rows, tags, words and counters that `verify` finds damaged from the versions of the memories
#[derive(Debug, Args)]
pub struct RepairArgs {
    /// Only show what would be rebuilt
    #[arg(long)]
    dry_run: bool,
}

impl RepairArgs {
    pub fn run(&self, job: &Job<'_>) -> Result<(), Failure> {
        let repair = job.session.engine.repair(&job.session.caller, self.dry_run)?;
        job.output.print_answer(&repair, || render_repair(job.output, &repair))?;
        match repair.after.as_ref().is_none_or(Verification::is_intact) {
            true => Ok(()),
            false => Err(Failure::AlreadyReported(1)),
        }
    }
}

fn render_repair(output: &Output, repair: &Repair) -> String {
    let row = |finding: &engine::Finding| {
        let name = finding.name.clone().or_else(|| finding.id.clone()).unwrap_or_default();
        vec![finding.code.to_string(), format!("{} {name}", finding.kind), finding.reason.clone()]
    };
    let mut lines = Vec::new();
    if !repair.findings.is_empty() {
        lines.push(output.render_table(&["found", "in", "reason"], repair.findings.iter().map(row)));
    }
    if repair.findings_left_out > 0 {
        lines.push(format!("and {} more", repair.findings_left_out));
    }
    let counts = format!(
        "{} and the counters of {}",
        format_count(repair.memories, "memory", "memories"),
        format_count(repair.places, "place", "places")
    );
    lines.push(match (repair.memories + repair.places, repair.dry_run) {
        (0, _) => "nothing to rebuild".to_owned(),
        (_, true) => format!("would rebuild {counts}; nothing was written"),
        (_, false) => format!("rebuilt {counts}; upkeep makes missing vectors"),
    });
    match &repair.after {
        Some(after) if after.is_intact() => lines.push(format!("{} now", output.paint(Tone::Good, "intact"))),
        Some(after) => {
            lines.push(format!("{} still, which nothing rebuilds:", output.paint(Tone::Bad, "damaged")));
            lines.extend(after.findings.iter().map(ToString::to_string));
        }
        None => {}
    }
    lines.join("\n")
}
