use crate::domain::{CallId, CallStatus, EndReason, MessageId, Progress};
use crate::flow::render::tests::{plan, started};
use crate::flow::{Body, EditRefusal, FlowEffect, FlowEvent, Renderer};
use crate::plan::view::PlanFace;

use super::{Flow, FlowOptions};

const TICK: FlowEvent = FlowEvent::Tick { may_repost: true };

fn options() -> FlowOptions {
    FlowOptions {
        language: "en".into(),
        renderer: Renderer::Classic,
        group: false,
        group_detail: false,
        eager: false,
        plan: None,
    }
}

fn begun() -> Flow {
    let mut flow = Flow::new(options());
    assert_eq!(
        flow.handle(FlowEvent::Started, 0),
        [FlowEffect::StartTimer { after_ms: 1_500 }]
    );
    flow
}

/// A flow with one running tool, opened as message 10.
fn opened() -> Flow {
    let mut flow = begun();
    let effects = flow.handle(FlowEvent::Progress(started("1", "a.rs")), 100);
    assert!(
        matches!(&effects[..], [FlowEffect::Open { .. }]),
        "{effects:?}"
    );
    assert_eq!(
        flow.handle(
            FlowEvent::Opened {
                message: MessageId(10)
            },
            200
        ),
        []
    );
    flow
}

fn settle(reason: EndReason) -> FlowEvent {
    FlowEvent::Settle { reason, plan: None }
}

fn finish(call: &str) -> FlowEvent {
    FlowEvent::Progress(Progress::ToolFinished {
        call: CallId::from(call),
        status: CallStatus::Ok,
        summary: String::new(),
        duration_ms: 1,
    })
}

fn edits(effects: &[FlowEffect]) -> Vec<(u64, bool, String)> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            FlowEffect::Edit {
                edit,
                clock_only,
                body: Body::Classic(text),
                ..
            } => Some((*edit, *clock_only, text.text.clone())),
            FlowEffect::StartTimer { .. }
            | FlowEffect::Open { .. }
            | FlowEffect::Edit { .. }
            | FlowEffect::Repost { .. }
            | FlowEffect::DeleteOld { .. }
            | FlowEffect::SendDocument { .. }
            | FlowEffect::Finished { .. } => None,
        })
        .collect()
}

#[test]
fn a_short_turn_without_tools_opens_nothing() {
    let mut flow = begun();
    assert_eq!(
        flow.handle(
            FlowEvent::Progress(Progress::Text { delta: "Hi".into() }),
            300
        ),
        []
    );
    assert_eq!(
        flow.handle(settle(EndReason::Done), 900),
        [FlowEffect::Finished { message: None }]
    );
    assert_eq!(flow.handle(TICK, 1_500), []);
}

