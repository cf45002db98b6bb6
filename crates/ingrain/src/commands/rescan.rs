//! `scan --all`: scans stored memories with the current rules.

use std::collections::HashSet;

use engine::StoredFinding;
use engine::safety::RULES_VERSION;
use engine::text::plural::format_count;
use serde_json::json;

use crate::commands::Job;
use crate::commands::export::ProgressCounter;
use crate::error::Failure;

pub fn run(job: &Job<'_>, propose: bool) -> Result<(), Failure> {
    let (engine, caller) = (&job.session.engine, &job.session.caller);
    let mut progress = ProgressCounter::new(job.output, "scanned");
    let (mut scanned, mut proposed, mut findings) = (0, 0, Vec::new());
    let mut after = None;
    loop {
        let batch = engine.rescan(caller, after, propose)?;
        // One by one, because the counter updates at exact multiples only.
        (0..batch.scanned).for_each(|_| progress.count_piece());
        scanned += batch.scanned;
        proposed += batch.proposed;
        findings.extend(batch.findings);
        after = batch.next;
        if after.is_none() {
            break;
        }
    }
    progress.finish();
    let view =
        json!({ "rules_version": RULES_VERSION, "scanned": scanned, "proposed": proposed, "findings": findings });
    job.output.print_answer(&view, || {
        let review = |finding: &StoredFinding| finding.review.map(|id| id.to_string()).unwrap_or_default();
        let row = |finding: &StoredFinding| {
            let severity = format!("{:?}", finding.severity).to_lowercase();
            let (memory, field, rule) = (finding.memory.to_string(), finding.field.to_owned(), finding.rule.to_owned());
            let version = finding.version.to_string();
            vec![memory, version, finding.store.clone(), field, rule, severity, review(finding)]
        };
        // Several findings of one memory share a review.
        let waiting: HashSet<_> = findings.iter().filter_map(|finding| finding.review).collect();
        let totals = format!(
            "{}, {}, {proposed} proposed now, {} (`ingrain review list --action redact`)",
            format_count(scanned, "memory", "memories"),
            format_count(findings.len(), "finding", "findings"),
            format_count(waiting.len(), "review", "reviews")
        );
        match findings.is_empty() {
            true => totals,
            false => {
                let header = ["memory", "version", "store", "field", "rule", "severity", "review"];
                format!("{}\n{totals}", job.output.render_table(&header, findings.iter().map(row)))
            }
        }
    })?;
    // Exit 3, as for a file that would be refused: a proposal does not redact anything yet.
    match findings.is_empty() {
        true => Ok(()),
        false => Err(Failure::REFUSAL_REPORTED),
    }
}
