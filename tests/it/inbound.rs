//! Updates over real sockets: a small Bot API, the listener, the inbox and the dispatcher.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a broken expectation must fail the test"
)]

use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use greenlight::config::{Busy, Render, TelegramLimits, TelegramSettings};
use greenlight::domain::{
    Attachment, AttachmentKind, ChatId, Inbound, MessageId, Role, UpdateId, UserId,
};
use greenlight::session::access::StoreMemory;
use greenlight::session::inbox::StoreInbox;
use greenlight::store::Store;
use greenlight::telegram::api::{ApiClient, Lane};
use greenlight::telegram::decode::Me;
use greenlight::telegram::dispatch::{self, Content, Context, Delivery, Lanes, Setup};
use greenlight::telegram::inbox::Inbox;
use greenlight::telegram::listener::{self, Fed, Intake, PollState};
use greenlight::telegram::media;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "900:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8";
const PATIENCE: Duration = Duration::from_secs(20);

/// A Bot API with scripted faults; updates leave its queue only when an offset confirms them.
#[derive(Default)]
struct Api {
    updates: Mutex<Vec<Value>>,
    faults: Mutex<VecDeque<(&'static str, u16, &'static str)>>,
    calls: Mutex<Vec<(String, Value)>>,
    news: Notify,
}

impl Api {
    fn push(&self, update: Value) {
        self.updates.lock().unwrap().push(update);
        self.news.notify_waiters();
    }

    fn fault(&self, method: &'static str, status: u16, body: &'static str) {
        self.faults
            .lock()
            .unwrap()
            .push_back((method, status, body));
    }

    fn pending(&self, offset: u64) -> Vec<Value> {
        let mut updates = self.updates.lock().unwrap();
        updates.retain(|update| update["update_id"].as_u64().is_none_or(|id| id >= offset));
        updates.clone()
    }

    fn calls_of(&self, name: &str) -> Vec<Value> {
        let calls = self.calls.lock().unwrap();
        calls
            .iter()
            .filter(|(method, _)| method == name)
            .map(|(_, body)| body.clone())
            .collect()
    }

    async fn get_updates(&self, body: &Value) -> Value {
        let offset = body["offset"].as_u64().unwrap_or(0);
        loop {
            let news = self.news.notified();
            let pending = self.pending(offset);
            if !pending.is_empty() {
                return json!({"ok": true, "result": pending});
            }
            if timeout(Duration::from_secs(5), news).await.is_err() {
                return json!({"ok": true, "result": []});
            }
        }
    }
}

async fn answer(
    State(api): State<Arc<Api>>,
    Path((_, method)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let method = method.to_lowercase();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    api.calls
        .lock()
        .unwrap()
        .push((method.clone(), body.clone()));
    let fault = {
        let mut faults = api.faults.lock().unwrap();
        let at = faults.iter().position(|(name, _, _)| *name == method);
        at.and_then(|at| faults.remove(at))
    };
    if let Some((_, status, text)) = fault {
        return (StatusCode::from_u16(status).unwrap(), text).into_response();
    }
    let reply = match method.as_str() {
        "getme" => json!({"ok": true, "result": {
            "id": 900, "is_bot": true, "first_name": "Green", "username": "green_bot", "can_join_groups": true,
            "can_read_all_group_messages": false, "supports_inline_queries": false, "can_connect_to_business": false,
            "has_main_web_app": false,
        }}),
        "getupdates" => api.get_updates(&body).await,
        "getfile" => {
            json!({"ok": true, "result": {"file_id": "f", "file_path": "photos/file_1.jpg"}})
        }
        _ => json!({"ok": true, "result": true}),
    };
    axum::Json(reply).into_response()
}

async fn file() -> &'static [u8] {
    b"\x89PNG\r\n\x1a\n-picture-"
}

async fn serve() -> (Arc<Api>, ApiClient) {
    let api = Arc::new(Api::default());
    let router = Router::new()
        .route("/file/{bot}/photos/file_1.jpg", axum::routing::get(file))
        .route("/{bot}/{method}", axum::routing::post(answer))
        .with_state(Arc::clone(&api));
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(socket, router).await.unwrap() });
    let client = ApiClient::new(&url, &SecretString::from(TOKEN), Lane::Poll).unwrap();
    (api, client)
}

fn settings() -> TelegramSettings {
    TelegramSettings {
        token: None,
        api_url: String::new(),
        owner: Some(UserId(11)),
        members: Vec::new(),
        groups: [].into(),
        render: Render::Classic,
        group_detail: false,
        busy: Busy::Steer,
        link_previews: false,
        limits: TelegramLimits::default(),
        webhook: None,
    }
}

fn message(id: u32, text: &str) -> Value {
    let person = json!({"id": 11, "is_bot": false, "first_name": "Olga"});
    json!({"update_id": id, "message": {
        "message_id": id, "date": chrono::Utc::now().timestamp(), "from": person, "text": text,
        "chat": {"id": 11, "type": "private", "first_name": "Olga"},
    }})
}

