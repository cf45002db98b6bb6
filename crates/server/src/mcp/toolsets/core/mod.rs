//! Toolset `core`: memories as documents, by store and path.

mod read;
mod write;

use engine::model::limits::Limits;
use serde::Deserialize;
use serde_json::json;

pub(super) use read::parse_memory_id;

use crate::mcp::schema::{
    boolean_schema, described_enum_schema, enum_schema, flat_object_schema, integer_schema, object_list_schema,
    object_schema, string_list_schema, string_schema,
};
use crate::mcp::tool::{ToolEffect, ToolSpec, parse_arguments};
use crate::mcp::tool_answer::ToolProblem;

/// Description of the ids that the other tools answer.
const DOCUMENT_ID: &str = "id from a search, list or save";
const TOOL_CALLS: &str = "ids of the calls that showed it";

pub(in crate::mcp) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "memory_search",
        title: "Search memory",
        description: "Find what is known about a service, incident, convention or preference. Use before a task. Not \
                      for live state.",
        effect: ToolEffect::Read,
        input: || {
            let hints = [
                ("workspace", boolean_schema("only what everybody reads")),
                ("user", boolean_schema("only what is about the user")),
                ("environment", string_schema("e.g. prod")),
                ("namespace", string_schema("e.g. billing")),
                ("service", string_schema("e.g. ledger")),
            ];
            let results_max = integer_schema(1, read::RESULTS_MAX, Limits::default().results_default, "most hits");
            object_schema(
                &[
                    ("query", string_schema("a question, or words of the answer")),
                    ("scope_hints", object_schema(&hints, &[])),
                    ("document_types", string_list_schema("only these, e.g. runbook")),
                    ("max_results", results_max),
                ],
                &["query"],
            )
        },
        output: || object_list_schema("results"),
        run: read::search_memories,
    },
    ToolSpec {
        name: "memory_read",
        title: "Read a memory",
        description: "The whole text of one memory, by document_id or by store_slug and path.",
        effect: ToolEffect::Read,
        input: || {
            object_schema(
                &[
                    ("document_id", string_schema(DOCUMENT_ID)),
                    ("store_slug", string_schema("with path, instead of document_id")),
                    ("path", string_schema("its path in the store")),
                ],
                &[],
            )
        },
        output: || {
            flat_object_schema(
                &[("document_id", 's'), ("content", 's'), ("content_sha256", 's')],
                &["document_id", "content", "content_sha256"],
            )
        },
        run: read::read_memory,
    },
    ToolSpec {
        name: "memory_list",
        title: "List memories",
        description: "Memories under a path. Without a store: of all, and the stores you may write to.",
        effect: ToolEffect::Read,
        input: || {
            object_schema(
                &[("store_slug", string_schema("default: all")), ("path_prefix", string_schema("default: /"))],
                &[],
            )
        },
        output: || object_list_schema("documents"),
        run: read::list_memories,
    },
    ToolSpec {
        name: "memory_history",
        title: "History of a memory",
        description: "Its versions, newest first: who changed it, when and why.",
        effect: ToolEffect::Read,
        input: || {
            object_schema(
                &[
                    ("document_id", string_schema(DOCUMENT_ID)),
                    ("limit", integer_schema(1, read::VERSIONS_MAX, read::VERSIONS_DEFAULT, "most versions")),
                ],
                &["document_id"],
            )
        },
        output: || object_list_schema("versions"),
        run: read::list_versions,
    },
    ToolSpec {
        name: "memory_remember",
        title: "Remember",
        description: "Save a durable lesson; only `content` is needed. Sessions in this project find it later. Never \
                      live state, secrets or raw logs. Workspace stores are not writable: propose a promotion.",
        effect: ToolEffect::Write,
        input: || {
            object_schema(
                &[
                    ("content", string_schema("one lesson, understood without this session")),
                    ("document_type", described_enum_schema(write::KINDS, "default: by store")),
                    ("target_store_slug", string_schema("default: the project's, else the conversation's")),
                    ("path", string_schema("e.g. services/nginx; again: a new version; default: from the text")),
                    ("title", string_schema("default: from the text")),
                    ("evidence_summary", string_schema("what showed it")),
                    ("source_tool_call_ids", string_list_schema(TOOL_CALLS)),
                    ("tags", string_list_schema("words to filter by")),
                    ("confidence", integer_schema(0, 100, 80, "percent")),
                    ("expected_sha256", string_schema("of the text you read at the path")),
                ],
                &["content"],
            )
        },
        output: || {
            let fields = [
                ("created", 'b'),
                ("updated", 'b'),
                ("document_id", 's'),
                ("version_id", 's'),
                ("store_slug", 's'),
                ("path", 's'),
            ];
            flat_object_schema(&fields, &["created", "updated", "document_id", "version_id"])
        },
        run: write::remember_memory,
    },
    ToolSpec {
        name: "memory_patch",
        title: "Patch a memory",
        description: "Replace the text of a memory you have read, by its sha256. On a conflict, read again and merge.",
        effect: ToolEffect::Write,
        input: || {
            object_schema(
                &[
                    ("document_id", string_schema(DOCUMENT_ID)),
                    ("expected_sha256", string_schema("content_sha256 of the text you read")),
                    ("new_content", string_schema("the whole new text")),
                    ("patch_summary", string_schema("what changed")),
                    ("evidence_summary", string_schema("what showed it")),
                    ("source_tool_call_ids", string_list_schema(TOOL_CALLS)),
                ],
                &["document_id", "expected_sha256", "new_content", "evidence_summary"],
            )
        },
        output: || {
            flat_object_schema(
                &[("patched", 'b'), ("new_sha256", 's'), ("version_id", 's')],
                &["patched", "new_sha256"],
            )
        },
        run: write::patch_memory,
    },
    ToolSpec {
        name: "memory_propose_promotion",
        title: "Propose a promotion",
        description: "Ask a person to make a draft of yours readable by all, by source_document_id or source_path.",
        effect: ToolEffect::Write,
        input: || {
            object_schema(
                &[
                    ("source_document_id", string_schema("the draft")),
                    ("source_path", string_schema("instead of its id")),
                    ("target_store_slug", string_schema("e.g. workspace_runbooks")),
                    ("target_path", string_schema("where it goes")),
                    ("promotion_reason", string_schema("why all need it")),
                    ("evidence_summary", string_schema("what showed it")),
                    ("risk_level", enum_schema(&["low", "medium", "high"], "if it is wrong")),
                ],
                &["target_store_slug", "target_path", "promotion_reason", "evidence_summary"],
            )
        },
        output: || flat_object_schema(&[("review_item_id", 's'), ("new", 'b')], &["review_item_id"]),
        run: write::propose_promotion,
    },
    ToolSpec {
        name: "memory_forget",
        title: "Forget a memory",
        description: "Take a wrong or stale memory out of use. A person confirms, now or in review. To correct one, \
                      patch it.",
        effect: ToolEffect::Delete,
        input: || {
            object_schema(
                &[("document_id", string_schema(DOCUMENT_ID)), ("reason", string_schema("why it is wrong"))],
                &["document_id", "reason"],
            )
        },
        output: || flat_object_schema(&[("forgotten", 'b'), ("review_item_id", 's')], &["forgotten"]),
        run: write::forget_memory,
    },
];

/// Offered if the tools that write are loaded on demand.
pub(in crate::mcp) const LOAD_TOOLSET: ToolSpec = ToolSpec {
    name: "load_toolset",
    title: "Load tools",
    description: "Offer the writing tools of `memory` too.",
    effect: ToolEffect::Read,
    input: || {
        object_schema(
            &[("name", string_schema("memory")), ("include_write_tools", boolean_schema("also those that write"))],
            &["name"],
        )
    },
    output: || flat_object_schema(&[("loaded", 's'), ("write_tools_loaded", 'b')], &["loaded"]),
    run: |_, map| {
        #[derive(Deserialize)]
        struct LoadToolsetArgs {
            name: String,
            #[serde(default)]
            include_write_tools: bool,
        }
        let args: LoadToolsetArgs = parse_arguments(map)?;
        match args.name.as_str() {
            "memory" => Ok(json!({ "loaded": "memory", "write_tools_loaded": args.include_write_tools })),
            _ => Err(ToolProblem::new("not_found", "no such toolset; `memory` is the one")),
        }
    },
};
