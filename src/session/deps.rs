//! What every session shares.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

use crate::config::Settings;
use tokio::sync::broadcast;

use crate::domain::{ChatKey, SessionId, UserId};
use crate::llm::Model;
use crate::store::Store;
use crate::telegram::api::ApiClient;
use crate::telegram::outbox::Outbox;
use crate::text::redact::Redactor;
use crate::tools::Toolbox;

use super::board::Board;
use super::flow_task::Reposts;
use super::inbox::StoreInbox;
use super::usage::UsageBook;
use super::watch::PlanEvent;

/// The program's shared parts, made once.
pub struct Deps {
    /// Settings; replaced as a whole on reload.
    pub settings: RwLock<Arc<Settings>>,
    /// Durable store.
    pub store: Store,
    /// The only way out to Telegram.
    pub outbox: Outbox,
    /// Open updates.
    pub inbox: StoreInbox,
    /// The Bot API, for downloads only.
    pub api: ApiClient,
    /// Models: the configured one, then fallbacks.
    pub models: Vec<Arc<dyn Model>>,
    /// Tools.
    pub toolbox: Toolbox,
    /// Takes known secrets and secret shapes out of text.
    pub redactor: Arc<Redactor>,
    /// When flow messages were posted anew last, by chat.
    pub reposts: Arc<Reposts>,
    /// What was used.
    pub usage: UsageBook,
    /// Which sessions work now.
    pub board: Board,
    /// Callback queries that were answered; a replayed tap gets no second answer.
    pub answered: Answered,
    /// What happens to plans, for those who watch; a slow watcher misses the oldest ones.
    pub events: broadcast::Sender<PlanEvent>,
    /// Tag of untrusted blocks made by this process.
    pub nonce: String,
    /// User name of the bot, without `@`.
    pub username: String,
}

/// The newest callback queries that were answered in this process.
#[derive(Debug, Default)]
pub struct Answered(Mutex<VecDeque<String>>);

impl Answered {
    /// Most queries remembered; Telegram forgets a query after minutes.
    const MOST: usize = 1024;

    /// Whether this is the first answer to a query.
    pub fn first(&self, query: &str) -> bool {
        let mut known = match self.0.lock() {
            Ok(known) => known,
            Err(poisoned) => poisoned.into_inner(),
        };
        if known.iter().any(|other| other == query) {
            return false;
        }
        if known.len() >= Self::MOST {
            known.pop_front();
        }
        known.push_back(query.to_owned());
        true
    }
}

impl std::fmt::Debug for Deps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deps").finish_non_exhaustive()
    }
}

impl Deps {
    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        match self.settings.read() {
            Ok(settings) => Arc::clone(&settings),
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }

    /// Puts reloaded settings in force.
    pub fn replace_settings(&self, settings: Settings) {
        let settings = Arc::new(settings);
        match self.settings.write() {
            Ok(mut place) => *place = settings,
            Err(poisoned) => *poisoned.into_inner() = settings,
        }
    }

    /// Names the owner where the settings do not.
    pub fn set_owner(&self, owner: Option<UserId>) {
        let settings = self.settings();
        if owner.is_some() && settings.telegram.owner.is_none() {
            let mut settings = (*settings).clone();
            Arc::make_mut(&mut settings.telegram).owner = owner;
            self.replace_settings(settings);
        }
    }

    /// Directory of everything that sessions keep as files.
    #[must_use]
    pub fn sessions_dir(&self) -> PathBuf {
        self.settings().home.join("session")
    }

    /// Directory of one session's outputs and downloads.
    #[must_use]
    pub fn session_dir(&self, session: &SessionId) -> PathBuf {
        self.sessions_dir().join("files").join(session.as_str())
    }

    /// Directory of a session's plan files: its project's, or the common one.
    #[must_use]
    pub fn plan_dir(&self, workspace: &Path) -> PathBuf {
        let settings = self.settings();
        if workspace == settings.workspace {
            return self.sessions_dir();
        }
        settings
            .home
            .join("projects")
            .join(slug(workspace))
            .join("session")
    }

    /// Wraps untrusted text for a model.
    #[must_use]
    pub fn untrusted(&self, source: &str, body: &str) -> String {
        crate::text::untrusted::wrap(&self.nonce, source, &self.redactor.redact(body))
    }

    /// Says that a group's member-visible detail is allowed in this chat.
    #[must_use]
    pub fn shows_detail(&self, key: ChatKey) -> bool {
        key.chat.0 > 0 || self.settings().telegram.group_detail
    }
}

/// A directory as one safe path segment, different for different directories.
fn slug(path: &Path) -> String {
    use sha2::{Digest, Sha256};
    let name: String = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let tail: String = hash
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{name}-{tail}")
}
