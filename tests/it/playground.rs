//! The strict Bot API keeps Telegram's rules.

use greenlight::domain::MessageId;
use greenlight::playground::{GROUP, MEMBER, OWNER};
use serde_json::{Value, json};

mod faults;

use crate::support::{Client, TestBot};

async fn world() -> (TestBot, Client) {
    let bot = TestBot::new().await;
    let client = Client::new(&bot);
    (bot, client)
}

fn bad(words: &str) -> (u16, String) {
    (400, format!("Bad Request: {words}"))
}

#[tokio::test]
async fn a_wrong_token_and_an_unknown_method_are_refused() {
    let (bot, client) = world().await;
    let url = format!("{}/bot1:wrong/getMe", bot.server.api_url);
    let reply = client.http().get(url).send().await.unwrap();
    assert_eq!(reply.status().as_u16(), 401);
    assert_eq!(
        client.refused("sendTelepathy", json!({})).await,
        (404, "Not Found: method not found".to_owned())
    );
    assert_eq!(client.ok("GETME", json!({})).await["is_bot"], json!(true));
}

#[tokio::test]
async fn arguments_arrive_by_query_form_json_and_multipart_alike() {
    let (bot, client) = world().await;
    let chat = OWNER.0.to_string();
    let fields = [("chat_id", chat.as_str()), ("text", "ж & b=1")];
    let http = client.http();
    let url = client.url("sendMessage");
    let form = reqwest::multipart::Form::new()
        .text("chat_id", chat.clone())
        .text("text", "ж & b=1");
    for reply in [
        http.get(&url).query(&fields).send().await,
        http.post(&url).form(&fields).send().await,
        http.post(&url).multipart(form).send().await,
    ] {
        assert_eq!(reply.unwrap().status().as_u16(), 200);
    }
    let texts: Vec<String> = bot.messages().into_iter().map(|post| post.text).collect();
    assert_eq!(texts, vec!["ж & b=1"; 3]);
}

#[tokio::test]
async fn a_text_is_bounded_by_characters_and_stored_with_the_entities_found() {
    let (bot, client) = world().await;
    let send = |text: String| json!({ "chat_id": OWNER, "text": text });
    client.ok("sendMessage", send("😀".repeat(4096))).await;
    assert_eq!(
        client.refused("sendMessage", send("😀".repeat(4097))).await,
        bad("message is too long")
    );
    assert_eq!(
        client.refused("sendMessage", send("a".repeat(32769))).await,
        bad("text is too long")
    );
    assert_eq!(
        client.refused("sendMessage", send(String::new())).await,
        bad("message text is empty")
    );
    assert_eq!(
        client.refused("sendMessage", send(" \n ".to_owned())).await,
        bad("text must be non-empty")
    );
    let sent = client
        .ok(
            "sendMessage",
            json!({ "chat_id": OWNER, "text": "  bold https://example.org  ", "entities": [
            { "type": "bold", "offset": 2, "length": 4 } ] }),
        )
        .await;
    assert_eq!(sent["text"], "bold https://example.org");
    assert_eq!(
        sent["entities"],
        json!([{ "type": "bold", "offset": 0, "length": 4 }, { "type": "url", "offset": 5, "length": 19 }])
    );
    assert_eq!(bot.messages().len(), 2);
}

