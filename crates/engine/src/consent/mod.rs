//! Consent: questions to the person a caller acts for, and which answers count.
//!
//! A question is stored when it is asked. An answer counts if it names that question, comes from the caller and session
//! that were asked, is about exactly the same text, and is in time. It counts once: the change it allows marks the
//! question as used in its own transaction. No other word of a client is a consent.

mod question_text;

use jiff::ToSpan;
use serde_json::json;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::Guard;
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory};
use crate::model::question::{Question, QuestionAction, QuestionState};
use crate::model::row::{RowKind, SideRecord};
use crate::policy;
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::text::digest::content_sha256;
use question_text::TextLength;

/// What a person is asked to allow. `Engine::ask_person` resolves which memories it is about.
#[derive(Clone, Copy, Debug)]
pub enum ConsentRequest<'a> {
    /// Keep this draft as the person's own text.
    Keep(&'a Draft),
    Forget(MemoryId),
}

/// A question that was issued: its id, and its words for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedQuestion {
    pub id: String,
    pub text: String,
}

/// The answer a change is made on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Answer {
    /// The caller itself decides, as on the command line and over REST.
    #[default]
    NotNeeded,
    /// A model calls, and nobody was asked or could be.
    Missing,
    /// Yes to the question with this id. Believed only if the question proves it.
    To(String),
}

impl Engine {
    /// Closes a question that was answered with no, so that no later yes counts. Unknown ones are ignored.
    pub fn decline_question(&self, caller: &Caller, question: &str) -> Result<(), Error> {
        let found: Option<Question> = row::get_record(&*self.backend, caller.tenant, question)?;
        let Some(question) = found.filter(|question| question.was_put_to(caller)) else { return Ok(()) };
        let change = plan_close(&question, QuestionState::Declined, Change::new(caller.tenant, self.clock.now()));
        match self.commit_setup(change) {
            // It was answered before.
            Ok(_) | Err(StoreError::Guard(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Asks whether a draft may be kept as the person's own text, in place of `replaced`. `None`: the caller may not bring
/// the answer, or the texts are too long to be shown whole.
pub(crate) fn ask_to_keep(
    engine: &Engine,
    caller: &Caller,
    draft: &Draft,
    replaced: Option<&Memory>,
) -> Result<Option<AskedQuestion>, Error> {
    let text = policy::may_confirm(caller).then(|| question_text::ask_to_keep(draft, replaced, engine.limits()));
    match text.flatten() {
        Some(text) => issue_question(engine, caller, QuestionAction::Keep, digest_of_draft(draft, replaced), text),
        None => Ok(None),
    }
}

/// Asks whether a memory may be forgotten. `None` as for [`ask_to_keep`].
pub(crate) fn ask_to_forget(engine: &Engine, caller: &Caller, memory: &Memory) -> Result<Option<AskedQuestion>, Error> {
    let text = match policy::forget_needs_person(caller, memory) {
        true if policy::may_confirm(caller) => question_text::ask_to_forget(memory, engine.limits(), TextLength::Whole),
        true => None,
        // The caller's own draft: a part of it is enough to recognise it.
        false => question_text::ask_to_forget(memory, engine.limits(), TextLength::Cut),
    };
    match text {
        Some(text) => issue_question(engine, caller, QuestionAction::Forget, digest_of_version(memory), text),
        None => Ok(None),
    }
}

fn issue_question(
    engine: &Engine,
    caller: &Caller,
    action: QuestionAction,
    digest: String,
    text: String,
) -> Result<Option<AskedQuestion>, Error> {
    let now = engine.clock.now();
    let minutes = i64::from(engine.limits().question_minutes_max);
    let question = Question {
        // Two UUIDv7 hold about 140 random bits, too many to guess within the minutes it is open.
        id: format!("{}{}", engine.clock.fresh_id().simple(), engine.clock.fresh_id().simple()),
        action,
        state: QuestionState::Asked,
        digest,
        principal: caller.principal.clone(),
        user: caller.user.clone(),
        project: caller.project.clone(),
        conversation: caller.conversation.clone(),
        session: caller.session.clone(),
        asked_at: now,
        expires_at: now.checked_add(minutes.minutes()).unwrap_or(now),
    };
    engine.commit_setup(Change::new(caller.tenant, now).with_write(Write::Row(question.to_row())))?;
    Ok(Some(AskedQuestion { id: question.id, text }))
}

/// The open question that this caller's person was asked about exactly this draft, in place of exactly this version.
pub(crate) fn find_consent_to_keep(
    engine: &Engine,
    caller: &Caller,
    question: &str,
    draft: &Draft,
    replaced: Option<&Memory>,
) -> Result<Option<Question>, Error> {
    match policy::may_confirm(caller) {
        true => find_open_question(engine, caller, question, QuestionAction::Keep, &digest_of_draft(draft, replaced)),
        false => Ok(None),
    }
}

/// The open question that this caller's person was asked about exactly this version of the memory.
pub(crate) fn find_consent_to_forget(
    engine: &Engine,
    caller: &Caller,
    question: &str,
    memory: &Memory,
) -> Result<Option<Question>, Error> {
    match !policy::forget_needs_person(caller, memory) || policy::may_confirm(caller) {
        true => find_open_question(engine, caller, question, QuestionAction::Forget, &digest_of_version(memory)),
        false => Ok(None),
    }
}

fn find_open_question(
    engine: &Engine,
    caller: &Caller,
    question: &str,
    action: QuestionAction,
    digest: &str,
) -> Result<Option<Question>, Error> {
    let found: Option<Question> = row::get_record(&*engine.backend, caller.tenant, question)?;
    let now = engine.clock.now();
    Ok(found.filter(|question| {
        question.is_open(now) && question.was_put_to(caller) && question.action == action && question.digest == digest
    }))
}

/// Adds to a change that it uses up this question. A second change with the same question fails its guard.
pub(crate) fn use_question(question: &Question, change: Change) -> Change {
    plan_close(question, QuestionState::Used, change)
}

fn plan_close(question: &Question, state: QuestionState, change: Change) -> Change {
    let asked = Some(QuestionState::Asked.to_string());
    change
        .with_guard(Guard::RowInState { kind: RowKind::Questions, id: question.row_id(), state: asked })
        .with_write(Write::Row(Question { state, ..question.clone() }.to_row()))
}

/// Digest of everything a draft says and of the version it replaces. Every field is named, so that a new one cannot be
/// left out.
fn digest_of_draft(draft: &Draft, replaced: Option<&Memory>) -> String {
    let Draft {
        store,
        system,
        path,
        kind,
        layer,
        title,
        recall_hint,
        content,
        tags,
        metadata,
        confidence,
        importance,
        always_inject,
        expires_at,
        verify_by,
        ttl,
        role,
        session,
        turn,
        speaker,
        evidence,
        derived_from,
        expected_sha256,
        create_only,
        path_is_derived,
        reason,
    } = draft;
    let fields = json!([
        [store, system, path, kind, layer, title, recall_hint, content, tags, metadata],
        [confidence, importance, always_inject, expires_at, verify_by, ttl, role, session, turn, speaker],
        [evidence, derived_from, expected_sha256, create_only, path_is_derived, reason],
        replaced.map(digest_of_version),
    ]);
    content_sha256(&fields.to_string())
}

fn digest_of_version(memory: &Memory) -> String {
    content_sha256(&format!("{} {} {}", memory.id, memory.version, memory.sha256))
}
