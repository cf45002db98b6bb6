//! Toolset `note`: self-describing notes of a person or a system (seed 004).

use engine::model::caller::Caller;
use engine::model::error::Error;
use engine::model::memory::{Draft, Memory};
use engine::model::scope::Scope;
use engine::model::vocabulary::{Ranker, ScopeKind};
use engine::ports::Filter;
use engine::{Forgotten, Outcome, Query, Remembered};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::core::{memory_id, review_of_forget};
use crate::mcp::answer::{Answer, Problem, warned};
use crate::mcp::person::Said;
use crate::mcp::schema::{count, flag, list_of, object, one_of, plain, text, texts};
use crate::mcp::tool::{Call, Effect, Spec, arguments};
use crate::wire::bounded;

const USER_STORE: &str = "user_notes";
const SYSTEM_STORE: &str = "system_notes";
const RESULTS_DEFAULT: usize = 10;
const RESULTS_MAX: u64 = 50;

pub(in crate::mcp) const TOOLS: &[Spec] = &[
    Spec {
        name: "ai_searchMemory",
        title: "Search notes",
        description: "Notes about the person's preferences and about systems, matched by what they say they are for.",
        effect: Effect::Read,
        input: || object(&[("query", text("")), ("limit", count(1, RESULTS_MAX, RESULTS_DEFAULT))], &["query"]),
        output: || list_of("memories"),
        run: search,
    },
    Spec {
        name: "ai_saveMemory",
        title: "Save a note",
        description: "Keep durable knowledge the platform does not hold: a preference (scope user) or a fact about a system (scope \
                      system). A note with a similar hint is updated. Never live state or secrets.",
        effect: Effect::Write,
        input: || {
            object(
                &[
                    ("scope", one_of(&["user", "system"])),
                    ("systemId", text("for scope system")),
                    ("recallHint", text("what this is and when to recall it")),
                    ("content", text("")),
                    ("tags", texts("")),
                    ("alwaysInject", flag("true for style and default preferences, false for facts")),
                ],
                &["scope", "recallHint", "content"],
            )
        },
        output: || plain(&[("id", 's'), ("updated", 'b')], &["id", "updated"]),
        run: save,
    },
    Spec {
        name: "ai_deleteMemory",
        title: "Delete a note",
        description: "Remove a stale note; a person confirms, now or in review. To correct one, save it again instead.",
        effect: Effect::Delete,
        input: || object(&[("id", text(""))], &["id"]),
        output: || plain(&[("deleted", 'b'), ("review_item_id", 's')], &["deleted"]),
        run: delete,
    },
];

fn search(call: &Call<'_>, map: JsonObject) -> Answer {
    #[derive(Deserialize)]
    struct Args {
        query: String,
        #[serde(default, deserialize_with = "bounded::<_, 1, RESULTS_MAX>")]
        limit: Option<usize>,
    }
    let args: Args = arguments(map)?;
    let known = call.engine.stores(call.caller)?;
    let stores: Vec<String> =
        known.into_iter().map(|store| store.slug).filter(|slug| slug == USER_STORE || slug == SYSTEM_STORE).collect();
    if stores.is_empty() {
        return Ok(json!({ "memories": [] }));
    }
    let filter = Filter { stores, ..Filter::default() };
    let limit = Some(args.limit.unwrap_or(RESULTS_DEFAULT));
    let query = Query { text: args.query, filter, limit, ranker: Some(Ranker::Hint), ..Query::default() };
    let answer = call.engine.search(call.caller, &query)?;
    let memories: Vec<Value> = answer.hits.iter().map(|hit| note(&hit.memory)).collect();
    Ok(warned(json!({ "memories": memories }), answer.warnings))
}

fn note(memory: &Memory) -> Value {
    let system = match &memory.scope {
        Scope::System { system } => Some(system),
        _ => None,
    };
    json!({
        "id": memory.id, "scope": memory.scope.kind(), "systemId": system, "recallHint": memory.recall_hint,
        "content": memory.content, "tags": memory.tags, "alwaysInject": memory.always_inject, "savedAt": memory.updated_at,
    })
}

fn save(call: &Call<'_>, map: JsonObject) -> Answer {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Args {
        scope: String,
        system_id: Option<String>,
        recall_hint: String,
        content: String,
        tags: Option<Vec<String>>,
        always_inject: Option<bool>,
    }
    let args: Args = arguments(map)?;
    let store = match args.scope.parse::<ScopeKind>() {
        Ok(ScopeKind::User) => USER_STORE,
        Ok(ScopeKind::System) => SYSTEM_STORE,
        _ => return Err(Problem::new("shape.unknown_word", "scope is `user` or `system`")),
    };
    if call.said == Said::No {
        return Err(Problem::new("policy.person_declined", "the person said no; nothing was saved"));
    }
    let draft = Draft {
        store: store.to_owned(),
        system: args.system_id,
        recall_hint: Some(args.recall_hint),
        content: args.content,
        tags: args.tags,
        always_inject: args.always_inject,
        ..Draft::default()
    };
    let caller = Caller { confirmed: call.said == Said::Yes, ..call.caller.clone() };
    match call.engine.remember(&caller, draft)? {
        Remembered::Refused(refusal) => Err(refusal.into()),
        Remembered::Saved(saved) => Ok(json!({
            "id": saved.memory.id, "updated": saved.outcome == Outcome::Updated, "near": saved.near, "redacted": saved.memory.flags,
        })),
    }
}

fn delete(call: &Call<'_>, map: JsonObject) -> Answer {
    #[derive(Deserialize)]
    struct Args {
        id: String,
    }
    let args: Args = arguments(map)?;
    let Ok(id) = memory_id(&args.id) else { return Ok(json!({ "deleted": false })) };
    match call.said {
        Said::No => return Ok(json!({ "deleted": false })),
        Said::NotAsked => {
            return match review_of_forget(call, id, "an agent called it stale".to_owned()) {
                Ok(review) => Ok(json!({ "deleted": false, "review_item_id": review })),
                // A stranger learns nothing from trying.
                Err(problem) if problem.is("not_found") || problem.is("conflict.state") => {
                    Ok(json!({ "deleted": false }))
                }
                Err(problem) => Err(problem),
            };
        }
        Said::Yes => {}
    }
    match call.engine.forget(call.caller, id, Some("deleted by its person".to_owned())) {
        Ok(Forgotten::Done(_)) => Ok(json!({ "deleted": true })),
        Ok(Forgotten::Refused(refusal)) => Err(refusal.into()),
        // A stranger learns nothing from trying.
        Err(Error::NotFound { .. } | Error::Conflict(_)) => Ok(json!({ "deleted": false })),
        Err(error) => Err(error.into()),
    }
}
