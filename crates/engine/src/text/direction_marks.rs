//! Characters that change the direction of displayed text. With them a name or title can look like another one.

use std::borrow::Cow;

/// Whether a character is a bidirectional control character.
pub fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first direction mark of a text.
pub fn find_direction_mark(text: &str) -> Option<char> {
    match text.is_ascii() {
        true => None,
        false => text.chars().find(|c| is_direction_mark(*c)),
    }
}

/// The text with every direction mark written out, such as `\u{202e}`.
pub fn escape_direction_marks(text: &str) -> Cow<'_, str> {
    if find_direction_mark(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_direction_mark(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}
