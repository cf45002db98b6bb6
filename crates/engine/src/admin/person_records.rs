//! Records of a person besides memories, for an erasure: keys end; answers, questions, reviews and usage go;
//! names are taken out.

use std::collections::HashSet;

use serde_json::Value;

use crate::Engine;
use crate::admin::keys;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Guard;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::question::Question;
use crate::model::review::Review;
use crate::model::row::{RowKind, SideRecord};
use crate::model::run::Run;
use crate::model::scope::Scope;
use crate::model::vocabulary::Role;
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::recall::usage::MemoryUsage;
use crate::write::idempotency;

/// Stands where the name of the person stood.
const ERASED_NAME: &str = "erased";

/// Adds what the erasure of a person does to other records than memories.
pub(super) fn plan_person_records(
    engine: &Engine,
    caller: &Caller,
    user: &str,
    memories: &[Memory],
    change: Change,
) -> Result<Change, Error> {
    let ids: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let principal = format!("{}:{user}", Role::User);
    // Holders of the person's keys must not write into the empty place.
    let mut change = keys::plan_person_key_ends(engine, caller, user, change)?;
    let texts: HashSet<String> = mentioned_texts(memories);
    let is_erased = |answer: &Value| mentions(answer, &texts, user);
    change.writes.extend(idempotency::plan_answer_removal(engine, caller, is_erased)?);
    change = plan_review_removal(engine, caller, user, change)?;
    row::for_each_row(engine, caller, RowKind::Usage, |row| {
        let usage = MemoryUsage::from_row(row.clone());
        if usage.is_ok_and(|usage| usage.actor == principal || ids.contains(&usage.memory)) {
            change.writes.push(Write::DeleteRow { kind: RowKind::Usage, id: row.id.clone() });
        }
    })?;
    row::for_each_row(engine, caller, RowKind::Questions, |row| {
        let question = Question::from_row(row.clone());
        if question.is_ok_and(|question| question.user.as_deref() == Some(user) || question.principal == principal) {
            change.writes.push(Write::DeleteRow { kind: RowKind::Questions, id: row.id.clone() });
        }
    })?;
    row::for_each_row(engine, caller, RowKind::Runs, |row| {
        if let Some(run) = Run::from_row(row.clone()).ok().filter(|run| run.opened_by == principal) {
            let nameless = Run { opened_by: format!("{}:{ERASED_NAME}", Role::User), goal: None, ..run };
            change.writes.push(Write::Row(nameless.to_row()));
        }
    })?;
    Ok(change)
}

/// Reviews about the person's own scope go; in others the person's name goes.
fn plan_review_removal(engine: &Engine, caller: &Caller, user: &str, change: Change) -> Result<Change, Error> {
    let (mut change, own) = (change, Scope::User { user: user.to_owned() });
    let deleted_id = |write: &Write| match write {
        Write::DeleteRow { kind: RowKind::Reviews, id } => Some(id.clone()),
        _ => None,
    };
    let deleted: HashSet<String> = change.writes.iter().filter_map(deleted_id).collect();
    let mut named = Vec::new();
    row::for_each_row(engine, caller, RowKind::Reviews, |row| match Review::from_row(row.clone()) {
        Ok(_) if deleted.contains(&row.id) => {}
        Ok(review) if review.scope == own => {
            change.writes.push(Write::DeleteRow { kind: RowKind::Reviews, id: row.id.clone() });
        }
        Ok(review) if review.user.as_deref() == Some(user) => named.push(review),
        _ => {}
    })?;
    for review in named {
        // A decision that is made meanwhile must not be undone.
        let guard = Guard::RowInState { kind: RowKind::Reviews, id: review.row_id(), state: Some(review.row_state()) };
        let nameless = Review { user: None, ..review };
        change = change.with_guard(guard).with_write(Write::Row(nameless.to_row()));
    }
    Ok(change)
}

/// Ids, paths and hashes by which an answer names a memory.
fn mentioned_texts(memories: &[Memory]) -> HashSet<String> {
    let texts = |memory: &Memory| [Some(memory.id.to_string()), memory.path.clone(), Some(memory.sha256.clone())];
    memories.iter().flat_map(texts).flatten().collect()
}

/// Whether a value holds one of these texts, or names the user.
fn mentions(value: &Value, texts: &HashSet<String>, user: &str) -> bool {
    match value {
        // The body of an HTTP answer is JSON in a text.
        Value::String(text) => {
            let inner =
                || serde_json::from_str::<Value>(text).ok().filter(|inner| inner.is_object() || inner.is_array());
            texts.contains(text) || inner().is_some_and(|inner| mentions(&inner, texts, user))
        }
        Value::Array(values) => values.iter().any(|value| mentions(value, texts, user)),
        Value::Object(fields) => {
            let names_user = fields.get("user").and_then(Value::as_str) == Some(user);
            names_user || fields.values().any(|value| mentions(value, texts, user))
        }
        _ => false,
    }
}
