//! Reviews: proposals that wait for a person's decision, tied to exact versions of their sources.

use crate::model::caller::{Caller, person_of_principal};
use crate::model::event::{EventBody, EventName};
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::{Evidence, Memory, Version};
use crate::model::row::{RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::vocabulary;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Event field with the user and conversation a proposal was made for. Shown only to callers who decide reviews.
pub(crate) const ORIGIN_FIELD: &str = "from";

vocabulary! {
    /// What approval does.
    Action ("review action") {
        Promote = "promote",
        ProfileUpdate = "profile_update",
        SemanticCompaction = "semantic_compaction",
        ProceduralDedup = "procedural_dedup",
        Draft = "draft",
        Forget = "forget",
        Redact = "redact",
        /// Make what an agent wrote and pinned the person's own.
        Confirm = "confirm",
    }
}

vocabulary! {
    /// State of a review.
    ReviewState ("review state") {
        Pending = "pending",
        /// Returned to the proposer, who must change the memory first.
        ChangesRequested = "changes_requested",
        Approved = "approved",
        Rejected = "rejected",
        /// Obsolete: a source has changed, or the review has expired.
        Superseded = "superseded",
    }
}

impl ReviewState {
    pub const fn is_open(self) -> bool {
        matches!(self, ReviewState::Pending | ReviewState::ChangesRequested)
    }
}

vocabulary! {
    /// Damage of a wrong approval, as estimated by the proposer.
    Risk ("risk") {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// A source of a proposal at the exact version it was proposed with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceVersion {
    pub memory: MemoryId,
    pub version: VersionId,
    pub sha256: String,
}

impl SourceVersion {
    pub(crate) fn from_memory(memory: &Memory) -> SourceVersion {
        SourceVersion { memory: memory.id, version: memory.version, sha256: memory.sha256.clone() }
    }

    pub(crate) fn from_version(version: &Version) -> SourceVersion {
        SourceVersion { memory: version.memory.id, version: version.id, sha256: version.memory.sha256.clone() }
    }
}

/// Names those who see each other's proposals, for [`Review::id_for`]: all who decide reviews, else the caller with its
/// user, project and conversation.
pub(crate) fn proposal_origin(caller: &Caller) -> String {
    match caller.role.may_decide_reviews() {
        true => String::new(),
        false => {
            let Caller { principal, user, project, conversation, .. } = caller;
            format!("{principal}\n{user:?}\n{conversation:?}")
                + &project.as_ref().map_or(String::new(), |p| format!("\n{p:?}"))
        }
    }
}

/// A person's decision on a review: the version that was read, and a comment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decision {
    /// [`Review::version`] as the decider read it. A decision without it, or on another version, is not made.
    pub version: Option<VersionId>,
    pub comment: Option<String>,
}

impl Decision {
    /// The decision on a review as it was just read.
    pub fn on(review: &Review) -> Decision {
        Decision { version: review.version, comment: None }
    }

    pub fn with_comment(self, comment: Option<String>) -> Decision {
        Decision { comment, ..self }
    }
}

/// A proposal and, once made, its decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Review {
    pub id: Uuid,
    pub action: Action,
    pub state: ReviewState,
    pub sources: Vec<SourceVersion>,
    /// The constrained memory that approval activates. `None` for `promote`, `forget`, `redact` and `confirm`, which
    /// act on the source.
    pub candidate: Option<MemoryId>,
    /// The version that the proposal is about, and that a decision must name: the candidate's, else the first source's.
    /// A change of the candidate supersedes the review. `None` only in reviews stored before decisions named versions;
    /// reading fills it in (`review::queue`).
    #[serde(default)]
    pub version: Option<VersionId>,
    pub target_store: String,
    pub target_path: Option<String>,
    /// Scope of the memory after approval.
    pub scope: Scope,
    pub rationale: String,
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    pub risk: Risk,
    pub proposer: String,
    /// The person who proposed, see [`Caller::person`]; `None` for programs, and in reviews stored before this field.
    #[serde(default)]
    pub proposer_person: Option<String>,
    /// User, project and conversation the proposer acted for. An agent or service sees its proposals only there.
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default)]
    pub conversation: Option<String>,
    #[serde(default)]
    pub reviewer: Option<String>,
    /// Comment of the reviewer.
    #[serde(default)]
    pub comment: Option<String>,
    /// The memory that approval created or activated.
    #[serde(default)]
    pub result: Option<MemoryId>,
    pub created_at: Timestamp,
    #[serde(default)]
    pub decided_at: Option<Timestamp>,
}

