//! The strict reader of plan messages: it accepts what [`super::context`] emits in full, and drops the
//! whole plan on any deviation instead of guessing.

mod header;
mod rejection;
mod step;
mod wrapper;

pub use rejection::Rejection;

use super::context::{
    CUT, MAX_MESSAGE_BYTES, Plain, REVISION, RevisionNote, Snapshot, VERIFICATION,
    WireVerification, full,
};
use header::Header;

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// A checklist with something to show.
    Running(Snapshot),
    /// Everything was done; only the ids are kept.
    Finished {
        /// Version.
        version: u64,
        /// Ids of the tasks in order.
        ids: Vec<String>,
    },
}

/// Reads a plan message of at most `max_tasks` tasks.
///
/// # Errors
///
/// [`Rejection`]: the first deviation found.
pub fn parse(text: &str, max_tasks: usize) -> Result<Parsed, Rejection> {
    if text.len() > MAX_MESSAGE_BYTES {
        return Err(Rejection::MessageTooLong);
    }
    if text.trim().is_empty() {
        return Err(Rejection::Empty);
    }
    let (first, rest) = match text.split_once('\n') {
        Some((first, rest)) => (first, Some(rest)),
        None => (text, None),
    };
    match header::parse(first)? {
        Header::Finished { version, total } => finished(version, total, rest, max_tasks),
        Header::Running {
            version,
            done,
            total,
            blocked,
            checks,
        } => {
            let body = wrapper::unwrap(rest.ok_or(Rejection::HeaderOnly)?)?;
            let plan = running(version, &body, max_tasks, checks)?;
            if plan.steps.len() != total {
                return Err(Rejection::StepCount);
            }
            if plan.done() != done {
                return Err(Rejection::DoneCount);
            }
            if plan.blocked() != blocked {
                return Err(Rejection::BlockedCount);
            }
            if plan.has_checks() != checks {
                return Err(Rejection::CheckFlag);
            }
            // Whatever else differs from what would be emitted: field order, spacing, spelling.
            if full(&plan)
                != (Plain {
                    header: first.to_owned(),
                    body,
                })
            {
                return Err(Rejection::NotCanonical);
            }
            Ok(Parsed::Running(plan))
        }
    }
}

fn finished(
    version: u64,
    total: usize,
    rest: Option<&str>,
    max_tasks: usize,
) -> Result<Parsed, Rejection> {
    // An older message has the header alone; its ids are lost, so it cannot stand for a plan.
    let body = wrapper::unwrap(rest.ok_or(Rejection::HeaderOnly)?)?;
    if body.contains('\n') {
        return Err(Rejection::TextAfterCollapse);
    }
    let ids: Vec<String> = body.split(' ').map(str::to_owned).collect();
    if ids.len() != total || ids.iter().any(|id| !step::is_id(id)) {
        return Err(Rejection::TextAfterCollapse);
    }
    if total > max_tasks {
        return Err(Rejection::TooManySteps);
    }
    if step::has_duplicates(ids.iter().map(String::as_str)) {
        return Err(Rejection::DuplicateId);
    }
    Ok(Parsed::Finished { version, ids })
}

fn running(
    version: u64,
    body: &str,
    max_tasks: usize,
    checks: bool,
) -> Result<Snapshot, Rejection> {
    let mut lines = body.split('\n').peekable();
    // A title may end with these words; only a line of its own is the mark.
    if body.rsplit('\n').next() == Some(CUT) {
        return Err(Rejection::Truncated);
    }
    let revision = match lines.next_if(|line| line.starts_with(REVISION)) {
        Some(line) => Some(revision(line)?),
        None => None,
    };
    let verification = match lines.next_if(|line| line.starts_with(VERIFICATION)) {
        Some(line) => verification(line)?,
        None => Vec::new(),
    };
    if lines.peek().is_some_and(|line| is_omission(line)) {
        return Err(Rejection::Omission);
    }
    let mut steps = Vec::new();
    for line in lines {
        if steps.len() >= max_tasks {
            return Err(Rejection::TooManySteps);
        }
        steps.push(step::parse(line, checks)?);
    }
    if steps.is_empty() {
        return Err(Rejection::HeaderOnly);
    }
    if step::has_duplicates(steps.iter().map(|step| step.id.as_str())) {
        return Err(Rejection::DuplicateId);
    }
    Ok(Snapshot {
        version,
        revision,
        verification,
        steps,
    })
}

fn revision(line: &str) -> Result<RevisionNote, Rejection> {
    let json = line
        .strip_prefix(REVISION)
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or(Rejection::BadRevision)?;
    let note: RevisionNote = serde_json::from_str(json).map_err(|_| Rejection::BadRevision)?;
    if step::is_revision(&note) {
        Ok(note)
    } else {
        Err(Rejection::BadRevision)
    }
}

fn verification(line: &str) -> Result<Vec<WireVerification>, Rejection> {
    let json = line
        .strip_prefix(VERIFICATION)
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or(Rejection::BadVerification)?;
    let items: Vec<WireVerification> =
        serde_json::from_str(json).map_err(|_| Rejection::BadVerification)?;
    let valid = !items.is_empty()
        && items
            .iter()
            .all(|item| step::is_evidence_word(&item.status));
    if valid {
        Ok(items)
    } else {
        Err(Rejection::BadVerification)
    }
}

fn is_omission(line: &str) -> bool {
    line.strip_prefix("[+")
        .and_then(|rest| rest.strip_suffix(" done steps omitted]"))
        .is_some_and(|count| header::number(count).is_some_and(|count| count > 0))
}

#[cfg(test)]
mod tests;
