//! The knowledge base: which documents there are, and what their chunks answer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::caller::Caller;
use crate::container::KNOWLEDGE_BASE;
use crate::error::Error;
use crate::limits::how_many;
use crate::ports::Filter;
use crate::ranking::Hit;
use crate::row::{self, Kept, RowFilter, RowKind};
use crate::search::Query;
use crate::vocabulary;
use crate::vocabulary::Ranker;

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
    /// Of the whole text; empty where some of it was refused or is not there yet, so that the next ingestion tries again.
    pub sha256: String,
    pub chunks: usize,
    pub ingested_at: Timestamp,
    pub ingested_by: String,
}

impl Kept for Document {
    const KIND: RowKind = RowKind::Documents;
    fn id(&self) -> String {
        self.path.clone()
    }
    fn at(&self) -> Timestamp {
        self.ingested_at
    }
    fn state(&self) -> String {
        self.status.to_string()
    }
    fn subject(&self) -> String {
        self.category.clone().unwrap_or_default()
    }
}

impl Document {
    /// Whether this is the other, whoever ingested it and when.
    pub(crate) fn keeps(&self, other: &Document) -> bool {
        let (ingested_at, ingested_by) = (self.ingested_at, self.ingested_by.clone());
        *self == Document { ingested_at, ingested_by, ..other.clone() }
    }
}

impl Engine {
    /// The first document that stands at one of these addresses and that the caller sees.
    pub fn document(
        &self,
        caller: &Caller,
        addresses: impl IntoIterator<Item = String>,
    ) -> Result<Option<Document>, Error> {
        self.eyes(caller)?;
        for address in addresses {
            let document: Option<Document> = row::get(&*self.backend, caller.tenant, &address)?;
            if let Some(document) = document.filter(|document| lists(caller, document)) {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }

    /// The documents, newest first.
    pub fn documents(&self, caller: &Caller) -> Result<Vec<Document>, Error> {
        self.eyes(caller)?;
        let filter = RowFilter { newest_first: true, limit: self.limits().list_max, ..RowFilter::default() };
        row::select_seen(&*self.backend, caller.tenant, &filter, |document| lists(caller, document))
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
        let limit = how_many(limit, self.limits().results_default, self.limits().results_max)?;
        let mut hits = self.knowledge_hits(caller, text, categories, Ranker::Operational, limit)?;
        let query = Query { text: text.to_owned(), ..Query::default() };
        self.recalled(caller, &query, &mut hits);
        Ok(hits)
    }

    /// As [`Engine::search_knowledge`], leaving no trace.
    pub(crate) fn knowledge_hits(
        &self,
        caller: &Caller,
        text: &str,
        categories: &[String],
        ranker: Ranker,
        limit: usize,
    ) -> Result<Vec<Hit>, Error> {
        let eyes = self.eyes(caller)?;
        let mut hits: Vec<Hit> = Vec::new();
        for tags in self.categories(caller, categories) {
            let filter = Filter { stores: vec![KNOWLEDGE_BASE.to_owned()], tags, ..Filter::default() };
            let query = Query { text: text.to_owned(), filter, ..Query::default() };
            let (found, _) = self.found(&eyes, &query, ranker, limit)?;
            hits.extend(found.into_iter().filter(|hit| eyes.shows(&hit.memory)));
        }
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.memory.id.cmp(&other.memory.id)));
        hits.truncate(limit);
        Ok(hits)
    }

    /// The tags to look for, one search each: what was asked for, within what the agent is mapped to.
    fn categories(&self, caller: &Caller, asked: &[String]) -> Vec<Vec<String>> {
        let mapped = caller.agent.as_ref().and_then(|agent| self.settings.knowledge_categories.get(agent));
        let chosen: Vec<&String> = match (mapped, asked) {
            (None, []) => return vec![Vec::new()],
            (None, asked) => asked.iter().collect(),
            (Some(mapped), []) => mapped.iter().collect(),
            (Some(mapped), asked) => asked.iter().filter(|category| mapped.contains(category)).collect(),
        };
        chosen.into_iter().map(|category| vec![category_tag(category)]).collect()
    }
}

/// Drafts are for those who decide.
fn lists(caller: &Caller, document: &Document) -> bool {
    caller.role.decides() || document.status == DocumentStatus::Published
}

pub(crate) fn category_tag(category: &str) -> String {
    format!("category:{category}")
}
