//! The tools of `core` that read: search, read, list and history.

use engine::model::error::Error;
use engine::model::memory::Memory;
use engine::model::store::Store;
use engine::model::trust_flow::Field;
use engine::model::vocabulary::{Kind, ScopeKind};
use engine::ports::{Filter, SortOrder};
use engine::text::entities::{Entity, EntityKind};
use engine::{MemoryReference, SearchQuery};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::tool::{ToolCall, parse_arguments};
use crate::mcp::tool_answer::{ToolAnswer, ToolProblem, with_warnings};
use crate::mcp::toolsets::DATA_WARNING;
use crate::wire::deserialize::deserialize_bounded;

/// Characters shown of a hit: enough to choose by.
const EXCERPT_CHARS: usize = 300;
/// Most hits of one search: more than a model reads.
pub(super) const RESULTS_MAX: u64 = 20;
/// Rows of one list: what a model can take in.
const LIST_ROWS: usize = 50;
/// Versions in a history by default, and at most.
pub(super) const VERSIONS_DEFAULT: usize = 5;
pub(super) const VERSIONS_MAX: u64 = 50;

#[derive(Deserialize, Default)]
#[serde(default)]
struct ScopeHints {
    workspace: Option<bool>,
    user: Option<bool>,
    environment: Option<String>,
    namespace: Option<String>,
    service: Option<String>,
}

pub(super) fn search_memories(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct SearchArgs {
        query: String,
        #[serde(default)]
        scope_hints: ScopeHints,
        #[serde(default)]
        document_types: Vec<String>,
        #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, RESULTS_MAX>")]
        max_results: Option<usize>,
    }
    let args: SearchArgs = parse_arguments(map)?;
    let kinds = args.document_types.iter().map(|kind| kind.parse()).collect::<Result<Vec<Kind>, Error>>()?;
    let hints = args.scope_hints;
    let mut scopes = Vec::new();
    scopes.extend((hints.workspace == Some(true)).then_some(ScopeKind::Workspace));
    scopes.extend((hints.user == Some(true)).then_some(ScopeKind::User));
    let names = [
        (EntityKind::Environment, hints.environment),
        (EntityKind::Namespace, hints.namespace),
        (EntityKind::Service, hints.service),
    ];
    let entities =
        names.into_iter().filter_map(|(kind, name)| Some(Entity { kind, name: name?.to_lowercase() })).collect();
    let filter = Filter { kinds, scopes, ..Filter::default() };
    let query = SearchQuery { text: args.query, filter, entities, limit: args.max_results, ..SearchQuery::default() };
    let answer = call.engine.search(call.caller, &query)?;
    let results: Vec<Value> = answer
        .hits
        .into_iter()
        .map(|hit| {
            let excerpt = hit.memory.excerpt(EXCERPT_CHARS);
            let mut row = memory_row(&hit.memory.for_model());
            row["score"] = hit.score.into();
            row["excerpt"] = excerpt.into();
            row
        })
        .collect();
    Ok(with_warnings(json!({ "results": results, "warning": DATA_WARNING }), answer.warnings))
}

/// The fields of a row. `memory` is what a model sees ([`Memory::for_model`]), so all of them reach `trust_level`; the
/// names of those left out are in `withheld`.
fn memory_row(memory: &Memory) -> Value {
    let mut row = json!({
        "store": memory.store, "path": memory.path, "document_id": memory.id, "version_id": memory.version,
        "trust_level": memory.trust, "document_type": memory.kind, "status": memory.state,
        "updated_at": memory.updated_at, "title": memory.title,
    });
    let withheld: Vec<_> = memory.less_trusted_fields().filter(|field| *field != Field::AlwaysInject).collect();
    if !withheld.is_empty() {
        row["withheld"] = json!(withheld);
    }
    row
}

pub(super) fn read_memory(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct ReadArgs {
        document_id: Option<String>,
        store_slug: Option<String>,
        path: Option<String>,
    }
    let args: ReadArgs = parse_arguments(map)?;
    let memory = call.engine.read(call.caller, &parse_reference(args.document_id, args.store_slug, args.path)?)?;
    let memory = memory.for_model();
    let mut answer = memory_row(&memory);
    answer["content"] = memory.content.into();
    answer["content_sha256"] = memory.sha256.into();
    answer["confidence"] = to_percent(memory.confidence);
    answer["tags"] = memory.tags.into();
    answer["warning"] = DATA_WARNING.into();
    Ok(answer)
}

pub(super) fn parse_reference(
    id: Option<String>,
    store: Option<String>,
    path: Option<String>,
) -> Result<MemoryReference, ToolProblem> {
    match (id, path) {
        (Some(id), _) => parse_memory_id(&id).map(MemoryReference::Id),
        (None, Some(path)) => Ok(MemoryReference::Path { store, path }),
        (None, None) => Err(ToolProblem::new("shape.arguments", "give document_id, or store_slug and path")),
    }
}

pub(in crate::mcp::toolsets) fn parse_memory_id(text: &str) -> Result<engine::model::id::MemoryId, ToolProblem> {
    // A malformed id is answered like an unknown one.
    text.parse().map_err(|_| ToolProblem::new("not_found", "memory not found"))
}

fn to_percent(share: f64) -> Value {
    ((share * 100.0).round() as i64).into()
}

pub(super) fn list_memories(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct ListArgs {
        store_slug: Option<String>,
        path_prefix: Option<String>,
    }
    let args: ListArgs = parse_arguments(map)?;
    let prefix = args.path_prefix.as_deref().unwrap_or("/").trim_start_matches('/').to_owned();
    let filter = Filter {
        stores: args.store_slug.iter().cloned().collect(),
        path_prefix: Some(prefix).filter(|prefix| !prefix.is_empty()),
        ..Filter::default()
    };
    let listing = call.engine.list(call.caller, filter, SortOrder::Path, None, Some(LIST_ROWS))?;
    let documents: Vec<Value> = listing.memories.into_iter().map(|memory| memory_row(&memory.for_model())).collect();
    let mut answer = json!({ "documents": documents, "truncated": listing.next.is_some() });
    if args.store_slug.is_none() {
        let writable = call.engine.writable_stores(call.caller)?;
        let describe = |store: &Store| json!({ "store": store.slug, "title": store.title, "scope": store.scope });
        answer["writable_stores"] = writable.iter().map(describe).collect();
    }
    Ok(answer)
}

pub(super) fn list_versions(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct HistoryArgs {
        document_id: String,
        #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, VERSIONS_MAX>")]
        limit: Option<usize>,
    }
    let args: HistoryArgs = parse_arguments(map)?;
    let limit = args.limit.unwrap_or(VERSIONS_DEFAULT);
    let versions = call.engine.history(
        call.caller,
        &MemoryReference::Id(parse_memory_id(&args.document_id)?),
        None,
        Some(limit),
    )?;
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| {
            json!({
                "version_id": version.id, "number": version.number, "operation": version.operation,
                "actor": version.actor, "reason": version.reason, "at": version.at,
                "content_sha256": version.memory.sha256, "excerpt": version.memory.excerpt(EXCERPT_CHARS),
                "evidence": version.evidence,
            })
        })
        .collect();
    Ok(json!({ "versions": versions }))
}
