//! From an update to the bot's first call, over real sockets of this machine:
//! `cargo bench --bench loopback`.
#![expect(
    clippy::expect_used,
    reason = "a benchmark that cannot be set up has to stop"
)]

#[path = "load/model.rs"]
#[expect(dead_code, reason = "only the load run asks when answers ended")]
mod model;

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use greenlight::app::Bot;
use greenlight::config::{self, Flags, Settings};
use greenlight::domain::ChatId;
use greenlight::playground::{self, OWNER, Options, Running, World};
use greenlight::text::redact::Redactor;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(30);

/// A bot in this process, its server, and the directories that they need.
struct Place {
    server: Running,
    bot: Bot,
    dirs: [tempfile::TempDir; 2],
}

async fn place() -> Place {
    let mut options = Options::new(Arc::new(|language, key| {
        greenlight::i18n::tr(language, key, &[])
    }));
    options.limits = false;
    let server = playground::start(options).await.expect("a loopback port");
    let script = model::Script::new(0, 0);
    let url = script.serve().await.expect("a loopback port");
    let dirs = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let settings = settings(&server, &url, &dirs);
    let redactor = Arc::new(Redactor::new(config::secrets(&settings)));
    let bot = Bot::start(settings, redactor).await.expect("a bot");
    Place { server, bot, dirs }
}

fn settings(server: &Running, model: &str, [home, workspace]: &[tempfile::TempDir; 2]) -> Settings {
    let owner = OWNER.0.to_string();
    let workspace = workspace.path().display().to_string();
    let env = |name: &str| {
        let value = match name {
            "TELOXIDE_TOKEN" => &server.token,
            "GREENLIGHT_TELEGRAM_API_URL" => &server.api_url,
            "GREENLIGHT_TELEGRAM_OWNER_ID" => &owner,
            "GREENLIGHT_MODEL" => "openai/scripted",
            "GREENLIGHT_MODEL_BASE_URL" => model,
            "GREENLIGHT_MODEL_API_KEY" => "a-key-of-no-value",
            "GREENLIGHT_WORKSPACE" => &workspace,
            _ => return None,
        };
        Some(value.to_owned())
    };
    let fast = [
        ("telegram.limits.private_per_second", "1000"),
        ("telegram.limits.private_burst", "100"),
        ("telegram.limits.bot_per_second", "1000"),
    ];
    let flags = Flags {
        config: None,
        home: Some(home.path().to_path_buf()),
        values: fast
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec(),
    };
    config::load(&flags, env, home.path()).expect("settings")
}

/// One turn; gives the time to the first call.
async fn turn(world: &World, number: u64) -> Duration {
    let chat = ChatId(OWNER.0);
    let from = world.calls_from(1).last().map_or(0, |call| call.number) + 1;
    let begun = Instant::now();
    world.say(OWNER, chat, None, &format!("{}{number}", model::TASK));
    let first = world.wait_for(|world| {
        let calls = world.calls_from(from);
        calls
            .iter()
            .any(|call| call.chat == Some(chat.0))
            .then(|| begun.elapsed())
    });
    let first = timeout(PATIENCE, first).await.expect("a first call");
    let answer = format!("{}{number}.", model::DONE);
    let answered = world.wait_for(|world| {
        let calls = world.calls_from(from);
        let text = |call: &playground::Call| call.params.get("text").map(ToString::to_string);
        calls
            .iter()
            .filter(|call| call.status == 200)
            .filter_map(text)
            .any(|text| text.contains(&answer))
            .then_some(())
    });
    timeout(PATIENCE, answered).await.expect("an answer");
    first
}

fn first_call(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let place = runtime.block_on(place());
    let world = place.server.world.clone();
    let mut number = 0;
    let mut group = c.benchmark_group("loopback");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("update to first call", |b| {
        b.iter_custom(|turns| {
            runtime.block_on(async {
                let mut sum = Duration::ZERO;
                for _ in 0..turns {
                    number += 1;
                    sum += turn(&world, number).await;
                }
                sum
            })
        });
    });
    group.finish();
    runtime.block_on(async {
        place.bot.stop().await;
        place.server.stop().await;
    });
    drop(place.dirs);
}

criterion_group!(benches, first_call);
criterion_main!(benches);
