//! Single lines of the message, and the text they may hold.

use serde_json::Value;

use super::{CHECKS, REVISION, SEPARATOR, Snapshot, Step, VERIFICATION, WireCheck};

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
    let mut line = format!("{} [{}] {}", step.id, step.status.word(), step.title);
    if !step.note.is_empty() {
        line.push_str(SEPARATOR);
        line.push_str(&step.note);
    }
    if !step.checks.is_empty() {
        let checks: Vec<String> = step.checks.iter().map(check).collect();
        line.push_str(CHECKS);
        line.push('[');
        line.push_str(&checks.join(","));
        line.push(']');
    }
    line
}

fn check(check: &WireCheck) -> String {
    let call = check
        .call_id
        .as_ref()
        .map_or_else(String::new, |id| format!(",\"call_id\":{}", quoted(id)));
    format!(
        "{{\"id\":{},\"description\":{},\"tool\":{},\"arguments\":{},\"status\":{}{call}}}",
        quoted(&check.id),
        quoted(&check.description),
        quoted(&check.tool),
        check.arguments,
        quoted(&check.status),
    )
}

/// Text on one line: line ends and control characters become spaces, the separator's dash a hyphen;
/// trimmed, at most `max` characters.
pub(in super::super) fn clean(text: &str, max: usize) -> String {
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
    Value::from(text).to_string()
}
