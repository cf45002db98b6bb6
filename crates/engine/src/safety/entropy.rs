//! Long runs without a name: decoded where they can be, judged by entropy where they cannot.
use super::Severity;
use super::context::is_public;
use super::scan::{Hit, Weight};
use super::value::{Look, is_uuid};
use super::{decode, documented};

/// SPEC: 4.5 bits a character over 40 characters or more is a secret.
const ENTROPY_BITS_MIN: f32 = 4.5;
const ENTROPY_CHARS_MIN: usize = 40;
/// Shorter runs are neither decoded nor looked at.
const RUN_CHARS_MIN: usize = 16;
const DECODE_CHARS_MIN: usize = 20;
const HEX_CHARS_MIN: usize = 32;
/// A line of wrapped base64 is at least this wide.
const WRAPPED_CHARS_MIN: usize = 56;
/// How far after a label an unnamed value still belongs to it.
const NEARBY_BYTES: usize = 110;
const NEARBY_CHARS_MIN: usize = 18;

/// What a run turned out to be.
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What the first pass over a view learnt.
pub(super) struct Known<'k> {
    /// Public blocks (certificates, public keys), in order.
    pub(super) exempt: &'k [(usize, usize)],
    /// Ends of labels that name a secret, in order.
    pub(super) labels: &'k [usize],
}

