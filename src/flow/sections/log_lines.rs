//! The log, one text per entry.

use crate::domain::{CallStatus, EndReason, EntityKind, Formatted};
use crate::i18n::tr;

use super::super::log::{Entry, ToolState};
use super::super::units::{cut, one_line, tail};
use super::super::view::{Stage, View};
use super::super::words;
use super::{Line, ROW_LIMIT};

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
        lines.push(Formatted::plain(format!("{} ▋", tail(live, LIVE_LIMIT))));
    }
    lines
}

fn entry_line(view: &View<'_>, entry: &Entry) -> Formatted {
    match entry {
        Entry::Narration { text } => Formatted::plain(format!("💬 {}", cut(text, NARRATION_LIMIT))),
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
    line.push(&tr(view.language, label, &[]), None);
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
            ToolState::Ended { .. } => one_line(detail, ROW_LIMIT),
        };
        line.push(&format!("\n   {detail}"), None);
    }
    line.finish()
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
