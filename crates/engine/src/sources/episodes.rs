//! Episodes: saves the turns of conversations and lists sessions.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::Engine;
use crate::gate;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::{Guard, Place};
use crate::model::memory::{Draft, Memory};
use crate::model::turn::Turn;
use crate::model::vocabulary::State;
use crate::policy;
use crate::ports::{Filter, PageRequest, SortOrder, retry};
use crate::recall::read::cursor_after;
use crate::recall::visibility;
use crate::tenant::{erasures, stores};
use crate::write::{Remembered, batch};

/// Store of the turns.
pub const EPISODES_STORE: &str = "episodes";

/// Turns saved in one transaction: they share one disk write, and other writers wait a few milliseconds.
const TURNS_PER_COMMIT: usize = 100;

/// A session an agent took part in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionSummary {
    /// `None`: turns without a session.
    pub session: Option<String>,
    pub turns: usize,
    pub first: Timestamp,
    pub last: Timestamp,
}

/// Numbers the turns of a session.
#[derive(Clone, Copy)]
struct TurnCounter {
    next: u32,
    /// The host has sent a turn number: counting continues from it, whatever turns the session has.
    is_explicit: bool,
}

impl TurnCounter {
    fn next_draft(&mut self, session: &str, turn: &Turn) -> Draft {
        let number = turn.turn.unwrap_or(self.next);
        // Once a number came from the host, the rest is counted from it without asking the session.
        *self = TurnCounter { next: number.saturating_add(1), is_explicit: self.is_explicit || turn.turn.is_some() };
        Draft {
            store: EPISODES_STORE.to_owned(),
            content: turn.content.clone(),
            kind: turn.kind,
            role: turn.role,
            speaker: turn.speaker.clone(),
            session: Some(session.to_owned()),
            turn: Some(number),
            importance: turn.importance,
            ttl: turn.ttl,
            ..Draft::default()
        }
    }
}

impl Engine {
    /// The index and error of the first malformed turn.
    pub fn find_malformed_turn(&self, turns: &[Turn]) -> Option<(usize, Error)> {
        turns.iter().enumerate().find_map(|(at, turn)| {
            let draft = Draft {
                content: turn.content.clone(),
                speaker: turn.speaker.clone(),
                importance: turn.importance,
                ..Draft::default()
            };
            gate::normalize_draft(draft, self.limits()).err().map(|error| (at, error))
        })
    }

    /// Saves the turns of a conversation, each through the gate. The answers are in the order of the turns.
    ///
    /// A turn refused by policy or safety does not stop the others. A malformed turn is an error before any is saved,
    /// so that the host can send all of them again.
    pub fn remember_turns(&self, caller: &Caller, session: &str, turns: &[Turn]) -> Result<Vec<Remembered>, Error> {
        if turns.len() > self.limits().list_max {
            let message = format!("{} turns sent; send at most {} at once", turns.len(), self.limits().list_max);
            return Err(Error::invalid("shape.too_many", message));
        }
        if let Some((at, error)) = self.find_malformed_turn(turns) {
            return Err(Error::invalid(error.code(), format!("`turns[{at}]`: {error}; none was saved")));
        }
        let store = stores::open_store(self, caller, EPISODES_STORE)?;
        let place = Place { store: store.slug.clone(), scope: policy::scope_for(caller, store.scope, None)? };
        // One turn at a time where each needs a lookup of its own, such as for duplicates.
        let per_commit =
            if batch::can_save_as_batch(self, caller, &store, &place.scope)? { TURNS_PER_COMMIT } else { 1 };
        let (begun_at, mut count) = (self.clock.now(), TurnCounter { next: 1, is_explicit: false });
        let mut answers = Vec::with_capacity(turns.len());
        for group in turns.chunks(per_commit) {
            // Another caller may save turns of this session meanwhile: the retry numbers these after them.
            let (saved, counted) = retry::retry_lost_race(self, || {
                erasures::ensure_not_erased_since(self, caller.tenant, begun_at)?;
                remember_group(self, caller, &place, session, group, count)
            })?;
            answers.extend(saved);
            count = counted;
        }
        Ok(answers)
    }

    /// Saves the turns of a transcript that are not kept yet: those numbered above the last turn that its session ever
    /// had in the store. Each turn has a number, in ascending order; of two callers at the same time, one saves a turn.
    pub fn remember_new_turns(
        &self,
        caller: &Caller,
        store: &str,
        session: &str,
        turns: &[Turn],
    ) -> Result<Vec<Remembered>, Error> {
        if let Some((at, error)) = self.find_malformed_turn(turns) {
            return Err(Error::invalid(error.code(), format!("`turns[{at}]`: {error}; none was saved")));
        }
        let store = stores::open_store(self, caller, store)?;
        let place = Place { store: store.slug.clone(), scope: policy::scope_for(caller, store.scope, None)? };
        let per_commit =
            if batch::can_save_as_batch(self, caller, &store, &place.scope)? { TURNS_PER_COMMIT } else { 1 };
        let begun_at = self.clock.now();
        let mut answers = Vec::with_capacity(turns.len());
        for group in turns.chunks(per_commit) {
            answers.extend(retry::retry_lost_race(self, || {
                erasures::ensure_not_erased_since(self, caller.tenant, begun_at)?;
                remember_new_group(self, caller, &place, session, group)
            })?);
        }
        Ok(answers)
    }

