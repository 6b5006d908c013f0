use super::*;
use crate::config::{Busy, Render, TelegramLimits};
use crate::domain::{ChatKey, Formatted, MessageId, UpdateId};
use crate::telegram::decode::Person;

const OWNER: UserId = UserId(11);
const MEMBER: UserId = UserId(12);
const GUEST: UserId = UserId(13);
const GROUP: ChatId = ChatId(-100);

fn settings(respond: Respond, observe: bool) -> TelegramSettings {
    TelegramSettings {
        token: None,
        api_url: String::new(),
        owner: Some(OWNER),
        members: vec![MEMBER, ANONYMOUS_ADMIN],
        groups: [(
            GROUP,
            GroupSettings {
                members: vec![UserId(14)],
                respond,
                observe,
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

fn rules(respond: Respond, observe: bool) -> Rules {
    Rules::new(settings(respond, observe), None, BTreeMap::new())
}

fn message(user: UserId, chat: ChatId) -> Incoming {
    Incoming {
        update: UpdateId(1),
        key: ChatKey::new(chat, None),
        chat_kind: if chat.0 > 0 {
            ChatKind::Private
        } else {
            ChatKind::Group
        },
        person: Some(Person {
            id: user,
            name: "x".into(),
            username: None,
            language: None,
            is_bot: false,
        }),
        for_chat: false,
        edited: false,
        message: MessageId(1),
        sent_at: 0,
        text: Formatted::plain("x"),
        mentions_me: false,
        replies_to_me: false,
        quote: None,
        origin: None,
        attachments: Vec::new(),
        album: None,
    }
}

#[test]
fn in_private_the_listed_are_served_and_strangers_refused() {
    let rules = rules(Respond::Mention, false);
    for (user, expected) in [
        (OWNER, Verdict::Serve(Role::Owner)),
        (MEMBER, Verdict::Serve(Role::Member)),
        (GUEST, Verdict::Refuse),
        (UserId(14), Verdict::Refuse),
        (ANONYMOUS_ADMIN, Verdict::Ignore),
    ] {
        assert_eq!(
            rules.judge(&message(user, ChatId(user.0)), Address::None),
            expected,
            "{user}"
        );
    }
}

#[test]
fn in_a_group_the_mode_decides_and_strangers_get_silence() {
    let cases = [
        (Respond::Mention, Address::None, Verdict::Ignore),
        (
            Respond::Mention,
            Address::Named,
            Verdict::Serve(Role::Member),
        ),
        (
            Respond::Mention,
            Address::Command,
            Verdict::Serve(Role::Member),
        ),
        (Respond::Commands, Address::Named, Verdict::Ignore),
        (
            Respond::Commands,
            Address::Command,
            Verdict::Serve(Role::Member),
        ),
        (Respond::All, Address::None, Verdict::Serve(Role::Member)),
    ];
    for (respond, address, expected) in cases {
        let rules = rules(respond, false);
        assert_eq!(
            rules.judge(&message(UserId(14), GROUP), address),
            expected,
            "{respond:?} {address:?}"
        );
        assert_eq!(
            rules.judge(&message(GUEST, GROUP), address),
            Verdict::Ignore
        );
        assert_eq!(
            rules.judge(&message(OWNER, ChatId(-200)), address),
            Verdict::Ignore
        );
    }
}

#[test]
fn an_observing_group_takes_others_along_but_never_as_requests() {
    let rules = rules(Respond::Mention, true);
    assert_eq!(
        rules.judge(&message(GUEST, GROUP), Address::Named),
        Verdict::Observe
    );
    assert_eq!(
        rules.judge(&message(OWNER, GROUP), Address::None),
        Verdict::Observe
    );
    assert_eq!(
        rules.judge(&message(ANONYMOUS_ADMIN, GROUP), Address::Named),
        Verdict::Ignore
    );
}

#[test]
fn who_speaks_for_a_chat_or_is_a_bot_is_nobody() {
    let rules = rules(Respond::All, true);
    let for_chat = Incoming {
        for_chat: true,
        ..message(OWNER, GROUP)
    };
    assert_eq!(rules.judge(&for_chat, Address::Named), Verdict::Ignore);
    let mut bot = message(MEMBER, GROUP);
    if let Some(person) = &mut bot.person {
        person.is_bot = true;
    }
    assert_eq!(rules.judge(&bot, Address::Named), Verdict::Ignore);
    assert_eq!(
        rules.judge(
            &Incoming {
                person: None,
                ..message(OWNER, GROUP)
            },
            Address::Named
        ),
        Verdict::Ignore
    );
}

#[test]
fn without_an_owner_nobody_is_served() {
    let mut settings = settings(Respond::All, true);
    settings.owner = None;
    let mut rules = Rules::new(settings, None, BTreeMap::new());
    assert_eq!(
        rules.standing(MEMBER, false, ChatId(12)),
        Standing::Stranger
    );
    assert!(rules.claim(GUEST));
    assert!(!rules.claim(MEMBER));
    assert_eq!(
        rules.standing(MEMBER, false, ChatId(12)),
        Standing::Principal(Role::Member)
    );
}

#[test]
fn a_migrated_group_keeps_its_settings() {
    let mut rules = rules(Respond::Mention, false);
    rules.migrate(GROUP, ChatId(-1000));
    rules.migrate(ChatId(-1000), ChatId(-2000));
    assert!(rules.group(ChatId(-2000)).is_some());
    assert_eq!(
        rules.standing(UserId(14), false, ChatId(-2000)),
        Standing::Principal(Role::Member)
    );
    assert!(!rules.must_leave(ChatId(-1000), ChatKind::Group, GUEST));
}

#[test]
fn an_unlisted_group_is_left_unless_the_owner_added_the_bot() {
    let rules = rules(Respond::Mention, false);
    assert!(rules.must_leave(ChatId(-9), ChatKind::Group, GUEST));
    assert!(rules.must_leave(ChatId(-9), ChatKind::Channel, MEMBER));
    assert!(!rules.must_leave(ChatId(-9), ChatKind::Group, OWNER));
    assert!(!rules.must_leave(ChatId(13), ChatKind::Private, GUEST));
}

#[test]
fn a_code_dies_after_use_after_five_wrong_tries_and_after_ten_minutes() {
    let code = ClaimCode::new(*b"0123456789abcdef", 0);
    assert_eq!(code.code().len(), CODE_LENGTH);
    let mut used = code.clone();
    let text = code.code().to_ascii_lowercase();
    assert_eq!(
        used.attempt(&format!(" {text} "), 599),
        ClaimOutcome::Accepted
    );
    assert_eq!(used.attempt(&text, 599), ClaimOutcome::Dead);
    assert_eq!(code.clone().attempt(&text, 600), ClaimOutcome::Dead);
    let mut wrong = code;
    for _ in 0..4 {
        assert_eq!(wrong.attempt("nope", 1), ClaimOutcome::Wrong);
    }
    assert_eq!(wrong.attempt("nope", 1), ClaimOutcome::Dead);
    assert_eq!(wrong.attempt(&text, 1), ClaimOutcome::Dead);
}
