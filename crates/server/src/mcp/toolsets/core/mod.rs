//! Toolset `core`: documents by store and path (seed 000).

mod read;
mod write;

use serde::Deserialize;
use serde_json::{Value, json};

pub(super) use read::memory_id;
pub(super) use write::review_of_forget;

use crate::mcp::answer::Problem;
use crate::mcp::schema::{count, list_of, object, one_of, plain, text, texts};
use crate::mcp::tool::{Effect, Spec, arguments};

pub(in crate::mcp) const TOOLS: &[Spec] = &[
    Spec {
        name: "memory_search",
        title: "Search memory",
        description: "Find what is known about a service, incident, convention or preference. Use before a task. Not for live state.",
        effect: Effect::Read,
        input: || {
            let hints = ["workspace", "user"].map(|name| (name, json!({ "type": "boolean" })));
            let names = ["environment", "namespace", "service"].map(|name| (name, text("")));
            let hints: Vec<(&str, Value)> = hints.into_iter().chain(names).collect();
            object(
                &[
                    ("query", text("")),
                    ("scope_hints", object(&hints, &[])),
                    ("document_types", texts("")),
                    ("max_results", count(1, 20, 6)),
                ],
                &["query"],
            )
        },
        output: || list_of("results"),
        run: read::search,
    },
    Spec {
        name: "memory_read",
        title: "Read a memory",
        description: "The whole text of one memory, by document_id or by store_slug and path.",
        effect: Effect::Read,
        input: || object(&[("document_id", text("")), ("store_slug", text("")), ("path", text(""))], &[]),
        output: || {
            plain(
                &[("document_id", 's'), ("content", 's'), ("content_sha256", 's')],
                &["document_id", "content", "content_sha256"],
            )
        },
        run: read::read,
    },
    Spec {
        name: "memory_list",
        title: "List memories",
        description: "What stands under a path of a store.",
        effect: Effect::Read,
        input: || object(&[("store_slug", text("")), ("path_prefix", text("default /"))], &["store_slug"]),
        output: || list_of("documents"),
        run: read::list,
    },
    Spec {
        name: "memory_history",
        title: "History of a memory",
        description: "Its versions, newest first: who changed it, when and why.",
        effect: Effect::Read,
        input: || object(&[("document_id", text("")), ("limit", count(1, 50, 5))], &["document_id"]),
        output: || list_of("versions"),
        run: read::history,
    },
    Spec {
        name: "memory_remember",
        title: "Remember",
        description: "Save a durable lesson with its evidence; the same path again makes a new version. Never live state, secrets or \
                      raw logs. Workspace stores are not writable: propose a promotion.",
        effect: Effect::Write,
        input: || {
            object(
                &[
                    ("target_store_slug", text("e.g. conversation_memory")),
                    ("path", text("e.g. services/nginx")),
                    ("document_type", text("e.g. incident_lesson")),
                    ("content", text("")),
                    ("evidence_summary", text("what showed it")),
                    ("title", text("")),
                    ("confidence", count(0, 100, 80)),
                    ("source_tool_call_ids", texts("")),
                    ("tags", texts("")),
                    ("expected_sha256", text("")),
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
            plain(&fields, &["created", "updated", "document_id", "version_id"])
        },
        run: write::remember,
    },
    Spec {
        name: "memory_patch",
        title: "Patch a memory",
        description: "Replace the text of a memory you have read, by its sha256. On a conflict, read again and merge.",
        effect: Effect::Write,
        input: || {
            object(
                &[
                    ("document_id", text("")),
                    ("expected_sha256", text("")),
                    ("new_content", text("")),
                    ("patch_summary", text("")),
                    ("evidence_summary", text("")),
                    ("source_tool_call_ids", texts("")),
                ],
                &["document_id", "expected_sha256", "new_content", "evidence_summary"],
            )
        },
        output: || plain(&[("patched", 'b'), ("new_sha256", 's'), ("version_id", 's')], &["patched", "new_sha256"]),
        run: write::patch,
    },
    Spec {
        name: "memory_propose_promotion",
        title: "Propose a promotion",
        description: "Ask a person to make a draft of yours readable by all, by source_document_id or source_path.",
        effect: Effect::Write,
        input: || {
            object(
                &[
                    ("source_document_id", text("")),
                    ("source_path", text("")),
                    ("target_store_slug", text("e.g. workspace_runbooks")),
                    ("target_path", text("")),
                    ("promotion_reason", text("")),
                    ("evidence_summary", text("")),
                    ("risk_level", one_of(&["low", "medium", "high"])),
                ],
                &["target_store_slug", "target_path", "promotion_reason", "evidence_summary"],
            )
        },
        output: || plain(&[("review_item_id", 's'), ("new", 'b')], &["review_item_id"]),
        run: write::propose,
    },
    Spec {
        name: "memory_forget",
        title: "Forget a memory",
        description: "Take a wrong or stale memory out of use. A person confirms, now or in review. To correct one, patch it.",
        effect: Effect::Delete,
        input: || object(&[("document_id", text("")), ("reason", text(""))], &["document_id", "reason"]),
        output: || plain(&[("forgotten", 'b'), ("review_item_id", 's')], &["forgotten"]),
        run: write::forget,
    },
];

/// Offered with write tools on demand (seed 000).
pub(in crate::mcp) const LOAD_TOOLSET: Spec = Spec {
    name: "load_toolset",
    title: "Load tools",
    description: "Offer the writing tools of `memory` too.",
    effect: Effect::Read,
    input: || object(&[("name", text("memory")), ("include_write_tools", json!({ "type": "boolean" }))], &["name"]),
    output: || plain(&[("loaded", 's'), ("write_tools_loaded", 'b')], &["loaded"]),
    run: |_, map| {
        #[derive(Deserialize)]
        struct Args {
            name: String,
            #[serde(default)]
            include_write_tools: bool,
        }
        let args: Args = arguments(map)?;
        match args.name.as_str() {
            "memory" => Ok(json!({ "loaded": "memory", "write_tools_loaded": args.include_write_tools })),
            _ => Err(Problem::new("not_found", "no such toolset; `memory` is the one")),
        }
    },
};
