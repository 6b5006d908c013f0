//! Slash commands: which texts are one, which of them are ours, and what Telegram's menu lists.

use serde_json::{Value, json};

use crate::i18n::tr;

/// Longest command word that is looked at, in bytes without the slash.
const WORD_LIMIT: usize = 64;
/// Longest description that Telegram accepts, in characters.
const DESCRIPTION_LIMIT: usize = 256;

/// One command of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSpec {
    /// Canonical name, `[a-z_]+`.
    pub name: &'static str,
    /// Locale key of its description.
    pub key: &'static str,
    /// Whether the menu of groups lists it.
    pub in_groups: bool,
    /// Whether it overtakes everything that waits.
    pub control: bool,
}

const fn spec(
    name: &'static str,
    key: &'static str,
    in_groups: bool,
    control: bool,
) -> CommandSpec {
    CommandSpec {
        name,
        key,
        in_groups,
        control,
    }
}

/// Every command, in the order of the menu.
pub const COMMANDS: &[CommandSpec] = &[
    spec("plan", "command-plan", true, false),
    spec("show_plan", "command-show-plan", true, false),
    spec("plan_status", "command-plan-status", true, false),
    spec("execute", "command-execute", true, false),
    spec("discard", "command-discard", true, true),
    spec("plans", "command-plans", true, false),
    spec("stop", "command-stop", true, true),
    spec("status", "command-status", true, true),
    spec("new", "command-new", true, false),
    spec("sessions", "command-sessions", false, false),
    spec("usage", "command-usage", false, false),
    spec("compact", "command-compact", false, false),
    spec("model", "command-model", false, false),
    spec("approvals", "command-approvals", false, false),
    spec("project", "command-project", false, false),
    spec("language", "command-language", false, false),
    spec("goal", "command-goal", false, false),
    spec("help", "command-help", true, false),
    spec("start", "command-start", false, false),
];

/// What `/help` lists: headings with the commands below them, without the two that lead here.
const HELP: [(&str, &[&str]); 3] = [
    (
        "help-plans",
        &[
            "plan",
            "show_plan",
            "plan_status",
            "execute",
            "discard",
            "plans",
        ],
    ),
    (
        "help-work",
        &[
            "stop", "status", "goal", "new", "sessions", "compact", "usage",
        ],
    ),
    (
        "help-settings",
        &["approvals", "model", "project", "language"],
    ),
];

/// What a text is, read as a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Chat, a path such as `/etc/hosts` included.
    Chat,
    /// A command addressed to another bot.
    Foreign,
    /// One of ours.
    Ours {
        /// The command.
        spec: &'static CommandSpec,
        /// Bytes of the text up to where the arguments begin.
        arguments_at: usize,
        /// Whether it named this bot, as in `/status@thisbot`.
        addressed: bool,
    },
    /// A slash word that nobody here knows.
    Unknown {
        /// The word without slash and bot name, at most 64 bytes.
        word: String,
        /// Whether it named this bot.
        addressed: bool,
    },
}

/// Reads the start of `text`; `me` is this bot's user name without `@`.
///
/// Whether the text was forwarded or is formatted as code is for the caller to know: such text is chat.
#[must_use]
pub fn parse(text: &str, me: &str) -> Parsed {
    let Some(rest) = text.strip_prefix('/') else {
        return Parsed::Chat;
    };
    let token = rest.split(char::is_whitespace).next().unwrap_or_default();
    let (word, bot) = match token.split_once('@') {
        Some((word, bot)) => (word, Some(bot)),
        None => (token, None),
    };
    let is_name = |name: &str| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    if word.is_empty() || word.len() > WORD_LIMIT || !is_name(word) {
        return Parsed::Chat;
    }
    if let Some(bot) = bot {
        if bot.is_empty() || !is_name(bot) {
            return Parsed::Chat;
        }
        if !bot.eq_ignore_ascii_case(me) {
            return Parsed::Foreign;
        }
    }
    let addressed = bot.is_some();
    let wanted = folded(word);
    match COMMANDS.iter().find(|spec| folded(spec.name) == wanted) {
        Some(spec) => Parsed::Ours {
            spec,
            arguments_at: 1 + token.len(),
            addressed,
        },
        None => Parsed::Unknown {
            word: word.to_owned(),
            addressed,
        },
    }
}

