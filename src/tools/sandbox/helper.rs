//! The helper process: it restricts itself and becomes the command.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use super::{Profile, filter, rules};

/// Exit code when the sandbox could not be set up; the command did not run.
const NOT_RUN: u8 = 126;

/// Runs the helper with the arguments that follow the helper word: a profile as JSON, `--`, the program
/// and its arguments. Returns only when the command could not be started.
#[must_use]
pub fn helper_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let reason = confine_and_become(arguments);
    // Standard error is all there is to tell with here; if it is closed nobody listens.
    drop(writeln!(std::io::stderr(), "greenlight sandbox: {reason}"));
    ExitCode::from(NOT_RUN)
}

/// Gives the reason why the command did not start.
fn confine_and_become(arguments: impl IntoIterator<Item = OsString>) -> String {
    let mut arguments = arguments.into_iter();
    let Some(profile) = arguments.next().and_then(|text| text.into_string().ok()) else {
        return "the profile is missing".to_owned();
    };
    let profile: Profile = match serde_json::from_str(&profile) {
        Ok(profile) => profile,
        Err(error) => return format!("the profile cannot be read: {error}"),
    };
    if arguments.next().as_deref() != Some("--".as_ref()) {
        return "`--` is missing before the program".to_owned();
    }
    let Some(program) = arguments.next() else {
        return "the program is missing".to_owned();
    };
    if let Err(reason) = rules::restrict(&profile) {
        return reason;
    }
    if let Err(reason) = filter::install(profile.profile, profile.network) {
        return reason;
    }
    let error = Command::new(&program).args(arguments).exec();
    format!("{} cannot be started: {error}", program.display())
}
