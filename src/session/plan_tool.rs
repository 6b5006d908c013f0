//! The `plan` tool carried out, evidence recorded, the archive.

use tracing::{info, warn};

use crate::domain::{ApprovalLevel, CallStatus, Effects, SandboxProfile, ToolCall, ToolOutcome};
use crate::plan::evidence::{self, Observation};
use crate::plan::gate::{Permit, PlanOperation};
use crate::plan::lifecycle;
use crate::plan::model::{Plan, PlanState};
use crate::plan::ops::{self, Context, GoalChange};
use crate::plan::store::{PlanStoreError, read_import};
use crate::plan::tool::{self, Init, Operation, Parsed};
use crate::plan::{canonical, context, meaningful};

use super::actor::Actor;
use super::batch::outcome;

/// Tasks shown on the approval card of a checklist.
const CARD_TASKS: usize = 30;

/// What the owner reads on the card of an `init`.
pub(super) fn card_lines(operation: &Operation) -> String {
    match operation {
        Operation::Init(Init::Checklist { title, tasks }) => {
            let rows: Vec<String> = tasks
                .iter()
                .take(CARD_TASKS)
                .enumerate()
                .map(|(index, task)| format!("{}. {}", index + 1, task.title))
                .collect();
            format!("init checklist: {title}\n{}", rows.join("\n"))
        }
        Operation::Init(Init::Design { title, .. }) => format!("init design: {title}"),
        Operation::Init(Init::Import { path, .. }) => format!("init import: {}", path.display()),
        Operation::Submit(draft) => format!("submit: {}", draft.title),
        Operation::AddTasks { .. }
        | Operation::Start { .. }
        | Operation::Complete { .. }
        | Operation::Update { .. }
        | Operation::Revise { .. }
        | Operation::CheckReplace(_)
        | Operation::Get => operation.name().to_owned(),
    }
}

impl Actor {
    /// Runs one permitted plan call. The permit is spent here.
    pub(super) async fn run_plan(&mut self, call: &ToolCall, permit: Permit) -> ToolOutcome {
        if *permit.call() != call.id || permit.profile() == SandboxProfile::Off {
            return outcome(
                &call.id,
                CallStatus::Refused,
                "no permit for this call".into(),
            );
        }
        let parsed = match tool::parse(&call.arguments) {
            Ok(parsed) => parsed,
            Err(rejection) => {
                self.plan_call_refused(rejection.operation, rejection.class);
                return outcome(&call.id, CallStatus::Failed, rejection.text);
            }
        };
        match self.apply_plan(&parsed).await {
            Ok(text) => outcome(&call.id, CallStatus::Ok, parsed.reply(&text)),
            Err(text) => outcome(&call.id, CallStatus::Failed, text),
        }
    }

    async fn apply_plan(&mut self, parsed: &Parsed) -> Result<String, String> {
        self.sync_md().await;
        let import = self.import_of(&parsed.operation).await;
        let frozen = self.frozen_md().await;
        let applied = {
            let settings = self.settings();
            let fresh_id = uuid::Uuid::new_v4().to_string();
            let md_path = self
                .plans
                .target()
                .await
                .ok_or("the plan files cannot be reached")?;
            let max_chars = settings.plan.max_render_chars;
            let fits = move |plan: &Plan| {
                if context::fits(plan, max_chars) {
                    Ok(())
                } else {
                    Err(
                        "the checklist with its checks would not fit the context message; shorten \
                         titles, notes or checks"
                            .to_owned(),
                    )
                }
            };
            let render = |plan: &Plan| {
                context::plain(&context::snapshot(plan), max_chars).header
                    + "\n"
                    + &context::plain(&context::snapshot(plan), max_chars).body
            };
            let ctx = Context {
                now: chrono::Utc::now(),
                session: &self.record.id,
                fresh_id: &fresh_id,
                working_directory: Some(&self.record.workspace),
                md_path: &md_path,
                design_allowed: self.level() != ApprovalLevel::Yolo,
                max_tasks: settings.plan.max_tasks,
                md: frozen.as_deref(),
                import: import
                    .as_ref()
                    .map(|text| text.as_ref().map(String::as_str).map_err(String::as_str)),
                canonical: &|text| canonical::canonical(text).map_err(|why| why.to_string()),
                meaningful: &|command| meaningful::is_meaningful(command).is_ok(),
                fits: &fits,
                render: &render,
            };
            ops::apply(&self.plans.state, parsed.operation.clone(), &ctx)
        };
        let applied = match applied {
            Ok(applied) => applied,
            Err(refusal) => {
                self.plan_call_refused(Some(parsed.operation.name()), refusal.class);
                return Err(parsed.refusal(&refusal.text, refusal.class).text);
            }
        };
        self.store_applied(&applied).await?;
        self.set_goal(applied.goal).await;
        if applied.archive {
            self.archive_if_due().await;
        }
        self.show_plan_progress();
        Ok(applied.reply)
    }

