//! Makes one list out of what all views found.
use super::Concern;
use super::Finding;
use super::scan::RuleHit;

/// Orders hits by start and joins the overlapping ones of a concern under the most telling rule.
pub(super) fn merge_hits(text: &str, mut hits: Vec<RuleHit>) -> Vec<Finding> {
    for hit in &mut hits {
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
        // Two orders that overlap may want different things; each is said.
        && (last.finding.concern != Concern::Injection || last.finding.intent == next.finding.intent)
}

fn absorb_hit(last: &mut RuleHit, next: RuleHit) {
    let end = last.finding.end.max(next.finding.end);
    let severity = last.finding.severity.max(next.finding.severity);
    if next.weight > last.weight {
        let start = last.finding.start;
        *last = next;
        last.finding.start = start;
    }
    last.finding.end = end;
    last.finding.severity = severity;
}
