//! The first line.

use super::super::context::{SENTENCE, SEPARATOR};
use super::Rejection;

/// What the first line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// Everything is done.
    Finished { version: u64, total: usize },
    /// Counts of a checklist.
    Running {
        version: u64,
        done: usize,
        total: usize,
        blocked: usize,
        checks: bool,
    },
}

pub(super) fn parse(line: &str) -> Result<Header, Rejection> {
    let rest = line.strip_prefix('[').ok_or(Rejection::NoOpeningBracket)?;
    let rest = rest
        .strip_prefix("Current plan: ")
        .ok_or(Rejection::WrongWord)?;
    let rest = rest.strip_suffix(']').ok_or(Rejection::NoClosingBracket)?;
    let (version, rest) = rest.split_once(SEPARATOR).ok_or(Rejection::NoSeparator)?;
    let version = version
        .strip_prefix('v')
        .and_then(number)
        .ok_or(Rejection::BadVersion)?;
    let version = u64::try_from(version).map_err(|_| Rejection::BadVersion)?;
    if let Some(rest) = rest.strip_prefix("all ") {
        let total = rest
            .strip_suffix(" steps complete.")
            .and_then(number)
            .filter(|total| *total > 0)
            .ok_or(Rejection::BadCollapse)?;
        return Ok(Header::Finished { version, total });
    }
    let rest = rest
        .strip_suffix(SENTENCE)
        .and_then(|rest| rest.strip_suffix(". "))
        .ok_or(Rejection::NoTrailingSentence)?;
    let (rest, checks) = match rest.strip_suffix(", checks") {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let counts = || {
        let (progress, blocked) = rest.strip_suffix(" blocked")?.split_once(" done, ")?;
        let (done, total) = progress.split_once('/')?;
        Some((number(done)?, number(total)?, number(blocked)?))
    };
    let (done, total, blocked) = counts().ok_or(Rejection::BadCounts)?;
    Ok(Header::Running {
        version,
        done,
        total,
        blocked,
        checks,
    })
}

/// One to nine ASCII digits without leading zeros.
pub(super) fn number(text: &str) -> Option<usize> {
    let plain = (1..=9).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}
