//! Failures that ask for another approach.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::domain::CallStatus;

use super::super::canonical::canonical;
use super::super::evidence::{PLAN_TOOL, is_declared, is_done};
use super::super::model::Plan;
use super::Signal;
use super::stall::digest;

/// Batches with the same failure that trigger.
const FAILURE_BATCHES: u32 = 3;
/// Hints a turn.
const MAX_HINTS: u32 = 2;
/// Batches between hints.
const COOLDOWN: u32 = 3;
/// Checks that are remembered, the oldest dropped first.
const MAX_CHECKS: usize = 64;
/// Error classes that are remembered.
const MAX_CLASSES: usize = 3;
/// Fingerprints that are remembered for each class.
const MAX_FINGERPRINTS: usize = 8;

/// What triggered a reassessment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reassessment {
    /// One check failed in three batches.
    RepeatedCheckFailure,
    /// Different calls failed for the same class of reason in three batches in a row.
    VariedToolFailures,
}

/// One finished call of a batch.
#[derive(Debug, Clone, Copy)]
pub struct BatchOutcome<'a> {
    /// Tool name.
    pub tool: &'a str,
    /// Arguments as the model wrote them.
    pub arguments: &'a str,
    /// How it ended.
    pub status: CallStatus,
    /// The host's own class of the error, such as `timeout` or `exit`; never taken from output.
    pub error_class: Option<&'a str>,
    /// Whether it polls a background job.
    pub is_poll: bool,
}

/// Watches the batches of one turn; begins anew with the next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reassessments {
    checks: Vec<(String, u32)>,
    classes: BTreeMap<String, (u32, BTreeSet<String>)>,
    hints: u32,
    /// Batches since the last hint.
    since: u32,
}

impl Reassessments {
    /// Takes a finished batch into account; a trigger if one is due. Without an open plan nothing is
    /// counted.
    pub fn batch(
        &mut self,
        plan: Option<&Plan>,
        batch: &[BatchOutcome<'_>],
    ) -> Option<Reassessment> {
        let plan = plan.filter(|plan| plan.tasks.iter().any(|task| !is_done(task)))?;
        let results = collapsed(batch);
        if results.is_empty() {
            return None;
        }
        self.since = self.since.saturating_add(1);
        let by_check = self.count_checks(plan, &results);
        let by_class = self.count_classes(&results);
        let reason = if by_check {
            Reassessment::RepeatedCheckFailure
        } else if by_class {
            Reassessment::VariedToolFailures
        } else {
            return None;
        };
        if self.hints >= MAX_HINTS || (self.hints > 0 && self.since < COOLDOWN) {
            return None;
        }
        self.hints += 1;
        self.since = 0;
        self.checks.retain(|(_, count)| *count < FAILURE_BATCHES);
        self.classes.clear();
        Some(reason)
    }

    fn count_checks(&mut self, plan: &Plan, results: &[(String, BatchOutcome<'_>)]) -> bool {
        for (fingerprint, outcome) in results {
            let declared = canonical(outcome.arguments)
                .is_ok_and(|arguments| is_declared(plan, outcome.tool, &arguments));
            if !declared {
                continue;
            }
            let known = self
                .checks
                .iter()
                .position(|(known, _)| known == fingerprint);
            match (outcome.status == CallStatus::Ok, known) {
                (true, Some(index)) => {
                    self.checks.remove(index);
                }
                (true, None) => {}
                (false, Some(index)) => {
                    if let Some((_, count)) = self.checks.get_mut(index) {
                        *count = count.saturating_add(1);
                    }
                }
                (false, None) => {
                    if self.checks.len() >= MAX_CHECKS {
                        self.checks.remove(0);
                    }
                    self.checks.push((fingerprint.clone(), 1));
                }
            }
        }
        self.checks
            .iter()
            .any(|(_, count)| *count >= FAILURE_BATCHES)
    }

    fn count_classes(&mut self, results: &[(String, BatchOutcome<'_>)]) -> bool {
        if results
            .iter()
            .any(|(_, outcome)| outcome.status == CallStatus::Ok)
        {
            self.classes.clear();
            return false;
        }
        let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (fingerprint, outcome) in results {
            if let Some(class) = outcome.error_class {
                seen.entry(class).or_default().insert(fingerprint);
            }
        }
        // The streak is of batches in a row: a class that is missing here begins anew.
        self.classes
            .retain(|class, _| seen.contains_key(class.as_str()));
        for (class, fingerprints) in seen {
            if !self.classes.contains_key(class) && self.classes.len() >= MAX_CLASSES {
                continue;
            }
            let (count, known) = self.classes.entry(class.to_owned()).or_default();
            *count = count.saturating_add(1);
            for fingerprint in fingerprints {
                if known.len() < MAX_FINGERPRINTS {
                    known.insert(fingerprint.to_owned());
                }
            }
        }
        self.classes
            .values()
            .any(|(count, known)| *count >= FAILURE_BATCHES && known.len() >= 2)
    }
}

impl Reassessment {
    /// The event.
    #[must_use]
    pub fn signal(self) -> Signal {
        Signal::PlanReassessment {
            reason: self,
            failure_batches: FAILURE_BATCHES,
        }
    }

    /// The hint for the next request, in English.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::RepeatedCheckFailure => {
                "[Plan] The same check has failed in three batches. Do not repeat it unchanged: look \
                 for the cause, split the task with plan revise, or report what blocks you. Checks, \
                 approvals and budgets stay as they are."
            }
            Self::VariedToolFailures => {
                "[Plan] Different calls have failed for the same kind of reason in three batches. Change \
                 the approach: find the common cause, split the task with plan revise, or report what \
                 blocks you. Checks, approvals and budgets stay as they are."
            }
        }
    }
}

/// The last result of each fingerprint, in order; calls that say nothing about the work left out.
fn collapsed<'a>(batch: &[BatchOutcome<'a>]) -> Vec<(String, BatchOutcome<'a>)> {
    let mut results: Vec<(String, BatchOutcome<'a>)> = Vec::new();
    for outcome in batch {
        let counts = matches!(outcome.status, CallStatus::Ok | CallStatus::Failed);
        if !counts || outcome.is_poll || outcome.tool == PLAN_TOOL {
            continue;
        }
        let arguments =
            canonical(outcome.arguments).unwrap_or_else(|_| outcome.arguments.to_owned());
        let fingerprint = digest(&[outcome.tool, &arguments]);
        results.retain(|(known, _)| *known != fingerprint);
        results.push((fingerprint, *outcome));
    }
    results
}
