//! The command line: what was asked for, with every setting also as a flag.

mod completions;
mod plan;
mod start;
mod transfer;

use std::ffi::OsString;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::{Flags, KEYS, Key};
use crate::domain::Fault;
use crate::i18n::tr;

pub use plan::PlanCommand;
pub use start::{Outcome, Started, load, start};

/// A Telegram bot that plans with you before it builds.
#[derive(Debug, Parser)]
#[command(name = "greenlight", version, about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Settings file [default: greenlight.toml in this directory, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory [default: ~/.local/share/greenlight]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Switch planning off
    #[arg(long, global = true, conflicts_with = "planning")]
    no_planning: bool,
    /// Switch planning on, whatever else says
    #[arg(long, global = true)]
    planning: bool,
    /// Log JSON lines instead of text
    #[arg(long, global = true)]
    log_json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the bot (what happens without a command)
    Run,
    /// Try everything in the browser, without a token
    Playground(PlaygroundArgs),
    /// Check token, owner, model, workspace, sandbox, store, clock and versions
    Doctor,
    /// Read plans from their files
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Write the whole store as JSON lines
    Export {
        /// Where to [default: greenlight-<time>.jsonl in this directory]
        file: Option<PathBuf>,
    },
    /// Replace the whole store by an export
    Import {
        /// A file that `export` wrote
        file: PathBuf,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the commented example of the settings file
    #[command(hide = true)]
    Example,
    /// Run a command inside a sandbox; started by the bot itself
    #[command(name = "__sandbox", hide = true)]
    Sandbox {
        /// Profile and command
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

/// What the playground was told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct PlaygroundArgs {
    /// Address of the page [default: 127.0.0.1 and a free port]
    #[arg(long)]
    pub bind: Option<SocketAddr>,
    /// Port of the page on 127.0.0.1
    #[arg(long, conflicts_with = "bind")]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Action {
    /// The bot.
    Run,
    /// The playground.
    Playground(PlaygroundArgs),
    /// Checks.
    Doctor,
    /// Plans.
    Plan(PlanCommand),
    /// Export of the store.
    Export(Option<PathBuf>),
    /// Import of the store.
    Import(PathBuf),
    /// Shell completions.
    Completions(clap_complete::Shell),
    /// The example file.
    Example,
    /// The sandbox helper, with its own arguments.
    Sandbox(Vec<OsString>),
}

/// A command line that was understood.
#[derive(Debug)]
pub struct Parsed {
    /// What to do.
    pub action: Action,
    /// What it says about settings.
    pub flags: Flags,
    /// Whether logs are JSON lines.
    pub log_json: bool,
}

/// Other names of flags whose derived one is long.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("model.name", "model"),
    ("workspace.dir", "workspace"),
    ("approvals.level", "approvals"),
];

/// Every flag of a setting, kept for as long as clap refers to it.
static FLAGS: LazyLock<Vec<(&'static Key, String)>> = LazyLock::new(|| {
    KEYS.iter()
        .filter_map(|key| Some((key, key.flag()?)))
        .collect()
});

/// The command with one long flag for every setting that is no secret.
fn command() -> clap::Command {
    Cli::command().args(FLAGS.iter().map(|(key, flag)| {
        let short = SHORT_NAMES.iter().find(|(name, _)| *name == key.name);
        let arg = Arg::new(key.name)
            .help(key.doc)
            .help_heading("Settings")
            .hide_short_help(true)
            .value_name("VALUE")
            .allow_hyphen_values(true)
            .action(ArgAction::Set)
            .global(true);
        match short {
            Some((_, short)) => arg.long(*short).alias(flag.as_str()),
            None => arg.long(flag.as_str()),
        }
    }))
}

