//! Undoes escapes (`&#103;`, `\x67`, `%67`) and seams (`"gh" + "p_…"`, `gh<b>p_</b>…`) inside words.
use super::byte_set::byte_set;
use super::read_counter;
use super::secret_documents::find_bytes;
use super::view::Rewrite;

/// Named HTML entities with the character each stands for. Apart from the table of `text::html`: this one holds the
/// punctuation of keys and code, which pages rarely write by name. To add one, write its name with the closing `;`.
const ENTITIES: &[(&str, char)] = &[
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("quot;", '"'),
    ("apos;", '\''),
    ("nbsp;", ' '),
    ("shy;", '\u{ad}'),
    ("zwj;", '\u{200d}'),
    ("zwnj;", '\u{200c}'),
    ("lowbar;", '_'),
    ("period;", '.'),
    ("sol;", '/'),
    ("equals;", '='),
    ("colon;", ':'),
    ("plus;", '+'),
    ("num;", '#'),
    ("commat;", '@'),
    ("dollar;", '$'),
    ("hyphen;", '-'),
    ("dash;", '-'),
    ("excl;", '!'),
    ("Tab;", '\t'),
    ("NewLine;", '\n'),
    ("bsol;", '\\'),
    ("ast;", '*'),
    ("lpar;", '('),
    ("rpar;", ')'),
];

/// Unchanged text kept on each side of an escape: enough for a label before a value and for the rest of a key.
const AROUND_BYTES: usize = 300;

/// The text around escapes and seams with these undone; `None` if there are none.
pub(super) fn undo_escapes(text: &str) -> Option<Rewrite> {
    let escapes = find_escapes(text);
    let (first, last) = (escapes.first()?, escapes.last()?);
    let end = text.floor_char_boundary(last.at + last.used + AROUND_BYTES);
    let mut out = Rewrite::with_capacity(escapes.len() * 4 + AROUND_BYTES);
    let mut at = text.floor_char_boundary(first.at.saturating_sub(AROUND_BYTES));
    for escape in &escapes {
        if escape.at > at + 2 * AROUND_BYTES {
            // A long unchanged stretch is left out: it is scanned in the view as written. The line break keeps its two
            // ends from being read as one word.
            out.push_range(text, at, text.floor_char_boundary(at + AROUND_BYTES));
            out.push('\n', at);
            at = text.floor_char_boundary(escape.at - AROUND_BYTES);
        }
        out.push_range(text, at, escape.at);
        if let Some(letter) = escape.letter {
            out.push(letter, escape.at);
        }
        at = escape.at + escape.used;
    }
    out.push_range(text, at, end);
    Some(out)
}

/// Function calls that join strings. To add one, write it with its opening bracket.
const JOINING_CALLS: &[&str] = &["concat(", "CONCAT(", "Concat(", "join(", "Join("];

/// First bytes of escapes and seams.
const OPENER_BYTES: [bool; 256] = byte_set(b"&\\%\"'<=*`/");

/// One escape or seam in the source.
struct EscapeSpan {
    at: usize,
    /// The character it stands for; `None` for a seam, which stands for nothing.
    letter: Option<char>,
    /// Its length in bytes.
    used: usize,
}

fn find_escapes(text: &str) -> Vec<EscapeSpan> {
    read_counter::record_read(text.len());
    let bytes = text.as_bytes();
    let mut escapes = Vec::new();
    let mut at = 0;
    // Quotes are common and joining calls are rare: the whole text is searched for a call once, at the first quote.
    let mut has_joining_call = None;
    while let Some(next) = bytes[at..].iter().position(|&byte| OPENER_BYTES[usize::from(byte)]) {
        at += next;
        let rest = &bytes[at..];
        let decoded = match bytes[at] {
            b'&' => decode_entity(&text[at..]),
            b'\\' => decode_backslash(rest),
            b'%' => decode_percent(rest),
            b'<' => inline_tag_len(bytes, at).map(|used| (None, used)),
            b'=' => decode_quoted_printable(bytes, at),
            b'*' => emphasis_len(bytes, at).map(|used| (None, used)),
            b'/' => comment_len(bytes, at).map(|used| (None, used)),
            _ => string_seam_len(rest)
                .or_else(|| {
                    let has_joining_call =
                        *has_joining_call.get_or_insert_with(|| JOINING_CALLS.iter().any(|word| text.contains(word)));
                    if has_joining_call { list_seam_len(bytes, at) } else { None }
                })
                .or_else(|| emphasis_len(bytes, at))
                .map(|used| (None, used)),
        };
        match decoded {
            Some((letter, used)) => {
                escapes.push(EscapeSpan { at, letter, used });
                at += used;
            }
            None => at += 1,
        }
    }
    escapes
}

