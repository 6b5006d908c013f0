//! The whole product without a token: a local Bot API with a chat page, a sample project, a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::SecretString;
use tracing::info;

use crate::config::{Adapter, GroupSettings, ModelSettings, Settings};
use crate::domain::{ApprovalLevel, Fault};
use crate::playground::{self, GROUP, MEMBER, OWNER, Options, sample};
use crate::text::redact::Redactor;

use super::Bot;
use super::cli::PlaygroundArgs;
use super::signals::Signals;

/// Window of the demo model in tokens.
const DEMO_WINDOW: u64 = 128_000;

/// Runs the playground until a signal. `say` prints a line on the terminal.
///
/// # Errors
/// If the port is taken, the sample cannot be written or the bot cannot start.
pub async fn run(
    mut settings: Settings,
    arguments: PlaygroundArgs,
    redactor: Arc<Redactor>,
    say: impl Fn(&str, &[(&str, &str)]),
) -> Result<(), Fault> {
    let io = |fault: std::io::Error| {
        Fault::user("cli-playground-failed", &[("reason", &fault.to_string())])
    };
    let project = sample::create().map_err(io)?;
    let home = tempfile::tempdir().map_err(io)?;
    let mut options = Options::new(Arc::new(|language, key| {
        crate::i18n::tr(language, key, &[])
    }));
    options.languages = crate::i18n::languages();
    if let Some(bind) = arguments.bind {
        options.bind = bind;
    }
    if let Some(port) = arguments.port {
        options.bind.set_port(port);
    }
    let server = playground::start(options).await.map_err(io)?;
    settings.home = home.path().to_path_buf();
    settings.workspace = project.path().to_path_buf();
    settings.approvals = ApprovalLevel::Ask;
    let telegram = Arc::make_mut(&mut settings.telegram);
    telegram.token = Some(SecretString::from(server.token.clone()));
    telegram.api_url.clone_from(&server.api_url);
    telegram.owner = Some(OWNER);
    telegram.members = vec![MEMBER];
    telegram.groups = BTreeMap::from([(GROUP, GroupSettings::default())]);
    telegram.webhook = None;
    if settings.model.is_none() {
        settings.model = Some(ModelSettings {
            adapter: Adapter::Demo,
            name: "demo".into(),
            base_url: None,
            api_key: None,
            context_tokens: DEMO_WINDOW,
        });
    }
    let bot = Bot::start(settings, redactor).await?;
    let page = server.page_url();
    say("cli-playground-ready", &[("url", &page)]);
    if !arguments.no_open {
        open(&page);
    }
    Signals::listen().wait(&bot, || None).await;
    bot.stop().await;
    server.stop().await;
    info!("the playground has stopped");
    Ok(())
}

/// Opens the page in the desktop's browser, if there is one.
fn open(page: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let quiet = std::process::Stdio::null;
    let started = std::process::Command::new(opener)
        .arg(page)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    if started.is_err() {
        tracing::debug!("no browser could be opened");
    }
}
