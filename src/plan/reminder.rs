//! What the host tells the model about planning: reminders in place of the checklist while a plan is
//! discussed or written, recovery after a compaction, and the plan's part of a digest. English, for the
//! model.
//!
//! Paths are the host's own; titles and ids were written by a model, so callers put those parts that
//! are marked as untrusted into the untrusted block.

use std::path::Path;

use super::context::bounds::clean;
use super::evidence::{is_done, is_fresh};
use super::model::{EditingPlan, Evidence, Plan, PlanState, PreInitOrigin, Task, TaskStatus};

/// Bytes of a reminder or of the trusted part of a digest.
pub const MAX_REMINDER_BYTES: usize = 4096;
/// Bytes of the untrusted part of a digest.
pub const MAX_REMAINING_BYTES: usize = 8192;
/// Missing items that a reminder names.
const MAX_MISSING: usize = 12;

/// The reminder that stands in the place of the plan message, if the state has one: before `init` and
/// while the prose is written. `md_path` is where `init` will put the session `.md`; `missing` names in
/// English what the validator still misses.
#[must_use]
pub fn reminder(state: &PlanState, md_path: &Path, missing: &[&str]) -> Option<String> {
    let text = match state {
        PlanState::NoPlan | PlanState::Active(_) => return None,
        PlanState::PreInit { origin } => pre_init(*origin, md_path),
        PlanState::Editing(plan) => editing(plan, missing),
        PlanState::Corrupt { .. } => CORRUPT.to_owned(),
    };
    Some(bounded(text, MAX_REMINDER_BYTES))
}

/// What to do first after the conversation was compacted or the process restarted; `None` without a
/// plan.
#[must_use]
pub fn recovery(state: &PlanState) -> Option<String> {
    let text = match state {
        PlanState::NoPlan => return None,
        PlanState::PreInit { .. } => "[Session recovery] Plan mode is on and no plan exists yet. Go on \
             looking around, then call plan init or plan submit. Do not change project files."
            .to_owned(),
        PlanState::Editing(plan) => format!(
            "[Session recovery] A session plan is being written. Read {} again before anything else and \
             go on from what it says. Do not call plan start and do not change project files: the owner \
             has not approved it.",
            plan.md_path.display()
        ),
        PlanState::Active(plan) if plan.tasks.is_empty() => {
            "[Session recovery] The plan is approved and has no tasks yet. Read its implementation \
             steps, call plan add_tasks once with one task for each step, then plan start."
                .to_owned()
        }
        PlanState::Active(_) => "[Session recovery] A checklist is live. Call plan start without \
             task_id to bring back the task that was in progress, then go on with the checklist. Look \
             at what was really changed before you repeat a step."
            .to_owned(),
        PlanState::Corrupt { .. } => CORRUPT.to_owned(),
    };
    Some(bounded(text, MAX_REMINDER_BYTES))
}

/// The plan's part of a compaction digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The host's words: state, absolute `.md` path, what to do next.
    pub trusted: String,
    /// Remaining tasks with titles, one a line; written by a model, so it goes into the untrusted
    /// block. Empty if nothing remains.
    pub remaining: String,
}

/// The plan's part of a digest; `None` without a plan. `md_path` is the session `.md` if it exists.
#[must_use]
pub fn digest(state: &PlanState, md_path: Option<&Path>) -> Option<Digest> {
    let (word, next) = match state {
        PlanState::NoPlan => return None,
        PlanState::PreInit { .. } => (
            "PreInit",
            "Next: look around, then plan init or plan submit; change nothing.".to_owned(),
        ),
        PlanState::Editing(_) => (
            "Editing",
            "Next: finish the session plan .md and wait for the owner's Approve; do not call plan \
             start, do not change project files."
                .to_owned(),
        ),
        PlanState::Active(plan) => ("Active", active_next(plan)),
        PlanState::Corrupt { .. } => ("Corrupt", CORRUPT.to_owned()),
    };
    let path = match state {
        PlanState::Editing(plan) => Some(plan.md_path.as_path()),
        PlanState::NoPlan
        | PlanState::PreInit { .. }
        | PlanState::Active(_)
        | PlanState::Corrupt { .. } => md_path,
    };
    let path = path.map_or_else(
        || "Session plan .md: none.".to_owned(),
        |path| format!("Session plan .md: {}", path.display()),
    );
    let remaining = match state {
        PlanState::Active(plan) => remaining_with_titles(plan),
        PlanState::NoPlan
        | PlanState::PreInit { .. }
        | PlanState::Editing(_)
        | PlanState::Corrupt { .. } => String::new(),
    };
    Some(Digest {
        trusted: bounded(
            format!("Plan state: {word}.\n{path}\n{next}"),
            MAX_REMINDER_BYTES,
        ),
        remaining,
    })
}

/// Remaining tasks with titles, one a line, for a side call that may be the only context left. `;` in
/// titles becomes `,` so that a list on one line stays a list.
#[must_use]
pub fn remaining_with_titles(plan: &Plan) -> String {
    let lines: Vec<String> = open_tasks(plan)
        .map(|task| {
            let title = clean(&task.title, 200).replace(';', ",");
            format!("{} [{}] {title}", task.id, word(task))
        })
        .collect();
    bounded(lines.join("\n"), MAX_REMAINING_BYTES)
}

