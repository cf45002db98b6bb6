//! The knowledge base: lists documents and searches their chunks.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::limits::resolve_limit;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::store::KNOWLEDGE_BASE;
use crate::model::vocabulary::Ranker;
use crate::ports::Filter;
use crate::ports::row::{self, Paging, RecordPage};
use crate::recall::ranking::{Hit, spread_text};
use crate::recall::search::SearchQuery;
use crate::recall::{search, visibility};
use crate::vocabulary;

vocabulary! {
    /// Published documents are searched, drafts are not.
    DocumentStatus ("document status") {
        Published = "published",
        Draft = "draft",
    }
}

/// Record of an ingested document. Its text is in its chunks, which are memories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub path: String,
    pub title: String,
    pub category: Option<String>,
    pub status: DocumentStatus,
    /// Digest of the whole text; empty if a chunk was refused, so that the next ingestion tries again.
    pub sha256: String,
    pub chunks: usize,
    pub ingested_at: Timestamp,
    pub ingested_by: String,
    /// Digest of the file or URL the text was read from. Shows that another file is ingested under the same path.
    /// `None`: the caller sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl SideRecord for Document {
    const KIND: RowKind = RowKind::Documents;
    fn row_id(&self) -> String {
        self.path.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.ingested_at
    }
    fn row_state(&self) -> String {
        self.status.to_string()
    }
    fn row_subject(&self) -> String {
        self.category.clone().unwrap_or_default()
    }
}

impl Document {
    /// Whether two records are equal apart from time, author and source.
    pub(crate) fn has_same_record(&self, other: &Document) -> bool {
        let Document { ingested_at, ingested_by, source, .. } = self.clone();
        *self == Document { ingested_at, ingested_by, source, ..other.clone() }
    }

    /// Whether both have a source and the sources differ.
    pub(crate) fn is_from_elsewhere(&self, other: &Document) -> bool {
        self.source.as_ref().zip(other.source.as_ref()).is_some_and(|(one, other)| one != other)
    }
}

/// Result of [`Engine::search_knowledge`].
#[derive(Clone, Debug, Default)]
pub struct KnowledgeResults {
    pub hits: Vec<Hit>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

impl Engine {
    /// The documents at these paths that the caller may see, in the order of the paths.
    pub fn documents_at(&self, caller: &Caller, paths: &[String]) -> Result<Vec<Document>, Error> {
        visibility::visible_to(self, caller)?;
        let load = |path: &String| row::get_record(&*self.backend, caller.tenant, path).transpose();
        let documents = paths.iter().filter_map(load).collect::<Result<Vec<Document>, Error>>()?;
        Ok(documents.into_iter().filter(|document| may_list(caller, document)).collect())
    }

    /// The documents the caller may see, newest first, without their `source`.
    pub fn documents(&self, caller: &Caller, Paging { after, limit }: &Paging) -> Result<RecordPage<Document>, Error> {
        visibility::visible_to(self, caller)?;
        let filter = RowFilter { newest_first: true, ..RowFilter::default() };
        let limit = resolve_limit(*limit, self.limits().list_max, self.limits().list_max)?;
        let sees = |document: &Document| may_list(caller, document);
        let RecordPage { items, next } =
            row::select_page(&*self.backend, caller.tenant, filter, after.as_deref(), limit, sees)?;
        Ok(RecordPage {
            // `source` is a digest of a local path or URL: ingestion compares it, callers have no use for it.
            items: items.into_iter().map(|document| Document { source: None, ..document }).collect(),
            next,
        })
    }

    /// Searches the chunks of published documents, in these categories or in all. An agent that configuration maps to
    /// categories finds no others.
    pub fn search_knowledge(
        &self,
        caller: &Caller,
        text: &str,
        categories: &[String],
        limit: Option<usize>,
    ) -> Result<KnowledgeResults, Error> {
        let limit = resolve_limit(limit, self.limits().results_default, self.limits().results_max)?;
        let mut found = find_knowledge_hits(self, caller, text, categories, Ranker::Operational, limit)?;
        let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
        search::record_recall(self, caller, &query, &mut found.hits);
        Ok(found)
    }
}

/// [`Engine::search_knowledge`] without recording that the hits were recalled.
pub(crate) fn find_knowledge_hits(
    engine: &Engine,
    caller: &Caller,
    text: &str,
    categories: &[String],
    ranker: Ranker,
    limit: usize,
) -> Result<KnowledgeResults, Error> {
    let readable = visibility::visible_to(engine, caller)?;
    let mut hits: Vec<Hit> = Vec::new();
    // A filter requires all of its tags, so several categories need several searches.
    for tags in category_filters(engine, caller, categories) {
        let filter = Filter { stores: vec![KNOWLEDGE_BASE.to_owned()], tags, ..Filter::default() };
        let query = SearchQuery { text: text.to_owned(), filter, ..SearchQuery::default() };
        let (found, _) = search::find_hits(engine, &readable, &query, ranker, limit)?;
        hits.extend(found.into_iter().filter(|hit| readable.shows_memory(&hit.memory)));
    }
    spread_text(ranker, &engine.limits().weights, &mut hits);
    hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.memory.id.cmp(&other.memory.id)));
    hits.truncate(limit);
    // After the limit: only what is shown needs proof of its text.
    let mut warnings = Vec::new();
    search::drop_altered(&mut hits, &mut warnings);
    Ok(KnowledgeResults { hits, warnings })
}

/// Tag filters, one search each: the requested categories, limited to those the agent is mapped to.
fn category_filters(engine: &Engine, caller: &Caller, requested: &[String]) -> Vec<Vec<String>> {
    let mapped = caller.agent.as_ref().and_then(|agent| engine.settings.knowledge_categories.get(agent));
    let chosen: Vec<&String> = match (mapped, requested) {
        (None, []) => return vec![Vec::new()],
        (None, requested) => requested.iter().collect(),
        (Some(mapped), []) => mapped.iter().collect(),
        // Nothing in common means no search at all, not a search without a filter.
        (Some(mapped), requested) => requested.iter().filter(|category| mapped.contains(category)).collect(),
    };
    chosen.into_iter().map(|category| vec![category_tag(category)]).collect()
}

/// Drafts are listed only for callers who may decide reviews.
fn may_list(caller: &Caller, document: &Document) -> bool {
    caller.role.may_decide_reviews() || document.status == DocumentStatus::Published
}

/// Tag of the chunks of a category.
pub(crate) fn category_tag(category: &str) -> String {
    format!("category:{category}")
}
