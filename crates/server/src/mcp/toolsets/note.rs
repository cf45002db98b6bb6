//! Toolset `note`: notes about a person or a system, each with a hint that says when to recall it.

use engine::model::error::Error;
use engine::model::memory::{Draft, Memory};
use engine::model::scope::Scope;
use engine::model::vocabulary::{Ranker, ScopeKind};
use engine::ports::Filter;
use engine::{Answer, ConsentRequest, ForgetOptions, ForgetOutcome, Remembered, SaveOutcome, SearchQuery};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::core::parse_memory_id;
use crate::mcp::elicitation::Confirmation;
use crate::mcp::schema::{
    boolean_schema, enum_schema, flat_object_schema, integer_schema, object_list_schema, object_schema,
    string_list_schema, string_schema,
};
use crate::mcp::tool::{ToolCall, ToolEffect, ToolSpec, parse_arguments};
use crate::mcp::tool_answer::{ToolAnswer, ToolProblem, with_warnings};
use crate::wire::deserialize::deserialize_bounded;

const USER_STORE: &str = "user_notes";
const SYSTEM_STORE: &str = "system_notes";
const RESULTS_DEFAULT: usize = 10;
const RESULTS_MAX: u64 = 50;

pub(in crate::mcp) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "ai_searchMemory",
        title: "Search notes",
        description: "Notes about the person's preferences and about systems, matched by what they say they are for.",
        effect: ToolEffect::Read,
        input: || {
            object_schema(
                &[
                    ("query", string_schema("a question, or words of the answer")),
                    ("limit", integer_schema(1, RESULTS_MAX, RESULTS_DEFAULT, "most hits")),
                ],
                &["query"],
            )
        },
        output: || object_list_schema("memories"),
        run: search_notes,
    },
    ToolSpec {
        name: "ai_saveMemory",
        title: "Save a note",
        description: "Keep durable knowledge the platform does not hold: a preference (scope user) or a fact about a \
                      system (scope system). A note with a similar hint is updated. Never live state or secrets.",
        effect: ToolEffect::Write,
        input: || {
            object_schema(
                &[
                    ("scope", enum_schema(&["user", "system"], "whose note it is")),
                    ("systemId", string_schema("for scope system")),
                    ("recallHint", string_schema("what this is and when to recall it")),
                    ("content", string_schema("one fact or preference")),
                    ("tags", string_list_schema("words to find it by")),
                    ("alwaysInject", boolean_schema("true for style and default preferences, false for facts")),
                ],
                &["scope", "recallHint", "content"],
            )
        },
        output: || flat_object_schema(&[("id", 's'), ("updated", 'b'), ("review_item_id", 's')], &["id", "updated"]),
        run: save_note,
    },
    ToolSpec {
        name: "ai_deleteMemory",
        title: "Delete a note",
        description: "Remove a stale note; a person confirms, now or in review. To correct one, save it again \
                      instead.",
        effect: ToolEffect::Delete,
        input: || object_schema(&[("id", string_schema("of the note"))], &["id"]),
        output: || flat_object_schema(&[("deleted", 'b'), ("review_item_id", 's')], &["deleted"]),
        run: delete_note,
    },
];

fn search_notes(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct SearchNotesArgs {
        query: String,
        #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, RESULTS_MAX>")]
        limit: Option<usize>,
    }
    let args: SearchNotesArgs = parse_arguments(map)?;
    // Both stores are created by their first save.
    let existing = call.engine.stores(call.caller)?;
    let stores: Vec<String> = existing
        .into_iter()
        .map(|store| store.slug)
        .filter(|slug| slug == USER_STORE || slug == SYSTEM_STORE)
        .collect();
    // An empty filter would search every store.
    if stores.is_empty() {
        return Ok(json!({ "memories": [] }));
    }
    let filter = Filter { stores, ..Filter::default() };
    let limit = Some(args.limit.unwrap_or(RESULTS_DEFAULT));
    let query = SearchQuery { text: args.query, filter, limit, ranker: Some(Ranker::Hint), ..SearchQuery::default() };
    let answer = call.engine.search(call.caller, &query)?;
    let memories: Vec<Value> = answer.hits.into_iter().map(|hit| to_note_json(&hit.memory.for_model())).collect();
    Ok(with_warnings(json!({ "memories": memories }), answer.warnings))
}

