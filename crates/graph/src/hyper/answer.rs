//! [`Answers`]: which call, or which code, each result, output and piece of progress belongs to.
//!
//! It belongs to what its own run calls by that id, whichever comes first. As long as its run has made no such call, it is
//! lent to a call of another run: to the one that last had the id, if that is open and nothing was lent to it by a third,
//! or else to the next one that comes; until then it waits. Start reading at [`Conversation::link`].

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use antiphon_event::{Body, Event, Kind, RunId};
use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};

use super::Conversation;
use super::link::Links;
use crate::node::NOWHERE;
use crate::{Place, Reducer};

/// What belongs to which call.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers {
    /// The result of each call and the output of each piece of code.
    pub(super) answers: Links,
    /// The call or the code that each result, output and piece of progress belongs to.
    pub(super) calls: Links,
    /// What runs say of calls that they have not made.
    pub(super) strays: BTreeMap<(Arc<str>, Callee, u32), Stray>,
    /// The run whose answers are lent to a call.
    pub(super) lent: BTreeMap<Place, u32>,
    /// Who last had an id; the node of that name, where nobody is noted.
    pub(super) latest: HashMap<(Arc<str>, Callee), Latest, FixedState>,
    /// The answers that belong to another call since the latest event.
    moved: Vec<Place>,
    /// The call that they left.
    freed: Option<Place>,
}

/// What can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum Callee {
    Call,
    Code,
}

impl Callee {
    fn kind(self) -> Kind {
        match self {
            Self::Call => Kind::ToolCall,
            Self::Code => Kind::ReplInput,
        }
    }
}

/// What a run says of a call that it has not made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Stray {
    /// The call of another run that it is lent to, if there is one.
    pub(super) call: Place,
    pub(super) nodes: Vec<Place>,
}

/// Who last had an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Latest {
    Call(Place),
    /// A run that waits for its call.
    Waits(u32),
}

impl Answers {
    /// Forgets what the event before moved.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.moved.clear();
        self.freed = None;
    }

    /// The call that what a run says about an id belongs to, if it has come.
    fn called(&self, reducer: &Reducer, run: &RunId, id: &Arc<str>, callee: Callee) -> Option<Place> {
        reducer.own(run, id, callee.kind()).or_else(|| {
            let run = reducer.graph().run_place(run.as_str());
            match run.and_then(|run| self.strays.get(&(Arc::clone(id), callee, run))) {
                Some(stray) => Some(stray.call).filter(|call| *call != NOWHERE),
                None => self.borrower(reducer, id, callee),
            }
        })
    }

    /// The call that answers of a run that has not made it are lent to.
    fn borrower(&self, reducer: &Reducer, id: &Arc<str>, callee: Callee) -> Option<Place> {
        let graph = reducer.graph();
        let is_called = |place: &Place| graph.at(*place).is_some_and(|node| node.kind() == callee.kind());
        let noted = if self.latest.is_empty() { None } else { self.latest.get(&(Arc::clone(id), callee)) };
        let latest = match noted {
            Some(Latest::Call(call)) => Some(*call),
            Some(Latest::Waits(_)) => None,
            None => graph.place(id).filter(is_called),
        };
        latest.filter(|call| self.answers.get(*call).is_none() && !self.lent.contains_key(call))
    }

    /// An answer has come.
    fn answer(&mut self, reducer: &Reducer, node: Place, run: &RunId, id: &Arc<str>, callee: Callee) {
        if let Some(call) = reducer.own(run, id, callee.kind()) {
            self.calls.set(node, call);
            if is_result(reducer, node) {
                self.answers.set(call, node);
            }
            return;
        }
        let run = run_of(reducer, node);
        let key = (Arc::clone(id), callee, run);
        if !self.strays.contains_key(&key) {
            let call = self.borrower(reducer, id, callee);
            match call {
                Some(call) => _ = self.lent.insert(call, run),
                None => _ = self.latest.insert((Arc::clone(id), callee), Latest::Waits(run)),
            }
            let call = call.unwrap_or(NOWHERE);
            self.strays.insert(key.clone(), Stray { call, nodes: Vec::new() });
        }
        let Some(stray) = self.strays.get_mut(&key) else { return };
        stray.nodes.push(node);
        if stray.call != NOWHERE {
            self.calls.set(node, stray.call);
            // A result of the call's own run counts for more than one that is lent.
            if is_result(reducer, node) {
                self.answers.fill(stray.call, node);
            }
        }
    }

    /// A call has come: what its run has said of it goes there; else what another run said, and waits.
    fn call(&mut self, reducer: &Reducer, call: Place, id: &Arc<str>, callee: Callee) {
        let is_renamed = reducer.graph().place(id) != Some(call);
        if !is_renamed && self.latest.is_empty() && self.strays.is_empty() {
            return;
        }
        let run = run_of(reducer, call);
        let name = (Arc::clone(id), callee);
        if let Some(stray) = self.strays.remove(&(Arc::clone(id), callee, run)) {
            self.leave(reducer, stray.call, run);
            self.moved = stray.nodes;
        } else if let Some(Latest::Waits(other)) = self.latest.get(&name).copied()
            && let Some(stray) = self.strays.get_mut(&(Arc::clone(id), callee, other))
            && stray.call == NOWHERE
        {
            stray.call = call;
            self.lent.insert(call, other);
            self.moved.clone_from(&stray.nodes);
        }
        for node in &self.moved {
            self.calls.set(*node, call);
            if is_result(reducer, *node) {
                self.answers.set(call, *node);
            }
        }
        if is_renamed || self.latest.contains_key(&name) {
            self.latest.insert(name, Latest::Call(call));
        }
    }

    /// A call gives back what a run had lent it.
    fn leave(&mut self, reducer: &Reducer, call: Place, run: u32) {
        if call == NOWHERE {
            return;
        }
        self.lent.remove(&call);
        self.freed = Some(call);
        if self.answers.get(call).is_some_and(|answer| run_of(reducer, answer) == run) {
            self.answers.set(call, NOWHERE);
        }
    }
}

