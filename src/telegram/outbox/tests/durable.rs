use std::sync::Arc;

use serde_json::{Value, json};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_row_in_the_ledger_is_sent_once_even_over_restarts() {
    let bench = Bench::new([]);
    let first = bench.outbox.send(ledger(text("a"))).await;
    let second = Bench::over(bench.journal.clone(), []);
    assert_eq!(second.outbox.send(ledger(text("a"))).await, first);
    assert!(second.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_send_that_a_crash_cut_off_is_tried_once_more_and_marked() {
    let journal = Arc::new(MemoryJournal::default());
    let key = LedgerKey {
        scope: "s:1".into(),
        index: 0,
    };
    let row = LedgerRow {
        at: 0,
        hash: String::new(),
        message: None,
        retried: false,
    };
    journal.set_ledger(&key, Some(row)).await.unwrap();
    let bench = Bench::over(journal.clone(), []);
    assert!(bench.outbox.send(ledger(text("a"))).await.is_ok());
    assert!(journal.ledger(&key).await.unwrap().unwrap().retried);
}

/// A process of its own: when it returns, everything in it is gone.
fn process<T>(life: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(life)
}

#[test]
fn a_long_refusal_survives_a_restart_with_what_waits() {
    let journal = Arc::new(MemoryJournal::default());
    process(async {
        let refusal = Fault::RetryAfter {
            seconds: 300,
            bot_wide: false,
        };
        let bench = Bench::over(journal.clone(), [refusal]);
        let send = bench.outbox.send(ledger(text("late")));
        let cut = tokio::time::timeout(std::time::Duration::from_secs(5), send).await;
        assert!(cut.is_err());
        assert_eq!(journal.parked().await.unwrap().len(), 1);
    });
    process(async {
        let bench = Bench::over(journal.clone(), []);
        assert!(bench.outbox.send(ledger(text("late"))).await.is_ok());
        let calls = bench.calls();
        assert_eq!(calls.len(), 1);
        assert!(calls[0].2 >= 290_000, "{calls:?}");
        assert!(journal.parked().await.unwrap().is_empty());
        assert!(journal.waits().await.unwrap().is_empty());
    });
}

#[tokio::test(start_paused = true)]
async fn a_blocked_chat_drops_its_queue_and_says_so() {
    let bench = Bench::new([Fault::Blocked]);
    let mut notices = bench.outbox.notices();
    let (a, b) = tokio::join!(bench.outbox.send(text("a")), bench.outbox.send(text("b")));
    assert_eq!((a, b), (Err(SendFault::Blocked), Err(SendFault::Blocked)));
    assert_eq!(
        notices.recv().await,
        Ok(OutboxNotice::Blocked { chat: ChatId(7) })
    );
    assert!(
        bench.outbox.send(text("c")).await.is_ok(),
        "the person may come back"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_stops_everything() {
    let bench = Bench::new([Fault::Unauthorized]);
    assert_eq!(
        bench.outbox.send(text("a")).await,
        Err(SendFault::Unauthorized)
    );
    assert_eq!(
        bench.outbox.send(text("b")).await,
        Err(SendFault::Unauthorized)
    );
    assert!(bench.outbox.halted());
    assert_eq!(bench.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_migrated_group_is_followed() {
    let bench = Bench::new([Fault::Migrated(ChatId(-100))]);
    let send = |words| Send {
        key: ChatKey::new(ChatId(-5), None),
        ..text(words)
    };
    assert!(bench.outbox.send(send("a")).await.is_ok());
    assert!(bench.outbox.send(send("b")).await.is_ok());
    let chats: Vec<Value> = bench
        .calls()
        .into_iter()
        .map(|call| call.1["chat_id"].clone())
        .collect();
    assert_eq!(chats, [json!(-5), json!(-100), json!(-100)]);
}

#[tokio::test(start_paused = true)]
async fn a_vanished_topic_moves_to_the_root_with_one_notice() {
    let bench = Bench::new([Fault::ThreadGone]);
    let key = ChatKey::new(ChatId(-5), Some(ThreadId(42)));
    for words in ["a", "b"] {
        assert!(bench.outbox.send(Send { key, ..text(words) }).await.is_ok());
    }
    let calls = bench.calls();
    assert_eq!(
        calls[1].1["text"],
        "⚠️ The topic is gone, so this comes here.\n\na"
    );
    assert_eq!(calls[2].1["text"], "b");
    assert!(calls[1].1.get("message_thread_id").is_none());
}

#[tokio::test(start_paused = true)]
async fn text_without_a_visible_character_is_never_sent() {
    let bench = Bench::new([]);
    assert!(matches!(
        bench.outbox.send(text(" \u{200b}")).await,
        Err(SendFault::Refused(_))
    ));
    assert!(bench.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_callback_is_answered_while_the_chat_is_closed() {
    let bench = Bench::new([Fault::RetryAfter {
        seconds: 30,
        bot_wide: false,
    }]);
    let outbox = bench.outbox.clone();
    let waiting = tokio::spawn(async move { outbox.send(text("a")).await });
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    bench.outbox.answer_callback("q", "Done", false).await;
    assert_eq!(bench.calls().last().unwrap().0, "answerCallbackQuery");
    assert!(waiting.await.unwrap().is_ok());
}
