//! [`Head`]: the members every event may have, whatever its type.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AgentId, BranchId, EventFlowId, FlowNodeId, MessageId, ParentId, RunId, SessionId, SpanId, Spans,
    Timestamp, TraceId,
};

/// Where and when an event happened, and what it belongs to. A member that is absent is not written.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Position in the branch's journal: 1, 2, 3 … without gaps; given at append.
    pub seq: Option<u64>,
    /// When it happened; given at append.
    pub at: Option<Timestamp>,
    /// The session, its durable scope.
    pub session_id: Option<SessionId>,
    /// The branch of the session; the first is `main`.
    pub branch_id: Option<BranchId>,
    /// The harness or flow run that produced it; absent only on session-level events.
    pub run_id: Option<RunId>,
    /// What caused the run: a tool call id, a node id of the conversation graph, or a run id.
    pub parent_id: Option<ParentId>,
    /// The message turn it belongs to; unit of interruption and replay filter.
    pub event_flow_id: Option<EventFlowId>,
    /// The trace of the turn.
    pub trace_id: Option<TraceId>,
    /// The span within the trace.
    pub span_id: Option<SpanId>,
    /// The span that contains `spanId`.
    pub parent_span_id: Option<SpanId>,
    /// Who did it.
    pub agent: Option<Arc<Agent>>,
    /// The user message or assistant step it belongs to.
    pub message_id: Option<MessageId>,
    /// The innermost flow node in whose scope it happened, of the flow whose run is `runId`.
    pub node_id: Option<FlowNodeId>,
    /// The path of flow nodes from the outermost flow, when nested.
    pub node_path: Option<Vec<FlowNodeId>>,
    /// When it was taken in, on imported and posted events, which keep their own `at`.
    pub recorded_at: Option<Timestamp>,
}

impl Head {
    /// Where something belongs that a user says: to a run of its own, in a turn that it begins or takes part in.
    pub fn of_user(run: RunId, turn: EventFlowId) -> Self {
        Self {
            message_id: Some(MessageId::from(run.shared())),
            trace_id: Some(TraceId::of(&turn)),
            span_id: Some(Spans::of(&run).own()),
            event_flow_id: Some(turn),
            run_id: Some(run),
            ..Self::default()
        }
    }
}

/// Who did something: an agent and its ancestors.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "an object")]
pub struct Agent {
    /// The agent.
    pub id: AgentId,
    /// What people call it.
    pub name: Option<String>,
    /// Names from the root agent down to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// How far below the root; the root is 0.
    #[serde(default)]
    pub depth: u32,
    /// The agent that started it.
    pub parent_id: Option<AgentId>,
    /// Members of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