fn run_of(reducer: &Reducer, node: Place) -> u32 {
    reducer.graph().at(node).map_or(0, |node| node.run_place)
}

/// Whether a node ends what it answers; progress does not.
fn is_result(reducer: &Reducer, node: Place) -> bool {
    let kind = reducer.graph().at(node).map(crate::Node::kind);
    matches!(kind, Some(Kind::ToolResult | Kind::ReplOutput))
}

/// What an event answers: the id that it gives, and the type of what is meant.
fn answered(event: &Event) -> Option<(Arc<str>, Callee)> {
    match &event.body {
        Body::ToolResult(result) => Some((result.id.shared(), Callee::Call)),
        Body::ToolProgress(progress) => Some((progress.tool_call_id.shared(), Callee::Call)),
        Body::ReplProgress(progress) => Some((progress.id.shared(), Callee::Code)),
        Body::ReplOutput(output) => Some((output.id.shared(), Callee::Code)),
        _ => None,
    }
}

impl Conversation {
    /// Puts an answer to its call, or a call to the answers that came before it.
    pub(super) fn link(&mut self, node: Place, event: &Event) {
        let Self { answers, reducer, .. } = self;
        match &event.body {
            Body::ToolCall(call) => answers.call(reducer, node, &call.id.shared(), Callee::Call),
            Body::ReplInput(input) => answers.call(reducer, node, &input.id.shared(), Callee::Code),
            _ => {
                let run = event.head.run_id.as_ref();
                if let (Some(run), Some((id, callee))) = (run, answered(event)) {
                    answers.answer(reducer, node, run, &id, callee);
                }
            }
        }
    }

    /// The call, or the code, that an event is about, if it has come.
    pub(super) fn called(&self, event: &Event) -> Option<Place> {
        let run = event.head.run_id.as_ref()?;
        if let Body::Relay(relay) = &event.body {
            return self.reducer.resolve(run, relay.tool_call_id.as_ref()?.as_str(), Kind::ToolCall);
        }
        let (id, callee) = answered(event)?;
        self.answers.called(&self.reducer, run, &id, callee)
    }

    /// The result of a call, or the output of a piece of code.
    pub fn answer_to(&self, call: Place) -> Option<Place> {
        self.answers.answers.get(call)
    }

    /// The call, or the piece of code, that a result, an output or a piece of progress belongs to, if it has come.
    pub fn call_of(&self, answer: Place) -> Option<Place> {
        self.answers.calls.get(answer)
    }

    /// The answers that belong to another call since the latest event: to the one that it is about.
    pub fn moved_answers(&self) -> &[Place] {
        &self.answers.moved
    }

    /// The call that those answers were lent to before.
    pub fn freed_call(&self) -> Option<Place> {
        self.answers.freed
    }
}
