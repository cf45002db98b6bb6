//! HTTP client for configured endpoints: bounded in time and size, without redirects, and by default unable to reach
//! loopback and private networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

/// Longest an endpoint may take. A caller waits for it.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Largest answer that is read: key sets and grants are small.
const ANSWER_BYTES_MAX: u64 = 256 * 1024;

/// A client for endpoints named in configuration.
#[derive(Clone)]
pub(crate) struct OutboundClient {
    agent: ureq::Agent,
}

impl OutboundClient {
    pub(crate) fn new(private_allowed: bool) -> OutboundClient {
        OutboundClient::with_timeout(private_allowed, TIMEOUT)
    }

    /// For endpoints that take longer, such as language models.
    pub(crate) fn with_timeout(private_allowed: bool, timeout: Duration) -> OutboundClient {
        // No redirects: one could lead to a private address. No proxy from the environment: it would hide where a name
        // resolves to.
        let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).max_redirects(0).proxy(None);
        // An error status is an answer here: each call decides what it means.
        let config = config.http_status_as_error(false).build();
        let resolver = PublicOnlyResolver { private_allowed, inner: DefaultResolver::default() };
        OutboundClient { agent: ureq::Agent::with_parts(config, DefaultConnector::default(), resolver) }
    }

    pub(crate) fn get_json<T: DeserializeOwned>(&self, url: &str, query: &[(&str, String)]) -> Result<T, String> {
        let request = query.iter().fold(self.agent.get(url), |request, (name, value)| request.query(name, value));
        let mut response = request.call().map_err(|error| error.to_string())?;
        if response.status() != 200 {
            return Err(format!("it answered {}", response.status()));
        }
        let text = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        let text = text.map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| format!("its answer cannot be read: {error}"))
    }
}

/// Why a call failed. The text names neither the address nor the content of the request.
#[derive(Debug)]
pub(crate) enum OutboundError {
    /// Another attempt may succeed.
    Transient(String),
    Permanent(String),
}

impl OutboundClient {
    /// Posts a document. The body of the answer is ignored, its status must be a success.
    #[cfg(feature = "otlp")]
    pub(crate) fn post_document(&self, url: &str, body: &serde_json::Value) -> Result<(), String> {
        let request = self.agent.post(url).content_type("application/json");
        let response = request.send(body.to_string()).map_err(|error| error.to_string())?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(format!("it answered {}", response.status())),
        }
    }

    pub(crate) fn post_json<T: DeserializeOwned>(
        &self,
        url: &str,
        key: Option<&str>,
        body: &serde_json::Value,
    ) -> Result<T, OutboundError> {
        let mut request = self.agent.post(url);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send_json(body).map_err(|error| classify_error(&error))?;
        match response.status().as_u16() {
            200..=299 => {}
            // Timeout, too early, too many requests, server errors: worth another attempt.
            status @ (408 | 425 | 429 | 500..) => {
                return Err(OutboundError::Transient(format!("it answered {status}")));
            }
            status => return Err(OutboundError::Permanent(format!("it answered {status}"))),
        }
        let text = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        let text = text.map_err(|error| classify_error(&error))?;
        serde_json::from_str(&text).map_err(|_| OutboundError::Permanent("its answer cannot be read".to_owned()))
    }
}

fn classify_error(error: &ureq::Error) -> OutboundError {
    match error {
        ureq::Error::Timeout(_) => OutboundError::Transient("it took too long".to_owned()),
        ureq::Error::HostNotFound => {
            OutboundError::Permanent("its host is unknown, or on a network it may not be on".to_owned())
        }
        ureq::Error::BadUri(_) => OutboundError::Permanent("its address is not valid".to_owned()),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
            OutboundError::Permanent("the secure connection failed".to_owned())
        }
        _ => OutboundError::Transient("the connection failed".to_owned()),
    }
}

/// Filters the addresses a host name resolves to. At the time of the connection, not before: a name checked earlier
/// could resolve to a private address by then (DNS rebinding).
#[derive(Debug)]
struct PublicOnlyResolver {
    private_allowed: bool,
    inner: DefaultResolver,
}

impl Resolver for PublicOnlyResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.private_allowed || is_public(address.ip())) {
            allowed.push(*address);
        }
        match allowed.is_empty() {
            true => Err(ureq::Error::HostNotFound),
            false => Ok(allowed),
        }
    }
}

/// Whether an address is on the public internet, not on loopback or a private network.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => is_public_v4(v4),
            None => is_public_v6(v6),
        },
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let carrier_nat = a == 100 && (64..128).contains(&b);
    let benchmark = a == 198 && (b == 18 || b == 19);
    let protocol = a == 192 && b == 0 && c == 0;
    !(v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_multicast()
        || v4.is_documentation()
        || a == 0
        || a >= 240
        || carrier_nat
        || benchmark
        || protocol)
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let [first, second, ..] = v6.segments();
    // NAT64, 6to4 and Teredo addresses embed an IPv4 address, which may be private.
    let translated = first == 0x64 && second == 0xff9b;
    let tunnelled = first == 0x2002 || (first == 0x2001 && second == 0);
    let documentation = first == 0x2001 && second == 0xdb8;
    !(v6.is_loopback()
        || v6.is_unspecified()
        || v6.is_multicast()
        || v6.is_unique_local()
        || v6.is_unicast_link_local()
        || v6.to_ipv4().is_some()
        || translated
        || tunnelled
        || documentation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_internet_is_public() {
        let check = |text: &str, public: bool| {
            assert_eq!(text.parse().map(is_public), Ok(public), "{text}");
        };
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::7f00:1",
        ] {
            check(private, false);
        }
        for public in ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111"] {
            check(public, true);
        }
    }
}
