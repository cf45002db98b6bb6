//! What happened: an append-only, numbered, hash-chained log per tenant.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::model::caller::Caller;
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::scope::Scope;
use crate::model::vocabulary::Role;
use crate::text::digest::to_hex;
use crate::vocabulary;

vocabulary! {
    /// Everything that can happen, with its stable name.
    EventName ("event") {
        WriteCreated = "memory.write.created",
        WriteUpdated = "memory.write.updated",
        WriteBlocked = "memory.write.blocked",
        PolicyDenied = "memory.policy.denied",
        SafetyFlagged = "memory.safety.flagged",
        Search = "memory.search",
        ContextLoaded = "memory.context.loaded",
        ContextTruncated = "memory.context.truncated",
        Forgotten = "memory.forgotten",
        Redacted = "memory.redacted",
        Erased = "memory.erased",
        Expired = "memory.expired",
        Extended = "memory.extended",
        Archived = "memory.archived",
        Pinned = "memory.pinned",
        Quarantined = "memory.quarantined",
        Restored = "memory.restored",
        PromotionProposed = "memory.promotion.proposed",
        ReviewProposed = "memory.review.proposed",
        ReviewApproved = "memory.review.approved",
        ReviewRejected = "memory.review.rejected",
        ReviewSuperseded = "memory.review.superseded",
        ReviewChangesRequested = "memory.review.changes_requested",
        StoreCreated = "store.created",
        StoreArchived = "store.archived",
        PipelineChanged = "pipeline.changed",
        PipelineDeleted = "pipeline.deleted",
        RunOpened = "run.opened",
        RunClosed = "run.closed",
        KeyCreated = "key.created",
        KeyRevoked = "key.revoked",
        TenantCreated = "tenant.created",
        AuditRecorded = "audit.recorded",
        WorkflowStep = "workflow.step",
        Ingested = "knowledge.ingested",
        Removed = "knowledge.removed",
        ScannerAllowed = "scanner.allowed",
    }
}

impl EventName {
    /// Whether it tells of a review.
    pub(crate) fn is_review_event(self) -> bool {
        matches!(
            self,
            EventName::PromotionProposed
                | EventName::ReviewProposed
                | EventName::ReviewApproved
                | EventName::ReviewRejected
                | EventName::ReviewSuperseded
                | EventName::ReviewChangesRequested
        )
    }
}

/// An event before the log has numbered it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EventBody {
    pub name: EventName,
    pub at: Timestamp,
    pub actor: String,
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionId>,
    /// Where it happened; decides who may see it. `None`: the whole tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Ids, codes, counts: never content.
    #[serde(default)]
    pub payload: Map<String, Value>,
}

/// An entry of the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    pub seq: u64,
    #[serde(flatten)]
    pub happening: EventBody,
    /// Hex of the hash over the previous entry's hash and this entry.
    pub hash: String,
}

impl EventBody {
    pub fn new(name: EventName, caller: &Caller, at: Timestamp) -> EventBody {
        EventBody {
            name,
            at,
            actor: caller.principal.clone(),
            role: caller.role,
            run: caller.run.clone(),
            conversation: caller.conversation.clone(),
            memory: None,
            version: None,
            scope: None,
            payload: Map::new(),
        }
    }

    /// Says which memory it is about, and where that lives.
    pub fn about_memory(mut self, memory: &Memory) -> EventBody {
        self.memory = Some(memory.id);
        self.version = Some(memory.version);
        self.scope = Some(memory.scope.clone());
        self.with_field("store", &memory.store)
            .with_field("path", &memory.path)
            .with_field("kind", memory.kind)
            .with_field("trust", memory.trust)
            .with_field("state", memory.state)
    }

    pub fn with_field(mut self, key: &str, value: impl Serialize) -> EventBody {
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.payload.insert(key.to_owned(), value);
        self
    }

    pub fn with_scope(mut self, scope: Option<Scope>) -> EventBody {
        self.scope = scope;
        self
    }

    /// The event of a refusal: rule and code, never the refused text.
    pub fn from_refusal(caller: &Caller, at: Timestamp, store: &str, refusal: &Refusal) -> EventBody {
        let name = if refusal.is_policy() { EventName::PolicyDenied } else { EventName::WriteBlocked };
        let findings: Vec<Value> = refusal
            .findings
            .iter()
            .map(|f| json!({ "field": f.field, "rule": f.rule, "severity": f.severity }))
            .collect();
        EventBody::new(name, caller, at)
            .with_field("code", refusal.code)
            .with_field("store", store)
            .with_field("findings", findings)
    }
}

/// The hash that ties an entry to everything before it.
pub fn chain_hash(previous: &str, seq: u64, happening_json: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(previous.as_bytes());
    hash.update(seq.to_be_bytes());
    hash.update(happening_json.as_bytes());
    to_hex(&hash.finalize())
}
