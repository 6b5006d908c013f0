//! A store that takes no writes: the session says so once, keeps what it was asked, and goes on when the
//! store does. Nothing is acknowledged meanwhile.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tracing::{debug, info, warn};

use crate::agent::transcript::{Conversation, Record};
use crate::domain::{EndReason, Inbound, UpdateId};
use crate::store::{StoreError, Table};

use super::actor::Actor;
use super::mail::Mail;
use super::record::session_prefix;

/// Time between two tries to write.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// Inputs that are kept in memory; the updates of later ones stay open on disk until the next start.
const KEPT: usize = 100;

impl Actor {
    /// Keeps an input for when the store takes writes again.
    pub(super) fn keep_unsaved(&mut self, inbound: Inbound, updates: Vec<UpdateId>) {
        if self.unsaved.iter().any(|(_, known)| *known == updates) {
            return;
        }
        if self.unsaved.len() >= KEPT {
            warn!("too much waits for the store; an update stays open until the next start");
            return;
        }
        self.unsaved.push((inbound, updates));
    }

    pub(super) fn revive_later(&self) {
        let me = self.me.clone();
        tokio::spawn(async move {
            tokio::time::sleep(TRY_AGAIN).await;
            me.send(Mail::Revive).ok();
        });
    }

    /// What failed, what is safe and what to do.
    pub(super) fn say_store_fault(&self, fault: &StoreError) {
        let key = match fault.fault().key.as_str() {
            "store-full" => "session-store-full",
            "store-read-only" => "session-store-read-only",
            _ => "session-store-failed",
        };
        self.say_key(key, &[]);
    }

    /// Puts the running turn down where it was durable last: memory and disk differ by now.
    pub(super) fn set_down_if_stalled(&mut self) {
        if !self.is_stalled() {
            return;
        }
        self.closing.clear();
        self.cards.clear();
        self.deadlines.clear();
        if let Some(running) = self.running.take() {
            let flow = running.flow.clone();
            drop(running);
            tokio::spawn(async move {
                flow.settle(EndReason::Interrupted, None, None).await;
            });
        }
    }

    /// Goes on from what is on disk, if the store takes writes again.
    pub(super) async fn revive(&mut self) {
        if !self.is_stalled() || self.over {
            return;
        }
        if let Err(fault) = self.deps.store.probe().await {
            debug!(error = %fault, "the store still refuses writes");
            return self.revive_later();
        }
        self.stalled.store(false, Ordering::Release);
        info!("the store takes writes again");
        if let Err(fault) = self.reload().await {
            return self.store_failed(&fault);
        }
        let unsaved = std::mem::take(&mut self.unsaved);
        for (inbound, updates) in unsaved {
            self.again(inbound, updates).await;
        }
        if !self.is_stalled() {
            self.say_key("session-store-back", &[]);
        }
        self.go_on().await;
    }

    async fn reload(&mut self) -> Result<(), StoreError> {
        let prefix = session_prefix(&self.record.id);
        let records: Vec<(Vec<u8>, Record)> =
            self.deps.store.scan(Table::Transcript, &prefix).await?;
        self.conversation =
            Conversation::replay(records.into_iter().map(|(_, record)| record).collect());
        self.take_up(false).await
    }
}
