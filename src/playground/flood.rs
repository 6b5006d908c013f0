//! Telegram's flood limits: one budget for sends and edits of a chat, and one for the bot.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

const PRIVATE: (f64, f64) = (1.0, 5.0);
const GROUP: (f64, f64) = (1.0, 3.0);
const BOT: (f64, f64) = (30.0, 30.0);
const GROUP_MINUTE: usize = 20;
/// Requests that were already on their way when a 429 went out are refused, not blamed.
const GRACE: Duration = Duration::from_millis(250);
const FULL: f64 = 1.0 - 1e-9;

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

/// The ledger. Rates are calls a second and bursts.
#[derive(Debug, Default)]
pub(super) struct Flood {
    /// Whether limits are enforced.
    pub(super) on: bool,
    bot: Option<Bucket>,
    chats: BTreeMap<i64, Bucket>,
    minute: BTreeMap<i64, VecDeque<Instant>>,
    penalty: BTreeMap<i64, (Instant, Instant)>,
}

/// What the ledger says to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Counted and allowed.
    Free,
    /// Refused for that many seconds; `ignored` if the bot had been told to wait.
    Wait {
        /// Whole seconds, at least 1.
        seconds: u64,
        /// Whether this call ignores an earlier 429.
        ignored: bool,
    },
}

impl Flood {
    /// Counts one call for `chat`.
    pub(super) fn charge(&mut self, chat: i64, private: bool, now: Instant) -> Verdict {
        if let Some((told, until)) = self.penalty.get(&chat).copied() {
            if now < until {
                return Verdict::Wait {
                    seconds: seconds(until - now),
                    ignored: now > told + GRACE,
                };
            }
            self.penalty.remove(&chat);
        }
        if !self.on {
            return Verdict::Free;
        }
        let (rate, burst) = if private { PRIVATE } else { GROUP };
        let own = refill(self.chats.get(&chat).copied(), rate, burst, now);
        let bot = refill(self.bot, BOT.0, BOT.1, now);
        let mut wait = missing(own, rate).max(missing(bot, BOT.0));
        let minute = self.minute.entry(chat).or_default();
        while minute
            .front()
            .is_some_and(|at| *at + Duration::from_secs(60) <= now)
        {
            minute.pop_front();
        }
        if let (false, true, Some(first)) = (private, minute.len() >= GROUP_MINUTE, minute.front())
        {
            wait = wait.max(*first + Duration::from_secs(60) - now);
        }
        if !wait.is_zero() {
            let seconds = seconds(wait);
            self.penalize(chat, seconds, now);
            return Verdict::Wait {
                seconds,
                ignored: false,
            };
        }
        minute.push_back(now);
        self.chats.insert(chat, spend(own));
        self.bot = Some(spend(bot));
        Verdict::Free
    }

    /// Tells the bot to leave `chat` alone for `seconds`.
    pub(super) fn penalize(&mut self, chat: i64, seconds: u64, now: Instant) {
        self.penalty
            .insert(chat, (now, now + Duration::from_secs(seconds)));
    }
}

fn refill(bucket: Option<Bucket>, rate: f64, burst: f64, now: Instant) -> Bucket {
    let tokens = bucket.map_or(burst, |bucket| {
        (bucket.tokens + (now - bucket.at).as_secs_f64() * rate).min(burst)
    });
    Bucket { tokens, at: now }
}

fn spend(bucket: Bucket) -> Bucket {
    Bucket {
        tokens: bucket.tokens - 1.0,
        ..bucket
    }
}

fn missing(bucket: Bucket, rate: f64) -> Duration {
    if bucket.tokens >= FULL {
        Duration::ZERO
    } else {
        Duration::from_secs_f64((1.0 - bucket.tokens) / rate)
    }
}

fn seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_chat_takes_a_burst_of_five_and_then_one_a_second() {
        let mut flood = Flood {
            on: true,
            ..Flood::default()
        };
        let now = Instant::now();
        for _ in 0..5 {
            assert_eq!(flood.charge(7, true, now), Verdict::Free);
        }
        let wait = |ignored| Verdict::Wait {
            seconds: 1,
            ignored,
        };
        assert_eq!(flood.charge(7, true, now), wait(false));
        let soon = now + Duration::from_millis(500);
        assert_eq!(flood.charge(7, true, soon), wait(true));
        let later = now + Duration::from_millis(1001);
        assert_eq!(flood.charge(7, true, later), Verdict::Free);
    }

    #[test]
    fn a_group_takes_twenty_calls_a_minute() {
        let mut flood = Flood {
            on: true,
            ..Flood::default()
        };
        let start = Instant::now();
        for second in 0..20 {
            let now = start + Duration::from_millis(1001 * second);
            assert_eq!(flood.charge(-7, false, now), Verdict::Free);
        }
        let now = start + Duration::from_secs(21);
        assert_eq!(
            flood.charge(-7, false, now),
            Verdict::Wait {
                seconds: 39,
                ignored: false
            }
        );
    }
}
