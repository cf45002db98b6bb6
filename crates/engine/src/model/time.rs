//! Times as people name them, the same at every door.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The moment of an `as_of`: RFC 3339, or a date. What stood on a day is what stood at its end, in UTC.
pub fn parse_as_of(text: &str) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    let next = text.parse::<Date>().ok()?.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?;
    next.timestamp().checked_sub(1.microsecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_before_the_next_begins() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_as_of(text).map(|at| at.to_string()).as_deref(), expected, "{text}");
        };
        check("2026-02-28", Some("2026-02-28T23:59:59.999999Z"));
        check("2026-02-28T01:00:00+01:00", Some("2026-02-28T00:00:00Z"));
        for odd in ["", "today", "2026-02-30", "9999-12-31", "7d"] {
            check(odd, None);
        }
    }
}
