//! What the model does: a function of the conversation alone, so that it does not matter how often the
//! program dies. `Q7 plain` is answered with `A7.`; `Q7 work 2` first appends two lines to a file.

use serde_json::{Value, json};

/// The file that commands append to.
pub(super) const EFFECTS: &str = "effects.txt";

/// One thing that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) tag: u32,
    pub(super) steps: u32,
}

/// Everything that a text asks.
pub(super) fn asked(text: &str) -> Vec<Asked> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .iter()
        .enumerate()
        .filter_map(|(at, word)| {
            let tag = word.strip_prefix('Q')?.parse().ok()?;
            let steps = match words.get(at + 1..at + 3) {
                Some(["work", count]) => count.parse().unwrap_or(0),
                _ => 0,
            };
            Some(Asked { tag, steps })
        })
        .collect()
}

/// The answer to a tag.
pub(super) fn answer(tag: u32) -> String {
    format!("A{tag}.")
}

fn line(tag: u32, step: u32) -> String {
    format!("q{tag}-{step}")
}

/// The event stream for a request.
pub(super) fn reply(request: &Value) -> String {
    let empty = Vec::new();
    let messages = request["messages"].as_array().unwrap_or(&empty);
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let spoken: String = messages
        .iter()
        .filter(|message| message["role"] == "assistant" && message["tool_calls"].is_null())
        .map(&text)
        .collect();
    let open: Vec<Asked> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .flat_map(|message| asked(&text(message)))
        .filter(|asked| !spoken.contains(&answer(asked.tag)))
        .collect();
    for asked in &open {
        for step in 0..asked.steps {
            if !is_settled(messages, &line(asked.tag, step)) {
                return call(messages.len(), &line(asked.tag, step));
            }
        }
    }
    let answers: Vec<String> = open.iter().map(|asked| answer(asked.tag)).collect();
    say(&if answers.is_empty() {
        "Nothing is open.".to_owned()
    } else {
        answers.join(" ")
    })
}

/// Whether a command ran, or may have: then it is not made again.
fn is_settled(messages: &[Value], line: &str) -> bool {
    let needle = format!("echo {line} ");
    let ids: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["tool_calls"].as_array())
        .flatten()
        .filter(|call| {
            call["function"]["arguments"]
                .as_str()
                .is_some_and(|arguments| arguments.contains(&needle))
        })
        .filter_map(|call| call["id"].as_str())
        .collect();
    messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .filter(|message| ids.contains(&message["tool_call_id"].as_str().unwrap_or_default()))
        .any(|message| {
            !message["content"]
                .to_string()
                .contains("not run: the program was restarted")
        })
}

fn call(place: usize, line: &str) -> String {
    let arguments = json!({ "command": format!("echo {line} >> {EFFECTS}") }).to_string();
    let call = json!([{
        "index": 0, "id": format!("c{place}-{line}"), "type": "function",
        "function": { "name": "bash", "arguments": arguments },
    }]);
    stream(
        &json!({ "role": "assistant", "tool_calls": call }),
        "tool_calls",
    )
}

fn say(text: &str) -> String {
    stream(&json!({ "role": "assistant", "content": text }), "stop")
}

fn stream(delta: &Value, finish: &str) -> String {
    let chunk = |delta: &Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!(
            "data: {}\n\n",
            json!({ "id": "x", "object": "chat.completion.chunk", "choices": [choice] })
        )
    };
    let usage = json!({ "id": "x", "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105 } });
    format!(
        "{}{}data: {usage}\n\ndata: [DONE]\n\n",
        chunk(delta, None),
        chunk(&json!({}), Some(finish))
    )
}
