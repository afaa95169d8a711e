//! What the heads of several events share, and what is left of each.

use std::sync::Arc;

use antiphon_event::{Agent, Event, Head};

/// The members that are the same in all events, to the byte; never those that a journal gives.
pub(super) fn shared(events: &[Event]) -> Head {
    let Some((first, others)) = events.split_first() else {
        return Head::default();
    };
    let mut shared = sharable(&first.head);
    for other in others {
        meet(&mut shared, &other.head);
    }
    shared
}

/// What an event could share with others.
pub(super) fn sharable(head: &Head) -> Head {
    Head { seq: None, session_id: None, branch_id: None, ..head.clone() }
}

/// How many members can be shared: those that [`without`] knows.
pub(super) const MEMBERS: u32 = 12;

/// What is left of a head without some of its members, each a bit of `taken`; nothing if one of them is not there.
pub(super) fn without(head: &Head, taken: u32) -> Option<Head> {
    let mut head = sharable(head);
    let Head {
        seq: _,
        session_id: _,
        branch_id: _,
        at,
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
        recorded_at,
    } = &mut head;
    let is_taken = |bit: u32| taken >> bit & 1 == 1;
    let was_there = take(at, is_taken(0))
        && take(run_id, is_taken(1))
        && take(parent_id, is_taken(2))
        && take(event_flow_id, is_taken(3))
        && take(trace_id, is_taken(4))
        && take(span_id, is_taken(5))
        && take(parent_span_id, is_taken(6))
        && take(agent, is_taken(7))
        && take(message_id, is_taken(8))
        && take(node_id, is_taken(9))
        && take(node_path, is_taken(10))
        && take(recorded_at, is_taken(11));
    was_there.then_some(head)
}

/// Takes a member out if it is to go; whether it could.
fn take<T>(member: &mut Option<T>, is_taken: bool) -> bool {
    !is_taken || member.take().is_some()
}

/// Takes out of `shared` what `head` has otherwise.
pub(super) fn meet(shared: &mut Head, head: &Head) {
    // Taken apart in full: a new member of the head has to be thought of here.
    let Head {
        seq: _,
        session_id: _,
        branch_id: _,
        at,
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
        recorded_at,
    } = shared;
    keep(at, head.at.as_ref());
    keep(run_id, head.run_id.as_ref());
    keep(parent_id, head.parent_id.as_ref());
    keep(event_flow_id, head.event_flow_id.as_ref());
    keep(trace_id, head.trace_id.as_ref());
    keep(span_id, head.span_id.as_ref());
    keep(parent_span_id, head.parent_span_id.as_ref());
    keep(message_id, head.message_id.as_ref());
    keep(node_id, head.node_id.as_ref());
    keep(node_path, head.node_path.as_ref());
    keep(recorded_at, head.recorded_at.as_ref());
    if !same_agent(agent.as_ref(), head.agent.as_ref()) {
        *agent = None;
    }
}

fn keep<T: PartialEq>(shared: &mut Option<T>, other: Option<&T>) {
    if shared.is_some() && shared.as_ref() != other {
        *shared = None;
    }
}

/// Whether two agents are written alike: equal ones may have their unknown members in another order.
fn same_agent(one: Option<&Arc<Agent>>, other: Option<&Arc<Agent>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            Arc::ptr_eq(one, other) || serde_json::to_string(one).ok() == serde_json::to_string(other).ok()
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The head without what is shared and without what a journal gives.
pub(super) fn own(head: &Head, shared: &Head) -> Head {
    Head {
        seq: None,
        session_id: None,
        branch_id: None,
        at: left(head.at.as_ref(), shared.at.as_ref()),
        run_id: left(head.run_id.as_ref(), shared.run_id.as_ref()),
        parent_id: left(head.parent_id.as_ref(), shared.parent_id.as_ref()),
        event_flow_id: left(head.event_flow_id.as_ref(), shared.event_flow_id.as_ref()),
        trace_id: left(head.trace_id.as_ref(), shared.trace_id.as_ref()),
        span_id: left(head.span_id.as_ref(), shared.span_id.as_ref()),
        parent_span_id: left(head.parent_span_id.as_ref(), shared.parent_span_id.as_ref()),
        agent: left(head.agent.as_ref(), shared.agent.as_ref()),
        message_id: left(head.message_id.as_ref(), shared.message_id.as_ref()),
        node_id: left(head.node_id.as_ref(), shared.node_id.as_ref()),
        node_path: left(head.node_path.as_ref(), shared.node_path.as_ref()),
        recorded_at: left(head.recorded_at.as_ref(), shared.recorded_at.as_ref()),
    }
}

fn left<T: Clone>(member: Option<&T>, shared: Option<&T>) -> Option<T> {
    if shared.is_some() { None } else { member.cloned() }
}
