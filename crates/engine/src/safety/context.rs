//! Values that only their surroundings give away: `password: …`, `API_KEY=…`, "the token is …".
use super::Severity;
use super::documented;
use super::labels::{Claim, HARMLESS_ENDINGS, HARMLESS_STARTS, PUBLIC_STARTS};
use super::scan::{Hit, Weight};
use super::value::{self, Look};

/// What joins the label to the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    Assign,
    Prose,
    Space,
}

/// Joining words, after which the value stands.
const JOIN_WORDS: &[&str] = &[
    "--body ",
    "--body=",
    "--value ",
    "--secret-string ",
    "--plaintext ",
    "-b ",
    "<<< ",
    "<<<",
    "is now ",
    "is set to ",
    "was set to ",
    "set to ",
    "is: ",
    "is ",
    "was ",
    "are ",
    "to be ",
    "to ",
    "equals ",
    "changed to ",
    "should be ",
    "has been set to ",
    "lautet ",
    "ist jetzt ",
    "ist ",
    "auf ",
    "est ",
    "es ",
    "é ",
    "e' ",
    "è ",
    "is nu ",
    "to: ",
    "jest ",
    "—",
    "– ",
    "である",
    "は",
    "是",
    "为",
    "為",
    "이다",
    "은 ",
    "는 ",
    "of ",
    "with ",
    "that works is ",
    "that worked is ",
    "that worked was ",
];

const LABEL_REACH_BYTES: usize = 48;
/// How far before its label a value may stand.
const BEHIND_BYTES: usize = 120;
const JOIN_REACH_BYTES: usize = 64;
/// A value is followed this far; longer ones are redacted up to here.
const VALUE_BYTES_MAX: usize = 4096;

/// What a label turned out to be.
pub(super) struct Label {
    pub(super) end: usize,
    /// An unnamed value that follows nearby is probably this label's.
    pub(super) telling: bool,
}

/// Judges the value that a label at `start..end` announces.
pub(super) fn judge(text: &str, claim: Claim, start: usize, end: usize, hits: &mut Vec<Hit>) -> Label {
    let bytes = text.as_bytes();
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let from = start
        - bytes[start.saturating_sub(LABEL_REACH_BYTES)..start].iter().rev().take_while(|&&byte| in_name(byte)).count();
    let to =
        end + bytes[end..bytes.len().min(end + LABEL_REACH_BYTES)].iter().take_while(|&&byte| in_name(byte)).count();
    let label = text[from..to].trim_end_matches(['.', '-']);
    let to = from + label.len();
    // A weak word does not keep a stronger one in the same name from being seen.
    let read = Label { end: if claim == Claim::Weak { end } else { to }, telling: claim != Claim::Weak };
    // Plain prose on both sides: nothing to judge, and no value nearby that could be this label's.
    let digits_before = bytes[from.saturating_sub(BEHIND_BYTES)..from].iter().any(u8::is_ascii_digit);
    let follows = could_hold_value(&bytes[to..]);
    if !follows && !digits_before {
        return Label { telling: false, ..read };
    }
    if is_harmless(label, start - from, end - from) {
        return Label { telling: false, ..read };
    }
    if follows && let Some((join, at)) = join(text, to, is_flag(bytes, from, label)) {
        let (value, value_start) = read_value(text, at);
        if believable(claim, join, &value, label) {
            hits.push(Hit::secret(
                "assigned_secret",
                Severity::High,
                Weight::Context,
                value_start,
                value_start + value.text.len(),
            ));
            return read;
        }
    }
    behind(text, from, claim, hits);
    read
}

/// Plain prose after a label, without digits, quotes or signs of assignment, holds no value.
fn could_hold_value(after: &[u8]) -> bool {
    const GLANCE_BYTES: usize = 110;
    after[..after.len().min(GLANCE_BYTES)]
        .iter()
        .any(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'\'' | b'`' | b'=' | b':' | b'>' | b'|'))
        || after.first() == Some(&b',')
}

