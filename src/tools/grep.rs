//! `grep`: lines that match a regular expression, with ripgrep's own libraries.

use std::time::{Duration, Instant};

use grep_regex::RegexMatcherBuilder;
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::call::{Inspection, Place, Ran, Unfit};
use super::paths::{self, Want};
use super::toolbox::Shop;
use super::{args, glob, output};
use crate::domain::{Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"pattern":"fn main","path":"src","glob":"*.rs"}"#;
const MAX_MATCHES: usize = 300;
/// Longest line that is given, in bytes.
const MAX_LINE: usize = 400;
const MAX_TIME: Duration = Duration::from_secs(20);
/// Largest file that is searched, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "grep",
    description: "Finds lines by a regular expression (Rust syntax) in files that git does not ignore.",
    schema: args::schema::<Args>,
    effects: Effects::Read,
    label: "tool-grep",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Regular expression.
    pattern: String,
    /// File or directory beneath the workspace; the workspace itself unless given.
    #[serde(default)]
    path: Option<String>,
    /// Only files that match this glob pattern.
    #[serde(default)]
    glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
}

pub(super) fn inspect(shop: &Shop, raw: &str, place: &Place) -> Result<Inspection, Unfit> {
    let parsed: Args = args::parse("grep", raw, EXAMPLE)?;
    Inspection::look(
        &DESCRIPTOR,
        shop,
        &parsed.pattern,
        parsed.path.as_deref(),
        place,
    )
}

pub(super) fn run(
    shop: &Shop,
    raw: &str,
    place: &Place,
    cancel: &CancellationToken,
) -> Result<Ran, String> {
    let parsed: Args = args::parse("grep", raw, EXAMPLE)?;
    let given = parsed.path.as_deref().unwrap_or(".");
    let root = paths::resolve(place, &shop.protected, given, Want::Read)?;
    let only = parsed.glob.as_deref().map(glob::matcher).transpose()?;
    let pattern = RegexMatcherBuilder::new()
        .case_insensitive(parsed.ignore_case)
        .size_limit(4 * 1024 * 1024)
        .line_terminator(Some(b'\n'))
        .build(&parsed.pattern)
        .map_err(|error| format!("The regular expression is not valid: {error}."))?;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .heap_limit(Some(8 * 1024 * 1024))
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let started = Instant::now();
    let mut lines: Vec<String> = Vec::new();
    let mut cut = false;
    for (walked, entry) in glob::walk(&root, shop).flatten().enumerate() {
        if lines.len() >= MAX_MATCHES
            || walked >= glob::MAX_WALKED
            || started.elapsed() > MAX_TIME
            || cancel.is_cancelled()
        {
            cut = true;
            break;
        }
        let path = entry.path();
        let relative = path.strip_prefix(&root).unwrap_or(path);
        let wanted = entry.file_type().is_some_and(|kind| kind.is_file())
            && only.as_ref().is_none_or(|only| only.is_match(relative))
            && !paths::is_env_file(path)
            && entry.metadata().is_ok_and(|meta| meta.len() <= MAX_FILE);
        if !wanted {
            continue;
        }
        let shown = paths::shown(place, path);
        let searched = searcher.search_path(
            &pattern,
            path,
            Lossy(|number, line| {
                let line = line.trim_end();
                lines.push(format!(
                    "{shown}:{number}: {}",
                    output::head(line, MAX_LINE)
                ));
                Ok(lines.len() < MAX_MATCHES)
            }),
        );
        if let Err(error) = searched {
            tracing::debug!(%error, "a file was not searched");
        }
    }
    let note = if cut {
        format!(
            "The search was cut short after {} matches; narrow it down.",
            lines.len()
        )
    } else {
        String::new()
    };
    let summary = lines.len().to_string();
    let body = if lines.is_empty() {
        "(no match)".to_owned()
    } else {
        lines.join("\n")
    };
    Ok(Ran::read("search matches", body, summary).with_note(note))
}
