//! Prompt injection: finds planted orders, that is, sentences that tell the agent that reads them to do something.
//!
//! Every order has an intent (override the rules, skip approval, send data away, …). Two methods look for it: regexes
//! over one sentence, each for one wording, and a grammar over the meanings of words, for all languages at once. What
//! they find counts unless an excuse applies: negated, quoted or reported words are no order.
//!
//! Files, in reading order
//! - this file: collects anchors, reads each sentence once, tries patterns and grammar on it
//! - `sentence`: the sentence around an offset, in lower case
//! - `english/`, `languages`: tables of patterns
//! - `grammar/`: lexicon of word meanings and rows of meanings that make an order
//! - `excuse`: negation, quotation, report, ordinary remarks
//! - `discretion`: "never share the password" is a good rule, not concealment
//! - `disguise`: leet, spaced, mirrored and ROT13 text
//!
//! "Order" means an instruction in this folder, never a sequence.
mod discretion;
mod disguise;
mod english;
mod excuse;
mod grammar;
mod languages;
mod sentence;

use std::sync::LazyLock;

use regex::bytes::Regex;

pub(super) use disguise::{DISGUISED_WORDS, Disguise, detect_disguises, undo_disguise};
pub(super) use grammar::{grammar_rules, trigger_words};

use super::pattern::LazyRegex;
use super::scan::{RuleHit, RuleWeight, scan_view};
use super::view::View;
use super::{Severity, read_counter};
use sentence::SentenceReading;

/// One row of the pattern tables: one wording of an order.
pub(super) struct OrderPattern {
    /// Name of the rule; several rows share it.
    pub(super) name: &'static str,
    /// What the order wants; shown with the finding.
    pub(super) intent: &'static str,
    pub(super) severity: Severity,
    /// Comma-separated words, three bytes or more, one of which must occur in the sentence.
    pub(super) anchors: &'static str,
    /// Byte regex over one sentence in lower case. `{rules}` and the like are the word lists of `english`.
    pub(super) pattern: &'static str,
    /// Whether `excuse` applies. False for patterns that contain a negation themselves.
    pub(super) excusable: bool,
    /// A sentence that it finds.
    pub(super) positive: &'static str,
    /// A similar sentence that must pass.
    pub(super) negative: &'static str,
}

struct CompiledOrder {
    order: &'static OrderPattern,
    lazy: LazyRegex,
    /// Word classes of which the sentence must have one; all bits set if none is required.
    needs: u128,
}

/// Rules with the word classes (of `grammar/lexicon.rs`) of which a sentence must have one before their patterns are
/// compiled and tried. Their anchors are common words; this keeps ordinary texts from paying for the regexes.
const REQUIRED_CLASSES: &[(&str, &str)] = &[
    ("injection_override", "rules|before|void|agent|obey|all|systag"),
    ("injection_exfiltrate", "away|send|copy"),
    ("injection_skip_approval", "check|consult|nobody|passed|yes|needless|guard|own"),
    ("injection_standing_order", "secret|away|promote|amount|bank|obey|rules|message|memory|auth|self|tool"),
];

static COMPILED_ORDERS: LazyLock<Vec<CompiledOrder>> = LazyLock::new(|| {
    let needs = |order: &OrderPattern| {
        let need = REQUIRED_CLASSES.iter().find(|(name, _)| *name == order.name);
        need.map_or(u128::MAX, |(_, classes)| grammar::class_mask(classes))
    };
    all_orders().map(|order| CompiledOrder { order, lazy: LazyRegex::new(), needs: needs(order) }).collect()
});

/// All rows, English first.
pub(super) fn all_orders() -> impl Iterator<Item = &'static OrderPattern> {
    english::order_patterns().chain(languages::ORDERS)
}

/// Anchor words with the number of their row.
pub(super) fn anchor_words() -> impl Iterator<Item = (&'static str, u16)> {
    all_orders().enumerate().flat_map(|(index, order)| order.anchors.split(',').map(move |word| (word, index as u16)))
}

/// Offsets of anchor words and trigger words in a view, ascending.
#[derive(Default)]
pub(super) struct OrderAnchors {
    /// Row of the pattern (`None` for a trigger of the grammar) and offset.
    seen: Vec<(Option<u16>, usize)>,
}

impl OrderAnchors {
    pub(super) fn add_anchor(&mut self, text: &str, index: u16, start: usize) {
        let bytes = text.as_bytes();
        // An anchor must begin a word, except `n't tell`, which continues `don`.
        let inside = start > 0 && bytes[start - 1].is_ascii_alphabetic() && bytes[start].is_ascii_alphabetic();
        if !inside || bytes[start..].starts_with(b"n't") {
            self.seen.push((Some(index), start));
        }
    }

    /// Adds a word that makes its sentence worth reading by the grammar.
    pub(super) fn add_trigger(&mut self, text: &str, start: usize) {
        let inside = start > 0 && text.as_bytes()[start - 1].is_ascii_alphanumeric();
        if !inside {
            self.seen.push((None, start));
        }
    }

    /// Adds hits: reads each sentence once, runs the grammar once per sentence, and tries each pattern once per
    /// sentence in which one of its anchors occurs.
    pub(super) fn find_orders(self, text: &str, hits: &mut Vec<RuleHit>) {
        let mut reading = SentenceReading::default();
        let (mut judged_to, mut tried) = (0, Vec::new());
        for (index, at) in self.seen {
            if at >= reading.read_until {
                tried.clear();
                reading.read_around(text, at);
            }
            let Some(index) = index else {
                if at >= judged_to {
                    judged_to = reading.read_until;
                    hits.extend(grammar::find_order(&reading));
                }
                continue;
            };
            let order = &COMPILED_ORDERS[usize::from(index)];
            // Once per stretch that was read: a sentence that repeats an anchor must not run the regex each time.
            if !tried.contains(&index) && (order.needs == u128::MAX || order.needs & reading.classes != 0) {
                tried.push(index);
                hits.extend(try_order(order, &reading.text, reading.start));
            }
        }
    }
}

/// Hit of the first match that no excuse covers.
fn try_order(compiled: &CompiledOrder, sentence: &str, start: usize) -> Option<RuleHit> {
    read_counter::record_read(sentence.len());
    let regex: &Regex = compiled.lazy.get(|| english::expand_word_lists(compiled.order.pattern).into());
    let order = compiled.order;
    let found = regex
        .find_iter(sentence.as_bytes())
        .find(|found| {
            let excused = order.excusable && excuse::is_excused(sentence, found.start(), found.end());
            !excused && !discretion::is_discretion_duty(order.name, sentence, found.start(), found.end())
        })
        .filter(|_| !order.excusable || !excuse::is_ordinary_remark(order.name, sentence))?;
    Some(RuleHit::order(order.name, order.severity, order.intent, start + found.start(), start + found.end()))
}

/// Scans a view with a disguise removed. Only formats and wordings count there: removing a disguise from ordinary text
/// makes noise that would look random.
pub(super) fn scan_undisguised(reading: &View, findings: &mut Vec<RuleHit>) {
    for mut hit in scan_view(reading).hits {
        if hit.weight >= RuleWeight::Shape {
            (hit.finding.start, hit.finding.end) = reading.original_span(hit.finding.start, hit.finding.end);
            findings.push(hit);
        }
    }
}
