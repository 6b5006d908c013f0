//! Forms of git that lose work, rewrite what others have, or run programs.

use super::words::Arg;
use super::{Found, found};

/// Settings that may be given for one call.
const SETTINGS: [&str; 8] = [
    "user.",
    "color.",
    "advice.",
    "core.quotepath=",
    "core.autocrlf=",
    "init.defaultBranch=",
    "commit.gpgsign=",
    "log.",
];
/// Subcommands that neither lose work nor run programs of the caller's choice. `push`, `checkout` and
/// others are judged by their options.
const PLAIN: [&str; 38] = [
    "add",
    "blame",
    "cat-file",
    "cherry",
    "cherry-pick",
    "clone",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "grep",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "pull",
    "range-diff",
    "rebase",
    "rev-list",
    "rev-parse",
    "revert",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "var",
    "version",
    "whatchanged",
];

/// Judges the arguments after `git`.
pub(super) fn judge(args: &[Arg]) -> Found {
    let mut rest = args.iter();
    let command = loop {
        let Some(arg) = rest.next() else {
            return Ok(());
        };
        if arg.is("-C") || arg.is("--git-dir") || arg.is("--work-tree") || arg.is("--namespace") {
            rest.next();
        } else if arg.is("-c") {
            let setting = rest
                .next()
                .map(|setting| setting.text.as_str())
                .unwrap_or_default();
            if !SETTINGS.iter().any(|known| setting.starts_with(known)) {
                return found("git with a setting that may run programs");
            }
        } else if ["--exec-path", "--config-env"]
            .iter()
            .any(|name| arg.text.starts_with(name))
        {
            return found("git with other programs");
        } else if !arg.is_option() {
            break arg;
        }
    };
    if command.sure {
        subcommand(&command.text, rest.as_slice())
    } else {
        found("git with an uncertain subcommand")
    }
}

/// Judges a subcommand by its options.
fn subcommand(command: &str, rest: &[Arg]) -> Found {
    let has = |names: &[&str]| {
        rest.iter().any(|arg| {
            let name = arg.text.split('=').next().unwrap_or_default();
            names.contains(&name)
        })
    };
    let flag = |letter| rest.iter().any(|arg| arg.has_flag(letter));
    let vague = rest.iter().any(|arg| arg.splits);
    let operands: Vec<&Arg> = rest.iter().filter(|arg| !arg.is_option()).collect();
    let first = operands
        .first()
        .map(|arg| arg.text.as_str())
        .unwrap_or_default();
    let only = |verbs: &[&str]| verbs.contains(&first);
    if has(&[
        "--exec",
        "--upload-pack",
        "--receive-pack",
        "--ext-diff",
        "--output",
        "--open-files-in-pager",
    ]) {
        return found("git with another program or output");
    }
    let lost = match command {
        "reset" => has(&["--hard", "--merge", "--keep"]) || vague,
        "clean" => !(has(&["--dry-run"]) || flag('n')) || vague,
        "push" => {
            let forced = operands.iter().any(|arg| arg.text.starts_with(['+', ':']));
            let names = [
                "--force",
                "--force-with-lease",
                "--force-if-includes",
                "--delete",
                "--mirror",
                "--prune",
            ];
            has(&names) || flag('f') || flag('d') || forced || vague
        }
        "checkout" => checkout(rest, &operands, vague),
        "switch" => {
            has(&["--discard-changes", "--force", "--force-create"])
                || flag('f')
                || flag('C')
                || vague
        }
        "restore" => !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) || vague,
        "branch" | "tag" => {
            has(&["--delete", "--force", "--move"]) || "dDfM".chars().any(flag) || vague
        }
        "stash" => only(&["drop", "clear"]) || vague,
        "rm" => has(&["--force"]) || !has(&["--cached"]) || vague,
        "worktree" => {
            !(operands.is_empty() || only(&["list", "add"])) || has(&["--force"]) || flag('f')
        }
        "remote" => !(operands.is_empty() || only(&["show", "get-url", "add", "update"])),
        "submodule" => !(operands.is_empty() || only(&["status", "init", "summary"])),
        "reflog" => !(operands.is_empty() || only(&["show", "exists", "list"])),
        "config" => {
            !(has(&["--get", "--list", "-l", "--get-all", "--get-regexp"])
                || only(&["get", "list"]))
        }
        "bisect" => only(&["run"]),
        "rebase" => flag('x'),
        "grep" => flag('O'),
        "fetch" | "pull" => has(&["--force", "--prune"]) || flag('f'),
        other => !PLAIN.contains(&other),
    };
    if lost {
        return found(format!("git {} may lose work or run programs", command));
    }
    Ok(())
}

/// A checkout is safe when it surely only moves to a branch.
fn checkout(rest: &[Arg], operands: &[&Arg], vague: bool) -> bool {
    let creates = rest.iter().any(|arg| arg.is("-b") || arg.is("--orphan"));
    let forced = rest.iter().any(|arg| {
        arg.is("--")
            || arg.is("--force")
            || arg.has_flag('f')
            || arg.has_flag('B')
            || arg.has_flag('p')
    });
    let one_name = match operands {
        [] => true,
        [name] => name.sure && (creates || !name.text.contains(['.', '/', ':'])),
        [_, start] => creates && start.sure,
        _ => false,
    };
    forced || vague || !one_name
}
