//! A server over scripted data on a free port.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use greenlight::domain::{CallId, ChatId, SessionId, TurnId, UserId};
use greenlight::http::{
    self, CallState, Events, EvidenceLine, EvidenceState, Face, FlowLine, Health, HttpParts,
    LineKind, LiveFlow, ModelUsage, PlanDetail, PlanStep, PlanSummary, Row, RowMark, SessionDetail,
    SessionPlan, SessionRow, Source, SourceError, StepStatus, Totals, UsageReport, WebhookIntake,
    Words,
};
use greenlight::store::{Store, StoreError};
use greenlight::telegram::durable::DurableError;
use reqwest::RequestBuilder;
use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(super) const TOKEN: &str = "panel-token";
pub(super) const SECRET: &str = "hook-secret";

pub(super) fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

/// Sessions "busy" (a checklist runs), "done" (a finished checklist) and "bare" (no plan).
#[derive(Debug, Default)]
pub(super) struct Scripted {
    pub(super) asked: AtomicUsize,
    pub(super) broken: AtomicBool,
}

fn step(id: &str, title: &str, status: StepStatus, note: &str) -> PlanStep {
    PlanStep {
        id: id.to_owned(),
        title: title.to_owned(),
        status,
        note: note.to_owned(),
    }
}

fn row(id: &str) -> SessionRow {
    SessionRow {
        id: SessionId::from(id),
        title: format!("Chat <b>{id}</b>"),
        chat_id: ChatId(-5),
        thread_id: None,
        running: id == "busy",
        turn: TurnId(3),
        queued: 0,
        model: "demo/sample".to_owned(),
        updated_at: noon(),
        plan: (id == "busy").then(|| PlanSummary {
            face: Face::Running,
            title: "Parser".to_owned(),
            done: 1,
            total: 2,
        }),
    }
}

fn evidence(what: &str, state: EvidenceState) -> EvidenceLine {
    EvidenceLine {
        what: what.to_owned(),
        state,
        note: String::new(),
        call: (state == EvidenceState::Passed).then(|| CallId::from("call-7")),
    }
}

fn plan() -> PlanDetail {
    let task = |id: &str, title: &str, mark, state| Row {
        id: id.to_owned(),
        title: title.to_owned(),
        mark,
        remark: String::new(),
        criteria: vec!["The tests pass".to_owned()],
        checks: vec![evidence("unit tests", state)],
    };
    PlanDetail {
        face: Face::Running,
        title: "Parser".to_owned(),
        version: 3,
        revision: "0123456789abcdef".to_owned(),
        done: 1,
        total: 2,
        blocked: 0,
        recheck: 0,
        approved_at: Some(noon()),
        approved_by: Some(UserId(1)),
        rows: vec![
            task("t1", "Read", RowMark::Completed, EvidenceState::Passed),
            task(
                "t2",
                "Write <script>alert(2)</script>",
                RowMark::InProgress,
                EvidenceState::Pending,
            ),
        ],
        verification: vec![evidence("cargo test", EvidenceState::Stale)],
        sections: Vec::new(),
        missing: Vec::new(),
    }
}

fn flow() -> LiveFlow {
    LiveFlow {
        running: true,
        elapsed_ms: 65_000,
        ended: String::new(),
        lines: vec![
            FlowLine {
                kind: LineKind::Narration,
                text: "I look at the parser first.".to_owned(),
                argument: String::new(),
                detail: String::new(),
                state: None,
                duration_ms: None,
            },
            FlowLine {
                kind: LineKind::Tool,
                text: "Reading".to_owned(),
                argument: "src/parser.rs".to_owned(),
                detail: "<img src=x onerror=alert(1)>".to_owned(),
                state: Some(CallState::Ok),
                duration_ms: Some(1200),
            },
        ],
        text: "Next comes the lexer".to_owned(),
        context_tokens: 3100,
        window_tokens: 128_000,
    }
}

impl Scripted {
    fn answer<T>(&self, make: impl FnOnce() -> Result<T, SourceError>) -> Result<T, SourceError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.broken.load(Ordering::SeqCst) {
            return Err(SourceError::Failed("disk /secret/path".to_owned()));
        }
        make()
    }

    fn known(session: &SessionId) -> Result<(), SourceError> {
        if ["busy", "done", "bare"].contains(&session.as_str()) {
            Ok(())
        } else {
            Err(SourceError::UnknownSession)
        }
    }
}

impl Source for Scripted {
    fn sessions(&self, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, SourceError>> {
        Box::pin(async move {
            self.answer(|| {
                Ok(["busy", "done", "bare"]
                    .map(row)
                    .into_iter()
                    .take(limit)
                    .collect())
            })
        })
    }

    fn plan(&self, session: SessionId) -> BoxFuture<'_, Result<Option<SessionPlan>, SourceError>> {
        Box::pin(async move {
            self.answer(|| {
                Self::known(&session)?;
                Ok(match session.as_str() {
                    "busy" => Some(SessionPlan {
                        version: 3,
                        steps: vec![
                            step("t1", "Read", StepStatus::Done, ""),
                            step("t2", "Write", StepStatus::InProgress, "half"),
                        ],
                    }),
                    "done" => Some(SessionPlan {
                        version: 9,
                        steps: Vec::new(),
                    }),
                    _ => None,
                })
            })
        })
    }

