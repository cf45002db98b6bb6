//! Identifiers that contain a label word and name no secret: `token_count`, `keyboard`, `cacheKey`. The word lists are
//! in `labels.rs`.
use std::sync::LazyLock;

use super::labels::{HARMLESS_ENDINGS, HARMLESS_KEY_WORDS, HARMLESS_STARTS, LabelClaim};
use super::value_stats::ValueStats;
use super::word_list::WordList;

/// Whether the label is a random identifier itself, such as `run_Kq7Zjwt2xYv9LmR4`; a label word in it is chance.
pub(super) fn is_random_name(label: &str) -> bool {
    const NAME_CHARS_MIN: usize = 20;
    label.len() >= NAME_CHARS_MIN && ValueStats::from_bytes(label.as_bytes()).is_random()
}

/// Whether the label is a harmless name such as `token_count`, `maxTokens`, `passed` or `public_key`. The label word is
/// at `word_start..word_end` of it.
pub(super) fn is_harmless_label(label: &str, word_start: usize, word_end: usize) -> bool {
    let bytes = label.as_bytes();
    let name = label.trim_start_matches(|mark: char| !mark.is_alphanumeric());
    let is_edge = |at: usize| {
        bytes[at].is_ascii_punctuation() || bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase()
    };
    let last = (1..bytes.len()).rev().find(|&at| is_edge(at)).map(|at| label[at..].trim_start_matches(['_', '-', '.']));
    let ending = last.is_some_and(|last| !last.is_empty() && HARMLESS_ENDINGS.contains(last));
    let opened = is_harmless_start(name);
    let word = &label[word_start.min(label.len())..word_end.min(label.len())];
    let tail = &bytes[word_end.min(bytes.len())..];
    let plural = tail == b"s"
        && ["token", "secret", "key", "password"].iter().any(|name| word.to_ascii_lowercase().ends_with(name));
    // `passed` and `bypass-list` are no passwords; `db_pass`, `passwd` and `passphrase` are.
    let verb = word.eq_ignore_ascii_case("pass")
        && (tail.first().is_some_and(u8::is_ascii_lowercase)
            && ![&b"w"[..], b"phrase", b"code"].iter().any(|rest| tail.starts_with(rest))
            || word_start >= 2 && bytes[word_start - 2..word_start].eq_ignore_ascii_case(b"by"));
    ending || opened || plural || verb
}

/// Words that may stand beside a service's name in the label of a key: `datadog_prod`. Any other word makes it a
/// setting: `datadog_site`. Comma-separated; to add one, append it.
static VENDOR_LABEL_WORDS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "api,app,auth,bot,prod,production,staging,dev,test,live,sandbox,default,main,access,login,cred,creds,\
     personal,admin,private,my,our,rest,client,svc,v1,v2,v3,eu,us,env,x,config,global,delivery,signing,\
     management,preview,encryption,ingest,readonly,server,cloud,hq,io,ai,master,sdk,cli",
    )
});

/// Whether the label word means something else for its claim: `keyboard`, `cacheKey`, `datadog_site`. `from` is the
/// start of the label in the text, `word` the span of the word in the label.
pub(super) fn has_other_meaning(claim: LabelClaim, text: &str, from: usize, label: &str, word: (usize, usize)) -> bool {
    match claim {
        LabelClaim::Vendor => {
            let beside = |part: &str| {
                part.split(['_', '-', '.']).all(|piece| piece.is_empty() || VENDOR_LABEL_WORDS.contains(piece))
            };
            !beside(&label[..word.0]) || !beside(label.get(word.1..).unwrap_or_default())
        }
        // The label is `key` alone: the word before it says which key, as in "the cache key is …".
        LabelClaim::KeySuffix if label.len() == word.1 - word.0 => {
            let before = text[..from].trim_end_matches([' ', '`', '"', '\'']);
            let start = before.rfind(|mark: char| !mark.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            before
                .get(start..)
                .is_some_and(|word| !word.is_empty() && (is_harmless_start(word) || HARMLESS_KEY_WORDS.contains(word)))
        }
        LabelClaim::KeySuffix => {
            let name = label[..word.0].trim_end_matches(['_', '-', '.']);
            let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
            word.1 < label.len() || HARMLESS_KEY_WORDS.contains(name) || HARMLESS_KEY_WORDS.contains(last)
        }
        LabelClaim::Weak | LabelClaim::Key | LabelClaim::Password => false,
    }
}

/// Whether the name begins with a harmless word that ends at the name's end, at a separator or at a camel-case hump:
/// `mapKey`, but not `MAPQUEST`.
fn is_harmless_start(name: &str) -> bool {
    let bytes = name.as_bytes();
    HARMLESS_STARTS.prefixes_of(name).any(|word| match bytes.get(word.len()) {
        Some(next) if next.is_ascii_uppercase() => bytes[word.len() - 1].is_ascii_lowercase(),
        // A non-ASCII letter continues the word: `hasło` is not `has`.
        Some(next) => next.is_ascii() && !next.is_ascii_lowercase(),
        None => true,
    })
}

/// Whether the label is part of a resource name (`arn:aws:secretsmanager:…:secret:orders/db`) or of an image reference
/// (`registry/token:1.2`).
pub(super) fn is_in_resource_name(text: &str, from: usize, to: usize) -> bool {
    const NAME_BYTES_MAX: usize = 90;
    let bytes = &text.as_bytes()[from.saturating_sub(NAME_BYTES_MAX)..from];
    let start = bytes
        .iter()
        .rposition(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'('))
        .map_or(0, |at| at + 1);
    let image =
        bytes.ends_with(b"/") && matches!(text.as_bytes()[to..], [b':', next, ..] if !next.is_ascii_whitespace());
    image || bytes[start..].starts_with(b"arn:") || bytes[start..].starts_with(b"urn:")
}
