//! What one run lends to a call of another, until it makes the call itself.
//!
//! A call that something is lent to is kept three times: as it is shown, as it is by itself, and as what is lent would be
//! alone. So what is lent can be taken back. Start reading at [`Nested::tell`].

use antiphon_event::{Event, RunId};
use serde::{Deserialize, Serialize};

use super::{Level, Nested, Node};
use crate::edit::Edit;
use crate::{Changes, path};

/// What a run that has not made a call lends to one that another made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lent {
    /// The run that lends, if it is known.
    run: Option<RunId>,
    /// The call without what is lent.
    own: Node,
    /// What is lent.
    other: Node,
}

/// Whether a call has its result.
pub(super) fn is_done(call: &Node) -> bool {
    matches!(call.status.as_deref(), Some("done" | "error"))
}

/// A call goes on, unless it is over.
pub(super) fn runs(call: &mut Node, edit: &mut Edit<'_>) {
    if !is_done(call) && call.status.as_deref() != Some("running") {
        edit.put("status", &mut call.status, Some("running".to_owned()));
    }
}

impl Nested {
    /// Edits a node because of an event.
    pub(super) fn tell(
        &mut self,
        place: usize,
        event: &Event,
        changes: &mut Changes,
        edit: impl Fn(&mut Node, &mut Edit<'_>),
    ) {
        if let Some(lent) = self.lent.get_mut(&place) {
            let side = if lent.run == event.head.run_id { &mut lent.other } else { &mut lent.own };
            edit(side, &mut Edit::at(&mut Changes::unwanted(), path![]));
        }
        self.edit(place, changes, edit);
    }

    /// Edits a call because of a result: one of its own run counts for more than one that is lent.
    pub(super) fn tell_result(
        &mut self,
        place: usize,
        event: &Event,
        changes: &mut Changes,
        edit: impl Fn(&mut Node, &mut Edit<'_>),
    ) {
        match self.lent.get_mut(&place) {
            Some(lent) if lent.run == event.head.run_id && is_done(&lent.own) => {
                edit(&mut lent.other, &mut Edit::at(&mut Changes::unwanted(), path![]));
            }
            _ => self.tell(place, event, changes, edit),
        }
    }

    pub(super) fn is_lent_by(&self, place: usize, event: &Event) -> bool {
        self.lent.get(&place).is_some_and(|lent| lent.run == event.head.run_id)
    }

    /// Lends what the run of an event says to a call.
    pub(super) fn lend(&mut self, place: usize, event: &Event, own: Node, other: Node) {
        self.lent.insert(place, Lent { run: event.head.run_id.clone(), own, other });
    }

    /// A call appears in the place that was kept for one of another run: what that has said is lent from now on.
    pub(super) fn take_over(&mut self, place: usize, keeper: RunId) {
        let other = self.nodes[place].clone();
        let own = Node::new(Level::Call, &other.id, other.parent);
        self.lent.insert(place, Lent { run: Some(keeper), own, other });
    }

    /// Takes from a call what was lent to it: that is a call of its own now. Gives its place.
    pub(super) fn take_back(&mut self, place: usize, event: &Event, changes: &mut Changes) -> usize {
        let Some(Lent { own, other, .. }) = self.lent.remove(&place) else {
            return place;
        };
        self.edit(place, changes, |node, edit| {
            for (name, now, was) in [
                ("label", &mut node.label, own.label),
                ("status", &mut node.status, own.status),
                ("output", &mut node.output, own.output),
            ] {
                match was {
                    Some(was) => edit.put(name, now, Some(was)),
                    None => edit.clear(name, now),
                }
            }
            edit.put("events", &mut node.events, own.events);
        });
        let parent = self.parent_for(Level::Call, event, changes);
        self.add(Node { parent, orphan: false, ..other }, changes)
    }
}
