//! Agents on other branches that outlived their callers: a process died after it had stopped one and before the other had
//! ended.
//!
//! In: what happened on a branch, before anything else does. Out: the runs that nobody waits for any more are ended on
//! theirs. Start reading at [`end_left`].

use std::collections::HashSet;
use std::sync::Arc;

use antiphon_agent::machine::AGENT;
use antiphon_event::{Body, CallId, Event};
use antiphon_port::{Branch, Fault};

use super::{end, is_caused_by};
use crate::engine::{Parts, Refused};
use crate::resume;

/// Ends what the last run of a branch left behind on others.
pub(crate) async fn end_left(parts: &Arc<Parts>, home: &Branch, events: &[Event]) -> Result<(), Refused> {
    match events.iter().rposition(resume::is_root) {
        Some(start) => end_below(parts, home, &events[start..]).await,
        None => Ok(()),
    }
}

/// Ends the runs that calls of these events began and did not wait for, and those below them.
async fn end_below(parts: &Arc<Parts>, home: &Branch, events: &[Event]) -> Result<(), Refused> {
    for (call, place) in cut_off(events) {
        let is_elsewhere = place.session != home.session;
        let claim = if is_elsewhere { parts.journal.claim(&place.session).map(Some) } else { Ok(None) };
        // Whoever has it sees it to its end.
        let (Ok(_claim), Some(_hold)) = (claim, parts.busy.hold(&place)) else { continue };
        let there = match resume::read_all(parts, &place).await {
            Ok(there) => there,
            // The process died before it began there.
            Err(Refused::Journal(Fault::NoSession(_) | Fault::NoBranch(_))) => continue,
            Err(refused) => return Err(refused),
        };
        let Some(start) = there.iter().rposition(|event| is_caused_by(event, &call)) else { continue };
        if !has_ended(&there, start) {
            end(parts, &place, &there, start).await?;
            let there = resume::read_all(parts, &place).await?;
            Box::pin(end_below(parts, &place, &there[start..])).await?;
        }
    }
    Ok(())
}

/// The calls of agents on other branches that came to nothing, and where those agents work.
fn cut_off(events: &[Event]) -> Vec<(CallId, Branch)> {
    let failed: HashSet<&CallId> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolResult(result) if result.name == AGENT && result.is_error == Some(true) => {
                Some(&result.id)
            }
            _ => None,
        })
        .collect();
    let mut found: Vec<(CallId, Branch)> = Vec::new();
    for event in events {
        let Body::ToolProgress(progress) = &event.body else { continue };
        if !failed.contains(&progress.tool_call_id) {
            continue;
        }
        let value = progress.content.value();
        if let (Some(session), Some(branch)) = (value["sessionId"].as_str(), value["branchId"].as_str()) {
            let place = (progress.tool_call_id.clone(), Branch::new(session, branch));
            if !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

fn has_ended(events: &[Event], start: usize) -> bool {
    let run = events[start].head.run_id.as_ref();
    let ends = |event: &Event| matches!(event.body, Body::HarnessEnd(_)) && event.head.run_id.as_ref() == run;
    events[start..].iter().any(ends)
}
