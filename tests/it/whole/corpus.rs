//! Ways to write while planning, tried for real through the whole session: none leaves a trace.

use std::os::unix::fs::symlink;

use greenlight::playground::Post;
use serde_json::{Value, json};

use crate::support::rig::{PLAN, Rig, bash, designer, write, write_md};
use crate::support::script::{Step, call, calls, look, say};

/// Commands that write in the workspace or beside it.
const COMMANDS: &[&str] = &[
    "echo x > calc.py",
    "echo x >> calc.py",
    ": > calc.py",
    "true >| calc.py",
    "exec 3<>calc.py; echo x >&3",
    "printf x | tee new.txt",
    "printf x | tee -a calc.py > /dev/null",
    "sed -i s/add/sub/ calc.py",
    "perl -i -pe s/add/sub/ calc.py",
    "perl -e 'open F, \">calc.py\"; print F \"x\"'",
    "python3 -c 'open(\"new.txt\", \"w\").write(\"x\")'",
    "python3 -c 'import os; os.remove(\"calc.py\")'",
    "python3 - <<'E'\nimport pathlib\npathlib.Path('new.txt').write_text('x')\nE",
    "cat > new.sh <<'E'\necho x\nE",
    "cat <<E > calc.py\nx\nE",
    "rm -f calc.py",
    "rm -rf .git",
    "mv calc.py moved.py",
    "cp README.md copy.md",
    "ln calc.py hard.py",
    "ln -s calc.py soft.py",
    "mkdir made",
    "touch calc.py",
    "touch new.txt",
    "chmod 777 calc.py",
    "truncate -s 0 calc.py",
    "dd if=/dev/zero of=calc.py bs=1 count=4",
    "install -m 644 README.md installed",
    "mkfifo pipe",
    "tar -cf t.tar calc.py",
    "find . -name calc.py -delete",
    "find . -name calc.py -exec rm {} \\;",
    "find . -name '*.py' -exec sh -c 'echo x > \"$1\"' _ {} \\;",
    "ls calc.py | xargs rm -f",
    "echo calc.py | xargs -I{} sh -c 'echo x > {}'",
    "git reset -q --hard HEAD~0",
    "git stash -q",
    "git config user.name x",
    "git config --local core.pager x",
    "git commit -q --allow-empty -m x",
    "git checkout -q -b other",
    "git branch other",
    "git tag v1",
    "git clean -fdx",
    "git add -A",
    "git apply <<'E'\n--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-def add(a, b):\n+def sub(a, b):\nE",
    "git mv calc.py moved.py",
    "git worktree add ../tree",
    "git init -q sub",
    "git gc -q",
    "bash -c 'bash -c \"rm calc.py\"'",
    "env -i /bin/rm calc.py",
    "eval 'echo x > calc.py'",
    "sh -c \"$(printf 'echo x > calc.py')\"",
    "nohup sh -c 'echo x > calc.py' >/dev/null 2>&1",
    "(setsid sh -c 'echo x > calc.py' &); true",
    "cd /; echo x > \"$OLDPWD/calc.py\"",
    "echo x > /proc/self/cwd/calc.py",
    "echo x > ../beside.txt",
    "awk 'BEGIN { print \"x\" > \"new.txt\" }'",
    "vi -es -c 'normal ix' -c 'w! new.txt' -c q",
    "patch -p0 < /dev/null; echo x > patched",
    "make -f - <<'E'\nall:\n\techo x > calc.py\nE",
    "ls | while read name; do echo x >> \"$name\"; done",
    "trap 'echo x > calc.py' EXIT; true",
    "ln -s \"$PWD/calc.py\" \"${TMPDIR:-/tmp}/s-$$\"; echo x > \"${TMPDIR:-/tmp}/s-$$\"",
    "node -e 'require(\"fs\").writeFileSync(\"new.txt\", \"x\")'",
    "rsync -a README.md copied.md",
    "curl -s -o new.txt file://$PWD/README.md",
];

