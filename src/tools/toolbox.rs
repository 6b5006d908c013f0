//! The door to all tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::background::Jobs;
use super::call::{Inspection, Job, Place, Ran, Unfit};
use super::sandbox::{self, SandboxStatus};
use super::{
    ask_user, bash, bg_output, bg_start, bg_stop, edit_file, git_view, glob, grep, list_dir,
    output, paths, read_file, send_file, spawn_agent, web_fetch, write_file,
};
use crate::config::ToolSettings;
use crate::domain::{CallStatus, SandboxProfile, ToolCall, ToolDescriptor, ToolOutcome};
use crate::plan::gate::Permit;

/// Removes secrets from text.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;
/// Wraps untrusted text: nonce, source and body give the block.
pub type Wrap = Arc<dyn Fn(&str, &str, &str) -> String + Send + Sync>;

/// What a toolbox is made of.
pub struct ToolboxOptions {
    /// Settings.
    pub settings: ToolSettings,
    /// This program, which is started again as the sandbox helper.
    pub helper: PathBuf,
    /// Applied to everything that leaves a tool.
    pub redactor: Redact,
    /// Applied to text that came from outside.
    pub wrap: Wrap,
    /// The data directory, the configuration file and files with credentials.
    pub protected: Vec<PathBuf>,
}

/// All tools behind one door. Clones share everything.
#[derive(Clone)]
pub struct Toolbox {
    shop: Arc<Shop>,
}

/// What tools share.
pub(super) struct Shop {
    pub(super) settings: ToolSettings,
    pub(super) helper: PathBuf,
    pub(super) redactor: Redact,
    pub(super) wrap: Wrap,
    pub(super) protected: Vec<PathBuf>,
    pub(super) jobs: Jobs,
    temporary: Option<tempfile::TempDir>,
}

impl Shop {
    /// The private temporary directory of a session, made on first use.
    pub(super) fn temporary(&self, session_dir: &Path) -> std::io::Result<PathBuf> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let base = self
            .temporary
            .as_ref()
            .ok_or_else(|| std::io::Error::other("there is no temporary directory"))?;
        let mut hasher = DefaultHasher::new();
        session_dir.hash(&mut hasher);
        let path = base.path().join(format!("{:016x}", hasher.finish()));
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }

    pub(super) fn redact(&self, text: &str) -> String {
        (self.redactor)(text)
    }
}

impl Toolbox {
    /// A toolbox. Protected paths are resolved once, here.
    #[must_use]
    pub fn new(options: ToolboxOptions) -> Self {
        let mut protected: Vec<PathBuf> = options
            .protected
            .iter()
            .map(|path| paths::canonical(path).unwrap_or_else(|_| path.clone()))
            .collect();
        if let Some(home) = std::env::home_dir() {
            let home = paths::canonical(&home).unwrap_or(home);
            protected.extend(paths::credential_places(&home));
        }
        let temporary = tempfile::Builder::new().prefix("greenlight-").tempdir();
        if let Err(error) = &temporary {
            tracing::error!(%error, "no temporary directory; commands will not run");
        }
        Self {
            shop: Arc::new(Shop {
                settings: options.settings,
                helper: options.helper,
                redactor: options.redactor,
                wrap: options.wrap,
                protected,
                jobs: Jobs::default(),
                temporary: temporary.ok(),
            }),
        }
    }

