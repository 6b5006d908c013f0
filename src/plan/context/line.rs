//! Single lines of the message, and the text they may hold.

use serde_json::Value;

use super::super::canonical::push_string;
use super::{CHECKS, REVISION, SEPARATOR, Snapshot, Step, VERIFICATION, WireCheck};

/// Room for a usual line, in bytes.
const LINE_BYTES: usize = 256;

/// The lines in front of the tasks: revision and verification commands.
pub(super) fn fixed(plan: &Snapshot) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(revision) = &plan.revision {
        let summary = Value::from(revision.summary.clone());
        lines.push(format!(
            "{REVISION}{{\"reason\":{},\"summary\":{summary}}}]",
            quoted(&revision.reason)
        ));
    }
    if !plan.verification.is_empty() {
        let items: Vec<String> = plan
            .verification
            .iter()
            .map(|item| {
                format!(
                    "{{\"command\":{},\"status\":{}}}",
                    quoted(&item.command),
                    quoted(&item.status)
                )
            })
            .collect();
        lines.push(format!("{VERIFICATION}[{}]]", items.join(",")));
    }
    lines
}

/// The line of one task.
pub(super) fn step(step: &Step) -> String {
    let mut line = String::with_capacity(LINE_BYTES);
    for part in [&step.id, " [", step.status.word(), "] ", &step.title] {
        line.push_str(part);
    }
    if !step.note.is_empty() {
        line.push_str(SEPARATOR);
        line.push_str(&step.note);
    }
    if !step.checks.is_empty() {
        line.push_str(CHECKS);
        for (index, check) in step.checks.iter().enumerate() {
            line.push(if index == 0 { '[' } else { ',' });
            push_check(check, &mut line);
        }
        line.push(']');
    }
    line
}

fn push_check(check: &WireCheck, line: &mut String) {
    line.push_str("{\"id\":");
    push_string(&check.id, line);
    line.push_str(",\"description\":");
    push_string(&check.description, line);
    line.push_str(",\"tool\":");
    push_string(&check.tool, line);
    line.push_str(",\"arguments\":");
    line.push_str(&check.arguments);
    line.push_str(",\"status\":");
    push_string(&check.status, line);
    if let Some(id) = &check.call_id {
        line.push_str(",\"call_id\":");
        push_string(id, line);
    }
    line.push('}');
}

/// Text on one line: line ends and control characters become spaces, the separator's dash a hyphen;
/// trimmed, at most `max` characters.
pub(in super::super) fn clean(text: &str, max: usize) -> String {
    // Nearly every text is clean already.
    let plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_control();
    if text.len() <= max && text.bytes().all(plain) {
        return text.trim().to_owned();
    }
    let flat: String = text
        .chars()
        .map(|c| match c {
            '—' => '-',
            '\u{2028}' | '\u{2029}' => ' ',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    let kept: String = flat.trim().chars().take(max).collect();
    kept.trim_end().to_owned()
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(text, &mut out);
    out
}
