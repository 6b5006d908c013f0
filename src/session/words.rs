//! Host sentences that are put together from several keys.

use crate::domain::EndReason;
use crate::i18n::tr;

/// Longest run without a blank that is kept back; of a longer one nothing shows until the answer is there.
const RUN: usize = 4096;

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

/// What may show of streamed text now: everything up to the last blank, because what follows may still be
/// the first half of a secret. `tail` holds the rest; its cost does not grow with the length of the text.
pub(super) fn held_back(tail: &mut String, delta: &str) -> Option<String> {
    let Some(at) = delta.rfind(char::is_whitespace) else {
        if tail.len() + delta.len() <= RUN {
            tail.push_str(delta);
        } else {
            tail.truncate(0);
            tail.push('…');
        }
        return None;
    };
    let blank = delta.get(at..)?.chars().next().map_or(1, char::len_utf8);
    let (ready, rest) = delta.split_at(at + blank);
    let mut whole = std::mem::replace(tail, rest.to_owned());
    whole.push_str(ready);
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streamed_text_shows_up_to_the_last_blank() {
        let mut tail = String::new();
        assert_eq!(held_back(&mut tail, "sk-"), None);
        assert_eq!(
            held_back(&mut tail, "12 and\u{3000}mo"),
            Some("sk-12 and\u{3000}".into())
        );
        assert_eq!(held_back(&mut tail, "re "), Some("more ".into()));
        assert_eq!(tail, "");
    }

    #[test]
    fn an_endless_run_without_a_blank_is_not_kept() {
        let mut tail = String::new();
        for _ in 0..10_000 {
            assert_eq!(held_back(&mut tail, "aaaaaaaaaa"), None);
        }
        assert!(tail.len() <= RUN);
    }
}
