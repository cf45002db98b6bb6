//! Parser: which words of a text name a time, and which days they mean.
use jiff::ToSpan;
use jiff::civil::{Date, Weekday, date};

use super::calendar::{
    RANGE_SEPARATOR, amount_in_days, parse_amount, parse_day_number, parse_month, parse_season, parse_weekday,
    parse_year, unit_days,
};
use super::{MonthDay, Period};

/// A year with a 29 February, to check days of no particular year.
const LEAP_YEAR: i16 = 2024;

/// Start of a range without a beginning ("before May").
const EARLIEST_DATE: Date = date(1970, 1, 1);
/// Adverbs that limit "before" and "after" to the days next to a time: "right after Monday" is no open range.
const NEARNESS_WORDS: &[&str] = &["right", "just", "shortly", "soon", "directly", "immediately"];

/// A period and the range of words that names it, `from..to`.
pub(super) struct NamedPeriod {
    pub(super) period: Period,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The words of a text, separated by spaces. A dash between two days, months or years (`1-5`, `May–July`) becomes
/// [`RANGE_SEPARATOR`]; dates such as `2025-06-01` stay whole.
pub(super) fn separate_words(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for word in text.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '-' | '–')) {
        let range = word.split_once(['-', '–']).filter(|(one, other)| are_same_unit(one, other));
        match range {
            Some((one, other)) => all.extend([one, " ", RANGE_SEPARATOR, " ", other]),
            None if word == "–" => all.push('-'),
            None => all.push_str(word),
        }
        all.push(' ');
    }
    all
}

/// Whether both are days, both months, or both years.
fn are_same_unit(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    let month = |word: &str| parse_month(word, "in", "").is_some();
    (parse_day_number(&one).is_some() && parse_day_number(&other).is_some())
        || (parse_year(&one).is_some() && parse_year(&other).is_some())
        || (month(&one) && month(&other))
}

/// The period named at word `at`, if any, and the index of the next word to parse.
pub(super) fn named_period_at(words: &[&str], at: usize, today: Date) -> (Option<NamedPeriod>, usize) {
    let before = at.checked_sub(1).map(|at| words[at].to_ascii_lowercase()).unwrap_or_default();
    let (period, used) = parse_period(words, at, &before, today);
    // "7 May" is parsed at the month: the day before it belongs to the period.
    let from = at - day_before_month(words, at).map_or(0, |(_, words)| words);
    let whole = period.map(|period| extend_to_range(words, NamedPeriod { period, from, to: at + used }, today));
    let next = whole.as_ref().map_or(at + used, |named| named.to);
    (whole, next)
}

/// Extends a period to the range it is part of ("May 1 to 5", "since May"), or returns it as it is.
fn extend_to_range(words: &[&str], one: NamedPeriod, today: Date) -> NamedPeriod {
    // Two-sided ranges first: in "from May until June", "until" must not be taken for an open range.
    if let Some(range) = range_from_day(words, &one).or_else(|| range_until(words, &one, today)) {
        return range;
    }
    one_sided_range(words, &one, today).unwrap_or(one)
}

/// Range with one open end ("since May", "after May 12", "before 2023"), or a neighbouring day ("the day before
/// yesterday").
fn one_sided_range(words: &[&str], one: &NamedPeriod, today: Date) -> Option<NamedPeriod> {
    let from = one.from.checked_sub(1)?;
    let (first, last) = one.period.latest_occurrence(today)?;
    let before = |back: usize| from.checked_sub(back).map(|at| words[at].to_ascii_lowercase()).unwrap_or_default();
    let (earlier, later) = (first.yesterday().ok()?, last.tomorrow().ok()?);
    let (first, last) = match (words[from].to_ascii_lowercase().as_str(), before(1).as_str()) {
        ("since", _) => (first, today),
        ("before", "day") => (earlier, earlier),
        ("after", "day") => (later, later),
        // "two weeks before May 12", "right after Monday": the plain period, whose score also covers the days around
        // it.
        ("before" | "after", word) if unit_days(word).is_some() || NEARNESS_WORDS.contains(&word) => return None,
        ("before", _) => (EARLIEST_DATE, earlier),
        ("until" | "till", _) => (EARLIEST_DATE, last),
        ("after", _) => (later, today),
        _ => return None,
    };
    (first <= last).then_some(NamedPeriod { period: Period::Days(first, last), from, to: one.to })
}

