//! Two thousand seeded actions of three people, with restarts, against everything that must always hold.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use greenlight::domain::{ChatId, MessageId, UserId};
use greenlight::playground::{GROUP, MEMBER, OWNER, Post, STRANGER, USERNAME};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::rig::{PLAN, Rig, bash, below, is_flow, plan, tasks, write};
use crate::support::script::{Asked, Step, say};

const ACTIONS: usize = 2_000;
/// Longest time until a chat shows what is true.
const CALM: Duration = Duration::from_secs(20);

/// A small generator with a seed, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A model that does anything it may, in no order.
fn brain(mut dice: Dice) -> impl FnMut(&Asked) -> Step + Send {
    let mut said = 0;
    move |asked| {
        let told = asked.plain().contains("/.greenlight_plan_");
        match dice.below(20) {
            0 => plan("init", json!({"mode": "design", "title": "Fix the adder"})),
            1 | 2 if told => {
                let number = dice.below(5);
                let text = PLAN.replace("today", &format!("today {number}"));
                write(&asked.md_path(), &text)
            }
            3 | 4 => plan("add_tasks", json!({"tasks": tasks()})),
            5 => plan("start", json!({})),
            6 => plan(
                "complete",
                json!({"task_id": dice.pick(&["t1", "t2"]), "outcome": dice.pick(&["success", "skip", "fail"])}),
            ),
            7 => plan(
                "init",
                json!({"mode": "checklist", "title": "List", "tasks": tasks()}),
            ),
            8 => write("notes.md", &format!("# Notes {}\n", dice.below(9))),
            9 => bash("true"),
            10 => Step::Broken("plan".to_owned(), "{".to_owned()),
            11 if dice.below(4) == 0 => Step::Hang,
            _ => {
                said += 1;
                say(&format!("Said {said}."))
            }
        }
    }
}

struct Soak {
    rig: Rig,
    dice: Dice,
    /// Revisions that the owner could have approved: the prose on disk around an owner's word.
    offered: BTreeSet<String>,
    done: usize,
    syncs: usize,
}

impl Soak {
    fn chats() -> [ChatId; 2] {
        [ChatId(OWNER.0), GROUP]
    }

    fn command(chat: ChatId, word: &str) -> String {
        if chat == GROUP {
            match word.split_once(' ') {
                Some((name, rest)) => format!("{name}@{USERNAME} {rest}"),
                None => format!("{word}@{USERNAME}"),
            }
        } else {
            word.to_owned()
        }
    }

    fn note_prose(&mut self) {
        for path in self.rig.live("md") {
            if let Ok(bytes) = std::fs::read(path) {
                self.offered.insert(hash(&bytes));
            }
        }
    }

    /// Any message of the bot, newer ones more often.
    fn some_message(&mut self, chat: ChatId) -> Option<MessageId> {
        let last = self.rig.last_id(chat);
        let back = if self.dice.below(3) == 0 { 60 } else { 8 };
        let from = MessageId(last.saturating_sub(back));
        let mut posts = self.rig.world().messages_after(chat, from);
        posts.retain(|post| post.from_bot);
        let number = self.dice.below(posts.len());
        posts.get(number).map(|post| post.id)
    }

    fn tap(&mut self, user: UserId, chat: ChatId) {
        let Some(message) = self.some_message(chat) else {
            return;
        };
        let posts = self
            .rig
            .world()
            .messages_after(chat, MessageId(message.0 - 1));
        let own = posts.first().map(|post| post.data()).unwrap_or_default();
        let data = if !own.is_empty() && self.dice.below(3) > 0 {
            let number = self.dice.below(own.len());
            own[number].clone()
        } else {
            self.dice
                .pick(&[
                    "plan:ok",
                    "plan:no",
                    "plan:keep",
                    "approve:0123456789abcdef",
                    "nonsense",
                ])
                .to_owned()
        };
        if user == OWNER {
            self.note_prose();
        }
        self.rig.world().tap(user, chat, message, &data);
    }

    fn owner_acts(&mut self) {
        let chat = self.dice.pick(&Self::chats());
        if self.dice.below(3) == 0 {
            self.tap(OWNER, chat);
            return;
        }
        let words = [
            "/plan",
            "/plan Fix the adder",
            "/execute",
            "/execute",
            "/discard",
            "/show_plan",
            "/plan_status",
            "/stop",
            "/status",
            "/new",
            "/plan diff",
            "/plan edit",
            "/plans",
            "/approvals auto",
            "/approvals ask",
            "/goal Ship it",
            "/usage",
            "/help",
        ];
        let text = match self.dice.below(5) {
            0 | 1 => format!("@{USERNAME} Do the next thing {}", self.done),
            2 => format!("@{USERNAME} Let's make a plan for it {}", self.done),
            _ => Self::command(chat, self.dice.pick(&words)),
        };
        self.note_prose();
        self.rig.say_in(OWNER, chat, None, &text);
    }

    fn others_act(&mut self) {
        let user = self.dice.pick(&[MEMBER, STRANGER]);
        if self.dice.below(2) == 0 {
            self.tap(user, GROUP);
            return;
        }
        let words = [
            "/plan",
            "/plan Take over",
            "/execute",
            "/discard",
            "/plan_status",
            "/approvals yolo",
            "/stop",
            "/show_plan",
        ];
        let text = match self.dice.below(3) {
            0 => format!("@{USERNAME} please approve it {}", self.done),
            _ => Self::command(GROUP, self.dice.pick(&words)),
        };
        self.rig.say_in(user, GROUP, None, &text);
    }

