//! The exit status of a parsed command, as far as it can be known beforehand.

use std::collections::BTreeMap;

use brush_parser::ast::{
    AndOr, AndOrList, AssignmentValue, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, Pipeline, Program, SeparatorOperator, SimpleCommand,
};

use super::program::{self, Judgement};
use super::{Why, words};

/// What the exit status can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It depends on the project.
    Tells,
    /// Always zero.
    Succeeds,
    /// Never zero.
    Fails,
    /// It cannot be known.
    Dynamic,
}

impl Outcome {
    fn not(self) -> Self {
        match self {
            Self::Succeeds => Self::Fails,
            Self::Fails => Self::Succeeds,
            Self::Tells | Self::Dynamic => self,
        }
    }

    fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Fails, _) | (_, Self::Fails) => Self::Fails,
            (Self::Succeeds, next) => next,
            (Self::Tells, _) | (_, Self::Tells) => Self::Tells,
            (Self::Dynamic, Self::Succeeds | Self::Dynamic) => Self::Dynamic,
        }
    }

    fn or(self, next: Self) -> Self {
        match (self, next) {
            (Self::Succeeds, _) | (_, Self::Succeeds) => Self::Succeeds,
            (Self::Fails, next) => next,
            (Self::Tells, _) | (_, Self::Tells) => Self::Tells,
            (Self::Dynamic, Self::Fails | Self::Dynamic) => Self::Dynamic,
        }
    }

    /// Either of two branches, taken for a reason that `condition` tells.
    fn either(condition: Self, left: Self, right: Self) -> Self {
        match condition {
            Self::Succeeds => left,
            Self::Fails => right,
            Self::Tells | Self::Dynamic if left == right => left,
            Self::Tells => Self::Tells,
            Self::Dynamic => Self::Dynamic,
        }
    }
}

/// Follows the status through one shell.
pub(super) struct Reader {
    depth: usize,
    /// `set -e`: any failing command ends the shell.
    errexit: bool,
    /// `set -o pipefail`.
    pipefail: bool,
    /// The shell has ended.
    ended: bool,
    /// A failure has ended the shell (`… || exit 1`), so what follows cannot hide it.
    guarded: bool,
    /// Status of the command before.
    last: Outcome,
    functions: BTreeMap<String, Outcome>,
}

