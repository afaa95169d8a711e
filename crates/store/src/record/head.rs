//! What the heads of several events share.

use std::sync::Arc;

use antiphon_event::{Agent, Context, Event, Head};

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
    let mut sharable = Head { seq: None, ..head.clone() };
    if head.session_id.is_some() || head.branch_id.is_some() {
        (sharable.session_id, sharable.branch_id) = (None, None);
    }
    sharable
}

/// How many members can be shared: those that [`without`] knows.
pub(super) const MEMBERS: u32 = 12;

/// What is left of a head without some of its members, each a bit of `taken`; nothing if one of them is not there.
pub(super) fn without(head: &Head, taken: u32) -> Option<Head> {
    let mut head = sharable(head);
    let Head { seq: _, at, recorded_at, context } = &mut head;
    let Context {
        session_id: _,
        branch_id: _,
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
    } = Arc::make_mut(context);
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
    let Head { seq: _, at, recorded_at, context } = shared;
    keep(at, head.at.as_ref());
    keep(recorded_at, head.recorded_at.as_ref());
    if Arc::ptr_eq(context, &head.context) {
        return;
    }
    let Context {
        session_id: _,
        branch_id: _,
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
    } = Arc::make_mut(context);
    keep(run_id, head.run_id.as_ref());
    keep(parent_id, head.parent_id.as_ref());
    keep(event_flow_id, head.event_flow_id.as_ref());
    keep(trace_id, head.trace_id.as_ref());
    keep(span_id, head.span_id.as_ref());
    keep(parent_span_id, head.parent_span_id.as_ref());
    keep(message_id, head.message_id.as_ref());
    keep(node_id, head.node_id.as_ref());
    keep(node_path, head.node_path.as_ref());
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