#[tokio::test]
async fn a_button_needs_a_label_and_at_most_64_bytes_of_data() {
    let (_bot, client) = world().await;
    let send = |button: Value| json!({ "chat_id": OWNER, "text": "x", "reply_markup": { "inline_keyboard": [[button]] } });
    client
        .ok(
            "sendMessage",
            send(json!({ "text": "ok", "callback_data": "a".repeat(64) })),
        )
        .await;
    for (button, words) in [
        (
            json!({ "text": "ok", "callback_data": "ж".repeat(33) }),
            "BUTTON_DATA_INVALID",
        ),
        (
            json!({ "text": " ", "callback_data": "a" }),
            "Inline keyboard button text must be non-empty",
        ),
        (
            json!({ "text": "ok" }),
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
    ] {
        assert_eq!(
            client.refused("sendMessage", send(button)).await,
            bad(words)
        );
    }
}

#[tokio::test]
async fn an_edit_must_change_something_of_an_own_message_that_is_there() {
    let (bot, client) = world().await;
    let theirs = bot.say("mine");
    let sent = client
        .ok(
            "sendMessage",
            json!({ "chat_id": OWNER, "text": "one", "reply_markup": { "inline_keyboard": [[
            { "text": "go", "callback_data": "go" } ]] } }),
        )
        .await;
    let id = &sent["message_id"];
    let edit = |id: &Value, text: &str| json!({ "chat_id": OWNER, "message_id": id, "text": text });
    let (_, words) = client
        .refused(
            "editMessageText",
            json!({ "chat_id": OWNER, "message_id": id, "text": "one",
            "reply_markup": sent["reply_markup"] }),
        )
        .await;
    assert!(words.contains("message is not modified"), "{words}");
    let edited = client.ok("editMessageText", edit(id, "one")).await;
    assert_eq!(
        edited.get("reply_markup"),
        None,
        "a keyboard not given again is removed"
    );
    assert_eq!(
        client
            .refused("editMessageText", edit(&json!(99_999), "x"))
            .await,
        bad("message to edit not found")
    );
    assert_eq!(
        client
            .refused("editMessageText", edit(&json!(theirs), "x"))
            .await,
        bad("message can't be edited")
    );
    assert_eq!(
        client
            .refused("editMessageText", edit(id, &"a".repeat(4097)))
            .await,
        bad("MESSAGE_TOO_LONG")
    );
    client
        .ok(
            "deleteMessage",
            json!({ "chat_id": OWNER, "message_id": id }),
        )
        .await;
    assert_eq!(
        client
            .refused(
                "deleteMessage",
                json!({ "chat_id": OWNER, "message_id": id })
            )
            .await,
        bad("message to delete not found")
    );
}

#[tokio::test]
async fn an_update_comes_again_until_a_higher_offset_confirms_it() {
    let (bot, client) = world().await;
    bot.say("one");
    bot.say("two");
    let batch = client
        .ok("getUpdates", json!({ "limit": 10, "offset": -2 }))
        .await;
    assert_eq!(batch.as_array().unwrap().len(), 2);
    let first = batch[0]["update_id"].as_i64().unwrap();
    assert_eq!(
        client.ok("getUpdates", json!({ "offset": first })).await,
        batch
    );
    let rest = client
        .ok("getUpdates", json!({ "offset": first + 1 }))
        .await;
    assert_eq!(rest[0]["message"]["text"], "two");
    client
        .ok("getUpdates", json!({ "offset": first + 2, "timeout": 0 }))
        .await;
    assert_eq!(bot.world().pending(), 0);
}

#[tokio::test]
async fn a_long_poll_returns_when_something_comes_and_gives_way_to_a_newer_one() {
    let (bot, client) = world().await;
    client
        .ok("getUpdates", json!({ "offset": 1_000_000 }))
        .await;
    let poll = |client: Client| {
        tokio::spawn(async move { client.call("getUpdates", json!({ "timeout": 30 })).await })
    };
    let count = |bot: &TestBot| {
        bot.world()
            .log()
            .iter()
            .filter(|call| call.method == "getUpdates")
            .count()
    };
    let older = poll(client.clone());
    bot.world()
        .wait_for(|_| (count(&bot) == 2).then_some(()))
        .await;
    let newer = poll(client.clone());
    let (status, body) = older.await.unwrap();
    assert_eq!(status, 409, "{body}");
    bot.say("hello");
    let (status, body) = newer.await.unwrap();
    assert_eq!(
        (status, &body["result"][0]["message"]["text"]),
        (200, &json!("hello"))
    );
}

#[tokio::test]
async fn a_tap_is_delivered_and_can_be_answered_and_a_foreign_id_cannot() {
    let (bot, client) = world().await;
    let sent = client
        .ok("sendMessage", json!({ "chat_id": OWNER, "text": "x" }))
        .await;
    let message = MessageId(i32::try_from(sent["message_id"].as_i64().unwrap()).unwrap());
    let tap = bot.world().tap(MEMBER, bot.chat(), message, "plan:ok");
    assert_eq!(
        bot.world().verdict(),
        vec!["the tap on plan:ok was never answered"]
    );
    let updates = client.ok("getUpdates", json!({ "offset": -1 })).await;
    let query = &updates[0]["callback_query"];
    assert_eq!(
        (&query["data"], &query["from"]["id"]),
        (&json!("plan:ok"), &json!(MEMBER))
    );
    client
        .ok(
            "answerCallbackQuery",
            json!({ "callback_query_id": query["id"], "text": "no", "show_alert": true }),
        )
        .await;
    let answer = bot.world().answer(&tap).unwrap();
    assert_eq!((answer.text.as_str(), answer.alert), ("no", true));
    bot.assert_clean();
    let (code, words) = client
        .refused("answerCallbackQuery", json!({ "callback_query_id": "5" }))
        .await;
    assert!(code == 400 && words.contains("query is too old"), "{words}");
}

#[tokio::test]
async fn topics_must_exist_and_be_open_and_general_is_never_named() {
    let (bot, client) = world().await;
    let thread = bot.group_messages()[0].thread.unwrap();
    let send =
        |thread: Value| json!({ "chat_id": GROUP, "text": "x", "message_thread_id": thread });
    let sent = client.ok("sendMessage", send(json!(thread))).await;
    assert_eq!(
        (&sent["message_thread_id"], &sent["is_topic_message"]),
        (&json!(thread), &json!(true))
    );
    for unknown in [json!(1), json!(77)] {
        assert_eq!(
            client.refused("sendMessage", send(unknown)).await,
            bad("message thread not found")
        );
    }
    bot.world().close_topic(GROUP, thread, false);
    assert_eq!(
        client.refused("sendMessage", send(json!(thread))).await,
        bad("TOPIC_CLOSED")
    );
    let found = bot.world().verdict();
    assert!(
        found.iter().any(|line| line.contains("topic 1 was sent")),
        "{found:?}"
    );
}

#[tokio::test]
async fn files_go_both_ways() {
    let (bot, client) = world().await;
    let part = reqwest::multipart::Part::bytes(b"# plan".to_vec()).file_name("plan.md");
    let form = reqwest::multipart::Form::new()
        .text("chat_id", OWNER.0.to_string())
        .text("document", "attach://one")
        .text("caption", "the plan")
        .part("one", part);
    let reply = client
        .http()
        .post(client.url("sendDocument"))
        .multipart(form)
        .send()
        .await
        .unwrap();
    let body: Value = reply.json().await.unwrap();
    assert_eq!(body["result"]["document"]["file_name"], "plan.md");
    let file = bot.messages()[0].file.clone().unwrap();
    assert_eq!(&file.bytes[..], b"# plan");
    let found = client.ok("getFile", json!({ "file_id": file.id })).await;
    let url = format!(
        "{}/file/bot{}/{}",
        bot.server.api_url,
        bot.server.token,
        found["file_path"].as_str().unwrap()
    );
    assert_eq!(
        client
            .http()
            .get(url)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap(),
        "# plan"
    );
}

#[tokio::test]
async fn the_narrowest_menu_in_the_persons_language_wins() {
    let (bot, client) = world().await;
    let set = |name: &str, scope: Value, language: &str| json!({ "commands": [{ "command": name, "description": "d" }], "scope": scope, "language_code": language });
    client
        .ok(
            "setMyCommands",
            set("any", json!({ "type": "default" }), ""),
        )
        .await;
    client
        .ok(
            "setMyCommands",
            set("private", json!({ "type": "all_private_chats" }), ""),
        )
        .await;
    client
        .ok(
            "setMyCommands",
            set("english", json!({ "type": "all_private_chats" }), "en"),
        )
        .await;
    assert_eq!(bot.world().menu(bot.chat(), OWNER)[0]["command"], "english");
    assert_eq!(bot.world().menu(GROUP, OWNER)[0]["command"], "any");
    let bad_name = set("show-plan", json!({ "type": "default" }), "");
    assert_eq!(
        client.refused("setMyCommands", bad_name).await,
        bad("BOT_COMMAND_INVALID")
    );
}
