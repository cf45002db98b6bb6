//! Events: the append-only, numbered, hash-chained log of each tenant.

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
    /// Every event, with the stable name that clients and the log use.
    EventName ("event") {
        // Saves.
        WriteCreated = "memory.write.created",
        WriteUpdated = "memory.write.updated",
        WriteBlocked = "memory.write.blocked",
        PolicyDenied = "memory.policy.denied",
        SafetyFlagged = "memory.safety.flagged",
        // Searches and contexts.
        Search = "memory.search",
        ContextLoaded = "memory.context.loaded",
        ContextTruncated = "memory.context.truncated",
        // Removal and ageing.
        Forgotten = "memory.forgotten",
        Redacted = "memory.redacted",
        Erased = "memory.erased",
        Expired = "memory.expired",
        Extended = "memory.extended",
        Archived = "memory.archived",
        Pinned = "memory.pinned",
        Quarantined = "memory.quarantined",
        Restored = "memory.restored",
        // Reviews.
        PromotionProposed = "memory.promotion.proposed",
        ReviewProposed = "memory.review.proposed",
        ReviewApproved = "memory.review.approved",
        ReviewRejected = "memory.review.rejected",
        ReviewSuperseded = "memory.review.superseded",
        ReviewChangesRequested = "memory.review.changes_requested",
        // Administration.
        StoreCreated = "store.created",
        StoreArchived = "store.archived",
        PipelineChanged = "pipeline.changed",
        PipelineDeleted = "pipeline.deleted",
        ProjectMerged = "project.merged",
        ProjectUnmerged = "project.unmerged",
        RunOpened = "run.opened",
        RunClosed = "run.closed",
        KeyCreated = "key.created",
        KeyRevoked = "key.revoked",
        TenantCreated = "tenant.created",
        // Sources from outside.
        AuditRecorded = "audit.recorded",
        WorkflowStep = "workflow.step",
        Ingested = "knowledge.ingested",
        Removed = "knowledge.removed",
        ScannerAllowed = "scanner.allowed",
        // The log itself.
        LogAdopted = "log.adopted",
        LogRepaired = "log.repaired",
        /// A change without an event of its own that wrote something the log covers. Shown to nobody.
        LogRecorded = "log.recorded",
    }
}

impl EventName {
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

/// An event without its number and hash, which the backend assigns inside the transaction.
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
    /// Scope of the event; decides who may see it. `None`: the whole tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Ids, codes and counts. Never content: the log outlives redaction and erasure.
    #[serde(default)]
    pub payload: Map<String, Value>,
}

/// A numbered entry of the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// From 1 upwards per tenant, without gaps.
    pub seq: u64,
    #[serde(flatten)]
    pub happening: EventBody,
    /// [`chain_hash`] of this entry, in hex.
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

    /// The entry for the writes of a change that has no event.
    pub fn recorded(at: Timestamp) -> EventBody {
        EventBody {
            name: EventName::LogRecorded,
            at,
            actor: "ingrain".to_owned(),
            role: Role::Admin,
            run: None,
            conversation: None,
            memory: None,
            version: None,
            scope: None,
            payload: Map::new(),
        }
    }

    /// Adds the memory's id, version, scope, store, path, kind, trust and state. Without the path where the scope can
    /// be erased: the memory has it as long as it is there.
    pub fn about_memory(mut self, memory: &Memory) -> EventBody {
        self.memory = Some(memory.id);
        self.version = Some(memory.version);
        self.scope = Some(memory.scope.clone());
        self.with_field("store", &memory.store)
            .with_field("path", memory.path.as_ref().filter(|_| !memory.scope.is_erasable()))
            .with_field("kind", memory.kind)
            .with_field("trust", memory.trust)
            .with_field("state", memory.state)
    }

    /// Adds a payload field; one that exists is replaced.
    pub fn with_field(mut self, key: &str, value: impl Serialize) -> EventBody {
        // Null instead of an error: an event must not fail the write that it records.
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.payload.insert(key.to_owned(), value);
        self
    }

    pub fn with_scope(mut self, scope: Option<Scope>) -> EventBody {
        self.scope = scope;
        self
    }

    /// The event of a refusal: code, rules and fields, never the refused text.
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

/// SHA-256 over the previous entry's hash, this entry's number, its JSON and the digests of what its change wrote
/// (`model/write_digest.rs`). Changing any of them breaks all later entries. `None`: an entry from before digests.
pub fn chain_hash(previous: &str, seq: u64, body_json: &str, digests: Option<&[u8]>) -> String {
    let mut hash = Sha256::new();
    // Hash and number have a fixed width, so the parts cannot run into each other.
    hash.update(previous.as_bytes());
    hash.update(seq.to_be_bytes());
    if digests.is_some() {
        // The length says where the JSON ends. Its first byte is never that of JSON, so the two forms differ.
        hash.update((body_json.len() as u64).to_be_bytes());
    }
    hash.update(body_json.as_bytes());
    hash.update(digests.unwrap_or_default());
    to_hex(&hash.finalize())
}
