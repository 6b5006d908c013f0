use super::*;
use crate::domain::{CallId, FinishReason, ModelFault};

fn limits() -> Limits {
    Limits {
        requests: 6,
        calls: 20,
        wall_time: Duration::from_secs(3600),
        tokens: 0,
        window: 1000,
        models: 1,
        tools: vec!["read_file".into()],
    }
}

fn turn() -> Turn {
    let mut turn = Turn::new(TurnId(7), limits());
    turn.step(Event::Begin(vec![UserInput {
        text: "hi".into(),
        words: "hi".into(),
        images: Vec::new(),
    }]));
    turn
}

fn say(text: &str) -> Event {
    reply(text, Vec::new(), PlanFacts::default())
}

fn reply(text: &str, calls: Vec<ToolCall>, plan: PlanFacts) -> Event {
    Event::Reply {
        reply: ModelReply {
            text: text.into(),
            reasoning: None,
            calls,
            usage: Usage::default(),
            finish: FinishReason::Stop,
        },
        plan,
    }
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: CallId(id.into()),
        name: "read_file".into(),
        arguments: "{}".into(),
    }
}

fn done(id: &str, effects: Effects, status: CallStatus) -> Event {
    Event::Finished(Finished {
        outcome: not_run(&call(id), status, "x"),
        effects,
        targets: vec!["a".into()],
        malformed: false,
        refused_submission: None,
    })
}

fn batch_done(hints: Vec<String>) -> Event {
    let steer = Vec::new();
    Event::BatchDone { steer, hints }
}

fn end(effects: &[Effect]) -> Option<(EndReason, String)> {
    effects.iter().find_map(|effect| {
        let Effect::Finish { reason, answer } = effect else {
            return None;
        };
        Some((reason.clone(), answer.clone()))
    })
}

fn asks(effects: &[Effect]) -> bool {
    effects
        .iter()
        .any(|e| matches!(e, Effect::CallModel { .. }))
}

#[test]
fn an_answer_ends_the_turn_after_it_is_recorded() {
    let effects = turn().step(say("Hello."));
    assert!(matches!(
        effects.first(),
        Some(Effect::Append(Record::Assistant { .. }))
    ));
    assert_eq!(end(&effects), Some((EndReason::Done, "Hello.".into())));
}

#[test]
fn calls_run_and_their_outcomes_lead_to_the_next_request() {
    let mut turn = turn();
    let effects = turn.step(reply("", vec![call("1"), call("2")], PlanFacts::default()));
    assert!(
        effects
            .iter()
            .any(|e| matches!(e, Effect::RunTools(calls) if calls.len() == 2))
    );
    assert_eq!(turn.step(done("1", Effects::Read, CallStatus::Ok)).len(), 1);
    assert_eq!(
        turn.step(done("1", Effects::Read, CallStatus::Ok)).len(),
        0,
        "twice"
    );
    turn.step(done("2", Effects::Read, CallStatus::Ok));
    assert!(asks(&turn.step(batch_done(Vec::new()))));
}

#[test]
fn empty_replies_are_corrected_twice_and_then_end_visibly() {
    let mut turn = turn();
    assert!(asks(&turn.step(say(""))));
    assert!(asks(&turn.step(say("\u{200b}"))));
    let effects = turn.step(say(" "));
    assert_eq!(
        end(&effects).map(|e| e.0),
        Some(EndReason::Budget {
            budget: "budget-empty".into()
        })
    );
}

#[test]
fn the_request_budget_ends_the_turn() {
    let mut turn = turn();
    for n in 0..6 {
        let id = n.to_string();
        turn.step(reply("", vec![call(&id)], PlanFacts::default()));
        turn.step(done(&id, Effects::Read, CallStatus::Ok));
        let effects = turn.step(batch_done(Vec::new()));
        assert_eq!(end(&effects).is_some(), n == 5);
    }
    assert!(turn.is_over());
}

#[test]
fn a_retry_waits_as_long_as_the_provider_says_and_not_after_text() {
    let mut one = turn();
    let fault = ModelFault::Retry {
        after: Some(Duration::from_secs(9)),
        reason: "429".into(),
    };
    let effects = one.step(Event::ModelFailed(fault.clone()));
    assert!(effects.contains(&Effect::SetTimer {
        id: TimerId::Retry,
        after: Duration::from_secs(9)
    }));
    assert!(asks(&one.step(Event::Timer(TimerId::Retry))));
    one.step(Event::Text("Half".into()));
    assert!(end(&one.step(Event::ModelFailed(fault))).is_some());
}

#[test]
fn open_tasks_are_named_once_and_then_the_turn_is_incomplete() {
    let mut turn = turn();
    let facts = PlanFacts {
        open_tasks: vec!["Fix".into()],
        nudge: Some("t1=pending".into()),
        ..PlanFacts::default()
    };
    assert!(asks(&turn.step(reply("Later.", Vec::new(), facts.clone()))));
    let effects = turn.step(reply("Later.", Vec::new(), facts));
    assert_eq!(
        end(&effects).map(|e| e.0),
        Some(EndReason::Incomplete {
            left: vec!["Fix".into()]
        })
    );
}

