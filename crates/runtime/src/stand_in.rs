//! [`StandIn`]: answers for nodes instead of doing their work, such as from a recording.

use std::collections::BTreeMap;

use antiphon_event::{Event, FlowNodeId, Json};
use antiphon_flow::function::{Failure, Reply};

use crate::function::{Call, Future};

/// The work of a node that somebody else is to answer for.
pub struct Job {
    /// The way to the node from the outermost flow.
    pub path: Vec<FlowNodeId>,
    /// Which executions of the nodes around it this is in, outermost first: with a flow in a loop, or a map, every round
    /// begins from 1 inside.
    pub around: Vec<u32>,
    /// The attempt, as the node's own code would see it.
    pub call: Call,
}

/// Answers for every node whose work is outside the flow: functions, commands, tools, agents. Expressions, routers,
/// guardrails, nested flows and maps run as they are; people are still asked. Dropped to be cancelled.
pub trait StandIn: Send + Sync + 'static {
    /// What the node comes to.
    fn answer(&self, job: Job) -> Future<Result<Reply, Failure>>;

    /// What somebody contributes to the state of the outermost flow right after an event, by key, and who. Asked once for
    /// each.
    fn patches(&self, after: &Event) -> Vec<(BTreeMap<String, Json>, String)> {
        let _ = after;
        Vec::new()
    }
}
