//! [`Tail`]: the events of a branch, from a position on, as they come.

use antiphon_event::Event;
use antiphon_port::{Branch, Fault, Journal};
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
}

impl Tail {
    /// The next events, at least one; nothing when the run has ended or paused and all were handed out.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Fault> {
        loop {
            let (seq, working) = {
                let progress = self.progress.borrow_and_update();
                (progress.seq, progress.standing.is_working())
            };
            if self.after < seq {
                let events = self.journal.read(&self.branch, self.after, PAGE).await?;
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
