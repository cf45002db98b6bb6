//! Characters that change the direction of displayed text. With them a name or title can look like another one.

use std::borrow::Cow;

use serde_json::Value;

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

/// Undoes [`escape_direction_marks`].
pub fn unescape_direction_marks(text: &str) -> Cow<'_, str> {
    let mut parts = text.split("\\u{");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    let mut found = false;
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap_or(("", part));
        let mark = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).filter(|c| is_direction_mark(*c));
        match mark {
            Some(mark) => {
                found = true;
                plain.push(mark);
                plain.push_str(rest);
            }
            None => {
                plain.push_str("\\u{");
                plain.push_str(part);
            }
        }
    }
    if found { Cow::Owned(plain) } else { Cow::Borrowed(text) }
}

/// Escapes the direction marks in every string of a value, also in keys.
pub fn escape_direction_marks_in(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(escaped) = escape_direction_marks(text) {
                *text = escaped;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(escape_direction_marks_in),
        Value::Object(fields) => {
            if fields.keys().any(|key| find_direction_mark(key).is_some()) {
                let renamed = std::mem::take(fields).into_iter();
                *fields = renamed.map(|(key, value)| (escape_direction_marks(&key).into_owned(), value)).collect();
            }
            fields.values_mut().for_each(escape_direction_marks_in);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn marks_are_written_out_and_read_back() {
        for text in ["plain", "a\u{202e}b\u{2066}", "\u{202e}", "\\u{41} \\u{ \\u{zz}"] {
            let escaped = escape_direction_marks(text);
            assert_eq!(find_direction_mark(&escaped), None);
            assert_eq!(unescape_direction_marks(&escaped), text);
        }
        let mut value = json!({ "a\u{202e}": [{ "b": "c\u{61c}d" }], "n": 1 });
        escape_direction_marks_in(&mut value);
        assert_eq!(value, json!({ "a\\u{202e}": [{ "b": "c\\u{61c}d" }], "n": 1 }));
    }
}
