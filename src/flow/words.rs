//! Numbers in words: durations, counts and the context footer.

use crate::domain::EndReason;
use crate::i18n::tr;

use super::Millis;

/// A duration in milliseconds as people say it.
#[must_use]
pub fn duration(language: &str, elapsed: Millis) -> String {
    let seconds = elapsed / 1000;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let (h, m, s) = (hours.to_string(), minutes.to_string(), rest.to_string());
    if hours > 0 {
        tr(language, "flow-duration-hours", &[("h", &h), ("m", &m)])
    } else if minutes > 0 {
        tr(language, "flow-duration-minutes", &[("m", &m), ("s", &s)])
    } else {
        tr(language, "flow-duration-seconds", &[("s", &s)])
    }
}

/// A count of tokens in few characters: `999`, `12.4k`, `200k`.
#[must_use]
pub fn tokens(count: u64) -> String {
    if count < 1000 {
        return count.to_string();
    }
    let tenths = (count + 50) / 100;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole}k"),
        (whole, part) if whole < 100 => format!("{whole}.{part}k"),
        (whole, _) => format!("{whole}k"),
    }
}

/// The word that a settled flow message begins with.
pub(crate) fn outcome(language: &str, reason: &EndReason) -> String {
    let key = match reason {
        EndReason::Done
        | EndReason::PlanReady
        | EndReason::PlanNotReady { .. }
        | EndReason::Question => "flow-finished",
        EndReason::Failed(_) => "flow-failed",
        EndReason::TimedOut => "flow-timed-out",
        EndReason::Stopped
        | EndReason::Blocked { .. }
        | EndReason::Budget { .. }
        | EndReason::Incomplete { .. } => "flow-stopped",
        EndReason::Interrupted => "flow-interrupted",
    };
    tr(language, key, &[])
}

/// The sentence that says why a turn ended, if its word does not say it all.
pub(crate) fn reason(language: &str, reason: &EndReason) -> Vec<String> {
    match reason {
        EndReason::Done
        | EndReason::PlanReady
        | EndReason::PlanNotReady { .. }
        | EndReason::Interrupted
        | EndReason::Stopped
        | EndReason::TimedOut => Vec::new(),
        EndReason::Question => vec![tr(language, "flow-reason-question", &[])],
        EndReason::Blocked { why } => vec![tr(language, "flow-reason-blocked", &[("why", why)])],
        EndReason::Budget { budget } => {
            let budget = tr(language, budget, &[]);
            vec![tr(language, "flow-reason-budget", &[("budget", &budget)])]
        }
        EndReason::Incomplete { left } => std::iter::once(tr(language, "flow-reason-left", &[]))
            .chain(left.iter().map(|line| format!("• {line}")))
            .collect(),
        EndReason::Failed(fault) => {
            let arguments: Vec<(&str, &str)> = fault
                .arguments
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            vec![tr(language, &fault.key, &arguments)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_like_speech() {
        assert_eq!(duration("en", 900), "0 s");
        assert_eq!(duration("en", 61_000), "1 min 1 s");
        assert_eq!(duration("en", 3_720_000), "1 h 2 min");
    }

    #[test]
    fn token_counts_are_short() {
        assert_eq!(tokens(999), "999");
        assert_eq!(tokens(12_400), "12.4k");
        assert_eq!(tokens(200_000), "200k");
    }
}
