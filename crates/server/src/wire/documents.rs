//! Documents of the knowledge base, searches in them, and skills.

use std::collections::BTreeMap;

use engine::text::chunks::DocumentFormat;
use engine::{Document, DocumentStatus, DocumentText, IngestOutcome, IngestReport, RemovedDocument, Skill};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::deserialize_bounded;
use super::remember::RefusedView;

/// A document to add to the knowledge base or to update.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ingest")]
pub struct IngestBody {
    /// Path of the document in the knowledge base.
    #[schemars(length(min = 1))]
    pub path: String,
    pub text: String,
    /// Absent: by the extension of the path, else `markdown`.
    #[serde(default)]
    pub format: Option<FormatWord>,
    /// Category to filter searches by. Absent: unchanged; empty: removed.
    #[serde(default)]
    pub category: Option<String>,
    /// Drafts are not searched until they are published. Absent: unchanged.
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

/// Path of a document.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Publish")]
pub struct PublishBody {
    pub path: String,
}

/// Page of the list of documents.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DocumentParams {
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// The document to remove.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveParams {
    /// Path of the document in the knowledge base.
    pub path: String,
}

/// A removed document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Removed")]
pub struct RemovedView {
    /// The document before its removal.
    pub document: DocumentView,
    /// Number of chunks that were archived.
    pub archived: u64,
}

impl From<RemovedDocument> for RemovedView {
    fn from(removed: RemovedDocument) -> RemovedView {
        RemovedView { document: DocumentView { document: removed.document }, archived: removed.archived }
    }
}

/// A document of the knowledge base, without its text, which is stored in chunks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Document")]
pub struct DocumentView {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub document: Document,
}

/// Result of adding or updating a document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ingested")]
pub struct IngestedView {
    /// `created`, `updated` or `unchanged`.
    #[schemars(with = "String")]
    pub outcome: IngestOutcome,
    pub document: DocumentView,
    pub written: usize,
    /// Number of chunks archived because the document no longer has them.
    pub archived: u64,
    /// Refused chunks, by their number.
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

/// Search in the knowledge base.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "KnowledgeSearch")]
pub struct KnowledgeSearchBody {
    pub query: String,
    /// Only documents of one of these categories.
    #[serde(default)]
    pub categories: Vec<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}

/// A skill: instructions for a model.
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
