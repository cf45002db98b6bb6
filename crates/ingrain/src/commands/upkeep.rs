//! `upkeep`: do what is due.

use engine::Upkeep;

use crate::commands::Job;
use crate::error::Failure;

pub fn run(job: &Job<'_>) -> Result<(), Failure> {
    let done = job.session.engine.upkeep_now(&job.session.caller, Upkeep::default())?;
    job.output.answer(&done, || {
        let words = format!(
            "{} expired, {} faded, {} given vectors, {} drafts of live conversations kept, {} old receipts gone",
            done.expired, done.archived, done.embedded, done.extended, done.receipts
        );
        if done.elsewhere { words + "; another process is at the rest" } else { words }
    })
}
