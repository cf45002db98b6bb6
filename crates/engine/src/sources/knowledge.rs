//! The knowledge base: which documents there are, and what their chunks answer.

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
use crate::recall::ranking::Hit;
use crate::recall::search::SearchQuery;
use crate::recall::{search, visibility};
use crate::vocabulary;

vocabulary! {
    /// Whether a document is searched.
    DocumentStatus ("document status") {
        Published = "published",
        Draft = "draft",
    }
}

/// A document that was ingested; its text is in its chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub path: String,
    pub title: String,
    pub category: Option<String>,
    pub status: DocumentStatus,
    /// Of the whole text; empty where some of it was refused or is not there yet, so that the next ingestion tries
    /// again.
    pub sha256: String,
    pub chunks: usize,
    pub ingested_at: Timestamp,
    pub ingested_by: String,
    /// A digest of where its text was read, so that another file at its address is told from this one; `None`: nobody
    /// said.
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
    /// Whether this is the other, whoever ingested it, when and from where.
    pub(crate) fn has_same_record(&self, other: &Document) -> bool {
        let Document { ingested_at, ingested_by, source, .. } = self.clone();
        *self == Document { ingested_at, ingested_by, source, ..other.clone() }
    }

    /// Whether the other was read from another place, as far as both say.
    pub(crate) fn is_from_elsewhere(&self, other: &Document) -> bool {
        self.source.as_ref().zip(other.source.as_ref()).is_some_and(|(one, other)| one != other)
    }
}

impl Engine {
    /// The documents that stand at these addresses and that the caller sees, in the order of the addresses.
    pub fn documents_at(&self, caller: &Caller, addresses: &[String]) -> Result<Vec<Document>, Error> {
        visibility::visible_to(self, caller)?;
        let at = |address: &String| row::get_record(&*self.backend, caller.tenant, address).transpose();
        let standing = addresses.iter().filter_map(at).collect::<Result<Vec<Document>, Error>>()?;
        Ok(standing.into_iter().filter(|document| may_list(caller, document)).collect())
    }

    /// The documents, newest first. Where each was read is between its record and who ingests it.
    pub fn documents(&self, caller: &Caller, Paging { after, limit }: &Paging) -> Result<RecordPage<Document>, Error> {
        visibility::visible_to(self, caller)?;
        let filter = RowFilter { newest_first: true, ..RowFilter::default() };
        let limit = resolve_limit(*limit, self.limits().list_max, self.limits().list_max)?;
        let sees = |document: &Document| may_list(caller, document);
        let RecordPage { items, next } =
            row::select_page(&*self.backend, caller.tenant, filter, after.as_deref(), limit, sees)?;
        Ok(RecordPage {
            items: items.into_iter().map(|document| Document { source: None, ..document }).collect(),
            next,
        })
    }

    /// The chunks of published documents that answer, of these categories where some are named. An agent that is
    /// mapped to categories sees no others.
    pub fn search_knowledge(
        &self,
        caller: &Caller,
        text: &str,
        categories: &[String],
        limit: Option<usize>,
    ) -> Result<Vec<Hit>, Error> {
        let limit = resolve_limit(limit, self.limits().results_default, self.limits().results_max)?;
        let mut hits = find_knowledge_hits(self, caller, text, categories, Ranker::Operational, limit)?;
        let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
        search::record_recall(self, caller, &query, &mut hits);
        Ok(hits)
    }
}

/// As [`Engine::search_knowledge`], leaving no trace.
pub(crate) fn find_knowledge_hits(
    engine: &Engine,
    caller: &Caller,
    text: &str,
    categories: &[String],
    ranker: Ranker,
    limit: usize,
) -> Result<Vec<Hit>, Error> {
    let eyes = visibility::visible_to(engine, caller)?;
    let mut hits: Vec<Hit> = Vec::new();
    for tags in category_filters(engine, caller, categories) {
        let filter = Filter { stores: vec![KNOWLEDGE_BASE.to_owned()], tags, ..Filter::default() };
        let query = SearchQuery { text: text.to_owned(), filter, ..SearchQuery::default() };
        let (found, _) = search::find_hits(engine, &eyes, &query, ranker, limit)?;
        hits.extend(found.into_iter().filter(|hit| eyes.shows_memory(&hit.memory)));
    }
    hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.memory.id.cmp(&other.memory.id)));
    hits.truncate(limit);
    Ok(hits)
}

/// The tags to look for, one search each: what was asked for, within what the agent is mapped to.
fn category_filters(engine: &Engine, caller: &Caller, asked: &[String]) -> Vec<Vec<String>> {
    let mapped = caller.agent.as_ref().and_then(|agent| engine.settings.knowledge_categories.get(agent));
    let chosen: Vec<&String> = match (mapped, asked) {
        (None, []) => return vec![Vec::new()],
        (None, asked) => asked.iter().collect(),
        (Some(mapped), []) => mapped.iter().collect(),
        (Some(mapped), asked) => asked.iter().filter(|category| mapped.contains(category)).collect(),
    };
    chosen.into_iter().map(|category| vec![category_tag(category)]).collect()
}

/// Drafts are for those who decide.
fn may_list(caller: &Caller, document: &Document) -> bool {
    caller.role.may_decide_reviews() || document.status == DocumentStatus::Published
}

pub(crate) fn category_tag(category: &str) -> String {
    format!("category:{category}")
}
