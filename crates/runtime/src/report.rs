//! [`Report`]: what came of a run, whatever ended it.

use std::ops::Index;

use antiphon_agent::Agent;
use antiphon_event::body::flow::{Pending, RunEnd};
use antiphon_event::{EndReason, FlowNodeId, Json, NodeStatus, RelayId, RunId, SessionId, StopReason};
use antiphon_flow::Scheduler;
use antiphon_flow::state::State;
use serde_json::{Value, json};

use crate::mind::Mind;
use crate::tree::Tree;

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
    /// The state. Read by key: `state["notes"]`.
    pub state: State,
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
    pub(crate) fn new(tree: &Tree, session: SessionId, seq: u64) -> Self {
        let root = &tree.machines[0];
        let empty = Self {
            session,
            run: root.mind.run().clone(),
            outcome: Outcome::Paused,
            output: Json::from(Value::Null),
            reason: None,
            pending: Vec::new(),
            outputs: ByNode(Vec::new()),
            statuses: ByNode(Vec::new()),
            state: State::default(),
            relays: tree.relays(),
            seq,
        };
        match &root.mind {
            // One that goes on has not ended, whatever it had given when it did before.
            Mind::Flow(flow) => empty.of_flow(flow, root.end.as_ref().filter(|_| flow.ended().is_some())),
            Mind::Agent(agent) => empty.of_agent(agent),
        }
    }

    fn of_flow(self, scheduler: &Scheduler, end: Option<&RunEnd>) -> Self {
        let flow = scheduler.flow();
        let ids = || flow.ids().iter().cloned().enumerate();
        let outputs = ids().filter_map(|(node, id)| Some((id, scheduler.output(node)?.clone())));
        Self {
            outcome: match scheduler.ended() {
                None => Outcome::Paused,
                Some(NodeStatus::Completed) => Outcome::Completed,
                Some(NodeStatus::Cancelled) => Outcome::Cancelled,
                Some(_) => Outcome::Failed,
            },
            output: end.map_or_else(|| Json::from(Value::Null), |end| end.final_output.clone()),
            reason: end.and_then(|end| end.reason.clone()),
            pending: end.and_then(|end| end.pending.clone()).unwrap_or_default(),
            outputs: ByNode(outputs.collect()),
            statuses: ByNode(ids().map(|(node, id)| (id, scheduler.status(node))).collect()),
            state: scheduler.state().clone(),
            ..self
        }
    }

    fn of_agent(self, agent: &Agent) -> Self {
        let result = agent.result();
        let outcome = match (agent.ended(), &result) {
            (None, _) | (_, None) => Outcome::Paused,
            (Some(EndReason::Cancelled), _) => Outcome::Cancelled,
            (_, Some(Ok(_))) => Outcome::Completed,
            (_, Some(Err(_))) => Outcome::Failed,
        };
        let output = match result {
            Some(Ok(output)) => output,
            Some(Err(failure)) => Json::from(json!({"error": failure.message})),
            None => Json::from(Value::Null),
        };
        Self { outcome, output, ..self }
    }
}
