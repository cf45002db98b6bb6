//! Times a query names ("in May", "last week", "on 7 July 2023"), to prefer memories from then.
use jiff::civil::{Date, Weekday, date};
use jiff::{Timestamp, ToSpan, tz::TimeZone};

use crate::words::{self, Term};

/// The times a query names, and what it names them with: a memory of that time need not say so.
#[derive(Debug, Clone, Default)]
pub struct Times {
    pub periods: Vec<Period>,
    pub terms: Vec<Term>,
}

/// A stretch of days a query speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// From the first day to the last, both included.
    Days(Date, Date),
    /// A month or season of no particular year: first month and number of months.
    Yearly(i8, i8),
    /// A day of no particular year: month and day.
    DayYearly(i8, i8),
}

impl Period {
    /// Its first and last day, in this year where it names none. A leap day is in few.
    fn in_year(self, year: i16) -> Option<(Date, Date)> {
        match self {
            Period::Days(first, last) => Some((first, last)),
            Period::Yearly(month, months) => Some(months_from(year, month, months)),
            Period::DayYearly(month, day) => Date::new(year, month, day).ok().map(|day| (day, day)),
        }
    }
}

/// Days over which a memory written outside of the named time loses two thirds of the match. People tell of a thing
/// more often after it than before.
const AFTER_DAYS: f64 = 7.0;
const BEFORE_DAYS: f64 = 3.0;
/// A year that has every day.
const LEAP_YEAR: i16 = 2024;
/// Among so many years in a row there is one with a leap day, but for the turn of some centuries.
const LEAP_YEARS_APART: i16 = 4;

/// The times a text names, seen from `now` (microseconds).
pub fn times(text: &str, now: i64) -> Times {
    let words: Vec<&str> =
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '-').filter(|word| !word.is_empty()).collect();
    let today = day(now);
    let mut times = Times::default();
    let mut at = 0;
    while at < words.len() {
        let (period, used) = period(&words, at, today);
        if let Some(period) = period {
            let from = at - day_before(&words, at).map_or(0, |(_, words)| words);
            let said = words[from..at + used].join(" ");
            times.periods.push(period);
            times.terms.extend(words::query(&said).terms.iter().map(|term| term.term));
        }
        at += used;
    }
    times
}

/// How well a moment (microseconds) fits the named times, 0..1.
pub fn fit(periods: &[Period], moment: i64) -> f64 {
    let moment = day(moment);
    periods.iter().map(|period| distance(*period, moment)).map(closeness).fold(0.0, f64::max)
}

/// From the first moment of the named times to the last. A month of no particular year is the latest there was.
pub fn span(periods: &[Period], now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let today = day(now.as_microsecond());
    let days = |period: &Period| {
        let years = (0..LEAP_YEARS_APART).map(|back| today.year() - back);
        let named = matches!(period, Period::Days(..));
        years.filter_map(|year| period.in_year(year)).find(|(first, _)| named || *first <= today)
    };
    let named: Vec<(Date, Date)> = periods.iter().filter_map(days).collect();
    let begins = |day: Date| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let first = named.iter().map(|(first, _)| *first).min()?;
    let last = named.iter().map(|(_, last)| *last).max()?;
    Some((begins(first)?, begins(last.tomorrow().ok()?)?))
}

fn closeness(days: i32) -> f64 {
    let scale = if days < 0 { BEFORE_DAYS } else { AFTER_DAYS };
    (-f64::from(days.abs()) / scale).exp()
}

/// Days from the period to the moment, negative when the moment is earlier.
fn distance(period: Period, moment: Date) -> i32 {
    let of = |year: i16| {
        let (first, last) = period.in_year(year)?;
        let early = (moment < first).then(|| -days_between(moment, first));
        Some(early.unwrap_or_else(|| if moment > last { days_between(last, moment) } else { 0 }))
    };
    let year = moment.year();
    let years = year - LEAP_YEARS_APART / 2..=year + LEAP_YEARS_APART / 2;
    years.filter_map(of).min_by_key(|days| days.abs()).unwrap_or(i32::MAX)
}

