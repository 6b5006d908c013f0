//! After a start: what was on its way is delivered, what was interrupted goes on, once.

use tracing::{info, warn};

use crate::agent::Event;
use crate::agent::transcript::{Record, interrupted};
use crate::domain::{CallStatus, Command, Effects, EndReason, Fault, ToolCall};
use crate::flow::FlowOptions;
use crate::plan::view::PlanView;
use crate::store::{Batch, StoreError, Table};

use super::actor::Actor;
use super::batch::outcome;
use super::flow_task::{self, FlowParts, PlanDocument};
use super::record::{CardRow, Queued, Strip, TurnRecord, TurnStage, session_key, session_prefix};

/// Crashes at the same step after which a turn ends instead of going on.
const SAME_STEP: u32 = 3;
/// Crashes of one turn after which it ends, wherever they were.
const ANY_STEP: u32 = 10;
/// An answer older than this, in seconds, is not sent any more.
const TIME_TO_LIVE_S: i64 = 24 * 3600;

impl Actor {
    /// Takes up what an earlier process left.
    pub(super) async fn wake(&mut self) {
        if let Err(fault) = self.take_up(true).await {
            self.store_failed(&fault);
        }
        self.go_on().await;
    }

    /// `crashed` says whether a turn that goes on counts as crashed once more.
    pub(super) async fn take_up(&mut self, crashed: bool) -> Result<(), StoreError> {
        let prefix = session_prefix(&self.record.id);
        let queued: Vec<(Vec<u8>, Queued)> = self.deps.store.scan(Table::Queue, &prefix).await?;
        self.queue = queued.into_iter().map(|(_, queued)| queued).collect();
        let later: Vec<(Vec<u8>, Command)> = self.deps.store.scan(Table::Later, &prefix).await?;
        self.later = later.into_iter().map(|(_, command)| command).collect();
        let cards: Vec<(Vec<u8>, CardRow)> = self.deps.store.scan(Table::Approvals, b"").await?;
        let mine = |row: &CardRow| row.session == self.record.id;
        let cards = cards.into_iter().map(|(_, row)| row).filter(mine).collect();
        self.expire_old_cards(cards).await;
        let strips: Vec<(Vec<u8>, Strip)> = self.deps.store.scan(Table::Strips, &prefix).await?;
        for (_, strip) in strips {
            self.strip(strip);
        }
        self.load_plan().await;
        self.restore_evidence().await;
        let turns: Vec<(Vec<u8>, TurnRecord)> =
            self.deps.store.scan(Table::Running, &prefix).await?;
        for (_, record) in turns {
            match &record.stage {
                // This process is at it already.
                TurnStage::Delivering { .. } if self.delivering.contains(&record.turn) => {}
                TurnStage::Delivering {
                    reason,
                    answer,
                    ended_at,
                } => {
                    let (reason, answer) = (reason.clone(), answer.clone());
                    let old = chrono::Utc::now().timestamp() - ended_at > TIME_TO_LIVE_S;
                    let answer = Some(answer).filter(|_| *ended_at == 0 || !old);
                    self.deliver_again(&record, reason, answer).await;
                }
                TurnStage::Running { .. } => self.resume(record, crashed).await?,
            }
        }
        Ok(())
    }

    /// The turn was over, its flow or answer perhaps not: only what is missing is sent.
    /// `None` stands for an answer that is too old to be sent.
    async fn deliver_again(
        &mut self,
        record: &TurnRecord,
        reason: EndReason,
        answer: Option<String>,
    ) {
        info!(
            turn.id = record.turn.0,
            "delivering the end of a turn again"
        );
        let parts = self.flow_parts(record.turn);
        let options = self.flow_options(false, false);
        let view = self.plan_view(false);
        let document = self.plan_document().await;
        let turn = record.turn;
        let answer = answer.and_then(|answer| self.answer_of(record, &reason, answer).1);
        let outbox = self.deps.outbox.clone();
        let me = self.me.clone();
        let session = self.record.id.clone();
        self.delivering.insert(turn);
        let before = self.delivery.take();
        let settling = settle(parts, options, reason, view, document);
        self.delivery = Some(tokio::spawn(async move {
            super::deliver::hand_over(settling, before, &outbox, answer, (session, turn), &me)
                .await;
        }));
    }

