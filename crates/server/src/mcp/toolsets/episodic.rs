//! Toolset `episodic`: search in an agent's episodes and logs, and in the knowledge base.

use engine::RecallQuery;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::schema::{integer_schema, object_list_schema, object_schema, string_list_schema, string_schema};
use crate::mcp::tool::{ToolCall, ToolEffect, ToolSpec, parse_arguments};
use crate::mcp::tool_answer::{ToolAnswer, with_warnings};
use crate::wire::deserialize::deserialize_bounded;

/// Results by default, and at most.
const RESULTS_DEFAULT: usize = 5;
const RESULTS_MAX: u64 = 20;

pub(in crate::mcp) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "search_my_memories",
        title: "Search my memories",
        description: "What you went through, what was done, what workflows came to and what is written down, best \
                      first. Use before a task. Not for live state.",
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
        run: search_my_memories,
    },
    ToolSpec {
        name: "search_knowledge",
        title: "Search the knowledge base",
        description: "Passages of published documents that answer a question.",
        effect: ToolEffect::Read,
        input: || {
            let limit = integer_schema(1, RESULTS_MAX, RESULTS_DEFAULT, "most hits");
            object_schema(
                &[
                    ("query", string_schema("a question, or words of the answer")),
                    ("categories", string_list_schema("any of them")),
                    ("limit", limit),
                ],
                &["query"],
            )
        },
        output: || object_list_schema("passages"),
        run: search_knowledge,
    },
];

fn search_my_memories(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct MySearchArgs {
        query: String,
        #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, RESULTS_MAX>")]
        limit: Option<usize>,
    }
    let args: MySearchArgs = parse_arguments(map)?;
    let query =
        RecallQuery { text: args.query, limit: Some(args.limit.unwrap_or(RESULTS_DEFAULT)), ..RecallQuery::default() };
    let recalled = call.engine.search_my_memories(call.caller, &query)?;
    let answer = json!({ "memories": recalled.recollections, "failed": recalled.failed });
    Ok(with_warnings(answer, recalled.warnings))
}

fn search_knowledge(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct KnowledgeArgs {
        query: String,
        #[serde(default)]
        categories: Vec<String>,
        #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, RESULTS_MAX>")]
        limit: Option<usize>,
    }
    let args: KnowledgeArgs = parse_arguments(map)?;
    let limit = Some(args.limit.unwrap_or(RESULTS_DEFAULT));
    let found = call.engine.search_knowledge(call.caller, &args.query, &args.categories, limit)?;
    let passages: Vec<Value> = found
        .hits
        .into_iter()
        .map(|hit| {
            let memory = hit.memory.for_model();
            json!({
                "id": memory.id, "title": memory.title, "path": memory.path, "content": memory.content,
                "tags": memory.tags, "score": hit.score, "updated_at": memory.updated_at,
            })
        })
        .collect();
    Ok(with_warnings(json!({ "passages": passages }), found.warnings))
}
