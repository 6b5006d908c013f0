use super::*;
use crate::domain::{
    Attachment, AttachmentKind, ChatId, ChatKind, MessageId, Role, Sender, UpdateId,
};

fn message(id: u32, text: &str) -> UserMessage {
    UserMessage {
        key: ChatKey::new(ChatId(11), None),
        chat_kind: ChatKind::Private,
        sender: Sender {
            id: UserId(11),
            name: "Olga".into(),
            username: None,
            language: None,
            role: Role::Owner,
        },
        message: MessageId(i32::try_from(id).unwrap()),
        updates: vec![UpdateId(id)],
        text: text.into(),
        quote: None,
        origin: None,
        attachments: Vec::new(),
        observed: false,
        sent_at: 100,
    }
}

fn photo(id: u32, caption: &str) -> UserMessage {
    let attachment = Attachment {
        kind: AttachmentKind::Photo,
        file_id: id.to_string(),
        name: format!("{id}.jpg"),
        mime: None,
        size: None,
        path: None,
    };
    UserMessage {
        attachments: vec![attachment],
        ..message(id, caption)
    }
}

fn forward(id: u32, from: &str, text: &str) -> UserMessage {
    UserMessage {
        origin: Some(Origin { name: from.into() }),
        ..message(id, text)
    }
}

#[test]
fn an_ordinary_message_passes_at_once() {
    let mut merge = Merge::new();
    assert_eq!(
        merge.message(message(1, "hello"), None, 0),
        [message(1, "hello")]
    );
    assert_eq!(merge.deadline(), None);
}

#[test]
fn an_album_is_one_input_with_its_caption() {
    let mut merge = Merge::new();
    for (id, caption) in [(1, ""), (2, "three views"), (3, "")] {
        assert_eq!(
            merge.message(photo(id, caption), Some("g".into()), i64::from(id)),
            []
        );
    }
    assert_eq!(merge.due(600), []);
    let ready = merge.due(703);
    assert_eq!(ready.len(), 1);
    assert_eq!(
        (ready[0].text.as_str(), ready[0].attachments.len()),
        ("three views", 3)
    );
    assert_eq!(ready[0].updates, [UpdateId(1), UpdateId(2), UpdateId(3)]);
}

#[test]
fn a_split_paste_is_stitched_and_a_lone_long_message_waits_no_longer_than_needed() {
    let mut merge = Merge::new();
    assert_eq!(merge.message(message(1, &"a".repeat(4096)), None, 0), []);
    let ready = merge.message(message(2, &"b".repeat(900)), None, 400);
    assert_eq!(ready.len(), 1);
    assert_eq!(
        ready[0].text,
        format!("{}{}", "a".repeat(4096), "b".repeat(900))
    );

    assert_eq!(merge.message(message(3, &"c".repeat(3500)), None, 1000), []);
    assert_eq!(merge.deadline(), Some(2500));
    assert_eq!(merge.due(2500).len(), 1);
}

#[test]
fn a_later_message_does_not_join_a_paste() {
    let mut merge = Merge::new();
    assert_eq!(merge.message(message(1, &"a".repeat(4000)), None, 0), []);
    let late = UserMessage {
        sent_at: 500,
        ..message(2, "next")
    };
    assert_eq!(merge.message(late, None, 100).len(), 2);
}

#[test]
fn forwards_keep_their_origins_and_a_comment_stays_the_senders_own() {
    let mut merge = Merge::new();
    assert_eq!(merge.message(forward(1, "Ann", "one"), None, 0), []);
    assert_eq!(merge.message(forward(2, "Bob", "two"), None, 10), []);
    let ready = merge.message(message(3, "what do they want?"), None, 20);
    assert_eq!(ready.len(), 1);
    assert_eq!(ready[0].text, "what do they want?");
    assert_eq!(ready[0].origin, None);
    let quote = ready[0].quote.as_ref().unwrap();
    assert_eq!(quote.author, "Ann, Bob");
    assert!(quote.text.contains("Forwarded from Bob:\ntwo"));

    assert_eq!(merge.message(forward(4, "Ann", "one"), None, 100), []);
    assert_eq!(
        merge.due(1100)[0].origin,
        Some(Origin { name: "Ann".into() })
    );
}

#[test]
fn a_command_does_not_overtake_what_is_held() {
    let mut merge = Merge::new();
    assert_eq!(merge.message(photo(1, "x"), Some("g".into()), 0), []);
    assert_eq!(
        merge
            .flush(ChatKey::new(ChatId(11), None), Some(UserId(11)))
            .len(),
        1
    );
    assert_eq!(merge.flush(ChatKey::new(ChatId(11), None), None), []);
}

#[test]
fn two_people_are_never_merged() {
    let mut merge = Merge::new();
    assert_eq!(merge.message(photo(1, "x"), Some("g".into()), 0), []);
    let mut other = message(2, "hi");
    other.sender.id = UserId(12);
    assert_eq!(merge.message(other.clone(), None, 1), [other]);
}
