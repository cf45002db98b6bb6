//! Long runs of base64 characters: decoded where they hold text, otherwise judged by `unlabelled_run`.
use super::encodings;
use super::scan::RuleHit;
use super::unlabelled_run;

/// Characters of a run below which it is ignored.
const RUN_CHARS_MIN: usize = 16;
const DECODE_CHARS_MIN: usize = 20;
/// Characters of hex or base32 below which it is an id or a hash, not text.
const HEX_CHARS_MIN: usize = 32;
/// Width of a line of wrapped base64 (64 or 76 are usual). Narrower lines count only if the next one is as wide.
const WRAPPED_CHARS_MIN: usize = 56;
const WRAPPED_NARROW_CHARS_MIN: usize = 24;
/// Characters written as numbers (`103, 104, …`) below which they are ordinary numbers.
const NUMBERS_MIN: usize = 12;
/// Bytes after a label within which a random run counts as its value.
const NEARBY_BYTES: usize = 110;

/// A text decoded from `start..end` of a view.
pub(super) struct DecodedSpan {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Results of the anchor pass over the same view.
pub(super) struct KnownRanges<'k> {
    /// Public blocks (certificates, public keys), ascending.
    pub(super) exempt: &'k [(usize, usize)],
    /// Ends of labels that name a secret, ascending.
    pub(super) labels: &'k [usize],
}

/// Walks the runs of a view: decoded texts go to `decoded`, secrets to `hits`.
pub(super) fn scan_runs(text: &str, known: &KnownRanges, hits: &mut Vec<RuleHit>, decoded: &mut Vec<DecodedSpan>) {
    let bytes = text.as_bytes();
    let mut cursor = RunCursor::default();
    let mut at = 0;
    while at < bytes.len() {
        if !is_run_byte(bytes[at]) {
            cursor.pass_separator(bytes, at);
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|&&byte| is_run_byte(byte)).count();
        if end - at >= RUN_CHARS_MIN && !cursor.is_exempt(known.exempt, at) {
            let padded = end + bytes[end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
            let wrapped = if at < cursor.wrapped { None } else { wrapped_end(bytes, at, padded) };
            // A wrapped block is tried once, from its first line: trying it again from every line would be quadratic.
            cursor.wrapped = cursor.wrapped.max(wrapped.unwrap_or(0));
            if let Some(found) = wrapped.and_then(|wrapped| decode_run(bytes, at, wrapped)) {
                at = found.end;
                decoded.push(found);
                continue;
            }
            match decode_run(bytes, at, padded) {
                Some(found) => decoded.push(found),
                None => unlabelled_run::judge_run(bytes, (at, end, padded), &mut cursor, known, hits),
            }
        }
        at = end;
    }
    // Characters written as numbers, in hex or decimal: without a dozen digits there are none.
    if bytes.iter().filter(|byte| byte.is_ascii_digit()).take(NUMBERS_MIN).count() == NUMBERS_MIN {
        decode_spaced_hex(bytes, decoded);
        decode_char_codes(bytes, decoded);
    }
}

/// Letters, digits and the symbols of both base64 alphabets.
const RUN_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/' | b'_' | b'-');
        byte += 1;
    }
    table
};

fn is_run_byte(byte: u8) -> bool {
    RUN_BYTES[usize::from(byte)]
}

/// State of the walk. The positions in the lists only move forward, so all runs together pass each list once.
#[derive(Default)]
pub(super) struct RunCursor {
    /// Inside a URL; its path segments are not judged.
    pub(super) in_address: bool,
    /// Next entry of `KnownRanges::exempt`.
    exempt: usize,
    /// Last label before the walk, in `KnownRanges::labels`.
    label: usize,
    /// End of the last wrapped block that was tried.
    wrapped: usize,
}

impl RunCursor {
    fn pass_separator(&mut self, bytes: &[u8], at: usize) {
        match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' => self.in_address = false,
            b':' if bytes[at..].starts_with(b"://") => self.in_address = true,
            _ => {}
        }
    }

    fn is_exempt(&mut self, exempt: &[(usize, usize)], at: usize) -> bool {
        while exempt.get(self.exempt).is_some_and(|range| range.1 <= at) {
            self.exempt += 1;
        }
        exempt.get(self.exempt).is_some_and(|range| range.0 <= at)
    }

    /// Whether a label ends within [`NEARBY_BYTES`] before `at`.
    pub(super) fn is_labelled(&mut self, labels: &[usize], at: usize) -> bool {
        while labels.get(self.label + 1).is_some_and(|&end| end <= at) {
            self.label += 1;
        }
        labels.get(self.label).is_some_and(|&end| end <= at && at - end <= NEARBY_BYTES)
    }
}