/// Names such as `token_count`, `maxTokens`, `passed` or `public_key`.
fn is_harmless(label: &str, word_start: usize, word_end: usize) -> bool {
    let bytes = label.as_bytes();
    let name = label.trim_start_matches(|mark: char| !mark.is_alphanumeric());
    let is_edge = |at: usize| {
        bytes[at].is_ascii_punctuation() || bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase()
    };
    let last = (1..bytes.len()).rev().find(|&at| is_edge(at)).map(|at| label[at..].trim_start_matches(['_', '-', '.']));
    let ending = last.is_some_and(|last| {
        !last.is_empty() && HARMLESS_ENDINGS.split(',').any(|ending| last.eq_ignore_ascii_case(ending))
    });
    let opened = HARMLESS_STARTS.split(',').any(|word| {
        name.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
            && name.as_bytes().get(word.len()).is_none_or(|next| !next.is_ascii_lowercase())
    });
    let word = &label[word_start.min(label.len())..word_end.min(label.len())];
    let tail = &bytes[word_end.min(bytes.len())..];
    let plural = tail == b"s"
        && ["token", "secret", "key", "password"].iter().any(|name| word.to_ascii_lowercase().ends_with(name));
    // `passed` and `bypass-list` are no passwords; `db_pass` is.
    let verb = word.eq_ignore_ascii_case("pass")
        && (tail.first().is_some_and(u8::is_ascii_lowercase)
            && ![&b"w"[..], b"phrase", b"code"].iter().any(|rest| tail.starts_with(rest))
            || word_start >= 2 && bytes[word_start - 2..word_start].eq_ignore_ascii_case(b"by"));
    ending || opened || plural || verb
}

fn is_flag(bytes: &[u8], from: usize, label: &str) -> bool {
    let before = &bytes[from.saturating_sub(8)..from];
    label.starts_with("--")
        || before.ends_with(b"--")
        || before.ends_with(b"ENV ")
        || before.ends_with(b"ARG ")
        || before.ends_with(b"set ")
        || before.ends_with(b"setx ")
        || before.ends_with(b"setenv ")
        || label.len() > 4
            && label.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Finds what joins label and value, and where the value starts.
fn join(text: &str, to: usize, flag: bool) -> Option<(Join, usize)> {
    let bytes = text.as_bytes();
    let mut at = to;
    let limit = bytes.len().min(to + JOIN_REACH_BYTES);
    let skip = |mut at: usize, set: &[u8]| {
        while at < limit && set.contains(&bytes[at]) {
            at += 1;
        }
        at
    };
    let closed = skip(at, b"\"'`*_])}");
    at = skip(closed, b" \t");
    let rest = &bytes[at..];
    let (mut next, mut kind) = match rest {
        [b':', b':', ..] => return None,
        [b'=', b'=', ..] | [b'!', b'=', ..] => return None,
        [b':', b'=', ..]
        | [b'=', b'>', ..]
        | [b'-', b'>', ..]
        | [b'<', b'-', ..]
        | [b'?', b'=', ..]
        | [b'+', b'=', ..] => (at + 2, Join::Assign),
        [b'|', b'|', ..] => (at + 2, Join::Assign),
        [b':' | b'=' | b'|', ..] => (at + 1, Join::Assign),
        [b'>', ..] => (at + 1, Join::Assign),
        [b'(', b'"' | b'\'', ..] => (at + 1, Join::Assign),
        [b',', ..] if closed > to => (at + 1, Join::Assign),
        // A row of comma-separated values: name, then value.
        [b',', next, ..] if !next.is_ascii_whitespace() => (at + 1, Join::Prose),
        _ if named_value(rest).is_some() => (at + named_value(rest).unwrap_or(0), Join::Assign),
        _ => match JOIN_WORDS.iter().find(|word| text[at..].starts_with(*word)) {
            Some(word) => (at + word.len(), Join::Prose),
            None if at > to && flag => (at, Join::Space),
            None if at > to => return prose_gap(text, at),
            None => return None,
        },
    };
    next = skip(next, b" \t");
    // `- name: X\n  value: Y` and `"name": "X", "value": "Y"`.
    if let Some(more) = named_value(&bytes[next.min(bytes.len())..]) {
        next = skip(next + more, b" \t");
        kind = Join::Assign;
    }
    Some((kind, next))
}

/// `\n  value: `, `{ default = ` and their JSON forms: the value of something just named.
fn named_value(rest: &[u8]) -> Option<usize> {
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

/// "the password for the staging database is …": a joining word within the same clause.
fn prose_gap(text: &str, at: usize) -> Option<(Join, usize)> {
    const GAP_BYTES_MAX: usize = 60;
    let end = text.len().min(at + GAP_BYTES_MAX);
    let end = (at..=end).rev().find(|&index| text.is_char_boundary(index))?;
    let clause = &text[at..end];
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
        " auf ",
    ]
    .iter()
    .filter_map(|word| clause.find(word).map(|found| (found, word.len())))
    .min()
    .map(|(found, size)| (Join::Prose, at + found + size))
}

struct Value<'t> {
    text: &'t str,
    quoted: bool,
}