fn days_between(first: Date, last: Date) -> i32 {
    first.until(last).map_or(i32::MAX, |span| span.get_days())
}

fn day(micros: i64) -> Date {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::UTC).date()
}

/// The period that starts at a word, if any, and the words it takes.
fn period(words: &[&str], at: usize, today: Date) -> (Option<Period>, usize) {
    let word = |offset: usize| words.get(at + offset).copied().unwrap_or_default();
    let lower = |offset: usize| word(offset).to_ascii_lowercase();
    let first = lower(0);
    if let Ok(exact) = word(0).get(..10).unwrap_or_default().parse::<Date>() {
        return (Some(Period::Days(exact, exact)), 1);
    }
    let before =
        at.checked_sub(1).and_then(|at| words.get(at)).map(|word| word.to_ascii_lowercase()).unwrap_or_default();
    if let Some(month) = month(word(0), &before, word(1)) {
        return after_month(month, day_before(words, at).map(|(day, _)| day), word(1), word(2));
    }
    if day_number(&first).is_some() && month(word(1), "in", "").is_some() {
        // "7 May 2023": the month reads it.
        return (None, 1);
    }
    if let Some(first) = format!("{first}-01").parse::<Date>().ok().filter(|_| first.len() == "2025-06".len()) {
        return (Some(days(months_from(first.year(), first.month(), 1))), 1);
    }
    match first.as_str() {
        "yesterday" => (days_ago(today, 1, 1), 1),
        "today" | "tonight" => (days_ago(today, 0, 0), 1),
        "last" | "past" | "previous" | "this" => match relative(&first, &lower(1), today) {
            Some(period) => (Some(period), 2),
            None => match amount(&lower(1)).and_then(|amount| days_of(amount, &lower(2))) {
                // "the last 48 hours", "the past three weeks".
                Some(days) if first != "this" => (days_ago(today, days, 0), 3),
                _ => (None, 1),
            },
        },
        _ if before == "on" && relative("last", &first, today).is_some() => (relative("last", &first, today), 1),
        _ if lower(2) == "ago" => match (amount(&first), unit_days(&lower(1))) {
            (Some(amount), Some(days)) => (days_ago(today, amount * days + days / 2, amount * days - days / 2), 3),
            _ => (None, 1),
        },
        _ if season(&first).is_some() && matches!(before.as_str(), "in" | "the" | "during" | "last" | "this") => {
            let (month, months) = season(&first).unwrap_or((6, 3));
            match year(word(1)) {
                Some(year) => (Some(days(months_from(year, month, months))), 2),
                None => (Some(Period::Yearly(month, months)), 1),
            }
        }
        _ => match year(word(0)) {
            Some(year) => (Some(Period::Days(date(year, 1, 1), date(year, 12, 31))), 1),
            None => (None, 1),
        },
    }
}

/// "7 May", "the 7th of May": the day that stands before what names the time, and the words that say it.
fn day_before(words: &[&str], at: usize) -> Option<(i8, usize)> {
    let day = |back: usize| day_number(&words.get(at.checked_sub(back)?)?.to_ascii_lowercase());
    let of = at > 0 && words[at - 1].eq_ignore_ascii_case("of");
    day(1).map(|day| (day, 1)).or_else(|| day(2).filter(|_| of).map(|day| (day, 2)))
}

/// "May", "May 2023", "May 7, 2023", "7 May 2023".
fn after_month(month: i8, day_before: Option<i8>, next: &str, over_next: &str) -> (Option<Period>, usize) {
    if day_before.is_none() && next.eq_ignore_ascii_case("the") && day_number(&over_next.to_ascii_lowercase()).is_some()
    {
        // "May the 12th".
        let (period, used) = after_month(month, None, over_next, "");
        return (period, used + 1);
    }
    let day_after = day_number(&next.to_ascii_lowercase());
    let (day, year, used) = match (day_before, day_after) {
        (None, Some(day)) => (Some(day), year(over_next), if year(over_next).is_some() { 3 } else { 2 }),
        (day, _) => (day, year(next), 1 + usize::from(year(next).is_some())),
    };
    let period = match (day, year) {
        (Some(day), Some(year)) => Date::new(year, month, day).ok().map(|day| Period::Days(day, day)),
        (None, Some(year)) => Some(days(months_from(year, month, 1))),
        (Some(day), None) => Date::new(LEAP_YEAR, month, day).ok().map(|_| Period::DayYearly(month, day)),
        (None, None) => Some(Period::Yearly(month, 1)),
    };
    (period, used)
}

