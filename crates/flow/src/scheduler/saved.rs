//! [`Saved`]: a run of a flow as it can be written down, and taken up again without the events that led to it.
//!
//! The flow itself is not in it; what is there fits only a flow of the same shape. Nodes are columns of small numbers, as
//! there may be many, and it is written again and again; most have what their neighbours have. Start reading at [`Scheduler::save`].

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use antiphon_event::{Json, Mode, StopReason, Timestamp};
use foldhash::fast::FixedState;
use serde::{Deserialize, Deserializer, Serialize};

use super::column::Column;
use super::settle::count;
use super::spot::{Dead, Decision, Queue, Rare, Spot, Status};
use super::{Around, Clockwork, Layer, Names, Origin, Phase, Rounds, Scheduler};
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
    spots: Columns,
    decisions: Column<u8>,
    busy: Column<u32>,
    layers: Column<Layer>,
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
    /// How often it has gone round, and in which round each node last gave something.
    rounds: (u32, Column<u32>),
    last: NodeIndex,
    #[serde(default)]
    before: NodeIndex,
    #[serde(default)]
    starting: bool,
}

/// Something that may be `null`, or nothing.
type Given = Option<(Json,)>;

/// The nodes: a number each in the first three, and in the others what only some have.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Columns {
    flags: Column<u8>,
    executions: Column<u32>,
    attempts: Column<u32>,
    /// Of those whose flags say so.
    outputs: Column<Json>,
    /// When they started, in milliseconds.
    started: Vec<(NodeIndex, i64)>,
    rare: Vec<(NodeIndex, Box<Rare>)>,
}

/// The flag of a node that gave something.
const GAVE: u8 = 1 << 7;

/// What each number means; those of a status and of a queue are also their places in their types.
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

impl Decision {
    /// Its row in the table of decisions.
    fn number(self) -> u8 {
        match self {
            Self::Undecided => 0,
            Self::Live => 1,
            Self::Refused => 2,
            Self::Passed => 3,
            Self::Held(Dead::Refused) => 4,
            Self::Held(Dead::Passed) => 5,
        }
    }
}

impl Saved {
    /// How many nodes it has.
    pub fn nodes(&self) -> usize {
        self.spots.flags.len()
    }
}

impl Scheduler {
    /// Writes the run down.
    pub fn save(&self) -> Saved {
        Saved {
            shape: self.flow.fingerprint(),
            origin: self.origin.clone(),
            task: self.task.clone(),
            items: self.items.clone(),
            around: self.around.as_ref().map(|around| around.save()),
            state: self.state.written().map(|(name, value)| (name.to_owned(), value.clone())).collect(),
            phase: self.phase.clone(),
            spots: Columns::of(&self.spots),
            decisions: self.decisions.iter().map(|decision| decision.number()).collect(),
            busy: self.busy.iter().copied().collect(),
            layers: self.layers.iter().copied().collect(),
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
            rounds: (self.rounds.begun, self.rounds.gave.iter().copied().collect()),
            last: self.last,
            before: self.before,
            starting: self.starting,
        }
    }