impl Value<'_> {
    /// The part on which a value is judged; a long one shows what it is at its start.
    fn start(&self) -> &str {
        const JUDGED_BYTES_MAX: usize = 200;
        let end = (0..=self.text.len().min(JUDGED_BYTES_MAX))
            .rev()
            .find(|&index| self.text.is_char_boundary(index))
            .unwrap_or(0);
        &self.text[..end]
    }
}

/// Reads a quoted or bare value; quotes of any script were folded to ASCII before.
fn read_value(text: &str, at: usize) -> (Value<'_>, usize) {
    let rest = &text[at.min(text.len())..];
    let opening = rest.len() - rest.trim_start_matches(['*', '_', '[', '(']).len();
    let (prefix, rest) =
        if rest[opening..].starts_with(['"', '\'', '`']) { (opening, &rest[opening..]) } else { (0, rest) };
    let start = at + prefix;
    let limit = (0..=rest.len().min(VALUE_BYTES_MAX)).rev().find(|&index| rest.is_char_boundary(index)).unwrap_or(0);
    let rest = &rest[..limit];
    let quote = rest.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let inner = rest[1..].trim_start_matches(quote);
        let lead = rest.len() - inner.len();
        let inner = &inner[..inner.find([quote, '\n']).unwrap_or(inner.len())];
        return (Value { text: inner, quoted: true }, start + lead);
    }
    let bare = &rest[..rest
        .find(|mark: char| {
            mark.is_whitespace() || matches!(mark, '"' | '\'' | '`' | '<' | ',' | '|') || !mark.is_ascii()
        })
        .unwrap_or(rest.len())];
    let bare = if rest.starts_with('<') { &rest[..1] } else { bare };
    let bare =
        bare.trim_end_matches(['.', ';', ')', '}', ']', ':', '!', '?', '*']).split(';').next().unwrap_or_default();
    let bare = bare.split('&').next().unwrap_or_default();
    (Value { text: bare, quoted: false }, start)
}

fn believable(claim: Claim, join: Join, value: &Value, label: &str) -> bool {
    const PASSWORD_CHARS_MIN: usize = 6;
    const KEY_CHARS_MIN: usize = 12;
    const WEAK_CHARS_MIN: usize = 24;
    let text = value.start();
    if value::is_stand_in(text)
        || documented::is_documented(text.as_bytes())
        || text.contains("://")
        || is_public(text)
        || is_code(text, value.quoted)
        || !text.is_ascii() && claim != Claim::Password
    {
        return false;
    }
    let look = Look::at(text.as_bytes());
    let kinds = usize::from(look.lower > 0)
        + usize::from(look.upper > 0)
        + usize::from(look.digits > 0)
        + usize::from(look.symbols > 0);
    let named = reference_name(text, label, &look) || text.matches('/').count() >= 2 && look.wordy_share(4);
    let sentence = text.split_whitespace().count() > 2;
    match (claim, join) {
        _ if sentence || named => false,
        (Claim::Password, Join::Assign | Join::Space) => {
            text.len() >= PASSWORD_CHARS_MIN
                && (look.digits > 0 && kinds >= 2
                    || kinds >= 3
                    || value.quoted && text.len() >= 10 && join == Join::Assign && !look.wordy()
                    || look.random())
        }
        (Claim::Password, Join::Prose) => {
            text.len() >= PASSWORD_CHARS_MIN && look.letters() > 2 && odd_case(text)
                || text.len() >= PASSWORD_CHARS_MIN
                    && look.digits > 0
                    && kinds >= 2
                    && look.letters() > 0
                    && !date_like(text)
                || text.len() >= 8 && kinds >= 3 && look.upper * 2 <= look.chars && !look.wordy()
                || text.len() >= 8 && look.random()
        }
        (Claim::Key, Join::Assign | Join::Space) => {
            text.len() >= KEY_CHARS_MIN && look.random()
                || text.len() >= 8 && look.random() && look.digits > 0 && kinds >= 3 && label_is_secret(label)
        }
        (Claim::Key, Join::Prose) => text.len() >= 16 && look.random(),
        (Claim::Weak, _) => text.len() >= WEAK_CHARS_MIN && look.random() && !look.hex() && look.bits >= 3.5,
    }
}

