//! How often one address may ask: a generic cell rate algorithm with bounded memory.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Addresses remembered at most; further ones wait until one is forgotten.
const ADDRESSES: usize = 1024;

/// One rate for every address.
#[derive(Debug)]
pub(super) struct Rate {
    interval: Duration,
    /// How far the next free moment may lie ahead.
    slack: Duration,
    /// When an address would be back at rest.
    rest: Mutex<HashMap<IpAddr, Instant>>,
}

impl Rate {
    /// `burst` requests at once, then one every `interval`.
    pub(super) fn new(interval: Duration, burst: u32) -> Self {
        Self {
            interval,
            slack: interval.saturating_mul(burst.saturating_sub(1)),
            rest: Mutex::default(),
        }
    }

    /// Takes one request if the address may make one, else tells how long it must wait.
    pub(super) fn take(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        self.step(address, now, true)
    }

    /// Whether the address may make a request, without counting one.
    pub(super) fn look(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        self.step(address, now, false)
    }

    fn step(&self, address: IpAddr, now: Instant, count: bool) -> Result<(), Duration> {
        let address = network(address);
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let at = rest.get(&address).copied().unwrap_or(now).max(now);
        let ahead = at.duration_since(now);
        if ahead > self.slack {
            return Err(ahead - self.slack);
        }
        if count {
            if rest.len() >= ADDRESSES && !rest.contains_key(&address) {
                rest.retain(|_, at| *at > now);
                if rest.len() >= ADDRESSES {
                    return Err(self.interval);
                }
            }
            rest.insert(address, at + self.interval);
        }
        Ok(())
    }
}

/// One IPv6 host owns a whole /64, so that counts as one.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => IpAddr::V4(four),
            None => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn a_burst_passes_then_one_an_interval() {
        let second = Duration::from_secs(1);
        let rate = Rate::new(second, 3);
        let now = Instant::now();
        for _ in 0..3 {
            assert_eq!(rate.take(address(1), now), Ok(()));
        }
        assert_eq!(rate.take(address(1), now), Err(second));
        assert_eq!(rate.take(address(2), now), Ok(()), "others are not touched");
        assert_eq!(rate.take(address(1), now + second), Ok(()));
        assert_eq!(rate.look(address(1), now + second), Err(second));
        assert_eq!(rate.look(address(1), now + 2 * second), Ok(()));
        assert_eq!(
            rate.take(address(1), now + 2 * second),
            Ok(()),
            "a look costs nothing"
        );
    }

    #[test]
    fn memory_is_bounded_and_freed_with_time() {
        let rate = Rate::new(Duration::from_secs(1), 1);
        let now = Instant::now();
        for number in 0..u32::try_from(ADDRESSES).unwrap() {
            assert!(rate.take(IpAddr::from(number.to_be_bytes()), now).is_ok());
        }
        let late = IpAddr::from([200, 0, 0, 1]);
        assert!(rate.take(late, now).is_err());
        assert!(rate.take(late, now + Duration::from_secs(2)).is_ok());
    }

    #[test]
    fn neighbours_in_one_ipv6_network_count_as_one() {
        let rate = Rate::new(Duration::from_secs(1), 1);
        let now = Instant::now();
        assert!(rate.take("2001:db8::1".parse().unwrap(), now).is_ok());
        assert!(rate.take("2001:db8::2".parse().unwrap(), now).is_err());
        assert!(rate.take("2001:db8:0:1::1".parse().unwrap(), now).is_ok());
    }
}