    /// The run that was written down, of this flow; in the run of a map, inside the run around it. Nothing if the flow
    /// is not what it was.
    pub fn load(flow: Flow, saved: Saved, around: Option<&Self>) -> Option<Self> {
        let shape = flow.shape();
        let fits = saved.shape == flow.fingerprint()
            && saved.nodes() == flow.nodes().len()
            && saved.decisions.len() == flow.edges().len()
            && saved.busy.len() == shape.regions.len()
            && saved.layers.len() == shape.layers
            && [0, saved.nodes()].contains(&saved.rounds.1.len());
        if !fits {
            return None;
        }
        let [executing, paused, failed, cancelled] = saved.counts;
        let keys = around.filter(|_| saved.origin.item).map_or(&flow.0.initial, |around| &around.state);
        let decision = |number: u8| DECISIONS.get(usize::from(number)).copied();
        let decisions = saved.decisions.into_values().map(decision).collect::<Option<Vec<_>>>()?;
        let spots = saved.spots.spots(&flow, &decisions)?;
        Some(Self {
            state: keys.again(saved.state),
            around: match saved.around {
                Some(around) => Some(Arc::new(Around::load(around)?)),
                None => None,
            },
            resting: spots.iter().filter(|spot| spot.rests()).count(),
            spots,
            decisions,
            names: Names::of(&saved.origin),
            origin: saved.origin,
            task: saved.task,
            items: saved.items,
            phase: saved.phase,
            busy: saved.busy.into_values().collect(),
            layers: saved.layers.into_values().collect(),
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
            rounds: Rounds { begun: saved.rounds.0, gave: saved.rounds.1.into_values().collect() },
            last: saved.last,
            before: saved.before,
            starting: saved.starting,
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

impl Columns {
    fn of(spots: &[Spot]) -> Self {
        let mut columns = Self::default();
        // All of a node at once: there may be too many for the caches to keep.
        for (node, spot) in spots.iter().enumerate() {
            columns.flags.push(&flags(spot));
            columns.executions.push(&spot.execution);
            columns.attempts.push(&spot.attempt);
            if let Some(output) = &spot.output {
                columns.outputs.push(output);
            }
            if let Some(started) = spot.started {
                columns.started.push((node, started.millis()));
            }
            if let Some(rare) = &spot.rare {
                columns.rare.push((node, rare.clone()));
            }
        }
        columns
    }

    /// The nodes, with these edges entering each of them; nothing if the columns do not fit each other.
    fn spots(self, flow: &Flow, decisions: &[Decision]) -> Option<Vec<Spot>> {
        let mut flags = self.flags.into_values();
        let (mut executions, mut attempts) = (self.executions.into_values(), self.attempts.into_values());
        let mut outputs = self.outputs.into_values();
        let mut spots = Vec::with_capacity(flow.ids().len());
        for node in 0..flow.ids().len() {
            let flags = flags.next()?;
            let mut spot = Spot {
                status: *STATUSES.get(usize::from(flags & 7))?,
                queue: *QUEUES.get(usize::from(flags >> 3 & 3))?,
                again: flags >> 5 & 1 == 1,
                leaving_line: flags >> 6 & 1 == 1,
                execution: executions.next()?,
                attempt: attempts.next()?,
                output: if flags & GAVE == 0 { None } else { Some(outputs.next()?) },
                ..Spot::new(0)
            };
            for edge in &flow.shape().entering[node] {
                count(&mut spot, decisions[*edge], true);
            }
            spots.push(spot);
        }
        for (node, started) in self.started {
            spots.get_mut(node)?.started = Timestamp::from_millis(started);
        }
        for (node, rare) in self.rare {
            spots.get_mut(node)?.rare = Some(rare);
        }
        Some(spots)
    }
}

fn flags(spot: &Spot) -> u8 {
    let gave = if spot.output.is_some() { GAVE } else { 0 };
    spot.status as u8
        | (spot.queue as u8) << 3
        | u8::from(spot.again) << 5
        | u8::from(spot.leaving_line) << 6
        | gave
}

impl Flow {
    /// What must be the same of a flow for what was written down to fit: its nodes and edges, and how its state is folded.
    fn fingerprint(&self) -> u64 {
        *self.0.fingerprint.get_or_init(|| {
            let mut hasher = FixedState::with_seed(0).build_hasher();
            for (id, node) in self.ids().iter().zip(self.nodes()) {
                id.as_str().hash(&mut hasher);
                std::mem::discriminant(&node.work).hash(&mut hasher);
            }
            let shape = self.shape();
            (&shape.ends, &shape.back, &shape.entries, &shape.fallback).hash(&mut hasher);
            for key in self.0.initial.keys() {
                (&key.name, std::mem::discriminant(&key.reduce)).hash(&mut hasher);
            }
            hasher.finish()
        })
    }
}

/// Reads an optional payload so that `null` is a value that was given.
pub(super) fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::{DECISIONS, QUEUES, STATUSES};

    #[test]
    fn what_is_written_for_a_word_is_its_row() {
        for (row, status) in STATUSES.into_iter().enumerate() {
            assert_eq!(status as usize, row, "{status:?}");
        }
        for (row, queue) in QUEUES.into_iter().enumerate() {
            assert_eq!(queue as usize, row, "{queue:?}");
        }
        for (row, decision) in DECISIONS.into_iter().enumerate() {
            assert_eq!(usize::from(decision.number()), row, "{decision:?}");
        }
    }
}
