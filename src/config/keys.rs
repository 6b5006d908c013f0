//! The one table of configuration keys. It drives the environment names, the flags, the parser, the
//! example file and the reference in the README, so that none of them can drift.

/// What a key's value must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Any text without control characters.
    Text,
    /// A locale tag such as `en` or `pt-BR`.
    Language,
    /// A bot token, `<digits>:<secret>`.
    Token,
    /// A secret that is never shown.
    Secret,
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Integer {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
        /// Whether a value outside is moved to the nearest bound instead of refused.
        clamp: bool,
    },
    /// A decimal number, greater than zero.
    Decimal,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A positive Telegram user id.
    UserId,
    /// A list of positive Telegram user ids.
    UserIds,
    /// Groups by chat id.
    Groups,
    /// `<adapter>/<name>`.
    Model,
    /// A list of models.
    Models,
    /// An http or https address.
    Url,
    /// A path; `~/` is the home directory.
    Path,
    /// A list of paths.
    Paths,
    /// A socket address such as `127.0.0.1:8080`.
    Address,
    /// A list of words.
    Words,
}

impl Kind {
    /// Whether a value of this kind must never be shown.
    #[must_use]
    pub fn is_secret(self) -> bool {
        matches!(self, Self::Token | Self::Secret)
    }
}

/// One configuration key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Dotted name in the file.
    pub name: &'static str,
    /// A fixed environment name that differs from the derived one; empty if none does.
    pub fixed_env: &'static str,
    /// What the value must be.
    pub kind: Kind,
    /// Default as environment text; empty for unset or an empty list.
    pub default: &'static str,
    /// Whether SIGHUP applies a change without a restart.
    pub reload: bool,
    /// What it means, one sentence.
    pub doc: &'static str,
}

impl Key {
    /// The name derived from section and key: `GREENLIGHT_<SECTION>_<KEY>`.
    #[must_use]
    pub fn derived_env(&self) -> String {
        format!("GREENLIGHT_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Every accepted environment name, the documented one first.
    #[must_use]
    pub fn env_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(2);
        if !self.fixed_env.is_empty() {
            names.push(self.fixed_env.to_owned());
        }
        names.push(self.derived_env());
        names
    }

    /// The long flag without dashes; `None` for secrets, because other users can read a command line.
    #[must_use]
    pub fn flag(&self) -> Option<String> {
        (!self.kind.is_secret()).then(|| self.name.replace(['.', '_'], "-"))
    }
}

/// The key of that dotted name.
#[must_use]
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key {
        name,
        fixed_env: "",
        kind,
        default,
        reload: false,
        doc,
    }
}

const fn live(key: Key) -> Key {
    Key {
        reload: true,
        ..key
    }
}

const fn env(fixed_env: &'static str, key: Key) -> Key {
    Key { fixed_env, ..key }
}

const fn whole(min: i64, max: i64) -> Kind {
    Kind::Integer {
        min,
        max,
        clamp: false,
    }
}

const fn clamped(min: i64, max: i64) -> Kind {
    Kind::Integer {
        min,
        max,
        clamp: true,
    }
}

