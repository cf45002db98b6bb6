//! A part read for one plain question and thrown away: the table leaves out what cannot answer it, and of the rest only
//! what the question is about is kept.

use engine::model::id::TenantId;
use engine::model::vector::Vector;
use engine::model::vocabulary::State;
use engine::ports::{Filter, Find};
use engine::text::words::Term;
use rusqlite::Connection;

use super::dot;
use super::partition::Partition;
use crate::matching;
use crate::sqlite::fault::Fault;
use crate::sqlite::rows::{key, micros};
use crate::sqlite::scopes::Seen;

/// Bits of the first look at a term: most are of no word asked for, which one bit tells.
const BITS: usize = 1 << 12;

/// The words asked for.
pub(super) struct Asked {
    terms: Vec<Term>,
    bits: [u64; BITS / 64],
}

impl Asked {
    pub(super) fn of(terms: Vec<Term>) -> Asked {
        let mut bits = [0; BITS / 64];
        terms.iter().map(|term| bit(*term)).for_each(|bit| bits[bit / 64] |= 1 << (bit % 64));
        Asked { terms, bits }
    }

    pub(super) fn wants(&self, term: Term) -> bool {
        let bit = bit(term);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1 && self.terms.contains(&term)
    }
}

fn bit(term: Term) -> usize {
    term as usize % BITS
}

/// What a part keeps instead of words and vectors.
pub(super) struct Glance {
    asked: Vec<Term>,
    query: Option<dot::Query>,
    /// How near each memory is to the vector asked for; nothing is as far as one without a vector.
    pub(super) nearness: Vec<f32>,
    /// The vector that is looked at.
    values: Vec<i8>,
}

impl Glance {
    fn of(find: &Find) -> Glance {
        let mut asked: Vec<Term> = find.words.terms.iter().map(|term| term.term).collect();
        asked.sort_unstable();
        asked.dedup();
        let query = find.vector.as_ref().map(|embedding| dot::Query::new(&embedding.vector.values));
        Glance { asked, query, nearness: Vec::new(), values: Vec::new() }
    }

    /// The words asked for.
    pub(super) fn asked(&self) -> &[Term] {
        &self.asked
    }

    pub(super) fn look(&mut self, vector: Option<&[u8]>) {
        let mut near = f32::NEG_INFINITY;
        if let (Some(query), Some((scale, values))) = (&self.query, vector.and_then(Vector::parts))
            && values.len() == query.dimensions()
            && scale > 0.0
        {
            self.values.clear();
            self.values.extend(values);
            query.products(&self.values, |_| true, |_, product| near = product as f32 * scale);
        }
        self.nearness.push(near);
    }
}

/// Asks for active memories in some places and nothing else.
pub(super) fn is_plain(filter: &Filter) -> bool {
    matching::states(filter) == [State::Active]
        && filter.kinds.is_empty()
        && filter.layers.is_empty()
        && filter.trust_min.is_none()
        && filter.updated_after.is_none()
        && filter.updated_before.is_none()
        && filter.expired_by.is_none()
        && !matching::is_narrow(filter)
}

pub(super) fn read(conn: &Connection, tenant: TenantId, scope: &Seen, find: &Find) -> Result<Partition, Fault> {
    let mut part = Partition::glanced(Glance::of(find));
    part.reserve(scope.live);
    part.seq = scope.recall_seq;
    let mut statement = conn.prepare_cached(
        "select memory, updated_at, words, iif(model = ?4, vector, null)
         from recall
         where tenant = ?1 and scope = ?2 and state = 'active' and (expires_at is null or expires_at > ?3)
         order by seq",
    )?;
    let unexpired_at = find.filter.unexpired_at.map_or(i64::MIN, micros);
    let model = find.vector.as_ref().map(|embedding| embedding.model.as_str());
    let mut rows = statement.query((key(tenant.0), scope.id, unexpired_at, model))?;
    while let Some(row) = rows.next()? {
        let words = row.get_ref(2)?.as_blob().map_err(Fault::corrupt)?;
        let vector = row.get_ref(3)?.as_blob_or_null().map_err(Fault::corrupt)?;
        part.glance_at(row.get(0)?, row.get(1)?, words, vector)?;
    }
    Ok(part)
}
