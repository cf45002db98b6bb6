//! The address a request came from, also behind proxies.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address of the client: the peer of the connection or, behind `proxy_hops` trusted proxies, what the outermost of
/// them saw. Each proxy adds the address of its own peer to the right, so what a client writes into the header itself
/// stands further left and is not read.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, proxy_hops: usize) -> IpAddr {
    if proxy_hops == 0 {
        return peer;
    }
    let values: Vec<&str> = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok()).collect();
    let named = values.iter().rev().flat_map(|value| value.rsplit(',')).nth(proxy_hops - 1);
    // A request with fewer entries did not come through the proxies.
    named.and_then(|text| parse_address(text.trim())).unwrap_or(peer)
}

/// An address with or without a port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_trusted_proxies_added_counts() {
        let peer: IpAddr = "10.0.0.1".parse().expect("an address");
        let check = |hops: usize, lines: &[&str], expected: &str| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(FORWARDED_FOR, line.parse().expect("a value"));
            }
            assert_eq!(client_address(peer, &headers, hops).to_string(), expected, "{hops} {lines:?}");
        };
        check(0, &["203.0.113.9"], "10.0.0.1");
        check(1, &["203.0.113.9"], "203.0.113.9");
        check(1, &["6.6.6.6, 203.0.113.9"], "203.0.113.9");
        check(1, &["6.6.6.6", "203.0.113.9"], "203.0.113.9");
        check(2, &["6.6.6.6, 203.0.113.9", "192.0.2.7"], "203.0.113.9");
        check(2, &["203.0.113.9"], "10.0.0.1");
        check(1, &["203.0.113.9:4711"], "203.0.113.9");
        check(1, &["[2001:db8::1]:4711"], "2001:db8::1");
        check(1, &["[2001:db8::1]"], "2001:db8::1");
        check(1, &["2001:db8::1"], "2001:db8::1");
        check(1, &["unknown"], "10.0.0.1");
        check(1, &[], "10.0.0.1");
    }
}
