//! kill -9 at random moments: nothing lost, nothing doubled, nothing left hanging.

mod judge;
mod life;
mod rig;
mod script;

use std::time::Duration;

use greenlight::playground::{OWNER, World, sample};
use rig::Rig;
use script::answer;

/// The longest time that a kill waits for its moment.
const MOMENT: Duration = Duration::from_secs(4);

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
            world.tap(OWNER, chat, message, &data);
            tapped.insert(data);
        }
    })
}

/// Waits for a moment that the dice choose: after so many calls of the Bot API, or of the model. One time
/// in four it is during the start.
async fn moment(rig: &Rig, dice: &mut Dice) {
    let world = rig.bot.world();
    let before = world.log().len();
    let starting = dice.roll(4) == 0;
    let work = async {
        if !starting {
            world
                .wait_for(|world| polled(world, before).then_some(()))
                .await;
        }
        if dice.roll(3) == 0 {
            rig.model.reached(rig.model.count() + 1).await;
        } else {
            let calls = busy(world) + 1 + dice.roll(12);
            world
                .wait_for(|world| (busy(world) >= calls).then_some(()))
                .await;
        }
        // A little later, so that replies are read and writes are under way.
        for _ in 0..dice.roll(40) {
            tokio::task::yield_now().await;
        }
    };
    // Where nothing more happens, that is the moment.
    tokio::time::timeout(MOMENT, work).await.ok();
}

/// Whether the program asked for updates since call number `before`.
fn polled(world: &World, before: usize) -> bool {
    let log = world.log();
    log.iter()
        .skip(before)
        .any(|call| call.method == "getUpdates")
}

/// Calls but long polls and menus.
fn busy(world: &World) -> u64 {
    let log = world.log();
    let dull = ["getUpdates", "setMyCommands"];
    log.iter()
        .filter(|call| !dull.contains(&call.method.as_str()))
        .count() as u64
}

/// Says something and kills at some moment.
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
    moment(rig, dice).await;
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
        let posts = world.messages(greenlight::domain::ChatId(OWNER.0));
        posts
            .iter()
            .any(|post| post.from_bot && post.text.contains(&answer(last)))
            .then_some(())
    })
    .await;
    let tags: Vec<u32> = (1..=last).collect();
    // Flow messages and cards close a moment after the answer.
    let settled = rig
        .bot
        .world()
        .wait_for(|_| judge::faults(&rig, &tags).is_empty().then_some(()));
    tokio::time::timeout(Duration::from_secs(20), settled)
        .await
        .ok();
    let faults = judge::faults(&rig, &tags);
    tapper.abort();
    verdict(&rig, seed, &faults);
}

/// Fails with everything that is needed to find the fault.
fn verdict(rig: &Rig, seed: u64, faults: &[String]) {
    if faults.is_empty() {
        return;
    }
    let kept = std::env::temp_dir().join(format!("greenlight-crash-{seed}.log"));
    let posts = rig.bot.world().all_messages(rig.bot.chat());
    let posts: Vec<String> = posts
        .iter()
        .map(|post| {
            let text: String = post.text.chars().take(300).collect();
            format!("{} {} {text:?} {:?}", post.id, post.from_bot, post.data())
        })
        .collect();
    let last = rig.model.requests().pop().unwrap_or_default();
    let whole = format!("{}\n{}\n{last:#}", rig.log(), posts.join("\n"));
    std::fs::write(&kept, whole).unwrap();
    panic!(
        "seed {seed}, {} faults (log in {}):\n{}",
        faults.len(),
        kept.display(),
        faults.join("\n")
    );
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

/// Taps what the newest plan card offers: Approve or Retry.
fn approve_plan(rig: &Rig) -> bool {
    let offer = rig
        .bot
        .messages()
        .into_iter()
        .rev()
        .find(|post| post.data().iter().any(|data| data == "plan:ok"));
    if let Some(post) = &offer {
        rig.bot
            .world()
            .tap(OWNER, rig.bot.chat(), post.id, "plan:ok");
    }
    offer.is_some()
}

/// Whether the plan is done, or nothing is under way.
fn plan_is_over(rig: &Rig) -> bool {
    let posts = rig.bot.messages();
    posts
        .iter()
        .all(|post| post.keyboard.is_empty() && !post.text.starts_with("⚙"))
}

async fn crash_plan(kills: u32, seed: u64) {
    let sample = sample::create().unwrap();
    let mut rig = Rig::new("demo/demo", false).await;
    rig.workspace = sample.path().to_owned();
    let mut dice = Dice(seed);
    let tapper = approve_everything(&rig);
    rig.start();
    for round in 0..kills {
        let idle = plan_is_over(&rig);
        if round % 6 == 0 || idle && dice.roll(2) == 0 {
            rig.bot.say("/plan fix the discount");
        } else if dice.roll(2) == 0 {
            approve_plan(&rig);
        }
        moment(&rig, &mut dice).await;
        rig.kill().await;
        let torn = judge::torn_plans(&rig);
        assert!(torn.is_empty(), "seed {seed}, round {round}: {torn:?}");
        rig.start();
    }
    // The rest happens in peace.
    let settled = async {
        for _ in 0..20 {
            let tapped = approve_plan(&rig);
            let calm = rig
                .bot
                .world()
                .wait_for(|_| plan_is_over(&rig).then_some(()));
            let calm = tokio::time::timeout(MOMENT, calm).await.is_ok();
            if calm && !tapped {
                return;
            }
            rig.bot.say("/discard");
        }
    };
    tokio::time::timeout(Duration::from_secs(60), settled)
        .await
        .ok();
    let mut faults = judge::torn_plans(&rig);
    faults.extend(judge::loose_ends(&rig));
    tapper.abort();
    verdict(&rig, seed, &faults);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_survives_twelve_kills_on_its_way() {
    crash_plan(12, 99_991).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn a_plan_survives_a_hundred_kills_on_its_way() {
    crash_plan(100, 31_337).await;
}
