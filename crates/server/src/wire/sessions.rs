//! Conversations, handed over turn by turn.

use engine::refusal::Refusal;
use engine::vocabulary::{Kind, TtlClass, TurnRole};
use engine::{Remembered, SessionSummary, Turn};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory::SavedView;
use super::{KindWord, Moment, TtlWord, TurnRoleWord};

/// Turns of one conversation, in their order.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Turns")]
pub struct TurnsBody {
    #[schemars(length(max = 1000))]
    pub turns: Vec<TurnBody>,
}

/// One turn.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Turn")]
pub struct TurnBody {
    #[schemars(length(min = 1))]
    pub content: String,
    #[serde(default)]
    #[schemars(with = "Option<TurnRoleWord>")]
    pub role: Option<TurnRole>,
    /// Who spoke, by name.
    #[serde(default)]
    pub speaker: Option<String>,
    /// Its position; after the turn before it, where none is named.
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

/// What became of each turn. One that is refused does not hold up the others.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SavedTurns")]
pub struct TurnsView {
    pub saved: usize,
    pub refused: usize,
    /// In the order they were given.
    pub turns: Vec<TurnView>,
}

/// A saved turn, or why it was not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SavedTurn")]
pub struct TurnView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<SavedView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedView>,
}

/// A "no" inside an answer that is a "yes" on the whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Refused")]
pub struct RefusedView {
    pub code: String,
    pub detail: String,
}

impl From<Refusal> for RefusedView {
    fn from(refusal: Refusal) -> RefusedView {
        RefusedView { code: refusal.code.to_owned(), detail: refusal.message }
    }
}

impl From<Vec<Remembered>> for TurnsView {
    fn from(answers: Vec<Remembered>) -> TurnsView {
        let turn = |answer| match answer {
            Remembered::Saved(saved) => TurnView { saved: Some(SavedView::new(&saved)), refused: None },
            Remembered::Refused(refusal) => TurnView { saved: None, refused: Some(refusal.into()) },
        };
        let turns: Vec<TurnView> = answers.into_iter().map(turn).collect();
        let saved = turns.iter().filter(|turn| turn.saved.is_some()).count();
        TurnsView { saved, refused: turns.len() - saved, turns }
    }
}

/// A conversation an agent took part in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub struct SessionView {
    /// Absent for turns that name none.
    pub session: Option<String>,
    pub turns: usize,
    #[schemars(with = "Moment")]
    pub first: Timestamp,
    #[schemars(with = "Moment")]
    pub last: Timestamp,
}

impl From<SessionSummary> for SessionView {
    fn from(summary: SessionSummary) -> SessionView {
        let SessionSummary { session, turns, first, last } = summary;
        SessionView { session, turns, first, last }
    }
}
