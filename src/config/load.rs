//! Layers: defaults, file, environment, flags; the later one wins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;

use crate::domain::{ApprovalLevel, UserId};

use super::file;
use super::keys::{KEYS, Key};
use super::settings::{
    Adapter, Budgets, Busy, HttpSettings, ModelSettings, PlanSettings, PreinitBash, Render,
    SandboxMode, Settings, TelegramLimits, TelegramSettings, ToolSettings, Webhook,
};
use super::value::{self, NamedModel, Value, bad, users};
use super::{ConfigError, keys};

/// File that is read from the working directory when none is named.
pub const FILE_NAME: &str = "greenlight.toml";

/// What the command line says about settings.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--config`: the file to read; it must exist.
    pub config: Option<PathBuf>,
    /// `--home`: the data directory.
    pub home: Option<PathBuf>,
    /// Dotted key and its text, as in the environment.
    pub values: Vec<(String, String)>,
}

/// Loads the settings: flag over environment over file over default.
///
/// `env` looks up one environment variable; an empty one counts as unset. Relative paths start at `cwd`.
///
/// # Errors
/// One sentence that names the place and the key, for an unreadable or malformed file, an unknown key
/// or a value that cannot be used.
pub fn load(
    flags: &Flags,
    env: impl Fn(&str) -> Option<String>,
    cwd: &Path,
) -> Result<Settings, ConfigError> {
    let env = |name: &str| env(name).filter(|value| !value.trim().is_empty());
    let mut layers = Layers {
        values: BTreeMap::new(),
        cwd: cwd.to_path_buf(),
        user_home: env("HOME").map(PathBuf::from),
    };
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        layers.text(key, key.default, "default", false)?;
    }
    layers.file(flags, &env)?;
    for key in KEYS {
        // The derived name first, so that the documented one wins where both are set.
        for name in key.env_names().into_iter().rev() {
            if let Some(text) = env(&name) {
                layers.text(key, &text, &name, true)?;
            }
        }
    }
    for (name, text) in &flags.values {
        let key = keys::find(name).ok_or_else(|| {
            ConfigError::new("config-unknown-key", &[("place", "--"), ("key", name)])
        })?;
        let place = key.flag().unwrap_or_else(|| key.name.to_owned());
        layers.text(key, text, &format!("--{place}"), true)?;
    }
    let home = match flags
        .home
        .clone()
        .or_else(|| env("GREENLIGHT_HOME").map(PathBuf::from))
    {
        Some(home) => layers.path(&home.display().to_string()),
        None => match &layers.user_home {
            Some(user) => user.join(".local/share/greenlight"),
            None => return Err(ConfigError::new("config-no-home", &[])),
        },
    };
    layers.settings(home)
}

/// Refuses a workspace that is missing or not a directory, and makes its path canonical.
///
/// # Errors
/// If the directory cannot be used.
pub fn require_workspace(settings: &mut Settings) -> Result<(), ConfigError> {
    let shown = settings.workspace.display().to_string();
    let path = settings
        .workspace
        .canonicalize()
        .ok()
        .filter(|path| path.is_dir())
        .ok_or_else(|| ConfigError::new("config-no-workspace", &[("path", &shown)]))?;
    settings.workspace = path;
    Ok(())
}

/// Refuses settings without a bot token, which only the playground can do without.
///
/// # Errors
/// If no token is set.
pub fn require_token(settings: &Settings) -> Result<(), ConfigError> {
    match settings.telegram.token {
        Some(_) => Ok(()),
        None => Err(ConfigError::new("config-no-token", &[])),
    }
}

/// Refuses a variable of the environment that looks like ours and is none: a mistyped one would be
/// left out without a word.
///
/// # Errors
/// Naming the first such variable, and the nearest one that there is.
pub fn known_variables<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), ConfigError> {
    let mut known: Vec<String> = KEYS.iter().flat_map(Key::env_names).collect();
    known.push("GREENLIGHT_HOME".to_owned());
    let unknown = names
        .filter(|name| name.starts_with("GREENLIGHT_"))
        .filter(|name| !known.iter().any(|known| known == name))
        .min();
    let Some(name) = unknown else {
        return Ok(());
    };
    Err(
        match file::nearest(name, known.iter().map(String::as_str)) {
            Some(near) => ConfigError::new(
                "config-unknown-variable-near",
                &[("name", name), ("near", near)],
            ),
            None => ConfigError::new("config-unknown-variable", &[("name", name)]),
        },
    )
}

struct Layered {
    value: Value,
    place: String,
    explicit: bool,
}

