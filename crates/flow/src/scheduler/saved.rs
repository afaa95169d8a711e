//! [`Saved`]: a run of a flow as it can be written down, and taken up again without the events that led to it.
//!
//! The flow itself is not in it; what is there fits only a flow of the same shape. A node is a short list of numbers,
//! as there may be many. Start reading at [`Scheduler::save`].

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use antiphon_event::{Json, Mode, StopReason, Timestamp};
use foldhash::fast::FixedState;
use serde::{Deserialize, Deserializer, Serialize};

use super::spot::{Dead, Decision, Known, Queue, Rare, Spot, Status};
use super::{Around, Clockwork, Layer, Names, Origin, Phase, Scheduler};
use crate::definition::{EdgeIndex, Flow, NodeIndex};

/// A run of a flow, written down. Cheap to make: what is large is shared with the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saved {
    /// What the flow was like.
    shape: u64,
    origin: Origin,
    task: Json,
    items: Vec<Json>,
    around: Option<BTreeMap<String, (Given, u8, u32)>>,
    state: BTreeMap<String, Json>,
    phase: Phase,
    spots: Vec<Row>,
    decisions: Vec<u8>,
    busy: Vec<u32>,
    layers: Vec<Layer>,
    ready: VecDeque<NodeIndex>,
    skips: VecDeque<NodeIndex>,
    follow: VecDeque<NodeIndex>,
    fired: Vec<EdgeIndex>,
    closing: VecDeque<usize>,
    /// How many execute, are paused, failed and are cancelled.
    counts: [usize; 4],
    starts: u64,
    cancel: Option<Mode>,
    canceller: String,
    limit: Option<StopReason>,
    clock: Clockwork,
    last: NodeIndex,
    #[serde(default)]
    before: NodeIndex,
}

/// Something that may be `null`, or nothing.
type Given = Option<(Json,)>;

/// A node: its flags, execution, attempt, counts of edges, output, when it started, and what is rare.
type Row = (u8, u32, u32, [u32; 3], Given, Option<i64>, Option<Box<Rare>>);

const STATUSES: [Status; 7] = [
    Status::Pending,
    Status::Executing,
    Status::Interrupted,
    Status::Completed,
    Status::Skipped,
    Status::Failed,
    Status::Cancelled,
];
const QUEUES: [Queue; 3] = [Queue::None, Queue::Ready, Queue::Skip];
const DECISIONS: [Decision; 6] = [
    Decision::Undecided,
    Decision::Live,
    Decision::Refused,
    Decision::Passed,
    Decision::Held(Dead::Refused),
    Decision::Held(Dead::Passed),
];

/// The number of a word in its table.
fn number<T: PartialEq>(table: &[T], word: &T) -> u8 {
    table.iter().position(|other| other == word).expect("every word has a row") as u8
}

impl Saved {
    /// How many nodes it has.
    pub fn nodes(&self) -> usize {
        self.spots.len()
    }
}

impl Scheduler {
    /// Writes the run down.
    pub fn save(&self) -> Saved {
        Saved {
            shape: fingerprint(&self.flow),
            origin: self.origin.clone(),
            task: self.task.clone(),
            items: self.items.clone(),
            around: self.around.as_ref().map(|around| around.save()),
            state: self.state.written().map(|(name, value)| (name.to_owned(), value.clone())).collect(),
            phase: self.phase.clone(),
            spots: self.spots.iter().map(row).collect(),
            decisions: self.decisions.iter().map(|decision| number(&DECISIONS, decision)).collect(),
            busy: self.busy.clone(),
            layers: self.layers.clone(),
            ready: self.ready.clone(),
            skips: self.skips.clone(),
            follow: self.follow.clone(),
            fired: self.fired.clone(),
            closing: self.closing.clone(),
            counts: [self.executing, self.paused, self.failed, self.cancelled],
            starts: self.starts,
            cancel: self.cancel.clone(),
            canceller: self.canceller.clone(),
            limit: self.limit.clone(),
            clock: self.clock,
            last: self.last,
            before: self.before,
        }
    }

