//! Host sentences that are put together from several keys.

use crate::domain::EndReason;
use crate::i18n::tr;

/// Rows of what is left that are named.
const LEFT: usize = 15;

/// The final message of a turn that has no answer of the model; `None` if the flow message says enough.
pub(super) fn ending(language: &str, reason: &EndReason) -> Option<String> {
    let text = match reason {
        EndReason::Done => tr(language, "end-no-answer", &[]),
        EndReason::PlanReady => tr(language, "end-plan-ready", &[]),
        EndReason::PlanNotReady { missing } => {
            let items: Vec<String> = missing.iter().map(|key| tr(language, key, &[])).collect();
            tr(
                language,
                "end-plan-not-ready",
                &[("items", &items.join(", "))],
            )
        }
        EndReason::Question => tr(language, "end-question", &[]),
        EndReason::Blocked { why } => tr(language, "end-blocked", &[("why", why)]),
        EndReason::Budget { budget } => {
            let name = tr(language, budget, &[]);
            tr(language, "end-budget", &[("budget", &name)])
        }
        EndReason::Incomplete { left } => {
            let mut rows: Vec<String> = left
                .iter()
                .take(LEFT)
                .map(|row| crate::text::units::truncate_chars(row, 150))
                .collect();
            if left.len() > LEFT {
                rows.push(format!("… +{}", left.len() - LEFT));
            }
            tr(language, "end-incomplete", &[("left", &rows.join("\n"))])
        }
        EndReason::TimedOut => tr(language, "end-timed-out", &[]),
        EndReason::Failed(fault) => {
            let arguments: Vec<(&str, &str)> = fault
                .arguments
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            tr(language, &fault.key, &arguments)
        }
        EndReason::Interrupted | EndReason::Stopped => return None,
    };
    Some(text)
}
