use serde_json::{Value, json};

use super::*;
use crate::domain::{CallId, ToolSpec};

fn request(said: &str) -> ModelRequest {
    let tool = |name: &str, properties: Value| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({ "type": "object", "properties": properties }),
    };
    ModelRequest {
        system: String::new(),
        messages: vec![ModelMessage::User {
            text: said.to_owned(),
            images: Vec::new(),
        }],
        tools: vec![
            tool("read_file", json!({ "file_path": {} })),
            tool("list_dir", json!({ "path": {} })),
            tool(
                "edit_file",
                json!({ "path": {}, "old_text": {}, "new_text": {} }),
            ),
            tool("bash", json!({ "command": {} })),
            tool("ask_user", json!({ "question": {}, "options": {} })),
            tool("plan", json!({})),
        ],
        max_output_tokens: None,
    }
}

async fn ask(request: &ModelRequest) -> ModelReply {
    let mut events = Demo::new(Duration::ZERO)
        .stream(request.clone())
        .await
        .unwrap();
    let mut text = String::new();
    while let Some(event) = events.next().await {
        match event.unwrap() {
            ModelEvent::Text(more) => text.push_str(&more),
            ModelEvent::Reasoning(_) => {}
            ModelEvent::End(reply) => {
                assert_eq!(reply.text, text, "the streamed words are the reply");
                return reply;
            }
        }
    }
    panic!("no end");
}

/// Plays a turn to its end; `answer` is the host. Returns the calls and the last words.
async fn play(
    request: &mut ModelRequest,
    answer: impl Fn(&str, &Value, usize) -> String,
) -> (Vec<String>, String) {
    let mut calls = Vec::new();
    loop {
        let reply = ask(request).await;
        if reply.calls.is_empty() {
            return (calls, reply.text);
        }
        assert!(calls.len() < 40, "{calls:?}");
        request.messages.push(ModelMessage::Assistant {
            text: reply.text.clone(),
            reasoning: None,
            calls: reply.calls.clone(),
        });
        for call in reply.calls {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            let content = answer(&call.name, &arguments, calls.len());
            let sorted: std::collections::BTreeMap<String, Value> =
                serde_json::from_value(arguments.clone()).unwrap();
            calls.push(format!("{} {}", call.name, json!(sorted)));
            request.messages.push(ModelMessage::Tool {
                call: CallId(call.id.0),
                name: call.name,
                content,
            });
        }
    }
}

#[tokio::test]
async fn the_failing_test_is_found_mended_and_run_again() {
    let mut request = request("Please fix the failing test");
    let (calls, last) = play(&mut request, |tool, _, before| match (tool, before) {
        ("bash", 5..) => crate::playground::sample::PASSED.to_owned(),
        ("bash", _) => "1 passed, 2 failed".to_owned(),
        _ => "ok".to_owned(),
    })
    .await;
    assert_eq!(
        calls,
        vec![
            r#"list_dir {"path":"."}"#,
            r#"read_file {"file_path":"test.sh"}"#,
            r#"bash {"command":"sh test.sh"}"#,
            r#"read_file {"file_path":"price.sh"}"#,
            r#"edit_file {"new_text":"echo $((sum - sum * discount / 100))","old_text":"echo $((sum - discount))","path":"price.sh"}"#,
            r#"bash {"command":"sh test.sh"}"#,
        ]
    );
    assert!(last.starts_with("**Fixed.**"), "{last}");
}

#[tokio::test]
async fn a_refused_step_ends_the_turn_with_a_word_about_it() {
    let mut request = request("fix the failing test");
    let (calls, last) = play(&mut request, |_, _, _| "Refused by the owner.".to_owned()).await;
    assert_eq!(calls.len(), 2);
    assert!(last.contains("refused"), "{last}");
}

#[tokio::test]
async fn an_approved_plan_becomes_a_checklist_title_by_title() {
    let mut request = request(
        "The approved plan is at /home/o/.greenlight_plan_x.md. Read its Implementation steps, emit exactly one add_tasks, then start.",
    );
    let plan = "# T\n\n## Implementation steps\n1. Correct the discount — change it.\n   - Done when: `sh test.sh`\n2. Note the change — add a line.\n\n## Notes\n3. Nothing — here.\n";
    let (calls, last) = play(&mut request, |tool, _, _| match tool {
        "read_file" => plan.to_owned(),
        _ => "ok".to_owned(),
    })
    .await;
    assert!(
        calls[0].contains("/home/o/.greenlight_plan_x.md"),
        "{}",
        calls[0]
    );
    let tasks: Value = serde_json::from_str(calls[2].strip_prefix("plan ").unwrap()).unwrap();
    let titles: Vec<&str> = tasks["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, vec!["Correct the discount", "Note the change"]);
    assert!(
        calls
            .iter()
            .any(|call| call.contains(r#""operation":"complete""#))
    );
    assert!(last.contains("carried out"));
}

#[tokio::test]
async fn plan_words_lead_to_a_submission_and_then_to_a_rest() {
    let mut request = request("/plan fix the discount");
    let (calls, last) = play(&mut request, |_, _, _| "ok".to_owned()).await;
    let submit: Value = serde_json::from_str(calls[2].strip_prefix("plan ").unwrap()).unwrap();
    assert_eq!(submit["operation"], "submit");
    assert_eq!(submit["draft"]["verification"], json!(["sh test.sh"]));
    assert!(last.contains("Approve"));
}

#[tokio::test]
async fn small_talk_after_a_finished_turn_begins_anew() {
    let mut request = request("fix the failing test");
    play(&mut request, |_, _, _| {
        crate::playground::sample::PASSED.to_owned()
    })
    .await;
    for (role, text) in [("assistant", "done"), ("user", "thanks")] {
        request.messages.push(if role == "user" {
            ModelMessage::User {
                text: text.to_owned(),
                images: Vec::new(),
            }
        } else {
            ModelMessage::Assistant {
                text: text.to_owned(),
                reasoning: None,
                calls: Vec::new(),
            }
        });
    }
    let reply = ask(&request).await;
    assert_eq!(reply.calls, Vec::new());
    assert!(reply.text.contains("demo model"));
}

#[tokio::test(start_paused = true)]
async fn the_reply_is_streamed_with_pauses_on_the_runtimes_clock() {
    let begin = tokio::time::Instant::now();
    let mut events = Demo::new(Duration::from_millis(100))
        .stream(request("hi"))
        .await
        .unwrap();
    let mut words = 0_u32;
    while let Some(event) = events.next().await {
        words += u32::from(matches!(event, Ok(ModelEvent::Text(_))));
    }
    assert!(words > 20);
    assert!(begin.elapsed() >= Duration::from_millis(100) * words);
}