    async fn store_applied(&mut self, applied: &ops::Applied) -> Result<(), String> {
        let Some(state) = &applied.state else {
            return Ok(());
        };
        let plan = match state {
            PlanState::Editing(editing) => (*editing.plan).clone(),
            PlanState::Active(plan) => (**plan).clone(),
            PlanState::NoPlan | PlanState::PreInit { .. } | PlanState::Corrupt { .. } => {
                return Err("the operation led to no plan".to_owned());
            }
        };
        self.plans
            .save(plan, applied.md.clone())
            .await
            .map_err(|fault| {
                warn!(error = %fault, "a plan was not saved");
                "the host could not save the plan; nothing was changed".to_owned()
            })?;
        self.plan_becomes(state.clone());
        Ok(())
    }

    async fn import_of(&self, operation: &Operation) -> Option<Result<String, String>> {
        let Operation::Init(Init::Import { path, .. }) = operation else {
            return None;
        };
        let path = path.clone();
        let read = tokio::task::spawn_blocking(move || read_import(&path))
            .await
            .ok()?;
        Some(read.map_err(|fault| fault.to_string()))
    }

    async fn frozen_md(&self) -> Option<String> {
        if self.plans.active().is_some_and(Plan::is_design) {
            return self
                .plans
                .with(|files| files.read_md().ok().flatten())
                .await
                .flatten();
        }
        None
    }

    /// A started task's criteria are the goal until it is done, skipped or discarded; durable at once.
    async fn set_goal(&mut self, goal: GoalChange) {
        let goal = match goal {
            GoalChange::Keep => return,
            GoalChange::Set { criteria, .. } => Some(criteria.join("; ")),
            GoalChange::Clear => None,
        };
        if self.record.goal != goal {
            self.record.goal = goal;
            self.save().await;
        }
    }

    /// Mirrors the `.md` into the record after anything that may have written it.
    pub(super) async fn sync_md(&mut self) {
        let PlanState::Editing(editing) = &self.plans.state else {
            return;
        };
        let mut plan = (*editing.plan).clone();
        let (now, epoch) = (chrono::Utc::now(), self.plans.epoch);
        let synced = self
            .plans
            .with(move |files| {
                files
                    .sync_md(&mut plan, now, epoch)
                    .map(|changed| (changed, plan))
            })
            .await;
        match synced {
            Some(Ok((true, plan))) => {
                info!(plan.id = plan.id, "plan_file_changed");
                if let PlanState::Editing(editing) = &mut self.plans.state {
                    editing.prose.clone_from(&plan.description);
                    *editing.plan = plan;
                }
                self.show_plan_progress();
            }
            Some(Ok((false, _))) | None => {}
            Some(Err(fault)) => warn!(error = %fault, "the plan's prose was not mirrored"),
        }
    }

    /// Records what a finished call means for the plan's evidence.
    pub(super) async fn observe(
        &mut self,
        call: &ToolCall,
        effects: Effects,
        result: &ToolOutcome,
        epoch: u64,
    ) {
        if effects == Effects::Write {
            self.sync_md().await;
        }
        let Some(plan) = self.plans.active() else {
            return;
        };
        let mut plan = plan.clone();
        let changes = evidence::observe(
            &mut plan,
            &Observation {
                call: &call.id,
                tool: &call.name,
                arguments: &call.arguments,
                effects,
                status: result.status,
                changed: result.changed,
                epoch,
            },
        );
        if !changes.changed {
            return;
        }
        plan.updated_at = chrono::Utc::now();
        if let Err(fault) = self.plans.save(plan.clone(), None).await {
            warn!(error = %fault, "evidence was not saved");
            return;
        }
        info!(
            settled = changes.settled.len(),
            staled = changes.staled,
            "evidence changed"
        );
        self.plan_becomes(PlanState::Active(Box::new(plan)));
        self.archive_if_due().await;
        self.show_plan_progress();
    }

    /// Moves a plan with nothing left to do or to prove into the archive.
    pub(super) async fn archive_if_due(&mut self) {
        let Some(plan) = self
            .plans
            .active()
            .filter(|plan| lifecycle::archive_due(plan))
        else {
            return;
        };
        let plan = plan.clone();
        let (now, epoch) = (chrono::Utc::now(), self.plans.epoch);
        let finished = Box::new(plan.clone());
        self.forget_plan_message().await;
        let archived = self
            .plans
            .with(move |files| files.archive(&plan, now, epoch))
            .await;
        match archived {
            Some(Ok(_)) => {
                info!(plan.id = finished.id, "the plan is done and archived");
                self.plans.state = PlanState::NoPlan;
                self.plans.finished = Some(finished);
                self.plans.cache.clear();
                self.set_goal(GoalChange::Clear).await;
            }
            Some(Err(PlanStoreError::Superseded { .. })) | None => {}
            Some(Err(fault)) => warn!(error = %fault, "a finished plan was not archived"),
        }
    }

    /// The error of a refused submission, which is corrected once.
    pub(super) fn refused_submission(
        &self,
        call: &ToolCall,
        result: &ToolOutcome,
        malformed: bool,
    ) -> Option<String> {
        let submits = super::plans::operation(call) == Some(PlanOperation::Submit)
            || (malformed
                && call.name == super::plans::TOOL
                && call.arguments.contains("\"submit\""));
        (submits && result.status == CallStatus::Failed)
            .then(|| result.content.chars().take(600).collect())
    }
}
