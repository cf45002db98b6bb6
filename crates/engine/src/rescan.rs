//! Scan again what is stored: rules change, and what passed the old ones may not pass the new.

use serde::Serialize;
use uuid::Uuid;

use crate::Engine;
use crate::caller::Caller;
use crate::error::Error;
use crate::event::EventName;
use crate::gate::{Stop, scan};
use crate::id::MemoryId;
use crate::memory::{Draft, Memory};
use crate::pipeline::admins_only;
use crate::policy::Readable;
use crate::ports::{Cursor, Filter, Order, Page};
use crate::propose::Proposed;
use crate::refusal::{FieldFinding, Refusal};
use crate::review::{Action, Review, Risk, Source};
use crate::safety::{Concern, RULES_VERSION, Severity};
use crate::vocabulary::{SecretAction, State};

/// How the stretches of a rescan follow each other: what is saved meanwhile comes last.
pub const RESCAN_ORDER: Order = Order::Oldest;

/// What a stretch of a rescan found.
#[derive(Clone, Debug, Serialize)]
pub struct Rescanned {
    pub scanned: u64,
    pub findings: Vec<StoredFinding>,
    /// Reviews that were made; those that waited already do not count.
    pub proposed: u64,
    /// Where the next stretch begins.
    #[serde(skip)]
    pub next: Option<Cursor>,
}

/// Something stored that would be refused today: where and by which rule, never the text.
#[derive(Clone, Debug, Serialize)]
pub struct StoredFinding {
    pub memory: MemoryId,
    pub store: String,
    pub field: &'static str,
    pub rule: &'static str,
    pub concern: Concern,
    pub severity: Severity,
    /// The review that waits for somebody to decide the redaction, or was rejected.
    pub review: Option<Uuid>,
}

impl Engine {
    /// Scans a stretch of the tenant's memories as a save would be today; with `propose` each that would be refused
    /// gets a review whose approval redacts it.
    pub fn rescan(&self, caller: &Caller, after: Option<Cursor>, propose: bool) -> Result<Rescanned, Error> {
        admins_only(caller)?;
        let states = vec![State::Active, State::Constrained, State::Superseded, State::Archived];
        let filter = Filter { states, ..Filter::default() };
        let page = Page { order: RESCAN_ORDER, after, limit: self.limits().list_max };
        let memories = self.backend.list(&Readable::everything(caller.tenant), &filter, &page)?;
        let last = memories.last().filter(|_| memories.len() == page.limit);
        let next = last.and_then(|memory| crate::read::cursor(RESCAN_ORDER, memory));
        let mut done = Rescanned { scanned: memories.len() as u64, findings: Vec::new(), proposed: 0, next };
        let allowed = self.allow_list(caller.tenant)?;
        for memory in &memories {
            let draft = self.draft_as_stored(caller, memory)?;
            match scan(draft, memory.scope.kind(), SecretAction::Block, &|| Ok(allowed.clone()), None) {
                Ok(_) => {}
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Refused(refusal)) => {
                    let (review, new) = match propose {
                        true => self.propose_redaction(caller, memory, &refusal)?,
                        false => (None, false),
                    };
                    done.proposed += u64::from(new);
                    done.findings.extend(refusal.findings.iter().map(|finding| stored(memory, finding, review)));
                }
            }
        }
        Ok(done)
    }

    /// Every text that is kept of a memory's present version.
    fn draft_as_stored(&self, caller: &Caller, memory: &Memory) -> Result<Draft, Error> {
        let version = self.backend.version(&Readable::everything(caller.tenant), memory.version)?;
        let (evidence, reason) = version.map(|version| (version.evidence, version.reason)).unwrap_or_default();
        Ok(Draft { evidence, reason, ..Draft::of(memory) })
    }

    fn propose_redaction(
        &self,
        caller: &Caller,
        memory: &Memory,
        refusal: &Refusal,
    ) -> Result<(Option<Uuid>, bool), Error> {
        let in_path = refusal.findings.iter().any(|finding| finding.field == "path");
        let path = memory.path.clone().filter(|_| !in_path);
        let (sources, scope) = (vec![Source::of(memory)], memory.scope.clone());
        let review = Review {
            rationale: rationale(refusal),
            // What is redacted does not come back.
            risk: Risk::High,
            ..self.drafted(caller, Action::Redact, sources, &memory.store, path, scope)
        };
        Ok(match self.put_up(caller, &review, EventName::ReviewProposed)? {
            Proposed::Waiting { review, new } => (Some(review.id), new),
            Proposed::Refused(_) => (None, false),
        })
    }
}

fn stored(memory: &Memory, finding: &FieldFinding, review: Option<Uuid>) -> StoredFinding {
    StoredFinding {
        memory: memory.id,
        store: memory.store.clone(),
        field: finding.field,
        rule: finding.rule,
        concern: finding.concern,
        severity: finding.severity,
        review,
    }
}

fn rationale(refusal: &Refusal) -> String {
    let mut found: Vec<String> =
        refusal.findings.iter().map(|finding| format!("`{}` in {}", finding.rule, finding.field)).collect();
    found.sort();
    found.dedup();
    format!("rules version {RULES_VERSION} of the scanner would refuse it: {}", found.join(", "))
}
