//! Planning as the session sees it: the state of its plan files, and what a model and people are told
//! of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracing::{info, warn};

use crate::agent::PlanFacts;
use crate::domain::{
    ActionClass, ApprovalLevel, Effects, EndReason, Role, ToolCall, ToolSpec, TurnId, UserMessage,
};
use crate::plan::context::ContextCache;
use crate::plan::gate::{Phase, PlanOperation};
use crate::plan::lifecycle::{self, Birth, Refusal};
use crate::plan::model::{Plan, PlanState, PreInitOrigin};
use crate::plan::store::{PlanFiles, PlanStoreError};
use crate::plan::view::{self, PlanView};
use crate::plan::{evidence, reminder, template, tool};
use crate::tools::{Card, CardKind, Inspection, Place, Unfit};

use super::actor::{Actor, Running};
use super::deps::Deps;
use super::record::SessionRecord;

/// Name of the plan tool.
pub(super) const TOOL: &str = evidence::PLAN_TOOL;
/// What a submission is told that came together with other calls.
pub(super) const ALONE: &str = "not executed: a submission must be the only call of its reply. The other \
     calls ran; send the submission again by itself.";

/// A session's plan files and their state as of the last change.
pub(super) struct Plans {
    files: Option<Arc<PlanFiles>>,
    pub(super) state: PlanState,
    pub(super) cache: ContextCache,
    pub(super) epoch: TurnId,
    /// The plan that this turn finished; its last checklist stays on the turn's flow message.
    pub(super) finished: Option<Box<Plan>>,
    /// The message that is kept for the case that the file gets lost.
    pub(super) kept: Option<String>,
    enabled: bool,
}

impl Plans {
    pub(super) fn open(deps: &Deps, record: &SessionRecord) -> Self {
        let settings = deps.settings();
        let files = PlanFiles::new(
            &deps.plan_dir(&record.workspace),
            &record.id,
            &settings.plan.legacy_dirs,
        );
        Self {
            files: files.ok().map(Arc::new),
            state: PlanState::NoPlan,
            cache: ContextCache::default(),
            epoch: record.turn,
            finished: None,
            kept: None,
            enabled: settings.plan.enabled,
        }
    }

    /// The plans of the same conversation after its session or project changed.
    pub(super) fn of(&self, deps: &Deps, record: &SessionRecord) -> Self {
        if let Some(files) = &self.files {
            files.fence(self.epoch);
        }
        Self::open(deps, record)
    }

    /// From here on only this turn may save.
    pub(super) fn set_epoch(&mut self, turn: TurnId) {
        self.epoch = turn;
        self.finished = None;
        if let Some(files) = &self.files {
            files.begin(turn);
        }
    }

    pub(super) fn active(&self) -> Option<&Plan> {
        match &self.state {
            PlanState::Active(plan) => Some(plan),
            PlanState::NoPlan
            | PlanState::PreInit { .. }
            | PlanState::Editing(_)
            | PlanState::Corrupt { .. } => None,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        if self.enabled {
            lifecycle::phase(&self.state)
        } else {
            Phase::NoPlan
        }
    }

    pub(super) fn is_preinit(&self) -> bool {
        matches!(self.state, PlanState::PreInit { .. })
    }

    /// The `.md` that a tool may see; its path is given for writing only to a call that may write it.
    pub(super) fn md_path(&self, _may_write: bool) -> Option<PathBuf> {
        match &self.state {
            PlanState::Editing(editing) => Some(editing.md_path.clone()),
            PlanState::Active(plan) if plan.is_design() => {
                self.files.as_ref().map(|files| files.md_path())
            }
            PlanState::Active(_)
            | PlanState::NoPlan
            | PlanState::PreInit { .. }
            | PlanState::Corrupt { .. } => None,
        }
    }

    pub(super) fn is_md(&self, path: &Path) -> bool {
        self.files
            .as_ref()
            .is_some_and(|files| files.is_plan_md(path))
    }

    /// Id and revision of the prose on disk, which `/execute` approves.
    pub(super) fn shown(&self) -> (String, String) {
        match &self.state {
            PlanState::Editing(editing) => {
                (editing.plan.id.clone(), template::revision(&editing.prose))
            }
            PlanState::Active(plan) => (plan.id.clone(), plan.revision.clone()),
            PlanState::NoPlan | PlanState::PreInit { .. } | PlanState::Corrupt { .. } => {
                (String::new(), String::new())
            }
        }
    }

    /// Where the `.md` is or would be.
    pub(super) async fn target(&self) -> Option<PathBuf> {
        self.with(|files| files.md_path()).await
    }

    /// Runs blocking work on the files off the runtime.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&PlanFiles) -> T + Send + 'static,
    ) -> Option<T> {
        let files = Arc::clone(self.files.as_ref()?);
        tokio::task::spawn_blocking(move || work(&files)).await.ok()
    }

