//! From the text of an environment variable, a flag or a TOML value to a checked value.

use std::collections::BTreeMap;

use toml::de::DeValue;

use crate::domain::{ChatId, UserId};

use super::keys::{Key, Kind};
use super::settings::{Adapter, GroupSettings};

/// A checked value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Bool(bool),
    Integer(i64),
    Decimal(f64),
    List(Vec<String>),
    Ids(Vec<i64>),
    Groups(BTreeMap<ChatId, GroupSettings>),
    Models(Vec<NamedModel>),
}

/// One model of a list, as written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedModel {
    pub(super) adapter: Adapter,
    pub(super) name: String,
    pub(super) base_url: Option<String>,
    pub(super) api_key: Option<String>,
    pub(super) context_tokens: Option<i64>,
}

/// Why a value is refused: a locale key with its arguments besides place and name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bad {
    pub(super) key: &'static str,
    pub(super) arguments: Vec<(&'static str, String)>,
}

pub(super) fn bad(key: &'static str) -> Bad {
    Bad {
        key,
        arguments: Vec::new(),
    }
}

/// Reads the text of an environment variable, a flag or a default.
pub(super) fn from_text(key: &Key, text: &str) -> Result<Value, Bad> {
    let text = text.trim();
    let items = || {
        text.split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
    };
    match key.kind {
        Kind::UserIds => items()
            .map(user_id)
            .collect::<Result<_, _>>()
            .map(Value::Ids),
        Kind::Groups => items()
            .map(|item| Ok((chat_id(item)?, GroupSettings::default())))
            .collect::<Result<_, _>>()
            .map(Value::Groups),
        Kind::Models => items()
            .map(|item| model(item).map(|(adapter, name)| plain_model(adapter, name)))
            .collect::<Result<_, _>>()
            .map(Value::Models),
        Kind::Paths | Kind::Words => Ok(Value::List(items().map(str::to_owned).collect())),
        Kind::Bool => boolean(text).map(Value::Bool),
        Kind::Integer { min, max, clamp } => {
            let number = text.parse().map_err(|_| not_integer(min, max))?;
            integer(number, min, max, clamp)
        }
        Kind::UserId => user_id(text).map(Value::Integer),
        Kind::Decimal => decimal(text),
        Kind::Text
        | Kind::Language
        | Kind::Token
        | Kind::Secret
        | Kind::Choice(_)
        | Kind::Model
        | Kind::Url
        | Kind::Path
        | Kind::Address => scalar(key.kind, text).map(Value::Text),
    }
}

/// Reads a TOML value; its type must be the key's own.
pub(super) fn from_toml(key: &Key, value: &DeValue<'_>) -> Result<Value, Bad> {
    match key.kind {
        Kind::Bool => toml_bool(value)
            .map(Value::Bool)
            .ok_or_else(|| bad("config-bad-bool")),
        Kind::Integer { min, max, clamp } => {
            let number = toml_integer(value).ok_or_else(|| not_integer(min, max))?;
            integer(number, min, max, clamp)
        }
        Kind::UserId => toml_integer(value)
            .filter(|id| *id > 0)
            .map(Value::Integer)
            .ok_or_else(|| bad("config-bad-user-id")),
        Kind::Decimal => {
            if let DeValue::Float(number) = value {
                return decimal(number.as_str());
            }
            toml_integer(value)
                .ok_or_else(|| bad("config-bad-decimal"))
                .and_then(|number| decimal(&number.to_string()))
        }
        Kind::UserIds => toml_ids(value).map(Value::Ids),
        Kind::Paths | Kind::Words => toml_words(value).map(Value::List),
        // Both need the place of what is inside them and are read by `super::nested`.
        Kind::Models | Kind::Groups => Err(bad("config-bad-text")),
        Kind::Text
        | Kind::Language
        | Kind::Token
        | Kind::Secret
        | Kind::Choice(_)
        | Kind::Model
        | Kind::Url
        | Kind::Path
        | Kind::Address => {
            let text = toml_text(value).ok_or_else(|| bad("config-bad-text"))?;
            scalar(key.kind, text).map(Value::Text)
        }
    }
}

pub(super) fn plain_model(adapter: Adapter, name: String) -> NamedModel {
    NamedModel {
        adapter,
        name,
        base_url: None,
        api_key: None,
        context_tokens: None,
    }
}

/// Checks the shape of a text and brings it into its canonical form.
pub(super) fn scalar(kind: Kind, text: &str) -> Result<String, Bad> {
    let text = text.trim();
    if text.chars().any(char::is_control) {
        return Err(bad("config-bad-text"));
    }
    match kind {
        Kind::Token => token(text)
            .then(|| text.to_owned())
            .ok_or(bad("config-bad-token")),
        Kind::Language => text
            .parse::<unic_langid::LanguageIdentifier>()
            .map(|_| text.to_owned())
            .map_err(|_| bad("config-bad-language")),
        Kind::Choice(choices) => {
            let lower = text.to_ascii_lowercase();
            if choices.contains(&lower.as_str()) {
                Ok(lower)
            } else {
                Err(Bad {
                    key: "config-bad-choice",
                    arguments: vec![("choices", choices.join(", "))],
                })
            }
        }
        Kind::Model => model(text).map(|_| text.to_owned()),
        Kind::Url => url(text),
        Kind::Address => text
            .parse::<std::net::SocketAddr>()
            .map(|_| text.to_owned())
            .map_err(|_| bad("config-bad-address")),
        Kind::Secret | Kind::Path | Kind::Text if text.is_empty() => Err(bad("config-bad-text")),
        Kind::Secret | Kind::Path | Kind::Text => Ok(text.to_owned()),
        Kind::Bool
        | Kind::Integer { .. }
        | Kind::Decimal
        | Kind::UserId
        | Kind::UserIds
        | Kind::Groups
        | Kind::Models
        | Kind::Paths
        | Kind::Words => Err(bad("config-bad-text")),
    }
}

