//! Keeps `web_fetch` away from private addresses.
//!
//! Names are resolved by this module alone and the connection goes to the very addresses that were
//! judged, so a name that changes its address between check and use gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves names to public addresses and to nothing else.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if found.is_empty() || found.iter().any(|address| !is_public(address.ip())) {
                return Err("the name leads to a private address".into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Judges an address before it is requested, redirects included.
///
/// # Errors
/// An English sentence for the model.
pub(super) fn check(url: &Url) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("Only http and https addresses are fetched.".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("An address with a user name or password is not fetched.".to_owned());
    }
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let local = bare.is_empty()
        || bare.eq_ignore_ascii_case("localhost")
        || bare.to_ascii_lowercase().ends_with(".localhost");
    // A literal address is never resolved, so it is judged here.
    let private = bare
        .parse::<IpAddr>()
        .is_ok_and(|address| !is_public(address));
    if local || private {
        return Err("The address is private and is not fetched.".to_owned());
    }
    Ok(())
}

/// Whether an address belongs to the public internet.
/// Source: IANA special-purpose address registries for IPv4 and IPv6.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(v4) = address.to_ipv4() {
        // Mapped and compatible addresses stand for the address inside.
        return is_public_v4(v4) && !address.is_loopback() && !address.is_unspecified();
    }
    let [first, second, ..] = address.segments();
    // Only 2000::/3 is global unicast; out of it go tunnels, benchmarks and documentation, because a
    // tunnel address carries another address that may be private.
    let global = first & 0xe000 == 0x2000;
    let special = (first == 0x2001 && (second < 0x0200 || second == 0x0db8))
        || first == 0x2002
        || (first == 0x3fff && second < 0x1000);
    global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_told_from_public_ones() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "192.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "2606:4700:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn addresses_in_any_dress_are_refused() {
        for bad in [
            "http://localhost/",
            "http://a.localhost/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "file:///etc/passwd",
            "http://user:pw@example.com/",
            "ftp://example.com/",
        ] {
            assert!(check(&Url::parse(bad).unwrap()).is_err(), "{bad}");
        }
        assert!(check(&Url::parse("https://example.com/x").unwrap()).is_ok());
    }

    #[tokio::test]
    async fn a_name_that_leads_home_is_not_resolved() {
        let answer = PublicOnly.resolve("localhost".parse().unwrap()).await;
        assert!(answer.is_err());
    }
}
