//! Runs one process group to its end, bounded in time, and leaves nothing of it behind.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::sweep::sweep;

/// Bytes that are read at a time at first: most commands say little, and many may run.
const FIRST_READ: usize = 1024;
/// Bytes at a time from a command that says much.
const LARGEST_READ: usize = 64 * 1024;
/// Time between the polite and the final signal.
const GRACE: Duration = Duration::from_secs(1);
/// Time for output that is still in the pipe after the group is gone.
const DRAIN: Duration = Duration::from_millis(500);

/// Why a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Exited,
    /// Its time was up.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// How a process ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) end: End,
    /// Exit code; `None` when a signal ended it.
    pub(super) code: Option<i32>,
}

/// A started process group with one pipe for both of its output streams.
pub(super) struct Running {
    child: Child,
    pipe: Receiver,
    group: Option<Pid>,
    mark: String,
}

/// Starts `command` as the leader of its own group, without terminal and input.
///
/// # Errors
/// When the program cannot be started.
pub(super) fn start(mut command: Command, mark: &str) -> std::io::Result<Running> {
    let (reader, writer) = std::io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn()?;
    // The command holds the writing end; the pipe must close when the last process does.
    drop(command);
    let group = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    Ok(Running {
        child,
        pipe: Receiver::from_owned_fd(reader.into())?,
        group,
        mark: mark.to_owned(),
    })
}

impl Running {
    /// Waits for the end, handing out output as it comes. When this returns every process of the run
    /// is gone, those that left the group included.
    pub(super) async fn finish(
        mut self,
        limit: Duration,
        cancel: &CancellationToken,
        mut on_output: impl FnMut(&[u8]),
    ) -> Ended {
        let deadline = Instant::now() + limit;
        let mut buffer = vec![0; FIRST_READ];
        let mut open = true;
        let mut code = None;
        let end = loop {
            tokio::select! {
                read = self.pipe.read(&mut buffer), if open => match read {
                    Ok(count) if count > 0 => {
                        on_output(buffer.get(..count).unwrap_or_default());
                        if count == buffer.len() && count < LARGEST_READ {
                            buffer.resize(count * 2, 0);
                        }
                    }
                    Ok(_) | Err(_) => open = false,
                },
                status = self.child.wait() => {
                    code = status.ok().and_then(|status| status.code());
                    break End::Exited;
                }
                () = sleep_until(deadline) => break End::TimedOut,
                () = cancel.cancelled() => break End::Cancelled,
            }
        };
        if end != End::Exited {
            self.signal(Signal::TERM);
            // Whether it obeyed does not matter: the final signal follows for the whole group.
            drop(timeout(GRACE, self.child.wait()).await);
        }
        self.signal(Signal::KILL);
        sweep(&self.mark).await;
        if open {
            drop(timeout(DRAIN, drain(&mut self.pipe, &mut buffer, &mut on_output)).await);
        }
        drop(timeout(GRACE, self.child.wait()).await);
        Ended { end, code }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group
            && let Err(error) = kill_process_group(group, signal)
            && error != rustix::io::Errno::SRCH
        {
            tracing::warn!(%error, "a process group could not be signalled");
        }
    }
}

async fn drain(pipe: &mut Receiver, buffer: &mut [u8], on_output: &mut impl FnMut(&[u8])) {
    while let Ok(count) = pipe.read(buffer).await {
        if count == 0 {
            return;
        }
        on_output(buffer.get(..count).unwrap_or_default());
    }
}
