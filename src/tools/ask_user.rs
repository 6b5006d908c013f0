//! `ask_user`: a question to the user. Read here, asked by the session.

use schemars::JsonSchema;
use serde::Deserialize;

use super::args;
use super::call::{Inspection, Place};
use crate::domain::{ActionClass, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"question":"Which database?","options":["SQLite","PostgreSQL"]}"#;
const MAX_QUESTION: usize = 1000;
const MAX_OPTIONS: usize = 4;
const MAX_OPTION: usize = 60;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "ask_user",
    description: "Asks the user one question and waits for the answer. Up to four short options become \
        buttons; the user may always type another answer.",
    schema: args::schema::<Args>,
    effects: Effects::Ask,
    label: "tool-ask-user",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// One question, at most 1000 characters.
    question: String,
    /// At most four answers to choose from, each at most 60 characters.
    #[serde(default)]
    options: Vec<String>,
}

/// A question that is fit to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question, 1–1000 characters.
    pub text: String,
    /// 0–4 different answers of 1–60 characters.
    pub options: Vec<String>,
}

pub(super) fn question(raw: &str) -> Result<Question, String> {
    let parsed: Args = args::parse("ask_user", raw, EXAMPLE)?;
    let text = parsed.question.trim().to_owned();
    if text.is_empty() || text.chars().count() > MAX_QUESTION {
        return Err(format!(
            "`question` must have 1 to {MAX_QUESTION} characters. A valid example: {EXAMPLE}"
        ));
    }
    let mut options: Vec<String> = Vec::new();
    for option in parsed.options {
        let option = option.trim().to_owned();
        if option.is_empty() || option.chars().count() > MAX_OPTION {
            return Err(format!(
                "Each option must have 1 to {MAX_OPTION} characters. A valid example: {EXAMPLE}"
            ));
        }
        if !options.contains(&option) {
            options.push(option);
        }
    }
    if options.len() > MAX_OPTIONS {
        return Err(format!(
            "At most {MAX_OPTIONS} options are allowed. A valid example: {EXAMPLE}"
        ));
    }
    Ok(Question { text, options })
}

pub(super) fn inspect(raw: &str, place: &Place) -> Result<Inspection, String> {
    let question = question(raw)?;
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Read,
        question.text,
        Vec::new(),
        place,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_bounds() {
        let read = question(r#"{"question":" Which? ","options":["a","a ","b"]}"#).unwrap();
        assert_eq!((read.text.as_str(), read.options.len()), ("Which?", 2));
        for bad in [
            r#"{"question":""}"#,
            r#"{"question":"x","options":["1","2","3","4","5"]}"#,
            r#"{"question":"x","options":[""]}"#,
            r#"{"text":"x"}"#,
        ] {
            assert!(
                question(bad).unwrap_err().contains("A valid example"),
                "{bad}"
            );
        }
    }
}
