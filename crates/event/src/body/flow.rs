//! Flows: runs of orchestration graphs, their nodes and edges.
//!
//! The node an event is about is `nodeId` of the head, not a member here.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::whole::{maybe, whole};
use crate::{EdgeType, ErrorCode, FlowNodeId, Json, NodeStatus, NodeType, StopReason};

/// A flow began to run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStart {
    /// The flow.
    pub graph_id: String,
    /// The task.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub input: Option<Json>,
    /// What the state begins with instead of its defaults.
    pub state: Option<BTreeMap<String, Json>>,
    /// The whole flow, nested ones included, if it came from a file: what resuming goes by.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub definition: Option<Json>,
    /// The folder it works in, whoever goes on with it, if it is nobody's child.
    pub folder: Option<Box<str>>,
}

/// A node began an execution, or one more attempt at it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeStart {
    /// What kind of node.
    pub node_type: Option<NodeType>,
    /// Which attempt at this execution, from 1.
    #[serde(default = "one", deserialize_with = "whole")]
    pub attempt: u32,
    /// Which execution of the node in this run, from 1.
    #[serde(default = "one", deserialize_with = "whole")]
    pub execution: u32,
    /// Its input, if a hook or an expression changed it.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub input: Option<Json>,
    /// Why it does not do its work, if that is known as it begins: what follows is as if it had tried.
    pub error: Option<Box<NodeError>>,
    /// The node that a guardrail sends the run to instead of this one doing its work.
    pub reroute: Option<FlowNodeId>,
}

/// An execution of a node came to its end.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeEnd {
    /// How it ended.
    pub status: NodeStatus,
    /// Which execution, from 1.
    #[serde(default = "one", deserialize_with = "whole")]
    pub execution: u32,
    /// Which attempt at it, from 1.
    #[serde(default = "one", deserialize_with = "whole")]
    pub attempt: u32,
    /// What it gave; if it failed or was cancelled, what the run inside it had come to by then.
    pub output: Json,
    /// How long it took.
    #[serde(deserialize_with = "whole")]
    pub duration_ms: u64,
    /// What went wrong.
    pub error: Option<Box<NodeError>>,
    /// What it counted.
    pub telemetry: Option<Box<Telemetry>>,
    /// What it contributes to the state, by key.
    pub writes: Option<BTreeMap<String, Json>>,
    /// What was decided about each edge that leaves it.
    #[serde(default)]
    pub edges: Vec<EdgeDecision>,
}

/// What was decided about one edge.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeDecision {
    /// Where it leads.
    pub to: FlowNodeId,
    /// Whether it is taken.
    pub live: bool,
    /// Members of a later version, if there are any.
    #[serde(flatten, deserialize_with = "rest")]
    pub extra: Option<Box<Map<String, Value>>>,
}

/// What went wrong in a node.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeError {
    /// For a program.
    pub code: Option<ErrorCode>,
    /// For a person.
    pub message: String,
    /// The bound of the run that was reached, if that is why the node was cut off or got no budget.
    pub limit: Option<StopReason>,
    /// How many flows further out the run is whose bound it is; absent if it is that of the node.
    #[serde(default, deserialize_with = "maybe")]
    pub limit_around: Option<u32>,
    /// False if it is not for a program to try again: its work may have been done, or a person has decided.
    pub retryable: Option<bool>,
    /// True if that is because a person has decided.
    pub decided: Option<bool>,
    /// Members of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What the work inside a node counted.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// Model calls.
    #[serde(default, deserialize_with = "maybe")]
    pub iterations: Option<u64>,
    /// Tool calls.
    #[serde(default, deserialize_with = "maybe")]
    pub tool_calls: Option<u64>,
    /// Tool calls that failed.
    #[serde(default, deserialize_with = "maybe")]
    pub tool_errors: Option<u64>,
    /// Whether it stopped at its iteration limit.
    pub iterations_exhausted: Option<bool>,
    /// Tokens read.
    #[serde(default, deserialize_with = "maybe")]
    pub prompt_tokens: Option<u64>,
    /// Tokens written.
    #[serde(default, deserialize_with = "maybe")]
    pub completion_tokens: Option<u64>,
    /// Both.
    #[serde(default, deserialize_with = "maybe")]
    pub total_tokens: Option<u64>,
    /// The price, in US dollars.
    pub cost_usd: Option<f64>,
    /// Members of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A node will not run in this pass.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeSkipped {
    /// Which execution it would have been, from 1.
    #[serde(default = "one", deserialize_with = "whole")]
    pub execution: u32,
    /// Why.
    pub reason: String,
}

