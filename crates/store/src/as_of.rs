//! Searching memories as they stood at an earlier time: the parts that need no database, shared by both backends.

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

/// Whether the summary line holds the text as typed. The column `summary` is stored in lower case, so is this.
pub(crate) fn matches_substring(memory: &Memory, find: &CandidateQuery) -> bool {
    find.substring.as_ref().is_some_and(|text| memory.summary_line().to_lowercase().contains(text))
}
