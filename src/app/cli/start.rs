//! From a command line to an exit code, or to the settings that the long-running parts start with.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::app::doctor;
use crate::config::{self, ConfigError, Flags, Settings};
use crate::domain::Fault;

use super::{Action, Parsed, PlaygroundArgs, complain, completions, plan, say, sentence, transfer};

/// What is left to do after the short commands.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing; exit with this code.
    Exit(ExitCode),
    /// Run the bot with these settings; token and workspace are there.
    Run(Box<Started>),
    /// Run the playground.
    Playground(Box<Started>, PlaygroundArgs),
    /// Be the sandbox helper, with these arguments.
    Sandbox(Vec<OsString>),
}

/// What a long-running part starts with.
#[derive(Debug)]
pub struct Started {
    /// Validated settings.
    pub settings: Settings,
    /// The command line, to load the settings again on SIGHUP.
    pub flags: Flags,
    /// Whether logs are JSON lines.
    pub log_json: bool,
    /// Language of the terminal.
    pub language: String,
}

/// Reads the command line, does what is short at once and returns the rest.
pub fn start(arguments: impl IntoIterator<Item = OsString>) -> Outcome {
    let env = |name: &str| std::env::var(name).ok();
    let language = super::language(env);
    let parsed = match super::parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => return Outcome::Exit(explain(&error, &language)),
    };
    match dispatch(parsed, &language) {
        Ok(outcome) => outcome,
        Err(fault) => {
            complain(&format!("greenlight: {}", sentence(&language, &fault)));
            Outcome::Exit(ExitCode::FAILURE)
        }
    }
}

/// Loads the settings as this command line says; also used on SIGHUP.
///
/// # Errors
/// As [`config::load`], or if the working directory is gone.
pub fn load(flags: &Flags) -> Result<Settings, ConfigError> {
    // A relative path cannot be resolved without a working directory; the root makes that visible.
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    config::known_variables(names.iter().map(String::as_str))?;
    config::load(flags, |name| std::env::var(name).ok(), &cwd)
}

fn dispatch(parsed: Parsed, language: &str) -> Result<Outcome, Fault> {
    let Parsed {
        action,
        flags,
        log_json,
    } = parsed;
    let started = |settings: Settings, flags: Flags| {
        Box::new(Started {
            settings,
            flags,
            log_json,
            language: language.to_owned(),
        })
    };
    match action {
        Action::Run => {
            let mut settings = load(&flags).map_err(|error| error.0)?;
            config::require_token(&settings).map_err(|error| error.0)?;
            config::require_workspace(&mut settings).map_err(|error| error.0)?;
            Ok(Outcome::Run(started(settings, flags)))
        }
        Action::Playground(arguments) => {
            let settings = load(&flags).map_err(|error| error.0)?;
            Ok(Outcome::Playground(started(settings, flags), arguments))
        }
        Action::Doctor => {
            let checks = block_on(doctor::run(load(&flags), language))?;
            for line in doctor::lines(&checks, language) {
                say(&line);
            }
            Ok(Outcome::Exit(code(doctor::passed(&checks))))
        }
        Action::Plan(command) => {
            let settings = load(&flags).map_err(|error| error.0)?;
            plan::run(&command, &settings.home, language).map(|good| Outcome::Exit(code(good)))
        }
        Action::Export(file) => {
            let settings = load(&flags).map_err(|error| error.0)?;
            block_on(transfer::export(&settings, file, language))??;
            Ok(Outcome::Exit(ExitCode::SUCCESS))
        }
        Action::Import(file) => {
            let settings = load(&flags).map_err(|error| error.0)?;
            block_on(transfer::import(&settings, &file, language))??;
            Ok(Outcome::Exit(ExitCode::SUCCESS))
        }
        Action::Completions(shell) => {
            let written = completions::write(shell).is_ok();
            Ok(Outcome::Exit(code(written)))
        }
        Action::Example => {
            say(config::example().trim_end());
            Ok(Outcome::Exit(ExitCode::SUCCESS))
        }
        Action::Sandbox(arguments) => Ok(Outcome::Sandbox(arguments)),
    }
}

fn code(good: bool) -> ExitCode {
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Help and version go out whole; of a fault only the line that says what is wrong.
fn explain(error: &clap::Error, language: &str) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        let line = refusal(error, language).unwrap_or_else(|| {
            let line = text.lines().find(|line| !line.trim().is_empty());
            let line = line.unwrap_or_default().trim_start_matches("error: ");
            format!("{line} (greenlight --help)")
        });
        complain(&format!("greenlight: {line}"));
        ExitCode::from(2)
    } else {
        say(text.trim_end());
        ExitCode::SUCCESS
    }
}

/// What is wrong with a command line, as one sentence; `None` for what has none of its own.
fn refusal(error: &clap::Error, language: &str) -> Option<String> {
    use clap::error::{ContextKind as Part, ErrorKind};
    let part = |kind| error.get(kind).map(ToString::to_string);
    let argument = || part(Part::InvalidArg);
    let tr = |key, arguments: &[(&str, &str)]| Some(crate::i18n::tr(language, key, arguments));
    let kind = error.kind();
    if kind == ErrorKind::UnknownArgument {
        let flag = argument()?;
        return match part(Part::SuggestedArg) {
            Some(near) => tr("cli-unknown-flag-near", &[("flag", &flag), ("near", &near)]),
            None => tr("cli-unknown-flag", &[("flag", &flag)]),
        };
    }
    if kind == ErrorKind::InvalidSubcommand {
        return tr(
            "cli-unknown-command",
            &[("name", &part(Part::InvalidSubcommand)?)],
        );
    }
    if matches!(kind, ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
        let (flag, value) = (argument()?, part(Part::InvalidValue)?);
        if value.is_empty() {
            return tr("cli-no-value", &[("flag", &flag)]);
        }
        let valid = part(Part::ValidValue).unwrap_or_default();
        let arguments = [
            ("flag", flag.as_str()),
            ("value", value.as_str()),
            ("valid", valid.as_str()),
        ];
        return if valid.is_empty() {
            tr("cli-bad-value", &arguments)
        } else {
            tr("cli-bad-choice", &arguments)
        };
    }
    if kind == ErrorKind::MissingRequiredArgument {
        return tr("cli-missing", &[("name", &argument()?)]);
    }
    if kind == ErrorKind::ArgumentConflict {
        let (one, other) = (argument()?, part(Part::PriorArg)?);
        return tr("cli-conflict", &[("one", &one), ("other", &other)]);
    }
    let commandless = matches!(
        kind,
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    commandless
        .then(|| tr("cli-missing-command", &[]))
        .flatten()
}

fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Fault> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map(|runtime| runtime.block_on(work))
        .map_err(|error| Fault::user("cli-no-runtime", &[("reason", &error.to_string())]))
}
