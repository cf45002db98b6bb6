//! Answers of tools: structured content and the same as text. Refusals are results with a code, so that the model can
//! act on them; protocol errors would only reach the client.

use engine::AskedQuestion;
use engine::model::error::Error;
use engine::model::refusal::Refusal;
use engine::safety::redact_identifier;
use engine::text::direction_marks::escape_direction_marks_in;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::problem::Problem;

pub(super) type ToolAnswer = Result<Value, ToolProblem>;

/// The answer with warnings, if there are any.
pub(super) fn with_warnings(mut answer: Value, warnings: Vec<String>) -> Value {
    if !warnings.is_empty() {
        answer["warnings"] = warnings.into();
    }
    answer
}

/// A refusal or an error, as the model sees it.
#[derive(Debug)]
pub(super) struct ToolProblem {
    body: Value,
    /// The call needs a person's answer first.
    question: Option<AskedQuestion>,
}

impl ToolProblem {
    pub(super) fn new(code: &str, message: impl Into<String>) -> ToolProblem {
        ToolProblem { body: json!({ "code": code, "error": message.into() }), question: None }
    }

    pub(super) fn from_question(question: AskedQuestion) -> ToolProblem {
        let problem = ToolProblem::new("policy.needs_answer", "a person has to answer first");
        ToolProblem { question: Some(question), ..problem }
    }

    pub(super) fn take_question(&mut self) -> Option<AskedQuestion> {
        self.question.take()
    }

    pub(super) fn with_hint(mut self, hint: &str) -> ToolProblem {
        self.body["hint"] = hint.into();
        self
    }
}

/// A refusal of the entrance: too many calls wait, or this one took too long.
impl From<&Problem> for ToolProblem {
    fn from(problem: &Problem) -> ToolProblem {
        let answer = ToolProblem::new(&problem.code, problem.detail());
        match problem.retry_after_secs() {
            Some(secs) => {
                let mut answer = answer.with_hint("wait, then call again");
                answer.body["retry_after_secs"] = secs.into();
                answer
            }
            None => answer.with_hint("it may still complete: check before you call again"),
        }
    }
}

impl From<Refusal> for ToolProblem {
    fn from(refusal: Refusal) -> ToolProblem {
        let mut problem = ToolProblem::new(refusal.code, refusal.message);
        if let Some(hint) = refusal.hint {
            problem.body["hint"] = hint.into();
        }
        if !refusal.findings.is_empty() {
            // Without the matched text, which may be the very secret that was refused.
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

impl From<Error> for ToolProblem {
    fn from(error: Error) -> ToolProblem {
        let code = error.code();
        match error {
            Error::Conflict(conflict) => {
                let mut problem = ToolProblem::new(code, conflict.reason);
                if let Some(current) = conflict.current {
                    problem.body["conflict"] = true.into();
                    problem.body["current_sha256"] = current.sha256.into();
                    problem.body["current_excerpt"] = current.excerpt.into();
                    problem.body["hint"] = "read it again, merge, and patch with the current sha256".into();
                }
                problem
            }
            // The driver's message goes to the log, not to a model.
            Error::Store(_) => {
                tracing::error!(code, "a tool call failed: {error}");
                ToolProblem::new(code, "the memory is not reachable right now")
                    .with_hint("go on without it, or try again later")
            }
            other => ToolProblem::new(code, redact_identifier(other.to_string())),
        }
    }
}

pub(super) fn to_result(answer: ToolAnswer) -> CallToolResult {
    let shown = |mut value: Value| {
        // A model or person would read the words in another order than the scanner did.
        escape_direction_marks_in(&mut value);
        value
    };
    match answer.map(shown) {
        // The `anthropic` toolset answers with text and a flag instead of structured fields.
        Ok(value) => match value.get("text").and_then(Value::as_str).filter(|_| value.get("is_error").is_some()) {
            Some(text) => to_text_result(text, &value),
            None => CallToolResult::structured(value),
        },
        // MCP: a failed tool is a result and no protocol error, so that the model can read it.
        Err(problem) => CallToolResult::structured_error(shown(problem.body)),
    }
}

fn to_text_result(text: &str, value: &Value) -> CallToolResult {
    let content = vec![ContentBlock::text(text)];
    let mut result = match value.get("is_error") {
        Some(Value::Bool(true)) => CallToolResult::error(content),
        _ => CallToolResult::success(content),
    };
    // MCP: a tool with an output schema has to send structured content too.
    result.structured_content = Some(json!({ "text": text }));
    result
}
