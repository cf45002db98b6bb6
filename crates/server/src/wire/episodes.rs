//! Turns of conversations, sessions, and recall from four sources.

use engine::model::vocabulary::{Kind, TtlClass, TurnRole};
use engine::{RecallQuery, RecallResults, Remembered, SessionReport, SessionSummary, Turn};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_bounded, deserialize_share};
use super::remember::{RefusedView, SavedView};
use super::schema_words::{KindWord, Moment, TtlWord, TurnRoleWord};

/// One turn of a conversation.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Turn")]
pub struct TurnBody {
    pub content: String,
    #[serde(default)]
    #[schemars(with = "Option<TurnRoleWord>")]
    pub role: Option<TurnRole>,
    /// Name of the speaker.
    #[serde(default)]
    pub speaker: Option<String>,
    /// Position in the session; default: after the turn before it.
    #[serde(default)]
    pub turn: Option<u32>,
    #[serde(default)]
    #[schemars(with = "Option<KindWord>")]
    pub kind: Option<Kind>,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub importance: Option<f64>,
    #[serde(default)]
    #[schemars(with = "Option<TtlWord>")]
    pub ttl: Option<TtlClass>,
}

impl From<TurnBody> for Turn {
    fn from(body: TurnBody) -> Turn {
        let TurnBody { content, role, speaker, turn, kind, importance, ttl } = body;
        Turn { content, role, speaker, turn, kind, importance, ttl }
    }
}

/// Turns of a conversation to save.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Turns")]
pub struct TurnsBody {
    /// Session of the turns; default: the caller's.
    #[serde(default)]
    pub session: Option<String>,
    /// In order, at most 1,000.
    pub turns: Vec<TurnBody>,
}

/// Result of each turn, in order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TurnsSaved")]
pub struct TurnsView {
    pub session: String,
    pub saved: usize,
    pub refused: usize,
    pub turns: Vec<TurnView>,
}

/// Result of one turn: the saved memory, or the refusal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "TurnSaved")]
pub enum TurnView {
    Saved(Box<SavedView>),
    Refused(RefusedView),
}

impl TurnsView {
    pub fn new(session: String, answers: &[Remembered]) -> TurnsView {
        let turns: Vec<TurnView> = answers
            .iter()
            .map(|answer| match answer {
                Remembered::Saved(saved) => TurnView::Saved(Box::new(SavedView::new(saved))),
                Remembered::Refused(refusal) => TurnView::Refused(refusal.into()),
            })
            .collect();
        let saved = answers.iter().filter(|answer| matches!(answer, Remembered::Saved(_))).count();
        TurnsView { session, saved, refused: answers.len() - saved, turns }
    }
}

/// A session of an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub struct SessionView {
    pub session: Option<String>,
    pub turns: usize,
    #[schemars(with = "Moment")]
    pub first: Timestamp,
    #[schemars(with = "Moment")]
    pub last: Timestamp,
}

impl From<SessionSummary> for SessionView {
    fn from(session: SessionSummary) -> SessionView {
        let SessionSummary { session, turns, first, last } = session;
        SessionView { session, turns, first, last }
    }
}

/// A query to an agent's memory.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Recall")]
pub struct RecallBody {
    pub query: String,
    /// Least similarity of results that match by meaning only.
    #[serde(default, deserialize_with = "deserialize_share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity_min: Option<f64>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

impl From<RecallBody> for RecallQuery {
    fn from(body: RecallBody) -> RecallQuery {
        RecallQuery { text: body.query, similarity_min: body.similarity_min, limit: body.limit }
    }
}

/// Results of four sources, best first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Recalled")]
pub struct RecalledView {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub recalled: RecallResults,
}

/// Memories of a session, and the contexts given to its turns.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "SessionReport")]
pub struct SessionReportView {
    #[schemars(with = "Map<String, Value>")]
    pub report: SessionReport,
}
