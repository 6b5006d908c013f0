//! What single programs can tell.

use super::outcome::Outcome;
use super::words::Word;
use super::{Why, status_of, words};

/// What running a program does to the shell.
pub(super) enum Judgement {
    /// It has this status.
    Status(Outcome),
    /// It ends the shell, with this status or the one before.
    Exit(Option<Outcome>),
    /// It sets options of the shell.
    Set { errexit: bool, pipefail: bool },
}

/// Programs that print, wait, move about or change things: their status says nothing about whether
/// the project is right.
const SILENT: [&str; 74] = [
    "echo", "printf", "pwd", "ls", "cat", "true", ":", "sleep", "which", "type", "hash", "whoami",
    "date", "uname", "hostname", "id", "clear", "cd", "pushd", "popd", "export", "unset", "alias",
    "unalias", "history", "read", "wait", "jobs", "umask", "touch", "mkdir", "rmdir", "cp", "mv",
    "rm", "ln", "chmod", "chown", "dirname", "basename", "realpath", "readlink", "yes", "seq",
    "tee", "head", "tail", "wc", "sort", "uniq", "less", "more", "file", "stat", "du", "df", "ps",
    "free", "printenv", "shift", "tree", "find", "sed", "tr", "cut", "trap", "source", ".", "help",
    "man", "local", "declare", "readonly", "whereis",
];

/// Programs that run another one: the name, and options that take a value.
const WRAPPERS: [(&str, &[&str]); 14] = [
    ("env", &["-u", "-C", "-S", "--unset", "--chdir"]),
    ("sudo", &["-u", "-g", "-C"]),
    ("doas", &["-u"]),
    ("time", &["-f", "-o"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n"]),
    ("nohup", &[]),
    ("timeout", &["-k", "-s", "--signal", "--kill-after"]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("setsid", &[]),
    ("xargs", &["-n", "-I", "-L", "-P", "-d", "-s", "-a", "-E"]),
];

/// Shells that take a command as text.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Interpreters, with the option that takes code as text.
const INTERPRETERS: [(&str, &[&str]); 9] = [
    ("python", &["-c"]),
    ("python3", &["-c"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("bun", &["-e"]),
    ("ruby", &["-e"]),
    ("perl", &["-e", "-E"]),
    ("php", &["-r"]),
    ("awk", &[]),
];

/// Words that code needs to look at the project or to fail on purpose.
const LOOKS: [&str; 16] = [
    "import", "require", "open", "assert", "exit", "raise", "throw", "read", "fetch", "spawn",
    "load", "compile", "use ", "include", "exec", "die",
];

/// What a program with these words tells; the first word is the program.
pub(super) fn judge(words: &[Word], depth: usize) -> Result<Judgement, Why> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(Judgement::Status(Outcome::Succeeds));
    };
    if !program.is_literal || program.text.is_empty() {
        return Ok(Judgement::Status(Outcome::Dynamic));
    }
    let name = system_name(&program.text);
    let first = arguments.first().map_or("", |word| word.text.as_str());
    let status = match name {
        "exit" | "return" => return Ok(Judgement::Exit(exit_status(arguments))),
        "set" => return Ok(options(arguments)),
        "false" => Outcome::Fails,
        "command" if matches!(first, "-v" | "-V") => Outcome::Succeeds,
        "test" | "[" => compare(arguments, depth)?,
        "eval" => {
            text_of(arguments).map_or(Ok(Outcome::Dynamic), |text| status_of(&text, depth + 1))?
        }
        "git" => git(arguments),
        "diff" | "cmp" if arguments.len() < 2 => Outcome::Fails,
        _ if SILENT.contains(&name) => Outcome::Succeeds,
        _ if only_asks_version(arguments) => Outcome::Succeeds,
        _ if SHELLS.contains(&name) => shell(arguments, depth)?,
        _ => match WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
            Some((wrapper, valued)) => wrapped(wrapper, arguments, valued, depth)?,
            None => interpreter(name, arguments),
        },
    };
    Ok(Judgement::Status(status))
}

/// `[[ … ]]` as text: it tells something if it names a file, a variable or a command that does.
pub(super) fn condition(text: &str, depth: usize) -> Result<Outcome, Why> {
    let words: Vec<Word> = text.split_whitespace().map(words::read).collect();
    compare(&words, depth)
}

/// The name of a program in a system directory; other paths are the project's own.
fn system_name(path: &str) -> &str {
    let directories = [
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        "/sbin/",
        "/usr/sbin/",
    ];
    directories
        .iter()
        .find_map(|directory| path.strip_prefix(directory))
        .unwrap_or(path)
}

fn exit_status(arguments: &[Word]) -> Option<Outcome> {
    let first = arguments.first()?;
    if !first.is_literal {
        // `exit $?`, `exit $status`: whatever was found before.
        return None;
    }
    Some(if first.text == "0" {
        Outcome::Succeeds
    } else {
        Outcome::Fails
    })
}

fn options(arguments: &[Word]) -> Judgement {
    let mut errexit = false;
    let mut pipefail = false;
    for word in arguments {
        match word.text.as_str() {
            "errexit" => errexit = true,
            "pipefail" => pipefail = true,
            flags if flags.starts_with('-') && !flags.starts_with("--") => {
                errexit |= flags.contains('e');
            }
            _ => {}
        }
    }
    Judgement::Set { errexit, pipefail }
}

/// A comparison of literals has its answer already.
fn compare(arguments: &[Word], depth: usize) -> Result<Outcome, Why> {
    const FILE_TESTS: [&str; 18] = [
        "-e", "-f", "-d", "-s", "-r", "-w", "-x", "-h", "-L", "-b", "-c", "-p", "-S", "-g", "-k",
        "-nt", "-ot", "-ef",
    ];
    if arguments
        .iter()
        .any(|word| FILE_TESTS.contains(&word.text.as_str()))
    {
        return Ok(Outcome::Tells);
    }
    let mut computed = false;
    for word in arguments {
        for command in &word.commands {
            if prints_something(command, depth)? {
                return Ok(Outcome::Tells);
            }
        }
        computed |= !word.is_literal && word.commands.is_empty() && word.text != "[";
    }
    Ok(if computed {
        Outcome::Dynamic
    } else {
        Outcome::Succeeds
    })
}

/// Whether what a substituted command prints depends on the project: not if all it does is print its
/// own arguments.
fn prints_something(command: &str, depth: usize) -> Result<bool, Why> {
    const OWN_WORDS: [&str; 8] = [
        "echo", "printf", "true", ":", "pwd", "date", "whoami", "hostname",
    ];
    if depth > super::MAX_NESTING {
        return Err(Why::TooComplex);
    }
    let mut heads = command
        .split(['|', ';', '&', '\n'])
        .filter_map(|part| part.split_whitespace().next());
    Ok(heads.any(|head| !OWN_WORDS.contains(&system_name(head))))
}

fn text_of(arguments: &[Word]) -> Option<String> {
    let literal = !arguments.is_empty() && arguments.iter().all(|word| word.is_literal);
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    literal.then(|| texts.join(" "))
}

fn only_asks_version(arguments: &[Word]) -> bool {
    let asks = ["--version", "--help", "-v", "-V", "-h", "version", "help"];
    !arguments.is_empty()
        && arguments
            .iter()
            .all(|word| asks.contains(&word.text.as_str()))
}

fn shell(arguments: &[Word], depth: usize) -> Result<Outcome, Why> {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let flags = word.text.as_str();
        if flags.starts_with('-') && !flags.starts_with("--") && flags.contains('c') {
            let Some(code) = rest.next() else {
                return Ok(Outcome::Fails);
            };
            if !code.is_literal {
                return Ok(Outcome::Dynamic);
            }
            return status_of(&with_flags(flags, &code.text), depth + 1);
        }
        if flags == "-o" {
            rest.next();
        } else if !flags.starts_with('-') {
            // A script of the project.
            return Ok(if word.is_literal {
                Outcome::Tells
            } else {
                Outcome::Dynamic
            });
        }
    }
    // It reads its commands from elsewhere.
    Ok(Outcome::Dynamic)
}

fn with_flags(flags: &str, code: &str) -> String {
    if flags.contains('e') {
        format!("set -e; {code}")
    } else {
        code.to_owned()
    }
}

fn wrapped(
    wrapper: &str,
    arguments: &[Word],
    valued: &[&str],
    depth: usize,
) -> Result<Outcome, Why> {
    let mut rest = arguments;
    let mut duration = wrapper == "timeout";
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        let skipped = if valued.contains(&text) {
            after.get(1..).unwrap_or_default()
        } else if is_option(text) || (wrapper == "env" && text.contains('=')) {
            after
        } else if duration {
            duration = false;
            after
        } else {
            break;
        };
        rest = skipped;
    }
    if rest.is_empty() {
        // `env` prints, `xargs` echoes.
        return Ok(Outcome::Succeeds);
    }
    match judge(rest, depth)? {
        Judgement::Status(status) => Ok(status),
        Judgement::Exit(status) => Ok(status.unwrap_or(Outcome::Dynamic)),
        Judgement::Set { .. } => Ok(Outcome::Succeeds),
    }
}