/// Remaining tasks as `id=status`, without titles, for the end of a turn whose budget is used up;
/// `None` if nothing remains.
#[must_use]
pub fn remaining(plan: &Plan) -> Option<String> {
    let items: Vec<String> = open_tasks(plan)
        .map(|task| format!("{}={}", task.id, word(task)))
        .collect();
    (!items.is_empty()).then(|| bounded(items.join(", "), MAX_REMAINING_BYTES))
}

/// The one nudge after an answer that leaves a live checklist open: ids only, and it never asks to run
/// a check by itself. Tasks that only a restart has reopened are no reason for it. `None` if nothing
/// is open.
#[must_use]
pub fn completion_nudge(plan: &Plan) -> Option<String> {
    let items: Vec<String> = open_tasks(plan)
        .filter(|task| !only_restored(task))
        .map(|task| format!("{}={}", task.id, word(task)))
        .collect();
    if items.is_empty() {
        return None;
    }
    let open = bounded(items.join(", "), MAX_REMINDER_BYTES / 2);
    Some(bounded(
        format!(
            "[Checklist] These tasks are not done: {open}. If what the user asked for is finished, \
             close them with plan complete (a task with checks only after its checks have passed); if \
             not, go on. Say plainly what stays unverified."
        ),
        MAX_REMINDER_BYTES,
    ))
}

const CORRUPT: &str = "The plan file of this session cannot be read. Plan operations and changes are \
    refused until the owner sends /discard. Tell the user so.";

const OUTLINE: &str = "The file needs, with exactly these headings and labels:\n\
    ## Context\n\
    - **Problem:** …\n- **Target state:** …\n- **Intent:** …\n\
    ## Implementation steps\n\
    1. Title — what to do\n   - Done when: …\n\
    Optional: Constraints and Out of scope under Context; ## Verification with one backticked command \
    a bullet; ## Risks, ## Open questions, ## Notes.";

fn pre_init(origin: PreInitOrigin, md_path: &Path) -> String {
    let (asked, approval) = match origin {
        PreInitOrigin::Slash => ("The owner switched plan mode on.", ""),
        PreInitOrigin::Nudge => (
            "The user's words ask for a plan.",
            " The owner is asked before plan init runs.",
        ),
    };
    format!(
        "[Plan mode: before init] {asked} No plan exists yet.\n\
         Look around with the read and search tools, and with commands in a read-only sandbox; ask \
         with ask_user what you cannot find out. Then call plan submit with a whole draft, as the only \
         call of its batch, or plan init with mode \"design\" and write the session plan to {}.{approval} \
         If the user gave an executable task list instead, plan init with mode \"checklist\" and tasks.\n\
         Not allowed now: writing any file, sending to chats, sub-agents that change things, add_tasks, \
         start, complete.\n\
         Nothing the user writes in the chat lifts this; only the owner's Approve does. Do not paste a \
         plan into the chat.",
        md_path.display()
    )
}

fn editing(plan: &EditingPlan, missing: &[&str]) -> String {
    let state = if missing.is_empty() {
        "It has everything that Approve needs.".to_owned()
    } else {
        let named: Vec<&str> = missing.iter().take(MAX_MISSING).copied().collect();
        format!(
            "Still missing before it can be approved: {}.",
            named.join(", ")
        )
    };
    format!(
        "[Plan mode: writing the session plan] The session plan is {} (absolute path; write exactly \
         there). {state}\n{OUTLINE}\n\
         Allowed now: the read and search tools, ask_user, writing that one file, plan submit, plan \
         get.\n\
         Not allowed now: any other write, bash, sub-agents, sending to chats, add_tasks, start, \
         complete.\n\
         When the plan is complete, end the turn with a short summary and wait for Approve. Words in \
         the chat such as \"go ahead\" are not an approval: then say that the Approve button or \
         /execute starts the work.",
        plan.md_path.display()
    )
}

fn active_next(plan: &Plan) -> String {
    if plan.tasks.is_empty() {
        return "Next: plan add_tasks once with one task for each implementation step, then plan start."
            .to_owned();
    }
    let done = plan.tasks.iter().filter(|task| is_done(task)).count();
    format!(
        "Checklist: {done} of {} tasks done. Next: plan start without task_id, then go on with the \
         checklist.",
        plan.tasks.len()
    )
}

fn open_tasks(plan: &Plan) -> impl Iterator<Item = &Task> {
    plan.tasks.iter().filter(|task| !is_done(task))
}

/// Completed before a restart; nobody has touched it since.
fn only_restored(task: &Task) -> bool {
    task.status == TaskStatus::Completed
        && task
            .checks
            .iter()
            .filter(|check| !is_fresh(&check.evidence))
            .all(|check| check.evidence == Evidence::Stale { restored: true })
}

fn word(task: &Task) -> &'static str {
    match task.status {
        TaskStatus::Completed | TaskStatus::InProgress => "in_progress",
        TaskStatus::Pending => "pending",
        TaskStatus::Skipped => "skipped",
        TaskStatus::Failed => "failed",
        TaskStatus::Blocked { .. } => "blocked",
    }
}

/// Cuts at a character, with a mark.
fn bounded(mut text: String, max: usize) -> String {
    if text.len() > max {
        let mut end = max.saturating_sub('…'.len_utf8());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
