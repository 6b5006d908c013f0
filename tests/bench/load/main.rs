//! The release binary under load against the strict local Bot API with Telegram's limits on:
//! `cargo bench --bench load -- --chats 1000 --calls 2 --seconds 20 --ramp 20`, and at rest:
//! `cargo bench --bench load -- idle`.
#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot be set up has to stop"
)]

mod idle;
mod judge;
mod model;
mod process;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use greenlight::playground::{self, OWNER, Options, Person, Running, World};
use tokio::time::{MissedTickBehavior, interval, timeout};

use judge::{Judge, percentile};
use model::{Script, TASK};
use process::{Memory, Process};

/// Number of the first chat.
const FIRST: i64 = 800_000_000;
/// Probes that measure how soon a new turn shows itself.
const PROBES: i64 = 20;
/// Time between two looks at the bot.
const LOOK: Duration = Duration::from_millis(250);
/// Calls a second that the bot may make at most.
const BOT_RATE: f64 = 25.0;

/// What the command line asks for.
#[derive(Debug, Clone, Copy)]
struct Load {
    chats: i64,
    calls: usize,
    seconds: u64,
    ramp: u64,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, usual: u64| {
        words
            .iter()
            .position(|word| word == name)
            .and_then(|at| words.get(at + 1))
            .and_then(|word| word.parse().ok())
            .unwrap_or(usual)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    if words.iter().any(|word| word == "idle") {
        return runtime.block_on(idle::run());
    }
    let load = Load {
        chats: i64::try_from(number("--chats", 20)).unwrap_or(20),
        calls: usize::try_from(number("--calls", 1)).unwrap_or(1),
        seconds: number("--seconds", 5),
        ramp: number("--ramp", 2),
    };
    runtime.block_on(run(load));
}

/// Prints one line.
fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("somebody reads");
}

/// The server with so many people in it.
async fn serve(chats: impl Iterator<Item = i64>) -> Running {
    let mut options = Options::new(Arc::new(|language, key| {
        greenlight::i18n::tr(language, key, &[])
    }));
    options.limits = true;
    let server = playground::start(options).await.expect("a loopback port");
    for id in chats {
        let user = server
            .world
            .person(Person::new(id, "Person", &format!("person{id}")));
        server.world.open(user);
    }
    server
}

/// A person writes.
fn write(world: &World, judge: &mut Judge, chat: i64, words: &str) {
    judge.said(chat, world.now_ms());
    world.say(
        greenlight::domain::UserId(chat),
        greenlight::domain::ChatId(chat),
        None,
        words,
    );
}

/// The bench in progress.
struct Bench {
    load: Load,
    server: Running,
    script: Script,
    bot: Process,
    judge: Judge,
    peak: Memory,
    threads: usize,
}

async fn run(load: Load) {
    let home = tempfile::tempdir().expect("a directory");
    let workspace = tempfile::tempdir().expect("a directory");
    let all: Vec<i64> = (FIRST..FIRST + load.chats + 3 * PROBES).collect();
    let server = serve(all.iter().copied()).await;
    let script = Script::new(load.calls, load.seconds);
    let model = script.serve().await.expect("a loopback port");
    let bot =
        Process::start(home.path(), workspace.path(), &server, &model, &all).expect("the bot");
    let mut bench = Bench {
        load,
        server,
        script,
        bot,
        judge: Judge::default(),
        peak: Memory::default(),
        threads: 0,
    };
    bench.whole().await;
}

impl Bench {
    async fn whole(mut self) {
        let world = self.server.world.clone();
        let ready = world.wait_for(|world| {
            let polled = world.log().iter().any(|call| call.method == "getUpdates");
            polled.then_some(())
        });
        timeout(Duration::from_secs(30), ready)
            .await
            .expect("the bot polls");
        // The first turn of a process warms everything up.
        self.probe(self.load.chats + 2 * PROBES, 1).await;
        let idle = self.probe(self.load.chats, PROBES - 1).await;
        let rest = self.bot.memory();
        let (processor, begun) = (self.bot.processor(), Instant::now());
        self.start().await;
        let busy = self.probe(self.load.chats + PROBES, PROBES).await;
        self.finish().await;
        let used = self.bot.processor().saturating_sub(processor);
        let wall = begun.elapsed();
        self.settle().await;
        self.report(rest, used, wall);
        say(&format!("update to first call, idle: {}", spread(idle)));
        say(&format!(
            "update to first call, {} turns running: {}",
            self.load.chats,
            spread(busy)
        ));
        let stopped = self.bot.stop().expect("the bot ends");
        say(&format!("stopped in {} ms", stopped.as_millis()));
    }

    /// One short turn after the other in chats of their own; how long each took to its first sign.
    async fn probe(&mut self, offset: i64, count: i64) -> Vec<u64> {
        let mut times = Vec::new();
        for chat in (FIRST + offset)..(FIRST + offset + count) {
            let world = self.server.world.clone();
            write(
                &world,
                &mut self.judge,
                chat,
                &format!("answer at once {TASK}{chat}"),
            );
            let mut looks = interval(Duration::from_millis(20));
            for _ in 0..500 {
                looks.tick().await;
                self.look();
                let seen = self.judge.chats.get(&chat);
                if seen.is_some_and(|chat| !chat.finals.is_empty()) {
                    break;
                }
            }
            if let Some(chat) = self.judge.chats.get(&chat) {
                times.extend(chat.first.map(|first| first - chat.said));
            }
        }
        times
    }

