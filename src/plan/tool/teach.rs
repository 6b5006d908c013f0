//! Examples that work, and rejections that end with one of them.

use crate::plan::ops::bounds;

/// One valid call for each operation. They stand in the description and in errors; a test runs each.
pub const EXAMPLES: &[(&str, &str)] = &[
    (
        "init",
        r#"{"operation":"init","mode":"checklist","title":"Fix login","tasks":[{"title":"Find the fault"},{"title":"Correct it"}]}"#,
    ),
    (
        "submit",
        r#"{"operation":"submit","draft":{"title":"Fix login","context":{"problem":"Login fails.","target_state":"Login works.","intent":"Asked today."},"steps":[{"title":"Correct the check","detail":"Compare hashes.","action":"change","targets":["src/login.rs"]}],"verification":["cargo test"]}}"#,
    ),
    (
        "add_tasks",
        r#"{"operation":"add_tasks","tasks":[{"title":"Run the tests","description":"All of them."}]}"#,
    ),
    ("start", r#"{"operation":"start","task_id":"t1"}"#),
    (
        "complete",
        r#"{"operation":"complete","task_id":"t1","outcome":"success"}"#,
    ),
    (
        "update",
        r#"{"operation":"update","updates":[{"id":"t1","note":"half done"}]}"#,
    ),
    (
        "revise",
        r#"{"operation":"revise","reason":"A test is missing","operations":[{"kind":"add","after_id":"t1","tasks":[{"title":"Write the test"}]}]}"#,
    ),
    (
        "check_replace",
        r#"{"operation":"check_replace","task_id":"t1","check_id":"c1","justification":"The script moved","replacement":{"description":"Tests pass","tool":"bash","arguments":{"command":"cargo test"}}}"#,
    ),
    ("get", r#"{"operation":"get"}"#),
];

/// The example of an operation; that of `get` for an unknown one.
#[must_use]
pub fn example(operation: &str) -> &'static str {
    EXAMPLES
        .iter()
        .find(|(name, _)| *name == operation)
        .map_or(r#"{"operation":"get"}"#, |(_, text)| text)
}

/// Why a call was rejected, for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Not one JSON object.
    ParseError,
    /// No such operation.
    UnknownOperation,
    /// Two keys that say different things.
    AliasConflict,
    /// Two keys that both supply tasks.
    AliasAmbiguous,
    /// No such task.
    UnknownTask,
    /// A required field is missing.
    MissingField,
    /// The field has another name.
    WrongFieldName,
    /// A field has the wrong form.
    Shape,
    /// A bound is broken.
    Bound,
    /// The state of the plan forbids it.
    State,
    /// Evidence is missing.
    Evidence,
}

impl Class {
    /// Its name in events and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ParseError => "parse_error",
            Self::UnknownOperation => "unknown_verb",
            Self::AliasConflict => "alias_conflict",
            Self::AliasAmbiguous => "alias_ambiguous",
            Self::UnknownTask => "unknown_step_id",
            Self::MissingField => "missing_field",
            Self::WrongFieldName => "wrong_field_name",
            Self::Shape => "shape",
            Self::Bound => "bound",
            Self::State => "state",
            Self::Evidence => "evidence",
        }
    }
}

/// A rejected call. State, version and evidence are as before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Rejection {
    /// For counting.
    pub class: Class,
    /// Canonical operation, if it is known.
    pub operation: Option<&'static str>,
    /// What the model reads.
    pub text: String,
}

impl Rejection {
    /// Puts a rejection together: problem, keys received, one call that works.
    pub(super) fn new(
        class: Class,
        operation: Option<&'static str>,
        problem: &str,
        received: &str,
    ) -> Self {
        let name = operation.map(|name| format!(" {name}")).unwrap_or_default();
        let example = match (class, operation) {
            (Class::State, _) | (_, None) => example("get"),
            (_, Some(name)) => example(name),
        };
        Self {
            class,
            operation,
            text: format!(
                "plan{name}: {problem}; received keys: [{received}]. Valid example: {example}"
            ),
        }
    }
}

/// The keys of a call, each cut at 48 characters, at most 8.
pub(super) fn keys<'a>(keys: impl Iterator<Item = &'a String>) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut more = 0_usize;
    for key in keys {
        if shown.len() < 8 {
            let line = bounds::one_line(key);
            let cut = bounds::cut(&line, 48);
            shown.push(if cut == line {
                line
            } else {
                format!("{cut}…")
            });
        } else {
            more += 1;
        }
    }
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}
