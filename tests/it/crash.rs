//! kill -9 at random moments: nothing lost, nothing doubled, nothing left hanging.

mod judge;
mod rig;
mod script;

use std::time::Duration;

use rig::{Rig, tail};
use script::answer;

/// The longest time that a kill waits for its moment.
const MOMENT: Duration = Duration::from_millis(2500);

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Taps every approval card as soon as it is there.
fn approve_everything(rig: &Rig) -> tokio::task::JoinHandle<()> {
    let world = rig.bot.world().clone();
    let chat = rig.bot.chat();
    tokio::spawn(async move {
        let mut tapped = std::collections::HashSet::new();
        loop {
            let (message, data) = world
                .wait_for(|world| {
                    world.messages(chat).into_iter().find_map(|post| {
                        let data = post
                            .data()
                            .into_iter()
                            .find(|data| data.starts_with("approve:"))?;
                        (!tapped.contains(&data)).then_some((post.id, data))
                    })
                })
                .await;
            world.tap(greenlight::playground::OWNER, chat, message, &data);
            tapped.insert(data);
        }
    })
}

/// Says something and kills at a moment that the dice choose: after so many calls of the Bot API, or of
/// the model.
async fn say_and_kill(rig: &mut Rig, dice: &mut Dice, next: &mut u32) {
    for _ in 0..dice.roll(3) {
        let text = match dice.roll(4) {
            0 => format!("Q{next} plain"),
            1 => format!("Q{next} plain {}", "long ".repeat(800)),
            steps => format!("Q{next} work {}", steps - 1),
        };
        rig.bot.say(&text);
        *next += 1;
    }
    let moment = async {
        if dice.roll(3) == 0 {
            rig.model.reached(rig.model.count() + 1).await;
        } else {
            let calls = rig.bot.world().log().len() as u64 + 1 + dice.roll(14);
            rig.bot
                .world()
                .wait_for(|world| (world.log().len() as u64 >= calls).then_some(()))
                .await;
        }
        // A little later, so that replies are read and writes are under way.
        for _ in 0..dice.roll(40) {
            tokio::task::yield_now().await;
        }
    };
    // Where nothing more happens, that is the moment.
    tokio::time::timeout(MOMENT, moment).await.ok();
    rig.kill().await;
    rig.start();
}

async fn crash(kills: u32, seed: u64) {
    let mut rig = Rig::new("openai/scripted", false).await;
    let mut dice = Dice(seed);
    let mut next = 1;
    let tapper = approve_everything(&rig);
    rig.start();
    for _ in 0..kills {
        say_and_kill(&mut rig, &mut dice, &mut next).await;
    }
    let last = next;
    rig.bot.say(&format!("Q{last} plain"));
    rig.until("the last answer", |world| {
        let posts = world.messages(greenlight::domain::ChatId(greenlight::playground::OWNER.0));
        posts
            .iter()
            .any(|post| post.from_bot && post.text.contains(&answer(last)))
            .then_some(())
    })
    .await;
    let tags: Vec<u32> = (1..=last).collect();
    // Flow messages and cards close a moment after the answer.
    let settled = rig.bot.world().wait_for(|_| judge::faults(&rig, &tags).is_empty().then_some(()));
    tokio::time::timeout(Duration::from_secs(20), settled).await.ok();
    let faults = judge::faults(&rig, &tags);
    tapper.abort();
    if !faults.is_empty() {
        let kept = std::env::temp_dir().join(format!("greenlight-crash-{seed}.log"));
        std::fs::write(&kept, rig.log()).unwrap();
        panic!(
            "seed {seed}, {} faults (log in {}):\n{}\n{}",
            faults.len(),
            kept.display(),
            faults.join("\n"),
            tail(&rig.log())
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_kills_lose_nothing_and_double_nothing() {
    crash(20, 20_260_727).await;
}

/// `cargo test --test it crash -- --ignored` with `CRASH_SEED` and `CRASH_KILLS`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn two_hundred_kills_lose_nothing_and_double_nothing() {
    let number = |name: &str, usual: u64| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(usual)
    };
    let kills = u32::try_from(number("CRASH_KILLS", 200)).unwrap();
    crash(kills, number("CRASH_SEED", 4_711)).await;
}