    /// Everybody writes, spread over the ramp.
    async fn start(&mut self) {
        let steps = (self.load.ramp * 10).max(1);
        let mut looks = interval(Duration::from_millis(100));
        looks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut next = 0;
        for step in 1..=steps {
            looks.tick().await;
            let until = self.load.chats * i64::try_from(step).unwrap_or(i64::MAX)
                / i64::try_from(steps).unwrap_or(1);
            while next < until {
                let chat = FIRST + next;
                let world = self.server.world.clone();
                write(
                    &world,
                    &mut self.judge,
                    chat,
                    &format!("do it {TASK}{chat}"),
                );
                next += 1;
            }
            self.look();
        }
    }

    fn look(&mut self) {
        self.judge.read(&self.server.world);
        let memory = self.bot.memory();
        if memory.resident > self.peak.resident {
            self.peak = memory;
        }
        self.threads = self.threads.max(self.bot.threads());
    }

    fn loaded(&self) -> impl Iterator<Item = &judge::Chat> {
        let last = FIRST + self.load.chats;
        self.judge
            .chats
            .iter()
            .filter(move |(id, _)| **id < last)
            .map(|(_, chat)| chat)
    }

    /// Waits until every turn has its answer, or far longer than it should take.
    async fn finish(&mut self) {
        let turns = u64::try_from(self.load.chats).unwrap_or_default();
        let longest = self.load.ramp + self.load.seconds * self.load.calls as u64 + turns / 8 + 60;
        let mut looks = interval(LOOK);
        for _ in 0..longest * 4 {
            looks.tick().await;
            self.look();
            self.judge.sample(self.server.world.now_ms());
            if self.loaded().all(|chat| !chat.finals.is_empty()) {
                break;
            }
        }
    }

    /// Waits until every flow message shows its end; then nothing may come any more.
    async fn settle(&mut self) {
        let turns = u64::try_from(self.load.chats).unwrap_or_default();
        let mut looks = interval(LOOK);
        for _ in 0..(turns / 5 + 40) {
            looks.tick().await;
            self.look();
            if self
                .loaded()
                .all(|chat| chat.settled || chat.opened.is_none())
            {
                break;
            }
        }
        for _ in 0..8 {
            looks.tick().await;
            self.look();
        }
    }

    fn report(&mut self, rest: Memory, used: Duration, wall: Duration) {
        let load = self.load;
        say(&format!(
            "{} chats, a turn each with {} calls of {} s, started within {} s",
            load.chats, load.calls, load.seconds, load.ramp
        ));
        say(&format!("calls by method: {:?}", self.judge.methods));
        say(&format!("429: {}", self.judge.floods));
        say(&format!("other refusals: {:?}", self.judge.refusals));
        let lost = self.loaded().filter(|chat| chat.finals.is_empty()).count();
        let doubled = self.loaded().filter(|chat| chat.finals.len() > 1).count();
        let unsettled = self
            .loaded()
            .filter(|chat| chat.opened.is_some() && !chat.settled)
            .count();
        say(&format!(
            "finals lost: {lost}, doubled: {doubled}; flow messages unsettled: {unsettled}"
        ));
        let mut ages = std::mem::take(&mut self.judge.ages);
        say(&format!(
            "age of the shown state: p50 {} ms, p95 {} ms",
            percentile(&mut ages, 50),
            percentile(&mut ages, 95)
        ));
        self.report_finals();
        let kib = self.peak.resident.saturating_sub(rest.resident);
        let turns = u64::try_from(load.chats).unwrap_or(1).max(1);
        say(&format!(
            "memory: {} KiB before, {} KiB at most, {} KiB a turn; threads at most: {}",
            rest.resident,
            self.peak.resident,
            kib / turns,
            self.threads
        ));
        let share = used.as_secs_f64() / wall.as_secs_f64() * 100.0;
        say(&format!(
            "processor: {:.1} s in {:.1} s ({share:.0} % of one core)",
            used.as_secs_f64(),
            wall.as_secs_f64()
        ));
    }

    fn report_finals(&self) {
        let now = Instant::now();
        let now_ms = self.server.world.now_ms();
        // The model's clock as the server's.
        let ended = |at: Instant| {
            let ago = u64::try_from(now.duration_since(at).as_millis()).unwrap_or(u64::MAX);
            now_ms.saturating_sub(ago)
        };
        let last = FIRST + self.load.chats;
        let mut waits = Vec::new();
        let (mut last_end, mut last_final) = (0, 0);
        for (chat, at) in self.script.ended() {
            let id = i64::try_from(chat).unwrap_or_default();
            let finals = self.judge.chats.get(&id).map(|chat| &chat.finals);
            let first = finals.and_then(|finals| finals.first());
            if id >= last {
                continue;
            }
            if let Some(first) = first {
                waits.push(first.saturating_sub(ended(at)));
                last_end = last_end.max(ended(at));
                last_final = last_final.max(*first);
            }
        }
        let bound = 1.2 * f64::from(u32::try_from(waits.len()).unwrap_or(u32::MAX)) / BOT_RATE;
        say(&format!(
            "answer of the model to its delivery: p50 {} ms, p95 {} ms, most {} ms",
            percentile(&mut waits, 50),
            percentile(&mut waits, 95),
            percentile(&mut waits, 100)
        ));
        say(&format!(
            "last final {} ms after the last turn ended; bound {:.0} ms",
            last_final.saturating_sub(last_end),
            bound * 1_000.0
        ));
    }
}

fn spread(mut times: Vec<u64>) -> String {
    format!(
        "p50 {} ms, p95 {} ms, most {} ms of {}",
        percentile(&mut times, 50),
        percentile(&mut times, 95),
        percentile(&mut times, 100),
        times.len()
    )
}

/// The people of the server who may chat.
fn members(count: i64) -> Vec<i64> {
    (FIRST..FIRST + count).chain([OWNER.0]).collect()
}
