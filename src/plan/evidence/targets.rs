//! Planned targets that the work has passed by.

use crate::domain::{CallStatus, Effects};

use super::super::model::{Plan, TaskAction, TaskStatus};
use super::{targets_of, touches};

/// Most targets named.
const MAX_NAMED: usize = 16;
/// Longest target that is named, in characters.
const MAX_CHARS: usize = 200;

/// One finished call since the work on the plan began.
#[derive(Debug, Clone, Copy)]
pub struct Worked<'a> {
    /// Arguments as the model wrote them.
    pub arguments: &'a str,
    /// What the tool can do at most.
    pub effects: Effects,
    /// How it ended.
    pub status: CallStatus,
    /// Whether the workspace may have changed.
    pub changed: bool,
}

/// Targets of `change` tasks, completed or in progress, that no successful call has changed or read.
/// A command counts for the targets that it names, a sub-agent that changed something for all. Paths
/// below `workspace` and paths relative to it are the same.
#[must_use]
pub fn unfinished_targets(plan: &Plan, work: &[Worked<'_>], workspace: &str) -> Vec<String> {
    let mut unfinished: Vec<String> = Vec::new();
    let tasks = plan.tasks.iter().filter(|task| {
        task.action == Some(TaskAction::Change)
            && matches!(task.status, TaskStatus::Completed | TaskStatus::InProgress)
    });
    for target in tasks.flat_map(|task| &task.targets) {
        let named: String = target.trim().chars().take(MAX_CHARS).collect();
        let target = relative(target.trim(), workspace);
        let done = target.is_empty() || work.iter().any(|call| reaches(call, target, workspace));
        if !done && !unfinished.contains(&named) && unfinished.len() < MAX_NAMED {
            unfinished.push(named);
        }
    }
    unfinished
}

fn reaches(call: &Worked<'_>, target: &str, workspace: &str) -> bool {
    if call.status != CallStatus::Ok {
        return false;
    }
    match call.effects {
        Effects::Read | Effects::Write => targets_of(call.arguments)
            .iter()
            .any(|path| touches(target, relative(path, workspace))),
        Effects::Exec => call.arguments.contains(target.trim_start_matches("./")),
        Effects::Spawn => call.changed,
        Effects::Unknown
        | Effects::Ask
        | Effects::NetworkRead
        | Effects::Channel
        | Effects::Plan => false,
    }
}

fn relative<'a>(path: &'a str, workspace: &str) -> &'a str {
    path.strip_prefix(workspace)
        .and_then(|rest| rest.strip_prefix('/'))
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::super::tests::c;
    use super::*;

    fn plan(status: TaskStatus, action: TaskAction) -> Plan {
        let mut plan = c();
        if let Some(task) = plan.tasks.first_mut() {
            task.status = status;
            task.action = Some(action);
            task.targets = vec!["src/a.rs".into(), "/w/src/b.rs".into()];
        }
        plan
    }

    fn call(arguments: &str, effects: Effects) -> Worked<'_> {
        Worked {
            arguments,
            effects,
            status: CallStatus::Ok,
            changed: false,
        }
    }

    #[test]
    fn a_target_is_done_once_it_was_changed_or_read() {
        let plan = plan(TaskStatus::Completed, TaskAction::Change);
        let left = |work: &[Worked<'_>]| unfinished_targets(&plan, work, "/w");
        assert_eq!(left(&[]), ["src/a.rs", "/w/src/b.rs"]);
        let edit = call(r#"{"path":"/w/src/a.rs"}"#, Effects::Write);
        let read = call(r#"{"path":"src/b.rs"}"#, Effects::Read);
        assert_eq!(left(&[edit]), ["/w/src/b.rs"]);
        assert_eq!(left(&[edit, read]), Vec::<String>::new());
        let failed = Worked {
            status: CallStatus::Failed,
            ..edit
        };
        let other = call(r#"{"path":"lib/a.rs"}"#, Effects::Write);
        assert_eq!(left(&[failed, other, read]), ["src/a.rs"]);
        let command = call(r#"{"command":"sed -i s/x/y/ src/a.rs"}"#, Effects::Exec);
        assert_eq!(left(&[command, read]), Vec::<String>::new());
    }

    #[test]
    fn only_change_tasks_that_were_begun_owe_their_targets() {
        for plan in [
            plan(TaskStatus::Pending, TaskAction::Change),
            plan(TaskStatus::Skipped, TaskAction::Change),
            plan(TaskStatus::Completed, TaskAction::Inspect),
        ] {
            assert_eq!(unfinished_targets(&plan, &[], "/w"), Vec::<String>::new());
        }
    }
}
