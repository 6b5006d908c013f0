//! How long the pure machines take: `cargo bench --bench machines`.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot be set up has to stop"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use greenlight::agent::context::{self, Surroundings};
use greenlight::agent::transcript::{Conversation, Record, UserInput};
use greenlight::agent::{Event, Finished, Limits, PlanFacts, Turn};
use greenlight::domain::{
    ActionClass, CallId, CallStatus, Effects, FinishReason, ModelReply, ToolCall, ToolOutcome,
    TurnId, Usage,
};
use greenlight::flow::{Log, Renderer, Stage, View, render};
use greenlight::plan::canonical::{canonical, shell_call};
use greenlight::plan::context::{Snapshot, Step, WireCheck, WireStatus};
use greenlight::plan::context_parse;
use greenlight::plan::gate::{self, Ask, Phase};
use greenlight::text::redact::Redactor;
use greenlight::text::{split, untrusted};
use serde_json::json;

const KIB: usize = 1024;

/// A log of so many entries, as a long turn leaves it.
fn log(entries: usize) -> Log {
    let entries: Vec<_> = (0..entries)
        .map(|n| match n % 5 {
            0 => json!({ "entry": "narration", "text": format!("Looking at part {n} of the parser now.") }),
            _ => json!({
                "entry": "tool", "call": format!("call_{n}"), "label": "tool-bash-running",
                "argument": format!("cargo test --lib module_{n}"),
                "state": { "state": "ended", "status": "ok", "duration_ms": 1200 },
                "detail": "test result: ok. 12 passed; 0 failed",
            }),
        })
        .collect();
    let log = json!({
        "entries": entries, "tools": 400, "narration": "Looking at the parser", "live": "",
    });
    serde_json::from_value(log).unwrap()
}

fn flow(c: &mut Criterion) {
    let log = log(500);
    let stage = Stage::Running;
    let view = View {
        language: "en",
        stage: &stage,
        log: &log,
        elapsed: 61_000,
        usage: Some((12_400, 200_000)),
        plan: None,
        detail: true,
    };
    for (name, renderer) in [
        ("classic", Renderer::Classic),
        ("rich_details", Renderer::RichDetails),
        ("rich_markdown", Renderer::RichMarkdown),
    ] {
        c.bench_function(&format!("render a 500-entry log, {name}"), |b| {
            b.iter(|| render::render(black_box(&view), renderer));
        });
    }
}

/// An answer of about 100 KB with everything that a model writes.
fn answer() -> String {
    let section = "## A heading\n\nA paragraph with **bold**, `code`, [a link](https://example.org) and \
        an emoji 🙂 that goes on for a while so that lines have a usual length.\n\n\
        1. first item\n2. second item with *emphasis*\n\n\
        ```rust\nfn main() {\n    let answer = 42;\n}\n```\n\n\
        | name | value |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n\n";
    section.repeat(100 * 1000 / section.len() + 1)
}

fn text(c: &mut Criterion) {
    let answer = answer();
    c.bench_function("split a 100 KB answer", |b| {
        b.iter(|| split::answer(black_box(&answer)));
    });
    let redactor = Redactor::new(vec!["a-token-of-some-length".to_owned()]);
    let output = "test parser::tests::a_word_is_read ... ok (0.01s)\n".repeat(32 * KIB / 50);
    c.bench_function("redact 32 KiB of tool output", |b| {
        b.iter(|| redactor.redact(black_box(&output)));
    });
    c.bench_function("redact a streamed word", |b| {
        b.iter(|| redactor.redact(black_box("some words ")));
    });
}

fn read_call(id: String) -> ToolCall {
    ToolCall {
        id: CallId(id),
        name: "read_file".into(),
        arguments: r#"{"path":"src/parser.rs"}"#.into(),
    }
}

fn outcome(call: CallId, content: String) -> ToolOutcome {
    ToolOutcome {
        call,
        status: CallStatus::Ok,
        content,
        summary: "40 lines".into(),
        changed: false,
        duration_ms: 3,
        exit: None,
    }
}

