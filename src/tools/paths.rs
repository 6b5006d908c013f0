//! Which paths a call may touch.
//!
//! A path is resolved through every symbolic link before it is judged, and the resolved path is the
//! one that is opened, so a link cannot lead out of the workspace.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::call::{Place, Unfit};

/// What a call wants of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Read a file or list a directory.
    Read,
    /// Create or change a file.
    Write,
}

/// Resolves `given` beneath the workspace of `place`, or says in English why it is refused.
/// A path that does not exist yet resolves through its deepest existing parent.
pub(super) fn resolve(
    place: &Place,
    protected: &[PathBuf],
    given: &str,
    want: Want,
) -> Result<PathBuf, Unfit> {
    if given.trim().is_empty() || given.contains('\0') {
        return Err(Unfit::Malformed(
            "The path is empty or holds a NUL character.".to_owned(),
        ));
    }
    let workspace = canonical(&place.workspace)
        .map_err(|error| format!("The workspace directory cannot be opened: {error}."))?;
    let path = canonical(&lexical(&workspace.join(given)))
        .map_err(|error| format!("`{given}` cannot be resolved: {error}."))?;
    if let Some(plan) = place
        .plan_md
        .as_deref()
        .and_then(|plan| canonical(plan).ok())
        && path == plan
    {
        return Ok(path);
    }
    // Long outputs and what people sent are there to be read.
    let kept = ["outputs", "inbox"].iter().any(|folder| {
        canonical(&place.session_dir.join(folder)).is_ok_and(|folder| path.starts_with(folder))
    });
    if want == Want::Read && kept {
        return Ok(path);
    }
    if !path.starts_with(&workspace) {
        return Err(Unfit::Refused(format!(
            "`{given}` is outside the workspace {}. Only paths beneath it may be used.",
            workspace.display()
        )));
    }
    if is_protected(&path, protected) {
        return Err(Unfit::Refused(format!(
            "`{given}` belongs to the bot's own data or holds credentials and is neither readable nor writable."
        )));
    }
    if want == Want::Read && is_env_file(&path) {
        return Err(Unfit::Refused(format!(
            "`{given}` usually holds secrets and is not read. Ask the user for the one value you need."
        )));
    }
    Ok(path)
}

/// Whether a resolved path is the bot's own, or a place where credentials are kept.
pub(super) fn is_protected(path: &Path, protected: &[PathBuf]) -> bool {
    protected.iter().any(|root| path.starts_with(root)) || is_credential(path)
}

/// Names under which credentials are kept in any home directory.
fn is_credential(path: &Path) -> bool {
    const DIRECTORIES: [&str; 6] = [
        ".ssh",
        ".gnupg",
        ".aws",
        ".kube",
        ".azure",
        ".password-store",
    ];
    const FILES: [&str; 6] = [
        ".netrc",
        ".git-credentials",
        ".pypirc",
        ".pgpass",
        ".vault-token",
        ".my.cnf",
    ];
    let mut before: Option<&str> = None;
    for name in path
        .components()
        .filter_map(|part| part.as_os_str().to_str())
    {
        let pair = before.map(|before| (before, name));
        if DIRECTORIES.contains(&name)
            || matches!(
                pair,
                Some((".config", "gh" | "gcloud") | (".docker", "config.json"))
            )
            || (before == Some(".cargo") && name.starts_with("credentials"))
        {
            return true;
        }
        before = Some(name);
    }
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let key = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"]
        .iter()
        .any(|key| name.starts_with(key));
    FILES.contains(&name) || (key && !name.ends_with(".pub"))
}

/// Whether it is a file of environment secrets (and not an example of one).
pub(super) fn is_env_file(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let example = [".example", ".sample", ".template", ".dist"]
        .iter()
        .any(|end| name.ends_with(end));
    (name == ".env" || name.starts_with(".env.")) && !example
}

/// Places in the home directory `home` that hold credentials, for the sandbox.
pub(super) fn credential_places(home: &Path) -> Vec<PathBuf> {
    [
        ".ssh",
        ".gnupg",
        ".aws",
        ".kube",
        ".azure",
        ".password-store",
        ".netrc",
        ".git-credentials",
        ".pypirc",
        ".pgpass",
        ".vault-token",
        ".my.cnf",
        ".config/gh",
        ".config/gcloud",
        ".docker/config.json",
        ".cargo/credentials",
        ".cargo/credentials.toml",
    ]
    .iter()
    .map(|name| home.join(name))
    .collect()
}

