//! Step 8 of the gate: the scanner over every text field of a draft.

use serde_json::{Map, Value};

use super::joined_fields::{self, JoinedFinding};
use super::{AllowListLoader, GateError};
use crate::gate::allow_list::AllowList;
use crate::model::error::Error;
use crate::model::memory::Draft;
use crate::model::refusal::{FieldFinding, Refusal};
use crate::model::vocabulary::{ScopeKind, SecretAction};
use crate::safety::classifier::{CLASSIFIER_RULE, Classifier};
use crate::safety::{self, Concern, Finding, ScanVerdict, Severity, Strictness};

/// A draft that passed the scanner, with secrets redacted where the ruleset says so.
#[derive(Debug, Clone)]
pub struct ScannedDraft {
    pub draft: Draft,
    /// Rules with findings that did not block.
    pub flags: Vec<String>,
    /// Checks that could not run, such as a classifier that did not answer.
    pub warnings: Vec<String>,
}

/// Blocks, redacts or flags each finding. The refusal names rules, severities and positions, never the text.
pub fn scan_draft(
    mut draft: Draft,
    scope: ScopeKind,
    secrets: SecretAction,
    load_allow_list: &AllowListLoader<'_>,
    classifier: Option<&dyn Classifier>,
) -> Result<ScannedDraft, GateError> {
    let (blocked, flags, warnings) = (Vec::new(), Vec::new(), Vec::new());
    let mut scanner = DraftScanner { scope, secrets, load_allow_list, allow_list: None, blocked, flags, warnings };
    // A path is an address: redacting it would save the memory under another one. So a secret always blocks.
    scanner.scan_field("path", draft.path.as_mut(), SecretAction::Block)?;
    for (field, value) in [
        ("title", draft.title.as_mut()),
        ("recall_hint", draft.recall_hint.as_mut()),
        ("session", draft.session.as_mut()),
        ("speaker", draft.speaker.as_mut()),
        ("reason", draft.reason.as_mut()),
        ("content", Some(&mut draft.content)),
    ] {
        scanner.scan_field(field, value, secrets)?;
    }
    for tag in draft.tags.iter_mut().flatten() {
        scanner.scan_field("tags", Some(tag), secrets)?;
    }
    if let Some(metadata) = draft.metadata.as_mut() {
        scanner.scan_metadata(metadata)?;
    }
    for text in draft.evidence.iter_mut().flat_map(|piece| piece.text_fields_mut()) {
        scanner.scan_field("evidence", Some(text), secrets)?;
    }
    // After the fields alone, so that a secret in one of them is named there.
    if scanner.blocked.is_empty() {
        scanner.scan_joined(&draft)?;
    }
    // Last, and only if nothing blocks: the classifier may be remote, and no secret may be sent to it.
    if let Some(classifier) = classifier.filter(|_| scanner.blocked.is_empty()) {
        scanner.run_classifier(classifier, &draft.content)?;
    }
    match scanner.blocked.is_empty() {
        true => Ok(ScannedDraft { draft, flags: scanner.flags, warnings: scanner.warnings }),
        false => Err(refusal_for_findings(scanner.blocked).into()),
    }
}

/// Collects the findings of one draft.
struct DraftScanner<'a> {
    /// Decides the strictness: in a conversation, injections are flagged, not blocked.
    scope: ScopeKind,
    secrets: SecretAction,
    load_allow_list: &'a AllowListLoader<'a>,
    /// Loaded at the first finding, then kept for the other fields.
    allow_list: Option<AllowList>,
    blocked: Vec<FieldFinding>,
    flags: Vec<String>,
    warnings: Vec<String>,
}

