//! Flow messages and answers through the outbox and the store, against a wire that keeps what a chat shows.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot build its world has to stop"
)]

mod world;

use std::sync::Arc;

use greenlight::domain::{
    CallId, CallStatus, ChatId, ChatKey, EndReason, Formatted, MessageId, Progress,
};
use greenlight::flow::{FlowOptions, Renderer};
use greenlight::plan::view::{PlanFace, PlanSection, PlanView};
use greenlight::session::answer::{Answer, deliver};
use greenlight::session::flow_record;
use greenlight::session::flow_task::{FlowHandle, PlanDocument, settle_orphan, show_plan};

use world::{Chat, World};

fn options(plan: Option<PlanView>) -> FlowOptions {
    FlowOptions {
        language: "en".into(),
        renderer: Renderer::Classic,
        group: false,
        group_detail: false,
        eager: false,
        plan,
    }
}

fn plan(face: PlanFace, words: usize) -> PlanView {
    PlanView {
        id: "p".into(),
        title: "Fix the adder".into(),
        face,
        revision: "r1".into(),
        version: 0,
        done: 0,
        total: 0,
        blocked: 0,
        recheck: 0,
        goal: None,
        criteria: Vec::new(),
        rows: Vec::new(),
        sections: vec![PlanSection {
            heading: "Context".into(),
            body: "word ".repeat(words),
        }],
        missing: Vec::new(),
    }
}

async fn tool(flow: &FlowHandle, name: &str) {
    let call = CallId::from(name);
    let started = Progress::ToolStarted {
        call: call.clone(),
        tool: "read_file".into(),
        label: "flow-log".into(),
        argument: name.into(),
    };
    flow.progress(started);
    let finished = Progress::ToolFinished {
        call,
        status: CallStatus::Ok,
        summary: String::new(),
        duration_ms: 5,
    };
    flow.progress(finished);
}