/// Range whose first day has no month of its own: "1 to 5 May", parsed at "5 May".
fn range_from_day(words: &[&str], last: &NamedPeriod) -> Option<NamedPeriod> {
    let skip_the = usize::from(is_word_at(words, last.from.checked_sub(1), "the"));
    let join = last.from.checked_sub(1 + skip_the)?;
    let from = join.checked_sub(1)?;
    let day = parse_day_number(&words[from].to_ascii_lowercase()).filter(|_| is_range_joiner(words, join, from))?;
    let first = other_day_of_month(last.period, day)?;
    Some(NamedPeriod { period: join_periods(first, last.period)?, from, to: last.to })
}

/// Range that begins with `first`: "May 1 to 5", "May to July", "May 1 until June 5 2023".
fn range_until(words: &[&str], first: &NamedPeriod, today: Date) -> Option<NamedPeriod> {
    let join = first.to;
    if !is_range_joiner(words, join, first.from) {
        return None;
    }
    let at = join + 1 + usize::from(is_word_at(words, Some(join + 1), "the"));
    let (last, to) = match words.get(at).and_then(|word| parse_day_number(&word.to_ascii_lowercase())) {
        None => parse_period_at(words, at, today)?,
        Some(day) => {
            let month_at = at + 1 + usize::from(is_word_at(words, Some(at + 1), "of"));
            let has_month = words.get(month_at).is_some_and(|word| parse_month(word, "in", "").is_some());
            if has_month {
                parse_period_at(words, month_at, today)?
            } else {
                day_without_month(words, at, other_day_of_month(first.period, day)?)?
            }
        }
    };
    Some(NamedPeriod { period: join_periods(first.period, last)?, from: first.from, to })
}

/// The period at a word inside of a range, and the index of the word after it.
fn parse_period_at(words: &[&str], at: usize, today: Date) -> Option<(Period, usize)> {
    // "on" before it makes weekdays and ambiguous months ("may") count as times.
    let (period, used) = parse_period(words, at, "on", today);
    period.map(|period| (period, at + used))
}

/// The end of a range without a month: "to 5, 2023" or "to 5". `None` if a word follows, since "to 5 customers" is a
/// count.
fn day_without_month(words: &[&str], at: usize, day: Period) -> Option<(Period, usize)> {
    let next = words.get(at + 1);
    match next.and_then(|word| parse_year(word)) {
        Some(year) => Some((period_of_dates(day.in_year(year)?), at + 2)),
        None => next.is_none_or(|next| !next.starts_with(char::is_alphabetic)).then_some((day, at + 1)),
    }
}

/// Another day in the month of a one-day period.
fn other_day_of_month(only: Period, day: i8) -> Option<Period> {
    match only {
        Period::Days(first, last) if first == last => {
            Date::new(first.year(), first.month(), day).ok().map(|day| Period::Days(day, day))
        }
        Period::Yearly(first, last) if first == last => Some(Period::Yearly((first.0, day), (first.0, day))),
        _ => None,
    }
}

/// Range from the first day of one period to the last day of the other. A year given for one applies to both.
fn join_periods(one: Period, other: Period) -> Option<Period> {
    let month_day = |day: Date| -> MonthDay { (day.month(), day.day()) };
    match (one, other) {
        (Period::Yearly(first, _), Period::Yearly(_, last)) => Some(Period::Yearly(first, last)),
        (Period::Days(first, _), Period::Days(_, last)) => {
            // Weekdays are parsed as past days. "from Monday to Friday", asked on a Wednesday, ends in the next week.
            let next_week = last.checked_add(7.days()).ok().filter(|_| other.is_single_day() && one.is_single_day());
            let last = [Some(last), next_week].into_iter().flatten().find(|last| first <= *last)?;
            Some(Period::Days(first, last))
        }
        (Period::Yearly(first, _), Period::Days(_, last)) => {
            let year = last.year() - i16::from(first > month_day(last));
            Some(Period::Days(one.in_year(year)?.0, last))
        }
        (Period::Days(first, _), Period::Yearly(_, last)) => {
            let (_, end) = Period::Yearly(month_day(first), last).in_year(first.year())?;
            Some(Period::Days(first, end))
        }
    }
}

