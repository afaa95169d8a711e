//! The workloads: what is folded into what.
//!
//! In: a row of the table and a size. Out: the input, made beforehand ([`Workload::prepare`]), and the fold of it,
//! which is what a bench measures ([`Prepared::run`]). Adding a workload is a row in [`CORE`].

use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use antiphon_event::{Body, Event, Lines};
use antiphon_graph::{Conversation, Reducer};
use antiphon_testkit::{numbered, shape};
use antiphon_view::Changes;
use antiphon_view::catalogue::{self, AnyView, CATALOGUE};

/// How many snapshots are taken in one run: one alone is too short to be measured.
const SNAPSHOTS: usize = 1_000;

/// How much is read at a time from JSON lines, in bytes.
const READ_SIZE: usize = 64 * 1024;

/// One row: events of a shape, and what is made of them.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// What is made of the events.
    pub work: Work,
    /// What the events are like.
    pub shape: Shape,
    /// Whether the bars are about it; the rest shows where time goes.
    pub core: bool,
}

/// What is made of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Nothing: JSON lines are read, and that is all.
    Decode,
    /// A bare hash map of the bodies, each under an id of its own: what memory alone costs, for comparison.
    Bare,
    /// The flat graph.
    Flat,
    /// The flat graph, from JSON lines.
    FlatFromLines,
    /// The hypergraph.
    Hyper,
    /// A view by its name in the catalogue; those of blocks and messages hold the hypergraph too.
    View(&'static str, Watch),
    /// Snapshots of a flat graph that is there already.
    FlatSnapshot,
    /// Snapshots of a hypergraph that is there already.
    HyperSnapshot,
}

/// Who looks on while a view is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Nobody: no changes are described.
    Nobody,
    /// Somebody, who takes the changes after each event.
    Somebody,
}

/// What the events are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// Text, a thousand pieces for each message.
    Deltas,
    /// The same with the position, time, session and branch that a journal gives.
    Recorded,
    /// Text, all of it one message.
    OneMessage,
    /// An agent that speaks, calls a tool and gets the result.
    Tools,
    /// Text of ten runs, one piece each in turn.
    Interleaved,
    /// One agent with a great many subagents at once.
    Subagents,
    /// Text and reasoning in turn.
    Alternating,
    /// One agent with a great many model calls.
    Iterations,
    /// Messages and summaries in turn, each summary of the one before it.
    Summaries,
    /// The same from the last to the first.
    LateSources,
    /// Messages, and one summary of them all.
    LongSummary,
    /// Summaries of summaries, and as many choices of what is active.
    Choices,
}

/// The hypergraph and the thread, with nobody looking on.
pub const THREAD: Work = Work::View("thread", Watch::Nobody);

const THREAD_WATCHED: Work = Work::View("thread", Watch::Somebody);

const MESSAGES_WATCHED: Work = Work::View("messages", Watch::Somebody);

/// What the bars are about.
const CORE: &[(Work, Shape)] = &[
    (Work::Bare, Shape::Tools),
    (Work::Decode, Shape::Deltas),
    (Work::Flat, Shape::Deltas),
    (Work::Flat, Shape::Recorded),
    (Work::Flat, Shape::Tools),
    (Work::Flat, Shape::Interleaved),
    (Work::Flat, Shape::Subagents),
    (Work::Flat, Shape::Alternating),
    (Work::Flat, Shape::Iterations),
    (Work::FlatFromLines, Shape::Deltas),
    (Work::FlatFromLines, Shape::Recorded),
    (Work::FlatFromLines, Shape::Tools),
    (Work::FlatFromLines, Shape::Interleaved),
    (Work::Hyper, Shape::Deltas),
    (Work::Hyper, Shape::Tools),
    (THREAD, Shape::Deltas),
    (THREAD, Shape::Recorded),
    (THREAD, Shape::Tools),
    (THREAD, Shape::Interleaved),
    (THREAD, Shape::Subagents),
    (THREAD, Shape::Alternating),
    (THREAD, Shape::Iterations),
    (THREAD_WATCHED, Shape::Deltas),
    (Work::Hyper, Shape::Choices),
    (THREAD_WATCHED, Shape::Summaries),
    (THREAD_WATCHED, Shape::LateSources),
    (THREAD_WATCHED, Shape::LongSummary),
    (THREAD_WATCHED, Shape::Choices),
    (MESSAGES_WATCHED, Shape::Summaries),
    (MESSAGES_WATCHED, Shape::LateSources),
    (MESSAGES_WATCHED, Shape::LongSummary),
    (MESSAGES_WATCHED, Shape::Choices),
    (Work::FlatSnapshot, Shape::Tools),
    (Work::HyperSnapshot, Shape::Tools),
];

