//! What can go wrong with a stream on its way.

use antiphon_event::{Body, Event};
use proptest::prelude::*;
use proptest::sample::Index;

use super::Tagged;

/// Something that happens to a stream before it is numbered.
#[derive(Debug, Clone)]
pub(super) enum Damage {
    /// An event is lost.
    Lose(Index),
    /// An event comes at another time.
    Move(Index, Index),
    /// An event comes twice, as two events.
    Double(Index, Index),
    /// An event says it is of another event's run.
    Rerun(Index, Index),
    /// An event says it was caused by another event's run.
    Reparent(Index, Index),
    /// The first event of a run says it was caused by what another event is about, often one of its own or of a run
    /// below it.
    Knot(Index, Index),
    /// An event is about what another event is about: ids of calls, code and requests come to be shared by runs, and
    /// results come from other runs.
    Share(Index, Index),
    /// An event lacks what its producer should have said.
    Strip(Index),
}

/// Something that happens to a stream behind the journal.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// From the one event up to the other, everything is delivered again.
    Redeliver(Index, Index),
    /// An event is lost; its position is missing.
    Gap(Index),
}

pub(super) fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<Index>;
    prop_oneof![
        index().prop_map(Damage::Strip),
        index().prop_map(Damage::Lose),
        (index(), index()).prop_map(|(from, to)| Damage::Move(from, to)),
        (index(), index()).prop_map(|(from, to)| Damage::Double(from, to)),
        (index(), index()).prop_map(|(event, other)| Damage::Rerun(event, other)),
        (index(), index()).prop_map(|(event, other)| Damage::Reparent(event, other)),
        (index(), index()).prop_map(|(event, other)| Damage::Knot(event, other)),
        (index(), index()).prop_map(|(event, other)| Damage::Share(event, other)),
    ]
}

pub(super) fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Fault::Redeliver(from, to)),
        any::<Index>().prop_map(Fault::Gap),
    ]
}

impl Damage {
    /// Does the damage. An empty stream cannot be harmed.
    pub(super) fn harm(&self, events: &mut Vec<Tagged>) {
        if events.is_empty() {
            return;
        }
        let at = |index: &Index| index.index(events.len());
        match self {
            Self::Lose(event) => {
                events.remove(at(event));
            }
            Self::Move(from, to) => {
                let (from, to) = (at(from), at(to));
                let event = events.remove(from);
                events.insert(to, event);
            }
            Self::Double(from, to) => {
                let (event, to) = (events[at(from)].clone(), at(to));
                events.insert(to, event);
            }
            Self::Rerun(event, other) => {
                let (event, run) = (at(event), events[at(other)].1.head.run_id.clone());
                // Some types cannot do without a run.
                if run.is_some() {
                    events[event].1.head.run_id = run;
                }
            }
            Self::Reparent(event, other) => {
                let (event, run) = (at(event), events[at(other)].1.head.run_id.clone());
                events[event].1.head.parent_id = run.map(|run| run.shared().into());
            }
            Self::Knot(event, other) => {
                let run = events[at(event)].1.head.run_id.clone();
                let first = events.iter().position(|(_, event)| event.head.run_id == run);
                if let (Some(first), Some(parent)) = (first, about(&events[at(other)].1)) {
                    events[first].1.head.parent_id = Some(parent.into());
                }
            }
            Self::Share(event, other) => {
                let (event, other) = (at(event), about(&events[at(other)].1));
                if let Some(id) = other {
                    rename(&mut events[event].1, &id);
                }
            }
            Self::Strip(event) => {
                let event = at(event);
                super::undress(&mut events[event].1);
                events[event].1.head.parent_id = None;
            }
        }
    }
}

/// The id of the call, the code or the request that an event is about.
fn about(event: &Event) -> Option<String> {
    let id = match &event.body {
        Body::ToolCall(call) => call.id.as_str(),
        Body::ToolProgress(progress) => progress.tool_call_id.as_str(),
        Body::ToolResult(result) => result.id.as_str(),
        Body::ReplInput(input) => input.id.as_str(),
        Body::ReplProgress(progress) => progress.id.as_str(),
        Body::ReplOutput(output) => output.id.as_str(),
        Body::Relay(relay) => relay.id.as_str(),
        Body::RelayResolved(resolved) => resolved.relay_id.as_str(),
        _ => return None,
    };
    Some(id.to_owned())
}

/// Makes an event be about something else.
fn rename(event: &mut Event, id: &str) {
    match &mut event.body {
        Body::ToolCall(call) => call.id = id.into(),
        Body::ToolProgress(progress) => progress.tool_call_id = id.into(),
        Body::ToolResult(result) => result.id = id.into(),
        Body::ReplInput(input) => input.id = id.into(),
        Body::ReplProgress(progress) => progress.id = id.into(),
        Body::ReplOutput(output) => output.id = id.into(),
        Body::Relay(relay) => relay.id = id.into(),
        Body::RelayResolved(resolved) => resolved.relay_id = id.into(),
        _ => {}
    }
}

/// Does what happens behind the journal.
pub(super) fn faults(events: &mut Vec<Event>, faults: &[Fault]) {
    for fault in faults {
        if events.is_empty() {
            return;
        }
        match fault {
            Fault::Redeliver(from, to) => {
                let (one, other) = (from.index(events.len()), to.index(events.len()));
                let (from, to) = (one.min(other), one.max(other));
                let again = events[from..to].to_vec();
                events.splice(to..to, again);
            }
            Fault::Gap(event) => {
                events.remove(event.index(events.len()));
            }
        }
    }
}
