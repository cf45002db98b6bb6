//! Times: parsing of those in requests, the same in REST, MCP and the command line; stored ones that are still to come.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

/// Seconds that clocks of several machines may differ: a time so far ahead is no jump.
const CLOCK_SKEW_SECONDS: i64 = 300;

/// Parses an `as_of`: an RFC 3339 time, or a date, which means the last microsecond of that day in UTC.
pub fn parse_as_of(text: &str) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    // One microsecond, the precision of the databases, before the next midnight. The last date there is has none.
    let next = text.parse::<Date>().ok()?.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?;
    next.timestamp().checked_sub(1.microsecond()).ok()
}

/// Whether a stored time lies ahead of the clock by more than clocks differ: the clock was set back since.
pub(crate) fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
    at.duration_since(now) > SignedDuration::from_secs(CLOCK_SKEW_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_means_the_last_microsecond_of_its_day() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_as_of(text).map(|at| at.to_string()).as_deref(), expected, "{text}");
        };
        check("2026-02-28", Some("2026-02-28T23:59:59.999999Z"));
        check("2026-02-28T01:00:00+01:00", Some("2026-02-28T00:00:00Z"));
        for invalid in ["", "today", "2026-02-30", "9999-12-31", "7d"] {
            check(invalid, None);
        }
    }
}
