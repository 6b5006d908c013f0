//! The bot at rest: memory with a hundred known sessions, and the time from start to first poll.

use std::time::Duration;

use greenlight::playground::World;
use tokio::time::{interval, timeout};

use super::judge::Judge;
use super::model::{Script, TASK};
use super::process::Process;
use super::{FIRST, members, say, serve, write};

/// Sessions that the bot knows.
const SESSIONS: i64 = 100;
/// Starts that are measured.
const STARTS: usize = 7;
/// Time that the bot gets to come to rest.
const REST: Duration = Duration::from_secs(3);
/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures and prints.
pub(super) async fn run() {
    let home = tempfile::tempdir().expect("a directory");
    let workspace = tempfile::tempdir().expect("a directory");
    let people = members(SESSIONS);
    let server = serve(FIRST..FIRST + SESSIONS).await;
    let model = Script::new(0, 0).serve().await.expect("a loopback port");
    let start = || Process::start(home.path(), workspace.path(), &server, &model, &people);

    let bot = start().expect("the bot");
    let mut judge = Judge::default();
    for chat in FIRST..FIRST + SESSIONS {
        write(&server.world, &mut judge, chat, &format!("{TASK}{chat}"));
    }
    let answered = server.world.wait_for(|world| {
        judge.read(world);
        let all = judge.chats.values().all(|chat| !chat.finals.is_empty());
        all.then_some(())
    });
    timeout(PATIENCE, answered).await.expect("answers");
    let memory = bot.memory();
    say(&format!(
        "after {SESSIONS} turns: {} KiB resident, {} KiB of its own, {} threads",
        memory.resident,
        memory.own,
        bot.threads()
    ));
    bot.stop().expect("the bot ends");

    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let before = polls(&server.world);
        let bot = start().expect("the bot");
        let polled = server
            .world
            .wait_for(|world| (polls(world) > before).then(|| bot.started.elapsed()));
        starts.push(timeout(PATIENCE, polled).await.expect("a poll"));
        let mut rest = interval(REST);
        rest.tick().await;
        rest.tick().await;
        let memory = bot.memory();
        say(&format!(
            "start to first getUpdates: {} ms; at rest with {SESSIONS} sessions: {} KiB resident, {} KiB of its own, {} threads, processor {} ms",
            starts.last().map_or(0, Duration::as_millis),
            memory.resident,
            memory.own,
            bot.threads(),
            bot.processor().as_millis()
        ));
        bot.stop().expect("the bot ends");
    }
    starts.sort_unstable();
    say(&format!(
        "start to first getUpdates, median of {STARTS}: {} ms",
        starts.get(STARTS / 2).map_or(0, Duration::as_millis)
    ));
}

fn polls(world: &World) -> usize {
    let log = world.log();
    log.iter()
        .filter(|call| call.method == "getUpdates")
        .count()
}
