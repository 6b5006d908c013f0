//! One task's line, with the rules that hold when checks are declared.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::canonical::{MAX_CHECK_BYTES, canonical};
use super::super::context::{CHECKS, RevisionNote, SEPARATOR, Step, WireCheck, WireStatus, bounds};
use super::super::evidence::{MAX_CALL_ID, PLAN_TOOL};
use super::Rejection;

/// Checks of one task.
const MAX_CHECKS: usize = 4;
/// Characters of an id.
const MAX_ID: usize = 32;

pub(super) fn parse(line: &str, checked: bool) -> Result<Step, Rejection> {
    if line.trim().is_empty() {
        return Err(Rejection::BlankLine);
    }
    let (id, rest) = line.split_once(" [").ok_or(Rejection::BadLine)?;
    if !is_id(id) {
        return Err(Rejection::BadId);
    }
    let (status, rest) = rest.split_once(']').ok_or(Rejection::StatusNotClosed)?;
    let status = WireStatus::from_word(status).ok_or(Rejection::UnknownStatus)?;
    if rest.trim().is_empty() {
        return Err(Rejection::MissingTitle);
    }
    let rest = rest.strip_prefix(' ').ok_or(Rejection::BadTitle)?;
    let (text, checks) = match rest.split_once(CHECKS) {
        Some((text, json)) if checked => (text, checks(json)?),
        Some(_) | None => (rest, Vec::new()),
    };
    let (title, note) = text.split_once(SEPARATOR).unwrap_or((text, ""));
    if title.trim().is_empty() || title == SEPARATOR.trim() {
        return Err(Rejection::MissingTitle);
    }
    if !is_clean(title, bounds::TITLE) {
        return Err(Rejection::BadTitle);
    }
    if !is_clean(note, bounds::NOTE) {
        return Err(Rejection::BadNote);
    }
    Ok(Step {
        id: id.to_owned(),
        status,
        title: title.to_owned(),
        note: note.to_owned(),
        checks,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCheck<'a> {
    id: String,
    description: String,
    tool: String,
    #[serde(borrow)]
    arguments: &'a RawValue,
    status: String,
    call_id: Option<String>,
}

fn checks(json: &str) -> Result<Vec<WireCheck>, Rejection> {
    let raw: Vec<RawCheck> = serde_json::from_str(json).map_err(|_| Rejection::BadChecks)?;
    if raw.is_empty() || raw.len() > MAX_CHECKS {
        return Err(Rejection::BadChecks);
    }
    if has_duplicates(raw.iter().map(|check| check.id.as_str())) {
        return Err(Rejection::BadChecks);
    }
    raw.into_iter()
        .map(|raw| check(raw).ok_or(Rejection::BadChecks))
        .collect()
}

fn check(raw: RawCheck<'_>) -> Option<WireCheck> {
    let arguments = canonical(raw.arguments.get()).ok()?;
    let has_call = matches!(raw.status.as_str(), "passed" | "failed");
    let call_fits = raw.call_id.as_deref().is_none_or(|call| {
        !call.is_empty()
            && call.chars().count() <= MAX_CALL_ID
            && !call.chars().any(char::is_control)
    });
    let valid = is_id(&raw.id)
        && !raw.description.trim().is_empty()
        && raw.description.chars().count() <= bounds::DESCRIPTION
        && !raw.tool.trim().is_empty()
        && raw.tool != PLAN_TOOL
        && arguments.len() <= MAX_CHECK_BYTES
        && is_evidence_word(&raw.status)
        && has_call == raw.call_id.is_some()
        && call_fits;
    valid.then_some(WireCheck {
        id: raw.id,
        description: raw.description,
        tool: raw.tool,
        arguments,
        status: raw.status,
        call_id: raw.call_id,
    })
}

/// Whether a text can be a task's or a check's id: 1–32 characters without white space, brackets or
/// control characters.
pub(super) fn is_id(text: &str) -> bool {
    (1..=MAX_ID).contains(&text.chars().count())
        && !text
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || "[](){}<>".contains(c))
}

pub(super) fn is_revision(note: &RevisionNote) -> bool {
    !note.reason.is_empty()
        && is_clean(&note.reason, bounds::REASON)
        && note.summary.len() <= bounds::SUMMARY
        && note
            .summary
            .iter()
            .all(|line| is_clean(line, bounds::REASON))
}

pub(super) fn is_evidence_word(word: &str) -> bool {
    matches!(
        word,
        "pending" | "passed" | "failed" | "stale" | "blocked" | "attested"
    )
}

pub(super) fn has_duplicates<'a>(ids: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = BTreeSet::new();
    ids.into_iter().any(|id| !seen.insert(id))
}

fn is_clean(text: &str, max: usize) -> bool {
    bounds::clean(text, max) == text
}
