//! Identifiers: `deployment/web`, `ERR_CONN_RESET`, `/etc/nginx/nginx.conf`, `v1.2.3`, `camelCase`. Each gives tokens
//! for the whole, for the names in it and for their parts.
use super::tokenizer::TokenClass;

/// Names read in one identifier; longer ones are generated paths that nobody searches for.
const NAMES_MAX: usize = 24;

type TokenSink<'a> = dyn FnMut(TokenClass, &str) + 'a;

/// Reads one run of letters and joining characters, and hands its tokens to `sink`.
pub(super) fn read_identifier(chunk: &str, sink: &mut TokenSink) {
    if let Some(language) = single_letter_language(chunk) {
        return sink(TokenClass::Whole, language);
    }
    let chunk = chunk.trim_end_matches(['+', '#']);
    let names = || chunk.split(['/', ':', '@', '#', '+']).filter(|name| name.contains(char::is_alphanumeric));
    let whole = names().nth(1).is_some();
    if whole {
        // Joined anew from the names, so that `/etc//nginx` and `etc/nginx` are the same.
        let joined = names().take(NAMES_MAX).map(trim_joiners).collect::<Vec<_>>().join("/");
        sink(TokenClass::Whole, &joined);
    }
    names().take(NAMES_MAX).for_each(|name| {
        read_dotted(trim_joiners(name), if whole { TokenClass::Part } else { TokenClass::Word }, sink)
    });
}

/// Reads dotted names: `nginx.conf`, `v1.2.3`, `10.0.0.1`, `api.example.org`.
fn read_dotted(name: &str, class: TokenClass, sink: &mut TokenSink) {
    if !name.contains('.') {
        return read_hyphenated(name, class, sink);
    }
    let bare = name
        .strip_prefix(['v', 'V'])
        .filter(|bare| bare.starts_with(|letter: char| letter.is_ascii_digit()))
        .unwrap_or(name);
    sink(TokenClass::Whole, bare);
    if bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        // `1.25` also finds `1.25.3`. The single numbers of a version or address are no tokens.
        if let Some((minor, _)) = bare.match_indices('.').nth(1) {
            sink(TokenClass::Whole, &bare[..minor]);
        }
        return;
    }
    name.split('.')
        .filter(|part| !part.is_empty())
        .take(NAMES_MAX)
        .for_each(|part| read_hyphenated(part, TokenClass::Part, sink));
}

/// Reads `nginx-conf`, `ERR_CONN_RESET`, `camelCase`: the parts, and the parts joined to one word, so that all ways to
/// write it find each other.
fn read_hyphenated(name: &str, class: TokenClass, sink: &mut TokenSink) {
    let name = without_apostrophes(name);
    let parts =
        || name.split(['-', '_', '\u{2010}', '\u{2011}']).flat_map(split_camel_case).filter(|part| !part.is_empty());
    if parts().nth(1).is_none() {
        if let Some(part) = parts().next() {
            sink(class, part);
            emit_without_number(part, sink);
        }
        return;
    }
    let joined: String = parts().take(NAMES_MAX).collect();
    sink(TokenClass::Whole, &super::stem::stem_word(&super::fold::to_folded(&joined)));
    for part in parts().take(NAMES_MAX).filter(|part| part.len() > 1) {
        sink(TokenClass::Part, part);
        emit_without_number(part, sink);
    }
}

/// Adds the letters of a name with a number: `web01` is also found by `web`.
fn emit_without_number(part: &str, sink: &mut TokenSink) {
    const LETTERS_MIN: usize = 3;
    let letters = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if letters.len() < part.len()
        && letters.len() >= LETTERS_MIN
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        sink(TokenClass::Part, letters);
    }
}

/// Splits where a word begins: `camel·Case`, `HTTP·Server`.
fn split_camel_case(name: &str) -> impl Iterator<Item = &str> {
    let bytes = name.as_bytes();
    let begins = |at: usize| {
        let here = bytes[at].is_ascii_uppercase();
        let before = bytes[at - 1];
        let next = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        here && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && next))
    };
    let mut start = 0;
    let mut done = name.is_empty();
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let end = (start + 1..bytes.len()).find(|at| begins(*at));
        let hump = &name[start..end.unwrap_or(bytes.len())];
        done = end.is_none();
        start = end.unwrap_or(bytes.len());
        Some(hump)
    })
}

/// The name without a possessive `'s` and without apostrophes: `Caroline's` is `Caroline`, `don't` is the stop word
/// `dont`.
fn without_apostrophes(name: &str) -> std::borrow::Cow<'_, str> {
    let straight = |letter: char| matches!(letter, '\'' | '\u{2019}');
    if !name.contains(straight) {
        return name.into();
    }
    let owner = name.strip_suffix(['s', 'S']).and_then(|name| name.strip_suffix(straight));
    owner.map_or_else(|| name.replace(straight, "").into(), |owner| owner.replace(straight, "").into())
}

fn trim_joiners(name: &str) -> &str {
    name.trim_matches(|letter: char| matches!(letter, '.' | '-' | '_' | '\'' | '\u{2019}'))
}

/// The chunk if it is `C++`, `C#` or similar, which differ from `C` only by their marks.
fn single_letter_language(chunk: &str) -> Option<&str> {
    let mut letters = chunk.chars();
    let letter = letters.next()?.is_ascii_alphabetic();
    (letter && matches!(letters.as_str(), "++" | "#")).then_some(chunk)
}