/// `/show-plan`, `/showplan` and `/Show_Plan` are the same word.
fn folded(word: &str) -> String {
    word.chars()
        .filter(|c| *c != '_' && *c != '-')
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// The bodies of `setMyCommands`, one for each scope and language.
///
/// `default` is the locale for people whose language is not among `languages`. Locales are cut to the
/// two letters that Telegram knows; of several with the same letters the first one counts.
#[must_use]
pub fn registrations(default: &str, languages: &[&str]) -> Vec<Value> {
    let mut bodies = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for (locale, code) in
        std::iter::once((default, String::new())).chain(languages.iter().map(|tag| {
            (
                *tag,
                tag.chars().take_while(char::is_ascii_lowercase).collect(),
            )
        }))
    {
        if seen.contains(&code) || (code.len() != 2 && !code.is_empty()) {
            continue;
        }
        for (scope, group) in [
            ("default", false),
            ("all_private_chats", false),
            ("all_group_chats", true),
        ] {
            let mut body = json!({"commands": menu(locale, group), "scope": {"type": scope}});
            if let (false, Some(body)) = (code.is_empty(), body.as_object_mut()) {
                body.insert("language_code".into(), code.clone().into());
            }
            bodies.push(body);
        }
        seen.push(code);
    }
    bodies
}

/// The text of `/help` in Markdown: what the bot does and one line for each command.
#[must_use]
pub fn help(locale: &str) -> String {
    let mut text = tr(locale, "help-intro", &[]);
    for (heading, names) in HELP {
        text.push_str(&format!("\n\n**{}**\n", tr(locale, heading, &[])));
        for spec in COMMANDS.iter().filter(|spec| names.contains(&spec.name)) {
            let command = format!("/{}", spec.name);
            let what = tr(locale, spec.key, &[]);
            let line = tr(
                locale,
                "help-line",
                &[("command", &command), ("what", &what)],
            );
            text.push_str(&format!("\n- {line}"));
        }
    }
    text.push_str("\n\n");
    text.push_str(&tr(locale, "help-footer", &[]));
    text
}

fn menu(locale: &str, group: bool) -> Vec<Value> {
    COMMANDS
        .iter()
        .filter(|spec| spec.in_groups || !group)
        .map(|spec| {
            let description: String = tr(locale, spec.key, &[])
                .chars()
                .take(DESCRIPTION_LIMIT)
                .collect();
            json!({"command": spec.name, "description": description})
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<&'static str> {
        match parse(text, "green_bot") {
            Parsed::Ours { spec, .. } => Some(spec.name),
            Parsed::Chat | Parsed::Foreign | Parsed::Unknown { .. } => None,
        }
    }

    #[test]
    fn every_spelling_of_a_command_is_the_same_command() {
        for text in [
            "/show-plan",
            "/showplan",
            "/show_plan",
            "/SHOW_PLAN",
            "/show-plan@Green_Bot now",
        ] {
            assert_eq!(name(text), Some("show_plan"), "{text}");
        }
        assert_eq!(name("/planstatus"), Some("plan_status"));
        assert_eq!(name("/plan\nfix it"), Some("plan"));
    }

    #[test]
    fn a_command_for_another_bot_is_not_ours() {
        assert_eq!(parse("/status@other_bot", "green_bot"), Parsed::Foreign);
        assert_eq!(parse("/frobnicate@other_bot", "green_bot"), Parsed::Foreign);
    }

    #[test]
    fn a_path_and_a_slash_in_prose_are_chat() {
        for text in [
            "/etc/hosts",
            "/usr/bin/env python",
            "/",
            "/ status",
            " /status",
            "and /status",
            "/.env",
            "/привет",
            "/a.txt",
            "/x@",
        ] {
            assert_eq!(parse(text, "green_bot"), Parsed::Chat, "{text}");
        }
    }

    #[test]
    fn an_unknown_word_is_named() {
        assert_eq!(
            parse("/frobnicate now", "green_bot"),
            Parsed::Unknown {
                word: "frobnicate".into(),
                addressed: false
            }
        );
    }

    #[test]
    fn the_menu_obeys_telegrams_rules() {
        let bodies = registrations(
            "en",
            &["en", "ru", "ar", "pt-BR", "zh-Hans", "zh-Hant", "x"],
        );
        assert_eq!(bodies.len(), 3 * 6);
        for body in &bodies {
            let code = body
                .get("language_code")
                .and_then(Value::as_str)
                .unwrap_or("en");
            assert!(code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase()));
            for command in body["commands"].as_array().unwrap() {
                let name = command["command"].as_str().unwrap();
                assert!(
                    (1..=32).contains(&name.len())
                        && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                );
                let description = command["description"].as_str().unwrap();
                assert!(
                    !description.starts_with("command-") && !description.is_empty(),
                    "{name}"
                );
            }
        }
    }
}
