//! [`Report`]: what came of a run, whatever ended it.

use std::ops::Index;

use antiphon_event::body::flow::{Pending, RunEnd};
use antiphon_event::{FlowNodeId, Json, NodeStatus, RelayId, RunId, SessionId, StopReason};
use antiphon_flow::Scheduler;
use serde_json::Value;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is done.
    Completed,
    /// Something failed, or a limit was reached.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// Only people can get it further.
    Paused,
}

/// What came of a run: always there, with as much as was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The session it is in.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// How it stands.
    pub outcome: Outcome,
    /// What it gave; what its nodes gave so far if it did not complete.
    pub output: Json,
    /// Why it ended early.
    pub reason: Option<StopReason>,
    /// What was not done, and why.
    pub pending: Vec<Pending>,
    /// What each node gave that has given something.
    pub outputs: ByNode<Json>,
    /// How each node stands.
    pub statuses: ByNode<NodeStatus>,
    /// The state.
    pub state: Value,
    /// Requests that wait for a person, nested runs included.
    pub relays: Vec<RelayId>,
    /// Position of the last event.
    pub seq: u64,
}

/// Something about each of some nodes, in the order the nodes were declared. Read by id: `outputs["write"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByNode<T>(Vec<(FlowNodeId, T)>);

impl<T> ByNode<T> {
    /// What there is about a node. Looks through the list.
    pub fn get(&self, node: &str) -> Option<&T> {
        self.0.iter().find(|(id, _)| id.as_str() == node).map(|(_, value)| value)
    }

    /// All of it.
    pub fn iter(&self) -> impl Iterator<Item = (&FlowNodeId, &T)> {
        self.0.iter().map(|(id, value)| (id, value))
    }

    /// All of it, without the nodes.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl<T> Index<&str> for ByNode<T> {
    type Output = T;

    fn index(&self, node: &str) -> &T {
        self.get(node).unwrap_or_else(|| panic!("there is nothing about a node `{node}`"))
    }
}

impl Report {
    pub(crate) fn new(
        scheduler: &Scheduler,
        session: SessionId,
        end: Option<&RunEnd>,
        relays: Vec<RelayId>,
        seq: u64,
    ) -> Self {
        let flow = scheduler.flow();
        let ids = || flow.ids().iter().cloned().enumerate();
        let outputs = ids().filter_map(|(node, id)| Some((id, scheduler.output(node)?.clone())));
        let outcome = match scheduler.ended() {
            None => Outcome::Paused,
            Some(NodeStatus::Completed) => Outcome::Completed,
            Some(NodeStatus::Cancelled) => Outcome::Cancelled,
            Some(_) => Outcome::Failed,
        };
        Self {
            session,
            run: scheduler.origin().run.clone(),
            outcome,
            output: end.map_or_else(|| Json::from(Value::Null), |end| end.final_output.clone()),
            reason: end.and_then(|end| end.reason.clone()),
            pending: end.and_then(|end| end.pending.clone()).unwrap_or_default(),
            outputs: ByNode(outputs.collect()),
            statuses: ByNode(ids().map(|(node, id)| (id, scheduler.status(node))).collect()),
            state: Value::Object(scheduler.state().to_object()),
            relays,
            seq,
        }
    }
}
