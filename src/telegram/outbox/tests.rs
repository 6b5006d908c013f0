use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Content, Edit, EditReport, Fault, Lane, LedgerKey, LedgerRow, MemoryJournal, Outbox,
    OutboxNotice, OutboxParts, Send, SendFault, Upload, Wire,
};
use crate::config::TelegramLimits;
use crate::domain::{ChatId, ChatKey, Entity, EntityKind, Formatted, MessageId, ThreadId};
use crate::telegram::outbox::Journal as _;

mod durable;

/// A wire that answers from a script, then with success, and notes every call.
struct FakeWire {
    script: Mutex<VecDeque<Fault>>,
    calls: Mutex<Vec<(String, Value, u128)>>,
    start: Instant,
}

impl FakeWire {
    fn answer(&self, method: &str, body: &Value) -> Result<Value, Fault> {
        let mut calls = self.calls.lock().unwrap();
        calls.push((
            method.into(),
            body.clone(),
            self.start.elapsed().as_millis(),
        ));
        if let Some(fault) = self.script.lock().unwrap().pop_front() {
            return Err(fault);
        }
        Ok(json!({ "message_id": calls.len() }))
    }
}

impl Wire for FakeWire {
    fn call<'a>(&'a self, method: &'a str, body: &'a Value) -> BoxFuture<'a, Result<Value, Fault>> {
        Box::pin(async move { self.answer(method, body) })
    }

    fn upload<'a>(
        &'a self,
        method: &'a str,
        fields: &'a Value,
        file: &'a Upload,
    ) -> BoxFuture<'a, Result<Value, Fault>> {
        Box::pin(async move {
            let mut fields = fields.clone();
            fields["file"] = json!(file.name);
            self.answer(method, &fields)
        })
    }
}

struct Bench {
    wire: Arc<FakeWire>,
    journal: Arc<MemoryJournal>,
    outbox: Outbox,
}

impl Bench {
    fn new(script: impl IntoIterator<Item = Fault>) -> Self {
        Self::over(Arc::new(MemoryJournal::default()), script)
    }

    fn over(journal: Arc<MemoryJournal>, script: impl IntoIterator<Item = Fault>) -> Self {
        let wire = Arc::new(FakeWire {
            script: Mutex::new(script.into_iter().collect()),
            calls: Mutex::default(),
            start: Instant::now(),
        });
        let outbox = Outbox::start(OutboxParts {
            wire: wire.clone(),
            journal: journal.clone(),
            limits: TelegramLimits::default(),
            link_previews: false,
            used_before: false,
            language: "en".into(),
        });
        Self {
            wire,
            journal,
            outbox,
        }
    }

    fn calls(&self) -> Vec<(String, Value, u128)> {
        self.wire.calls.lock().unwrap().clone()
    }
}

fn dm() -> ChatKey {
    ChatKey::new(ChatId(7), None)
}

fn text(words: &str) -> Send {
    Send::new(dm(), Content::Text(Formatted::plain(words)), Lane::Final)
}

fn ledger(send: Send) -> Send {
    Send {
        ledger: Some(LedgerKey {
            scope: "s:1".into(),
            index: 0,
        }),
        ..send
    }
}

fn edit(message: i32, words: &str) -> Edit {
    Edit {
        key: dm(),
        message: MessageId(message),
        content: Content::Text(Formatted::plain(words)),
        keyboard: None,
        lane: Lane::Content,
    }
}