    /// The tools on offer, in a fixed order.
    #[must_use]
    pub fn descriptors(&self) -> Vec<&'static ToolDescriptor> {
        all()
            .into_iter()
            .filter(|tool| self.on_offer(tool.name))
            .collect()
    }

    /// What is known of a call before it runs.
    ///
    /// # Errors
    /// An English sentence for the model: an unknown tool, malformed arguments with a valid
    /// example, or a path that may not be touched.
    pub fn inspect(&self, call: &ToolCall, place: &Place) -> Result<Inspection, Unfit> {
        if !self.on_offer(&call.name) {
            return Err(Unfit::Malformed(self.unknown(&call.name)));
        }
        let (shop, raw) = (&*self.shop, call.arguments.as_str());
        let mut inspection = match call.name.as_str() {
            "read_file" => read_file::inspect(shop, raw, place),
            "list_dir" => list_dir::inspect(shop, raw, place),
            "glob" => glob::inspect(shop, raw, place),
            "grep" => grep::inspect(shop, raw, place),
            "git_view" => git_view::inspect(raw, place),
            "write_file" => write_file::inspect(shop, raw, place),
            "edit_file" => edit_file::inspect(shop, raw, place),
            "bash" => bash::inspect(shop, raw, place),
            "bg_start" => bg_start::inspect(shop, raw, place),
            "bg_output" => bg_output::inspect(raw, place),
            "bg_stop" => bg_stop::inspect(raw, place),
            "ask_user" => ask_user::inspect(raw, place),
            "web_fetch" => web_fetch::inspect(raw, place),
            "send_file" => send_file::inspect(shop, raw, place),
            "spawn_agent" => spawn_agent::inspect(raw, place),
            other => Err(Unfit::Malformed(self.unknown(other))),
        }?;
        inspection.argument = super::args::one_line(&shop.redact(&inspection.argument));
        inspection.card.text = shop.redact(&inspection.card.text);
        Ok(inspection)
    }

    /// Runs a call that the gate let through. Lines of output go to `output` while it runs; they
    /// are dropped when nobody takes them in time.
    pub async fn run(
        &self,
        permit: Permit,
        call: &ToolCall,
        place: &Place,
        output: mpsc::Sender<String>,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let started = Instant::now();
        let ran = if *permit.call() != call.id {
            Ran::failed("The call was not run: the permit is for another call.")
                .with_status(CallStatus::Refused)
        } else if !self.on_offer(&call.name) {
            Ran::failed(self.unknown(&call.name)).with_status(CallStatus::Refused)
        } else if cancel.is_cancelled() {
            Ran::failed("The call was cancelled before it started.")
                .with_status(CallStatus::Cancelled)
        } else {
            let job = Job {
                arguments: &call.arguments,
                place,
                profile: permit.profile(),
                output,
                cancel,
                shop: &self.shop,
            };
            dispatch(&call.name, job).await
        };
        self.outcome(call, place, ran, started)
    }

    /// What the kernel offers for confining commands; asked once a process.
    #[must_use]
    pub fn sandbox(&self) -> SandboxStatus {
        sandbox::probe().clone()
    }

    /// Ends the background commands of a session, those started with `keep` only when `kept` says so.
    /// Gives how many were told to end.
    pub fn stop_background(&self, session_dir: &Path, kept: bool) -> usize {
        self.shop.jobs.stop_all(session_dir, kept)
    }

    /// Reads the question of an `ask_user` call, which the session puts to the user.
    ///
    /// # Errors
    /// An English sentence for the model.
    pub fn question(&self, call: &ToolCall) -> Result<super::Question, Unfit> {
        ask_user::question(&call.arguments)
    }

    /// Reads and checks the file of a `send_file` call, which the session sends.
    ///
    /// # Errors
    /// An English sentence for the model.
    pub fn attachment(&self, call: &ToolCall, place: &Place) -> Result<super::Attachment, Unfit> {
        send_file::attachment(&self.shop, &call.arguments, place)
    }

    /// Reads the task of a `spawn_agent` call, which the session runs.
    ///
    /// # Errors
    /// An English sentence for the model.
    pub fn errand(&self, call: &ToolCall) -> Result<super::Errand, Unfit> {
        spawn_agent::errand(&call.arguments)
    }

    fn on_offer(&self, name: &str) -> bool {
        let settings = &self.shop.settings;
        all().iter().any(|tool| tool.name == name)
            && !settings.disabled.iter().any(|disabled| disabled == name)
            && (name != "web_fetch" || settings.web_fetch)
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.descriptors().iter().map(|tool| tool.name).collect();
        format!(
            "There is no tool `{name}`. Tools on offer: {}.",
            names.join(", ")
        )
    }

    /// Redacts, bounds and wraps what a tool said.
    fn outcome(&self, call: &ToolCall, place: &Place, ran: Ran, started: Instant) -> ToolOutcome {
        let mut content = output::head(&self.shop.redact(&ran.note), output::MAX_SHOWN).to_owned();
        if !ran.source.is_empty() {
            let bounded = output::bound(self.shop.redact(&ran.body), &place.session_dir);
            if !bounded.note.is_empty() {
                if !content.is_empty() {
                    content.push('\n');
                }
                content.push_str(&bounded.note);
            }
            if !content.is_empty() {
                content.push('\n');
            }
            let source = self.shop.redact(&ran.source);
            content.push_str(&(self.shop.wrap)(&place.nonce, &source, &bounded.text));
        }
        ToolOutcome {
            call: call.id.clone(),
            status: ran.status,
            content,
            summary: super::args::one_line(&self.shop.redact(&ran.summary)),
            changed: ran.changed,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            exit: ran.exit,
        }
    }
}

