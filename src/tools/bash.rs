//! `bash`: one shell command, confined, bounded and cleaned up after.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::process::Command;

use super::call::{Card, CardKind, Inspection, Job, Place, Ran, Unfit};
use super::output::Capture;
use super::paths::{self, Want};
use super::process::{self, End, Ended};
use super::sandbox::Launch;
use super::toolbox::Shop;
use super::{args, classify, environment, fingerprint};
use crate::domain::{ActionClass, CallStatus, Effects, SandboxProfile, ToolDescriptor};

const EXAMPLE: &str = r#"{"command":"cargo test --lib","timeout_seconds":300}"#;
const DEFAULT_SECONDS: u64 = 120;
const MAX_SECONDS: u64 = 1800;
/// Characters of the summary that people see.
const SUMMARY: usize = 100;
/// Longest line that is streamed, in bytes.
const MAX_LINE: usize = 2000;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "bash",
    description: "Runs one bash command without terminal or input and gives its output and exit code. \
        Everything it starts ends with it; use bg_start for servers and other long jobs. Use $TMPDIR \
        for temporary files.",
    schema: args::schema::<Args>,
    effects: Effects::Exec,
    label: "tool-bash",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The command.
    command: String,
    /// Seconds until it is killed: 120 unless given, 1800 at most.
    #[serde(default)]
    timeout_seconds: Option<u64>,
    /// Working directory beneath the workspace; the workspace itself unless given.
    #[serde(default)]
    cwd: Option<String>,
}

