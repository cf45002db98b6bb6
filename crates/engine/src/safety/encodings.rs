//! Runs of encoded characters and what they decode to, within bounds.

use super::read_counter;

/// Decoded text is looked at up to this size; a note's cap is far below it.
const INFLATED_BYTES_MAX: usize = 256 * 1024;
/// Shorter decodings say too little to be judged as text.
const TEXT_BYTES_MIN: usize = 8;

/// Base64 in either alphabet, padding optional; line breaks and quote marks between lines are skipped.
pub(super) fn decode_base64(run: &[u8]) -> Option<Vec<u8>> {
    read_counter::record_read(run.len());
    let mut out = Vec::with_capacity(run.len() / 4 * 3 + 3);
    let mut word = 0_u32;
    let mut have = 0;
    for &byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\n' | b'\r' | b' ' | b'\t' | b'>' => continue,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        have += 1;
        if have == 4 {
            out.extend_from_slice(&word.to_be_bytes()[1..]);
            word = 0;
            have = 0;
        }
    }
    match have {
        2 => out.push((word >> 4) as u8),
        3 => out.extend_from_slice(&[(word >> 10) as u8, (word >> 2) as u8]),
        1 => return None,
        _ => {}
    }
    Some(out)
}

/// Hexadecimal digits, also with spaces, colons or commas between the pairs.
pub(super) fn decode_hex(run: &[u8]) -> Option<Vec<u8>> {
    read_counter::record_read(run.len());
    let digits: Vec<u8> = run
        .iter()
        .filter(|byte| byte.is_ascii_hexdigit())
        .map(|&byte| (byte as char).to_digit(16).unwrap_or(0) as u8)
        .collect();
    digits.len().is_multiple_of(2).then(|| digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

pub(super) fn decode_base32(run: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(run.len() * 5 / 8);
    let mut word = 0_u64;
    let mut have = 0;
    for &byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'2'..=b'7' => byte - b'2' + 26,
            b'=' => continue,
            _ => return None,
        };
        word = word << 5 | u64::from(value);
        have += 5;
        if have >= 8 {
            have -= 8;
            out.push((word >> have) as u8);
        }
    }
    Some(out)
}

/// The decoded bytes as text, after inflating gzip or zlib; none when they are not text.
pub(super) fn bytes_to_text(bytes: Vec<u8>) -> Option<String> {
    let bytes = match bytes.as_slice() {
        [0x1f, 0x8b, 8, flags, ..] if flags & 0x1e == 0 => inflate(bytes.get(10..)?)?,
        [0x1f, 0x8b, 8, 8, ..] => {
            let name = bytes.get(10..)?.iter().position(|&byte| byte == 0)?;
            inflate(bytes.get(10 + name + 1..)?)?
        }
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => inflate(bytes.get(2..)?).unwrap_or(bytes),
        _ => bytes,
    };
    let text = String::from_utf8(bytes).ok()?;
    let odd = text.chars().filter(|letter| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')).count();
    (text.len() >= TEXT_BYTES_MIN && odd == 0).then_some(text)
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    match miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, INFLATED_BYTES_MAX) {
        Ok(out) => Some(out),
        // What fitted before the bound or the tear is still judged.
        Err(failure) => Some(failure.output).filter(|out| !out.is_empty()),
    }
}