impl DraftScanner<'_> {
    fn inspect_text(&mut self, field: &'static str, text: &str) -> Result<Vec<Finding>, Error> {
        self.drop_allowed(field, text, safety::inspect(text))
    }

    /// Secrets that are split over fields. They always block: half of a secret cannot be redacted.
    fn scan_joined(&mut self, draft: &Draft) -> Result<(), Error> {
        for JoinedFinding { fields, text, findings } in joined_fields::find_split_secrets(draft) {
            let findings = self.drop_allowed(fields, &text, findings)?;
            self.blocked.extend(findings.iter().map(|finding| to_field_finding(fields, finding)));
        }
        Ok(())
    }

    /// A "yes" of the classifier counts like a rule's finding over the whole content. A failure adds a warning and does
    /// not block the save.
    fn run_classifier(&mut self, classifier: &dyn Classifier, text: &str) -> Result<(), Error> {
        let (concern, severity, end) = (Concern::Injection, Severity::Medium, text.len());
        let finding = Finding { rule: CLASSIFIER_RULE, concern, severity, start: 0, end, intent: None };
        match classifier.is_order(text) {
            Ok(false) => {}
            Ok(true) => {
                let findings = self.drop_allowed("content", text, vec![finding])?;
                self.apply_verdict("content", &findings);
            }
            Err(why) => self.warnings.push(format!("checked for prompt injection by the rules alone: {why}")),
        }
        Ok(())
    }

    /// Drops findings on the allow list, which is loaded at the first finding.
    fn drop_allowed(&mut self, field: &str, text: &str, findings: Vec<Finding>) -> Result<Vec<Finding>, Error> {
        if findings.is_empty() {
            return Ok(findings);
        }
        let allowed = match self.allow_list.take() {
            Some(allowed) => allowed,
            None => (self.load_allow_list)()?,
        };
        Ok(self.allow_list.insert(allowed).remove_allowed(field, text, findings))
    }

    /// Scans one field; redacts secrets in place if asked to.
    fn scan_field(
        &mut self,
        field: &'static str,
        value: Option<&mut String>,
        secrets: SecretAction,
    ) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        let mut findings = self.inspect_text(field, value)?;
        if secrets == SecretAction::Redact && !findings.is_empty() {
            let redacted = safety::redact_secrets(value, &findings);
            if redacted != *value {
                *value = redacted;
                self.flag_concern(&findings, Concern::Secret);
                // Scanned again: what is left may hold other findings, at new offsets.
                findings = self.inspect_text(field, value)?;
            }
        }
        self.apply_verdict(field, &findings);
        Ok(())
    }

    /// Scans each value together with its key: `password: hunter2` is a secret, `hunter2` alone is not.
    fn scan_metadata(&mut self, map: &mut Map<String, Value>) -> Result<(), Error> {
        for (key, value) in map.iter_mut() {
            match value {
                Value::Object(inner) => {
                    // A key without a value of its own. A key cannot be redacted: others may have the same.
                    let findings = self.inspect_text("metadata", key)?;
                    self.apply_verdict("metadata", &findings);
                    self.scan_metadata(inner)?;
                }
                // Items get the key of their array.
                Value::Array(items) => items.iter_mut().try_for_each(|item| self.scan_metadata_value(key, item))?,
                _ => self.scan_metadata_value(key, value)?,
            }
        }
        Ok(())
    }

    fn scan_metadata_value(&mut self, key: &str, value: &mut Value) -> Result<(), Error> {
        let shown = match &*value {
            Value::String(text) => format!("{key}: {text}"),
            // Nested inside an array: scanned as JSON, which has the inner keys.
            Value::Object(_) | Value::Array(_) => value.to_string(),
            other => format!("{key}: {other}"),
        };
        let findings = self.inspect_text("metadata", &shown)?;
        let secret = findings.iter().find(|finding| finding.concern == Concern::Secret);
        match secret {
            Some(finding) if self.secrets == SecretAction::Redact => {
                // The whole value: offsets refer to key and value together.
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
    // One code per refusal, that of the worst finding: secret before injection before raw log, then by severity.
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
            "state the fact instead of telling the reader what to do",
        ),
        Some(Concern::RawLog) => ("safety.raw_log", "a raw log", "save what the log showed, not the log"),
        _ => ("safety.secret_found", "a secret", "save where the secret is kept, not the secret"),
    };
    let message = worst.map(|f| format!("{} looks like {what}: rule `{}`", f.field, f.rule)).unwrap_or_default();
    Refusal { findings, ..Refusal::new(code, message).with_hint(hint) }
}
