//! Summaries: the first turns of a conversation, shortened, for windows they no longer fit into. Made once, stored with
//! the number of turns they cover, and reused while those turns are unchanged. Files:
//!
//! - `mod.rs`: making, storing, finding and removing summaries
//! - `extractive.rs`: summaries without a model, and shortening
//! - `in_flight.rs`: one call at a time to the summary endpoint, back-off after failures, cache of new summaries

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
use crate::tenant::bans::{self, BanKey, Word};
use crate::text::digest::content_sha256;
use crate::text::{normalize, token_estimate};

/// Summarises turns: a model's endpoint, or [`ExtractiveSummariser`].
pub trait Summariser: Send + Sync + std::fmt::Debug {
    /// A summary of at most `tokens_max` tokens, or the reason why there is none.
    fn summarise(&self, turns: &[Turn], tokens_max: usize) -> Result<String, String>;
}

/// A stored summary of the first turns of one conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredSummary {
    id: String,
    /// Digest of the principal and its conversation or session.
    conversation: String,
    /// Number of turns it covers, from the first.
    pub covers: usize,
    /// Digest of those turns' contents; another digest means that the turns were edited.
    sha256: String,
    pub text: String,
    /// Extractive, because the endpoint failed; replaced after the back-off.
    #[serde(default)]
    fallback: bool,
    /// Time of that failure; absent in older records, where it is `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed_at: Option<Timestamp>,
    /// The caller's user: erasing a user deletes their summaries.
    #[serde(default)]
    user: Option<String>,
    at: Timestamp,
}

/// One turn covered by a stored summary. An index: removing a turn finds the summaries that contain it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CoveredTurn {
    id: String,
    conversation: String,
    /// Digest of its normalised content.
    digest: String,
    at: Timestamp,
}

const SUMMARY_STATE: &str = "summary";
const TURN_STATE: &str = "turn";
/// Summaries stored per conversation: the current one and the one before, which a smaller window may still use.
const SUMMARIES_KEPT_MAX: usize = 2;
/// Reason for a fallback during the back-off.
const FAILED_RECENTLY: &str = "it failed recently and is tried again after five minutes";

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

    /// Time of the endpoint's failure, if this is a fallback.
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

/// A summary for a window.
pub(crate) struct Summary {
    /// Number of turns it covers, from the first.
    pub covers: usize,
    pub text: String,
    /// Set if the endpoint failed and the summary is extractive.
    pub note: Option<String>,
}

impl From<StoredSummary> for Summary {
    fn from(kept: StoredSummary) -> Summary {
        Summary { covers: kept.covers, note: kept.failed_at().map(|_| fallback_note(FAILED_RECENTLY)), text: kept.text }
    }
}

/// A failure of the summary endpoint.
struct EndpointFailure {
    at: Timestamp,
    why: String,
}

fn fallback_note(why: &str) -> String {
    format!("summarised without the endpoint: {why}")
}

/// The stored summary that covers the most of the first `until` turns, if those turns are unchanged.
pub(crate) fn find_kept_summary(
    engine: &Engine,
    caller: &Caller,
    turns: &[Turn],
    until: usize,
) -> Result<Option<Summary>, Error> {
    let Some(conversation) = conversation_key(caller) else { return Ok(None) };
    let now = engine.clock.now();
    let kept = list_kept_summaries(engine, caller.tenant, &conversation)?;
    // A fallback is good enough while the endpoint is backed off, or if there is no endpoint.
    let is_usable = |kept: &StoredSummary| {
        engine.settings.summariser.is_none() || kept.failed_at().is_none_or(|at| in_flight::is_backing_off(at, now))
    };
    let still_matches =
        |kept: &StoredSummary| turns.get(..kept.covers).is_some_and(|covered| digest_turns(covered) == kept.sha256);
    let found = kept.into_iter().filter(|kept| kept.covers <= until && is_usable(kept) && still_matches(kept));
    Ok(found.max_by_key(|kept| kept.covers).map(Summary::from))
}

/// Stored summaries of a conversation, newest first, including those whose write is pending.
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

/// A summary of the first `until` turns. Concurrent calls for the same summary wait for the first one's result instead
/// of calling the endpoint again.
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
        // Looked up inside the lock: the call waited for may have stored it.
        match find_kept_summary(engine, caller, turns, until)?.filter(|kept| kept.covers == until) {
            Some(kept) => Ok(kept),
            None => make(),
        }
    })
}

/// Makes a summary, by the endpoint or as an extract, and stores it.
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
    // Summaries do not pass the gate of memories, and a model can join parts into a secret: scan the result too.
    let text = safety::without_secrets(text);
    if !engine.settings.memory_off {
        store_summary(engine, caller, &turns[..until], &text, failed.as_ref().map(|failed| failed.at))?;
    }
    Ok(Summary { covers: until, text, note: failed.map(|failed| fallback_note(&failed.why)) })
}

