//! What a timeline is made of: runs, their rows, layers, edges and marks.

use antiphon_event::{AgentId, FlowNodeId, NodeStatus, RunId, Timestamp};
use serde::{Deserialize, Serialize};

/// A run of a flow, or of an agent inside one of its nodes.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The run.
    pub run_id: RunId,
    /// Whether a flow ran, or an agent.
    pub kind: RunKind,
    /// The flow's name.
    pub graph_id: Option<String>,
    /// The agent that runs.
    pub agent_id: Option<AgentId>,
    /// The row of another run in which it ran.
    pub within: Option<RowRef>,
    /// How it stands, in the words of a node.
    pub status: NodeStatus,
    /// When it was first heard of.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it ran, as it says itself, else from start to end.
    pub duration_ms: Option<u64>,
    /// Why it ended, if not by coming to its end.
    pub reason: Option<String>,
    /// The beginning of what it gave.
    pub output: Option<String>,
    /// How often it was taken up again after it had ended or was cut off.
    pub resumed: u64,
    /// Rows by status.
    pub counts: Counts,
    /// One row for each attempt at each execution of each node, in the order they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    /// Passes through the layers, in the order they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Edges in the order they were taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
    /// Whatever else is worth a mark on the line of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

impl Run {
    pub(super) fn new(run_id: RunId, started_at: Option<Timestamp>) -> Self {
        Self {
            run_id,
            kind: RunKind::Agent,
            graph_id: None,
            agent_id: None,
            within: None,
            status: NodeStatus::Executing,
            started_at,
            ended_at: None,
            duration_ms: None,
            reason: None,
            output: None,
            resumed: 0,
            counts: Counts::default(),
            rows: Vec::new(),
            layers: Vec::new(),
            edges: Vec::new(),
            marks: Vec::new(),
        }
    }
}

/// What ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// A flow: it has rows.
    Flow,
    /// An agent in a node of a flow.
    Agent,
}

/// A row of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowRef {
    /// The run.
    pub run_id: RunId,
    /// The place of the row in it.
    pub row: usize,
}

/// Rows by status. An attempt that was followed by another counts as retried only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Under way.
    #[serde(default, skip_serializing_if = "none")]
    pub executing: u64,
    /// Come to a good end.
    #[serde(default, skip_serializing_if = "none")]
    pub completed: u64,
    /// Failed for good.
    #[serde(default, skip_serializing_if = "none")]
    pub failed: u64,
    /// Failed, and tried again.
    #[serde(default, skip_serializing_if = "none")]
    pub retried: u64,
    /// Stopped from outside.
    #[serde(default, skip_serializing_if = "none")]
    pub cancelled: u64,
    /// Passed over.
    #[serde(default, skip_serializing_if = "none")]
    pub skipped: u64,
    /// Waiting for a person.
    #[serde(default, skip_serializing_if = "none")]
    pub interrupted: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn none(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    pub(super) fn of(&mut self, row: &Row) -> Option<&mut u64> {
        match row.status {
            _ if row.retry_after_ms.is_some() => Some(&mut self.retried),
            NodeStatus::Executing => Some(&mut self.executing),
            NodeStatus::Completed => Some(&mut self.completed),
            NodeStatus::Failed => Some(&mut self.failed),
            NodeStatus::Cancelled => Some(&mut self.cancelled),
            NodeStatus::Skipped => Some(&mut self.skipped),
            NodeStatus::Interrupted => Some(&mut self.interrupted),
            NodeStatus::Pending | NodeStatus::Other(_) => None,
        }
    }
}

/// One attempt at one execution of a node.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The node.
    pub node_id: FlowNodeId,
    /// Which execution of the node in this run, from 1.
    pub execution: u32,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// What kind of node.
    pub node_type: Option<String>,
    /// The layer it belongs to, where layers are told.
    pub layer: Option<u32>,
    /// How it stands.
    pub status: NodeStatus,
    /// When it began; absent if only its end was told.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it took, as it says itself, else from start to end.
    pub duration_ms: Option<u64>,
    /// The beginning of what it gave.
    pub output: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Why it was skipped, or what it waits for.
    pub reason: Option<String>,
    /// How long until the next attempt, if this one failed and another follows.
    pub retry_after_ms: Option<u64>,
    /// How long it was allowed to take, if it took longer.
    pub timeout_ms: Option<u64>,
    /// Runs of flows and agents inside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<RunId>,
}

impl Row {
    /// Whether it has not come to an end.
    pub fn is_open(&self) -> bool {
        self.ended_at.is_none()
            && self.retry_after_ms.is_none()
            && matches!(self.status, NodeStatus::Executing | NodeStatus::Interrupted)
    }
}

/// One pass through a layer of a flow.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Layer {
    /// Which one, from 0.
    pub layer: u32,
    /// When its first node began.
    pub started_at: Option<Timestamp>,
    /// When all its nodes had settled.
    pub ended_at: Option<Timestamp>,
    /// Whether it has ended.
    pub ended: bool,
}

/// An edge that was taken.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// From this node.
    pub from: FlowNodeId,
    /// To that one.
    pub to: FlowNodeId,
    /// What kind of edge.
    pub edge_type: String,
    /// The condition that held.
    pub condition: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
}

/// Something that happened at a moment and takes no time.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// The type of the event.
    pub kind: String,
    /// Where.
    pub node_id: Option<FlowNodeId>,
    /// When.
    pub at: Option<Timestamp>,
    /// What, in words.
    pub text: String,
}
