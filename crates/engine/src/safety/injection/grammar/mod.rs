//! Orders told by their build: who is spoken to, what is to be done to what, in one sentence of any language.
mod lexicon;
mod reading;
mod rows;
mod terms;

use std::sync::LazyLock;

use super::super::Severity;
use super::super::scan::Hit;
use super::excuse;
use super::sentence::Reading;
use lexicon::bit;
use rows::{ROWS, Row};

pub(in super::super) use lexicon::triggers;
pub(super) use reading::{Word, read};

/// One slot of a wording: a word of one of the classes, so many words after the slot before.
struct Slot {
    classes: u128,
    gap: usize,
    ordered: bool,
}

struct Wording {
    row: &'static Row,
    slots: Vec<Slot>,
    /// One of each must stand somewhere in the sentence.
    needs: Vec<u128>,
    /// The two of slots and needs that fewest words fill: most wordings are turned away by them.
    rarest: [u128; 2],
}

static WORDINGS: LazyLock<Vec<Wording>> =
    LazyLock::new(|| ROWS.iter().flat_map(|row| row.slots.iter().map(|text| parse(row, text))).collect());

fn parse(row: &'static Row, text: &str) -> Wording {
    let mut wording = Wording { row, slots: Vec::new(), needs: Vec::new(), rarest: [u128::MAX; 2] };
    let mut gap = 0;
    for part in text.split(' ') {
        match (part.parse(), part.strip_prefix('+'), part.strip_prefix('!')) {
            (Ok(words), ..) => gap = words,
            (_, Some(names), _) => wording.needs.push(classes(names)),
            (_, _, Some(names)) => wording.slots.push(Slot { classes: classes(names), gap, ordered: true }),
            _ => wording.slots.push(Slot { classes: classes(part), gap, ordered: false }),
        }
    }
    let mut masks: Vec<u128> =
        wording.slots.iter().map(|slot| slot.classes).chain(wording.needs.iter().copied()).collect();
    masks.sort_by_key(|mask| mask.count_ones());
    wording.rarest.iter_mut().zip(masks).for_each(|(rarest, mask)| *rarest = mask);
    wording
}

/// The bits of classes that are written with bars between them.
pub(super) fn classes(names: &str) -> u128 {
    names.split('|').fold(0, |classes, name| classes | bit(name))
}

/// The rows as rules for people.
pub(in super::super) fn rules()
-> impl Iterator<Item = (&'static str, &'static str, Severity, &'static str, &'static str)> {
    ROWS.iter().map(|row| (row.name, row.intent, row.severity, row.positive, row.negative))
}

/// The first order that the sentence gives.
pub(super) fn judge(reading: &Reading) -> Option<Hit> {
    let (row, from, to) = judged(&reading.words, reading.classes, &reading.text)?;
    Some(Hit::order(row.name, row.severity, row.intent, reading.start + from, reading.start + to))
}

fn judged(words: &[Word], classes: u128, sentence: &str) -> Option<(&'static Row, usize, usize)> {
    let possible = |wording: &&Wording| {
        wording.rarest.iter().all(|rarest| rarest & classes != 0)
            && wording.slots.iter().all(|slot| slot.classes & classes != 0)
            && wording.needs.iter().all(|need| need & classes != 0)
    };
    WORDINGS.iter().filter(possible).find_map(|wording| {
        let (from, to) = (0..words.len()).find_map(|at| {
            let last = fits(&wording.slots, words, at)?;
            let (from, to) = (words[at].start, words[last].end);
            (!excuse::excused(sentence, from, to)).then_some((from, to))
        })?;
        (!excuse::ordinary(wording.row.name, sentence)).then_some((wording.row, from, to))
    })
}

/// The word that fills the last slot when the first is filled by the word at `at`.
fn fits(slots: &[Slot], words: &[Word], at: usize) -> Option<usize> {
    let (slot, rest) = slots.split_first()?;
    let word = &words[at];
    if word.classes & slot.classes == 0 || slot.ordered && !word.ordered {
        return None;
    }
    let Some(next) = rest.first() else { return Some(at) };
    let reach = words.len().min(at + next.gap + 2);
    (at + 1..reach).find_map(|at| fits(rest, words, at))
}

#[cfg(test)]
mod tests {
    use super::lexicon::TRIGGERS;
    use super::*;

    #[test]
    fn every_wording_needs_a_trigger() {
        let triggers = TRIGGERS.iter().fold(0, |all, name| all | bit(name));
        for wording in WORDINGS.iter() {
            let mut needed = wording.slots.iter().map(|slot| slot.classes).chain(wording.needs.iter().copied());
            assert!(needed.any(|classes| classes & !triggers == 0), "{}: {:?}", wording.row.name, wording.row.slots);
        }
    }
}
