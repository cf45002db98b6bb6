//! Named times: dates and periods in a query ("in May", "last week", "from 1 to 7 July 2023"), in English and UTC.
//! Ranking prefers memories of that time; a search without any word match falls back to filtering by it.
//!
//! - `parse.rs`: which words of a text name a period
//! - `calendar.rs`: single words: months, weekdays, numbers, units
mod calendar;
mod parse;

use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};

use crate::text::words::{self, Term};

/// The periods a query names, and the terms that name them. Ranking does not require a memory to contain those terms:
/// its date is compared instead.
#[derive(Debug, Clone, Default)]
pub struct NamedTimes {
    pub periods: Vec<Period>,
    pub terms: Vec<Term>,
}

/// A range of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// From the first day to the last, both included.
    Days(Date, Date),
    /// As [`Period::Days`], in every year. If the last day comes before the first, the range ends in the next year.
    Yearly(MonthDay, MonthDay),
}

/// Month and day, 1-based, of no particular year. A day beyond the month's end means its last day.
pub type MonthDay = (i8, i8);

impl Period {
    /// First and last day, taking `year` for a yearly period. `None` if the period is a leap day and `year` has none.
    fn in_year(self, year: i16) -> Option<(Date, Date)> {
        let day = |year, (month, day)| {
            let within = Date::new(year, month, day);
            within.or_else(|_| Date::new(year, month, 1).map(Date::last_of_month)).ok()
        };
        match self {
            Period::Days(first, last) => Some((first, last)),
            Period::Yearly(only, last) if only == last => Date::new(year, only.0, only.1).ok().map(|day| (day, day)),
            Period::Yearly(first, last) => Some((day(year, first)?, day(year + i16::from(last < first), last)?)),
        }
    }

    fn is_single_day(self) -> bool {
        matches!(self, Period::Days(first, last) if first == last)
    }

    /// The latest occurrence that has begun by today; a period with a year is returned as it is, even in the future.
    fn latest_occurrence(self, today: Date) -> Option<(Date, Date)> {
        let years = (0..LEAP_YEARS_APART).map(|back| today.year() - back);
        let named = matches!(self, Period::Days(..));
        years.filter_map(|year| self.in_year(year)).find(|(first, _)| named || *first <= today)
    }
}

/// Decay constants of the match outside of a period: after so many days, 1/e of it is left. After the period longer
/// than before, because events are usually recorded after they happen.
const AFTER_DAYS: f64 = 7.0;
const BEFORE_DAYS: f64 = 3.0;
/// Start of the decay, so that a memory outside scores clearly below one inside.
const OUTSIDE_FIT: f64 = 0.7;
/// Years to look at to find a 29 February (except around 1900 and 2100, which have none).
const LEAP_YEARS_APART: i16 = 4;

/// The times a text names, relative to `now` in microseconds since the epoch.
pub fn parse_times(text: &str, now: i64) -> NamedTimes {
    let text = parse::separate_words(text);
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let today = utc_date(now);
    let mut times = NamedTimes::default();
    let mut at = 0;
    while at < words.len() {
        let (named, next) = parse::named_period_at(&words, at, today);
        if let Some(named) = named {
            let named_words = words[named.from..named.to].join(" ");
            times.periods.push(named.period);
            times.terms.extend(words::parse_query(&named_words).terms.iter().map(|term| term.term));
        }
        at = next;
    }
    times
}

/// Closeness of a moment (microseconds since the epoch) to the periods: 1 inside one of them, less outside. 0 without
/// periods.
pub fn time_fit(periods: &[Period], moment: i64) -> f64 {
    let moment = utc_date(moment);
    periods.iter().map(|period| days_from_period(*period, moment)).map(closeness_score).fold(0.0, f64::max)
}

/// Smallest time range that covers all periods, up to midnight after the last day. A yearly period is its latest
/// occurrence.
pub fn time_span(periods: &[Period], now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let today = utc_date(now.as_microsecond());
    let named: Vec<(Date, Date)> = periods.iter().filter_map(|period| period.latest_occurrence(today)).collect();
    let begins = |day: Date| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let first = named.iter().map(|(first, _)| *first).min()?;
    let last = named.iter().map(|(_, last)| *last).max()?;
    Some((begins(first)?, begins(last.tomorrow().ok()?)?))
}

/// Exponential decay with the distance in days.
fn closeness_score(days: i32) -> f64 {
    let scale = if days < 0 { BEFORE_DAYS } else { AFTER_DAYS };
    match days {
        0 => 1.0,
        days => OUTSIDE_FIT * (-f64::from(days.abs()) / scale).exp(),
    }
}

