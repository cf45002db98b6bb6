//! Turns, audit entries, workflow steps, documents and skills.

use std::collections::BTreeMap;

use engine::model::memory::Memory;
use engine::model::refusal::Refusal;
use engine::model::vocabulary::{Kind, TtlClass, TurnRole};
use engine::text::chunks::DocumentFormat;
use engine::{
    AuditEntry, Document, DocumentStatus, DocumentText, IngestOutcome, IngestReport, RecallQuery, RecallResults,
    Remembered, RemovedDocument, SessionSummary, Skill, StepOutput, Turn,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::memories::SavedView;
use super::{
    KindWord, Moment, TtlWord, TurnRoleWord, deserialize_bounded, deserialize_optional_moment, deserialize_share,
};

/// One turn of a conversation.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Turn")]
pub struct TurnBody {
    pub content: String,
    #[serde(default)]
    #[schemars(with = "Option<TurnRoleWord>")]
    pub role: Option<TurnRole>,
    /// Who spoke, by name.
    #[serde(default)]
    pub speaker: Option<String>,
    /// Its position; absent: after the turn before it.
    #[serde(default)]
    pub turn: Option<u32>,
    #[serde(default)]
    #[schemars(with = "Option<KindWord>")]
    pub kind: Option<Kind>,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub importance: Option<f64>,
    #[serde(default)]
    #[schemars(with = "Option<TtlWord>")]
    pub ttl: Option<TtlClass>,
}

impl From<TurnBody> for Turn {
    fn from(body: TurnBody) -> Turn {
        let TurnBody { content, role, speaker, turn, kind, importance, ttl } = body;
        Turn { content, role, speaker, turn, kind, importance, ttl }
    }
}

/// A whole conversation, or its latest turns.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Turns")]
pub struct TurnsBody {
    /// The session they belong to; absent: the caller's own.
    #[serde(default)]
    pub session: Option<String>,
    /// In their order, 1,000 at most.
    pub turns: Vec<TurnBody>,
}

/// What became of each turn, in their order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "TurnsSaved")]
pub struct TurnsView {
    pub session: String,
    pub saved: usize,
    pub refused: usize,
    pub turns: Vec<TurnView>,
}

/// One answer of a batch: what was saved, or why it was not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "TurnSaved")]
pub enum TurnView {
    Saved(Box<SavedView>),
    Refused(RefusedView),
}

/// A part that was refused.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Refused")]
pub struct RefusedView {
    pub code: &'static str,
    pub error: String,
}

impl From<&Refusal> for RefusedView {
    fn from(refusal: &Refusal) -> RefusedView {
        RefusedView { code: refusal.code, error: refusal.message.clone() }
    }
}

impl TurnsView {
    pub fn new(session: String, answers: &[Remembered]) -> TurnsView {
        let turns: Vec<TurnView> = answers
            .iter()
            .map(|answer| match answer {
                Remembered::Saved(saved) => TurnView::Saved(Box::new(SavedView::new(saved))),
                Remembered::Refused(refusal) => TurnView::Refused(refusal.into()),
            })
            .collect();
        let saved = answers.iter().filter(|answer| matches!(answer, Remembered::Saved(_))).count();
        TurnsView { session, saved, refused: answers.len() - saved, turns }
    }
}

/// A session an agent took part in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub struct SessionView {
    pub session: Option<String>,
    pub turns: usize,
    #[schemars(with = "Moment")]
    pub first: Timestamp,
    #[schemars(with = "Moment")]
    pub last: Timestamp,
}

impl From<SessionSummary> for SessionView {
    fn from(session: SessionSummary) -> SessionView {
        let SessionSummary { session, turns, first, last } = session;
        SessionView { session, turns, first, last }
    }
}