/// Every key, in the order of the example file.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    live(key("language", Kind::Language, "en", "Language of a person whose client reports none.")),
    env("TELOXIDE_TOKEN", key("telegram.token", Kind::Token, "", "Bot token from @BotFather.")),
    key("telegram.api_url", Kind::Url, "https://api.telegram.org", "Root of the Bot API, without `/bot…`."),
    key("telegram.owner_id", Kind::UserId, "", "Numeric id of the owner; without it the first start prints a one-time code."),
    live(key("telegram.members", Kind::UserIds, "", "Ids of people who may chat in private and in every listed group.")),
    live(key("telegram.groups", Kind::Groups, "", "Groups that are served; each may set `members`, `respond` (mention, all, commands) and `observe`.")),
    live(key("telegram.render", Kind::Choice(&["classic", "rich_details", "rich_markdown"]), "classic", "How the live message is drawn.")),
    live(key("telegram.group_detail", Kind::Bool, "false", "Whether groups see tool arguments and outputs.")),
    live(key("telegram.busy", Kind::Choice(&["steer", "queue"]), "steer", "What a message does while a turn runs: handed over between tool rounds, or kept for the next turn.")),
    live(key("telegram.link_previews", Kind::Bool, "false", "Whether links show previews.")),
    key("telegram.limits.private_per_second", Kind::Decimal, "1.0", "Calls a second in a private chat."),
    key("telegram.limits.private_burst", whole(1, 100), "3", "Calls at once in a private chat."),
    key("telegram.limits.group_per_minute", whole(1, 1_000), "18", "Calls a minute in a group, all topics together."),
    key("telegram.limits.bot_per_second", whole(1, 1_000), "25", "Calls a second over all chats."),
    key("telegram.webhook.url", Kind::Url, "", "Public address that Telegram calls; unset means long polling."),
    key("telegram.webhook.secret", Kind::Secret, "", "Secret that Telegram sends along, 1 to 256 of A-Z, a-z, 0-9, _ and -; required with a webhook."),
    env("GREENLIGHT_MODEL", key("model.name", Kind::Model, "", "`<adapter>/<name>`; the adapter is openai, anthropic, gemini, ollama or demo.")),
    key("model.base_url", Kind::Url, "", "Root of the provider's API, such as http://127.0.0.1:9000/v1/; unset means the provider's own."),
    key("model.api_key", Kind::Secret, "", "Key of the provider."),
    env("GREENLIGHT_MODEL_CONTEXT", key("model.context_tokens", whole(1_024, 100_000_000), "128000", "Window of the model in tokens.")),
    key("model.fallback", Kind::Models, "", "Models tried in order after the first one failed for good."),
    env("GREENLIGHT_WORKSPACE", key("workspace.dir", Kind::Path, ".", "Directory the agent works in.")),
    env("GREENLIGHT_APPROVALS", live(key("approvals.level", Kind::Choice(&["ask", "auto", "yolo"]), "ask", "Level of new sessions: ask before writes and commands, only before destructive ones, or never."))),
    key("http.bind", Kind::Address, "", "Address of the HTTP server; unset means none."),
    key("http.token", Kind::Secret, "", "Bearer token of the HTTP interface."),
    env("GREENLIGHT_PLANNING", live(key("plan.enabled", Kind::Bool, "true", "Kill switch of planning; off removes the plan tool and leaves live plan files alone."))),
    live(key("plan.max_tasks", clamped(1, 200), "50", "Tasks that a checklist may hold, 1 to 200.")),
    live(key("plan.max_render_chars", clamped(200, 8_000), "8000", "Characters of the plan in the model's context, 200 to 8000.")),
    live(key("plan.preinit_bash", Kind::Choice(&["sandboxed", "unsandboxed"]), "sandboxed", "Commands before a plan exists: read-only sandbox or nothing, or also without a sandbox.")),
    live(key("plan.legacy_dirs", Kind::Paths, "~/.opencrabs/agents/session,~/.opencrabs/session", "Directories whose foreign plan files may be read.")),
    live(key("tools.sandbox", Kind::Choice(&["workspace", "off"]), "workspace", "Sandbox of commands outside planning.")),
    live(key("tools.network_while_planning", Kind::Bool, "false", "Whether commands may use the network while planning.")),
    live(key("tools.web_fetch", Kind::Bool, "false", "Whether the model may read web pages.")),
    live(key("tools.disabled", Kind::Words, "", "Names of tools that are not on offer.")),
    live(key("budgets.requests", whole(1, 10_000), "60", "Model requests a turn.")),
    live(key("budgets.calls", whole(1, 100_000), "200", "Tool calls a turn.")),
    live(key("budgets.seconds", whole(1, 604_800), "3600", "Seconds a turn.")),
    live(key("budgets.turn_tokens", whole(0, 1_000_000_000_000), "0", "Tokens a turn; 0 means no limit.")),
    live(key("budgets.day_tokens", whole(0, 1_000_000_000_000), "0", "Tokens a day; 0 means no limit.")),
];
