//! What must hold after any number of crashes.

use std::collections::BTreeMap;

use greenlight::playground::Post;
use serde_json::Value;

use super::rig::Rig;
use super::script::{answer, asked};

/// Words in front of a message that may be a repeat.
const MARK: &str = "🔁";

/// Everything that is wrong; empty is good.
pub(super) fn faults(rig: &Rig, tags: &[u32]) -> Vec<String> {
    let mut found = Vec::new();
    let posts = rig.bot.world().all_messages(rig.bot.chat());
    let own: Vec<&Post> = posts.iter().filter(|post| post.from_bot).collect();
    for tag in tags {
        let needle = answer(*tag);
        let said = |post: &&&Post| {
            post.text.split_whitespace().any(|word| word == needle) && !is_flow(&post.text)
        };
        let (marked, plain): (Vec<&&Post>, Vec<&&Post>) = own
            .iter()
            .filter(said)
            .partition(|post| post.text.starts_with(MARK));
        let fits = matches!((plain.len(), marked.len()), (1, 0..=1) | (0, 1));
        if !fits {
            found.push(format!(
                "Q{tag}: {} answers, {} marked",
                plain.len(),
                marked.len()
            ));
        }
    }
    let mut lines: BTreeMap<String, u32> = BTreeMap::new();
    for line in rig.effects() {
        *lines.entry(line).or_default() += 1;
    }
    for (line, count) in lines.iter().filter(|(_, count)| **count > 1) {
        found.push(format!("{line} happened {count} times"));
    }
    found.extend(loose_ends(rig));
    for (number, request) in rig.model.requests().iter().enumerate() {
        found.extend(pairs(request).map(|fault| format!("request {number}: {fault}")));
    }
    found
}

/// Messages that still run or have buttons although nothing goes on, and rules that were broken.
pub(super) fn loose_ends(rig: &Rig) -> Vec<String> {
    let mut found = Vec::new();
    for post in rig.bot.messages().iter().filter(|post| post.from_bot) {
        // No program can edit a message whose id it never learnt.
        if rig.cut.contains(&post.id) && post.history.is_empty() && post.text.starts_with("⚙") {
            continue;
        }
        let text: String = post.text.chars().take(60).collect();
        if post.text.starts_with("⚙") {
            found.push(format!("message {} still runs: {text}", post.id));
        }
        if !post.keyboard.is_empty() {
            let data = post.data();
            found.push(format!("message {} has buttons: {text} {data:?}", post.id));
        }
    }
    // A tap that was cut off between its answer and its closing is answered again.
    found.extend(
        rig.bot
            .world()
            .verdict()
            .into_iter()
            .filter(|fault| !fault.contains("answered twice")),
    );
    if rig.bot.world().pending() > 0 {
        found.push("updates were never confirmed".to_owned());
    }
    found.extend(
        rig.names()
            .into_iter()
            .filter(|name| name.starts_with("db.corrupt"))
            .map(|name| format!("the store was damaged: {name}")),
    );
    found
}

/// Plan files that are not whole. The program is dead at this moment.
pub(super) fn torn_plans(rig: &Rig) -> Vec<String> {
    let dir = rig.home.join("session");
    std::fs::read_dir(&dir)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains("corrupt") {
                return Some(format!("{name} was set aside"));
            }
            let text = std::fs::read_to_string(entry.path()).ok()?;
            let whole = !name.ends_with(".json") || serde_json::from_str::<Value>(&text).is_ok();
            (!whole).then(|| format!("{name} is torn"))
        })
        .collect()
}

fn is_flow(text: &str) -> bool {
    ["⚙", "✅", "❌", "⏱", "⏹", "⏸"]
        .iter()
        .any(|sign| text.starts_with(sign))
}

/// Every call has exactly one result right behind it, and nobody's words are there twice.
fn pairs(request: &Value) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut said: BTreeMap<u32, u32> = BTreeMap::new();
    for message in request["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let before = open.len();
            open.retain(|known| known != id);
            if open.len() == before {
                found.push(format!("a result without call: {id}"));
            }
            continue;
        }
        if !open.is_empty() {
            found.push(format!("calls without result: {open:?}"));
            open.clear();
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.filter_map(|call| call["id"].as_str().map(str::to_owned)));
        if role == "user" {
            for asked in asked(message["content"].as_str().unwrap_or_default()) {
                *said.entry(asked.tag).or_default() += 1;
            }
        }
    }
    for (tag, count) in said.iter().filter(|(_, count)| **count > 1) {
        found.push(format!("Q{tag} is there {count} times"));
    }
    found.into_iter()
}
