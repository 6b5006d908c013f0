//! Caps of every field, in Unicode characters unless said otherwise, and the rules that a whole plan
//! obeys. One place, so that what an operation accepts is exactly what a load accepts.

use std::collections::BTreeSet;

use crate::plan::model::{Check, Evidence, Plan, Task, TaskStatus};

/// Title of a plan or a task.
pub const TITLE: usize = 200;
/// Description of a task.
pub const DESCRIPTION: usize = 5000;
/// Note of a task, reason of a block.
pub const NOTE: usize = 2000;
/// Id of a task or a check.
pub const ID: usize = 32;
/// Description of a check.
pub const CHECK_DESCRIPTION: usize = 200;
/// Canonical arguments of a check, in bytes.
pub const CHECK_ARGUMENTS: usize = 4096;
/// Reason of a revision.
pub const REASON: usize = 240;
/// Checks of one task.
pub const CHECKS: usize = 4;
/// Operations of one revision.
pub const REVISE_OPERATIONS: usize = 8;
/// Acceptance criteria of one task.
pub const CRITERIA: usize = 20;
/// One acceptance criterion.
pub const CRITERION: usize = 500;
/// Targets of one task.
pub const TARGETS: usize = 32;
/// One target path.
pub const TARGET: usize = 500;
/// Name of a tool.
pub const TOOL: usize = 64;
/// Verification commands of one plan.
pub const VERIFICATION: usize = 16;
/// Tasks of any plan, whatever the setting says.
pub const TASKS: usize = 200;
/// How often a task may fail before `start` refuses it.
pub const RETRIES: u32 = 20;

/// Text on one line: line ends, tabs and control characters become spaces, runs of white space one
/// space, em dashes hyphens. The context message puts one task on one line and separates by em dash.
#[must_use]
pub fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| match c {
            '—' => '-',
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => ' ',
            c => c,
        })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts to `max` characters.
