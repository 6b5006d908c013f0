//! Beginnings: design, submission, checklist, import.

use super::{Applied, Context, Event, Refusal, bounds, new_tasks};
use crate::plan::draft::{self, Draft};
use crate::plan::import;
use crate::plan::lifecycle::{self, Refusal as Stop};
use crate::plan::model::{EditingPlan, Plan, PlanState, Task};
use crate::plan::template;
use crate::plan::tool::{Class, Init};

/// `init` in its three forms.
pub(super) fn init(state: &PlanState, how: Init, ctx: &Context<'_>) -> Result<Applied, Refusal> {
    match how {
        Init::Design {
            with_tasks: true, ..
        } => {
            live(state)?;
            Err(Stop::DesignWithTasks.into())
        }
        Init::Design {
            draft: Some(draft), ..
        } => submit_from(state, &draft, ctx),
        Init::Design { title, .. } => {
            let title = bounds::title(&title).map_err(|text| Refusal::new(Class::Bound, text))?;
            let md = template::scaffold(&title);
            let plan = lifecycle::init_design(state, &title, &md, ctx.birth(), ctx.design_allowed)?;
            let reply = format!(
                "The SESSION PLAN \"{title}\" is open. Write it to {path}: fill Problem, Target state and Intent under \
                 `## Context` and at least one numbered step (`1. Title — what to do`, with indented `- Done when: …`) \
                 under `## Implementation steps`; commands that prove it go under `## Verification`, each in backticks. \
                 Then end your turn: only the user approves. Until then do not start, and write nothing else.",
                path = ctx.md_path.display()
            );
            Ok(editing(plan, md, reply, ctx))
        }
        Init::Checklist { title, tasks } => {
            live(state)?;
            let tasks = new_tasks(tasks, &[], ctx.canonical)?;
            checklist(state, &title, tasks, ctx)
        }
        Init::Import { .. } => {
            live(state)?;
            let text = match ctx.import {
                Some(Ok(text)) => text,
                Some(Err(problem)) => return Err(Refusal::new(Class::Shape, problem)),
                None => return Err(Refusal::new(Class::Shape, "the file cannot be read")),
            };
            let imported = import::parse(text, ctx.canonical)?;
            checklist(state, &imported.title, imported.tasks, ctx)
        }
    }
}

/// Refuses early while a plan is live, so that the true reason is given first.
fn live(state: &PlanState) -> Result<(), Refusal> {
    match state {
        PlanState::NoPlan | PlanState::PreInit { .. } => Ok(()),
        PlanState::Editing(_) | PlanState::Active(_) => Err(Stop::LivePlan.into()),
        PlanState::Corrupt { .. } => Err(Stop::Corrupt.into()),
    }
}

fn checklist(
    state: &PlanState,
    title: &str,
    tasks: Vec<Task>,
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    let plan = lifecycle::init_checklist(state, title, tasks, ctx.birth(), ctx.max_tasks)?;
    (ctx.fits)(&plan).map_err(|text| Refusal::new(Class::Bound, text))?;
    let total = plan.tasks.len();
    let mut applied = Applied::unchanged(format!(
        "The checklist \"{}\" has {total} tasks. Call start now, before any change. Do not repeat the list in the chat.",
        plan.title
    ));
    applied.event = Some(Event::Created {
        version: plan.version,
        total,
    });
    applied.checks_changed = true;
    applied.state = Some(PlanState::Active(Box::new(plan)));
    Ok(applied)
}

fn editing(plan: Plan, md: String, reply: String, ctx: &Context<'_>) -> Applied {
    let mut applied = Applied::unchanged(reply);
    applied.event = Some(Event::Created {
        version: plan.version,
        total: 0,
    });
    applied.md = Some(md.clone());
    applied.state = Some(PlanState::Editing(EditingPlan {
        plan: Box::new(plan),
        md_path: ctx.md_path.to_path_buf(),
        prose: md,
    }));
    applied
}

/// `submit`: from PreInit it also begins the plan; while Editing it writes the next revision.
pub(super) fn submit(
    state: &PlanState,
    draft: &Draft,
    ctx: &Context<'_>,
) -> Result<Applied, Refusal> {
    match state {
        PlanState::PreInit { .. } | PlanState::Editing(_) => submit_from(state, draft, ctx),
        PlanState::NoPlan => Err(Refusal::new(
            Class::State,
            "submit works only in plan mode; call init with mode design and the draft",
        )),
        PlanState::Active(_) => Err(Stop::LivePlan.into()),
        PlanState::Corrupt { .. } => Err(Stop::Corrupt.into()),
    }
}

fn submit_from(state: &PlanState, draft: &Draft, ctx: &Context<'_>) -> Result<Applied, Refusal> {
    draft::check(draft, ctx.meaningful, ctx.max_tasks)
        .map_err(|text| Refusal::new(Class::Shape, text))?;
    let md = draft::render(draft);
    let missing = template::missing(&md, ctx.max_tasks);
    if !missing.is_empty() {
        return Err(Stop::Incomplete(missing).into());
    }
    let reply = format!(
        "The plan \"{}\" was written to {} and is shown to the user. End your turn: only the user approves.",
        bounds::one_line(&draft.title),
        ctx.md_path.display()
    );
    let PlanState::Editing(current) = state else {
        let plan =
            lifecycle::init_design(state, &draft.title, &md, ctx.birth(), ctx.design_allowed)?;
        return Ok(editing(plan, md, reply, ctx));
    };
    if current.prose == md {
        return Ok(Applied::unchanged(
            "This very plan is already shown to the user. End your turn: only the user approves."
                .to_owned(),
        ));
    }
    let mut plan = (*current.plan).clone();
    plan.title = bounds::title(&draft.title).map_err(|text| Refusal::new(Class::Bound, text))?;
    md.clone_into(&mut plan.description);
    plan.revision = template::revision(&md);
    plan.updated_at = ctx.now;
    let mut applied = editing(plan, md, reply, ctx);
    applied.event = None;
    Ok(applied)
}
