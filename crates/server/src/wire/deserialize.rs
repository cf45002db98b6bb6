//! Deserializers that check single fields, so that errors name the field and the expected form.

use jiff::Timestamp;
use serde::de::{Error as _, IntoDeserializer as _};
use serde::{Deserialize, Deserializer};

/// Reads a timestamp.
pub(crate) fn deserialize_moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::custom("a time such as 2026-01-31T12:00:00Z is expected"))
}

/// As [`deserialize_moment`], for an optional field.
pub(crate) fn deserialize_optional_moment<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| deserialize_moment(text.into_deserializer())).transpose()
}

/// Reads an id.
pub(crate) fn deserialize_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<uuid::Uuid, D::Error> {
    engine::model::id::parse_id(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Most items in a list of one request; the schemas repeat it.
const LISTED_MAX: usize = 1_000;

/// Reads a list of at most [`LISTED_MAX`] items.
pub(crate) fn deserialize_list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    // Counted after parsing: the limit of the body has bounded the memory by now.
    let all = Vec::deserialize(deserializer)?;
    match all.len() > LISTED_MAX {
        true => Err(D::Error::custom(format!("at most {LISTED_MAX} are expected at once"))),
        false => Ok(all),
    }
}

/// Reads a timestamp, or a date, which means the end of that day in UTC.
pub(crate) fn deserialize_as_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let invalid = || D::Error::custom("a time such as 2026-01-31T12:00:00Z or a date such as 2026-01-31 is expected");
    engine::model::time::parse_as_of(&text).map(Some).ok_or_else(invalid)
}

/// Reads a number within bounds; one outside is an error and not clamped.
pub(crate) fn deserialize_bounded<'de, D: Deserializer<'de>, const MIN: u64, const MAX: u64>(
    deserializer: D,
) -> Result<Option<usize>, D::Error> {
    // Signed, so that a negative number gets the message about bounds too.
    match Option::<i64>::deserialize(deserializer)? {
        None => Ok(None),
        Some(number) => match usize::try_from(number).ok().filter(|number| (MIN..=MAX).contains(&(*number as u64))) {
            None => Err(D::Error::custom(format!("a number from {MIN} to {MAX} is expected"))),
            within => Ok(within),
        },
    }
}

/// Reads a percentage as a share from 0 to 1.
pub(crate) fn deserialize_percent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        Some(percent) if !(0.0..=100.0).contains(&percent) => {
            Err(D::Error::custom("a number from 0 to 100 is expected"))
        }
        percent => Ok(percent.map(|percent| percent / 100.0)),
    }
}

/// Reads a share from 0 to 1.
pub(crate) fn deserialize_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(D::Error::custom("a number from 0 to 1 is expected")),
        share => Ok(share),
    }
}

/// Longest reason or comment in bytes, as for evidence in the engine.
const REASON_BYTES_MAX: usize = 4_096;

/// Reads a reason, which must not be blank.
pub(crate) fn deserialize_reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.trim().is_empty() || text.len() > REASON_BYTES_MAX {
        true => Err(D::Error::custom(format!("1 to {REASON_BYTES_MAX} bytes of text are expected"))),
        false => Ok(text),
    }
}

/// As [`deserialize_reason`], for an optional field.
pub(crate) fn deserialize_optional_reason<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    match text.as_ref().is_some_and(|text| text.len() > REASON_BYTES_MAX) {
        true => Err(D::Error::custom(format!("at most {REASON_BYTES_MAX} bytes of text are expected"))),
        false => Ok(text),
    }
}