/// Calls of tools other than the shell.
fn tools(rig: &Rig, md: Option<&str>) -> Vec<(&'static str, Value)> {
    let ws = rig.ws().display().to_string();
    let other = rig
        .home()
        .join("session/.greenlight_plan_4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10.md");
    let mut found = vec![
        ("write_file", json!({"path": "new.txt", "content": "x"})),
        ("write_file", json!({"path": "./calc.py", "content": "x"})),
        (
            "write_file",
            json!({"path": format!("{ws}/calc.py"), "content": "x"}),
        ),
        (
            "write_file",
            json!({"path": "sub/../calc.py", "content": "x"}),
        ),
        (
            "write_file",
            json!({"path": "../beside.txt", "content": "x"}),
        ),
        ("write_file", json!({"path": "link.md", "content": "x"})),
        ("write_file", json!({"path": "plan.md", "content": "x"})),
        ("write_file", json!({"path": "notes.md", "content": "x"})),
        ("write_file", json!({"path": other, "content": "x"})),
        (
            "write_file",
            json!({"path": ".greenlight_plan_4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10.md", "content": "x"}),
        ),
        (
            "edit_file",
            json!({"path": "calc.py", "old_text": "a - b", "new_text": "a + b"}),
        ),
        (
            "edit_file",
            json!({"path": "./sub/.././calc.py", "old_text": "a - b", "new_text": "a + b"}),
        ),
        (
            "edit_file",
            json!({"path": "hard.md", "old_text": "# Notes", "new_text": "# Mine"}),
        ),
        ("bg_start", json!({"command": "echo x > calc.py"})),
        (
            "bg_start",
            json!({"command": "sh -c 'while :; do echo x >> new.txt; done'"}),
        ),
        (
            "spawn_agent",
            json!({"role": "worker", "task": "write calc.py"}),
        ),
        (
            "mcp__files__write",
            json!({"path": "calc.py", "content": "x"}),
        ),
        ("apply_patch", json!({"input": "*** Begin Patch"})),
        (
            "str_replace_editor",
            json!({"command": "create", "path": "new.txt", "file_text": "x"}),
        ),
        ("send_file", json!({"path": "calc.py"})),
        (
            "plan",
            json!({"operation": "add_tasks", "tasks": [{"title": "x"}]}),
        ),
        ("plan", json!({"operation": "start"})),
        ("plan", json!({"operation": "approve"})),
        ("plan", json!({"operation": "discard"})),
        (
            "git_view",
            json!({"arguments": ["config", "user.name", "x"]}),
        ),
    ];
    if let Some(md) = md {
        found.extend([
            ("write_file", json!({"path": format!("{md}.bak"), "content": "x"})),
            ("write_file", json!({"path": md.replace(".md", ".json"), "content": "{}"})),
            ("edit_file", json!({"path": md.replace(".md", ".json"), "old_text": "Editing", "new_text": "Active"})),
        ]);
    }
    found
}

/// Everything that must not change, beside the workspace.
fn beside(rig: &Rig) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(&rig.base)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "home")
        .collect();
    names.sort();
    names
}

/// Makes the links that some attempts go through. Before anything is watched.
fn links(rig: &Rig) {
    symlink("calc.py", rig.ws().join("link.md")).unwrap();
    std::fs::hard_link(rig.ws().join("notes.md"), rig.ws().join("hard.md")).unwrap();
    std::fs::create_dir(rig.ws().join("sub")).unwrap();
    let dir = rig.home().join("session");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(
        dir.join(".greenlight_plan_4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10.md"),
        "other",
    )
    .unwrap();
}

/// Tries everything, some attempts a turn. Gives how many there were.
async fn try_all(rig: &Rig, md: Option<&str>, round: &str) -> usize {
    let tools = tools(rig, md);
    let shell = COMMANDS
        .iter()
        .map(|command| ("bash", json!({"command": command})));
    let attempts: Vec<(&str, Value)> = shell.chain(tools).collect();
    for (number, some) in attempts.chunks(8).enumerate() {
        let answer = format!("Tried {round} {number}.");
        // A look between two attempts, so that calls without sense do not end the turn as a streak.
        let one = |(tool, arguments): &(&str, Value)| {
            [
                call(tool, arguments.clone()),
                call("read_file", json!({"path": "calc.py"})),
            ]
        };
        let mut steps: Vec<Step> = some.iter().flat_map(one).collect();
        // Half of the chunks at once, in one batch.
        if number % 2 == 1 && some.iter().all(|(tool, _)| *tool == "bash") {
            steps = vec![calls(some)];
        }
        let last = answer.clone();
        rig.script.clear();
        rig.script.then(steps);
        rig.script.brain(move |_| say(&last));
        let mark = rig.mark();
        rig.say(&format!("Go on {number}"));
        rig.reply(mark, &answer).await;
        rig.settled(mark).await;
        assert_eq!(
            rig.script.left(),
            0,
            "{round} {number} ended early\n{}",
            rig.report()
        );
    }
    attempts.len()
}

/// Grants everything that can be granted before planning begins.
async fn grant(rig: &Rig) {
    let mark = rig.mark();
    rig.script.then([
        write("granted.txt", "x"),
        bash("mkdir granted"),
        say("Granted."),
    ]);
    rig.say("Get ready");
    let (card, id) = rig.approval(mark).await;
    rig.tap(card.id, &format!("always:{id}")).await;
    let (card, id) = rig.approval(card.id.0).await;
    rig.tap(card.id, &format!("always:{id}")).await;
    rig.reply(mark, "Granted.").await;
    rig.settled(mark).await;
    // What was granted holds: the next ones do not ask.
    rig.turn(
        "Once more",
        vec![
            write("granted.txt", "y"),
            bash("mkdir granted2"),
            say("No question asked."),
        ],
    )
    .await;
    assert!(rig.ws().join("granted2").exists());
}

