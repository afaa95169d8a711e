//! [`Steps`]: which message each event belongs to.
//!
//! A step is one call of the model and what came of it. It opens when the model begins to speak and is over
//! when the model speaks again after its usage was counted or a call was answered, or when the run ends.

use antiphon_event::Kind;

use crate::Place;
use crate::node::NOWHERE;

/// Where one run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Step {
    /// The message that is open.
    pub(crate) message: Place,
    /// The message for what happens outside of steps.
    pub(crate) structural: Place,
    /// The first message with content, which answers what caused the run.
    pub(crate) first: Place,
    /// The latest message with content.
    pub(crate) last: Place,
    /// The content block that the latest content went to.
    pub(crate) block: Place,
    /// Whether the usage of the model call was counted.
    pub(crate) counted: bool,
    /// Whether a call of the step was answered.
    pub(crate) answered: bool,
}

impl Default for Step {
    fn default() -> Self {
        Self {
            message: NOWHERE,
            structural: NOWHERE,
            first: NOWHERE,
            last: NOWHERE,
            block: NOWHERE,
            counted: false,
            answered: false,
        }
    }
}

impl Step {
    /// Whether content of this type begins a new step.
    pub(crate) fn begins(&self, kind: Kind) -> bool {
        match kind {
            Kind::User => true,
            Kind::Text | Kind::Reasoning => self.message == NOWHERE || self.counted || self.answered,
            Kind::ToolCall | Kind::ReplInput => self.message == NOWHERE || self.answered,
            _ => self.message == NOWHERE,
        }
    }

    /// Opens a step at a message.
    pub(crate) fn open(&mut self, message: Place) {
        self.message = message;
        self.last = message;
        if self.first == NOWHERE {
            self.first = message;
        }
        self.block = NOWHERE;
        self.counted = false;
        self.answered = false;
    }

    /// Notes what an event says about the open step, after it was placed.
    pub(crate) fn note(&mut self, kind: Kind, message: Place) {
        match kind {
            Kind::Usage => self.counted = true,
            Kind::ToolResult | Kind::ReplOutput if message == self.message => self.answered = true,
            Kind::ModelRetry | Kind::HarnessEnd | Kind::RunEnd | Kind::User => {
                self.message = NOWHERE;
                self.block = NOWHERE;
            }
            _ => {}
        }
    }
}