    async fn resume(&mut self, mut record: TurnRecord, crashed: bool) -> Result<(), StoreError> {
        let len = self.conversation.len();
        let TurnStage::Running {
            step,
            crashes,
            total,
        } = record.stage
        else {
            return Ok(());
        };
        let one = u32::from(crashed);
        let crashes = if step == len { crashes + one } else { one };
        let total = total + one;
        if crashes >= SAME_STEP || total >= ANY_STEP {
            warn!(
                turn.id = record.turn.0,
                crashes, total, "a turn that keeps crashing ends"
            );
            return self.end_crashed(record).await;
        }
        info!(
            turn.id = record.turn.0,
            crashes, "an interrupted turn goes on"
        );
        // The old flow message settles before the new one opens; sends of a chat keep their order.
        let parts = self.flow_parts(record.turn);
        let options = self.flow_options(true, false);
        let settled = settle(parts, options, EndReason::Interrupted, None, None);
        let before = self.delivery.take();
        self.delivery = Some(tokio::spawn(async move {
            settled.await;
            if let Some(before) = before {
                before.await.ok();
            }
        }));
        let mut batch = Batch::new();
        let rerun = self.answer_open_calls(&record, &mut batch)?;
        record.stage = TurnStage::Running {
            step: self.conversation.len(),
            crashes: if self.conversation.len() == len {
                crashes
            } else {
                0
            },
            total,
        };
        self.put_turn(&mut batch, &record)?;
        self.plans.set_epoch(record.turn);
        self.open_turn(record, true);
        self.drive(Event::Resume { rerun }, batch).await;
        Ok(())
    }

    /// Reads run again. What had been started is told as interrupted, the rest as not run.
    fn answer_open_calls(
        &mut self,
        record: &TurnRecord,
        batch: &mut Batch,
    ) -> Result<Vec<ToolCall>, StoreError> {
        let mut rerun = Vec::new();
        for (call, started) in self.conversation.open_calls(record.turn) {
            let reads = self
                .deps
                .toolbox
                .descriptors()
                .into_iter()
                .any(|tool| tool.name == call.name && tool.effects == Effects::Read);
            if reads {
                rerun.push(call);
                continue;
            }
            let outcome = if started {
                interrupted(&call.id)
            } else {
                let text = "not run: the program was restarted before this call began. Any approval \
                            that it waited for has expired; make the call again if it is still needed.";
                outcome(&call.id, CallStatus::Refused, text.to_owned())
            };
            let record = Record::Outcome {
                turn: record.turn,
                outcome,
            };
            self.append(batch, record)?;
        }
        Ok(rerun)
    }

    async fn end_crashed(&mut self, record: TurnRecord) -> Result<(), StoreError> {
        let reason = EndReason::Failed(Fault::user("turn-crash-loop", &[]));
        let mut batch = Batch::new();
        for (call, _) in self.conversation.open_calls(record.turn) {
            let outcome = interrupted(&call.id);
            let turn = record.turn;
            self.append(&mut batch, Record::Outcome { turn, outcome })?;
        }
        self.append(
            &mut batch,
            Record::Ended {
                turn: record.turn,
                reason: reason.clone(),
                answer: String::new(),
            },
        )?;
        let over = TurnRecord {
            stage: TurnStage::Delivering {
                reason: reason.clone(),
                answer: String::new(),
                ended_at: chrono::Utc::now().timestamp(),
            },
            ..record
        };
        batch.put(
            Table::Running,
            &session_key(&self.record.id, over.turn.0),
            &over,
        )?;
        self.deps.store.commit(batch).await?;
        self.deliver_again(&over, reason, Some(String::new())).await;
        Ok(())
    }
}

/// Takes the orphan's place in the line at once; the rest happens when it is awaited.
fn settle(
    parts: FlowParts,
    options: FlowOptions,
    reason: EndReason,
    view: Option<PlanView>,
    document: Option<PlanDocument>,
) -> impl Future<Output = ()> + Send {
    let orphan = flow_task::settle_orphan(parts, options, reason, view, document);
    async move {
        if let Err(fault) = orphan.await {
            warn!(error = %fault, "an orphaned flow message was not settled");
        }
    }
}