fn turn(c: &mut Criterion) {
    let limits = Limits {
        requests: 1_000_000,
        calls: 1_000_000,
        wall_time: Duration::from_secs(3_600),
        tokens: 0,
        window: 200_000,
        models: 1,
        tools: vec!["bash".into(), "read_file".into()],
    };
    let mut begun = Turn::new(TurnId(1), limits);
    begun.step(Event::Begin(vec![UserInput {
        text: "Fix the failing test".into(),
        words: "Fix the failing test".into(),
        images: Vec::new(),
    }]));
    c.bench_function(
        "a request, a call and its outcome in the turn machine",
        |b| {
            b.iter_batched(
                || begun.clone(),
                |mut turn| {
                    let call = read_call("call_1".into());
                    let reply = ModelReply {
                        text: "I read the parser first.".into(),
                        reasoning: None,
                        calls: vec![call.clone()],
                        usage: Usage::default(),
                        finish: FinishReason::ToolCalls,
                    };
                    let plan = PlanFacts::default();
                    let mut effects = turn.step(Event::Reply { reply, plan });
                    effects.extend(turn.step(Event::Finished(Finished {
                        outcome: outcome(call.id, "fn main() {}".into()),
                        effects: Effects::Read,
                        targets: vec!["src/parser.rs".into()],
                        malformed: false,
                        refused_submission: None,
                    })));
                    effects.extend(turn.step(Event::BatchDone {
                        steer: Vec::new(),
                        hints: Vec::new(),
                    }));
                    effects
                },
                criterion::BatchSize::SmallInput,
            );
        },
    );
    c.bench_function("a streamed word in the turn machine", |b| {
        let mut turn = begun.clone();
        b.iter(|| turn.step(Event::Text("word ".into())));
    });
}

/// A conversation with so many bytes of tool output.
fn conversation(bytes: usize) -> Conversation {
    let mut conversation = Conversation::default();
    let turn = TurnId(1);
    conversation.push(Record::User {
        turn,
        input: UserInput {
            text: "Fix the failing test".into(),
            words: "Fix the failing test".into(),
            images: Vec::new(),
        },
    });
    for n in 0..bytes / (4 * KIB) {
        let call = read_call(format!("call_{n}"));
        conversation.push(Record::Assistant {
            turn,
            text: "Reading on.".into(),
            reasoning: None,
            calls: vec![call.clone()],
            usage: Usage::default(),
        });
        conversation.push(Record::Outcome {
            turn,
            outcome: outcome(call.id, "let answer = 42;\n".repeat(4 * KIB / 17)),
        });
    }
    conversation
}

fn context(c: &mut Criterion) {
    for kib in [100, 500] {
        let conversation = conversation(kib * KIB);
        let around = Surroundings {
            system: "You are an agent.",
            plan: None,
            tools: &[],
            window: 1_000_000,
        };
        c.bench_function(&format!("build a context of {kib} KiB"), |b| {
            b.iter(|| context::build(black_box(&conversation), &around));
        });
    }
}

/// A checklist of fifty tasks with a check each.
fn checklist() -> Snapshot {
    let steps = (1..=50)
        .map(|n| Step {
            id: format!("t{n}"),
            status: if n < 20 {
                WireStatus::Done
            } else {
                WireStatus::Pending
            },
            title: format!("Part {n}"),
            note: String::new(),
            checks: vec![WireCheck {
                id: "c1".into(),
                description: "tests".into(),
                tool: "bash".into(),
                arguments: shell_call(&format!("make t{n}")),
                status: if n < 20 { "passed" } else { "pending" }.into(),
                call_id: (n < 20).then(|| format!("k{n}")),
            }],
        })
        .collect();
    Snapshot {
        version: 21,
        revision: None,
        verification: Vec::new(),
        steps,
    }
}

fn plan(c: &mut Criterion) {
    let call = CallId("call_1".into());
    let ask = Ask {
        call: &call,
        tool: "bash",
        effects: Effects::Exec,
        class: ActionClass::Exec,
        operation: None,
        writes_plan_md: false,
        sandbox: true,
        unsandboxed_preinit: false,
        read_only_role: false,
    };
    c.bench_function("a gate decision", |b| {
        b.iter(|| gate::decide(black_box(&Phase::Editing), black_box(&ask)));
    });
    let declared = canonical(r#"{"command":"cargo test --all","timeout":120}"#).unwrap();
    c.bench_function("a canonical match", |b| {
        let called = r#"{ "timeout" : 120, "command" : "cargo test --all" }"#;
        b.iter(|| canonical(black_box(called)).is_ok_and(|called| called == declared));
    });
    let snapshot = checklist();
    let wrap = |body: &str| untrusted::wrap("0123456789abcdef", "plan", body);
    c.bench_function("render a plan of 50 tasks with checks", |b| {
        b.iter(|| greenlight::plan::context::render(black_box(&snapshot), 8_000, &wrap));
    });
    let message = greenlight::plan::context::render(&snapshot, 8_000, &wrap);
    assert!(context_parse::parse(&message, 50).is_ok(), "{message}");
    c.bench_function("parse a plan of 50 tasks with checks", |b| {
        b.iter(|| context_parse::parse(black_box(&message), 50));
    });
}

criterion_group!(benches, flow, text, turn, context, plan);
criterion_main!(benches);
