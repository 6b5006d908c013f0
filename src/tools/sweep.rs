//! Kills what left its process group but still carries the mark of its run in its environment.
//!
//! A look at every process of the machine is dear, so runs that end together share one.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;

use super::environment::MARK;

/// Marks that wait for the next look, and whether somebody is looking.
#[derive(Debug)]
struct Waiting {
    marks: Vec<(String, oneshot::Sender<()>)>,
    looking: bool,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    marks: Vec::new(),
    looking: false,
});

/// Kills every process with `mark`; when this returns, a look that began after the call has ended.
pub(super) async fn sweep(mark: &str) {
    let (done, told) = oneshot::channel();
    let first = {
        let mut waiting = lock();
        waiting.marks.push((mark.to_owned(), done));
        !std::mem::replace(&mut waiting.looking, true)
    };
    if first {
        let unseen = Look { over: false };
        // Detached, because the others wait for it too.
        drop(tokio::task::spawn_blocking(move || {
            let mut look = unseen;
            work();
            look.over = true;
        }));
    }
    if told.await.is_err() {
        tracing::warn!("left-over processes could not be looked for");
    }
}

/// Frees the way if the look never began or broke, as when its runtime ends.
struct Look {
    over: bool,
}

impl Drop for Look {
    fn drop(&mut self) {
        if !self.over {
            let mut waiting = lock();
            waiting.marks.clear();
            waiting.looking = false;
        }
    }
}

fn work() {
    loop {
        let marks = {
            let mut waiting = lock();
            if waiting.marks.is_empty() {
                waiting.looking = false;
                return;
            }
            std::mem::take(&mut waiting.marks)
        };
        let wanted: HashSet<&str> = marks.iter().map(|(mark, _)| mark.as_str()).collect();
        for id in marked(&wanted) {
            if let Err(error) = kill_process(id, Signal::KILL) {
                tracing::debug!(%error, "a left-over process was already gone");
            }
        }
        for (_, done) in marks {
            // A run that was dropped needs no answer.
            done.send(()).ok();
        }
    }
}

fn marked(wanted: &HashSet<&str>) -> Vec<Pid> {
    let Ok(list) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let prefix = format!("{MARK}=");
    list.flatten()
        .filter_map(|entry| {
            let id: i32 = entry.file_name().to_str()?.parse().ok()?;
            let variables = std::fs::read(entry.path().join("environ")).ok()?;
            let found = variables.split(|byte| *byte == 0).any(|pair| {
                pair.strip_prefix(prefix.as_bytes())
                    .and_then(|mark| std::str::from_utf8(mark).ok())
                    .is_some_and(|mark| wanted.contains(mark))
            });
            Pid::from_raw(id).filter(|_| found)
        })
        .collect()
}

fn lock() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}
