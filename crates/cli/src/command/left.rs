//! Commands that are left for the process that runs a session, and whether they reach it.
//!
//! That process may come to rest, or die, before it has looked: then nobody has them, and whoever left them does what is
//! to be done. Start reading at [`reach`].

use std::thread::sleep;
use std::time::{Duration, Instant};

use antiphon_event::Event;
use antiphon_port::{Branch, Fault};
use anyhow::Result;

use crate::store::Shelf;

/// How long it is waited for: the other process looks ten times a second, and says that it has when it looks again.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// Who has what was left.
#[derive(Debug, PartialEq)]
pub(crate) enum Reached {
    /// The process that runs the session, or will if it is only slow.
    Owner,
    /// Nobody: it stopped running it. What was left is still there.
    Nobody,
}

/// Leaves commands for the process that runs a session, and waits until it has taken them.
pub(crate) fn reach(shelf: &Shelf, branch: &Branch, commands: &[Event]) -> Result<Reached> {
    let mut last = 0;
    for command in commands {
        last = shelf.journal.send(&branch.session, &command.to_json()).wait()?;
    }
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        let left = shelf.journal.take(&branch.session, 0).wait()?;
        if left.iter().all(|sent| sent.number > last) {
            return Ok(Reached::Owner);
        }
        match shelf.journal.claim(&branch.session) {
            Err(Fault::Owned { .. }) => sleep(PAUSE),
            // Given back at once: whoever goes on with it claims it.
            claimed => {
                drop(claimed?);
                return Ok(Reached::Nobody);
            }
        }
    }
    Ok(Reached::Owner)
}
