//! The HTTP server's view of the program.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::{error, info};

use crate::domain::{Fault, SessionId};
use crate::http::{self, Events, Health, HttpParts, Source, SourceError, WebhookIntake, Words};
use crate::i18n::tr;
use crate::plan::model::{Plan, PlanState};
use crate::plan::view::{self, PlanView};
use crate::plan::{context, evidence, store::PlanFiles};
use crate::session::usage::Sums;
use crate::session::{Deps, SessionRecord, flow_record, record};
use crate::store::Table;
use crate::telegram::durable::DurableError;
use crate::telegram::listener::{Intake, PollState};

use super::metrics::{Levels, Metrics};

/// A completed poll older than this counts as dead.
const POLL_FRESH: i64 = 120;
/// Between two looks at levels.
const LEVELS_EVERY: Duration = Duration::from_secs(15);

/// Starts the server if an address is configured.
pub(super) async fn start(
    deps: &Arc<Deps>,
    intake: &Intake,
    metrics: Option<Metrics>,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    let settings = deps.settings();
    let Some(bind) = settings.http.bind else {
        return Ok(());
    };
    let listener = TcpListener::bind(bind).await.map_err(|fault| {
        Fault::user(
            "cli-http-bind",
            &[
                ("address", &bind.to_string()),
                ("reason", &fault.to_string()),
            ],
        )
    })?;
    let health = intake.health();
    let polls = Arc::new(move || {
        let health = *health.borrow();
        let fresh = health
            .last_ok
            .is_some_and(|at| chrono::Utc::now().timestamp() - at < POLL_FRESH);
        health.state == PollState::Webhook || (health.state == PollState::Polling && fresh)
    });
    let model_deps = Arc::clone(deps);
    let model = Arc::new(move || model_deps.board.model_answers());
    let webhook: Option<Arc<dyn WebhookIntake>> = settings
        .telegram
        .webhook
        .as_ref()
        .map(|_| Arc::new(Hook(intake.clone())) as Arc<dyn WebhookIntake>);
    let rendered = metrics.clone();
    let events = Events::new(chrono::Utc::now());
    tokio::spawn(super::plan_events::publish(
        Arc::clone(deps),
        events.clone(),
        cancel.clone(),
    ));
    let parts = HttpParts {
        source: Arc::new(View(Arc::clone(deps))),
        events,
        health: Health::new(&deps.store, polls, model),
        store: deps.store.clone(),
        metrics: Arc::new(move || rendered.as_ref().map(Metrics::render).unwrap_or_default()),
        webhook,
        token: settings.http.token.clone(),
        hosts: Vec::new(),
        words: Words {
            translate: Arc::new(|language, key| tr(language, key, &[])),
            languages: crate::i18n::languages(),
            default: settings.language.clone(),
        },
    };
    info!(address = %bind, "serving HTTP");
    let stop = cancel.clone();
    tokio::spawn(async move {
        if let Err(fault) = http::serve(listener, parts, stop).await {
            error!(error = %fault, "the HTTP server has stopped");
        }
    });
    if let Some(metrics) = metrics {
        tokio::spawn(async move { metrics.upkeep(CancellationToken::new()).await });
        tokio::spawn(levels(Arc::clone(deps), cancel.clone()));
    }
    Ok(())
}

async fn levels(deps: Arc<Deps>, cancel: CancellationToken) {
    let mut every = tokio::time::interval(LEVELS_EVERY);
    while cancel.run_until_cancelled(every.tick()).await.is_some() {
        let count = async |table| {
            let rows = deps.store.scan::<serde::de::IgnoredAny>(table, b"").await;
            rows.map_or(0, |rows| rows.len() as u64)
        };
        Levels {
            sessions: count(Table::Sessions).await,
            turns_running: deps.board.turns() as u64,
            inbox_open: count(Table::Inbox).await,
            dead_letters: count(Table::DeadLetters).await,
            store_bytes: deps.store.size_on_disk().await.unwrap_or(0),
        }
        .report();
    }
}

/// Webhook calls go where polls go.
struct Hook(Intake);

impl WebhookIntake for Hook {
    fn secret_matches(&self, header: &[u8]) -> bool {
        self.0.secret_matches(header)
    }

    fn accept(&self, body: Vec<u8>) -> BoxFuture<'static, Result<(), DurableError>> {
        let intake = self.0.clone();
        async move { intake.accept(&body).await }.boxed()
    }
}

/// Read-only views over the store and the plan files.
struct View(Arc<Deps>);

