//! A system-call filter for what Landlock leaves open: changes of metadata, and sockets.
//!
//! Landlock does not restrict `chmod`, `chown`, `utimensat`, extended attributes, UDP (before ABI 10)
//! or socket files (before ABI 9). The filter answers such calls with "operation not permitted".
//! Source: Linux `Documentation/userspace-api/landlock.rst` and `seccomp_filter.rst`.

use crate::domain::SandboxProfile;

/// One instruction of classic BPF, as the kernel reads it (`struct sock_filter`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Instruction {
    code: u16,
    jt: u8,
    jf: u8,
    k: u32,
}

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

const ALLOW: u32 = 0x7fff_0000; // SECCOMP_RET_ALLOW
const REFUSE: u32 = 0x0005_0001; // SECCOMP_RET_ERRNO | EPERM

/// Offsets in `struct seccomp_data`; the low half of an argument comes first on both architectures.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

/// `AF_UNIX`.
const UNIX_DOMAIN: u32 = 1;
/// `FS_IOC_SETFLAGS`, `FS_IOC32_SETFLAGS` and `FS_IOC_FSSETXATTR`: attributes of a file by an open handle.
const FLAG_REQUESTS: [u32; 3] = [0x4008_6602, 0x4004_6602, 0x401c_5820];

#[cfg(target_arch = "x86_64")]
mod numbers {
    pub(super) const ARCHITECTURE: u32 = 0xc000_003e;
    pub(super) const SOCKET: u32 = 41;
    pub(super) const IOCTL: u32 = 16;
    pub(super) const PRCTL_SECCOMP: i32 = 22;
    /// Calls that change mode (90–92, 268, 452), owner (92–94, 260), times (132, 235, 261, 280),
    /// attributes (188–190, 197–199, 463, 466, 469), the machine (modules, kexec, clock, names, swap,
    /// reboot), or get around this filter (`io_uring` 425–427, `bpf` 321).
    pub(super) const METADATA: &[u32] = &[
        90, 91, 268, 452, 92, 93, 94, 260, 132, 235, 261, 280, 188, 189, 190, 197, 198, 199, 463,
        466, 469, 175, 176, 313, 246, 320, 164, 227, 159, 305, 170, 171, 167, 168, 169, 163, 425,
        426, 427, 321,
    ];
}

#[cfg(target_arch = "aarch64")]
mod numbers {
    pub(super) const ARCHITECTURE: u32 = 0xc000_00b7;
    pub(super) const SOCKET: u32 = 198;
    pub(super) const IOCTL: u32 = 29;
    pub(super) const PRCTL_SECCOMP: i32 = 22;
    /// As on the other architecture, by the generic numbers.
    pub(super) const METADATA: &[u32] = &[
        52, 53, 452, 54, 55, 88, 5, 6, 7, 14, 15, 16, 463, 466, 469, 105, 106, 273, 104, 294, 170,
        112, 171, 266, 161, 162, 224, 225, 142, 89, 425, 426, 427, 280,
    ];
}

/// Installs the filter for a profile on the calling thread, for good.
///
/// # Errors
/// The reason, when the kernel or the architecture has no such filter.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn install(profile: SandboxProfile, network: bool) -> Result<(), String> {
    let program = program(profile, network);
    let table = Table {
        len: u16::try_from(program.len()).map_err(|error| error.to_string())?,
        filter: program.as_ptr(),
    };
    drop_capabilities();
    if control(numbers::PRCTL_SECCOMP, MODE_FILTER, &raw const table) {
        Ok(())
    } else {
        Err(format!(
            "system calls cannot be filtered: {}",
            std::io::Error::last_os_error()
        ))
    }
}

/// Refuses, because the call numbers of this architecture are not known here.
///
/// # Errors
/// Always.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn install(_profile: SandboxProfile, _network: bool) -> Result<(), String> {
    Err("system calls cannot be filtered on this architecture".to_owned())
}

/// The instructions for a profile. Every test is followed by its own answer, so no jump is long.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn program(profile: SandboxProfile, network: bool) -> Vec<Instruction> {
    let read_only = profile == SandboxProfile::ReadOnly;
    let step = |code, jt, jf, k| Instruction { code, jt, jf, k };
    let refuse = step(RETURN, 0, 0, REFUSE);
    let mut all = vec![
        step(LOAD, 0, 0, ARCHITECTURE),
        step(IF_EQUAL, 1, 0, numbers::ARCHITECTURE),
        refuse,
        step(LOAD, 0, 0, NUMBER),
    ];
    // Numbers with this bit are the same calls in another dress (x32).
    all.extend([step(IF_AT_LEAST, 0, 1, 0x4000_0000), refuse]);
    if !network && read_only {
        all.extend([step(IF_EQUAL, 0, 1, numbers::SOCKET), refuse]);
    }
    if read_only {
        for number in numbers::METADATA {
            all.extend([step(IF_EQUAL, 0, 1, *number), refuse]);
        }
        all.extend([
            step(IF_EQUAL, 0, 8, numbers::IOCTL),
            step(LOAD, 0, 0, SECOND_ARGUMENT),
        ]);
        for request in FLAG_REQUESTS {
            all.extend([step(IF_EQUAL, 0, 1, request), refuse]);
        }
        all.push(step(RETURN, 0, 0, ALLOW));
    } else if !network {
        // Local sockets stay: many build tools talk to their own helpers through them.
        all.extend([
            step(IF_EQUAL, 0, 3, numbers::SOCKET),
            step(LOAD, 0, 0, FIRST_ARGUMENT),
            step(IF_EQUAL, 1, 0, UNIX_DOMAIN),
            refuse,
        ]);
        // `io_uring` makes sockets without the call above.
        all.push(step(LOAD, 0, 0, NUMBER));
        all.extend([step(IF_EQUAL, 0, 1, 425), refuse]);
    }
    all.push(step(RETURN, 0, 0, ALLOW));
    all
}

