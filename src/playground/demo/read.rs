//! What the conversation is about and how far it has come.

use serde_json::{Map, Value};

use crate::domain::{CallId, ModelMessage, ModelRequest, ToolCall, ToolSpec};

/// Bytes of the user's text that are looked at; hints of the host stand behind it.
const LOOKED_AT: usize = 600;

/// What the person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// The host asks to carry out an approved plan.
    Build,
    /// A plan.
    Plan,
    /// The failing test mended.
    Fix,
    /// To be asked something.
    Ask,
    /// A long answer.
    Long,
    /// A slow answer.
    Slow,
    /// A summary of the conversation (the host compacts).
    Summary,
    /// Anything else.
    Talk,
}

/// One request, understood.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) wish: Wish,
    /// The person's words.
    pub(super) said: &'a str,
    /// Replies with calls since then.
    pub(super) step: usize,
    /// Tool results since then, oldest first: tool name and content.
    pub(super) results: Vec<(&'a str, &'a str)>,
    /// Everything the host said beside the conversation.
    pub(super) host: String,
    tools: &'a [ToolSpec],
    made: usize,
}

/// Reads a request.
pub(super) fn scene(request: &ModelRequest) -> Scene<'_> {
    let messages = &request.messages;
    let spoken = |message: &ModelMessage| matches!(message, ModelMessage::Assistant { calls, .. } if calls.is_empty());
    let user = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
    let last_user = messages.iter().rposition(user).unwrap_or_default();
    let after_answer = messages
        .iter()
        .take(last_user)
        .rposition(spoken)
        .map_or(0, |place| place + 1);
    // Words that came in while the tools ran do not begin anew; the first ones after the last answer count.
    let begin = messages
        .iter()
        .enumerate()
        .skip(after_answer)
        .take(last_user.saturating_sub(after_answer) + 1)
        .find(|(place, message)| user(message) && *place >= after_answer)
        .map_or(last_user, |(place, _)| place);
    let begin = newest_start(messages, begin, last_user);
    let said = match messages.get(begin) {
        Some(ModelMessage::User { text, .. }) => text.as_str(),
        _ => "",
    };
    let mut step = 0;
    let mut results = Vec::new();
    for message in messages.iter().skip(begin) {
        match message {
            ModelMessage::Assistant { calls, .. } if !calls.is_empty() => step += 1,
            ModelMessage::Tool { name, content, .. } => {
                results.push((name.as_str(), content.as_str()))
            }
            ModelMessage::System { .. }
            | ModelMessage::User { .. }
            | ModelMessage::Assistant { .. } => {}
        }
    }
    let host: String = messages
        .iter()
        .filter_map(|message| match message {
            ModelMessage::System { text } => Some(text.as_str()),
            ModelMessage::User { .. }
            | ModelMessage::Assistant { .. }
            | ModelMessage::Tool { .. } => None,
        })
        .collect::<Vec<_>>()
        .join("\n");
    let planning = is_planning(&host);
    Scene {
        wish: wish(request, said, planning),
        said,
        step,
        results,
        host,
        tools: &request.tools,
        made: messages.len(),
    }
}

/// The first user message of the turn, unless nothing was done between it and the newest one.
fn newest_start(messages: &[ModelMessage], begin: usize, last: usize) -> usize {
    let worked = messages
        .iter()
        .skip(begin)
        .take(last.saturating_sub(begin))
        .any(|message| matches!(message, ModelMessage::Assistant { .. }));
    if worked { begin } else { last }
}

fn is_planning(host: &str) -> bool {
    let host = host.to_lowercase();
    let live = host.contains("[current plan:");
    !live
        && ["pre-init", "preinit", "plan mode", "submit", "editing"]
            .iter()
            .any(|word| host.contains(word))
}

fn wish(request: &ModelRequest, said: &str, planning: bool) -> Wish {
    if request.tools.is_empty() {
        return Wish::Summary;
    }
    let end = (0..=LOOKED_AT.min(said.len()))
        .rev()
        .find(|end| said.is_char_boundary(*end));
    let words = said
        .get(..end.unwrap_or_default())
        .unwrap_or_default()
        .to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    let can_plan = request.tools.iter().any(|tool| tool.name == "plan");
    if can_plan
        && said.contains("add_tasks")
        && said.to_lowercase().contains("implementation steps")
    {
        return Wish::Build;
    }
    if can_plan && (planning || has(&["plan", "план", "خطة", "خطّة"])) {
        return Wish::Plan;
    }
    for (wish, list) in [
        (
            Wish::Ask,
            &["ask me", "question", "вопрос", "спроси", "سؤال", "اسألني"][..],
        ),
        (
            Wish::Fix,
            &[
                "fix",
                "failing",
                "repair",
                "почини",
                "исправ",
                "тест",
                "أصلح",
                "اختبار",
            ],
        ),
        (Wish::Slow, &["slow", "медлен", "ببطء"]),
        (Wish::Long, &["long", "длинн", "طويل"]),
    ] {
        if has(list) {
            return wish;
        }
    }
    Wish::Talk
}

impl Scene<'_> {
    /// Whether the host offers the tool.
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered.name == tool)
    }

    /// The newest result of `tool`.
    pub(super) fn newest(&self, tool: &str) -> Option<&str> {
        self.results
            .iter()
            .rev()
            .find(|(name, _)| *name == tool)
            .map(|(_, content)| *content)
    }

    /// Whether the newest result is a refusal by the host or the person.
    pub(super) fn refused(&self) -> bool {
        self.results.last().is_some_and(|(_, content)| {
            let head: String = content.chars().take(240).collect::<String>().to_lowercase();
            ["refused", "denied", "not allowed", "declined"]
                .iter()
                .any(|word| head.contains(word))
        })
    }

    /// A call with arguments under the names that the tool's schema has.
    pub(super) fn call(
        &self,
        place: usize,
        tool: &str,
        arguments: &[(&[&str], Value)],
    ) -> ToolCall {
        let spec = self.tools.iter().find(|offered| offered.name == tool);
        let properties = spec.and_then(|spec| spec.schema.get("properties"));
        let mut object = Map::new();
        for (names, value) in arguments {
            let known = names
                .iter()
                .find(|name| properties.is_some_and(|properties| properties.get(**name).is_some()));
            if let Some(name) = known.or_else(|| names.first()) {
                object.insert((*name).to_owned(), value.clone());
            }
        }
        ToolCall {
            id: CallId(format!("demo-{}-{place}", self.made)),
            name: tool.to_owned(),
            arguments: Value::Object(object).to_string(),
        }
    }
}
