//! What the kernel keeps commands from doing.

use greenlight::domain::{CallStatus, SandboxProfile};

use super::{Bench, SECRET, picture};

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
        .bash(
            "echo x > new.txt && mkdir -p a/b && mv new.txt a/b && chmod 600 a/b/new.txt",
            SandboxProfile::Workspace,
        )
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
        assert_eq!(
            outcome.status,
            CallStatus::Failed,
            "{attempt}: {}",
            outcome.content
        );
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
            format!(
                "cat /proc/{parent}/root{}/db",
                bench.base().join("data").display()
            ),
            format!("kill -0 {parent}"),
        ] {
            let outcome = bench.bash(&attempt, profile).await;
            assert_eq!(
                outcome.status,
                CallStatus::Failed,
                "{attempt}: {}",
                outcome.content
            );
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
            assert_eq!(
                outcome.status,
                CallStatus::Failed,
                "{attempt}: {}",
                outcome.content
            );
        }
        bench.place.network = true;
        let outcome = bench.bash(&tcp, profile).await;
        assert_eq!(outcome.status, CallStatus::Ok, "{}", outcome.content);
    }
}
