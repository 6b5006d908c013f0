//! The environment of commands: an allow-list, so that no secret of the bot is inherited.

use std::path::Path;

/// Variables that are passed on as they are.
const PASSED: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "SHELL",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "JAVA_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "RBENV_ROOT",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "XDG_DATA_DIRS",
    "LD_LIBRARY_PATH",
];

/// Name of the variable that marks every process of one run, so that those which left the process
/// group are found when it ends.
pub(super) const MARK: &str = "GREENLIGHT_RUN";

/// The variables of a command: what is passed on, and what keeps programs from asking or paging.
/// A value that `redact` would change is left out.
pub(super) fn variables(
    redact: &dyn Fn(&str) -> String,
    temporary: &Path,
    mark: &str,
) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| PASSED.contains(&name.as_str()) || name.starts_with("LC_"))
        .filter(|(_, value)| redact(value) == *value)
        .collect();
    let fixed = [
        ("TMPDIR", temporary.display().to_string()),
        ("TERM", "dumb".to_owned()),
        ("NO_COLOR", "1".to_owned()),
        ("PAGER", "cat".to_owned()),
        ("GIT_PAGER", "cat".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        ("GIT_EDITOR", "true".to_owned()),
        ("DEBIAN_FRONTEND", "noninteractive".to_owned()),
        (MARK, mark.to_owned()),
    ];
    all.extend(fixed.map(|(name, value)| (name.to_owned(), value)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_without_secrets_are_passed() {
        let hide_path = |value: &str| {
            if std::env::var("PATH").as_deref() == Ok(value) {
                "•".to_owned()
            } else {
                value.to_owned()
            }
        };
        let all = variables(&hide_path, Path::new("/t"), "m");
        assert!(all.iter().all(|(name, _)| name != "PATH"));
        assert!(all.iter().all(|(name, _)| !name.starts_with("CARGO_PKG")));
        assert!(all.contains(&("TMPDIR".to_owned(), "/t".to_owned())));
    }
}
