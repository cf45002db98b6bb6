//! Planted orders, found by what they want rather than by a fixed phrase.
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

/// One way of wording an order.
pub(super) struct OrderPattern {
    pub(super) name: &'static str,
    pub(super) intent: &'static str,
    pub(super) severity: Severity,
    /// Separated by commas.
    pub(super) anchors: &'static str,
    /// Over one lower-cased sentence; `{…}` are word lists of the language's file.
    pub(super) pattern: &'static str,
    /// Negated, quoted or reported, it is a rule or a report instead.
    pub(super) excusable: bool,
    pub(super) positive: &'static str,
    pub(super) negative: &'static str,
}

struct CompiledOrder {
    order: &'static OrderPattern,
    lazy: LazyRegex,
    /// Meanings of which the sentence must have one.
    needs: u128,
}

/// What a sentence must speak of before the wordings of an intent are built and tried: most anchors stand in ordinary notes.
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

/// Every wording, English first.
pub(super) fn all_orders() -> impl Iterator<Item = &'static OrderPattern> {
    english::order_patterns().chain(languages::ORDERS)
}

/// Anchor words with the index of their order.
pub(super) fn anchor_words() -> impl Iterator<Item = (&'static str, u16)> {
    all_orders().enumerate().flat_map(|(index, order)| order.anchors.split(',').map(move |word| (word, index as u16)))
}

/// Where words stood that an order begins with, and words that make their sentence worth reading, in order.
#[derive(Default)]
pub(super) struct OrderAnchors {
    seen: Vec<(Option<u16>, usize)>,
}

impl OrderAnchors {
    pub(super) fn add_anchor(&mut self, text: &str, index: u16, start: usize) {
        let bytes = text.as_bytes();
        // Inside another word an anchor says nothing; `n't` stands at the end of one.
        let inside = start > 0 && bytes[start - 1].is_ascii_alphabetic() && bytes[start].is_ascii_alphabetic();
        if !inside || bytes[start..].starts_with(b"n't") {
            self.seen.push((Some(index), start));
        }
    }

    /// A word that makes its sentence worth reading.
    pub(super) fn add_trigger(&mut self, text: &str, start: usize) {
        let inside = start > 0 && text.as_bytes()[start - 1].is_ascii_alphanumeric();
        if !inside {
            self.seen.push((None, start));
        }
    }

    /// Judges each sentence once, and tries each order once in each in which one of its anchors stands.
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
            // Work stays linear: an order is not tried again inside the stretch it has just read.
            if !tried.contains(&index) && (order.needs == u128::MAX || order.needs & reading.classes != 0) {
                tried.push(index);
                hits.extend(try_order(order, &reading.text, reading.start));
            }
        }
    }
}

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

/// Scans a reading that undid a disguise; only what is told by its wording or format counts there.
pub(super) fn scan_undisguised(reading: &View, findings: &mut Vec<RuleHit>) {
    for mut hit in scan_view(reading).hits {
        if hit.weight >= RuleWeight::Shape {
            (hit.finding.start, hit.finding.end) = reading.original_span(hit.finding.start, hit.finding.end);
            findings.push(hit);
        }
    }
}
