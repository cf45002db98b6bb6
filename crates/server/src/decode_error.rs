//! Decoding of bodies and query strings, with errors that name the field but never quote its value.

use serde::de::DeserializeOwned;

use engine::text::decode_error::describe_error;
pub(crate) use engine::text::decode_error::{from_slice, from_slice_fast, from_value, strip_bom};

/// Decodes a query string.
pub(crate) fn from_query<T: DeserializeOwned>(query: &str) -> Result<T, String> {
    let pairs = serde_html_form::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs)
        .map_err(|error| describe_error(&error.path().to_string(), &error.inner().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Params {
        limit: u64,
    }

    #[test]
    fn a_parameter_is_told_without_its_value() {
        let told = from_query::<Params>("limit=hunter2").expect_err("does not fit");
        assert_eq!(told, "`limit`: expected a whole number");
    }
}
