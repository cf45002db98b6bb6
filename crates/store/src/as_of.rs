//! Search in earlier versions of memories: the functions that need no database, shared by both backends.

use engine::model::memory::Memory;
use engine::ports::{Candidate, CandidateQuery, CorpusStats};

/// Corpus statistics counted over the memories themselves: the index knows only the newest versions.
pub(crate) fn count_stats(candidates: &[Candidate], find: &CandidateQuery) -> CorpusStats {
    let df = |term| candidates.iter().filter(|candidate| candidate.words.term_frequency(term) > 0).count() as u32;
    CorpusStats {
        docs: candidates.len() as u64,
        total_len: candidates.iter().map(|candidate| u64::from(candidate.words.len)).sum(),
        df: find.words.terms.iter().map(|term| df(term.term)).collect(),
    }
}

/// Whether the summary line contains the text. Compares in lower case, as the column `summary` is stored.
pub(crate) fn matches_substring(memory: &Memory, find: &CandidateQuery) -> bool {
    find.substring.as_ref().is_some_and(|text| memory.summary_line().to_lowercase().contains(text))
}