/// Capitals where no writer puts them: at the end of a lower-case word, as in `meadowZOX`.
fn odd_case(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at_end =
        |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).all(u8::is_ascii_uppercase);
    text.len() >= 10
        && text.contains(|mark: char| !mark.is_ascii_alphabetic())
        && (1..bytes.len()).any(|at| bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase() && at_end(at))
}

fn label_is_secret(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    lower.contains("secret") || lower.contains("token") || lower.contains("api")
}

fn date_like(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'T' | b'Z' | b'.' | b'/' | b'%'))
        || text.as_bytes().first().is_some_and(u8::is_ascii_digit)
            && text
                .trim_start_matches(|mark: char| mark.is_ascii_digit())
                .trim_start_matches('-')
                .chars()
                .all(char::is_alphabetic)
}

/// Hashes, certificates, public keys and ciphertext, which may stand after any label.
pub(super) fn is_public(text: &str) -> bool {
    PUBLIC_STARTS.split(',').any(|start| text.starts_with(start))
}

/// Calls, member accesses and templates: code that fetches a value is not the value.
fn is_code(text: &str, quoted: bool) -> bool {
    let call = text.contains("()") || text.contains(")(") || !quoted && text.contains('(');
    let dotted = !quoted
        && text.contains('.')
        && text
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_'));
    let generic = !quoted && (text.contains("::") || text.contains("->") || text.contains("?;") || text.ends_with('{'));
    call || dotted || generic
}

/// `orders-db-password` and `DB_PASSWORD` name a secret kept elsewhere.
fn reference_name(text: &str, label: &str, look: &Look) -> bool {
    let lower = text.to_ascii_lowercase();
    let own = ["password", "passwd", "secret", "token", "credential", "api-key", "api_key", "apikey"]
        .iter()
        .any(|word| lower.contains(word));
    let constant = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
        && text.contains('_')
        && look.digits * 4 < look.chars;
    let kebab = look.wordy() && look.upper == 0 && text.contains(['-', '_', '/', '.']) && look.digits * 5 < look.chars;
    own && (look.wordy() || kebab)
        || constant && look.wordy()
        || kebab && !label.to_ascii_lowercase().contains("pass")
        || lower == label.to_ascii_lowercase()
}

/// "`X` is the api key": the value stands before its label.
fn behind(text: &str, from: usize, claim: Claim, hits: &mut Vec<Hit>) {
    let start = (from.saturating_sub(BEHIND_BYTES)..=from).find(|&index| text.is_char_boundary(index)).unwrap_or(from);
    let before = &text[start..from];
    if !before.bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    // The joining word stands at most a few words before the label.
    const JOIN_BYTES: usize = 48;
    let near = (before.len().saturating_sub(JOIN_BYTES)..=before.len())
        .find(|&index| before.is_char_boundary(index))
        .unwrap_or(before.len());
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
    .filter_map(|word| before[near..].rfind(word))
    .max()
    .map(|gap| near + gap) else {
        return;
    };
    if before[gap..].contains(['.', '\n']) && before[gap..].trim_end().len() > 40 {
        return;
    }
    let head = before[..gap].trim_end_matches(['"', '\'', '`', ' ', ',']);
    let word_start =
        head.rfind(|mark: char| mark.is_whitespace() || matches!(mark, '"' | '\'' | '`')).map_or(0, |at| at + 1);
    let word = &head[word_start..];
    let look = Look::at(word.as_bytes());
    let strong = word.len() >= 16 && look.random() && !value::is_uuid(word.as_bytes())
        || claim == Claim::Password
            && word.len() >= 8
            && look.digits > 0
            && look.letters() > 2
            && look.symbols + look.upper > 0
            && look.symbols < look.letters();
    let plain = word.is_ascii()
        && !word.contains("://")
        && !value::is_stand_in(word)
        && !is_public(word)
        && !is_code(word, false)
        && !look.hex()
        && !word.contains(['/', '@', '(', ':']);
    if strong && plain {
        hits.push(Hit::secret(
            "assigned_secret",
            Severity::High,
            Weight::Context,
            start + word_start,
            start + word_start + word.len(),
        ));
    }
}
