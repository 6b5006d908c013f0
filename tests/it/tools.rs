//! Tools with real files, processes and the kernel sandbox.

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
        Self { root, toolbox, place }
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
            .run(permit(&call, profile), &call, &self.place, sender, CancellationToken::new())
            .await;
        drain.await.unwrap();
        outcome
    }

    async fn bash(&self, command: &str, profile: SandboxProfile) -> ToolOutcome {
        self.run("bash", json!({"command": command, "timeout_seconds": 20}), profile).await
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
        let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
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
            let mut children: Vec<_> = std::fs::read_dir(&path).unwrap().flatten().map(|e| e.path()).collect();
            children.sort();
            open.extend(children);
        }
    }
    all
}

/// Ways to change a workspace, its neighbours or the bot's data.
const ATTEMPTS: &[&str] = &[
    "echo x > keep.txt",
    "echo x >> keep.txt",
    "echo x > new.txt",
    ": > keep.txt",
    "true >| keep.txt",
    "exec 3<>keep.txt; echo x >&3",
    "rm keep.txt",
    "rm -rf src",
    "unlink keep.txt",
    "mv keep.txt moved.txt",
    "mv src source",
    "mv keep.txt \"$TMPDIR/\"",
    "cp keep.txt copy.txt",
    "cp /etc/hostname keep.txt",
    "ln keep.txt hard.txt",
    "ln keep.txt \"$TMPDIR/hard\" && echo x > \"$TMPDIR/hard\"",
    "ln -s keep.txt soft.txt",
    "ln -s \"$PWD/keep.txt\" \"$TMPDIR/s\"; echo x > \"$TMPDIR/s\"",
    "mkdir made",
    "mkdir -p src/a/b/c",
    "rmdir .git/refs",
    "touch keep.txt",
    "touch -d 2001-01-01 keep.txt",
    "touch -h link",
    "touch new.txt",
    "chmod 777 keep.txt",
    "chmod -R 700 .",
    "chmod u+s src/main.rs",
    "chown 1:1 keep.txt",
    "chgrp 1 keep.txt",
    "chown -h 1:1 link",
    "truncate -s 0 keep.txt",
    "truncate -s 100 keep.txt",
    "dd if=/dev/zero of=keep.txt bs=1 count=1",
    "dd if=/dev/zero of=keep.txt bs=1 count=1 conv=notrunc",
    "tee keep.txt < /dev/null",
    "sed -i s/keep/gone/ keep.txt",
    "install -m 644 /etc/hostname installed",
    "mknod node p",
    "mkfifo fifo",
    "mknod device c 1 3",
    "tar -C \"$TMPDIR\" -cf t.tar .",
    "tar -cf \"$TMPDIR/t.tar\" keep.txt && tar -xf \"$TMPDIR/t.tar\"",
    "perl -e 'open F, \">keep.txt\"; print F \"x\"'",
    "perl -e 'truncate \"keep.txt\", 1'",
    "perl -e 'utime 1, 1, \"keep.txt\"'",
    "perl -e 'rename \"keep.txt\", \"k2\"'",
    "perl -e 'chmod 0600, \"keep.txt\"'",
    "python3 -c 'import os; os.utime(\"keep.txt\", (1, 1))'",
    "python3 -c 'import os; os.setxattr(\"keep.txt\", \"user.a\", b\"b\")'",
    "python3 -c 'import os; f = os.open(\"keep.txt\", os.O_RDONLY); os.utime(f, (1, 1))'",
    "python3 -c 'import os; f = os.open(\"keep.txt\", os.O_RDONLY); os.fchmod(f, 0o600)'",
    "git init -q .",
    "git init -q sub",
    "git config user.name x",
    "find . -name keep.txt -delete",
    "find . -name keep.txt -exec rm {} \\;",
    "echo keep.txt | xargs rm",
    "bash -c 'bash -c \"rm keep.txt\"'",
    "env -i /bin/rm keep.txt",
    "nohup sh -c 'echo x > keep.txt' >/dev/null 2>&1",
    "(setsid sh -c 'echo x > keep.txt' &) ; true",
    "cd /; echo x > \"$OLDPWD/keep.txt\"",
    "echo x > /proc/self/cwd/keep.txt",
    "mount --bind /etc src",
    "unshare -Urm sh -c 'mount -t tmpfs none src && echo x > src/y; echo x > keep.txt'",
    "echo x > link/file",
    "echo x > ../outside/new",
    "rm ../outside/file",
    "chmod 600 ../outside/file",
    "echo x > ../data/db",
    "rm -rf ../data",
    "ln -s /etc/passwd ../outside/p",
    "mv ../outside ../moved",
];

