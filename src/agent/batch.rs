//! Which calls of a batch may run now: at most four at once, conflicting ones in the order given.

use crate::domain::Effects;
use crate::plan::evidence::touches;

/// Calls that run at the same time.
pub const PARALLEL: usize = 4;

/// What is known about one call of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Declared effects.
    pub effects: Effects,
    /// Paths it is about.
    pub targets: Vec<String>,
    /// A declared check: nothing overtakes it and it overtakes nothing.
    pub barrier: bool,
    /// How far it is.
    pub state: ItemState,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemState {
    /// Not begun.
    Waiting,
    /// Running.
    Running,
    /// Over.
    Done,
}

impl Item {
    fn is_pure_read(&self) -> bool {
        matches!(
            self.effects,
            Effects::Read | Effects::NetworkRead | Effects::Spawn
        ) && !self.barrier
    }

    fn conflicts(&self, other: &Self) -> bool {
        if self.is_pure_read() && other.is_pure_read() {
            return false;
        }
        let only_paths = |item: &Self| {
            matches!(item.effects, Effects::Read | Effects::Write)
                && !item.targets.is_empty()
                && !item.barrier
        };
        if only_paths(self) && only_paths(other) {
            return self.targets.iter().any(|target| {
                let mut others = other.targets.iter();
                others.any(|other| touches(target, other) || touches(other, target))
            });
        }
        true
    }
}

/// Indices of the calls to start now, in order.
#[must_use]
pub fn ready(items: &[Item]) -> Vec<usize> {
    let running = items
        .iter()
        .filter(|item| item.state == ItemState::Running)
        .count();
    let mut room = PARALLEL.saturating_sub(running);
    let mut start = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if room == 0 {
            break;
        }
        if item.state != ItemState::Waiting {
            continue;
        }
        let free = items
            .iter()
            .take(index)
            .filter(|earlier| earlier.state != ItemState::Done)
            .all(|earlier| !earlier.conflicts(item));
        if free {
            start.push(index);
            room -= 1;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(effects: Effects, target: &str, state: ItemState) -> Item {
        Item {
            effects,
            targets: vec![target.to_owned()],
            barrier: false,
            state,
        }
    }

    #[test]
    fn reads_run_together_up_to_four() {
        let items = vec![item(Effects::Read, "a", ItemState::Waiting); 6];
        assert_eq!(ready(&items), vec![0, 1, 2, 3]);
    }

    #[test]
    fn a_write_waits_for_a_read_of_the_same_path_and_not_for_another() {
        let items = vec![
            item(Effects::Read, "a", ItemState::Running),
            item(Effects::Write, "a", ItemState::Waiting),
            item(Effects::Write, "b", ItemState::Waiting),
        ];
        assert_eq!(ready(&items), vec![2]);
    }

    #[test]
    fn commands_and_checks_keep_their_order() {
        let mut check = item(Effects::Read, "a", ItemState::Waiting);
        check.barrier = true;
        let items = vec![
            item(Effects::Exec, "", ItemState::Running),
            check,
            item(Effects::Read, "b", ItemState::Waiting),
        ];
        assert_eq!(ready(&items), Vec::<usize>::new());
    }
}
