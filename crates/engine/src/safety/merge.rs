//! Merges the hits of all views into one list of findings.
use super::Concern;
use super::Finding;
use super::scan::RuleHit;

/// Sorts hits by start and joins overlapping hits of one concern under the rule with the greatest weight.
pub(super) fn merge_hits(text: &str, mut hits: Vec<RuleHit>) -> Vec<Finding> {
    for hit in &mut hits {
        // Spans mapped back from a rewritten view may point into a character: widen them to whole characters.
        hit.finding.start = text.floor_char_boundary(hit.finding.start);
        hit.finding.end = text.ceil_char_boundary(hit.finding.end.max(hit.finding.start));
    }
    hits.retain(|hit| hit.finding.end > hit.finding.start);
    hits.sort_by_key(|hit| (hit.finding.concern, hit.finding.start, hit.finding.end));
    let mut merged: Vec<RuleHit> = Vec::new();
    for hit in hits {
        match merged.last_mut() {
            Some(last) if is_same_finding(last, &hit) => absorb_hit(last, hit),
            _ => merged.push(hit),
        }
    }
    let mut findings: Vec<Finding> = merged.into_iter().map(|hit| hit.finding).collect();
    findings.sort_by_key(|finding| (finding.start, finding.end));
    findings
}

fn is_same_finding(last: &RuleHit, next: &RuleHit) -> bool {
    last.finding.concern == next.finding.concern
        && next.finding.start < last.finding.end
        // Overlapping orders with different intents stay separate findings.
        && (last.finding.concern != Concern::Injection || last.finding.intent == next.finding.intent)
}

fn absorb_hit(last: &mut RuleHit, next: RuleHit) {
    let end = last.finding.end.max(next.finding.end);
    let severity = last.finding.severity.max(next.finding.severity);
    if next.weight > last.weight {
        // The heavier rule gives its name; the span covers both hits and the severity is the higher one.
        let start = last.finding.start;
        *last = next;
        last.finding.start = start;
    }
    last.finding.end = end;
    last.finding.severity = severity;
}
