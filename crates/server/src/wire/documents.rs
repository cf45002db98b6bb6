//! Documents of the knowledge base.

use engine::chunks::Format;
use engine::{Document, DocumentStatus, DocumentText, IngestOutcome, Ingested};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sessions::RefusedView;
use super::{DocumentStatusWord, Moment};

/// What a document is written in.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Format")]
pub enum FormatWord {
    #[default]
    Markdown,
    Text,
    Html,
}

/// A document for the knowledge base.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "IngestDocument")]
pub struct DocumentBody {
    /// Its address among the documents.
    #[schemars(length(min = 1))]
    pub path: String,
    pub text: String,
    #[serde(default)]
    pub format: FormatWord,
    /// What it is about, to search by.
    #[serde(default)]
    pub category: Option<String>,
    /// `draft` keeps it out of every search.
    #[serde(default = "published")]
    #[schemars(with = "DocumentStatusWord")]
    pub status: DocumentStatus,
}

const fn published() -> DocumentStatus {
    DocumentStatus::Published
}

impl From<DocumentBody> for DocumentText {
    fn from(body: DocumentBody) -> DocumentText {
        let format = match body.format {
            FormatWord::Markdown => Format::Markdown,
            FormatWord::Text => Format::Text,
            FormatWord::Html => Format::Html,
        };
        DocumentText { path: body.path, text: body.text, format, category: body.category, status: body.status }
    }
}

/// A document of the knowledge base.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Document")]
pub struct DocumentView {
    pub path: String,
    pub title: String,
    pub category: Option<String>,
    #[schemars(with = "DocumentStatusWord")]
    pub status: DocumentStatus,
    /// Empty where some of it was refused, so that the next ingestion tries again.
    pub sha256: String,
    pub chunks: usize,
    #[schemars(with = "Moment")]
    pub ingested_at: Timestamp,
    pub ingested_by: String,
}

impl From<Document> for DocumentView {
    fn from(document: Document) -> DocumentView {
        let Document { path, title, category, status, sha256, chunks, ingested_at, ingested_by } = document;
        DocumentView { path, title, category, status, sha256, chunks, ingested_at, ingested_by }
    }
}

/// What an ingestion did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ingested")]
pub struct IngestedView {
    /// `created`, `updated`, or `unchanged` where the text was known.
    #[schemars(with = "String")]
    pub outcome: IngestOutcome,
    pub document: DocumentView,
    /// Chunks written.
    pub written: usize,
    /// Chunks that no longer stand in the document.
    pub archived: u64,
    pub refused: Vec<RefusedChunk>,
}

/// A chunk the gate did not let in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefusedChunk {
    /// From 1.
    pub chunk: usize,
    pub refused: RefusedView,
}

impl From<Ingested> for IngestedView {
    fn from(ingested: Ingested) -> IngestedView {
        let refused = ingested.refused.into_iter();
        IngestedView {
            outcome: ingested.outcome,
            document: ingested.document.into(),
            written: ingested.written,
            archived: ingested.archived,
            refused: refused.map(|(chunk, refusal)| RefusedChunk { chunk, refused: refusal.into() }).collect(),
        }
    }
}
