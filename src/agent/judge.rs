//! The judgement of a reply without tool calls, in a fixed order; each correction has its own counter.

use crate::domain::{EndReason, ModelReply, Progress};

use super::Effect;
use super::event::PlanFacts;
use super::intent::{announces_tool, prints_call};
use super::turn::Turn;

/// Corrections given so far, each bounded by its own budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counters {
    failed_mutation: u32,
    intent: u32,
    targets: u32,
    verification: u32,
    open_tasks: u32,
    empty: u32,
    plan: u32,
    pub(super) submission_error: Option<String>,
}

impl Counters {
    /// A batch of calls is progress: what was announced is being done.
    pub(super) fn reset_by_batch(&mut self) {
        self.intent = 0;
        self.empty = 0;
        self.verification = 0;
    }
}

/// How a reply is judged.
enum Verdict {
    /// Tell the model and ask again.
    Correct(String),
    /// The turn is over.
    End(EndReason),
}

/// Judges a reply without calls.
pub(super) fn judge(turn: &mut Turn, reply: &ModelReply, plan: &PlanFacts) -> Vec<Effect> {
    match verdict(turn, reply.text.trim(), plan) {
        Verdict::Correct(text) => {
            let shown = if reply.text.trim().is_empty() {
                Progress::TextDropped
            } else {
                Progress::Narration {
                    text: reply.text.clone(),
                }
            };
            let mut effects = vec![Effect::Progress(shown), turn.host(text)];
            effects.extend(turn.ask());
            effects
        }
        Verdict::End(reason) => {
            let mut effects = vec![Effect::Progress(Progress::TextDropped)];
            effects.extend(turn.finish(reason, reply.text.trim().to_owned()));
            effects
        }
    }
}

fn verdict(turn: &mut Turn, text: &str, plan: &PlanFacts) -> Verdict {
    if let Some(why) = blocker(text) {
        return Verdict::End(EndReason::Blocked { why });
    }
    failed_mutation(turn, text)
        .or_else(|| intent(turn, text))
        .or_else(|| targets(turn, plan))
        .or_else(|| verification(turn, plan))
        .or_else(|| open_tasks(turn, plan))
        .or_else(|| empty(turn, text))
        .or_else(|| editing(turn, plan))
        .unwrap_or(Verdict::End(EndReason::Done))
}

/// The model's own report of a blocker: a first line that says so.
fn blocker(text: &str) -> Option<String> {
    let (word, why) = text.split_once(':')?;
    let is_report = word
        .trim_matches(['*', ' ', '#'])
        .eq_ignore_ascii_case("blocked");
    let why = why.trim_matches(['*', ' ', '\n']);
    (is_report && !why.is_empty()).then(|| why.chars().take(500).collect())
}

fn failed_mutation(turn: &mut Turn, text: &str) -> Option<Verdict> {
    if turn.mutations.accept(text) {
        return None;
    }
    let failed = turn.mutations.pending()?;
    if turn.counters.failed_mutation >= 2 {
        let left = if failed.targets.is_empty() {
            vec![failed.tool.clone()]
        } else {
            failed.targets.clone()
        };
        return Some(Verdict::End(EndReason::Incomplete { left }));
    }
    turn.counters.failed_mutation += 1;
    turn.mutations.correction().map(Verdict::Correct)
}

fn intent(turn: &mut Turn, text: &str) -> Option<Verdict> {
    let printed = prints_call(text, &turn.limits.tools);
    if turn.limits.tools.is_empty() || !(printed || announces_tool(text)) {
        return None;
    }
    if turn.counters.intent >= 2 {
        return Some(Verdict::End(EndReason::Incomplete {
            left: vec![text.chars().take(150).collect()],
        }));
    }
    turn.counters.intent += 1;
    Some(Verdict::Correct(if printed {
        "You wrote a tool call as text; nothing was run. Make the call with the tool interface."
            .into()
    } else {
        "You announced a step but made no tool call; nothing was run. Make the call now, or give \
         your final answer without announcing further steps."
            .into()
    }))
}

fn targets(turn: &mut Turn, plan: &PlanFacts) -> Option<Verdict> {
    if plan.unfinished_targets.is_empty() {
        return None;
    }
    if turn.counters.targets >= 2 {
        return Some(Verdict::End(EndReason::Incomplete {
            left: plan.unfinished_targets.clone(),
        }));
    }
    turn.counters.targets += 1;
    Some(Verdict::Correct(format!(
        "These planned targets have neither been changed nor inspected: {}. Work on them, or say \
         for each why it needs no change after reading it.",
        plan.unfinished_targets.join(", ")
    )))
}

fn verification(turn: &mut Turn, plan: &PlanFacts) -> Option<Verdict> {
    if plan.verification_owed.is_empty() {
        return None;
    }
    if turn.counters.verification >= 2 {
        return Some(Verdict::End(EndReason::Incomplete {
            left: plan.verification_owed.clone(),
        }));
    }
    turn.counters.verification += 1;
    Some(Verdict::Correct(format!(
        "Every task is resolved, but these verification commands have not succeeded since the last \
         change: {}. Run each exactly as written with the bash tool.",
        plan.verification_owed.join("; ")
    )))
}

fn open_tasks(turn: &mut Turn, plan: &PlanFacts) -> Option<Verdict> {
    let nudge = plan.nudge.clone().filter(|_| !plan.open_tasks.is_empty())?;
    if turn.counters.open_tasks >= 1 {
        return Some(Verdict::End(EndReason::Incomplete {
            left: plan.open_tasks.clone(),
        }));
    }
    turn.counters.open_tasks += 1;
    Some(Verdict::Correct(nudge))
}

fn empty(turn: &mut Turn, text: &str) -> Option<Verdict> {
    let visible = text.chars().any(|c| {
        !c.is_whitespace() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    });
    if visible {
        return None;
    }
    if turn.counters.empty >= 2 {
        return Some(Verdict::End(EndReason::Budget {
            budget: "budget-empty".into(),
        }));
    }
    turn.counters.empty += 1;
    Some(Verdict::Correct(
        "Your reply was empty. Give the answer, or call a tool.".into(),
    ))
}

fn editing(turn: &mut Turn, plan: &PlanFacts) -> Option<Verdict> {
    let missing = plan.editing_missing.as_ref()?;
    if missing.is_empty() {
        return Some(Verdict::End(EndReason::PlanReady));
    }
    if turn.counters.plan >= 1 {
        return Some(Verdict::End(EndReason::PlanNotReady {
            missing: plan.missing_keys.clone(),
        }));
    }
    turn.counters.plan += 1;
    Some(Verdict::Correct(format!(
        "The session plan cannot be approved yet. Missing: {}. Complete the session .md, or ask the \
         user what you need to know.",
        missing.join(", ")
    )))
}
