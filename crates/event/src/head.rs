//! [`Head`]: the members every event may have, whatever its type.
//!
//! What changes from event to event stands in it; what it belongs to, its [`Context`], is shared with its neighbours,
//! which mostly belong to the same. A head reads and is changed as if it were one thing; to change what is shared copies
//! it first.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::whole::whole;
use crate::{
    AgentId, BranchId, EventFlowId, FlowNodeId, MessageId, ParentId, RunId, SessionId, SpanId, Spans,
    Timestamp, TraceId,
};

/// Where and when an event happened, and what it belongs to. A member that is absent is not written.
#[derive(Debug, Clone, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Position in the branch's journal: 1, 2, 3 … without gaps; given at append.
    pub seq: Option<u64>,
    /// When it happened; given at append.
    pub at: Option<Timestamp>,
    /// When it was taken in, on imported and posted events, which keep their own `at`.
    pub recorded_at: Option<Timestamp>,
    /// What it belongs to.
    #[serde(flatten)]
    pub context: Arc<Context>,
}

/// What an event belongs to. What folds look at comes first, as it is fetched together with the count of those who
/// share it.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The harness or flow run that produced it; absent only on session-level events.
    pub run_id: Option<RunId>,
    /// What caused the run: a tool call id, a node id of the conversation graph, or a run id.
    pub parent_id: Option<ParentId>,
    /// The innermost flow node in whose scope it happened, of the flow whose run is `runId`.
    pub node_id: Option<FlowNodeId>,
    /// The user message or assistant step it belongs to.
    pub message_id: Option<MessageId>,
    /// Who did it.
    pub agent: Option<Arc<Agent>>,
    /// The session, its durable scope.
    pub session_id: Option<SessionId>,
    /// The branch of the session; the first is `main`.
    pub branch_id: Option<BranchId>,
    /// The message turn it belongs to; unit of interruption and replay filter.
    pub event_flow_id: Option<EventFlowId>,
    /// The trace of the turn.
    pub trace_id: Option<TraceId>,
    /// The span within the trace.
    pub span_id: Option<SpanId>,
    /// The span that contains `spanId`.
    pub parent_span_id: Option<SpanId>,
    /// The path of flow nodes from the outermost flow, when nested: down to `nodeId`, or to the node around the run for
    /// what is about none of its own nodes.
    pub node_path: Option<Vec<FlowNodeId>>,
}

impl Head {
    /// The head of something that happened now and belongs there.
    pub fn new(at: Timestamp, context: Arc<Context>) -> Self {
        Self { at: Some(at), ..Self::from(context) }
    }

    /// Where something belongs that a user says: to a run of its own, in a turn that it begins or takes part in.
    pub fn of_user(run: RunId, turn: EventFlowId) -> Self {
        Self::from(Context {
            message_id: Some(MessageId::from(run.shared())),
            trace_id: Some(TraceId::of(&turn)),
            span_id: Some(Spans::of(&run).own()),
            event_flow_id: Some(turn),
            run_id: Some(run),
            ..Context::default()
        })
    }

    /// The members as they are written, in order.
    pub(crate) fn members(&self) -> Members<'_> {
        let Context {
            session_id,
            branch_id,
            run_id,
            parent_id,
            event_flow_id,
            trace_id,
            span_id,
            parent_span_id,
            agent,
            message_id,
            node_id,
            node_path,
        } = &*self.context;
        Members {
            seq: self.seq,
            at: self.at,
            session_id: session_id.as_ref(),
            branch_id: branch_id.as_ref(),
            run_id: run_id.as_ref(),
            parent_id: parent_id.as_ref(),
            event_flow_id: event_flow_id.as_ref(),
            trace_id: trace_id.as_ref(),
            span_id: span_id.as_ref(),
            parent_span_id: parent_span_id.as_ref(),
            agent: agent.as_deref(),
            message_id: message_id.as_ref(),
            node_id: node_id.as_ref(),
            node_path: node_path.as_deref(),
            recorded_at: self.recorded_at,
        }
    }
}

/// What belongs to nothing.
static NOTHING: LazyLock<Arc<Context>> = LazyLock::new(Arc::default);

impl Default for Head {
    fn default() -> Self {
        Self::from(Arc::clone(&NOTHING))
    }
}

impl From<Context> for Head {
    fn from(context: Context) -> Self {
        Self::from(Arc::new(context))
    }
}

impl From<Arc<Context>> for Head {
    fn from(context: Arc<Context>) -> Self {
        Self { seq: None, at: None, recorded_at: None, context }
    }
}

impl Deref for Head {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl DerefMut for Head {
    fn deref_mut(&mut self) -> &mut Context {
        Arc::make_mut(&mut self.context)
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        (self.seq, self.at, self.recorded_at) == (other.seq, other.at, other.recorded_at)
            && (Arc::ptr_eq(&self.context, &other.context) || self.context == other.context)
    }
}

impl Serialize for Head {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members().serialize(serializer)
    }
}

/// The members of a head in the order in which they are written.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Members<'a> {
    seq: Option<u64>,
    at: Option<Timestamp>,
    session_id: Option<&'a SessionId>,
    branch_id: Option<&'a BranchId>,
    run_id: Option<&'a RunId>,
    parent_id: Option<&'a ParentId>,
    event_flow_id: Option<&'a EventFlowId>,
    trace_id: Option<&'a TraceId>,
    span_id: Option<&'a SpanId>,
    parent_span_id: Option<&'a SpanId>,
    agent: Option<&'a Agent>,
    message_id: Option<&'a MessageId>,
    node_id: Option<&'a FlowNodeId>,
    node_path: Option<&'a [FlowNodeId]>,
    recorded_at: Option<Timestamp>,
}

impl Members<'_> {
    /// The same without those that another head has, and without those that a journal gives.
    pub(crate) fn without(self, shared: &Head) -> Self {
        Self {
            seq: None,
            session_id: None,
            branch_id: None,
            at: left(self.at, shared.at.as_ref()),
            run_id: left(self.run_id, shared.run_id.as_ref()),
            parent_id: left(self.parent_id, shared.parent_id.as_ref()),
            event_flow_id: left(self.event_flow_id, shared.event_flow_id.as_ref()),
            trace_id: left(self.trace_id, shared.trace_id.as_ref()),
            span_id: left(self.span_id, shared.span_id.as_ref()),
            parent_span_id: left(self.parent_span_id, shared.parent_span_id.as_ref()),
            agent: left(self.agent, shared.agent.as_ref()),
            message_id: left(self.message_id, shared.message_id.as_ref()),
            node_id: left(self.node_id, shared.node_id.as_ref()),
            node_path: left(self.node_path, shared.node_path.as_ref()),
            recorded_at: left(self.recorded_at, shared.recorded_at.as_ref()),
        }
    }
}

fn left<T, S>(member: Option<T>, shared: Option<&S>) -> Option<T> {
    member.filter(|_| shared.is_none())
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
    #[serde(default, deserialize_with = "whole")]
    pub depth: u32,
    /// The agent that started it.
    pub parent_id: Option<AgentId>,
    /// Members of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
