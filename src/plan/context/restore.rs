//! The way back from a message to a plan, for a session whose sidecar was lost.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::domain::SessionId;

use super::super::context_parse::{Parsed, parse};
use super::super::model::{Check, Evidence, Plan, PlanStatus, Task, TaskStatus, Verification};
use super::{Step, WireCheck, WireStatus, is_plan_message};

/// What a message does not say about the plan it came from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// A new plan id.
    pub id: String,
    /// The session.
    pub session: SessionId,
    /// Title to show.
    pub title: String,
    /// Now.
    pub now: DateTime<Utc>,
}

/// The newest readable plan among the messages, each given as "is a system message" and text, oldest
/// first; and the indices of plan messages that cannot be read and must not stay in a history.
#[must_use]
pub fn newest<'a>(
    messages: impl IntoIterator<Item = (bool, &'a str)>,
    max_tasks: usize,
) -> (Option<Parsed>, Vec<usize>) {
    let mut found = None;
    let mut unreadable = Vec::new();
    for (index, (is_system, text)) in messages.into_iter().enumerate() {
        if !is_plan_message(is_system, text) {
            continue;
        }
        match parse(text, max_tasks) {
            Ok(parsed) => found = Some(parsed),
            Err(_) => unreadable.push(index),
        }
    }
    (found, unreadable)
}

/// A live plan from a message. No evidence survives: what had passed is stale and marked restored,
/// everything else pending, so the version counts up if anything was downgraded.
#[must_use]
pub fn restore(parsed: &Parsed, origin: Origin) -> Plan {
    let (version, revision, verification, tasks) = match parsed {
        Parsed::Finished { version, ids } => {
            let tasks = ids
                .iter()
                .map(|id| task(id, id, TaskStatus::Completed))
                .collect();
            (*version, None, Vec::new(), tasks)
        }
        Parsed::Running(plan) => {
            let verification = plan
                .verification
                .iter()
                .map(|item| Verification {
                    command: item.command.clone(),
                    evidence: evidence(&item.status),
                })
                .collect();
            let tasks = plan.steps.iter().map(step).collect();
            (plan.version, plan.revision.clone(), verification, tasks)
        }
    };
    let mut other = BTreeMap::new();
    if let Some(revision) = revision {
        let value = serde_json::json!({ "reason": revision.reason, "summary": revision.summary });
        other.insert("last_revision".to_owned(), value);
    }
    let mut plan = Plan {
        id: origin.id,
        session_id: origin.session,
        title: origin.title,
        description: String::new(),
        tasks,
        status: PlanStatus::Active,
        created_at: origin.now,
        updated_at: origin.now,
        approved_at: None,
        approved_by: None,
        approved_revision: None,
        version,
        pre_init_editing: false,
        pre_init_origin: None,
        working_directory: None,
        verification,
        revision: String::new(),
        flow: None,
        other,
    };
    if is_downgraded(parsed) {
        plan.version += 1;
    }
    plan
}

fn is_downgraded(parsed: &Parsed) -> bool {
    match parsed {
        Parsed::Finished { .. } => false,
        Parsed::Running(plan) => {
            let checks = plan.steps.iter().flat_map(|step| &step.checks);
            checks
                .map(|check| &check.status)
                .any(|status| status != "pending")
                || plan
                    .verification
                    .iter()
                    .any(|item| item.status != "pending")
        }
    }
}

fn step(step: &Step) -> Task {
    let (status, note) = match step.status {
        WireStatus::Pending => (TaskStatus::Pending, step.note.clone()),
        WireStatus::InProgress => (TaskStatus::InProgress, step.note.clone()),
        WireStatus::Done => (TaskStatus::Completed, step.note.clone()),
        WireStatus::Skipped => (TaskStatus::Skipped, step.note.clone()),
        WireStatus::Failed => (TaskStatus::Failed, step.note.clone()),
        WireStatus::Blocked => (
            TaskStatus::Blocked {
                reason: step.note.clone(),
            },
            String::new(),
        ),
    };
    Task {
        checks: step.checks.iter().map(check).collect(),
        notes: note,
        ..task(&step.id, &step.title, status)
    }
}

fn task(id: &str, title: &str, status: TaskStatus) -> Task {
    Task {
        id: id.to_owned(),
        title: title.to_owned(),
        description: String::new(),
        started: status != TaskStatus::Pending,
        status,
        dependencies: Vec::new(),
        acceptance_criteria: Vec::new(),
        checks: Vec::new(),
        notes: String::new(),
        targets: Vec::new(),
        action: None,
        retry_count: 0,
        other: BTreeMap::new(),
    }
}

fn check(check: &WireCheck) -> Check {
    Check {
        id: check.id.clone(),
        description: check.description.clone(),
        tool: check.tool.clone(),
        arguments: check.arguments.clone(),
        evidence: evidence(&check.status),
    }
}

fn evidence(word: &str) -> Evidence {
    match word {
        "passed" | "stale" => Evidence::Stale { restored: true },
        // An attestation's words are not in the message, so it does not count either.
        _ => Evidence::Pending,
    }
}