    /// The run that was written down, of this flow; in the run of a map, inside the run around it. Nothing if the flow
    /// is not what it was.
    pub fn load(flow: Flow, saved: Saved, around: Option<&Self>) -> Option<Self> {
        if saved.shape != fingerprint(&flow) || saved.spots.len() != flow.nodes().len() {
            return None;
        }
        let [executing, paused, failed, cancelled] = saved.counts;
        let keys = around.filter(|_| saved.origin.item).map_or(&flow.0.initial, |around| &around.state);
        let spots = saved.spots.into_iter().map(spot).collect::<Option<Vec<_>>>()?;
        let decision = |number: &u8| DECISIONS.get(usize::from(*number)).copied();
        Some(Self {
            state: keys.again(saved.state),
            around: match saved.around {
                Some(around) => Some(Arc::new(Around::load(around)?)),
                None => None,
            },
            resting: spots.iter().filter(|spot| spot.rests()).count(),
            spots,
            decisions: saved.decisions.iter().map(decision).collect::<Option<_>>()?,
            names: Names::of(&saved.origin),
            origin: saved.origin,
            task: saved.task,
            items: saved.items,
            phase: saved.phase,
            busy: saved.busy,
            layers: saved.layers,
            ready: saved.ready,
            skips: saved.skips,
            follow: saved.follow,
            fired: saved.fired,
            closing: saved.closing,
            executing,
            paused,
            failed,
            cancelled,
            starts: saved.starts,
            cancel: saved.cancel,
            canceller: saved.canceller,
            limit: saved.limit,
            clock: saved.clock,
            last: saved.last,
            before: saved.before,
            flow,
        })
    }
}

impl Scheduler {
    /// Whether nothing more can come of an execution: it was completed or skipped, or there was another after it.
    pub fn is_past(&self, attempt: super::Attempt) -> bool {
        let spot = &self.spots[attempt.node];
        spot.execution > attempt.execution || spot.execution == attempt.execution && spot.status.settled()
    }
}

impl Around {
    fn save(&self) -> BTreeMap<String, (Given, u8, u32)> {
        let row = |(id, stood): (&String, &(Option<Json>, &'static str, u32))| {
            let status = STATUSES.iter().position(|status| status.text() == stood.1);
            let status = status.expect("every status has a row") as u8;
            (id.clone(), (stood.0.clone().map(|output| (output,)), status, stood.2))
        };
        self.0.iter().map(row).collect()
    }

    fn load(saved: BTreeMap<String, (Given, u8, u32)>) -> Option<Self> {
        let row = |(id, (output, status, execution)): (String, (Given, u8, u32))| {
            let status = STATUSES.get(usize::from(status))?.text();
            Some((id, (output.map(|(output,)| output), status, execution)))
        };
        saved.into_iter().map(row).collect::<Option<_>>().map(Self)
    }
}

fn row(spot: &Spot) -> Row {
    let flags = number(&STATUSES, &spot.status)
        | number(&QUEUES, &spot.queue) << 3
        | u8::from(spot.again) << 5
        | u8::from(spot.leaving_line) << 6;
    let edges = [spot.undecided, spot.live, spot.refused];
    let output = spot.output.clone().map(|output| (output,));
    let started = spot.started.map(Timestamp::millis);
    (flags, spot.execution, spot.attempt, edges, output, started, spot.rare.clone())
}

fn spot((flags, execution, attempt, edges, output, started, rare): Row) -> Option<Spot> {
    let [undecided, live, refused] = edges;
    Some(Spot {
        status: *STATUSES.get(usize::from(flags & 7))?,
        queue: *QUEUES.get(usize::from(flags >> 3 & 3))?,
        again: flags >> 5 & 1 == 1,
        leaving_line: flags >> 6 & 1 == 1,
        execution,
        attempt,
        undecided,
        live,
        refused,
        output: output.map(|(output,)| output),
        started: started.and_then(Timestamp::from_millis),
        context: Known::default(),
        rare,
    })
}

/// What must be the same of a flow for what was written down to fit: its nodes and edges, and how its state is folded.
fn fingerprint(flow: &Flow) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    for (id, node) in flow.ids().iter().zip(flow.nodes()) {
        id.as_str().hash(&mut hasher);
        std::mem::discriminant(&node.work).hash(&mut hasher);
    }
    let shape = flow.shape();
    (&shape.ends, &shape.back, &shape.entries, &shape.fallback).hash(&mut hasher);
    for key in flow.0.initial.keys() {
        (&key.name, std::mem::discriminant(&key.reduce)).hash(&mut hasher);
    }
    hasher.finish()
}

/// Reads an optional payload so that `null` is a value that was given.
pub(super) fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}
