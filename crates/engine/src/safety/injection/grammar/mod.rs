//! Grammar of orders: finds an order by the meanings of its words and their distance, in one sentence of any language.
//!
//! The lexicon gives each word its classes (`drop`, `rules`, `agent`, …). A wording is a row of classes that together
//! make an order: `!drop 3 rules`. Files: `lexicon` and `terms` hold the words, `rows` the wordings in sequence,
//! `near_wordings` the wordings in any sequence, `sentence_reader` turns a sentence into words with classes.
mod lexicon;
mod near_wordings;
mod rows;
mod sentence_reader;
mod terms;

use std::sync::LazyLock;

use super::super::Severity;
use super::super::scan::RuleHit;
use super::sentence::SentenceReading;
use super::{discretion, excuse};
use lexicon::class_bit;
use near_wordings::NEAR_WORDINGS;
use rows::{GRAMMAR_ROWS, GrammarRow};

pub(in super::super) use lexicon::trigger_words;
pub(super) use sentence_reader::{SentenceWord, read_sentence};

/// Bytes within which the words of a near wording must stand: one or two clauses.
const NEAR_BYTES: usize = 130;

/// One slot of a wording, filled by one word of the sentence.
struct WordSlot {
    /// Classes of which the word must have one.
    classes: u128,
    /// Words that may stand between the slot before and this one.
    gap: usize,
    /// The word must be an imperative (`!` in the row).
    ordered: bool,
}

/// One parsed wording.
struct Wording {
    row: &'static GrammarRow,
    slots: Vec<WordSlot>,
    /// Of each mask, the sentence must have a class somewhere (`+` in the row).
    needs: Vec<u128>,
    /// Classes that the sentence must not have (`-` in the row).
    bars: u128,
    /// The slots may be filled in any sequence, near each other.
    near: bool,
    /// The slot or need with the fewest classes. A sentence without any of them cannot match; most wordings are
    /// rejected by it.
    rarest: u128,
}

/// All wordings. The first that matches names the finding, so those in sequence come before the near ones.
static WORDINGS: LazyLock<Vec<Wording>> = LazyLock::new(|| {
    let in_order = GRAMMAR_ROWS.iter().flat_map(|row| row.slots.iter().map(|text| parse_wording(row, text)));
    let near = NEAR_WORDINGS.iter().flat_map(|(name, texts)| {
        let row = GRAMMAR_ROWS.iter().find(|row| row.name == *name).into_iter();
        row.flat_map(|row| texts.iter().map(|text| Wording { near: true, ..parse_wording(row, text) }))
    });
    in_order.chain(near).collect()
});

/// Parses a wording; its syntax is described in `rows`.
fn parse_wording(row: &'static GrammarRow, text: &str) -> Wording {
    let mut wording = Wording { row, slots: Vec::new(), needs: Vec::new(), bars: 0, near: false, rarest: 0 };
    let mut gap = 0;
    for part in text.split(' ') {
        if let Some(names) = part.strip_prefix('-') {
            wording.bars |= class_mask(names);
            continue;
        }
        match (part.parse(), part.strip_prefix('+'), part.strip_prefix('!')) {
            (Ok(words), ..) => gap = words,
            (_, Some(names), _) => wording.needs.push(class_mask(names)),
            (_, _, Some(names)) => wording.slots.push(WordSlot { classes: class_mask(names), gap, ordered: true }),
            _ => wording.slots.push(WordSlot { classes: class_mask(part), gap, ordered: false }),
        }
    }
    let masks = wording.slots.iter().map(|slot| slot.classes).chain(wording.needs.iter().copied());
    // On a tie the class later in the lexicon is taken: the table begins with the common words.
    wording.rarest = masks.min_by_key(|mask| (mask.count_ones(), mask.leading_zeros())).unwrap_or(0);
    wording
}

/// Bit mask of class names that are separated by `|`.
pub(super) fn class_mask(names: &str) -> u128 {
    names.split('|').fold(0, |classes, name| classes | class_bit(name))
}

/// Name, intent, severity and examples of each row, for the list of rules.
pub(in super::super) fn grammar_rules()
-> impl Iterator<Item = (&'static str, &'static str, Severity, &'static str, &'static str)> {
    GRAMMAR_ROWS.iter().map(|row| (row.name, row.intent, row.severity, row.positive, row.negative))
}

/// The first order in the sentence.
pub(super) fn find_order(reading: &SentenceReading) -> Option<RuleHit> {
    let (row, from, to) = match_sentence(&reading.words, reading.classes, &reading.text)?;
    Some(RuleHit::order(row.name, row.severity, row.intent, reading.start + from, reading.start + to))
}

