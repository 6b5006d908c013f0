//! The bot put together: store, Telegram, models, tools, sessions; and its life from start to stop.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::config::{self, Adapter, ModelSettings, Settings};
use crate::domain::Fault;
use crate::llm::{self, Model};
use crate::playground::demo::Demo;
use crate::session::access::StoreMemory;
use crate::session::board::Board;
use crate::session::flow_task::Reposts;
use crate::session::inbox::StoreInbox;
use crate::session::journal::StoreJournal;
use crate::session::usage::UsageBook;
use crate::session::{Answered, Deps, PlanEvent, Sessions};
use crate::store::Store;
use crate::telegram::api::{ApiClient, Lane};
use crate::telegram::dispatch::{self, Context, Lanes, Setup};
use crate::telegram::listener::{self, Fed, Intake};
use crate::telegram::outbox::{Outbox, OutboxParts};
use crate::text::redact::Redactor;
use crate::text::{inbound, untrusted};
use crate::tools::{Toolbox, ToolboxOptions};

use super::route::Router;
use super::signals::Signals;

/// Updates that may wait between the inbox and the dispatcher.
const FEED: usize = 1024;
/// Events that a slow watcher may be behind.
const EVENTS: usize = 256;
/// Deliveries that may wait in each lane.
const LANES: usize = 1024;
/// How long sessions may take to put their turns down.
const DRAIN: Duration = Duration::from_secs(4);
/// How long the last call to confirm updates may take.
const LAST_POLL: Duration = Duration::from_secs(2);
/// A data directory written to within this time was in use just now.
const USED_LATELY: Duration = Duration::from_secs(5);
/// Time between two looks at whether a backup is due.
const BACKUP_EVERY: Duration = Duration::from_secs(3600);

/// Seconds for which it is known that a message was sent.
const LEDGER_SECONDS: i64 = 7 * 24 * 3600;

/// Parts that stand in for the configured ones, where the bot lives inside another program.
#[derive(Clone, Default)]
pub struct Parts {
    /// Models, the first one first; `None` for the configured ones.
    pub models: Option<Vec<Arc<dyn Model>>>,
    /// Program that confines commands; `None` for the running one, which is wrong inside another
    /// program.
    pub helper: Option<PathBuf>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts")
            .field("helper", &self.helper)
            .finish_non_exhaustive()
    }
}

/// A running bot.
#[derive(Debug)]
pub struct Bot {
    cancel: CancellationToken,
    store: Store,
    router: JoinHandle<usize>,
    intake: JoinHandle<()>,
    deps: Arc<Deps>,
    context: Arc<Context>,
}

impl Bot {
    /// Starts everything; returns once updates are asked for.
    ///
    /// # Errors
    /// A fault to be told on the terminal: the data directory, the token, the model.
    pub async fn start(settings: Settings, redactor: Arc<Redactor>) -> Result<Self, Fault> {
        Self::start_with(settings, redactor, Parts::default()).await
    }