/// `struct sock_fprog`.
#[repr(C)]
struct Table {
    len: u16,
    filter: *const Instruction,
}

/// `SECCOMP_MODE_FILTER`.
const MODE_FILTER: std::ffi::c_ulong = 2;
/// `PR_CAPBSET_DROP`.
const DROP_CAPABILITY: i32 = 24;
/// Capabilities that a command of the superuser keeps: ownership and modes of files, signals, user and
/// group ids, low ports. The others reach the kernel, disks, or the memory of other processes.
const KEPT_CAPABILITIES: [std::ffi::c_ulong; 8] = [0, 1, 3, 4, 5, 6, 7, 10];
/// Numbers of capabilities, with room for new ones.
const CAPABILITIES: std::ffi::c_ulong = 64;

/// Takes capabilities away from whatever is executed next. An ordinary user has none and may not do this,
/// and unknown numbers are refused; both are fine.
fn drop_capabilities() {
    for capability in (0..CAPABILITIES).filter(|number| !KEPT_CAPABILITIES.contains(number)) {
        control(DROP_CAPABILITY, capability, std::ptr::null());
    }
}

/// `prctl(2)`; gives whether it succeeded.
#[expect(
    unsafe_code,
    reason = "the kernel takes the filter by pointer, and no safe wrapper is at hand"
)]
fn control(option: i32, value: std::ffi::c_ulong, table: *const Table) -> bool {
    use std::ffi::{c_int, c_ulong};
    unsafe extern "C" {
        fn prctl(option: c_int, a: c_ulong, b: *const Table, c: c_ulong, d: c_ulong) -> c_int;
    }
    // SAFETY: `table` is null for an option that ignores it, or points at as many instructions as it
    // says, laid out as the kernel expects; they outlive the call, and the kernel copies them.
    unsafe { prctl(option, value, table, 0, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a program as the kernel does.
    fn answer(program: &[Instruction], number: u32, first: u32, second: u32) -> u32 {
        let (mut at, mut value) = (0_usize, 0_u32);
        loop {
            let step = program[at];
            at += 1;
            let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
            match step.code {
                LOAD => {
                    value = match step.k {
                        NUMBER => number,
                        ARCHITECTURE => numbers::ARCHITECTURE,
                        FIRST_ARGUMENT => first,
                        SECOND_ARGUMENT => second,
                        other => panic!("offset {other}"),
                    }
                }
                IF_EQUAL => at += jump(value == step.k),
                IF_AT_LEAST => at += jump(value >= step.k),
                RETURN => return step.k,
                other => panic!("code {other}"),
            }
        }
    }

    #[test]
    fn each_profile_refuses_what_it_must_and_nothing_else() {
        let read_only = program(SandboxProfile::ReadOnly, false);
        let online = program(SandboxProfile::ReadOnly, true);
        let offline = program(SandboxProfile::Workspace, false);
        let usual = program(SandboxProfile::Workspace, true);
        let metadata = numbers::METADATA[0];
        assert_eq!(answer(&read_only, metadata, 0, 0), REFUSE);
        assert_eq!(answer(&usual, metadata, 0, 0), ALLOW);
        assert_eq!(answer(&read_only, numbers::SOCKET, UNIX_DOMAIN, 0), REFUSE);
        assert_eq!(answer(&online, numbers::SOCKET, 2, 0), ALLOW);
        assert_eq!(answer(&offline, numbers::SOCKET, UNIX_DOMAIN, 0), ALLOW);
        assert_eq!(answer(&offline, numbers::SOCKET, 2, 0), REFUSE);
        assert_eq!(answer(&offline, 425, 0, 0), REFUSE);
        assert_eq!(
            answer(&read_only, numbers::IOCTL, 0, FLAG_REQUESTS[1]),
            REFUSE
        );
        assert_eq!(
            answer(&read_only, numbers::IOCTL, 0, FLAG_REQUESTS[2]),
            REFUSE
        );
        assert_eq!(answer(&read_only, numbers::IOCTL, 0, 0x5401), ALLOW);
        assert_eq!(answer(&read_only, 0x4000_0001, 0, 0), REFUSE);
        for number in [0, 1, 2, 3, 1000] {
            assert_eq!(answer(&read_only, number, 0, 0), ALLOW, "{number}");
        }
    }
}
