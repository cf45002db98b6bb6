//! The tools of `core` that write. All keep the history; only `memory_forget` asks a person.

use engine::model::memory::{Draft, Evidence};
use engine::model::review::Risk;
use engine::model::vocabulary::EvidenceKind;
use engine::text::heading;
use engine::{
    ConsentRequest, ForgetOptions, ForgetOutcome, Patch, PatchOutcome, Promotion, ProposalOutcome, Remembered,
    SaveOutcome,
};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::read::{parse_memory_id, parse_reference};
use crate::mcp::tool::{ToolCall, parse_arguments};
use crate::mcp::tool_answer::{ToolAnswer, ToolProblem};
use crate::wire::deserialize::deserialize_percent;

/// Kinds that a model may choose, with what each is for. Turns and summaries are made by other tools.
pub(super) const KINDS: &[(&str, &str)] = &[
    ("note", "anything else worth keeping"),
    ("runbook", "steps that solve a problem"),
    ("verification_checklist", "what to check, and how"),
    ("incident_lesson", "what broke, why, and the fix"),
    ("workspace_convention", "how things are done here"),
    ("service_context", "how a service is built or reached"),
    ("tool_usage_lesson", "how to use a command or tool"),
    ("user_preference", "what a person wants"),
    ("decision", "what was decided, and why"),
    ("task_completion", "what was done"),
    ("error", "an error and its cause"),
    ("conversation_note", "for this conversation"),
];

/// Evidence of a save: what the model says, else what the door knows.
fn evidence_of_save(call: &ToolCall<'_>, summary: &str, tool_calls: Vec<String>) -> Vec<Evidence> {
    let origin = call.origin;
    let summary = match (summary.trim(), &origin.client) {
        ("", Some(client)) => format!("saved by {client}, request {}", origin.request),
        ("", None) => format!("saved over MCP, request {}", origin.request),
        (summary, _) => summary.to_owned(),
    };
    let mut pieces = evidence_from_calls(&summary, tool_calls);
    for piece in &mut pieces {
        piece.tool = Some("memory_remember".to_owned());
    }
    pieces
}

/// One piece of evidence per named tool call, all with the same summary.
fn evidence_from_calls(summary: &str, tool_calls: Vec<String>) -> Vec<Evidence> {
    let piece = |tool_call| Evidence { tool_call, ..Evidence::new(EvidenceKind::ToolResult, summary) };
    match tool_calls.is_empty() {
        true => vec![piece(None)],
        false => tool_calls.into_iter().map(|call| piece(Some(call))).collect(),
    }
}

pub(super) fn remember_memory(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct RememberArgs {
        #[serde(alias = "store", alias = "store_slug")]
        target_store_slug: Option<String>,
        path: Option<String>,
        #[serde(alias = "kind")]
        document_type: Option<String>,
        content: String,
        #[serde(default)]
        evidence_summary: String,
        title: Option<String>,
        #[serde(default, deserialize_with = "deserialize_percent")]
        confidence: Option<f64>,
        #[serde(default)]
        source_tool_call_ids: Vec<String>,
        tags: Option<Vec<String>>,
        expected_sha256: Option<String>,
    }
    let args: RememberArgs = parse_arguments(map)?;
    let store = target_store(call, args.target_store_slug)?;
    let evidence = evidence_of_save(call, &args.evidence_summary, args.source_tool_call_ids);
    let path_is_derived = args.path.is_none();
    // Only with a path from the text: a memory at a path that the model gives may have a title already.
    let derived = Some(heading::title_of(&args.content)).filter(|title| path_is_derived && !title.is_empty());
    let title = args.title.or(derived);
    let draft = Draft {
        store,
        path: args.path.or_else(|| heading::path_of(title.as_deref()?)),
        path_is_derived,
        kind: args.document_type.map(|kind| kind.parse()).transpose()?,
        content: args.content,
        title,
        confidence: args.confidence,
        tags: args.tags,
        evidence,
        expected_sha256: args.expected_sha256,
        ..Draft::default()
    };
    match call.engine.remember(call.caller, draft)? {
        Remembered::Refused(refusal) => Err(refusal.into()),
        Remembered::Saved(saved) => {
            let (lifetime, near, review) = (saved.lifetime(), saved.near, saved.review);
            let memory = saved.memory.for_model();
            let mut answer = json!({
                "created": saved.outcome == SaveOutcome::Created, "updated": saved.outcome == SaveOutcome::Updated,
                "document_id": memory.id, "version_id": memory.version, "store_slug": memory.store,
                "path": memory.path, "trust_level": memory.trust, "warnings": saved.warnings,
                "flags": memory.flags,
            });
            if let Some(lifetime) = lifetime {
                answer["lifetime"] = lifetime.into();
            }
            if let Some(near) = near {
                answer["near_document_id"] = near.to_string().into();
                answer["note"] = "another memory begins alike; if this corrects it, patch that one".into();
            }
            // A draft, or a pin, that waits for a person.
            if let Some(review) = review {
                answer["review_item_id"] = review.to_string().into();
            }
            Ok(answer)
        }
    }
}