#[must_use]
pub fn cut(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// Whether the text has more than `max` characters.
#[must_use]
pub fn longer(text: &str, max: usize) -> bool {
    text.chars().nth(max).is_some()
}

/// A title, cleaned.
///
/// # Errors
/// English text if it is blank or too long.
pub fn title(text: &str) -> Result<String, String> {
    let line = one_line(text);
    if line.is_empty() {
        return Err("title is blank".to_owned());
    }
    within("title", &line, TITLE)?;
    Ok(line)
}

/// A note, cleaned. May be empty.
///
/// # Errors
/// English text if it is too long.
pub fn note(text: &str) -> Result<String, String> {
    let line = one_line(text);
    within("note", &line, NOTE)?;
    Ok(line)
}

/// A description: line ends stay, other control characters go.
///
/// # Errors
/// English text if it is too long.
pub fn description(text: &str) -> Result<String, String> {
    let kept: String = text
        .replace("\r\n", "\n")
        .chars()
        .filter(|c| *c == '\n' || *c == '\t' || !c.is_control())
        .collect();
    let kept = kept.trim().to_owned();
    within("description", &kept, DESCRIPTION)?;
    Ok(kept)
}

/// An id of a task or a check, trimmed.
///
/// # Errors
/// English text if it is blank, too long or has white space, brackets, control or invisible characters.
pub fn id(text: &str) -> Result<String, String> {
    let id = text.trim();
    if id.is_empty() {
        return Err("id required: the id is blank".to_owned());
    }
    within("id", id, ID)?;
    if id.chars().any(forbidden_in_id) {
        return Err("an id has no white space, brackets or control characters".to_owned());
    }
    Ok(id.to_owned())
}

fn forbidden_in_id(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || "[](){}<>".contains(c)
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn within(what: &str, text: &str, max: usize) -> Result<(), String> {
    if longer(text, max) {
        return Err(format!("{what} is longer than {max} characters"));
    }
    Ok(())
}

/// The rules of one check. `arguments` must be canonical already.
///
/// # Errors
/// English text that names the check.
pub fn check(check: &Check) -> Result<(), String> {
    let named = |problem: String| format!("check {}: {problem}", cut(&check.id, ID));
    if id(&check.id)? != check.id {
        return Err(named("id is not trimmed".to_owned()));
    }
    within("description", &check.description, CHECK_DESCRIPTION).map_err(named)?;
    within("tool", &check.tool, TOOL).map_err(named)?;
    if check.tool.trim().is_empty() || check.tool.chars().any(char::is_whitespace) {
        return Err(named("tool is blank or has white space".to_owned()));
    }
    if check.tool == "plan" {
        return Err(named(
            "a plan call proves nothing, name another tool".to_owned(),
        ));
    }
    if check.arguments.len() > CHECK_ARGUMENTS {
        return Err(named(format!("arguments exceed {CHECK_ARGUMENTS} bytes")));
    }
    match &check.evidence {
        Evidence::Blocked { reason } | Evidence::Attested { note: reason } => {
            within("evidence note", reason, NOTE).map_err(named)
        }
        Evidence::Pending
        | Evidence::Passed { .. }
        | Evidence::Failed { .. }
        | Evidence::Stale { .. } => Ok(()),
    }
}

fn task(task: &Task) -> Result<(), String> {
    let named = |problem: String| format!("task {}: {problem}", cut(&task.id, ID));
    if id(&task.id)? != task.id {
        return Err(named("id is not trimmed".to_owned()));
    }
    if title(&task.title).map_err(named)? != task.title {
        return Err(named("title is not on one line".to_owned()));
    }
    if note(&task.notes).map_err(named)? != task.notes {
        return Err(named("note is not on one line".to_owned()));
    }
    within("description", &task.description, DESCRIPTION).map_err(named)?;
    if let TaskStatus::Blocked { reason } = &task.status {
        within("reason", reason, NOTE).map_err(named)?;
    }
    list(
        "acceptance_criteria",
        &task.acceptance_criteria,
        CRITERIA,
        CRITERION,
    )
    .map_err(named)?;
    list("targets", &task.targets, TARGETS, TARGET).map_err(named)?;
    if task.checks.len() > CHECKS {
        return Err(named(format!("has more than {CHECKS} checks")));
    }
    let mut seen = BTreeSet::new();
    for one in &task.checks {
        check(one).map_err(named)?;
        if !seen.insert(one.id.as_str()) {
            return Err(named(format!("check id {} is used twice", one.id)));
        }
    }
    Ok(())
}

fn list(what: &str, items: &[String], count: usize, length: usize) -> Result<(), String> {
    if items.len() > count {
        return Err(format!("{what} has more than {count} items"));
    }
    if items.iter().any(|item| longer(item, length)) {
        return Err(format!(
            "an item of {what} is longer than {length} characters"
        ));
    }
    Ok(())
}

/// The rules of the whole checklist: count, unique ids, every field, dependencies that exist and do
/// not go in circles.
///
/// # Errors
/// English text that names the first rule broken.
pub fn tasks(tasks: &[Task], max_tasks: usize) -> Result<(), String> {
    let max = max_tasks.min(TASKS);
    if tasks.len() > max {
        return Err(format!(
            "a checklist holds at most {max} tasks, this makes {}",
            tasks.len()
        ));
    }
    let mut ids = BTreeSet::new();
    for one in tasks {
        task(one)?;
        if !ids.insert(one.id.as_str()) {
            return Err(format!("task id {} is used twice", one.id));
        }
    }
    for one in tasks {
        if let Some(unknown) = one
            .dependencies
            .iter()
            .find(|id| !ids.contains(id.as_str()))
        {
            return Err(format!(
                "task {} depends on unknown task {}",
                one.id,
                cut(unknown, 48)
            ));
        }
    }
    circle(tasks).map_or(Ok(()), |ids| {
        Err(format!("dependencies go in a circle: {}", ids.join(", ")))
    })
}

/// The ids of tasks that can never begin because their dependencies go in circles.
fn circle(tasks: &[Task]) -> Option<Vec<&str>> {
    let mut open: Vec<&Task> = tasks.iter().collect();
    loop {
        let ids: BTreeSet<&str> = open.iter().map(|task| task.id.as_str()).collect();
        let before = open.len();
        open.retain(|task| task.dependencies.iter().any(|id| ids.contains(id.as_str())));
        if open.is_empty() {
            return None;
        }
        if open.len() == before {
            return Some(ids.into_iter().take(8).collect());
        }
    }
}

/// The rules of a whole sidecar, asked at every load.
///
/// # Errors
/// English text that names the first rule broken.
pub fn plan(plan: &Plan) -> Result<(), String> {
    within("title", &plan.title, TITLE)?;
    if plan.verification.len() > VERIFICATION {
        return Err(format!("more than {VERIFICATION} verification commands"));
    }
    if plan
        .verification
        .iter()
        .any(|one| one.command.len() > CHECK_ARGUMENTS)
    {
        return Err(format!(
            "a verification command exceeds {CHECK_ARGUMENTS} bytes"
        ));
    }
    tasks(&plan.tasks, TASKS)
}
