//! Lines of a plan with their headings, fenced code marked out.

/// One line as written, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Whether it is inside (or delimits) fenced code.
    pub(super) fenced: bool,
    /// Level and text, if it is a heading outside fences.
    pub(super) heading: Option<(usize, &'a str)>,
}

/// All lines.
pub(super) fn lines(md: &str) -> Vec<Line<'_>> {
    let mut fence: Option<(char, usize)> = None;
    let md = md.strip_prefix('\u{feff}').unwrap_or(md);
    md.split('\n')
        .flat_map(|line| {
            line.split('\r')
                .enumerate()
                .filter(|(n, part)| *n == 0 || !part.is_empty())
        })
        .map(|(_, text)| {
            let fenced = step_fence(&mut fence, text);
            Line {
                text,
                fenced,
                heading: if fenced { None } else { heading(text) },
            }
        })
        .collect()
}

/// Moves the fence state over one line; true if the line is code or a fence.
fn step_fence(fence: &mut Option<(char, usize)>, text: &str) -> bool {
    let trimmed = text.trim_start();
    let mark = trimmed.chars().next().filter(|c| *c == '`' || *c == '~');
    let run = mark.map_or(0, |c| trimmed.chars().take_while(|x| *x == c).count());
    let rest: String = trimmed.chars().skip(run).collect();
    match (*fence, mark) {
        (Some((open, length)), Some(c)) if c == open && run >= length && rest.trim().is_empty() => {
            *fence = None;
            true
        }
        (Some(_), _) => true,
        // An info string after backticks has no backtick, else it is inline code.
        (None, Some(c)) if run >= 3 && !(c == '`' && rest.contains('`')) => {
            *fence = Some((c, run));
            true
        }
        (None, _) => false,
    }
}

/// Level and text of a heading; at most three spaces before it, a space after the marks.
fn heading(text: &str) -> Option<(usize, &str)> {
    let trimmed = text.trim_start_matches(' ');
    if text.len() - trimmed.len() > 3 {
        return None;
    }
    let level = trimmed.chars().take_while(|c| *c == '#').count();
    let rest = trimmed.get(level..)?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim();
    let open = rest.trim_end_matches('#');
    // Closing marks count only after a space: `C#` keeps its sign.
    let name = if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        rest
    };
    Some((level, name))
}

/// The lines under all level-2 headings of exactly that name, up to the next heading of level 1 or 2.
/// `None` without such a heading.
pub(super) fn body<'a>(lines: &[Line<'a>], name: &str) -> Option<Vec<Line<'a>>> {
    let mut found = None;
    let mut inside = false;
    for line in lines {
        match line.heading {
            Some((2, heading)) => {
                inside = heading == name;
                if inside && found.is_none() {
                    found = Some(Vec::new());
                }
            }
            Some((1, _)) => inside = false,
            Some(_) | None => {
                if inside && let Some(found) = found.as_mut() {
                    found.push(*line);
                }
            }
        }
    }
    found
}

/// Whether nothing of the text can be seen: white space, invisible characters and comments only.
pub(super) fn is_blank(text: &str) -> bool {
    let mut rest = text;
    let mut seen = String::new();
    while let Some((before, after)) = rest.split_once("<!--") {
        seen.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, tail)| tail);
    }
    seen.push_str(rest);
    seen.chars().all(|c| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
    })
}

/// The text after a bullet mark, or the text itself; and whether there was one.
pub(super) fn unbullet(text: &str) -> (&str, bool) {
    let trimmed = text.trim();
    for mark in ["- ", "* ", "+ ", "-\t", "*\t", "+\t"] {
        if let Some(rest) = trimmed.strip_prefix(mark) {
            return (rest.trim(), true);
        }
    }
    if matches!(trimmed, "-" | "*" | "+") {
        return ("", true);
    }
    (trimmed, false)
}

/// White space before the text, tabs as four.
pub(super) fn indent(text: &str) -> usize {
    text.chars()
        .take_while(|c| c.is_whitespace())
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum()
}

/// The value after a bold label on this line: `**Label:** value` or `**Label**: value`.
pub(super) fn after_label<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let rest = unbullet(text).0.strip_prefix("**")?.strip_prefix(label)?;
    let rest = rest
        .strip_prefix(":**")
        .or_else(|| rest.strip_prefix("**:"))?;
    Some(rest.trim())
}

/// Whether the line begins any bold label.
fn any_label(text: &str) -> bool {
    unbullet(text)
        .0
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**"))
        .is_some_and(|(name, after)| name.ends_with(':') || after.starts_with(':'))
}

/// Whether the label has a value, on its line or on an indented line right below.
pub(super) fn label_value(lines: &[Line<'_>], label: &str) -> bool {
    lines.iter().enumerate().any(|(n, line)| {
        if line.fenced {
            return false;
        }
        let Some(value) = after_label(line.text, label) else {
            return false;
        };
        !is_blank(value)
            || lines
                .iter()
                .skip(n + 1)
                .take_while(|next| {
                    !next.fenced
                        && next.heading.is_none()
                        && !next.text.trim().is_empty()
                        && indent(next.text) > indent(line.text)
                        && !any_label(next.text)
                })
                .any(|next| !is_blank(unbullet(next.text).0))
    })
}
