//! Commands by name.

use super::names::{ALWAYS, INTERPRETERS, SHELLS, VERBS, WRAPPERS};
use super::words::{self, Arg};
use super::{Found, found, git, judge};

/// Judges a command and its arguments; `fed` tells that its input comes from somewhere.
pub(super) fn judge_args(args: &[Arg], fed: bool, depth: usize) -> Found {
    let Some((name, rest)) = args.split_first() else {
        return Ok(());
    };
    if !name.sure {
        return found("which command runs is not certain");
    }
    let base = name.base();
    if ALWAYS.contains(&base) || base.starts_with("mkfs.") {
        return found(format!("{base} destroys or cannot be read"));
    }
    if let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == base) {
        return wrapper(base, rest, valued, fed, depth);
    }
    if SHELLS.contains(&base) {
        return shell(rest, fed, depth);
    }
    if INTERPRETERS.contains(&base) || versioned(base) {
        return interpreter(base, rest, fed);
    }
    if let Some((_, verbs)) = VERBS.iter().find(|(command, _)| *command == base) {
        return verb(base, rest, verbs);
    }
    by_form(base, rest, depth)
}

/// `python3.12` and the like.
fn versioned(base: &str) -> bool {
    base.strip_prefix("python")
        .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn by_form(base: &str, rest: &[Arg], depth: usize) -> Found {
    let has = |names: &[&str]| {
        rest.iter().any(|arg| {
            let name = arg.text.split('=').next().unwrap_or_default();
            names.contains(&name)
        })
    };
    let flag = |letter| rest.iter().any(|arg| arg.has_flag(letter));
    let vague = rest.iter().any(|arg| arg.splits);
    let operand = |start: &str| rest.iter().any(|arg| arg.text.starts_with(start));
    let bad = match base {
        "git" => return git::judge(rest),
        "find" => return find(rest, depth),
        "chmod" | "chown" | "chgrp" => has(&["--recursive"]) || flag('R') || vague || operand("/"),
        "source" | "." => rest.first().is_none_or(|file| !file.sure),
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            return rest.iter().try_for_each(|arg| words::assignment(&arg.text));
        }
        "mv" => has(&["--force"]) || flag('f') || rest.iter().any(|arg| arg.is("/dev/null")),
        "cp" | "ln" => has(&["--force", "--remove-destination"]) || flag('f') || operand("/dev/"),
        "tee" => !(has(&["--append"]) || flag('a')) && rest.iter().any(|arg| !arg.is_option()),
        "rsync" => {
            rest.iter().any(|arg| {
                arg.text.starts_with("--delete")
                    || arg.text.starts_with("--remove")
                    || arg.text.contains(':')
            }) || flag('e')
        }
        "sed" => {
            let script = |arg: &Arg| !arg.is_option() && (!arg.sure || sed_runs(&arg.text));
            rest.iter().find(|arg| !arg.is_option()).is_some_and(script)
                || flag('e') && rest.iter().any(script)
        }
        "awk" | "gawk" | "mawk" | "nawk" => rest
            .iter()
            .any(|arg| arg.text.contains("system") || arg.text.contains(['|', '>']) || flag('i')),
        "tar" | "bsdtar" => {
            has(&[
                "--to-command",
                "--checkpoint-action",
                "--use-compress-program",
                "--remove-files",
                "--overwrite",
                "--recursive-unlink",
                "--rsh-command",
                "--info-script",
            ]) || rest.iter().any(|arg| arg.text.starts_with("-I"))
        }
        "zip" => flag('m') || has(&["--move"]),
        "curl" => {
            let sends = [
                "--data",
                "--form",
                "--upload-file",
                "--json",
                "--request",
                "--config",
            ];
            rest.iter()
                .any(|arg| sends.iter().any(|name| arg.text.starts_with(name)))
                || "XdFTK".chars().any(flag)
        }
        "wget" => rest.iter().any(|arg| {
            ["--post", "--method", "--body", "--use-askpass"]
                .iter()
                .any(|name| arg.text.starts_with(name))
        }),
        "mapfile" | "readarray" => flag('C'),
        "hash" => flag('p'),
        "npm" | "pnpm" | "yarn" => rest.first().is_some_and(|verb| {
            !verb.sure
                || [
                    "publish",
                    "unpublish",
                    "deprecate",
                    "owner",
                    "exec",
                    "x",
                    "dlx",
                ]
                .contains(&verb.text.as_str())
        }),
        "npx" | "pnpx" | "uvx" | "pipx" => true,
        "cargo" => rest.first().is_some_and(|verb| {
            !verb.sure
                || ["publish", "yank", "owner", "login", "install", "uninstall"]
                    .contains(&verb.text.as_str())
        }),
        "pip" | "pip3" | "gem" => rest
            .first()
            .is_some_and(|verb| ["uninstall", "push"].contains(&verb.text.as_str())),
        "vi" | "vim" | "nvim" | "ed" | "ex" | "emacs" | "nano" => true,
        _ => false,
    };
    if bad {
        return found(format!("this form of {base} destroys or cannot be read"));
    }
    Ok(())
}

/// Whether a sed script may run commands or write files (`e`, `w`, and their flags).
fn sed_runs(script: &str) -> bool {
    let tail: String = script
        .chars()
        .rev()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    script.contains(['\n', ';', '{'])
        || tail.contains(['e', 'w'])
        || script.contains(" w")
        || script.contains("w ")
}

