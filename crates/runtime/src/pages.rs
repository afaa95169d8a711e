//! [`Pages`]: the events of a branch, a page at a time; the next one is read while somebody looks at this one.

use antiphon_event::Event;
use antiphon_port::{Branch, Fault, Reply};

use crate::engine::Parts;

/// How many events are read at once.
const PAGE: u64 = 16_384;

/// The events of a branch after a position, and up to another.
pub(crate) struct Pages<'a> {
    parts: &'a Parts,
    branch: &'a Branch,
    /// The position of the last event that was handed over.
    pub(crate) after: u64,
    upto: u64,
    ahead: Option<Reply<Vec<Event>>>,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(parts: &'a Parts, branch: &'a Branch, after: u64, upto: u64) -> Self {
        let mut pages = Self { parts, branch, after, upto, ahead: None };
        pages.read(after);
        pages
    }

    /// The next page; nothing at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Event>>, Fault> {
        let Some(ahead) = self.ahead.take() else { return Ok(None) };
        let page = ahead.await?;
        let Some(last) = page.last().and_then(|event| event.head.seq) else { return Ok(None) };
        self.after = last;
        self.read(last);
        Ok(Some(page))
    }

    fn read(&mut self, after: u64) {
        let wanted = self.upto.saturating_sub(after).min(PAGE);
        if wanted > 0 {
            self.ahead = Some(self.parts.journal.read(self.branch, after, wanted as usize));
        }
    }
}
