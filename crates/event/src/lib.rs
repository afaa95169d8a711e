//! The vocabulary of Antiphon: what can happen, and how it is written down.
//!
//! In: bytes, one JSON object a line. Out: typed [`Event`]s, and bytes again, with nothing lost on the way.
//! No clock, no I/O. Start reading at [`Event`], then [`Body`] for the list of all types.
//!
//! ```
//! use antiphon_event::{Body, Event};
//!
//! let line = r#"{"type":"text","runId":"r1","id":"t1","content":"hi","mood":"good"}"#;
//! let event = Event::from_json(line)?;
//! assert!(matches!(&event.body, Body::Text(text) if text.content == "hi"));
//! assert_eq!(event.to_json(), line, "members nobody knows survive the round trip");
//! # Ok::<(), antiphon_event::Error>(())
//! ```

pub mod body;
mod code;
mod context;
mod decode;
mod digits;
mod error;
mod event;
mod head;
mod id;
mod json;
mod lift;
mod lines;
pub mod near;
mod schema;
pub mod secret;
mod seen;
mod span;
mod time;
mod whole;

pub use body::{Body, Kind, Need};
pub use code::{
    CallType, Delivery, EdgeType, EndReason, ErrorCode, Mode, NodeStatus, NodeType, Provenance, RelayKind,
    Scope, StopReason, StreamName, Word,
};
pub use context::Within;
pub use decode::Decoder;
pub use digits::{Digits, SpanId, TraceId};
pub use error::{Error, Place};
pub use event::{Event, Extra};
pub use head::{Agent, Context, Head};
pub use id::{
    AgentId, BranchId, CallId, EventFlowId, FlowNodeId, MessageId, NodeId, ParentId, RelayId, ReplId, RunId,
    SessionId, StreamId,
};
pub use json::{Json, Kind as JsonKind};
pub use lines::{LINE_MAX, Lines};
pub use schema::schema;
pub use seen::Seen;
pub use span::Spans;
pub use time::Timestamp;
