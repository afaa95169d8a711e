//! [`Ids`]: the ids of calls as they are written for a vendor.
//!
//! An id is that of the call's event, whatever its node is called: without the run before it, and without the number that a
//! run adds when the vendor uses an id again. It is settled when the call comes, and nothing that comes later changes it.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::{Body, Kind, RunId};
use antiphon_graph::{Conversation, Node, Place, Placed};
use serde::{Deserialize, Serialize};

/// How the ids of calls are written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Ids {
    /// The ids that calls have in each message: no two have the same.
    taken: BTreeSet<(Place, String)>,
    /// The ids of calls that are not written as their events say, but for the run.
    others: BTreeMap<Place, String>,
}

impl Ids {
    /// Settles the id of a call that has just come.
    pub(super) fn note(&mut self, conversation: &Conversation, placed: Placed) {
        let Some((run, id)) = conversation.node(placed.node).and_then(called) else {
            return;
        };
        let raw = raw(conversation, run, id);
        let numbered = (2_u32..).map(|number| format!("{raw}_{number}"));
        let mut forms = std::iter::once(raw.to_owned()).chain(numbered);
        let is_free = |form: &String| !self.taken.contains(&(placed.message, form.clone()));
        let form = forms.find(is_free).expect("calls are finite, numbers are not");
        if form != own(run, id) {
            self.others.insert(placed.node, form.clone());
        }
        self.taken.insert((placed.message, form));
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
