//! `bg_output`: what a background command printed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::args;
use super::call::{Inspection, Job, Place, Ran};
use crate::domain::{ActionClass, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"name":"bg1","from":0}"#;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "bg_output",
    description: "Gives what a background command printed, from a position on, and whether it runs.",
    schema: args::schema::<Args>,
    effects: Effects::Read,
    label: "tool-bg-output",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name that bg_start gave.
    name: String,
    /// Position in bytes to read from; the beginning unless given.
    #[serde(default)]
    from: u64,
}

pub(super) fn inspect(raw: &str, place: &Place) -> Result<Inspection, String> {
    let parsed: Args = args::parse("bg_output", raw, EXAMPLE)?;
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Read,
        parsed.name,
        Vec::new(),
        place,
    ))
}

pub(super) fn run(job: &Job<'_>) -> Ran {
    let look = args::parse::<Args>("bg_output", job.arguments, EXAMPLE).and_then(|parsed| {
        job.shop
            .jobs
            .look(&job.place.session_dir, &parsed.name, parsed.from)
    });
    match look {
        Ok(look) => Ran::read(
            format!("background command {}", args::one_line(&look.command)),
            look.text,
            if look.running { "running" } else { "ended" },
        )
        .with_note(format!("{} Read on with from = {}.", look.state, look.next)),
        Err(reason) => Ran::failed(reason),
    }
}
