//! Whether a shell command destroys something or cannot be read with certainty.
//!
//! The judgement is on the parsed command. Whatever is not understood counts as destructive, because
//! the only consequence is a question to the owner.

mod commands;
mod git;
mod names;
mod words;

use brush_parser::ast::{
    AndOr, AndOrList, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand,
    CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline,
    SimpleCommand, Word,
};
use brush_parser::{Parser, ParserOptions};

use words::Arg;

/// Longest command that is parsed, in bytes.
const MAX_LENGTH: usize = 16 * 1024;
/// Opening brackets and quotes of substitutions in a command that is parsed.
const MAX_OPENINGS: usize = 60;
/// Words that open a construct, each of which costs the parser stack.
const MAX_CONSTRUCTS: usize = 40;
/// Brackets inside brackets. The parser takes twice as long for each further one that stays open.
const MAX_NESTING: i32 = 12;
/// Commands inside commands (`sh -c`, substitutions).
const MAX_DEPTH: usize = 6;

/// Why a judgement is what it is; the reason names what was found.
type Found = Result<(), String>;

/// The reason why `command` is destructive or cannot be read with certainty; `None` when neither.
pub(super) fn destructive(command: &str) -> Option<String> {
    judge(command, 0).err()
}

fn found<T>(reason: impl Into<String>) -> Result<T, String> {
    Err(reason.into())
}

/// Judges a piece of shell text that is `depth` commands deep.
fn judge(command: &str, depth: usize) -> Found {
    let openings = command.matches(['(', '{', '`']).count();
    let too_much = command.contains('\0')
        || openings > MAX_OPENINGS
        || nesting(command) > MAX_NESTING
        || constructs(command) > MAX_CONSTRUCTS;
    if depth > MAX_DEPTH || command.len() > MAX_LENGTH || too_much {
        return found("the command is too complex to be read");
    }
    let mut parser = Parser::new(command.as_bytes(), &ParserOptions::default());
    let program = parser
        .parse_program()
        .map_err(|_| "the command cannot be parsed".to_owned())?;
    let walk = Walk { depth };
    program
        .complete_commands
        .iter()
        .try_for_each(|list| walk.list(list))
}

