//! Toolset `core`: memories as documents, by store and path.

mod read;
mod write;

use engine::model::limits::Limits;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) use read::parse_memory_id;

use crate::mcp::schema::{
    enum_schema, flat_object_schema, integer_schema, object_list_schema, object_schema, string_list_schema,
    string_schema,
};
use crate::mcp::tool::{ToolEffect, ToolSpec, parse_arguments};
use crate::mcp::tool_answer::ToolProblem;

pub(in crate::mcp) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "memory_search",
        title: "Search memory",
        description: "Find what is known about a service, incident, convention or preference. Use before a task. Not \
                      for live state.",
        effect: ToolEffect::Read,
        input: || {
            let hints = ["workspace", "user"].map(|name| (name, json!({ "type": "boolean" })));
            let names = ["environment", "namespace", "service"].map(|name| (name, string_schema("")));
            let hints: Vec<(&str, Value)> = hints.into_iter().chain(names).collect();
            object_schema(
                &[
                    ("query", string_schema("")),
                    ("scope_hints", object_schema(&hints, &[])),
                    ("document_types", string_list_schema("")),
                    ("max_results", integer_schema(1, read::RESULTS_MAX, Limits::default().results_default)),
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
                &[("document_id", string_schema("")), ("store_slug", string_schema("")), ("path", string_schema(""))],
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
        description: "Memories under a path of a store.",
        effect: ToolEffect::Read,
        input: || {
            object_schema(
                &[("store_slug", string_schema("")), ("path_prefix", string_schema("default /"))],
                &["store_slug"],
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
                    ("document_id", string_schema("")),
                    ("limit", integer_schema(1, read::VERSIONS_MAX, read::VERSIONS_DEFAULT)),
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
        description: "Save a durable lesson with its evidence; the same path again makes a new version. Never live \
                      state, secrets or raw logs. Workspace stores are not writable: propose a promotion.",
        effect: ToolEffect::Write,
        input: || {
            object_schema(
                &[
                    ("target_store_slug", string_schema("e.g. conversation_memory")),
                    ("path", string_schema("e.g. services/nginx")),
                    ("document_type", string_schema("e.g. incident_lesson")),
                    ("content", string_schema("")),
                    ("evidence_summary", string_schema("what showed it")),
                    ("title", string_schema("")),
                    ("confidence", integer_schema(0, 100, 80)),
                    ("source_tool_call_ids", string_list_schema("")),
                    ("tags", string_list_schema("")),
                    ("expected_sha256", string_schema("")),
                ],
                &["target_store_slug", "path", "document_type", "content", "evidence_summary"],
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
                    ("document_id", string_schema("")),
                    ("expected_sha256", string_schema("")),
                    ("new_content", string_schema("")),
                    ("patch_summary", string_schema("")),
                    ("evidence_summary", string_schema("")),
                    ("source_tool_call_ids", string_list_schema("")),
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
                    ("source_document_id", string_schema("")),
                    ("source_path", string_schema("")),
                    ("target_store_slug", string_schema("e.g. workspace_runbooks")),
                    ("target_path", string_schema("")),
                    ("promotion_reason", string_schema("")),
                    ("evidence_summary", string_schema("")),
                    ("risk_level", enum_schema(&["low", "medium", "high"])),
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
                &[("document_id", string_schema("")), ("reason", string_schema(""))],
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
            &[("name", string_schema("memory")), ("include_write_tools", json!({ "type": "boolean" }))],
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
