//! Values of the file that have an inside: groups and fallback models.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::Kind;
use super::settings::{GroupSettings, Respond};
use super::value::{
    Bad, NamedModel, Value, bad, chat_id, integer, model, plain_model, scalar, toml_bool, toml_ids,
    toml_integer, toml_text, users,
};

/// A refusal with its place in the file, or an unknown key inside.
#[derive(Debug)]
pub(super) enum Inside {
    /// A value that cannot be used.
    Bad(Range<usize>, Bad),
    /// A key that does not exist, with the keys that do.
    Unknown(Range<usize>, String, &'static [&'static str]),
}

const GROUP_KEYS: &[&str] = &["members", "respond", "observe"];
const MODEL_KEYS: &[&str] = &["name", "base_url", "api_key", "context_tokens"];

/// `telegram.groups`: a list of ids, or one table for each id.
pub(super) fn groups(value: &Spanned<DeValue<'_>>) -> Result<Value, Inside> {
    let mut groups = BTreeMap::new();
    if let DeValue::Array(items) = value.get_ref() {
        for item in items.iter() {
            let id = toml_integer(item.get_ref())
                .and_then(|id| chat_id(&id.to_string()).ok())
                .ok_or_else(|| Inside::Bad(item.span(), bad("config-bad-group-id")))?;
            groups.insert(id, GroupSettings::default());
        }
        return Ok(Value::Groups(groups));
    }
    let DeValue::Table(table) = value.get_ref() else {
        return Err(Inside::Bad(value.span(), bad("config-bad-group-id")));
    };
    for (name, entry) in table {
        let id = chat_id(name.get_ref()).map_err(|reason| Inside::Bad(name.span(), reason))?;
        let DeValue::Table(fields) = entry.get_ref() else {
            return Err(Inside::Bad(entry.span(), bad("config-bad-section")));
        };
        groups.insert(id, group(fields)?);
    }
    Ok(Value::Groups(groups))
}

fn group(fields: &DeTable<'_>) -> Result<GroupSettings, Inside> {
    let mut group = GroupSettings::default();
    for (name, value) in fields {
        let at = |reason| Inside::Bad(value.span(), reason);
        match name.get_ref().as_ref() {
            "members" => group.members = users(&toml_ids(value.get_ref()).map_err(at)?),
            "observe" => {
                group.observe =
                    toml_bool(value.get_ref()).ok_or_else(|| at(bad("config-bad-bool")))?;
            }
            "respond" => {
                let word = toml_text(value.get_ref()).ok_or_else(|| at(bad("config-bad-text")))?;
                let word = scalar(Kind::Choice(&["mention", "all", "commands"]), word);
                group.respond = match word.map_err(at)?.as_str() {
                    "all" => Respond::All,
                    "commands" => Respond::Commands,
                    _ => Respond::Mention,
                };
            }
            other => return Err(Inside::Unknown(name.span(), other.to_owned(), GROUP_KEYS)),
        }
    }
    Ok(group)
}

/// `model.fallback`: names, or tables with their own address and key.
pub(super) fn models(value: &Spanned<DeValue<'_>>) -> Result<Value, Inside> {
    let DeValue::Array(items) = value.get_ref() else {
        return Err(Inside::Bad(value.span(), bad("config-bad-words")));
    };
    items
        .iter()
        .map(|item| {
            if let DeValue::Table(fields) = item.get_ref() {
                return model_table(fields, item.span());
            }
            toml_text(item.get_ref())
                .ok_or_else(|| bad("config-bad-model"))
                .and_then(model)
                .map(|(adapter, name)| plain_model(adapter, name))
                .map_err(|reason| Inside::Bad(item.span(), reason))
        })
        .collect::<Result<_, _>>()
        .map(Value::Models)
}

fn model_table(fields: &DeTable<'_>, span: Range<usize>) -> Result<NamedModel, Inside> {
    let (mut named, mut base_url, mut api_key, mut context_tokens) = (None, None, None, None);
    for (name, value) in fields {
        let at = |reason| Inside::Bad(value.span(), reason);
        let text = || toml_text(value.get_ref()).ok_or_else(|| bad("config-bad-text"));
        match name.get_ref().as_ref() {
            "name" => named = Some(text().and_then(model).map_err(at)?),
            "base_url" => {
                base_url = Some(
                    text()
                        .and_then(|text| scalar(Kind::Url, text))
                        .map_err(at)?,
                );
            }
            "api_key" => {
                api_key = Some(
                    text()
                        .and_then(|text| scalar(Kind::Secret, text))
                        .map_err(at)?,
                );
            }
            "context_tokens" => {
                let tokens = toml_integer(value.get_ref()).unwrap_or(0);
                integer(tokens, 1_024, 100_000_000, false).map_err(at)?;
                context_tokens = Some(tokens);
            }
            other => return Err(Inside::Unknown(name.span(), other.to_owned(), MODEL_KEYS)),
        }
    }
    let (adapter, name) = named.ok_or_else(|| Inside::Bad(span, bad("config-bad-model")))?;
    Ok(NamedModel {
        adapter,
        name,
        base_url,
        api_key,
        context_tokens,
    })
}
