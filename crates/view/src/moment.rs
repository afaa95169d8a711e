//! What happens at a moment and takes no time, in words: one table, for all views that show such events.
//!
//! In: an event of a flow, a voice or a mission. Out: a line for people, as long as what was said in it.
//! Start reading at [`text`].

use antiphon_event::{Body, Json};

use crate::Cost;
use crate::brief::preview;

/// What happened at a moment, in words that need no heading; absent for all that lasts or only counts.
pub(crate) fn text(body: &Body) -> Option<String> {
    of_flow(body).or_else(|| of_voice(body)).or_else(|| of_mission(body))
}

/// Whether it may happen where no flow runs: voices and missions.
pub(crate) fn needs_no_flow(body: &Body) -> bool {
    of_voice(body).or_else(|| of_mission(body)).is_some()
}

fn of_flow(body: &Body) -> Option<String> {
    let text = match body {
        Body::Handoff(handoff) => {
            let message = why(handoff.message.as_deref());
            format!("{} → {}{message}", handoff.from_node_id, handoff.to_node_id)
        }
        Body::GuardrailResult(result) if result.passed => format!("{} passed", result.guardrail_id),
        Body::GuardrailResult(result) => format!("{} failed: {}", result.guardrail_id, result.action),
        Body::GuardrailOverride(over) => format!("{}: {}", over.guardrail_id, over.reason),
        Body::CheckpointSaved(saved) => saved.checkpoint_id.clone(),
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

/// What was heard and said, in words.
pub(crate) fn of_voice(body: &Body) -> Option<String> {
    let text = match body {
        Body::VoiceSession(session) => {
            format!("voice session {}{}", session.action, why(session.exit_reason.as_deref()))
        }
        Body::VoiceTranscript(heard) => {
            let speaker = heard.speaker.as_deref().unwrap_or("heard");
            let more = if heard.is_final { "" } else { "…" };
            format!("{speaker}: {}{more}", heard.text)
        }
        Body::VoiceAudio(audio) if audio.duration_ms == 0 => {
            format!("{} audio, {}", audio.direction, audio.format)
        }
        Body::VoiceAudio(audio) => {
            format!("{} audio, {}, {} ms", audio.direction, audio.format, audio.duration_ms)
        }
        Body::VoiceBargeIn(barge) => {
            format!("\"{}\" cut short by \"{}\"", barge.interrupted_text, barge.user_speech)
        }
        Body::VoiceTurnComplete(turn) => {
            format!("turn {} over, {}: {}", turn.turn_index, turn.endpoint_reason, turn.transcript)
        }
        _ => return None,
    };
    Some(text)
}

/// What became of a plan, in words.
pub(crate) fn of_mission(body: &Body) -> Option<String> {
    let text = match body {
        Body::MissionPlanningStart(start) => format!("planning: {}", start.goal),
        Body::MissionBranchGenerated(plan) => {
            format!("plan {}: {}{}", plan.mission_branch_id, plan.summary, more(plan.scores.as_ref()))
        }
        Body::MissionBranchSelected(plan) => {
            format!("plan {} chosen: {}", plan.mission_branch_id, plan.reason)
        }
        Body::MissionRefinementApplied(refined) => format!("plan refined: {}", refined.changes.join("; ")),
        Body::MissionGraphCompiled(flow) => format!(
            "plan became a flow: {}, {}, about ${}",
            count(flow.node_count, "node"),
            count(flow.edge_count, "edge"),
            Cost::from_dollars(flow.estimated_cost)
        ),
        Body::MissionExpansionProposed(change) => {
            let about = change.reason.clone().or_else(|| preview(&change.patch));
            format!("change proposed, {}{}", change.trigger, why(about.as_deref()))
        }
        Body::MissionExpansionApproved(change) => format!("change approved by {}", change.by),
        Body::MissionExpansionRejected(change) => {
            format!("change rejected by {}: {}", change.by, change.reason)
        }
        Body::MissionExpansionApplied(change) => {
            let edges = change.edges_added.map(|edges| format!(", {}", count(edges, "edge")));
            format!("change made: {}{} more", count(change.nodes_added, "node"), edges.unwrap_or_default())
        }
        Body::MissionCheckpointSaved(saved) => saved.checkpoint_id.clone(),
        Body::MissionThresholdReached(reached) => {
            format!("{} at {} of {}", reached.threshold, reached.value, reached.cap)
        }
        Body::MissionCostUpdate(cost) => {
            let (spent, most) = (Cost::from_dollars(cost.total_spent), Cost::from_dollars(cost.cost_cap));
            format!("${spent} of ${most} spent")
        }
        Body::MissionComplete(end) => format!(
            "mission complete: {} ({}, ${}, {} ms)",
            end.summary,
            count(end.agent_count, "agent"),
            Cost::from_dollars(end.total_cost),
            end.total_duration_ms
        ),
        Body::MissionAgentSpawned(agent) => {
            format!("agent {}: {}, on {} of {}", agent.agent_id, agent.role, agent.model, agent.provider)
        }
        Body::MissionToolForged(tool) => format!("tool {} made, {}", tool.name, tool.mode),
        Body::MissionApprovalRequired(request) => {
            format!("approval needed: {}{}", request.action, more(request.details.as_ref()))
        }
        _ => return None,
    };
    Some(text)
}

fn why(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn more(payload: Option<&Json>) -> String {
    payload.and_then(preview).map(|payload| format!(" {payload}")).unwrap_or_default()
}

/// A number of things.
fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
