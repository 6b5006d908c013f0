//! The log, one text per entry.

use crate::domain::{CallStatus, EndReason, EntityKind, Formatted};
use crate::i18n::tr;

use super::super::log::{Entry, ToolState};
use super::super::units::{cut, one_line, tail};
use super::super::view::{Stage, View};
use super::super::words;
use super::{Line, ROW_LIMIT, inline};

/// Characters of one narration in the log.
const NARRATION_LIMIT: usize = 1_000;
/// Characters of the text that is streaming.
const LIVE_LIMIT: usize = 300;

pub(super) fn log_lines(view: &View<'_>) -> Vec<Formatted> {
    let mut lines: Vec<Formatted> = view
        .log
        .entries()
        .iter()
        .map(|entry| entry_line(view, entry))
        .collect();
    let live = view.log.live().trim();
    if matches!(view.stage, Stage::Running) && !live.is_empty() {
        lines.push(prose(&format!("{} ▋", tail(live, LIVE_LIMIT))));
    }
    lines
}

fn entry_line(view: &View<'_>, entry: &Entry) -> Formatted {
    match entry {
        Entry::Narration { text } => prose(&format!("💬 {}", cut(text, NARRATION_LIMIT))),
        Entry::Notice(notice) => {
            let arguments: Vec<(&str, &str)> = notice
                .arguments
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            let line = tr(view.language, &notice.key, &arguments);
            Formatted::plain(format!("ℹ️ {}", one_line(&line, 300)))
        }
        Entry::Tool {
            label,
            argument,
            state,
            detail,
            ..
        } => tool_line(view, label, argument, *state, detail),
    }
}

/// A model's words: bold and code as such, whatever else they hold as it is written.
fn prose(text: &str) -> Formatted {
    let mut line = Line::new();
    for (index, source) in text.lines().enumerate() {
        if index > 0 {
            line.push("\n", None);
        }
        line.append(inline(source));
    }
    line.finish()
}

fn tool_line(
    view: &View<'_>,
    label: &str,
    argument: &str,
    state: ToolState,
    detail: &str,
) -> Formatted {
    let mut line = Line::new();
    line.push(sign(state), None);
    line.push(" ", None);
    line.push(&tr(view.language, label_key(label, state), &[]), None);
    if view.detail && !argument.trim().is_empty() {
        line.push(" ", None);
        line.push(&one_line(argument, ROW_LIMIT), Some(EntityKind::Code));
    }
    if let ToolState::Ended { duration_ms, .. } = state
        && duration_ms >= 1_000
    {
        let time = words::duration(view.language, duration_ms);
        line.push(&format!(" ({time})"), None);
    }
    if view.detail && !detail.trim().is_empty() {
        let detail = match state {
            ToolState::Running => one_line(&tail(detail, ROW_LIMIT), ROW_LIMIT),
            ToolState::Ended { .. } => {
                let counted = counted(view.language, label, detail);
                counted.unwrap_or_else(|| one_line(detail, ROW_LIMIT))
            }
        };
        line.push(&format!("\n   {detail}"), None);
    }
    line.finish()
}

/// The label says what runs; once a call has succeeded it says what was done.
fn label_key(label: &str, state: ToolState) -> &str {
    let done = matches!(
        state,
        ToolState::Ended {
            status: CallStatus::Ok,
            ..
        }
    );
    if !done {
        return label;
    }
    DONE.iter()
        .find(|(running, _)| *running == label)
        .map_or(label, |(_, done)| *done)
}

/// Labels of running calls and of those that succeeded.
const DONE: [(&str, &str); 24] = [
    ("tool-read-file", "tool-read-file-done"),
    ("tool-list-dir", "tool-list-dir-done"),
    ("tool-glob", "tool-glob-done"),
    ("tool-grep", "tool-grep-done"),
    ("tool-git-view", "tool-git-view-done"),
    ("tool-write-file", "tool-write-file-done"),
    ("tool-edit-file", "tool-edit-file-done"),
    ("tool-bash", "tool-bash-done"),
    ("tool-spawn-agent", "tool-spawn-agent-done"),
    ("tool-bg-start", "tool-bg-start-done"),
    ("tool-bg-output", "tool-bg-output-done"),
    ("tool-bg-stop", "tool-bg-stop-done"),
    ("tool-ask-user", "tool-ask-user-done"),
    ("tool-web-fetch", "tool-web-fetch-done"),
    ("tool-send-file", "tool-send-file-done"),
    ("tool-plan-init", "tool-plan-init-done"),
    ("tool-plan-submit", "tool-plan-submit-done"),
    ("tool-plan-add-tasks", "tool-plan-add-tasks-done"),
    ("tool-plan-start", "tool-plan-start-done"),
    ("tool-plan-complete", "tool-plan-complete-done"),
    ("tool-plan-update", "tool-plan-update-done"),
    ("tool-plan-revise", "tool-plan-revise-done"),
    ("tool-plan-check-replace", "tool-plan-check-replace-done"),
    ("tool-plan-get", "tool-plan-get-done"),
];

/// A summary that is a mere number, with the word for what it counts.
fn counted(language: &str, label: &str, summary: &str) -> Option<String> {
    let count: u64 = summary.trim().parse().ok()?;
    let key = match label {
        "tool-read-file" | "tool-write-file" => "tool-count-lines",
        "tool-list-dir" => "tool-count-entries",
        "tool-glob" => "tool-count-files",
        "tool-grep" => "tool-count-matches",
        _ => return None,
    };
    Some(tr(language, key, &[("count", &count.to_string())]))
}

fn sign(state: ToolState) -> &'static str {
    match state {
        ToolState::Running => "⚙️",
        ToolState::Ended { status, .. } => match status {
            CallStatus::Ok => "✅",
            CallStatus::Failed => "❌",
            CallStatus::Refused => "🚫",
            CallStatus::Interrupted => "⏸",
            CallStatus::Cancelled => "⏹",
        },
    }
}

/// How the calls that still ran are marked when a turn ends so.
pub(crate) fn cut_short(reason: &EndReason) -> CallStatus {
    match reason {
        EndReason::Interrupted | EndReason::Failed(_) => CallStatus::Interrupted,
        EndReason::Done
        | EndReason::PlanReady
        | EndReason::PlanNotReady { .. }
        | EndReason::Question
        | EndReason::Blocked { .. }
        | EndReason::Budget { .. }
        | EndReason::Incomplete { .. }
        | EndReason::Stopped
        | EndReason::TimedOut => CallStatus::Cancelled,
    }
}