    /// Stops what runs until both conversations are idle.
    async fn rest(&mut self) {
        for chat in Self::chats() {
            for round in 0.. {
                assert!(round < 60, "never idle\n{}", self.rig.report());
                // The answer to a word nobody else said: everything before it has been taken.
                self.syncs += 1;
                let word = format!("/sync{}", self.syncs);
                let mark = self.rig.last_id(chat);
                self.rig
                    .say_in(OWNER, chat, None, &Self::command(chat, &word));
                self.rig.reply_in(chat, mark, &word).await;
                let mark = self.rig.last_id(chat);
                self.rig
                    .say_in(OWNER, chat, None, &Self::command(chat, "/stop"));
                self.rig
                    .say_in(OWNER, chat, None, &Self::command(chat, "/status"));
                let status = self.rig.reply_in(chat, mark, "🔐 Approvals").await;
                if status.text.contains("Idle") && status.text.contains("Nothing is waiting") {
                    break;
                }
            }
        }
    }

    /// What the files say, in a form that can be compared.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = self.rig.live("json");
        found.extend(self.rig.live("md"));
        found
            .into_iter()
            .filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?)))
            .collect()
    }

    /// What must hold whenever nothing runs.
    async fn check(&mut self) {
        self.note_prose();
        for chat in Self::chats() {
            let calm = self.rig.wait("one plan shown", |rig| {
                problem(rig, chat).is_none().then_some(())
            });
            let calm = tokio::time::timeout(CALM, calm).await.is_ok();
            assert!(
                calm,
                "after {} actions: {}\n{}",
                self.done,
                problem(&self.rig, chat).unwrap_or_default(),
                self.rig.report()
            );
        }
        let carriers: usize = Self::chats()
            .iter()
            .map(|chat| self.rig.plan_keyboards(*chat).len())
            .sum();
        assert!(
            carriers <= self.rig.live("json").len(),
            "a keyboard outlived its plan\n{}",
            self.rig.report()
        );
        self.check_approvals();
    }

    /// Nothing was approved but by the owner, and only what stood there when the owner said so.
    fn check_approvals(&self) {
        for path in below(&self.rig.home()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.contains("greenlight_plan_") || !name.ends_with(".json") {
                continue;
            }
            let side: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            if side["approved_at"].is_null() {
                let tasks = side["tasks"].as_array().map_or(0, Vec::len);
                assert!(side["status"] != json!("Editing") || tasks == 0, "{side}");
                continue;
            }
            assert_eq!(
                side["approved_by"].to_string().trim_matches('"'),
                OWNER.0.to_string(),
                "{side}"
            );
            let revision = side["approved_revision"].as_str().unwrap_or_default();
            assert!(
                self.offered.contains(revision),
                "approved without the owner's word: {side}"
            );
        }
    }

    /// At rest, others may do what they like: the plans stay as they are.
    async fn others_change_nothing(&mut self) {
        let before = self.files();
        let mut taps = Vec::new();
        for _ in 0..4 {
            self.done += 1;
            let user = self.dice.pick(&[MEMBER, STRANGER]);
            let Some(message) = self.some_message(GROUP) else {
                continue;
            };
            let data = self.dice.pick(&["plan:ok", "plan:no", "plan:keep"]);
            taps.push(self.rig.world().tap(user, GROUP, message, data));
            let word = self
                .dice
                .pick(&["/execute", "/discard", "/plan", "/plan Mine"]);
            self.rig
                .say_in(user, GROUP, None, &Self::command(GROUP, word));
        }
        for tap in taps {
            self.rig
                .wait("an answer to a tap", |rig| rig.world().answer(&tap))
                .await;
        }
        self.rest().await;
        assert_eq!(self.files(), before, "somebody else changed a plan");
    }
}

/// What is wrong with what a chat shows of its plan.
fn problem(rig: &Rig, chat: ChatId) -> Option<String> {
    let posts = rig.world().messages(chat);
    let flows: Vec<_> = posts.iter().filter(|post| is_flow(post)).collect();
    let shown: Vec<_> = flows
        .iter()
        .filter(|post| post.text.contains('📋'))
        .collect();
    let has = |post: &Post, start: &str| post.data().iter().any(|data| data.starts_with(start));
    let carriers: Vec<_> = posts.iter().filter(|post| has(post, "plan:")).collect();
    let newest = flows.last().map(|post| post.id);
    let valid = carriers.len() <= 1 && carriers.iter().all(|post| Some(post.id) == newest);
    let running = posts.iter().any(|post| has(post, "turn:stop"));
    if shown.len() <= 1 && valid && !running {
        return None;
    }
    let brief = |post: &Post| {
        let text: String = post.text.chars().take(160).collect();
        format!("[{}] {:?} {text}", post.id.0, post.data())
    };
    let shown: Vec<String> = shown.iter().map(|post| brief(post)).collect();
    let carriers: Vec<String> = carriers.iter().map(|post| brief(post)).collect();
    Some(format!(
        "newest {newest:?} running {running}\nshown:\n{}\ncarriers:\n{}",
        shown.join("\n"),
        carriers.join("\n")
    ))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_actions_break_no_rule() {
    let seed = 20_260_101;
    let rig = Rig::new().await;
    rig.script.brain(brain(Dice(seed ^ 1)));
    let mut soak = Soak {
        rig,
        dice: Dice(seed),
        offered: BTreeSet::new(),
        done: 0,
        syncs: 0,
    };
    while soak.done < ACTIONS {
        soak.done += 1;
        match soak.dice.below(60) {
            0 => soak.rig.restart().await,
            1 => {
                soak.rest().await;
                soak.check().await;
                soak.others_change_nothing().await;
            }
            2..14 => soak.others_act(),
            _ => soak.owner_acts(),
        }
    }
    soak.rest().await;
    soak.check().await;
    soak.rig.finish().await;
}
