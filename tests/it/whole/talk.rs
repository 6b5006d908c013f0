//! Questions, queues, long conversations, Telegram's own limits.

use std::sync::Arc;

use greenlight::domain::ModelFault;
use greenlight::playground::{FaultKind, MEMBER};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::rig::{Rig, check, write};
use crate::support::script::{Step, call, say};

fn ask(question: &str, options: &[&str]) -> Step {
    call(
        "ask_user",
        json!({"question": question, "options": options}),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_by_a_tap_or_by_words() {
    let rig = Rig::new().await;
    let mark = rig.mark();
    rig.script.then([
        ask("Which colour?", &["Red", "Green"]),
        check(
            |asked| {
                assert!(
                    asked.last_result().contains("Green"),
                    "{}",
                    asked.last_result()
                )
            },
            ask("Which size?", &[]),
        ),
        check(
            |asked| {
                assert!(
                    asked.last_result().contains("rather small"),
                    "{}",
                    asked.last_result()
                )
            },
            say("Green and small."),
        ),
    ]);
    rig.say("Paint it");
    let card = rig.reply(mark, "Which colour?").await;
    let green = card
        .data()
        .into_iter()
        .find(|data| data.ends_with(":1"))
        .unwrap();
    let other = rig.tap_as(MEMBER, rig.bot.chat(), card.id, &green).await;
    assert!(other.alert, "{other:?}");
    assert!(!rig.tap(card.id, &green).await.alert);
    rig.reply(mark, "Which size?").await;
    rig.say("rather small");
    rig.reply(mark, "Green and small.").await;
    rig.settled(mark).await;
    assert_eq!(rig.script.asked().len(), 3);
    assert!(!rig.tap(card.id, &green).await.text.is_empty());
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_that_is_too_long_is_summed_up_and_asked_once_more() {
    let rig = Rig::new().await;
    rig.turn("The word is plum", vec![say("Noted.")]).await;
    let mark = rig.mark();
    rig.script.then([
        Step::Fault(ModelFault::ContextTooLong),
        say("Plum, of course."),
    ]);
    rig.say("Which word?");
    rig.reply(mark, "Plum, of course.").await;
    rig.settled(mark).await;
    assert!(rig.script.last().last_user().contains("Which word?"));
    let mark = rig.mark();
    let count = rig.script.asked().len();
    rig.script.then([
        Step::Fault(ModelFault::ContextTooLong),
        Step::Fault(ModelFault::ContextTooLong),
    ]);
    rig.say("And again?");
    rig.reply(mark, "/compact").await;
    assert_eq!(rig.script.asked().len(), count + 2);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_queue_mode_the_next_message_waits_for_its_own_turn() {
    let rig = Rig::setup()
        .env("GREENLIGHT_TELEGRAM_BUSY", "queue")
        .start()
        .await;
    let mark = rig.mark();
    let gate = Arc::new(Semaphore::new(0));
    rig.script.then([
        Step::Held(
            Arc::clone(&gate),
            Box::new(call("read_file", json!({"path": "calc.py"}))),
        ),
        check(
            |asked| assert!(!asked.plain().contains("the second")),
            say("First done."),
        ),
        check(
            |asked| assert!(asked.last_user().contains("the second")),
            say("Second done."),
        ),
    ]);
    rig.say("This is the first");
    rig.wait("a request", |rig| (rig.script.count() > 0).then_some(()))
        .await;
    rig.say("This is the second");
    rig.wait("the update to be taken", |rig| {
        (rig.world().pending() == 0).then_some(())
    })
    .await;
    gate.add_permits(1);
    rig.reply(mark, "First done.").await;
    rig.reply(mark, "Second done.").await;
    rig.settled(mark).await;
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_repeats_itself_is_hinted_and_then_stopped() {
    let rig = Rig::new().await;
    let mark = rig.mark();
    rig.script
        .brain(|_| call("read_file", json!({"path": "calc.py"})));
    rig.say("Read it");
    rig.reply(mark, "⛔").await;
    rig.settled(mark).await;
    let asked = rig.script.asked().len();
    assert!((6..40).contains(&asked), "{asked} requests");
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_telegram_puts_off_comes_later_and_once() {
    let rig = Rig::new().await;
    let mark = rig.mark();
    rig.bot.fault("sendMessage", 1, FaultKind::TooMany(1));
    rig.turn(
        "Look",
        vec![
            call("read_file", json!({"path": "calc.py"})),
            say("Here it is."),
        ],
    )
    .await;
    rig.bot.fault("editMessageText", 2, FaultKind::Html(502));
    rig.turn("Write", vec![write("a.txt", "a"), say("And here.")])
        .await;
    let said = |text: &str| {
        let posts = rig.messages().into_iter();
        posts
            .filter(|post| post.from_bot && post.id.0 > mark && post.text == text)
            .count()
    };
    assert_eq!((said("Here it is."), said("And here.")), (1, 1));
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn within_telegrams_limits_no_call_is_refused() {
    let rig = Rig::setup().limits().start().await;
    for round in 0..3 {
        let answer = format!("Round {round} done.");
        let mut steps: Vec<Step> = (0..4)
            .map(|number| write(&format!("f{number}.txt"), &answer))
            .collect();
        steps.push(say(&answer));
        rig.turn(&format!("Round {round}"), steps).await;
    }
    let floods = rig
        .bot
        .log()
        .into_iter()
        .filter(|call| call.status == 429)
        .count();
    assert_eq!(floods, 0);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_was_edited_before_it_was_read_counts_as_edited() {
    let rig = Rig::new().await;
    let mark = rig.mark();
    let gate = Arc::new(Semaphore::new(0));
    rig.script.then([
        Step::Held(
            Arc::clone(&gate),
            Box::new(call("read_file", json!({"path": "calc.py"}))),
        ),
        check(
            |asked| {
                assert!(asked.plain().contains("pears"), "{}", asked.plain());
                assert!(!asked.plain().contains("apples"));
            },
            say("Pears then."),
        ),
    ]);
    rig.say("Begin");
    rig.wait("a request", |rig| (rig.script.count() > 0).then_some(()))
        .await;
    let more = rig.say("Take apples");
    rig.wait("a sign that it waits", |rig| {
        (!rig.post(more).reactions.is_empty()).then_some(())
    })
    .await;
    rig.world().edit(
        greenlight::playground::OWNER,
        rig.bot.chat(),
        more,
        "Take pears",
    );
    // The answer to a command that came later shows that the edit has arrived.
    rig.command("/status", "Running").await;
    gate.add_permits(1);
    rig.reply(mark, "Pears then.").await;
    rig.settled(mark).await;
    rig.finish().await;
}
