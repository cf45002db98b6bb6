//! The examples of every rule, and an example of every token format.
use super::super::{Concern, inspect, rules};
use super::super::{shape, tokens};

#[test]
fn every_rule_finds_its_positive_and_passes_its_negative() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let found = inspect(&rule.positive);
        if !found.iter().any(|finding| finding.rule == rule.name && finding.intent == rule.intent) {
            wrong.push(format!("{} missed {:?}, found {found:?}", rule.name, rule.positive));
        }
        let passed = inspect(&rule.negative);
        if passed.iter().any(|finding| {
            finding.concern == rule.concern && (rule.concern != Concern::Secret || finding.rule == rule.name)
        }) {
            wrong.push(format!("{} fires on {:?}: {passed:?}", rule.name, rule.negative));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_shape_of_every_token_is_found() {
    let mut wrong = Vec::new();
    for token in tokens::all_families() {
        for text in token.shapes {
            let example = shape::example_token(text, false);
            let found = inspect(&format!("we used {example} there"));
            if !found.iter().any(|finding| finding.concern == Concern::Secret) {
                wrong.push(format!("{}: {text}", token.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
