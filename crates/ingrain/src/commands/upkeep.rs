//! `upkeep`: runs one round of upkeep.

use engine::{UpkeepOptions, UpkeepReport};
use serde_json::json;

use crate::commands::Job;
use crate::error::Failure;

pub fn run(job: &Job<'_>) -> Result<(), Failure> {
    let upkeep = UpkeepOptions::default();
    let done = job.session.engine.upkeep_now(&job.session.caller, upkeep)?;
    let warning = missing_vectors_warning(&done, upkeep);
    // The report has no warnings of its own; an unreachable embedder is one.
    let mut view = json!(done);
    if let (Some(view), Some(warning)) = (view.as_object_mut(), &warning) {
        view.insert("warnings".to_owned(), json!([warning]));
    }
    job.output.print_answer(&view, || {
        let words = format!(
            "{} expired, {} archived, {} vectors added, {} drafts of active conversations extended, \
             {} old receipts deleted",
            done.expired, done.archived, done.embedded, done.extended, done.receipts
        );
        let words = match done.restored {
            0 => words,
            restored => format!("{words}; {restored} restored that a clock running ahead had archived"),
        };
        let words = if done.elsewhere { words + "; another process does the rest" } else { words };
        warning.iter().fold(words, |words, warning| format!("{words}\n{warning}"))
    })
}

/// Number of memories without a vector and the reason. Searches find them by words only.
fn missing_vectors_warning(done: &UpkeepReport, upkeep: UpkeepOptions) -> Option<String> {
    let why = done.embedder_down.as_ref()?;
    // The count stops at one batch.
    let least = if done.unembedded >= upkeep.batch as u64 { "at least " } else { "" };
    Some(format!("{least}{} still without a vector: {why}", done.unembedded))
}