/// Reads a command line, its first word being the program.
///
/// # Errors
/// A request for help or the version, or a command line that cannot be read; clap has the text of both.
pub fn parse(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Parsed, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let mut values: Vec<(String, String)> = KEYS
        .iter()
        .filter(|key| key.flag().is_some())
        .filter_map(|key| {
            let text: &String = matches.get_one(key.name)?;
            Some((key.name.to_owned(), text.clone()))
        })
        .collect();
    if cli.no_planning || cli.planning {
        values.push(("plan.enabled".to_owned(), cli.planning.to_string()));
    }
    Ok(Parsed {
        action: match cli.command {
            None | Some(Command::Run) => Action::Run,
            Some(Command::Playground(arguments)) => Action::Playground(arguments),
            Some(Command::Doctor) => Action::Doctor,
            Some(Command::Plan(command)) => Action::Plan(command),
            Some(Command::Export { file }) => Action::Export(file),
            Some(Command::Import { file }) => Action::Import(file),
            Some(Command::Completions { shell }) => Action::Completions(shell),
            Some(Command::Example) => Action::Example,
            Some(Command::Sandbox { arguments }) => Action::Sandbox(arguments),
        },
        flags: Flags {
            config: cli.config,
            home: cli.home,
            values,
        },
        log_json: cli.log_json,
    })
}

/// The language of the terminal: `GREENLIGHT_LANGUAGE`, else the locale of the environment, else English.
#[must_use]
pub fn language(env: impl Fn(&str) -> Option<String>) -> String {
    ["GREENLIGHT_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| env(name).filter(|value| !value.is_empty()))
        .map(|value| {
            let tag = value.split(['.', '@']).next().unwrap_or_default();
            tag.replace('_', "-")
        })
        .filter(|tag| !matches!(tag.as_str(), "" | "C" | "POSIX"))
        .unwrap_or_else(|| "en".to_owned())
}

/// The sentence of a fault in a language.
#[must_use]
pub fn sentence(language: &str, fault: &Fault) -> String {
    let arguments: Vec<(&str, &str)> = fault
        .arguments
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    tr(language, &fault.key, &arguments)
}

/// Writes a line to standard output; a closed pipe is nobody's fault.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        tracing::debug!("standard output is closed");
    }
}

/// Writes a line to standard error.
pub(crate) fn complain(line: &str) {
    if writeln!(std::io::stderr().lock(), "{line}").is_err() {
        tracing::debug!("standard error is closed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Parsed {
        parse(line.split(' ')).unwrap()
    }

    #[test]
    fn no_command_means_run() {
        assert!(matches!(parsed("greenlight").action, Action::Run));
        assert!(matches!(parsed("greenlight run").action, Action::Run));
    }

    #[test]
    fn every_setting_but_secrets_is_a_flag_before_and_after_the_command() {
        for line in [
            "greenlight --model demo/x --telegram-owner-id 5 --no-planning playground --no-open",
            "greenlight playground --model demo/x --no-open --telegram-owner-id 5 --no-planning",
        ] {
            let parsed = parsed(line);
            let Action::Playground(arguments) = parsed.action else {
                panic!("{line}");
            };
            assert!(arguments.no_open);
            let expected = [
                ("telegram.owner_id", "5"),
                ("model.name", "demo/x"),
                ("plan.enabled", "false"),
            ]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
            assert_eq!(parsed.flags.values, expected);
        }
        assert!(parse(["greenlight", "--telegram-token", "x"]).is_err());
    }

    #[test]
    fn a_negative_group_id_is_a_value() {
        let parsed = parsed("greenlight run --telegram-groups -1001,-1002");
        assert_eq!(parsed.flags.values[0].1, "-1001,-1002");
    }

    #[test]
    fn the_sandbox_helper_gets_its_arguments_untouched() {
        let parsed = parsed("greenlight __sandbox read_only -- bash -c --config");
        let Action::Sandbox(arguments) = parsed.action else {
            panic!();
        };
        assert!(arguments.ends_with(&["bash".into(), "-c".into(), "--config".into()]));
    }

    #[test]
    fn the_command_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn the_language_comes_from_the_environment() {
        let with = |name: &'static str, value: &'static str| {
            language(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(with("LANG", "ru_RU.UTF-8"), "ru-RU");
        assert_eq!(with("LANG", "C.UTF-8"), "en");
        assert_eq!(with("GREENLIGHT_LANGUAGE", "ar"), "ar");
        assert_eq!(language(|_| None), "en");
    }
}
