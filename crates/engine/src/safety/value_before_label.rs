//! Rule `assigned_secret` for values that stand before their label: "`X` is the api key".
use super::Severity;
use super::labelled_value::is_code;
use super::labels::LabelClaim;
use super::placeholder::is_placeholder;
use super::public_values::is_public_value;
use super::scan::{RuleHit, RuleWeight};
use super::value_stats::{ValueStats, is_uuid};

/// Bytes before a label in which its value is searched for.
pub(super) const VALUE_BEFORE_BYTES: usize = 120;

/// Judges the word before " is the " or a similar phrase, which stands before the label at `from`.
pub(super) fn judge_value_before(text: &str, from: usize, claim: LabelClaim, hits: &mut Vec<RuleHit>) {
    let start = text.ceil_char_boundary(from.saturating_sub(VALUE_BEFORE_BYTES));
    let before = &text[start..from];
    if !before.bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    // The phrase stands at most a few words before the label: "is the new production api key".
    const JOIN_BYTES: usize = 48;
    let near = before.ceil_char_boundary(before.len().saturating_sub(JOIN_BYTES));
    let Some(gap) = [
        " is the ",
        " is our ",
        " is my ",
        " is your ",
        " as the ",
        " as ",
        " is a ",
        " was the ",
        " ist das ",
        " ist der ",
        " est le ",
        " es la ",
        " for the ",
        " (the ",
        " - the ",
    ]
    .iter()
    // The last phrase is the one that belongs to the label.
    .filter_map(|word| before[near..].rfind(word))
    .max()
    .map(|gap| near + gap) else {
        return;
    };
    // A stop between phrase and label, and more than a few words: the label belongs to another sentence.
    if before[gap..].contains(['.', '\n']) && before[gap..].trim_end().len() > 40 {
        return;
    }
    let head = before[..gap].trim_end_matches(['"', '\'', '`', ' ', ',']);
    let word_start =
        head.rfind(|mark: char| mark.is_whitespace() || matches!(mark, '"' | '\'' | '`')).map_or(0, |at| at + 1);
    let word = &head[word_start..];
    let stats = ValueStats::from_bytes(word.as_bytes());
    // Stricter than for a value after its label: any word can stand before "is the".
    let strong = word.len() >= 16 && stats.is_random() && !is_uuid(word.as_bytes())
        || claim == LabelClaim::Password
            && word.len() >= 8
            && stats.digits > 0
            && stats.letter_count() > 2
            && stats.symbols + stats.upper > 0
            && stats.symbols < stats.letter_count();
    let plain = word.is_ascii()
        && !word.contains("://")
        && !is_placeholder(word)
        && !is_public_value(word)
        && !is_code(word, false)
        && !stats.is_hex()
        && !word.contains(['/', '@', '(', ':']);
    if strong && plain {
        hits.push(RuleHit::secret(
            "assigned_secret",
            Severity::High,
            RuleWeight::Context,
            start + word_start,
            start + word_start + word.len(),
        ));
    }
}
