//! Summaries of turns that no longer fit, made once and kept with a marker of the last turn they cover.

pub(crate) mod extractive;
pub(crate) mod in_flight;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::model::memory::Draft;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::model::turn::Turn;
use crate::model::vocabulary::TurnRole;
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::safety;
use crate::summaries::extractive::ExtractiveSummariser;
use crate::tenant::bans::{self, BanKey};
use crate::text::digest::content_sha256;
use crate::text::{normalize, token_estimate};

/// Makes one text of many turns: an endpoint, or [`Extractive`].
pub trait Summariser: Send + Sync + std::fmt::Debug {
    /// At most so many tokens, or why not.
    fn summarise(&self, turns: &[Turn], tokens_max: usize) -> Result<String, String>;
}

/// A summary as it is kept: of the first turns of one conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredSummary {
    id: String,
    /// Whose conversation or session, as a digest.
    conversation: String,
    /// The marker: how many of its first turns it covers.
    pub covers: usize,
    /// Of what those turns said.
    sha256: String,
    pub text: String,
    /// Made here because the endpoint failed; asked for again after a while.
    #[serde(default)]
    fallback: bool,
    /// When it failed; where nothing is said, as this was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed_at: Option<Timestamp>,
    /// The person the caller spoke for: erasing a person takes it along.
    #[serde(default)]
    user: Option<String>,
    at: Timestamp,
}

/// One turn that a kept summary covers, so that whoever erases the turn finds the summary.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CoveredTurn {
    id: String,
    conversation: String,
    /// Of what it said, in one spelling.
    digest: String,
    at: Timestamp,
}

const SUMMARY_STATE: &str = "summary";
const TURN_STATE: &str = "turn";
/// Summaries kept of one conversation: the one in use, and the one of the window before it grew.
const SUMMARIES_KEPT_MAX: usize = 2;
/// Why the endpoint was not asked.
const FAILED_RECENTLY: &str = "it failed a while ago";

impl StoredSummary {
    #[cfg(test)]
    pub(crate) fn example(conversation: &str, at: Timestamp) -> StoredSummary {
        StoredSummary {
            id: conversation.to_owned(),
            conversation: conversation.to_owned(),
            covers: 1,
            sha256: String::new(),
            text: String::new(),
            fallback: false,
            failed_at: None,
            user: None,
            at,
        }
    }

    /// When the endpoint failed that should have made it.
    fn failed_at(&self) -> Option<Timestamp> {
        self.fallback.then_some(self.failed_at.unwrap_or(self.at))
    }
}

impl SideRecord for StoredSummary {
    const KIND: RowKind = RowKind::Summaries;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        SUMMARY_STATE.to_owned()
    }
    fn row_parent(&self) -> String {
        self.conversation.clone()
    }
}

impl SideRecord for CoveredTurn {
    const KIND: RowKind = RowKind::Summaries;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        TURN_STATE.to_owned()
    }
    fn row_subject(&self) -> String {
        self.digest.clone()
    }
    fn row_parent(&self) -> String {
        self.conversation.clone()
    }
}

/// A summary for a window, and what went wrong on the way.
pub(crate) struct Summary {
    /// How many of the first turns it tells of.
    pub covers: usize,
    pub text: String,
    pub note: Option<String>,
}

impl From<StoredSummary> for Summary {
    fn from(kept: StoredSummary) -> Summary {
        Summary { covers: kept.covers, note: kept.failed_at().map(|_| fallback_note(FAILED_RECENTLY)), text: kept.text }
    }
}

/// Why there is no summary of the endpoint, and since when.
struct EndpointFailure {
    at: Timestamp,
    why: String,
}

fn fallback_note(why: &str) -> String {
    format!("summarised without the endpoint: {why}")
}

/// The kept summary that covers most of the first `until` turns and still tells what they say.
pub(crate) fn find_kept_summary(
    engine: &Engine,
    caller: &Caller,
    turns: &[Turn],
    until: usize,
) -> Result<Option<Summary>, Error> {
    let Some(conversation) = conversation_key(caller) else { return Ok(None) };
    let now = engine.clock.now();
    let kept = list_kept_summaries(engine, caller.tenant, &conversation)?;
    let is_usable = |kept: &StoredSummary| {
        engine.settings.summariser.is_none() || kept.failed_at().is_none_or(|at| in_flight::is_backing_off(at, now))
    };
    let still_matches =
        |kept: &StoredSummary| turns.get(..kept.covers).is_some_and(|covered| digest_turns(covered) == kept.sha256);
    let found = kept.into_iter().filter(|kept| kept.covers <= until && is_usable(kept) && still_matches(kept));
    Ok(found.max_by_key(|kept| kept.covers).map(Summary::from))
}

