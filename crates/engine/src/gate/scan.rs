//! The scanner over every text field of a draft.

use serde_json::{Map, Value};

use super::{AllowListLoader, GateError};
use crate::gate::allow_list::AllowList;
use crate::model::error::Error;
use crate::model::memory::Draft;
use crate::model::refusal::{FieldFinding, Refusal};
use crate::model::vocabulary::{ScopeKind, SecretAction};
use crate::safety::classifier::{CLASSIFIER_RULE, Classifier};
use crate::safety::{self, Concern, Finding, ScanVerdict, Severity, Strictness};

/// A draft that may be kept, with what the scanner said of it.
#[derive(Debug, Clone)]
pub struct ScannedDraft {
    pub draft: Draft,
    pub flags: Vec<String>,
    /// Where it could not be asked for all it should have been.
    pub warnings: Vec<String>,
}

/// Blocks, redacts or flags. The refusal names rule, severity and place, never the text.
pub fn scan_draft(
    mut draft: Draft,
    scope: ScopeKind,
    secrets: SecretAction,
    let_through: &AllowListLoader<'_>,
    classifier: Option<&dyn Classifier>,
) -> Result<ScannedDraft, GateError> {
    let (blocked, flags, warnings) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen =
        DraftScanner { scope, secrets, load_allow_list: let_through, allow_list: None, blocked, flags, warnings };
    // A path cannot be redacted: it is an address.
    seen.scan_field("path", draft.path.as_mut(), SecretAction::Block)?;
    for (field, value) in [
        ("title", draft.title.as_mut()),
        ("recall_hint", draft.recall_hint.as_mut()),
        ("session", draft.session.as_mut()),
        ("speaker", draft.speaker.as_mut()),
        ("reason", draft.reason.as_mut()),
        ("content", Some(&mut draft.content)),
    ] {
        seen.scan_field(field, value, secrets)?;
    }
    for tag in draft.tags.iter_mut().flatten() {
        seen.scan_field("tags", Some(tag), secrets)?;
    }
    if let Some(metadata) = draft.metadata.as_mut() {
        seen.scan_metadata(metadata)?;
    }
    for text in draft.evidence.iter_mut().flat_map(|piece| piece.text_fields_mut()) {
        seen.scan_field("evidence", Some(text), secrets)?;
    }
    // Asked last, so that no secret leaves the house with the text.
    if let Some(classifier) = classifier.filter(|_| seen.blocked.is_empty()) {
        seen.run_classifier(classifier, &draft.content)?;
    }
    match seen.blocked.is_empty() {
        true => Ok(ScannedDraft { draft, flags: seen.flags, warnings: seen.warnings }),
        false => Err(refusal_for_findings(seen.blocked).into()),
    }
}

struct DraftScanner<'a> {
    scope: ScopeKind,
    secrets: SecretAction,
    load_allow_list: &'a AllowListLoader<'a>,
    /// What is let through on purpose, once it was asked for.
    allow_list: Option<AllowList>,
    blocked: Vec<FieldFinding>,
    flags: Vec<String>,
    warnings: Vec<String>,
}

impl DraftScanner<'_> {
    fn inspect_text(&mut self, text: &str) -> Result<Vec<Finding>, Error> {
        self.drop_allowed(text, safety::inspect(text))
    }

    /// A model's word counts as much as a rule's; its silence changes nothing.
    fn run_classifier(&mut self, classifier: &dyn Classifier, text: &str) -> Result<(), Error> {
        let (concern, severity, end) = (Concern::Injection, Severity::Medium, text.len());
        let order = Finding { rule: CLASSIFIER_RULE, concern, severity, start: 0, end, intent: None };
        match classifier.is_order(text) {
            Ok(false) => {}
            Ok(true) => {
                let findings = self.drop_allowed(text, vec![order])?;
                self.apply_verdict("content", &findings);
            }
            Err(why) => self.warnings.push(format!("planted orders were judged by the rules alone: {why}")),
        }
        Ok(())
    }

    /// Without what is let through. A clean text asks for no list of exceptions.
    fn drop_allowed(&mut self, text: &str, findings: Vec<Finding>) -> Result<Vec<Finding>, Error> {
        if findings.is_empty() {
            return Ok(findings);
        }
        let allowed = match self.allow_list.take() {
            Some(allowed) => allowed,
            None => (self.load_allow_list)()?,
        };
        Ok(self.allow_list.insert(allowed).remove_allowed(text, findings))
    }

    fn scan_field(
        &mut self,
        field: &'static str,
        value: Option<&mut String>,
        secrets: SecretAction,
    ) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        let mut findings = self.inspect_text(value)?;
        if secrets == SecretAction::Redact && !findings.is_empty() {
            let redacted = safety::redact_secrets(value, &findings);
            if redacted != *value {
                *value = redacted;
                self.flag_concern(&findings, Concern::Secret);
                findings = self.inspect_text(value)?;
            }
        }
        self.apply_verdict(field, &findings);
        Ok(())
    }

    /// A key beside its value says more than the value alone: `password` next to a word.
    fn scan_metadata(&mut self, map: &mut Map<String, Value>) -> Result<(), Error> {
        for (key, value) in map.iter_mut() {
            match value {
                Value::Object(inner) => self.scan_metadata(inner)?,
                Value::Array(items) => items.iter_mut().try_for_each(|item| self.scan_metadata_value(key, item))?,
                _ => self.scan_metadata_value(key, value)?,
            }
        }
        Ok(())
    }

    fn scan_metadata_value(&mut self, key: &str, value: &mut Value) -> Result<(), Error> {
        let shown = match &*value {
            Value::String(text) => format!("{key}: {text}"),
            Value::Object(_) | Value::Array(_) => value.to_string(),
            other => format!("{key}: {other}"),
        };
        let findings = self.inspect_text(&shown)?;
        let secret = findings.iter().find(|finding| finding.concern == Concern::Secret);
        match secret {
            Some(finding) if self.secrets == SecretAction::Redact => {
                *value = Value::String(format!("[REDACTED:{}]", finding.rule));
                self.flag_concern(&findings, Concern::Secret);
            }
            _ => self.apply_verdict("metadata", &findings),
        }
        Ok(())
    }

    fn apply_verdict(&mut self, field: &'static str, findings: &[Finding]) {
        let strictness = match self.scope {
            ScopeKind::Conversation => Strictness::Conversation,
            _ => Strictness::Strict,
        };
        match safety::decide_verdict(findings, strictness) {
            ScanVerdict::Clean => {}
            ScanVerdict::Flagged => findings.iter().for_each(|finding| self.push_flag(finding.rule)),
            ScanVerdict::Blocked => {
                self.blocked.extend(findings.iter().map(|finding| to_field_finding(field, finding)))
            }
        }
    }

    fn flag_concern(&mut self, findings: &[Finding], concern: Concern) {
        findings.iter().filter(|f| f.concern == concern).for_each(|finding| self.push_flag(finding.rule));
    }

    fn push_flag(&mut self, rule: &str) {
        if !self.flags.iter().any(|known| known == rule) {
            self.flags.push(rule.to_owned());
        }
    }
}

fn to_field_finding(field: &'static str, finding: &Finding) -> FieldFinding {
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

fn refusal_for_findings(findings: Vec<FieldFinding>) -> Refusal {
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
    Refusal { findings, ..Refusal::new(code, place).with_hint(hint) }
}
