//! Tools with real files, processes and the kernel sandbox.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stops at what it did not expect, and says loudly what it skips"
)]

mod confined;

use std::fmt::Write as _;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use greenlight::config::ToolSettings;
use greenlight::domain::{
    ActionClass, CallId, CallStatus, Effects, SandboxProfile, ToolCall, ToolOutcome,
};
use greenlight::plan::gate::{self, Ask, Permit, Verdict};
use greenlight::tools::{Place, Toolbox, ToolboxOptions};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const SECRET: &str = "SECRET-0123456789";

struct Bench {
    root: tempfile::TempDir,
    toolbox: Toolbox,
    place: Place,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("tools-")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .unwrap();
        let base = root.path().canonicalize().unwrap();
        for dir in ["ws/src", "ws/.git/refs", "data/session", "outside"] {
            std::fs::create_dir_all(base.join(dir)).unwrap();
        }
        std::fs::write(base.join("ws/src/main.rs"), "fn main() {\n    work();\n}\n").unwrap();
        std::fs::write(base.join("ws/keep.txt"), "keep\n").unwrap();
        std::fs::write(base.join("data/db"), SECRET).unwrap();
        std::fs::write(base.join("outside/file"), "outside\n").unwrap();
        symlink(base.join("outside"), base.join("ws/link")).unwrap();
        symlink(base.join("data"), base.join("ws/data")).unwrap();
        let toolbox = Toolbox::new(ToolboxOptions {
            settings: ToolSettings::default(),
            helper: env!("CARGO_BIN_EXE_greenlight").into(),
            redactor: Arc::new(|text: &str| text.replace("hunter2", "•••")),
            wrap: Arc::new(|nonce: &str, source: &str, body: &str| {
                format!("<{nonce} {source}>\n{body}\n</{nonce}>")
            }),
            protected: vec![base.join("data")],
        });
        let place = Place {
            workspace: base.join("ws"),
            session_dir: base.join("data/session"),
            nonce: "n0".to_owned(),
            plan_md: None,
            network: false,
        };
        Self {
            root,
            toolbox,
            place,
        }
    }

    fn base(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    async fn run(&self, tool: &str, arguments: Value, profile: SandboxProfile) -> ToolOutcome {
        let (sender, mut receiver) = mpsc::channel(64);
        let drain = tokio::spawn(async move { while receiver.recv().await.is_some() {} });
        let call = call(tool, &arguments);
        let outcome = self
            .toolbox
            .run(
                permit(&call, profile),
                &call,
                &self.place,
                sender,
                CancellationToken::new(),
            )
            .await;
        drain.await.unwrap();
        outcome
    }

    async fn bash(&self, command: &str, profile: SandboxProfile) -> ToolOutcome {
        self.run(
            "bash",
            json!({"command": command, "timeout_seconds": 20}),
            profile,
        )
        .await
    }

    /// Whether the kernel can confine commands; says so loudly when it cannot.
    fn confined(&self) -> bool {
        let status = self.toolbox.sandbox();
        if !status.is_available() {
            eprintln!("\n!!! SKIPPED: this kernel cannot confine commands: {status:?}\n");
        }
        status.is_available()
    }
}

fn call(tool: &str, arguments: &Value) -> ToolCall {
    ToolCall {
        id: CallId::from("c1"),
        name: tool.to_owned(),
        arguments: arguments.to_string(),
    }
}

fn permit(call: &ToolCall, profile: SandboxProfile) -> Permit {
    let ask = Ask {
        call: &call.id,
        tool: &call.name,
        effects: Effects::Exec,
        class: ActionClass::Exec,
        operation: None,
        writes_plan_md: false,
        sandbox: true,
        unsandboxed_preinit: false,
        read_only_role: false,
    };
    gate::permit(&ask, &Verdict::Allow(profile), false, profile).unwrap()
}

