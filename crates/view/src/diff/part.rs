//! [`Part`]: a part of a history, to be compared with another part of it.

use std::collections::HashSet;
use std::sync::Arc;

use antiphon_event::{Body, BranchId, Event, RunId};

/// Which part of a history is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Everything up to and including a position; events without one are counted.
    Until(u64),
    /// What was written on a branch.
    Branch(BranchId),
    /// A run with all runs it led to.
    Run(RunId),
}

impl Part {
    /// The events of the part, in order.
    pub fn of<'e>(&self, events: impl IntoIterator<Item = &'e Event>) -> Vec<&'e Event> {
        let events = events.into_iter();
        match self {
            Self::Until(seq) => {
                let position = |(index, event): &(usize, &Event)| event.head.seq.unwrap_or(*index as u64 + 1);
                events.enumerate().filter(|row| position(row) <= *seq).map(|(_, event)| event).collect()
            }
            Self::Branch(branch) => {
                events.filter(|event| event.head.branch_id.as_ref() == Some(branch)).collect()
            }
            Self::Run(run) => {
                let mut tree = Tree { runs: HashSet::from([run.clone()]), names: HashSet::new() };
                events.filter(|event| tree.has(event)).collect()
            }
        }
    }
}

/// A run and all it led to, as far as it has been read.
struct Tree {
    runs: HashSet<RunId>,
    /// Ids of calls and code in the tree, which may have started runs.
    names: HashSet<Arc<str>>,
}

impl Tree {
    fn has(&mut self, event: &Event) -> bool {
        let Some(run) = &event.head.run_id else {
            return false;
        };
        if !self.runs.contains(run) {
            let parent = event.head.parent_id.as_ref();
            let inside = event.kind() != antiphon_event::Kind::User
                && parent
                    .is_some_and(|parent| self.names.contains(parent.as_str()) || self.owns(parent.as_str()));
            if !inside {
                return false;
            }
            self.runs.insert(run.clone());
        }
        match &event.body {
            Body::ToolCall(call) => self.names.insert(call.id.shared()),
            Body::ReplInput(input) => self.names.insert(input.id.shared()),
            _ => false,
        };
        true
    }

    /// Whether an id is a run of the tree, or that of a node in one: `<run>:<node>:…`.
    fn owns(&self, id: &str) -> bool {
        self.runs.contains(id) || id.split_once(':').is_some_and(|(run, _)| self.runs.contains(run))
    }
}