#[tokio::test]
async fn no_command_of_the_read_only_profile_changes_anything() {
    let bench = Bench::new();
    if !bench.confined() {
        return;
    }
    let before = picture(&bench.base());
    let mut changed = Vec::new();
    for attempt in ATTEMPTS {
        let outcome = bench.bash(attempt, SandboxProfile::ReadOnly).await;
        if outcome.changed || picture(&bench.base()) != before {
            changed.push(format!("{attempt}: {}", outcome.content));
        }
        assert!(!bench.root.path().join("data/session/outputs").exists());
    }
    assert!(ATTEMPTS.len() >= 60);
    assert!(changed.is_empty(), "{changed:#?}");
}

#[tokio::test]
async fn the_read_only_profile_reads_and_uses_its_temporary_directory() {
    let bench = Bench::new();
    if !bench.confined() {
        return;
    }
    let outcome = bench
        .bash(
            "cat keep.txt && ls / > /dev/null; head -1 /etc/passwd && echo t > $TMPDIR/t && cat $TMPDIR/t && ls",
            SandboxProfile::ReadOnly,
        )
        .await;
    assert_eq!(outcome.status, CallStatus::Ok, "{}", outcome.content);
    assert!(outcome.content.contains("keep") && outcome.content.contains("root:"));
    assert!(!outcome.changed);
}

#[tokio::test]
async fn the_workspace_profile_writes_inside_and_nowhere_else() {
    let bench = Bench::new();
    if !bench.confined() {
        return;
    }
    let outcome = bench
        .bash("echo x > new.txt && mkdir -p a/b && mv new.txt a/b && chmod 600 a/b/new.txt", SandboxProfile::Workspace)
        .await;
    assert_eq!(outcome.status, CallStatus::Ok, "{}", outcome.content);
    assert!(outcome.changed);
    let outside = picture(&bench.base().join("outside"));
    let data = picture(&bench.base().join("data"));
    for attempt in [
        "echo x > ../outside/new",
        "echo x > link/new",
        "rm ../outside/file",
        "mv ../outside/file .",
        "ln ../outside/file hard",
        "echo x > ../data/db",
        "rm -r ../data",
    ] {
        let outcome = bench.bash(attempt, SandboxProfile::Workspace).await;
        assert_eq!(outcome.status, CallStatus::Failed, "{attempt}: {}", outcome.content);
    }
    assert_eq!(picture(&bench.base().join("outside")), outside);
    assert_eq!(picture(&bench.base().join("data")), data);
}

#[tokio::test]
async fn the_bots_own_data_is_unreadable_in_both_profiles() {
    let bench = Bench::new();
    if !bench.confined() {
        return;
    }
    let parent = std::process::id();
    for profile in [SandboxProfile::ReadOnly, SandboxProfile::Workspace] {
        for attempt in [
            "cat ../data/db".to_owned(),
            "cat data/db".to_owned(),
            "ls ../data".to_owned(),
            "cp ../data/db $TMPDIR/".to_owned(),
            format!("cat /proc/{parent}/environ"),
            format!("cat /proc/{parent}/root{}/db", bench.base().join("data").display()),
            format!("kill -0 {parent}"),
        ] {
            let outcome = bench.bash(&attempt, profile).await;
            assert_eq!(outcome.status, CallStatus::Failed, "{attempt}: {}", outcome.content);
            assert!(!outcome.content.contains(SECRET), "{attempt}");
        }
    }
}

