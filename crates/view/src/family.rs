//! [`Family`]: which run caused which. A cause is a tool call, a node of the conversation graph, or a run.
//!
//! In: runs by their place in a view, what each says, and what it says caused it. Out: the run behind a cause, now or when
//! it arrives. Start reading at [`Family::cause`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::{Body, ParentId, RunId};
use serde::{Deserialize, Serialize};

use crate::index::Index;

/// The runs of a view, by their places in it, and who waits for what caused it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Family {
    runs: Index<RunId>,
    /// The run that holds a call, a text or any other content with an id of its own.
    content: Index<Arc<str>>,
    /// The content each run spoke of last: streams need not be looked up again for every piece.
    latest: Vec<Option<Arc<str>>>,
    /// The runs that wait for a cause to arrive.
    awaited: BTreeMap<Arc<str>, Vec<usize>>,
}

impl Family {
    /// The place of a run.
    pub(crate) fn run(&self, run: &RunId) -> Option<usize> {
        self.runs.get(run)
    }

    /// Takes in a run that was not heard of before, and gives it the next place.
    pub(crate) fn add(&mut self, run: &RunId) -> usize {
        let place = self.latest.len();
        self.runs.insert(run.clone(), place);
        self.latest.push(None);
        place
    }

    /// Remembers that the content of an event is of this run. As in the conversation graph, what has an id that another run
    /// had before is known by its run, too.
    pub(crate) fn know_content(&mut self, run: &RunId, place: usize, body: &Body) {
        let Some(id) = content_id(body) else { return };
        if self.latest[place].as_ref() == Some(&id) {
            return;
        }
        match self.content.get(&id) {
            None => self.content.insert(Arc::clone(&id), place),
            Some(holder) if holder == place => {}
            Some(_) => self.content.insert(format!("{run}/{id}").into(), place),
        }
        self.latest[place] = Some(id);
    }

    /// The run behind a cause, if it has come.
    pub(crate) fn cause(&self, parent: &ParentId) -> Option<usize> {
        names(parent.as_str()).find_map(|name| self.holder(name))
    }

    /// Lets a run wait for its cause.
    pub(crate) fn wait(&mut self, place: usize, parent: &ParentId) {
        for name in names(parent.as_str()) {
            self.awaited.entry(name.into()).or_default().push(place);
        }
    }

    /// Those who waited for the run of an event, or for its content, each with the run behind what it waited for. A run that
    /// waits by several names may come several times.
    pub(crate) fn arrived(&mut self, run: &RunId, body: &Body) -> Vec<(usize, usize)> {
        if self.awaited.is_empty() {
            return Vec::new();
        }
        let content = content_id(body);
        let other = content.as_ref().filter(|id| self.content.get(*id) != self.runs.get(run));
        let other = other.map(|id| format!("{run}/{id}").into());
        let mut found = Vec::new();
        for name in [Some(run.shared()), content, other].into_iter().flatten() {
            let waiting = self.awaited.remove(&name).unwrap_or_default();
            let holder = self.holder(&name);
            found.extend(waiting.into_iter().filter_map(|child| Some((child, holder?))));
        }
        found
    }

    /// The run that a name of content, or of a run, leads to.
    fn holder(&self, name: &str) -> Option<usize> {
        let name = Arc::from(name);
        self.content.get(&name).or_else(|| self.runs.get(&RunId::from(name)))
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
