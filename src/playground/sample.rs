//! A throw-away project whose test fails, so that there is something to mend. It needs only `sh`.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The faulty script.
pub(super) const PRICE: &str = "price.sh";
/// The line at fault: the discount is a percentage, not an amount.
pub(super) const FAULTY: &str = "echo $((sum - discount))";
/// The line as it should be.
pub(super) const SOUND: &str = "echo $((sum - sum * discount / 100))";
/// The test.
pub(super) const TEST: &str = "test.sh";
/// The command that runs it.
pub(super) const TEST_COMMAND: &str = "sh test.sh";
/// What the test prints when all is well.
pub(super) const PASSED: &str = "3 passed, 0 failed";
/// The record of changes.
pub(super) const CHANGES: &str = "CHANGES.md";
/// Its content.
pub(super) const CHANGES_TEXT: &str = "# Changes\n\n- First version.\n";

const README: &str = "# Price\n\nA tiny shop calculator in shell.\n\n    sh price.sh <unit price in cents> <count> <discount in percent>\n\nThe test is `sh test.sh`.\n";
const PRICE_TEXT: &str = "#!/bin/sh\n# Prints the total in cents: price.sh <unit price> <count> <discount in percent>\nunit=$1\ncount=$2\ndiscount=$3\nsum=$((unit * count))\necho $((sum - discount))\n";
const TEST_TEXT: &str = r#"#!/bin/sh
# Checks price.sh. Exits with 1 if anything is wrong.
passed=0
failed=0
check() {
    got=$(sh price.sh "$2" "$3" "$4")
    if [ "$got" = "$5" ]; then
        passed=$((passed + 1))
        echo "ok    $1"
    else
        failed=$((failed + 1))
        echo "FAIL  $1: expected $5, got $got"
    fi
}
check "no discount"         250 4 0  1000
check "ten percent off"     250 4 10 900
check "half price"          199 2 50 199
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
"#;

/// Writes the project into a fresh temporary directory, which goes away with the value; a git
/// repository is made of it if git is installed.
///
/// # Errors
///
/// The temporary directory cannot be written.
pub fn create() -> io::Result<TempDir> {
    let dir = tempfile::Builder::new()
        .prefix("greenlight-sample-")
        .tempdir()?;
    for (name, text) in [
        ("README.md", README),
        (PRICE, PRICE_TEXT),
        (TEST, TEST_TEXT),
        (CHANGES, CHANGES_TEXT),
    ] {
        std::fs::write(dir.path().join(name), text)?;
    }
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=Sample",
            "-c",
            "user.email=sample@example.org",
            "commit",
            "--quiet",
            "-m",
            "First version",
        ],
    ] {
        if !git(dir.path(), arguments) {
            break;
        }
    }
    Ok(dir)
}

/// Whether git ran and succeeded; the sample is as good without a history.
fn git(dir: &Path, arguments: &[&str]) -> bool {
    Command::new("git")
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_of_the_sample_fails_until_the_faulty_line_is_mended() {
        let dir = create().unwrap();
        let run = || {
            let output = Command::new("sh")
                .arg(TEST)
                .current_dir(dir.path())
                .output()
                .unwrap();
            (
                output.status.success(),
                String::from_utf8(output.stdout).unwrap(),
            )
        };
        assert!(!run().0);
        let file = dir.path().join(PRICE);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches(FAULTY).count(), 1);
        std::fs::write(&file, text.replace(FAULTY, SOUND)).unwrap();
        let (fine, output) = run();
        assert!(fine);
        assert!(output.ends_with(&format!("{PASSED}\n")), "{output}");
    }
}