#[tokio::test]
async fn no_network_is_reached_unless_it_is_allowed() {
    let mut bench = Bench::new();
    if !bench.confined() {
        return;
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let tcp = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let udp = format!("exec 3<>/dev/udp/127.0.0.1/{port}");
    for profile in [SandboxProfile::ReadOnly, SandboxProfile::Workspace] {
        bench.place.network = false;
        for attempt in [&tcp, &udp] {
            let outcome = bench.bash(attempt, profile).await;
            assert_eq!(outcome.status, CallStatus::Failed, "{attempt}: {}", outcome.content);
        }
        bench.place.network = true;
        let outcome = bench.bash(&tcp, profile).await;
        assert_eq!(outcome.status, CallStatus::Ok, "{}", outcome.content);
    }
}

#[tokio::test]
async fn a_command_gets_no_secret_from_the_environment() {
    let bench = Bench::new();
    let outcome = bench.bash("env; echo password hunter2", SandboxProfile::Off).await;
    for name in ["CARGO_PKG_NAME", "CARGO_BIN_EXE", "TELEGRAM", "TOKEN="] {
        assert!(!outcome.content.contains(name), "{name}: {}", outcome.content);
    }
    assert!(outcome.content.contains("password •••"));
    assert!(outcome.content.contains("<n0 command output>"));
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim().chars().next();
    !matches!(state, None | Some('Z' | 'X'))
}

#[tokio::test]
async fn a_timeout_kills_everything_the_command_started() {
    let bench = Bench::new();
    let command = "trap '' TERM; sleep 300 & echo $! > a.pid; setsid sleep 300 & echo $! > b.pid; \
        (setsid sh -c 'trap \"\" TERM; echo $$ > c.pid; sleep 300' &); while true; do sleep 1; done";
    let started = Instant::now();
    let outcome = bench
        .run("bash", json!({"command": command, "timeout_seconds": 1}), SandboxProfile::Off)
        .await;
    assert_eq!(outcome.status, CallStatus::Failed);
    assert!(outcome.content.contains("killed after 1 s"), "{}", outcome.content);
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    for file in ["a.pid", "b.pid", "c.pid"] {
        let pid = std::fs::read_to_string(bench.place.workspace.join(file)).unwrap();
        assert!(!is_alive(&pid), "{file}");
    }
}

#[tokio::test]
async fn a_cancelled_command_is_gone_within_two_seconds() {
    let bench = Bench::new();
    let call = call("bash", &json!({"command": "trap '' TERM; echo ready; sleep 300 & wait; sleep 300"}));
    let (sender, mut receiver) = mpsc::channel(8);
    let cancel = CancellationToken::new();
    let (toolbox, place, token) = (bench.toolbox.clone(), bench.place.clone(), cancel.clone());
    let task = tokio::spawn(async move {
        toolbox
            .run(permit(&call, SandboxProfile::Off), &call, &place, sender, token)
            .await
    });
    assert_eq!(receiver.recv().await.as_deref(), Some("ready"));
    let cancelled = Instant::now();
    cancel.cancel();
    let outcome = task.await.unwrap();
    assert_eq!(outcome.status, CallStatus::Cancelled);
    assert!(cancelled.elapsed() < Duration::from_secs(3), "{:?}", cancelled.elapsed());
}

#[tokio::test]
async fn a_flood_of_output_is_stored_and_shown_in_part() {
    let bench = Bench::new();
    let outcome = bench.bash("echo first; seq 1 20000; echo last", SandboxProfile::Off).await;
    assert_eq!(outcome.status, CallStatus::Ok);
    assert!(outcome.content.len() < 40 * 1024, "{}", outcome.content.len());
    assert!(outcome.content.contains("first\n1\n2\n") && outcome.content.contains("20000\nlast"));
    let files: Vec<_> = std::fs::read_dir(bench.place.session_dir.join("outputs")).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let path = files[0].path();
    assert!(outcome.content.contains(path.to_str().unwrap()));
    let read = bench
        .run("read_file", json!({"path": path, "start_line": 15000, "end_line": 15000}), SandboxProfile::ReadOnly)
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
        .run(permit, &other, &bench.place, sender, CancellationToken::new())
        .await;
    assert_eq!(outcome.status, CallStatus::Refused);
    assert!(!bench.place.workspace.join("made").exists());
}

#[tokio::test]
async fn file_tools_stay_in_the_workspace_and_off_protected_paths() {
    let bench = Bench::new();
    let before = picture(&bench.base());
    for path in ["link/new", "link/file", "../outside/file", "/etc/hostname", "data/db", "../data/db", ".ssh/id_rsa"] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old_text": "o", "new_text": "x"})),
            ("list_dir", json!({"path": path})),
            ("grep", json!({"pattern": "x", "path": path})),
            ("send_file", json!({"path": path})),
        ] {
            let outcome = bench.run(tool, arguments.clone(), SandboxProfile::Workspace).await;
            assert_ne!(outcome.status, CallStatus::Ok, "{tool} {path}");
            assert!(!outcome.content.contains(SECRET));
            assert!(bench.toolbox.inspect(&call(tool, &arguments), &bench.place).is_err(), "{tool} {path}");
        }
    }
    assert_eq!(picture(&bench.base()), before);
    let outcome = bench
        .run("write_file", json!({"path": "new", "content": "x"}), SandboxProfile::ReadOnly)
        .await;
    assert_eq!(outcome.status, CallStatus::Refused);
    assert_eq!(picture(&bench.base()), before);
}

