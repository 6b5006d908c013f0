//! The script: which line follows.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::read::{Scene, Wish};
use crate::domain::ToolCall;
use crate::playground::sample::{CHANGES, FAULTY, PASSED, PRICE, SOUND, TEST, TEST_COMMAND};

/// What the model says and does next.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) slow: bool,
}

impl Line {
    fn say(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    fn act(text: &str, calls: Vec<ToolCall>) -> Self {
        Self {
            text: text.to_owned(),
            calls,
            slow: false,
        }
    }
}

/// How the host introduces the owner's comment on a plan.
const COMMENT: &str = "Comment of the owner on the session plan";

const HELP: &str = "Hello! I am the built-in **demo model**: a script, not a language model. With me you can try everything here without a provider.\n\nAsk me to\n\n- **fix the failing test**\n- **plan the fix**: you read the plan and approve it\n- **ask me something**: a question with buttons\n- write a **long answer**, or a **slow** one";

const SUMMARY: &str = "The person tries the playground with the demo model. The sample project holds price.sh, test.sh and CHANGES.md.";

/// The next line of the scene.
pub(super) fn next(scene: &Scene<'_>) -> Line {
    if scene.step > 0 && scene.refused() {
        return Line::say(
            "That step was refused, so I stopped here. Nothing else was changed. Tell me how to go on, or ask for something else.",
        );
    }
    match scene.wish {
        Wish::Build => build(scene),
        Wish::Plan => plan(scene),
        Wish::Fix => fix(scene),
        Wish::Ask => ask(scene),
        Wish::Long => Line::say(long()),
        Wish::Slow => Line {
            slow: true,
            ..Line::say(
                "Very well, slowly. One word comes after the other, so that you can watch how a reply grows before it becomes the answer. Press Stop if you have seen enough: the turn ends within two seconds, and the message above says that it was stopped.",
            )
        },
        Wish::Summary => Line::say(SUMMARY),
        Wish::Talk => Line::say(HELP),
    }
}

fn read(scene: &Scene<'_>, place: usize, path: &str) -> ToolCall {
    scene.call(
        place,
        "read_file",
        &[(&["path", "file_path", "file"], json!(path))],
    )
}

fn shell(scene: &Scene<'_>, command: &str) -> ToolCall {
    scene.call(0, "bash", &[(&["command", "cmd"], json!(command))])
}

fn edit(scene: &Scene<'_>, path: &str, old: &str, new: &str) -> ToolCall {
    let arguments: [(&[&str], Value); 3] = [
        (&["path", "file_path", "file"], json!(path)),
        (&["old_text", "old_string", "old"], json!(old)),
        (&["new_text", "new_string", "new"], json!(new)),
    ];
    scene.call(0, "edit_file", &arguments)
}

fn planned(scene: &Scene<'_>, operation: &str, arguments: &[(&[&str], Value)]) -> ToolCall {
    let mut all: Vec<(&[&str], Value)> = vec![(&["operation"], json!(operation))];
    all.extend(arguments.iter().cloned());
    scene.call(0, "plan", &all)
}

fn fix(scene: &Scene<'_>) -> Line {
    if !scene.offers("bash") || !scene.offers("edit_file") {
        return Line::say(
            "I would read the project and run its test, but the tools for it are not on offer in this session.",
        );
    }
    let passed = scene
        .newest("bash")
        .is_some_and(|output| output.contains(PASSED));
    match scene.step {
        0 => Line::act(
            "I look at the project first.",
            vec![
                scene.call(0, "list_dir", &[(&["path", "dir"], json!("."))]),
                read(scene, 1, TEST),
            ],
        ),
        1 => Line::act(
            "Now I run the test to see what fails.",
            vec![shell(scene, TEST_COMMAND)],
        ),
        2 if passed => Line::say(format!(
            "The test already passes: `{TEST_COMMAND}` says **{PASSED}**. There is nothing to mend."
        )),
        2 => Line::act(
            "The discount comes out wrong. I read the script.",
            vec![read(scene, 0, PRICE)],
        ),
        3 => Line::act(
            "The discount is subtracted as an amount, but it is a percentage. I mend that line.",
            vec![edit(scene, PRICE, FAULTY, SOUND)],
        ),
        4 => Line::act(
            "Let me run the test again.",
            vec![shell(scene, TEST_COMMAND)],
        ),
        _ if passed => Line::say(format!(
            "**Fixed.** The test passes now.\n\n`{PRICE}` subtracted the discount as an amount of cents; it is a percentage:\n\n```diff\n-{FAULTY}\n+{SOUND}\n```\n\n| check | before | now |\n| --- | --- | --- |\n| no discount | 1000 | 1000 |\n| ten percent off | 990 | 900 |\n| half price | 348 | 199 |\n\n`{TEST_COMMAND}` says: **{PASSED}**."
        )),
        _ => Line::say(format!(
            "I could not get the test to pass. I only know the sample project of the playground; in it `{TEST_COMMAND}` should now say “{PASSED}”."
        )),
    }
}

fn plan(scene: &Scene<'_>) -> Line {
    let comment = scene
        .said
        .split_once(COMMENT)
        .and_then(|(_, rest)| rest.split_once('\n'))
        .map(|(_, words)| words.trim().chars().take(200).collect::<String>());
    match scene.step {
        0 => Line::act(
            "I read what the plan is about.",
            vec![read(scene, 0, PRICE), read(scene, 1, TEST)],
        ),
        1 => {
            let draft = draft(comment.as_deref());
            Line::act(
                "I hand in the plan.",
                vec![planned(scene, "submit", &[(&["draft"], draft)])],
            )
        }
        _ if comment.is_some() => Line::say(
            "I have taken your comment into the plan; `/plan diff` shows what changed. Press **Approve** if you agree.",
        ),
        _ => Line::say(
            "The plan above has two steps: mend the discount, then note the change. Press **Approve** if you agree, or reply to the plan with what you want changed.",
        ),
    }
}

fn draft(note: Option<&str>) -> Value {
    let mut draft = json!({
        "title": "Apply the discount as a percentage",
        "context": {
            "problem": "price.sh subtracts the discount as an amount of cents, so two of three checks fail.",
            "target_state": "The discount is a percentage of the sum and every check of test.sh passes.",
            "intent": "Customers are charged the wrong price today.",
            "out_of_scope": "Rounding rules and other currencies."
        },
        "steps": [
            {
                "title": CORRECT.0, "detail": CORRECT.1, "done_when": [format!("`{TEST_COMMAND}`")],
                "action": "change", "targets": [PRICE]
            },
            {
                "title": NOTE.0, "detail": NOTE.1, "done_when": ["CHANGES.md names the fix"],
                "action": "change", "targets": [CHANGES]
            }
        ],
        "verification": [TEST_COMMAND]
    });
    if let (Some(note), Some(map)) = (note, draft.as_object_mut()) {
        let note = note.replace(['\n', '\r'], " ");
        map.insert(
            "assumptions".to_owned(),
            json!([format!("The owner asked: {note}")]),
        );
    }
    draft
}

const CORRECT: (&str, &str) = (
    "Correct the discount",
    "Change price.sh so that the discount is a percentage of the sum.",
);
const NOTE: (&str, &str) = ("Note the change", "Add one line to CHANGES.md.");

static PLAN_PATH: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"/[^\s"'`<>()]*greenlight_plan_[^\s"'`<>()]+?\.md"#).ok());
static STEP_LINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*(?:\d+[|:\t ]+)?(\d+)\. (.+)$").ok());

const STEPS: &str = "## Implementation steps";

/// The numbered steps of the plan file as it was read; the ones handed in, if it cannot be found.
fn tasks(scene: &Scene<'_>) -> Value {
    let approved = scene
        .results
        .iter()
        .find(|(tool, content)| *tool == "read_file" && content.contains(STEPS))
        .map(|(_, content)| *content);
    let source = approved.unwrap_or(scene.said);
    let steps = source.split_once(STEPS).map_or("", |(_, steps)| steps);
    let steps = steps.split("\n## ").next().unwrap_or_default();
    let mut titles: Vec<(String, String)> = STEP_LINE
        .iter()
        .flat_map(|pattern| pattern.captures_iter(steps))
        .filter_map(|found| found.get(2))
        .map(|line| {
            let line = line.as_str().trim();
            let (title, rest) = [" — ", " – ", " - "]
                .iter()
                .find_map(|dash| line.split_once(dash))
                .or_else(|| line.split_once(". "))
                .unwrap_or((line, line));
            (
                title.trim().trim_end_matches('.').to_owned(),
                rest.trim().to_owned(),
            )
        })
        .collect();
    if titles.is_empty() {
        titles = [CORRECT, NOTE]
            .iter()
            .map(|(title, detail)| ((*title).to_owned(), (*detail).to_owned()))
            .collect();
    }
    let tasks: Vec<Value> = titles
        .iter()
        .enumerate()
        .map(|(place, (title, detail))| {
            let mut task =
                json!({ "id": format!("t{}", place + 1), "title": title, "description": detail });
            if place == 0
                && let Some(map) = task.as_object_mut()
            {
                map.insert(
                    "acceptance_criteria".to_owned(),
                    json!([format!("`{TEST_COMMAND}`")]),
                );
            }
            task
        })
        .collect();
    json!(tasks)
}

fn build(scene: &Scene<'_>) -> Line {
    let text = format!("{}\n{}", scene.said, scene.host);
    let path = PLAN_PATH.iter().find_map(|pattern| pattern.find(&text));
    let task = |id: &str| -> (&'static [&'static str], Value) { (&["task_id"], json!(id)) };
    let finish = |id: &str| {
        let outcome: (&[&str], Value) = (&["outcome"], json!("success"));
        planned(scene, "complete", &[task(id), outcome])
    };
    // The line at fault may have been mended before the plan was approved.
    let faulty = scene.step < 3 || scene.results.iter().any(|(_, text)| text.contains(FAULTY));
    match scene.step + usize::from(!faulty) {
        0 => Line::act(
            "I read the approved plan.",
            path.map(|path| read(scene, 0, path.as_str()))
                .into_iter()
                .chain([read(scene, 1, PRICE)])
                .collect(),
        ),
        1 => Line::act(
            "I turn its steps into the checklist.",
            vec![planned(scene, "add_tasks", &[(&["tasks"], tasks(scene))])],
        ),
        2 => Line::act(
            "The first step.",
            vec![planned(scene, "start", &[task("t1")])],
        ),
        3 => Line::act(
            "I mend the discount.",
            vec![edit(scene, PRICE, FAULTY, SOUND)],
        ),
        4 => Line::act(
            "The test tells whether it is right.",
            vec![shell(scene, TEST_COMMAND)],
        ),
        5 => Line::act("The first step is done.", vec![finish("t1")]),
        6 => Line::act(
            "The second step.",
            vec![planned(scene, "start", &[task("t2")])],
        ),
        7 => Line::act(
            "I note the change.",
            vec![edit(
                scene,
                CHANGES,
                "- First version.",
                "- The discount is a percentage.\n- First version.",
            )],
        ),
        8 => Line::act(
            "Files changed, so the test runs once more.",
            vec![shell(scene, TEST_COMMAND)],
        ),
        9 => Line::act("The second step is done.", vec![finish("t2")]),
        _ => Line::say(format!(
            "**The plan is carried out.** The discount is a percentage now, the change is noted in `{CHANGES}`, and `{TEST_COMMAND}` says: **{PASSED}**."
        )),
    }
}

fn ask(scene: &Scene<'_>) -> Line {
    if !scene.offers("ask_user") {
        return Line::say(
            "I would put a question with buttons, but the tool for it is not on offer in this session.",
        );
    }
    if scene.step == 0 {
        let question: [(&[&str], Value); 2] = [
            (
                &["question", "text"],
                json!("Which season do you like best?"),
            ),
            (
                &["options", "choices"],
                json!(["Spring", "Summer", "Autumn", "Winter"]),
            ),
        ];
        return Line::act(
            "I have a question.",
            vec![scene.call(0, "ask_user", &question)],
        );
    }
    let answer = scene.newest("ask_user").unwrap_or_default();
    let season = ["Spring", "Summer", "Autumn", "Winter"]
        .into_iter()
        .find(|season| answer.contains(season));
    Line::say(match season {
        Some(season) => format!("**{season}**: a good choice. Thank you for the answer."),
        None => "Thank you for the answer.".to_owned(),
    })
}

fn long() -> String {
    let mut text = String::from(
        "# A long answer\n\nIt is cut into several messages, each of them valid by itself.\n",
    );
    for chapter in 1..=12 {
        text.push_str(&format!(
            "\n## Chapter {chapter}\n\nA paragraph with **bold**, *italic*, `code` and a [link](https://example.org/{chapter}). It goes on for a while, because an answer that fits one message would show nothing of the kind. Emoji such as 🌱, 🚦 and 👩‍💻 count as more than one unit, which a careless splitter gets wrong.\n\n1. The first point of chapter {chapter}.\n2. The second one, which is longer than the first one and says a little more.\n\n```sh\n# block {chapter}\nfor word in one two three; do\n    echo \"chapter {chapter}: $word\"\ndone\n```\n"
        ));
    }
    text
}
