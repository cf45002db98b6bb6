//! Join between a label and its value, and the extent of the value.

use super::read_counter;

/// Kind of join, which decides how random the value must look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelJoin {
    /// A sign of assignment: `=`, `:`, `=>`, a tag's `>`.
    Assign,
    /// Words: "the password is …".
    Prose,
    /// A space after a flag or an environment variable: `--password …`.
    Space,
    /// A space after any other label: "password Kx7v…".
    Bare,
}

/// Words between a label and its value, separated by `|`. The first that fits is taken, so longer phrases come before
/// their beginnings. To add one, write it with its trailing space.
const JOIN_WORDS: &str = "--body |--body=|--value |--secret-string |--plaintext |-b |<<< |<<<|is now |is set to |\
     was set to |set to |is: |is |was |are |to be |to |equals |changed to |should be |has been set to |lautet |\
     ist jetzt |ist |auf |est |es |é |e' |è |is nu |to: |jest |—|– |である|は|是|为|為|이다|은 |는 |of |with |\
     that works is |that worked is |that worked was ";

/// Bytes after a label in which the join is searched for.
const JOIN_REACH_BYTES: usize = 64;
/// Bytes of a value that are read; longer values are redacted up to here.
pub(super) const VALUE_BYTES_MAX: usize = 4096;
/// Bytes by which a value is judged: a long one shows its kind at its start.
pub(super) const JUDGED_BYTES_MAX: usize = 200;

/// Kind of join after the label that ends at `to`, and the start of the value. `flag`: the label is a flag or variable.
pub(super) fn find_join(text: &str, to: usize, flag: bool) -> Option<(LabelJoin, usize)> {
    let bytes = text.as_bytes();
    let mut at = to;
    let limit = bytes.len().min(to + JOIN_REACH_BYTES);
    let skip = |mut at: usize, set: &[u8]| {
        while at < limit && set.contains(&bytes[at]) {
            at += 1;
        }
        at
    };
    // `"password": …`, `**password** …`: marks that close the label.
    let closed = skip(at, b"\"'`*_])}");
    at = skip(closed, b" \t");
    let rest = &bytes[at..];
    let (mut next, mut kind) = match rest {
        // A path (`Token::new`) or a comparison is no assignment.
        [b':', b':', ..] => return None,
        [b'=', b'=', ..] | [b'!', b'=', ..] => return None,
        [b':', b'=', ..]
        | [b'=', b'>', ..]
        | [b'-', b'>', ..]
        | [b'<', b'-', ..]
        | [b'?', b'=', ..]
        | [b'+', b'=', ..] => (at + 2, LabelJoin::Assign),
        [b'|', b'|', ..] => (at + 2, LabelJoin::Assign),
        [b':' | b'=' | b'|', ..] => (at + 1, LabelJoin::Assign),
        // XML: `<password>…`. Calls: `password("…")`, and `("password", "…")` with a closed quote before the comma.
        [b'>', ..] => (at + 1, LabelJoin::Assign),
        [b'(', b'"' | b'\'', ..] => (at + 1, LabelJoin::Assign),
        [b',', ..] if closed > to => (at + 1, LabelJoin::Assign),
        // CSV: name, then value.
        [b',', next, ..] if !next.is_ascii_whitespace() => (at + 1, LabelJoin::Prose),
        [b'(', ..] if at > to => (at + 1, LabelJoin::Bare),
        // "the password of the database is …": the owner after `of` is not the value.
        [b'o', b'f', b' ', whose @ ..] if at > to && is_owner_phrase(whose) => return find_prose_join(text, at),
        _ if named_value_offset(rest).is_some() => (at + named_value_offset(rest).unwrap_or(0), LabelJoin::Assign),
        // Configuration languages: `password 'value'`.
        [b'"' | b'\'', ..] if at > to && closed == to => (at, LabelJoin::Prose),
        _ => match JOIN_WORDS.split('|').find(|word| text[at..].starts_with(word)) {
            Some(word) => (at + word.len(), LabelJoin::Prose),
            None if at > to && flag => (at, LabelJoin::Space),
            None if at > to => {
                return find_prose_join(text, at).or(Some((LabelJoin::Bare, at + cipher_type_len(rest))));
            }
            None => return None,
        },
    };
    next = skip(next, b" \t");
    next += block_scalar_len(&bytes[next.min(bytes.len())..]);
    // `- name: X\n  value: Y` and `"name": "X", "value": "Y"`.
    if let Some(more) = named_value_offset(&bytes[next.min(bytes.len())..]) {
        next = skip(next + more, b" \t");
        kind = LabelJoin::Assign;
    }
    Some((kind, next))
}

/// Whether the owner of the password follows ("the database"), not the password.
fn is_owner_phrase(rest: &[u8]) -> bool {
    [&b"the "[..], b"our ", b"this ", b"that ", b"my ", b"your ", b"their "].iter().any(|word| rest.starts_with(word))
}

