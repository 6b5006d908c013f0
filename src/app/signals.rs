//! Signals and the watchdog.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{error, info, warn};

use crate::config::Settings;

use super::Bot;
use super::bot::notify;

/// The signals that this program knows.
pub(super) struct Signals {
    term: Option<Signal>,
    int: Option<Signal>,
    hup: Option<Signal>,
}

impl Signals {
    /// Starts to listen; from here on no signal ends the process by itself.
    pub(super) fn listen() -> Self {
        Self {
            term: listen(SignalKind::terminate()),
            int: listen(SignalKind::interrupt()),
            hup: listen(SignalKind::hangup()),
        }
    }

    /// Waits for a signal to stop and names it.
    pub(super) async fn stop(&mut self) -> &'static str {
        tokio::select! {
            () = next(&mut self.term) => "SIGTERM",
            () = next(&mut self.int) => "SIGINT",
        }
    }

    /// Waits until the bot has to stop; reloads on SIGHUP and feeds the watchdog meanwhile. True if the
    /// bot stopped by itself because its token is refused.
    pub(super) async fn wait(&mut self, bot: &Bot, reload: impl Fn() -> Option<Settings>) -> bool {
        let every = sd_notify::watchdog_enabled().map(|every| every / 2);
        let mut watchdog = tokio::time::interval(every.unwrap_or(Duration::from_secs(3600)));
        loop {
            tokio::select! {
                () = next(&mut self.term) => return stopping("SIGTERM"),
                () = next(&mut self.int) => return stopping("SIGINT"),
                () = bot.stopped() => return true,
                () = next(&mut self.hup) => match reload() {
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
}

async fn next(signal: &mut Option<Signal>) {
    let heard = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if heard.is_none() {
        std::future::pending().await
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
