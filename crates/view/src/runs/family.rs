//! Who started whom: a cause is a tool call, a node of the conversation graph, or a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_event::{Body, Event, RunId};
use serde::{Deserialize, Serialize};

use super::{Kind, Runs};
use crate::index::Index;
use crate::value::{fill, put};
use crate::{Changes, path};

/// What is needed to find the run behind a cause, now or when it arrives.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Family {
    /// The run that holds a call, a text or any other content with an id of its own.
    content: Index<Arc<str>>,
    /// The content each run spoke of last: streams need not be looked up again for every piece.
    latest: BTreeMap<usize, Arc<str>>,
    /// The runs that wait for a cause to arrive.
    awaited: BTreeMap<Arc<str>, Vec<usize>>,
    parents: BTreeMap<usize, usize>,
    /// The runs that others follow from.
    followed: BTreeSet<usize>,
}

impl Family {
    /// Remembers that the content of an event is of this run, unless another run had the id before.
    pub(super) fn know_content(&mut self, place: usize, body: &Body) {
        let Some(id) = content_id(body) else { return };
        if self.latest.get(&place) == Some(&id) {
            return;
        }
        if self.content.get(&id).is_none() {
            self.content.insert(Arc::clone(&id), place);
        }
        self.latest.insert(place, id);
    }
}

impl Runs {
    /// Finds the run that caused this one, or lets it wait for that.
    pub(super) fn link(&mut self, place: usize, changes: &mut Changes) {
        let Some(parent) = self.rows[place].parent_id.clone() else { return };
        let found = names(parent.as_str()).find_map(|name| self.holder(name));
        if let Some(found) = found {
            self.attach(place, found, changes);
            return;
        }
        put(&mut self.rows[place].orphan, true, changes, path!["runs", place, "orphan"]);
        for name in names(parent.as_str()) {
            self.family.awaited.entry(name.into()).or_default().push(place);
        }
    }

    /// Gives the run of an event, and its content, to those that wait for them.
    pub(super) fn adopt(&mut self, run: &RunId, event: &Event, changes: &mut Changes) {
        if self.family.awaited.is_empty() {
            return;
        }
        for name in [Some(run.shared()), content_id(&event.body)].into_iter().flatten() {
            let waiting = self.family.awaited.remove(&name).unwrap_or_default();
            for child in waiting {
                if let (true, Some(parent)) = (self.rows[child].orphan, self.holder(&name)) {
                    self.attach(child, parent, changes);
                }
            }
        }
    }

    /// The run that a name of content, or of a run, leads to.
    fn holder(&self, name: &str) -> Option<usize> {
        let name = Arc::from(name);
        self.family.content.get(&name).or_else(|| self.by_id.get(&RunId::from(name)))
    }

    fn attach(&mut self, child: usize, parent: usize, changes: &mut Changes) {
        put(&mut self.rows[child].orphan, false, changes, path!["runs", child, "orphan"]);
        if self.is_within(parent, child) {
            return;
        }
        self.family.parents.insert(child, parent);
        self.family.followed.insert(parent);
        let parent_run = self.rows[parent].run_id.clone();
        let slot = &mut self.rows[child].parent_run_id;
        fill(slot, Some(parent_run), changes, path!["runs", child, "parentRunId"]);
        // A person who answers follows a run, but is not a part of it.
        let children = self.rows[parent].children + u64::from(self.rows[child].kind != Kind::User);
        put(&mut self.rows[parent].children, children, changes, path!["runs", parent, "children"]);
    }

    /// Whether a run is another one or follows from it. Only one that is followed has to be looked for.
    fn is_within(&self, run: usize, other: usize) -> bool {
        if !self.family.followed.contains(&other) {
            return run == other;
        }
        std::iter::successors(Some(run), |run| self.family.parents.get(run).copied()).any(|run| run == other)
    }
}

/// What a cause may be the name of: itself, then what it is a part of: `f1:write:1:start`, … `f1`.
fn names(cause: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(cause), |name| name.rsplit_once(':').map(|(whole, _)| whole))
}

fn content_id(body: &Body) -> Option<Arc<str>> {
    match body {
        Body::Text(text) => Some(text.id.shared()),
        Body::Reasoning(reasoning) => Some(reasoning.id.shared()),
        Body::ToolCall(call) => Some(call.id.shared()),
        Body::ToolProgress(progress) => Some(progress.id.shared()),
        Body::Relay(relay) => Some(relay.id.shared()),
        Body::ReplInput(input) => Some(input.id.shared()),
        _ => None,
    }
}