    /// Saves the state's record, and prose if there is any new.
    pub(super) async fn save(&self, plan: Plan, md: Option<String>) -> Result<(), PlanStoreError> {
        let epoch = self.epoch;
        self.with(move |files| files.save(&plan, md.as_deref(), epoch))
            .await
            .unwrap_or(Err(PlanStoreError::BadSession))
    }
}

/// The plan tool as the model sees it.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: TOOL.to_owned(),
        description: tool::DESCRIPTION.to_owned(),
        schema: tool::schema(),
    }
}

/// What is known of a plan call before it runs. Malformed calls are answered by the tool itself.
pub(super) fn inspect(call: &ToolCall, place: &Place) -> Result<Inspection, Unfit> {
    let (argument, text) = match tool::parse(&call.arguments) {
        Ok(parsed) => (
            parsed.operation.name().to_owned(),
            super::plan_tool::card_lines(&parsed.operation),
        ),
        Err(rejection) => return Err(Unfit::Malformed(rejection.text)),
    };
    Ok(Inspection {
        effects: Effects::Plan,
        class: ActionClass::Plan,
        argument,
        targets: Vec::new(),
        card: Card {
            tool: TOOL.to_owned(),
            kind: CardKind::Arguments,
            text,
            cwd: place.workspace.clone(),
        },
    })
}

/// The operation of a plan call, for the gate.
pub(super) fn operation(call: &ToolCall) -> Option<PlanOperation> {
    if call.name != TOOL {
        return None;
    }
    tool::parse(&call.arguments)
        .ok()
        .map(|parsed| parsed.operation.gate_kind())
}

impl Actor {
    /// Reads the plan files at a turn boundary.
    pub(super) async fn load_plan(&mut self) {
        self.narrow().await;
        self.plans.enabled = self.settings().plan.enabled;
        if !self.plans.enabled {
            // Files of a live plan stay as they are until planning is on again.
            self.plans.state = PlanState::NoPlan;
            return;
        }
        let now = chrono::Utc::now();
        if let Some(state) = self.plans.with(move |files| files.load(now)).await {
            self.plans.state = state;
        }
        self.restore_lost_plan().await;
    }

    /// After a start no evidence counts as fresh.
    pub(super) async fn restore_evidence(&mut self) {
        let PlanState::Active(plan) = &self.plans.state else {
            return;
        };
        let mut plan = (**plan).clone();
        if !evidence::restored(&mut plan).changed {
            return;
        }
        plan.updated_at = chrono::Utc::now();
        match self.plans.save(plan.clone(), None).await {
            Ok(()) => self.plans.state = PlanState::Active(Box::new(plan)),
            Err(fault) => warn!(error = %fault, "restored evidence was not saved"),
        }
    }

    fn birth(&self) -> Birth {
        Birth {
            id: uuid::Uuid::new_v4().to_string(),
            session: self.record.id.clone(),
            now: chrono::Utc::now(),
            working_directory: Some(self.record.workspace.clone()),
        }
    }

