//! What a changed configuration can apply while running, and how settings are shown.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use super::keys::{KEYS, Key};
use super::settings::{ModelSettings, Settings};

/// The changed keys, by what they need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reload {
    /// Keys whose new value may be used at once.
    pub applied: Vec<&'static str>,
    /// Keys whose new value needs a restart.
    pub restart: Vec<&'static str>,
}

/// Compares two settings key by key.
#[must_use]
pub fn diff(old: &Settings, new: &Settings) -> Reload {
    let mut reload = Reload::default();
    for key in KEYS {
        if text_of(old, key.name) != text_of(new, key.name) {
            if key.reload {
                reload.applied.push(key.name);
            } else {
                reload.restart.push(key.name);
            }
        }
    }
    reload
}

/// The running settings with every reloadable key taken from `new`.
#[must_use]
pub fn reloaded(old: &Settings, new: &Settings) -> Settings {
    let mut merged = old.clone();
    merged.language.clone_from(&new.language);
    let telegram = Arc::make_mut(&mut merged.telegram);
    telegram.members.clone_from(&new.telegram.members);
    telegram.groups.clone_from(&new.telegram.groups);
    telegram.render = new.telegram.render;
    telegram.group_detail = new.telegram.group_detail;
    telegram.busy = new.telegram.busy;
    telegram.link_previews = new.telegram.link_previews;
    merged.approvals = new.approvals;
    merged.plan = new.plan.clone();
    merged.tools = new.tools.clone();
    merged.budgets = new.budgets;
    merged
}

/// Every key with its value for people: secrets are only `***` or empty.
#[must_use]
pub fn shown(settings: &Settings) -> Vec<(&'static Key, String)> {
    KEYS.iter()
        .map(|key| {
            let text = text_of(settings, key.name);
            let text = if key.kind.is_secret() && !text.is_empty() {
                "***".to_owned()
            } else {
                text
            };
            (key, text)
        })
        .collect()
}

/// Every secret of the settings, for the redactor.
#[must_use]
pub fn secrets(settings: &Settings) -> Vec<String> {
    let models = settings.model.iter().chain(&settings.fallback);
    let webhook = settings.telegram.webhook.as_ref();
    [
        settings.telegram.token.as_ref(),
        settings.http.token.as_ref(),
        webhook.map(|webhook| &webhook.secret),
    ]
    .into_iter()
    .chain(models.map(|model| model.api_key.as_ref()))
    .flatten()
    .map(|secret| secret.expose_secret().to_owned())
    .collect()
}

fn text_of(settings: &Settings, key: &str) -> String {
    let telegram = &settings.telegram;
    let secret = |secret: Option<&SecretString>| {
        secret
            .map(|secret| secret.expose_secret().to_owned())
            .unwrap_or_default()
    };
    let model = settings.model.as_ref();
    match key {
        "language" => settings.language.clone(),
        "telegram.token" => secret(telegram.token.as_ref()),
        "telegram.api_url" => telegram.api_url.clone(),
        "telegram.owner_id" => telegram.owner.map(|id| id.to_string()).unwrap_or_default(),
        "telegram.members" => joined(telegram.members.iter()),
        "telegram.groups" => telegram
            .groups
            .iter()
            .map(|(id, group)| {
                let members = joined(group.members.iter());
                format!("{id}:{}:{}:{members}", word(&group.respond), group.observe)
            })
            .collect::<Vec<_>>()
            .join(","),
        "telegram.render" => word(&telegram.render),
        "telegram.group_detail" => telegram.group_detail.to_string(),
        "telegram.busy" => word(&telegram.busy),
        "telegram.link_previews" => telegram.link_previews.to_string(),
        "telegram.limits.private_per_second" => telegram.limits.private_per_second.to_string(),
        "telegram.limits.private_burst" => telegram.limits.private_burst.to_string(),
        "telegram.limits.group_per_minute" => telegram.limits.group_per_minute.to_string(),
        "telegram.limits.bot_per_second" => telegram.limits.bot_per_second.to_string(),
        "telegram.webhook.url" => telegram
            .webhook
            .as_ref()
            .map(|webhook| webhook.url.clone())
            .unwrap_or_default(),
        "telegram.webhook.secret" => {
            secret(telegram.webhook.as_ref().map(|webhook| &webhook.secret))
        }
        "model.name" => model.map(model_name).unwrap_or_default(),
        "model.base_url" => model
            .and_then(|model| model.base_url.clone())
            .unwrap_or_default(),
        "model.api_key" => secret(model.and_then(|model| model.api_key.as_ref())),
        "model.context_tokens" => model
            .map(|model| model.context_tokens.to_string())
            .unwrap_or_default(),
        "model.fallback" => settings
            .fallback
            .iter()
            .map(model_name)
            .collect::<Vec<_>>()
            .join(","),
        _ => rest_of(settings, key),
    }
}

fn rest_of(settings: &Settings, key: &str) -> String {
    let (plan, tools, budgets) = (&settings.plan, &settings.tools, &settings.budgets);
    match key {
        "workspace.dir" => settings.workspace.display().to_string(),
        "approvals.level" => word(&settings.approvals),
        "http.bind" => settings
            .http
            .bind
            .map(|bind| bind.to_string())
            .unwrap_or_default(),
        "http.token" => settings
            .http
            .token
            .as_ref()
            .map(|token| token.expose_secret().to_owned())
            .unwrap_or_default(),
        "plan.enabled" => plan.enabled.to_string(),
        "plan.max_tasks" => plan.max_tasks.to_string(),
        "plan.max_render_chars" => plan.max_render_chars.to_string(),
        "plan.preinit_bash" => word(&plan.preinit_bash),
        "plan.legacy_dirs" => joined(plan.legacy_dirs.iter().map(|dir| dir.display())),
        "tools.sandbox" => word(&tools.sandbox),
        "tools.network_while_planning" => tools.network_while_planning.to_string(),
        "tools.web_fetch" => tools.web_fetch.to_string(),
        "tools.disabled" => tools.disabled.join(","),
        "budgets.requests" => budgets.requests.to_string(),
        "budgets.calls" => budgets.calls.to_string(),
        "budgets.seconds" => budgets.seconds.to_string(),
        "budgets.turn_tokens" => budgets.turn_tokens.to_string(),
        "budgets.day_tokens" => budgets.day_tokens.to_string(),
        _ => String::new(),
    }
}

fn model_name(model: &ModelSettings) -> String {
    format!("{}/{}", word(&model.adapter), model.name)
}

fn joined<T: ToString>(items: impl Iterator<Item = T>) -> String {
    items
        .map(|item| item.to_string())
        .collect::<Vec<_>>()
        .join(",")
}

/// The word by which a choice is written in the file.
fn word<T: serde::Serialize>(choice: &T) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}