#[tokio::test(start_paused = true)]
async fn a_send_carries_what_telegram_needs_and_no_parse_mode() {
    let bench = Bench::new([]);
    let send = Send {
        key: ChatKey::new(ChatId(-5), Some(ThreadId(42))),
        reply_to: Some(MessageId(3)),
        silent: true,
        ..text("Hello")
    };
    assert_eq!(bench.outbox.send(send).await, Ok(MessageId(1)));
    let (method, body, _) = bench.calls().remove(0);
    assert_eq!(method, "sendMessage");
    assert_eq!(
        body,
        json!({
            "chat_id": -5, "message_thread_id": 42, "text": "Hello", "disable_notification": true,
            "reply_parameters": { "message_id": 3, "allow_sending_without_reply": true },
            "link_preview_options": { "is_disabled": true },
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_closes_the_chat_for_its_time_and_the_send_arrives_once() {
    let bench = Bench::new([Fault::RetryAfter {
        seconds: 3,
        bot_wide: false,
    }]);
    let (sent, edited) = tokio::join!(
        bench.outbox.send(text("a")),
        bench.outbox.edit(edit(9, "b"))
    );
    assert!(sent.is_ok() && edited.is_ok());
    let times: Vec<u128> = bench.calls().iter().map(|call| call.2).collect();
    assert_eq!(times.len(), 3);
    assert!(times[1] >= 4_000 && times[0] < 100, "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_of_waiting_edits_is_made() {
    let bench = Bench::new([Fault::RetryAfter {
        seconds: 2,
        bot_wide: false,
    }]);
    let (a, b, c) = tokio::join!(
        bench.outbox.edit(edit(9, "one")),
        bench.outbox.edit(edit(9, "two")),
        bench.outbox.edit(edit(9, "three")),
    );
    assert_eq!(c, Ok(EditReport::Accepted));
    assert_eq!(
        (a, b),
        (Ok(EditReport::Superseded), Ok(EditReport::Superseded))
    );
    assert_eq!(bench.calls().last().unwrap().1["text"], "three");
}

#[tokio::test(start_paused = true)]
async fn not_modified_is_success_and_a_missing_message_is_told() {
    let bench = Bench::new([Fault::NotModified, Fault::MessageGone]);
    assert_eq!(
        bench.outbox.edit(edit(1, "x")).await,
        Ok(EditReport::Accepted)
    );
    assert_eq!(bench.outbox.edit(edit(1, "y")).await, Err(SendFault::Gone));
}

#[tokio::test(start_paused = true)]
async fn refused_content_goes_once_more_as_plain_text() {
    let bench = Bench::new([Fault::BadRequest("entities".into())]);
    let mut send = text("bold");
    if let Content::Text(text) = &mut send.content {
        text.entities.push(Entity {
            kind: EntityKind::Bold,
            offset: 0,
            length: 4,
        });
    }
    assert!(bench.outbox.send(send).await.is_ok());
    assert!(bench.calls()[0].1.get("entities").is_some());
    assert!(bench.calls()[1].1.get("entities").is_none());
}

#[tokio::test(start_paused = true)]
async fn rich_messages_fall_back_to_classic_for_the_chat() {
    let bench = Bench::new([Fault::BadRequest("rich".into())]);
    let rich = Content::RichHtml {
        html: "<p>x</p>".into(),
        fallback: Formatted::plain("x"),
    };
    assert!(
        bench
            .outbox
            .send(Send {
                content: rich.clone(),
                ..text("")
            })
            .await
            .is_ok()
    );
    assert!(bench.outbox.rich_refused(ChatId(7)));
    assert!(
        bench
            .outbox
            .send(Send {
                content: rich,
                ..text("")
            })
            .await
            .is_ok()
    );
    let methods: Vec<String> = bench.calls().into_iter().map(|call| call.0).collect();
    assert_eq!(methods, ["sendRichMessage", "sendMessage", "sendMessage"]);
}

#[tokio::test(start_paused = true)]
async fn a_send_with_a_lost_reply_is_tried_once_more_and_never_a_third_time() {
    let bench = Bench::new([Fault::Unknown]);
    assert!(bench.outbox.send(text("a")).await.is_ok());
    let bench = Bench::new([Fault::Unknown, Fault::Unreachable, Fault::Unknown]);
    assert_eq!(bench.outbox.send(text("a")).await, Err(SendFault::Unknown));
    assert_eq!(bench.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn server_errors_and_outages_are_waited_out() {
    let faults = [
        Fault::Server(502),
        Fault::Server(502),
        Fault::Unreachable,
        Fault::Unreachable,
    ];
    let bench = Bench::new(faults);
    assert!(bench.outbox.send(text("a")).await.is_ok());
    assert_eq!(bench.calls().len(), 5);
}
