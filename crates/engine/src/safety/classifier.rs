//! Port of an optional classifier model for planted orders. Without one the rules decide alone.

use std::fmt::Debug;

use crate::safety::scan_counters::ScanCounters;

/// Model that judges whether a text gives orders to the agent that reads it.
pub trait Classifier: Send + Sync + Debug {
    /// Whether the text is a planted order; `Err` with the reason if the model gave no answer.
    fn is_order(&self, text: &str) -> Result<bool, String>;
}

/// Classifier that counts the calls without an answer.
#[derive(Debug)]
pub(crate) struct CountedClassifier<'a> {
    pub classifier: &'a dyn Classifier,
    pub counters: &'a ScanCounters,
}

impl Classifier for CountedClassifier<'_> {
    fn is_order(&self, text: &str) -> Result<bool, String> {
        self.classifier.is_order(text).inspect_err(|_| self.counters.count_unanswered())
    }
}

/// The name under which a configured model finds planted orders.
pub const CLASSIFIER_RULE: &str = "classifier";
