//! A "no" with a reason: an answer, not a failure. Codes never change.

use serde::{Deserialize, Serialize};

/// Why a save or a deed was refused. Carries rule and code, never the refused text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
    /// What to do instead.
    pub hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FieldFinding>,
}

/// A finding of the scanner and the field it was in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldFinding {
    pub field: &'static str,
    pub rule: &'static str,
    pub concern: Concern,
    pub severity: Severity,
    pub start: usize,
    pub end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<&'static str>,
}

impl Refusal {
    pub fn new(code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), hint: None, findings: Vec::new() }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hint = Some(hint.into());
        self
    }

    /// Safety and shape block a write; policy denies it. The event's name says which.
    pub fn is_policy(&self) -> bool {
        self.code.starts_with("policy.")
    }
}

/// How bad it would be to keep what was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// What sort of thing was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    Secret,
    Injection,
    RawLog,
}
