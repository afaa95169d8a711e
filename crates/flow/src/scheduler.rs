//! [`Scheduler`]: which node of a flow may run next.
//!
//! In: what came back from outside ([`Input`]). Out of `decide`: events, one atomic append. Out of `apply`:
//! [`Effect`]s to perform once the append is acknowledged. No clock, no I/O; the same rule at run time and on resume.
//!
//! What follows by itself from what has happened (a skip, a start, the end of the run) is [`Scheduler::advance`]:
//! the driver asks for it again and again until nothing more follows. Start reading there, then at
//! [`Scheduler::apply`].

mod advance;
mod apply;
mod ask;
mod column;
mod effect;
mod end;
mod finish;
mod hand;
mod saved;
mod settle;
mod spot;
mod start;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use antiphon_event::body::flow::{NodeError, Telemetry};
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{
    Body, Context, ErrorCode, Event, EventFlowId, FlowNodeId, Head, Json, Mode, NodeStatus, ParentId,
    RelayId, RunId, SpanId, Spans, StopReason, Timestamp, TraceId,
};

use serde::{Deserialize, Serialize};

pub use self::effect::Effect;
pub use self::saved::Saved;
pub use self::spot::Waits;
use self::spot::{Decision, Rare, Spot, Status};
use crate::definition::{EdgeIndex, Flow, NodeIndex, Work};
use crate::function::{Failure, Final, Reply};
use crate::moment::Others;
use crate::state::State;

/// One run of a flow: a machine over the events of the run.
#[derive(Debug, Clone)]
pub struct Scheduler {
    flow: Flow,
    origin: Origin,
    names: Names,
    task: Json,
    /// The items, in the run of a map: each node has its own.
    items: Vec<Json>,
    /// The nodes of the run around it, in the run of a map: what its items see.
    around: Option<Arc<Around>>,
    state: State,
    phase: Phase,
    spots: Vec<Spot>,
    decisions: Vec<Decision>,
    /// How many nodes of each region are queued, executing or paused, or back edges of it fired and not taken.
    busy: Vec<u32>,
    layers: Vec<Layer>,
    ready: VecDeque<NodeIndex>,
    skips: VecDeque<NodeIndex>,
    follow: VecDeque<NodeIndex>,
    fired: Vec<EdgeIndex>,
    closing: VecDeque<usize>,
    executing: usize,
    /// How many of those only wait: for the node that takes over for them, or for their next attempt.
    resting: usize,
    paused: usize,
    failed: usize,
    cancelled: usize,
    starts: u64,
    cancel: Option<Mode>,
    canceller: String,
    /// The bound that was reached, if that is why it ends.
    limit: Option<StopReason>,
    clock: Clockwork,
    rounds: Rounds,
    /// The node the last event was about, and the last other one before it.
    last: NodeIndex,
    before: NodeIndex,
    /// Whether that event started a node, or opened a layer for one: what else is ready starts before any of them goes on.
    starting: bool,
}

/// Where the events of a run belong.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Origin {
    /// The run.
    pub run: RunId,
    /// What caused it.
    pub parent: Option<ParentId>,
    /// The turn it belongs to.
    pub turn: Option<EventFlowId>,
    /// The nodes around it, outermost first, when it is nested.
    pub path: Vec<FlowNodeId>,
    /// Whether it works through the items of a map.
    pub item: bool,
    /// The span around it.
    pub span: Option<SpanId>,
}

/// What the spans of a run are called, and what its own events belong to, those of a nested one to the nodes around it.
/// It has no spans without a turn.
#[derive(Debug, Clone)]
struct Names {
    trace: Option<TraceId>,
    own: Option<SpanId>,
    spans: Spans,
    context: Arc<Context>,
}

impl Names {
    fn of(origin: &Origin) -> Self {
        let spans = Spans::of(&origin.run);
        let trace = origin.turn.as_ref().map(TraceId::of);
        let own = trace.as_ref().map(|_| spans.own());
        let context = Context {
            run_id: Some(origin.run.clone()),
            event_flow_id: origin.turn.clone(),
            trace_id: trace.clone(),
            span_id: own.clone(),
            parent_span_id: origin.span.clone(),
            node_path: (!origin.path.is_empty()).then(|| origin.path.clone()),
            ..Context::default()
        };
        Self { trace, own, spans, context: Arc::new(context) }
    }
}

/// Where a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Phase {
    New,
    Running,
    Ended(NodeStatus),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Layer {
    unsettled: usize,
    open: bool,
}