    /// Turns plan mode on, durably. The error is a locale key.
    pub(super) async fn pre_init(&mut self, origin: PreInitOrigin) -> Result<(), &'static str> {
        let design = self.level() != ApprovalLevel::Yolo;
        let plan = lifecycle::pre_init(&self.plans.state, origin, self.birth(), design)
            .map_err(|refusal| refusal.key())?;
        if let Some(plan) = plan {
            if let Err(fault) = self.plans.save(plan, None).await {
                warn!(error = %fault, "plan mode was not saved");
                return Err("plan-save-failed");
            }
            info!(origin = ?origin, "plan mode is on");
        }
        self.load_plan().await;
        Ok(())
    }

    pub(super) async fn pre_init_by_nudge(&mut self) {
        if !self.settings().plan.enabled || self.level() == ApprovalLevel::Yolo {
            return;
        }
        if let Err(key) = self.pre_init(PreInitOrigin::Nudge).await {
            warn!(key, "a plan phrase did not set plan mode");
        }
    }

    /// Ends mere plan mode without a word.
    pub(super) async fn forget_plan_mode(&mut self) {
        if self.plans.is_preinit() {
            let now = chrono::Utc::now();
            self.plans.with(move |files| files.discard(now)).await;
            self.plans.state = PlanState::NoPlan;
        }
    }

    /// The protected message of this request: the checklist, or a reminder of where planning stands.
    pub(super) async fn plan_message(&mut self) -> Option<String> {
        let settings = self.settings();
        if !settings.plan.enabled {
            return None;
        }
        let nonce = self.deps.nonce.clone();
        let wrap = move |body: &str| {
            crate::text::untrusted::wrap(&nonce, crate::plan::context::SOURCE, body)
        };
        if let PlanState::Active(plan) = &self.plans.state
            && !plan.tasks.is_empty()
        {
            let limit = settings.plan.max_render_chars;
            let message = self.plans.cache.message(plan, limit, &wrap);
            self.keep_plan_message(&message).await;
            return Some(message);
        }
        let path = self.plans.target().await?;
        let missing = self.missing_english();
        let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
        reminder::reminder(&self.plans.state, &path, &missing)
    }

    fn missing_english(&self) -> Vec<String> {
        let PlanState::Editing(editing) = &self.plans.state else {
            return Vec::new();
        };
        template::missing(&editing.prose, self.settings().plan.max_tasks)
            .iter()
            .map(|item| item.english().to_owned())
            .collect()
    }

    /// A summary with what must not get lost in it: the plan stands first, because the end may be cut.
    pub(super) async fn whole_digest(&self, summary: &str) -> String {
        let plan = self.digest_plan().await;
        let recovery = reminder::recovery(&self.plans.state).unwrap_or_default();
        let parts = [plan.as_str(), recovery.as_str(), summary];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }

    /// The plan's part of a digest: state, path, next step and remaining titles.
    pub(super) async fn digest_plan(&self) -> String {
        let path = self.plans.md_path(false);
        match reminder::digest(&self.plans.state, path.as_deref()) {
            Some(digest) if digest.remaining.is_empty() => digest.trusted,
            Some(digest) => {
                let rest = self
                    .deps
                    .untrusted(crate::plan::context::SOURCE, &digest.remaining);
                format!("{}\nRemaining tasks:\n{rest}", digest.trusted)
            }
            None => String::new(),
        }
    }

    /// Where the plan stands when a reply is judged.
    pub(super) async fn plan_facts(&mut self) -> PlanFacts {
        let settings = self.settings();
        if !settings.plan.enabled {
            return PlanFacts::default();
        }
        self.sync_md().await;
        match &self.plans.state {
            PlanState::Editing(editing) => {
                let missing = template::missing(&editing.prose, settings.plan.max_tasks);
                PlanFacts {
                    editing_missing: Some(
                        missing
                            .iter()
                            .map(|item| item.english().to_owned())
                            .collect(),
                    ),
                    missing_keys: missing.iter().map(|item| item.key().to_owned()).collect(),
                    ..PlanFacts::default()
                }
            }
            PlanState::Active(plan) => {
                let open: Vec<String> = plan
                    .tasks
                    .iter()
                    .filter(|task| !task.is_resolved())
                    .map(|task| task.title.clone())
                    .collect();
                let owed = if open.is_empty() && !plan.tasks.is_empty() {
                    plan.verification
                        .iter()
                        .filter(|item| !evidence::is_fresh(&item.evidence))
                        .map(|item| item.command.clone())
                        .collect()
                } else {
                    Vec::new()
                };
                PlanFacts {
                    nudge: reminder::completion_nudge(plan),
                    open_tasks: open,
                    verification_owed: owed,
                    unfinished_targets: self.unfinished_targets(plan),
                    ..PlanFacts::default()
                }
            }
            PlanState::NoPlan | PlanState::PreInit { .. } | PlanState::Corrupt { .. } => {
                PlanFacts::default()
            }
        }
    }

    /// The read model for people.
    pub(super) fn plan_view(&self, running: bool) -> Option<PlanView> {
        let settings = self.settings();
        if !settings.plan.enabled {
            return None;
        }
        let language = self.language();
        let say =
            move |key: &str, arguments: &[(&str, &str)]| crate::i18n::tr(&language, key, arguments);
        let mut view = view::build(&self.plans.state, running, settings.plan.max_tasks, &say)?;
        if view.goal.is_none() {
            view.goal.clone_from(&self.record.goal);
        }
        Some(view)
    }

    /// What a turn's flow message shows: the live plan, else the one that the turn has finished.
    pub(super) fn turn_view(&self, running: bool) -> Option<PlanView> {
        self.plan_view(running).or_else(|| {
            let language = self.language();
            let say = move |key: &str, arguments: &[(&str, &str)]| {
                crate::i18n::tr(&language, key, arguments)
            };
            let plan = self.plans.finished.as_ref()?;
            Some(view::finished(plan, &say))
        })
    }

    /// The state of planning in a few words.
    pub(super) fn plan_words(&self) -> String {
        let most = self.settings().plan.max_tasks;
        let face = lifecycle::face(&self.plans.state, self.is_busy(), most);
        let key = match face {
            Some(face) => crate::flow::face_key(face).unwrap_or("plan-running"),
            None => "plan-none",
        };
        self.tr(key, &[])
    }

    /// Shows the plan as it is now in the running turn's flow message.
    pub(super) fn show_plan_progress(&self) {
        if let Some(running) = &self.running {
            running.flow.plan(self.turn_view(true));
        }
    }

    /// A reply to the plan's card while Editing is a comment on the plan, passed on verbatim.
    pub(super) fn comment_on_plan(&self, message: &UserMessage) -> Option<String> {
        let quote = message.quote.as_ref().filter(|quote| quote.from_bot)?;
        let editing = matches!(self.plans.state, PlanState::Editing(_));
        if !editing || message.sender.role != Role::Owner || self.card != Some(quote.message) {
            return None;
        }
        Some(format!(
            "Comment of the owner on the session plan, verbatim (a reply to the plan's card; it \
             approves nothing):\n{}",
            message.text
        ))
    }

    /// Keeps the owner's comment for the approval that may follow it.
    pub(super) fn remember_comment(&mut self, message: &UserMessage) {
        if self.comment_on_plan(message).is_some() {
            self.comment = Some((self.plans.shown().1, message.text.clone()));
        }
    }

    /// What a command says over a live or unreadable plan.
    pub(super) fn live_plan_key(&self) -> Option<&'static str> {
        match &self.plans.state {
            PlanState::Editing(_) => Some("plan-live-editing"),
            PlanState::Active(_) => Some("plan-live-active"),
            PlanState::Corrupt { .. } => Some("plan-corrupt"),
            PlanState::NoPlan | PlanState::PreInit { .. } => None,
        }
    }

    /// A refusal as a sentence, with the names of what is missing.
    pub(super) fn refusal_text(&self, refusal: &Refusal) -> String {
        let mut items = String::new();
        if let Refusal::Incomplete(missing) = refusal {
            let names: Vec<_> = missing
                .iter()
                .map(|item| self.tr(item.key(), &[]))
                .collect();
            items = names.join(", ");
        }
        self.tr(refusal.key(), &[("items", &items)])
    }

    /// The turn is over: the prose is mirrored and a finished plan leaves for the archive.
    pub(super) async fn turn_over(&mut self, _running: &Running, reason: &EndReason) {
        if *reason == EndReason::Interrupted || !self.settings().plan.enabled {
            return;
        }
        self.sync_md().await;
        self.keep_revision().await;
        self.archive_if_due().await;
    }
}
