//! A chat as its people see it, behind the outbox's wire.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use greenlight::config::TelegramLimits;
use greenlight::domain::{ChatId, ChatKey, TurnId};
use greenlight::plan::view::PlanView;
use greenlight::session::flow_task::{FlowHandle, FlowParts, Reposts};
use greenlight::session::journal::StoreJournal;
use greenlight::store::Store;
use greenlight::telegram::outbox::{Fault, Outbox, OutboxParts, Upload, Wire};
use serde_json::{Value, json};

use super::options;

/// What one message shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) keyboard: String,
    pub(super) silent: bool,
    pub(super) versions: usize,
}

/// A chat as its people see it, and the order of calls.
#[derive(Default)]
pub(super) struct Chat {
    pub(super) messages: Mutex<BTreeMap<i64, Shown>>,
    pub(super) calls: Mutex<Vec<String>>,
    pub(super) fail: Mutex<Vec<(String, Fault)>>,
    pub(super) last: Mutex<i64>,
}

impl Chat {
    fn perform(&self, method: &str, body: &Value, file: Option<&Upload>) -> Result<Value, Fault> {
        let keyboard = body["reply_markup"].to_string();
        let mut fail = self.fail.lock().unwrap();
        if let Some(at) = fail.iter().position(|(failing, _)| failing == method) {
            return Err(fail.remove(at).1);
        }
        if method != "sendChatAction" {
            self.calls
                .lock()
                .unwrap()
                .push(format!("{method} {keyboard}"));
        }
        let mut messages = self.messages.lock().unwrap();
        let id = body["message_id"].as_i64().unwrap_or_default();
        match method {
            "sendMessage" | "sendDocument" => {
                let mut last = self.last.lock().unwrap();
                *last += 1;
                let text = file.map_or_else(
                    || body["text"].as_str().unwrap_or_default().to_owned(),
                    |file| file.name.clone(),
                );
                let silent = body["disable_notification"] == json!(true);
                messages.insert(
                    *last,
                    Shown {
                        text,
                        keyboard,
                        silent,
                        versions: 1,
                    },
                );
                return Ok(json!({ "message_id": *last }));
            }
            "editMessageText" => {
                let shown = messages.get_mut(&id).ok_or(Fault::MessageGone)?;
                shown.text = body["text"].as_str().unwrap_or_default().to_owned();
                shown.keyboard = keyboard;
                shown.versions += 1;
            }
            "deleteMessage" => {
                messages.remove(&id).ok_or(Fault::MessageGone)?;
            }
            _ => {}
        }
        Ok(json!(true))
    }

    pub(super) fn shown(&self) -> Vec<Shown> {
        self.messages.lock().unwrap().values().cloned().collect()
    }
}

impl Wire for Chat {
    fn call<'a>(&'a self, method: &'a str, body: &'a Value) -> BoxFuture<'a, Result<Value, Fault>> {
        Box::pin(async move { self.perform(method, body, None) })
    }

    fn upload<'a>(
        &'a self,
        method: &'a str,
        fields: &'a Value,
        file: &'a Upload,
    ) -> BoxFuture<'a, Result<Value, Fault>> {
        Box::pin(async move { self.perform(method, fields, Some(file)) })
    }
}

pub(super) struct World {
    pub(super) chat: Arc<Chat>,
    pub(super) parts: FlowParts,
}

impl World {
    pub(super) async fn new(home: &Path, chat: Arc<Chat>) -> Self {
        let store = Store::open(home).await.unwrap();
        let outbox = Outbox::start(OutboxParts {
            wire: chat.clone(),
            journal: Arc::new(StoreJournal::new(store.clone())),
            limits: TelegramLimits::default(),
            link_previews: false,
            used_before: false,
            language: "en".into(),
        });
        let parts = FlowParts {
            outbox,
            store,
            key: ChatKey::new(ChatId(7), None),
            turn: TurnId(1),
            reposts: Arc::new(Reposts::default()),
            line: greenlight::session::flow_line::FlowLine::default(),
        };
        Self { chat, parts }
    }

    pub(super) fn start(&self, plan: Option<PlanView>) -> FlowHandle {
        FlowHandle::start(self.parts.clone(), options(plan))
    }
}