/// The most brackets that are open at once, whatever quotes say.
fn nesting(command: &str) -> i32 {
    let (mut open, mut most) = (0_i32, 0);
    for c in command.chars() {
        match c {
            '(' | '{' => open += 1,
            ')' | '}' => open = (open - 1).max(0),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// How many words open a construct or join conditions, wherever they stand.
fn constructs(command: &str) -> usize {
    const WORDS: [&str; 16] = [
        "if", "elif", "while", "until", "for", "case", "select", "coproc", "function", "time", "!",
        "[[", "-a", "-o", "do", "then",
    ];
    let words = command.split(|c: char| c.is_whitespace() || c == ';');
    let joined = if command.contains("[[") {
        command.matches("&&").count() + command.matches("||").count()
    } else {
        0
    };
    joined + words.filter(|word| WORDS.contains(word)).count()
}

#[derive(Debug, Clone, Copy)]
struct Walk {
    depth: usize,
}

impl Walk {
    fn list(self, list: &CompoundList) -> Found {
        list.0.iter().try_for_each(|item| self.and_or(&item.0))
    }

    fn and_or(self, list: &AndOrList) -> Found {
        self.pipeline(&list.first)?;
        list.additional.iter().try_for_each(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
        })
    }

    fn pipeline(self, pipeline: &Pipeline) -> Found {
        pipeline
            .seq
            .iter()
            .enumerate()
            .try_for_each(|(index, command)| self.command(command, index > 0))
    }

    /// `fed` tells that another command feeds the input of this one.
    fn command(self, command: &Command, fed: bool) -> Found {
        match command {
            Command::Simple(simple) => self.simple(simple, fed),
            Command::Compound(compound, redirects) => {
                self.redirects(redirects.iter().flat_map(|list| &list.0))?;
                self.compound(compound)
            }
            Command::Function(function) => {
                let redirects = function.body.1.iter().flat_map(|list| &list.0);
                self.redirects(redirects)?;
                if words::shadows(&function.fname.value) {
                    return found("a function takes the name of a command");
                }
                self.compound(&function.body.0)
            }
            Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.iter().flat_map(|list| &list.0))?;
                self.test(&test.expr)
            }
        }
    }

    fn compound(self, command: &CompoundCommand) -> Found {
        match command {
            CompoundCommand::Arithmetic(arithmetic) => words::arithmetic(&arithmetic.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                parts
                    .into_iter()
                    .flatten()
                    .try_for_each(|part| words::arithmetic(&part.value))?;
                self.list(&clause.body.list)
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.list(&shell.list),
            CompoundCommand::ForClause(clause) => {
                self.words(clause.values.iter().flatten())?;
                self.list(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value)?;
                clause.cases.iter().try_for_each(|case| {
                    self.words(&case.patterns)?;
                    case.cmd.iter().try_for_each(|list| self.list(list))
                })
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                clause.elses.iter().flatten().try_for_each(|other| {
                    other
                        .condition
                        .iter()
                        .try_for_each(|list| self.list(list))?;
                    self.list(&other.body)
                })
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0)?;
                self.list(&clause.1.list)
            }
            CompoundCommand::Coprocess(process) => self.command(&process.body, true),
        }
    }

    fn test(self, test: &ExtendedTestExpr) -> Found {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner)
            }
            ExtendedTestExpr::UnaryTest(_, word) => self.word(word).map(drop),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(left)?;
                self.word(right).map(drop)
            }
        }
    }

    fn words<'a>(self, all: impl IntoIterator<Item = &'a Word>) -> Found {
        all.into_iter()
            .try_for_each(|word| self.word(word).map(drop))
    }

    fn word(self, word: &Word) -> Result<Arg, String> {
        words::read(&word.value, self.depth)
    }

    fn simple(self, command: &SimpleCommand, fed: bool) -> Found {
        let before = command.prefix.iter().flat_map(|prefix| &prefix.0);
        let after = command.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut fed = fed;
        let mut args = Vec::new();
        for item in before {
            fed |= self.item(item, &mut Vec::new())?;
        }
        if let Some(name) = &command.word_or_name {
            args.push(self.word(name)?);
        }
        for item in after {
            fed |= self.item(item, &mut args)?;
        }
        commands::judge_args(&args, fed, self.depth)
    }

    /// Reads one part of a simple command; gives whether it feeds the input.
    fn item(self, item: &Item, args: &mut Vec<Arg>) -> Result<bool, String> {
        match item {
            Item::Word(word) => {
                args.push(self.word(word)?);
                Ok(false)
            }
            Item::AssignmentWord(assignment, word) => {
                match &assignment.value {
                    AssignmentValue::Scalar(value) => self.word(value).map(drop)?,
                    AssignmentValue::Array(values) => {
                        self.words(
                            values
                                .iter()
                                .flat_map(|(key, value)| key.iter().chain([value])),
                        )?;
                    }
                }
                words::assignment(&word.value)?;
                args.push(Arg::fixed(&word.value));
                Ok(false)
            }
            Item::ProcessSubstitution(_, shell) => {
                self.list(&shell.list)?;
                args.push(Arg::unknown("<(…)"));
                Ok(false)
            }
            Item::IoRedirect(redirect) => self.redirect(redirect),
        }
    }

    fn redirects<'a>(self, all: impl IntoIterator<Item = &'a IoRedirect>) -> Found {
        all.into_iter()
            .try_for_each(|one| self.redirect(one).map(drop))
    }

    /// Judges a redirection; gives whether it feeds the input.
    fn redirect(self, redirect: &IoRedirect) -> Result<bool, String> {
        match redirect {
            IoRedirect::File(_, kind, target) => self.file_redirect(kind, target),
            IoRedirect::HereDocument(_, document) => {
                if document.requires_expansion {
                    words::document(&document.doc.value, self.depth)?;
                }
                Ok(true)
            }
            IoRedirect::HereString(_, word) => self.word(word).map(|_| true),
            IoRedirect::OutputAndError(word, append) => {
                words::target(&word.value, &self.word(word)?, *append).map(|()| false)
            }
        }
    }

    fn file_redirect(
        self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
    ) -> Result<bool, String> {
        let word = match target {
            IoFileRedirectTarget::Fd(_) => return Ok(false),
            IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                self.list(&shell.list)?;
                return Ok(true);
            }
            IoFileRedirectTarget::Filename(word) => word,
            IoFileRedirectTarget::Duplicate(word) => {
                let plain = word
                    .value
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'-');
                if plain {
                    return Ok(false);
                }
                word
            }
        };
        let read = self.word(word)?;
        match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => Ok(true),
            IoFileRedirectKind::Append => words::target(&word.value, &read, true).map(|()| false),
            IoFileRedirectKind::Write
            | IoFileRedirectKind::ReadAndWrite
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput => {
                words::target(&word.value, &read, false).map(|()| false)
            }
        }
    }
}

#[cfg(test)]
mod tests;