/// Whether a word joins the two ends of a range. "and" does so only after "between"; "May and July" are two periods.
fn is_range_joiner(words: &[&str], at: usize, from: usize) -> bool {
    match words.get(at).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("to" | "until" | "till" | "through" | "thru" | "-" | RANGE_SEPARATOR) => true,
        Some("and") => {
            let skip_the = usize::from(is_word_at(words, from.checked_sub(1), "the"));
            is_word_at(words, from.checked_sub(1 + skip_the), "between")
        }
        _ => false,
    }
}

fn is_word_at(words: &[&str], at: Option<usize>, word: &str) -> bool {
    at.and_then(|at| words.get(at)).is_some_and(|at| at.eq_ignore_ascii_case(word))
}

/// The period that starts at word `at`, if any, and the number of words it takes. `before` is the previous word, in
/// lower case. Earlier cases win: exact dates, then months, then relative times, then seasons and years.
fn parse_period(words: &[&str], at: usize, before: &str, today: Date) -> (Option<Period>, usize) {
    let word = |offset: usize| words.get(at + offset).copied().unwrap_or_default();
    let lower = |offset: usize| word(offset).to_ascii_lowercase();
    let first = lower(0);
    if let Ok(exact) = word(0).get(..10).unwrap_or_default().parse::<Date>() {
        return (Some(Period::Days(exact, exact)), 1);
    }
    if let Some(month) = parse_month(word(0), before, word(1)) {
        return parse_after_month(month, day_before_month(words, at).map(|(day, _)| day), word(1), word(2));
    }
    if parse_day_number(&first).is_some() && parse_month(word(1), "in", "").is_some() {
        // "7 May 2023" is parsed at its month, with the day before it.
        return (None, 1);
    }
    if let Some(first) = format!("{first}-01").parse::<Date>().ok().filter(|_| first.len() == "2025-06".len()) {
        return (Some(period_of_dates(month_range(first.year(), first.month(), 1))), 1);
    }
    match first.as_str() {
        "yesterday" => (days_ago(today, 1, 1), 1),
        "today" | "tonight" => (days_ago(today, 0, 0), 1),
        // "the last week of May" is parsed at "May".
        "last" | "this" | "first" if lower(2) == "of" => (None, 1),
        // "the past week" ends today; "last week" is the calendar week before this one.
        "past" if unit_days(&lower(1)).is_some() => (unit_days(&lower(1)).and_then(|days| days_ago(today, days, 0)), 2),
        "last" | "past" | "previous" | "this" => match relative_period(&first, &lower(1), today) {
            Some(period) => (Some(period), 2),
            None => match parse_amount(&lower(1)).and_then(|amount| amount_in_days(amount, &lower(2))) {
                // "the last 48 hours", "the past three weeks".
                Some(days) if first != "this" => (days_ago(today, days, 0), 3),
                _ => (None, 1),
            },
        },
        _ if matches!(before, "on" | "since" | "from" | "between" | "before" | "after" | "until")
            && parse_weekday(&first).is_some() =>
        {
            (relative_period("last", &first, today), 1)
        }
        _ if lower(2) == "ago" => match (parse_amount(&first), unit_days(&lower(1))) {
            // Half a unit on both sides: "two weeks ago" is rarely meant to the day.
            (Some(amount), Some(days)) => (days_ago(today, amount * days + days / 2, amount * days - days / 2), 3),
            _ => (None, 1),
        },
        _ if parse_season(&first).is_some()
            && matches!(before, "in" | "the" | "during" | "since" | "last" | "this") =>
        {
            let (month, months) = parse_season(&first).unwrap_or((6, 3));
            match parse_year(word(1)) {
                Some(year) => (Some(period_of_dates(month_range(year, month, months))), 2),
                None => (Some(yearly_months(month, months)), 1),
            }
        }
        _ => match parse_year(word(0)) {
            Some(year) => (Some(Period::Days(date(year, 1, 1), date(year, 12, 31))), 1),
            None => (None, 1),
        },
    }
}