impl View {
    async fn records(&self) -> Result<Vec<SessionRecord>, SourceError> {
        let rows = self.0.store.scan(Table::Sessions, b"").await?;
        let mut records: Vec<SessionRecord> = rows.into_iter().map(|(_, record)| record).collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.used_at));
        Ok(records)
    }

    async fn record(&self, session: &SessionId) -> Result<SessionRecord, SourceError> {
        let records = self.records().await?;
        records
            .into_iter()
            .find(|record| record.id == *session)
            .ok_or(SourceError::UnknownSession)
    }

    async fn plan_state(&self, record: &SessionRecord) -> PlanState {
        let dir = self.0.plan_dir(&record.workspace);
        let session = record.id.clone();
        let legacy = self.0.settings().plan.legacy_dirs.clone();
        let state = tokio::task::spawn_blocking(move || {
            PlanFiles::new(&dir, &session, &legacy).map(|files| files.peek())
        });
        match state.await {
            Ok(Ok(state)) => state,
            Ok(Err(_)) | Err(_) => PlanState::NoPlan,
        }
    }

    fn plan_view(&self, record: &SessionRecord, state: &PlanState) -> Option<PlanView> {
        let running = self.0.board.is_running(&record.id);
        let language = self.language(record);
        let most = self.0.settings().plan.max_tasks;
        view::build(state, running, most, &|key, arguments| {
            tr(&language, key, arguments)
        })
    }

    fn language(&self, record: &SessionRecord) -> String {
        record
            .language
            .clone()
            .or_else(|| record.client_language.clone())
            .unwrap_or_else(|| self.0.settings().language.clone())
    }

    async fn row(&self, record: &SessionRecord) -> Result<http::SessionRow, SourceError> {
        let prefix = record::session_prefix(&record.id);
        let queued = self
            .0
            .store
            .scan::<serde::de::IgnoredAny>(Table::Queue, &prefix)
            .await?
            .len();
        let state = self.plan_state(record).await;
        let plan = self
            .plan_view(record, &state)
            .map(|view| http::PlanSummary {
                face: convert(&view.face).unwrap_or(http::Face::Corrupt),
                title: view.title,
                done: view.done,
                total: view.total,
            });
        Ok(http::SessionRow {
            id: record.id.clone(),
            title: record.key.chat.to_string(),
            chat_id: record.key.chat,
            thread_id: record.key.thread,
            running: self.0.board.is_running(&record.id),
            turn: record.turn,
            queued,
            model: self
                .0
                .models
                .get(record.model)
                .map_or_else(String::new, |model| model.name()),
            updated_at: record.used_at,
            plan,
        })
    }
}

impl Source for View {
    fn sessions(&self, limit: usize) -> BoxFuture<'_, Result<Vec<http::SessionRow>, SourceError>> {
        async move {
            let mut rows = Vec::new();
            for record in self.records().await?.iter().take(limit) {
                rows.push(self.row(record).await?);
            }
            Ok(rows)
        }
        .boxed()
    }

    fn plan(
        &self,
        session: SessionId,
    ) -> BoxFuture<'_, Result<Option<http::SessionPlan>, SourceError>> {
        async move {
            let record = self.record(&session).await?;
            Ok(match self.plan_state(&record).await {
                PlanState::Active(plan) if !plan.tasks.is_empty() => Some(session_plan(&plan)),
                PlanState::Active(_)
                | PlanState::NoPlan
                | PlanState::PreInit { .. }
                | PlanState::Editing(_)
                | PlanState::Corrupt { .. } => None,
            })
        }
        .boxed()
    }

    fn detail(
        &self,
        session: SessionId,
    ) -> BoxFuture<'_, Result<http::SessionDetail, SourceError>> {
        async move {
            let record = self.record(&session).await?;
            let state = self.plan_state(&record).await;
            let language = self.language(&record);
            let plan = self
                .plan_view(&record, &state)
                .map(|view| plan_detail(&state, view, &language));
            let running = self.0.board.is_running(&record.id);
            let flow = flow_record::load(&self.0.store, record.key)
                .await?
                .map(|flow| super::panel_flow::live(&flow, running, &language));
            Ok(http::SessionDetail {
                session: self.row(&record).await?,
                flow,
                plan,
            })
        }
        .boxed()
    }

    fn usage(&self) -> BoxFuture<'_, Result<http::UsageReport, SourceError>> {
        async move {
            let pages = self.0.usage.read();
            let [plans_created, plans_updated, plans_blocked] = pages.plans;
            Ok(http::UsageReport {
                sessions: self.records().await?.len(),
                running: self.0.board.turns(),
                lifetime: totals(pages.lifetime),
                today: totals(pages.today),
                day_tokens: self.0.settings().budgets.day_tokens,
                plans_created,
                plans_updated,
                plans_blocked,
                models: pages
                    .models
                    .into_iter()
                    .map(|(model, sums)| http::ModelUsage {
                        model,
                        totals: totals(sums),
                    })
                    .collect(),
            })
        }
        .boxed()
    }
}

