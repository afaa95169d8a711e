//! What the scheduler keeps about one node and one edge.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use antiphon_event::body::flow::{NodeError, NodeStart, Telemetry};
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Context, FlowNodeId, Json, NodeStatus, Timestamp};

use serde::{Deserialize, Serialize};

use super::saved::given;
use crate::definition::{EdgeIndex, NodeIndex};

/// What was decided about an edge in this pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Undecided,
    Live,
    /// Its own condition was false.
    Refused,
    /// Its source was skipped, or another way was taken.
    Passed,
    /// Not live, and not dead before the loop it leaves has come to rest.
    Held(Dead),
}

/// How an edge dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dead {
    Refused,
    Passed,
}

impl From<Dead> for Decision {
    fn from(dead: Dead) -> Self {
        match dead {
            Dead::Refused => Self::Refused,
            Dead::Passed => Self::Passed,
        }
    }
}

/// Where a node is in this pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    Executing,
    Interrupted,
    Completed,
    Skipped,
    Failed,
    Cancelled,
}

impl Status {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Executing => "EXECUTING",
            Self::Interrupted => "INTERRUPTED",
            Self::Completed => "COMPLETED",
            Self::Skipped => "SKIPPED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }

    pub(super) fn word(self) -> NodeStatus {
        match self {
            Self::Pending => NodeStatus::Pending,
            Self::Executing => NodeStatus::Executing,
            Self::Interrupted => NodeStatus::Interrupted,
            Self::Completed => NodeStatus::Completed,
            Self::Skipped => NodeStatus::Skipped,
            Self::Failed => NodeStatus::Failed,
            Self::Cancelled => NodeStatus::Cancelled,
        }
    }

    pub(super) fn settled(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped)
    }
}

/// Which queue a node stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    None,
    Ready,
    Skip,
}

/// What the end of the id of a relay begins with if it is about what another node gave for this one.
pub(super) const FOR_FALLBACK: &str = "fallback-";

/// Why a node waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Its work is to ask.
    Human,
    /// A guardrail stopped its input.
    GuardInput,
    /// A guardrail stopped its output.
    GuardOutput,
    /// Nobody knows how its last attempt ended.
    InDoubt,
    /// A hook wants to know.
    Hook,
    /// The run inside it waits.
    Inside,
}

impl Why {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Human, "human_approval", "ask"),
        (Self::GuardInput, "guardrail_violation", "input"),
        (Self::GuardOutput, "guardrail_violation", "output"),
        (Self::InDoubt, "in_doubt", "doubt"),
        (Self::Hook, "hook", "hook"),
        (Self::Inside, "inside", "inside"),
    ];

    /// The reason of an `interrupt`.
    pub(super) fn reason(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).expect("every case has a row").1
    }

    /// The end of the id of its relay.
    pub(super) fn suffix(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).expect("every case has a row").2
    }

    pub(super) fn of(relay: &str) -> Option<Self> {
        let (_, suffix) = relay.rsplit_once(':')?;
        let suffix = suffix.strip_prefix(FOR_FALLBACK).unwrap_or(suffix);
        Self::ALL.iter().find(|row| row.2 == suffix).map(|row| row.0)
    }
}

/// What an attempt without an outcome waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Its work.
    Work,
    /// The delay before its next attempt, in milliseconds.
    Delay(u64),
    /// A person, until a moment if there is one.
    Person(Option<Timestamp>),
    /// The node that takes over for it.
    Fallback,
}

/// What the scheduler keeps about one node: small, as there may be many and each is looked at often.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) status: Status,
    pub(super) queue: Queue,
    /// Whether its last execution failed or was cancelled and is to be attempted once more.
    pub(super) again: bool,
    /// Whether it was just taken out of line and its status is about to change.
    pub(super) leaving_line: bool,
    pub(super) execution: u32,
    pub(super) attempt: u32,
    /// Forward in-edges, by what was decided about them.
    pub(super) undecided: u32,
    pub(super) live: u32,
    pub(super) refused: u32,
    pub(super) output: Option<Json>,
    pub(super) started: Option<Timestamp>,
    pub(super) context: Known,
    pub(super) rare: Option<Box<Rare>>,
}

/// What the attempt under way belongs to, if that began here. It follows from the rest and is known only to be shared,
/// so it is no part of what a scheduler is seen to be.
#[derive(Clone, Default)]
pub(super) struct Known(pub(super) Option<Arc<Context>>);

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