    /// Like [`Self::start`], with some parts from the caller.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(
        settings: Settings,
        redactor: Arc<Redactor>,
        parts: Parts,
    ) -> Result<Self, Fault> {
        let token = settings
            .telegram
            .token
            .clone()
            .ok_or_else(|| Fault::user("config-no-token", &[]))?;
        let cancel = CancellationToken::new();
        let used_before = used_lately(&settings.home);
        let store = Store::open(&settings.home)
            .await
            .map_err(|fault| fault.fault())?;
        let api_url = settings.telegram.api_url.clone();
        let polling = ApiClient::new(&api_url, &token, Lane::Poll)?;
        let sending = ApiClient::new(&api_url, &token, Lane::Send)?;
        let bot = polling.bot_id();
        let now = chrono::Utc::now().timestamp();
        let inbox = StoreInbox::open(store.clone(), bot, now)
            .await
            .map_err(|fault| fault.fault())?;
        let (feed, fed) = mpsc::channel::<Fed>(FEED);
        let secret = settings
            .telegram
            .webhook
            .as_ref()
            .map(|hook| hook.secret.clone());
        let intake = Intake::new(Arc::new(inbox.clone()), feed.clone(), secret);
        let me = listener::who_am_i(&polling, &cancel)
            .await
            .map_err(|_| Fault::user("cli-telegram-refused", &[]))?;
        info!(bot.username = me.username, "signed in");
        let username = me.username.clone();
        let (memory, known) = StoreMemory::load(store.clone(), now)
            .await
            .map_err(|fault| fault.fault())?;
        let (context, lanes) = Context::start(Setup {
            me,
            settings: (*settings.telegram).clone(),
            language: settings.language.clone(),
            memory: Arc::new(memory),
            known,
            inbox: Arc::new(inbox.clone()),
            feed,
            to_markdown: inbound::to_markdown,
            capacity: LANES,
        });
        let outbox = Outbox::start(OutboxParts {
            wire: Arc::new(sending.clone()),
            journal: Arc::new(StoreJournal::new(store.clone())),
            limits: settings.telegram.limits,
            link_previews: settings.telegram.link_previews,
            used_before,
            language: settings.language.clone(),
        });
        let deps = Arc::new(Deps {
            models: match parts.models {
                Some(models) => models,
                None => models(&settings)?,
            },
            toolbox: toolbox(&settings, &redactor, parts.helper)?,
            settings: RwLock::new(Arc::new(settings)),
            store: store.clone(),
            outbox,
            inbox,
            api: sending,
            redactor,
            reposts: Arc::new(Reposts::default()),
            answered: Answered::default(),
            events: broadcast::channel(EVENTS).0,
            usage: UsageBook::open(&store)
                .await
                .map_err(|fault| fault.fault())?,
            board: Board::default(),
            nonce: uuid::Uuid::new_v4().simple().to_string(),
            username,
        });
        let metrics = super::metrics::install();
        super::http::start(&deps, &intake, metrics.ok(), &cancel).await?;
        Self::launch(deps, context, polling, intake, fed, lanes, cancel).await
    }

    async fn launch(
        deps: Arc<Deps>,
        context: Arc<Context>,
        polling: ApiClient,
        intake: Intake,
        fed: mpsc::Receiver<Fed>,
        lanes: Lanes,
        cancel: CancellationToken,
    ) -> Result<Self, Fault> {
        warm_up(&deps);
        let store = deps.store.clone();
        let sessions = Sessions::wake(Arc::clone(&deps))
            .await
            .map_err(|fault| fault.fault())?;
        let router = Router::new(sessions, Arc::clone(&deps), Arc::clone(&context));
        let router = tokio::spawn(router.run(lanes, cancel.clone(), DRAIN));
        tokio::spawn(dispatch::run(
            polling.clone(),
            Arc::clone(&context),
            fed,
            cancel.clone(),
        ));
        super::report::tell_owner(&deps, &context);
        let reopened = intake.reopen().await.map_err(|fault| fault.fault)?;
        if reopened > 0 {
            info!(updates = reopened, "open updates are handled again");
        }
        let settings = deps.settings();
        let language = settings.language.clone();
        let (api, stop) = (polling.clone(), cancel.clone());
        let webhook = settings.telegram.webhook.clone();
        let intake = tokio::spawn(async move {
            let known = crate::i18n::languages();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let menus = listener::register_commands(&api, &language, &known);
            let updates = async {
                match webhook {
                    Some(hook) => {
                        if let Err(fault) =
                            listener::set_webhook(&api, &hook.url, &hook.secret).await
                        {
                            error!(error = %fault, "the webhook could not be set");
                        }
                        stop.cancelled().await;
                    }
                    None => {
                        if let Err(fault) = listener::poll(api.clone(), intake, stop.clone()).await
                        {
                            error!(key = fault.key, "polling has stopped");
                            stop.cancel();
                        }
                    }
                }
            };
            tokio::join!(menus, updates);
        });
        tokio::spawn(backups(store.clone(), cancel.clone()));
        Ok(Self {
            cancel,
            store,
            router,
            intake,
            deps,
            context,
        })
    }

    /// The one-time code by which an owner is claimed, while there is none.
    #[must_use]
    pub fn claim_code(&self) -> Option<String> {
        self.context.offer_claim()
    }

    /// What happens to plans from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<PlanEvent> {
        self.deps.events.subscribe()
    }

    /// Ends when the bot cannot go on by itself, such as when its token is refused.
    pub async fn stopped(&self) {
        self.cancel.cancelled().await;
    }

    /// Puts new settings in force where that is safe; logs what needs a restart.
    pub fn reload(&self, new: &Settings) {
        let old = self.deps.settings();
        let change = config::diff(&old, new);
        info!(applied = ?change.applied, restart = ?change.restart, "settings reloaded");
        let merged = config::reloaded(&old, new);
        self.context.reload((*merged.telegram).clone());
        self.deps.replace_settings(merged);
    }

    /// Stops intake, lets sessions put their turns down, makes everything durable. Gives the number of
    /// sessions that were not ready in time.
    pub async fn stop(self) -> usize {
        self.cancel.cancel();
        let left = self.router.await.unwrap_or_default();
        let mut intake = self.intake;
        if tokio::time::timeout(LAST_POLL, &mut intake).await.is_err() {
            intake.abort();
        }
        if let Err(fault) = self.store.stop().await {
            error!(error = %fault, "the store was not closed cleanly");
        }
        left
    }
}

