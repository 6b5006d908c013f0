//! The settings themselves, as the rest of the program reads them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::domain::{ApprovalLevel, ChatId, UserId};

/// Everything that can be configured, validated.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Data directory.
    pub home: PathBuf,
    /// Default locale tag.
    pub language: String,
    /// Telegram front-end; shared, because every session has settings of its own and none changes these.
    pub telegram: Arc<TelegramSettings>,
    /// Model; `None` until one is configured.
    pub model: Option<ModelSettings>,
    /// Models tried in order after the first one failed for good.
    pub fallback: Vec<ModelSettings>,
    /// Default workspace directory.
    pub workspace: PathBuf,
    /// Level that new sessions start with.
    pub approvals: ApprovalLevel,
    /// HTTP server.
    pub http: HttpSettings,
    /// Planning.
    pub plan: PlanSettings,
    /// Tools.
    pub tools: ToolSettings,
    /// Bounds of a turn.
    pub budgets: Budgets,
}

/// Telegram front-end.
#[derive(Debug, Clone)]
pub struct TelegramSettings {
    /// Bot token, `<digits>:<secret>`.
    pub token: Option<SecretString>,
    /// Bot API root without `/bot…`.
    pub api_url: String,
    /// Owner, if fixed by configuration.
    pub owner: Option<UserId>,
    /// People who may chat in private and in every listed group.
    pub members: Vec<UserId>,
    /// Groups that are served.
    pub groups: BTreeMap<ChatId, GroupSettings>,
    /// Renderer of the flow message.
    pub render: Render,
    /// Whether groups see tool arguments and outputs.
    pub group_detail: bool,
    /// What a message does to a running turn.
    pub busy: Busy,
    /// Whether links show previews.
    pub link_previews: bool,
    /// Pacing.
    pub limits: TelegramLimits,
    /// Webhook instead of polling.
    pub webhook: Option<Webhook>,
}

/// One served group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupSettings {
    /// Members in this group only.
    pub members: Vec<UserId>,
    /// What is answered.
    pub respond: Respond,
    /// Whether text of others enters the context, wrapped as untrusted.
    pub observe: bool,
}

/// What a group's messages must be to be answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Respond {
    /// Mentions, replies to the bot, and commands.
    #[default]
    Mention,
    /// Everything members write.
    All,
    /// Commands only.
    Commands,
}

/// Renderers of the flow message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Render {
    /// Text and entities.
    #[default]
    Classic,
    /// Rich HTML with details (Bot API 10.1).
    RichDetails,
    /// Rich Markdown (Bot API 10.1).
    RichMarkdown,
}

/// What a message does while a turn runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Busy {
    /// Handed to the model between tool rounds.
    #[default]
    Steer,
    /// Kept until the turn has ended.
    Queue,
}

/// Rates that the outbox keeps below Telegram's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TelegramLimits {
    /// Calls a second in a private chat.
    pub private_per_second: f64,
    /// Burst in a private chat.
    pub private_burst: u32,
    /// Calls a minute in a group.
    pub group_per_minute: u32,
    /// Calls a second over all chats.
    pub bot_per_second: u32,
}

impl Default for TelegramLimits {
    fn default() -> Self {
        Self {
            private_per_second: 1.0,
            private_burst: 3,
            group_per_minute: 18,
            bot_per_second: 25,
        }
    }
}

/// Webhook intake.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Public address that Telegram calls.
    pub url: String,
    /// Value of `X-Telegram-Bot-Api-Secret-Token`, 1–256 of `[A-Za-z0-9_-]`.
    pub secret: SecretString,
}

/// Provider protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adapter {
    /// OpenAI-compatible chat completions.
    Openai,
    /// Anthropic messages.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Ollama.
    Ollama,
    /// The built-in scripted model.
    Demo,
}

/// One model.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// Protocol.
    pub adapter: Adapter,
    /// Name at the provider.
    pub name: String,
    /// API root; `None` for the provider's own.
    pub base_url: Option<String>,
    /// Key.
    pub api_key: Option<SecretString>,
    /// Window in tokens.
    pub context_tokens: u64,
}

/// HTTP server.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Address; `None` = no HTTP.
    pub bind: Option<SocketAddr>,
    /// Bearer token of `/api`.
    pub token: Option<SecretString>,
}

/// Planning.
#[derive(Debug, Clone)]
pub struct PlanSettings {
    /// Kill switch.
    pub enabled: bool,
    /// Whether a flag, the environment or the file said so; then a project's opt-out does not count.
    pub pinned: bool,
    /// Tasks a checklist may hold, 1–200.
    pub max_tasks: usize,
    /// Characters of the context message, 200–8000.
    pub max_render_chars: usize,
    /// What bash may do before `init` on a kernel without a sandbox.
    pub preinit_bash: PreinitBash,
    /// Read-only fallback directories with foreign plan files.
    pub legacy_dirs: Vec<PathBuf>,
}

impl Default for PlanSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            pinned: false,
            max_tasks: 50,
            max_render_chars: 8000,
            preinit_bash: PreinitBash::default(),
            legacy_dirs: Vec::new(),
        }
    }
}

/// Bash while planning, before `init`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreinitBash {
    /// In a read-only sandbox, or not at all.
    #[default]
    Sandboxed,
    /// Also without a sandbox, at the owner's risk.
    Unsandboxed,
}

/// Tools.
#[derive(Debug, Clone, Default)]
pub struct ToolSettings {
    /// Sandbox of commands.
    pub sandbox: SandboxMode,
    /// Whether commands may use the network while planning.
    pub network_while_planning: bool,
    /// Whether `web_fetch` is on offer.
    pub web_fetch: bool,
    /// Names that are not on offer.
    pub disabled: Vec<String>,
}

/// Sandbox of commands outside planning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Workspace and temporary directory writable.
    #[default]
    Workspace,
    /// None.
    Off,
}

/// Bounds of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Model requests.
    pub requests: u32,
    /// Tool calls.
    pub calls: u32,
    /// Wall time in seconds.
    pub seconds: u64,
    /// Tokens a turn; 0 = unlimited.
    pub turn_tokens: u64,
    /// Tokens a day; 0 = unlimited.
    pub day_tokens: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            requests: 60,
            calls: 200,
            seconds: 3600,
            turn_tokens: 0,
            day_tokens: 0,
        }
    }
}
