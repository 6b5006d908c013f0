//! The untrusted block around the body.

use super::Rejection;

/// Begin of a warning line that a guard may put in front of a body.
const BANNER: char = '⚠';

/// The body inside the block, or the body itself if it stands bare.
pub(super) fn unwrap(text: &str) -> Result<String, Rejection> {
    let lines: Vec<&str> = text.split('\n').collect();
    let Some((open, rest)) = lines.split_first() else {
        return Err(Rejection::HeaderOnly);
    };
    if !open.starts_with('<') {
        return if text.trim().is_empty() {
            Err(Rejection::HeaderOnly)
        } else {
            Ok(text.to_owned())
        };
    }
    let name = tag_name(open).ok_or(Rejection::MalformedOpenTag)?;
    let is_close = |line: &&str| {
        line.strip_prefix("</")
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest == ">" || (rest.starts_with(' ') && rest.ends_with('>')))
    };
    let close = rest
        .iter()
        .position(is_close)
        .ok_or(Rejection::WrapperNotClosed)?;
    let (inside, after) = rest.split_at(close);
    if after.len() != 1 {
        return Err(Rejection::TextAfterClose);
    }
    let start = inside
        .iter()
        .position(|line| !line.trim().is_empty() && !line.starts_with(BANNER))
        .ok_or(Rejection::EmptyWrapper)?;
    let end = inside
        .iter()
        .rposition(|line| !line.trim().is_empty())
        .ok_or(Rejection::EmptyWrapper)?;
    let body = inside.get(start..=end).ok_or(Rejection::EmptyWrapper)?;
    Ok(body.join("\n"))
}

/// The name in `<name attributes>`.
fn tag_name(line: &str) -> Option<&str> {
    let inside = line.strip_prefix('<')?.strip_suffix('>')?;
    if inside.contains(['<', '>']) {
        return None;
    }
    let name = inside.split(' ').next()?;
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    plain.then_some(name)
}
