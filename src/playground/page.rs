//! The chat page: embedded files, a snapshot, live events, and what people do on it.
//!
//! Whoever can use the page can make the bot run commands on this machine, so it answers only to
//! this machine's own names (no rebinding of foreign names) and takes JSON alone (no foreign forms).

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, Query, Request, State as Extract};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::{Stream, StreamExt};
use rust_embed::RustEmbed;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_stream::wrappers::BroadcastStream;

use super::model::{Draft, DraftFile};
use super::world::World;
use crate::domain::{ChatId, MessageId, ThreadId, UserId};

/// Key and language to sentence; the program hands in its locales.
pub type Translate = Arc<dyn Fn(&str, &str) -> String + Send + Sync>;

/// Keys of `playground.ftl` that the page needs.
pub const PAGE_KEYS: [&str; 34] = [
    "playground-title",
    "playground-subtitle",
    "playground-you-are",
    "playground-role-owner",
    "playground-role-member",
    "playground-role-stranger",
    "playground-chats",
    "playground-calls",
    "playground-rate-unit",
    "playground-write",
    "playground-send",
    "playground-reply",
    "playground-cancel",
    "playground-edited",
    "playground-typing",
    "playground-bot",
    "playground-members",
    "playground-topic-general",
    "playground-theme",
    "playground-language",
    "playground-ok",
    "playground-empty-title",
    "playground-empty-body",
    "playground-example-fix",
    "playground-example-plan",
    "playground-example-help",
    "playground-deleted",
    "playground-file",
    "playground-show",
    "playground-hide",
    "playground-copy",
    "playground-copied",
    "playground-menu",
    "playground-back",
];

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// Calls that a page gets when it opens.
const SHOWN_CALLS: usize = 300;

#[derive(RustEmbed)]
#[folder = "src/playground/page/"]
struct Assets;

