//! The rules of a submission.

use super::{Draft, DraftStep, placeholder};
use crate::plan::model::TaskAction;
use crate::plan::ops::bounds;

/// Checks the rules of a submission. `meaningful` tells whether a command can fail for a reason about
/// the project.
///
/// # Errors
/// English text for the model that names the path of the field.
pub fn check(
    draft: &Draft,
    meaningful: &dyn Fn(&str) -> bool,
    max_tasks: usize,
) -> Result<(), String> {
    bounds::title(&draft.title).map_err(|error| format!("draft.title: {error}"))?;
    for (name, value) in [
        ("problem", &draft.context.problem),
        ("target_state", &draft.context.target_state),
        ("intent", &draft.context.intent),
    ] {
        let path = format!("draft.context.{name}");
        filled(&path, value)?;
    }
    for (name, value) in [
        ("constraints", &draft.context.constraints),
        ("out_of_scope", &draft.context.out_of_scope),
    ] {
        if let Some(value) = value {
            short(&format!("draft.context.{name}"), value)?;
        }
    }
    if draft.steps.is_empty() {
        return Err("draft.steps: at least one step is needed".to_owned());
    }
    if draft.steps.len() > max_tasks {
        return Err(format!("draft.steps: at most {max_tasks} steps"));
    }
    check_steps(&draft.steps)?;
    check_verification(draft, meaningful)?;
    check_placeholders(draft)
}

fn filled(path: &str, value: &str) -> Result<(), String> {
    if bounds::one_line(value).is_empty() {
        return Err(format!("{path}: must not be blank"));
    }
    short(path, value)
}

fn short(path: &str, value: &str) -> Result<(), String> {
    if bounds::longer(value, bounds::DESCRIPTION) {
        return Err(format!(
            "{path}: longer than {} characters",
            bounds::DESCRIPTION
        ));
    }
    Ok(())
}

fn check_steps(steps: &[DraftStep]) -> Result<(), String> {
    let names: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(n, step)| name(n, step))
        .collect();
    for (n, step) in steps.iter().enumerate() {
        let path = format!("draft.steps[{n}]");
        let at = |error: String| format!("{path}: {error}");
        bounds::title(&step.title).map_err(at)?;
        if let Some(id) = &step.id {
            bounds::id(id).map_err(at)?;
        }
        filled(&format!("{path}.detail"), &step.detail)?;
        let own = name(n, step);
        if names.iter().take(n).any(|other| *other == own) {
            return Err(format!("{path}: id {own} is used twice"));
        }
        if step.action == Some(TaskAction::Change) && step.targets.is_empty() {
            return Err(format!("{path}: a change step names at least one target"));
        }
        if step.targets.len() > bounds::TARGETS || step.done_when.len() > bounds::CRITERIA {
            return Err(format!(
                "{path}: at most {} targets and {} done_when items",
                bounds::TARGETS,
                bounds::CRITERIA
            ));
        }
        if step
            .targets
            .iter()
            .chain(&step.done_when)
            .any(|item| bounds::longer(item, bounds::CRITERION))
        {
            return Err(format!(
                "{path}: an item is longer than {} characters",
                bounds::CRITERION
            ));
        }
        for wanted in &step.depends_on {
            match position(wanted, &names) {
                Some(at) if at < n => {}
                Some(_) => {
                    return Err(format!(
                        "{path}: depends_on names {wanted}, which is not an earlier step"
                    ));
                }
                None => {
                    return Err(format!(
                        "{path}: depends_on names the unknown step {}",
                        bounds::cut(wanted, 48)
                    ));
                }
            }
        }
    }
    Ok(())
}

pub(super) fn name(n: usize, step: &DraftStep) -> String {
    step.id
        .as_deref()
        .map_or_else(|| (n + 1).to_string(), |id| id.trim().to_owned())
}

pub(super) fn position(wanted: &str, names: &[String]) -> Option<usize> {
    let wanted = wanted.trim();
    names.iter().position(|name| name == wanted).or_else(|| {
        let number: usize = wanted.parse().ok()?;
        (1..=names.len()).contains(&number).then(|| number - 1)
    })
}

fn check_verification(draft: &Draft, meaningful: &dyn Fn(&str) -> bool) -> Result<(), String> {
    if draft.verification.len() > bounds::VERIFICATION {
        return Err(format!(
            "draft.verification: at most {} commands",
            bounds::VERIFICATION
        ));
    }
    for (n, command) in draft.verification.iter().enumerate() {
        if command.contains('\n')
            || command.contains('`')
            || command.len() > bounds::CHECK_ARGUMENTS
        {
            return Err(format!(
                "draft.verification[{n}]: one shell command on one line, without backticks"
            ));
        }
    }
    let changes = draft
        .steps
        .iter()
        .any(|step| step.action == Some(TaskAction::Change));
    if changes && !draft.verification.iter().any(|command| meaningful(command)) {
        return Err(
            "draft.verification: a plan with a change step needs at least one shell command that can fail \
             for a reason about the project, such as the project's test command"
                .to_owned(),
        );
    }
    Ok(())
}

fn check_placeholders(draft: &Draft) -> Result<(), String> {
    let context = &draft.context;
    let texts = [
        &draft.title,
        &context.problem,
        &context.target_state,
        &context.intent,
    ]
    .into_iter()
    .chain(&context.constraints)
    .chain(&context.out_of_scope)
    .chain(draft.steps.iter().flat_map(|step| {
        [&step.title, &step.detail]
            .into_iter()
            .chain(&step.done_when)
    }))
    .chain(&draft.assumptions);
    for text in texts {
        if let Some(phrase) = placeholder(text) {
            return Err(format!(
                "the plan is not settled: it says \"{phrase}\". Find it out, ask the user, or leave it out"
            ));
        }
    }
    Ok(())
}
