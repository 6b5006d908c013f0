//! Signals and the watchdog.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info, warn};

use crate::config::Settings;

use super::Bot;
use super::bot::notify;

/// Waits until the bot has to stop; reloads on SIGHUP and feeds the watchdog meanwhile. True if the bot
/// stopped by itself because its token is refused.
pub(super) async fn wait(bot: &Bot, reload: impl Fn() -> Option<Settings>) -> bool {
    let (Some(mut term), Some(mut int), Some(mut hup)) = (
        listen(SignalKind::terminate()),
        listen(SignalKind::interrupt()),
        listen(SignalKind::hangup()),
    ) else {
        bot.stopped().await;
        return true;
    };
    let every = sd_notify::watchdog_enabled().map(|every| every / 2);
    let mut watchdog = tokio::time::interval(every.unwrap_or(Duration::from_secs(3600)));
    loop {
        tokio::select! {
            _ = term.recv() => return stopping("SIGTERM"),
            _ = int.recv() => return stopping("SIGINT"),
            () = bot.stopped() => return true,
            _ = hup.recv() => match reload() {
                Some(settings) => bot.reload(&settings),
                None => warn!("the settings could not be read; the old ones stay in force"),
            },
            _ = watchdog.tick() => {
                if every.is_some() {
                    notify(&[sd_notify::NotifyState::Watchdog]);
                }
            }
        }
    }
}

fn stopping(signal: &str) -> bool {
    info!(signal, "stopping");
    false
}

fn listen(kind: SignalKind) -> Option<Signal> {
    match signal(kind) {
        Ok(signal) => Some(signal),
        Err(fault) => {
            error!(error = %fault, "a signal cannot be listened to");
            None
        }
    }
}