/// What an agent asks its memory.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Recall")]
pub struct RecallBody {
    pub query: String,
    /// Similarity below which what only its meaning found is dropped.
    #[serde(default, deserialize_with = "deserialize_share")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity_min: Option<f64>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

impl From<RecallBody> for RecallQuery {
    fn from(body: RecallBody) -> RecallQuery {
        RecallQuery { text: body.query, similarity_min: body.similarity_min, limit: body.limit }
    }
}

/// What four sources know, best first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Recalled")]
pub struct RecalledView {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub recalled: RecallResults,
}

/// Something that was done, told from outside.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AuditEntry")]
pub struct AuditBody {
    /// Such as `deploy.finished`.
    #[schemars(length(min = 1))]
    pub action: String,
    #[schemars(length(min = 1))]
    pub message: String,
    #[serde(default)]
    pub meta: Map<String, Value>,
    /// When it happened; absent: now.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub timestamp: Option<Timestamp>,
}

impl From<AuditBody> for AuditEntry {
    fn from(body: AuditBody) -> AuditEntry {
        AuditEntry { action: body.action, message: body.message, meta: body.meta, at: body.timestamp }
    }
}

/// What a step of a workflow came to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WorkflowStep")]
pub struct StepBody {
    #[schemars(length(min = 1))]
    pub step: String,
    #[schemars(length(min = 1))]
    pub output: String,
    /// Absent: now.
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub completed_at: Option<Timestamp>,
}

impl StepBody {
    pub fn into_step_output(self, workflow: String) -> StepOutput {
        StepOutput { workflow, step: self.step, output: self.output, completed_at: self.completed_at }
    }
}

/// An entry of a log, as it was told: the audit log's or a workflow's.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "LogEntry")]
pub struct EntryView {
    #[schemars(with = "super::Id")]
    pub id: engine::model::id::MemoryId,
    /// `action`, `at` and `meta` of an audit entry; `workflow`, `step` and `at` of a step.
    #[serde(flatten)]
    pub told: BTreeMap<String, Value>,
    pub text: String,
    /// Who told it.
    pub by: String,
}

impl From<Memory> for EntryView {
    fn from(memory: Memory) -> EntryView {
        let told = memory.metadata.into_iter().collect();
        EntryView { id: memory.id, told, text: memory.content, by: memory.author }
    }
}

/// Which entries.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EntryParams {
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// Where the stretch before ended.
    pub cursor: Option<String>,
}

/// A document on its way into the knowledge base.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ingest")]
pub struct IngestBody {
    /// Its address among the documents.
    #[schemars(length(min = 1))]
    pub path: String,
    pub text: String,
    /// Absent, what the path ends in says it, and `markdown` where that says nothing.
    #[serde(default)]
    pub format: Option<FormatWord>,
    /// What it is about, to search by; absent, it keeps the one it has, and an empty one takes it away.
    #[serde(default)]
    pub category: Option<String>,
    /// A draft is kept out of every search until it is published; absent, the document stays what it is.
    #[serde(default)]
    pub draft: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Format")]
pub enum FormatWord {
    Markdown,
    Text,
    Html,
}

impl From<IngestBody> for DocumentText {
    fn from(body: IngestBody) -> DocumentText {
        DocumentText {
            format: match body.format {
                Some(FormatWord::Markdown) => DocumentFormat::Markdown,
                Some(FormatWord::Text) => DocumentFormat::Text,
                Some(FormatWord::Html) => DocumentFormat::Html,
                None => DocumentFormat::from_path(&body.path).unwrap_or(DocumentFormat::Markdown),
            },
            path: body.path,
            text: body.text,
            category: body.category,
            status: body.draft.map(|draft| if draft { DocumentStatus::Draft } else { DocumentStatus::Published }),
            source: None,
        }
    }
}

/// A document's address.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Publish")]
pub struct PublishBody {
    pub path: String,
}

/// Which stretch of the documents.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DocumentParams {
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// Which document goes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveParams {
    /// Its address among the documents.
    pub path: String,
}

/// A document that is there no longer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Removed")]
pub struct RemovedView {
    /// As it stood.
    pub document: DocumentView,
    /// Chunks that went with it.
    pub archived: u64,
}

impl From<RemovedDocument> for RemovedView {
    fn from(removed: RemovedDocument) -> RemovedView {
        RemovedView { document: DocumentView { document: removed.document }, archived: removed.archived }
    }
}

/// A document of the knowledge base; its text is in its chunks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Document")]
pub struct DocumentView {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub document: Document,
}

/// What became of a document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ingested")]
pub struct IngestedView {
    /// `created`, `updated` or `unchanged`.
    #[schemars(with = "String")]
    pub outcome: IngestOutcome,
    pub document: DocumentView,
    pub written: usize,
    /// Chunks that no longer stand in it.
    pub archived: u64,
    /// Chunks the gate refused, by number.
    pub refused: BTreeMap<usize, RefusedView>,
}

impl From<IngestReport> for IngestedView {
    fn from(done: IngestReport) -> IngestedView {
        IngestedView {
            outcome: done.outcome,
            document: DocumentView { document: done.document },
            written: done.written,
            archived: done.archived,
            refused: done.refused.iter().map(|(number, refusal)| (*number, refusal.into())).collect(),
        }
    }
}

/// What to look for in the knowledge base.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "KnowledgeSearch")]
pub struct KnowledgeBody {
    pub query: String,
    /// Any of them.
    #[serde(default)]
    pub categories: Vec<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

/// A file that tells a model how to do something.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Skill")]
pub struct SkillBody {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub body: String,
}

impl From<SkillBody> for Skill {
    fn from(skill: SkillBody) -> Skill {
        Skill { name: skill.name, description: skill.description, body: skill.body }
    }
}

impl From<Skill> for SkillBody {
    fn from(skill: Skill) -> SkillBody {
        SkillBody { name: skill.name, description: skill.description, body: skill.body }
    }
}
