//! One place's part of the index: what each memory is filtered by, its words turned round, its vector.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::model::error::StoreError;
use engine::model::vector::Vector;
use engine::model::vocabulary::{Kind, Layer, State, Trust};
use engine::text::words::IndexedWords;

use super::one_shot::OneShotQuery;
use super::postings::Postings;
use super::vector_table::VectorTable;

/// A memory's number within its part. Postings keep it in 24 bits beside the count.
pub(super) type Doc = u32;
const DOCS_MAX: usize = 1 << 24;

/// What is looked at for every memory of every find: small, and side by side.
#[derive(Clone, Copy)]
pub(super) struct DocMeta {
    pub(super) updated: i64,
    /// The end of time where it never expires.
    pub(super) expires: i64,
    /// One bit; none once another row has taken this one's place.
    pub(super) state: u8,
    pub(super) kind: u8,
    pub(super) layer: u8,
    pub(super) trust: u8,
}

impl DocMeta {
    pub(super) fn new(state: State, kind: Kind, layer: Layer, trust: Trust) -> DocMeta {
        DocMeta {
            updated: 0,
            expires: i64::MAX,
            state: 1 << state as u8,
            kind: kind as u8,
            layer: layer as u8,
            trust: trust as u8,
        }
    }
}

/// A row of the table, read in place.
pub(super) struct IndexedRow<'a> {
    pub(super) memory: [u8; 16],
    pub(super) meta: DocMeta,
    /// The version these words were made from.
    pub(super) number: u32,
    pub(super) author: Option<String>,
    pub(super) words: &'a [u8],
    pub(super) vector: Option<&'a [u8]>,
}

/// What the engine scores a memory by, and the version that was made from.
pub(super) struct ScoringData {
    pub(super) number: u32,
    pub(super) words: IndexedWords,
    pub(super) vector: Option<Vector>,
}

/// A memory that was chosen.
pub(super) struct PickedMemory {
    pub(super) memory: [u8; 16],
    /// None where the part was only glanced at.
    pub(super) scoring: Option<ScoringData>,
}

#[derive(Default)]
pub(super) struct Partition {
    /// The newest row of the table that is in here.
    pub(super) seq: u64,
    pub(super) metas: Vec<DocMeta>,
    /// Counted tokens of each memory: looked at for every posting, so kept apart from the rest.
    pub(super) lens: Vec<u32>,
    pub(super) memories: Vec<[u8; 16]>,
    numbers: Vec<u32>,
    /// Every memory's words as they stand in the table, one after the other, and where each one's end.
    words: Vec<u8>,
    words_end: Vec<usize>,
    /// Where each memory's row stands; built when the first row is replaced.
    by_memory: HashMap<[u8; 16], Doc>,
    pub(super) postings: Postings,
    /// Of memories waiting for review, whose they are.
    pub(super) authors: HashMap<Doc, String>,
    pub(super) vectors: VectorTable,
    dead: usize,
    totals: Totals,
    /// Somebody looked for something in it since it was loaded.
    searched: AtomicBool,
    /// Read for one find alone: neither words nor vectors are kept.
    pub(super) one_shot: Option<OneShotQuery>,
}

/// What saves a find from looking at every memory: nearly always all of them are active and none has expired.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Totals {
    /// Some memory here is not active, or was replaced.
    pub(super) is_mixed: bool,
    /// No memory here expires before this.
    pub(super) expires: i64,
    /// Counted tokens of all of them.
    pub(super) len: u64,
}

impl Default for Totals {
    fn default() -> Totals {
        Totals { is_mixed: false, expires: i64::MAX, len: 0 }
    }
}

impl Partition {
    pub(super) fn for_one_shot(glance: OneShotQuery) -> Partition {
        Partition { one_shot: Some(glance), ..Partition::default() }
    }

    /// Whether vectors of this model can be searched. A part without any vector serves every model.
    pub(super) fn has_model(&self, model: Option<&str>) -> bool {
        model.is_none() || self.vectors.model.is_none() || self.vectors.model.as_deref() == model
    }

    /// Whether more of it is dead than alive, so that building it anew is cheaper than dragging it along.
    pub(super) fn is_stale(&self) -> bool {
        self.dead > 1_000 && self.dead * 2 > self.metas.len()
    }