/// How the nodes of a run stood at some moment, by id.
#[derive(Debug)]
struct Around(BTreeMap<String, (Option<Json>, &'static str, u32)>);

impl Around {
    fn of(run: &Scheduler) -> Self {
        let nodes = run.flow.ids().iter().zip(&run.spots);
        let stood = |spot: &Spot| (spot.output.clone(), spot.status.text(), spot.execution);
        Self(nodes.map(|(id, spot)| (id.to_string(), stood(spot))).collect())
    }
}

/// How long a run has been at work, by the times of its events, and when it began.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Clockwork {
    began: Option<Timestamp>,
    last: Option<Timestamp>,
    worked_ms: u64,
}

/// How often the run has gone round, and in which round each node last gave something: nobody knows before the first.
#[derive(Debug, Clone, Default)]
struct Rounds {
    begun: u32,
    gave: Vec<u32>,
}

impl Rounds {
    fn begin(&mut self, nodes: usize) {
        self.begun = self.begun.saturating_add(1);
        self.gave.resize(nodes, 0);
    }

    fn gave(&mut self, node: NodeIndex) {
        if let Some(round) = self.gave.get_mut(node) {
            *round = self.begun;
        }
    }

    fn of(&self, node: NodeIndex) -> u32 {
        self.gave.get(node).copied().unwrap_or(0)
    }
}

/// The moment a decision is made at, and the randomness it may use.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// The time.
    pub at: Timestamp,
    /// A number from 0 up to 1, fresh each time.
    pub dice: f64,
    /// How many more nodes the budgets of the runs around it allow to start; nothing if they do not say.
    pub steps: Option<u64>,
}

/// What comes in from outside.
#[derive(Debug, Clone)]
pub enum Input {
    /// Begin.
    Start {
        /// The task.
        task: Json,
        /// What the state begins with instead of its defaults.
        state: BTreeMap<String, Json>,
    },
    /// An attempt ended.
    Outcome {
        /// Whose.
        attempt: Attempt,
        /// How.
        result: Result<Reply, Failure>,
    },
    /// An attempt took too long.
    Timeout(Attempt),
    /// The delay before a retry is over.
    Due(Attempt),
    /// The run inside a node waits for a person.
    Paused(Attempt),
    /// A process died, and nobody knows how an attempt ended.
    Lost(Attempt),
    /// Somebody answered.
    Answer(RelayResolved),
    /// Nobody answered in time.
    Expired(RelayId),
    /// Somebody wants the run to stop.
    Cancel {
        /// Who.
        by: String,
        /// How.
        mode: Mode,
    },
    /// A bound that the driver watches was reached.
    Limit(StopReason),
    /// A process takes the run over.
    Resume,
    /// Somebody changes the state.
    Patch {
        /// The contributions, by key.
        writes: BTreeMap<String, Json>,
        /// Who.
        by: String,
    },
}

/// One attempt at one execution of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attempt {
    /// The node.
    pub node: NodeIndex,
    /// Which execution, from 1.
    pub execution: u32,
    /// Which attempt, from 1.
    pub attempt: u32,
}

/// Why an input was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has begun already.
    #[error("run {0} has started already")]
    Started(RunId),
    /// It is over.
    #[error("run {0} has ended")]
    Ended(RunId),
    /// It has not ended, and nobody left it.
    #[error("run {0} is under way")]
    UnderWay(RunId),
    /// The task has the wrong shape.
    #[error("the input does not fit the flow: {0}")]
    Task(String),
    /// The task is larger than an event may be.
    #[error("the input does not fit the flow: {0}")]
    TooLarge(String),
    /// A write to the state does not fit.
    #[error("the state does not fit the flow: {0}")]
    State(String),
    /// An attempt that is not the one under way: cut off, or repeated.
    #[error("node {0} is not executing that attempt")]
    Late(FlowNodeId),
    /// Nobody asked, or it was answered.
    #[error("relay {0} is not pending: it was answered, it expired, or it never was")]
    NotPending(RelayId),
    /// The answer is not one of those asked for.
    #[error("the answer to relay {relay} does not fit: {why}")]
    Answer {
        /// The request.
        relay: RelayId,
        /// What is wrong.
        why: String,
    },
    /// What somebody said is not taken.
    #[error("the message is not taken: {0}")]
    Message(String),
    /// A hook refused.
    #[error("a hook refused the run: {0}")]
    Hook(String),
}

