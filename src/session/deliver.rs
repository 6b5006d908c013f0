//! The end of a turn on its way to people: the flow message settles, the answer goes out behind it.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tracing::warn;

use crate::config::Render;
use crate::domain::{EndReason, SessionId, TurnId};
use crate::flow::{FlowOptions, Renderer};
use crate::plan::view::PlanView;
use crate::store::{Batch, Table};
use crate::telegram::outbox::{Outbox, SendFault};

use super::actor::Actor;
use super::answer::{self, Answer};
use super::flow_task::{FlowHandle, FlowParts, PlanDocument};
use super::mail::Mail;
use super::mailbox::Post;
use super::record::{TurnRecord, session_key};

/// How long an answer waits for its flow message to settle.
const SETTLE_FIRST: std::time::Duration = std::time::Duration::from_secs(1);
/// Wait before an answer is sent again that Telegram could not be reached for.
const DELIVER_AGAIN: std::time::Duration = std::time::Duration::from_secs(30);

impl Actor {
    pub(super) fn deliver(
        &mut self,
        flow: FlowHandle,
        reason: EndReason,
        (view, document): (Option<PlanView>, Option<PlanDocument>),
        (turn, answer): (TurnId, Option<Answer>),
    ) {
        let before = self.delivery.take();
        let me = self.me.clone();
        let interrupted = reason == EndReason::Interrupted;
        if !interrupted {
            self.delivering.insert(turn);
        }
        let outbox = self.deps.outbox.clone();
        let session = self.record.id.clone();
        self.delivery = Some(tokio::spawn(async move {
            if let Some(answer) = &answer {
                flow.answered(&answer.markdown);
            }
            let settling = flow.settle(reason, view, document);
            if interrupted {
                settling.await;
            } else {
                hand_over(settling, before, &outbox, answer, (session, turn), &me).await;
            }
        }));
    }

    /// What a turn's final message says and where; `None` if the flow message says it all.
    pub(super) fn answer_of(
        &self,
        record: &TurnRecord,
        reason: &EndReason,
        text: String,
    ) -> (TurnId, Option<Answer>) {
        let mut said = super::words::ending(&self.language(), reason)
            .map(|said| self.deps.redactor.redact(&said));
        if let (Some(said), Some(left)) = (&mut said, self.left_for_people(reason)) {
            said.push_str(&format!("\n\n{left}"));
        }
        if text.trim().is_empty() && said.is_none() {
            return (record.turn, None);
        }
        let answer = Answer {
            key: self.record.key,
            scope: format!("{}:{}", self.record.id, record.turn),
            parts: crate::text::split::answer(&text),
            markdown: text,
            reply_to: (self.record.key.chat.0 < 0).then_some(record.message),
            language: self.language(),
            reason: said,
        };
        (record.turn, Some(answer))
    }

    /// What a flow message of this conversation needs.
    pub(super) fn flow_parts(&self, turn: TurnId) -> FlowParts {
        FlowParts {
            outbox: self.deps.outbox.clone(),
            store: self.deps.store.clone(),
            key: self.record.key,
            turn,
            reposts: Arc::clone(&self.deps.reposts),
            line: self.line.clone(),
        }
    }

    pub(super) fn flow_options(&self, running: bool, eager: bool) -> FlowOptions {
        let settings = self.deps.settings();
        FlowOptions {
            language: self.language(),
            renderer: match settings.telegram.render {
                Render::Classic => Renderer::Classic,
                Render::RichDetails => Renderer::RichDetails,
                Render::RichMarkdown => Renderer::RichMarkdown,
            },
            group: self.record.key.chat.0 < 0,
            group_detail: settings.telegram.group_detail,
            eager,
            plan: self.plan_view(running),
        }
    }

    pub(super) async fn delivered(&mut self, session: &SessionId, turn: TurnId) {
        self.delivering.remove(&turn);
        let mut batch = Batch::new();
        // The turn may be of the session before `/new`.
        batch.delete(Table::Running, &session_key(session, turn.0));
        self.commit(batch).await;
    }
}

/// Sends the answer once the flow message is settled, or at once when that takes long: where a thousand
/// turns end together, answers do not wait behind edits. Answers of one session keep their order. The turn
/// is delivered after both, unless only the next start can send the answer.
pub(super) async fn hand_over<T>(
    settling: impl Future<Output = T>,
    before: Option<JoinHandle<()>>,
    outbox: &Outbox,
    answer: Option<Answer>,
    (session, turn): (SessionId, TurnId),
    me: &Post<Mail>,
) {
    let mut settling = std::pin::pin!(settling);
    let settled = tokio::time::timeout(SETTLE_FIRST, &mut settling)
        .await
        .is_ok();
    if let Some(before) = before {
        before.await.ok();
    }
    let answering = send_answer(outbox, answer, turn);
    let sent = if settled {
        answering.await
    } else {
        tokio::join!(answering, settling).0
    };
    if sent {
        me.send(Mail::Delivered { session, turn }).ok();
    }
}

/// Sends an answer; while Telegram cannot be reached, again and again. True once every part is sent or
/// refused for good, false if the next start has to send it.
async fn send_answer(outbox: &Outbox, answer: Option<Answer>, turn: TurnId) -> bool {
    let Some(answer) = answer else {
        return true;
    };
    while let Err(fault) = answer::deliver(outbox, answer.clone()).await {
        warn!(turn.id = turn.0, error = %fault, "an answer was not delivered whole");
        if matches!(fault, SendFault::Closed | SendFault::Unauthorized) {
            return false;
        }
        if fault != SendFault::Unavailable {
            break;
        }
        tokio::time::sleep(DELIVER_AGAIN).await;
    }
    true
}
