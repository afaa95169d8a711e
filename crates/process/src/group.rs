//! [`Group`]: a program and all that it started, to be ended together.
//!
//! A program has a process group of its own, which its children share. A child may leave the group, so each also
//! carries a mark in its environment, by which those that left are found. Start reading at [`Group::spawn`].

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use crate::look::{self, Wanted};
use crate::{mark, seeker, settled};

/// A program and all that it started; killed when it is dropped.
///
/// Whoever left the group is known by a variable of the environment, `ANTIPHON_PROCESS`, and found where the system
/// lists processes as files. Who also took that out of its environment is not found, nor is anybody who left where
/// there are no such files.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let mut command = tokio::process::Command::new("sh");
/// command.args(["-c", "setsid sleep 1000 & exit 3"]);
/// let (mut child, group) = antiphon_process::Group::spawn(&mut command)?;
///
/// assert_eq!(child.wait().await?.code(), Some(3));
/// group.kill().await; // the one that sleeps, too
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Group {
    /// Absent once they were killed: the number may be another's by then.
    leader: Mutex<Option<Leader>>,
}

/// The program, and how all that it started is known.
#[derive(Debug)]
struct Leader {
    id: Pid,
    wanted: Wanted,
}

impl Group {
    /// Starts a program as the leader of a group. Whatever else is to be said about the command is said before.
    pub fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        let mark = mark::new();
        command.env(mark::VARIABLE, mark::beside(std::env::var_os(mark::VARIABLE), &mark));
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        // One that was waited for has none, and nobody has waited yet.
        let id = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let leader = id.map(|id| Leader { id, wanted: Wanted { mark, since: look::begun(id) } });
        Ok((child, Self { leader: Mutex::new(leader) }))
    }

    /// Asks everybody in the group to end; those that left it are not asked.
    pub fn ask(&self) {
        if let Some(leader) = &*self.leader() {
            // Whoever is gone already is as good.
            let _ = killpg(leader.id, Signal::SIGTERM);
        }
    }

    /// Kills everybody, and waits until those that left the group were found. May be called again, and be dropped:
    /// then nobody waits, and they are found all the same.
    pub async fn kill(&self) {
        self.cut();
        settled().await;
    }

    /// Kills everybody without waiting until those that left the group were found; [`settled`](crate::settled) does.
    pub fn cut(&self) {
        let Some(leader) = self.leader().take() else { return };
        let _ = killpg(leader.id, Signal::SIGKILL);
        // Mostly, a short command was alone, and then there is nobody to look for.
        if !look::is_youngest(leader.id) {
            seeker::find(leader.wanted);
        }
    }

    fn leader(&self) -> MutexGuard<'_, Option<Leader>> {
        self.leader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.cut();
    }
}
