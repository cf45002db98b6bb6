//! Toolset `lesson`: short lessons of a pipeline's agent (seed 002). Offered only where the pipeline opted in.

use engine::model::error::Error;
use engine::model::memory::Draft;
use engine::ports::Filter;
use engine::{Outcome, Query, Remembered};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::answer::{Answer, warned};
use crate::mcp::schema::{list_of, object, plain, text, texts};
use crate::mcp::tool::{Call, Effect, Spec, arguments};

const STORE: &str = "lessons";

pub(in crate::mcp) const TOOLS: &[Spec] = &[
    Spec {
        name: "recall_memory",
        title: "Recall lessons",
        description: "Lessons of earlier runs of this pipeline, best first; an empty query gives the newest. Call it before you start.",
        effect: Effect::Read,
        input: || {
            let limit = json!({ "type": "integer", "description": "fewer than the configured maximum" });
            object(&[("query", text("")), ("tags", texts("all of them")), ("limit", limit)], &[])
        },
        output: || list_of("memories"),
        run: recall,
    },
    Spec {
        name: "save_memory",
        title: "Save a lesson",
        description: "Keep a short lesson that helps later runs: a convention, a known fix, a path. Not run state, secrets or blobs. \
                      The same text twice is kept once.",
        effect: Effect::Write,
        input: || object(&[("content", text("")), ("tags", texts(""))], &["content"]),
        output: || plain(&[("saved", 'b'), ("deduped", 'b'), ("id", 's')], &["saved", "deduped"]),
        run: save,
    },
];

fn recall(call: &Call<'_>, map: JsonObject) -> Answer {
    #[derive(Deserialize)]
    struct Args {
        #[serde(default)]
        query: String,
        #[serde(default)]
        tags: Vec<String>,
        limit: Option<i64>,
    }
    let args: Args = arguments(map)?;
    // Nothing saved yet is an empty answer, not a missing store.
    let known = call.engine.stores(call.caller)?.iter().any(|store| store.slug == STORE);
    if !known {
        return Ok(json!({ "memories": [] }));
    }
    // The answer carries counters: what earlier recalls of this session left behind is counted first.
    call.engine.backend.flush().map_err(Error::from)?;
    let filter = Filter { stores: vec![STORE.to_owned()], tags: args.tags, ..Filter::default() };
    let limit = args.limit.map(|limit| usize::try_from(limit).unwrap_or(0));
    let answer = call.engine.search(call.caller, &Query { text: args.query, filter, limit, ..Query::default() })?;
    let memories: Vec<Value> = answer
        .hits
        .iter()
        .map(|hit| {
            let memory = &hit.memory;
            json!({
                "id": memory.id, "content": memory.content, "tags": memory.tags, "created_at": memory.created_at,
                "recall_count": memory.recall_count, "last_recalled": memory.last_recalled_at,
            })
        })
        .collect();
    Ok(warned(json!({ "memories": memories }), answer.warnings))
}

fn save(call: &Call<'_>, map: JsonObject) -> Answer {
    #[derive(Deserialize)]
    struct Args {
        content: String,
        tags: Option<Vec<String>>,
    }
    let args: Args = arguments(map)?;
    let draft = Draft { store: STORE.to_owned(), content: args.content, tags: args.tags, ..Draft::default() };
    match call.engine.remember(call.caller, draft)? {
        Remembered::Refused(refusal) => Err(refusal.into()),
        Remembered::Saved(saved) => {
            Ok(json!({ "saved": true, "deduped": saved.outcome == Outcome::Unchanged, "id": saved.memory.id }))
        }
    }
}
