//! `edit_file`: replaces one unique piece of a file.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::call::{Inspection, Place, Ran, Unfit};
use super::paths::{self, Want};
use super::toolbox::Shop;
use super::write_file::{MAX_FILE, describe};
use super::{args, atomic, output};
use crate::domain::{Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"path":"src/main.rs","old_text":"let a = 1;","new_text":"let a = 2;"}"#;
/// Candidates that are shown when the old text is not unique.
const CANDIDATES: usize = 3;
/// Lines that are compared when looking for candidates.
const MAX_COMPARED: usize = 20_000;
/// Longest line that is compared or shown, in bytes.
const MAX_LINE: usize = 300;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "edit_file",
    description: "Replaces `old_text`, which must occur exactly once in the file, by `new_text`. Give \
        enough lines around the place to make it unique.",
    schema: args::schema::<Args>,
    effects: Effects::Write,
    label: "tool-edit-file",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Path beneath the workspace.
    path: String,
    /// Text that occurs exactly once, without line numbers.
    old_text: String,
    /// Text to stand in its place; may be empty.
    new_text: String,
}

struct Edit {
    path: PathBuf,
    old: String,
    new: String,
}

fn prepare(shop: &Shop, raw: &str, place: &Place) -> Result<Edit, Unfit> {
    let parsed: Args = args::parse("edit_file", raw, EXAMPLE)?;
    let path = paths::resolve(place, &shop.protected, &parsed.path, Want::Write)?;
    // The candidates of a failed edit show the content, so it must be readable as well.
    paths::resolve(place, &shop.protected, &parsed.path, Want::Read)?;
    let old = read(&path).map_err(|reason| format!("`{}` {reason}", parsed.path))?;
    let new = replace(&old, &parsed.old_text, &parsed.new_text)?;
    Ok(Edit { path, old, new })
}

fn read(path: &Path) -> Result<String, String> {
    let meta = path
        .metadata()
        .map_err(|error| format!("cannot be read: {error}. Use write_file for a new file."))?;
    if !meta.is_file() {
        return Err("is not a regular file.".to_owned());
    }
    if meta.len() > MAX_FILE {
        return Err(format!("is larger than {MAX_FILE} bytes."));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}."))?;
    String::from_utf8(bytes).map_err(|_| "is not UTF-8 text.".to_owned())
}

/// The content with the one place replaced; line ends of the file are kept.
fn replace(content: &str, old: &str, new: &str) -> Result<String, String> {
    if old.is_empty() {
        return Err("`old_text` is empty. Use write_file for a whole file.".to_owned());
    }
    if old == new {
        return Err("`old_text` and `new_text` are the same.".to_owned());
    }
    let windows = content.contains("\r\n");
    let fit = |text: &str| {
        if windows {
            text.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            text.to_owned()
        }
    };
    let (old, new) = (fit(old), fit(new));
    let places: Vec<usize> = content
        .match_indices(&old)
        .map(|(at, _)| line_of(content, at))
        .collect();
    match places.len() {
        1 => Ok(content.replacen(&old, &new, 1)),
        0 => Err(format!(
            "`old_text` does not occur in the file. Nearest places:\n{}",
            nearest(content, &old)
        )),
        count => {
            let list: Vec<String> = places
                .iter()
                .take(CANDIDATES)
                .map(|line| format!("{line:>6}\t{}", line_text(content, *line)))
                .collect();
            Err(format!(
                "`old_text` occurs {count} times; add lines around it to make it unique. Places:\n{}",
                list.join("\n")
            ))
        }
    }
}

fn line_of(content: &str, at: usize) -> usize {
    content.get(..at).unwrap_or_default().matches('\n').count() + 1
}

fn line_text(content: &str, number: usize) -> &str {
    let line = content
        .lines()
        .nth(number.saturating_sub(1))
        .unwrap_or_default();
    output::head(line, MAX_LINE)
}

/// The lines most like the first telling line of `old`, with their numbers.
fn nearest(content: &str, old: &str) -> String {
    let wanted = old
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or(old);
    let wanted = output::head(wanted.trim(), MAX_LINE);
    let mut scored: Vec<(f64, usize, &str)> = content
        .lines()
        .enumerate()
        .take(MAX_COMPARED)
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            let line = output::head(line, MAX_LINE);
            (strsim::sorensen_dice(wanted, line.trim()), index + 1, line)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate(CANDIDATES);
    if scored.is_empty() {
        return "(the file is empty)".to_owned();
    }
    let lines: Vec<String> = scored
        .iter()
        .map(|(_, number, line)| format!("{number:>6}\t{line}"))
        .collect();
    lines.join("\n")
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, Unfit> {
    let edit = prepare(shop, raw, place)?;
    Ok(describe(
        &DESCRIPTOR,
        place,
        edit.path,
        &edit.old,
        &edit.new,
    ))
}

pub(super) fn run(
    shop: &Shop,
    raw: &str,
    place: &Place,
    _: &CancellationToken,
) -> Result<Ran, String> {
    let edit = prepare(shop, raw, place)?;
    let shown = paths::shown(place, &edit.path);
    atomic::write(&edit.path, edit.new.as_bytes())
        .map_err(|error| format!("`{shown}` cannot be written: {error}."))?;
    Ok(Ran::said(format!("Edited {shown}."), counts(&edit.old, &edit.new)).changed(true))
}

/// How many lines came and went, as `+2 −1`.
fn counts(old: &str, new: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let (mut added, mut removed) = (0_usize, 0_usize);
    for change in diff.iter_all_changes() {
        match change.tag() {
            similar::ChangeTag::Insert => added += 1,
            similar::ChangeTag::Delete => removed += 1,
            similar::ChangeTag::Equal => {}
        }
    }
    format!("+{added} −{removed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unique_place_is_replaced_and_line_ends_are_kept() {
        assert_eq!(replace("a\nb\nc\n", "b\n", "x\n").unwrap(), "a\nx\nc\n");
        assert_eq!(
            replace("a\r\nb\r\nc\r\n", "a\nb", "x\ny").unwrap(),
            "x\r\ny\r\nc\r\n"
        );
    }

    #[test]
    fn three_candidates_are_shown_when_the_place_is_not_unique() {
        let content = "let x = 1;\nlet y = 2;\nlet x = 1;\nlet x = 1;\nlet x = 1;\n";
        let error = replace(content, "let x = 1;", "let x = 3;").unwrap_err();
        assert!(error.contains("occurs 4 times"), "{error}");
        assert_eq!(error.matches("let x = 1;").count(), 3);
        let error = replace(content, "  let y = 3;", "z").unwrap_err();
        assert!(error.contains("     2\tlet y = 2;"), "{error}");
        assert!(replace(content, "", "z").is_err());
        assert!(replace(content, "let y", "let y").is_err());
    }
}
