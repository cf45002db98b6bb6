//! Steps 2 and 4 of the gate: drafts are well-formed and within limits. Malformed input is an error, never guessed at.

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::limits::Limits;
use crate::model::memory::{Draft, Evidence};
use crate::model::refusal::Refusal;
use crate::model::ruleset::Ruleset;
use crate::safety::{self, TextClass};
use crate::text::direction_marks::find_direction_mark;

/// Checks every field of a draft; normalises path and tags.
pub(crate) fn normalize_draft(mut draft: Draft, limits: &Limits) -> Result<Draft, Error> {
    check_text("content", &draft.content)?;
    if draft.content.trim().is_empty() {
        return Err(Error::invalid("shape.empty", "there is nothing to remember: the content is empty"));
    }
    draft.path = draft.path.map(|path| normalize_new_path(&path, limits)).transpose()?;
    check_text_length("title", draft.title.as_deref(), limits.title_bytes_max)?;
    check_text_length("recall hint", draft.recall_hint.as_deref(), limits.hint_bytes_max)?;
    for (what, line) in [("title", &draft.title), ("recall hint", &draft.recall_hint)] {
        line.as_ref().map_or(Ok(()), |line| check_direction("the", what, line))?;
    }
    check_text_length("reason", draft.reason.as_deref(), limits.evidence_bytes_max)?;
    for (what, name) in [("system", &draft.system), ("session", &draft.session), ("speaker", &draft.speaker)] {
        if let Some(name) = name {
            check_name(what, name, limits)?;
        }
    }
    draft.tags = draft.tags.map(|tags| normalize_tags(tags, limits)).transpose()?;
    if let Some(metadata) = &draft.metadata {
        check_metadata(metadata, limits)?;
    }
    check_evidence(&draft.evidence, limits)?;
    for (what, share) in [("confidence", draft.confidence), ("importance", draft.importance)] {
        if share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            return Err(Error::invalid("shape.out_of_range", format!("{what} must be between 0 and 1")));
        }
    }
    if let Some(expected) = &draft.expected_sha256 {
        check_sha256("expected sha256", expected)?;
    }
    Ok(draft)
}

/// Refuses content over the cap; returns a warning for content over the soft cap.
pub(super) fn check_content_size(
    draft: &Draft,
    ruleset: &Ruleset,
    pipeline_cap: Option<u64>,
) -> Result<Vec<String>, Refusal> {
    let size = draft.content.len() as u64;
    let cap = ruleset.content_bytes_max.min(pipeline_cap.unwrap_or(u64::MAX));
    if size > cap {
        let message = format!("content is {size} bytes, the cap here is {cap} bytes");
        return Err(Refusal::new("shape.too_large", message).with_hint("save the conclusion, not the raw material"));
    }
    let soft = ruleset.content_bytes_soft.filter(|soft| size > *soft);
    Ok(soft.map(|soft| format!("content is {size} bytes; over {soft} it is rarely read whole")).into_iter().collect())
}

/// The canonical form of a path: NFC, no leading slash, no empty, `.` or `..` segments. For look-ups.
pub fn normalize_path(path: &str, limits: &Limits) -> Result<String, Error> {
    let invalid = |message: &str| Err(Error::invalid("shape.path", format!("path {message}")));
    let path: String = path.nfc().collect();
    // Some clients send absolute paths.
    let path = path.strip_prefix('/').unwrap_or(&path);
    if path.is_empty() {
        return invalid("is empty");
    }
    if path.len() > limits.path_bytes_max {
        return invalid(&format!("is longer than {} bytes", limits.path_bytes_max));
    }
    if path.chars().any(|c| c.is_control() || c == '\\') {
        return invalid("holds a control character or a backslash");
    }
    if path.split('/').count() > limits.path_segments_max {
        return invalid(&format!("has more than {} segments", limits.path_segments_max));
    }
    if path.split('/').any(|segment| matches!(segment.trim(), "" | "." | "..")) {
        return invalid("has an empty segment, `.` or `..`");
    }
    Ok(path.to_owned())
}