fn parse(raw: &str) -> Result<Args, Unfit> {
    let parsed: Args = args::parse("bash", raw, EXAMPLE)?;
    if parsed.command.trim().is_empty() {
        return Err(Unfit::Malformed(format!(
            "`command` is empty. A valid example: {EXAMPLE}"
        )));
    }
    if !(1..=MAX_SECONDS).contains(&parsed.timeout_seconds.unwrap_or(DEFAULT_SECONDS)) {
        return Err(Unfit::Malformed(format!(
            "`timeout_seconds` must be between 1 and {MAX_SECONDS}."
        )));
    }
    Ok(parsed)
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, Unfit> {
    let parsed = parse(raw)?;
    describe(shop, "bash", &parsed.command, parsed.cwd.as_deref(), place)
}

/// What is known of a shell command before it runs.
pub(super) fn describe(
    shop: &Shop,
    tool: &str,
    command: &str,
    cwd: Option<&str>,
    place: &Place,
) -> Result<Inspection, Unfit> {
    let cwd = directory(shop, cwd, place)?;
    let class = if classify::destructive(command).is_some() {
        ActionClass::Destructive
    } else {
        ActionClass::Exec
    };
    Ok(Inspection {
        effects: Effects::Exec,
        class,
        argument: command.to_owned(),
        targets: vec![cwd.clone()],
        card: Card {
            tool: tool.to_owned(),
            kind: CardKind::Command,
            text: command.to_owned(),
            cwd,
        },
    })
}

fn directory(shop: &Shop, cwd: Option<&str>, place: &Place) -> Result<PathBuf, Unfit> {
    let path = paths::resolve(place, &shop.protected, cwd.unwrap_or("."), Want::Read)?;
    if path.is_dir() {
        Ok(path)
    } else {
        Err(Unfit::Failed(format!(
            "`{}` is not a directory.",
            cwd.unwrap_or(".")
        )))
    }
}

/// The confined shell for a command, ready to start, with its mark.
pub(super) fn shell(
    shop: &Shop,
    profile: SandboxProfile,
    place: &Place,
    command: &str,
    cwd: Option<&str>,
) -> Result<(Command, String), String> {
    let cwd = directory(shop, cwd, place)?;
    let temporary = shop
        .temporary(&place.session_dir)
        .map_err(|error| format!("The temporary directory cannot be made: {error}."))?;
    let workspace = paths::canonical(&place.workspace)
        .map_err(|error| format!("The workspace directory cannot be opened: {error}."))?;
    let launch = Launch {
        helper: &shop.helper,
        profile,
        workspace: &workspace,
        temporary: &temporary,
        protected: &shop.protected,
        network: place.network,
    };
    let mark = uuid::Uuid::new_v4().simple().to_string();
    let mut shell = launch.command("bash", &["--noprofile", "--norc", "-c", command])?;
    shell
        .env_clear()
        .envs(environment::variables(&*shop.redactor, &temporary, &mark))
        .current_dir(cwd);
    Ok((shell, mark))
}

pub(super) async fn run(job: Job<'_>) -> Ran {
    match execute(&job).await {
        Ok(ran) => ran,
        Err(reason) => Ran::failed(reason),
    }
}

async fn execute(job: &Job<'_>) -> Result<Ran, Unfit> {
    let parsed = parse(job.arguments)?;
    let (command, mark) = shell(
        job.shop,
        job.profile,
        job.place,
        &parsed.command,
        parsed.cwd.as_deref(),
    )?;
    let before = tree(&job.place.workspace).await;
    let running = process::start(command, &mark)
        .map_err(|error| format!("The command cannot be started: {error}."))?;
    let limit = Duration::from_secs(parsed.timeout_seconds.unwrap_or(DEFAULT_SECONDS));
    let mut capture = Capture::default();
    let mut lines = Lines::default();
    let ended = running
        .finish(limit, &job.cancel, |bytes| {
            capture.push(bytes);
            lines.push(bytes, |line| {
                // The flow shows the newest lines only, so one that does not fit may be lost.
                drop(job.output.try_send(job.shop.redact(line)));
            });
        })
        .await;
    let after = tree(&job.place.workspace).await;
    let changed = before.is_none() || before != after;
    Ok(report(ended, &capture.text(), limit).changed(changed))
}

async fn tree(workspace: &std::path::Path) -> Option<u64> {
    let workspace = workspace.to_path_buf();
    tokio::task::spawn_blocking(move || fingerprint::of(&workspace))
        .await
        .ok()
        .flatten()
}

fn report(ended: Ended, output: &str, limit: Duration) -> Ran {
    let (status, note, summary) = match (ended.end, ended.code) {
        (End::Exited, Some(0)) => (CallStatus::Ok, "Exit code 0.".to_owned(), last_line(output)),
        (End::Exited, Some(code)) => (
            CallStatus::Failed,
            format!("Exit code {code}."),
            match last_line(output) {
                line if line.is_empty() => format!("exit {code}"),
                line => format!("exit {code} · {line}"),
            },
        ),
        (End::Exited, None) => (
            CallStatus::Failed,
            "A signal ended the command.".to_owned(),
            "signal".to_owned(),
        ),
        (End::TimedOut, _) => (
            CallStatus::Failed,
            format!(
                "The command was killed after {} s with everything it started.",
                limit.as_secs()
            ),
            format!("> {} s", limit.as_secs()),
        ),
        (End::Cancelled, _) => (
            CallStatus::Cancelled,
            "The command was cancelled and killed with everything it started.".to_owned(),
            String::new(),
        ),
    };
    let body = if output.trim().is_empty() {
        "(no output)".to_owned()
    } else {
        output.to_owned()
    };
    let mut ran = Ran::read("command output", body, summary)
        .with_status(status)
        .with_note(note);
    ran.exit = ended.code;
    ran
}

/// The last line with words in it, where most programs say how it went; people see it beside the call.
fn last_line(output: &str) -> String {
    output
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| line.chars().any(char::is_alphanumeric))
        .map(|line| line.chars().take(SUMMARY).collect())
        .unwrap_or_default()
}

/// Cuts a byte stream into lines; a carriage return ends one too, as progress bars use it.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for byte in bytes {
            if matches!(byte, b'\n' | b'\r') || self.rest.len() >= MAX_LINE {
                let line = String::from_utf8_lossy(&self.rest);
                if !line.trim().is_empty() {
                    each(&line);
                }
                self.rest.clear();
            }
            if !matches!(byte, b'\n' | b'\r') {
                self.rest.push(*byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_cut_into_lines_across_chunks() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for chunk in ["on", "e\ntwo\r", "\nthr"] {
            lines.push(chunk.as_bytes(), |line| seen.push(line.to_owned()));
        }
        assert_eq!(seen, ["one", "two"]);
    }

    #[test]
    fn a_timeout_has_bounds() {
        assert!(parse(r#"{"command":"ls","timeout_seconds":1801}"#).is_err());
        assert!(parse(r#"{"command":"ls","timeout_seconds":0}"#).is_err());
        assert!(parse(r#"{"command":" "}"#).is_err());
        assert!(parse(EXAMPLE).is_ok());
    }
}
