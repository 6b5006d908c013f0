//! The order of calls inside one batch.

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

/// The batch in waves: calls of one wave may run at the same time, and a wave begins when the one
/// before it has ended. The transcript's order is kept between conflicting calls.
#[must_use]
pub fn waves(plan: Option<&Plan>, batch: &[BatchCall<'_>]) -> Vec<Vec<usize>> {
    let mut waves: Vec<Vec<usize>> = Vec::new();
    let mut open = false;
    for ((index, call), barrier) in batch.iter().enumerate().zip(barriers(plan, batch)) {
        let joins = open
            && !barrier
            && waves.last().is_some_and(|wave| {
                wave.iter().all(|earlier| {
                    batch
                        .get(*earlier)
                        .is_none_or(|earlier| !same_path_conflict(earlier, call))
                })
            });
        match waves.last_mut() {
            Some(wave) if joins => wave.push(index),
            Some(_) | None => waves.push(vec![index]),
        }
        open = !barrier;
    }
    waves
}

fn conflicts_with_all(call: &BatchCall<'_>) -> bool {
    match call.effects {
        Effects::Exec | Effects::Spawn | Effects::Unknown | Effects::Plan | Effects::Ask => true,
        Effects::Write => call.path.is_none(),
        Effects::Read | Effects::NetworkRead | Effects::Channel => false,
    }
}

fn same_path_conflict(left: &BatchCall<'_>, right: &BatchCall<'_>) -> bool {
    let writes = left.effects == Effects::Write || right.effects == Effects::Write;
    match (left.path, right.path) {
        (Some(left), Some(right)) => {
            writes && (super::touches(left, right) || super::touches(right, left))
        }
        // A read without a known path (a search) sees everything that is written.
        (None, _) | (_, None) => writes,
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
        assert_eq!(waves(Some(&plan), &batch), [vec![0], vec![1], vec![2, 3]]);
        assert_eq!(waves(None, &batch), [vec![0, 1, 2, 3]]);
    }

    #[test]
    fn conflicting_paths_and_unknown_effects_keep_their_order() {
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
            waves(None, &batch),
            [vec![0], vec![1, 2], vec![3], vec![4], vec![5], vec![6]]
        );
    }
}
