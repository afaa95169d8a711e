//! [`Batch`]: events that are appended together or not at all.

use std::ops::Deref;
use std::sync::Arc;

use antiphon_event::Event;

/// For how many more there is room at most in a list that a batch was taken from.
const ROOM_MAX: usize = 4096;
/// Which part of a batch may be room for more; to have less means to move its events.
const SPARE_PART: usize = 4;

/// One event or more, in order. Cloning shares them, so that whoever appends them can keep them.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch(Arc<Vec<Event>>);

impl Batch {
    /// The events as a batch; nothing if there are none.
    pub fn new(events: Vec<Event>) -> Option<Self> {
        (!events.is_empty()).then(|| Self(Arc::new(events)))
    }

    /// The same of a list that more will be put into, which is left with room for about as many.
    pub fn take(events: &mut Vec<Event>) -> Option<Self> {
        let room = Vec::with_capacity(events.len().min(ROOM_MAX));
        let mut taken = std::mem::replace(events, room);
        // A journal in memory keeps it as it is.
        if taken.capacity() - taken.len() > taken.len() / SPARE_PART {
            taken.shrink_to_fit();
        }
        Self::new(taken)
    }

    /// The last event: there always is one.
    pub fn end(&self) -> &Event {
        self.0.last().expect("a batch is never empty")
    }
}

impl From<Event> for Batch {
    fn from(event: Event) -> Self {
        Self(Arc::new(vec![event]))
    }
}

impl Deref for Batch {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        &self.0
    }
}
