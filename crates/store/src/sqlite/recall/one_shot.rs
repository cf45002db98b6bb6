//! A partition read for one search and dropped: for programs that run one search and exit. Reads active rows only, and
//! keeps the postings of the query's terms and one similarity per memory instead of all words and vectors.

use engine::model::id::TenantId;
use engine::model::vector::Vector;
use engine::model::vocabulary::State;
use engine::ports::{CandidateQuery, Filter};
use engine::text::words::Term;
use rusqlite::Connection;

use super::dot_product;
use super::partition::Partition;
use crate::matching;
use crate::sqlite::fault::Fault;
use crate::sqlite::row_codec::{id_bytes, to_micros};
use crate::sqlite::scopes::VisibleScope;

/// Bits of the filter that is tested before the terms: most terms are not in the query, and one bit shows that.
const FILTER_BITS: usize = 1 << 12;

/// The terms of a query, behind a bit filter that rejects most other terms fast.
pub(super) struct TermFilter {
    terms: Vec<Term>,
    bits: [u64; FILTER_BITS / 64],
}

impl TermFilter {
    pub(super) fn from_terms(terms: Vec<Term>) -> TermFilter {
        let mut bits = [0; FILTER_BITS / 64];
        terms.iter().map(|term| term_bit(*term)).for_each(|bit| bits[bit / 64] |= 1 << (bit % 64));
        TermFilter { terms, bits }
    }

    pub(super) fn contains_term(&self, term: Term) -> bool {
        let bit = term_bit(term);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1 && self.terms.contains(&term)
    }
}

fn term_bit(term: Term) -> usize {
    term as usize % FILTER_BITS
}

/// What a one-shot partition keeps instead of words and vectors.
pub(super) struct OneShotQuery {
    terms: Vec<Term>,
    query: Option<dot_product::DotQuery>,
    /// Similarity of each memory to the query vector; negative infinity where the memory has no vector.
    pub(super) nearness: Vec<f32>,
    /// Buffer for the vector of the row being read, reused.
    values: Vec<i8>,
}

impl OneShotQuery {
    fn from_find(find: &CandidateQuery) -> OneShotQuery {
        let mut terms: Vec<Term> = find.words.terms.iter().map(|term| term.term).collect();
        terms.sort_unstable();
        terms.dedup();
        let query = find.vector.as_ref().map(|embedding| dot_product::DotQuery::new(&embedding.vector.values));
        OneShotQuery { terms, query, nearness: Vec::new(), values: Vec::new() }
    }

    /// The terms of the query, sorted, each once.
    pub(super) fn wanted_terms(&self) -> &[Term] {
        &self.terms
    }

    pub(super) fn push_nearness(&mut self, vector: Option<&[u8]>) {
        let mut near = f32::NEG_INFINITY;
        if let (Some(query), Some((scale, values))) = (&self.query, vector.and_then(Vector::read_parts))
            && values.len() == query.dimensions()
            // Zero marks a missing vector.
            && scale > 0.0
        {
            self.values.clear();
            self.values.extend(values);
            query.dot_products(&self.values, |_| true, |_, product| near = product as f32 * scale);
        }
        self.nearness.push(near);
    }
}

/// Whether a filter asks for active memories of some places and nothing else, so that the partition needs no columns to
/// filter by.
pub(super) fn is_plain_filter(filter: &Filter) -> bool {
    matching::wanted_states(filter) == [State::Active]
        && filter.kinds.is_empty()
        && filter.layers.is_empty()
        && filter.trust_min.is_none()
        && filter.updated_after.is_none()
        && filter.updated_before.is_none()
        && filter.expired_by.is_none()
        && !matching::needs_memory_table(filter)
}

pub(super) fn read_partition(
    conn: &Connection,
    tenant: TenantId,
    scope: &VisibleScope,
    find: &CandidateQuery,
) -> Result<Partition, Fault> {
    let mut part = Partition::for_one_shot(OneShotQuery::from_find(find));
    part.reserve(scope.live);
    part.seq = scope.recall_seq;
    let mut statement = conn.prepare_cached(
        "select memory, updated_at, words, iif(model = ?4, vector, null)
         from recall
         where tenant = ?1 and scope = ?2 and state = 'active' and (expires_at is null or expires_at > ?3)
         order by seq",
    )?;
    let unexpired_at = find.filter.unexpired_at.map_or(i64::MIN, to_micros);
    let model = find.vector.as_ref().map(|embedding| embedding.model.as_str());
    let mut rows = statement.query((id_bytes(tenant.0), scope.id, unexpired_at, model))?;
    while let Some(row) = rows.next()? {
        let words = row.get_ref(2)?.as_blob().map_err(Fault::corrupt)?;
        let vector = row.get_ref(3)?.as_blob_or_null().map_err(Fault::corrupt)?;
        part.push_one_shot(row.get(0)?, row.get(1)?, words, vector)?;
    }
    Ok(part)
}
