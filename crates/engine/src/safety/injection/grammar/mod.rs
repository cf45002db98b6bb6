//! Orders told by their build: who is spoken to, what is to be done to what, in one sentence of any language.
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

/// Words that belong together without an order stand in one or two clauses.
const NEAR_BYTES: usize = 130;

/// One slot of a wording: a word of one of the classes, so many words after the slot before.
struct WordSlot {
    classes: u128,
    gap: usize,
    ordered: bool,
}

struct Wording {
    row: &'static GrammarRow,
    slots: Vec<WordSlot>,
    /// One of each must stand somewhere in the sentence.
    needs: Vec<u128>,
    /// None of these may.
    bars: u128,
    /// The slots may be filled in any order, near each other.
    near: bool,
    /// The classes of the slot or need that names fewest: most wordings are turned away by it.
    rarest: u128,
}

static WORDINGS: LazyLock<Vec<Wording>> = LazyLock::new(|| {
    let in_order = GRAMMAR_ROWS.iter().flat_map(|row| row.slots.iter().map(|text| parse_wording(row, text)));
    let near = NEAR_WORDINGS.iter().flat_map(|(name, texts)| {
        let row = GRAMMAR_ROWS.iter().find(|row| row.name == *name).into_iter();
        row.flat_map(|row| texts.iter().map(|text| Wording { near: true, ..parse_wording(row, text) }))
    });
    in_order.chain(near).collect()
});

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
    // Of those that name as few classes, the later class is the rarer word: the table begins with the common ones.
    wording.rarest = masks.min_by_key(|mask| (mask.count_ones(), mask.leading_zeros())).unwrap_or(0);
    wording
}

/// The bits of classes that are written with bars between them.
pub(super) fn class_mask(names: &str) -> u128 {
    names.split('|').fold(0, |classes, name| classes | class_bit(name))
}

/// The rows as rules for people.
pub(in super::super) fn grammar_rules()
-> impl Iterator<Item = (&'static str, &'static str, Severity, &'static str, &'static str)> {
    GRAMMAR_ROWS.iter().map(|row| (row.name, row.intent, row.severity, row.positive, row.negative))
}

/// The first order that the sentence gives.
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
            // Without an order, what says that others speak may stand among the words.
            let reported = wording.near && excuse::is_reported(&sentence[..words[last].start]);
            let excused = reported || excuse::is_excused(sentence, from, to);
            (!excused && !discretion::is_discretion_duty(wording.row.name, sentence, from, to)).then_some((from, to))
        })?;
        (!excuse::is_ordinary_remark(wording.row.name, sentence)).then_some((wording.row, from, to))
    })
}

const WORD_BITS: usize = u64::BITS as usize;
/// More wordings than there are; a test counts them.
const WORDINGS_MAX: usize = 8 * WORD_BITS;

/// For each class, the wordings of which the rarest slot asks for it: most sentences call for few.
static WORDINGS_BY_CLASS: LazyLock<Vec<[u64; WORDINGS_MAX / WORD_BITS]>> = LazyLock::new(|| {
    let mut called = vec![[0; WORDINGS_MAX / WORD_BITS]; u128::BITS as usize];
    for (index, wording) in WORDINGS.iter().enumerate() {
        for class in (0..u128::BITS as usize).filter(|class| wording.rarest >> class & 1 == 1) {
            called[class][index / WORD_BITS] |= 1 << (index % WORD_BITS);
        }
    }
    called
});

/// The wordings that the classes call for, in order.
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

/// The word that fills the last slot when the first is filled by the word at `at`.
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

/// The last of the words that fill all slots, in any order, from the word at `at` on.
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
