//! Episodes: whole conversations in, sessions out.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::caller::Caller;
use crate::error::Error;
use crate::gate;
use crate::memory::{Draft, Memory};
use crate::ports::{Filter, Order, Page};
use crate::read::cursor;
use crate::remember::Remembered;
use crate::vocabulary::{Kind, TtlClass, TurnRole};

/// The store turns go to.
pub const EPISODES: &str = "episodes";

/// Turns saved in one transaction: they wait for one disk, and other writers wait a few milliseconds for them.
const TURNS_TOGETHER: usize = 100;

/// One turn of a conversation, as a host hands it over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    pub content: String,
    #[serde(default)]
    pub role: Option<TurnRole>,
    /// Who spoke, by name.
    #[serde(default)]
    pub speaker: Option<String>,
    /// Its position; `None`: after the turn before it.
    #[serde(default)]
    pub turn: Option<u32>,
    #[serde(default)]
    pub kind: Option<Kind>,
    #[serde(default)]
    pub importance: Option<f64>,
    #[serde(default)]
    pub ttl: Option<TtlClass>,
}

/// A session an agent took part in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionSummary {
    /// `None`: turns that name no session.
    pub session: Option<String>,
    pub turns: usize,
    pub first: Timestamp,
    pub last: Timestamp,
}

impl Engine {
    /// The first of these turns that is malformed, by its place from 0, and what is wrong with it.
    pub fn malformed_turn(&self, turns: &[Turn]) -> Option<(usize, Error)> {
        turns.iter().enumerate().find_map(|(at, turn)| {
            let draft = Draft {
                content: turn.content.clone(),
                speaker: turn.speaker.clone(),
                importance: turn.importance,
                ..Draft::default()
            };
            gate::checked_shape(draft, self.limits()).err().map(|error| (at, error))
        })
    }

    /// Saves the turns of a conversation in their order, each through the gate: one that policy or safety refuses does
    /// not hold up the others, and one that is malformed is named before any is saved, so that all can be sent again.
    /// The answers stand in the order of the turns.
    pub fn remember_turns(&self, caller: &Caller, session: &str, turns: Vec<Turn>) -> Result<Vec<Remembered>, Error> {
        if turns.len() > self.limits().list_max {
            let message = format!("{} turns at once; at most {}", turns.len(), self.limits().list_max);
            return Err(Error::invalid("shape.too_many", message));
        }
        if let Some((at, error)) = self.malformed_turn(&turns) {
            return Err(Error::invalid(error.code(), format!("`turns[{at}]`: {error}; none was saved")));
        }
        let mut next = self.next_turn(caller, session)?;
        let mut drafts = Vec::with_capacity(turns.len());
        for turn in turns {
            let number = turn.turn.unwrap_or(next);
            next = number.saturating_add(1);
            drafts.push(Draft {
                store: EPISODES.to_owned(),
                content: turn.content,
                kind: turn.kind,
                role: turn.role,
                speaker: turn.speaker,
                session: Some(session.to_owned()),
                turn: Some(number),
                importance: turn.importance,
                ttl: turn.ttl,
                ..Draft::default()
            });
        }
        let mut answers = Vec::with_capacity(drafts.len());
        while !drafts.is_empty() {
            let rest = drafts.split_off(drafts.len().min(TURNS_TOGETHER));
            answers.extend(self.remember_together(caller, EPISODES, std::mem::replace(&mut drafts, rest))?);
        }
        Ok(answers)
    }

    /// The number after the last turn of a session.
    fn next_turn(&self, caller: &Caller, session: &str) -> Result<u32, Error> {
        let filter = Filter { session: Some(session.to_owned()), ..self.episodes_filter() };
        let page = Page { order: Order::LastTurn, after: None, limit: 1 };
        let last = self.backend.list(&self.eyes(caller)?, &filter, &page)?;
        Ok(last.first().and_then(|memory| memory.turn).map_or(1, |last| last.saturating_add(1)))
    }

    fn episodes_filter(&self) -> Filter {
        Filter { stores: vec![EPISODES.to_owned()], unexpired_at: Some(self.clock.now()), ..Filter::default() }
    }

    /// The sessions a caller can see, the latest first.
    pub fn sessions(&self, caller: &Caller) -> Result<Vec<SessionSummary>, Error> {
        let mut sessions: BTreeMap<Option<String>, SessionSummary> = BTreeMap::new();
        for memory in self.all_episodes(caller)? {
            let at = memory.created_at;
            let summary = sessions.entry(memory.session.clone()).or_insert_with(|| SessionSummary {
                session: memory.session.clone(),
                turns: 0,
                first: at,
                last: at,
            });
            summary.turns += 1;
            summary.first = summary.first.min(at);
            summary.last = summary.last.max(at);
        }
        let mut sessions: Vec<SessionSummary> = sessions.into_values().collect();
        sessions.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.session.cmp(&other.session)));
        Ok(sessions)
    }

    fn all_episodes(&self, caller: &Caller) -> Result<Vec<Memory>, Error> {
        let (eyes, filter) = (self.eyes(caller)?, self.episodes_filter());
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = Page { order: Order::Oldest, after, limit: self.limits().list_max };
            let memories = self.backend.list(&eyes, &filter, &page)?;
            after = memories.last().and_then(|last| cursor(Order::Oldest, last));
            let more = memories.len() == page.limit;
            all.extend(memories.into_iter().filter(|memory| eyes.shows(memory)));
            if !more {
                return Ok(all);
            }
        }
    }
}
