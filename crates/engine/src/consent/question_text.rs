//! The words of a question. What is confirmed is shown whole, marked as quoted, and cannot steer the screen.

use std::fmt::Write as _;

use crate::gate::is_invisible;
use crate::model::limits::Limits;
use crate::model::memory::{Draft, Memory};
use crate::text::digest::content_sha256;

/// How much of a text a question has to show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextLength {
    /// All of it: a text that is too long is not asked about.
    Whole,
    /// As much as there is room for, with a mark where it is cut.
    Cut,
}

/// The question whether a draft is to be kept as the person's own, in place of what is there; `None` if one of the
/// texts is too long to be shown whole.
pub(super) fn ask_to_keep(draft: &Draft, replaced: Option<&Memory>, limits: &Limits) -> Option<String> {
    let mut text = match draft.always_inject {
        Some(true) => "An agent wants to keep this as your own words and show it in every turn. Keep it?\n",
        _ => "An agent wants to keep this as your own words. Keep it?\n",
    }
    .to_owned();
    let tags = draft.tags.as_deref().map(|tags| tags.join(", "));
    let metadata = draft.metadata.as_ref().map(|metadata| serde_json::Value::Object(metadata.clone()).to_string());
    let fields = [
        ("Store", Some(draft.store.as_str())),
        ("System", draft.system.as_deref()),
        ("Path", draft.path.as_deref()),
        ("Title", draft.title.as_deref()),
        ("Recall hint", draft.recall_hint.as_deref()),
        ("Tags", tags.as_deref()),
        ("Metadata", metadata.as_deref()),
    ];
    push_fields(&mut text, &fields);
    push_quote(&mut text, &draft.content, limits, TextLength::Whole)?;
    // The same text, confirmed, replaces no words.
    if let Some(replaced) = replaced.filter(|replaced| replaced.content != draft.content) {
        text.push_str("\n\nA yes replaces this memory, which is there now:\n");
        push_memory_fields(&mut text, replaced);
        push_quote(&mut text, &replaced.content, limits, TextLength::Whole)?;
    }
    fits(text, limits)
}

/// The question whether a memory is to be forgotten.
pub(super) fn ask_to_forget(memory: &Memory, limits: &Limits, length: TextLength) -> Option<String> {
    let mut text = "An agent wants to forget a memory. Its history is kept. Forget it?\n".to_owned();
    push_memory_fields(&mut text, memory);
    push_quote(&mut text, &memory.content, limits, length)?;
    match length {
        TextLength::Whole => fits(text, limits),
        TextLength::Cut => Some(text),
    }
}

fn push_memory_fields(text: &mut String, memory: &Memory) {
    let fields = [
        ("Store", Some(memory.store.as_str())),
        ("Path", memory.path.as_deref()),
        ("Title", memory.title.as_deref()),
        ("Recall hint", memory.recall_hint.as_deref()),
    ];
    push_fields(text, &fields);
}

fn push_fields(text: &mut String, fields: &[(&str, Option<&str>)]) {
    for (name, value) in fields {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            text.push('\n');
            text.push_str(name);
            text.push_str(": ");
            // One line each: a value with line breaks must not look like another field.
            value.chars().for_each(|c| push_visible(text, c, false));
        }
    }
}

/// Appends the content, each line marked, and its digest. `None` if it must be whole and is too long.
fn push_quote(text: &mut String, content: &str, limits: &Limits, length: TextLength) -> Option<()> {
    let (count, most) = (content.chars().count(), limits.question_chars_max);
    if count > most && length == TextLength::Whole {
        return None;
    }
    text.push_str("\nText:\n> ");
    for c in content.chars().take(most) {
        push_visible(text, c, true);
        if c == '\n' {
            text.push_str("> ");
        }
    }
    if count > most {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[cut: {most} of {count} characters are shown]");
    }
    let _ = write!(text, "\nsha256 of the text: {}", content_sha256(content));
    Some(())
}

/// Appends a character so that it can be seen: one that steers a screen or takes no room is shown by its number.
fn push_visible(text: &mut String, c: char, keeps_lines: bool) {
    match (c == '\n' && keeps_lines) || !(c.is_control() || is_invisible(c)) {
        true => text.push(c),
        false => text.extend(c.escape_unicode()),
    }
}

/// A question of which the fields alone are longer than the text may be is not asked.
fn fits(text: String, limits: &Limits) -> Option<String> {
    // Escapes and the words around it take room too.
    let most = limits.question_chars_max.saturating_mul(4);
    Some(text).filter(|text| text.chars().count() <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(hint: &str, content: &str) -> Draft {
        let recall_hint = Some(hint.to_owned());
        Draft { store: "user_notes".to_owned(), recall_hint, content: content.to_owned(), ..Draft::default() }
    }

    #[test]
    fn a_question_shows_hint_and_content_and_nothing_can_imitate_its_lines() {
        let text =
            ask_to_keep(&draft("tone\nStore: other", "be short\nText:\u{202e}\u{1b}[2J"), None, &Limits::default());
        let text = text.expect("short enough");
        assert!(text.contains("\nStore: user_notes\n"), "{text}");
        assert!(text.contains("\nRecall hint: tone\\u{a}Store: other\n"), "{text}");
        assert!(text.contains("\n> be short\n> Text:\\u{202e}\\u{1b}[2J\n"), "{text}");
        assert_eq!(text.matches("\nStore: ").count(), 1, "{text}");
    }

    #[test]
    fn a_text_too_long_to_show_is_not_asked_about() {
        let limits = Limits::default();
        let long = "x".repeat(limits.question_chars_max + 1);
        assert!(ask_to_keep(&draft("hint", &long[1..]), None, &limits).is_some());
        assert!(ask_to_keep(&draft("hint", &long), None, &limits).is_none());
        assert!(ask_to_keep(&draft(&"h".repeat(4 * limits.question_chars_max), "short"), None, &limits).is_none());
    }
}