/// All workloads: those of the bars, then every view of the catalogue with somebody looking on.
pub fn workloads() -> Vec<Workload> {
    let core = CORE.iter().map(|(work, shape)| Workload { work: *work, shape: *shape, core: true });
    let views = CATALOGUE.iter().map(|entry| Workload {
        work: Work::View(entry.name, Watch::Somebody),
        shape: Shape::Tools,
        core: false,
    });
    core.chain(views).collect()
}

impl fmt::Display for Workload {
    /// Its name: what is made, and of what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = format!("{:?}", self.shape).to_lowercase();
        match self.work {
            Work::Bare => write!(f, "bare map {shape}"),
            Work::Decode => write!(f, "decode {shape}"),
            Work::Flat => write!(f, "flat {shape}"),
            Work::FlatFromLines => write!(f, "flat {shape} from lines"),
            Work::Hyper => write!(f, "hyper {shape}"),
            Work::View(name, Watch::Nobody) => write!(f, "{name} {shape}"),
            Work::View(name, Watch::Somebody) => write!(f, "{name} {shape} watched"),
            Work::FlatSnapshot => write!(f, "snapshot flat {shape}"),
            Work::HyperSnapshot => write!(f, "snapshot hyper {shape}"),
        }
    }
}

impl Shape {
    /// About `n` events of this shape.
    pub fn events(self, n: usize) -> Vec<Event> {
        match self {
            Self::Deltas => shape::deltas(n, n / 1_000),
            Self::Recorded => numbered(shape::deltas(n, n / 1_000)),
            Self::OneMessage => shape::deltas(n, 1),
            Self::Tools => shape::tools(n / 5),
            Self::Interleaved => shape::interleaved(n, 10),
            Self::Subagents => shape::subagents(n / 8),
            Self::Alternating => shape::alternating(n),
            Self::Iterations => shape::iterations(n / 2),
            Self::Summaries => shape::summaries(n / 2),
            Self::LateSources => shape::late_sources(n / 2),
            Self::LongSummary => shape::long_summary(n),
            Self::Choices => shape::choices(n / 3),
        }
    }
}

impl Workload {
    /// Makes the input of about `n` events, which is no part of what is measured.
    pub fn prepare(&self, n: usize) -> Prepared {
        self.prepare_from(&Arc::new(self.shape.events(n)))
    }

    /// The same from events of the right shape that are there already.
    pub fn prepare_from(&self, events: &Arc<Vec<Event>>) -> Prepared {
        match self.work {
            Work::Bare | Work::Flat | Work::Hyper | Work::View(..) => {
                Prepared::Events(self.work, Arc::clone(events))
            }
            Work::Decode | Work::FlatFromLines => {
                let lines = events.iter().flat_map(|event| (event.to_json() + "\n").into_bytes()).collect();
                Prepared::Lines(self.work, lines)
            }
            Work::FlatSnapshot => {
                let mut reducer = Reducer::default();
                for event in &**events {
                    reducer.apply(event);
                }
                Prepared::Flat(Box::new(reducer))
            }
            Work::HyperSnapshot => {
                let mut conversation = Conversation::default();
                for event in &**events {
                    conversation.apply(event);
                }
                Prepared::Hyper(Box::new(conversation))
            }
        }
    }
}