    pub(super) fn check_room(&self) -> Result<(), StoreError> {
        match self.metas.len() < DOCS_MAX {
            true => Ok(()),
            false => Err(StoreError::Unavailable("a place holds more memories than can be searched".to_owned())),
        }
    }

    /// Makes room for so many memories at once.
    pub(super) fn reserve(&mut self, memories: usize) {
        self.metas.reserve(memories);
        self.lens.reserve(memories);
        self.memories.reserve(memories);
        match &mut self.one_shot {
            Some(glance) => glance.nearness.reserve(memories),
            None => {
                self.numbers.reserve(memories);
                self.words_end.reserve(memories);
            }
        }
        self.vectors.expected = memories;
    }

    /// Adds a row; the one it replaces no longer counts.
    pub(super) fn put_row(&mut self, row: IndexedRow<'_>, replaces: bool) {
        if replaces {
            self.mark_replaced(&row.memory);
        }
        let doc = self.metas.len() as Doc;
        // Words in a form this version does not know find nothing; upkeep writes them anew.
        let len = self.postings.add_doc(doc, row.words, None).unwrap_or_default();
        if replaces {
            self.by_memory.insert(row.memory, doc);
        }
        if let Some(author) = row.author {
            self.authors.insert(doc, author);
        }
        self.vectors.push_row(row.vector, self.metas.len());
        self.words.extend_from_slice(row.words);
        self.words_end.push(self.words.len());
        self.totals.is_mixed |= row.meta.state != 1 << State::Active as u8;
        self.totals.expires = self.totals.expires.min(row.meta.expires);
        self.numbers.push(row.number);
        self.push_doc(row.memory, row.meta, len);
    }

    /// As [`Partition::put`], keeping only what its question asks of an active memory that has not expired.
    pub(super) fn push_one_shot(
        &mut self,
        memory: [u8; 16],
        updated: i64,
        words: &[u8],
        vector: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.check_room()?;
        let Some(glance) = &mut self.one_shot else { return Ok(()) };
        glance.push_nearness(vector);
        let doc = self.metas.len() as Doc;
        let len = self.postings.add_doc(doc, words, Some(glance.wanted_terms())).unwrap_or_default();
        // A plain question does not ask about kind, layer and trust.
        let state = 1 << State::Active as u8;
        self.push_doc(memory, DocMeta { updated, expires: i64::MAX, state, kind: 0, layer: 0, trust: 0 }, len);
        Ok(())
    }

    fn push_doc(&mut self, memory: [u8; 16], meta: DocMeta, len: u32) {
        self.totals.len += u64::from(len);
        self.metas.push(meta);
        self.lens.push(len);
        self.memories.push(memory);
    }

    /// Whether work waits that was not worth it for the first search alone: a program that asks one question and ends
    /// never needs it.
    pub(super) fn needs_sorting(&self) -> bool {
        self.searched.load(Ordering::Relaxed) && self.postings.is_unsorted()
    }

    pub(super) fn sort_and_sign(&mut self) {
        self.postings.sort_fresh();
        self.vectors.build_signs();
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    pub(super) fn mark_searched(&self) {
        self.searched.store(true, Ordering::Relaxed);
    }

    pub(super) fn pick_doc(&self, doc: usize) -> PickedMemory {
        let known = || {
            let start = doc.checked_sub(1).map_or(0, |before| self.words_end[before]);
            let words = IndexedWords::from_bytes(&self.words[start..self.words_end[doc]]).unwrap_or_default();
            ScoringData { number: self.numbers[doc], words, vector: self.vectors.get(doc) }
        };
        PickedMemory { memory: self.memories[doc], scoring: self.one_shot.is_none().then(known) }
    }

    fn mark_replaced(&mut self, memory: &[u8; 16]) {
        if self.by_memory.is_empty() {
            self.by_memory = self.memories.iter().copied().zip(0..).collect();
        }
        if let Some(meta) = self.by_memory.get(memory).and_then(|doc| self.metas.get_mut(*doc as usize)) {
            meta.state = 0;
            self.dead += 1;
            self.totals.is_mixed = true;
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        const MAP_OVERHEAD: usize = 8;
        size_of::<Partition>()
            + self.metas.capacity() * (size_of::<DocMeta>() + 16 + 2 * size_of::<u32>() + size_of::<usize>())
            + self.words.capacity()
            + self.by_memory.capacity() * (20 + MAP_OVERHEAD)
            + self.postings.memory_bytes()
            + self.vectors.memory_bytes()
    }
}
