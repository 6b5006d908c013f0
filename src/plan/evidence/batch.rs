//! Which calls of a batch wait for all others and let none pass. The order of the rest is the turn's.

use crate::domain::Effects;

use super::super::canonical::canonical;
use super::super::model::Plan;
use super::{PLAN_TOOL, is_declared};

/// One call of a batch, before it runs.
#[derive(Debug, Clone, Copy)]
pub struct BatchCall<'a> {
    /// Tool name.
    pub tool: &'a str,
    /// Arguments as the model wrote them.
    pub arguments: &'a str,
    /// What the tool can do at most.
    pub effects: Effects,
    /// The one path it reads or writes, resolved; `None` if it is not known.
    pub path: Option<&'a str>,
}

/// For each call whether it is a barrier: everything before it ends first, and nothing after it begins
/// before it has ended. Declared checks are barriers (also a read that must not overtake an earlier
/// write elsewhere), and so are commands, sub-agents, plan calls, questions, unknown effects and writes
/// without a known path.
#[must_use]
pub fn barriers(plan: Option<&Plan>, batch: &[BatchCall<'_>]) -> Vec<bool> {
    batch
        .iter()
        .map(|call| {
            let declared = plan.is_some_and(|plan| {
                canonical(call.arguments)
                    .is_ok_and(|arguments| is_declared(plan, call.tool, &arguments))
            });
            declared || call.tool == PLAN_TOOL || conflicts_with_all(call)
        })
        .collect()
}

fn conflicts_with_all(call: &BatchCall<'_>) -> bool {
    match call.effects {
        Effects::Exec | Effects::Spawn | Effects::Unknown | Effects::Plan | Effects::Ask => true,
        Effects::Write => call.path.is_none(),
        Effects::Read | Effects::NetworkRead | Effects::Channel => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{READ, c};
    use super::*;

    #[test]
    fn v13_a_declared_check_waits_for_an_earlier_write_elsewhere() {
        let plan = c();
        let batch = [
            BatchCall {
                tool: "write_file",
                arguments: "{}",
                effects: Effects::Write,
                path: Some("/w/elsewhere"),
            },
            BatchCall {
                tool: "read_file",
                arguments: READ,
                effects: Effects::Read,
                path: Some("/w/out"),
            },
            BatchCall {
                tool: "read_file",
                arguments: "{}",
                effects: Effects::Read,
                path: Some("/w/x"),
            },
            BatchCall {
                tool: "read_file",
                arguments: "{}",
                effects: Effects::Read,
                path: Some("/w/y"),
            },
        ];
        assert_eq!(barriers(Some(&plan), &batch), [false, true, false, false]);
        assert_eq!(barriers(None, &batch), [false; 4]);
    }

    #[test]
    fn unknown_effects_and_unknown_paths_are_barriers() {
        let at = |effects, path| BatchCall {
            tool: "x",
            arguments: "{}",
            effects,
            path,
        };
        let batch = [
            at(Effects::Read, Some("/w/a")),
            at(Effects::Write, Some("/w/a")),
            at(Effects::Write, Some("/w/b")),
            at(Effects::Read, None),
            at(Effects::Unknown, Some("/w/c")),
            at(Effects::Read, Some("/w/c")),
            at(Effects::Write, None),
        ];
        assert_eq!(
            barriers(None, &batch),
            [false, false, false, false, true, false, true]
        );
    }
}
