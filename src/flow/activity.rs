//! What the header says the turn is doing.

use crate::i18n::tr;

use super::log::{Entry, Log, ToolState};
use super::units::one_line;

/// Characters of the activity in the header.
const LIMIT: usize = 100;

/// The activity: the newest readable narration, else the comment of the running command, else the
/// newest tool with its argument. `detail` says whether arguments may be shown.
pub(crate) fn activity(language: &str, log: &Log, detail: bool) -> String {
    if let Some(narration) = log.narration() {
        return plain(narration);
    }
    let comment = log.entries().iter().rev().find_map(|entry| match entry {
        Entry::Tool {
            argument,
            state: ToolState::Running,
            ..
        } if detail => comment(argument),
        Entry::Tool { .. } | Entry::Narration { .. } | Entry::Notice(_) => None,
    });
    if let Some(comment) = comment {
        return plain(&comment);
    }
    let tool = log.entries().iter().rev().find_map(|entry| match entry {
        Entry::Tool {
            label, argument, ..
        } => {
            let label = tr(language, label, &[]);
            Some(if detail && !argument.is_empty() {
                format!("{label} {argument}")
            } else {
                label
            })
        }
        Entry::Narration { .. } | Entry::Notice(_) => None,
    });
    tool.map_or_else(|| tr(language, "flow-thinking", &[]), |tool| plain(&tool))
}

/// A header must not look settled, whatever the words begin with.
fn plain(text: &str) -> String {
    let text = text.trim_start_matches(|sign: char| {
        matches!(sign, '✅' | '❌' | '⏱' | '⏹' | '⏸' | '⚙' | '\u{fe0f}' | ' ')
    });
    one_line(text, LIMIT)
}

/// The newest line of a narration that reads like a sentence, without inline markers.
pub(crate) fn sentence(text: &str) -> Option<String> {
    let mut fenced = false;
    let mut found = None;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && readable(line) {
            found = Some(line);
        }
    }
    found.map(|line| {
        line.trim_start_matches(['#', '>', '-', '*', ' '])
            .replace("**", "")
            .replace('`', "")
    })
}

/// Whether a line is for people: not JSON, an array, a fence or a lone path or number.
fn readable(line: &str) -> bool {
    let lone = !line.contains(char::is_whitespace);
    let pathlike = line.contains(['/', '\\']) || line.chars().any(|c| c.is_ascii_digit());
    let file = line
        .rsplit_once('.')
        .is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
    !(line.is_empty()
        || line.starts_with(['{', '[', '}', ']', '"'])
        || lone && (pathlike || file)
        || !line.chars().any(char::is_alphabetic))
}

/// The first comment line of a command; a shebang is none.
pub(crate) fn comment(command: &str) -> Option<String> {
    command
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with('#') && !line.starts_with("#!"))
        .map(|line| line.trim_start_matches('#').trim().to_owned())
        .filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_not_narration() {
        for line in [
            "{\"a\": 1}",
            "[1, 2]",
            "```rust",
            "src/main.rs",
            "calc.py",
            "42",
            "",
        ] {
            assert_eq!(sentence(line), None, "{line}");
        }
    }

    #[test]
    fn the_newest_readable_line_wins() {
        assert_eq!(
            sentence("First I look.\n```\nlet x = 1;\n```\n**Then** I run `cargo test`.\nsrc/a.rs"),
            Some("Then I run cargo test.".into())
        );
    }

    #[test]
    fn a_shebang_is_no_comment() {
        assert_eq!(
            comment("#!/bin/sh\n# Count lines\nwc -l x"),
            Some("Count lines".into())
        );
        assert_eq!(comment("echo # no"), None);
    }

    #[test]
    fn an_activity_never_looks_settled() {
        assert_eq!(plain("✅ Done with it"), "Done with it");
    }
}
