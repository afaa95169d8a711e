//! [`Batch`]: events that are appended together or not at all.

use std::ops::Deref;
use std::sync::Arc;

use antiphon_event::Event;

/// One event or more, in order. Cloning shares them, so that whoever appends them can keep them.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch(Arc<[Event]>);

impl Batch {
    /// The events as a batch; nothing if there are none.
    pub fn new(events: Vec<Event>) -> Option<Self> {
        (!events.is_empty()).then(|| Self(events.into()))
    }

    /// The same of a list that more will be put into, which keeps its room.
    pub fn take(events: &mut Vec<Event>) -> Option<Self> {
        (!events.is_empty()).then(|| Self(events.drain(..).collect()))
    }

    /// The last event: there always is one.
    pub fn end(&self) -> &Event {
        self.0.last().expect("a batch is never empty")
    }
}

impl From<Event> for Batch {
    fn from(event: Event) -> Self {
        Self(Arc::new([event]))
    }
}

impl Deref for Batch {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        &self.0
    }
}
