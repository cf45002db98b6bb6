//! Refusals: the answer "no" of policy or safety, with a stable code. Not a failure (see `error.rs`).

use serde::{Deserialize, Serialize};

/// Why an operation was refused. Holds code, message and findings, never the refused text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    pub code: &'static str,
    pub message: String,
    /// What the caller can do instead.
    pub hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FieldFinding>,
}

/// A finding of the scanner with the field of the draft. `start` and `end` are byte offsets in that field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldFinding {
    pub field: &'static str,
    pub rule: &'static str,
    pub concern: Concern,
    pub severity: Severity,
    pub start: usize,
    pub end: usize,
    /// For injections: what the planted instruction wants.
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

    /// Whether policy refused; otherwise it was shape, evidence or safety. The two have different event names.
    pub fn is_policy(&self) -> bool {
        self.code.starts_with("policy.")
    }
}

/// Damage that storing the finding would do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// Category of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    Secret,
    Injection,
    RawLog,
}