struct Layers {
    values: BTreeMap<&'static str, Layered>,
    cwd: PathBuf,
    user_home: Option<PathBuf>,
}

impl Layers {
    fn text(
        &mut self,
        key: &'static Key,
        text: &str,
        place: &str,
        explicit: bool,
    ) -> Result<(), ConfigError> {
        let value = value::from_text(key, text)
            .map_err(|reason| file::refused(place, key.name, &reason))?;
        let place = place.to_owned();
        self.values.insert(
            key.name,
            Layered {
                value,
                place,
                explicit,
            },
        );
        Ok(())
    }

    fn file(
        &mut self,
        flags: &Flags,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<(), ConfigError> {
        let named = flags
            .config
            .clone()
            .or_else(|| env("GREENLIGHT_CONFIG").map(PathBuf::from));
        let path = match &named {
            Some(path) => self.path(&path.display().to_string()),
            None => self.cwd.join(FILE_NAME),
        };
        let Some(text) = file::read(&path)? else {
            let shown = path.display().to_string();
            return match named {
                Some(_) => Err(ConfigError::new("config-no-file", &[("path", &shown)])),
                None => Ok(()),
            };
        };
        for found in file::parse(&path, &text)? {
            self.values.insert(
                found.key.name,
                Layered {
                    value: found.value,
                    place: found.place,
                    explicit: true,
                },
            );
        }
        Ok(())
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key).map(|layered| &layered.value)
    }