/// As [`normalize_path`], for a path to write to: also refuses invisible characters and look-alikes of `.` and `..`, so
/// that two paths that look alike are alike. Look-ups stay lenient, because older databases hold such paths.
pub(crate) fn normalize_new_path(path: &str, limits: &Limits) -> Result<String, Error> {
    let invalid = |message: &str| Err(Error::invalid("shape.path", format!("path {message}")));
    let path = normalize_path(path, limits)?;
    let mut previous = '/';
    for c in path.chars() {
        // Persian, Indic scripts and emoji need the zero-width joiner and non-joiner inside a word; ASCII never does.
        let is_joiner = matches!(c, '\u{200c}' | '\u{200d}') && !previous.is_ascii();
        if is_invisible(c) && !is_joiner {
            return invalid("holds an invisible character");
        }
        previous = c;
    }
    // NFKC turns full-width dots into dots, and so may a file system or client.
    if path.nfkc().collect::<String>().split('/').any(|segment| matches!(segment.trim(), "" | "." | "..")) {
        return invalid("has a segment that reads as empty, `.` or `..`");
    }
    Ok(path)
}

/// Unicode format characters, and fillers and line separators that are displayed as nothing.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}' | '\u{115f}'
        | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Checks the name of a user, conversation, agent, system or run.
pub fn check_name(what: &str, name: &str, limits: &Limits) -> Result<(), Error> {
    if name.trim().is_empty() {
        return Err(Error::invalid("shape.name", format!("the {what} is empty")));
    }
    if name.len() > limits.name_bytes_max {
        return Err(Error::invalid("shape.name", format!("the {what} is longer than {} bytes", limits.name_bytes_max)));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::invalid("shape.name", format!("the {what} holds a control character")));
    }
    check_direction("the", what, name)?;
    match safety::find_token_format(name) {
        None => Ok(()),
        Some(rule) => Err(secret_name_refusal(what, rule).into()),
    }
}

/// Checks every name of a caller: of the principal, of the scopes it acts in and of the systems it holds grants for.
/// Each door calls it before the caller is used or logged.
pub fn check_caller(caller: &Caller, limits: &Limits) -> Result<(), Error> {
    let names = [
        ("agent", &caller.agent),
        ("user", &caller.user),
        ("project", &caller.project),
        ("conversation", &caller.conversation),
        ("session", &caller.session),
        ("run", &caller.run),
        ("pipeline", &caller.pipeline),
    ];
    for (what, name) in names {
        name.as_ref().map_or(Ok(()), |name| check_name(what, name, limits))?;
    }
    // The principal is a role and one of the names, so it may be longer than a name.
    let name = caller.principal.split_once(':').map_or(caller.principal.as_str(), |(_, name)| name);
    check_name("name of the caller", name, limits)?;
    caller.grants.keys().try_for_each(|system| check_name("system of a grant", system, limits))
}

/// Refusal of a name that is a secret. Never quotes the name.
fn secret_name_refusal(what: &str, rule: &str) -> Refusal {
    let message = format!("the {what} looks like a secret: rule `{rule}`");
    Refusal::new("safety.secret_found", message).with_hint("use a name that is no credential")
}

/// Refuses characters that change the direction of text, in names and in lines that people read as names.
fn check_direction(article: &str, what: &str, text: &str) -> Result<(), Error> {
    match find_direction_mark(text) {
        None => Ok(()),
        Some(mark) => {
            let message = format!(
                "{article} {what} holds U+{:04X}, which changes the direction of text; leave it out",
                u32::from(mark)
            );
            Err(Error::invalid("shape.direction_mark", message))
        }
    }
}

/// Checks a label that is stored outside of memories (title of a store, category, workflow): a name without secrets.
pub fn check_label(what: &str, label: &str, limits: &Limits) -> Result<(), Error> {
    check_name(what, label, limits)?;
    check_secret(what, label)
}

/// Refuses a text that is stored outside of memories and holds a secret.
pub(crate) fn check_secret(what: &str, label: &str) -> Result<(), Error> {
    match safety::find_secrets(label, TextClass::Free).first() {
        None => Ok(()),
        Some(finding) => Err(secret_name_refusal(what, finding.rule).into()),
    }
}