/// Newest first, with what is on its way to be kept.
fn list_kept_summaries(engine: &Engine, tenant: TenantId, conversation: &str) -> Result<Vec<StoredSummary>, Error> {
    let mut kept = engine.summary_requests.recent_summaries(tenant, conversation, engine.clock.now());
    let (state, parent) = (Some(SUMMARY_STATE.to_owned()), Some(conversation.to_owned()));
    let filter = RowFilter { state, parent, newest_first: true, limit: 4 * SUMMARIES_KEPT_MAX, ..RowFilter::default() };
    for row in row::select_records::<StoredSummary>(&*engine.backend, tenant, &filter)? {
        if kept.iter().all(|known| known.id != row.id) {
            kept.push(row);
        }
    }
    Ok(kept)
}

/// A summary of the first `until` turns. An endpoint is asked for it once: whoever wants the same one waits for it.
pub(crate) fn get_or_make_summary(
    engine: &Engine,
    caller: &Caller,
    turns: &[Turn],
    until: usize,
    tokens_max: usize,
) -> Result<Summary, Error> {
    let make = || make_summary(engine, caller, turns, until, tokens_max);
    let shared = engine.settings.summariser.is_some() && !engine.settings.memory_off;
    let Some(conversation) = conversation_key(caller).filter(|_| shared) else { return make() };
    let name = format!("{}\n{conversation}\n{}", caller.tenant, digest_turns(&turns[..until]));
    engine.summary_requests.run_exclusive(&name, || {
        match find_kept_summary(engine, caller, turns, until)?.filter(|kept| kept.covers == until) {
            Some(kept) => Ok(kept),
            None => make(),
        }
    })
}

/// Makes a summary and keeps it.
fn make_summary(
    engine: &Engine,
    caller: &Caller,
    turns: &[Turn],
    until: usize,
    tokens_max: usize,
) -> Result<Summary, Error> {
    let shareable = shareable_turns(engine, caller, &turns[..until])?;
    let extractive = || ExtractiveSummariser.summarise(&shareable, tokens_max).unwrap_or_default();
    let (text, failed) = match ask_summariser(engine, caller, turns, until, &shareable, tokens_max)? {
        None => (extractive(), None),
        Some(Ok(text)) => (token_estimate::truncate_to(&text, tokens_max).to_owned(), None),
        Some(Err(failed)) => (extractive(), Some(failed)),
    };
    // A summary is kept beside memories and never passes their gate: no secret may ride along.
    let text = safety::without_secrets(text);
    if !engine.settings.memory_off {
        store_summary(engine, caller, &turns[..until], &text, failed.as_ref().map(|failed| failed.at))?;
    }
    Ok(Summary { covers: until, text, note: failed.map(|failed| fallback_note(&failed.why)) })
}

/// What may be told of turns: nothing that was forgotten, and no secret. Taken out before anything is sent or cut
/// up, for half a secret is not told from a word.
fn shareable_turns(engine: &Engine, caller: &Caller, covered: &[Turn]) -> Result<Vec<Turn>, Error> {
    let mut shareable = Vec::with_capacity(covered.len());
    let keys = bans::load_ban_keys(engine, caller.tenant)?;
    for turn in covered {
        if !is_turn_forgotten(engine, caller, &keys, turn)? {
            let (content, speaker) = (turn.content.clone(), turn.speaker.clone());
            let content = safety::without_secrets(content);
            shareable.push(Turn { content, speaker: speaker.map(safety::without_secrets), ..turn.clone() });
        }
    }
    Ok(shareable)
}

/// What the endpoint makes of the turns; `None` without one. Where it failed lately, nobody waits for it again.
fn ask_summariser(
    engine: &Engine,
    caller: &Caller,
    turns: &[Turn],
    until: usize,
    shareable: &[Turn],
    tokens_max: usize,
) -> Result<Option<Result<String, EndpointFailure>>, Error> {
    let Some(summariser) = &engine.settings.summariser else { return Ok(None) };
    if let Some(at) = last_recent_failure(engine, caller)? {
        return Ok(Some(Err(EndpointFailure { at, why: FAILED_RECENTLY.to_owned() })));
    }
    // What an earlier summary tells is not read again: the endpoint's time goes by length.
    let earlier = find_kept_summary(engine, caller, turns, until)?.filter(|_| shareable.len() == until);
    let shareable = earlier.map_or_else(|| shareable.to_vec(), |earlier| prepend_summary(earlier, shareable));
    let answer = summariser.summarise(&shareable, tokens_max).map_err(|why| {
        let at = engine.clock.now();
        engine.summary_requests.record_failure(at);
        EndpointFailure { at, why }
    });
    Ok(Some(answer))
}

