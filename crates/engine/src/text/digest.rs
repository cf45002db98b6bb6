//! Digests of text: SHA-256 in lower-case hex.

use sha2::{Digest, Sha256};

/// The sha-256 of a memory's content, as lower-case hex.
pub fn content_sha256(content: &str) -> String {
    to_hex(&Sha256::digest(content.as_bytes()))
}

/// Lower-case hex.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 0xf].map(|half| char::from(DIGITS[usize::from(half)]));
    bytes.iter().flat_map(digits).collect()
}
