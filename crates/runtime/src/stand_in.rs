//! [`StandIn`]: answers for nodes instead of doing their work, such as from a recording.

use crate::function::{Call, Future};
use antiphon_event::FlowNodeId;
use antiphon_flow::function::{Failure, Reply};

/// The work of a node that somebody else is to answer for.
pub struct Job {
    /// The way to the node from the outermost flow.
    pub path: Vec<FlowNodeId>,
    /// The attempt, as the node's own code would see it.
    pub call: Call,
}

/// Answers for every node whose work is outside the flow: functions, commands, tools, agents. Expressions, routers,
/// guardrails, nested flows and maps run as they are; people are still asked. Dropped to be cancelled.
pub trait StandIn: Send + Sync + 'static {
    /// What the node comes to.
    fn answer(&self, job: Job) -> Future<Result<Reply, Failure>>;
}
