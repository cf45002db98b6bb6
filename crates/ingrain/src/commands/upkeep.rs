//! `upkeep`: do what is due.

use engine::Upkeep;

use crate::commands::Job;
use crate::error::Failure;

pub fn run(job: &Job<'_>) -> Result<(), Failure> {
    let done = job.session.engine.upkeep(job.session.caller.tenant, Upkeep::default())?;
    job.output.answer(&done, || {
        let words = format!("{} expired, {} faded, {} given vectors", done.expired, done.archived, done.embedded);
        if done.elsewhere { words + "; another process is at the rest" } else { words }
    })
}
