//! `remember`: saves a memory; and the evidence flags.

use std::path::PathBuf;

use clap::Args;
use engine::model::caller::Caller;
use engine::model::id::VersionId;
use engine::model::memory::{Draft, Evidence};
use engine::model::vocabulary::{EvidenceKind, Kind, Layer, Role, TtlClass, TurnRole};
use engine::{Remembered, SaveOutcome, SavedMemory};
use serde_json::{Map, Value};

use crate::commands::Job;
use crate::error::Failure;
use crate::json_views::SavedView;
use crate::output::{Output, Tone, path_suffix};
use crate::text_io::{parse_time, read_content};

#[derive(Debug, Args)]
pub struct RememberArgs {
    /// Content; `-` reads stdin
    content: Option<String>,
    /// File with the content
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Store. Default: system_notes with --system, project_memory with --project, conversation_memory with
    /// --conversation, lessons with --pipeline, user_notes for a person, episodes for an agent
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
    /// Path in the store; a save to the same path makes a new version
    #[arg(long)]
    path: Option<String>,
    /// Kind, for example runbook, incident_lesson or user_preference
    #[arg(long)]
    kind: Option<Kind>,
    /// Layer: profile, episodic, semantic, procedural or working
    #[arg(long)]
    layer: Option<Layer>,
    #[arg(long, help = "Title")]
    title: Option<String>,
    /// Recall hint: when to recall it, in a few words
    #[arg(long, value_name = "TEXT")]
    hint: Option<String>,
    #[arg(long, help = "Tag (repeatable)")]
    tag: Vec<String>,
    /// Metadata: KEY=VALUE or a JSON object (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[arg(long, value_name = "0..1", help = "Confidence")]
    confidence: Option<f64>,
    #[arg(long, value_name = "0..1", help = "Importance; default: computed")]
    importance: Option<f64>,
    /// Include it in every context
    #[arg(long)]
    always_inject: bool,
    /// Expiry: a time, a date or a span from now (7d)
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// Time, date or span from now (90d) until which it is valid; afterwards it has the trust of a draft
    #[arg(long, value_name = "TIME")]
    verify_by: Option<String>,
    /// Retention class: routine, task_completion, decision, remember or error
    #[arg(long, value_name = "CLASS")]
    ttl: Option<TtlClass>,
    /// Role of the speaker of this turn: user, assistant, system or tool_result
    #[arg(long)]
    role: Option<TurnRole>,
    /// Session of this turn; default: --session
    #[arg(long, value_name = "ID")]
    turn_session: Option<String>,
    /// Position in the session
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    #[arg(long, value_name = "NAME", help = "Name of the speaker")]
    speaker: Option<String>,
    /// Expected SHA-256 of the current content at the path; if it differs, the save is a conflict
    #[arg(long, value_name = "SHA256")]
    expect: Option<String>,
    /// Version it is derived from (repeatable)
    #[arg(long, value_name = "VERSION")]
    derived_from: Vec<VersionId>,
    #[arg(long, help = "Reason, kept in the history")]
    reason: Option<String>,
}

/// Evidence flags, shared by `remember`, `patch` and `propose`.
#[derive(Debug, Args)]
pub struct EvidenceArgs {
    /// Evidence, in words (repeatable)
    #[arg(long, value_name = "TEXT")]
    evidence: Vec<String>,
    /// Kind of evidence, for example user_statement, tool_result or verification_result
    #[arg(long, value_name = "KIND")]
    evidence_kind: Option<EvidenceKind>,
    /// Id of a tool call that is evidence (repeatable)
    #[arg(long, value_name = "ID")]
    tool_call: Vec<String>,
}

impl RememberArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let draft = self.into_draft(job)?;
        match job.session.engine.remember(&job.session.caller, draft)? {
            Remembered::Refused(refusal) => Err(refusal.into()),
            Remembered::Saved(saved) => {
                job.output.print_answer(&SavedView::from(&*saved), || render_saved(job.output, &saved))
            }
        }
    }

    fn into_draft(self, job: &Job<'_>) -> Result<Draft, Failure> {
        let caller = &job.session.caller;
        let expires = self.expires.as_deref().map(|text| parse_time(&*job.session.engine.clock, text, true));
        let verify_by = self.verify_by.as_deref().map(|text| parse_time(&*job.session.engine.clock, text, true));
        Ok(Draft {
            content: read_content(self.content.as_deref(), self.file.as_deref())?,
            store: self.store.map_or_else(|| default_store(caller, job.global.system.as_deref()), Ok)?,
            system: job.global.system.clone(),
            path: self.path,
            kind: self.kind,
            layer: self.layer,
            title: self.title,
            recall_hint: self.hint,
            // `None` keeps the tags of the memory at the path; an empty list would remove them.
            tags: (!self.tag.is_empty()).then_some(self.tag),
            metadata: parse_metadata(&self.metadata)?,
            confidence: self.confidence,
            importance: self.importance,
            // The flag only turns it on; `unpin` turns it off.
            always_inject: self.always_inject.then_some(true),
            expires_at: expires.transpose()?,
            verify_by: verify_by.transpose()?,
            ttl: self.ttl,
            role: self.role,
            // `--turn-session` files the turn under another session than that of the call.
            session: self.turn_session.or_else(|| caller.session.clone()),
            turn: self.turn,
            speaker: self.speaker,
            evidence: self.evidence.into_evidence(caller),
            derived_from: self.derived_from,
            expected_sha256: self.expect,
            create_only: false,
            path_is_derived: false,
            reason: self.reason,
        })
    }
}

