//! Rules `kubeconfig`, `kubernetes_secret` and `private_key`: documents that are secrets by their structure.
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::Severity;
use super::placeholder;
use super::read_counter;
use super::scan::{RuleHit, RuleWeight};

/// Part of a document. The first five belong to kubeconfigs; `find_documents` relies on that order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentMark {
    Config,
    Clusters,
    Users,
    Contexts,
    Credential,
    Secret,
    /// Ciphertext of SOPS and similar tools, which may be stored.
    Ciphertext,
}

/// Words that mark a part of a document, lower case; the index ignores case. To add a spelling, add a row.
pub(super) const MARK_WORDS: &[(&str, DocumentMark)] = &[
    ("enc[", DocumentMark::Ciphertext),
    ("kind: config", DocumentMark::Config),
    ("kind:config", DocumentMark::Config),
    ("kind: \"config\"", DocumentMark::Config),
    ("\"kind\": \"config\"", DocumentMark::Config),
    ("\"kind\":\"config\"", DocumentMark::Config),
    ("clusters:", DocumentMark::Clusters),
    ("\"clusters\"", DocumentMark::Clusters),
    ("users:", DocumentMark::Users),
    ("\"users\"", DocumentMark::Users),
    ("contexts:", DocumentMark::Contexts),
    ("\"contexts\"", DocumentMark::Contexts),
    ("current-context", DocumentMark::Contexts),
    ("client-key-data", DocumentMark::Credential),
    ("client-certificate-data", DocumentMark::Credential),
    ("certificate-authority-data", DocumentMark::Credential),
    ("kind: secret", DocumentMark::Secret),
    ("kind: \"secret\"", DocumentMark::Secret),
    ("\"kind\": \"secret\"", DocumentMark::Secret),
    ("\"kind\":\"secret\"", DocumentMark::Secret),
];

/// Marks seen in a view.
#[derive(Default)]
pub(super) struct DocumentMarks {
    /// Offset of the first mark of each kind, by the number of the kind.
    seen: [Option<usize>; 7],
    /// End of the last mark.
    last: usize,
}

impl DocumentMarks {
    pub(super) fn add_mark(&mut self, mark: DocumentMark, start: usize, end: usize) {
        self.seen[mark as usize].get_or_insert(start);
        self.last = self.last.max(end);
    }

    fn has_mark(&self, mark: DocumentMark) -> bool {
        self.seen[mark as usize].is_some()
    }

    /// Adds hits for the documents that the marks make up. Keys may come in any order, so the marks are only counted.
    pub(super) fn find_documents(&self, bytes: &[u8], hits: &mut Vec<RuleHit>) {
        let parts = [DocumentMark::Clusters, DocumentMark::Users, DocumentMark::Contexts]
            .into_iter()
            .filter(|&mark| self.has_mark(mark))
            .count();
        let is_config = self.has_mark(DocumentMark::Config) && parts >= 2
            || self.has_mark(DocumentMark::Credential) && parts >= 2 && self.has_mark(DocumentMark::Clusters);
        if is_config {
            let start = self.seen[..5].iter().flatten().copied().min().unwrap_or(0);
            hits.push(RuleHit::secret(
                "kubeconfig",
                Severity::Critical,
                RuleWeight::Document,
                start,
                document_end(bytes, self.last),
            ));
        }
        if self.has_mark(DocumentMark::Secret) {
            find_kubernetes_secrets(bytes, hits);
        }
    }
}

/// End of the document: the last line after `from` that is indented, a list item, a bracket or a `key: value`.
fn document_end(bytes: &[u8], from: usize) -> usize {
    let mut end = line_end(bytes, from);
    while end < bytes.len() {
        let next = line_end(bytes, end + 1);
        let line = &bytes[end + 1..next.max(end + 1)];
        let belongs = line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'>' | b'}' | b']'))
            || line.windows(2).any(|two| two == b": ");
        if !belongs {
            break;
        }
        end = next;
    }
    end
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    let from = from.min(bytes.len());
    bytes[from..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| from + at)
}