/// What the page's handlers share.
#[derive(Clone)]
pub(super) struct Page {
    pub(super) world: World,
    pub(super) translate: Translate,
    pub(super) languages: Arc<Vec<String>>,
    pub(super) roles: Arc<Vec<(i64, &'static str)>>,
    pub(super) notice: Option<String>,
}

/// The page's routes.
pub(super) fn router(page: Page) -> Router {
    Router::new()
        .route("/", get(|| async { asset("index.html") }))
        .route(
            "/assets/{*path}",
            get(|Path(path): Path<String>| async move { asset(&path) }),
        )
        .route("/page/strings", get(strings))
        .route("/page/snapshot", get(snapshot))
        .route("/page/events", get(events))
        .route("/page/menu", get(menu))
        .route("/page/file/{id}", get(file))
        .route("/page/say", post(say))
        .route("/page/tap", post(tap))
        .route("/page/language", post(language))
        .layer(middleware::from_fn(guard))
        .with_state(page)
}

async fn guard(request: Request, next: Next) -> Response {
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let name = host.unwrap_or_default();
    let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
    let own = name == "localhost"
        || name
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok();
    if !own {
        return StatusCode::FORBIDDEN.into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(CSP),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn asset(path: &str) -> Response {
    let Some(file) = Assets::get(path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = file.metadata.mimetype().to_owned();
    ([(header::CONTENT_TYPE, kind)], file.data.into_owned()).into_response()
}

#[derive(Deserialize)]
struct InLanguage {
    lang: String,
}

async fn strings(Extract(page): Extract<Page>, Query(query): Query<InLanguage>) -> Json<Value> {
    let strings: Map<String, Value> = PAGE_KEYS
        .iter()
        .map(|key| {
            let short = key.trim_start_matches("playground-").to_owned();
            (short, json!((page.translate)(&query.lang, key)))
        })
        .collect();
    Json(Value::Object(strings))
}

async fn snapshot(Extract(page): Extract<Page>) -> Json<Value> {
    let state = page.world.lock();
    let people: Vec<Value> = page
        .roles
        .iter()
        .filter_map(|(id, role)| {
            let person = state.people.get(id)?;
            Some(
                json!({ "id": id, "name": person.name, "username": person.username,
                "language": person.language, "role": role }),
            )
        })
        .collect();
    let chats: Vec<Value> = state
        .rooms
        .values()
        .filter(|room| room.migrated.is_none())
        .map(|room| {
            let topics: Vec<Value> = room
                .topics
                .iter()
                .map(|(id, topic)| json!({ "id": id, "name": topic.name, "closed": topic.closed }))
                .collect();
            json!({ "id": room.id, "kind": room.kind, "title": room.title, "forum": room.forum,
                "members": room.members, "topics": topics })
        })
        .collect();
    let messages: Vec<Value> = state
        .rooms
        .values()
        .flat_map(|room| room.posts.values())
        .map(|post| json!(post))
        .collect();
    let skipped = state.log.len().saturating_sub(SHOWN_CALLS);
    let calls: Vec<Value> = state
        .log
        .iter()
        .skip(skipped)
        .map(|call| json!(call))
        .collect();
    Json(json!({
        "bot": { "id": state.me.id, "name": state.me.name, "username": state.me.username },
        "people": people, "chats": chats, "messages": messages, "calls": calls,
        "languages": *page.languages, "notice": page.notice,
    }))
}

async fn events(
    Extract(page): Extract<Page>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stream = BroadcastStream::new(page.world.events()).map(|event| {
        // A page that fell behind loads everything anew.
        let data = event.map_or_else(
            |_| json!({ "kind": "reset" }).to_string(),
            |text| text.to_string(),
        );
        Ok(Event::default().data(data))
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}

#[derive(Deserialize)]
struct MenuOf {
    chat: i64,
    user: i64,
}

async fn menu(Extract(page): Extract<Page>, Query(query): Query<MenuOf>) -> Json<Value> {
    Json(page.world.menu(ChatId(query.chat), UserId(query.user)))
}

async fn file(Extract(page): Extract<Page>, Path(id): Path<String>) -> Response {
    let file = page.world.lock().files.get(&id).cloned();
    let Some(file) = file else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let safe: String = file
        .name
        .chars()
        .map(|symbol| {
            if symbol.is_ascii_alphanumeric() || ".-_".contains(symbol) {
                symbol
            } else {
                '_'
            }
        })
        .collect();
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{safe}\""),
        ),
    ];
    (headers, file.bytes).into_response()
}

#[derive(Deserialize)]
struct Said {
    user: i64,
    chat: i64,
    thread: Option<i32>,
    reply_to: Option<i32>,
    text: String,
    document: Option<SaidFile>,
}

#[derive(Deserialize)]
struct SaidFile {
    name: String,
    text: String,
}

async fn say(Extract(page): Extract<Page>, Json(said): Json<Said>) -> Json<Value> {
    let draft = Draft {
        thread: said.thread.map(ThreadId),
        reply_to: said.reply_to.map(MessageId),
        file: said.document.map(|file| DraftFile {
            kind: "document".to_owned(),
            name: file.name,
            mime: Some("text/markdown".to_owned()),
            bytes: file.text.into_bytes(),
            size: None,
        }),
        ..Draft::text(&said.text)
    };
    Json(json!(page.world.say_with(
        UserId(said.user),
        ChatId(said.chat),
        draft
    )))
}

#[derive(Deserialize)]
struct Tapped {
    user: i64,
    chat: i64,
    message: i32,
    data: String,
}

async fn tap(Extract(page): Extract<Page>, Json(tap): Json<Tapped>) -> Json<Value> {
    let (user, chat) = (UserId(tap.user), ChatId(tap.chat));
    Json(json!(page.world.tap(
        user,
        chat,
        MessageId(tap.message),
        &tap.data
    )))
}

#[derive(Deserialize)]
struct Speaks {
    user: i64,
    language: String,
}

async fn language(Extract(page): Extract<Page>, Json(speaks): Json<Speaks>) -> StatusCode {
    page.world.with(|state| {
        if let Some(person) = state.people.get_mut(&speaks.user) {
            person.language = Some(speaks.language);
        }
    });
    StatusCode::NO_CONTENT
}
