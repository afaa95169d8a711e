//! [`Steps`]: where one model call of a run ends and the next begins.
//!
//! In: the content of a run and what settles it, in order. Out: whether a new step begins. Our producers name the
//! step in `messageId`; of others, what a model says after its usage or after a result is a new step.

use antiphon_event::MessageId;
use serde::{Deserialize, Serialize};

/// Follows the steps of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Steps {
    message: Option<MessageId>,
    /// Whether a step is under way and nothing has settled it yet.
    open: bool,
}

impl Steps {
    /// Notes content of the model; `true` if it begins a step.
    pub(crate) fn begins(&mut self, message: Option<&MessageId>) -> bool {
        let begins = match message {
            Some(_) => self.message.as_ref() != message,
            None => !self.open,
        };
        if begins {
            self.message = message.cloned();
        }
        self.open = true;
        begins
    }

    /// Notes that the model has finished speaking: its usage, a result, a retry.
    pub(crate) fn settle(&mut self) {
        self.open = false;
    }
}