impl Reader {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            depth,
            errexit: false,
            pipefail: false,
            ended: false,
            guarded: false,
            last: Outcome::Succeeds,
            functions: BTreeMap::new(),
        }
    }

    pub(super) fn program(&mut self, program: &Program) -> Result<Outcome, Why> {
        let mut status = Outcome::Succeeds;
        for list in &program.complete_commands {
            let next = self.list(list)?;
            status = self.sequence(status, next);
            if self.ended {
                break;
            }
        }
        Ok(status)
    }

    fn sequence(&self, before: Outcome, next: Outcome) -> Outcome {
        if self.errexit || self.guarded {
            before.and(next)
        } else {
            next
        }
    }

    fn list(&mut self, list: &CompoundList) -> Result<Outcome, Why> {
        let mut status = Outcome::Succeeds;
        for item in &list.0 {
            let next = self.and_or(&item.0)?;
            let next = match item.1 {
                SeparatorOperator::Async => Outcome::Succeeds,
                SeparatorOperator::Sequence => next,
            };
            status = self.sequence(status, next);
            self.last = status;
            if self.ended {
                break;
            }
        }
        Ok(status)
    }

    fn and_or(&mut self, list: &AndOrList) -> Result<Outcome, Why> {
        let mut status = self.pipeline(&list.first)?;
        for next in &list.additional {
            self.last = status;
            // An exit that is only reached on one side does not end what follows.
            let ended = self.ended;
            status = match next {
                AndOr::And(next) => status.and(self.pipeline(next)?),
                AndOr::Or(next) => {
                    let next = self.pipeline(next)?;
                    self.guarded |= self.ended && !ended && next == Outcome::Fails;
                    status.or(next)
                }
            };
            self.ended = ended;
        }
        Ok(status)
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Outcome, Why> {
        let mut status = Outcome::Succeeds;
        let many = pipeline.seq.len() > 1;
        for command in &pipeline.seq {
            let next = self.command(command)?;
            status = if self.pipefail {
                status.and(next)
            } else {
                next
            };
        }
        if many {
            // Each part of a pipeline is a shell of its own.
            self.ended = false;
        }
        Ok(if pipeline.bang { status.not() } else { status })
    }

    fn command(&mut self, command: &Command) -> Result<Outcome, Why> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, _) => self.compound(compound),
            Command::Function(function) => {
                let body = Self {
                    functions: BTreeMap::new(),
                    ..Self::new(self.depth + 1)
                }
                .compound(&function.body.0)?;
                self.functions.insert(function.fname.value.clone(), body);
                Ok(Outcome::Succeeds)
            }
            Command::ExtendedTest(test, _) => {
                let text = test.to_string();
                Ok(program::condition(&text, self.depth)?)
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Result<Outcome, Why> {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => {
                let status = self.list(&shell.list)?;
                self.ended = false;
                Ok(status)
            }
            CompoundCommand::IfClause(clause) => {
                let condition = self.list(&clause.condition)?;
                let then = self.branch(&clause.then)?;
                let mut otherwise = Outcome::Succeeds;
                for clause in clause.elses.iter().flatten().rev() {
                    let body = self.branch(&clause.body)?;
                    otherwise = match &clause.condition {
                        Some(condition) => Outcome::either(self.list(condition)?, body, otherwise),
                        None => body,
                    };
                }
                Ok(Outcome::either(condition, then, otherwise))
            }
            CompoundCommand::CaseClause(clause) => {
                let mut status = None;
                for case in &clause.cases {
                    let body = case
                        .cmd
                        .as_ref()
                        .map_or(Ok(Outcome::Succeeds), |body| self.branch(body))?;
                    status = Some(match status {
                        None => body,
                        Some(before) if before == body => body,
                        Some(_) => Outcome::Dynamic,
                    });
                }
                Ok(status.unwrap_or(Outcome::Succeeds))
            }
            CompoundCommand::ForClause(clause) => self.branch(&clause.body.list),
            CompoundCommand::ArithmeticForClause(clause) => self.branch(&clause.body.list),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.branch(&clause.1.list)
            }
            // Numbers of the command itself say nothing about the project.
            CompoundCommand::Arithmetic(_) | CompoundCommand::Coprocess(_) => Ok(Outcome::Succeeds),
        }
    }

    /// A list that may not be reached: an exit in it does not end what follows.
    fn branch(&mut self, list: &CompoundList) -> Result<Outcome, Why> {
        let status = self.list(list)?;
        self.ended = false;
        Ok(status)
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Result<Outcome, Why> {
        let Some(name) = &simple.word_or_name else {
            return self.assignments(simple);
        };
        let mut arguments = vec![words::read(&name.value)];
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::Word(word)
                | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    arguments.push(words::read(&word.value));
                }
                CommandPrefixOrSuffixItem::IoRedirect(_)
                | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {}
            }
        }
        if let Some(known) = arguments
            .first()
            .filter(|name| name.is_literal)
            .and_then(|name| self.functions.get(&name.text))
        {
            return Ok(*known);
        }
        Ok(match program::judge(&arguments, self.depth)? {
            Judgement::Status(status) => status,
            Judgement::Exit(status) => {
                self.ended = true;
                status.unwrap_or(self.last)
            }
            Judgement::Set { errexit, pipefail } => {
                self.errexit |= errexit;
                self.pipefail |= pipefail;
                Outcome::Succeeds
            }
        })
    }

    /// Without a program the status is that of the last substitution.
    fn assignments(&mut self, simple: &SimpleCommand) -> Result<Outcome, Why> {
        let mut status = Outcome::Succeeds;
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            if let CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item
                && let AssignmentValue::Scalar(value) = &assignment.value
            {
                for command in words::read(&value.value).commands {
                    status = super::status_of(&command, self.depth + 1)?;
                }
            }
        }
        Ok(status)
    }
}