fn confined() -> bool {
    let status = greenlight::tools::sandbox::probe();
    if !status.is_available() {
        eprintln!(
            "\n!!! this kernel cannot confine commands, so none ran before init: {status:?}\n"
        );
    }
    status.is_available()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_writes_before_a_plan_exists() {
    confined();
    let rig = Rig::setup().approvals("ask").start().await;
    grant(&rig).await;
    links(&rig);
    rig.plan_mode().await;
    let (before, around, mut watch) = (rig.picture(), beside(&rig), rig.watch());
    let count = try_all(&rig, None, "before").await;
    rig.say("/approvals yolo");
    rig.command("/status", "Approvals").await;
    let more = try_all(&rig, None, "again").await;
    assert!(count >= 60 && more >= 60, "{count}");
    assert_eq!(watch.events(), []);
    assert_eq!((rig.picture(), beside(&rig)), (before, around));
    let side = rig.sidecar_of_session();
    assert_eq!(side["pre_init_editing"], json!(true), "{side}");
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_but_the_prose_is_written_while_a_plan_is_edited() {
    let rig = Rig::setup().approvals("ask").start().await;
    grant(&rig).await;
    links(&rig);
    rig.turn("/plan Fix the adder", designer(PLAN)).await;
    rig.card("plan:ok").await;
    let md = rig.md_of_session().display().to_string();
    let (before, around, mut watch) = (rig.picture(), beside(&rig), rig.watch());
    let count = try_all(&rig, Some(&md), "editing").await;
    rig.say("/approvals yolo");
    rig.command("/status", "Approvals").await;
    try_all(&rig, Some(&md), "again").await;
    assert!(count >= 60, "{count}");
    assert_eq!(watch.events(), []);
    assert_eq!((rig.picture(), beside(&rig)), (before, around));
    assert_eq!(std::fs::read_to_string(&md).unwrap(), PLAN);
    let side = rig.sidecar_of_session();
    assert_eq!(
        (&side["status"], &side["tasks"]),
        (&json!("Editing"), &json!([]))
    );
    let other = rig
        .home()
        .join("session/.greenlight_plan_4b8f7d52-0c11-4c5e-9a54-7a1b7d1f5f10.md");
    assert_eq!(std::fs::read_to_string(other).unwrap(), "other");
    rig.finish().await;
}

async fn revise(rig: &Rig, answer: &str) -> Post {
    rig.turn(
        "Revise it",
        vec![write_md(&PLAN.replace("today", "now")), say(answer)],
    )
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prose_file_that_was_replaced_by_a_link_leads_nowhere() {
    let rig = Rig::new().await;
    rig.design().await;
    let md = rig.md();
    let before = rig.picture();
    // A hard link: the write replaces the name and leaves the other file alone.
    std::fs::remove_file(&md).unwrap();
    let aside = rig.base.join("aside.md");
    std::fs::copy(rig.ws().join("notes.md"), &aside).unwrap();
    std::fs::hard_link(&aside, &md).unwrap();
    revise(&rig, "First try.").await;
    assert_eq!(std::fs::read_to_string(&aside).unwrap(), "# Notes\n");
    // A symbolic link is refused.
    std::fs::remove_file(&md).unwrap();
    symlink(rig.ws().join("notes.md"), &md).unwrap();
    let mark = rig.mark();
    rig.script
        .then([look(|asked| write(&asked.md_path(), PLAN))]);
    rig.script.brain(|_| say("Second try."));
    rig.say("Again");
    rig.wait("an answer", |rig| {
        rig.messages()
            .into_iter()
            .find(|post| post.from_bot && post.id.0 > mark && !post.silent)
    })
    .await;
    rig.settled(mark).await;
    assert_eq!(rig.picture(), before);
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_granted_before_holds_again_after_the_plan() {
    let rig = Rig::setup().approvals("ask").start().await;
    grant(&rig).await;
    rig.plan_mode().await;
    rig.turn(
        "Try",
        vec![write("b.txt", "b"), say("Refused while planning.")],
    )
    .await;
    assert!(!rig.ws().join("b.txt").exists());
    rig.discard().await;
    rig.turn(
        "Now",
        vec![write("c.txt", "c"), bash("mkdir later"), say("Written.")],
    )
    .await;
    assert!(rig.ws().join("c.txt").exists() && rig.ws().join("later").exists());
    rig.finish().await;
}
