//! A second opinion on planted orders, from a model that somebody configured. Without one the rules decide alone.

use std::fmt::Debug;

use crate::safety::scan_counters::ScanCounters;

/// Says whether a text gives orders to whoever reads it.
pub trait Classifier: Send + Sync + Debug {
    /// Yes or no, or why it cannot say.
    fn is_order(&self, text: &str) -> Result<bool, String>;
}

/// A classifier whose silences are counted.
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
