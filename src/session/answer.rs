//! Delivers the final answer: every part once, whatever happens in between.

use crate::domain::{ChatKey, Formatted, MessageId};
use crate::i18n::tr;
use crate::telegram::outbox::{Content, Lane, LedgerKey, Outbox, Send, SendFault};

/// More parts than this become the first part and a document.
const MOST_PARTS: usize = 6;
/// Name of the document of a long answer.
const DOCUMENT: &str = "answer.md";

/// A final answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Where to.
    pub key: ChatKey,
    /// Names the turn for ever, such as `<session>:<turn>`: parts of one scope are sent once.
    pub scope: String,
    /// The parts in order; each fits one message by itself. None, or only blank ones, means that there is
    /// no answer.
    pub parts: Vec<Formatted>,
    /// The source, for the document of a long answer.
    pub markdown: String,
    /// The message that it answers.
    pub reply_to: Option<MessageId>,
    /// Locale tag.
    pub language: String,
    /// What is said when there is no answer; `None` for the usual sentence.
    pub reason: Option<String>,
}

/// Sends what is missing of an answer and gives the messages of all parts in order. Only the first part
/// notifies. A part that is given up on does not hold the later ones back.
///
/// # Errors
/// The first fault, once everything that can be sent is sent; at once if the chat is closed for good.
pub async fn deliver(outbox: &Outbox, answer: Answer) -> Result<Vec<MessageId>, SendFault> {
    let mut messages = Vec::new();
    let mut fault = None;
    for (index, send) in plan(&answer).into_iter().enumerate() {
        match outbox.send(send).await {
            Ok(message) => messages.push(message),
            Err(closed @ (SendFault::Blocked | SendFault::Unauthorized | SendFault::Closed)) => {
                return Err(closed);
            }
            Err(
                other @ (SendFault::Gone
                | SendFault::Refused(_)
                | SendFault::Unavailable
                | SendFault::Unknown
                | SendFault::Expired),
            ) => {
                tracing::error!(part = index, fault = %other, "a part of an answer was given up on");
                fault.get_or_insert(other);
            }
        }
    }
    fault.map_or(Ok(messages), Err)
}

/// The sends that make up an answer.
fn plan(answer: &Answer) -> Vec<Send> {
    let mut contents: Vec<Content> = answer
        .parts
        .iter()
        .filter(|part| visible(&part.text))
        .cloned()
        .map(Content::Text)
        .collect();
    if contents.is_empty() {
        let reason = answer
            .reason
            .clone()
            .filter(|reason| visible(reason))
            .unwrap_or_else(|| tr(&answer.language, "flow-answer-empty", &[]));
        contents.push(Content::Text(Formatted::plain(reason)));
    }
    if contents.len() > MOST_PARTS {
        contents.truncate(1);
        contents.push(Content::Document {
            name: DOCUMENT.to_owned(),
            bytes: answer.markdown.clone().into_bytes(),
            caption: Formatted::plain(tr(&answer.language, "flow-answer-document", &[])),
        });
    }
    contents
        .into_iter()
        .zip(0_u32..)
        .map(|(content, index)| Send {
            keyboard: None,
            reply_to: answer.reply_to.filter(|_| index == 0),
            silent: index > 0,
            ledger: Some(LedgerKey {
                scope: answer.scope.clone(),
                index,
            }),
            ..Send::new(answer.key, content, Lane::Final)
        })
        .collect()
}

fn visible(text: &str) -> bool {
    text.chars().any(|sign| {
        !sign.is_whitespace() && !matches!(sign, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ChatId;

    fn answer(parts: usize) -> Answer {
        Answer {
            key: ChatKey::new(ChatId(7), None),
            scope: "s:1".into(),
            parts: (0..parts)
                .map(|n| Formatted::plain(format!("part {n}")))
                .collect(),
            markdown: "# all".into(),
            reply_to: Some(MessageId(3)),
            language: "en".into(),
            reason: None,
        }
    }

    #[test]
    fn only_the_first_part_notifies_and_replies() {
        let sends = plan(&answer(3));
        let shape: Vec<_> = sends
            .iter()
            .map(|send| (send.silent, send.reply_to.is_some()))
            .collect();
        assert_eq!(shape, [(false, true), (true, false), (true, false)]);
    }

    #[test]
    fn a_long_answer_is_its_first_part_and_a_document() {
        let sends = plan(&answer(7));
        assert_eq!(sends.len(), 2);
        assert!(matches!(&sends[1].content, Content::Document { bytes, .. } if bytes == b"# all"));
    }

    #[test]
    fn an_empty_answer_gives_the_reason() {
        let mut empty = answer(0);
        empty.parts.push(Formatted::plain(" \u{200b}\n"));
        let sends = plan(&empty);
        assert_eq!(sends.len(), 1);
        assert!(
            matches!(&sends[0].content, Content::Text(text) if text.text.starts_with("The model gave no answer"))
        );
    }
}