fn totals(sums: Sums) -> http::Totals {
    http::Totals {
        turns: sums.turns,
        requests: sums.requests,
        tool_calls: sums.tool_calls,
        input_tokens: sums.input,
        cached_tokens: sums.cached,
        output_tokens: sums.output,
    }
}

fn session_plan(plan: &Plan) -> http::SessionPlan {
    let steps = context::snapshot(plan)
        .steps
        .into_iter()
        .zip(&plan.tasks)
        .map(|(step, task)| http::PlanStep {
            id: step.id,
            title: step.title,
            status: match &task.status {
                _ if evidence::is_done(task) => http::StepStatus::Done,
                crate::plan::model::TaskStatus::Pending => http::StepStatus::Pending,
                crate::plan::model::TaskStatus::Failed
                | crate::plan::model::TaskStatus::Blocked { .. } => http::StepStatus::Blocked,
                crate::plan::model::TaskStatus::InProgress
                | crate::plan::model::TaskStatus::Completed
                | crate::plan::model::TaskStatus::Skipped => http::StepStatus::InProgress,
            },
            note: step.note,
        })
        .collect();
    http::SessionPlan {
        version: plan.version,
        steps,
    }
}

fn plan_detail(state: &PlanState, view: PlanView, language: &str) -> http::PlanDetail {
    let plan = state.plan();
    let evidence_of = |id: &str| {
        let task = plan.and_then(|plan| plan.task(id));
        let checks = task.map(|task| {
            task.checks
                .iter()
                .map(|check| evidence_line(&check.description, &check.evidence))
                .collect()
        });
        let criteria = task.map(|task| task.acceptance_criteria.clone());
        (criteria.unwrap_or_default(), checks.unwrap_or_default())
    };
    let rows = view
        .rows
        .into_iter()
        .map(|row| {
            let (criteria, checks) = evidence_of(&row.id);
            http::Row {
                mark: convert(&row.mark).unwrap_or(http::RowMark::Pending),
                id: row.id,
                title: row.title,
                remark: row.remark,
                criteria,
                checks,
            }
        })
        .collect();
    http::PlanDetail {
        face: convert(&view.face).unwrap_or(http::Face::Corrupt),
        title: view.title,
        version: view.version,
        revision: view.revision,
        done: view.done,
        total: view.total,
        blocked: view.blocked,
        recheck: view.recheck,
        approved_at: plan.and_then(|plan| plan.approved_at),
        approved_by: plan.and_then(|plan| plan.approved_by),
        rows,
        verification: plan
            .map(|plan| {
                plan.verification
                    .iter()
                    .map(|item| evidence_line(&item.command, &item.evidence))
                    .collect()
            })
            .unwrap_or_default(),
        sections: view
            .sections
            .into_iter()
            .map(|section| http::ProseSection {
                heading: section.heading,
                body: section.body,
            })
            .collect(),
        missing: view
            .missing
            .iter()
            .map(|key| tr(language, key, &[]))
            .collect(),
    }
}

fn evidence_line(what: &str, seen: &crate::plan::model::Evidence) -> http::EvidenceLine {
    use crate::plan::model::Evidence;
    let (state, note, call) = match seen {
        Evidence::Pending => (http::EvidenceState::Pending, "", None),
        Evidence::Passed { call } => (http::EvidenceState::Passed, "", Some(call.clone())),
        Evidence::Failed { call } => (http::EvidenceState::Failed, "", Some(call.clone())),
        Evidence::Stale { .. } => (http::EvidenceState::Stale, "", None),
        Evidence::Blocked { reason } => (http::EvidenceState::Blocked, reason.as_str(), None),
        Evidence::Attested { note } => (http::EvidenceState::Attested, note.as_str(), None),
    };
    http::EvidenceLine {
        what: what.to_owned(),
        state,
        note: note.to_owned(),
        call,
    }
}

/// The same word in the interface's own type; both sides spell it alike.
fn convert<A: Serialize, B: DeserializeOwned>(word: &A) -> Option<B> {
    serde_json::to_value(word)
        .ok()
        .and_then(|word| serde_json::from_value(word).ok())
}
