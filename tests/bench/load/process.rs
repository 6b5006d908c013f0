//! The bot as a process of its own, so that its memory and its time can be told from the server's.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use greenlight::playground::{OWNER, Running};

/// The running bot.
pub(crate) struct Process {
    child: Child,
    /// When it was started.
    pub(crate) started: Instant,
}

/// Memory of a process in KiB.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// All that is resident.
    pub(crate) resident: u64,
    /// Of it what is the process's own.
    pub(crate) own: u64,
}

impl Process {
    /// Starts the release binary against the server.
    pub(crate) fn start(
        home: &Path,
        workspace: &Path,
        server: &Running,
        model: &str,
        members: &[i64],
    ) -> io::Result<Self> {
        let members: Vec<String> = members.iter().map(ToString::to_string).collect();
        let log = std::env::var("RUST_LOG").unwrap_or_else(|_| "warn".into());
        let started = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_greenlight"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GREENLIGHT_HOME", home)
            .env("GREENLIGHT_WORKSPACE", workspace)
            .env("TELOXIDE_TOKEN", &server.token)
            .env("GREENLIGHT_TELEGRAM_API_URL", &server.api_url)
            .env("GREENLIGHT_TELEGRAM_OWNER_ID", OWNER.0.to_string())
            .env("GREENLIGHT_TELEGRAM_MEMBERS", members.join(","))
            .env("GREENLIGHT_MODEL", "openai/scripted")
            .env("GREENLIGHT_MODEL_BASE_URL", model)
            .env("GREENLIGHT_MODEL_API_KEY", "a-key-of-no-value")
            .env("GREENLIGHT_MODEL_CONTEXT", "200000")
            .env("GREENLIGHT_APPROVALS", "auto")
            .env("RUST_LOG", log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()?;
        Ok(Self { child, started })
    }

    /// What it occupies now.
    pub(crate) fn memory(&self) -> Memory {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let field = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
                .unwrap_or_default()
        };
        Memory {
            resident: field("VmRSS:"),
            own: field("RssAnon:"),
        }
    }

    /// Processor time that it has used itself, without its commands.
    pub(crate) fn processor(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(path).unwrap_or_default();
        // Fields are counted behind the name, which may hold blanks.
        let fields: Vec<&str> = stat
            .rsplit(") ")
            .next()
            .map(|rest| rest.split(' ').collect())
            .unwrap_or_default();
        let ticks = |index: usize| {
            fields
                .get(index)
                .and_then(|text| text.parse::<u64>().ok())
                .unwrap_or_default()
        };
        // utime and stime in hundredths of a second.
        Duration::from_millis((ticks(11) + ticks(12)) * 10)
    }

    /// Threads that it has.
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.child.id())).map_or(0, Iterator::count)
    }

    /// Ends it the polite way; gives how long that took.
    pub(crate) fn stop(mut self) -> io::Result<Duration> {
        let begun = Instant::now();
        if let Some(pid) = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        }
        self.child.wait()?;
        Ok(begun.elapsed())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Only a run that failed comes here with a bot that still runs.
        if matches!(self.child.try_wait(), Ok(None)) && self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}
