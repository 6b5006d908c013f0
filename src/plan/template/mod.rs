//! The outline of a session plan: a line scan that skips fenced code and is scoped to its section. The
//! gate before approval is exact on purpose; the mapping to tasks stays with the model and is only
//! compared with [`steps`].

mod scan;
mod steps;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::plan::view::PlanSection;
use scan::{Line, body, is_blank, label_value, lines};

pub use steps::{Step, backticked, same_title, split_title, steps, verification};

/// What an unapprovable plan lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The file is blank.
    Everything,
    /// No `## Context`.
    Context,
    /// **Problem** is absent or blank.
    Problem,
    /// **Target state** is absent or blank.
    TargetState,
    /// **Intent** is absent or blank.
    Intent,
    /// No `## Implementation steps`.
    Steps,
    /// No numbered step in it.
    NumberedStep,
    /// More steps than a checklist may hold, so that no seed turn could ever succeed.
    TooManySteps,
}

impl Missing {
    /// Locale key of the item.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Everything => "plan-missing-everything",
            Self::Context => "plan-missing-context",
            Self::Problem => "plan-missing-problem",
            Self::TargetState => "plan-missing-target-state",
            Self::Intent => "plan-missing-intent",
            Self::Steps => "plan-missing-steps",
            Self::NumberedStep => "plan-missing-numbered-step",
            Self::TooManySteps => "plan-missing-fewer-steps",
        }
    }

    /// The item for the model.
    #[must_use]
    pub fn english(self) -> &'static str {
        match self {
            Self::Everything => "the file is blank",
            Self::Context => "the heading `## Context`",
            Self::Problem => "text after `- **Problem:**` in `## Context`",
            Self::TargetState => "text after `- **Target state:**` in `## Context`",
            Self::Intent => "text after `- **Intent:**` in `## Context`",
            Self::Steps => "the heading `## Implementation steps`",
            Self::NumberedStep => {
                "a numbered step (`1. Title — what to do`) in `## Implementation steps`"
            }
            Self::TooManySteps => "fewer steps: the checklist cannot hold so many",
        }
    }
}

/// Everything that approval would miss, in the order of the outline. Empty means approvable.
#[must_use]
pub fn missing(md: &str, max_tasks: usize) -> Vec<Missing> {
    if md.lines().all(is_blank) {
        return vec![Missing::Everything];
    }
    let scanned = lines(md);
    let mut found = Vec::new();
    match body(&scanned, "Context") {
        None => found.extend([
            Missing::Context,
            Missing::Problem,
            Missing::TargetState,
            Missing::Intent,
        ]),
        Some(context) => {
            for (label, item) in [
                ("Problem", Missing::Problem),
                ("Target state", Missing::TargetState),
                ("Intent", Missing::Intent),
            ] {
                if !label_value(&context, label) {
                    found.push(item);
                }
            }
        }
    }
    match body(&scanned, "Implementation steps") {
        None => found.extend([Missing::Steps, Missing::NumberedStep]),
        Some(_) => match steps(md).len() {
            0 => found.push(Missing::NumberedStep),
            count if count > max_tasks => found.push(Missing::TooManySteps),
            _ => {}
        },
    }
    found
}

/// The level-2 sections in order, for the read model. What stands before the first one, without the
/// level-1 title, comes under an empty heading.
#[must_use]
pub fn sections(md: &str) -> Vec<PlanSection> {
    let mut found: Vec<PlanSection> = Vec::new();
    let mut current = PlanSection {
        heading: String::new(),
        body: String::new(),
    };
    for Line { text, heading, .. } in lines(md) {
        match heading {
            Some((1, _)) if found.is_empty() && current.heading.is_empty() => {}
            Some((2, name)) => {
                found.push(current);
                current = PlanSection {
                    heading: name.to_owned(),
                    body: String::new(),
                };
            }
            Some(_) | None => {
                current.body.push_str(text);
                current.body.push('\n');
            }
        }
    }
    found.push(current);
    for section in &mut found {
        section.body = section.body.trim_matches('\n').to_owned();
    }
    found.retain(|section| !section.heading.is_empty() || !is_blank(&section.body));
    found
}

/// The level-1 title, if there is one.
#[must_use]
pub fn title(md: &str) -> Option<String> {
    lines(md).into_iter().find_map(|line| match line.heading {
        Some((1, name)) if !is_blank(name) => Some(name.to_owned()),
        Some(_) | None => None,
    })
}

/// SHA-256 of the text with line ends normalised, as lower-case hex: 64 characters.
#[must_use]
pub fn revision(md: &str) -> String {
    let normal = md.replace("\r\n", "\n").replace('\r', "\n");
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(normal.as_bytes()) {
        // Writing into a string cannot fail.
        if write!(hex, "{byte:02x}").is_err() {
            break;
        }
    }
    hex
}

/// The `.md` that `init` leaves for the model to fill in. Not approvable as it is.
#[must_use]
pub fn scaffold(title: &str) -> String {
    format!(
        "# {title}\n\n## Context\n- **Problem:**\n- **Target state:**\n- **Intent:**\n\n## Implementation steps\n"
    )
}