/// When the endpoint failed, if that is not long ago: in this process, or in another for this conversation.
fn last_recent_failure(engine: &Engine, caller: &Caller) -> Result<Option<Timestamp>, Error> {
    let now = engine.clock.now();
    if let Some(at) = engine.summary_requests.recent_failure(now) {
        return Ok(Some(at));
    }
    let Some(conversation) = conversation_key(caller) else { return Ok(None) };
    let kept = list_kept_summaries(engine, caller.tenant, &conversation)?;
    Ok(kept.iter().filter_map(StoredSummary::failed_at).filter(|at| in_flight::is_backing_off(*at, now)).max())
}

/// Whether what a turn says was forgotten where this caller speaks.
fn is_turn_forgotten(engine: &Engine, caller: &Caller, keys: &[BanKey], turn: &Turn) -> Result<bool, Error> {
    let conversation = caller.conversation.clone().map(|conversation| Scope::Conversation { conversation });
    let agent = caller.agent.clone().map(|agent| Scope::Agent { agent });
    let user = caller.user.clone().map(|user| Scope::User { user });
    let draft = Draft { content: turn.content.clone(), ..Draft::default() };
    for scope in [conversation, agent, user].into_iter().flatten() {
        if bans::check_bans(engine, caller.tenant, keys, &scope, &draft)?.ban.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn store_summary(
    engine: &Engine,
    caller: &Caller,
    covered: &[Turn],
    text: &str,
    failed_at: Option<Timestamp>,
) -> Result<(), Error> {
    let Some(conversation) = conversation_key(caller) else { return Ok(()) };
    let at = engine.clock.now();
    let older = list_kept_summaries(engine, caller.tenant, &conversation)?;
    let id = content_sha256(&format!("{conversation}\n{}", covered.len()));
    let kept = StoredSummary {
        id: id.clone(),
        conversation: conversation.clone(),
        covers: covered.len(),
        sha256: digest_turns(covered),
        text: text.to_owned(),
        fallback: failed_at.is_some(),
        failed_at,
        user: caller.user.clone(),
        at,
    };
    let mut change = Change::new(caller.tenant, at).with_write(Write::Row(kept.to_row()));
    engine.summary_requests.record_summary(caller.tenant, kept);
    for turn in covered {
        let digest = normalised_digest(&turn.content);
        let id = content_sha256(&format!("{conversation}\n{digest}"));
        let turn = CoveredTurn { id, conversation: conversation.clone(), digest, at };
        change = change.with_write(Write::Row(turn.to_row()));
    }
    for old in older.into_iter().filter(|old| old.id != id).skip(SUMMARIES_KEPT_MAX - 1) {
        change = change.with_write(Write::DeleteRow { kind: RowKind::Summaries, id: old.id });
    }
    engine.backend.commit_later(change);
    Ok(())
}

/// What takes every kept summary away that covers one of these texts: forgetting a turn forgets its summary.
pub(crate) fn plan_summary_removal<'a>(
    engine: &Engine,
    tenant: TenantId,
    contents: impl Iterator<Item = &'a str>,
) -> Result<Vec<Write>, Error> {
    // A summary that is on its way is a summary.
    engine.summary_requests.clear_recent();
    engine.backend.flush()?;
    let any = RowFilter { limit: 1, ..RowFilter::default() };
    if engine.backend.list_rows(tenant, RowKind::Summaries, &any)?.is_empty() {
        return Ok(Vec::new());
    }
    let mut conversations = BTreeSet::new();
    for content in contents {
        let filter = RowFilter { subject: Some(normalised_digest(content)), ..RowFilter::default() };
        let rows = engine.backend.list_rows(tenant, RowKind::Summaries, &filter)?;
        conversations.extend(rows.into_iter().map(|row| row.parent));
    }
    let mut removals = Vec::new();
    for conversation in conversations {
        let filter = RowFilter { parent: Some(conversation), ..RowFilter::default() };
        let rows = engine.backend.list_rows(tenant, RowKind::Summaries, &filter)?;
        removals.extend(rows.into_iter().map(|row| Write::DeleteRow { kind: RowKind::Summaries, id: row.id }));
    }
    Ok(removals)
}

/// The earlier summary as a turn of its own, then what was said since.
fn prepend_summary(earlier: Summary, shareable: &[Turn]) -> Vec<Turn> {
    let since = shareable.get(earlier.covers..).unwrap_or_default().iter().cloned();
    let earlier = Turn { content: earlier.text, role: Some(TurnRole::System), ..Turn::default() };
    std::iter::once(earlier).chain(since).collect()
}

/// Names a conversation or session of one caller; `None`: there is none to keep anything for.
fn conversation_key(caller: &Caller) -> Option<String> {
    let place = caller.conversation.as_ref().or(caller.session.as_ref())?;
    Some(content_sha256(&format!("{}\n{place}", caller.principal)))
}

fn digest_turns(turns: &[Turn]) -> String {
    let contents: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
    content_sha256(&contents.join("\u{0}"))
}

/// One digest for every spelling of a text.
fn normalised_digest(content: &str) -> String {
    content_sha256(&normalize::normalise_text(content))
}
