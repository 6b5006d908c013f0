//! The memory of a failed mutation: it must be mended or its blocker reported, not talked away.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::domain::{CallStatus, Effects};

/// Most targets kept of one call.
const MAX_TARGETS: usize = 16;

/// A state-changing call that failed and was not made good yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedMutation {
    /// Tool name.
    pub tool: String,
    /// Normalised paths that it named.
    pub targets: Vec<String>,
    /// Those of them that were read again since.
    pub reread: Vec<String>,
}

/// One finished call, as far as mutations are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Tried<'a> {
    /// Tool name.
    pub tool: &'a str,
    /// Arguments as the model wrote them.
    pub arguments: &'a str,
    /// Resolved paths it was about; empty if they are not known.
    pub targets: &'a [String],
    /// What the tool can do at most.
    pub effects: Effects,
    /// How it ended.
    pub status: CallStatus,
    /// Whether the workspace may have changed.
    pub changed: bool,
}

/// Remembers the latest failed mutation of a turn. Commands that fail are not failed mutations: a
/// failing test is a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutationMemory {
    pending: Option<FailedMutation>,
}

impl MutationMemory {
    /// Takes one finished call into account.
    pub fn observe(&mut self, tried: &Tried<'_>) {
        match tried.effects {
            Effects::Write | Effects::Unknown => self.mutation(tried),
            // A command that changed something made good what an edit could not.
            Effects::Exec if tried.status == CallStatus::Ok && tried.changed => self.pending = None,
            Effects::Read if tried.status == CallStatus::Ok => self.read(tried),
            Effects::Read
            | Effects::Exec
            | Effects::Ask
            | Effects::NetworkRead
            | Effects::Spawn
            | Effects::Channel
            | Effects::Plan => {}
        }
    }

    /// The failed mutation that is still open.
    #[must_use]
    pub fn pending(&self) -> Option<&FailedMutation> {
        self.pending.as_ref()
    }

    /// Whether the reply closes the matter: it reports a blocker, or that no change is needed after
    /// all. Either counts only after every target of the failed call was read again. Closes it then;
    /// `false` if nothing was open.
    pub fn accept(&mut self, reply: &str) -> bool {
        let Some(failed) = &self.pending else {
            return false;
        };
        let reread = failed
            .targets
            .iter()
            .all(|target| failed.reread.contains(target));
        let accepted = reread && (reports_blocker(reply) || reports_no_change(reply));
        if accepted {
            self.pending = None;
        }
        accepted
    }

    /// What to tell the model while a failed mutation is open, in English.
    #[must_use]
    pub fn correction(&self) -> Option<String> {
        let failed = self.pending.as_ref()?;
        let targets = if failed.targets.is_empty() {
            "its target".to_owned()
        } else {
            failed.targets.join(", ")
        };
        let shape = if failed.tool == "edit_file" {
            " Its arguments are one object {\"path\", \"old_text\", \"new_text\"}; there is no list of \
             edits, and old_text must occur exactly once: read the place again and widen it."
        } else {
            ""
        };
        Some(format!(
            "The last {} call on {targets} failed, and no change has succeeded since. Read {targets} \
             again, then call a corrected tool now, or say in one sentence what you cannot do and \
             because of what.{shape}",
            failed.tool
        ))
    }

    fn mutation(&mut self, tried: &Tried<'_>) {
        match tried.status {
            CallStatus::Ok => self.pending = None,
            CallStatus::Failed | CallStatus::Interrupted => {
                self.pending = Some(FailedMutation {
                    tool: tried.tool.to_owned(),
                    targets: tried.paths(),
                    reread: Vec::new(),
                });
            }
            // It never ran, so there is nothing to mend.
            CallStatus::Refused | CallStatus::Cancelled => {}
        }
    }

    fn read(&mut self, tried: &Tried<'_>) {
        let Some(failed) = &mut self.pending else {
            return;
        };
        let read = tried.paths();
        for target in &failed.targets {
            let again = read.iter().any(|path| same_file(target, path));
            if again && !failed.reread.contains(target) {
                failed.reread.push(target.clone());
            }
        }
    }
}

impl Tried<'_> {
    /// The resolved paths, else what the arguments name.
    fn paths(&self) -> Vec<String> {
        if self.targets.is_empty() {
            return targets_of(self.arguments);
        }
        let paths = self.targets.iter().take(MAX_TARGETS);
        paths.map(|path| normalise(path)).collect()
    }
}

/// Whether two paths name the same file, of which one may be resolved and the other as it was written.
fn same_file(left: &str, right: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.starts_with('/')
            && !short.starts_with('/')
            && long
                .strip_suffix(short)
                .is_some_and(|rest| rest.ends_with('/'))
    };
    left == right || ends(left, right) || ends(right, left)
}

/// The normalised paths that a call's arguments name: values of keys that end in path, file, target,
/// source, destination, from, to or uri. At most 16.
#[must_use]
pub fn targets_of(arguments: &str) -> Vec<String> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(arguments) else {
        return Vec::new();
    };
    let names = [
        "path",
        "file",
        "target",
        "source",
        "destination",
        "from",
        "to",
        "uri",
    ];
    let mut targets: Vec<String> = Vec::new();
    for (key, value) in &fields {
        let key = key.to_ascii_lowercase();
        // `_to` but not `photo`: a name ends a key whole, or after a separator or a capital.
        let named = names.iter().any(|name| {
            key == *name
                || (key.ends_with(name)
                    && (name.len() > 2
                        || key
                            .strip_suffix(name)
                            .is_some_and(|rest| rest.ends_with(['_', '-']))))
        });
        if !named {
            continue;
        }
        if let Some(text) = value.as_str() {
            let path = normalise(text);
            if !path.is_empty() && !targets.contains(&path) && targets.len() < MAX_TARGETS {
                targets.push(path);
            }
        }
    }
    // The order of an object's fields is not part of its meaning.
    targets.sort();
    targets
}

