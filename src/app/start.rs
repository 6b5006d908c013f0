//! From validated settings to a running program: logging, the runtime, the exit code.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{self, Settings};
use crate::domain::Fault;
use crate::i18n::tr;
use crate::text::redact::Redactor;

use super::cli::{self, PlaygroundArgs, Started};
use super::{logging, run, run_playground};

/// How long work off the main path may take to notice the end.
const LAST_WORK: Duration = Duration::from_millis(500);

/// Runs the bot.
#[must_use]
pub fn main_run(started: Started) -> ExitCode {
    let Started {
        settings,
        flags,
        log_json,
        language,
    } = started;
    let redactor = prepare(&settings, log_json);
    let reload = move || match cli::load(&flags) {
        Ok(settings) => Some(settings),
        Err(error) => {
            tracing::warn!(key = error.0.key, "the settings have a fault");
            None
        }
    };
    let spoken = language.clone();
    let claim = move |code: &str| {
        cli::say(&tr(&spoken, "cli-claim-code", &[("code", code)]));
    };
    finish(&language, block_on(run(settings, redactor, reload, claim)))
}

/// Runs the playground.
#[must_use]
pub fn main_playground(started: Started, arguments: PlaygroundArgs) -> ExitCode {
    let Started {
        settings,
        log_json,
        language,
        ..
    } = started;
    let redactor = prepare(&settings, log_json);
    let spoken = language.clone();
    let say = move |key: &str, arguments: &[(&str, &str)]| {
        cli::say(&tr(&spoken, key, arguments));
    };
    finish(
        &language,
        block_on(run_playground(settings, arguments, redactor, say)),
    )
}

fn prepare(settings: &Settings, log_json: bool) -> Arc<Redactor> {
    let redactor = Arc::new(Redactor::new(config::secrets(settings)));
    let clean = Arc::clone(&redactor);
    logging::init(Arc::new(move |text| clean.redact(text)), log_json);
    redactor
}

fn block_on(work: impl Future<Output = Result<(), Fault>>) -> Result<(), Fault> {
    // Work of this program is waiting: two threads serve a thousand turns, and each further one only
    // holds memory. Files are read on threads of their own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(64)
        .enable_all()
        .build()
        .map_err(|fault| Fault::user("cli-no-runtime", &[("reason", &fault.to_string())]))?;
    let result = runtime.block_on(work);
    // Whatever still looks at a slow disk has nothing to add: everything durable is closed.
    runtime.shutdown_timeout(LAST_WORK);
    result
}

fn finish(language: &str, result: Result<(), Fault>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            cli::complain(&format!("greenlight: {}", cli::sentence(language, &fault)));
            ExitCode::FAILURE
        }
    }
}