/// Trims tags and drops empty and repeated ones.
fn normalize_tags(tags: Vec<String>, limits: &Limits) -> Result<Vec<String>, Error> {
    let mut kept: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = tag.trim();
        check_text_length("tag", Some(tag), limits.tag_bytes_max)?;
        check_direction("a", "tag", tag)?;
        if !tag.is_empty() && !kept.iter().any(|known| known == tag) {
            kept.push(tag.to_owned());
        }
    }
    // Counted after empty and repeated tags are dropped.
    if kept.len() > limits.tags_max {
        return Err(Error::invalid("shape.tags", format!("more than {} tags", limits.tags_max)));
    }
    Ok(kept)
}

fn check_metadata(metadata: &Map<String, Value>, limits: &Limits) -> Result<(), Error> {
    let value = Value::Object(metadata.clone());
    if json_depth(&value) > limits.metadata_depth_max || value.to_string().len() > limits.metadata_bytes_max {
        let message = format!(
            "metadata may be {} bytes and {} levels deep at most",
            limits.metadata_bytes_max, limits.metadata_depth_max
        );
        return Err(Error::invalid("shape.metadata", message));
    }
    if has_nul(&value) {
        return Err(Error::invalid("shape.control_character", "metadata holds a NUL character"));
    }
    check_keys(&value)
}

/// Keys are names, at every level.
fn check_keys(value: &Value) -> Result<(), Error> {
    match value {
        Value::Array(items) => items.iter().try_for_each(check_keys),
        Value::Object(map) => map.iter().try_for_each(|(key, value)| {
            check_direction("a", "key of the metadata", key)?;
            check_keys(value)
        }),
        _ => Ok(()),
    }
}

fn json_depth(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(json_depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(json_depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

fn check_evidence(evidence: &[Evidence], limits: &Limits) -> Result<(), Error> {
    if evidence.len() > limits.evidence_max {
        return Err(Error::invalid("shape.evidence", format!("more than {} pieces of evidence", limits.evidence_max)));
    }
    for piece in evidence {
        if piece.summary.trim().is_empty() {
            return Err(Error::invalid("shape.evidence", "the evidence is empty"));
        }
        for text in piece.text_fields() {
            check_text_length("evidence", Some(text), limits.evidence_bytes_max)?;
        }
        for (what, name) in [("run of the evidence", &piece.run), ("conversation of the evidence", &piece.conversation)]
        {
            name.as_ref().map_or(Ok(()), |name| check_name(what, name, limits))?;
        }
        for digest in [&piece.arguments_sha256, &piece.result_sha256].into_iter().flatten() {
            check_sha256("sha256 of the evidence", digest)?;
        }
    }
    Ok(())
}

fn check_sha256(name: &str, text: &str) -> Result<(), Error> {
    match text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        true => Ok(()),
        false => Err(Error::invalid("shape.sha256", format!("the {name} is not 64 hex digits"))),
    }
}

pub(crate) fn check_text(what: &str, text: &str) -> Result<(), Error> {
    // Postgres cannot store NUL in text. Other control characters occur in ordinary text, such as terminal output.
    match text.contains('\0') {
        true => Err(Error::invalid("shape.control_character", format!("the {what} holds a NUL character"))),
        false => Ok(()),
    }
}

fn check_text_length(what: &str, value: Option<&str>, bytes_max: usize) -> Result<(), Error> {
    let Some(value) = value else { return Ok(()) };
    check_text(what, value)?;
    match value.len() > bytes_max {
        true => Err(Error::invalid("shape.too_long", format!("the {what} is longer than {bytes_max} bytes"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_accept_paths_that_new_memories_may_not_have() {
        let limits = Limits::default();
        for path in ["a\u{200b}b", "\u{202e}abc", "．．/x", "a/..\u{200b}/b", "a/\u{200d}b"] {
            assert_eq!(normalize_path(path, &limits).ok().as_deref(), Some(path), "{path:?}");
            assert!(normalize_new_path(path, &limits).is_err(), "{path:?}");
        }
    }
}