/// The store that a save names, else the caller's default. An unknown name is answered with those that are known.
fn target_store(call: &ToolCall<'_>, named: Option<String>) -> Result<String, ToolProblem> {
    let writable = || -> Result<String, ToolProblem> {
        let stores = call.engine.writable_stores(call.caller)?;
        Ok(stores.into_iter().map(|store| store.slug).collect::<Vec<_>>().join(", "))
    };
    match named {
        Some(named) if call.engine.has_store(call.caller, &named)? => Ok(named),
        Some(_) => {
            // Not quoted: it may be any text of a model.
            let message = format!("no such store; you may write to: {}", writable()?);
            Err(ToolProblem::new("not_found", message))
        }
        None => match engine::default_store(call.caller, None) {
            Some(slug) => Ok(slug.to_owned()),
            None => Err(ToolProblem::new("shape.store_missing", format!("name a store: {}", writable()?))),
        },
    }
}

pub(super) fn patch_memory(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct PatchArgs {
        document_id: String,
        expected_sha256: String,
        new_content: String,
        patch_summary: Option<String>,
        evidence_summary: String,
        #[serde(default)]
        source_tool_call_ids: Vec<String>,
    }
    let args: PatchArgs = parse_arguments(map)?;
    let patch = Patch {
        memory: parse_memory_id(&args.document_id)?,
        expected_sha256: args.expected_sha256,
        content: args.new_content,
        summary: args.patch_summary,
        evidence: evidence_from_calls(&args.evidence_summary, args.source_tool_call_ids),
    };
    match call.engine.patch(call.caller, patch)? {
        PatchOutcome::Refused(refusal) => Err(refusal.into()),
        PatchOutcome::Saved(memory) => {
            Ok(json!({ "patched": true, "new_sha256": memory.sha256, "version_id": memory.version }))
        }
        PatchOutcome::Proposed(saved) => {
            let memory = &saved.memory;
            Ok(json!({
                "patched": false, "new_sha256": memory.sha256, "version_id": memory.version,
                "document_id": memory.id, "review_item_id": saved.review, "warnings": saved.warnings,
                "note": "it waits as a draft; a person decides, and until then the text stays",
            }))
        }
    }
}

pub(super) fn forget_memory(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct ForgetArgs {
        document_id: String,
        reason: String,
    }
    let args: ForgetArgs = parse_arguments(map)?;
    let id = parse_memory_id(&args.document_id)?;
    let Some(answer) = call.confirm(&ConsentRequest::Forget(id))?.to_answer() else {
        return Err(ToolProblem::new("policy.person_declined", "the person said no; the memory stays"));
    };
    let options = ForgetOptions { reason: Some(args.reason), answer, ..ForgetOptions::default() };
    match call.engine.forget_with_options(call.caller, id, &options)? {
        ForgetOutcome::Refused(refusal) => Err(refusal.into()),
        ForgetOutcome::Done(_) => Ok(json!({ "forgotten": true })),
        ForgetOutcome::Proposed { review, .. } => {
            let note = "a person decides; until then it stays";
            Ok(json!({ "forgotten": false, "review_item_id": review.id, "note": note }))
        }
    }
}

pub(super) fn propose_promotion(call: &ToolCall<'_>, map: JsonObject) -> ToolAnswer {
    #[derive(Deserialize)]
    struct ProposeArgs {
        source_document_id: Option<String>,
        source_path: Option<String>,
        target_store_slug: String,
        target_path: String,
        promotion_reason: String,
        evidence_summary: String,
        risk_level: Option<String>,
    }
    let args: ProposeArgs = parse_arguments(map)?;
    let source = parse_reference(args.source_document_id, None, args.source_path)?;
    let promotion = Promotion {
        source,
        target_store: args.target_store_slug,
        target_path: Some(args.target_path),
        rationale: args.promotion_reason,
        evidence: evidence_from_calls(&args.evidence_summary, Vec::new()),
        risk: args.risk_level.map_or(Ok(Risk::Low), |word| word.parse())?,
    };
    match call.engine.propose(call.caller, promotion)? {
        ProposalOutcome::Refused(refusal) => Err(refusal.into()),
        ProposalOutcome::Waiting { review, new } => Ok(json!({ "review_item_id": review.id, "new": new })),
    }
}
