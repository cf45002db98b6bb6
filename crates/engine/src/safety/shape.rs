//! The small language in which token formats are written, one string a format.
//!
//! `ghp_{w36}` is the literal `ghp_` and 36 letters or digits; `{h32-64}` is 32 to 64 hex digits,
//! `{s20+}` at least 20 of the URL-safe alphabet, `(live|test)` a choice, `{uuid}` a UUID.
//! One shape gives the pattern, the anchor word and a synthetic example, so the three never disagree
//! and no example in this repository can be mistaken for a leaked key.

use super::words::WORD_BYTES_MIN;

/// One piece of a shape.
enum Part<'a> {
    Literal(&'a str),
    Choice(Vec<&'a str>),
    Run { class: Class, least: usize, most: Option<usize> },
    Uuid,
}

#[derive(Clone, Copy)]
struct Class {
    set: &'static str,
    sample: &'static [u8],
}

const UUID_CHARS: usize = 36;

/// A pattern, where its anchor stands in it, and how far it may reach.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) pattern: String,
    pub(super) anchor: String,
    /// The words to look for: the anchor, or its continuations when it is too short to look for.
    pub(super) anchors: Vec<String>,
    /// Bytes that must and may stand before the anchor; zero when the shape starts with it.
    pub(super) lead: (usize, usize),
}

fn class(letter: char) -> Class {
    let (set, sample): (&str, &[u8]) = match letter {
        'w' => ("A-Za-z0-9", b"Kq7ZtB2xYv9LmR4cWn8HsD3jPf6G"),
        'l' => ("a-z0-9", b"k7qz2tb9xv4lm8rc3wn6hs1djp5f"),
        'u' => ("A-Z0-9", b"K7QZ2TB9XV4LM8RC3WN6HS1DJP5F"),
        'h' => ("0-9a-f", b"3f9a1c7e5b0d82f64ce91a7b5d3e"),
        'H' => ("0-9A-F", b"3F9A1C7E5B0D82F64CE91A7B5D3E"),
        'x' => ("0-9a-fA-F", b"3f9A1c7E5b0D82f64cE91a7B5d3e"),
        'd' => ("0-9", b"73920581649307251846"),
        'a' => ("A-Za-z", b"KqZtBxYvLmRcWnHsDjPfGwEuTiOa"),
        'A' => ("A-Z", b"KQZTBXYVLMRCWNHSDJPFG"),
        'z' => ("a-z", b"kqztbxyvlmrcwnhsdjpfg"),
        's' => ("A-Za-z0-9_\\-", b"Kq7ZtB2xYv9LmR4cWn8H_sD3j-Pf6G"),
        'b' => ("A-Za-z0-9+/", b"Kq7ZtB2xYv9LmR4cWn8H+sD3j/Pf6G"),
        'm' => ("A-Za-z0-9_", b"Kq7ZtB2xYv9LmR4cWn8H_sD3jPf6G"),
        'p' => ("A-Za-z0-9_.~\\-", b"Kq7ZtB2xYv9LmR4cWn8H_sD3j.Pf6G"),
        'q' => ("A-Za-z0-9_=.\\-", b"Kq7ZtB2xYv9LmR4cWn8H_sD3j-Pf6G"),
        '2' => ("A-Z2-7", b"KQ7ZT2BXY4VLM3RCW5NHS6DJPFGEU"),
        '5' => ("1-9A-HJ-NP-Za-km-z", b"Kq7ZtB2xYv9LmR4cWn8HsD3jPf6G"),
        other => unreachable!("shape class `{other}` is not in the table"),
    };
    Class { set, sample }
}

fn parse(shape: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = shape;
    while !rest.is_empty() {
        let cut = rest.find(['{', '(']).unwrap_or(rest.len());
        if cut > 0 {
            parts.push(Part::Literal(&rest[..cut]));
            rest = &rest[cut..];
            continue;
        }
        let close = rest.find(['}', ')']).unwrap_or(rest.len() - 1);
        let inner = &rest[1..close];
        parts.push(if rest.starts_with('(') { Part::Choice(inner.split('|').collect()) } else { run(inner) });
        rest = &rest[close + 1..];
    }
    parts
}

fn run(inner: &str) -> Part<'_> {
    if inner == "uuid" {
        return Part::Uuid;
    }
    let letter = inner.chars().next().unwrap_or('w');
    let count = &inner[letter.len_utf8()..];
    let number = |text: &str| text.parse::<usize>().unwrap_or(1);
    let (least, most) = match (count.strip_suffix('+'), count.split_once('-')) {
        (Some(least), _) => (number(least), None),
        (None, Some((least, most))) => (number(least), Some(number(most))),
        (None, None) => (number(count), Some(number(count))),
    };
    Part::Run { class: class(letter), least, most }
}