impl Refusal {
    /// The code of the failure that it is to a node whose work is the run.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Task(_) | Self::State(_) => ErrorCode::Schema,
            Self::TooLarge(_) => ErrorCode::TooLarge,
            Self::Hook(_) => ErrorCode::Hook,
            Self::Started(_)
            | Self::Ended(_)
            | Self::UnderWay(_)
            | Self::Late(_)
            | Self::NotPending(_)
            | Self::Answer { .. }
            | Self::Message(_) => ErrorCode::Failed,
        }
    }
}

impl Scheduler {
    /// A run that has not begun.
    pub fn new(flow: Flow, origin: Origin) -> Self {
        let shape = flow.shape();
        let mut layers = vec![Layer::default(); shape.layers];
        for layer in shape.layer.iter().flatten() {
            layers[*layer as usize].unsettled += 1;
        }
        let spots = (0..flow.nodes().len()).map(|node| Spot::new(shape.entering[node].len())).collect();
        Self {
            task: Json::from(serde_json::Value::Null),
            items: Vec::new(),
            around: None,
            state: flow.0.initial.clone(),
            phase: Phase::New,
            spots,
            decisions: vec![Decision::Undecided; flow.edges().len()],
            busy: vec![0; shape.regions.len()],
            layers,
            ready: VecDeque::new(),
            skips: VecDeque::new(),
            follow: VecDeque::new(),
            fired: Vec::new(),
            closing: VecDeque::new(),
            executing: 0,
            resting: 0,
            paused: 0,
            failed: 0,
            cancelled: 0,
            starts: 0,
            cancel: None,
            canceller: String::new(),
            limit: None,
            clock: Clockwork::default(),
            rounds: Rounds::default(),
            last: 0,
            before: 0,
            starting: false,
            flow,
            names: Names::of(&origin),
            origin,
        }
    }

    /// The same with the task, the state and the nodes of the run around it as they are now, which the items of a map
    /// see.
    #[must_use]
    pub fn inside(mut self, around: &Self) -> Self {
        self.task = around.task.clone();
        self.state = around.state.clone();
        self.around = Some(around.around.clone().unwrap_or_else(|| Arc::new(Around::of(around))));
        self
    }

    /// Looks at an input and says what happens because of it; changes nothing.
    pub fn decide(&self, input: Input, now: Now) -> Result<Vec<Event>, Refusal> {
        let mut events = Vec::with_capacity(2);
        self.decide_into(input, now, &mut events)?;
        Ok(events)
    }

    /// The same with the events added to those that are there; none are if the input is not taken.
    pub fn decide_into(&self, input: Input, now: Now, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let decided = match input {
            Input::Outcome { attempt, result } => return self.outcome(attempt, result, now, events),
            Input::Start { task, state } => self.begin(task, state, now),
            Input::Timeout(attempt) => self.overrun(attempt, now),
            Input::Due(attempt) => self.again(attempt, now),
            Input::Paused(attempt) => self.pause(attempt, now),
            Input::Lost(attempt) => self.lose(attempt, now),
            Input::Answer(answer) => self.answer(answer, now),
            Input::Expired(relay) => self.expire(&relay, now),
            Input::Cancel { by, mode } => self.request_cancel(by, mode, now),
            Input::Limit(reason) => self.limit(reason, now),
            Input::Resume => Ok(self.resume(now)),
            Input::Patch { writes, by } => self.patch(writes, by, now),
        };
        events.extend(decided?);
        Ok(())
    }

    /// The flow.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Where its events belong.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The task.
    pub fn task(&self) -> &Json {
        &self.task
    }

    /// The state as it is now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// How it ended; `None` while it has not.
    pub fn ended(&self) -> Option<&NodeStatus> {
        match &self.phase {
            Phase::Ended(status) => Some(status),
            Phase::New | Phase::Running => None,
        }
    }

    /// Whether it has begun.
    pub fn started(&self) -> bool {
        self.phase != Phase::New
    }

    /// Whether somebody wants it to stop at once, and it has not gone on since.
    pub fn is_being_cut_off(&self) -> bool {
        self.cancel == Some(Mode::Now)
    }

    /// How long it has been at work, without the time it waited for people and without a process.
    pub fn worked_ms(&self) -> u64 {
        self.clock.worked_ms
    }

    /// Whether anything can still happen without a person.
    pub fn at_work(&self) -> bool {
        let is_in_line = !self.ready.is_empty() || !self.follow.is_empty() || !self.skips.is_empty();
        self.executing > 0 || is_in_line || (self.cancel.is_none() && !self.takeable().is_empty())
    }

    /// Whether a node is ready to start and nothing of its own keeps it from that.
    pub fn wants_to_start(&self) -> bool {
        self.phase == Phase::Running && !self.ready.is_empty() && self.may_start()
    }

