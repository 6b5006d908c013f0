//! `web_fetch`: one public page as text. Off unless the settings turn it on.

use std::time::Duration;

use futures::StreamExt;
use reqwest::{Client, Response, Url, header, redirect};
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Inspection, Job, Place, Ran};
use super::{args, html, web_guard};
use crate::domain::{ActionClass, CallStatus, Effects, ToolDescriptor};

const EXAMPLE: &str = r#"{"url":"https://doc.rust-lang.org/std/"}"#;
const MAX_BYTES: usize = 2 * 1024 * 1024;
const MAX_REDIRECTS: usize = 5;
const LIMIT: Duration = Duration::from_secs(30);

pub(super) static DESCRIPTOR: ToolDescriptor = ToolDescriptor {
    name: "web_fetch",
    description: "Fetches one public http(s) address and gives its text.",
    schema: args::schema::<Args>,
    effects: Effects::NetworkRead,
    label: "tool-web-fetch",
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Address that begins with http:// or https://.
    url: String,
}

fn parse(raw: &str) -> Result<Url, String> {
    let parsed: Args = args::parse("web_fetch", raw, EXAMPLE)?;
    let url = Url::parse(&parsed.url).map_err(|error| {
        format!("The address is not valid: {error}. A valid example: {EXAMPLE}")
    })?;
    web_guard::check(&url)?;
    Ok(url)
}

pub(super) fn inspect(raw: &str, place: &Place) -> Result<Inspection, String> {
    let url = parse(raw)?;
    Ok(Inspection::plain(
        &DESCRIPTOR,
        ActionClass::Network,
        url.to_string(),
        Vec::new(),
        place,
    ))
}

pub(super) async fn run(job: Job<'_>) -> Ran {
    tokio::select! {
        ran = tokio::time::timeout(LIMIT, fetch(job.arguments)) => match ran {
            Ok(Ok(ran)) => ran,
            Ok(Err(reason)) => Ran::failed(reason),
            Err(_) => Ran::failed(format!("The address did not answer within {} s.", LIMIT.as_secs())),
        },
        () = job.cancel.cancelled() => {
            Ran::failed("The call was cancelled.").with_status(CallStatus::Cancelled)
        }
    }
}

/// A client that never follows a redirect by itself and never asks a proxy, which would resolve names
/// out of sight of the guard.
fn client() -> Result<Client, String> {
    Client::builder()
        .dns_resolver(std::sync::Arc::new(web_guard::PublicOnly))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .user_agent("greenlight")
        .build()
        .map_err(|error| format!("The web client cannot be made: {}.", error.without_url()))
}

async fn fetch(raw: &str) -> Result<Ran, String> {
    let mut url = parse(raw)?;
    let client = client()?;
    for _ in 0..=MAX_REDIRECTS {
        web_guard::check(&url)?;
        let response = client.get(url.clone()).send().await.map_err(|error| {
            format!(
                "The address cannot be fetched: {}.",
                cause(&error.without_url())
            )
        })?;
        if !response.status().is_redirection() {
            return read(response, &url).await;
        }
        let target = response
            .headers()
            .get(header::LOCATION)
            .and_then(|target| target.to_str().ok())
            .ok_or("The answer is a redirect that leads nowhere.")?;
        url = url
            .join(target)
            .map_err(|error| format!("The redirect is not valid: {error}."))?;
    }
    Err(format!("More than {MAX_REDIRECTS} redirects."))
}

/// The innermost cause, which tells a refusal of the guard from a broken connection.
fn cause(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}

async fn read(response: Response, url: &Url) -> Result<Ran, String> {
    let status = response.status();
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("text/plain")
        .to_ascii_lowercase();
    let textual = ["text/", "json", "xml", "javascript", "toml", "yaml"]
        .iter()
        .any(|part| kind.contains(part));
    if !textual {
        return Err(format!("The answer is {kind}, which is not text."));
    }
    let mut bytes = Vec::new();
    let mut cut = false;
    let mut stream = response.bytes_stream();
    while let Some(chunk) = stream.next().await {
        let chunk =
            chunk.map_err(|error| format!("The answer broke off: {}.", error.without_url()))?;
        let room = MAX_BYTES - bytes.len();
        bytes.extend(chunk.iter().take(room));
        if chunk.len() > room {
            cut = true;
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let body = if kind.contains("html") {
        html::to_text(&text)
    } else {
        text.into_owned()
    };
    let mut note = format!("Status {}.", status.as_u16());
    if cut {
        note.push_str(&format!(" Only the first {MAX_BYTES} bytes were read."));
    }
    let ran =
        Ran::read(format!("web page {url}"), body, status.as_u16().to_string()).with_note(note);
    Ok(if status.is_success() {
        ran
    } else {
        ran.with_status(CallStatus::Failed)
    })
}
