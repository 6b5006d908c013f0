//! The chat as a person sees it in every state of a plan, in three languages: words, collapsed quotes,
//! buttons.

use std::fmt::Write as _;
use std::sync::Arc;

use greenlight::playground::{OWNER, Person, Post, Span};
use regex::Regex;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::rig::{PLAN, Rig, designer, plan, seed, tasks, write, write_md};
use crate::support::script::{Step, call, say};
use crate::support::tree::GOOD_CALC;

/// Lines of a collapsed quote that an app shows.
const COLLAPSED: usize = 3;

fn is_quote(span: &Span) -> bool {
    span.kind == "blockquote" || span.kind == "expandable_blockquote"
}

/// A message as an app lays it out.
fn seen(post: &Post) -> String {
    let mut out = String::new();
    let from = if post.from_bot { "BOT" } else { "OWNER" };
    let quiet = if post.silent { " (silent)" } else { "" };
    writeln!(out, "── {from}{quiet}").unwrap();
    if let Some(file) = &post.file {
        writeln!(out, "📎 {}", file.name).unwrap();
    }
    let mut at = 0;
    let mut hidden = 0;
    let mut shown: Option<(usize, usize)> = None;
    for line in post.text.split('\n') {
        let units = line.encode_utf16().count();
        let quote = post.entities.iter().find(|span| {
            is_quote(span) && span.offset <= at && at < span.offset + span.length.max(1)
        });
        at += units + 1;
        let Some(quote) = quote else {
            if hidden > 0 {
                writeln!(out, "┃ ⌄ {hidden} more").unwrap();
            }
            (hidden, shown) = (0, None);
            writeln!(out, "{line}").unwrap();
            continue;
        };
        let count = match shown {
            Some((start, count)) if start == quote.offset => count,
            _ => {
                if hidden > 0 {
                    writeln!(out, "┃ ⌄ {hidden} more").unwrap();
                }
                hidden = 0;
                0
            }
        };
        shown = Some((quote.offset, count + 1));
        if quote.kind == "expandable_blockquote" && count >= COLLAPSED {
            hidden += 1;
        } else {
            writeln!(out, "┃ {line}").unwrap();
        }
    }
    if hidden > 0 {
        writeln!(out, "┃ ⌄ {hidden} more").unwrap();
    }
    for row in &post.keyboard {
        let labels: Vec<String> = row
            .iter()
            .map(|button| {
                format!(
                    "[ {} → {} ]",
                    button.text,
                    button.data.clone().unwrap_or_default()
                )
            })
            .collect();
        writeln!(out, "{}", labels.join(" ")).unwrap();
    }
    out
}

struct Album {
    rig: Rig,
    language: &'static str,
    mark: i32,
}

impl Album {
    async fn open(language: &'static str) -> Self {
        let rig = Rig::new().await;
        let mut owner = Person::new(OWNER.0, "Olivia", "olivia");
        owner.language = Some(language.to_owned());
        rig.world().person(owner);
        let mark = rig.mark();
        Self {
            rig,
            language,
            mark,
        }
    }

