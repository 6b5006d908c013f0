//! Floods, faults, people who are gone, and what the record says about them.

use std::time::Duration;

use greenlight::playground::{
    Draft, FaultKind, MEMBER, OWNER, Person, STRANGER, Standing, invariants,
};
use serde_json::{Value, json};

use super::world;
use crate::support::{Client, TestBot};

#[tokio::test]
async fn floods_are_refused_and_calls_inside_the_wait_are_blamed() {
    let bot = TestBot::builder().limits().start().await;
    let client = Client::new(&bot);
    let send = || client.call("sendMessage", json!({ "chat_id": OWNER, "text": "x" }));
    let mut refused = None;
    for _ in 0..8 {
        let (status, body) = send().await;
        if status == 429 {
            refused = Some(body);
            break;
        }
    }
    let body = refused.expect("a refusal after the burst");
    assert_eq!(body["parameters"]["retry_after"], json!(1));
    assert_eq!(body["description"], "Too Many Requests: retry after 1");
    assert!(
        bot.world()
            .verdict()
            .iter()
            .any(|line| line.contains("429"))
    );
}

#[tokio::test]
async fn faults_strike_before_or_after_the_effect() {
    let (bot, client) = world().await;
    let send =
        |text: &str| client.try_call("sendMessage", json!({ "chat_id": OWNER, "text": text }));
    bot.fault("sendMessage", 1, FaultKind::TooMany(7));
    assert_eq!(
        send("a").await.unwrap().1["parameters"]["retry_after"],
        json!(7)
    );
    bot.fault("*", 1, FaultKind::Html(502));
    let (status, body) = client.try_call("getMe", json!({})).await.unwrap();
    assert!(status == 502 && body.as_str().unwrap().starts_with("<html>"));
    let client = Client::new(&bot);
    let send =
        |text: &str| client.try_call("sendMessage", json!({ "chat_id": MEMBER, "text": text }));
    bot.fault("sendMessage", 1, FaultKind::Cut);
    assert!(send("b").await.is_err());
    bot.fault("sendMessage", 1, FaultKind::CutAfter);
    assert!(send("c").await.is_err());
    bot.fault("sendMessage", 1, FaultKind::TruncateAfter);
    assert!(send("d").await.is_err());
    bot.fault(
        "sendMessage",
        1,
        FaultKind::DelayAfter(Duration::from_millis(1)),
    );
    assert!(send("e").await.is_ok());
    let chat = greenlight::domain::ChatId(MEMBER.0);
    let texts: Vec<String> = bot
        .world()
        .messages(chat)
        .into_iter()
        .map(|post| post.text)
        .collect();
    assert_eq!(texts, vec!["c", "d", "e"]);
    assert_eq!(invariants(&bot.log()), Vec::<String>::new());
}

#[tokio::test]
async fn nobody_is_written_to_who_blocked_the_bot_or_never_began() {
    let (bot, client) = world().await;
    bot.world().person(Person::new(9, "New", "new"));
    let send = |chat: i64| json!({ "chat_id": chat, "text": "x" });
    let (code, words) = client.refused("sendMessage", send(9)).await;
    assert_eq!(
        (code, words.as_str()),
        (
            403,
            "Forbidden: bot can't initiate conversation with a user"
        )
    );
    bot.world().stand(bot.chat(), OWNER, Standing::Kicked);
    let (code, words) = client.refused("sendMessage", send(OWNER.0)).await;
    assert_eq!(
        (code, words.as_str()),
        (403, "Forbidden: bot was blocked by the user")
    );
    let updates = client.ok("getUpdates", json!({ "offset": -1 })).await;
    assert_eq!(
        updates[0]["my_chat_member"]["new_chat_member"]["status"],
        "kicked"
    );
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_names_its_new_id() {
    let (bot, client) = world().await;
    let kind = greenlight::playground::RoomKind::Group;
    let old = bot
        .world()
        .group(-55, "Old", kind, false, &[OWNER, STRANGER]);
    let new = bot.world().migrate(old, OWNER);
    let (status, body) = client
        .call("sendMessage", json!({ "chat_id": old, "text": "x" }))
        .await;
    assert_eq!(
        (status, &body["parameters"]["migrate_to_chat_id"]),
        (400, &json!(new))
    );
    client
        .ok("sendMessage", json!({ "chat_id": new, "text": "x" }))
        .await;
    assert_eq!(invariants(&bot.log()), Vec::<String>::new());
}

#[tokio::test]
async fn secrets_wrong_entities_and_markup_strings_are_found_in_the_record() {
    let (bot, client) = world().await;
    bot.world().guard("sk-very-secret");
    client
        .call(
            "sendMessage",
            json!({ "chat_id": OWNER, "text": "my sk-very-secret" }),
        )
        .await;
    client
        .call(
            "sendMessage",
            json!({ "chat_id": OWNER, "text": "<b>x</b>", "parse_mode": "HTML" }),
        )
        .await;
    client
        .call(
            "sendMessage",
            json!({ "chat_id": OWNER, "text": "x", "entities": [
        { "type": "bold", "offset": 0, "length": 2 } ] }),
        )
        .await;
    let found = bot.world().verdict().join("\n");
    for words in [
        "a secret was sent",
        "parse_mode was sent",
        "ends after the end of the text",
    ] {
        assert!(found.contains(words), "{words} not in {found}");
    }
}

#[tokio::test]
async fn the_webhook_gets_updates_with_its_secret_until_it_says_yes() {
    use axum::http::{HeaderMap, StatusCode};
    use tokio::sync::mpsc;
    let (bot, client) = world().await;
    let (tell, mut told) = mpsc::unbounded_channel();
    let hook = axum::Router::new().route(
        "/hook",
        axum::routing::post(
            move |headers: HeaderMap, body: axum::Json<Value>| async move {
                let first = tell
                    .send((headers["x-telegram-bot-api-secret-token"].clone(), body.0))
                    .is_ok();
                if first && headers.contains_key("never") {
                    StatusCode::IM_A_TEAPOT
                } else {
                    StatusCode::OK
                }
            },
        ),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, hook).await });
    client
        .ok(
            "setWebhook",
            json!({ "url": url, "secret_token": "s3cret" }),
        )
        .await;
    let (code, _) = client.refused("getUpdates", json!({})).await;
    assert_eq!(code, 409);
    bot.send(Draft::text("by hook"));
    loop {
        let (secret, update) = told.recv().await.unwrap();
        assert_eq!(secret, "s3cret");
        if update["message"]["text"] == "by hook" {
            break;
        }
    }
    bot.world()
        .wait_for(|world| (world.pending() == 0).then_some(()))
        .await;
}
