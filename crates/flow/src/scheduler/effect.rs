//! [`Effect`]: something to be done outside.

use antiphon_event::{RelayId, Timestamp};

use super::Attempt;

/// What the scheduler wants done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Do the work of a node.
    Perform(Attempt),
    /// Say [`Input::Due`](super::Input::Due) after so many milliseconds.
    Wait(Attempt, u64),
    /// Say [`Input::Expired`](super::Input::Expired) at this moment.
    Watch(RelayId, Timestamp),
    /// Cut the work of a node off; what it still says or gives is dropped.
    Stop(Attempt),
    /// Let the work of a node come to a good end soon.
    Wind(Attempt),
}

/// Whom the effects of an event are handed to, one after the other.
pub(super) type Wants<'w> = &'w mut dyn FnMut(Effect);