    /// How many more nodes may be at work at once.
    fn room(&self) -> usize {
        let running = self.executing - self.resting;
        self.flow.settings().limits.max_concurrency.map_or(usize::MAX, |max| max.saturating_sub(running))
    }

    /// Whether one more node may be at work. One that waits for its next attempt has given its place up, so whoever says
    /// [`Input::Due`] says it when there is one.
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// The requests that wait for a person.
    pub fn relays(&self) -> impl Iterator<Item = &RelayId> {
        self.spots.iter().filter_map(|spot| spot.rare().relay.as_ref().map(|relay| &relay.id))
    }

    /// The status of a node, as events write it.
    pub fn status(&self, node: NodeIndex) -> NodeStatus {
        self.spots[node].status.word()
    }

    /// What a node gave when it last completed.
    pub fn output(&self, node: NodeIndex) -> Option<&Json> {
        self.spots[node].output.as_ref()
    }

    /// What the run inside a node came to that ended without having completed.
    pub fn partial(&self, node: NodeIndex) -> Option<&Json> {
        self.spots[node].rare().partial.as_ref()
    }

    /// Whether any node has given something, or the run inside one has.
    pub fn has_given(&self) -> bool {
        (0..self.spots.len()).any(|node| self.output(node).or(self.partial(node)).is_some())
    }

    /// What a node counted when it last ended.
    pub fn telemetry(&self, node: NodeIndex) -> Option<&Telemetry> {
        self.spots[node].rare().telemetry.as_deref()
    }

    /// Attempts that have started and have no outcome: what a new process has to take care of. What the scheduler
    /// does itself is not among them: it follows when it is asked to advance.
    pub fn open(&self) -> Vec<(Attempt, Waits)> {
        let nodes = (0..self.spots.len()).filter_map(|node| Some((node, self.spots[node].waits()?)));
        let is_seen_to = |rare: &Rare| rare.answer.is_some() || rare.prevented.is_some();
        let is_own = |node: NodeIndex| self.works_inside(node) || is_seen_to(self.spots[node].rare());
        let own = |node: NodeIndex, waits: Waits| waits == Waits::Work && is_own(node);
        nodes
            .filter(|(node, waits)| !own(*node, *waits))
            .map(|(node, waits)| (self.attempt(node), waits))
            .collect()
    }

    /// Whether this attempt is executing now: not one that was cut off or repeated.
    pub fn executing(&self, attempt: Attempt) -> Option<()> {
        let spot = &self.spots[attempt.node];
        (spot.status == Status::Executing && self.attempt(attempt.node) == attempt).then_some(())
    }

    /// The same for one that may wait for the run inside it; not one that took too long, whose end is to be told.
    pub fn executing_inside(&self, attempt: Attempt) -> Option<()> {
        let spot = &self.spots[attempt.node];
        let open = matches!(spot.status, Status::Executing | Status::Interrupted);
        let is_over = spot.rare().prevented.is_some();
        (open && !is_over && self.attempt(attempt.node) == attempt).then_some(())
    }

    /// Whether the work of a node is a run of its own.
    pub fn has_run_inside(&self, node: NodeIndex) -> bool {
        matches!(self.flow.node(node).work, Work::Flow(_) | Work::Swarm(_) | Work::Map(_))
    }

    /// The request a node waits for.
    pub fn relay_of(&self, node: NodeIndex) -> Option<&RelayId> {
        self.spots[node].rare().relay.as_ref().map(|relay| &relay.id)
    }

    /// Nodes that failed, with what went wrong.
    pub fn failures(&self) -> impl Iterator<Item = (&FlowNodeId, &NodeError)> {
        let failed = self.spots.iter().enumerate().filter(|(_, spot)| spot.status == Status::Failed);
        failed.filter_map(|(node, spot)| Some((self.flow.id(node), spot.rare().error.as_deref()?)))
    }

    /// Why another attempt at the run is not for a program to make, if it is not: what was done in it may be done again, if that
    /// matters, or what a person has decided against.
    pub fn finality(&self, writes: bool) -> Option<Final> {
        let told = self.spots.iter().enumerate().filter_map(|(node, spot)| match spot.status {
            // That a node failed that took over is told by the one it did that for.
            Status::Failed if self.flow.shape().layer[node].is_some() => spot.rare().error.as_deref(),
            Status::Cancelled => spot.rare().error.as_deref(),
            _ => None,
        });
        let mut in_doubt = None;
        for finality in told.filter_map(Final::read) {
            match finality {
                Final::Decided => return Some(finality),
                Final::InDoubt => in_doubt = writes.then_some(finality),
            }
        }
        in_doubt
    }

