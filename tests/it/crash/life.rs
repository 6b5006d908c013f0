//! Start and stop of the process, and a store that was damaged between them.

use greenlight::playground::{FaultKind, OWNER, World};
use rustix::process::Signal;
use serde_json::json;

use super::rig::{Rig, within};
use super::script::answer;

async fn answered(rig: &Rig, tag: u32) {
    rig.bot.say(&format!("Q{tag} plain"));
    let chat = rig.bot.chat();
    rig.until("an answer", |world| {
        let posts = world.messages(chat);
        posts
            .iter()
            .any(|post| post.from_bot && post.text.contains(&answer(tag)))
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_stop_by_signal_is_clean_and_a_second_process_is_refused_with_words() {
    let mut rig = Rig::new("openai/scripted", false).await;
    rig.start();
    answered(&rig, 1).await;
    let mut second = rig.command().spawn().unwrap();
    assert_eq!(within(second.wait()).await.unwrap().code(), Some(1));
    assert!(
        rig.log().contains("Another greenlight is using"),
        "{}",
        rig.log()
    );
    rig.signal(Signal::TERM);
    assert_eq!(rig.ended().await, Some(0));
    assert!(rig.log().contains("stopped"));
    assert!(rig.names().iter().any(|name| name == "backups"));
}

#[tokio::test]
async fn a_refused_token_ends_the_program_with_a_sentence_and_an_exit_code() {
    let mut rig = Rig::new("openai/scripted", false).await;
    rig.start();
    answered(&rig, 1).await;
    rig.bot.fault(
        "getUpdates",
        100,
        FaultKind::Refuse(401, "Unauthorized".into()),
    );
    // The open poll ends with an update.
    rig.bot.say("Q2 plain");
    assert_eq!(rig.ended().await, Some(1));
    let log = rig.log();
    assert!(log.contains("Telegram refuses the bot token"), "{log}");
    assert!(!log.contains(&rig.bot.server.token));
}

#[tokio::test]
async fn a_damaged_store_is_replaced_by_its_backup_and_the_owner_is_told() {
    let mut rig = Rig::new("openai/scripted", false).await;
    rig.start();
    answered(&rig, 1).await;
    rig.signal(Signal::TERM);
    assert_eq!(rig.ended().await, Some(0));
    for entry in std::fs::read_dir(rig.home.join("db")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::write(path, b"this is no database").unwrap();
        }
    }
    rig.start();
    let chat = rig.bot.chat();
    let told = rig
        .until("a report", |world| {
            let posts = world.messages(chat);
            posts.into_iter().find(|post| post.text.contains("damaged"))
        })
        .await;
    assert!(told.text.contains("I restored the backup"), "{}", told.text);
    assert!(!told.text.contains(&rig.home.display().to_string()));
    assert!(
        rig.names()
            .iter()
            .any(|name| name.starts_with("db.corrupt"))
    );
    answered(&rig, 2).await;
    // The conversation of before is known.
    let last = rig.model.requests().pop().unwrap();
    assert!(last.to_string().contains("Q1 plain"));
}

#[tokio::test]
async fn buttons_nobody_knows_are_taken_off_even_if_the_program_dies_in_between() {
    let method = "editMessageReplyMarkup";
    let mut rig = Rig::new("openai/scripted", false).await;
    rig.start();
    answered(&rig, 1).await;
    let chat = rig.bot.chat();
    // A card whose send was cut before the program learnt its id.
    let server = &rig.bot.server;
    let url = format!("{}/bot{}/sendMessage", server.api_url, server.token);
    let button = json!({"text": "Approve", "callback_data": "approve:0123456789abcdef"});
    let card = json!({
        "chat_id": chat.0,
        "text": "Run this command?",
        "reply_markup": {"inline_keyboard": [[button]]}
    });
    let sent = reqwest::Client::new().post(url).json(&card).send().await;
    assert!(sent.unwrap().status().is_success());
    let last = rig.bot.messages().pop().unwrap();
    rig.bot.fault(method, 1, FaultKind::Html(502));
    rig.bot
        .world()
        .tap(OWNER, chat, last.id, "approve:0123456789abcdef");
    let tries = |world: &World| {
        let log = world.log();
        log.iter().filter(|call| call.method == method).count()
    };
    rig.until("a try", |world| (tries(world) > 0).then_some(()))
        .await;
    rig.until("the tap to be taken", |world| {
        (world.pending() == 0).then_some(())
    })
    .await;
    rig.kill().await;
    let before = tries(rig.bot.world());
    rig.start();
    rig.until("another try", |world| (tries(world) > before).then_some(()))
        .await;
    // Once it has been done it is not done again.
    answered(&rig, 2).await;
    rig.kill().await;
    let before = tries(rig.bot.world());
    rig.start();
    answered(&rig, 3).await;
    assert_eq!(tries(rig.bot.world()), before);
    // A tap that was cut off between its answer and its closing is answered again.
    let mut broken = rig.bot.world().verdict();
    broken.retain(|fault| !fault.contains("answered twice"));
    assert!(broken.is_empty(), "{broken:?}");
}