    /// Keeps what came since the last picture, and what earlier messages look like now.
    fn picture(&mut self, state: &str) {
        let posts = self.rig.messages();
        let mut out = String::new();
        for post in posts.iter().filter(|post| post.id.0 > self.mark) {
            out.push_str(&seen(post));
        }
        self.mark = self.rig.mark();
        let clock = Regex::new(r"(?m)^([⚙✅❌⏱⏹⏸].*•)[^•\n]*$").unwrap();
        let out = clock.replace_all(&out, "$1 …");
        let out = out.replace(&self.rig.base.display().to_string(), "/base");
        let uuid = Regex::new(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
        let out = uuid.replace_all(&out, "UUID");
        let card = Regex::new(r"\b[0-9a-f]{16}\b").unwrap();
        let out = card.replace_all(&out, "CARD");
        insta::assert_snapshot!(format!("{}_{state}", self.language), out);
    }

    async fn said(&self, glyph: &str) {
        let mark = self.mark;
        self.rig.reply(mark, glyph).await;
        self.rig.settled(mark).await;
    }

    /// Waits for a command's answer, whatever its words.
    async fn answered(&self, command: &str) {
        let mark = self.rig.mark();
        self.rig.say(command);
        self.rig
            .wait(command, |rig| {
                rig.messages()
                    .into_iter()
                    .find(|post| post.from_bot && post.id.0 > mark)
            })
            .await;
    }

    async fn designs(&self, steps: Vec<Step>, words: &str) {
        self.rig.script.then(steps);
        self.rig.say("/plan Fix the adder");
        self.said(words).await;
    }
}

async fn whole_track(language: &'static str) {
    let mut album = Album::open(language).await;
    album.answered("/plan").await;
    album.picture("01_plan_mode");
    album.answered("/show_plan").await;
    album.picture("02_show_plan_in_plan_mode");
    album.answered("/discard").await;
    album.picture("03_discarded");
    // A plan that lacks something.
    let bad = PLAN.replace("- **Intent:** The owner asked for it today.\n", "");
    let init = || plan("init", json!({"mode": "design", "title": "Fix the adder"}));
    album
        .designs(
            vec![
                init(),
                write_md(&bad),
                say("Ready."),
                say("Nothing to add."),
            ],
            "Nothing to add.",
        )
        .await;
    album.rig.card("plan:no").await;
    album.picture("04_not_ready");
    album.answered("/execute").await;
    album.picture("05_execute_refused");
    album.answered("/discard").await;
    album.picture("06_discarded");
    // A plan in the making, and ready.
    let gate = Arc::new(Semaphore::new(0));
    let mut steps = designer(PLAN);
    let last = steps.pop().unwrap();
    steps.push(call("read_file", json!({"path": "calc.py"})));
    steps.push(Step::Held(Arc::clone(&gate), Box::new(last)));
    album.rig.script.then(steps);
    album.rig.say("/plan Fix the adder");
    album
        .rig
        .wait("the running card", |rig| {
            rig.flow().filter(|flow| {
                flow.text.contains("calc.py")
                    && flow.text.contains("Note the change")
                    && flow.data().contains(&"plan:ok".to_owned())
            })
        })
        .await;
    album.picture("07_editing_while_running");
    album.mark -= 1;
    gate.add_permits(1);
    album.said("ready for your review").await;
    let card = album.rig.card("plan:ok").await;
    album.picture("08_ready");
    // The seed turn fails, is half done, and works.
    album
        .rig
        .approve(&card, vec![say("I did not do it.")])
        .await;
    let card = album.rig.card("plan:ok").await;
    album.picture("09_seed_failed");
    album
        .rig
        .approve(
            &card,
            vec![
                plan("add_tasks", json!({"tasks": tasks()})),
                say("I stop here."),
            ],
        )
        .await;
    album.rig.card("plan:no").await;
    album.picture("10_partial_seed");
    album.answered("/plan_status").await;
    album.answered("/discard").await;
    album.picture("11_status_and_discarded");
    finish(album).await;
}

/// The second half: a plan that is carried out.
async fn finish(mut album: Album) {
    album.designs(designer(PLAN), "ready for your review").await;
    let card = album.rig.card("plan:ok").await;
    album.mark = album.rig.mark();
    let mut steps = seed();
    steps.extend([
        write("calc.py", GOOD_CALC),
        plan("complete", json!({"task_id": "t1", "outcome": "success"})),
        plan("start", json!({"task_id": "t2"})),
        say("One of two."),
    ]);
    album.rig.approve(&card, steps).await;
    album.rig.card("plan:no").await;
    album.picture("12_checklist_half_done");
    let card = album.rig.card("plan:no").await;
    album.rig.tap(card.id, "plan:no").await;
    album
        .rig
        .wait("the question", |rig| {
            rig.post(card.id)
                .data()
                .contains(&"plan:keep".to_owned())
                .then_some(())
        })
        .await;
    album.mark = card.id.0 - 1;
    album.picture("13_discard_asks_once_more");
    album.rig.tap(card.id, "plan:keep").await;
    album
        .rig
        .wait("the usual button", |rig| {
            (!rig.post(card.id).data().contains(&"plan:keep".to_owned())).then_some(())
        })
        .await;
    album.rig.script.then([
        plan(
            "complete",
            json!({"task_id": "t2", "outcome": "skip", "note": "not needed"}),
        ),
        say("Done."),
    ]);
    album.rig.say("Go on");
    album.said("Done.").await;
    album.picture("14_finished");
    album.answered("/plans").await;
    let date = Regex::new(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}").unwrap();
    let last = album.rig.messages().pop().unwrap().text;
    assert!(date.is_match(&last), "{last}");
    album.rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chat_looks_right_in_english() {
    whole_track("en").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chat_looks_right_in_russian() {
    whole_track("ru").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_chat_looks_right_in_arabic() {
    whole_track("ar").await;
}