async fn seconds(count: u64) {
    tokio::time::advance(std::time::Duration::from_secs(count)).await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_turn_has_one_silent_flow_message_that_settles() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path(), Arc::default()).await;
    let flow = world.start(None);
    tool(&flow, "calc.py").await;
    seconds(2).await;
    let settled = flow.settle(EndReason::Done, None, None).await;
    assert_eq!(settled.message, Some(MessageId(1)));
    let shown = world.chat.shown();
    assert_eq!(shown.len(), 1);
    assert!(
        shown[0].silent && shown[0].text.starts_with("✅ Finished • 1 tool"),
        "{shown:?}"
    );
    assert!(!shown[0].keyboard.contains("callback_data"), "{shown:?}");
    let record = flow_record::load(&world.parts.store, world.parts.key)
        .await
        .unwrap()
        .unwrap();
    assert!(record.settled && !record.dressed);
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_dropped_settles_as_interrupted() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path(), Arc::default()).await;
    let flow = world.start(None);
    tool(&flow, "calc.py").await;
    drop(flow);
    let settled = async {
        while !world
            .chat
            .shown()
            .iter()
            .any(|shown| shown.text.starts_with("⏸ Interrupted"))
        {
            tokio::task::yield_now().await;
            tokio::time::advance(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), settled)
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_plan_moves_to_the_newest_flow_message_and_is_never_shown_twice() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path(), Arc::default()).await;
    let flow = world.start(None);
    tool(&flow, "one").await;
    let ready = Some(plan(PlanFace::Ready, 5));
    let first = flow
        .settle(EndReason::PlanReady, ready.clone(), None)
        .await
        .message
        .unwrap();
    let (store, chat) = (&world.parts.store, ChatId(7));
    let binding = flow_record::binding(store, chat, first)
        .await
        .unwrap()
        .unwrap();
    assert!(binding.approvable && binding.revision == "r1");
    let flow = world.start(ready.clone());
    tool(&flow, "two").await;
    let second = flow
        .settle(EndReason::Done, ready, None)
        .await
        .message
        .unwrap();
    assert!(second > first);
    assert_eq!(
        flow_record::binding(store, chat, first).await.unwrap(),
        None
    );
    let shown = world.chat.shown();
    assert!(
        !shown[0].text.contains("📋") && !shown[0].keyboard.contains("plan:"),
        "{shown:?}"
    );
    assert!(
        shown[1].text.contains("📋") && shown[1].keyboard.contains("plan:ok"),
        "{shown:?}"
    );
    let calls = world.chat.calls.lock().unwrap().clone();
    let stripped = calls
        .iter()
        .position(|call| call == "editMessageText {\"inline_keyboard\":[]}");
    let opened = calls
        .iter()
        .rposition(|call| call.starts_with("sendMessage"));
    assert!(stripped.is_some() && stripped < opened, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_plan_comes_as_a_document_once_before_approve_is_live() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path(), Arc::default()).await;
    let long = Some(plan(PlanFace::Ready, 3_000));
    let document = || {
        Some(PlanDocument {
            number: 2,
            bytes: b"# plan".to_vec(),
        })
    };
    let flow = world.start(None);
    tool(&flow, "one").await;
    flow.settle(EndReason::PlanReady, long.clone(), document())
        .await;
    let shown = show_plan(world.parts.clone(), options(long), document()).await;
    assert!(shown.message.is_some());
    let names: Vec<String> = world
        .chat
        .shown()
        .into_iter()
        .map(|shown| shown.text)
        .filter(|text| text.ends_with(".md"))
        .collect();
    assert_eq!(names, ["plan-fix-the-adder-r2.md"]);
    let calls = world.chat.calls.lock().unwrap().clone();
    let sent = calls
        .iter()
        .position(|call| call.starts_with("sendDocument"));
    let live = calls.iter().position(|call| call.contains("✅ Approve"));
    assert!(sent.is_some() && sent < live, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_buried_flow_message_is_posted_anew_and_the_old_copy_deleted() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path(), Arc::default()).await;
    let flow = world.start(None);
    tool(&flow, "one").await;
    while world.chat.shown().is_empty() {
        tokio::time::advance(std::time::Duration::from_millis(20)).await;
        tokio::task::yield_now().await;
    }
    *world.chat.last.lock().unwrap() = 5;
    flow.buried(MessageId(5));
    tool(&flow, "two").await;
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    let settled = flow.settle(EndReason::Done, None, None).await;
    assert_eq!(settled.message, Some(MessageId(6)));
    assert_eq!(
        world
            .chat
            .messages
            .lock()
            .unwrap()
            .keys()
            .copied()
            .collect::<Vec<_>>(),
        [6]
    );
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
fn a_flow_message_that_a_crash_left_is_settled_after_the_restart() {
    let home = tempfile::tempdir().unwrap();
    let chat = Arc::new(Chat::default());
    process(async {
        let world = World::new(home.path(), chat.clone()).await;
        let flow = world.start(None);
        tool(&flow, "calc.py").await;
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        std::mem::forget(flow);
    });
    assert!(chat.shown()[0].text.starts_with("⚙️"));
    process(async {
        let world = World::new(home.path(), chat.clone()).await;
        let settled = settle_orphan(
            world.parts.clone(),
            options(None),
            EndReason::Interrupted,
            None,
            None,
        )
        .await
        .unwrap();
        assert_eq!(settled.unwrap().message, Some(MessageId(1)));
        let again = settle_orphan(
            world.parts.clone(),
            options(None),
            EndReason::Interrupted,
            None,
            None,
        )
        .await
        .unwrap();
        assert_eq!(again, None);
    });
    let shown = chat.shown();
    assert!(
        shown[0].text.starts_with("⏸ Interrupted • 1 tool"),
        "{shown:?}"
    );
    assert!(!shown[0].keyboard.contains("turn:stop"));
}

#[test]
fn only_missing_parts_of_an_answer_are_sent_after_a_crash() {
    let home = tempfile::tempdir().unwrap();
    let chat = Arc::new(Chat::default());
    let answer = Answer {
        key: ChatKey::new(ChatId(7), None),
        scope: "s:1".into(),
        parts: ["one", "two", "three"].map(Formatted::plain).to_vec(),
        markdown: String::new(),
        reply_to: None,
        language: "en".into(),
        reason: None,
    };
    process(async {
        let world = World::new(home.path(), chat.clone()).await;
        let cut = async {
            while chat.shown().len() < 2 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = deliver(&world.parts.outbox, answer.clone()) => {}
            () = cut => {}
        }
    });
    process(async {
        let world = World::new(home.path(), chat.clone()).await;
        assert_eq!(
            deliver(&world.parts.outbox, answer.clone())
                .await
                .map(|sent| sent.len()),
            Ok(3)
        );
    });
    let mut texts: Vec<String> = chat.shown().into_iter().map(|shown| shown.text).collect();
    // Where the report of a send was cut off it is tried once more, marked; nothing else comes twice.
    let marked = texts.len();
    texts.retain(|text| !text.starts_with('🔁'));
    assert!(marked - texts.len() <= 1, "{texts:?}");
    assert_eq!(texts, ["one", "two", "three"]);
    let notifying = chat.shown().iter().filter(|shown| !shown.silent).count();
    assert_eq!(notifying, 1);
}
