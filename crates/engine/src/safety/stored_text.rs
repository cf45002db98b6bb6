//! Strings beside memories (names, ids, reasons, queries) before they are stored: judged, and redacted if no door has
//! refused them.
//!
//! The same names come with every call, so each thread remembers the texts it has found clean.

use std::cell::RefCell;
use std::collections::HashSet;

use super::anchor_index::{ANCHOR_INDEX, AnchorTarget};
use super::scan::{RuleHit, RuleWeight};
use super::{Concern, Finding};

/// How a stored string is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextClass {
    /// Words of people and models: every secret rule.
    Free,
    /// A name or id that another system may have given out. Random ones are ordinary, so only secrets with a known
    /// format count.
    Identifier,
}

/// Texts that a thread remembers as clean, per class. The memo is emptied when it is full.
const REMEMBERED_MAX: usize = 1_024;
/// Longest text that is remembered; longer ones are rare and are scanned again.
const REMEMBERED_BYTES_MAX: usize = 2_048;
/// No token format is shorter.
const TOKEN_BYTES_MIN: usize = 12;

thread_local! {
    static CLEAN: RefCell<[HashSet<Box<str>>; 2]> = RefCell::default();
}

/// The rule of the known format (token, key block, URL with a password) that an identifier holds.
pub fn find_token_format(name: &str) -> Option<&'static str> {
    find_secrets(name, TextClass::Identifier).first().map(|finding| finding.rule)
}

/// Whether a text holds the beginning of any known format. Much cheaper than [`find_secrets`], and never false where
/// that finds a format that is not encoded.
pub(crate) fn may_hold_token_format(text: &str) -> bool {
    let mut holds = false;
    ANCHOR_INDEX.words.find_all(text.as_bytes(), |target, _, _| {
        holds |= match target {
            AnchorTarget::Shape(_) | AnchorTarget::Reversed(_) | AnchorTarget::Pattern(_) | AnchorTarget::Pem => true,
            // A URL holds a password before its `@` only.
            AnchorTarget::Address => text.contains('@'),
            AnchorTarget::Label(_)
            | AnchorTarget::Mark(_)
            | AnchorTarget::Order(_)
            | AnchorTarget::Trigger
            | AnchorTarget::Disguise(_) => false,
        };
    });
    holds
}

/// Findings of concern `secret`, ordered by start. Clean texts are remembered.
pub(crate) fn find_secrets(text: &str, class: TextClass) -> Vec<Finding> {
    if is_plainly_clean(text, class) || is_remembered(text, class) {
        return Vec::new();
    }
    let mut hits = super::collect_hits(text);
    if class == TextClass::Identifier {
        hits.extend(glued_starts(text).flat_map(|start| hits_from(text, start)));
    }
    hits.retain(|hit| {
        hit.finding.concern == Concern::Secret && (class == TextClass::Free || hit.weight >= RuleWeight::Shape)
    });
    if hits.is_empty() {
        remember_clean(text, class);
    }
    super::merge::merge_hits(text, hits)
}

/// Starts of the rest of an identifier behind each of its first separators. In prose a token stands alone; in an
/// identifier it may be glued to a prefix, such as `run-ghp_…`.
fn glued_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    const STARTS_MAX: usize = 8;
    let separators = text.char_indices().filter(|(_, c)| matches!(c, '-' | '_' | '.' | '/' | ':' | '|'));
    separators.map(|(at, _)| at + 1).filter(|start| text.len() - start >= TOKEN_BYTES_MIN).take(STARTS_MAX)
}

fn hits_from(text: &str, start: usize) -> Vec<RuleHit> {
    let mut hits = super::collect_hits(text.get(start..).unwrap_or_default());
    for hit in &mut hits {
        hit.finding.start += start;
        hit.finding.end += start;
    }
    hits
}

/// Ids, digests, numbers and times: hexadecimal digits and separators. Also identifiers shorter than any token.
fn is_plainly_clean(text: &str, class: TextClass) -> bool {
    (class == TextClass::Identifier && text.len() < TOKEN_BYTES_MIN)
        || text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b':' | b'.' | b'T' | b'Z'))
}

fn is_remembered(text: &str, class: TextClass) -> bool {
    CLEAN.with_borrow(|[free, identifiers]| match class {
        TextClass::Free => free.contains(text),
        TextClass::Identifier => identifiers.contains(text) || free.contains(text),
    })
}

fn remember_clean(text: &str, class: TextClass) {
    if text.len() > REMEMBERED_BYTES_MAX {
        return;
    }
    CLEAN.with_borrow_mut(|[free, identifiers]| {
        let remembered = if class == TextClass::Free { free } else { identifiers };
        if remembered.len() >= REMEMBERED_MAX {
            remembered.clear();
        }
        remembered.insert(text.into());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_other_systems_pass_and_tokens_do_not() {
        let passes = [
            "conv_6f8a2b1c9d3e4f5a6b7c8d9e0f1a2b3c",
            "auth0|5f7c8ec7c33c6c004bbafe82",
            "thread_Ab3xK9pLm2QzR7tVw4YhN8sD",
            "arn:aws:sts::123456789012:assumed-role/deploy/i-0abcd1234efgh5678",
            "T024BE7LD/C024BE91L/1718030400.123456",
            "7c9e6679-7425-40de-944b-e07fc1f90ae7",
            "dXNlcjoxMjM0NTY3ODkwOmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6",
            "msg-01JZ8X5V3N4Q6R7S8T9W0YABCD",
            "spiffe://prod.example.org/ns/web/sa/checkout",
            "ann@example.com",
        ];
        for id in passes {
            assert_eq!(find_token_format(id), None, "{id}");
        }
        let token = ["gh", "p_"].concat() + "R4nd0mLyDr4wnCh4r4ct3rsF0rTh1sT3st99";
        for held in [token.clone(), format!("run-{token}"), format!("user:{token}"), format!("a/{token}/b")] {
            assert!(find_token_format(&held).is_some(), "{held}");
            // Remembered verdicts are those of the same text only.
            assert!(find_token_format(&held).is_some(), "{held}");
        }
        let url = ["postgres://app:", "Kx7vQ2mL9rT4", "@db.internal/orders"].concat();
        assert!(find_token_format(&url).is_some());
    }

    #[test]
    fn a_text_that_is_clean_as_an_identifier_may_be_a_secret_in_prose() {
        let random = "value Zx8kQ2mL9rT4vB7nC3pD6fG1hJ5sW0yEuIoAaXcV";
        assert!(find_secrets(random, TextClass::Identifier).is_empty());
        assert_eq!(find_secrets(random, TextClass::Free).len(), 1);
    }
}