fn is_option(text: &str) -> bool {
    text.starts_with('-') && text.len() > 1
}

fn interpreter(name: &str, arguments: &[Word]) -> Outcome {
    let Some((_, options)) = INTERPRETERS
        .iter()
        .find(|(interpreter, _)| *interpreter == name)
    else {
        return Outcome::Tells;
    };
    let code = match arguments
        .iter()
        .position(|word| options.contains(&word.text.as_str()))
    {
        Some(at) => arguments.get(at + 1),
        None if name == "awk" => arguments.iter().find(|word| !word.text.starts_with('-')),
        // Without arguments it reads code from elsewhere.
        None if arguments.is_empty() => return Outcome::Dynamic,
        None => return Outcome::Tells,
    };
    match code {
        None => Outcome::Fails,
        Some(code) if LOOKS.iter().any(|word| code.text.contains(word)) => Outcome::Tells,
        Some(code) if code.is_literal => Outcome::Succeeds,
        Some(_) => Outcome::Dynamic,
    }
}

/// Most of git reports or changes; a few forms answer with their status.
fn git(arguments: &[Word]) -> Outcome {
    let mut words = arguments.iter().map(|word| word.text.as_str()).peekable();
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        if matches!(option, "-C" | "-c" | "--git-dir" | "--work-tree") {
            words.next();
        }
    }
    let rest: Vec<&str> = words.collect();
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
    let tells = match rest.first().copied() {
        Some("diff") => has(&["--exit-code", "--quiet", "--check"]),
        Some("grep" | "fsck" | "merge-base" | "verify-commit" | "verify-tag" | "apply") => true,
        Some("ls-files") => has(&["--error-unmatch"]),
        Some("bisect") => has(&["run"]),
        Some(_) | None => false,
    };
    if tells {
        Outcome::Tells
    } else {
        Outcome::Succeeds
    }
}