/// Turns a shape into its pattern; the anchor is the first literal, or the longest when that is short.
pub(super) fn compile(shape: &str) -> Compiled {
    let parts = parse(shape);
    let mut pattern = String::new();
    for part in &parts {
        match part {
            Part::Literal(text) => pattern.push_str(&regex::escape(text)),
            Part::Choice(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| regex::escape(text)).collect();
                pattern.push_str(&format!("(?:{})", texts.join("|")));
            }
            Part::Run { class, least, most } => match most {
                Some(most) => pattern.push_str(&format!("[{}]{{{least},{most}}}", class.set)),
                None => pattern.push_str(&format!("[{}]{{{least},}}", class.set)),
            },
            Part::Uuid => {
                pattern.push_str("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
            }
        }
    }
    let (anchor, lead) = anchor(&parts);
    // With a lead the start is not known exactly, so the pattern may begin anywhere in it.
    let pattern = if lead.1 == 0 { format!("^(?:{pattern})") } else { pattern };
    let anchors = continued(&anchor, &parts);
    Compiled { pattern, anchor, anchors, lead }
}

fn anchor(parts: &[Part]) -> (String, (usize, usize)) {
    const TELLING_CHARS: usize = 3;
    let mut lead = (0, 0);
    let mut best: Option<(&str, (usize, usize))> = None;
    for part in parts {
        let (least, most) = match part {
            Part::Literal(text) => {
                let telling = text.len() >= TELLING_CHARS && best.is_none_or(|(old, _)| old.len() < TELLING_CHARS);
                if best.is_none() || telling {
                    best = Some((text, lead));
                }
                (text.len(), text.len())
            }
            Part::Choice(texts) => {
                let sizes = || texts.iter().map(|text| text.len());
                (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
            }
            Part::Run { least, most, .. } => (*least, most.unwrap_or(*least)),
            Part::Uuid => (UUID_CHARS, UUID_CHARS),
        };
        lead = (lead.0 + least, lead.1 + most);
    }
    best.map_or((String::new(), (0, 0)), |(text, lead)| (text.to_owned(), lead))
}

/// `SK` with every hex digit after it: short anchors are continued by the class that follows.
fn continued(anchor: &str, parts: &[Part]) -> Vec<String> {
    match parts {
        [Part::Literal(text), next @ (Part::Run { .. } | Part::Uuid), ..]
            if *text == anchor && anchor.len() < WORD_BYTES_MIN =>
        {
            let class = if let Part::Run { class, .. } = next { *class } else { class('h') };
            let mut letters: Vec<char> = (b'!'..=b'z')
                .map(char::from)
                .filter(|letter| class.sample_set().contains(letter))
                .map(|letter| letter.to_ascii_lowercase())
                .collect();
            letters.dedup();
            letters.iter().map(|letter| format!("{anchor}{letter}")).collect()
        }
        _ => vec![anchor.to_owned()],
    }
}

impl Class {
    /// Every character of the class, its ranges written out.
    fn sample_set(self) -> Vec<char> {
        let signs: Vec<char> = self.set.chars().filter(|sign| *sign != '\\').collect();
        let mut all = Vec::new();
        let mut at = 0;
        while at < signs.len() {
            match (signs.get(at + 1), signs.get(at + 2)) {
                (Some('-'), Some(&last)) => {
                    all.extend(signs[at]..=last);
                    at += 3;
                }
                _ => {
                    all.push(signs[at]);
                    at += 1;
                }
            }
        }
        all
    }
}

/// A synthetic text of this shape; `masked` fills every run with one letter, as documentation does.
pub(super) fn example(shape: &str, masked: bool) -> String {
    const SPARE_CHARS: usize = 4;
    let mut text = String::new();
    let mut turn = 0_usize;
    for part in parse(shape) {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Choice(texts) => text.push_str(texts.first().copied().unwrap_or_default()),
            Part::Uuid if masked => text.push_str("00000000-0000-0000-0000-000000000000"),
            Part::Uuid => text.push_str("7c9e6b1a-4d2f-4e83-9b57-d1f60a3c8e24"),
            Part::Run { class, least, most } => {
                let count = if most.is_none() { least + SPARE_CHARS } else { least };
                for index in 0..count {
                    // Striding by the turn keeps two runs of one shape from being equal.
                    let pick = if masked { 0 } else { index + turn * 5 + index / class.sample.len() * 3 };
                    text.push(char::from(class.sample[pick % class.sample.len()]));
                }
                turn += 1;
            }
        }
    }
    text
}

/// A text in which every `{…}` of the shape language is replaced by an example; other braces stay.
pub(super) fn fill(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (head, tail) = rest.split_at(open);
        out.push_str(head);
        let close = tail.find('}').map_or(1, |at| at + 1);
        let inner = &tail[1..close.max(2) - 1];
        let is_run = inner == "uuid"
            || inner.len() > 1
                && "wluhHxdaAzsbmp25".contains(&inner[..1])
                && inner[1..].bytes().all(|byte| byte.is_ascii_digit());
        if is_run {
            out.push_str(&example(&tail[..close], false));
            rest = &tail[close..];
        } else {
            out.push('{');
            rest = &tail[1..];
        }
    }
    out.push_str(rest);
    out
}