    /// Number of the last turn that a session ever had in a store of the caller's, also of one that is forgotten or
    /// expired by now.
    pub fn last_turn(&self, caller: &Caller, store: &str, session: &str) -> Result<Option<u32>, Error> {
        let store = stores::open_store(self, caller, store)?;
        let place = Place { store: store.slug, scope: policy::scope_for(caller, store.scope, None)? };
        last_turn_number(self, caller, &place, session, State::ALL.to_vec())
    }

    /// The sessions the caller can see, latest first.
    pub fn sessions(&self, caller: &Caller) -> Result<Vec<SessionSummary>, Error> {
        let mut sessions: BTreeMap<Option<String>, SessionSummary> = BTreeMap::new();
        for memory in list_episodes(self, caller)? {
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
}

/// Saves one group of turns; returns the answers and the counter after them.
fn remember_group(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    session: &str,
    turns: &[Turn],
    mut count: TurnCounter,
) -> Result<(Vec<Remembered>, TurnCounter), Error> {
    if !count.is_explicit {
        count.next = count.next.max(next_turn_number(engine, caller, place, session)?);
    }
    // Numbers from the host are taken as they are, without a guard.
    let is_counted = !count.is_explicit && turns.first().is_some_and(|turn| turn.turn.is_none());
    let guard =
        is_counted.then(|| Guard::TurnsBefore { place: place.clone(), session: session.to_owned(), turn: count.next });
    let drafts: Vec<Draft> = turns.iter().map(|turn| count.next_draft(session, turn)).collect();
    Ok((batch::remember_batch(engine, caller, place, drafts, guard.as_ref())?, count))
}

/// Saves those of a group that are numbered above the last turn of the session.
fn remember_new_group(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    session: &str,
    turns: &[Turn],
) -> Result<Vec<Remembered>, Error> {
    let last = last_turn_number(engine, caller, place, session, State::ALL.to_vec())?;
    let new: Vec<&Turn> = turns.iter().filter(|turn| turn.turn > last).collect();
    let Some(first) = new.first().and_then(|turn| turn.turn) else { return Ok(Vec::new()) };
    let guard = Guard::TurnsBefore { place: place.clone(), session: session.to_owned(), turn: first };
    let mut count = TurnCounter { next: first, is_explicit: true };
    let draft = |turn: &Turn| Draft { store: place.store.clone(), ..count.next_draft(session, turn) };
    let drafts: Vec<Draft> = new.into_iter().map(draft).collect();
    batch::remember_batch(engine, caller, place, drafts, Some(&guard))
}

/// The number after the last turn of a session.
fn next_turn_number(engine: &Engine, caller: &Caller, place: &Place, session: &str) -> Result<u32, Error> {
    let last = last_turn_number(engine, caller, place, session, Vec::new())?;
    Ok(last.map_or(1, |last| last.saturating_add(1)))
}

/// The highest number of a session's turns in these states; no states mean the active ones.
fn last_turn_number(
    engine: &Engine,
    caller: &Caller,
    place: &Place,
    session: &str,
    states: Vec<State>,
) -> Result<Option<u32>, Error> {
    let filter = Filter { places: vec![place.clone()], session: Some(session.to_owned()), states, ..Filter::default() };
    let page = PageRequest { order: SortOrder::LastTurn, after: None, limit: 1 };
    let last = engine.backend.list_memories(&visibility::visible_to(engine, caller)?, &filter, &page)?;
    Ok(last.first().and_then(|memory| memory.turn))
}

fn episodes_filter(engine: &Engine) -> Filter {
    Filter { stores: vec![EPISODES_STORE.to_owned()], unexpired_at: Some(engine.clock.now()), ..Filter::default() }
}

fn list_episodes(engine: &Engine, caller: &Caller) -> Result<Vec<Memory>, Error> {
    let (readable, filter) = (visibility::visible_to(engine, caller)?, episodes_filter(engine));
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = PageRequest { order: SortOrder::Oldest, after, limit: engine.limits().list_max };
        let memories = engine.backend.list_memories(&readable, &filter, &page)?;
        after = memories.last().and_then(|last| cursor_after(SortOrder::Oldest, last));
        let more = memories.len() == page.limit;
        all.extend(memories.into_iter().filter(|memory| readable.shows_memory(memory)));
        if !more {
            return Ok(all);
        }
    }
}
