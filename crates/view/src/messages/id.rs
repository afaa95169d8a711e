//! [`Ids`]: the ids of calls as they are written for a vendor.
//!
//! An id is that of the call's event, whatever its node is called: without the run before it, and without the number that a
//! run adds when the vendor uses an id again. It is settled when the call comes, and nothing that comes later changes it.

use std::collections::BTreeMap;

use antiphon_event::{Body, Kind, RunId};
use antiphon_graph::{Conversation, Node, Place, Placed};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

/// How the ids of calls are written.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Ids {
    /// The ids that calls have in each message, no two the same, and the next number for another that would have it.
    #[serde_as(as = "Vec<(_, _)>")]
    taken: BTreeMap<(Place, String), u32>,
    /// The ids of calls that are not written as their events say, but for the run.
    others: BTreeMap<Place, String>,
}

impl Ids {
    /// Settles the id of a call that has just come.
    pub(super) fn note(&mut self, conversation: &Conversation, placed: Placed) {
        let Some((run, id)) = conversation.node(placed.node).and_then(called) else {
            return;
        };
        let form = self.free(placed.message, raw(conversation, run, id));
        if form != own(run, id) {
            self.others.insert(placed.node, form.clone());
        }
        self.taken.insert((placed.message, form), 2);
    }

    /// An id that no call of a message has: this one, or with a number.
    fn free(&mut self, message: Place, id: &str) -> String {
        let Some(next) = self.taken.get(&(message, id.to_owned())) else {
            return id.to_owned();
        };
        let is_free = |number: &u32| !self.taken.contains_key(&(message, format!("{id}_{number}")));
        let number = (*next..).find(is_free).expect("calls are finite, numbers are not");
        self.taken.insert((message, id.to_owned()), number + 1);
        format!("{id}_{number}")
    }

    /// Lets another call have the id of one that does not count any more.
    pub(super) fn forget(&mut self, conversation: &Conversation, node: Place) {
        let block = conversation.block_of(node).and_then(|block| conversation.block(block));
        if let (Some(block), Some(id)) = (block, self.of(conversation, node)) {
            self.taken.remove(&(block.message, id));
        }
    }

    /// The id of a call.
    pub(super) fn of(&self, conversation: &Conversation, node: Place) -> Option<String> {
        let (run, id) = conversation.node(node).and_then(called)?;
        Some(self.others.get(&node).map_or_else(|| own(run, id), String::as_str).to_owned())
    }
}

fn called(node: &Node) -> Option<(&RunId, &str)> {
    match node.body() {
        Body::ToolCall(call) => Some((node.run(), call.id.as_str())),
        _ => None,
    }
}

/// An id without the run before it.
fn own<'a>(run: &RunId, id: &'a str) -> &'a str {
    id.strip_prefix(run.as_str()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id)
}

/// An id as the vendor gave it: without the number, too, if the run has a call without it.
fn raw<'a>(conversation: &Conversation, run: &RunId, id: &'a str) -> &'a str {
    let own = own(run, id);
    if own.len() == id.len() {
        return own;
    }
    let is_again = |(first, number): &(&str, &str)| {
        number.parse::<u32>().is_ok() && conversation.own(run, first, Kind::ToolCall).is_some()
    };
    match id.rsplit_once('~').filter(is_again) {
        Some((first, _)) => &first[id.len() - own.len()..],
        None => own,
    }
}