/// End of base64 that continues over the following lines; `None` if it does not.
fn wrapped_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let width = end - start;
    if width < WRAPPED_NARROW_CHARS_MIN {
        return None;
    }
    let mut last = end;
    loop {
        let gap = bytes[last..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>')).count();
        if gap == 0 || !bytes[last..last + gap].contains(&b'\n') {
            break;
        }
        let next = last + gap;
        let run = bytes[next..].iter().take_while(|&&byte| is_run_byte(byte) || byte == b'=').count();
        let closed = matches!(bytes.get(next + run), None | Some(b'\n' | b'\r'));
        if run == 0 || !closed {
            break;
        }
        // Narrow first line: the second must have the same width, or the two are separate values.
        if width < WRAPPED_CHARS_MIN && run != width && last == end {
            break;
        }
        last = next + run;
        // A shorter line is the last one.
        if run < width.min(WRAPPED_CHARS_MIN) {
            break;
        }
    }
    (last > end).then_some(last)
}

/// Decodes one run by the narrowest alphabet that fits: hex, base32, base64. Hex and base32 are valid base64 too, but
/// decode to noise there.
fn decode_run(bytes: &[u8], start: usize, end: usize) -> Option<DecodedSpan> {
    let run = &bytes[start..end];
    if run.len() < DECODE_CHARS_MIN {
        return None;
    }
    let plain = run.len() >= HEX_CHARS_MIN && run.iter().all(u8::is_ascii_hexdigit);
    let upper = run.len() >= HEX_CHARS_MIN && run.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7' | b'='));
    let text = if plain {
        encodings::decode_hex(run).and_then(encodings::bytes_to_text)
    } else if upper {
        encodings::decode_base32(run)
            .and_then(encodings::bytes_to_text)
            .or_else(|| encodings::decode_base64(run).and_then(encodings::bytes_to_text))
    } else {
        encodings::decode_base64(run).and_then(encodings::bytes_to_text)
    };
    text.map(|text| DecodedSpan { text, start, end })
}

/// Decodes hex dumps: `73 6b 2d …`, pairs with one kind of separator between them.
fn decode_spaced_hex(bytes: &[u8], decoded: &mut Vec<DecodedSpan>) {
    let mut at = 0;
    while at + 2 < bytes.len() {
        let pair = |at: usize| {
            bytes.get(at).is_some_and(u8::is_ascii_hexdigit) && bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit)
        };
        let separator = bytes[at + 2];
        if !matches!(separator, b' ' | b':' | b',') || !pair(at) || at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let mut end = at;
        let mut pairs = 0;
        while pair(end) {
            pairs += 1;
            end += 2;
            if bytes.get(end) != Some(&separator) {
                break;
            }
            end += 1;
        }
        if pairs >= NUMBERS_MIN
            && let Some(text) = encodings::decode_hex(&bytes[at..end]).and_then(encodings::bytes_to_text)
        {
            decoded.push(DecodedSpan { text, start: at, end });
        }
        at = end.max(at + 1);
    }
}

/// Decodes characters written as numbers: `0x67, 0x68, …` and `[103, 104, …]`.
fn decode_char_codes(bytes: &[u8], decoded: &mut Vec<DecodedSpan>) {
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'.') {
            at += 1;
            continue;
        }
        let start = at;
        let mut text = String::new();
        let mut end = at;
        while let Some((letter, used)) = parse_char_code(&bytes[at..]) {
            text.push(letter);
            end = at + used;
            let gap = bytes[end..].iter().take(4).take_while(|byte| matches!(byte, b',' | b' ' | b'\n')).count();
            at = end + gap;
            if gap == 0 {
                break;
            }
        }
        if text.len() >= NUMBERS_MIN {
            decoded.push(DecodedSpan { text, start, end });
        }
        at = at.max(start + 1);
    }
}

/// One printable character written as a number, and the length of the number in bytes.
fn parse_char_code(bytes: &[u8]) -> Option<(char, usize)> {
    let (digits, base, lead) = match bytes {
        [b'0', b'x' | b'X', rest @ ..] => (rest, 16, 2),
        _ => (bytes, 10, 0),
    };
    let count = digits.iter().take(4).take_while(|byte| (**byte as char).is_digit(base)).count();
    let value = u8::from_str_radix(std::str::from_utf8(&digits[..count]).ok()?, base).ok()?;
    (value.is_ascii_graphic() || value == b' ').then_some((char::from(value), lead + count))
}