impl SideRecord for Review {
    const KIND: RowKind = RowKind::Reviews;
    fn row_id(&self) -> String {
        self.id.to_string()
    }
    fn row_time(&self) -> Timestamp {
        self.created_at
    }
    fn row_state(&self) -> String {
        self.state.to_string()
    }
    /// The memory under review. People may name a review by this id, too.
    fn row_subject(&self) -> String {
        self.candidate
            .or_else(|| self.sources.first().map(|source| source.memory))
            .map(|id| id.to_string())
            .unwrap_or_default()
    }
    fn row_parent(&self) -> String {
        self.target_store.clone()
    }
}

impl Review {
    /// The sources whose version must still be current at the decision. For a redaction only the first: the others are
    /// older versions of the same memory.
    pub(crate) fn required_sources(&self) -> &[SourceVersion] {
        match self.action {
            Action::Redact => self.sources.get(..1).unwrap_or_default(),
            _ => &self.sources,
        }
    }

    /// Whether this caller, with whatever key, made the proposal.
    pub(crate) fn is_own_proposal(&self, caller: &Caller) -> bool {
        let proposer = self.proposer_person.as_deref().or_else(|| person_of_principal(&self.proposer));
        self.proposer == caller.principal || (proposer.is_some() && proposer == caller.person())
    }

    /// An open copy of this review for a later version of its candidate. Its id is made from that version, so every
    /// version has a review of its own.
    pub(crate) fn for_candidate_version(&self, candidate: &Memory, at: Timestamp) -> Review {
        Review {
            id: Review::id_for_candidate(self.action, candidate),
            state: ReviewState::Pending,
            candidate: Some(candidate.id),
            version: Some(candidate.version),
            target_path: candidate.path.clone(),
            reviewer: None,
            comment: None,
            result: None,
            created_at: at,
            decided_at: None,
            ..self.clone()
        }
    }

    /// The older versions that a redaction is limited to; `None`: all versions.
    pub(crate) fn older_versions(&self) -> Option<Vec<VersionId>> {
        let older: Vec<VersionId> = self.sources.iter().skip(1).map(|source| source.version).collect();
        (!older.is_empty()).then_some(older)
    }

    /// Deterministic id of the nth proposal of this action on these versions. Two calls that propose the same at once
    /// get the same id, so only one review is created. `nth` counts earlier, decided reviews of the same content.
    ///
    /// `origin`: those who see the same proposals, see [`proposal_origin`]. Without it the id would tell a caller that
    /// somebody else has proposed the same.
    pub(crate) fn id_for(
        action: Action,
        sources: &[SourceVersion],
        store: &str,
        path: Option<&str>,
        origin: &str,
        nth: u32,
    ) -> Uuid {
        let mut hash = Sha256::new();
        for part in [action.as_str(), store, path.unwrap_or_default(), origin] {
            // Length first, so that no two lists of parts hash alike.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        sources.iter().for_each(|source| hash.update(source.version.0.as_bytes()));
        hash.update(nth.to_be_bytes());
        let digest = hash.finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// Id of the review of a candidate: one for each of its versions.
    pub(crate) fn id_for_candidate(action: Action, candidate: &Memory) -> Uuid {
        let version = [SourceVersion::from_memory(candidate)];
        Review::id_for(action, &version, &candidate.store, Some(&candidate.id.to_string()), "", 0)
    }

    /// An event about this review. Without rationale and comment, which may quote content.
    pub(crate) fn to_event(&self, name: EventName, caller: &Caller, at: Timestamp) -> EventBody {
        let mut event = EventBody::new(name, caller, at)
            .with_scope(Some(self.scope.clone()))
            .with_field("review", self.id)
            .with_field("proposer", &self.proposer)
            .with_field(ORIGIN_FIELD, self.origin_json())
            .with_field("action", self.action)
            .with_field("store", &self.target_store)
            .with_field("path", self.target_path.as_ref().filter(|_| !self.scope.is_erasable()))
            .with_field("risk", self.risk)
            .with_field("sources", self.sources.iter().map(|source| source.memory).collect::<Vec<_>>());
        // Before the decision the event is about the candidate, after it about the result.
        event.memory = self.result.or(self.candidate);
        event
    }

    fn origin_json(&self) -> serde_json::Value {
        json!({ "user": self.user, "project": self.project, "conversation": self.conversation })
    }

    /// A copy with the decision recorded.
    pub(crate) fn with_decision(
        &self,
        state: ReviewState,
        caller: &Caller,
        comment: Option<String>,
        at: Timestamp,
    ) -> Review {
        let (reviewer, decided_at) = (Some(caller.principal.clone()), Some(at));
        Review { state, reviewer, comment, decided_at, ..self.clone() }
    }
}
