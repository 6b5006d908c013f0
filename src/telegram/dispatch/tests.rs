use serde_json::json;
use tokio::time::{Duration, timeout};

use super::*;
use crate::config::{Busy, GroupSettings, Render, Respond, TelegramLimits};
use crate::domain::Role;
use crate::session::access::StoreMemory;
use crate::session::inbox::{StoreInbox, dead_letters};
use crate::store::Store;

struct Desk {
    context: Arc<Context>,
    lanes: Lanes,
    fed: mpsc::Receiver<Fed>,
    next: u32,
    store: Store,
    _home: tempfile::TempDir,
}

fn settings(owner: Option<i64>) -> TelegramSettings {
    TelegramSettings {
        token: None,
        api_url: String::new(),
        owner: owner.map(UserId),
        members: vec![UserId(12)],
        groups: [(
            ChatId(-100),
            GroupSettings {
                members: Vec::new(),
                respond: Respond::Mention,
                observe: false,
            },
        )]
        .into(),
        render: Render::Classic,
        group_detail: false,
        busy: Busy::Steer,
        link_previews: false,
        limits: TelegramLimits::default(),
        webhook: None,
    }
}

impl Desk {
    async fn new(owner: Option<i64>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).await.unwrap();
        let inbox = StoreInbox::open(store.clone(), 900, unix_now())
            .await
            .unwrap();
        let (memory, known) = StoreMemory::load(store.clone(), unix_now()).await.unwrap();
        let (feed, fed) = mpsc::channel(8);
        let setup = Setup {
            me: Me {
                id: UserId(900),
                username: "green_bot".into(),
            },
            settings: settings(owner),
            language: "en".into(),
            memory: Arc::new(memory),
            known,
            inbox: Arc::new(inbox),
            feed,
            to_markdown: |text, _| text.to_owned(),
            capacity: 8,
        };
        let (context, lanes) = Context::start(setup);
        Self {
            context,
            lanes,
            fed,
            next: 0,
            store,
            _home: home,
        }
    }

    /// Puts an update through the inbox and its handler.
    async fn take(&mut self, mut raw: Value) {
        self.next += 1;
        raw["update_id"] = self.next.into();
        let accepted = self
            .context
            .inbox
            .accept(vec![raw], unix_now())
            .await
            .unwrap();
        for (id, raw) in accepted.fresh {
            if let Some(update) = self.context.read(Fed::Update(id, raw)).await {
                Arc::clone(&self.context).handle(update).await;
            }
        }
    }

    async fn say(&mut self, user: i64, chat: i64, text: &str) {
        let chat = if chat > 0 {
            json!({"id": chat, "type": "private", "first_name": "P"})
        } else {
            json!({"id": chat, "type": "supergroup", "title": "Team"})
        };
        let from = json!({"id": user, "is_bot": false, "first_name": "P", "language_code": "ru"});
        self.take(json!({"message": {"message_id": self.next + 1, "date": unix_now(), "chat": chat, "from": from, "text": text}})).await;
    }

    async fn work(&mut self) -> Content {
        timeout(Duration::from_secs(5), self.lanes.work.recv())
            .await
            .unwrap()
            .unwrap()
            .content
    }

    async fn control(&mut self) -> Content {
        timeout(Duration::from_secs(5), self.lanes.control.recv())
            .await
            .unwrap()
            .unwrap()
            .content
    }

    async fn open(&self) -> usize {
        self.context.inbox.open_rows().await.unwrap().len()
    }
}

fn key_of(content: &Content) -> &'static str {
    match content {
        Content::Reply(Reply::Say { text, .. } | Reply::Alert { text, .. }) => text,
        Content::Reply(Reply::Leave { .. }) => "leave",
        Content::Input(Inbound::Message(_)) => "message",
        Content::Input(Inbound::Command(_)) => "command",
        Content::Input(Inbound::Tap(_)) => "tap",
        Content::Input(Inbound::Edited(_)) => "edited",
        Content::Migrated { .. } => "migrated",
        Content::OwnerClaimed(_) => "claimed",
        Content::Removed(_) => "removed",
    }
}

#[tokio::test]
async fn the_owner_is_heard_a_stranger_is_refused_once_and_a_group_gets_silence() {
    let mut desk = Desk::new(Some(11)).await;
    desk.say(13, 13, "let me in").await;
    desk.say(13, 13, "please").await;
    desk.say(13, -100, "@green_bot obey").await;
    desk.say(11, -100, "just talking").await;
    desk.say(11, -100, "@Green_Bot, what is 1 + 1?").await;
    assert_eq!(key_of(&desk.work().await), "access-refused");
    let Content::Input(Inbound::Message(message)) = desk.work().await else {
        panic!("no message")
    };
    assert_eq!(
        (message.text.as_str(), message.sender.role),
        ("what is 1 + 1?", Role::Owner)
    );
    // What was ignored is closed; what was delivered is open until its consumer closes it.
    assert_eq!(desk.open().await, 2);
}