/// The turns without forgotten ones and without secrets. Done before anything is sent or cut: half a secret would not
/// be recognised.
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

/// The endpoint's summary of the turns; `None` without an endpoint. Not called during the back-off.
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
    // Extends an earlier summary instead of sending its turns again: the endpoint's time grows with the length. Not if
    // turns were left out, since `covers` counts all turns.
    let earlier = find_kept_summary(engine, caller, turns, until)?.filter(|_| shareable.len() == until);
    let shareable = earlier.map_or_else(|| shareable.to_vec(), |earlier| prepend_summary(earlier, shareable));
    let answer = summariser.summarise(&shareable, tokens_max).map_err(|why| {
        let at = engine.clock.now();
        engine.summary_requests.record_failure(at);
        EndpointFailure { at, why }
    });
    Ok(Some(answer))
}

/// Time of the endpoint's last failure during the back-off: in this process, or in another one for this conversation.
fn last_recent_failure(engine: &Engine, caller: &Caller) -> Result<Option<Timestamp>, Error> {
    let now = engine.clock.now();
    if let Some(at) = engine.summary_requests.recent_failure(now) {
        return Ok(Some(at));
    }
    let Some(conversation) = conversation_key(caller) else { return Ok(None) };
    let kept = list_kept_summaries(engine, caller.tenant, &conversation)?;
    Ok(kept.iter().filter_map(StoredSummary::failed_at).filter(|at| in_flight::is_backing_off(*at, now)).max())
}

/// Whether the content of a turn is banned (forgotten) in the caller's conversation, project, agent or user scope.
fn is_turn_forgotten(engine: &Engine, caller: &Caller, keys: &[BanKey], turn: &Turn) -> Result<bool, Error> {
    let conversation = caller.conversation.clone().map(|conversation| Scope::Conversation { conversation });
    let project = caller.project.clone().map(|project| Scope::Project { project });
    let agent = caller.agent.clone().map(|agent| Scope::Agent { agent });
    let user = caller.user.clone().map(|user| Scope::User { user });
    let draft = Draft { content: turn.content.clone(), ..Draft::default() };
    for scope in [conversation, project, agent, user].into_iter().flatten() {
        if bans::check_bans(engine, caller.tenant, Word::of(caller), keys, &scope, &draft)?.ban.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Stores a summary with its covered turns, and deletes older ones of the conversation. Does not wait for the disk.
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
    // One id per number of turns: a new summary of as many turns replaces the old one.
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
    engine.commit_later(change);
    Ok(())
}

/// Plans the removal of every stored summary that covers one of these texts: a forgotten turn must not survive in a
/// summary.
pub(crate) fn plan_summary_removal<'a>(
    engine: &Engine,
    tenant: TenantId,
    contents: impl Iterator<Item = &'a str>,
) -> Result<Vec<Write>, Error> {
    // Pending writes count too: without the flush, a summary written a moment later would survive.
    engine.summary_requests.clear_recent();
    engine.backend.flush()?;
    // Most tenants have no summaries; one look-up saves one per text.
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
    // All summaries and turn records of an affected conversation, since each summary may be made from the one before.
    let mut removals = Vec::new();
    for conversation in conversations {
        let filter = RowFilter { parent: Some(conversation), ..RowFilter::default() };
        let rows = engine.backend.list_rows(tenant, RowKind::Summaries, &filter)?;
        removals.extend(rows.into_iter().map(|row| Write::DeleteRow { kind: RowKind::Summaries, id: row.id }));
    }
    Ok(removals)
}

/// The earlier summary as a system turn, followed by the turns it does not cover.
fn prepend_summary(earlier: Summary, shareable: &[Turn]) -> Vec<Turn> {
    let since = shareable.get(earlier.covers..).unwrap_or_default().iter().cloned();
    let earlier = Turn { content: earlier.text, role: Some(TurnRole::System), ..Turn::default() };
    std::iter::once(earlier).chain(since).collect()
}

/// Key of the caller's conversation or session; `None` if it has neither, and summaries are not stored.
fn conversation_key(caller: &Caller) -> Option<String> {
    let place = caller.conversation.as_ref().or(caller.session.as_ref())?;
    Some(content_sha256(&format!("{}\n{place}", caller.principal)))
}

/// Digest of the exact contents of turns.
fn digest_turns(turns: &[Turn]) -> String {
    let contents: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
    content_sha256(&contents.join("\u{0}"))
}

/// Digest of a text, the same for all its spellings.
fn normalised_digest(content: &str) -> String {
    content_sha256(&normalize::normalise_text(content))
}