fn relative(word: &str, unit: &str, today: Date) -> Option<Period> {
    let back = i32::from(word != "this");
    let monday = i32::from(today.weekday().since(Weekday::Monday));
    match unit {
        "week" => days_ago(today, monday + 7 * back, if back == 1 { monday + 1 } else { 0 }),
        "weekend" => days_ago(today, monday + 2, monday + 1),
        "night" | "evening" | "morning" | "afternoon" => days_ago(today, back, back),
        "month" => {
            let month = today.checked_sub(back.months()).ok()?;
            Some(days(months_from(month.year(), month.month(), 1)))
        }
        "year" => {
            let year = today.year() - i16::from(back == 1);
            Some(Period::Days(date(year, 1, 1), date(year, 12, 31)))
        }
        _ => match (month(unit, "in", ""), season(unit)) {
            (Some(month), _) => Some(Period::Yearly(month, 1)),
            (None, Some((month, months))) => Some(Period::Yearly(month, months)),
            (None, None) => {
                let weekday = WEEKDAYS.iter().position(|(name, _)| *name == unit)?;
                let since = i32::from(today.weekday().since(WEEKDAYS[weekday].1));
                let since = if since == 0 { 7 } else { since };
                days_ago(today, since, since)
            }
        },
    }
}

fn days_ago(today: Date, from: i32, to: i32) -> Option<Period> {
    Some(Period::Days(today.checked_sub(from.days()).ok()?, today.checked_sub(to.days()).ok()?))
}

fn days((first, last): (Date, Date)) -> Period {
    Period::Days(first, last)
}

fn months_from(year: i16, month: i8, months: i8) -> (Date, Date) {
    let first = Date::new(year, month, 1).unwrap_or(Date::MIN);
    (first, first.saturating_add(months.months()).saturating_sub(1.days()))
}

fn month(word: &str, before: &str, after: &str) -> Option<i8> {
    const SHORT_LETTERS: usize = 3;
    let lower = word.to_ascii_lowercase();
    let place =
        MONTHS.iter().position(|name| *name == lower || (lower.len() == SHORT_LETTERS && name.starts_with(&lower)))?;
    // "may" and "march" are also verbs, "mar", "jan" and "sep" anything: these need a sign that a date is meant.
    let certain = lower.len() > SHORT_LETTERS && lower != "march";
    let dated = matches!(
        before,
        "in" | "on" | "since" | "during" | "last" | "this" | "until" | "before" | "after" | "of" | "early" | "late"
    ) || day_number(before).is_some()
        || day_number(&after.to_ascii_lowercase()).is_some()
        || year(after).is_some();
    (certain || dated).then_some(place as i8 + 1)
}

