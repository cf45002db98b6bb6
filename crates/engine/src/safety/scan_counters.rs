//! How often each rule of the scanner fired in this process, for those who watch.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::refusal::Refusal;
use crate::safety::classifier::CLASSIFIER_RULE;

/// Findings by rule and by what became of the save: names of rules only, so it stays as small as the rules are many.
#[derive(Debug, Default)]
pub struct ScanCounters {
    counts: Mutex<BTreeMap<(String, &'static str), u64>>,
}

impl ScanCounters {
    pub(crate) fn count_blocked(&self, refusal: &Refusal) {
        refusal.findings.iter().for_each(|finding| self.increment_count(finding.rule, "blocked"));
    }

    pub(crate) fn count_flagged(&self, rules: &[String]) {
        rules.iter().for_each(|rule| self.increment_count(rule, "flagged"));
    }

    pub(crate) fn count_unanswered(&self) {
        self.increment_count(CLASSIFIER_RULE, "unanswered");
    }

    /// Rule, `blocked`, `flagged` or (of the classifier) `unanswered`, and how often.
    pub fn counts(&self) -> Vec<(String, &'static str, u64)> {
        self.lock().iter().map(|((rule, verdict), count)| (rule.clone(), *verdict, *count)).collect()
    }

    fn increment_count(&self, rule: &str, verdict: &'static str) {
        *self.lock().entry((rule.to_owned(), verdict)).or_default() += 1;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, &'static str), u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