#[tokio::test]
async fn files_are_written_edited_found_and_read() {
    let bench = Bench::new();
    let usual = SandboxProfile::Workspace;
    let write = json!({"path": "src/lib.rs", "content": "pub fn one() {}\n"});
    let seen = bench.toolbox.inspect(&call("write_file", &write), &bench.place).unwrap();
    assert_eq!(seen.class, ActionClass::WorkspaceWrite);
    assert_eq!(seen.targets, [bench.base().join("ws/src/lib.rs")]);
    assert!(seen.card.text.contains("+pub fn one() {}"), "{}", seen.card.text);
    assert!(bench.run("write_file", write, usual).await.changed);
    let edit = json!({"path": "src/lib.rs", "old_text": "one", "new_text": "two"});
    assert!(bench.run("edit_file", edit, usual).await.changed);
    let found = bench.run("grep", json!({"pattern": r"fn \w+\(\)", "glob": "*.rs"}), usual).await;
    assert!(found.content.contains("src/lib.rs:1: pub fn two() {}"), "{}", found.content);
    let found = bench.run("glob", json!({"pattern": "*.rs"}), usual).await;
    assert!(found.content.contains("src/lib.rs") && found.content.contains("src/main.rs"));
    let listed = bench.run("list_dir", json!({}), usual).await;
    assert!(listed.content.contains("src/") && listed.content.contains("keep.txt (5 bytes)"));
    let git = call("write_file", &json!({"path": ".git/hooks/pre-commit", "content": "x"}));
    assert_eq!(bench.toolbox.inspect(&git, &bench.place).unwrap().class, ActionClass::Destructive);
}

#[tokio::test]
async fn background_commands_are_read_and_stopped() {
    let bench = Bench::new();
    let off = SandboxProfile::Off;
    let command = "echo up; echo $$ > bg.pid; sleep 300";
    let started = bench.run("bg_start", json!({"command": command}), off).await;
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
    assert_eq!(bench.toolbox.stop_background(&bench.place.session_dir, false), 1);
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
        let outcome = bench.run("git_view", arguments, SandboxProfile::ReadOnly).await;
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
    assert!(bench.toolbox.descriptors().iter().all(|tool| tool.name != "web_fetch"));
    let arguments = json!({"url": "http://127.0.0.1:1/"});
    let outcome = bench.run("web_fetch", arguments.clone(), SandboxProfile::Off).await;
    assert_eq!(outcome.status, CallStatus::Refused);
    let toolbox = Toolbox::new(ToolboxOptions {
        settings: ToolSettings { web_fetch: true, ..ToolSettings::default() },
        helper: PathBuf::new(),
        redactor: Arc::new(|text: &str| text.to_owned()),
        wrap: Arc::new(|_: &str, _: &str, body: &str| body.to_owned()),
        protected: Vec::new(),
    });
    let error = toolbox.inspect(&call("web_fetch", &arguments), &bench.place).unwrap_err();
    assert!(error.contains("private"), "{error}");
}