/// Adds a hit for each value below `data:` or `stringData:` of a Secret, in YAML or JSON.
fn find_kubernetes_secrets(bytes: &[u8], hits: &mut Vec<RuleHit>) {
    static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = concat!(
            r#"(?m)^[ \t>]*(?:data|stringData):[ \t]*\r?\n((?:[ \t>]+[A-Za-z0-9_.\-"']+:[ \t]*[^\n]+\n?)+)"#,
            r#"|"(?:data|stringData)"\s*:\s*\{([^{}]*)\}"#,
        );
        regex::bytes::RegexBuilder::new(pattern).unicode(false).build().expect("a constant pattern")
    });
    static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r#"["']?[A-Za-z0-9_.\-]+["']?[ \t]*:[ \t]*["']?([^\s"',}]+)"#;
        regex::bytes::RegexBuilder::new(pattern).unicode(false).build().expect("a constant pattern")
    });
    read_counter::record_read(bytes.len());
    for block in BLOCK.captures_iter(bytes) {
        let Some(body) = block.get(1).or_else(|| block.get(2)) else { continue };
        for entry in ENTRY.captures_iter(body.as_bytes()) {
            let Some(found) = entry.get(1) else { continue };
            let text = String::from_utf8_lossy(found.as_bytes());
            let block_scalar = matches!(found.as_bytes(), b"|" | b">" | b"|-" | b">-");
            if !block_scalar && !placeholder::is_placeholder(&text) {
                let start = body.start() + found.start();
                hits.push(RuleHit::secret(
                    "kubernetes_secret",
                    Severity::Critical,
                    RuleWeight::Document,
                    start,
                    start + found.len(),
                ));
            }
        }
    }
}

/// End of the ciphertext `ENC[…]` that opens at `start`; `None` if it is not closed in reach. The search starts at
/// `open` at the earliest and moves it on: a text of many unclosed `ENC[` is read once.
pub(super) fn ciphertext_end(bytes: &[u8], start: usize, open: &mut usize) -> Option<usize> {
    const CIPHERTEXT_BYTES_MAX: usize = 4096;
    let to = bytes.len().min(start + CIPHERTEXT_BYTES_MAX);
    let from = start.max(*open).min(to);
    read_counter::record_read(to - from);
    let close = bytes[from..to].iter().position(|&byte| byte == b']' || byte == b'\n').map(|at| from + at);
    *open = close.unwrap_or(to);
    close
}

/// Kind and span of a PEM block.
pub(super) enum PemBlock {
    /// A private key: a secret.
    Private(usize, usize),
    /// A certificate or a public key: exempt.
    Public(usize, usize),
    /// A header without a body, as in prose.
    Mention,
}

/// Reads the block whose dashes start at `start`. It ends at the next dashes after the header, or with the text: a key
/// that was cut off is still a key.
pub(super) fn read_pem_block(bytes: &[u8], start: usize) -> PemBlock {
    const HEADER_BYTES_MAX: usize = 80;
    const BODY_CHARS_MIN: usize = 24;
    let header_window = &bytes[start..bytes.len().min(start + HEADER_BYTES_MAX)];
    let Some(label_end) = find_bytes(&header_window[10.min(header_window.len())..], b"----").map(|at| at + 10) else {
        return PemBlock::Mention;
    };
    let label = &header_window[..label_end];
    let body_start = start + label_end + header_window[label_end..].iter().take_while(|&&byte| byte == b'-').count();
    let body_end = find_bytes(&bytes[body_start..], b"----").map_or(bytes.len(), |at| body_start + at);
    read_counter::record_read(body_end - body_start);
    // Prose after a mentioned header has a space per word; a body of base64 has few.
    let solid = bytes[body_start..body_end]
        .iter()
        .take(400)
        .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
        .count();
    let spaced = bytes[body_start..body_end].iter().take(200).filter(|&&byte| byte == b' ').count();
    let is_private = find_bytes(label, b"PRIVATE").is_some() || find_bytes(label, b"private").is_some();
    let closed = || bytes[body_end..].starts_with(b"-----END");
    let short_key = || is_private && closed() && is_key_material(&bytes[body_start..body_end]);
    if (solid < BODY_CHARS_MIN || spaced > solid / 3) && !short_key() {
        return PemBlock::Mention;
    }
    let mut end = body_end + bytes[body_end..].iter().take_while(|&&byte| byte == b'-').count();
    if let Some(close) =
        bytes.get(end..).and_then(|rest| find_bytes(&rest[..rest.len().min(HEADER_BYTES_MAX)], b"----"))
    {
        end += close;
        end += bytes[end..].iter().take_while(|&&byte| byte == b'-').count();
    }
    match is_private {
        true => PemBlock::Private(start, end),
        false => PemBlock::Public(start, end),
    }
}

/// Whether a short body is the beginning of a key: base64 throughout, and either DER or mixed kinds of characters.
/// Masks and words (`YOUR KEY HERE`) are not.
fn is_key_material(body: &[u8]) -> bool {
    const KEY_CHARS_MIN: usize = 8;
    let body: Vec<u8> = body.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_base64 = body.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    // DER: a SEQUENCE, which is 0x30 and a length; in base64 `M` and one of `A` to `P`.
    let is_der = matches!(body.as_slice(), [b'M', b'A'..=b'P', ..]);
    let has_kinds =
        [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit].map(|is_kind| body.iter().any(is_kind));
    body.len() >= KEY_CHARS_MIN && is_base64 && (is_der || has_kinds == [true; 3])
}

pub(super) fn find_bytes(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}
