//! The commented example file and the reference table, both written from the key table.

use super::keys::{KEYS, Kind};

/// The text of `greenlight.example.toml`: every key with its meaning, commented out at its default.
#[must_use]
pub fn example() -> String {
    let mut text = String::from(
        "# Settings of Greenlight. Copy to greenlight.toml and take the # off what you change.\n\
         # Every key is also an environment variable, and a flag unless it is a secret.\n",
    );
    let mut section = "";
    for key in KEYS {
        let (table, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if table != section {
            text.push_str(&format!("\n[{table}]\n"));
            section = table;
        }
        let value = sample(key.kind, key.default);
        let env = key.env_names().into_iter().next().unwrap_or_default();
        text.push_str(&format!("\n# {}\n# {env}\n# {name} = {value}\n", key.doc));
    }
    text
}

/// The reference in the README: one Markdown row for each key.
#[must_use]
pub fn reference() -> String {
    let mut text =
        String::from("| key | environment | default | meaning |\n| --- | --- | --- | --- |\n");
    for key in KEYS {
        let env = key.env_names().into_iter().next().unwrap_or_default();
        let default = match key.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let doc = key.doc.replace('|', "\\|");
        text.push_str(&format!(
            "| `{}` | `{env}` | {default} | {doc} |\n",
            key.name
        ));
    }
    text
}

/// A valid TOML value: the default, or one that shows the shape.
fn sample(kind: Kind, default: &str) -> String {
    match kind {
        Kind::Bool | Kind::Integer { .. } | Kind::Decimal => default.to_owned(),
        Kind::UserId => "123456789".to_owned(),
        Kind::UserIds => "[123456789, 987654321]".to_owned(),
        Kind::Groups => "{ \"-1001234567890\" = { members = [123456789], respond = \"mention\", observe = false } }".to_owned(),
        Kind::Models => {
            "[\"openai/gpt-4.1-mini\", { name = \"ollama/qwen3\", base_url = \"http://127.0.0.1:11434/\" }]".to_owned()
        }
        Kind::Token => "\"123456789:AAaaBBbbCCccDDddEEeeFFffGGggHHhhIIi\"".to_owned(),
        Kind::Secret => "\"…\"".to_owned(),
        Kind::Model => "\"openai/gpt-4.1\"".to_owned(),
        Kind::Address => "\"127.0.0.1:8080\"".to_owned(),
        Kind::Paths | Kind::Words => {
            let items: Vec<String> = default
                .split(',')
                .filter(|item| !item.is_empty())
                .map(|item| format!("\"{item}\""))
                .collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Url if default.is_empty() => "\"https://example.org/\"".to_owned(),
        Kind::Text | Kind::Language | Kind::Choice(_) | Kind::Url | Kind::Path => {
            format!("\"{default}\"")
        }
    }
}
