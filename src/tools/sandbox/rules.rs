//! Landlock rules: which files a confined command can read and write.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::{LOWEST_ABI, Profile, SandboxStatus};
use crate::domain::SandboxProfile;

/// Rights beyond the lowest version are asked for up to this one and dropped where the kernel is older.
const NEWEST: ABI = ABI::V10;
/// Devices that every program may use.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// Deepest directory that is taken apart around a protected path.
const MAX_DEPTH: usize = 32;

/// Finds out on the calling thread, which stays restricted, what the kernel offers.
pub(super) fn probe() -> SandboxStatus {
    let status =
        base(true).and_then(|ruleset| ruleset.restrict_self().map_err(|error| error.to_string()));
    let reason = match status {
        Ok(status) => match status.landlock {
            LandlockStatus::Available { effective_abi, .. }
                if effective_abi as i32 >= LOWEST_ABI =>
            {
                return SandboxStatus::Available {
                    abi: effective_abi as i32,
                };
            }
            LandlockStatus::Available { effective_abi, .. } => format!(
                "Landlock ABI {} cannot forbid truncating files; ABI {LOWEST_ABI} (Linux 6.2) is needed",
                effective_abi as i32
            ),
            LandlockStatus::NotEnabled => {
                "Landlock is not enabled at boot (kernel parameter lsm=)".to_owned()
            }
            LandlockStatus::NotImplemented => {
                "the kernel lacks Landlock (CONFIG_SECURITY_LANDLOCK)".to_owned()
            }
        },
        Err(error) => format!("the kernel lacks a Landlock feature: {error}"),
    };
    SandboxStatus::Unavailable { reason }
}

/// Restricts the calling thread and everything it becomes.
///
/// # Errors
/// The reason, when any right that the profile promises cannot be enforced.
pub(super) fn restrict(profile: &Profile) -> Result<(), String> {
    if profile.profile == SandboxProfile::Off {
        return Err("the profile `off` needs no helper".to_owned());
    }
    let mut ruleset = base(profile.network)?;
    let read = AccessFs::from_read(NEWEST);
    let write = AccessFs::from_all(NEWEST);
    for path in allowed_around(Path::new("/"), &unreadable(profile), Missing::Ignore) {
        ruleset = grant(ruleset, &path, read)?;
    }
    for path in DEVICES {
        ruleset = grant(ruleset, Path::new(path), write)?;
    }
    ruleset = grant(ruleset, &profile.temporary, write)?;
    match profile.profile {
        SandboxProfile::Workspace => {
            let roots = allowed_around(&profile.workspace, &profile.protected, Missing::Keep);
            for path in roots {
                ruleset = grant(ruleset, &path, write)?;
            }
        }
        SandboxProfile::ReadOnly | SandboxProfile::Off => {}
    }
    let status = ruleset.restrict_self().map_err(|error| error.to_string())?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("Landlock is not enforced".to_owned());
    }
    Ok(())
}

/// A ruleset that handles every right and grants none.
fn base(network: bool) -> Result<RulesetCreated, String> {
    let build = || {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V3))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?;
        if !network {
            ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
        }
        ruleset.create()
    };
    build().map_err(|error: landlock::RulesetError| error.to_string())
}

fn grant(
    ruleset: RulesetCreated,
    path: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    // A path that vanished meanwhile needs no rule: what has no rule is refused.
    let (Ok(meta), Ok(handle)) = (path.metadata(), PathFd::new(path)) else {
        return Ok(ruleset);
    };
    let access = if meta.is_dir() {
        access
    } else {
        access & AccessFs::from_file(NEWEST)
    };
    ruleset
        .add_rule(PathBeneath::new(handle, access))
        .map_err(|error| format!("a rule for {} failed: {error}", path.display()))
}

/// Paths that are not even readable: protected ones, and devices, which may hold whole disks.
fn unreadable(profile: &Profile) -> Vec<PathBuf> {
    let mut all = profile.protected.clone();
    all.push(PathBuf::from("/dev"));
    all
}

/// What a protected path that does not exist means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// There is nothing to read.
    Ignore,
    /// It must not come into being either.
    Keep,
}

/// The largest directories and files at or beneath `root` that hold nothing protected.
fn allowed_around(root: &Path, protected: &[PathBuf], missing: Missing) -> Vec<PathBuf> {
    let protected: Vec<&PathBuf> = protected
        .iter()
        .filter(|path| missing == Missing::Keep || path.symlink_metadata().is_ok())
        .collect();
    let mut allowed = Vec::new();
    let mut open = vec![(root.to_path_buf(), 0)];
    while let Some((path, depth)) = open.pop() {
        if protected
            .iter()
            .any(|protected| path.starts_with(protected))
            || depth > MAX_DEPTH
        {
            continue;
        }
        if !protected
            .iter()
            .any(|protected| protected.starts_with(&path))
        {
            allowed.push(path);
            continue;
        }
        let Ok(children) = std::fs::read_dir(&path) else {
            continue;
        };
        for child in children.flatten() {
            // A link is judged where it leads: its target has, or lacks, a rule of its own.
            if child.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                open.push((child.path(), depth + 1));
            }
        }
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_protected_path_are_allowed_one_by_one() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for dir in ["a/b", "a/secret/deep", "c", "c/later"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        let protected = [root.join("a/secret"), root.join("c/none")];
        let sorted = |missing| {
            let mut all = allowed_around(root, &protected, missing);
            all.sort();
            all
        };
        assert_eq!(sorted(Missing::Ignore), [root.join("a/b"), root.join("c")]);
        assert_eq!(
            sorted(Missing::Keep),
            [root.join("a/b"), root.join("c/later")]
        );
    }
}
