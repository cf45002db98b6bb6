//! Reviews, redaction, rollback, quarantine, runs: what people decide.

use engine::certificate::Certificate;
use engine::id::{MemoryId, VersionId};
use engine::review::{Action, Queue, Review, ReviewState, Risk};
use engine::{Closed, Closing, Promotion, Reference, Run, RunOutcome};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::memory::{EvidenceBody, MemoryView, SavedView};
use super::{ActionWord, Id, ReviewStateWord, RiskWord, RunOutcomeWord, any_reason, bounded, reason};
use crate::problem::Problem;

/// A memory that should be read by all.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Propose")]
pub struct ProposeBody {
    /// The memory.
    #[schemars(with = "Id")]
    pub memory: MemoryId,
    pub target_store: String,
    /// The source's own path, where none is named.
    #[serde(default)]
    pub target_path: Option<String>,
    pub rationale: String,
    #[serde(default)]
    pub evidence: Vec<EvidenceBody>,
    #[serde(default = "low")]
    #[schemars(with = "RiskWord")]
    pub risk: Risk,
}

fn low() -> Risk {
    Risk::Low
}

impl From<ProposeBody> for Promotion {
    fn from(body: ProposeBody) -> Promotion {
        Promotion {
            source: Reference::Id(body.memory),
            target_store: body.target_store,
            target_path: body.target_path,
            rationale: body.rationale,
            evidence: body.evidence.into_iter().map(Into::into).collect(),
            risk: body.risk,
        }
    }
}

/// Something that waits for a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Review")]
pub struct ReviewBrief {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub review: Review,
}

/// A proposal, and whether it is a new one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Proposed")]
pub struct ProposedView {
    pub new: bool,
    pub review: ReviewBrief,
}

/// One review with what a decision needs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewDetail")]
pub struct ReviewDetail {
    pub review: ReviewBrief,
    /// The text that would stand.
    pub proposed: Option<MemoryView>,
    /// What stands at the target now, or what would be replaced.
    pub standing: Vec<MemoryView>,
    pub evidence: Vec<EvidenceBody>,
    /// Why approval would be refused now.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub verdict: Option<engine::refusal::Refusal>,
    /// Why the proposal is out of date.
    pub outdated: Option<String>,
}

impl From<engine::review::ReviewView> for ReviewDetail {
    fn from(view: engine::review::ReviewView) -> ReviewDetail {
        ReviewDetail {
            review: ReviewBrief { review: view.review },
            proposed: view.proposed.map(MemoryView::whole),
            standing: view.standing.into_iter().map(MemoryView::whole).collect(),
            evidence: view.evidence.into_iter().map(EvidenceBody::from).collect(),
            verdict: view.verdict,
            outdated: view.outdated,
        }
    }
}

/// Which reviews.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReviewParams {
    #[schemars(with = "Option<ReviewStateWord>")]
    pub state: Option<ReviewState>,
    #[schemars(with = "Option<ActionWord>")]
    pub action: Option<Action>,
    pub store: Option<String>,
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// Where the queue goes on, as clients get it.
pub(crate) fn queue_cursor(queue: &Queue) -> Option<String> {
    queue.next.as_ref().map(|(at, id)| format!("{}_{id}", at.as_microsecond()))
}

pub(crate) fn queue_after(text: &str) -> Result<(Timestamp, String), Problem> {
    let read = text.split_once('_').and_then(|(micros, id)| {
        let at = Timestamp::from_microsecond(micros.parse().ok()?).ok()?;
        Some((at, id.to_owned()))
    });
    read.ok_or_else(|| Problem::bad_request("shape.cursor", "this cursor is not of this listing"))
}

/// What a reviewer says.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Decide")]
pub struct DecideBody {
    #[serde(deserialize_with = "any_reason")]
    #[schemars(length(max = 4096))]
    pub comment: Option<String>,
}

/// What must change first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RequestChanges")]
pub struct ChangesBody {
    #[serde(deserialize_with = "reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub comment: String,
}

/// What a decision did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Decided")]
pub struct DecidedView {
    pub review: ReviewBrief,
    /// What stands after an approval.
    pub memory: Option<SavedView>,
}

/// What shall be redacted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Redact")]
pub struct RedactBody {
    #[serde(deserialize_with = "reason")]
    #[schemars(length(min = 1, max = 4096))]
    pub reason: String,
    /// Only these versions; without them, all, and the memory is tombstoned.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Id>>")]
    pub versions: Option<Vec<VersionId>>,
    /// The same value may be saved again.
    #[serde(default)]
    pub may_return: bool,
}

/// What a redaction did, with its certificate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Redacted")]
pub struct RedactedView {
    pub memory: SavedView,
    pub versions: u64,
    #[schemars(with = "Map<String, Value>")]
    pub certificate: Certificate,
    /// Memories made from it, held back until somebody has looked.
    #[schemars(with = "Vec<Id>")]
    pub held_back: Vec<MemoryId>,
}

/// How a memory is taken back.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Rollback")]
pub struct RollbackBody {
    /// Also bring back what it had replaced.
    pub restore: bool,
    #[serde(deserialize_with = "any_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RolledBack")]
pub struct RolledBackView {
    pub memory: SavedView,
    pub restored: Vec<SavedView>,
    /// What stays replaced, and why.
    pub not_restored: Vec<String>,
}

/// How far a quarantine goes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Quarantine")]
pub struct QuarantineBody {
    /// Also everything derived from it.
    pub derived: bool,
    #[serde(deserialize_with = "any_reason")]
    #[schemars(length(max = 4096))]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Quarantined")]
pub struct QuarantinedView {
    pub memories: Vec<SavedView>,
    /// Runs and conversations that had been given one of them.
    pub reached: Vec<String>,
}

/// What a memory was made from, and what was made from it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Lineage")]
pub struct LineageView {
    pub sources: Vec<MemoryView>,
    pub derived: Vec<MemoryView>,
}

/// A run to open.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "OpenRun")]
pub struct OpenRunBody {
    /// A fresh one, where neither this nor `X-Run-Id` names one.
    pub id: Option<String>,
    pub goal: Option<String>,
    pub workflow: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CloseRun")]
pub struct CloseRunBody {
    #[schemars(with = "RunOutcomeWord")]
    pub outcome: RunOutcome,
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub workflow: Option<String>,
}

impl CloseRunBody {
    pub fn closing(self, run: String) -> Closing {
        Closing { run, outcome: self.outcome, summary: self.summary, workflow: self.workflow }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub struct RunView {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub run: Run,
}

/// What a closed run left behind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ClosedRun")]
pub struct ClosedView {
    pub run: RunView,
    /// Working memories that were tombstoned.
    pub tombstoned: u64,
    pub episode: SavedView,
    pub procedure: Option<SavedView>,
}

impl From<Closed> for ClosedView {
    fn from(closed: Closed) -> ClosedView {
        ClosedView {
            run: RunView { run: closed.run },
            tombstoned: closed.tombstoned,
            episode: SavedView::changed(&closed.episode, "created"),
            procedure: closed.procedure.as_ref().map(|memory| SavedView::changed(memory, "created")),
        }
    }
}

/// Which runs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunParams {
    pub open: bool,
    #[serde(default, deserialize_with = "bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}
