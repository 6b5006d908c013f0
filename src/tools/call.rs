//! What a call needs to know of its surroundings, and what is known of a call before it runs.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::paths::{self, Want};
use crate::domain::{ActionClass, CallStatus, Effects, SandboxProfile, ToolDescriptor};

/// Where a call runs.
#[derive(Debug, Clone)]
pub struct Place {
    /// Directory that paths are resolved beneath.
    pub workspace: PathBuf,
    /// Directory of the session's own files; outputs that are too long go to `outputs` in it,
    /// what people sent is in `inbox`.
    pub session_dir: PathBuf,
    /// Tag of blocks that hold untrusted text.
    pub nonce: String,
    /// The session's plan file. It may be read, and written once the gate allowed the call.
    pub plan_md: Option<PathBuf>,
    /// Whether commands may use the network.
    pub network: bool,
}

/// What is known of a call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Declared effects of the tool.
    pub effects: Effects,
    /// Class of this very call.
    pub class: ActionClass,
    /// The main argument on one line, at most 120 characters, redacted.
    pub argument: String,
    /// Resolved paths the call reads or writes; empty when it touches none. A command names its
    /// working directory, because what else it touches is unknown.
    pub targets: Vec<PathBuf>,
    /// What an approval card shows.
    pub card: Card,
}

impl Inspection {
    /// An inspection whose card shows the same line as the flow.
    pub(super) fn plain(
        tool: &ToolDescriptor,
        class: ActionClass,
        argument: String,
        targets: Vec<PathBuf>,
        place: &Place,
    ) -> Self {
        Self {
            effects: tool.effects,
            class,
            targets,
            card: Card {
                tool: tool.name.to_owned(),
                kind: CardKind::Arguments,
                text: argument.clone(),
                cwd: place.workspace.clone(),
            },
            argument,
        }
    }

    /// The inspection of a look into a directory, the workspace unless one is `given`; `subject` says
    /// what is looked for.
    pub(super) fn look(
        tool: &ToolDescriptor,
        shop: &super::toolbox::Shop,
        subject: &str,
        given: Option<&str>,
        place: &Place,
    ) -> Result<Self, Unfit> {
        let given = given.unwrap_or(".");
        let path = paths::resolve(place, &shop.protected, given, Want::Read)?;
        let argument = format!("{subject} {}", paths::shown(place, &path));
        let argument = argument.trim_start().to_owned();
        Ok(Self::plain(
            tool,
            ActionClass::Read,
            argument,
            vec![path],
            place,
        ))
    }
}

/// Why a call cannot be made, in English for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The arguments cannot be understood; an example is named.
    Malformed(String),
    /// It may not be done, such as touching a path outside the workspace.
    Refused(String),
    /// It cannot work as things are, such as an edit whose text is not there.
    Failed(String),
}

impl From<String> for Unfit {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl From<Unfit> for String {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Malformed(text) | Unfit::Refused(text) | Unfit::Failed(text) => text,
        }
    }
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed(text) | Self::Refused(text) | Self::Failed(text) => f.write_str(text),
        }
    }
}

/// The full content of an approval card; never shortened, redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Tool name.
    pub tool: String,
    /// What `text` is.
    pub kind: CardKind,
    /// The whole command, a unified diff, or the arguments.
    pub text: String,
    /// Directory the call works in.
    pub cwd: PathBuf,
}

/// What the text of a card is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardKind {
    /// A shell command.
    Command,
    /// A unified diff.
    Diff,
    /// Arguments in plain words.
    Arguments,
}

/// What a running tool reports, before redaction, wrapping and bounds.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) status: CallStatus,
    /// Host's own words in front of the content; trusted.
    pub(super) note: String,
    /// Text from outside; wrapped as untrusted. Empty for none.
    pub(super) body: String,
    /// Where the body came from, such as `file src/main.rs`.
    pub(super) source: String,
    pub(super) summary: String,
    pub(super) changed: bool,
    pub(super) exit: Option<i32>,
}

impl Ran {
    /// A success that is told in the host's words.
    pub(super) fn said(note: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            status: CallStatus::Ok,
            note: note.into(),
            body: String::new(),
            source: String::new(),
            summary: summary.into(),
            changed: false,
            exit: None,
        }
    }

    /// A success that carries text from outside.
    pub(super) fn read(
        source: impl Into<String>,
        body: String,
        summary: impl Into<String>,
    ) -> Self {
        Self {
            body,
            source: source.into(),
            ..Self::said("", summary)
        }
    }

    /// A failure that the model can mend.
    pub(super) fn failed(note: impl Into<String>) -> Self {
        Self {
            status: CallStatus::Failed,
            ..Self::said(note, "")
        }
    }

    /// A call that was not made, or could not be.
    pub(super) fn unfit(unfit: Unfit) -> Self {
        let status = match &unfit {
            Unfit::Malformed(_) | Unfit::Failed(_) => CallStatus::Failed,
            Unfit::Refused(_) => CallStatus::Refused,
        };
        Self::failed(unfit).with_status(status)
    }

    pub(super) fn with_status(mut self, status: CallStatus) -> Self {
        self.status = status;
        self
    }

    pub(super) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    pub(super) fn changed(mut self, changed: bool) -> Self {
        self.changed = changed;
        self
    }
}

/// Everything a tool gets to run with.
pub(super) struct Job<'a> {
    pub(super) arguments: &'a str,
    pub(super) place: &'a Place,
    pub(super) profile: SandboxProfile,
    pub(super) output: mpsc::Sender<String>,
    pub(super) cancel: CancellationToken,
    pub(super) shop: &'a Arc<super::toolbox::Shop>,
}
