//! `/bot<token>/<method>`: reads the request, records it, applies faults and limits, answers.

use std::io;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::fault::{self, FaultKind};
use super::flood::Verdict;
use super::log::{Call, leaks, opened};
use super::methods;
use super::model::RoomKind;
use super::params::Params;
use super::poll;
use super::refusal::Refusal;
use super::state::State;
use super::world::World;

/// Answers one request below `/bot` or `/file/bot`.
pub(super) async fn serve(world: World, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    if let Some(rest) = path.strip_prefix("/file/bot") {
        return download(&world, rest);
    }
    let Some((token, method)) = path
        .strip_prefix("/bot")
        .and_then(|rest| rest.split_once('/'))
    else {
        return refuse(&Refusal::new(404, ""));
    };
    if token != world.token() {
        return refuse(&Refusal::new(401, ""));
    }
    let spelled = if method.eq_ignore_ascii_case("getUpdates") {
        "getUpdates".to_owned()
    } else {
        methods::find(method).map_or_else(|| method.to_owned(), |(name, ..)| name.to_owned())
    };
    let params = Params::read(request).await;
    let known = params.as_ref().ok().cloned().unwrap_or_default();
    let (number, fault) = world.with(|state| record(state, &spelled, &known));
    if let Some(kind) = fault.as_ref().filter(|kind| !kind.takes_effect()) {
        return fail(&world, number, kind).await;
    }
    let result = match params {
        Err(refusal) => Err(refusal),
        Ok(params) if spelled == "getUpdates" => poll::updates(&world, &params).await,
        Ok(params) => world.with(|state| run(state, number, &spelled, &params)),
    };
    world.with(|state| {
        state.finish(number, |call| {
            call.status = result.as_ref().err().map_or(200, |refusal| refusal.code);
            call.description = result.as_ref().err().map(Refusal::description);
            call.expected = result
                .as_ref()
                .err()
                .is_some_and(|refusal| refusal.expected);
        });
    });
    let response = match &result {
        Ok(value) => ok(value),
        Err(refusal) => refuse(refusal),
    };
    match fault {
        Some(kind) => after(&world, number, &kind, response, result.as_ref().ok()).await,
        None => response,
    }
}

fn record(state: &mut State, method: &str, params: &Params) -> (u64, Option<FaultKind>) {
    state.calls += 1;
    let number = state.calls;
    let mut shown: Map<String, Value> = params
        .values
        .iter()
        .map(|(name, value)| (name.clone(), opened(name, value)))
        .collect();
    for (name, file) in &params.files {
        shown.insert(
            name.clone(),
            json!(format!("{} ({} bytes)", file.name, file.bytes.len())),
        );
    }
    let chat = params.int("chat_id").ok().flatten();
    let in_file = |secret: &String| {
        params.files.values().any(|file| {
            !secret.is_empty()
                && file
                    .bytes
                    .windows(secret.len())
                    .any(|part| part == secret.as_bytes())
        })
    };
    let shown = Value::Object(shown);
    let leaked = leaks(&shown, &state.secrets) || state.secrets.iter().any(in_file);
    let at = Instant::now().saturating_duration_since(state.start);
    state.remember(Call {
        number,
        at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
        method: method.to_owned(),
        params: shown,
        chat,
        status: 0,
        description: None,
        injected: false,
        expected: false,
        ignored_wait: false,
        leaked,
    });
    (number, fault::take(&mut state.faults, method, chat))
}

/// Limits first, then the method itself.
fn run(state: &mut State, number: u64, method: &str, params: &Params) -> Result<Value, Refusal> {
    let (_, function, counted) =
        methods::find(method).ok_or_else(|| Refusal::new(404, "method not found"))?;
    let chat = params.int("chat_id")?;
    if let (true, Some(chat)) = (counted, chat) {
        let private = state
            .rooms
            .get(&chat)
            .is_none_or(|room| room.kind == RoomKind::Private);
        if let Verdict::Wait { seconds, ignored } =
            state.flood.charge(chat, private, Instant::now())
        {
            state.finish(number, |call| call.ignored_wait = ignored);
            return Err(Refusal::flood(seconds));
        }
    }
    function(state, params)
}

fn ok(value: &Value) -> Response {
    axum::Json(json!({ "ok": true, "result": value })).into_response()
}

fn refuse(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::BAD_REQUEST);
    (status, axum::Json(refusal.body())).into_response()
}

fn html(status: u16) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let page =
        format!("<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>");
    (status, [(header::CONTENT_TYPE, "text/html")], page).into_response()
}

/// A reply that ends before its announced length, which makes the connection break.
fn cut(start: Bytes) -> Response {
    let broken =
        futures::stream::once(async { Err(io::Error::from(io::ErrorKind::ConnectionReset)) });
    let start = futures::stream::iter((!start.is_empty()).then_some(Ok(start)));
    let mut response = Response::new(Body::from_stream(start.chain(broken)));
    response
        .headers_mut()
        .insert(header::CONTENT_LENGTH, 4096.into());
    response
}

/// A fault that keeps the call from having an effect.
async fn fail(world: &World, number: u64, kind: &FaultKind) -> Response {
    let (status, response) = match kind {
        FaultKind::TooMany(seconds) => {
            world.with(|state| {
                let chat = state.log.iter().rev().find(|call| call.number == number);
                if let Some(chat) = chat.and_then(|call| call.chat) {
                    state.flood.penalize(chat, *seconds, Instant::now());
                }
            });
            (429, refuse(&Refusal::flood(*seconds)))
        }
        FaultKind::Refuse(code, words) => (*code, refuse(&Refusal::new(*code, words.clone()))),
        FaultKind::Html(status) => (*status, html(*status)),
        FaultKind::Cut
        | FaultKind::Hang
        | FaultKind::CutAfter
        | FaultKind::HtmlAfter
        | FaultKind::TruncateAfter
        | FaultKind::DelayAfter(_) => (0, cut(Bytes::new())),
    };
    world.with(|state| {
        state.finish(number, |call| {
            call.injected = true;
            call.status = status;
        });
    });
    if matches!(kind, FaultKind::Hang) {
        // The client's own timeout ends this.
        std::future::pending::<()>().await;
    }
    response
}

/// A fault that spoils the reply of a call which took effect.
async fn after(
    world: &World,
    number: u64,
    kind: &FaultKind,
    response: Response,
    result: Option<&Value>,
) -> Response {
    world.with(|state| state.finish(number, |call| call.injected = true));
    match kind {
        FaultKind::HtmlAfter => html(502),
        FaultKind::TruncateAfter => {
            let whole = json!({ "ok": true, "result": result })
                .to_string()
                .into_bytes();
            let half: Vec<u8> = whole.iter().copied().take(whole.len() / 2).collect();
            cut(Bytes::from(half))
        }
        FaultKind::DelayAfter(wait) => {
            tokio::time::sleep(*wait).await;
            response
        }
        FaultKind::CutAfter
        | FaultKind::TooMany(_)
        | FaultKind::Refuse(..)
        | FaultKind::Html(_)
        | FaultKind::Cut
        | FaultKind::Hang => cut(Bytes::new()),
    }
}

fn download(world: &World, rest: &str) -> Response {
    let state = world.lock();
    let file = rest
        .split_once('/')
        .filter(|(token, _)| *token == state.token)
        .and_then(|(_, path)| state.files.get(path.rsplit('/').next()?));
    match file {
        Some(file) => file.bytes.clone().into_response(),
        None => refuse(&Refusal::new(404, "")),
    }
}