struct Front {
    inbox: StoreInbox,
    intake: Intake,
    lanes: Lanes,
    cancel: CancellationToken,
}

/// The whole front-end over a store, without polling.
async fn front(store: &Store, api: &ApiClient) -> Front {
    let cancel = CancellationToken::new();
    let inbox = StoreInbox::open(store.clone(), api.bot_id(), 0)
        .await
        .unwrap();
    let (feed, fed) = mpsc::channel(64);
    let intake = Intake::new(
        Arc::new(inbox.clone()),
        feed.clone(),
        Some(SecretString::from("hook-secret")),
    );
    let (memory, known) = StoreMemory::load(store.clone(), 0).await.unwrap();
    let setup = Setup {
        me: Me {
            id: UserId(900),
            username: "green_bot".into(),
        },
        settings: settings(),
        language: "en".into(),
        memory: Arc::new(memory),
        known,
        inbox: Arc::new(inbox.clone()),
        feed,
        to_markdown: |text, _| text.to_owned(),
        capacity: 64,
    };
    let (context, lanes) = Context::start(setup);
    tokio::spawn(dispatch::run(api.clone(), context, fed, cancel.clone()));
    Front {
        inbox,
        intake,
        lanes,
        cancel,
    }
}

async fn next(lane: &mut mpsc::Receiver<Delivery>) -> Delivery {
    timeout(PATIENCE, lane.recv()).await.unwrap().unwrap()
}

