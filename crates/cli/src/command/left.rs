//! Commands that are left for the process that runs a session, and whether they reach it.
//!
//! That process may come to rest, or die, before it has looked: then nobody has them, and whoever left them does what is
//! to be done. Whether it took an answer only the journal says. Start reading at [`answer`] and [`Watch::wait`].

use std::thread::sleep;
use std::time::{Duration, Instant};

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, RunId};
use antiphon_port::{Branch, Fault, Sent};
use anyhow::Result;

use crate::live::ask::{instead, is_taken, late};
use crate::request::OVER;
use crate::standing::Standing;
use crate::store::Shelf;

/// How long it is waited for: the other process looks ten times a second, and says that it has when it looks again.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it is waited until an answer is in the journal.
const PATIENCE_FOR_ANSWERS: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// What became of answers that were left.
#[derive(Debug)]
pub(crate) enum Became {
    /// They are in the journal.
    Taken,
    /// Something else had been decided before, and this is what.
    Late(String),
    /// The other process has not looked yet; whether answers to the same were left before.
    Waiting(bool),
}

/// Who has what was left.
#[derive(Debug, PartialEq)]
pub(crate) enum Reached {
    /// The process that runs the session, or will if it is only slow.
    Owner,
    /// Nobody: it stopped running it. What was left is still there.
    Nobody,
}

/// Leaves answers for the process that runs a session. What is asked is known up to a position.
pub(crate) fn answer(
    shelf: &Shelf,
    branch: &Branch,
    answers: Vec<RelayResolved>,
    standing: Standing,
    after: u64,
) -> Result<Watch> {
    let mut first = None;
    for answer in &answers {
        let asked = standing.asked.iter().find(|asked| asked.relay.id == answer.relay_id);
        let run = asked.and_then(|asked| asked.run.clone()).unwrap_or_else(|| RunId::from(""));
        let command = Event::new(run, Body::RelayResolved(Box::new(answer.clone())));
        let number = shelf.journal.send(&branch.session, &command.to_json()).wait()?;
        first.get_or_insert(number);
    }
    Ok(Watch { open: answers, late: Vec::new(), first, standing, after })
}

/// The answer that was left, if it is one.
fn answered(sent: &Sent) -> Option<RelayResolved> {
    match Event::from_json(&sent.text).ok()?.body {
        Body::RelayResolved(answer) => Some(*answer),
        _ => None,
    }
}

/// Answers that were left, and what the journal says about them.
pub(crate) struct Watch {
    open: Vec<RelayResolved>,
    /// Why those were not taken that were not.
    late: Vec<String>,
    /// The number that the first of them was left under.
    first: Option<u64>,
    standing: Standing,
    /// How far it was read.
    after: u64,
}

impl Watch {
    /// Those of which the journal says nothing.
    pub(crate) fn open(&self) -> &[RelayResolved] {
        &self.open
    }

    /// Waits until the journal says what became of all of them; nothing if some are there and nobody runs the session any
    /// more.
    pub(crate) fn wait(&mut self, store: &Shelf, branch: &Branch) -> Result<Option<Became>> {
        let since = Instant::now();
        loop {
            if let Some(became) = self.look(store, branch)? {
                return Ok(Some(became));
            }
            if since.elapsed() >= PATIENCE_FOR_ANSWERS {
                return self.waiting(store, branch).map(Some);
            }
            match store.journal.claim(&branch.session) {
                Err(Fault::Owned { .. }) => sleep(PAUSE),
                claimed => {
                    // Given back at once: whoever goes on with it claims it.
                    drop(claimed?);
                    // It may have taken them last of all.
                    return self.look(store, branch);
                }
            }
        }
    }

    fn waiting(&self, store: &Shelf, branch: &Branch) -> Result<Became> {
        if !self.late.is_empty() {
            return Ok(Became::Late(self.late.join("\n")));
        }
        let left = store.journal.take(&branch.session, 0).wait()?;
        let before = left.iter().filter(|sent| self.first.is_some_and(|first| sent.number < first));
        let is_open = |earlier: RelayResolved| self.open.iter().any(|open| open.relay_id == earlier.relay_id);
        Ok(Became::Waiting(before.filter_map(answered).any(is_open)))
    }

    /// What became of them, if the journal says it of all.
    pub(crate) fn look(&mut self, store: &Shelf, branch: &Branch) -> Result<Option<Became>> {
        self.read(store, branch)?;
        Ok(match (self.open.as_slice(), self.late.as_slice()) {
            ([], []) => Some(Became::Taken),
            ([], late) => Some(Became::Late(late.join("\n"))),
            _ => None,
        })
    }

    fn read(&mut self, store: &Shelf, branch: &Branch) -> Result<()> {
        self.after = store.each(branch, self.after, |event| {
            self.standing.apply(&event);
            let resolved = match &event.body {
                Body::RelayResolved(resolved) => Some(&**resolved),
                _ => None,
            };
            self.late.extend(
                self.open.extract_if(.., |open| !self.standing.asks(&open.relay_id)).filter_map(|open| {
                    match resolved {
                        Some(resolved) if is_taken(&open, resolved) => None,
                        Some(resolved) => Some(late(&open.relay_id, &instead(resolved))),
                        None => Some(late(&open.relay_id, OVER)),
                    }
                }),
            );
            Ok(())
        })?;
        Ok(())
    }
}

/// Leaves commands for the process that runs a session, and waits until it has taken them.
pub(crate) fn reach(shelf: &Shelf, branch: &Branch, commands: &[Event]) -> Result<Reached> {
    let mut last = 0;
    for command in commands {
        last = shelf.journal.send(&branch.session, &command.to_json()).wait()?;
    }
    let is_taken = || -> Result<bool> {
        let left = shelf.journal.take(&branch.session, 0).wait()?;
        Ok(left.iter().all(|sent| sent.number > last))
    };
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if is_taken()? {
            return Ok(Reached::Owner);
        }
        match shelf.journal.claim(&branch.session) {
            Err(Fault::Owned { .. }) => sleep(PAUSE),
            claimed => {
                // Given back at once: whoever goes on with it claims it.
                drop(claimed?);
                // It may have taken them last of all.
                return Ok(if is_taken()? { Reached::Owner } else { Reached::Nobody });
            }
        }
    }
    Ok(Reached::Owner)
}