/// The day before a month and the number of words it takes: "7 May", "the 7th of May".
fn day_before_month(words: &[&str], at: usize) -> Option<(i8, usize)> {
    let day = |back: usize| parse_day_number(&words.get(at.checked_sub(back)?)?.to_ascii_lowercase());
    let follows_of = at > 0 && words[at - 1].eq_ignore_ascii_case("of");
    day(1).map(|day| (day, 1)).or_else(|| day(2).filter(|_| follows_of).map(|day| (day, 2)))
}

/// The period of a month with the two words after it: "May", "May 2023", "May 7, 2023", "7 May 2023".
fn parse_after_month(month: i8, day_before: Option<i8>, next: &str, over_next: &str) -> (Option<Period>, usize) {
    if day_before.is_none()
        && next.eq_ignore_ascii_case("the")
        && parse_day_number(&over_next.to_ascii_lowercase()).is_some()
    {
        // "May the 12th".
        let (period, used) = parse_after_month(month, None, over_next, "");
        return (period, used + 1);
    }
    let day_after = parse_day_number(&next.to_ascii_lowercase());
    let (day, year, used) = match (day_before, day_after) {
        (None, Some(day)) => (Some(day), parse_year(over_next), if parse_year(over_next).is_some() { 3 } else { 2 }),
        (day, _) => (day, parse_year(next), 1 + usize::from(parse_year(next).is_some())),
    };
    let period = match (day, year) {
        (Some(day), Some(year)) => Date::new(year, month, day).ok().map(|day| Period::Days(day, day)),
        (None, Some(year)) => Some(period_of_dates(month_range(year, month, 1))),
        (Some(day), None) => Date::new(LEAP_YEAR, month, day).ok().map(|_| Period::Yearly((month, day), (month, day))),
        (None, None) => Some(yearly_months(month, 1)),
    };
    (period, used)
}

/// The period of "last" or "this" with a unit, month, season or weekday.
fn relative_period(word: &str, unit: &str, today: Date) -> Option<Period> {
    let back = i32::from(word != "this");
    // Days since Monday: weeks begin on Mondays.
    let monday = i32::from(today.weekday().since(Weekday::Monday));
    match unit {
        "week" => days_ago(today, monday + 7 * back, if back == 1 { monday + 1 } else { 0 }),
        "weekend" if back == 0 => days_ago(today, monday - 5, monday - 6),
        "weekend" => days_ago(today, monday + 2, monday + 1),
        "night" | "evening" | "morning" | "afternoon" => days_ago(today, back, back),
        "month" => {
            let month = today.checked_sub(back.months()).ok()?;
            Some(period_of_dates(month_range(month.year(), month.month(), 1)))
        }
        "year" => {
            let year = today.year() - i16::from(back == 1);
            Some(Period::Days(date(year, 1, 1), date(year, 12, 31)))
        }
        _ => match (parse_month(unit, "in", ""), parse_season(unit)) {
            (Some(month), _) => Some(yearly_months(month, 1)),
            (None, Some((month, months))) => Some(yearly_months(month, months)),
            (None, None) => {
                let since = i32::from(today.weekday().since(parse_weekday(unit)?));
                // A weekday names the last one before today: asked on a Friday, "last Friday" is a week ago.
                let since = if since == 0 { 7 } else { since };
                days_ago(today, since, since)
            }
        },
    }
}

/// The days from `from` to `to` days ago; negative numbers lie ahead.
fn days_ago(today: Date, from: i32, to: i32) -> Option<Period> {
    Some(Period::Days(today.checked_sub(from.days()).ok()?, today.checked_sub(to.days()).ok()?))
}

fn period_of_dates((first, last): (Date, Date)) -> Period {
    Period::Days(first, last)
}

fn yearly_months(month: i8, months: i8) -> Period {
    let (first, last) = month_range(LEAP_YEAR, month, months);
    // Day 31 means the last day of any month ([`MonthDay`]).
    Period::Yearly((first.month(), 1), (last.month(), 31))
}

fn month_range(year: i16, month: i8, months: i8) -> (Date, Date) {
    let first = Date::new(year, month, 1).unwrap_or(Date::MIN);
    (first, first.saturating_add(months.months()).saturating_sub(1.days()))
}