fn to_note_json(memory: &Memory) -> Value {
    let system = match &memory.scope {
        Scope::System { system } => Some(system),
        _ => None,
    };
    json!({
        "id": memory.id, "scope": memory.scope.kind(), "systemId": system, "recallHint": memory.recall_hint,
        "content": memory.content, "tags": memory.tags, "alwaysInject": memory.always_inject,
        "savedAt": memory.updated_at,
    })
}

fn save_note(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct SaveNoteArgs {
        scope: String,
        system_id: Option<String>,
        recall_hint: String,
        content: String,
        tags: Option<Vec<String>>,
        always_inject: Option<bool>,
    }
    let args: SaveNoteArgs = parse_arguments(map)?;
    let store = match args.scope.parse::<ScopeKind>() {
        Ok(ScopeKind::User) => USER_STORE,
        Ok(ScopeKind::System) => SYSTEM_STORE,
        _ => return Err(ToolProblem::new("shape.unknown_word", "scope is `user` or `system`")),
    };
    let draft = Draft {
        store: store.to_owned(),
        system: args.system_id,
        recall_hint: Some(args.recall_hint),
        content: args.content,
        tags: args.tags,
        always_inject: args.always_inject,
        ..Draft::default()
    };
    let saved = match draft.always_inject {
        Some(true) => match call.confirm(&ConsentRequest::Keep(&draft))? {
            Confirmation::Yes(question) => call.engine.remember_confirmed(call.caller, draft, &question)?,
            Confirmation::NotAsked => call.engine.remember(call.caller, draft)?,
            // Nothing is saved, not even without `alwaysInject`: the person declined the note as a whole.
            Confirmation::No => {
                return Err(ToolProblem::new("policy.person_declined", "the person said no; nothing was saved"));
            }
        },
        _ => call.engine.remember(call.caller, draft)?,
    };
    match saved {
        Remembered::Refused(refusal) => Err(refusal.into()),
        Remembered::Saved(saved) => {
            let mut answer = json!({
                "id": saved.memory.id, "updated": saved.outcome == SaveOutcome::Updated, "near": saved.near,
                "redacted": saved.memory.flags,
            });
            // It is shown as a draft until its person has confirmed it.
            if let Some(review) = saved.review {
                answer["review_item_id"] = review.to_string().into();
            }
            Ok(with_warnings(answer, saved.warnings))
        }
    }
}

fn delete_note(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct DeleteNoteArgs {
        id: String,
    }
    let args: DeleteNoteArgs = parse_arguments(map)?;
    let Ok(id) = parse_memory_id(&args.id) else { return Ok(json!({ "deleted": false })) };
    let Some(answer) = call.confirm(&ConsentRequest::Forget(id))?.to_answer() else {
        return Ok(json!({ "deleted": false }));
    };
    let reason = match answer {
        Answer::To(_) => "deleted by its person",
        Answer::Missing | Answer::NotNeeded => "an agent called it stale",
    };
    let options = ForgetOptions { reason: Some(reason.to_owned()), answer, ..ForgetOptions::default() };
    match call.engine.forget_with_options(call.caller, id, &options) {
        Ok(ForgetOutcome::Done(_)) => Ok(json!({ "deleted": true })),
        Ok(ForgetOutcome::Proposed { review, .. }) => Ok(json!({ "deleted": false, "review_item_id": review.id })),
        Ok(ForgetOutcome::Refused(refusal)) => Err(refusal.into()),
        // The same answer as for an unknown id: trying ids reveals nothing.
        Err(Error::NotFound { .. } | Error::Conflict(_)) => Ok(json!({ "deleted": false })),
        Err(error) => Err(error.into()),
    }
}
