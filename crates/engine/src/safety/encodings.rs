//! Decoders for base64, hex and base32, and inflating of gzip and zlib, all bounded.

use super::read_counter;

/// Bytes inflated from one run, against compression bombs. Far above the size of a memory.
const INFLATED_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a decoding below which it is valid UTF-8 by chance.
const TEXT_BYTES_MIN: usize = 8;

/// Decodes base64, standard or URL-safe, padding optional. Line breaks and the `>` of quoted mail are skipped.
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
        // A last group of two or three characters holds one or two bytes; one character alone is no valid end.
        2 => out.push((word >> 4) as u8),
        3 => out.extend_from_slice(&[(word >> 10) as u8, (word >> 2) as u8]),
        1 => return None,
        _ => {}
    }
    Some(out)
}

/// Decodes hex digits; everything else (spaces, colons, commas between the pairs) is skipped.
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

/// Decoded bytes as text, inflated first if they are gzip or zlib; `None` if the result is not printable UTF-8. Random
/// bytes practically never are, so a success means that the run was encoded text.
pub(super) fn bytes_to_text(bytes: Vec<u8>) -> Option<String> {
    let bytes = match bytes.as_slice() {
        // gzip (RFC 1952): ten bytes of header, then optional fields by flag. Only the file name (flag 8) is skipped;
        // the other fields are rare.
        [0x1f, 0x8b, 8, flags, ..] if flags & 0x1e == 0 => inflate(bytes.get(10..)?)?,
        [0x1f, 0x8b, 8, 8, ..] => {
            let name = bytes.get(10..)?.iter().position(|&byte| byte == 0)?;
            inflate(bytes.get(10 + name + 1..)?)?
        }
        // zlib (RFC 1950). `x` is also a letter, so bytes that do not inflate are taken as they are.
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
        // Cut off by the bound or by damaged data: what was inflated before is still scanned.
        Err(failure) => Some(failure.output).filter(|out| !out.is_empty()),
    }
}
