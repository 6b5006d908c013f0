//! The stored flow message of a session as the panel shows it.

use crate::domain::CallStatus;
use crate::flow::{Entry, ToolState};
use crate::http::{CallState, FlowLine, LineKind, LiveFlow};
use crate::i18n::tr;
use crate::session::flow_record::FlowRecord;

/// The log of the newest flow message. Everything in it was redacted when it was recorded.
pub(super) fn live(record: &FlowRecord, running: bool, language: &str) -> LiveFlow {
    let (context_tokens, window_tokens) = record.usage.unwrap_or_default();
    LiveFlow {
        running,
        elapsed_ms: record.elapsed_ms,
        ended: String::new(),
        lines: record
            .log
            .entries()
            .iter()
            .map(|entry| line(entry, language))
            .collect(),
        text: if running {
            record.log.live().to_owned()
        } else {
            String::new()
        },
        context_tokens,
        window_tokens,
    }
}

fn line(entry: &Entry, language: &str) -> FlowLine {
    match entry {
        Entry::Narration { text } => plain(LineKind::Narration, text.clone()),
        Entry::Notice(notice) => {
            let arguments: Vec<(&str, &str)> = notice
                .arguments
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect();
            plain(LineKind::Notice, tr(language, &notice.key, &arguments))
        }
        Entry::Tool {
            label,
            argument,
            state,
            detail,
            ..
        } => {
            let (state, duration_ms) = match state {
                ToolState::Running => (CallState::Running, None),
                ToolState::Ended {
                    status,
                    duration_ms,
                } => (call_state(*status), Some(*duration_ms)),
            };
            FlowLine {
                kind: LineKind::Tool,
                text: tr(language, label, &[]),
                argument: argument.clone(),
                detail: detail.clone(),
                state: Some(state),
                duration_ms,
            }
        }
    }
}

fn plain(kind: LineKind, text: String) -> FlowLine {
    FlowLine {
        kind,
        text,
        argument: String::new(),
        detail: String::new(),
        state: None,
        duration_ms: None,
    }
}

fn call_state(status: CallStatus) -> CallState {
    match status {
        CallStatus::Ok => CallState::Ok,
        CallStatus::Failed => CallState::Failed,
        CallStatus::Refused => CallState::Refused,
        CallStatus::Interrupted => CallState::Interrupted,
        CallStatus::Cancelled => CallState::Cancelled,
    }
}