/// Days from the period to the moment: 0 inside, negative if the moment is earlier. For a yearly period, its nearest
/// occurrence.
fn days_from_period(period: Period, moment: Date) -> i32 {
    let distance_in_year = |year: i16| {
        let (first, last) = period.in_year(year)?;
        let early = (moment < first).then(|| -days_between(moment, first));
        Some(early.unwrap_or_else(|| if moment > last { days_between(last, moment) } else { 0 }))
    };
    let year = moment.year();
    let years = year - LEAP_YEARS_APART / 2..=year + LEAP_YEARS_APART / 2;
    years.filter_map(distance_in_year).min_by_key(|days| days.abs()).unwrap_or(i32::MAX)
}

fn days_between(first: Date, last: Date) -> i32 {
    first.until(last).map_or(i32::MAX, |span| span.get_days())
}

fn utc_date(micros: i64) -> Date {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 15 June 2025.
    const NOW_MICROS: i64 = 1_750_000_000_000_000;

    fn periods_of(text: &str) -> Vec<String> {
        let word = |period| match period {
            Period::Days(first, last) if first == last => first.to_string(),
            Period::Days(first, last) => format!("{first}..{last}"),
            Period::Yearly(first, last) if first == last => format!("{}-{}", first.0, first.1),
            Period::Yearly(first, last) => format!("{}-{}..{}-{}", first.0, first.1, last.0, last.1),
        };
        parse_times(text, NOW_MICROS).periods.into_iter().map(word).collect()
    }

    #[test]
    fn dates_and_relative_times_are_parsed() {
        let check = |text: &str, expected: &[&str]| assert_eq!(periods_of(text), expected, "{text}");
        check("what broke yesterday?", &["2025-06-14"]);
        check("last week", &["2025-06-02..2025-06-08"]);
        check("this week", &["2025-06-09..2025-06-15"]);
        check("last month", &["2025-05-01..2025-05-31"]);
        check("last year", &["2024-01-01..2024-12-31"]);
        check("last Friday", &["2025-06-13"]);
        check("two weeks ago", &["2025-05-29..2025-06-04"]);
        check("in May", &["5-1..5-31"]);
        check("on May 12", &["5-12"]);
        check("the 3rd of March", &["3-3"]);
        check("on the 3rd of March 2024", &["2024-03-03"]);
        check("the best of May", &["5-1..5-31"]);
        check("7 May", &["5-7"]);
        check("on May the 12th", &["5-12"]);
        check("in May the team left", &["5-1..5-31"]);
        check("on 31 February", &[]);
        check("it may march on", &[]);
        check("what is April's number", &[]);
        check("in April's report", &["4-1..4-31"]);
        check("in March 2024", &["2024-03-01..2024-03-31"]);
        check("on 7 July, 2023 in town", &["2023-07-07"]);
        check("on July 7th, 2023", &["2023-07-07"]);
        check("on 2024-02-29", &["2024-02-29"]);
        check("during the summer", &["6-1..8-31"]);
        check("in 2023", &["2023-01-01..2023-12-31"]);
        check("port 8080 on 31 February 2024", &[]);
        check("in the last place", &[]);
        check("this morning", &["2025-06-15"]);
        check("what broke on Wednesday", &["2025-06-11"]);
        check("on call on Friday in May", &["2025-06-13", "5-1..5-31"]);
        check("incidents of 2025-04", &["2025-04-01..2025-04-30"]);
        check("in the last 48 hours", &["2025-06-13..2025-06-15"]);
        check("the past three weeks", &["2025-05-25..2025-06-15"]);
        check("the last 3 releases", &[]);
        check("", &[]);
    }

    #[test]
    fn ranges_are_parsed() {
        for (text, expected) in [
            ("from May 1 to May 31", "5-1..5-31"),
            ("between May 1 and May 5", "5-1..5-5"),
            ("May 1 to 5", "5-1..5-5"),
            ("on May 1-5, 2023", "2023-05-01..2023-05-05"),
            ("1-5 May", "5-1..5-5"),
            ("from the 1st to the 5th of May 2023", "2023-05-01..2023-05-05"),
            ("from 28 April to 3 May 2023", "2023-04-28..2023-05-03"),
            ("from 28 December to 3 January 2024", "2023-12-28..2024-01-03"),
            ("from May 28 2023 until June 3", "2023-05-28..2023-06-03"),
            ("from December 28 2023 until January 3", "2023-12-28..2024-01-03"),
            ("May 1 – May 5", "5-1..5-5"),
            ("between May and July", "5-1..7-31"),
            ("from November to February", "11-1..2-31"),
            ("May-July 2023", "2023-05-01..2023-07-31"),
            ("from 2021 to 2023", "2021-01-01..2023-12-31"),
            ("2021-2023", "2021-01-01..2023-12-31"),
            ("from 2025-05-01 to 2025-05-09", "2025-05-01..2025-05-09"),
            ("from Monday to Wednesday", "2025-06-09..2025-06-11"),
            ("from Friday to Monday", "2025-06-13..2025-06-16"),
            ("in the past week", "2025-06-08..2025-06-15"),
            ("in the past month", "2025-05-16..2025-06-15"),
            ("this weekend", "2025-06-14..2025-06-15"),
            ("last weekend", "2025-06-07..2025-06-08"),
            ("in the last week of May", "5-1..5-31"),
            ("from last week until yesterday", "2025-06-02..2025-06-14"),
            ("since Monday", "2025-06-09..2025-06-15"),
            ("since May", "2025-05-01..2025-06-15"),
            ("since October", "2024-10-01..2025-06-15"),
            ("since last week", "2025-06-02..2025-06-15"),
            ("since 2027", "2027-01-01..2027-12-31"),
            ("before May 2", "1970-01-01..2025-05-01"),
            ("until Friday", "1970-01-01..2025-06-13"),
            ("after May 12", "2025-05-13..2025-06-15"),
            ("the day before yesterday", "2025-06-13"),
            ("the day after May 12", "2025-05-13"),
            ("right after May 12", "5-12"),
            ("two weeks before May 12", "5-12"),
            ("after today", "2025-06-15"),
        ] {
            assert_eq!(periods_of(text), [expected], "{text}");
        }
        for (text, expected) in [
            ("in May and July", &["5-1..5-31", "7-1..7-31"][..]),
            ("on May 1 and on May 5", &["5-1", "5-5"]),
            ("on May 12 to 5 customers in 2023", &["5-12", "2023-01-01..2023-12-31"]),
            ("from 2023 to 2021", &["2023-01-01..2023-12-31", "2021-01-01..2021-12-31"]),
            ("from 1 to 5 nodes", &[]),
            ("between three and five", &[]),
            ("they want to march", &[]),
        ] {
            assert_eq!(periods_of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_moment_fits_inside_a_period_and_less_outside() {
        let may = [Period::Yearly((5, 1), (5, 31))];
        let day =
            |text: &str| text.parse::<Date>().expect("a date").at(12, 0, 0, 0).to_zoned(TimeZone::UTC).expect("utc");
        let fit_on = |text: &str| time_fit(&may, day(text).timestamp().as_microsecond());
        assert_eq!((fit_on("2023-05-01"), fit_on("1999-05-31")), (1.0, 1.0));
        assert!(fit_on("2023-06-02") > fit_on("2023-06-20") && fit_on("2023-06-02") > fit_on("2023-04-29"));
        assert_eq!(time_fit(&[], NOW_MICROS), 0.0);
        let fit_day =
            |text: &str| time_fit(&[Period::Yearly((5, 12), (5, 12))], day(text).timestamp().as_microsecond());
        assert_eq!((fit_day("2023-05-12"), fit_day("2019-05-12")), (1.0, 1.0));
        assert!(fit_day("2023-05-13") < 1.0 && fit_day("2023-05-13") > fit_day("2023-05-28"));
    }

    #[test]
    fn named_times_span_whole_days() {
        let now = Timestamp::from_microsecond(NOW_MICROS).expect("a time");
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let moment = |day: &str| format!("{day}T00:00:00Z").parse::<Timestamp>().expect("a time");
            let expected = expected.map(|(from, to)| (moment(from), moment(to)));
            assert_eq!(time_span(&parse_times(text, NOW_MICROS).periods, now), expected, "{text}");
        };
        check("last week", Some(("2025-06-02", "2025-06-09")));
        check("in May", Some(("2025-05-01", "2025-06-01")));
        check("in October", Some(("2024-10-01", "2024-11-01")));
        check("on May 12", Some(("2025-05-12", "2025-05-13")));
        check("on August 3rd", Some(("2024-08-03", "2024-08-04")));
        check("on February 29", Some(("2024-02-29", "2024-03-01")));
        check("in 2027", Some(("2027-01-01", "2028-01-01")));
        check("yesterday or in 2023", Some(("2023-01-01", "2025-06-15")));
        check("whenever", None);
    }
}
