//! Toolset `episodic`: what an agent went through, and what is written down (seed 001).

use engine::MyQuery;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::answer::Answer;
use crate::mcp::schema::{count, list_of, object, text, texts};
use crate::mcp::tool::{Call, Effect, Spec, arguments};
use crate::wire::bounded;

/// Results where nobody says how many, and at most (seed 001).
const RESULTS_DEFAULT: usize = 5;
const RESULTS_MAX: u64 = 20;

pub(in crate::mcp) const TOOLS: &[Spec] = &[
    Spec {
        name: "search_my_memories",
        title: "Search my memories",
        description: "What you went through, what was done, what workflows came to and what is written down, best first. Use \
                      before a task. Not for live state.",
        effect: Effect::Read,
        input: || object(&[("query", text("")), ("limit", count(1, RESULTS_MAX, RESULTS_DEFAULT))], &["query"]),
        output: || list_of("memories"),
        run: recall,
    },
    Spec {
        name: "search_knowledge",
        title: "Search the knowledge base",
        description: "Passages of published documents that answer a question.",
        effect: Effect::Read,
        input: || {
            let limit = count(1, RESULTS_MAX, RESULTS_DEFAULT);
            object(&[("query", text("")), ("categories", texts("any of them")), ("limit", limit)], &["query"])
        },
        output: || list_of("passages"),
        run: knowledge,
    },
];

fn recall(call: &Call<'_>, map: JsonObject) -> Answer {
    #[derive(Deserialize)]
    struct Args {
        query: String,
        #[serde(default, deserialize_with = "bounded::<_, 1, RESULTS_MAX>")]
        limit: Option<usize>,
    }
    let args: Args = arguments(map)?;
    let asked = MyQuery { text: args.query, limit: Some(args.limit.unwrap_or(RESULTS_DEFAULT)), ..MyQuery::default() };
    let recalled = call.engine.search_my_memories(call.caller, &asked)?;
    Ok(json!({ "memories": recalled.recollections, "failed": recalled.failed }))
}

fn knowledge(call: &Call<'_>, map: JsonObject) -> Answer {
    #[derive(Deserialize)]
    struct Args {
        query: String,
        #[serde(default)]
        categories: Vec<String>,
        #[serde(default, deserialize_with = "bounded::<_, 1, RESULTS_MAX>")]
        limit: Option<usize>,
    }
    let args: Args = arguments(map)?;
    let limit = Some(args.limit.unwrap_or(RESULTS_DEFAULT));
    let hits = call.engine.search_knowledge(call.caller, &args.query, &args.categories, limit)?;
    let passages: Vec<Value> = hits
        .iter()
        .map(|hit| {
            let memory = &hit.memory;
            json!({
                "id": memory.id, "title": memory.title, "path": memory.path, "content": memory.content,
                "tags": memory.tags, "score": hit.score, "updated_at": memory.updated_at,
            })
        })
        .collect();
    Ok(json!({ "passages": passages }))
}
