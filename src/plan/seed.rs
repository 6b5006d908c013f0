//! The seed turn: its prompt, and the comparison of the tasks with the approved steps.

use std::path::Path;

use super::model::Plan;
use super::template::{self, Step, same_title};
use super::tool::{NewCheck, NewTask};

/// What the seed turn tells the model.
#[must_use]
pub fn prompt(plan: &Plan, md_path: &Path) -> String {
    let note = plan
        .approval_note()
        .map(|note| format!("\n\nThe owner wrote with the approval, follow it:\n{note}"))
        .unwrap_or_default();
    format!(
        "The owner has approved the SESSION PLAN at {path}. It is frozen now.\n\
         1. Read `## Implementation steps` in that file.\n\
         2. Call `plan` with operation add_tasks exactly once, with one task for every numbered step, in the same \
         order. Title: the text before the dash, or the first sentence. Description: the rest with its bullets. \
         Put each `Done when:` bullet into acceptance_criteria; a bullet that is exactly one command in backticks \
         is also a check {{\"tool\":\"bash\",\"arguments\":{{\"command\":\"…\"}}}}. Leave dependencies out unless the step \
         says that it depends on another one.\n\
         3. Call `plan` with operation start at once. Until it succeeds, writing, commands and sub-agents are refused.\n\
         Then carry out the checklist in this same turn. Do not announce the approval and do not repeat the list.{note}",
        path = md_path.display(),
    )
}

/// Whether the `.md` is still the approved text, asked when the seed turn is dispatched.
#[must_use]
pub fn is_approved_text(plan: &Plan, md: &str) -> bool {
    plan.approved_revision.as_deref() == Some(template::revision(md).as_str())
}

/// Compares tasks with the numbered steps one to one, by count and title.
///
/// # Errors
/// A diagnostic for the model that names what differs.
pub fn compare(tasks: &[NewTask], steps: &[Step]) -> Result<(), String> {
    let titles = || {
        steps
            .iter()
            .enumerate()
            .map(|(n, step)| format!("{}. {}", n + 1, step.title))
            .collect::<Vec<_>>()
            .join("; ")
    };
    if tasks.len() != steps.len() {
        return Err(format!(
            "the approved plan has {} numbered steps and this call has {} tasks; one task for each step, in order: {}",
            steps.len(),
            tasks.len(),
            titles()
        ));
    }
    for (n, (task, step)) in tasks.iter().zip(steps).enumerate() {
        if !same_title(&task.title, &step.title) {
            return Err(format!(
                "task {number} is titled \"{given}\" and step {number} of the approved plan \"{wanted}\"; keep the \
                 titles of the steps, in order: {all}",
                number = n + 1,
                given = super::ops::bounds::cut(&task.title, 80),
                wanted = step.title,
                all = titles()
            ));
        }
    }
    Ok(())
}

/// Gives each task what its step demands and the model left out: criteria and checks.
pub fn complete(tasks: &mut [NewTask], steps: &[Step]) {
    for (task, step) in tasks.iter_mut().zip(steps) {
        if task.acceptance_criteria.is_empty() {
            task.acceptance_criteria.clone_from(&step.done_when);
        }
        if task.description.trim().is_empty() {
            task.description.clone_from(&step.description);
        }
        for command in &step.commands {
            let arguments = serde_json::json!({ "command": command }).to_string();
            let known = task.checks.iter().any(|check| {
                check.tool == "bash"
                    && serde_json::from_str::<serde_json::Value>(&check.arguments).is_ok_and(
                        |given| given.get("command").and_then(|c| c.as_str()) == Some(command),
                    )
            });
            if !known && task.checks.len() < super::ops::bounds::CHECKS {
                task.checks.push(NewCheck {
                    id: None,
                    description: super::ops::bounds::cut(
                        command,
                        super::ops::bounds::CHECK_DESCRIPTION,
                    ),
                    tool: "bash".to_owned(),
                    arguments,
                });
            }
        }
    }
}
