//! Runs without a name of their own, judged by their entropy, their prefix and what was said before them.
use std::sync::LazyLock;

use super::Severity;
use super::documented;
use super::entropy::{Cursor, Known};
use super::list::List;
use super::public::{announced_public, is_resource_id};
use super::scan::{Hit, Weight};
use super::value::{Look, is_uuid};

/// SPEC: 4.5 bits a character over 40 characters or more is a secret.
const ENTROPY_BITS_MIN: f32 = 4.5;
const ENTROPY_CHARS_MIN: usize = 40;
const NEARBY_CHARS_MIN: usize = 18;
/// A body behind a prefix that speaks of a secret, and one behind any other short prefix.
const TOLD_BODY_CHARS_MIN: usize = 16;
const PREFIXED_BODY_CHARS_MIN: usize = 24;

/// What an issuer writes before a token that is not meant to be shown.
static TELLING_PIECES: LazyLock<List> = LazyLock::new(|| {
    List::new(
        "sk,rk,key,apikey,api,secret,sec,token,tok,pat,live,priv,private,oauth,access,auth,sdk,bot,prv,\
     server,personal,pw,pwd",
    )
});

/// Judges one run: its start, its end, and its end with padding.
pub(super) fn judge(
    bytes: &[u8],
    span: (usize, usize, usize),
    cursor: &mut Cursor,
    known: &Known,
    hits: &mut Vec<Hit>,
) {
    let (start, end, padded) = span;
    let run = &bytes[start..end];
    let look = Look::at(run);
    if cursor.in_address || look.masked() || look.wordy() || is_uuid(run) || is_path(run, &look) || is_tag(run) {
        return;
    }
    let Some((rule, weight)) = suspect(bytes, span, &look, cursor, known) else { return };
    if !documented::is_documented(run) && !announced_public(bytes, start, run) {
        hits.push(Hit::secret(rule, Severity::High, weight, start, padded));
    }
}

/// The rule under which an unnamed run is suspected.
fn suspect(
    bytes: &[u8],
    span: (usize, usize, usize),
    look: &Look,
    cursor: &mut Cursor,
    known: &Known,
) -> Option<(&'static str, Weight)> {
    let (start, end, padded) = span;
    let run = &bytes[start..end];
    // Padding counts: it is part of what was written.
    if padded - start >= ENTROPY_CHARS_MIN && Look::at(&bytes[start..padded]).bits >= ENTROPY_BITS_MIN {
        return Some(("high_entropy", Weight::Entropy));
    }
    if !look.random() {
        return None;
    }
    if is_app_token(bytes, start, run.len()) {
        return Some(("facebook_app_token", Weight::Shape));
    }
    let prefixed = prefixed(run);
    let all_kinds = look.upper > 1 && look.lower > 1 && look.digits > 1;
    let body = prefixed.as_ref().map_or(0, |prefixed| prefixed.body_chars);
    let shown = is_resource_id(run);
    if run.len() >= NEARBY_CHARS_MIN
        && !look.hex()
        && !shown
        && (all_kinds || body >= PREFIXED_BODY_CHARS_MIN)
        && cursor.is_labelled(known.labels, start)
    {
        return Some(("nearby_secret", Weight::Nearby));
    }
    let prefixed = prefixed?;
    let told = prefixed.telling && body >= TOLD_BODY_CHARS_MIN;
    let drawn = all_kinds && body >= PREFIXED_BODY_CHARS_MIN && !shown;
    (told || drawn).then_some(("prefixed_token", Weight::Nearby))
}

/// `1234567890123456|Kq7Z…`: an app's number, a bar and its secret, as Facebook writes app tokens.
fn is_app_token(bytes: &[u8], start: usize, chars: usize) -> bool {
    const NUMBER_DIGITS: std::ops::RangeInclusive<usize> = 15..=16;
    const SECRET_CHARS: std::ops::RangeInclusive<usize> = 27..=40;
    let Some(before) = bytes[..start].strip_suffix(b"|").filter(|_| SECRET_CHARS.contains(&chars)) else {
        return false;
    };
    let digits = before.iter().rev().take(NUMBER_DIGITS.end() + 1).take_while(|byte| byte.is_ascii_digit()).count();
    NUMBER_DIGITS.contains(&digits)
}

/// A run put together as `abc_live_…` or `abc-…`.
struct Prefixed {
    /// A piece of the prefix speaks of a secret, and the body is not a commit behind a dash.
    telling: bool,
    /// The longest piece of what follows, if that looks drawn.
    body_chars: usize,
}

fn prefixed(run: &[u8]) -> Option<Prefixed> {
    const PREFIX_CHARS_MAX: usize = 24;
    const PIECE_CHARS_MAX: usize = 12;
    let is_joint = |&byte: &u8| byte == b'_' || byte == b'-';
    let in_prefix =
        |piece: &&[u8]| (1..=PIECE_CHARS_MAX).contains(&piece.len()) && piece.iter().all(u8::is_ascii_alphanumeric);
    let mut cut = 0;
    let mut telling = false;
    for piece in run.split(is_joint).take_while(in_prefix) {
        telling |= std::str::from_utf8(piece).is_ok_and(|piece| TELLING_PIECES.has(piece));
        cut += piece.len() + 1;
    }
    let body = run.get(cut..).filter(|_| cut > 0)?.split(is_joint).max_by_key(|piece| piece.len())?;
    let look = Look::at(body);
    let tagged = look.hex() && run[cut - 1] == b'-';
    (cut > 2 && cut <= PREFIX_CHARS_MAX && look.random())
        .then_some(Prefixed { telling: telling && !tagged, body_chars: body.len() })
}

/// `orders-linux-3f9a…`: plain words and a whole hash.
fn is_tag(run: &[u8]) -> bool {
    const HASH_CHARS: [usize; 3] = [32, 40, 64];
    let Some(cut) = run.iter().rposition(|&byte| byte == b'-') else { return false };
    let (words, hash) = (&run[..cut], &run[cut + 1..]);
    HASH_CHARS.contains(&hash.len())
        && hash.iter().all(u8::is_ascii_hexdigit)
        && words.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
}

/// Slashes or dashes between mostly readable names.
fn is_path(run: &[u8], look: &Look) -> bool {
    let slashes = run.iter().filter(|&&byte| byte == b'/').count();
    let dashes = run.iter().filter(|&&byte| byte == b'-' || byte == b'_').count();
    (slashes >= 2 || dashes >= 3) && look.wordy_share(4)
}