fn default_store(caller: &Caller, system: Option<&str>) -> Result<String, Failure> {
    let missing = || {
        Failure::user_error("shape.store_missing", "no store given, and the caller has no default store")
            .with_hint("give `--store SLUG`; `ingrain store list` lists the stores")
    };
    engine::default_store(caller, system).map(str::to_owned).ok_or_else(missing)
}

impl EvidenceArgs {
    /// Pairs the n-th `--evidence` with the n-th `--tool-call`; further tool calls become pieces of their own.
    pub fn into_evidence(self, caller: &Caller) -> Vec<Evidence> {
        // Default kind by role: people state, programs observe.
        let kind = self.evidence_kind.unwrap_or(match caller.role {
            Role::Admin | Role::Reviewer => EvidenceKind::AdminEntry,
            Role::User => EvidenceKind::UserStatement,
            Role::Agent | Role::Service => EvidenceKind::ToolResult,
        });
        let mut calls = self.tool_call.into_iter();
        let mut pieces: Vec<Evidence> = Vec::new();
        for summary in self.evidence {
            pieces.push(Evidence { tool_call: calls.next(), ..Evidence::new(kind, summary) });
        }
        for call in calls {
            // A tool result whatever `--evidence-kind` says: without words nothing else is claimed.
            let summary = format!("tool call {call}");
            pieces.push(Evidence { tool_call: Some(call), ..Evidence::new(EvidenceKind::ToolResult, summary) });
        }
        pieces
    }
}

/// Parses metadata. A `KEY=VALUE` value stays text (`1.10` is no number); a JSON object keeps its types.
fn parse_metadata(given: &[String]) -> Result<Option<Map<String, Value>>, Failure> {
    let mut map = Map::new();
    for text in given {
        if text.trim_start().starts_with('{') {
            let object: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
                Failure::user_error("shape.metadata", format!("metadata is not a JSON object: {error}"))
            })?;
            // Flags apply in order: a later one replaces the same key of an earlier one.
            map.extend(object);
        } else {
            let wrong = || Failure::user_error("shape.metadata", "metadata is neither KEY=VALUE nor a JSON object");
            // At the first `=`: a value may contain more of them.
            let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(wrong)?;
            map.insert(key.to_owned(), Value::String(value.to_owned()));
        }
    }
    // `None` keeps the metadata of the memory at the path; `{}` removes it.
    Ok((!given.is_empty()).then_some(map))
}

fn render_saved(output: &Output, saved: &SavedMemory) -> String {
    let memory = &saved.memory;
    let word = match saved.outcome {
        SaveOutcome::Created => "saved",
        SaveOutcome::Updated => "updated",
        SaveOutcome::Unchanged => "already known",
    };
    let path = path_suffix(memory.path.as_deref());
    let mut lines = vec![
        format!("{} in {}{path} ({})", output.paint(Tone::Good, word), memory.store, memory.scope),
        format!("  id      {}", memory.id),
        format!("  sha256  {}", memory.sha256),
        format!("  {}, {}, version {}", memory.trust, memory.state, memory.version_number),
    ];
    lines.extend(saved.deduped_by.map(|by| format!("  matched an existing memory by {by}")));
    lines.extend(saved.near.map(|near| format!("  similar, but a different fact: {near}")));
    lines.extend(memory.expires_at.map(|at| format!("  expires {at}")));
    lines.extend(saved.lifetime().map(|words| format!("          {words}")));
    lines.extend(saved.warnings.iter().map(|warning| format!("  note: {warning}")));
    lines.extend((!memory.flags.is_empty()).then(|| format!("  flagged: {}", memory.flags.join(", "))));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_keeps_text_as_text() {
        let read = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
            parse_metadata(&given).ok().flatten().map(|map| Value::Object(map).to_string())
        };
        assert_eq!(read(&["version=1.10", r#"{"count": 3}"#]).as_deref(), Some(r#"{"count":3,"version":"1.10"}"#));
        assert_eq!(read(&[]), None);
        for odd in ["novalue", "=x", "{broken", "[1]"] {
            assert_eq!(read(&[odd]), None, "{odd}");
        }
    }
}