/// Walks the runs of a view: texts found inside go to `decoded`, secrets to `hits`.
pub(super) fn walk(text: &str, known: &Known, hits: &mut Vec<Hit>, decoded: &mut Vec<Decoded>) {
    let bytes = text.as_bytes();
    let mut cursor = Cursor::default();
    let mut at = 0;
    while at < bytes.len() {
        if !in_run(bytes[at]) {
            cursor.pass(bytes, at);
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|&&byte| in_run(byte)).count();
        if end - at >= RUN_CHARS_MIN && !cursor.is_exempt(known.exempt, at) {
            let padded = end + bytes[end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
            let wrapped = wrapped_end(bytes, at, padded);
            if let Some(found) = wrapped.and_then(|wrapped| decode_run(bytes, at, wrapped)) {
                at = found.end;
                decoded.push(found);
                continue;
            }
            match decode_run(bytes, at, padded) {
                Some(found) => decoded.push(found),
                None => judge(bytes, (at, end, padded), &mut cursor, known, hits),
            }
        }
        at = end;
    }
    spaced_hex(bytes, decoded);
}

fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

/// Where the walk stands in its line.
#[derive(Default)]
struct Cursor {
    in_address: bool,
    exempt: usize,
    label: usize,
}

impl Cursor {
    fn pass(&mut self, bytes: &[u8], at: usize) {
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

    fn is_labelled(&mut self, labels: &[usize], at: usize) -> bool {
        while labels.get(self.label + 1).is_some_and(|&end| end <= at) {
            self.label += 1;
        }
        labels.get(self.label).is_some_and(|&end| end <= at && at - end <= NEARBY_BYTES)
    }
}

/// The end of base64 that goes on over the following lines.
fn wrapped_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    if end - start < WRAPPED_CHARS_MIN {
        return None;
    }
    let mut last = end;
    loop {
        let gap = bytes[last..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>')).count();
        if gap == 0 || !bytes[last..last + gap].contains(&b'\n') {
            break;
        }
        let next = last + gap;
        let run = bytes[next..].iter().take_while(|&&byte| in_run(byte) || byte == b'=').count();
        let closed = matches!(bytes.get(next + run), None | Some(b'\n' | b'\r'));
        if run == 0 || !closed {
            break;
        }
        last = next + run;
        if run < WRAPPED_CHARS_MIN {
            break;
        }
    }
    (last > end).then_some(last)
}

fn decode_run(bytes: &[u8], start: usize, end: usize) -> Option<Decoded> {
    let run = &bytes[start..end];
    if run.len() < DECODE_CHARS_MIN {
        return None;
    }
    let plain = run.len() >= HEX_CHARS_MIN && run.iter().all(u8::is_ascii_hexdigit);
    let upper = run.len() >= HEX_CHARS_MIN && run.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7' | b'='));
    let text = if plain {
        decode::hex(run).and_then(decode::text)
    } else if upper {
        decode::base32(run).and_then(decode::text).or_else(|| decode::base64(run).and_then(decode::text))
    } else {
        decode::base64(run).and_then(decode::text)
    };
    text.map(|text| Decoded { text, start, end })
}

/// `73 6b 2d …`: pairs with separators between them, as hex dumps print them.
fn spaced_hex(bytes: &[u8], decoded: &mut Vec<Decoded>) {
    const PAIRS_MIN: usize = 12;
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
        if pairs >= PAIRS_MIN
            && let Some(text) = decode::hex(&bytes[at..end]).and_then(decode::text)
        {
            decoded.push(Decoded { text, start: at, end });
        }
        at = end.max(at + 1);
    }
}

fn judge(bytes: &[u8], span: (usize, usize, usize), cursor: &mut Cursor, known: &Known, hits: &mut Vec<Hit>) {
    let (start, end, padded) = span;
    let run = &bytes[start..end];
    let look = Look::at(run);
    if cursor.in_address || look.masked() || look.wordy() || is_uuid(run) || is_path(run, &look) {
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
    let all_kinds = look.upper > 1 && look.lower > 1 && look.digits > 1;
    let drawn = look.random() && !look.hex();
    if run.len() >= NEARBY_CHARS_MIN && drawn && (all_kinds || prefixed(run)) && cursor.is_labelled(known.labels, start)
    {
        return Some(("nearby_secret", Weight::Nearby));
    }
    let alone = drawn && all_kinds && run.len() >= HEX_CHARS_MIN && prefixed(run) && !is_resource_id(run);
    alone.then_some(("prefixed_token", Weight::Nearby))
}

/// `abc_` or `abc-` and then at least 24 characters of one piece.
fn prefixed(run: &[u8]) -> bool {
    const PREFIX_CHARS: std::ops::RangeInclusive<usize> = 2..=12;
    const BODY_CHARS_MIN: usize = 24;
    let Some(cut) = run.iter().position(|&byte| byte == b'_' || byte == b'-') else { return false };
    let body = run[cut + 1..].split(|&byte| byte == b'_' || byte == b'-').map(<[u8]>::len).max().unwrap_or(0);
    PREFIX_CHARS.contains(&cut) && body >= BODY_CHARS_MIN && run[..cut].iter().all(u8::is_ascii_alphanumeric)
}

/// Prefixes of identifiers that services show in the open.
fn is_resource_id(run: &[u8]) -> bool {
    const PREFIXES: &[&str] = &[
        "cus_",
        "pi_",
        "ch_",
        "evt_",
        "req_",
        "price_",
        "prod_",
        "sub_",
        "in_",
        "pm_",
        "acct_",
        "txn_",
        "seti_",
        "cs_",
        "msg_",
        "run_",
        "asst_",
        "thread_",
        "file-",
        "chatcmpl-",
        "resp_",
        "batch_",
        "call_",
        "toolu_",
        "step_",
        "org-",
        "proj_",
        "prj_",
        "dpl_",
        "team_",
        "pk_",
        "pub_",
        "trace_",
        "span_",
        "i-",
        "vol-",
        "snap-",
        "eni-",
        "subnet-",
        "sg-",
        "vpc-",
    ];
    PREFIXES.iter().any(|prefix| run.starts_with(prefix.as_bytes()))
}

/// Slashes between mostly readable names.
fn is_path(run: &[u8], look: &Look) -> bool {
    let slashes = run.iter().filter(|&&byte| byte == b'/').count();
    let dashes = run.iter().filter(|&&byte| byte == b'-' || byte == b'_').count();
    slashes >= 2 && look.wordy_share(4) || dashes >= 3 && look.wordy_share(4)
}

/// Hash syntaxes, media, addresses of chains, and labels of public values.
fn announced_public(bytes: &[u8], start: usize, run: &[u8]) -> bool {
    const LEADS: &[&str] = &[
        "h1:",
        "zh:",
        "sha1:",
        "sha224:",
        "sha256:",
        "sha384:",
        "sha512:",
        "md5:",
        "blake2b:",
        "blake3:",
        "npm:",
        "sha1=",
        "sha256=",
        "sha512=",
        "base64,",
        "ssh-rsa ",
        "ssh-ed25519 ",
        "ssh-dss ",
        "nistp256 ",
        "nistp384 ",
        "nistp521 ",
        "openssh.com ",
        "data:",
    ];
    const STARTS: &[&str] = &[
        "sha1-",
        "sha256-",
        "sha384-",
        "sha512-",
        "md5-",
        "0x",
        "bafy",
        "bafk",
        "Qm",
        "bc1",
        "age1",
        "npub1",
        "addr1",
        "cosmos1",
        "AAAAC3Nza",
        "AAAAB3Nza",
        "AAAAE2Vj",
        "iVBORw0KGgo",
        "/9j/",
        "R0lGOD",
        "UEsDB",
        "JVBERi",
        "AGFzbQ",
        "d09GM",
        "T2dnUw",
        "SUQz",
        "UklGR",
        "Qk0",
        "MII",
        "MEUCI",
        "MEQCI",
        "MFkw",
        "MCow",
        "AQICAH",
        "LS0tLS1CRUdJTiBDRV",
        "LS0tLS1CRUdJTiBQVUJ",
        "Igw",
        "RWQ",
        "RWT",
    ];
    const LABELS: &[&str] = &[
        "integrity",
        "checksum",
        "digest",
        "hash",
        "sha",
        "etag",
        "fingerprint",
        "thumbprint",
        "id-2",
        "id2",
        "request",
        "trace",
        "cursor",
        "nexttoken",
        "pagetoken",
        "continuation",
        "signature",
        "public",
        "pubkey",
        "pub",
        "cert",
        "csr",
        "bundle",
        "authority",
        "encrypted",
        "cipher",
        "cid",
        "revision",
        "message-id",
        "boundary",
        "spki",
        "address",
        "wallet",
        "mint",
        "txid",
        "x5c",
        "x5t",
        "kid",
        "\"n",
        "\"x",
        "\"y",
        "\"e",
        "peer",
        "version",
        "tag:",
        "data,",
        "iv",
        "aad",
        "commitment",
        "merkle",
    ];
    let text = |slice: &[u8]| String::from_utf8_lossy(slice).to_ascii_lowercase();
    let before = text(&bytes[start.saturating_sub(40)..start]);
    let run_text = String::from_utf8_lossy(&run[..run.len().min(24)]);
    if is_public(&run_text)
        || STARTS.iter().any(|lead| run_text.starts_with(lead))
        || LEADS.iter().any(|lead| before.ends_with(lead))
        || before.ends_with("enc[")
        || before.contains("enc[aes")
    {
        return true;
    }
    let label = before.trim_end_matches([' ', '"', '\'', '`', '=', ':', '(', '>', '|', '<', '\t']);
    let label = &label[label.rfind([' ', '\n', ',', '{', '<', ';']).map_or(0, |at| at + 1)..];
    label.len() < before.len()
        && LABELS.iter().any(|word| label.contains(word))
        && !label.contains("secret")
        && !label.contains("private")
}
