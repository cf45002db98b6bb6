//! Secrets that need more than a prefix: each a pattern around an anchor word.
mod carriers;
mod logins;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::Severity;

/// What the captured value must be before the pattern is believed.
#[derive(Clone, Copy)]
pub(super) enum ValueCheck {
    /// The pattern alone is proof.
    None,
    /// Not a placeholder or a reference.
    NotPlaceholder,
    /// Looks drawn by a machine.
    Random,
    /// Could be drawn from few letters: not words, not a mask.
    NotReadable,
    /// Could be a person's password: kinds of characters mixed, not only words.
    Password,
    /// Base64 of `user:password`.
    BasicPair,
}

/// A pattern and where to look for it.
pub(super) struct Pattern {
    pub(super) name: &'static str,
    pub(super) finds: &'static str,
    pub(super) severity: Severity,
    pub(super) anchors: &'static [&'static str],
    /// Bytes before and after the anchor in which the pattern must lie.
    pub(super) window: (usize, usize),
    /// Group `s`, if named, is the secret itself.
    pub(super) pattern: &'static str,
    pub(super) check: ValueCheck,
    pub(super) positive: &'static str,
    pub(super) negative: &'static str,
}

/// Every pattern, by carrier and by login.
pub(super) static PATTERNS: LazyLock<Vec<&'static Pattern>> =
    LazyLock::new(|| carriers::PATTERNS.iter().chain(logins::PATTERNS).collect());

/// The compiled patterns, each built when its anchor is first seen.
pub(super) struct LazyRegex(OnceLock<Regex>);

impl LazyRegex {
    pub(super) const fn new() -> Self {
        LazyRegex(OnceLock::new())
    }

    pub(super) fn get(&self, pattern: impl Fn() -> Cow<'static, str>) -> &Regex {
        // INVARIANT: every pattern in the tables compiles; the tables' tests build them all.
        self.0.get_or_init(|| RegexBuilder::new(&pattern()).unicode(false).build().expect("a pattern of the tables"))
    }
}