async fn next_text(lane: &mut mpsc::Receiver<Delivery>) -> String {
    match next(lane).await.content {
        Content::Input(Inbound::Message(message)) => {
            assert_eq!(message.sender.role, Role::Owner);
            message.text
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_bad_update_never_blocks_the_others_and_the_offset_follows_the_disk() {
    let (server, api) = serve().await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let mut front = front(&store, &api).await;
    let mut odd = message(3, "three, soon");
    odd["message"]["entities"] =
        json!([{"type": "date_time", "offset": 0, "length": 5, "unix_time": 1}]);
    for update in [
        message(1, "one"),
        json!({"update_id": 2, "message": {"text": "no chat"}}),
        odd,
        json!({"update_id": 4, "story_of_the_future": {}}),
        message(5, "five"),
    ] {
        server.push(update);
    }
    let polling = tokio::spawn(listener::poll(
        api.clone(),
        front.intake.clone(),
        front.cancel.clone(),
    ));
    for expected in ["one", "three, soon", "five"] {
        assert_eq!(next_text(&mut front.lanes.work).await, expected);
    }
    server.push(message(6, "/stop"));
    assert!(matches!(
        next(&mut front.lanes.control).await.content,
        Content::Input(Inbound::Command(_))
    ));
    assert_eq!(front.inbox.offset().await, 7);
    let first = &server.calls_of("getupdates")[0];
    assert_eq!(
        first["allowed_updates"],
        json!([
            "message",
            "edited_message",
            "callback_query",
            "my_chat_member"
        ])
    );
    let dead = greenlight::session::inbox::dead_letters(&store)
        .await
        .unwrap();
    assert_eq!(
        dead.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        [UpdateId(2)]
    );
    front.cancel.cancel();
    timeout(Duration::from_secs(3), polling)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn what_a_dead_process_left_open_is_handled_again_and_nothing_twice() {
    let (server, api) = serve().await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let inbox = StoreInbox::open(store.clone(), api.bot_id(), 0)
        .await
        .unwrap();
    let now = chrono::Utc::now().timestamp();
    inbox
        .accept(vec![message(1, "done"), message(2, "left open")], now)
        .await
        .unwrap();
    inbox.close(&[UpdateId(1)], now).await.unwrap();

    let mut front = front(&store, &api).await;
    assert_eq!(front.intake.reopen().await.unwrap(), 1);
    for id in [1, 2, 3] {
        server.push(message(id, "again"));
    }
    let polling = tokio::spawn(listener::poll(
        api.clone(),
        front.intake.clone(),
        front.cancel.clone(),
    ));
    assert_eq!(next_text(&mut front.lanes.work).await, "left open");
    let last = next(&mut front.lanes.work).await;
    assert_eq!(last.updates, [UpdateId(3)]);
    assert_eq!(server.calls_of("getupdates")[0]["offset"], json!(3));
    front.cancel.cancel();
    polling.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_conflict_and_an_html_page_are_survived_and_shown_in_health() {
    let (server, api) = serve().await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let mut front = front(&store, &api).await;
    server.fault("getupdates", 409, r#"{"ok":false,"error_code":409,"description":"Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"}"#);
    server.fault("getupdates", 502, "<html>Bad Gateway</html>");
    server.fault(
        "setmycommands",
        400,
        r#"{"ok":false,"error_code":400,"description":"Bad Request: BOT_COMMAND_INVALID"}"#,
    );
    server.push(message(1, "through the storm"));
    let mut health = front.intake.health();
    let polling = tokio::spawn(listener::poll(
        api.clone(),
        front.intake.clone(),
        front.cancel.clone(),
    ));
    timeout(
        PATIENCE,
        health.wait_for(|health| health.state == PollState::Conflict),
    )
    .await
    .unwrap()
    .unwrap();
    listener::register_commands(&api, "en", &["en", "ru", "ar"]).await;
    assert_eq!(next_text(&mut front.lanes.work).await, "through the storm");
    let health = *timeout(PATIENCE, health.wait_for(|health| health.last_ok.is_some()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((health.state, health.failures), (PollState::Conflict, 0));
    assert_eq!(
        server.calls_of("deletewebhook"),
        [json!({"drop_pending_updates": false})]
    );
    assert_eq!(server.calls_of("setmycommands").len(), 12);
    front.cancel.cancel();
    polling.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_refused_token_stops_polling_with_a_sentence() {
    let (server, api) = serve().await;
    for _ in 0..3 {
        server.fault(
            "getme",
            401,
            r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#,
        );
    }
    let fault = timeout(
        PATIENCE,
        listener::who_am_i(&api, &CancellationToken::new()),
    )
    .await
    .unwrap()
    .unwrap_err();
    assert_eq!(fault.key, "access-token-refused");
    let sentence = greenlight::i18n::tr("en", &fault.key, &[]);
    assert!(!sentence.contains(TOKEN) && sentence.contains("token"));
}

#[tokio::test]
async fn a_webhook_call_is_on_disk_before_it_is_answered_and_counts_once() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let inbox = StoreInbox::open(store.clone(), 900, 0).await.unwrap();
    let (feed, mut fed) = mpsc::channel(8);
    let intake = Intake::new(
        Arc::new(inbox.clone()),
        feed,
        Some(SecretString::from("hook-secret")),
    );
    assert!(intake.secret_matches(b"hook-secret"));
    assert!(!intake.secret_matches(b"hook-secreT") && !intake.secret_matches(b""));
    let body = message(1, "hello").to_string();
    intake.accept(body.as_bytes()).await.unwrap();
    intake.accept(body.as_bytes()).await.unwrap();
    intake.accept(b"garbage").await.unwrap();
    assert_eq!(inbox.open_rows().await.unwrap().len(), 1);
    assert!(matches!(fed.try_recv(), Ok(Fed::Update(UpdateId(1), _))));
    assert!(fed.try_recv().is_err());
    assert_eq!(intake.health().borrow().state, PollState::Webhook);
    assert!(!Intake::new(Arc::new(inbox), mpsc::channel(1).0, None).secret_matches(b""));
}

#[tokio::test]
async fn old_messages_are_counted_and_the_owner_is_told() {
    let (server, api) = serve().await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let mut front = front(&store, &api).await;
    for id in [1, 2] {
        let mut old = message(id, "long ago");
        old["message"]["date"] = json!(1_000_000);
        server.push(old);
    }
    let polling = tokio::spawn(listener::poll(
        api.clone(),
        front.intake.clone(),
        front.cancel.clone(),
    ));
    let Content::Reply(dispatch::Reply::Say {
        key,
        text,
        arguments,
        ..
    }) = next(&mut front.lanes.work).await.content
    else {
        panic!("no report");
    };
    assert_eq!((key.chat, text), (ChatId(11), "access-backlog-skipped"));
    assert_eq!(arguments, [("count".to_owned(), "2".to_owned())]);
    front.cancel.cancel();
    polling.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_file_is_stored_private_under_a_safe_name() {
    let (server, api) = serve().await;
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("session/files");
    let attachment = Attachment {
        kind: AttachmentKind::Document,
        file_id: "f".into(),
        name: "../../shot.png".into(),
        mime: Some("application/octet-stream".into()),
        size: None,
        path: None,
    };
    server.fault("getfile", 502, "<html>");
    let stored = media::fetch(&api, &attachment, MessageId(5), &directory)
        .await
        .unwrap();
    let path = stored.path.unwrap();
    assert_eq!(path.parent(), Some(directory.as_path()));
    assert!(
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .ends_with("_shot.png")
    );
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        (stored.mime.as_deref(), stored.size),
        (Some("image/png"), Some(17))
    );

    let huge = Attachment {
        size: Some(25_000_000),
        ..attachment
    };
    let asked = server.calls_of("getfile").len();
    let fault = media::fetch(&api, &huge, MessageId(6), &directory)
        .await
        .unwrap_err();
    assert_eq!(fault.key, "access-file-too-big");
    assert_eq!(server.calls_of("getfile").len(), asked);
}
