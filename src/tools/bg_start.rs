//! `bg_start`: starts a shell command that goes on in the background.

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Inspection, Job, Place, Ran};
use super::toolbox::Shop;
use super::{args, bash, process};
use crate::domain::{Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"command":"python3 -m http.server 8000"}"#;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "bg_start",
    description: "Starts a bash command in the background, such as a server or a long build, and gives \
        its name. Read it with bg_output, end it with bg_stop.",
    schema: args::schema::<Args>,
    effects: Effects::Exec,
    label: "tool-bg-start",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The command.
    command: String,
    /// Working directory beneath the workspace; the workspace itself unless given.
    #[serde(default)]
    cwd: Option<String>,
    /// Whether it goes on when the user stops the turn.
    #[serde(default)]
    keep: bool,
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, String> {
    let parsed: Args = args::parse("bg_start", raw, EXAMPLE)?;
    bash::describe(
        shop,
        "bg_start",
        &parsed.command,
        parsed.cwd.as_deref(),
        place,
    )
}

pub(super) fn run(job: &Job<'_>) -> Ran {
    start(job).unwrap_or_else(Ran::failed)
}

fn start(job: &Job<'_>) -> Result<Ran, String> {
    let parsed: Args = args::parse("bg_start", job.arguments, EXAMPLE)?;
    let (command, mark) = bash::shell(
        job.shop,
        job.profile,
        job.place,
        &parsed.command,
        parsed.cwd.as_deref(),
    )?;
    let name = job
        .shop
        .jobs
        .adopt(&job.place.session_dir, &parsed.command, parsed.keep, || {
            process::start(command, &mark)
                .map_err(|error| format!("The command cannot be started: {error}."))
        })?;
    // What it will do to the workspace is unknown from here on.
    Ok(Ran::said(format!("Started as `{name}`."), name).changed(true))
}