/// Everything that can be told of a tree: names, kinds, sizes, content, modes, owners and times.
fn picture(root: &Path) -> String {
    let mut all = String::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        let meta = path.symlink_metadata().unwrap();
        let content = if meta.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        writeln!(
            all,
            "{} {:o} {} {} {} {}.{} {}.{} {content:?}",
            path.display(),
            meta.mode(),
            meta.uid(),
            meta.ino(),
            meta.nlink(),
            meta.mtime(),
            meta.mtime_nsec(),
            meta.ctime(),
            meta.ctime_nsec(),
        )
        .unwrap();
        if meta.is_dir() {
            let mut children: Vec<_> = std::fs::read_dir(&path)
                .unwrap()
                .flatten()
                .map(|e| e.path())
                .collect();
            children.sort();
            open.extend(children);
        }
    }
    all
}

#[tokio::test]
async fn a_command_gets_no_secret_from_the_environment() {
    let bench = Bench::new();
    let outcome = bench
        .bash("env; echo password hunter2", SandboxProfile::Off)
        .await;
    for name in ["CARGO_PKG_NAME", "CARGO_BIN_EXE", "TELEGRAM", "TOKEN="] {
        assert!(
            !outcome.content.contains(name),
            "{name}: {}",
            outcome.content
        );
    }
    assert!(outcome.content.contains("password •••"));
    assert!(outcome.content.contains("<n0 command output>"));
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .trim()
        .chars()
        .next();
    !matches!(state, None | Some('Z' | 'X'))
}

#[tokio::test]
async fn a_timeout_kills_everything_the_command_started() {
    let bench = Bench::new();
    let command = "trap '' TERM; sleep 300 & echo $! > a.pid; setsid sleep 300 & echo $! > b.pid; \
        (setsid sh -c 'trap \"\" TERM; echo $$ > c.pid; sleep 300' &); while true; do sleep 1; done";
    let started = Instant::now();
    let outcome = bench
        .run(
            "bash",
            json!({"command": command, "timeout_seconds": 1}),
            SandboxProfile::Off,
        )
        .await;
    assert_eq!(outcome.status, CallStatus::Failed);
    assert!(
        outcome.content.contains("killed after 1 s"),
        "{}",
        outcome.content
    );
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
    for file in ["a.pid", "b.pid", "c.pid"] {
        let pid = std::fs::read_to_string(bench.place.workspace.join(file)).unwrap();
        assert!(!is_alive(&pid), "{file}");
    }
}

#[tokio::test]
async fn a_cancelled_command_is_gone_within_two_seconds() {
    let bench = Bench::new();
    let call = call(
        "bash",
        &json!({"command": "trap '' TERM; echo ready; sleep 300 & wait; sleep 300"}),
    );
    let (sender, mut receiver) = mpsc::channel(8);
    let cancel = CancellationToken::new();
    let (toolbox, place, token) = (bench.toolbox.clone(), bench.place.clone(), cancel.clone());
    let task = tokio::spawn(async move {
        toolbox
            .run(
                permit(&call, SandboxProfile::Off),
                &call,
                &place,
                sender,
                token,
            )
            .await
    });
    assert_eq!(receiver.recv().await.as_deref(), Some("ready"));
    let cancelled = Instant::now();
    cancel.cancel();
    let outcome = task.await.unwrap();
    assert_eq!(outcome.status, CallStatus::Cancelled);
    assert!(
        cancelled.elapsed() < Duration::from_secs(3),
        "{:?}",
        cancelled.elapsed()
    );
}

#[tokio::test]
async fn a_flood_of_output_is_stored_and_shown_in_part() {
    let bench = Bench::new();
    let outcome = bench
        .bash("echo first; seq 1 20000; echo last", SandboxProfile::Off)
        .await;
    assert_eq!(outcome.status, CallStatus::Ok);
    assert!(
        outcome.content.len() < 40 * 1024,
        "{}",
        outcome.content.len()
    );
    assert!(outcome.content.contains("first\n1\n2\n") && outcome.content.contains("20000\nlast"));
    let files: Vec<_> = std::fs::read_dir(bench.place.session_dir.join("outputs"))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(files.len(), 1);
    let path = files[0].path();
    assert!(outcome.content.contains(path.to_str().unwrap()));
    let read = bench
        .run(
            "read_file",
            json!({"path": path, "start_line": 15000, "end_line": 15000}),
            SandboxProfile::ReadOnly,
        )
        .await;
    assert!(read.content.contains("15000\t14999"), "{}", read.content);
}

