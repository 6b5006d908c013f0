//! Budgets: a token bucket for private chats, rolling windows for groups and for the bot.

use std::collections::VecDeque;

use super::scheduler::Millis;

/// Calls in a window that rolls: never more than `most` in any `span_ms`.
#[derive(Debug, Clone)]
pub(super) struct Window {
    most: usize,
    span_ms: Millis,
    calls: VecDeque<Millis>,
}

impl Window {
    pub(super) fn new(most: usize, span_ms: Millis) -> Self {
        Self {
            most: most.max(1),
            span_ms,
            calls: VecDeque::new(),
        }
    }

    /// Calls still free now.
    pub(super) fn free(&mut self, now: Millis) -> usize {
        while self
            .calls
            .front()
            .is_some_and(|first| first + self.span_ms <= now)
        {
            self.calls.pop_front();
        }
        self.most.saturating_sub(self.calls.len())
    }

    /// When more than `reserve` calls will be free.
    pub(super) fn free_at(&mut self, reserve: usize, now: Millis) -> Millis {
        let free = self.free(now);
        if free > reserve {
            return now;
        }
        // So many calls have to leave the window first.
        let leave = (reserve - free).min(self.calls.len().saturating_sub(1));
        self.calls
            .get(leave)
            .map_or(now, |call| call + self.span_ms)
    }

    pub(super) fn take(&mut self, now: Millis) {
        self.calls.push_back(now);
    }
}

/// The budget of one chat.
#[derive(Debug, Clone)]
pub(super) enum Budget {
    /// Tokens that refill steadily.
    Private {
        per_second: f64,
        burst: f64,
        tokens: f64,
        at: Millis,
    },
    /// So many a minute, evenly: one a second as long as a minute has no more.
    Group { minute: Window, second: Window },
}

/// How much of a budget must be left over after a call of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thrift {
    /// Nothing: it goes as soon as it may.
    None,
    /// A little, for what matters more.
    Some,
    /// Half of it.
    Half,
    /// Most of it.
    Most,
}

impl Budget {
    /// A budget for a chat that was silent since the process began, `age` ago. With `Some(age)` an earlier
    /// process may have used it just before, so that the last part of the burst has to be earned.
    pub(super) fn private(per_second: f64, burst: u32, age: Option<Millis>, now: Millis) -> Self {
        let burst = f64::from(burst.max(1));
        let per_second = per_second.max(0.01);
        let earned = age.map_or(burst, |age| {
            burst * 2.0 / 3.0 + milliseconds(age) / 1000.0 * per_second
        });
        Self::Private {
            per_second,
            burst,
            tokens: earned.min(burst),
            at: now,
        }
    }

    pub(super) fn group(per_minute: u32) -> Self {
        Self::Group {
            minute: Window::new(per_minute as usize, 60_000),
            // One a second, unless the limit of a minute was raised above that.
            second: Window::new((per_minute as usize).div_ceil(60), 1_000),
        }
    }

    /// When a call of this thrift may go; `now` if at once.
    pub(super) fn ready_at(&mut self, thrift: Thrift, now: Millis) -> Millis {
        match self {
            Self::Private {
                per_second,
                burst,
                tokens,
                at,
            } => {
                let since = now.saturating_sub(*at);
                *tokens = (*tokens + milliseconds(since) / 1000.0 * *per_second).min(*burst);
                *at = now;
                let extra = match thrift {
                    Thrift::None | Thrift::Some => 0.0,
                    Thrift::Half => (*burst - 1.0).min(0.4),
                    Thrift::Most => (*burst - 1.0).min(1.0),
                };
                let missing = 1.0 + extra - *tokens;
                if missing <= 1e-9 {
                    now
                } else {
                    now + whole_milliseconds(missing / *per_second * 1000.0)
                }
            }
            Self::Group { minute, second } => {
                let most = minute.most;
                let reserve = match thrift {
                    Thrift::None => 0,
                    Thrift::Some => most / 5,
                    Thrift::Half => most / 2,
                    Thrift::Most => most * 2 / 3,
                };
                minute.free_at(reserve, now).max(second.free_at(0, now))
            }
        }
    }

    pub(super) fn take(&mut self, now: Millis) {
        match self {
            Self::Private { tokens, .. } => *tokens -= 1.0,
            Self::Group { minute, second } => {
                minute.take(now);
                second.take(now);
            }
        }
    }
}

/// Milliseconds as a fraction; a budget never spans more than hours.
fn milliseconds(span: Millis) -> f64 {
    f64::from(u32::try_from(span).unwrap_or(u32::MAX))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is positive and far below 2^53"
)]
fn whole_milliseconds(span: f64) -> Millis {
    span.clamp(1.0, 1e12).ceil() as Millis
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_never_holds_more_than_its_most() {
        let mut window = Window::new(3, 1_000);
        for now in [0, 100, 200] {
            assert_eq!(window.free_at(0, now), now);
            window.take(now);
        }
        assert_eq!(window.free_at(0, 300), 1_000);
        assert_eq!(window.free_at(1, 300), 1_100);
        assert_eq!(window.free(1_150), 2);
    }

    #[test]
    fn a_private_budget_bursts_and_then_refills() {
        let mut budget = Budget::private(1.0, 3, None, 9_000);
        for _ in 0..3 {
            assert_eq!(budget.ready_at(Thrift::None, 9_000), 9_000);
            budget.take(9_000);
        }
        assert_eq!(budget.ready_at(Thrift::None, 9_000), 10_000);
        assert_eq!(budget.ready_at(Thrift::Most, 9_000), 11_000);
    }

    #[test]
    fn after_a_restart_the_last_part_of_a_burst_is_earned() {
        let mut budget = Budget::private(1.0, 3, Some(0), 0);
        for _ in 0..2 {
            assert_eq!(budget.ready_at(Thrift::None, 0), 0);
            budget.take(0);
        }
        assert_eq!(budget.ready_at(Thrift::None, 0), 1_000);
    }
}
