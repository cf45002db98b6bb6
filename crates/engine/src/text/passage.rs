//! The passage of a long text that answers a query best, within a budget of tokens.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::words::{self, IndexedFields, QueryWords};

/// Bytes above which a sentence is cut between words: tables and generated text have no sentences.
const SENTENCE_BYTES_MAX: usize = 240;
/// Worth of a further match of the same word, so that of two passages the one with more matches wins.
const REPEATED_WORTH: f64 = 0.1;

/// A sentence or line of the text.
struct Sentence {
    range: Range<usize>,
    tokens: usize,
    /// Indexes of the query's word groups that it contains.
    groups: Vec<usize>,
}

/// The bytes of the passage. It begins and ends between sentences and is the beginning of the text if nothing matches.
/// `count_tokens` gives the cost of a piece of text.
pub fn find_passage(
    text: &str,
    query: &QueryWords,
    tokens_max: usize,
    count_tokens: impl Fn(&str) -> usize,
) -> Range<usize> {
    let (sentences, worth) = read_sentences(text, query, &count_tokens);
    let mut best = best_window(&sentences, &worth, tokens_max);
    let mut tokens: usize = sentences[best.clone()].iter().map(|sentence| sentence.tokens).sum();
    // The match in the middle: what it refers to stands before it, and what follows from it after it.
    loop {
        let before = best.start.checked_sub(1).filter(|at| tokens + sentences[*at].tokens <= tokens_max);
        if let Some(before) = before {
            (best.start, tokens) = (before, tokens + sentences[before].tokens);
        }
        let after = Some(best.end).filter(|at| *at < sentences.len() && tokens + sentences[*at].tokens <= tokens_max);
        if let Some(after) = after {
            (best.end, tokens) = (after + 1, tokens + sentences[after].tokens);
        }
        if before.is_none() && after.is_none() {
            break;
        }
    }
    let bytes = |at: usize| sentences.get(at).map_or(text.len(), |sentence| sentence.range.start);
    bytes(best.start)..bytes(best.end)
}

/// The shortest run of sentences that matches most, as far as it fits; earlier of two equal ones.
fn best_window(sentences: &[Sentence], worth: &[f64], tokens_max: usize) -> Range<usize> {
    let (mut best, mut best_score) = (0..0, 0.0);
    for start in (0..sentences.len()).filter(|at| !sentences[*at].groups.is_empty()) {
        let (mut score, mut tokens, mut seen) = (0.0, 0, vec![false; worth.len()]);
        for (end, sentence) in (1..).zip(&sentences[start..]) {
            tokens += sentence.tokens;
            if tokens > tokens_max {
                break;
            }
            for group in &sentence.groups {
                score += worth[*group] * if seen[*group] { REPEATED_WORTH } else { 1.0 };
                seen[*group] = true;
            }
            if score > best_score {
                (best, best_score) = (start..start + end, score);
            }
        }
    }
    best
}

/// The sentences of a text, and the worth of each word group: a word of few sentences says more than one of many.
fn read_sentences(text: &str, query: &QueryWords, count_tokens: &impl Fn(&str) -> usize) -> (Vec<Sentence>, Vec<f64>) {
    let groups = query.terms.iter().map(|term| usize::from(term.group) + 1).max().unwrap_or(0);
    let (mut sentences, mut counts, mut weights) = (Vec::new(), vec![0_usize; groups], vec![0.0; groups]);
    for range in split_sentences(text) {
        let sentence = &text[range.clone()];
        let index = words::index_fields(&IndexedFields { content: sentence, ..IndexedFields::default() });
        let mut matched = Vec::new();
        for term in query.terms.iter().filter(|term| index.term_frequency(term.term) > 0) {
            let group = usize::from(term.group);
            weights[group] = f64::max(weights[group], f64::from(term.weight));
            if !matched.contains(&group) {
                matched.push(group);
                counts[group] += 1;
            }
        }
        sentences.push(Sentence { range, tokens: count_tokens(sentence), groups: matched });
    }
    let total = sentences.len() as f64;
    let worth = counts.iter().zip(weights).map(|(count, weight)| weight * (1.0 + total / (*count).max(1) as f64).ln());
    (sentences, worth.collect())
}

/// Ranges that cover the text: sentences, cut at line breaks and where they are too long.
fn split_sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        for (at, sentence) in line.split_sentence_bound_indices() {
            let (mut start, end) = (line_start + at, line_start + at + sentence.len());
            while end - start > SENTENCE_BYTES_MAX {
                let reach = text.floor_char_boundary(start + SENTENCE_BYTES_MAX);
                let cut = text[start..reach].rfind(char::is_whitespace).filter(|at| *at > 0);
                let next = cut.map_or(reach, |at| text.ceil_char_boundary(start + at + 1));
                ranges.push(start..next);
                start = next;
            }
            if start < end {
                ranges.push(start..end);
            }
        }
        line_start += line.len();
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::token_estimate;

    fn passage<'a>(text: &'a str, query: &str, tokens_max: usize) -> &'a str {
        &text[find_passage(text, &words::parse_query(query), tokens_max, |text| token_estimate::estimate(text) + 1)]
    }

    #[test]
    fn the_passage_holds_what_matches() {
        let filler = |number: usize| format!("Sentence {number} talks about the weather and nothing else. ");
        let mut text: String = (0..60).map(filler).collect();
        text.push_str("The backup of the ledger runs at four.\nIt is kept in Basel. ");
        text.extend((60..120).map(filler));
        let found = passage(&text, "when does the ledger backup run?", 60);
        assert!(found.contains("runs at four") && found.contains("Basel"), "{found}");
        assert!(found.starts_with("Sentence 5"), "some of what stands before it, too: {found}");
        assert!(passage(&text, "quantum chess", 60).starts_with("Sentence 0 "));
        assert_eq!(passage("short", "short", 60), "short");
        assert_eq!(passage("", "short", 60), "");
    }

    proptest! {
        #[test]
        fn a_passage_keeps_to_its_tokens(text in "([a-z]{1,9}[ .\n]{1,2}|[一-龥]{1,9}。?|.){0,200}", room in 0_usize..80) {
            let found = passage(&text, "ab 中 x", room);
            prop_assert!(token_estimate::estimate(found) <= room, "{}", found);
        }
    }
}
