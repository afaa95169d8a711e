//! What an event tells about spans, by its type.

use antiphon_event::{Body, CallId, EndReason, Event, NodeStatus, RelayId};

use super::SpanKind;

/// What an event tells about the span it carries, or about the one it should have carried.
#[derive(Debug, Default)]
pub(super) struct Role<'e> {
    /// What kind of span carries such an event.
    pub(super) kind: Option<SpanKind>,
    /// What kind of span it ends.
    pub(super) closes: Option<SpanKind>,
    /// Whether that ended badly.
    pub(super) failed: bool,
    /// The call it is about.
    pub(super) call: Option<&'e CallId>,
    /// Whether the span it carries is that of the call.
    pub(super) opens_call: bool,
    /// The request it is about.
    pub(super) relay: Option<&'e RelayId>,
    /// The stream, call or request it is about.
    pub(super) id: Option<&'e str>,
    /// What it calls the span.
    pub(super) name: Option<&'e str>,
}

impl<'e> Role<'e> {
    pub(super) fn of(event: &'e Event) -> Self {
        match &event.body {
            Body::User(_) => {
                let input = Some(SpanKind::Input);
                Self { kind: input, closes: input, name: Some("user"), ..Self::default() }
            }
            Body::Text(text) => Self::iteration(Some(text.id.as_str())),
            Body::Reasoning(reasoning) => Self::iteration(Some(reasoning.id.as_str())),
            Body::Usage(_) => Self { closes: Some(SpanKind::Iteration), ..Self::iteration(None) },
            Body::ModelRetry(_) => Self::iteration(None),
            Body::ToolCall(call) => Self { opens_call: true, ..Self::tool(&call.id, Some(&call.name)) },
            Body::ToolProgress(progress) => Self::tool(&progress.tool_call_id, progress.tool()),
            Body::ToolResult(result) => Self {
                closes: Some(SpanKind::Tool),
                failed: result.is_error == Some(true),
                ..Self::tool(&result.id, result.tool())
            },
            Body::Relay(relay) => Self {
                call: relay.tool_call_id.as_ref(),
                relay: Some(&relay.id),
                id: Some(relay.id.as_str()),
                ..Self::default()
            },
            Body::RelayResolved(resolved) => Self {
                relay: Some(&resolved.relay_id),
                id: Some(resolved.relay_id.as_str()),
                ..Self::default()
            },
            _ => Self::of_work(event),
        }
    }

    /// Runs and nodes.
    fn of_work(event: &'e Event) -> Self {
        let node = event.head.node_id.as_ref().map(antiphon_event::FlowNodeId::as_str);
        let turn = Self { kind: Some(SpanKind::Turn), ..Self::default() };
        let in_node = Self { kind: Some(SpanKind::Node), name: node, id: node, ..Self::default() };
        let agent = event.head.agent.as_ref().and_then(|agent| agent.name.as_deref());
        match &event.body {
            Body::HarnessStart(start) => {
                let id = start.agent_id.as_ref().map(antiphon_event::AgentId::as_str);
                Self { name: agent.or(id), ..turn }
            }
            Body::HarnessEnd(end) => Self {
                closes: Some(SpanKind::Turn),
                failed: matches!(end.reason, Some(EndReason::Error | EndReason::Budget)),
                ..turn
            },
            Body::RunStart(start) => Self { name: Some(&start.graph_id), ..turn },
            Body::RunEnd(end) => {
                let failed = end.status == Some(NodeStatus::Failed);
                Self { closes: Some(SpanKind::Turn), failed, ..turn }
            }
            Body::NodeStart(_) => in_node,
            Body::NodeEnd(end) => {
                Self { closes: Some(SpanKind::Node), failed: end.status == NodeStatus::Failed, ..in_node }
            }
            Body::NodeSkipped(_) => Self { closes: Some(SpanKind::Node), ..in_node },
            Body::NodeRetry(_) => Self { closes: Some(SpanKind::Node), failed: true, ..in_node },
            _ => Self::default(),
        }
    }

    fn iteration(id: Option<&'e str>) -> Self {
        Self { kind: Some(SpanKind::Iteration), id, ..Self::default() }
    }

    fn tool(call: &'e CallId, name: Option<&'e str>) -> Self {
        Self {
            kind: Some(SpanKind::Tool),
            call: Some(call),
            id: Some(call.as_str()),
            name,
            ..Self::default()
        }
    }
}
