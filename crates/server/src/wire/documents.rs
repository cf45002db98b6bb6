//! Documents of the knowledge base, searches in them, and skills.

use std::collections::BTreeMap;

use engine::text::chunks::DocumentFormat;
use engine::{Document, DocumentStatus, DocumentText, IngestOutcome, IngestReport, RemovedDocument, Skill};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::deserialize_bounded;
use super::remember::RefusedView;
use super::search::HitView;

/// Passages of the knowledge base, best first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Passages")]
pub struct PassagesView {
    pub items: Vec<HitView>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

/// A document to ingest into the knowledge base.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ingest")]
pub struct IngestBody {
    /// Path of the document.
    #[schemars(length(min = 1))]
    pub path: String,
    pub text: String,
    /// Default: by the extension of the path, else `markdown`.
    #[serde(default)]
    pub format: Option<FormatWord>,
    /// Category to search by. Default: the current one; an empty text removes it.
    #[serde(default)]
    pub category: Option<String>,
    /// A draft is found by no search until it is published. Default: unchanged.
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
            // Only the command line knows the file a text comes from.
            source: None,
        }
    }
}

/// The document to publish.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Publish")]
pub struct PublishBody {
    pub path: String,
}

/// Page of documents.
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
    /// Path of the document.
    pub path: String,
}

/// A removed document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Removed")]
pub struct RemovedView {
    /// As it was before its removal.
    pub document: DocumentView,
    /// Number of chunks that were archived.
    pub archived: u64,
}

impl From<RemovedDocument> for RemovedView {
    fn from(removed: RemovedDocument) -> RemovedView {
        RemovedView { document: DocumentView { document: removed.document }, archived: removed.archived }
    }
}

/// A document of the knowledge base, without its text, which is in its chunks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Document")]
pub struct DocumentView {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub document: Document,
}

/// Result of an ingestion.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ingested")]
pub struct IngestedView {
    /// `created`, `updated` or `unchanged`.
    #[schemars(with = "String")]
    pub outcome: IngestOutcome,
    pub document: DocumentView,
    pub written: usize,
    /// Number of old chunks that are no longer part of it.
    pub archived: u64,
    /// Refused chunks, by number.
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

/// A search in the knowledge base.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "KnowledgeSearch")]
pub struct KnowledgeSearchBody {
    pub query: String,
    /// A document must have one of these categories.
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