#[tokio::test]
async fn a_permit_opens_only_its_own_call() {
    let bench = Bench::new();
    let mut other = call("bash", &json!({"command": "touch made"}));
    let permit = permit(&other, SandboxProfile::Off);
    other.id = CallId::from("c2");
    let (sender, _receiver) = mpsc::channel(1);
    let outcome = bench
        .toolbox
        .run(
            permit,
            &other,
            &bench.place,
            sender,
            CancellationToken::new(),
        )
        .await;
    assert_eq!(outcome.status, CallStatus::Refused);
    assert!(!bench.place.workspace.join("made").exists());
}

#[tokio::test]
async fn file_tools_stay_in_the_workspace_and_off_protected_paths() {
    let bench = Bench::new();
    let before = picture(&bench.base());
    for path in [
        "link/new",
        "link/file",
        "../outside/file",
        "/etc/hostname",
        "data/db",
        "../data/db",
        ".ssh/id_rsa",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            (
                "edit_file",
                json!({"path": path, "old_text": "o", "new_text": "x"}),
            ),
            ("list_dir", json!({"path": path})),
            ("grep", json!({"pattern": "x", "path": path})),
            ("send_file", json!({"path": path})),
        ] {
            let outcome = bench
                .run(tool, arguments.clone(), SandboxProfile::Workspace)
                .await;
            assert_ne!(outcome.status, CallStatus::Ok, "{tool} {path}");
            assert!(!outcome.content.contains(SECRET));
            assert!(
                bench
                    .toolbox
                    .inspect(&call(tool, &arguments), &bench.place)
                    .is_err(),
                "{tool} {path}"
            );
        }
    }
    assert_eq!(picture(&bench.base()), before);
    let outcome = bench
        .run(
            "write_file",
            json!({"path": "new", "content": "x"}),
            SandboxProfile::ReadOnly,
        )
        .await;
    assert_eq!(outcome.status, CallStatus::Refused);
    assert_eq!(picture(&bench.base()), before);
}

#[tokio::test]
async fn files_are_written_edited_found_and_read() {
    let bench = Bench::new();
    let usual = SandboxProfile::Workspace;
    let write = json!({"path": "src/lib.rs", "content": "pub fn one() {}\n"});
    let seen = bench
        .toolbox
        .inspect(&call("write_file", &write), &bench.place)
        .unwrap();
    assert_eq!(seen.class, ActionClass::WorkspaceWrite);
    assert_eq!(seen.targets, [bench.base().join("ws/src/lib.rs")]);
    assert!(
        seen.card.text.contains("+pub fn one() {}"),
        "{}",
        seen.card.text
    );
    assert!(bench.run("write_file", write, usual).await.changed);
    let edit = json!({"path": "src/lib.rs", "old_text": "one", "new_text": "two"});
    assert!(bench.run("edit_file", edit, usual).await.changed);
    let found = bench
        .run(
            "grep",
            json!({"pattern": r"fn \w+\(\)", "glob": "*.rs"}),
            usual,
        )
        .await;
    assert!(
        found.content.contains("src/lib.rs:1: pub fn two() {}"),
        "{}",
        found.content
    );
    let found = bench.run("glob", json!({"pattern": "*.rs"}), usual).await;
    assert!(found.content.contains("src/lib.rs") && found.content.contains("src/main.rs"));
    let listed = bench.run("list_dir", json!({}), usual).await;
    assert!(listed.content.contains("src/") && listed.content.contains("keep.txt (5 bytes)"));
    let git = call(
        "write_file",
        &json!({"path": ".git/hooks/pre-commit", "content": "x"}),
    );
    assert_eq!(
        bench.toolbox.inspect(&git, &bench.place).unwrap().class,
        ActionClass::Destructive
    );
}

