//! [`Pages`]: the events of a branch, a page at a time; the next ones are read while somebody looks at this one.

use std::collections::VecDeque;

use antiphon_event::Event;
use antiphon_port::{Branch, Fault, Reply};

use crate::engine::Parts;

/// How many events are read at once: few enough that they are still at hand when somebody looks at them.
const PAGE: u64 = 2048;
/// How many pages are being read at a time: a journal may have several readers.
const AHEAD: usize = 3;

/// The events of a branch after a position, and up to another.
pub(crate) struct Pages<'a> {
    parts: &'a Parts,
    branch: &'a Branch,
    /// The position of the last event that was handed over.
    pub(crate) after: u64,
    upto: u64,
    /// Pages that were asked for, each with the position it begins after.
    ahead: VecDeque<(u64, Reply<Vec<Event>>)>,
    /// The position the next one to be asked for begins after, if all before it are full.
    asked: u64,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(parts: &'a Parts, branch: &'a Branch, after: u64, upto: u64) -> Self {
        let mut pages = Self { parts, branch, after, upto, ahead: VecDeque::new(), asked: after };
        pages.ask();
        pages
    }

    /// The next page; nothing at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Event>>, Fault> {
        let Some((_, page)) = self.ahead.pop_front() else { return Ok(None) };
        let page = page.await?;
        let Some(last) = page.last().and_then(|event| event.head.seq) else { return Ok(None) };
        self.after = last;
        // A page is shorter than asked for where events are large, or the branch ends.
        if self.ahead.front().map_or(self.asked, |(after, _)| *after) != last {
            self.ahead.clear();
            self.asked = last;
        }
        self.ask();
        Ok(Some(page))
    }

    fn ask(&mut self) {
        while self.ahead.len() < AHEAD && self.asked < self.upto {
            let wanted = (self.upto - self.asked).min(PAGE);
            let page = self.parts.journal.read(self.branch, self.asked, wanted as usize);
            self.ahead.push_back((self.asked, page));
            self.asked = self.asked.saturating_add(wanted);
        }
    }
}