/// Whether a change of `path` changes `target`: the same path, or one below the directory `target`.
/// Equal base names in different directories are different files.
#[must_use]
pub fn touches(target: &str, path: &str) -> bool {
    let (target, path) = (normalise(target), normalise(path));
    if target == "." {
        return true;
    }
    path == target
        || path
            .strip_prefix(&target)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// Whether one sentence of the text says that something cannot be done and why.
#[must_use]
pub fn reports_blocker(text: &str) -> bool {
    static BLOCKER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)\b(cannot|can['’]t|unable|blocked|could not|couldn['’]t|incomplete)\b",
            r"[^.!?\n]*\b(because|due to|reason)\b",
        ))
        .ok()
    });
    BLOCKER
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// Whether the text says that what was to be changed is already as wanted.
fn reports_no_change(text: &str) -> bool {
    static NO_CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)\balready\s+(exists?|implemented|present|satisfied|there|correct|done)\b",
            r"|\bno\s+(further\s+)?changes?\s+(is|are|was|were)?\s*(needed|required|necessary)\b",
        ))
        .ok()
    });
    NO_CHANGE
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

fn normalise(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let path = path.strip_prefix("file://").unwrap_or(&path);
    let absolute = path.starts_with('/');
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) if !path.is_empty() => ".".to_owned(),
        (false, true | false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_is_remembered_until_one_succeeds() {
        let mut memory = MutationMemory::default();
        let observe = |memory: &mut MutationMemory, tool, arguments, effects, status| {
            memory.observe(&Tried {
                tool,
                arguments,
                targets: &[],
                effects,
                status,
                changed: false,
            });
        };
        observe(&mut memory, "bash", "{}", Effects::Exec, CallStatus::Failed);
        assert_eq!(memory.pending(), None);
        let edit = r#"{"path":"./src\\a.ts","old_text":"x"}"#;
        observe(
            &mut memory,
            "edit_file",
            edit,
            Effects::Write,
            CallStatus::Failed,
        );
        assert_eq!(memory.pending().unwrap().targets, ["src/a.ts"]);
        assert!(memory.correction().unwrap().contains("old_text"));
        let blocker = "I cannot apply the edit because the file is generated.";
        assert!(!memory.accept(blocker));
        observe(
            &mut memory,
            "read_file",
            r#"{"path":"lib/a.ts"}"#,
            Effects::Read,
            CallStatus::Ok,
        );
        assert!(!memory.accept(blocker));
        observe(
            &mut memory,
            "read_file",
            r#"{"path":"src/a.ts"}"#,
            Effects::Read,
            CallStatus::Ok,
        );
        assert!(!memory.accept("All done."));
        assert!(!memory.accept("I cannot. It is late because of that."));
        assert!(memory.accept(blocker));
        assert_eq!(memory.pending(), None);

        observe(
            &mut memory,
            "edit_file",
            edit,
            Effects::Write,
            CallStatus::Failed,
        );
        observe(
            &mut memory,
            "edit_file",
            edit,
            Effects::Write,
            CallStatus::Refused,
        );
        assert!(memory.pending().is_some());
        observe(
            &mut memory,
            "edit_file",
            edit,
            Effects::Write,
            CallStatus::Ok,
        );
        assert_eq!(memory.pending(), None);
    }

    #[test]
    fn a_command_that_changed_the_tree_or_a_look_at_the_resolved_path_closes_it() {
        let mut memory = MutationMemory::default();
        let failed = Tried {
            tool: "edit_file",
            arguments: r#"{"path":"src/a.ts"}"#,
            targets: &[],
            effects: Effects::Write,
            status: CallStatus::Failed,
            changed: false,
        };
        memory.observe(&failed);
        let targets = ["/w/src/a.ts".to_owned()];
        memory.observe(&Tried {
            tool: "read_file",
            targets: &targets,
            effects: Effects::Read,
            status: CallStatus::Ok,
            ..failed
        });
        assert!(memory.accept("The line is already present, so no change is needed."));
        memory.observe(&failed);
        let ran = Tried {
            tool: "bash",
            effects: Effects::Exec,
            status: CallStatus::Ok,
            ..failed
        };
        memory.observe(&ran);
        assert!(memory.pending().is_some());
        memory.observe(&Tried {
            changed: true,
            ..ran
        });
        assert_eq!(memory.pending(), None);
    }

    #[test]
    fn targets_are_found_by_the_end_of_their_key() {
        assert_eq!(
            targets_of(
                r#"{"filePath":"a","copy_to":"b","photo":"c","uri":"file:///d/e","from":"f/"}"#
            ),
            ["/d/e", "a", "b", "f"]
        );
        assert!(touches("src", "src/a.ts") && touches("./src/a.ts", "src/a.ts"));
        assert!(!touches("a.ts", "other/a.ts") && !touches("src/a", "src/ab"));
    }
}
