//! The kernel sandbox of commands.
//!
//! A command runs as `greenlight __sandbox <profile> -- program arguments`: the helper restricts
//! itself and then becomes the program, so nothing has to be done between fork and exec.
//!
//! What holds:
//! - Landlock (ABI 3 or newer) decides which files can be read and written. Directories that are
//!   protected are left out by granting their neighbours one by one; such a parent directory cannot be
//!   listed, and nothing new can be made directly in it.
//! - A system-call filter covers what Landlock does not: in the read-only profile changes of mode,
//!   owner, times and attributes are refused, and without network no socket can be made, so UDP and
//!   local services are out of reach as well as TCP.
//!
//! What does not hold: with network allowed, a local service that listens on a socket file (such as
//! a container daemon) can be asked to act outside the sandbox (before Landlock ABI 9); and modes and
//! times of protected files can be changed in the `workspace` profile, though not their content. A
//! superuser's commands lose the capabilities that reach the kernel, disks and the memory of others;
//! the bot still belongs under an ordinary user.

mod filter;
mod helper;
mod rules;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::domain::SandboxProfile;

pub use helper::helper_main;

/// First argument that makes the program the sandbox helper.
pub const HELPER_WORD: &str = "__sandbox";
/// Lowest Landlock version that can forbid truncating a file.
const LOWEST_ABI: i32 = 3;

/// What the kernel offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxStatus {
    /// Commands are confined.
    Available {
        /// Landlock version of kernel and program together.
        abi: i32,
    },
    /// Commands cannot be confined.
    Unavailable {
        /// Why, in English, naming the missing kernel feature.
        reason: String,
    },
}

impl SandboxStatus {
    /// Whether commands are confined.
    #[must_use]
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Available { .. })
    }
}

/// Asks the kernel once and remembers the answer.
#[must_use]
pub fn probe() -> &'static SandboxStatus {
    static STATUS: OnceLock<SandboxStatus> = OnceLock::new();
    STATUS.get_or_init(|| {
        // Restrictions bind the calling thread, so the question is asked on one that ends at once.
        std::thread::spawn(rules::probe)
            .join()
            .unwrap_or_else(|_| SandboxStatus::Unavailable {
                reason: "the probe of Landlock failed".to_owned(),
            })
    })
}

/// What the helper is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    profile: SandboxProfile,
    workspace: PathBuf,
    temporary: PathBuf,
    protected: Vec<PathBuf>,
    network: bool,
}

/// Everything that decides how a program is started.
pub(super) struct Launch<'a> {
    pub(super) helper: &'a Path,
    pub(super) profile: SandboxProfile,
    pub(super) workspace: &'a Path,
    pub(super) temporary: &'a Path,
    pub(super) protected: &'a [PathBuf],
    pub(super) network: bool,
}

impl Launch<'_> {
    /// The command that runs `program` with `arguments` under the profile.
    ///
    /// # Errors
    /// A text for the model when the profile needs a kernel feature that is missing.
    pub(super) fn command(&self, program: &str, arguments: &[&str]) -> Result<Command, String> {
        if self.profile == SandboxProfile::Off {
            let mut command = Command::new(program);
            command.args(arguments);
            return Ok(command);
        }
        if let SandboxStatus::Unavailable { reason } = probe() {
            return Err(format!(
                "The command was not run: it has to be confined, and this system cannot do that ({reason})."
            ));
        }
        let profile = Profile {
            profile: self.profile,
            workspace: self.workspace.to_path_buf(),
            temporary: self.temporary.to_path_buf(),
            protected: self.protected.to_vec(),
            network: self.network,
        };
        let profile = serde_json::to_string(&profile)
            .map_err(|error| format!("The sandbox profile cannot be written: {error}."))?;
        let mut command = Command::new(self.helper);
        command
            .arg(HELPER_WORD)
            .arg(profile)
            .arg("--")
            .arg(program)
            .args(arguments);
        Ok(command)
    }
}
