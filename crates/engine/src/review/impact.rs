//! Impact of a proposal: the past turns whose context would have shown it, and the memories it would have pushed out.

use jiff::Timestamp;
use serde::Serialize;

use super::ReviewView;
use crate::Engine;
use crate::gate;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::vocabulary::{State, Trust};
use crate::ports::row::Paging;
use crate::ports::{Candidate, CandidateQuery, Filter, embedding};
use crate::recall::ranking::{self, RankingQuery};
use crate::recall::visibility;
use crate::receipts::receipt::Receipt;
use crate::text::words;

/// One past turn that would have been shown the proposed memory.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Impact {
    pub receipt: String,
    pub at: Timestamp,
    pub query: String,
    /// Rank among the memories of that turn, from 1.
    pub rank: usize,
    pub score: f64,
    /// The memory that would no longer be shown.
    pub pushes_out: Option<MemoryId>,
}

impl Engine {
    /// Ranks the proposed memory against the last receipts the caller may see, newest first.
    pub fn review_impact(&self, caller: &Caller, view: &ReviewView) -> Result<Vec<Impact>, Error> {
        let Some(proposed) = &view.proposed else { return Ok(Vec::new()) };
        let now = self.clock.now();
        // The memory as it would be after approval.
        let approved = Memory {
            store: view.review.target_store.clone(),
            scope: view.review.scope.clone(),
            path: view.review.target_path.clone().or_else(|| proposed.path.clone()),
            state: State::Active,
            trust: Trust::AdminApproved,
            updated_at: now,
            ..proposed.clone()
        };
        let replaced: Vec<MemoryId> =
            view.current_memories.iter().map(|memory| memory.id).chain([approved.id]).collect();
        let mut impacts = Vec::new();
        let paging = Paging { limit: Some(self.limits().impact_receipts), ..Paging::default() };
        for receipt in self.receipts(caller, None, &paging)?.items {
            let readable = visibility::visible_to(self, &receipt.caller);
            let sees = readable.is_ok_and(|readable| readable.sees_scope(&approved.scope));
            if let (true, Some(score)) = (sees, score_against_receipt(self, &receipt, &approved, &replaced)?) {
                impacts.extend(impact_on_turn(&receipt, score, &replaced));
            }
        }
        Ok(impacts)
    }
}

/// Score of the candidate for the query of a receipt, among the memories that caller finds today.
fn score_against_receipt(
    engine: &Engine,
    receipt: &Receipt,
    candidate: &Memory,
    replaced: &[MemoryId],
) -> Result<Option<f64>, Error> {
    let now = engine.clock.now();
    let filter = Filter { unexpired_at: Some(now), ..Filter::default() };
    let (words, vector) = (words::parse_query(&receipt.query), embedding::embed_text(engine, &receipt.query));
    let find = CandidateQuery {
        filter,
        words,
        vector,
        pool: engine.limits().pool_min,
        weights: engine.limits().weights.text.clone(),
        ..CandidateQuery::default()
    };
    let mut found = engine.backend.find_candidates(&visibility::visible_to(engine, &receipt.caller)?, &find)?;
    // The memories it would replace are no competitors.
    found.candidates.retain(|found| !replaced.contains(&found.memory.id));
    found.candidates.push(Candidate {
        memory: candidate.clone(),
        words: gate::index_memory(candidate),
        vector: embedding::embed_text(engine, &gate::embedding_text(candidate)).map(|embedding| embedding.vector),
    });
    let query = RankingQuery {
        text: &receipt.query,
        words: &find.words,
        vector: find.vector.as_ref().map(|embedding| &embedding.vector),
        calibration: engine.embedder.calibration(),
        ranker: receipt.settings.ranker,
        weights: &engine.limits().weights,
        now,
    };
    let hits = ranking::rank_candidates(&query, found);
    Ok(hits.into_iter().find(|hit| hit.memory.id == candidate.id).map(|hit| hit.score))
}

/// Rank of a score among the memories a turn was shown; `None` if it would not have been shown.
fn impact_on_turn(receipt: &Receipt, score: f64, replaced: &[MemoryId]) -> Option<Impact> {
    let shown: Vec<_> = receipt
        .candidates
        .iter()
        // Always-injected memories have no score to compare with.
        .filter(|considered| considered.block.is_some() && considered.score > 0.0)
        .filter(|considered| !replaced.contains(&considered.memory))
        .collect();
    let rank = 1 + shown.iter().filter(|considered| considered.score >= score).count();
    // With room left in that turn, nothing is pushed out.
    let full = shown.len() >= receipt.settings.memories_max;
    (rank <= receipt.settings.memories_max).then(|| Impact {
        receipt: receipt.id.clone(),
        at: receipt.at,
        query: receipt.query.clone(),
        rank,
        score,
        pushes_out: shown.last().filter(|_| full).map(|considered| considered.memory),
    })
}