    fn detail(&self, session: SessionId) -> BoxFuture<'_, Result<SessionDetail, SourceError>> {
        Box::pin(async move {
            self.answer(|| {
                Self::known(&session)?;
                let busy = session.as_str() == "busy";
                Ok(SessionDetail {
                    session: row(session.as_str()),
                    flow: busy.then(flow),
                    plan: busy.then(plan),
                })
            })
        })
    }

    fn usage(&self) -> BoxFuture<'_, Result<UsageReport, SourceError>> {
        let totals = Totals {
            turns: 4,
            input_tokens: 12_345,
            ..Totals::default()
        };
        Box::pin(async move {
            self.answer(|| {
                Ok(UsageReport {
                    sessions: 3,
                    plans_created: 2,
                    today: totals,
                    models: vec![ModelUsage {
                        model: "demo/sample".to_owned(),
                        totals,
                    }],
                    ..UsageReport::default()
                })
            })
        })
    }
}

/// A webhook whose store can be slow or broken.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    pub(super) broken: AtomicBool,
    /// With a gate, accepting waits for it; `begun` tells that it waits.
    pub(super) gate: Mutex<Option<Arc<Notify>>>,
    pub(super) begun: mpsc::UnboundedSender<()>,
}

impl WebhookIntake for Hook {
    fn secret_matches(&self, secret: &[u8]) -> bool {
        secret == SECRET.as_bytes()
    }

    fn accept(&self, body: Vec<u8>) -> BoxFuture<'static, Result<(), DurableError>> {
        let broken = self.broken.load(Ordering::SeqCst);
        let gate = self.gate.lock().unwrap().clone();
        let (bodies, begun) = (Arc::clone(&self.bodies), self.begun.clone());
        Box::pin(async move {
            begun.send(()).ok();
            if let Some(gate) = gate {
                gate.notified().await;
            }
            if broken {
                return Err(StoreError::Database("full".to_owned()).into());
            }
            bodies.lock().unwrap().push(body);
            begun.send(()).ok();
            Ok(())
        })
    }
}

pub(super) struct World {
    pub(super) address: SocketAddr,
    pub(super) source: Arc<Scripted>,
    pub(super) events: Events,
    pub(super) store: Store,
    pub(super) hook: Arc<Hook>,
    pub(super) begun: mpsc::UnboundedReceiver<()>,
    pub(super) intake: Arc<AtomicBool>,
    pub(super) model: Arc<AtomicBool>,
    pub(super) cancel: CancellationToken,
    pub(super) server: JoinHandle<std::io::Result<()>>,
    http: reqwest::Client,
    _home: tempfile::TempDir,
}

impl World {
    pub(super) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(super) async fn with(change: impl FnOnce(&mut HttpParts)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).await.unwrap();
        let source = Arc::new(Scripted::default());
        let events = Events::new(noon());
        let (sender, begun) = mpsc::unbounded_channel();
        let hook = Arc::new(Hook {
            bodies: Arc::default(),
            broken: AtomicBool::new(false),
            gate: Mutex::default(),
            begun: sender,
        });
        let (intake, model) = (
            Arc::new(AtomicBool::new(true)),
            Arc::new(AtomicBool::new(true)),
        );
        let alive = |flag: &Arc<AtomicBool>| -> http::Alive {
            let flag = Arc::clone(flag);
            Arc::new(move || flag.load(Ordering::SeqCst))
        };
        let mut parts = HttpParts {
            source: source.clone(),
            events: events.clone(),
            health: Health::new(&store, alive(&intake), alive(&model)),
            store: store.clone(),
            metrics: Arc::new(|| "greenlight_turns_running 2\n".to_owned()),
            webhook: Some(hook.clone()),
            token: Some(SecretString::from(TOKEN)),
            hosts: Vec::new(),
            words: Words {
                translate: Arc::new(|language, key| greenlight::i18n::tr(language, key, &[])),
                languages: ["en", "ru", "ar"].map(str::to_owned).to_vec(),
                default: "en".to_owned(),
            },
        };
        change(&mut parts);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cancel = CancellationToken::new();
        let server = tokio::spawn(http::serve(listener, parts, cancel.clone()));
        Self {
            address,
            source,
            events,
            store,
            hook,
            begun,
            intake,
            model,
            cancel,
            server,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            _home: home,
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A request without the token.
    pub(super) fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(self.url(path))
    }

    /// A request with the token.
    pub(super) fn ask(&self, path: &str) -> RequestBuilder {
        self.get(path).bearer_auth(TOKEN)
    }

    pub(super) fn method(&self, method: &str, path: &str) -> RequestBuilder {
        self.http.request(method.parse().unwrap(), self.url(path))
    }

    pub(super) fn deliver(&self, body: &str) -> RequestBuilder {
        self.http
            .post(self.url("/telegram/hook"))
            .header("X-Telegram-Bot-Api-Secret-Token", SECRET)
            .body(body.to_owned())
    }
}

pub(super) async fn status(request: RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

pub(super) async fn json(request: RequestBuilder) -> serde_json::Value {
    request.send().await.unwrap().json().await.unwrap()
}
