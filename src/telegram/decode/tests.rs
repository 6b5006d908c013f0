use serde_json::{Value, json};

use super::*;
use crate::domain::{AttachmentKind, EntityKind};

fn me() -> Me {
    Me {
        id: UserId(900),
        username: "green_bot".into(),
    }
}

fn raw(extra: &Value) -> Value {
    let mut body = json!({
        "message_id": 5, "date": 1_700_000_000,
        "chat": {"id": -1001, "type": "supergroup", "title": "Team"},
        "from": {"id": 11, "is_bot": false, "first_name": "Olga", "language_code": "ru"},
    });
    body.as_object_mut()
        .unwrap()
        .extend(extra.as_object().unwrap().clone());
    json!({"update_id": 7, "message": body})
}

fn incoming(extra: &Value) -> Incoming {
    let crate::telegram::repair::Repaired::Update(update) =
        crate::telegram::repair::repair(&raw(extra))
    else {
        panic!("unreadable: {extra}");
    };
    match decode(&update, &me()) {
        Decoded::Message(incoming) => *incoming,
        other @ (Decoded::Tap(_)
        | Decoded::Membership { .. }
        | Decoded::Migrated { .. }
        | Decoded::Nothing) => panic!("{other:?}"),
    }
}

#[test]
fn a_thread_counts_only_as_a_topic_of_a_forum() {
    let plain = incoming(&json!({"text": "x", "message_thread_id": 4}));
    assert_eq!(plain.key, ChatKey::new(ChatId(-1001), None));
    let odd = incoming(&json!({"text": "x", "message_thread_id": 4, "is_topic_message": true}));
    assert_eq!(odd.key.thread, None);
    let forum = json!({"id": -1001, "type": "supergroup", "title": "Team", "is_forum": true});
    let topic = incoming(
        &json!({"text": "x", "message_thread_id": 4, "is_topic_message": true, "chat": forum}),
    );
    assert_eq!(topic.key.thread, Some(ThreadId(4)));
    let private = json!({"id": 11, "type": "private", "first_name": "Olga"});
    let topic = incoming(
        &json!({"text": "x", "message_thread_id": 9, "is_topic_message": true, "chat": private}),
    );
    assert_eq!(topic.key.thread, Some(ThreadId(9)));
}

#[test]
fn a_mention_is_a_word_of_its_own_in_any_case() {
    for (text, expected) in [
        ("@Green_Bot hi", true),
        ("hi, @green_bot!", true),
        ("@green_bot2 hi", false),
        ("mail@green_bot", false),
        ("green_bot", false),
        ("@other_bot hi", false),
    ] {
        assert_eq!(
            incoming(&json!({"text": text})).mentions_me,
            expected,
            "{text}"
        );
    }
    let photo = json!({"photo": [{"file_id": "s", "file_unique_id": "s", "width": 1, "height": 1}, {"file_id": "l", "file_unique_id": "l", "width": 9, "height": 9, "file_size": 77}], "caption": "@green_bot look"});
    let photo = incoming(&photo);
    assert!(photo.mentions_me);
    assert_eq!(
        (
            photo.attachments[0].file_id.as_str(),
            photo.attachments[0].size
        ),
        ("l", Some(77))
    );
}

#[test]
fn a_reply_is_quoted_and_the_opening_of_a_topic_is_no_reply() {
    let bot = json!({"id": 900, "is_bot": true, "first_name": "Green"});
    let chat = json!({"id": -1001, "type": "supergroup", "title": "Team"});
    let reply =
        json!({"message_id": 3, "date": 1, "chat": chat, "from": bot, "text": "the whole answer"});
    let message = incoming(
        &json!({"text": "why?", "reply_to_message": reply, "quote": {"text": "whole", "position": 4}}),
    );
    assert!(message.replies_to_me);
    assert_eq!(
        message.quote,
        Some(Quote {
            message: MessageId(3),
            from_bot: true,
            author: "Green".into(),
            text: "whole".into()
        })
    );

    let opened = json!({"message_id": 3, "date": 1, "chat": chat, "from": bot, "forum_topic_created": {"name": "One", "icon_color": 7_322_096}});
    let message = incoming(&json!({"text": "hi", "reply_to_message": opened}));
    assert_eq!((message.replies_to_me, message.quote), (false, None));
}

#[test]
fn a_forward_names_its_origin() {
    let message = incoming(
        &json!({"text": "x", "forward_origin": {"type": "hidden_user", "date": 1, "sender_user_name": "Ann"}}),
    );
    assert_eq!(message.origin, Some(Origin { name: "Ann".into() }));
}

#[test]
fn names_of_files_cannot_leave_their_directory() {
    for (name, expected) in [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\x.txt", "x.txt"),
        (".bashrc", "bashrc"),
        ("a\u{202e}gpj.exe", "a_gpj.exe"),
        ("", "file"),
        ("...", "file"),
        ("отчёт 1.pdf", "отчёт_1.pdf"),
    ] {
        assert_eq!(safe_name(name), expected);
    }
    let long = safe_name(&format!("{}.tar.gz", "a".repeat(300)));
    assert!(long.ends_with(".gz") && long.chars().count() == 96);
}

#[test]
fn music_is_a_file_and_speech_is_voice() {
    let audio = json!({"file_id": "a", "file_unique_id": "b", "duration": 3, "mime_type": "audio/mpeg", "file_name": "../song.mp3"});
    let message = incoming(&json!({"audio": audio}));
    assert_eq!(
        (
            message.attachments[0].kind,
            message.attachments[0].name.as_str()
        ),
        (AttachmentKind::Document, "song.mp3")
    );
    let voice =
        json!({"file_id": "a", "file_unique_id": "b", "duration": 3, "mime_type": "audio/ogg"});
    assert_eq!(
        incoming(&json!({"voice": voice})).attachments[0].kind,
        AttachmentKind::Voice
    );
}

#[test]
fn cutting_a_prefix_moves_the_entities_along() {
    let bold = Entity {
        kind: EntityKind::Bold,
        offset: 5,
        length: 4,
    };
    let text = Formatted {
        text: "@b😀 bold".into(),
        entities: vec![bold],
    };
    let rest = cut(&text, "@b😀".len());
    assert_eq!(
        rest,
        Formatted {
            text: "bold".into(),
            entities: vec![Entity {
                kind: EntityKind::Bold,
                offset: 0,
                length: 4
            }]
        }
    );
    assert_eq!(cut(&text, 999), Formatted::default());
}

#[test]
fn a_tap_on_a_message_that_is_gone_still_has_a_place() {
    let update: wire::Update = serde_json::from_str(&json!({"update_id": 8, "callback_query": {
        "id": "q", "from": {"id": 11, "is_bot": false, "first_name": "O"}, "chat_instance": "c", "data": "stop",
        "message": {"message_id": 4, "date": 0, "chat": {"id": 11, "type": "private", "first_name": "O"}},
    }}).to_string()).unwrap();
    let Decoded::Tap(tap) = decode(&update, &me()) else {
        panic!("no tap")
    };
    assert_eq!(
        tap.place,
        Some((
            ChatKey::new(ChatId(11), None),
            ChatKind::Private,
            MessageId(4)
        ))
    );
}