/// Length of `/* … */` inside a word, which a compiler drops.
fn comment_len(bytes: &[u8], at: usize) -> Option<usize> {
    const COMMENT_BYTES_MAX: usize = 24;
    let rest = bytes[at..].strip_prefix(b"/*")?;
    let inside = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
    let close = find_bytes(&rest[..rest.len().min(COMMENT_BYTES_MAX)], b"*/")?;
    let used = close + 4;
    (inside && bytes.get(at + used).is_some_and(u8::is_ascii_alphanumeric)).then_some(used)
}

/// Character of an escape (`None`: it stands for nothing) and its length in bytes.
type DecodedEscape = Option<(Option<char>, usize)>;

fn decode_entity(text: &str) -> DecodedEscape {
    let body = &text[1..];
    if let Some(number) = body.strip_prefix('#') {
        let (digits, radix, lead) = match number.strip_prefix(['x', 'X']) {
            Some(hex) => (hex, 16, 3),
            None => (number, 10, 2),
        };
        // Seven digits suffice for every character; browsers accept a missing `;`, so it is optional here.
        let count = digits.bytes().take(7).take_while(u8::is_ascii_hexdigit).count();
        let letter = u32::from_str_radix(&digits[..count], radix).ok().and_then(char::from_u32)?;
        let close = usize::from(digits.as_bytes().get(count) == Some(&b';'));
        return Some((Some(letter), lead + count + close));
    }
    ENTITIES.iter().find(|(name, _)| body.starts_with(name)).map(|(name, letter)| (Some(*letter), name.len() + 1))
}

