//! `verify`: checks the hash chain of the event log.

use crate::commands::Job;
use crate::error::Failure;
use crate::output::Tone;
use engine::text::plural::format_count;

pub fn run(job: &Job<'_>) -> Result<(), Failure> {
    let verified = job.session.engine.verify(&job.session.caller)?;
    job.output.print_answer(&verified, || match &verified.broken {
        None => format!(
            "{}: {}, last hash {}",
            job.output.paint(Tone::Good, "intact"),
            format_count(verified.entries, "entry", "entries"),
            verified.hash
        ),
        Some(broken) => format!("{} at entry {}: {}", job.output.paint(Tone::Bad, "broken"), broken.seq, broken.reason),
    })?;
    match verified.broken {
        None => Ok(()),
        Some(_) => Err(Failure::AlreadyReported(1)),
    }
}
