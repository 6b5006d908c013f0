//! Files that leave for the chat, and the commands in the background that end with a session.

use std::path::PathBuf;

use tracing::{info, warn};

use crate::domain::{CallStatus, Formatted, ToolCall};
use crate::telegram::outbox::{Content, Lane, Send};
use crate::tools::{Place, Toolbox, Unfit};

use super::actor::Actor;
use super::batch::{Whose, outcome};
use super::mail::Mail;

/// Largest upload in bytes. Source: Bot API, "Sending files".
const MAX_BYTES: usize = 50_000_000;

/// A file as it was read.
struct Parcel {
    name: String,
    bytes: Vec<u8>,
    caption: String,
}

impl Actor {
    /// Sends the file of a permitted `send_file` call; its outcome comes back by mail.
    pub(super) fn send_file(&self, whose: &Whose, call: ToolCall) {
        let Some(running) = &self.running else {
            return;
        };
        let turn = running.turn.id();
        let cancel = self
            .whose_cancel(whose)
            .unwrap_or_else(|| running.cancel.clone());
        let (toolbox, place) = (self.deps.toolbox.clone(), self.place(whose, false));
        let (outbox, redactor) = (self.deps.outbox.clone(), self.deps.redactor.clone());
        let (me, key) = (self.me.clone(), self.record.key);
        tokio::spawn(async move {
            let id = call.id.clone();
            let sending = async {
                let parcel = match read(toolbox, call, place).await {
                    Ok(parcel) => parcel,
                    Err(text) => return outcome(&id, CallStatus::Failed, text),
                };
                let said = format!("sent {} ({} bytes)", parcel.name, parcel.bytes.len());
                let content = Content::Document {
                    name: parcel.name,
                    bytes: parcel.bytes,
                    caption: Formatted::plain(redactor.redact(&parcel.caption)),
                };
                match outbox.send(Send::new(key, content, Lane::Final)).await {
                    Ok(_) => outcome(&id, CallStatus::Ok, said),
                    Err(fault) => {
                        warn!(error = %fault, "a file was not delivered");
                        outcome(&id, CallStatus::Failed, format!("not sent: {fault}"))
                    }
                }
            };
            // A cancelled turn has told its calls already.
            if let Some(outcome) = cancel.run_until_cancelled(sending).await {
                me.send(Mail::Tool { turn, outcome }).ok();
            }
        });
    }

    /// Ends commands in the background; those started to be kept only when the session ends.
    pub(super) fn stop_jobs(&self, session_ends: bool) -> usize {
        let dir = self.deps.session_dir(&self.record.id);
        let stopped = self.deps.toolbox.stop_background(&dir, session_ends);
        if stopped > 0 {
            info!(stopped, "commands in the background were told to end");
        }
        stopped
    }
}

/// Checks the file again and reads it: it may have changed since the owner was asked.
async fn read(toolbox: Toolbox, call: ToolCall, place: Place) -> Result<Parcel, String> {
    let read = tokio::task::spawn_blocking(move || {
        let found = toolbox.attachment(&call, &place)?;
        let bytes = bytes(&found.path)?;
        let name = found.path.file_name().map_or_else(
            || "file".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        Ok(Parcel {
            name,
            bytes,
            caption: found.caption.unwrap_or_default(),
        })
    });
    match read.await {
        Ok(Ok(parcel)) => Ok(parcel),
        Ok(Err(unfit)) => Err(Unfit::into(unfit)),
        Err(_) => Err("the file could not be read".to_owned()),
    }
}

/// At most the largest upload, even if the file grows meanwhile.
fn bytes(path: &PathBuf) -> Result<Vec<u8>, Unfit> {
    use std::io::Read;
    let unreadable = |fault: std::io::Error| Unfit::Failed(format!("cannot be read: {fault}"));
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.is_empty() || bytes.len() > MAX_BYTES {
        return Err(Unfit::Failed(format!(
            "the file has changed; 1 to {MAX_BYTES} bytes can be sent"
        )));
    }
    Ok(bytes)
}
