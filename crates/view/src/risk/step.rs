//! What the risk view is made of: steps, and what would become of them.

use antiphon_event::{RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::edit::Edit;

/// Something that was begun outside: a model call, a tool call, a node, a piece of code, a request.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What it is.
    pub kind: StepKind,
    /// The call, request or piece of code; `<node>:<execution>:<attempt>` for a node, a number for a model call.
    pub id: String,
    /// The run it belongs to.
    pub run_id: Option<RunId>,
    /// The tool, the type of the node, what is asked for.
    pub name: Option<String>,
    /// What doing it may change, where that is known.
    pub effect: Option<Effect>,
    /// What is known about its end.
    pub state: State,
    /// What would happen to it if the process died now; absent if it is over.
    pub then: Option<Then>,
    /// Why.
    pub why: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When its end was recorded, or was given up on.
    pub ended_at: Option<Timestamp>,
}

impl Step {
    /// Puts another in its place.
    pub(super) fn become_another(&mut self, other: Self, edit: &mut Edit<'_>) {
        fn renew<T: Serialize + PartialEq>(
            edit: &mut Edit<'_>,
            name: &str,
            place: &mut Option<T>,
            value: Option<T>,
        ) {
            if value.is_none() { edit.clear(name, place) } else { edit.put(name, place, value) }
        }
        renew(edit, "runId", &mut self.run_id, other.run_id);
        renew(edit, "name", &mut self.name, other.name);
        renew(edit, "effect", &mut self.effect, other.effect);
        edit.put("state", &mut self.state, other.state);
        renew(edit, "then", &mut self.then, other.then);
        renew(edit, "why", &mut self.why, other.why);
        renew(edit, "startedAt", &mut self.started_at, other.started_at);
        renew(edit, "endedAt", &mut self.ended_at, other.ended_at);
    }
}

/// What kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A model call.
    Model,
    /// A tool call.
    Tool,
    /// An attempt at a node of a flow.
    Node,
    /// A piece of code of an agent.
    Code,
    /// A request to a person.
    Relay,
}

/// What is known about the end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its end is in the journal: it never runs again.
    Recorded,
    /// It was begun and has no end yet.
    InFlight,
    /// It was begun and nobody will tell how it ended.
    Unknown,
}

/// What doing something may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    Pure,
    /// Nothing, but the answer may differ.
    Read,
    /// Something.
    Write,
    /// Something beyond our reach.
    External,
    /// A person is asked.
    Human,
}

impl Effect {
    /// The effect of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pure" => Self::Pure,
            "read" => Self::Read,
            "write" => Self::Write,
            "external" => Self::External,
            "human" => Self::Human,
            _ => return None,
        })
    }
}

/// What would happen to a step if the process died now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// It is done once more.
    RunAgain,
    /// A person is asked whether it was done.
    Ask,
    /// It goes on from where it is.
    Resume,
    /// It stays as it is, until a person answers.
    Wait,
}

/// Steps, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Over, with their end in the journal.
    pub recorded: u64,
    /// Begun, without an end.
    pub in_flight: u64,
    /// Given up on: nobody knows how they ended.
    pub unknown: u64,
    /// Of those in flight, those that would be done once more.
    pub run_again: u64,
    /// Of those in flight, those that a person would be asked about.
    pub ask: u64,
    /// Of those in flight, those that would go on.
    pub resume: u64,
    /// Of those in flight, those that would wait.
    pub wait: u64,
}

impl Counts {
    /// The counts a step is part of.
    pub(super) fn of(&mut self, step: &Step) -> [Option<&mut u64>; 2] {
        let state = match step.state {
            State::Recorded => &mut self.recorded,
            State::InFlight => &mut self.in_flight,
            State::Unknown => &mut self.unknown,
        };
        let then = match step.then {
            Some(Then::RunAgain) => Some(&mut self.run_again),
            Some(Then::Ask) => Some(&mut self.ask),
            Some(Then::Resume) => Some(&mut self.resume),
            Some(Then::Wait) => Some(&mut self.wait),
            None => None,
        };
        [Some(state), then]
    }
}
