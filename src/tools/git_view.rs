//! `git_view`: history and state of the repository, read only.
//!
//! A repository can name programs that git starts while it reads (filters, external diffs, monitors,
//! signature checkers). They are switched off one by one, and the whole runs confined to reading.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Inspection, Job, Place, Ran};
use super::output::Capture;
use super::process::{self, End};
use super::sandbox::{self, Launch};
use super::{args, environment, paths};
use crate::domain::{ActionClass, CallStatus, Effects, SandboxProfile, ToolDescriptor};

const EXAMPLE: &str = r#"{"command":"log","arguments":["--oneline","-n20"]}"#;
const LIMIT: Duration = Duration::from_secs(30);
const MAX_ARGUMENTS: usize = 40;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "git_view",
    description: "Reads the git repository of the workspace: log, show, diff, status or blame, with the \
        usual reading options, revisions and paths.",
    schema: args::schema::<Args>,
    effects: Effects::Read,
    label: "tool-git-view",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What to look at.
    command: View,
    /// Options, revisions, and paths after `--`.
    #[serde(default)]
    arguments: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum View {
    Log,
    Show,
    Diff,
    Status,
    Blame,
}

impl View {
    fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Show => "show",
            Self::Diff => "diff",
            Self::Status => "status",
            Self::Blame => "blame",
        }
    }

    /// Options that keep the command from starting programs.
    fn hardening(self) -> &'static [&'static str] {
        match self {
            Self::Log | Self::Show | Self::Diff => &[
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
                "--ignore-submodules=all",
            ],
            Self::Status => &["--ignore-submodules=all"],
            Self::Blame => &["--no-textconv"],
        }
    }
}

/// Options without a value.
const FLAGS: [&str; 52] = [
    "--oneline",
    "--stat",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--name-only",
    "--name-status",
    "--graph",
    "--decorate",
    "--no-decorate",
    "--all",
    "--branches",
    "--tags",
    "--remotes",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--reverse",
    "--follow",
    "-p",
    "-u",
    "--patch",
    "--no-patch",
    "-s",
    "--cached",
    "--staged",
    "--merge-base",
    "--word-diff",
    "-w",
    "--ignore-all-space",
    "-b",
    "--ignore-space-change",
    "--ignore-blank-lines",
    "--minimal",
    "--patience",
    "--histogram",
    "--full-index",
    "--summary",
    "--abbrev-commit",
    "--no-renames",
    "--raw",
    "--check",
    "--short",
    "--branch",
    "-sb",
    "--porcelain",
    "-z",
    "-M",
    "-C",
    "-i",
    "-E",
    "-F",
];

/// Options with a value after `=`.
const VALUED: [&str; 24] = [
    "--max-count",
    "--skip",
    "--since",
    "--until",
    "--after",
    "--before",
    "--author",
    "--committer",
    "--grep",
    "--format",
    "--pretty",
    "--date",
    "--diff-filter",
    "--unified",
    "--abbrev",
    "--stat",
    "--porcelain",
    "--untracked-files",
    "--find-renames",
    "--find-copies",
    "--word-diff",
    "--decorate",
    "--diff-algorithm",
    "--ignored",
];

/// Short options with a value right behind them.
const SHORT: [&str; 6] = ["-n", "-U", "-S", "-G", "-L", "-u"];

fn parse(raw: &str) -> Result<Args, String> {
    let parsed: Args = args::parse("git_view", raw, EXAMPLE)?;
    if parsed.arguments.len() > MAX_ARGUMENTS {
        return Err(format!("At most {MAX_ARGUMENTS} arguments are allowed."));
    }
    let mut only_paths = false;
    for argument in &parsed.arguments {
        if !only_paths && argument == "--" {
            only_paths = true;
        } else if !only_paths && argument.starts_with('-') {
            if !is_allowed(argument) {
                return Err(format!(
                    "The option `{argument}` is not allowed here. Values of options are written with `=`, such as --since=yesterday, or right behind short ones, such as -n20."
                ));
            }
        } else {
            check_operand(argument)?;
        }
    }
    Ok(parsed)
}

fn is_allowed(option: &str) -> bool {
    if FLAGS.contains(&option) {
        return true;
    }
    if let Some((name, _)) = option.split_once('=') {
        return VALUED.contains(&name);
    }
    let count = option.strip_prefix('-').unwrap_or_default();
    if !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    !option.starts_with("--")
        && SHORT
            .iter()
            .any(|short| option.starts_with(short) && option.len() > 2)
}

