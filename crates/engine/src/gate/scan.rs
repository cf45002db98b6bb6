//! The scanner over every text field of a draft.

use serde_json::{Map, Value};

use super::{LetThrough, Stop};
use crate::model::error::Error;
use crate::model::memory::Draft;
use crate::model::refusal::{FieldFinding, Refusal};
use crate::model::vocabulary::{ScopeKind, SecretAction};
use crate::safety::classifier::Classifier;
use crate::safety::{self, Concern, Finding, Severity, Strictness, Verdict};
use crate::tenant::allow_list::AllowList;

/// A draft that may be kept, with what the scanner said of it.
#[derive(Debug, Clone)]
pub struct Scan {
    pub draft: Draft,
    pub flags: Vec<String>,
    /// Where it could not be asked for all it should have been.
    pub warnings: Vec<String>,
}

/// The name under which a configured model finds planted orders.
pub const CLASSIFIER: &str = "classifier";

/// Blocks, redacts or flags. The refusal names rule, severity and place, never the text.
pub fn scan(
    mut draft: Draft,
    scope: ScopeKind,
    secrets: SecretAction,
    let_through: &LetThrough<'_>,
    classifier: Option<&dyn Classifier>,
) -> Result<Scan, Stop> {
    let (blocked, flags, warnings) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = Seen { scope, secrets, let_through, allowed: None, blocked, flags, warnings };
    // A path cannot be redacted: it is an address.
    seen.field("path", draft.path.as_mut(), SecretAction::Block)?;
    for (field, value) in [
        ("title", draft.title.as_mut()),
        ("recall_hint", draft.recall_hint.as_mut()),
        ("session", draft.session.as_mut()),
        ("speaker", draft.speaker.as_mut()),
        ("reason", draft.reason.as_mut()),
        ("content", Some(&mut draft.content)),
    ] {
        seen.field(field, value, secrets)?;
    }
    for tag in draft.tags.iter_mut().flatten() {
        seen.field("tags", Some(tag), secrets)?;
    }
    if let Some(metadata) = draft.metadata.as_mut() {
        seen.metadata(metadata)?;
    }
    for text in draft.evidence.iter_mut().flat_map(|piece| piece.texts_mut()) {
        seen.field("evidence", Some(text), secrets)?;
    }
    // Asked last, so that no secret leaves the house with the text.
    if let Some(classifier) = classifier.filter(|_| seen.blocked.is_empty()) {
        seen.classify(classifier, &draft.content)?;
    }
    match seen.blocked.is_empty() {
        true => Ok(Scan { draft, flags: seen.flags, warnings: seen.warnings }),
        false => Err(refusal(seen.blocked).into()),
    }
}

struct Seen<'a> {
    scope: ScopeKind,
    secrets: SecretAction,
    let_through: &'a LetThrough<'a>,
    /// What is let through on purpose, once it was asked for.
    allowed: Option<AllowList>,
    blocked: Vec<FieldFinding>,
    flags: Vec<String>,
    warnings: Vec<String>,
}