/// Removes `.` and `..` without looking at the file system.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// Resolves links of the deepest existing parent and appends the rest.
///
/// # Errors
/// A link that leads nowhere, a loop of links, or a parent that cannot be read.
pub(super) fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    let mut rest = Vec::new();
    let mut head = path;
    loop {
        match head.canonicalize() {
            Ok(mut found) => {
                found.extend(rest.iter().rev());
                return Ok(found);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if head.symlink_metadata().is_ok() {
                    return Err(std::io::Error::other("a symbolic link leads nowhere"));
                }
                let (Some(parent), Some(name)) = (head.parent(), head.file_name()) else {
                    return Err(error);
                };
                rest.push(name.to_owned());
                head = parent;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The path as the model knows it: relative to the workspace where it is beneath it.
pub(super) fn shown(place: &Place, path: &Path) -> String {
    let workspace = canonical(&place.workspace).unwrap_or_else(|_| place.workspace.clone());
    let relative = path.strip_prefix(&workspace).unwrap_or(path);
    if relative.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        relative.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place(root: &Path) -> Place {
        Place {
            workspace: root.join("ws"),
            session_dir: root.join("data/session"),
            nonce: "n".to_owned(),
            plan_md: Some(root.join("data/session/plan.md")),
            network: false,
        }
    }

    #[test]
    fn paths_stay_beneath_the_workspace_through_links_too() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for dir in ["ws/src", "outside", "data/session/outputs"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        symlink(root.join("outside"), root.join("ws/out")).unwrap();
        symlink(root.join("nowhere"), root.join("ws/dangling")).unwrap();
        symlink("src", root.join("ws/alias")).unwrap();
        let place = place(&root);
        let protected = [root.join("data"), root.join("ws/secret")];
        let go = |given: &str, want| resolve(&place, &protected, given, want);

        assert_eq!(
            go("src/new.rs", Want::Write).unwrap(),
            root.join("ws/src/new.rs")
        );
        assert_eq!(
            go("alias/a.rs", Want::Write).unwrap(),
            root.join("ws/src/a.rs")
        );
        for bad in [
            "../x",
            "/etc/passwd",
            "out/x",
            "dangling",
            "src/../../x",
            "secret/key",
            "",
            "a\0b",
        ] {
            assert!(go(bad, Want::Read).is_err(), "{bad} read");
            assert!(go(bad, Want::Write).is_err(), "{bad} write");
        }
        let output = root.join("data/session/outputs/abc.txt");
        assert!(go(output.to_str().unwrap(), Want::Read).is_ok());
        assert!(go(output.to_str().unwrap(), Want::Write).is_err());
        let sent = root.join("data/session/inbox/7_notes.txt");
        assert!(go(sent.to_str().unwrap(), Want::Read).is_ok());
        assert!(go(sent.to_str().unwrap(), Want::Write).is_err());
        let plan = root.join("data/session/plan.md");
        assert!(go(plan.to_str().unwrap(), Want::Write).is_ok());
        assert!(go(root.join("data/session/x").to_str().unwrap(), Want::Read).is_err());
    }

    #[test]
    fn credentials_are_protected_wherever_they_are() {
        for path in [
            "/w/.ssh/config",
            "/w/.aws/credentials",
            "/w/id_rsa",
            "/w/.netrc",
            "/w/.config/gh/hosts.yml",
            "/w/.cargo/credentials.toml",
            "/w/.docker/config.json",
        ] {
            assert!(is_protected(Path::new(path), &[]), "{path}");
        }
        for path in [
            "/w/id_rsa.pub",
            "/w/src/ssh.rs",
            "/w/config.json",
            "/w/.config/nvim",
        ] {
            assert!(!is_protected(Path::new(path), &[]), "{path}");
        }
        assert!(is_env_file(Path::new("/w/.env.local")));
        assert!(!is_env_file(Path::new("/w/.env.example")));
    }
}
