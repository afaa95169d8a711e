//! What happened as one line of text each, for pipes and files.

use antiphon_event::{Body, Event};

use crate::render::{Ink, Line, status_ink, unit};
use crate::request::verdict;
use crate::standing::path_of;

/// The line for an event; nothing for those that say nothing new to a person.
pub(super) fn line(event: &Event) -> Option<Line> {
    let (ink, text) = told(event)?;
    let mut line = Line::new();
    if let Some(at) = event.head.at {
        line = line.ink(Ink::Faint, unit::clock(at)).plain("  ");
    }
    let node = path_of(event);
    if !node.is_empty() {
        line = line.ink(Ink::Strong, node).plain("  ");
    }
    Some(line.ink(ink, text))
}

fn told(event: &Event) -> Option<(Ink, String)> {
    let is_root = event.head.node_path.is_none();
    Some(match &event.body {
        Body::NodeStart(start) => {
            let execution =
                if start.execution > 1 { format!(", execution {}", start.execution) } else { String::new() };
            let attempt =
                if start.attempt > 1 { format!(", attempt {}", start.attempt) } else { String::new() };
            (Ink::Plain, format!("started{execution}{attempt}"))
        }
        Body::NodeEnd(end) => {
            let word = end.status.as_str().to_lowercase();
            let why = end.error.as_ref().map(|error| format!(": {}", unit::flat(&error.message)));
            let took = unit::duration(end.duration_ms);
            (status_ink(&word), format!("{word} in {took}{}", why.unwrap_or_default()))
        }
        Body::NodeSkipped(skipped) => (Ink::Faint, format!("skipped: {}", skipped.reason)),
        Body::NodeRetry(retry) => {
            let (after, why) = (unit::duration(retry.delay_ms), unit::flat(&retry.error.message));
            (Ink::Waiting, format!("attempt {} failed, again after {after}: {why}", retry.attempt))
        }
        Body::ModelRetry(retry) => (Ink::Waiting, format!("asks its model {}", unit::again(retry))),
        Body::NodeTimeout(timeout) => {
            (Ink::Bad, format!("took longer than {}", unit::duration(timeout.timeout_ms)))
        }
        Body::Relay(relay) => {
            let prompt = relay.prompt.as_deref().map(unit::one_line).unwrap_or_default();
            (Ink::Waiting, format!("asks: {prompt} ({})", relay.id))
        }
        Body::RelayResolved(resolved) => (Ink::Person, verdict(resolved)),
        Body::GuardrailResult(result) if !result.passed => {
            (Ink::Waiting, format!("guardrail {}: {}", result.guardrail_id, result.action))
        }
        Body::CancelRequested(request) => {
            (Ink::Waiting, format!("cancel requested by {}, {}", request.by, request.mode))
        }
        Body::Resumed(resumed) if is_root => {
            let place = resumed.folder.as_deref().map(|folder| format!(" in {}", unit::flat(folder)));
            (Ink::Plain, format!("resumed{}", place.unwrap_or_default()))
        }
        Body::RunStart(start) if is_root => (Ink::Plain, format!("flow {} started", start.graph_id)),
        Body::RunEnd(end) if is_root => {
            let word =
                end.status.as_ref().map_or("ended".to_owned(), |status| status.as_str().to_lowercase());
            (status_ink(&word), format!("flow {word} in {}", unit::duration(end.total_duration_ms)))
        }
        _ => return None,
    })
}
