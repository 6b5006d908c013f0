//! The calls that a flow message needs, each as a future that reports back.

use crate::domain::{ChatKey, Keyboard, MessageId};
use crate::flow::{Body, EditRefusal};
use crate::telegram::outbox::{
    Content, Edit, EditReport, Lane, LedgerKey, Outbox, Send, SendFault,
};

use super::flow_record::{content, rewrite};

/// What came of a call.
#[derive(Debug)]
pub(super) enum Report {
    /// A message was sent, or not.
    Opened(Result<MessageId, SendFault>),
    /// An edit ended.
    Edited {
        edit: u64,
        result: Result<EditReport, SendFault>,
        clock_only: bool,
    },
    /// The plan's document was sent, or not.
    Document {
        revision: String,
        result: Result<MessageId, SendFault>,
    },
    /// An older message was rewritten, or not.
    Rewritten(Result<EditReport, SendFault>),
    /// A buried copy was deleted, or not.
    Deleted(Result<(), SendFault>),
}

/// The send of a new flow message.
pub(super) fn opening(
    key: ChatKey,
    body: Body,
    keyboard: Keyboard,
    urgent: bool,
    ledger: LedgerKey,
) -> Send {
    let lane = if urgent {
        Lane::Keyboard
    } else {
        Lane::Content
    };
    Send {
        keyboard: Some(keyboard),
        silent: true,
        ledger: Some(ledger),
        ..Send::new(key, content(body), lane)
    }
}

pub(super) async fn open(outbox: Outbox, send: Send) -> Report {
    Report::Opened(outbox.send(send).await)
}

pub(super) async fn edit(outbox: Outbox, number: u64, edit: Edit) -> Report {
    let clock_only = edit.lane == Lane::Clock;
    Report::Edited {
        edit: number,
        result: outbox.edit(edit).await,
        clock_only,
    }
}

pub(super) async fn rewrite_previous(
    outbox: Outbox,
    key: ChatKey,
    message: MessageId,
    body: Body,
) -> Report {
    Report::Rewritten(outbox.edit(rewrite(key, message, body)).await)
}

pub(super) async fn delete(outbox: Outbox, key: ChatKey, message: MessageId) -> Report {
    Report::Deleted(outbox.delete(key, message).await)
}

pub(super) async fn document(
    outbox: Outbox,
    key: ChatKey,
    revision: String,
    scope: String,
    name: String,
    bytes: Vec<u8>,
) -> Report {
    let content = Content::Document {
        name,
        bytes,
        caption: crate::domain::Formatted::default(),
    };
    let send = Send {
        silent: true,
        ledger: Some(LedgerKey { scope, index: 0 }),
        ..Send::new(key, content, Lane::Keyboard)
    };
    let result = outbox.send(send).await;
    Report::Document { revision, result }
}

/// Why an edit was not made, in the machine's words.
pub(super) fn refusal(fault: &SendFault) -> EditRefusal {
    match fault {
        SendFault::Gone => EditRefusal::Gone,
        SendFault::Refused(_) | SendFault::Blocked | SendFault::Unauthorized => {
            EditRefusal::Refused
        }
        SendFault::Unavailable | SendFault::Unknown | SendFault::Expired | SendFault::Closed => {
            EditRefusal::Unavailable
        }
    }
}

/// The name of a plan's document: `plan-<title>-r<n>.md`, safe on every file system.
pub(super) fn document_name(title: &str, number: u32) -> String {
    let mut slug = String::new();
    for sign in title.chars() {
        if slug.chars().count() >= 40 {
            break;
        }
        if sign.is_alphanumeric() {
            slug.extend(sign.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() { "untitled" } else { slug };
    format!("plan-{slug}-r{number}.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_names_are_safe() {
        assert_eq!(
            document_name("Fix ../the adder!", 2),
            "plan-fix-the-adder-r2.md"
        );
        assert_eq!(document_name("///", 1), "plan-untitled-r1.md");
    }
}
