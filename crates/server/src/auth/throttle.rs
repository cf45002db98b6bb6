//! Throttle of failed credentials. A key has 256 random bits, so guessing is hopeless anyway; the throttle keeps wrong
//! keys from costing a database look-up each.

use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use engine::admin::keys::parse_key_tenant;

use super::Credential;
use crate::rate_limit::RateLimiter;

/// Rate at which failures with one beginning of a key are forgiven, per second. A client with a typo is locked out for
/// seconds only.
const FORGIVEN_PER_SECOND: f64 = 1.0 / 3.0;
/// How many times more failures an address may have in all: many clients may share a proxy, and one with an old key
/// must not lock out the others.
const ADDRESS_FACTOR: u32 = 10;
/// Characters of a key that name its bucket: the mark and eight more, as in listings.
const PREFIX_CHARS: usize = 12;
/// Bits of an IPv6 address that name its bucket. A single client usually has all addresses of such a network.
const IPV6_NETWORK_BITS: u32 = 64;

pub(super) struct FailureThrottle {
    by_prefix: RateLimiter,
    by_address: RateLimiter,
}

impl FailureThrottle {
    pub(super) fn new(burst: u32) -> FailureThrottle {
        FailureThrottle {
            by_prefix: RateLimiter::with_rate(FORGIVEN_PER_SECOND, burst),
            by_address: RateLimiter::with_rate(
                FORGIVEN_PER_SECOND * f64::from(ADDRESS_FACTOR),
                burst.saturating_mul(ADDRESS_FACTOR),
            ),
        }
    }

    /// Time to wait, if this address failed too often, with keys that begin like this one or in all.
    pub(super) fn find_wait(&self, address: IpAddr, credential: &Credential) -> Option<Duration> {
        let (now, network) = (Instant::now(), network_name(address));
        // Only looked at: a token is taken once the credential turns out to be wrong.
        let in_all = self.by_address.peek_tokens(&network, now);
        let alike = self.by_prefix.peek_tokens(&prefix_name(&network, credential), now);
        [in_all, alike].iter().find(|decision| !decision.allowed).map(|decision| decision.reset)
    }

    pub(super) fn record_failure(&self, address: IpAddr, credential: &Credential) {
        let (now, network) = (Instant::now(), network_name(address));
        self.by_address.take_token(&network, now);
        self.by_prefix.take_token(&prefix_name(&network, credential), now);
    }
}

fn prefix_name(network: &str, credential: &Credential) -> String {
    let text = &credential.text;
    // All that is no key shares a bucket.
    let prefix = text.get(..PREFIX_CHARS).filter(|_| parse_key_tenant(text).is_some());
    format!("{network} {}", prefix.unwrap_or_default())
}

fn network_name(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() >> IPV6_NETWORK_BITS << IPV6_NETWORK_BITS).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::admin::keys::{KEY_RANDOM_BYTES, encode_key};
    use engine::model::id::TenantId;

    use super::*;

    fn key(first: u8, last: u8) -> Credential {
        let mut random = [first; KEY_RANDOM_BYTES];
        random[KEY_RANDOM_BYTES - 1] = last;
        Credential { text: encode_key(TenantId(uuid::Uuid::nil()), random), sha256: String::new() }
    }

    #[test]
    fn keys_that_begin_alike_are_throttled_together_and_others_later() {
        let throttle = FailureThrottle::new(3);
        let address: IpAddr = "192.0.2.7".parse().expect("an address");
        for last in 0..3 {
            assert_eq!(throttle.find_wait(address, &key(1, last)), None);
            throttle.record_failure(address, &key(1, last));
        }
        assert!(throttle.find_wait(address, &key(1, 9)).is_some());
        assert_eq!(throttle.find_wait(address, &key(2, 9)), None);
        for first in 10..10 + 3 * ADDRESS_FACTOR as u8 {
            throttle.record_failure(address, &key(first, 0));
        }
        assert!(throttle.find_wait(address, &key(2, 9)).is_some(), "too many in all");
        assert_eq!(throttle.find_wait("192.0.2.8".parse().expect("an address"), &key(2, 9)), None);
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_bucket() {
        let name = |text: &str| network_name(text.parse().expect("an address"));
        assert_eq!(name("2001:db8:1:2::1"), name("2001:db8:1:2:ffff::9"));
        assert_ne!(name("2001:db8:1:2::1"), name("2001:db8:1:3::1"));
        assert_eq!(name("::ffff:192.0.2.7"), name("192.0.2.7"));
    }
}