/// Splits `<adapter>/<name>`; the demo model needs no name.
pub(super) fn model(text: &str) -> Result<(Adapter, String), Bad> {
    let (adapter, name) = match text.split_once('/') {
        Some((adapter, name)) => (adapter, name),
        None if text == "demo" => (text, text),
        None => return Err(bad("config-bad-model")),
    };
    let adapter = match adapter {
        "openai" => Adapter::Openai,
        "anthropic" => Adapter::Anthropic,
        "gemini" => Adapter::Gemini,
        "ollama" => Adapter::Ollama,
        "demo" => Adapter::Demo,
        _ => return Err(bad("config-bad-model")),
    };
    if name.is_empty() || name.len() > 200 || name.chars().any(char::is_whitespace) {
        return Err(bad("config-bad-model"));
    }
    Ok((adapter, name.to_owned()))
}

fn token(text: &str) -> bool {
    let Some((id, secret)) = text.split_once(':') else {
        return false;
    };
    (1..=20).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_digit())
        && (20..=200).contains(&secret.len())
        && secret
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn url(text: &str) -> Result<String, Bad> {
    let parsed = reqwest::Url::parse(text).map_err(|_| bad("config-bad-url"))?;
    let usable = matches!(parsed.scheme(), "http" | "https")
        && parsed.has_host()
        && parsed.query().is_none()
        && parsed.fragment().is_none()
        && parsed.username().is_empty()
        && parsed.password().is_none();
    if usable {
        Ok(text.to_owned())
    } else {
        Err(bad("config-bad-url"))
    }
}

fn boolean(text: &str) -> Result<bool, Bad> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(bad("config-bad-bool")),
    }
}

fn decimal(text: &str) -> Result<Value, Bad> {
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number > 0.0 && *number <= 1_000.0)
        .map(Value::Decimal)
        .ok_or_else(|| bad("config-bad-decimal"))
}

fn not_integer(min: i64, max: i64) -> Bad {
    Bad {
        key: "config-bad-integer",
        arguments: vec![("min", min.to_string()), ("max", max.to_string())],
    }
}

pub(super) fn integer(number: i64, min: i64, max: i64, clamp: bool) -> Result<Value, Bad> {
    if clamp {
        Ok(Value::Integer(number.clamp(min, max)))
    } else if (min..=max).contains(&number) {
        Ok(Value::Integer(number))
    } else {
        Err(not_integer(min, max))
    }
}

fn user_id(text: &str) -> Result<i64, Bad> {
    text.parse()
        .ok()
        .filter(|id| *id > 0)
        .ok_or_else(|| bad("config-bad-user-id"))
}

pub(super) fn chat_id(text: &str) -> Result<ChatId, Bad> {
    text.parse()
        .ok()
        .filter(|id| *id < 0)
        .map(ChatId)
        .ok_or_else(|| bad("config-bad-group-id"))
}

pub(super) fn toml_integer(value: &DeValue<'_>) -> Option<i64> {
    let DeValue::Integer(number) = value else {
        return None;
    };
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

pub(super) fn toml_bool(value: &DeValue<'_>) -> Option<bool> {
    let DeValue::Boolean(value) = value else {
        return None;
    };
    Some(*value)
}

pub(super) fn toml_text<'a>(value: &'a DeValue<'_>) -> Option<&'a str> {
    let DeValue::String(text) = value else {
        return None;
    };
    Some(text)
}

pub(super) fn toml_ids(value: &DeValue<'_>) -> Result<Vec<i64>, Bad> {
    let DeValue::Array(items) = value else {
        return Err(bad("config-bad-user-id"));
    };
    items
        .iter()
        .map(|item| {
            toml_integer(item.get_ref())
                .filter(|id| *id > 0)
                .ok_or_else(|| bad("config-bad-user-id"))
        })
        .collect()
}

fn toml_words(value: &DeValue<'_>) -> Result<Vec<String>, Bad> {
    let DeValue::Array(items) = value else {
        return Err(bad("config-bad-words"));
    };
    items
        .iter()
        .map(|item| {
            toml_text(item.get_ref())
                .map(str::to_owned)
                .ok_or_else(|| bad("config-bad-words"))
        })
        .collect()
}

/// Ids as the settings hold them.
pub(super) fn users(ids: &[i64]) -> Vec<UserId> {
    ids.iter().copied().map(UserId).collect()
}
