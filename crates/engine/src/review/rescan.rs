//! Rescan: scans stored memories with today's scanner rules, which may refuse what older rules let through.

use serde::Serialize;
use uuid::Uuid;

use crate::Engine;
use crate::gate::allow_list::AllowList;
use crate::gate::{GateError, scan_draft};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::EventName;
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::{Draft, Memory, Version};
use crate::model::refusal::{FieldFinding, Refusal};
use crate::model::review::{Action, Review, Risk, SourceVersion};
use crate::model::vocabulary::{SecretAction, State};
use crate::policy::{Readable, admins_only};
use crate::ports::{Filter, ListCursor, PageRequest, SortOrder};
use crate::removal::redact;
use crate::review::propose::ProposalOutcome;
use crate::review::{consolidation, propose};
use crate::safety::{Concern, RULES_VERSION, Severity};
use crate::tenant::allow_list;
use crate::write::draft_review;

/// Order of the pages of a rescan. Oldest first: memories saved meanwhile come last.
pub const RESCAN_ORDER: SortOrder = SortOrder::Oldest;

/// Result of one page of a rescan.
#[derive(Clone, Debug, Serialize)]
pub struct RescanReport {
    pub scanned: u64,
    pub findings: Vec<StoredFinding>,
    /// New reviews; those that were open before are not counted.
    pub proposed: u64,
    /// Cursor of the next page.
    #[serde(skip)]
    pub next: Option<ListCursor>,
}

/// A stored text that would be refused today: place and rule, never the text.
#[derive(Clone, Debug, Serialize)]
pub struct StoredFinding {
    pub memory: MemoryId,
    /// The version that holds it: the current one or an older one.
    pub version: VersionId,
    pub store: String,
    pub field: &'static str,
    pub rule: &'static str,
    pub concern: Concern,
    pub severity: Severity,
    /// The review of its redaction, open or rejected.
    pub review: Option<Uuid>,
}

impl Engine {
    /// Scans every version of one page of the tenant's memories as a save would be scanned today. With `propose`, each
    /// memory with findings gets a review; its approval redacts the memory, or only the older versions with findings.
    /// Admins only.
    pub fn rescan(&self, caller: &Caller, after: Option<ListCursor>, propose: bool) -> Result<RescanReport, Error> {
        admins_only(caller)?;
        let states = vec![State::Active, State::Constrained, State::Superseded, State::Archived];
        let filter = Filter { states, ..Filter::default() };
        let page = PageRequest { order: RESCAN_ORDER, after, limit: self.limits().list_max };
        let memories = self.backend.list_memories(&Readable::whole_tenant(caller.tenant), &filter, &page)?;
        // A full page may be followed by another one.
        let last = memories.last().filter(|_| memories.len() == page.limit);
        let next = last.and_then(|memory| crate::recall::read::cursor_after(RESCAN_ORDER, memory));
        let mut report = RescanReport { scanned: memories.len() as u64, findings: Vec::new(), proposed: 0, next };
        let allowed = allow_list::load_allow_list(self, caller.tenant)?;
        for memory in &memories {
            let refused = refused_versions(self, caller, memory, &allowed)?;
            if refused.is_empty() {
                continue;
            }
            let (review, new) = match propose {
                true => propose_redaction(self, caller, memory, &refused)?,
                false => (open_redaction_review(self, caller, memory)?, false),
            };
            report.proposed += u64::from(new);
            report.findings.extend(refused.iter().flat_map(|(version, refusal)| {
                refusal.findings.iter().map(move |finding| to_stored_finding(memory, version.id, finding, review))
            }));
        }
        Ok(report)
    }
}

/// The versions that would be refused today, newest first.
fn refused_versions(
    engine: &Engine,
    caller: &Caller,
    memory: &Memory,
    allowed: &AllowList,
) -> Result<Vec<(Version, Refusal)>, Error> {
    let mut refused = Vec::new();
    for version in redact::list_all_versions(engine, caller, memory.id)? {
        let (evidence, reason) = (version.evidence.clone(), version.reason.clone());
        let draft = Draft { evidence, reason, ..Draft::from_memory(&version.memory) };
        // `Block` whatever the ruleset says: a secret that a save would redact must be found here.
        // No classifier: only the rules have changed.
        match scan_draft(draft, memory.scope.kind(), SecretAction::Block, &|| Ok(allowed.clone()), None) {
            Ok(_) => {}
            Err(GateError::Failed(error)) => return Err(error),
            Err(GateError::Refused(refusal)) => refused.push((version, refusal)),
        }
    }
    Ok(refused)
}

/// The open review of a memory's redaction.
fn open_redaction_review(engine: &Engine, caller: &Caller, memory: &Memory) -> Result<Option<Uuid>, Error> {
    let is_redaction = |review: &Review| {
        review.action == Action::Redact && review.sources.iter().any(|source| source.memory == memory.id)
    };
    let open = consolidation::list_open_reviews(engine, caller, Some(&memory.store))?;
    Ok(open.iter().find(|review| is_redaction(review)).map(|review| review.id))
}

fn propose_redaction(
    engine: &Engine,
    caller: &Caller,
    memory: &Memory,
    refused: &[(Version, Refusal)],
) -> Result<(Option<Uuid>, bool), Error> {
    let findings: Vec<&FieldFinding> = refused.iter().flat_map(|(_, refusal)| &refusal.findings).collect();
    let in_path = findings.iter().any(|finding| finding.field == "path");
    // A path with a finding is not repeated in the review.
    let path = memory.path.clone().filter(|_| !in_path);
    let mut sources = vec![SourceVersion::from_memory(memory)];
    // With a finding in the current version, the approval redacts all versions: the older ones need no mention.
    if refused.iter().all(|(version, _)| version.id != memory.version) {
        sources.extend(refused.iter().map(|(version, _)| SourceVersion::from_version(version)));
    }
    let scope = memory.scope.clone();
    let review = Review {
        rationale: redaction_rationale(&findings),
        // A redaction cannot be undone.
        risk: Risk::High,
        ..draft_review::new_review(engine, caller, Action::Redact, sources, &memory.store, path, scope)
    };
    Ok(match propose::enqueue_review(engine, caller, &review, EventName::ReviewProposed)? {
        ProposalOutcome::Waiting { review, new } => (Some(review.id), new),
        ProposalOutcome::Refused(_) => (None, false),
    })
}

fn to_stored_finding(
    memory: &Memory,
    version: VersionId,
    finding: &FieldFinding,
    review: Option<Uuid>,
) -> StoredFinding {
    StoredFinding {
        memory: memory.id,
        version,
        store: memory.store.clone(),
        field: finding.field,
        rule: finding.rule,
        concern: finding.concern,
        severity: finding.severity,
        review,
    }
}

fn redaction_rationale(findings: &[&FieldFinding]) -> String {
    let mut found: Vec<String> =
        findings.iter().map(|finding| format!("`{}` in {}", finding.rule, finding.field)).collect();
    found.sort();
    found.dedup();
    format!("the scanner rules of version {RULES_VERSION} would refuse it: {}", found.join(", "))
}