/// An attempt failed; another follows.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeRetry {
    /// Which execution, from 1.
    #[serde(default = "one", deserialize_with = "whole")]
    pub execution: u32,
    /// Which attempt failed, from 1.
    #[serde(default = "one", deserialize_with = "whole")]
    pub attempt: u32,
    /// How long until the next.
    #[serde(deserialize_with = "whole")]
    pub delay_ms: u64,
    /// What went wrong.
    pub error: NodeError,
}

/// A node took too long and was cut off.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeTimeout {
    /// How long it was allowed to take.
    #[serde(deserialize_with = "whole")]
    pub timeout_ms: u64,
}

/// An edge was taken.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeTransition {
    /// From here.
    pub source_id: FlowNodeId,
    /// To there.
    pub target_id: FlowNodeId,
    /// Why it is taken.
    pub edge_type: EdgeType,
    /// The condition that held.
    pub condition: Option<Arc<String>>,
    /// What went wrong, where the target takes over for the source.
    pub error: Option<Box<NodeError>>,
}

/// The first node of a layer started in this pass.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayerStart {
    /// The layer: the longest forward path from an entry.
    #[serde(deserialize_with = "whole")]
    pub layer: u32,
}

/// All nodes of a layer have settled.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayerEnd {
    /// The layer.
    #[serde(deserialize_with = "whole")]
    pub layer: u32,
}

/// One agent of a swarm handed over to another.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Handoff {
    /// From this node.
    pub from_node_id: FlowNodeId,
    /// To that one.
    pub to_node_id: FlowNodeId,
    /// What was said.
    pub message: Option<String>,
}

/// A node waits for a person.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interrupt {
    /// Why: `human_approval`, `error`, `guardrail_violation` …
    pub reason: String,
}

/// A run that had ended or was cut off goes on.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    /// The folder it works in from here on, if somebody said another one.
    pub folder: Option<Box<str>>,
}

/// Somebody changed the state from outside.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatePatched {
    /// The new contributions, by key.
    pub writes: BTreeMap<String, Json>,
    /// Who.
    pub by: String,
}

/// A position was saved.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointSaved {
    /// The checkpoint: `RUN@POSITION`.
    pub checkpoint_id: String,
    /// The hash of what was saved, as 64 hex digits: only that is gone on from.
    pub saved_hash: Option<String>,
}

impl CheckpointSaved {
    /// The position that was saved, as the name of the checkpoint says.
    pub fn seq(&self) -> Option<u64> {
        self.checkpoint_id.rsplit_once('@')?.1.parse().ok()
    }
}

/// A guardrail looked at something.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuardrailResult {
    /// Which one.
    pub guardrail_id: String,
    /// Whether it was content.
    pub passed: bool,
    /// What is done about it: `block`, `warn`, `sanitize`, `reroute` …
    pub action: String,
}

/// A guardrail overruled an automated approval.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuardrailOverride {
    /// Which one.
    pub guardrail_id: String,
    /// Why.
    pub reason: String,
}

/// Memories were read.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRead {
    /// How many.
    #[serde(deserialize_with = "whole")]
    pub trace_count: u64,
}

/// A memory was written.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryWrite {
    /// What kind.
    pub trace_type: String,
    /// The memory.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub value: Option<Json>,
}

/// Tools were looked for.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryResult {
    /// The ones found.
    pub tools_found: Vec<String>,
}

/// Something worth knowing that is no error.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// `debug`, `info`, `warn` or `error`.
    pub level: String,
    /// Which part says so.
    pub source: String,
    /// What, for a person.
    pub message: String,
}

/// A flow came to its end.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunEnd {
    /// How it ended. A line of another system may lack it.
    pub status: Option<NodeStatus>,
    /// What it gave.
    pub final_output: Json,
    /// How long it took from its `run_start`, waiting included.
    #[serde(deserialize_with = "whole")]
    pub total_duration_ms: u64,
    /// Why it ended before its last node.
    pub reason: Option<StopReason>,
    /// What stayed undone.
    pub pending: Option<Vec<Pending>>,
}

/// A node that stayed undone.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The node.
    pub node_id: FlowNodeId,
    /// Why.
    pub why: String,
    /// Members of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

fn one() -> u32 {
    1
}

/// Members that no field took; a box, as there are hardly ever any.
fn rest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<Map<String, Value>>>, D::Error> {
    let members = Map::deserialize(deserializer)?;
    Ok((!members.is_empty()).then(|| Box::new(members)))
}
