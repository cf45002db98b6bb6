//! Text input (arguments, files, stdin, times) and escaping of text for the terminal.

use std::io::Read;
use std::path::Path;

use engine::ports::Clock;
use engine::text::direction_marks::is_direction_mark;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::error::Failure;

/// Most bytes read from a file or stdin: above every size limit of a memory, small enough to hold in memory.
pub const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Reads content from the argument, from stdin (`-`) or from a file.
pub fn read_content(argument: Option<&str>, file: Option<&Path>) -> Result<String, Failure> {
    match (argument, file) {
        (Some(_), Some(_)) => Err(Failure::user_error("usage", "give the content or `--file`, not both")),
        (Some("-"), None) => read_stdin(),
        (Some(text), None) => Ok(text.to_owned()),
        (None, Some(path)) => read_text_file(path),
        (None, None) => Err(Failure::user_error("usage", "no content given")
            .with_hint("give it as an argument, as `-` for stdin, or with `--file FILE`")),
    }
}

pub fn read_stdin() -> Result<String, Failure> {
    decode_utf8("stdin", read_bounded("stdin", std::io::stdin().lock())?)
}

pub fn read_text_file(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|error| Failure::unreadable_input(&name, &error))?;
    decode_utf8(&name, read_bounded(&name, file)?)
}

fn read_bounded(name: &str, reader: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a full input from a too large one.
    let read = reader.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::unreadable_input(name, &error))?;
    match bytes.len() as u64 > INPUT_BYTES_MAX {
        true => Err(Failure::user_error("shape.too_large", format!("`{name}` is larger than {INPUT_BYTES_MAX} bytes"))),
        false => Ok(bytes),
    }
}

fn decode_utf8(name: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::user_error("shape.utf8", format!("`{name}` is not valid UTF-8 at byte {at}"))
    })
}

/// Parses a time: RFC 3339, a date (its start in UTC), or a span such as `90m`, `12h`, `7d`, `2w`. A span is subtracted
/// from now, or added if `ahead`.
pub fn parse_time(clock: &dyn Clock, text: &str, ahead: bool) -> Result<Timestamp, Failure> {
    // A timestamp needs an offset, so a bare date falls through to the next form.
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if let Ok(date) = text.parse::<Date>()
        && let Ok(at) = date.to_zoned(TimeZone::UTC)
    {
        return Ok(at.timestamp());
    }
    let span = parse_span(text).filter(|span| ahead || !span.is_zero());
    let at = span.and_then(|span| match ahead {
        true => clock.now().checked_add(span).ok(),
        false => clock.now().checked_sub(span).ok(),
    });
    at.ok_or_else(|| {
        Failure::user_error("shape.time", format!("`{}` is not a time", one_line(text)))
            .with_hint("write 2026-01-31, 2026-01-31T12:00:00Z or a span such as 12h, 7d or 2w")
    })
}

/// Parses the time of `--as-of`: like [`parse_time`], but a date means its end.
pub fn parse_as_of(clock: &dyn Clock, text: &str) -> Result<Timestamp, Failure> {
    engine::model::time::parse_as_of(text).map_or_else(|| parse_time(clock, text, false), Ok)
}

fn parse_span(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().next_back()?;
    // The last character may have several bytes, and a cut inside it would panic.
    // A sign is accepted: `-1h` turns the direction around.
    let number: i64 = text[..text.len() - unit.len_utf8()].parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        // Always 24 hours, because spans are counted in UTC.
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return None,
    };
    Some(SignedDuration::from_secs(number.checked_mul(seconds)?))
}

/// Escapes control characters, except newline and tab, so that text cannot control the terminal.
pub fn escape_controls(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() || is_direction_mark(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
        shown
    })
}

/// The text on one line, cut to 100 characters, for table cells.
pub fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 100;
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(CHARS_MAX) {
        // Cut before escaping: an escape sequence is never cut in half, but the result may be longer.
        line.truncate(at);
        line.push('…');
    }
    escape_controls(&line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn times_dates_and_spans_are_parsed() {
        let clock = SystemClock::new("2026-03-10T12:00:00Z".parse().ok());
        let check = |text: &str, ahead: bool, expected: Option<&str>| {
            let at = parse_time(&clock, text, ahead).ok().map(|at| at.to_string());
            assert_eq!(at.as_deref(), expected, "{text}");
        };
        check("2026-01-31", false, Some("2026-01-31T00:00:00Z"));
        check("2026-01-31T01:02:03+01:00", false, Some("2026-01-31T00:02:03Z"));
        check("7d", false, Some("2026-03-03T12:00:00Z"));
        check("12h", true, Some("2026-03-11T00:00:00Z"));
        check("2w", true, Some("2026-03-24T12:00:00Z"));
        for odd in ["", "soon", "7", "d", "99999999999999999999d", "9223372036854775807w", "七d"] {
            check(odd, true, None);
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_controls("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(one_line("a\n  b\u{202e}c"), "a b\\u{202e}c");
        assert_eq!(one_line(&"x".repeat(500)).chars().count(), 101);
    }
}