fn all() -> [&'static ToolDescriptor; 15] {
    [
        &read_file::DESCRIPTOR,
        &list_dir::DESCRIPTOR,
        &glob::DESCRIPTOR,
        &grep::DESCRIPTOR,
        &git_view::DESCRIPTOR,
        &write_file::DESCRIPTOR,
        &edit_file::DESCRIPTOR,
        &bash::DESCRIPTOR,
        &bg_start::DESCRIPTOR,
        &bg_output::DESCRIPTOR,
        &bg_stop::DESCRIPTOR,
        &ask_user::DESCRIPTOR,
        &web_fetch::DESCRIPTOR,
        &send_file::DESCRIPTOR,
        &spawn_agent::DESCRIPTOR,
    ]
}

async fn dispatch(name: &str, job: Job<'_>) -> Ran {
    match name {
        "git_view" => git_view::run(job).await,
        "bash" => bash::run(job).await,
        "bg_start" => bg_start::run(&job),
        "bg_output" => bg_output::run(&job),
        "bg_stop" => bg_stop::run(&job),
        "web_fetch" => web_fetch::run(job).await,
        "ask_user" | "send_file" | "spawn_agent" => {
            Ran::failed("This tool is carried out by the session.").with_status(CallStatus::Refused)
        }
        "write_file" | "edit_file"
            if job.profile == SandboxProfile::ReadOnly && !writes_plan(name, &job) =>
        {
            Ran::failed("The call was not run: only reading is allowed now.")
                .with_status(CallStatus::Refused)
        }
        _ => on_blocking_thread(name, job).await,
    }
}

/// Whether a file tool would write exactly the session's plan file.
fn writes_plan(name: &str, job: &Job<'_>) -> bool {
    let inspected = match name {
        "write_file" => write_file::inspect(job.shop, job.arguments, job.place),
        _ => edit_file::inspect(job.shop, job.arguments, job.place),
    };
    let plan = job
        .place
        .plan_md
        .as_deref()
        .and_then(|plan| paths::canonical(plan).ok());
    match (inspected, plan) {
        (Ok(inspection), Some(plan)) => inspection.targets == [plan],
        (Ok(_) | Err(_), _) => false,
    }
}

/// File tools block, so they run off the async threads. A walk looks at `cancel` as it goes.
async fn on_blocking_thread(name: &str, job: Job<'_>) -> Ran {
    let tool: fn(&Shop, &str, &Place, &CancellationToken) -> Result<Ran, String> = match name {
        "read_file" => read_file::run,
        "list_dir" => list_dir::run,
        "glob" => glob::run,
        "grep" => grep::run,
        "write_file" => write_file::run,
        "edit_file" => edit_file::run,
        other => return Ran::failed(format!("There is no tool `{other}`.")),
    };
    let (shop, raw, place) = (
        Arc::clone(job.shop),
        job.arguments.to_owned(),
        job.place.clone(),
    );
    let cancel = job.cancel.clone();
    match tokio::task::spawn_blocking(move || tool(&shop, &raw, &place, &cancel)).await {
        Ok(Ok(ran)) => ran,
        Ok(Err(reason)) => Ran::failed(reason),
        Err(error) => {
            tracing::error!(tool = name, %error, "a tool broke");
            Ran::failed("The tool broke. This is a fault of the bot; try another way.")
        }
    }
}
