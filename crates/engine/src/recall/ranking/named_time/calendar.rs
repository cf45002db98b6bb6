//! Calendar words: months, weekdays, seasons, day numbers, years, amounts and units of time, in English.
use jiff::civil::Weekday;

/// Word inserted between two days, months or years that were written as one (`1-5`).
pub(super) const RANGE_SEPARATOR: &str = "–";

/// Month number, 1-based. `before` and `after` are the words around it.
pub(super) fn parse_month(word: &str, before: &str, after: &str) -> Option<i8> {
    const SHORT_LETTERS: usize = 3;
    let lower = word.to_ascii_lowercase();
    let place =
        MONTHS.iter().position(|name| *name == lower || (lower.len() == SHORT_LETTERS && name.starts_with(&lower)))?;
    // "may" and "march" are also verbs, and abbreviations ("mar", "jan", "sep") can be anything: these count as months
    // only next to a preposition, a day or a year. So does a month before `s`: "April's number" is a person's.
    let certain = lower.len() > SHORT_LETTERS && lower != "march" && after != "s";
    let dated = matches!(
        before,
        "in" | "on"
            | "since"
            | "from"
            | "between"
            | "during"
            | "last"
            | "this"
            | "until"
            | "before"
            | "after"
            | "of"
            | "early"
            | "late"
    ) || parse_day_number(before).is_some()
        || parse_day_number(&after.to_ascii_lowercase()).is_some()
        || parse_year(after).is_some()
        || after == RANGE_SEPARATOR;
    (certain || dated).then_some(place as i8 + 1)
}

/// Day of the month, `7` or `7th`.
pub(super) fn parse_day_number(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

/// Year of four digits; others are taken for counts or ports.
pub(super) fn parse_year(word: &str) -> Option<i16> {
    (word.len() == 4).then(|| word.parse().ok())?.filter(|year| (1970..=2100).contains(year))
}

/// Amount, in digits or as a word up to ten.
pub(super) fn parse_amount(word: &str) -> Option<i32> {
    const COUNTS: &[&str] = &["a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    COUNTS
        .iter()
        .position(|count| *count == word)
        .map(|place| place as i32 + 1)
        .or_else(|| word.parse().ok().filter(|amount| (1..=999).contains(amount)))
}

/// Approximate length of a unit in days.
pub(super) fn unit_days(word: &str) -> Option<i32> {
    match word.trim_end_matches('s') {
        "day" => Some(1),
        "week" => Some(7),
        "month" => Some(30),
        "year" => Some(365),
        _ => None,
    }
}

/// Length of an amount of units in days; hours are rounded up to whole days.
pub(super) fn amount_in_days(amount: i32, unit: &str) -> Option<i32> {
    match unit.trim_end_matches('s') {
        "hour" => Some((amount + 23) / 24),
        _ => unit_days(unit).map(|days| amount * days),
    }
}

/// First month and number of months of a season, in the northern hemisphere.
pub(super) fn parse_season(word: &str) -> Option<(i8, i8)> {
    match word {
        "spring" => Some((3, 3)),
        "summer" => Some((6, 3)),
        "autumn" | "fall" => Some((9, 3)),
        "winter" => Some((12, 3)),
        _ => None,
    }
}

pub(super) fn parse_weekday(word: &str) -> Option<Weekday> {
    WEEKDAYS.iter().find(|(name, _)| *name == word).map(|(_, weekday)| *weekday)
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
