//! Table of secrets that take a regex, each tried in a window around an anchor word.
//!
//! `carriers` holds headers, URLs, key files and documents; `logins` holds passwords in commands, configuration and
//! statements. To add a row, fill in every field of [`Pattern`]; the tests check `positive` and `negative`.
mod carriers;
mod logins;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::Severity;

/// Test that the captured value must pass as well.
#[derive(Clone, Copy)]
pub(super) enum ValueCheck {
    /// None: the regex alone is proof.
    None,
    /// Not a placeholder or a reference.
    NotPlaceholder,
    /// Looks machine-generated.
    Random,
    /// Neither words nor a mask. For values from a small alphabet, which never look random.
    NotReadable,
    /// Mixes kinds of characters, as a person's password does, or looks random.
    Password,
    /// Base64 of `user:password`.
    BasicPair,
}

/// One row: a regex and where to try it.
pub(super) struct Pattern {
    /// Name of the rule; stable.
    pub(super) name: &'static str,
    /// What it finds, for the documentation.
    pub(super) finds: &'static str,
    pub(super) severity: Severity,
    /// Words, three bytes or more, at which the regex is tried; ASCII case is ignored.
    pub(super) anchors: &'static [&'static str],
    /// Bytes before the start and after the end of the anchor that the regex sees. With 0 before, the regex starts with
    /// `^` and the anchor must not continue a word. Keep it small: it bounds the work per anchor.
    pub(super) window: (usize, usize),
    /// Byte regex without Unicode classes. The first group that takes part is the secret; without groups the whole
    /// match is.
    pub(super) pattern: &'static str,
    pub(super) check: ValueCheck,
    /// A text that it finds; `{w24}` is filled in by `shape`.
    pub(super) positive: &'static str,
    /// A similar text that must pass.
    pub(super) negative: &'static str,
}

/// All rows.
pub(super) static PATTERNS: LazyLock<Vec<&'static Pattern>> =
    LazyLock::new(|| carriers::PATTERNS.iter().chain(logins::PATTERNS).collect());

/// Regex that is compiled at first use: compiling all of them would take longer than most processes scan.
pub(super) struct LazyRegex(OnceLock<Regex>);

impl LazyRegex {
    pub(super) const fn new() -> Self {
        LazyRegex(OnceLock::new())
    }

    pub(super) fn get(&self, pattern: impl Fn() -> Cow<'static, str>) -> &Regex {
        // INVARIANT: every regex in the tables compiles; the tests run every row.
        self.0.get_or_init(|| RegexBuilder::new(&pattern()).unicode(false).build().expect("a pattern of the tables"))
    }
}