/// What most nodes of most runs never have.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Rare {
    /// Back edges that brought it here in this pass.
    pub(super) brought: Vec<EdgeIndex>,
    /// Its input, if it is not simply what its sources gave, or they may come to be more.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub(super) input: Option<Json>,
    /// What it contributed, in the run of a map.
    pub(super) writes: Option<BTreeMap<String, Json>>,
    /// What the run inside it came to that did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) partial: Option<Json>,
    pub(super) error: Option<Box<NodeError>>,
    pub(super) telemetry: Option<Box<Telemetry>>,
    pub(super) relay: Option<Arc<Relay>>,
    pub(super) answer: Option<Arc<(Relay, RelayResolved)>>,
    pub(super) delay: Option<u64>,
    /// How often this execution failed and was tried again; attempts that were lost do not count.
    pub(super) retries: u32,
    /// How often it was skipped, where it may run only so often.
    pub(super) skips: u32,
    /// The node that takes over for it now.
    pub(super) deputy: Option<NodeIndex>,
    /// Nodes it takes over for, the first one first.
    pub(super) callers: VecDeque<NodeIndex>,
    /// Whether a person has waived the guards on its input.
    pub(super) waived: bool,
    /// What became of the attempt without its work, or whatever that still gives.
    pub(super) prevented: Option<Prevented>,
}

/// What becomes of an attempt whose work is not done, or not waited for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Prevented {
    /// It fails.
    Failed(NodeError),
    /// A guard sends the run to another node.
    Rerouted(FlowNodeId),
}

/// What is seen where nothing rare was ever kept.
static NOTHING: Rare = Rare {
    brought: Vec::new(),
    input: None,
    writes: None,
    partial: None,
    error: None,
    telemetry: None,
    relay: None,
    answer: None,
    delay: None,
    retries: 0,
    skips: 0,
    deputy: None,
    callers: VecDeque::new(),
    waived: false,
    prevented: None,
};

impl Rare {
    /// An attempt begins.
    pub(super) fn begin(&mut self, start: &NodeStart) {
        self.delay = None;
        self.answer = None;
        self.error = None;
        self.partial = None;
        self.prevented = None;
        if start.attempt == 1 {
            self.input = None;
            self.retries = 0;
        }
    }

    /// An execution ends; gives the node that took over, if one did.
    pub(super) fn finish(&mut self) -> Option<NodeIndex> {
        self.error = None;
        self.partial = None;
        self.telemetry = None;
        self.writes = None;
        self.relay = None;
        self.answer = None;
        self.delay = None;
        self.waived = false;
        self.prevented = None;
        self.deputy.take()
    }
}

impl Spot {
    pub(super) fn new(entering: usize) -> Self {
        Self {
            status: Status::Pending,
            queue: Queue::None,
            again: false,
            leaving_line: false,
            execution: 0,
            attempt: 0,
            undecided: entering as u32,
            live: 0,
            refused: 0,
            output: None,
            started: None,
            context: Known::default(),
            rare: None,
        }
    }

    pub(super) fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&NOTHING)
    }

    /// The same to put something there.
    pub(super) fn keep(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The same to take something away, if anything is there.
    pub(super) fn kept(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    /// Whether something is still to come of it in this pass without anything else happening first.
    pub(super) fn busy(&self) -> bool {
        self.queue != Queue::None || matches!(self.status, Status::Executing | Status::Interrupted)
    }

    /// Whether it executes and nothing is done for it now: another node does its work, or its next attempt is to come.
    pub(super) fn rests(&self) -> bool {
        let rare = self.rare();
        self.status == Status::Executing && (rare.deputy.is_some() || rare.delay.is_some())
    }

    pub(super) fn waits(&self) -> Option<Waits> {
        let rare = self.rare();
        match (self.status, &rare.relay) {
            (Status::Interrupted, Some(relay)) => Some(Waits::Person(relay.expires_at)),
            (Status::Interrupted, None) => Some(Waits::Work),
            (Status::Executing, _) => Some(match (rare.delay, rare.deputy) {
                (Some(delay), _) => Waits::Delay(delay),
                (None, Some(_)) => Waits::Fallback,
                (None, None) => Waits::Work,
            }),
            _ => None,
        }
    }
}