    /// How long it has been at work if it is `now`.
    pub fn worked_until(&self, now: Timestamp) -> u64 {
        let since =
            self.clock.last.map_or(0, |last| now.millis().saturating_sub(last.millis()).max(0) as u64);
        self.clock.worked_ms + if self.at_work() { since } else { 0 }
    }

    fn attempt(&self, node: NodeIndex) -> Attempt {
        let spot = &self.spots[node];
        Attempt { node, execution: spot.execution, attempt: spot.attempt }
    }

    /// An event of this run.
    #[inline]
    fn event(&self, now: Now, body: Body) -> Event {
        Event::of(Head::new(now.at, Arc::clone(&self.names.context)), body)
    }

    /// An event in the scope of a node.
    #[inline]
    fn node_event(&self, now: Now, node: NodeIndex, body: Body) -> Event {
        self.attempt_event(now, self.attempt_of(node, &body), body)
    }

    /// An event in the scope of an attempt.
    #[inline]
    fn attempt_event(&self, now: Now, attempt: Attempt, body: Body) -> Event {
        Event::of(Head::new(now.at, self.context_in(attempt)), body)
    }

    /// What happens in an attempt belongs to; all that happens in the one under way shares it.
    fn context_in(&self, attempt: Attempt) -> Arc<Context> {
        match &self.spots[attempt.node].context.0 {
            Some(known) if attempt == self.attempt(attempt.node) => Arc::clone(known),
            _ => Arc::new(self.context_of(attempt)),
        }
    }

    /// What happens in an attempt belongs to.
    fn context_of(&self, attempt: Attempt) -> Context {
        Context {
            run_id: Some(self.origin.run.clone()),
            event_flow_id: self.origin.turn.clone(),
            node_id: Some(self.flow.id(attempt.node).clone()),
            node_path: (!self.origin.path.is_empty()).then(|| self.path(attempt.node)),
            trace_id: self.names.trace.clone(),
            span_id: self.names.trace.as_ref().map(|_| self.span_of(attempt)),
            parent_span_id: self.names.own.clone(),
            ..Context::default()
        }
    }

    /// The trace of its turn, if it belongs to one.
    pub fn trace(&self) -> Option<&TraceId> {
        self.names.trace.as_ref()
    }

    /// The span of an attempt.
    pub fn span_of(&self, attempt: Attempt) -> SpanId {
        self.names.spans.of_node(self.flow.id(attempt.node), attempt.execution, attempt.attempt)
    }

    /// The attempt that something in the scope of a node belongs to: the one it begins or ends, the one under way, or
    /// the one that is about to begin.
    fn attempt_of(&self, node: NodeIndex, body: &Body) -> Attempt {
        match body {
            Body::NodeStart(start) => Attempt { node, execution: start.execution, attempt: start.attempt },
            Body::NodeEnd(end) => Attempt { node, execution: end.execution, attempt: end.attempt },
            Body::NodeSkipped(skip) => Attempt { node, execution: skip.execution, attempt: 0 },
            _ if matches!(self.spots[node].status, Status::Executing | Status::Interrupted) => {
                self.attempt(node)
            }
            _ => self.next_attempt(node),
        }
    }

    /// The way to a node from the outermost flow.
    #[inline(never)]
    pub fn path(&self, node: NodeIndex) -> Vec<FlowNodeId> {
        let mut path = self.origin.path.clone();
        path.push(self.flow.id(node).clone());
        path
    }
}

impl Others for Scheduler {
    fn output(&self, node: &str) -> Option<Json> {
        match &self.around {
            Some(around) => around.0.get(node)?.0.clone(),
            None => self.spots[self.flow.index(node)?].output.clone(),
        }
    }

    fn status(&self, node: &str) -> Option<&'static str> {
        match &self.around {
            Some(around) => Some(around.0.get(node)?.1),
            None => Some(self.spots[self.flow.index(node)?].status.text()),
        }
    }

    fn executions(&self, node: &str) -> Option<u32> {
        match &self.around {
            Some(around) => Some(around.0.get(node)?.2),
            None => Some(self.spots[self.flow.index(node)?].execution),
        }
    }

    fn input(&self, node: NodeIndex) -> Json {
        self.input(node)
    }

    fn ids(&self) -> Vec<String> {
        match &self.around {
            Some(around) => around.0.keys().cloned().collect(),
            None => self.flow.ids().iter().map(ToString::to_string).collect(),
        }
    }
}
