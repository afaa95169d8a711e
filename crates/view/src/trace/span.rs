//! What a trace is made of: spans, and annotations of those.

use antiphon_event::{SpanId, Timestamp, TraceId};
use serde::{Deserialize, Serialize};

/// One trace: the spans of a turn.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// The trace.
    pub trace_id: TraceId,
    /// When it was first heard of.
    pub started_at: Option<Timestamp>,
    /// When it was last heard of.
    pub last_at: Option<Timestamp>,
    /// From the first event to the last.
    pub duration_ms: Option<u64>,
    /// What was said without a span while there was no turn to say it in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// A stretch of work within a trace.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    /// The place of its trace in the list of traces.
    pub trace: usize,
    /// The span.
    pub span_id: SpanId,
    /// The place of the span around it in the list of spans.
    pub parent: Option<usize>,
    /// What kind of work; absent until an event tells.
    pub kind: Option<SpanKind>,
    /// The tool, node, flow or agent.
    pub name: Option<String>,
    /// Whether it was only named by others so far.
    pub placeholder: bool,
    /// How it stands.
    pub status: SpanStatus,
    /// When it was first heard of.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// From start to end.
    pub duration_ms: Option<u64>,
    /// Events that carry its id.
    pub events: u64,
    /// What was said in it by events that carry no span.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

/// What kind of work a span is; where its events disagree, the later in this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// What a person said; it takes no time.
    Input,
    /// A tool call.
    Tool,
    /// A model call.
    Iteration,
    /// A node of a flow.
    Node,
    /// The run of an agent or a flow.
    Turn,
}

/// How a span stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanStatus {
    /// Not ended.
    Open,
    /// Ended well.
    Ok,
    /// Ended badly.
    Error,
}

/// Events without a span, of one type and about one thing.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotation {
    /// The type of the events.
    pub kind: String,
    /// The stream, call or request they are about.
    pub id: Option<String>,
    /// How many they are.
    pub count: u64,
    /// When the first happened.
    pub at: Option<Timestamp>,
}