fn wrapper(base: &str, rest: &[Arg], valued: &[&str], fed: bool, depth: usize) -> Found {
    let mut args = rest;
    // `timeout 5 x`, `taskset 1 x`, `chrt 1 x`, `flock file x`: one operand comes first.
    let mut operands = usize::from(matches!(base, "timeout" | "taskset" | "chrt" | "flock"));
    while let Some((arg, tail)) = args.split_first() {
        if arg.splits && !arg.sure {
            return found(format!("what {base} runs is not certain"));
        }
        if base == "env" && (arg.text.starts_with("-S") || arg.text.starts_with("--split-string")) {
            return found("env splits text into a command");
        }
        if arg.is("-p") && matches!(base, "chrt" | "taskset" | "strace") {
            return found(format!("{base} acts on another process"));
        }
        if matches!(base, "command") && (arg.is("-v") || arg.is("-V")) {
            return Ok(());
        }
        if arg.is_option() {
            let skip = if valued.contains(&arg.text.as_str()) {
                1
            } else {
                0
            };
            args = tail.get(skip..).unwrap_or_default();
        } else if base == "env" && arg.text.contains('=') {
            words::assignment(&arg.text)?;
            args = tail;
        } else if operands > 0 {
            operands -= 1;
            args = tail;
        } else {
            break;
        }
    }
    // Words from the input become arguments of the command.
    if matches!(base, "xargs" | "parallel") {
        let mut all = args.to_vec();
        if all.is_empty() {
            return if base == "xargs" {
                Ok(())
            } else {
                found("parallel runs its input")
            };
        }
        all.push(Arg::unknown("…"));
        return judge_args(&all, fed, depth + 1);
    }
    if base == "watch" || base == "flock" {
        let text: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        if args.iter().any(|arg| !arg.sure) {
            return found(format!("what {base} runs is not certain"));
        }
        return judge(&text.join(" "), depth + 1);
    }
    judge_args(args, fed, depth)
}

/// A shell is read when its text is at hand, and trusted like any other program when it runs a file.
fn shell(rest: &[Arg], fed: bool, depth: usize) -> Found {
    let mut args = rest.iter();
    while let Some(arg) = args.next() {
        if arg.splits {
            return found("what the shell runs is not certain");
        }
        if arg.is("--version") || arg.is("--help") {
            return Ok(());
        }
        if arg.has_flag('c') {
            return match args.next() {
                Some(text) if text.sure => judge(&text.text, depth + 1),
                Some(_) | None => found("what the shell runs is not certain"),
            };
        }
        if arg.is("-o") || arg.is("-O") || arg.is("--rcfile") || arg.is("--init-file") {
            args.next();
        } else if arg.is("-") || arg.has_flag('s') || arg.has_flag('i') {
            return found("the shell runs its input");
        } else if !arg.is_option() {
            if !arg.sure || arg.text.starts_with("/dev/") {
                return found("what the shell runs is not certain");
            }
            return Ok(());
        }
    }
    found(if fed {
        "the shell runs its input"
    } else {
        "the shell runs unknown text"
    })
}

fn interpreter(base: &str, rest: &[Arg], fed: bool) -> Found {
    for arg in rest {
        if arg.splits {
            return found(format!("what {base} runs is not certain"));
        }
        if arg.is("--version") || arg.is("-V") || arg.is("--help") || arg.is("-h") {
            return Ok(());
        }
        if arg.is("-m") || arg.is("--check") || arg.is("--test") || arg.is("run") || arg.is("test")
        {
            return Ok(());
        }
        let inline = ["--eval", "--print"]
            .iter()
            .any(|name| arg.text.starts_with(name));
        if arg.is("-") || inline || "cerpEn".chars().any(|letter| arg.has_flag(letter)) {
            return found(format!("{base} runs text that is not read"));
        }
        if !arg.is_option() {
            return if arg.sure {
                Ok(())
            } else {
                found(format!("what {base} runs is not certain"))
            };
        }
    }
    found(if fed {
        format!("{base} runs its input")
    } else {
        format!("{base} runs unknown text")
    })
}

fn verb(base: &str, rest: &[Arg], verbs: &[&str]) -> Found {
    let vacuum = rest.iter().any(|arg| {
        ["--vacuum", "--rotate", "--flush"]
            .iter()
            .any(|name| arg.text.starts_with(name))
            || arg.is("-c")
    });
    if verbs.is_empty() {
        return if vacuum {
            found(format!("{base} removes records"))
        } else {
            Ok(())
        };
    }
    let harmless = |arg: &Arg| arg.sure && verbs.contains(&arg.text.as_str());
    let reads = match base {
        // `ip` and `gh` have nouns first.
        "ip" => {
            rest.first().is_some_and(harmless)
                && rest
                    .get(1)
                    .is_none_or(|arg| ["show", "list", "ls"].contains(&arg.text.as_str()))
        }
        "gh" => {
            rest.first().is_some_and(harmless)
                || rest.get(1).is_some_and(|arg| {
                    ["list", "view", "status", "diff", "checks"].contains(&arg.text.as_str())
                })
        }
        _ => {
            rest.iter()
                .find(|arg| !arg.is_option())
                .is_some_and(harmless)
                || rest.first().is_some_and(harmless)
        }
    };
    if reads {
        return Ok(());
    }
    found(format!("{base} changes the system"))
}

fn find(rest: &[Arg], depth: usize) -> Found {
    let mut args = rest;
    while let Some((arg, tail)) = args.split_first() {
        args = tail;
        if arg.splits && !arg.text.contains(['*', '?', '[']) {
            return found("what find does is not certain");
        }
        match arg.text.as_str() {
            "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" | "-files0-from" => {
                return found("find deletes or overwrites");
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let end = tail
                    .iter()
                    .position(|arg| arg.is(";") || arg.is("+"))
                    .unwrap_or(tail.len());
                let (command, after) = tail.split_at(end);
                judge_args(command, false, depth + 1)?;
                args = after;
            }
            _ => {}
        }
    }
    Ok(())
}
