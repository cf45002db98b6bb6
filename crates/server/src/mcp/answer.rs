//! What a tool answers: structured content and the same as text; what a model can act on is a result with a code.

use engine::model::error::Error;
use engine::model::refusal::Refusal;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

pub(super) type Answer = Result<Value, Problem>;

/// The answer with what a search could not do, where there is something.
pub(super) fn warned(mut answer: Value, warnings: Vec<String>) -> Value {
    if !warnings.is_empty() {
        answer["warnings"] = warnings.into();
    }
    answer
}

/// A "no" or a failure, as the model sees it.
#[derive(Debug)]
pub(super) struct Problem {
    body: Value,
}

impl Problem {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Problem {
        Problem { body: json!({ "code": code, "error": message.into() }) }
    }

    pub(super) fn is(&self, code: &str) -> bool {
        self.body["code"] == code
    }

    pub(super) fn hint(mut self, hint: &str) -> Problem {
        self.body["hint"] = hint.into();
        self
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let mut problem = Problem::new(refusal.code, refusal.message);
        if let Some(hint) = refusal.hint {
            problem.body["hint"] = hint.into();
        }
        if !refusal.findings.is_empty() {
            let rules: Vec<Value> = refusal
                .findings
                .iter()
                .map(|finding| json!({ "field": finding.field, "rule": finding.rule, "severity": finding.severity }))
                .collect();
            problem.body["findings"] = rules.into();
        }
        problem
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let code = error.code();
        match error {
            Error::Conflict(conflict) => {
                let mut problem = Problem::new(code, conflict.reason);
                if let Some(current) = conflict.current {
                    problem.body["conflict"] = true.into();
                    problem.body["current_sha256"] = current.sha256.into();
                    problem.body["current_excerpt"] = current.excerpt.into();
                    problem.body["hint"] = "read it again, merge, and patch with the current sha256".into();
                }
                problem
            }
            // What broke inside is for the log, not for a model.
            Error::Store(_) => {
                tracing::error!(code, "a tool call failed: {error}");
                Problem::new(code, "the memory is not reachable right now").hint("go on without it, or try again later")
            }
            other => Problem::new(code, other.to_string()),
        }
    }
}

pub(super) fn to_result(answer: Answer) -> CallToolResult {
    match answer {
        // Tools that speak to a model in sentences put them here; the text is then just that.
        Ok(value) => match value.get("text").and_then(Value::as_str).filter(|_| value.get("is_error").is_some()) {
            Some(text) => spoken(text, &value),
            None => CallToolResult::structured(value),
        },
        Err(problem) => CallToolResult::structured_error(problem.body),
    }
}

fn spoken(text: &str, value: &Value) -> CallToolResult {
    let content = vec![ContentBlock::text(text)];
    let mut result = match value.get("is_error") {
        Some(Value::Bool(true)) => CallToolResult::error(content),
        _ => CallToolResult::success(content),
    };
    result.structured_content = Some(json!({ "text": text }));
    result
}
