//! Documents of the knowledge base, searches in them, and skills.

use std::collections::BTreeMap;

use engine::text::chunks::DocumentFormat;
use engine::{Document, DocumentStatus, DocumentText, IngestOutcome, IngestReport, RemovedDocument, Skill};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::deserialize_bounded;
use super::remember::RefusedView;

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
pub struct KnowledgeSearchBody {
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
