//! Rule `raw_log`: counts lines with a machine's time stamp.
use super::scan::RuleHit;

/// Lines with a time stamp that a text may have: up to here it is an excerpt, above a dump.
pub(super) const LOG_LINES_MAX: usize = 30;
/// Bytes of a line in which its stamp must start; further in, a time is part of a sentence.
const STAMP_REACH_BYTES: usize = 160;

/// Adds one hit over all stamped lines if there are more than [`LOG_LINES_MAX`].
pub(super) fn find_raw_log(text: &str, hits: &mut Vec<RuleHit>) {
    // Most texts have too few lines and are done here.
    if text.bytes().filter(|&byte| byte == b'\n').count() < LOG_LINES_MAX {
        return;
    }
    let mut count = 0;
    let mut first = None;
    let mut last = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if has_timestamp(line.as_bytes()) {
            count += 1;
            first.get_or_insert(at);
            last = at + line.trim_end().len();
        }
        at += line.len();
    }
    if count > LOG_LINES_MAX {
        hits.push(RuleHit::raw_log(first.unwrap_or(0), last));
    }
}

/// Whether the line has a machine's time stamp: a date with a time to the second, or a Unix time.
fn has_timestamp(line: &[u8]) -> bool {
    let line = strip_line_marks(line);
    // `- 08:00:12 restarted` without a date is a timeline that a person wrote.
    let (line, listed) = line.strip_prefix(b"- ").map_or((line, false), |rest| (strip_line_marks(rest), true));
    if line.len() < 10 || listed && is_clock_time(line) {
        return false;
    }
    let head = &line[..line.len().min(STAMP_REACH_BYTES)];
    is_epoch_stamp(head) || is_klog_stamp(head) || has_clock_stamp(head)
}

/// The line without quote marks, table bars, emphasis and brackets before the stamp.
fn strip_line_marks(mut line: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'>' | b'|' | b'*' | b'[' | b'(' | b'`', rest @ ..] = line {
        line = rest;
    }
    line
}

fn leading_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether the line starts with a Unix time in seconds to nanoseconds: `1773216000.944 INFO …`, `[1773216000944] …`.
fn is_epoch_stamp(head: &[u8]) -> bool {
    let size = leading_digits(head);
    // 10, 13, 16 or 19 digits are s, ms, µs, ns; all begin with 1 until the year 2033.
    let plausible = matches!(size, 10 | 13 | 16 | 19) && head[0] == b'1';
    let ends = matches!(head.get(size), Some(b'.' | b' ' | b'\t' | b':' | b']' | b',' | b'|'));
    // Kernel messages count seconds since boot: `[12345.678901] …`.
    let kernel = size > 0
        && head.get(size) == Some(&b'.')
        && leading_digits(&head[size + 1..]) == 6
        && head.get(size + 7) == Some(&b']');
    plausible && ends || kernel
}

/// Whether the line starts with a klog header: `E0311 08:00:00.556450 …`.
fn is_klog_stamp(head: &[u8]) -> bool {
    matches!(head[0], b'I' | b'W' | b'E' | b'F' | b'D')
        && leading_digits(&head[1..]) == 4
        && head.get(5) == Some(&b' ')
        && is_clock_time(&head[6..])
}

/// Whether the first `hh:mm:ss` of the line is its stamp: nothing but a date, digits or white space before it, or a
/// date right before it (access logs begin with an address, JSON logs with a key).
fn has_clock_stamp(head: &[u8]) -> bool {
    let colons = head.iter().enumerate().filter(|&(at, &byte)| byte == b':' && at >= 2).map(|(at, _)| at - 2);
    let Some(at) =
        colons.into_iter().find(|&at| is_clock_time(&head[at..]) && (at == 0 || !head[at - 1].is_ascii_digit()))
    else {
        return has_structured_epoch(head);
    };
    let before = &head[..at];
    if at == 0 || before.iter().all(|byte| byte.is_ascii_whitespace()) {
        return true;
    }
    has_date(before)
        || at <= 24
            && before
                .iter()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'/' | b'.' | b' ' | b'[' | b'T'))
}

fn is_clock_time(bytes: &[u8]) -> bool {
    bytes.len() >= 8
        && leading_digits(bytes) == 2
        && bytes[2] == b':'
        && leading_digits(&bytes[3..]) == 2
        && bytes[5] == b':'
        && leading_digits(&bytes[6..]) >= 2
}

/// Whether a date stands right before the clock: ISO, slashed, dotted, compact or with a month's name.
fn has_date(before: &[u8]) -> bool {
    const MONTHS: &[&[u8]] =
        &[b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    const DATE_REACH_BYTES: usize = 24;
    let tail = &before[before.len().saturating_sub(DATE_REACH_BYTES)..];
    let named = tail.windows(3).any(|three| MONTHS.iter().any(|month| three.eq_ignore_ascii_case(month)))
        && tail.iter().any(u8::is_ascii_digit);
    let joined = tail.last().is_some_and(|byte| matches!(byte, b'T' | b' ' | b':' | b't' | b'_' | b'-'));
    let numbers = tail.split(|byte| !byte.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    let compact = tail.split(|byte| !byte.is_ascii_digit()).any(|part| part.len() == 8);
    joined && (named || numbers >= 3 || compact)
}

/// Whether a structured line has a Unix time: `{"ts": 1773216000.1, …}`, `time=1773216000 level=…`.
fn has_structured_epoch(head: &[u8]) -> bool {
    let structured =
        head[0] == b'{' || head.starts_with(b"ts=") || head.starts_with(b"time=") || head.starts_with(b"timestamp=");
    let long = head
        .split(|byte| !byte.is_ascii_digit())
        .any(|part| matches!(part.len(), 10 | 13 | 16 | 19) && part[0] == b'1');
    structured && long
}
