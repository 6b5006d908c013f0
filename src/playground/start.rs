//! Starts the server with its people and chats.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::model::{Person, RoomKind};
use super::page::{self, Page, Translate};
use super::world::World;
use super::{poll, server};
use crate::domain::{ChatId, UserId};

/// The person who may approve.
pub const OWNER: UserId = UserId(700_100_001);
/// A person who may chat.
pub const MEMBER: UserId = UserId(700_100_002);
/// A person whom the bot does not know.
pub const STRANGER: UserId = UserId(700_100_003);
/// The group of all three, with topics.
pub const GROUP: ChatId = ChatId(-1_001_700_100_001);
/// User name of the bot.
pub const USERNAME: &str = "greenlight_play_bot";
/// A token in the shape of a real one; it opens nothing but this server.
pub const TOKEN: &str = "110201543:playground-AAHdqTcvCH1vGWJxfSeofSAs0K5";

/// How to start.
pub struct Options {
    /// Address to listen on; port 0 takes a free one. Loopback, because the page can run commands.
    pub bind: SocketAddr,
    /// Token of the bot.
    pub token: String,
    /// Whether Telegram's flood limits are enforced.
    pub limits: bool,
    /// Whether people, a private chat and a group with topics are there from the start.
    pub cast: bool,
    /// Sentences of the page.
    pub translate: Translate,
    /// Languages that the page offers, the first one is the default.
    pub languages: Vec<String>,
    /// One line above the chat, such as "demo model, sample project in /tmp/…".
    pub notice: Option<String>,
}

impl Options {
    /// A server on a free loopback port, with limits and people.
    #[must_use]
    pub fn new(translate: Translate) -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: TOKEN.to_owned(),
            limits: true,
            cast: true,
            translate,
            languages: vec!["en".to_owned(), "ru".to_owned(), "ar".to_owned()],
            notice: None,
        }
    }
}

/// A running server. Dropping it stops it.
pub struct Running {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Bot API root without `/bot…`; also the address of the page.
    pub api_url: String,
    /// Token of the bot.
    pub token: String,
    /// The world behind it.
    pub world: World,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// Address of the chat page.
    #[must_use]
    pub fn page_url(&self) -> String {
        format!("{}/", self.api_url)
    }

    /// Stops listening and waits for the end. Open long polls are cut.
    pub async fn stop(mut self) {
        self.stop.cancel();
        // A task that panicked has stopped as well.
        (&mut self.task).await.ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Starts the server.
///
/// # Errors
///
/// The address cannot be bound.
pub async fn start(options: Options) -> io::Result<Running> {
    let world = World::new(&options.token, USERNAME);
    world.limits(options.limits);
    if options.cast {
        cast(&world);
    }
    let listener = TcpListener::bind(options.bind).await?;
    let addr = listener.local_addr()?;
    let page = Page {
        world: world.clone(),
        translate: options.translate,
        languages: Arc::new(options.languages),
        roles: Arc::new(vec![
            (OWNER.0, "owner"),
            (MEMBER.0, "member"),
            (STRANGER.0, "stranger"),
        ]),
        notice: options.notice,
    };
    let api = world.clone();
    let app: Router =
        page::router(page).fallback(move |request| server::serve(api.clone(), request));
    let stop = CancellationToken::new();
    let (served, hooked) = (
        stop.clone(),
        tokio::spawn(poll::post_to_hook(world.clone(), stop.clone())),
    );
    let task = tokio::spawn(async move {
        // Open event streams and long polls would hold a graceful end for ever, so it is not waited for.
        tokio::select! {
            () = served.cancelled() => {}
            ended = axum::serve(listener, app).into_future() => drop(ended),
        }
        hooked.await.ok();
    });
    Ok(Running {
        addr,
        api_url: format!("http://{addr}"),
        token: options.token,
        world,
        stop,
        task,
    })
}

fn cast(world: &World) {
    world.person(Person::new(OWNER.0, "Olivia", "olivia"));
    world.person(Person::new(MEMBER.0, "Marek", "marek"));
    world.person(Person::new(STRANGER.0, "Sasha", "sasha"));
    for person in [OWNER, MEMBER, STRANGER] {
        world.open(person);
    }
    let people = [OWNER, MEMBER, STRANGER];
    world.group(GROUP.0, "Workshop", RoomKind::Supergroup, true, &people);
    world.topic(GROUP, OWNER, "Builds");
    world.topic(GROUP, OWNER, "Ideas");
}
