//! JSON in one spelling: no white space, sorted keys, whole numbers without a fraction. Postgres prints the same JSON
//! with other spaces, another order of keys and other spellings of large numbers than it was given.

use std::borrow::Cow;

use serde_json::Value as Json;

/// JSON text in its one spelling. Other text stays as it is.
pub fn canonical_text(text: &str) -> String {
    serde_json::from_str(text).map_or_else(|_| text.to_owned(), |json: Json| canonical(&json).to_string())
}

/// The value whose text is the one spelling. Borrowed where the value is written that way already, as most are.
pub fn canonical(json: &Json) -> Cow<'_, Json> {
    match has_whole_float(json) {
        true => Cow::Owned(normalize_numbers(json.clone())),
        false => Cow::Borrowed(json),
    }
}

fn has_whole_float(json: &Json) -> bool {
    match json {
        Json::Number(number) => number.is_f64() && number.as_f64().and_then(to_whole_number).is_some(),
        Json::Array(items) => items.iter().any(has_whole_float),
        Json::Object(fields) => fields.values().any(has_whole_float),
        Json::Null | Json::Bool(_) | Json::String(_) => false,
    }
}

/// Writes whole floats as integers: one backend prints `1e16` where the other prints `10000000000000000`.
fn normalize_numbers(json: Json) -> Json {
    match json {
        Json::Number(number) if number.is_f64() => {
            to_whole_number(number.as_f64().unwrap_or_default()).unwrap_or(Json::Number(number))
        }
        Json::Array(items) => items.into_iter().map(normalize_numbers).collect(),
        Json::Object(fields) => fields.into_iter().map(|(name, value)| (name, normalize_numbers(value))).collect(),
        other => other,
    }
}

fn to_whole_number(number: f64) -> Option<Json> {
    if number.fract() != 0.0 {
        return None;
    }
    // Casts saturate, so a number beyond the range does not convert back to itself. The extreme values are excluded
    // because a saturated cast could equal them.
    let (signed, unsigned) = (number as i64, number as u64);
    match () {
        () if unsigned as f64 == number && unsigned < u64::MAX => Some(unsigned.into()),
        () if signed as f64 == number && signed > i64::MIN => Some(signed.into()),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same_in_every_spelling() {
        for (one, other, same) in [
            (r#"{"a":1,"b":2}"#, r#"{ "b": 2, "a": 1 }"#, true),
            ("[1e3, 0.50]", "[1000.0, 0.5]", true),
            ("1e16", "10000000000000000", true),
            ("1e19", "10000000000000000000", true),
            ("-3.0", "-3", true),
            ("1e300", "1e300", true),
            ("0.1", "0.10000001", false),
            (r#""1""#, "1", false),
        ] {
            assert_eq!(canonical_text(one) == canonical_text(other), same, "{one} and {other}");
        }
    }
}
