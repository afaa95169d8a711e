//! [`Steps`]: which message each event belongs to.
//!
//! A step is one call of the model and what came of it. It opens when the model begins to speak and is over
//! when the model speaks again after its usage was counted or a call was answered, or when the run ends. In a run whose
//! events name flow nodes a step is one node's: each of them goes on with its own, and it is over when the node ends or
//! begins again. The one that was gone on with last is in [`Step`], the others in [`super::beside`].

use antiphon_event::{FlowNodeId, Kind};

use super::beside::Open;
use crate::Place;
use crate::node::NOWHERE;

/// Where one run stands.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Step {
    /// The message that is open.
    pub(crate) message: Place,
    /// The flow node whose it is, if its events name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<FlowNodeId>,
    /// Whether nodes of a flow begin in the run: then what names none of them is none of theirs.
    #[serde(default)]
    pub(crate) is_flow: bool,
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
            node: None,
            is_flow: false,
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
            Kind::ModelRetry | Kind::HarnessEnd | Kind::RunEnd | Kind::User => self.close(),
            Kind::NodeEnd if self.node.is_some() => self.close(),
            _ => {}
        }
    }

    /// Ends the open step.
    pub(crate) fn close(&mut self) {
        self.message = NOWHERE;
        self.block = NOWHERE;
    }

    /// Goes on with the step of another node; gives the one that was gone on with.
    pub(super) fn exchange(&mut self, node: Option<FlowNodeId>, open: Open) -> (Option<FlowNodeId>, Open) {
        let Self { message, block, counted, answered, .. } = *self;
        (self.message, self.block) = (open.message, open.block);
        (self.counted, self.answered) = (open.counted, open.answered);
        let before = Open { message, block, counted, answered, ..Open::default() };
        (std::mem::replace(&mut self.node, node), before)
    }
}
