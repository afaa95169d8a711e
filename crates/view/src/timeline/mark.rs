//! What a mark on the timeline says, for the types of events that make one.

use antiphon_event::Body;

pub(super) fn text(body: &Body) -> Option<String> {
    let text = match body {
        Body::Handoff(handoff) => {
            let message = handoff.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
            format!("{} → {}{message}", handoff.from_node_id, handoff.to_node_id)
        }
        Body::GuardrailResult(result) if result.passed => format!("{} passed", result.guardrail_id),
        Body::GuardrailResult(result) => format!("{} failed: {}", result.guardrail_id, result.action),
        Body::GuardrailOverride(over) => format!("{}: {}", over.guardrail_id, over.reason),
        Body::CheckpointSaved(saved) => saved.checkpoint_id.clone(),
        Body::MissionCheckpointSaved(saved) => saved.checkpoint_id.clone(),
        Body::MemoryRead(read) => format!("{} read", read.trace_count),
        Body::MemoryWrite(write) => write.trace_type.clone(),
        Body::DiscoveryResult(result) => result.tools_found.join(", "),
        Body::StatePatched(patched) => {
            let keys: Vec<_> = patched.writes.keys().map(String::as_str).collect();
            format!("{} by {}", keys.join(", "), patched.by)
        }
        Body::CancelRequested(request) => format!("{} by {}", request.mode, request.by),
        Body::Diagnostic(diagnostic) => format!("{}: {}", diagnostic.level, diagnostic.message),
        Body::Error(error) => error.message.clone(),
        _ => return None,
    };
    Some(text)
}
