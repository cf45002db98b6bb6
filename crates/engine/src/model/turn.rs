//! Turns of a conversation, as clients submit them.

use serde::{Deserialize, Serialize};

use crate::model::vocabulary::{Kind, TtlClass, TurnRole};

/// One turn of a conversation. Becomes an episode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    pub content: String,
    #[serde(default)]
    pub role: Option<TurnRole>,
    /// Name of the speaker.
    #[serde(default)]
    pub speaker: Option<String>,
    /// Position in the session; `None`: after the turn before it.
    #[serde(default)]
    pub turn: Option<u32>,
    #[serde(default)]
    pub kind: Option<Kind>,
    #[serde(default)]
    pub importance: Option<f64>,
    #[serde(default)]
    pub ttl: Option<TtlClass>,
}
