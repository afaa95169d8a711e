//! Events in a line, for people.

use antiphon_event::body::flow::NodeEnd;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{AgentId, Body, Event};

use crate::brief::brief;
use crate::moment;

/// What an event was, in at most 60 characters.
pub(super) fn describe(event: &Event) -> String {
    let node = event.head.node_id.as_ref().map_or("", |node| node.as_str());
    let text = match &event.body {
        Body::User(user) => user.content.to_text().into_owned(),
        Body::Text(text) => return brief(&text.content),
        Body::Reasoning(reasoning) => return brief(&reasoning.content),
        Body::ToolCall(call) => format!("{} {}", call.name, call.input.to_text()),
        Body::ToolProgress(progress) => {
            format!("{}: {}", progress.tool().unwrap_or("tool"), progress.content.to_text())
        }
        Body::ToolResult(result) => {
            let failed = if result.is_error == Some(true) { " failed" } else { "" };
            format!("{}{failed}: {}", result.tool().unwrap_or("tool"), result.output.to_text())
        }
        Body::HarnessStart(start) => {
            let agent = event.head.agent.as_ref().and_then(|agent| agent.name.as_deref());
            agent.or(start.agent_id.as_ref().map(AgentId::as_str)).unwrap_or("agent").to_owned()
        }
        Body::HarnessEnd(end) => end.reason.as_ref().map_or("ended", |reason| reason.as_str()).to_owned(),
        Body::CancelRequested(cancel) => format!("{} by {}", cancel.mode, cancel.by),
        Body::Usage(usage) => format!("{} + {} tokens", usage.input_tokens, usage.output_tokens),
        Body::Error(error) => error.message.clone(),
        Body::ModelRetry(retry) => format!("attempt {}: {}", retry.attempt, retry.reason),
        Body::Relay(relay) => {
            let what = relay.prompt.as_deref().or(relay.tool.as_deref()).unwrap_or_default();
            format!("{}: {what}", relay.kind)
        }
        Body::RelayResolved(resolved) => decision(resolved),
        Body::GrantAdded(grant) => format!("{} for the {} by {}", grant.rule, grant.scope, grant.by),
        Body::ReplInput(input) => input.code.clone(),
        Body::ReplProgress(progress) => progress.chunk.clone(),
        Body::ReplOutput(output) if output.done && output.stdout.is_empty() => "final answer".to_owned(),
        Body::ReplOutput(output) => output.error.as_ref().unwrap_or(&output.stdout).clone(),
        Body::RunStart(start) => start.graph_id.clone(),
        Body::RunEnd(end) => end.status.as_ref().map_or("ended", |status| status.as_str()).to_owned(),
        Body::NodeStart(start) => match start.attempt {
            0 | 1 => format!("{node}, execution {}", start.execution),
            attempt => format!("{node}, execution {}, attempt {attempt}", start.execution),
        },
        Body::NodeEnd(end) => node_end(node, end),
        Body::NodeSkipped(skipped) => format!("{node}: {}", skipped.reason),
        Body::NodeRetry(retry) => format!("{node}: {}", retry.error.message),
        Body::NodeTimeout(timeout) => format!("{node} after {} ms", timeout.timeout_ms),
        Body::EdgeTransition(edge) => match &edge.condition {
            Some(condition) => format!("{} → {} if {condition}", edge.source_id, edge.target_id),
            None => format!("{} → {}", edge.source_id, edge.target_id),
        },
        Body::Handoff(handoff) => format!("{} → {}", handoff.from_node_id, handoff.to_node_id),
        Body::Interrupt(interrupt) => format!("{node}: {}", interrupt.reason),
        Body::Summary(summary) => summary.content.clone(),
        Body::HistoryCompacted(compacted) => format!("{} messages", compacted.sources.len()),
        Body::StatePatched(patch) => format!("by {}", patch.by),
        Body::Diagnostic(diagnostic) => diagnostic.message.clone(),
        // Of what is neither heard nor planned the type says enough.
        body => {
            moment::of_voice(body).or_else(|| moment::of_mission(body)).unwrap_or_else(|| node.to_owned())
        }
    };
    brief(&text)
}

fn decision(resolved: &RelayResolved) -> String {
    let word = match (resolved.approved, &resolved.answer) {
        (Some(true), _) => "approved".to_owned(),
        (Some(false), _) => "denied".to_owned(),
        (None, Some(answer)) => format!("\"{}\"", answer.to_text()),
        (None, None) => "resolved".to_owned(),
    };
    match &resolved.reason {
        Some(reason) => format!("{word} by {}: {reason}", resolved.by),
        None => format!("{word} by {}", resolved.by),
    }
}

fn node_end(node: &str, end: &NodeEnd) -> String {
    match &end.error {
        Some(error) => format!("{node} {}: {}", end.status, error.message),
        None => format!("{node} {}", end.status),
    }
}