/// Length of the encryption type in router configuration: `password 0 …`, `password 7 …`.
fn cipher_type_len(rest: &[u8]) -> usize {
    if let [b'0' | b'5' | b'7', b' ', ..] = rest { 2 } else { 0 }
}

/// Length of what opens a YAML block scalar (`|`, `>-` and the indentation of the next line), `<![CDATA[` or `$'`.
fn block_scalar_len(rest: &[u8]) -> usize {
    if rest.starts_with(b"<![CDATA[") {
        return 9;
    }
    if let [b'$', b'\'' | b'"', ..] = rest {
        return 1;
    }
    let mark = match rest {
        [b'|' | b'>', b'-' | b'+', b'\n', ..] => 3,
        [b'|' | b'>', b'\n', ..] => 2,
        _ => return 0,
    };
    mark + rest[mark..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Offset of the value in a pair of name and value: `name: X\n  value: `, `{ default = `, and their JSON forms.
fn named_value_offset(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    let limit = rest.len().min(JOIN_REACH_BYTES);
    while at < limit && matches!(rest[at], b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b',' | b'{' | b'>' | b'-') {
        at += 1;
    }
    for word in [&b"value"[..], b"default", b"Value", b"val", b"to", b"data", b"secret", b"VALUE"] {
        if let Some(tail) = rest.get(at..).and_then(|tail| tail.strip_prefix(word)) {
            let gap = tail.iter().take_while(|byte| matches!(byte, b'"' | b'\'' | b' ' | b'\t')).count();
            if matches!(tail.get(gap), Some(b':' | b'=')) {
                return Some(at + word.len() + gap + 1);
            }
        }
    }
    None
}

/// First joining word within the same clause: "the password for the staging database is …".
fn find_prose_join(text: &str, at: usize) -> Option<(LabelJoin, usize)> {
    const GAP_BYTES_MAX: usize = 60;
    // Quotes and brackets end the clause too: what they hold is no longer between label and value.
    let clause = &text[at..text.floor_char_boundary(at + GAP_BYTES_MAX)];
    let clause = &clause[..clause.find(['\n', ';', '!', '?', '(', '"']).unwrap_or(clause.len())];
    let clause = &clause[..clause.find(". ").unwrap_or(clause.len())];
    [
        " is now ",
        " is set to ",
        " set to ",
        " is: ",
        " is ",
        " was ",
        ": ",
        " = ",
        " to ",
        " ist ",
        " lautet ",
        " est ",
        " es ",
        " é ",
        " è ",
        " jest ",
        " auf ",
    ]
    .iter()
    .filter_map(|word| clause.find(word).map(|found| (found, word.len())))
    .min()
    .map(|(found, size)| (LabelJoin::Prose, at + found + size))
}

pub(super) struct LabelValue<'t> {
    pub(super) text: &'t str,
    pub(super) quoted: bool,
}

/// Quoted or bare value from `at` on, cut to `bytes_max`, and its start. Typographic quotes are ASCII here: the view
/// folded them.
pub(super) fn read_value(text: &str, at: usize, bytes_max: usize) -> (LabelValue<'_>, usize) {
    let rest = &text[at.min(text.len())..];
    read_counter::record_read(rest.len().min(bytes_max));
    // Emphasis and brackets are skipped only before a quote; elsewhere they may be part of the value.
    let opening = rest.len() - rest.trim_start_matches(['*', '_', '[', '(']).len();
    let (prefix, rest) =
        if rest[opening..].starts_with(['"', '\'', '`']) { (opening, &rest[opening..]) } else { (0, rest) };
    let start = at + prefix;
    let rest = &rest[..rest.floor_char_boundary(bytes_max)];
    let quote = rest.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        // `"""value"""`: all opening quotes are skipped.
        let inner = rest[1..].trim_start_matches(quote);
        let lead = rest.len() - inner.len();
        let inner = &inner[..inner.find([quote, '\n']).unwrap_or(inner.len())];
        return (LabelValue { text: inner, quoted: true }, start + lead);
    }
    let bare = &rest[..rest
        .find(|mark: char| {
            mark.is_whitespace() || matches!(mark, '"' | '\'' | '`' | '<' | ',' | '|') || !mark.is_ascii()
        })
        .unwrap_or(rest.len())];
    // A tag or `<your password>`: `<` alone, which counts as a placeholder.
    let bare = if rest.starts_with('<') { &rest[..1] } else { bare };
    let bare =
        bare.trim_end_matches(['.', ';', ')', '}', ']', ':', '!', '?', '*', '>']).split(';').next().unwrap_or_default();
    // Query strings: `api_key=…&page=2`.
    let bare = bare.split('&').next().unwrap_or_default();
    (LabelValue { text: bare, quoted: false }, start)
}