#[tokio::test]
async fn control_commands_and_taps_have_a_lane_of_their_own() {
    let mut desk = Desk::new(Some(11)).await;
    desk.say(11, 11, "/new").await;
    desk.say(11, 11, "/stop").await;
    assert_eq!(key_of(&desk.control().await), "command");
    assert_eq!(key_of(&desk.work().await), "command");
    for (user, expected) in [(12, "tap"), (13, "access-tap-refused")] {
        desk.take(json!({"callback_query": {
            "id": "q", "from": {"id": user, "is_bot": false, "first_name": "P"}, "chat_instance": "c", "data": "stop",
            "message": {"message_id": 4, "date": 0, "chat": {"id": -100, "type": "supergroup", "title": "Team"}},
        }})).await;
        assert_eq!(key_of(&desk.control().await), expected);
    }
}

#[tokio::test]
async fn unknown_words_get_a_hint_and_paths_are_chat() {
    let mut desk = Desk::new(Some(11)).await;
    desk.say(11, 11, "/frobnicate now").await;
    assert_eq!(key_of(&desk.work().await), "command-unknown");
    desk.say(11, 11, "/etc/hosts looks odd").await;
    assert_eq!(key_of(&desk.work().await), "message");
    desk.say(11, 11, "/status@other_bot").await;
    desk.say(11, -100, "/frobnicate").await;
    assert_eq!(desk.open().await, 2);
}

#[tokio::test]
async fn the_owner_is_claimed_by_code_once_and_durably() {
    let mut desk = Desk::new(None).await;
    desk.say(12, 12, "hello").await;
    assert_eq!(key_of(&desk.work().await), "access-refused");
    let code = desk.context.offer_claim().unwrap();
    desk.say(12, 12, "/start WRONG").await;
    assert_eq!(key_of(&desk.work().await), "access-claim-wrong");
    desk.say(13, -100, &format!("/start {code}")).await;
    desk.say(13, 13, &format!("/start {code}")).await;
    assert_eq!(desk.work().await, Content::OwnerClaimed(UserId(13)));
    assert_eq!(key_of(&desk.work().await), "access-claimed");
    assert_eq!(desk.context.offer_claim(), None);
    let (_, loaded) = StoreMemory::load(desk.store.clone(), unix_now())
        .await
        .unwrap();
    assert_eq!(loaded.owner, Some(UserId(13)));
}

#[tokio::test]
async fn an_unlisted_group_is_left_without_a_word() {
    let mut desk = Desk::new(Some(11)).await;
    let bot = json!({"id": 900, "is_bot": true, "first_name": "Green"});
    for (user, chat) in [(13, -555), (11, -556)] {
        desk.take(json!({"my_chat_member": {
            "chat": {"id": chat, "type": "supergroup", "title": "X"}, "date": unix_now(),
            "from": {"id": user, "is_bot": false, "first_name": "P"},
            "old_chat_member": {"user": bot, "status": "left"}, "new_chat_member": {"user": bot, "status": "member"},
        }})).await;
    }
    assert_eq!(
        desk.work().await,
        Content::Reply(Reply::Leave { chat: ChatId(-555) })
    );
    assert_eq!(desk.open().await, 1);
}

#[tokio::test]
async fn a_migrated_group_is_served_under_its_new_id() {
    let mut desk = Desk::new(Some(11)).await;
    desk.take(json!({"message": {
        "message_id": 1, "date": unix_now(), "chat": {"id": -100, "type": "group", "title": "Team"}, "migrate_to_chat_id": -1_000_777,
    }})).await;
    assert_eq!(
        desk.work().await,
        Content::Migrated {
            from: ChatId(-100),
            to: ChatId(-1_000_777)
        }
    );
    desk.say(11, -1_000_777, "@green_bot hi").await;
    assert_eq!(key_of(&desk.work().await), "message");
}

#[tokio::test]
async fn a_panic_is_contained_counted_and_ends_among_the_dead_letters() {
    let mut desk = Desk::new(Some(11)).await;
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let inbox = StoreInbox::open(store.clone(), 900, unix_now())
        .await
        .unwrap();
    let (memory, known) = StoreMemory::load(store.clone(), unix_now()).await.unwrap();
    let (feed, mut fed) = mpsc::channel(8);
    let setup = Setup {
        me: desk.context.me.clone(),
        settings: settings(Some(11)),
        language: "en".into(),
        inbox: Arc::new(inbox),
        memory: Arc::new(memory),
        known,
        feed,
        to_markdown: |_, _| panic!("a fault in a handler"),
        capacity: 8,
    };
    let (context, _lanes) = Context::start(setup);
    desk.context = Arc::clone(&context);
    desk.say(11, 11, "poison").await;
    let mut tries = 1;
    while let Ok(again) = fed.try_recv() {
        let update = context.read(again).await.unwrap();
        Arc::clone(&context).handle(update).await;
        tries += 1;
    }
    assert_eq!(tries, crate::telegram::inbox::ATTEMPTS_LIMIT);
    assert_eq!(dead_letters(&store).await.unwrap().len(), 1);
    assert!(desk.fed.try_recv().is_err());
}
