use super::*;

#[test]
fn real_checks_are_accepted() {
    for command in [
        "npm test",
        "CI=1 npm test",
        "./scripts/smoke.sh",
        "../x/check.sh",
        "grep -q expected file",
        "grep -q x f",
        "node --check f.js",
        "cat a | grep -q x",
        "cargo test --all",
        "/usr/bin/test -f x",
        "test -f x",
        "[ -s out.txt ]",
        "[[ -f x && -d y ]]",
        "cd sub && npm test",
        "cd sub; npm test",
        "echo start && cargo build",
        "npm test || exit 1",
        "npm test || { echo failed; exit 1; }",
        "npm test || exit 1; echo done",
        "! grep -q TODO src/a.rs",
        "bash -c 'npm test'",
        "sh -lc \"cd x && make check\"",
        "sh scripts/check.sh",
        "env CI=1 npm test",
        "timeout 60 npm test",
        "timeout -k 5 60 npm test",
        "sudo -u app npm test",
        "time cargo test",
        "(cd sub && pytest -q)",
        "set -euo pipefail; npm test | tee log",
        "set -e; npm test; echo done",
        "bash -ec 'npm test; echo done'",
        "if npm test; then exit 0; else exit 1; fi",
        "for f in a b; do node --check $f; done",
        "test -z \"$(git status --porcelain)\"",
        "git diff --exit-code",
        "python -c 'import app'",
        "python3 -m pytest",
        "python manage.py test",
        "npx tsc --noEmit",
        "make test",
        "out=$(npm test)",
        "check() { npm test; }; check",
        "npm run lint -- --max-warnings 0",
        "curl -fsS http://localhost:8080/health",
        "diff expected.txt actual.txt",
        "xargs -n1 node --check < files.txt",
        "npm test; exit $?",
        "cargo fmt --check && cargo clippy -- -D warnings",
        "go test ./...",
        "rustc --test x.rs",
        "eval 'npm test'",
    ] {
        assert_eq!(is_meaningful(command), Ok(()), "{command}");
    }
}

#[test]
fn commands_that_cannot_tell_anything_are_refused() {
    for command in [
        "echo done",
        "FOO=1 echo done",
        "printf ok",
        "pwd",
        "ls -la",
        "ls",
        "cat f",
        "true",
        ":",
        "command -v node",
        "exit 0",
        "sleep 1",
        "git status",
        "git log -1",
        "git diff",
        "git -C sub status",
        "echo done && true",
        "echo a && true",
        "echo a; echo b",
        "cat f > /dev/null",
        "> out.txt",
        "X=1",
        "X=$(echo a)",
        "npm test || true",
        "npm test | cat",
        "npm test | tee log",
        "npm test; echo done",
        "npm test; exit 0",
        "npm test && exit 0; echo done",
        "npm test || exit 0; echo done",
        "exit 0; npm test",
        "npm test &",
        "env",
        "env FOO=1",
        "env FOO=1 echo done",
        "env -i echo done",
        "sh -c 'echo done'",
        "bash -lc \"true\"",
        "sh -c 'sh -c \"true\"'",
        "(echo done)",
        "{ echo done; }",
        "( ( true ) )",
        "/bin/echo done",
        "/usr/bin/true",
        "'echo' done",
        "e\\cho done",
        "\"tr\"ue",
        "sudo echo x",
        "timeout 5 echo done",
        "nice -n 5 true",
        "time true",
        "xargs echo < f",
        "eval 'echo done'",
        "builtin echo x",
        "command echo x",
        "if true; then echo a; fi",
        "if npm test; then true; else true; fi",
        "for f in a b; do echo $f; done",
        "while sleep 1; do echo; done",
        "f() { echo done; }; f",
        "npm() { true; }; npm test",
        "node --version",
        "npm -v",
        "cargo --help",
        "python -c 'print(1)'",
        "node -e \"console.log('ok')\"",
        "perl -e 1",
        "awk 'BEGIN{print 1}'",
        "test 1 = 1",
        "[ 1 -eq 1 ]",
        "[[ a == a ]]",
        "test -n \"$(echo a)\"",
        "(( 1 ))",
        "cat <<E\nnpm test\nE",
        "echo \"$(npm test)\"",
        "touch x && rm x",
        "find . -name x",
        "git status && echo ok",
        "set -e",
    ] {
        assert_eq!(is_meaningful(command), Err(Why::Trivial), "{command}");
    }
}

#[test]
fn prose_is_refused() {
    for command in [
        "Run the tests",
        "run the tests",
        "run all tests",
        "Verify it works",
        "verify it works",
        "npm test passes",
        "make sure it works",
        "check the output",
        "the tests pass and it is green",
        "Запустить тесты",
        "تشغيل الاختبارات",
        "manually open the page",
        "cargo test succeeds without errors",
    ] {
        assert_eq!(is_meaningful(command), Err(Why::Prose), "{command}");
    }
}

#[test]
fn programs_that_are_computed_or_never_pass_are_refused() {
    for command in [
        "$CMD",
        "X=echo; $X done",
        "`which npm` test",
        "/bin/ech? a",
        "{echo,done}",
        "echo true | bash",
        "bash",
        "sh -c \"$X\"",
    ] {
        assert_eq!(is_meaningful(command), Err(Why::Dynamic), "{command}");
    }
    for command in ["false", "exit 1", "! true", "npm test && false"] {
        assert_eq!(is_meaningful(command), Err(Why::NeverPasses), "{command}");
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    assert_eq!(is_meaningful(""), Err(Why::Empty));
    assert_eq!(is_meaningful(" \n"), Err(Why::Empty));
    assert_eq!(is_meaningful("# npm test"), Err(Why::Empty));
    for command in ["npm test &&", "(npm test", "if npm test; then", "echo 'a"] {
        assert_eq!(is_meaningful(command), Err(Why::NotShell), "{command}");
    }
    let long = format!("npm test {}", "x".repeat(MAX_COMMAND_BYTES));
    assert_eq!(is_meaningful(&long), Err(Why::TooComplex));
    for open in [
        "(",
        "{ ",
        "$(",
        "\"$(",
        "${x:-",
        "((",
        "if true; then (",
        "case x in x) (",
        "! ",
        "if ",
        "`",
        "\"",
        "f() ",
        "[[ ( ",
        "a && ",
        "a | ",
        "$((",
        "<(",
        "a <<E\n",
    ] {
        // Far too many, and as many as are still looked at.
        for times in [MAX_COMMAND_BYTES / open.len(), 20, 12] {
            assert!(
                is_meaningful(&open.repeat(times)).is_err(),
                "{open} x {times}"
            );
        }
    }
}
