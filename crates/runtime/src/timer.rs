//! [`Timers`]: what is due when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tokio::time::Instant;

/// Things that are due at some moment, the earliest first; of two at one moment, the one set first.
#[derive(Debug)]
pub(crate) struct Timers<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    set: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Instant,
    number: u64,
    what: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<T> Timers<T> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), set: 0 }
    }

    pub(crate) fn set(&mut self, at: Instant, what: T) {
        self.set += 1;
        self.heap.push(Reverse(Entry { at, number: self.set, what }));
    }

    /// When the next thing is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next thing, if it is due.
    pub(crate) fn due(&mut self, now: Instant) -> Option<T> {
        let due = self.heap.peek().is_some_and(|Reverse(entry)| entry.at <= now);
        due.then(|| self.heap.pop().expect("it was just seen").0.what)
    }
}