#[test]
fn a_failed_change_is_remembered_until_it_is_mended() {
    let mut turn = turn();
    turn.step(reply("", vec![call("1")], PlanFacts::default()));
    turn.step(done("1", Effects::Write, CallStatus::Failed));
    turn.step(batch_done(Vec::new()));
    assert!(asks(&turn.step(say("All is done."))));
    turn.step(reply("", vec![call("2")], PlanFacts::default()));
    turn.step(done("2", Effects::Write, CallStatus::Ok));
    turn.step(batch_done(Vec::new()));
    assert!(end(&turn.step(say("All is done."))).is_some());
}

#[test]
fn a_blocker_counts_only_after_the_target_of_the_failed_change_was_read_again() {
    let blocker = "I cannot edit it because it is generated.";
    let mut turn = turn();
    turn.step(reply("", vec![call("1")], PlanFacts::default()));
    turn.step(done("1", Effects::Write, CallStatus::Failed));
    turn.step(batch_done(Vec::new()));
    assert!(asks(&turn.step(say(blocker))));
    turn.step(reply("", vec![call("2")], PlanFacts::default()));
    turn.step(done("2", Effects::Read, CallStatus::Ok));
    turn.step(batch_done(Vec::new()));
    assert!(end(&turn.step(say(blocker))).is_some());
}

#[test]
fn hints_reach_the_model_with_the_next_request() {
    let mut turn = turn();
    turn.step(reply("", vec![call("1")], PlanFacts::default()));
    turn.step(done("1", Effects::Read, CallStatus::Ok));
    let effects = turn.step(batch_done(vec!["[Host] again".into()]));
    assert!(matches!(
        effects.first(),
        Some(Effect::Append(Record::Host { text, .. })) if text == "[Host] again"
    ));
    assert!(asks(&effects));
}

#[test]
fn open_tasks_without_a_reason_to_nudge_do_not_hold_the_answer_back() {
    let facts = PlanFacts {
        open_tasks: vec!["Checked before the restart".into()],
        ..PlanFacts::default()
    };
    let effects = turn().step(reply("It is done.", Vec::new(), facts));
    assert_eq!(end(&effects).map(|e| e.0), Some(EndReason::Done));
}

#[test]
fn an_incomplete_plan_is_corrected_once() {
    let mut turn = turn();
    let facts = PlanFacts {
        editing_missing: Some(vec!["Intent".into()]),
        missing_keys: vec!["plan-missing-intent".into()],
        ..PlanFacts::default()
    };
    assert!(asks(&turn.step(reply("Ready.", Vec::new(), facts.clone()))));
    let effects = turn.step(reply("Ready.", Vec::new(), facts));
    assert!(matches!(
        end(&effects),
        Some((EndReason::PlanNotReady { .. }, _))
    ));
}

#[test]
fn a_full_window_is_summed_up_once() {
    let mut turn = turn();
    let mut event = reply("", vec![call("1")], PlanFacts::default());
    if let Event::Reply { reply, .. } = &mut event {
        reply.usage.input = 800;
    }
    turn.step(event);
    turn.step(done("1", Effects::Read, CallStatus::Ok));
    assert_eq!(turn.step(batch_done(Vec::new())), vec![Effect::Compact]);
    assert!(asks(&turn.step(Event::Compacted(Some("digest".into())))));
}

#[test]
fn a_stopped_turn_answers_its_open_calls_and_ignores_what_comes_late() {
    let mut turn = turn();
    turn.step(reply("", vec![call("1")], PlanFacts::default()));
    let effects = turn.step(Event::Cancel(Cancel::Stopped));
    assert!(
        effects
            .iter()
            .any(|e| matches!(e, Effect::Append(Record::Outcome { .. })))
    );
    assert_eq!(end(&effects).map(|e| e.0), Some(EndReason::Stopped));
    assert!(
        turn.step(done("1", Effects::Read, CallStatus::Ok))
            .is_empty()
    );
}

fn input(text: &str) -> UserInput {
    UserInput {
        text: text.into(),
        words: text.into(),
        images: Vec::new(),
    }
}

fn takes_in(effects: &[Effect], text: &str) -> bool {
    effects
        .iter()
        .any(|e| matches!(e, Effect::Append(Record::User { input, .. }) if input.text == text))
}

#[test]
fn the_words_of_a_turn_are_recorded_before_anything_else_happens() {
    let effects = Turn::new(TurnId(7), limits()).step(Event::Begin(vec![input("hi")]));
    assert!(matches!(
        effects.first(),
        Some(Effect::Append(Record::User { .. }))
    ));
}

#[test]
fn words_that_arrive_as_the_turn_ends_are_left_for_the_next_one() {
    let mut turn = turn();
    for n in 0..6 {
        let id = n.to_string();
        turn.step(reply("", vec![call(&id)], PlanFacts::default()));
        turn.step(done(&id, Effects::Read, CallStatus::Ok));
        let effects = turn.step(Event::BatchDone {
            steer: vec![input("one more thing")],
            hints: Vec::new(),
        });
        assert_eq!(takes_in(&effects, "one more thing"), n < 5, "round {n}");
        assert_eq!(end(&effects).is_some(), n == 5, "round {n}");
    }
}

#[test]
fn a_provider_that_asks_for_an_hour_ends_the_turn_instead() {
    let mut turn = turn();
    let effects = turn.step(Event::ModelFailed(ModelFault::Retry {
        after: Some(Duration::from_secs(3600)),
        reason: "slow down".into(),
    }));
    assert!(end(&effects).is_some());
}