impl Seen<'_> {
    fn inspect(&mut self, text: &str) -> Result<Vec<Finding>, Error> {
        self.held_up(text, safety::inspect(text))
    }

    /// A model's word counts as much as a rule's; its silence changes nothing.
    fn classify(&mut self, classifier: &dyn Classifier, text: &str) -> Result<(), Error> {
        let (concern, severity, end) = (Concern::Injection, Severity::Medium, text.len());
        let order = Finding { rule: CLASSIFIER, concern, severity, start: 0, end, intent: None };
        match classifier.is_order(text) {
            Ok(false) => {}
            Ok(true) => {
                let findings = self.held_up(text, vec![order])?;
                self.judge("content", &findings);
            }
            Err(why) => self.warnings.push(format!("planted orders were judged by the rules alone: {why}")),
        }
        Ok(())
    }

    /// Without what is let through. A clean text asks for no list of exceptions.
    fn held_up(&mut self, text: &str, findings: Vec<Finding>) -> Result<Vec<Finding>, Error> {
        if findings.is_empty() {
            return Ok(findings);
        }
        let allowed = match self.allowed.take() {
            Some(allowed) => allowed,
            None => (self.let_through)()?,
        };
        Ok(self.allowed.insert(allowed).held_up(text, findings))
    }

    fn field(&mut self, field: &'static str, value: Option<&mut String>, secrets: SecretAction) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        let mut findings = self.inspect(value)?;
        if secrets == SecretAction::Redact && !findings.is_empty() {
            let redacted = safety::redact(value, &findings);
            if redacted != *value {
                *value = redacted;
                self.flag(&findings, Concern::Secret);
                findings = self.inspect(value)?;
            }
        }
        self.judge(field, &findings);
        Ok(())
    }

    /// A key beside its value says more than the value alone: `password` next to a word.
    fn metadata(&mut self, map: &mut Map<String, Value>) -> Result<(), Error> {
        for (key, value) in map.iter_mut() {
            match value {
                Value::Object(inner) => self.metadata(inner)?,
                Value::Array(items) => items.iter_mut().try_for_each(|item| self.metadata_value(key, item))?,
                _ => self.metadata_value(key, value)?,
            }
        }
        Ok(())
    }

    fn metadata_value(&mut self, key: &str, value: &mut Value) -> Result<(), Error> {
        let shown = match &*value {
            Value::String(text) => format!("{key}: {text}"),
            Value::Object(_) | Value::Array(_) => value.to_string(),
            other => format!("{key}: {other}"),
        };
        let findings = self.inspect(&shown)?;
        let secret = findings.iter().find(|finding| finding.concern == Concern::Secret);
        match secret {
            Some(finding) if self.secrets == SecretAction::Redact => {
                *value = Value::String(format!("[REDACTED:{}]", finding.rule));
                self.flag(&findings, Concern::Secret);
            }
            _ => self.judge("metadata", &findings),
        }
        Ok(())
    }

    fn judge(&mut self, field: &'static str, findings: &[Finding]) {
        let strictness = match self.scope {
            ScopeKind::Conversation => Strictness::Conversation,
            _ => Strictness::Strict,
        };
        match safety::verdict(findings, strictness) {
            Verdict::Clean => {}
            Verdict::Flagged => findings.iter().for_each(|finding| self.push_flag(finding.rule)),
            Verdict::Blocked => self.blocked.extend(findings.iter().map(|finding| in_field(field, finding))),
        }
    }

    fn flag(&mut self, findings: &[Finding], concern: Concern) {
        findings.iter().filter(|f| f.concern == concern).for_each(|finding| self.push_flag(finding.rule));
    }

    fn push_flag(&mut self, rule: &str) {
        if !self.flags.iter().any(|known| known == rule) {
            self.flags.push(rule.to_owned());
        }
    }
}

fn in_field(field: &'static str, finding: &Finding) -> FieldFinding {
    FieldFinding {
        field,
        rule: finding.rule,
        concern: finding.concern,
        severity: finding.severity,
        start: finding.start,
        end: finding.end,
        intent: finding.intent,
    }
}

fn refusal(findings: Vec<FieldFinding>) -> Refusal {
    // A secret outranks an order, and an order a log: the worst names the refusal.
    let rank = |concern: Concern| match concern {
        Concern::Secret => 0,
        Concern::Injection => 1,
        Concern::RawLog => 2,
    };
    let worst = findings.iter().min_by_key(|f| (rank(f.concern), std::cmp::Reverse(f.severity)));
    let (code, what, hint) = match worst.map(|f| f.concern) {
        Some(Concern::Injection) => (
            "safety.injection_found",
            "an instruction to the model",
            "state the fact, not an order to whoever reads it",
        ),
        Some(Concern::RawLog) => ("safety.raw_log", "a raw log", "save what the log showed, not the log"),
        _ => ("safety.secret_found", "a secret", "save where the secret is kept, not the secret"),
    };
    let place = worst.map(|f| format!("{} looks like {what}: rule `{}`", f.field, f.rule)).unwrap_or_default();
    Refusal { findings, ..Refusal::new(code, place).hint(hint) }
}
