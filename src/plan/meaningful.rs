//! Whether a verification command can fail for a reason about the project.
//!
//! The command is parsed as a shell would parse it, and its exit status is followed through pipelines,
//! chains, groups, wrappers and `sh -c`. What cannot be read with certainty does not count as evidence.

mod outcome;
mod program;
mod prose;
mod words;

use brush_parser::{Parser, ParserOptions};

use outcome::{Outcome, Reader};

/// Bytes of a command that is looked at.
pub const MAX_COMMAND_BYTES: usize = 4096;
/// Levels of brackets, braces and quotes in quotes that are looked into.
pub(crate) const MAX_NESTING: usize = 6;
/// Opened brackets that are allowed, nested or not: the parser's work doubles with every level.
const MAX_BRACKETS: usize = 14;
/// Clauses (`if`, `for`, `case`, …) that are allowed, nested or not.
const MAX_CLAUSES: usize = 12;

/// Why a command is no verification, in English for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Nothing to run.
    #[error("the command is empty")]
    Empty,
    /// Longer or more deeply nested than is looked at.
    #[error("the command is too long or too deeply nested; put it into a script of the project")]
    TooComplex,
    /// Words for people.
    #[error("this is prose, not a shell command; name the exact command, such as `cargo test`")]
    Prose,
    /// Not valid shell.
    #[error("the command is not valid shell")]
    NotShell,
    /// It succeeds whatever the project is like.
    #[error(
        "the command cannot fail for a reason about the project; use its tests, build or linter"
    )]
    Trivial,
    /// It can only fail.
    #[error("the command can never succeed")]
    NeverPasses,
    /// The program is computed when it runs, so nothing can be said about it.
    #[error("the program to run is computed at run time; name it literally")]
    Dynamic,
}

/// Whether the command can verify something.
///
/// # Errors
///
/// [`Why`] not.
pub fn is_meaningful(command: &str) -> Result<(), Why> {
    let command = command.trim();
    if command.is_empty() {
        return Err(Why::Empty);
    }
    if prose::is_prose(command) {
        return Err(Why::Prose);
    }
    match status_of(command, 0)? {
        Outcome::Tells => Ok(()),
        Outcome::Succeeds => Err(Why::Trivial),
        Outcome::Fails => Err(Why::NeverPasses),
        Outcome::Dynamic => Err(Why::Dynamic),
    }
}

/// The outcome of a piece of shell, `depth` levels inside the command.
fn status_of(command: &str, depth: usize) -> Result<Outcome, Why> {
    if command.len() > MAX_COMMAND_BYTES || depth > MAX_NESTING || is_too_deep(command) {
        return Err(Why::TooComplex);
    }
    let options = ParserOptions::default();
    let program = Parser::new(command.as_bytes(), &options)
        .parse_program()
        .map_err(|_| Why::NotShell)?;
    if program.complete_commands.is_empty() {
        return Err(Why::Empty);
    }
    Reader::new(depth).program(&program)
}

/// Whether the command could lead the parser too deep. Closing brackets are not subtracted, because
/// quotes and patterns can fake them.
fn is_too_deep(command: &str) -> bool {
    let clauses = command
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| {
            matches!(
                *word,
                "if" | "elif" | "while" | "until" | "for" | "case" | "select"
            )
        });
    command.matches(['(', '{']).count() > MAX_BRACKETS || clauses.count() > MAX_CLAUSES
}

#[cfg(test)]
mod tests;
