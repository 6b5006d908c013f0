//! `bg_stop`: ends a background command.

use schemars::JsonSchema;
use serde::Deserialize;

use super::args;
use super::call::{Inspection, Job, Place, Ran};
use crate::domain::{ActionClass, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"name":"bg1"}"#;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "bg_stop",
    description: "Ends a background command with everything it started.",
    schema: args::schema::<Args>,
    effects: Effects::Exec,
    label: "tool-bg-stop",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name that bg_start gave.
    name: String,
}

pub(super) fn inspect(raw: &str, place: &Place) -> Result<Inspection, String> {
    let parsed: Args = args::parse("bg_stop", raw, EXAMPLE)?;
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Exec,
        parsed.name,
        Vec::new(),
        place,
    ))
}

pub(super) fn run(job: &Job<'_>) -> Ran {
    let (shop, session) = (job.shop, &job.place.session_dir);
    let parsed: Args = match args::parse("bg_stop", job.arguments, EXAMPLE) {
        Ok(parsed) => parsed,
        Err(reason) => return Ran::failed(reason),
    };
    match shop.jobs.stop(session, &parsed.name) {
        Ok(true) => Ran::said(format!("`{}` is being stopped.", parsed.name), ""),
        Ok(false) => Ran::said(format!("`{}` had ended already.", parsed.name), ""),
        Err(reason) => Ran::failed(reason),
    }
}
