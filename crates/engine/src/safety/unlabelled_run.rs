//! Rules `high_entropy`, `nearby_secret` and `prefixed_token`: judges runs without a label of their own by entropy, by
//! prefix and by a label shortly before them.
use std::sync::LazyLock;

use super::Severity;
use super::documented_keys;
use super::public_values::{is_announced_public, is_resource_id};
use super::random_runs::{KnownRanges, RunCursor};
use super::scan::{RuleHit, RuleWeight};
use super::value_stats::{ValueStats, is_uuid};
use super::word_list::WordList;

/// Bits per character and characters from which entropy alone makes a run a secret.
const ENTROPY_BITS_MIN: f32 = 4.5;
const ENTROPY_CHARS_MIN: usize = 40;
/// Characters of a run after a label.
const NEARBY_CHARS_MIN: usize = 18;
/// Characters of the body behind a prefix that names a secret (`sk_live_…`), and behind any other prefix.
const TELLING_BODY_CHARS_MIN: usize = 16;
const PREFIXED_BODY_CHARS_MIN: usize = 24;

/// Parts of token prefixes that name a secret. Comma-separated; to add one, append it.
static TELLING_PIECES: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "sk,rk,key,apikey,api,secret,sec,token,tok,pat,live,priv,private,oauth,access,auth,sdk,bot,prv,\
     server,personal,pw,pwd",
    )
});

/// Judges the run with this start, end and end with padding. The cheap tests come first; most runs end there.
pub(super) fn judge_run(
    bytes: &[u8],
    span: (usize, usize, usize),
    cursor: &mut RunCursor,
    known: &KnownRanges,
    hits: &mut Vec<RuleHit>,
) {
    let (start, end, padded) = span;
    let run = &bytes[start..end];
    let stats = ValueStats::from_bytes(run);
    if cursor.in_address
        || stats.is_masked()
        || stats.is_wordy()
        || is_uuid(run)
        || is_readable_path(run, &stats)
        || is_hash_tag(run)
    {
        return;
    }
    let Some((rule, weight)) = suspected_rule(bytes, span, &stats, cursor, known) else { return };
    if !documented_keys::is_documented(run) && !is_announced_public(bytes, start, run) {
        hits.push(RuleHit::secret(rule, Severity::High, weight, start, padded));
    }
}

/// The rule that suspects the run, if any.
fn suspected_rule(
    bytes: &[u8],
    span: (usize, usize, usize),
    stats: &ValueStats,
    cursor: &mut RunCursor,
    known: &KnownRanges,
) -> Option<(&'static str, RuleWeight)> {
    let (start, end, padded) = span;
    let run = &bytes[start..end];
    // The padding counts towards length and entropy, as it is part of the written value.
    if padded - start >= ENTROPY_CHARS_MIN && ValueStats::from_bytes(&bytes[start..padded]).bits >= ENTROPY_BITS_MIN {
        return Some(("high_entropy", RuleWeight::Entropy));
    }
    if !stats.is_random() {
        return None;
    }
    if is_facebook_app_token(bytes, start, run.len()) {
        return Some(("facebook_app_token", RuleWeight::Shape));
    }
    let prefixed = split_prefix(run);
    // Two of each: one capital or one digit occurs in ordinary identifiers.
    let all_kinds = stats.upper > 1 && stats.lower > 1 && stats.digits > 1;
    let body = prefixed.as_ref().map_or(0, |prefixed| prefixed.body_chars);
    let is_public_id = is_resource_id(run);
    if run.len() >= NEARBY_CHARS_MIN
        && !stats.is_hex()
        && !is_public_id
        && (all_kinds || body >= PREFIXED_BODY_CHARS_MIN)
        && cursor.is_labelled(known.labels, start)
    {
        return Some(("nearby_secret", RuleWeight::Nearby));
    }
    let prefixed = prefixed?;
    let has_secret_prefix = prefixed.telling && body >= TELLING_BODY_CHARS_MIN;
    let has_random_body = all_kinds && body >= PREFIXED_BODY_CHARS_MIN && !is_public_id;
    (has_secret_prefix || has_random_body).then_some(("prefixed_token", RuleWeight::Nearby))
}

/// Whether the run is the secret of a Facebook app token: app id, `|`, secret (`1234567890123456|Kq7Z…`). It is judged
/// here because a shape would have only `|` as its anchor, which is too short for the index.
fn is_facebook_app_token(bytes: &[u8], start: usize, chars: usize) -> bool {
    const NUMBER_DIGITS: std::ops::RangeInclusive<usize> = 15..=16;
    const SECRET_CHARS: std::ops::RangeInclusive<usize> = 27..=40;
    let Some(before) = bytes[..start].strip_suffix(b"|").filter(|_| SECRET_CHARS.contains(&chars)) else {
        return false;
    };
    let digits = before.iter().rev().take(NUMBER_DIGITS.end() + 1).take_while(|byte| byte.is_ascii_digit()).count();
    NUMBER_DIGITS.contains(&digits)
}

/// A run with a prefix: `abc_live_…`, `abc-…`.
struct PrefixedRun {
    /// A part of the prefix names a secret, and the body is not a commit behind a dash.
    telling: bool,
    /// Characters of the longest part after the prefix.
    body_chars: usize,
}

/// Splits a run into prefix and body; `None` without a prefix or if the body does not look random.
fn split_prefix(run: &[u8]) -> Option<PrefixedRun> {
    const PREFIX_CHARS_MAX: usize = 24;
    const PIECE_CHARS_MAX: usize = 12;
    let is_joint = |&byte: &u8| byte == b'_' || byte == b'-';
    let in_prefix =
        |piece: &&[u8]| (1..=PIECE_CHARS_MAX).contains(&piece.len()) && piece.iter().all(u8::is_ascii_alphanumeric);
    let mut cut = 0;
    let mut telling = false;
    for piece in run.split(is_joint).take_while(in_prefix) {
        telling |= std::str::from_utf8(piece).is_ok_and(|piece| TELLING_PIECES.contains(piece));
        cut += piece.len() + 1;
    }
    let body = run.get(cut..).filter(|_| cut > 0)?.split(is_joint).max_by_key(|piece| piece.len())?;
    let stats = ValueStats::from_bytes(body);
    let tagged = stats.is_hex() && run[cut - 1] == b'-';
    (cut > 2 && cut <= PREFIX_CHARS_MAX && stats.is_random())
        .then_some(PrefixedRun { telling: telling && !tagged, body_chars: body.len() })
}

/// Whether the run is words and a full hash: `orders-linux-3f9a…`, with the length of MD5, SHA-1 or SHA-256.
fn is_hash_tag(run: &[u8]) -> bool {
    const HASH_CHARS: [usize; 3] = [32, 40, 64];
    let Some(cut) = run.iter().rposition(|&byte| byte == b'-') else { return false };
    let (words, hash) = (&run[..cut], &run[cut + 1..]);
    HASH_CHARS.contains(&hash.len())
        && hash.iter().all(u8::is_ascii_hexdigit)
        && words.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
}

/// Whether the run is readable names with slashes or dashes between them.
fn is_readable_path(run: &[u8], stats: &ValueStats) -> bool {
    let slashes = run.iter().filter(|&&byte| byte == b'/').count();
    let dashes = run.iter().filter(|&&byte| byte == b'-' || byte == b'_').count();
    (slashes >= 2 || dashes >= 3) && stats.has_wordy_share(4)
}