#[test]
fn a_slow_turn_opens_header_only_after_one_tick() {
    let mut flow = begun();
    let effects = flow.handle(TICK, 1_500);
    let [
        FlowEffect::Open {
            body: Body::Classic(text),
            keyboard,
        },
        FlowEffect::StartTimer { .. },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(text.text, "⚙️ Thinking • 1 s");
    assert_eq!(keyboard.rows[0][0].data, "turn:stop");
}

#[test]
fn a_tick_edits_only_what_differs_from_what_was_accepted() {
    let mut flow = opened();
    let effects = flow.handle(TICK, 1_500);
    assert_eq!(
        edits(&effects)
            .iter()
            .map(|e| (e.0, e.1))
            .collect::<Vec<_>>(),
        [(1, true)]
    );
    assert_eq!(
        edits(&flow.handle(TICK, 1_600)),
        [],
        "the same content is on its way"
    );
    drop(flow.handle(FlowEvent::EditAccepted { edit: 1 }, 1_700));
    assert_eq!(
        edits(&flow.handle(TICK, 1_900)),
        [],
        "the same content is shown"
    );
    drop(flow.handle(finish("1"), 2_000));
    assert_eq!(edits(&flow.handle(TICK, 2_100)).len(), 1);
}

#[test]
fn an_edit_that_failed_is_made_again_with_the_newest_content() {
    let mut flow = opened();
    drop(flow.handle(TICK, 1_500));
    drop(flow.handle(
        FlowEvent::EditRejected {
            edit: 1,
            why: EditRefusal::Unavailable,
        },
        1_600,
    ));
    assert_eq!(edits(&flow.handle(TICK, 3_000))[0].0, 2);
}

#[test]
fn settling_ends_in_one_edit_and_is_final_when_it_is_accepted() {
    let mut flow = opened();
    let effects = flow.handle(settle(EndReason::Done), 2_000);
    let [(edit, false, text)] = &edits(&effects)[..] else {
        panic!("{effects:?}")
    };
    assert!(text.starts_with("✅ Finished • 1 tool • 2 s"), "{text}");
    let message = Some(MessageId(10));
    assert_eq!(
        flow.handle(FlowEvent::EditAccepted { edit: *edit }, 2_100),
        [FlowEffect::Finished { message }]
    );
}

#[test]
fn a_settle_during_the_opening_follows_it() {
    let mut flow = begun();
    drop(flow.handle(FlowEvent::Progress(started("1", "x")), 10));
    assert_eq!(flow.handle(settle(EndReason::Stopped), 20), []);
    let effects = flow.handle(
        FlowEvent::Opened {
            message: MessageId(5),
        },
        30,
    );
    assert!(edits(&effects)[0].2.starts_with("⏹ Stopped"), "{effects:?}");
}

#[test]
fn a_failed_opening_is_tried_again_even_after_the_end() {
    let mut flow = begun();
    drop(flow.handle(FlowEvent::Progress(started("1", "x")), 10));
    drop(flow.handle(settle(EndReason::Done), 20));
    assert_eq!(flow.handle(FlowEvent::OpenFailed, 30), []);
    assert!(matches!(
        &flow.handle(TICK, 1_500)[..],
        [FlowEffect::Open { .. }, FlowEffect::StartTimer { .. }]
    ));
}

#[test]
fn a_buried_message_is_posted_anew_only_for_a_real_addition() {
    let mut flow = opened();
    drop(flow.handle(
        FlowEvent::Buried {
            message: MessageId(11),
        },
        300,
    ));
    assert_eq!(
        edits(&flow.handle(TICK, 1_500)).len(),
        1,
        "the clock alone edits in place"
    );
    drop(flow.handle(finish("1"), 1_600));
    let refused = flow.handle(FlowEvent::Tick { may_repost: false }, 3_000);
    assert_eq!(edits(&refused).len(), 1, "not twice in 15 seconds");
    let effects = flow.handle(TICK, 4_500);
    assert!(
        matches!(
            &effects[..],
            [
                FlowEffect::Repost {
                    old: MessageId(10),
                    ..
                },
                _
            ]
        ),
        "{effects:?}"
    );
    let effects = flow.handle(
        FlowEvent::Opened {
            message: MessageId(12),
        },
        4_600,
    );
    assert_eq!(
        effects,
        [FlowEffect::DeleteOld {
            message: MessageId(10)
        }]
    );
    assert_eq!(flow.message(), Some(MessageId(12)));
}

#[test]
fn a_failed_repost_keeps_the_old_copy() {
    let mut flow = opened();
    drop(flow.handle(
        FlowEvent::Buried {
            message: MessageId(11),
        },
        300,
    ));
    drop(flow.handle(finish("1"), 1_600));
    drop(flow.handle(TICK, 1_700));
    assert_eq!(flow.handle(FlowEvent::OpenFailed, 1_800), []);
    let effects = flow.handle(settle(EndReason::Done), 2_000);
    assert!(
        matches!(
            &effects[..],
            [FlowEffect::Edit {
                message: MessageId(10),
                ..
            }]
        ),
        "{effects:?}"
    );
}

#[test]
fn a_lost_message_is_opened_anew_only_with_something_new() {
    let mut flow = opened();
    drop(flow.handle(TICK, 1_500));
    drop(flow.handle(
        FlowEvent::EditRejected {
            edit: 1,
            why: EditRefusal::Gone,
        },
        1_600,
    ));
    assert!(matches!(
        &flow.handle(TICK, 3_000)[..],
        [FlowEffect::StartTimer { .. }]
    ));
    drop(flow.handle(finish("1"), 3_100));
    assert!(matches!(
        &flow.handle(TICK, 4_500)[..],
        [FlowEffect::Open { .. }, _]
    ));
}

#[test]
fn a_full_block_freezes_without_buttons_and_the_next_opens() {
    let mut flow = opened();
    drop(flow.handle(finish("1"), 300));
    for n in 2..60 {
        let call = n.to_string();
        drop(flow.handle(FlowEvent::Progress(started(&call, &"y".repeat(150))), 400));
        drop(flow.handle(finish(&call), 500));
    }
    let effects = flow.handle(TICK, 1_500);
    let [
        FlowEffect::Edit {
            edit: 0,
            message: MessageId(10),
            keyboard: frozen,
            ..
        },
        FlowEffect::Open { keyboard, .. },
        FlowEffect::StartTimer { .. },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert!(frozen.is_empty() && !keyboard.is_empty());
}

#[test]
fn narration_that_equals_the_answer_is_not_shown_twice() {
    let mut flow = opened();
    drop(flow.handle(
        FlowEvent::Progress(Progress::Narration {
            text: "All  is\nwell.".into(),
        }),
        300,
    ));
    drop(flow.handle(
        FlowEvent::Answer {
            text: "All is well.".into(),
        },
        400,
    ));
    let effects = flow.handle(settle(EndReason::Done), 500);
    assert!(!edits(&effects)[0].2.contains("well"), "{effects:?}");
}

#[test]
fn groups_do_not_see_arguments() {
    let mut flow = Flow::new(FlowOptions {
        group: true,
        ..options()
    });
    drop(flow.handle(FlowEvent::Started, 0));
    let effects = flow.handle(FlowEvent::Progress(started("1", "secret.txt")), 10);
    assert!(
        !format!("{effects:?}").contains("secret.txt"),
        "{effects:?}"
    );
}

#[test]
fn approve_goes_live_only_after_the_document_of_a_long_plan() {
    let mut flow = opened();
    let mut long = plan(PlanFace::Ready);
    for section in &mut long.sections {
        section.body = "word ".repeat(2_000);
    }
    let event = FlowEvent::Settle {
        reason: EndReason::PlanReady,
        plan: Some(long),
    };
    let effects = flow.handle(event, 2_000);
    let [
        FlowEffect::SendDocument { revision },
        FlowEffect::Edit { keyboard, edit, .. },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert!(!format!("{keyboard:?}").contains("plan:ok"));
    assert_eq!(
        flow.handle(FlowEvent::EditAccepted { edit: *edit }, 2_100),
        []
    );
    let effects = flow.handle(
        FlowEvent::DocumentSent {
            revision: revision.clone(),
        },
        2_200,
    );
    assert!(format!("{effects:?}").contains("plan:ok"), "{effects:?}");
}

#[test]
fn a_flow_that_a_crash_left_settles_as_interrupted() {
    let log = opened().log().clone();
    let mut flow = Flow::resumed(options(), log, Some((10, 20)), MessageId(10), 61_000, 5);
    let effects = flow.handle(settle(EndReason::Interrupted), 5);
    assert!(
        edits(&effects)[0]
            .2
            .starts_with("⏸ Interrupted • 1 tool • 1 min 1 s"),
        "{effects:?}"
    );
}
