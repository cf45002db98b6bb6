//! Decoder for base85 in its three alphabets: Ascii85 (PostScript), RFC 1924 and Z85 (ZeroMQ).
use super::encodings;
use super::random_runs::DecodedSpan;
use super::read_counter;

/// Characters of a run below which it decodes to text by chance.
const RUN_CHARS_MIN: usize = 20;
/// Characters of a run above which it is data, not a secret in a note.
const RUN_CHARS_MAX: usize = 4096;
/// Punctuation that base85 text has and base64 or words do not; fewer, and the run is not tried.
const SIGNS_MIN: usize = 2;

static RFC1924: [u8; 256] =
    digit_table(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~");
static ZEROMQ: [u8; 256] =
    digit_table(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#");
/// Table entry of a byte that is not in the alphabet.
const NO_DIGIT: u8 = u8::MAX;

const fn digit_table(alphabet: &[u8; 85]) -> [u8; 256] {
    let mut table = [NO_DIGIT; 256];
    let mut place = 0;
    while place < alphabet.len() {
        table[alphabet[place] as usize] = place as u8;
        place += 1;
    }
    table
}

/// Decodes every run between white space that is text in one of the alphabets, and adds it to `decoded`.
pub(super) fn decode_runs(text: &str, decoded: &mut Vec<DecodedSpan>) {
    read_counter::record_read(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_graphic()).count();
        if (RUN_CHARS_MIN..=RUN_CHARS_MAX).contains(&length) {
            decoded.extend(decode_run(&bytes[at..at + length], at));
        }
        at += length + 1;
    }
}

fn decode_run(run: &[u8], at: usize) -> Option<DecodedSpan> {
    let signs =
        run.iter().filter(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'/' | b'.')).count();
    if signs < SIGNS_MIN {
        return None;
    }
    // `name=value` and `name: value`: tried as a whole first, since `=` and `:` are digits too, then the value alone.
    let value = run.iter().position(|byte| matches!(byte, b'=' | b':')).map_or(0, |cut| cut + 1);
    let named = value > 1
        && run[..value - 1].iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'"'));
    [Some(0), named.then_some(value)].into_iter().flatten().find_map(|from| {
        let (from, to) = unquoted_span(run, from);
        let body = run.get(from..to).filter(|body| body.len() >= RUN_CHARS_MIN)?;
        read_counter::record_read(body.len());
        let text = [decode_postscript(body), decode_with_table(&RFC1924, body), decode_with_table(&ZEROMQ, body)]
            .into_iter()
            .flatten()
            // Three alphabets give three chances to be wrong, so only ASCII counts as text.
            .find_map(|bytes| encodings::bytes_to_text(bytes).filter(|text| text.is_ascii()))?;
        Some(DecodedSpan { text, start: at + from, end: at + to })
    })
}

/// Span of the run without quotes, trailing commas and the `<~ ~>` of PostScript.
fn unquoted_span(run: &[u8], mut from: usize) -> (usize, usize) {
    let mut to = run.len();
    while to > from && matches!(run[to - 1], b'"' | b'\'' | b'`' | b',' | b';') {
        to -= 1;
    }
    while from < to && matches!(run[from], b'"' | b'\'' | b'`') {
        from += 1;
    }
    if run[from..to].starts_with(b"<~") && run[from..to].ends_with(b"~>") {
        return (from + 2, to - 2);
    }
    (from, to)
}

fn decode_postscript(run: &[u8]) -> Option<Vec<u8>> {
    decode_groups(run, |byte| matches!(byte, b'!'..=b'u').then(|| u64::from(byte - b'!')))
}

fn decode_with_table(table: &[u8; 256], run: &[u8]) -> Option<Vec<u8>> {
    decode_groups(run, |byte| Some(u64::from(table[usize::from(byte)])).filter(|&digit| digit != u64::from(NO_DIGIT)))
}

/// Decodes groups of five digits to four bytes each; a last group of `n` digits holds `n - 1` bytes.
fn decode_groups(run: &[u8], digit: impl Fn(u8) -> Option<u64>) -> Option<Vec<u8>> {
    const BASE: u64 = 85;
    let mut out = Vec::with_capacity(run.len() / 5 * 4 + 4);
    for group in run.chunks(5) {
        if group.len() == 1 {
            return None;
        }
        let mut word = 0;
        for place in 0..5 {
            // Missing digits of the last group count as the highest digit, as the encoder rounds down.
            let value = group.get(place).map_or(Some(BASE - 1), |&byte| digit(byte))?;
            word = word * BASE + value;
        }
        let four = u32::try_from(word).ok()?.to_be_bytes();
        out.extend_from_slice(&four[..group.len() - 1]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, inside: &str) {
        let mut decoded = Vec::new();
        decode_runs(text, &mut decoded);
        assert!(decoded.iter().any(|found| found.text.contains(inside)), "{text}");
    }

    #[test]
    fn the_three_alphabets_are_read() {
        check("<~87cURD]i,\"Ebo80+@p'[Ci:FtDfTZ)+T~>", "Hello World! Hello World!");
        check("blob: NM&qnZy;B1a%^NFAV_6wY;Pb}Z*pv8Ap", "Hello World! Hello World!");
        check("z85=\"xK#0@zY<mxA+]nfaztt5y&pCuz/PV8\"", "hello world! hello world");
    }
}