/// A revision or path may not lead out of the workspace: with such a path git compares any two files.
fn check_operand(operand: &str) -> Result<(), String> {
    let climbs = operand.split(['/', ':']).any(|part| part == "..");
    if operand.is_empty() || operand.starts_with('/') || operand.starts_with('~') || climbs {
        return Err(format!(
            "`{operand}` is not a revision or a path beneath the workspace."
        ));
    }
    if operand
        .split([':', '/'])
        .any(|part| paths::is_env_file(part.as_ref()))
    {
        return Err(format!(
            "`{operand}` usually holds secrets and is not read."
        ));
    }
    Ok(())
}

pub(super) fn inspect(raw: &str, place: &Place) -> Result<Inspection, String> {
    let parsed = parse(raw)?;
    let argument = format!("{} {}", parsed.command.word(), parsed.arguments.join(" "));
    let targets =
        vec![paths::canonical(&place.workspace).unwrap_or_else(|_| place.workspace.clone())];
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Read,
        argument.trim().to_owned(),
        targets,
        place,
    ))
}

pub(super) async fn run(job: Job<'_>) -> Ran {
    execute(&job).await.unwrap_or_else(Ran::failed)
}

/// Settings that a repository must not be able to choose.
const SETTINGS: [&str; 9] = [
    "core.fsmonitor=",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "diff.external=",
    "log.showSignature=false",
    "core.sshCommand=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "safe.directory=*",
];

async fn execute(job: &Job<'_>) -> Result<Ran, String> {
    let parsed = parse(job.arguments)?;
    let workspace = paths::canonical(&job.place.workspace)
        .map_err(|error| format!("The workspace directory cannot be opened: {error}."))?;
    let temporary = job
        .shop
        .temporary(&job.place.session_dir)
        .map_err(|error| format!("The temporary directory cannot be made: {error}."))?;
    let profile = if sandbox::probe().is_available() {
        SandboxProfile::ReadOnly
    } else {
        SandboxProfile::Off
    };
    let mut words = vec!["--no-pager", "--no-replace-objects"];
    words.extend(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    words.push(parsed.command.word());
    words.extend(parsed.command.hardening());
    words.extend(parsed.arguments.iter().map(String::as_str));
    let launch = Launch {
        helper: &job.shop.helper,
        profile,
        workspace: &workspace,
        temporary: &temporary,
        protected: &job.shop.protected,
        network: false,
    };
    let mark = uuid::Uuid::new_v4().simple().to_string();
    let mut command = launch.command("git", &words)?;
    command
        .env_clear()
        .envs(environment::variables(
            &*job.shop.redactor,
            &temporary,
            &mark,
        ))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .current_dir(&workspace);
    if let Some(parent) = workspace.parent() {
        command.env("GIT_CEILING_DIRECTORIES", parent);
    }
    let running = process::start(command, &mark)
        .map_err(|error| format!("git cannot be started: {error}."))?;
    let mut capture = Capture::default();
    let ended = running
        .finish(LIMIT, &job.cancel, |bytes| capture.push(bytes))
        .await;
    let text = capture.text();
    let body = if text.trim().is_empty() {
        "(nothing)".to_owned()
    } else {
        text
    };
    let ran = Ran::read(format!("git {}", parsed.command.word()), body, "");
    let mut ran = match (ended.end, ended.code) {
        (End::Exited, Some(0)) => ran,
        (End::Exited, code) => ran
            .with_status(CallStatus::Failed)
            .with_note(format!("git failed with exit code {}.", code.unwrap_or(-1))),
        (End::TimedOut, _) => ran
            .with_status(CallStatus::Failed)
            .with_note(format!("git was killed after {} s.", LIMIT.as_secs())),
        (End::Cancelled, _) => ran
            .with_status(CallStatus::Cancelled)
            .with_note("The call was cancelled."),
    };
    ran.exit = ended.code;
    Ok(ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(arguments: &[&str]) -> bool {
        let raw = serde_json::json!({"command": "log", "arguments": arguments}).to_string();
        parse(&raw).is_ok()
    }

    #[test]
    fn reading_options_pass_and_everything_else_is_refused() {
        for good in [
            &["--oneline", "-n20", "-5", "main..HEAD"][..],
            &["--since=yesterday", "--", "src/main.rs"],
            &["HEAD~2:src/lib.rs", "-L1,20:src/lib.rs", "--stat=80"],
            &["-U10", "-Sneedle", "--", "-odd-name"],
        ] {
            assert!(accepts(good), "{good:?}");
        }
        for bad in [
            &["--output=/tmp/x"][..],
            &["-o", "x"],
            &["--ext-diff"],
            &["--textconv"],
            &["--no-index", "a", "b"],
            &["--show-signature"],
            &["-O/etc/passwd"],
            &["/etc/passwd"],
            &["--", "../x"],
            &["HEAD:../x"],
            &["--", ".env"],
            &["--exec=x"],
            &["--contents=/etc/passwd"],
        ] {
            assert!(!accepts(bad), "{bad:?}");
        }
        assert!(parse(r#"{"command":"push"}"#).is_err());
    }
}
