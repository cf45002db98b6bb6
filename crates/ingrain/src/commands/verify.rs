//! `verify`: replays the event log against the data.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use engine::text::plural::format_count;
use engine::{Checkpoint, FindingCode, Verdict, Verification};
use serde::Serialize;

use crate::checkpoints;
use crate::commands::Job;
use crate::error::Failure;
use crate::output::{Output, Tone};

/// Check that the data is what the event log says
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Take what was written before the log covered the data into the log, as it is now
    #[arg(long)]
    adopt: bool,
    /// Take the database as it is, after an older copy was put back on purpose
    #[arg(long)]
    accept_restored: bool,
    /// Add a signed checkpoint of the log to a file, or print it; first prove that the log continues from those in it
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    checkpoint: Option<PathBuf>,
    /// File with the key that signs checkpoints, made at first use in the home folder if none is named
    #[arg(long, value_name = "FILE")]
    checkpoint_key: Option<PathBuf>,
    /// Start with this tenant in a file that has checkpoints of other tenants only
    #[arg(long, requires = "checkpoint")]
    add_tenant: bool,
}

#[derive(Serialize)]
struct VerifyReport {
    verdict: Verdict,
    #[serde(flatten)]
    verified: Verification,
    #[serde(skip_serializing_if = "Option::is_none")]
    adopted: Option<u64>,
    /// Checkpoints that the log is a continuation of, and why it is not of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoints: Option<CheckpointReport>,
}

#[derive(Default, Serialize)]
struct CheckpointReport {
    proven: u64,
    contradictions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Checkpoint>,
}

impl VerifyArgs {
    pub fn run(&self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        if self.accept_restored {
            engine.accept_restored(caller)?;
        }
        let adopted = self.adopt.then(|| engine.adopt_uncovered(caller)).transpose()?;
        let verified = engine.verify(caller)?;
        let checkpoints = self.check_checkpoints(job, &verified)?;
        let is_proven = checkpoints.as_ref().is_none_or(|report| report.contradictions.is_empty());
        let report = VerifyReport { verdict: verified.verdict(), verified, adopted, checkpoints };
        job.output.print_answer(&report, || render_report(job.output, &report))?;
        match report.verified.is_intact() && is_proven {
            true => Ok(()),
            false => Err(Failure::AlreadyReported(1)),
        }
    }

    /// Proves that the log continues from the checkpoints of the file, then adds a new one.
    fn check_checkpoints(&self, job: &Job<'_>, verified: &Verification) -> Result<Option<CheckpointReport>, Failure> {
        let Some(wanted) = &self.checkpoint else { return Ok(None) };
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let file = Some(wanted.as_path()).filter(|path| *path != Path::new("-"));
        let mut known = file.map(checkpoints::read_checkpoints).transpose()?.unwrap_or_default();
        let is_new_file = known.is_empty();
        // One file may hold the checkpoints of several tenants.
        let mut concerns = Vec::with_capacity(known.len());
        for checkpoint in &known {
            concerns.push(engine.concerns_tenant(caller, checkpoint)?);
        }
        let mut concerns = concerns.into_iter();
        known.retain(|_| concerns.next().unwrap_or(true));
        if known.is_empty() && !is_new_file && !self.add_tenant {
            let message = "the file has checkpoints, but none of this tenant: is this the right database?";
            let hint = "check `--db` and `--tenant`; `--add-tenant` starts with a new tenant in this file";
            return Err(Failure::user_error("checkpoint.other_tenant", message.to_owned()).with_hint(hint.to_owned()));
        }
        let key = checkpoints::load_key(&job.home, self.checkpoint_key.as_deref())?;
        if let Some(warning) = &key.warning {
            job.output.print_note(warning);
        }
        let key = key.text;
        let mut report = CheckpointReport::default();
        for checkpoint in &known {
            match engine.contradicts_checkpoint(caller, checkpoint, &key)? {
                None => report.proven += 1,
                Some(why) => report.contradictions.push(why),
            }
        }
        // A damaged log must not become the one that later ones are measured by.
        if verified.is_intact() && report.contradictions.is_empty() {
            let checkpoint = engine.checkpoint(caller, verified, &key)?;
            if let Some(file) = file {
                checkpoints::append_checkpoint(file, &checkpoint)?;
            }
            report.new = Some(checkpoint);
        }
        Ok(Some(report))
    }
}

fn render_report(output: &Output, report: &VerifyReport) -> String {
    let verified = &report.verified;
    let counts = format!(
        "{}, {}, {}, {}",
        format_count(verified.entries, "entry", "entries"),
        format_count(verified.checked.versions, "version", "versions"),
        format_count(verified.checked.memories, "memory", "memories"),
        format_count(verified.checked.records, "record", "records"),
    );
    let mut text = match report.verdict {
        Verdict::Intact => format!("{}: {counts}, last hash {}", output.paint(Tone::Good, "intact"), verified.hash),
        Verdict::NotCovered => format!(
            "{}: {counts}, last hash {}",
            output.paint(Tone::Strong, "nothing differs, but the log does not cover everything"),
            verified.hash
        ),
        // Rows that changed all the while are no damage, but nothing is proven either.
        _ if verified.broken.is_none() && verified.findings.is_empty() => {
            format!("{}: {counts}", output.paint(Tone::Bad, "not compared"))
        }
        _ => format!("{}: {counts}", output.paint(Tone::Bad, "damaged")),
    };
    // Writing to a string does not fail.
    if let Some(broken) = &verified.broken {
        let _ = write!(text, "\nlog entry {}: {}", broken.seq, broken.reason);
    }
    for finding in &verified.findings {
        let _ = write!(text, "\n{finding}");
    }
    if verified.findings_left_out > 0 {
        let _ = write!(text, "\nand {} more", verified.findings_left_out);
    }
    if verified.findings.iter().any(|finding| finding.code == FindingCode::LogLost) {
        let _ = write!(text, "\nif an older copy was put back on purpose: `ingrain verify --accept-restored`");
    }
    if let Some(adopted) = report.adopted {
        let _ = write!(text, "\nadopted {}", format_count(adopted, "row", "rows"));
    }
    if let Some(checkpoints) = &report.checkpoints {
        if checkpoints.proven > 0 {
            let count = format_count(checkpoints.proven, "checkpoint", "checkpoints");
            let _ = write!(text, "\nthe log continues from {count}");
        }
        for why in &checkpoints.contradictions {
            let _ = write!(text, "\n{}: {why}", output.paint(Tone::Bad, "checkpoint"));
        }
        if let Some(new) = &checkpoints.new {
            let _ = write!(text, "\ncheckpoint {}", checkpoints::to_line(new));
        }
    }
    if verified.uncovered > 0 {
        let _ = write!(
            text,
            "\n{} written before the log covered the data; `ingrain verify --adopt` takes them into the log",
            format_count(verified.uncovered, "row was", "rows were")
        );
    }
    if verified.unsettled > 0 {
        let changed = format_count(verified.unsettled, "row", "rows");
        let _ = write!(text, "\n{changed} changed all the while and could not be compared");
    }
    text
}
