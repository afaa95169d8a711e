//! Why did that happen? From any event back along its causes.
//!
//! In: events, one at a time. Out: for any of them the chain that led to it, with what it cost and how long it took:
//! a result comes from a call, that from an approval, that from a model call, that from what somebody said.
//! Start reading at [`Causes::why`]; `why/record.rs` says which event is caused by what.

mod describe;
mod fact;
mod flow;
mod ledger;
mod position;
mod record;

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::{Event, FlowNodeId, Kind, ParentId, RunId, StreamId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

pub use fact::{ALSO_MAX, CAUSES_MAX, Cause, Fact, Relation, What, Why};
pub use position::Place;

use crate::calls::{Calls, Name};
use crate::index::{ByRun, Index};
use crate::request::Requests;
use crate::steps::Steps;
use crate::trees::Trees;
use crate::{Changes, View};
use position::Positions;

/// Remembers of each event what caused it.
///
/// Costs one fact for each event or stream of content, and four bytes for each further piece of a stream.
/// Positions are those of a branch: in a stream of several, [`Causes::at`] and [`Causes::on`] tell them apart.
///
/// ```
/// use antiphon_testkit::{history, numbered};
/// use antiphon_view::{Fold, why::Causes};
///
/// let events = numbered(history("u user hello\na^u:user harness_start\na text t hi"));
/// let fold = Fold::<Causes>::of(&events);
/// let why = fold.view().why(3).expect("there are three events");
/// let path: Vec<&str> = why.causes.iter().map(|cause| cause.what.tag()).collect();
/// assert_eq!(path, ["text", "step", "harness_start", "user"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Causes {
    facts: Vec<Fact>,
    /// The fact that each event belongs to, in the order they came.
    events: Vec<u32>,
    positions: Positions,
    works: Vec<Work>,
    /// The works that can be named as a cause, by the id of their node in the conversation graph.
    named: Index<Arc<str>>,
    streams: ByRun,
    calls: Called,
    codes: Called,
    runs: BTreeMap<RunId, Run>,
    requests: Requests,
    /// Requests that have come, by their number.
    asked: BTreeMap<usize, Asked>,
    /// Model calls and user messages by message, summaries by id.
    messages: BTreeMap<Arc<str>, u32>,
    /// Facts whose cause has not been heard of yet, by its name.
    waiting: BTreeMap<Arc<str>, Vec<u32>>,
    /// Which facts may come from one another.
    trees: Trees,
    /// The last fact that came after what it caused.
    late: Option<u32>,
}

/// Works that runs give ids, and what runs say of those that they have not begun.
#[serde_as]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Called {
    works: Calls,
    #[serde_as(as = "Vec<(_, _)>")]
    strays: BTreeMap<Name, Vec<u32>>,
}

/// Something that was begun and comes to something: a call, a node, a turn of code, a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Work {
    /// The fact that began it.
    start: u32,
    /// The last fact on the way to its end.
    tip: u32,
    /// Whether it has come to its result since it began.
    done: bool,
}

/// What is known of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Run {
    parent: Option<ParentId>,
    first: Option<u32>,
    last: Option<u32>,
    steps: Steps,
    step: Option<u32>,
    step_count: u32,
    /// What the next model call will answer.
    unanswered: Vec<u32>,
    /// What will have stopped the run.
    stopped: Option<u32>,
    /// The code that gave the final answer.
    answered: Option<u32>,
    /// The stream of the latest piece of content: most events are of the stream of the one before.
    stream: Option<(StreamId, u32)>,
    nodes: BTreeMap<FlowNodeId, Node>,
    /// When a flow last went on after it had ended or was cut off.
    resumed: Option<u32>,
}

/// What is known of a node in a run of a flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Node {
    /// The execution under way.
    work: Option<usize>,
    /// What was decided about the edges that lead here, by their source, since it last started.
    decided: BTreeMap<FlowNodeId, (u32, bool)>,
    retry: Option<u32>,
    ended: Option<u32>,
}

/// A request to a person, and the work it is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Asked {
    fact: u32,
    about: Option<usize>,
}

#[derive(Serialize)]
struct Snapshot<'a> {
    facts: &'a [Fact],
}

impl View for Causes {
    const NAME: &'static str = "why";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        if event.kind() == Kind::Unknown {
            return;
        }
        let index = self.events.len() as u32;
        let fact = self.record(event, changes);
        self.events.push(fact);
        if let Some(seq) = event.head.seq {
            self.positions.note(event, seq, index);
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { facts: &self.facts }
    }
}

impl Causes {
    /// Why the event at this position happened; `None` if there is none there, or one on each of several branches.
    /// Costs what the answer is long.
    pub fn why(&self, seq: u64) -> Option<Why> {
        let mut found = self.at(seq);
        let (_, index) = found.next()?;
        if found.next().is_some() { None } else { self.why_nth(index) }
    }

    /// The events at a position, one for each branch that has one, by when they were taken in, for [`Causes::why_nth`].
    pub fn at(&self, seq: u64) -> impl Iterator<Item = (&Place, usize)> {
        self.positions.at(seq)
    }

    /// When the event at a position of this branch was taken in; what comes before a fork is on the branch it forks from.
    pub fn on(&self, place: &Place, seq: u64) -> Option<usize> {
        self.positions.on(place, seq)
    }

    /// The branches that have positions, in the order in which they were heard of.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.positions.places()
    }

    /// Why the event taken in as the n-th, from 0, happened.
    pub fn why_nth(&self, index: usize) -> Option<Why> {
        let mut effect = *self.events.get(index)?;
        let mut causes = vec![self.cause(effect, None)];
        let mut spent = self.facts[effect as usize].spent.unwrap_or_default();
        let mut cut = false;
        while let Some(cause) = self.facts[effect as usize].cause {
            cut = causes.len() == CAUSES_MAX;
            if cut {
                break;
            }
            causes.push(self.cause(cause, Some(effect)));
            spent = spent.plus(self.facts[cause as usize].spent.unwrap_or_default());
            effect = cause;
        }
        let ends = (causes.last().and_then(|cause| cause.at), causes[0].at);
        let total_ms = ends.0.zip(ends.1).map(|(first, last)| last.millis() - first.millis());
        Some(Why { causes, total_ms, spent, cut })
    }

    /// Everything remembered, in the order it began.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    fn cause(&self, fact: u32, effect: Option<u32>) -> Cause {
        let cause = &self.facts[fact as usize];
        let effect = effect.map(|effect| &self.facts[effect as usize]);
        let also = effect.map(|effect| effect.also.as_slice()).unwrap_or_default();
        let times = cause.at.zip(effect.and_then(|effect| effect.at));
        Cause {
            seq: cause.seq,
            at: cause.at,
            what: cause.what,
            run_id: cause.run_id.clone(),
            text: cause.text.clone(),
            relation: effect.and_then(|effect| effect.relation),
            until_ms: times.map(|(first, then)| then.millis() - first.millis()),
            spent: cause.spent,
            also: also.iter().filter_map(|fact| self.facts[*fact as usize].seq).take(ALSO_MAX).collect(),
        }
    }
}
