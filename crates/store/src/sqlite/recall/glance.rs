//! A part read for one find and thrown away: of every row only what the find asks about is kept.

use engine::ports::Find;
use engine::vector::Vector;
use engine::words::Term;

use super::dot;

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

pub(super) struct Glance {
    pub(super) asked: Asked,
    /// How near each memory is to the vector asked for; nothing is as far as one without a vector.
    pub(super) nearness: Vec<f32>,
    query: Option<(dot::Query, usize)>,
    /// The row that is looked at.
    values: Vec<i8>,
}

impl Glance {
    pub(super) fn of(find: &Find) -> Glance {
        let terms = find.words.terms.iter().map(|term| term.term).collect();
        let vector = find.vector.as_ref().map(|embedding| &embedding.vector.values);
        let query = vector.map(|values| (dot::Query::new(values), values.len()));
        Glance { asked: Asked::of(terms), nearness: Vec::new(), query, values: Vec::new() }
    }

    pub(super) fn look(&mut self, vector: Option<&[u8]>) {
        let mut near = f32::NEG_INFINITY;
        if let (Some((query, dimensions)), Some((scale, values))) = (&self.query, vector.and_then(Vector::parts))
            && values.len() == *dimensions
            && scale > 0.0
        {
            self.values.clear();
            self.values.extend(values);
            query.products(&self.values, |_| true, |_, product| near = product as f32 * scale);
        }
        self.nearness.push(near);
    }
}
