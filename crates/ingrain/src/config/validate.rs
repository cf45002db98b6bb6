//! Range checks of numbers and syntax checks of addresses in the settings.

use super::Config;
use super::setting_layers::{Layers, invalid_setting};
use crate::error::Failure;

/// Maximum of all durations: one day.
const DAY_SECS: i64 = 86_400;
const DAY_MS: i64 = DAY_SECS * 1_000;
/// Maximum of counts and sizes without a natural one.
const COUNT_MAX: i64 = 1_000_000_000;

/// Smallest and largest allowed value of each whole number outside `limits`. The minimum keeps the server usable, the
/// maximum avoids overflows. A test checks that the list is complete and sorted.
const BOUNDS: &[(&str, i64, i64)] = &[
    ("embeddings.dimensions", 0, 65_536),
    ("embeddings.timeout_ms", 1, DAY_MS),
    ("hooks.result_bytes_max", 0, 16_000),
    ("hooks.timeout_ms", 100, 60_000),
    ("hooks.turn_bytes_max", 1, 16_000),
    ("hooks.turns_max", 0, 1_000),
    ("postgres.connections_max", 1, 10_000),
    ("postgres.exact_max", 0, COUNT_MAX),
    ("postgres.statement_ms", 1, DAY_MS),
    ("postgres.wait_ms", 1, DAY_MS),
    ("scanner.classifier_timeout_ms", 1, DAY_MS),
    ("server.limits.body_bytes_max", 1, COUNT_MAX),
    ("server.limits.calls_max", 1, 10_000),
    ("server.limits.connections_max", 1, 1_000_000),
    ("server.limits.failures_burst", 1, COUNT_MAX),
    ("server.limits.grants_cache_secs", 0, DAY_SECS),
    ("server.limits.header_secs", 1, DAY_SECS),
    ("server.limits.heartbeat_secs", 1, DAY_SECS),
    ("server.limits.rate_burst", 1, COUNT_MAX),
    ("server.limits.rate_per_second", 1, COUNT_MAX),
    ("server.limits.stream_lag_max", 1, 1_000_000),
    ("server.limits.streams_max", 0, 1_000_000),
    ("server.limits.timeout_secs", 1, DAY_SECS),
    ("server.limits.upkeep_secs", 1, DAY_SECS),
    ("server.limits.waiting_max", 1, 1_000_000),
    ("server.port", 0, 65_535),
    ("server.proxy_hops", 0, 100),
    ("sqlite.index_mib", 0, 1_000_000),
    ("sqlite.wait_ms", 0, DAY_MS),
    ("summaries.retries", 0, 100),
    ("summaries.timeout_ms", 1, DAY_MS),
];

/// Description of the allowed range, if the number is outside. Without an entry in [`BOUNDS`]: 0 or more.
pub(super) fn violated_bounds(key: &str, number: i64) -> Option<String> {
    let (min, max) =
        BOUNDS.iter().find(|(bound, ..)| *bound == key).map_or((0, i64::MAX), |(_, from, to)| (*from, *to));
    let expected = if max == i64::MAX {
        "a whole number, 0 or more".to_owned()
    } else {
        format!("a whole number from {min} to {max}")
    };
    (!(min..=max).contains(&number)).then_some(expected)
}

/// Checks the bounds of the engine's limits and the syntax of all HTTP addresses.
pub(super) fn check_config(config: &Config, layers: &Layers) -> Result<(), Failure> {
    if let Some(violation) = config.limits.out_of_bounds() {
        return Err(unexpected_value(layers, &format!("limits.{}", violation.field), &violation.expected));
    }
    let addresses = [
        ("embeddings.url", &config.embeddings.url),
        ("summaries.url", &config.summaries.url),
        ("scanner.classifier_url", &config.scanner.classifier_url),
        ("server.grants_url", &config.server.grants_url),
        ("server.token.jwks_url", &config.server.token.jwks_url),
        ("server.otlp_endpoint", &config.server.otlp_endpoint),
    ];
    match addresses.iter().find(|(_, address)| !address.is_empty() && !is_http_address(address)) {
        Some((key, _)) => Err(unexpected_value(layers, key, "an address such as `https://host/v1`")),
        None => Ok(()),
    }
}

/// Error with the origin and the expected value. The actual value is left out: an address may contain a password.
fn unexpected_value(layers: &Layers, key: &str, expected: &str) -> Failure {
    invalid_setting(layers.origin(key), &format!("`{key}`: {expected} is expected"))
}

/// Whether the text is an `http` or `https` URL with a host and a valid port.
fn is_http_address(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match host_and_port.rsplit_once(':') {
        // The colons inside `[::1]` do not separate a port.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host_and_port, None),
    };
    let is_forbidden = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\\' | '^' | '`' | '{' | '|' | '}')
    };
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        && !host.is_empty()
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
        && !address.contains(is_forbidden)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::GlobalArgs;
    use crate::config::{Environment, load_config};

    #[test]
    fn every_integer_setting_has_bounds() {
        let home = tempfile::tempdir().expect("a directory");
        let flags = ["--home", home.path().to_str().expect("utf-8")];
        let loaded = load_config(&GlobalArgs::from_flags(&flags), &Environment::default()).expect("loads");
        let numbers = loaded.settings().into_iter().filter(|setting| setting.value.is_i64());
        // The engine checks its own limits.
        let mut keys: Vec<String> =
            numbers.map(|setting| setting.key).filter(|key| !key.starts_with("limits.")).collect();
        keys.sort();
        assert_eq!(keys, BOUNDS.iter().map(|(key, ..)| *key).collect::<Vec<_>>());
        for (key, least, most) in BOUNDS {
            assert_eq!((violated_bounds(key, *least), violated_bounds(key, *most)), (None, None), "{key}");
            assert!(violated_bounds(key, least - 1).is_some() && violated_bounds(key, most + 1).is_some(), "{key}");
        }
    }

    #[test]
    fn http_addresses_are_recognised() {
        for good in [
            "http://127.0.0.1:9/v1",
            "https://api.example.com",
            "HTTPS://u:p@host:8443/a?b=c",
            "http://[::1]:4318",
            "http://[::1]",
        ] {
            assert!(is_http_address(good), "{good}");
        }
        for odd in [
            "notaurl",
            "ftp://x",
            "http://",
            "http:///v1",
            "file:///etc/passwd",
            "http://host:port",
            "http://a b",
            "http://:80",
            "localhost:11434/v1",
            "http://u@",
        ] {
            assert!(!is_http_address(odd), "{odd}");
        }
    }
}
