//! [`Group`]: all that a command started, to be ended together.
//!
//! A program has a process group of its own, which its children share. A child may leave the group, so each also
//! carries a mark in its environment, by which those that left are found where the system lists processes as files.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem::Finder;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

/// The variable with the mark.
pub(super) const MARK: &str = "ANTIPHON_PROCESS";

/// How often it is looked for processes that were started while others were killed.
const ROUNDS_MAX: usize = 10;

/// A mark that no other command has, here or in another program.
pub(super) fn mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{}-{now}-{count}", std::process::id())
}

/// A program and what it started; killed when it is dropped.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
    mark: String,
}

impl Group {
    pub(super) fn new(leader: Option<u32>, mark: String) -> Self {
        let leader = leader.and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Self { leader, mark }
    }

    /// Asks everybody in the group to end.
    pub(super) fn ask(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Kills everybody, those that left the group too.
    pub(super) async fn kill(mut self) {
        self.signal(Signal::SIGKILL);
        self.leader = None;
        let mark = std::mem::take(&mut self.mark);
        // It can only fail while everything is torn down.
        let _ = tokio::task::spawn_blocking(move || kill_strays(&mark)).await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // Whoever is gone already is as good.
            let _ = killpg(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        if !self.mark.is_empty() {
            kill_strays(&self.mark);
        }
    }
}

/// Kills processes with a mark until there are none.
fn kill_strays(mark: &str) {
    for _ in 0..ROUNDS_MAX {
        let killed = marked(mark).into_iter().filter(|id| kill(*id, Signal::SIGKILL) != Err(Errno::ESRCH));
        if killed.count() == 0 {
            break;
        }
    }
}

/// The processes with a mark; none where the system does not say.
fn marked(mark: &str) -> Vec<Pid> {
    let variable = format!("{MARK}={mark}\0");
    let finder = Finder::new(&variable);
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_marked = |id: &i32| {
        // What may not be read is not ours.
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        finder.find(&environment).is_some()
    };
    ids.filter(is_marked).map(Pid::from_raw).collect()
}
