//! The parts of a thread: what entries are made of, as they are kept.

use antiphon_event::Json;
use antiphon_graph::Place;
use serde::{Deserialize, Serialize};

use crate::Standing;
use crate::ranked::Ranked;
use crate::slots::Slots;
use crate::value::given;

/// A list of entries: the conversation itself, or what a subagent did.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Branch {
    /// The part it hangs from, and which of its branches it is; none for the conversation itself.
    pub(super) under: Option<(u32, usize)>,
    /// How deep it is nested.
    pub(super) depth: u32,
    /// The run that opened it.
    pub(super) run: Option<antiphon_event::RunId>,
    pub(super) entries: Ranked<u32>,
}

/// One message of a thread.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) message: Place,
    /// The run it is of; none for a summary.
    pub(super) run: Option<u32>,
    /// The branch and slot it was given.
    pub(super) home: (u32, usize),
    /// The branch and slot it is in: a summary is in that of its first source.
    pub(super) place: (u32, usize),
    pub(super) parts: Slots<u32>,
    pub(super) status: Status,
    /// Whether it waits for a parent that has not come.
    pub(super) orphan: bool,
    pub(super) at: Option<antiphon_event::Timestamp>,
    pub(super) agent: Option<String>,
    pub(super) flow_node: Option<antiphon_event::FlowNodeId>,
}

/// How far a message has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// More may come.
    Streaming,
    /// It is whole.
    Complete,
    /// Its run failed.
    Error,
    /// Its run was cancelled.
    Cancelled,
    /// Its run was cut off.
    Interrupted,
}

/// One part of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) entry: u32,
    pub(super) slot: usize,
    /// The block it shows.
    pub(super) block: Place,
    /// What came of a call or of code.
    pub(super) answer: Option<Answer>,
}

/// What came of a call, of code, or of a request.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The node of the result.
    pub(super) result: Option<Place>,
    /// Whether it is shown to say if it failed.
    #[serde(default)]
    pub(super) says_error: bool,
    /// The nodes of its progress, in order.
    pub(super) progress: Vec<Place>,
    /// The requests about it, in order.
    relays: Vec<Relay>,
    /// No request before this one waits.
    first_open: usize,
    /// Whether it was about to run.
    pub(super) running: bool,
    pub(super) branches: Vec<u32>,
}

impl Answer {
    /// The request to be shown: the first that waits, or the latest.
    pub(super) fn relay(&self) -> Option<&Relay> {
        self.relays.get(self.first_open).or(self.relays.last())
    }

    /// The place of the next request about it.
    pub(super) fn next_relay(&self) -> usize {
        self.relays.len()
    }

    /// Takes in a request that waits, in the place it had if it came before.
    pub(super) fn ask(&mut self, nth: usize, relay: Relay) {
        match self.relays.get_mut(nth) {
            Some(earlier) => *earlier = relay,
            None => self.relays.push(relay),
        }
        self.first_open = self.first_open.min(nth);
    }

    /// Takes in a request that was made elsewhere, settled or not; gives its place.
    pub(super) fn take_in(&mut self, relay: Relay) -> usize {
        let nth = self.next_relay();
        self.ask(nth, relay);
        self.settle(nth, |_| {});
        nth
    }

    /// Settles a request.
    pub(super) fn settle(&mut self, nth: usize, settle: impl FnOnce(&mut Relay)) {
        if let Some(relay) = self.relays.get_mut(nth) {
            settle(relay);
        }
        let is_settled = |relay: &&Relay| relay.status != Standing::Pending;
        self.first_open += self.relays[self.first_open..].iter().take_while(is_settled).count();
    }
}

/// A request to a person, and what became of it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Relay {
    pub(super) id: antiphon_event::RelayId,
    pub(super) kind: String,
    pub(super) status: Standing,
    /// What is asked, where the part is not the request itself.
    pub(super) prompt: Option<String>,
    pub(super) options: Option<Vec<String>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) answer: Option<Json>,
    pub(super) by: Option<String>,
    pub(super) reason: Option<String>,
}