fn decode_backslash(bytes: &[u8]) -> DecodedEscape {
    let hex = |from: usize, count: usize| {
        let digits = std::str::from_utf8(bytes.get(from..from + count)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    match bytes.get(1)? {
        b'u' if bytes.get(2) == Some(&b'{') => {
            let count = bytes[3..].iter().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
            let letter = hex(3, count).and_then(char::from_u32)?;
            (bytes.get(3 + count) == Some(&b'}')).then_some((Some(letter), count + 4))
        }
        b'u' => Some((Some(char::from_u32(hex(2, 4)?)?), 6)),
        b'U' => Some((Some(char::from_u32(hex(2, 8)?)?), 10)),
        b'x' => Some((Some(char::from_u32(hex(2, 2)?)?), 4)),
        b'n' => Some((Some('\n'), 2)),
        b't' => Some((Some('\t'), 2)),
        b'"' => Some((Some('"'), 2)),
        b'\\' => Some((Some('\\'), 2)),
        b'/' => Some((Some('/'), 2)),
        // Octal, up to `\177`: higher codes are no ASCII.
        b'0'..=b'1' => {
            let digits = std::str::from_utf8(bytes.get(1..4)?).ok()?;
            Some((Some(char::from_u32(u32::from_str_radix(digits, 8).ok()?)?), 4))
        }
        // Line continuation: drops the break and the indentation of the next line.
        b'\n' | b'\r' => {
            let blank = bytes[1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            Some((None, 1 + blank))
        }
        _ => None,
    }
}

fn decode_percent(bytes: &[u8]) -> DecodedEscape {
    let digits = std::str::from_utf8(bytes.get(1..3)?).ok()?;
    let byte = u8::from_str_radix(digits, 16).ok()?;
    // Keys and labels are ASCII, so escaped UTF-8 sequences may stay as they are.
    byte.is_ascii().then_some((Some(char::from(byte)), 3))
}

/// Length of the seam in `"abc" + "def"`: closing quote, operator or line break, opening quote.
fn string_seam_len(bytes: &[u8]) -> Option<usize> {
    const SEAM_BYTES_MAX: usize = 80;
    let quote = bytes[0];
    let mut at = 1;
    let mut joined = false;
    while let Some(&byte) = bytes.get(at).filter(|_| at < SEAM_BYTES_MAX) {
        match byte {
            b' ' | b'\t' => {}
            b'\n' | b'\r' => joined = true,
            b'+' | b'.' | b'&' | b'~' | b'|' | b'\\' | b'`' => joined = true,
            // `""`: two literals side by side, as shells and C join them.
            _ if byte == quote && (joined || at == 1) => return Some(at + 1),
            b'"' | b'\'' if joined => return Some(at + 1),
            _ => return None,
        }
        at += 1;
    }
    None
}

/// Length of the seam `", "` in `concat("abc", "def")` and `["abc", "def"].join("")`. The call may stand before or
/// after the list, so both sides are searched.
fn list_seam_len(bytes: &[u8], at: usize) -> Option<usize> {
    const LIST_BYTES_MAX: usize = 160;
    let quote = bytes[at];
    let gap = bytes[at + 1..].iter().take(8).take_while(|byte| matches!(byte, b',' | b' ' | b'\n')).count();
    let comma = bytes[at + 1..at + 1 + gap].contains(&b',');
    if !comma || bytes.get(at + 1 + gap) != Some(&quote) {
        return None;
    }
    let around = &bytes[at.saturating_sub(LIST_BYTES_MAX)..bytes.len().min(at + LIST_BYTES_MAX)];
    JOINING_CALLS.iter().any(|word| find_bytes(around, word.as_bytes()).is_some()).then_some(gap + 2)
}

/// Decodes one letter of quoted-printable (`=67=68=70=5F`). Three in a row are required: a single `=AB` is an
/// assignment.
fn decode_quoted_printable(bytes: &[u8], at: usize) -> DecodedEscape {
    const ROW: usize = 3;
    let pair = |at: usize| {
        let digits = bytes.get(at..at + 3).filter(|three| three[0] == b'=')?;
        u8::from_str_radix(std::str::from_utf8(&digits[1..]).ok()?, 16).ok().filter(u8::is_ascii_graphic)
    };
    let letter = pair(at)?;
    let after = (0..ROW).all(|index| pair(at + index * 3).is_some());
    let before = at >= 6 && pair(at - 3).is_some() && pair(at - 6).is_some();
    let between = at >= 3 && pair(at - 3).is_some() && pair(at + 3).is_some();
    (after || before || between).then_some((Some(char::from(letter)), 3))
}

/// Length of Markdown marks inside a word: `gh**p_**…`, ``ab``cd``.
fn emphasis_len(bytes: &[u8], at: usize) -> Option<usize> {
    let mark = bytes[at];
    let in_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let double = matches!(mark, b'*' | b'`') && bytes.get(at + 1) == Some(&mark);
    (double && in_word(at.checked_sub(1).and_then(|at| bytes.get(at))) && in_word(bytes.get(at + 2))).then_some(2)
}

/// Length of an inline HTML tag or comment inside a word: `gh<b>p_</b>…`. Block tags end a word and are kept.
fn inline_tag_len(bytes: &[u8], at: usize) -> Option<usize> {
    const TAG_BYTES_MAX: usize = 40;
    let before = *bytes.get(at.checked_sub(1)?)?;
    let size = bytes[at..].iter().take(TAG_BYTES_MAX).position(|&byte| byte == b'>')? + 1;
    let name = &bytes[at + 1..at + size - 1];
    let inline = [
        &b"b"[..],
        b"i",
        b"em",
        b"strong",
        b"span",
        b"wbr",
        b"wbr/",
        b"/b",
        b"/i",
        b"/em",
        b"/strong",
        b"/span",
        b"u",
        b"/u",
    ]
    .contains(&name)
        || [&b"span "[..], b"b ", b"i ", b"font ", b"br", b"/font", b"code", b"/code"]
            .iter()
            .any(|start| name.starts_with(start))
        || name.starts_with(b"!--") && name.ends_with(b"--");
    let after = bytes.get(at + size).copied().unwrap_or(b' ');
    let in_word =
        |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte == b'<' || byte == b'>';
    (inline && in_word(before) && in_word(after)).then_some(size)
}
