//! [`Tail`]: the events of a branch, from a position on, as they come.

use antiphon_event::Event;
use antiphon_port::{Branch, Fault, Journal, Reply};
use std::sync::Arc;
use tokio::sync::watch;

use crate::run::Progress;

/// How many events are read at once.
const PAGE: usize = 1024;

/// The events of a branch after a position, first those that are there, then those to come. Reads the journal at its
/// own pace: a slow reader holds up nobody and loses nothing.
pub struct Tail {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) branch: Branch,
    pub(crate) after: u64,
    pub(crate) progress: watch::Receiver<Progress>,
    /// The read that is under way: whoever stops waiting for it and comes back goes on with it.
    pub(crate) reading: Option<Reply<Vec<Event>>>,
}

impl Tail {
    /// The next events, at least one; nothing when the run has ended or paused and all were handed out. May be dropped
    /// and called again: nothing is lost, and nothing is read twice.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Fault> {
        loop {
            let (seq, working) = {
                let progress = self.progress.borrow_and_update();
                (progress.seq, progress.standing.is_working())
            };
            if self.reading.is_none() && self.after < seq {
                self.reading = Some(self.journal.read(&self.branch, self.after, PAGE));
            }
            if let Some(reading) = &mut self.reading {
                let events = reading.await;
                self.reading = None;
                let events = events?;
                if let Some(last) = events.last().and_then(|event| event.head.seq) {
                    self.after = last;
                    return Ok(Some(events));
                }
            }
            if !working || self.progress.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// The position of the last event handed out.
    pub fn position(&self) -> u64 {
        self.after
    }
}