#[tokio::test]
async fn background_commands_are_read_and_stopped() {
    let bench = Bench::new();
    let off = SandboxProfile::Off;
    let command = "echo up; echo $$ > bg.pid; sleep 300";
    let started = bench
        .run("bg_start", json!({"command": command}), off)
        .await;
    assert!(started.content.contains("bg1"), "{}", started.content);
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let look = bench.run("bg_output", json!({"name": "bg1"}), off).await;
        if look.content.contains("up") && bench.place.workspace.join("bg.pid").exists() {
            break;
        }
        assert!(Instant::now() < until, "{}", look.content);
        tokio::task::yield_now().await;
    }
    assert_eq!(
        bench
            .toolbox
            .stop_background(&bench.place.session_dir, false),
        1
    );
    loop {
        let look = bench.run("bg_output", json!({"name": "bg1"}), off).await;
        if look.content.contains("It was stopped.") {
            break;
        }
        assert!(Instant::now() < until, "{}", look.content);
        tokio::task::yield_now().await;
    }
    let pid = std::fs::read_to_string(bench.place.workspace.join("bg.pid")).unwrap();
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn a_repository_cannot_start_programs_while_it_is_viewed() {
    let bench = Bench::new();
    let setup = "rm -rf .git && git init -q . && echo '*.txt filter=evil diff=evil' > .gitattributes && \
        git add keep.txt .gitattributes && git -c user.name=a -c user.email=a@b commit -qm first && \
        for k in filter.evil.clean filter.evil.smudge diff.evil.textconv diff.evil.command diff.external \
        core.fsmonitor core.pager; do git config $k \"sh -c 'touch $PWD/pwned; cat'\"; done; echo more >> keep.txt";
    let outcome = bench.bash(setup, SandboxProfile::Off).await;
    assert_eq!(outcome.status, CallStatus::Ok, "{}", outcome.content);
    for (command, arguments) in [
        ("status", json!([])),
        ("diff", json!([])),
        ("log", json!(["-p"])),
        ("show", json!(["HEAD"])),
        ("blame", json!(["keep.txt"])),
    ] {
        let arguments = json!({"command": command, "arguments": arguments});
        let outcome = bench
            .run("git_view", arguments, SandboxProfile::ReadOnly)
            .await;
        if bench.toolbox.sandbox().is_available() {
            assert!(!bench.place.workspace.join("pwned").exists(), "{command}");
        }
        if matches!(command, "log" | "show") {
            assert_eq!(outcome.status, CallStatus::Ok, "{}", outcome.content);
            assert!(outcome.content.contains("first"));
        }
    }
}

#[tokio::test]
async fn the_web_is_off_and_private_addresses_stay_closed() {
    let bench = Bench::new();
    assert!(
        bench
            .toolbox
            .descriptors()
            .iter()
            .all(|tool| tool.name != "web_fetch")
    );
    let arguments = json!({"url": "http://127.0.0.1:1/"});
    let outcome = bench
        .run("web_fetch", arguments.clone(), SandboxProfile::Off)
        .await;
    assert_eq!(outcome.status, CallStatus::Refused);
    let toolbox = Toolbox::new(ToolboxOptions {
        settings: ToolSettings {
            web_fetch: true,
            ..ToolSettings::default()
        },
        helper: PathBuf::new(),
        redactor: Arc::new(|text: &str| text.to_owned()),
        wrap: Arc::new(|_: &str, _: &str, body: &str| body.to_owned()),
        protected: Vec::new(),
    });
    let error = toolbox
        .inspect(&call("web_fetch", &arguments), &bench.place)
        .unwrap_err();
    assert!(error.contains("private"), "{error}");
}
