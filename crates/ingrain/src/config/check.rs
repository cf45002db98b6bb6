//! Settings that have the right type and yet cannot be meant.

use super::Config;
use super::layers::{Layers, invalid};
use crate::error::Failure;

/// Numbers within their bounds, addresses that could be called.
pub(super) fn checked(config: &Config, layers: &Layers) -> Result<(), Failure> {
    if let Some(odd) = config.limits.out_of_bounds() {
        return Err(unexpected(layers, &format!("limits.{}", odd.field), &odd.expected));
    }
    let addresses = [
        ("embeddings.url", &config.embeddings.url),
        ("summaries.url", &config.summaries.url),
        ("scanner.classifier_url", &config.scanner.classifier_url),
        ("server.grants_url", &config.server.grants_url),
        ("server.token.jwks_url", &config.server.token.jwks_url),
        ("server.otlp_endpoint", &config.server.otlp_endpoint),
    ];
    match addresses.iter().find(|(_, address)| !address.is_empty() && !is_http(address)) {
        Some((key, _)) => Err(unexpected(layers, key, "an address such as `https://host/v1`")),
        None => Ok(()),
    }
}

/// Says where it was set and what would do; never what stands there, as an address may hold a password.
fn unexpected(layers: &Layers, key: &str, expected: &str) -> Failure {
    invalid(layers.origin(key), &format!("`{key}`: {expected} is expected"))
}

/// `http` or `https`, and a host.
fn is_http(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match host_and_port.rsplit_once(':') {
        // The colons of an address in brackets are its own.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host_and_port, None),
    };
    let odd = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\\' | '^' | '`' | '{' | '|' | '}')
    };
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        && !host.is_empty()
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
        && !address.contains(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_can_be_called() {
        for good in [
            "http://127.0.0.1:9/v1",
            "https://api.example.com",
            "HTTPS://u:p@host:8443/a?b=c",
            "http://[::1]:4318",
            "http://[::1]",
        ] {
            assert!(is_http(good), "{good}");
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
            assert!(!is_http(odd), "{odd}");
        }
    }
}