fn match_sentence(
    words: &[SentenceWord],
    classes: u128,
    sentence: &str,
) -> Option<(&'static GrammarRow, usize, usize)> {
    let possible = |wording: &Wording| {
        wording.bars & classes == 0
            && wording.slots.iter().all(|slot| slot.classes & classes != 0)
            && wording.needs.iter().all(|need| need & classes != 0)
    };
    candidate_wordings(classes).map(|index| &WORDINGS[index]).filter(|wording| possible(wording)).find_map(|wording| {
        let (from, to) = (0..words.len()).find_map(|at| {
            let last = if wording.near {
                match_any_order(&wording.slots, words, at)?
            } else {
                match_in_order(&wording.slots, words, at)?
            };
            let (from, to) = (words[at].start, words[last].end);
            // The words of a near wording come in any sequence, so the word that reports may stand among them.
            let reported = wording.near && excuse::is_reported(&sentence[..words[last].start]);
            let excused = reported || excuse::is_excused(sentence, from, to);
            (!excused && !discretion::is_discretion_duty(wording.row.name, sentence, from, to)).then_some((from, to))
        })?;
        (!excuse::is_ordinary_remark(wording.row.name, sentence)).then_some((wording.row, from, to))
    })
}

const WORD_BITS: usize = u64::BITS as usize;
/// Room for wordings in the index; a test checks that it suffices.
const WORDINGS_MAX: usize = 8 * WORD_BITS;

/// For each class, a bit set of the wordings whose rarest slot has it. A sentence needs to try only the wordings of its
/// own classes.
static WORDINGS_BY_CLASS: LazyLock<Vec<[u64; WORDINGS_MAX / WORD_BITS]>> = LazyLock::new(|| {
    let mut called = vec![[0; WORDINGS_MAX / WORD_BITS]; u128::BITS as usize];
    for (index, wording) in WORDINGS.iter().enumerate() {
        for class in (0..u128::BITS as usize).filter(|class| wording.rarest >> class & 1 == 1) {
            called[class][index / WORD_BITS] |= 1 << (index % WORD_BITS);
        }
    }
    called
});

/// Numbers of the wordings that a sentence with these classes may match, ascending.
fn candidate_wordings(classes: u128) -> impl Iterator<Item = usize> {
    let mut called = [0; WORDINGS_MAX / WORD_BITS];
    let mut rest = classes;
    while rest != 0 {
        let more = &WORDINGS_BY_CLASS[rest.trailing_zeros() as usize];
        called.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
        rest &= rest - 1;
    }
    called.into_iter().enumerate().flat_map(|(word, mut bits): (usize, u64)| {
        std::iter::from_fn(move || {
            let bit = (bits != 0).then_some(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(word * WORD_BITS + bit)
        })
    })
}

/// The word that fills the last slot if the word at `at` fills the first. Recursion is as deep as the wording has
/// slots.
fn match_in_order(slots: &[WordSlot], words: &[SentenceWord], at: usize) -> Option<usize> {
    let (slot, rest) = slots.split_first()?;
    let word = &words[at];
    if word.classes & slot.classes == 0 || slot.ordered && !word.ordered {
        return None;
    }
    let Some(next) = rest.first() else { return Some(at) };
    let reach = words.len().min(at + next.gap + 2);
    (at + 1..reach).find_map(|at| match_in_order(rest, words, at))
}

/// The last of the words that fill all slots in any sequence, from the word at `at` on. One word may fill several
/// slots.
fn match_any_order(slots: &[WordSlot], words: &[SentenceWord], at: usize) -> Option<usize> {
    let fills =
        |slot: &WordSlot, word: &SentenceWord| word.classes & slot.classes != 0 && (!slot.ordered || word.ordered);
    let first = &words[at];
    if !slots.iter().any(|slot| fills(slot, first)) {
        return None;
    }
    let near = words[at..].iter().take_while(|word| word.end - first.start <= NEAR_BYTES).count();
    let window = &words[at..at + near];
    let mut places = slots.iter().map(|slot| window.iter().position(|word| fills(slot, word)));
    places.try_fold(0, |last: usize, place| place.map(|place| last.max(place))).map(|last| at + last)
}

#[cfg(test)]
mod tests {
    use super::lexicon::TRIGGERS;
    use super::*;

    #[test]
    fn near_wordings_name_rules_of_the_rows() {
        for (name, _) in NEAR_WORDINGS {
            assert!(GRAMMAR_ROWS.iter().any(|row| row.name == *name), "{name}");
        }
    }

    #[test]
    fn the_index_has_room_for_every_wording() {
        assert!(WORDINGS.len() <= WORDINGS_MAX, "{}", WORDINGS.len());
    }

    #[test]
    fn every_wording_needs_a_trigger() {
        let triggers = TRIGGERS.iter().fold(0, |all, name| all | class_bit(name));
        for wording in WORDINGS.iter() {
            let mut needed = wording.slots.iter().map(|slot| slot.classes).chain(wording.needs.iter().copied());
            assert!(needed.any(|classes| classes & !triggers == 0), "{}: {:?}", wording.row.name, wording.row.slots);
        }
    }
}