/// A workload with its input.
pub enum Prepared {
    /// Events to be folded.
    Events(Work, Arc<Vec<Event>>),
    /// JSON lines to be read and, but for [`Work::Decode`], folded.
    Lines(Work, Vec<u8>),
    /// A flat graph to take snapshots of.
    Flat(Box<Reducer>),
    /// A hypergraph to take snapshots of.
    Hyper(Box<Conversation>),
}

/// What came of a run. Holds what was made, so that letting go of it need not be measured.
pub struct Done {
    /// How many events were folded, or snapshots taken.
    pub steps: usize,
    /// What was made.
    pub fold: Fold,
}

/// A fold under way.
pub enum Fold {
    /// Of the flat graph.
    Flat(Box<Reducer>),
    /// Of the hypergraph.
    Hyper(Box<Conversation>),
    /// Of a view, with its changes.
    View(Box<dyn AnyView>, Changes),
    /// Of a bare hash map.
    Bare(HashMap<Arc<str>, Box<Body>>),
    /// Of nothing: events are let go of as they come.
    Nothing,
}

impl Prepared {
    /// Does the work once, from the beginning.
    pub fn run(&self) -> Done {
        match self {
            Self::Events(work, events) => {
                let mut fold = Fold::begin(*work);
                fold.apply(&**events);
                Done { steps: events.len(), fold }
            }
            Self::Lines(work, bytes) => from_lines(*work, bytes),
            Self::Flat(reducer) => {
                (0..SNAPSHOTS).for_each(|_| _ = black_box(reducer.snapshot()));
                Done { steps: SNAPSHOTS, fold: Fold::Nothing }
            }
            Self::Hyper(conversation) => {
                (0..SNAPSHOTS).for_each(|_| _ = black_box(conversation.snapshot()));
                Done { steps: SNAPSHOTS, fold: Fold::Nothing }
            }
        }
    }
}

fn from_lines(work: Work, bytes: &[u8]) -> Done {
    let mut lines = Lines::new();
    let mut fold = Fold::begin(work);
    let mut steps = 0;
    let mut take = |event: Result<Event, antiphon_event::Error>| {
        let event = event.expect("we wrote the lines ourselves");
        fold.apply([&event]);
        steps += 1;
    };
    bytes.chunks(READ_SIZE).for_each(|chunk| lines.feed(chunk, &mut take));
    lines.finish(&mut take);
    Done { steps, fold }
}

impl Fold {
    /// A fold that has seen nothing.
    pub fn begin(work: Work) -> Self {
        match work {
            Work::Bare => Self::Bare(HashMap::new()),
            Work::Decode => Self::Nothing,
            Work::Flat | Work::FlatFromLines | Work::FlatSnapshot => Self::Flat(Box::default()),
            Work::Hyper | Work::HyperSnapshot => Self::Hyper(Box::default()),
            Work::View(name, watch) => {
                let entry = catalogue::find(name).expect("the table names views of the catalogue");
                let changes = match watch {
                    Watch::Nobody => Changes::unwanted(),
                    Watch::Somebody => Changes::wanted(),
                };
                Self::View((entry.make)(), changes)
            }
        }
    }

    /// Takes events in, one after the other.
    pub fn apply<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) {
        let events = events.into_iter();
        match self {
            Self::Flat(reducer) => events.for_each(|event| _ = black_box(reducer.apply(event))),
            Self::Hyper(conversation) => events.for_each(|event| _ = black_box(conversation.apply(event))),
            Self::View(view, changes) => events.for_each(|event| {
                view.apply(event, changes);
                if changes.are_wanted() {
                    black_box(changes.take());
                }
            }),
            Self::Bare(map) => events.for_each(|event| {
                let id = format!("event {}", map.len()).into();
                map.insert(id, Box::new(event.body.clone()));
            }),
            Self::Nothing => events.for_each(|event| _ = black_box(event)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_runs_and_has_a_name_of_its_own() {
        let mut names = Vec::new();
        for workload in workloads() {
            let done = workload.prepare(1_000).run();
            assert!(done.steps >= 990, "{workload}: {}", done.steps);
            names.push(workload.to_string());
        }
        let (count, ()) = (names.len(), names.sort());
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }
}
