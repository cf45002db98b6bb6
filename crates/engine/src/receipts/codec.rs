//! Storage format of a receipt's candidates: tab-separated lines. A receipt has about a hundred candidates, and
//! encoding them as JSON would be most of the cost of a context.

use std::str::FromStr;

use crate::model::id::{MemoryId, VersionId};
use crate::receipts::receipt::ConsideredMemory;
use crate::receipts::render::{ContextBlock, Excerpt};

/// Encodes candidates: a header line with the names of the score parts, then one line per candidate with its fields and
/// its parts in header order. An absent part is an empty field.
pub(crate) fn encode_candidates(candidates: &[ConsideredMemory]) -> String {
    use std::fmt::Write as _;
    let mut names: Vec<&str> =
        candidates.iter().flat_map(|candidate| candidate.parts.keys().map(String::as_str)).collect();
    // The union of all parts: an always-inject memory has none.
    names.sort_unstable();
    names.dedup();
    let mut text = names.join("\t");
    for candidate in candidates {
        let block = match candidate.block {
            Some(ContextBlock::Trusted) => "t",
            Some(ContextBlock::Untrusted) => "u",
            None => "",
        };
        // Writing to a `String` cannot fail. Field order is the storage format: `decode_candidate` reads the same
        // order.
        let _ = write!(
            text,
            "\n{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{block}\t{}\t{}\t{}\t{}",
            candidate.memory.0.simple(),
            candidate.version.0.simple(),
            escape_field(&candidate.store),
            escape_field(candidate.path.as_deref().unwrap_or_default()),
            candidate.trust,
            candidate.kind,
            escape_field(candidate.author.as_deref().unwrap_or_default()),
            u8::from(candidate.stale),
            candidate.score,
            candidate.tokens,
            encode_content_part(candidate),
            escape_field(&candidate.reason),
        );
        for name in &names {
            text.push('\t');
            if let Some(part) = candidate.parts.get(*name) {
                let _ = write!(text, "{part}");
            }
        }
    }
    text
}

/// Decodes candidates; `None` if the text is not in this format.
pub(crate) fn decode_candidates(text: &str) -> Option<Vec<ConsideredMemory>> {
    let mut lines = text.split('\n');
    let names: Vec<&str> = lines.next()?.split('\t').filter(|name| !name.is_empty()).collect();
    lines.map(|line| decode_candidate(line, &names)).collect()
}

/// Fields before the score parts.
const FIXED_FIELDS: usize = 13;

fn decode_candidate(line: &str, names: &[&str]) -> Option<ConsideredMemory> {
    let mut fields = line.split('\t');
    let fixed: Vec<&str> = fields.by_ref().take(FIXED_FIELDS).collect();
    let [memory, version, store, path, trust, kind, author, stale, block, score, tokens, part, reason] = fixed[..]
    else {
        return None;
    };
    let (content_tokens_max, excerpt) = decode_content_part(part)?;
    Some(ConsideredMemory {
        is_erasable: false,
        memory: MemoryId(parse_field(memory)?),
        version: VersionId(parse_field(version)?),
        store: unescape_field(store),
        path: optional_text(path),
        trust: parse_field(trust)?,
        kind: parse_field(kind)?,
        author: optional_text(author),
        stale: stale == "1",
        block: match block {
            "t" => Some(ContextBlock::Trusted),
            "u" => Some(ContextBlock::Untrusted),
            _ => None,
        },
        score: parse_field(score)?,
        tokens: parse_field(tokens)?,
        content_tokens_max,
        excerpt,
        reason: unescape_field(reason),
        parts: names
            .iter()
            .zip(fields)
            .filter(|(_, part)| !part.is_empty())
            .map(|(name, part)| Some(((*name).to_owned(), parse_field(part)?)))
            .collect::<Option<_>>()?,
    })
}

/// The tokens of the content, and after `@` the bytes of an excerpt: `300` or `300@512-1480`.
fn encode_content_part(candidate: &ConsideredMemory) -> String {
    let tokens = candidate.content_tokens_max;
    candidate.excerpt.map_or_else(|| tokens.to_string(), |Excerpt { start, end }| format!("{tokens}@{start}-{end}"))
}

fn decode_content_part(field: &str) -> Option<(usize, Option<Excerpt>)> {
    let Some((tokens, part)) = field.split_once('@') else { return Some((parse_field(field)?, None)) };
    let (start, end) = part.split_once('-')?;
    Some((parse_field(tokens)?, Some(Excerpt { start: parse_field(start)?, end: parse_field(end)? })))
}

fn parse_field<T: FromStr>(field: &str) -> Option<T> {
    field.parse().ok()
}

/// Text of an optional field; empty means `None`.
fn optional_text(field: &str) -> Option<String> {
    (!field.is_empty()).then(|| unescape_field(field))
}

fn escape_field(text: &str) -> std::borrow::Cow<'_, str> {
    match text.contains(['\\', '\t', '\n']) {
        true => text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").into(),
        false => text.into(),
    }
}

fn unescape_field(text: &str) -> String {
    let mut chars = text.chars();
    let mut unescaped = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        unescaped.push(match c {
            // Any other escaped character stands for itself, so `\\` is a backslash.
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                other => other.unwrap_or('\\'),
            },
            c => c,
        });
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::vocabulary::{Kind, Trust};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn candidates_survive_encoding_and_decoding(
            rows in proptest::collection::vec(
                (
                    ".{0,20}",
                    proptest::option::of(".{1,20}"),
                    "[\\PC\t\n\\\\]{0,20}",
                    any::<u32>(),
                    0.0_f64..1.0,
                    0_usize..3,
                ),
                0..5,
            ),
        ) {
            let candidates: Vec<ConsideredMemory> = rows
                .into_iter()
                .map(|(store, path, reason, number, score, parts)| ConsideredMemory {
                    is_erasable: false,
                    memory: MemoryId(uuid::Uuid::from_u128(u128::from(number))),
                    version: VersionId(uuid::Uuid::from_u128(u128::from(number) << 64)),
                    author: path.clone(),
                    store,
                    path,
                    trust: Trust::UserAuthored,
                    kind: Kind::Runbook,
                    stale: number % 2 == 1,
                    score,
                    parts: ["text", "text.words", "trust"][..parts]
                        .iter()
                        .map(|name| ((*name).to_owned(), score))
                        .collect(),
                    block: [None, Some(ContextBlock::Trusted), Some(ContextBlock::Untrusted)][parts],
                    reason,
                    tokens: number as usize,
                    content_tokens_max: 7,
                    excerpt: [None, Some(Excerpt { start: 0, end: 9 }), Some(Excerpt { start: 20, end: 99 })][parts],
                })
                .collect();
            prop_assert_eq!(decode_candidates(&encode_candidates(&candidates)), Some(candidates));
        }
    }

    #[test]
    fn malformed_text_is_rejected() {
        assert_eq!(decode_candidates("text\nnonsense"), None);
        assert_eq!(decode_candidates(""), Some(Vec::new()));
    }
}