fn day_number(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year(word: &str) -> Option<i16> {
    (word.len() == 4).then(|| word.parse().ok())?.filter(|year| (1970..=2100).contains(year))
}

fn amount(word: &str) -> Option<i32> {
    const COUNTS: &[&str] = &["a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    COUNTS
        .iter()
        .position(|count| *count == word)
        .map(|place| place as i32 + 1)
        .or_else(|| word.parse().ok().filter(|amount| (1..=999).contains(amount)))
}

fn unit_days(word: &str) -> Option<i32> {
    match word.trim_end_matches('s') {
        "day" => Some(1),
        "week" => Some(7),
        "month" => Some(30),
        "year" => Some(365),
        _ => None,
    }
}

/// How many days back so many of a unit reach.
fn days_of(amount: i32, unit: &str) -> Option<i32> {
    match unit.trim_end_matches('s') {
        "hour" => Some((amount + 23) / 24),
        _ => unit_days(unit).map(|days| amount * days),
    }
}

fn season(word: &str) -> Option<(i8, i8)> {
    match word {
        "spring" => Some((3, 3)),
        "summer" => Some((6, 3)),
        "autumn" | "fall" => Some((9, 3)),
        "winter" => Some((12, 3)),
        _ => None,
    }
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: &[(&str, Weekday)] = &[
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 15 June 2025.
    const NOW_MICROS: i64 = 1_750_000_000_000_000;

    #[test]
    fn times_are_read() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<String> = times(text, NOW_MICROS)
                .periods
                .into_iter()
                .map(|period| match period {
                    Period::Days(first, last) if first == last => first.to_string(),
                    Period::Days(first, last) => format!("{first}..{last}"),
                    Period::Yearly(month, months) => format!("{month}+{months}"),
                    Period::DayYearly(month, day) => format!("{month}-{day}"),
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check("what broke yesterday?", &["2025-06-14"]);
        check("last week", &["2025-06-02..2025-06-08"]);
        check("this week", &["2025-06-09..2025-06-15"]);
        check("last month", &["2025-05-01..2025-05-31"]);
        check("last year", &["2024-01-01..2024-12-31"]);
        check("last Friday", &["2025-06-13"]);
        check("two weeks ago", &["2025-05-29..2025-06-04"]);
        check("in May", &["5+1"]);
        check("on May 12", &["5-12"]);
        check("the 3rd of March", &["3-3"]);
        check("on the 3rd of March 2024", &["2024-03-03"]);
        check("the best of May", &["5+1"]);
        check("7 May", &["5-7"]);
        check("on May the 12th", &["5-12"]);
        check("in May the team left", &["5+1"]);
        check("on 31 February", &[]);
        check("it may march on", &[]);
        check("in March 2024", &["2024-03-01..2024-03-31"]);
        check("on 7 July, 2023 in town", &["2023-07-07"]);
        check("on July 7th, 2023", &["2023-07-07"]);
        check("on 2024-02-29", &["2024-02-29"]);
        check("during the summer", &["6+3"]);
        check("in 2023", &["2023-01-01..2023-12-31"]);
        check("port 8080 on 31 February 2024", &[]);
        check("in the last place", &[]);
        check("this morning", &["2025-06-15"]);
        check("what broke on Wednesday", &["2025-06-11"]);
        check("on call on Friday in May", &["2025-06-13", "5+1"]);
        check("incidents of 2025-04", &["2025-04-01..2025-04-30"]);
        check("in the last 48 hours", &["2025-06-13..2025-06-15"]);
        check("the past three weeks", &["2025-05-25..2025-06-15"]);
        check("the last 3 releases", &[]);
        check("", &[]);
    }

    #[test]
    fn a_moment_fits_within_and_fades_outside() {
        let may = [Period::Yearly(5, 1)];
        let day =
            |text: &str| text.parse::<Date>().expect("a date").at(12, 0, 0, 0).to_zoned(TimeZone::UTC).expect("utc");
        let fit_on = |text: &str| fit(&may, day(text).timestamp().as_microsecond());
        assert_eq!((fit_on("2023-05-01"), fit_on("1999-05-31")), (1.0, 1.0));
        assert!(fit_on("2023-06-02") > fit_on("2023-06-20") && fit_on("2023-06-02") > fit_on("2023-04-29"));
        assert_eq!(fit(&[], NOW_MICROS), 0.0);
        let fit_day = |text: &str| fit(&[Period::DayYearly(5, 12)], day(text).timestamp().as_microsecond());
        assert_eq!((fit_day("2023-05-12"), fit_day("2019-05-12")), (1.0, 1.0));
        assert!(fit_day("2023-05-13") < 1.0 && fit_day("2023-05-13") > fit_day("2023-05-28"));
    }

    #[test]
    fn named_times_are_a_span_of_moments() {
        let now = Timestamp::from_microsecond(NOW_MICROS).expect("a time");
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let moment = |day: &str| format!("{day}T00:00:00Z").parse::<Timestamp>().expect("a time");
            let expected = expected.map(|(from, to)| (moment(from), moment(to)));
            assert_eq!(span(&times(text, NOW_MICROS).periods, now), expected, "{text}");
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
