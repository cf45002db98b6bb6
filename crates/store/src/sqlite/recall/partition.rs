//! One scope's partition of the recall index: per memory the columns to filter by, its postings, its words, its vector.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::model::error::StoreError;
use engine::model::vector::Vector;
use engine::model::vocabulary::{Kind, Layer, State, Trust};
use engine::text::words::IndexedWords;

use super::one_shot::OneShotQuery;
use super::postings::Postings;
use super::vector_table::VectorTable;

/// Number of a row within its partition. Postings pack it into 24 bits beside an 8-bit term frequency.
pub(super) type Doc = u32;
const DOCS_MAX: usize = 1 << 24;

/// The columns that every search tests for every memory: small, and stored next to each other.
#[derive(Clone, Copy)]
pub(super) struct DocMeta {
    /// Microseconds since 1970, as `expires`.
    pub(super) updated: i64,
    /// `i64::MAX` where the memory never expires.
    pub(super) expires: i64,
    /// One bit per state; zero once a newer row has replaced this one.
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

/// A row of the table `recall`, borrowed from the statement that reads it.
pub(super) struct IndexedRow<'a> {
    pub(super) memory: [u8; 16],
    pub(super) meta: DocMeta,
    /// Number of the version that the words were made from.
    pub(super) number: u32,
    pub(super) author: Option<String>,
    pub(super) words: &'a [u8],
    pub(super) vector: Option<&'a [u8]>,
}

/// Words and vector that the engine scores a memory by, and the version they were made from.
pub(super) struct ScoringData {
    pub(super) number: u32,
    pub(super) words: IndexedWords,
    pub(super) vector: Option<Vector>,
}

/// A memory chosen by a search.
pub(super) struct PickedMemory {
    pub(super) memory: [u8; 16],
    /// `None` in a one-shot partition, which keeps neither words nor vectors.
    pub(super) scoring: Option<ScoringData>,
}

#[derive(Default)]
pub(super) struct Partition {
    /// Sequence number of the newest row that is loaded.
    pub(super) seq: u64,
    pub(super) metas: Vec<DocMeta>,
    /// Counted tokens of each memory. Read for every posting, so kept apart to use the cache well.
    pub(super) lens: Vec<u32>,
    pub(super) memories: Vec<[u8; 16]>,
    numbers: Vec<u32>,
    /// The stored words of all memories, one after the other, and the end of each.
    words: Vec<u8>,
    words_end: Vec<usize>,
    /// Current row of each memory; built when the first row is replaced.
    by_memory: HashMap<[u8; 16], Doc>,
    pub(super) postings: Postings,
    /// Authors of the memories that wait for review.
    pub(super) authors: HashMap<Doc, String>,
    pub(super) vectors: VectorTable,
    /// Rows that were replaced by newer ones.
    dead: usize,
    totals: Totals,
    /// A search has used the partition since it was loaded.
    searched: AtomicBool,
    /// Set where the partition was read for one search: then neither words nor vectors are kept.
    pub(super) one_shot: Option<OneShotQuery>,
}

/// Totals that save a search from testing every memory: in nearly all partitions all memories are active and none has
/// expired.
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
    pub(super) fn for_one_shot(query: OneShotQuery) -> Partition {
        Partition { one_shot: Some(query), ..Partition::default() }
    }

    /// Whether vectors of this model can be searched. A partition without any vector serves every model.
    pub(super) fn has_model(&self, model: Option<&str>) -> bool {
        model.is_none() || self.vectors.model.is_none() || self.vectors.model.as_deref() == model
    }

    /// Whether more than half of the rows are replaced, so that loading the partition again is cheaper than keeping
    /// them.
    pub(super) fn is_stale(&self) -> bool {
        // A small partition is cheap to keep, however many rows are replaced.
        self.dead > 1_000 && self.dead * 2 > self.metas.len()
    }

    pub(super) fn check_room(&self) -> Result<(), StoreError> {
        match self.metas.len() < DOCS_MAX {
            true => Ok(()),
            false => Err(StoreError::Unavailable("a place has more memories than can be searched".to_owned())),
        }
    }

    /// Reserves capacity for a number of memories.
    pub(super) fn reserve(&mut self, memories: usize) {
        self.metas.reserve(memories);
        self.lens.reserve(memories);
        self.memories.reserve(memories);
        match &mut self.one_shot {
            Some(query) => query.nearness.reserve(memories),
            None => {
                self.numbers.reserve(memories);
                self.words_end.reserve(memories);
            }
        }
        self.vectors.expected = memories;
    }

    /// Adds a row; `replaces`: an older row of the same memory may be here and is marked as replaced.
    pub(super) fn put_row(&mut self, row: IndexedRow<'_>, replaces: bool) {
        if replaces {
            self.mark_replaced(&row.memory);
        }
        let doc = self.metas.len() as Doc;
        // Words in a format that this program does not know match nothing until upkeep writes them again.
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

    /// As [`Partition::put_row`], for a one-shot partition. The memory is active and has not expired.
    pub(super) fn push_one_shot(
        &mut self,
        memory: [u8; 16],
        updated: i64,
        words: &[u8],
        vector: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.check_room()?;
        let Some(query) = &mut self.one_shot else { return Ok(()) };
        query.push_nearness(vector);
        let doc = self.metas.len() as Doc;
        let len = self.postings.add_doc(doc, words, Some(query.wanted_terms())).unwrap_or_default();
        // A plain filter does not test kind, layer and trust.
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

    /// Whether postings should be sorted now. Put off until the second search: a program that runs one search and exits
    /// does not gain from it.
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
        let scoring = || {
            let start = doc.checked_sub(1).map_or(0, |before| self.words_end[before]);
            let words = IndexedWords::from_bytes(&self.words[start..self.words_end[doc]]).unwrap_or_default();
            ScoringData { number: self.numbers[doc], words, vector: self.vectors.get(doc) }
        };
        PickedMemory { memory: self.memories[doc], scoring: self.one_shot.is_none().then(scoring) }
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
        // An estimate, for eviction only.
        const MAP_OVERHEAD: usize = 8;
        size_of::<Partition>()
            + self.metas.capacity() * (size_of::<DocMeta>() + 16 + 2 * size_of::<u32>() + size_of::<usize>())
            + self.words.capacity()
            + self.by_memory.capacity() * (20 + MAP_OVERHEAD)
            + self.postings.memory_bytes()
            + self.vectors.memory_bytes()
    }
}
