//! [`Calls`]: the tool calls of one step, from proposal to result.

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::body::tool::{ToolCall, ToolProgress, is_piece};
use antiphon_event::{CallId, Json, RelayId, RelayKind};
use serde::{Deserialize, Serialize};

use super::permit::{ASK, HANDOFF};

/// The calls of the step under way, in the order in which the model made them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Calls(Vec<Call>);

/// One call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// Its arguments: as proposed, and as they are when it runs.
    pub input: Json,
    pub(super) state: State,
    /// Which request is open about it, if one is.
    pub(super) relay: Option<Box<Relay>>,
    /// How often a person was asked what became of it.
    pub(super) doubts: u32,
    /// How many pieces of a stream it has printed.
    #[serde(default)]
    pub(super) pieces: u32,
}

impl Call {
    /// Whether a tool or another agent is at work on it, so that an outcome is awaited.
    pub(super) fn is_under_way(&self) -> bool {
        self.state == State::Running && self.relay.is_none() && !self.is_own()
    }

    /// Whether a person is asked what it gives.
    pub(super) fn is_asked(&self) -> bool {
        self.name == ASK && self.relay.is_some()
    }

    /// Whether it is carried out by the loop itself, and by no tool.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.name.as_str(), ASK | HANDOFF)
    }
}

/// Where a call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum State {
    /// The model wants it.
    Proposed,
    /// A person let it through, with these arguments if not with its own.
    Approved(Option<Json>),
    /// A person did not; why.
    Refused(String),
    /// It is about to run, or runs.
    Running,
    /// A person said what it gives.
    Answered(Box<RelayResolved>),
    /// It has its result.
    Done,
}

impl Calls {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Call> {
        self.0.iter()
    }

    pub(super) fn get(&self, id: &CallId) -> Option<&Call> {
        self.0.iter().find(|call| call.id == *id)
    }

    fn get_mut(&mut self, id: &CallId) -> Option<&mut Call> {
        self.0.iter_mut().find(|call| call.id == *id)
    }

    pub(super) fn running(&self, id: &CallId) -> Option<&Call> {
        self.get(id).filter(|call| call.state == State::Running)
    }

    /// A call that a tool or another agent is at work on.
    pub(super) fn under_way(&self, id: &CallId) -> Option<&Call> {
        self.get(id).filter(|call| call.is_under_way())
    }

    /// Whether all have their results.
    pub(super) fn are_done(&self) -> bool {
        self.0.iter().all(|call| call.state == State::Done)
    }

    /// Whether all but this one have their results.
    pub(super) fn are_done_but(&self, id: &CallId) -> bool {
        self.0.iter().all(|call| call.state == State::Done || call.id == *id)
    }

    /// Whether anything can still happen to them without a person.
    pub(super) fn at_work(&self) -> bool {
        let asked = self.0.iter().any(|call| call.relay.is_some());
        let goes_on = |call: &Call| match call.state {
            State::Running | State::Answered(_) => call.relay.is_none(),
            State::Proposed | State::Approved(_) | State::Refused(_) | State::Done => false,
        };
        !asked || self.0.iter().any(goes_on)
    }

    pub(super) fn relays(&self) -> impl Iterator<Item = &RelayId> {
        self.0.iter().filter_map(|call| call.relay.as_ref().map(|relay| &relay.id))
    }

    /// The call that a request is about.
    pub(super) fn of_relay(&self, relay: &RelayId) -> Option<(&Call, &Relay)> {
        let asked = |call: &Call| call.relay.as_ref().is_some_and(|asked| asked.id == *relay);
        let call = self.0.iter().find(|call| asked(call))?;
        Some((call, call.relay.as_deref()?))
    }

    /// A call as the model proposes it, or, when it is there already, as it is about to run if it may; whether it
    /// was there.
    pub(super) fn take(&mut self, call: &ToolCall, may_run: bool) -> bool {
        if let Some(known) = self.get_mut(&call.id) {
            known.input = call.input.clone();
            if may_run {
                known.state = State::Running;
            }
            return true;
        }
        self.0.push(Call {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.input.clone(),
            state: State::Proposed,
            relay: None,
            doubts: 0,
            pieces: 0,
        });
        false
    }

    pub(super) fn set(&mut self, id: &CallId, state: State) {
        if let Some(call) = self.get_mut(id) {
            call.state = state;
        }
    }

    pub(super) fn asked(&mut self, id: &CallId, relay: Relay) {
        if let Some(call) = self.get_mut(id) {
            call.doubts += u32::from(relay.kind == RelayKind::Approval);
            call.relay = Some(Box::new(relay));
        }
    }

    /// A call has said something.
    pub(super) fn progressed(&mut self, progress: &ToolProgress) {
        let piece = is_piece(&progress.content);
        if let Some(call) = self.get_mut(&progress.tool_call_id).filter(|_| piece) {
            call.pieces = call.pieces.saturating_add(1);
        }
    }

    /// Takes the request about a call away.
    pub(super) fn answered(&mut self, relay: &RelayId) -> Option<(CallId, Box<Relay>)> {
        let asked = |call: &&mut Call| call.relay.as_ref().is_some_and(|asked| asked.id == *relay);
        let call = self.0.iter_mut().find(asked)?;
        Some((call.id.clone(), call.relay.take()?))
    }
}