/// Makes what is made once, such as compiled patterns, before the first message waits for it.
fn warm_up(deps: &Arc<Deps>) {
    let deps = Arc::clone(deps);
    tokio::task::spawn_blocking(move || {
        let language = deps.settings().language.clone();
        let hints = crate::agent::hints::analyze("warm up", Some(&language));
        let redacted = deps.redactor.redact("warm up");
        let sandbox = deps.toolbox.sandbox().is_available();
        if !sandbox {
            warn!("this kernel cannot confine commands: none run unless tools.sandbox is off");
        }
        tracing::debug!(hints = !hints.is_empty(), redacted, sandbox, "warmed up");
    });
}

/// Whether an earlier process wrote to this data directory within the last seconds.
fn used_lately(home: &std::path::Path) -> bool {
    let files = std::fs::read_dir(home.join("db"))
        .into_iter()
        .flatten()
        .flatten();
    let newest = files
        .filter_map(|file| file.metadata().ok()?.modified().ok())
        .max();
    newest
        .and_then(|at| at.elapsed().ok())
        .is_some_and(|ago| ago < USED_LATELY)
}

/// Backs the store up while it changes.
async fn backups(store: Store, cancel: CancellationToken) {
    let mut every = tokio::time::interval(BACKUP_EVERY);
    let journal = StoreJournal::new(store.clone());
    while cancel.run_until_cancelled(every.tick()).await.is_some() {
        let before = chrono::Utc::now().timestamp() - LEDGER_SECONDS;
        match journal.expire(before).await {
            Ok(0) => {}
            Ok(rows) => info!(rows, "old rows of the ledger were forgotten"),
            Err(fault) => warn!(error = %fault, "old rows of the ledger were not forgotten"),
        }
        if let Err(fault) = store.backup_if_dirty().await {
            warn!(error = %fault, "no backup was made");
        }
    }
}

/// The configured model and its fallbacks; the demo model only by name.
fn models(settings: &Settings) -> Result<Vec<Arc<dyn Model>>, Fault> {
    settings
        .model
        .iter()
        .chain(&settings.fallback)
        .map(|model| connect(model))
        .collect()
}

fn connect(settings: &ModelSettings) -> Result<Arc<dyn Model>, Fault> {
    if settings.adapter == Adapter::Demo {
        return Ok(Arc::new(Demo::default()));
    }
    llm::connect(settings)
}

fn toolbox(
    settings: &Settings,
    redactor: &Arc<Redactor>,
    helper: Option<PathBuf>,
) -> Result<Toolbox, Fault> {
    let helper = match helper {
        Some(helper) => helper,
        None => std::env::current_exe()
            .map_err(|fault| Fault::user("cli-no-runtime", &[("reason", &fault.to_string())]))?,
    };
    let clean = Arc::clone(redactor);
    Ok(Toolbox::new(ToolboxOptions {
        settings: settings.tools.clone(),
        helper,
        redactor: Arc::new(move |text| clean.redact(text)),
        wrap: Arc::new(untrusted::wrap),
        protected: protected(settings),
    }))
}

/// What no tool may touch: the data directory.
fn protected(settings: &Settings) -> Vec<PathBuf> {
    let mut roots = vec![settings.home.clone()];
    // Tools judge resolved paths; the directory may be given through a link.
    if let Ok(real) = settings.home.canonicalize()
        && real != settings.home
    {
        roots.push(real);
    }
    roots
}

/// Runs the bot until a signal says to stop.
///
/// # Errors
/// As [`Bot::start`], or if the token is refused later.
pub async fn run(
    settings: Settings,
    redactor: Arc<Redactor>,
    reload: impl Fn() -> Option<Settings>,
    claim: impl Fn(&str),
) -> Result<(), Fault> {
    if settings.model.is_none() {
        return Err(Fault::user("config-no-model", &[]));
    }
    // Listened to from the start on: as the first process of a container nothing else would end it.
    let mut signals = Signals::listen();
    let bot = tokio::select! {
        bot = Bot::start(settings, redactor) => bot?,
        signal = signals.stop() => {
            info!(signal, "stopped before the start was over");
            return Ok(());
        }
    };
    if let Some(code) = bot.claim_code() {
        claim(&code);
    }
    notify(&[sd_notify::NotifyState::Ready]);
    let refused = signals.wait(&bot, reload).await;
    notify(&[sd_notify::NotifyState::Stopping]);
    tokio::spawn(async move {
        let signal = signals.stop().await;
        warn!(signal, "a second signal: stopping at once");
        std::process::exit(1);
    });
    let left = bot.stop().await;
    if left > 0 {
        warn!(
            sessions = left,
            "stopped before every session was ready; they resume at the next start"
        );
    }
    info!("stopped");
    if refused {
        return Err(Fault::user("cli-telegram-refused", &[]));
    }
    Ok(())
}

pub(super) fn notify(states: &[sd_notify::NotifyState<'_>]) {
    if let Err(fault) = sd_notify::notify(states) {
        tracing::debug!(error = %fault, "the service manager was not told");
    }
}
