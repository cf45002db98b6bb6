//! Events of the log, and its verification.

use engine::model::event::Event;
use engine::model::vocabulary::Role;
use engine::{Verdict, Verification};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deserialize::deserialize_bounded;
use super::schema_words::{EngineRecord, Moment, RoleWord};

/// Filter of events.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventParams {
    /// Only events after this number. Without it and `Last-Event-ID`, a stream begins with new events.
    pub after: Option<u64>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// Only events with these names; `memory.write.*` matches by prefix.
    pub name: Vec<String>,
}

/// A page of the log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Events")]
pub struct EventsView {
    #[schemars(with = "Vec<EventShape>")]
    pub items: Vec<Event>,
    /// Send it as `after` to get later events.
    pub next_after: u64,
}

/// An event: ids, codes and counts, never content.
#[derive(JsonSchema)]
#[schemars(rename = "Event")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct EventShape {
    seq: u64,
    name: String,
    #[schemars(with = "Moment")]
    at: Timestamp,
    actor: String,
    #[schemars(with = "RoleWord")]
    role: Role,
    payload: serde_json::Map<String, serde_json::Value>,
    /// Hash over this event and the one before it: links the log into a chain.
    hash: String,
}

/// Result of replaying the log against the data: entries read, the last hash, and everything that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Verified")]
pub struct VerifiedView {
    /// `intact`, `not_covered` (nothing differs, but not everything could be compared with the log) or `damaged`.
    #[schemars(with = "String")]
    pub verdict: Verdict,
    #[serde(flatten)]
    #[schemars(with = "EngineRecord")]
    pub verified: Verification,
}
