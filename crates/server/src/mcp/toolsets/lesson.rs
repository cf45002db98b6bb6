//! Toolset `lesson`: short lessons of a pipeline's agent. Offered only if the pipeline opted in.

use engine::model::error::Error;
use engine::model::memory::Draft;
use engine::ports::Filter;
use engine::{Remembered, SaveOutcome, SearchQuery};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::schema::{flat_object_schema, object_list_schema, object_schema, string_list_schema, string_schema};
use crate::mcp::tool::{ToolCall, ToolEffect, ToolSpec, parse_arguments};
use crate::mcp::tool_answer::{ToolAnswer, with_warnings};

const STORE: &str = "lessons";

pub(in crate::mcp) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "recall_memory",
        title: "Recall lessons",
        description: "Lessons of earlier runs of this pipeline, best first; an empty query gives the newest. Call it \
                      before you start.",
        effect: ToolEffect::Read,
        input: || {
            let limit = json!({ "type": "integer", "description": "fewer than the configured maximum" });
            object_schema(
                &[
                    ("query", string_schema("words of the lesson; empty: the newest")),
                    ("tags", string_list_schema("all of them")),
                    ("limit", limit),
                ],
                &[],
            )
        },
        output: || object_list_schema("memories"),
        run: recall_lessons,
    },
    ToolSpec {
        name: "save_memory",
        title: "Save a lesson",
        description: "Keep a short lesson that helps later runs: a convention, a known fix, a path. Not run state, \
                      secrets or blobs. The same text twice is kept once.",
        effect: ToolEffect::Write,
        input: || {
            object_schema(
                &[("content", string_schema("one lesson")), ("tags", string_list_schema("words to filter by"))],
                &["content"],
            )
        },
        output: || flat_object_schema(&[("saved", 'b'), ("deduped", 'b'), ("id", 's')], &["saved", "deduped"]),
        run: save_lesson,
    },
];

fn recall_lessons(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct RecallLessonsArgs {
        #[serde(default)]
        query: String,
        #[serde(default)]
        tags: Vec<String>,
        limit: Option<i64>,
    }
    let args: RecallLessonsArgs = parse_arguments(map)?;
    // The store is created by the first save; until then the answer is empty, not an error.
    let store_exists = call.engine.stores(call.caller)?.iter().any(|store| store.slug == STORE);
    if !store_exists {
        return Ok(json!({ "memories": [] }));
    }
    // The answer shows recall counters, which are written in the background: wait for those of earlier recalls.
    call.engine.database().flush().map_err(Error::from)?;
    let filter = Filter { stores: vec![STORE.to_owned()], tags: args.tags, ..Filter::default() };
    // A negative limit becomes 0, which the engine refuses with its bounds.
    let limit = args.limit.map(|limit| usize::try_from(limit).unwrap_or(0));
    let answer =
        call.engine.search(call.caller, &SearchQuery { text: args.query, filter, limit, ..SearchQuery::default() })?;
    let memories: Vec<Value> = answer
        .hits
        .into_iter()
        .map(|hit| {
            let memory = hit.memory.for_model();
            json!({
                "id": memory.id, "content": memory.content, "tags": memory.tags, "created_at": memory.created_at,
                "recall_count": memory.recall_count, "last_recalled": memory.last_recalled_at,
            })
        })
        .collect();
    Ok(with_warnings(json!({ "memories": memories }), answer.warnings))
}

fn save_lesson(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct SaveLessonArgs {
        content: String,
        tags: Option<Vec<String>>,
    }
    let args: SaveLessonArgs = parse_arguments(map)?;
    let draft = Draft { store: STORE.to_owned(), content: args.content, tags: args.tags, ..Draft::default() };
    match call.engine.remember(call.caller, draft)? {
        Remembered::Refused(refusal) => Err(refusal.into()),
        Remembered::Saved(saved) => {
            Ok(json!({ "saved": true, "deduped": saved.outcome == SaveOutcome::Unchanged, "id": saved.memory.id }))
        }
    }
}