    fn string(&self, key: &str) -> Option<&str> {
        match self.value(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn word(&self, key: &str) -> &str {
        self.string(key).unwrap_or_default()
    }

    fn secret(&self, key: &str) -> Option<SecretString> {
        self.string(key).map(SecretString::from)
    }

    fn flag(&self, key: &str) -> bool {
        matches!(self.value(key), Some(Value::Bool(true)))
    }

    fn integer<T: TryFrom<i64> + Default>(&self, key: &str) -> T {
        match self.value(key) {
            // The bounds of every key fit its type, so the conversion cannot fail.
            Some(Value::Integer(number)) => T::try_from(*number).unwrap_or_default(),
            _ => T::default(),
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
        match self.value(key) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        }
    }

    fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), &self.user_home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if text == "." => self.cwd.clone(),
            _ => self.cwd.join(text),
        }
    }

    fn settings(&self, home: PathBuf) -> Result<Settings, ConfigError> {
        let model = self.model()?;
        Ok(Settings {
            home,
            language: self.word("language").to_owned(),
            telegram: Arc::new(self.telegram()?),
            fallback: self.fallback(model.as_ref()),
            model,
            workspace: self.path(self.word("workspace.dir")),
            approvals: match self.word("approvals.level") {
                "auto" => ApprovalLevel::Auto,
                "yolo" => ApprovalLevel::Yolo,
                _ => ApprovalLevel::Ask,
            },
            http: HttpSettings {
                bind: self.string("http.bind").and_then(|bind| bind.parse().ok()),
                token: self.secret("http.token"),
            },
            plan: self.plan(),
            tools: ToolSettings {
                sandbox: match self.word("tools.sandbox") {
                    "off" => SandboxMode::Off,
                    _ => SandboxMode::Workspace,
                },
                network_while_planning: self.flag("tools.network_while_planning"),
                web_fetch: self.flag("tools.web_fetch"),
                disabled: self.list("tools.disabled"),
            },
            budgets: Budgets {
                requests: self.integer("budgets.requests"),
                calls: self.integer("budgets.calls"),
                seconds: self.integer("budgets.seconds"),
                turn_tokens: self.integer("budgets.turn_tokens"),
                day_tokens: self.integer("budgets.day_tokens"),
            },
        })
    }

    fn telegram(&self) -> Result<TelegramSettings, ConfigError> {
        let ids = |key: &str| match self.value(key) {
            Some(Value::Ids(ids)) => users(ids),
            _ => Vec::new(),
        };
        let decimal = |key: &str| match self.value(key) {
            Some(Value::Decimal(number)) => *number,
            _ => 1.0,
        };
        Ok(TelegramSettings {
            token: self.secret("telegram.token"),
            api_url: self.api_url()?,
            owner: self
                .value("telegram.owner_id")
                .map(|_| UserId(self.integer("telegram.owner_id"))),
            members: ids("telegram.members"),
            groups: match self.value("telegram.groups") {
                Some(Value::Groups(groups)) => groups.clone(),
                _ => BTreeMap::new(),
            },
            render: match self.word("telegram.render") {
                "rich_details" => Render::RichDetails,
                "rich_markdown" => Render::RichMarkdown,
                _ => Render::Classic,
            },
            group_detail: self.flag("telegram.group_detail"),
            busy: match self.word("telegram.busy") {
                "queue" => Busy::Queue,
                _ => Busy::Steer,
            },
            link_previews: self.flag("telegram.link_previews"),
            limits: TelegramLimits {
                private_per_second: decimal("telegram.limits.private_per_second"),
                private_burst: self.integer("telegram.limits.private_burst"),
                group_per_minute: self.integer("telegram.limits.group_per_minute"),
                bot_per_second: self.integer("telegram.limits.bot_per_second"),
            },
            webhook: self.webhook()?,
        })
    }

    fn api_url(&self) -> Result<String, ConfigError> {
        let url = self.word("telegram.api_url").trim_end_matches('/');
        if url.contains("/bot") {
            let reason = bad("config-bad-api-url");
            return Err(self.refused("telegram.api_url", &reason));
        }
        Ok(url.to_owned())
    }

    fn webhook(&self) -> Result<Option<Webhook>, ConfigError> {
        let Some(url) = self.string("telegram.webhook.url") else {
            return Ok(None);
        };
        let secret = self.word("telegram.webhook.secret");
        let usable = (1..=256).contains(&secret.len())
            && secret
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !usable {
            let key = if secret.is_empty() {
                "telegram.webhook.url"
            } else {
                "telegram.webhook.secret"
            };
            return Err(self.refused(key, &bad("config-bad-webhook-secret")));
        }
        if self.string("http.bind").is_none() {
            return Err(self.refused("telegram.webhook.url", &bad("config-webhook-without-http")));
        }
        Ok(Some(Webhook {
            url: url.to_owned(),
            secret: SecretString::from(secret),
        }))
    }

    fn model(&self) -> Result<Option<ModelSettings>, ConfigError> {
        let Some(name) = self.string("model.name") else {
            return Ok(None);
        };
        let (adapter, name) =
            value::model(name).map_err(|reason| self.refused("model.name", &reason))?;
        Ok(Some(ModelSettings {
            adapter,
            name,
            base_url: self.string("model.base_url").map(with_slash),
            api_key: self.secret("model.api_key"),
            context_tokens: self.integer("model.context_tokens"),
        }))
    }

    /// A fallback of the same adapter shares address and key with the first model unless it has its own.
    fn fallback(&self, first: Option<&ModelSettings>) -> Vec<ModelSettings> {
        let Some(Value::Models(models)) = self.value("model.fallback") else {
            return Vec::new();
        };
        models
            .iter()
            .map(|model: &NamedModel| {
                let like = first.filter(|first| {
                    first.adapter == model.adapter && model.adapter != Adapter::Demo
                });
                ModelSettings {
                    adapter: model.adapter,
                    name: model.name.clone(),
                    base_url: model
                        .base_url
                        .as_deref()
                        .map(with_slash)
                        .or_else(|| like.and_then(|like| like.base_url.clone())),
                    api_key: model
                        .api_key
                        .as_deref()
                        .map(SecretString::from)
                        // A key goes to another address only if it was written there.
                        .or_else(|| {
                            like.filter(|_| model.base_url.is_none())
                                .and_then(|like| like.api_key.clone())
                        }),
                    context_tokens: model
                        .context_tokens
                        .and_then(|tokens| u64::try_from(tokens).ok())
                        .unwrap_or_else(|| self.integer("model.context_tokens")),
                }
            })
            .collect()
    }

    fn plan(&self) -> PlanSettings {
        PlanSettings {
            enabled: self.flag("plan.enabled"),
            pinned: self
                .values
                .get("plan.enabled")
                .is_some_and(|layered| layered.explicit),
            max_tasks: self.integer("plan.max_tasks"),
            max_render_chars: self.integer("plan.max_render_chars"),
            preinit_bash: match self.word("plan.preinit_bash") {
                "unsandboxed" => PreinitBash::Unsandboxed,
                _ => PreinitBash::Sandboxed,
            },
            legacy_dirs: self
                .list("plan.legacy_dirs")
                .iter()
                .filter(|dir| !dir.starts_with("~/") || self.user_home.is_some())
                .map(|dir| self.path(dir))
                .collect(),
        }
    }

    fn refused(&self, key: &str, reason: &value::Bad) -> ConfigError {
        let place = self
            .values
            .get(key)
            .map_or("default", |layered| layered.place.as_str());
        file::refused(place, key, reason)
    }
}

/// A provider's root ends with a slash, because the client joins relative paths to it.
fn with_slash(url: &str) -> String {
    format!("{}/", url.trim_end_matches('/'))
}
