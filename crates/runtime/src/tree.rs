//! [`Tree`]: the machines of a run and of all runs nested in it.

mod bound;
mod saved;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use antiphon_agent::Definition;
use antiphon_agent::machine::{Given, Open};
use antiphon_event::body::flow::{NodeStart, RunEnd};
use antiphon_event::body::system::Amounts;
use antiphon_event::{Body, CallId, ErrorCode, Event, Mode, NodeStatus, ParentId, RelayId, RunId};
use antiphon_flow::budget::Ledger;
use antiphon_flow::function::{Bound, Failure, Reply};
use antiphon_flow::{Attempt, Limits, Origin, Scheduler, Work};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

pub(crate) use self::bound::Reached;
use self::bound::bound_in;
pub(crate) use self::saved::Saved;
use crate::away::Away;
use crate::code::Session;
use crate::driver::AROUND;
use crate::function::Setting;
use crate::mind::{MODEL, Mind, reply};
use crate::outfit::{Kit, Outfitter};

/// One run of the tree.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
pub(crate) struct Machine {
    pub(crate) mind: Mind,
    /// What an agent has to do its work with, once that is there.
    pub(crate) kit: Option<Kit>,
    /// The session that its code runs in, while none runs.
    pub(crate) session: Option<Session>,
    /// Calls of its code that wait for what they give.
    pub(crate) asking: HashMap<CallId, oneshot::Sender<Given>>,
    /// The calls of an agent, in the order in which they first ran: what gives each a place of its own.
    slots: Vec<CallId>,
    slot_of: HashMap<CallId, usize>,
    /// What the work of its nodes has in common, once there is some.
    pub(crate) setting: OnceLock<Arc<Setting>>,
    /// The node, or the call, whose work it is.
    pub(crate) parent: Option<(usize, Attempt)>,
    /// The work that is under way, by node.
    pub(crate) tasks: Tasks,
    /// The runs inside its nodes, by node and execution.
    pub(crate) children: HashMap<(usize, u32), usize>,
    /// The agents it called that work on branches of their own, by the place of the call.
    pub(crate) away: BTreeMap<usize, Away>,
    /// The last agent that was the work of each node.
    pub(crate) agents: HashMap<usize, usize>,
    pub(crate) end: Option<RunEnd>,
    /// Whether what it came to is not for the attempt it is the work of: it ended in an earlier one, or the run around it
    /// cut it off. Nobody hears of that, and it goes on, or begins anew, if the attempt does.
    pub(crate) is_void: bool,
    /// How long it had been at work when the attempt began that it is the work of.
    pub(crate) worked_before_ms: u64,
    /// Whether the node around it knows that it waits.
    pub(crate) pause_told: bool,
    /// Whether this process, which did not begin it, goes on with it.
    pub(crate) taken_up: bool,
    /// Whether something happened to it, and what follows by itself is still to be seen to.
    pub(crate) stirred: bool,
    /// What it and the runs inside it may spend, if that is bounded.
    pub(crate) ledger: Option<Ledger>,
    /// The bound of a flow around it that an agent reached.
    bound: Option<Bound>,
}

impl Machine {
    fn new(mind: Mind, parent: Option<(usize, Attempt)>) -> Self {
        Self {
            ledger: match &mind {
                Mind::Flow(flow) => Ledger::new(&flow.flow().settings().limits),
                Mind::Agent(agent) => Ledger::new(&bounds(agent.definition())),
            },
            mind,
            kit: None,
            session: None,
            asking: HashMap::new(),
            slots: Vec::new(),
            slot_of: HashMap::new(),
            setting: OnceLock::new(),
            parent,
            tasks: Tasks::default(),
            children: HashMap::new(),
            away: BTreeMap::new(),
            agents: HashMap::new(),
            end: None,
            is_void: false,
            worked_before_ms: 0,
            pause_told: false,
            taken_up: false,
            stirred: false,
            bound: None,
        }
    }

    /// Gives an agent what it does its work with; its tools hear of the calls that it remembers.
    pub(crate) fn equip(&mut self, kit: Kit, outfitter: Option<&dyn Outfitter>) {
        let Some(agent) = self.mind.as_agent_mut() else { return };
        let kit = match outfitter {
            Some(outfitter) => outfitter.assign(agent.origin(), kit),
            None => kit,
        };
        agent.equip(Arc::clone(&kit.outfit));
        agent.recollect(|tool, input, output| {
            if let Some(tool) = kit.tools.get(tool) {
                tool.recall(input, output);
            }
        });
        self.kit = Some(kit);
    }

    /// The place of a call of an agent.
    pub(crate) fn slot(&mut self, call: &CallId) -> usize {
        if let Some(slot) = self.known_slot(call) {
            return slot;
        }
        self.slot_of.insert(call.clone(), self.slots.len());
        self.slots.push(call.clone());
        MODEL + self.slots.len()
    }

    fn known_slot(&self, call: &CallId) -> Option<usize> {
        self.slot_of.get(call).map(|slot| MODEL + 1 + slot)
    }

    /// The call that has this place.
    pub(crate) fn call_at(&self, slot: usize) -> Option<&CallId> {
        self.slots.get(slot.checked_sub(MODEL + 1)?)
    }
}

/// The work that is under way in one run: a place for each node.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Vec<Option<Task>>);

impl Tasks {
    pub(crate) fn insert(&mut self, node: usize, task: Task) {
        if self.0.len() <= node {
            self.0.resize_with(node + 1, || None);
        }
        self.0[node] = Some(task);
    }

    /// The work of an attempt.
    pub(crate) fn of(&mut self, attempt: Attempt) -> Option<&mut Task> {
        self.0.get_mut(attempt.node)?.as_mut().filter(|task| task.attempt == attempt)
    }

    pub(crate) fn get(&self, node: usize) -> Option<&Task> {
        self.0.get(node)?.as_ref()
    }

    pub(crate) fn remove(&mut self, node: usize) -> Option<Task> {
        self.0.get_mut(node)?.take()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Task> {
        std::mem::take(&mut self.0).into_iter().flatten()
    }
}

/// Work that is under way.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) attempt: Attempt,
    pub(crate) work: JoinHandle<()>,
    pub(crate) began: Began,
}

impl Task {
    pub(crate) fn new(attempt: Attempt, work: JoinHandle<()>) -> Self {
        Self { attempt, work, began: Began::AtOnce }
    }
}

/// When work began.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Began {
    /// With its attempt.
    AtOnce,
    /// Not yet: it waits for a place.
    InLine,
    /// Later.
    At(Instant),
}

/// The machines of a run and of all runs nested in it; the first one is the root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) machines: Vec<Machine>,
    /// The folder it works in, if it says so.
    pub(crate) folder: Option<Box<str>>,
    /// What is set aside, by the name of the reservation, and for which run.
    pub(crate) held: BTreeMap<String, (usize, Amounts)>,
    by_run: HashMap<RunId, usize>,
    /// What people granted in the session: agents that begin later have it too.
    grants: Vec<Event>,
    /// Bounds that were reached further in than the flow whose they are, until that flow knows or has ended.
    pub(crate) reached: Vec<Reached>,
}

impl Tree {
    pub(crate) fn add(&mut self, mut mind: Mind, parent: Option<(usize, Attempt)>) -> usize {
        let machine = self.machines.len();
        if let Some(agent) = mind.as_agent_mut() {
            self.grants.iter().for_each(|grant| agent.heed(grant));
        }
        self.by_run.insert(mind.run().clone(), machine);
        if let Some((around, attempt)) = parent {
            self.machines[around].children.insert((attempt.node, attempt.execution), machine);
            if mind.as_agent().is_some() {
                self.machines[around].agents.insert(attempt.node, machine);
            }
        }
        self.machines.push(Machine::new(mind, parent));
        machine
    }

    /// A run and those around it, from the inside out.
    pub(crate) fn outward(&self, machine: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(machine), |inner| self.machines[*inner].parent.map(|(around, _)| around))
    }

    /// Keeps what an event of a run means for the tree, once its machine has applied it.
    pub(crate) fn note(&mut self, machine: usize, event: &Event) {
        self.enter(machine, &event.body);
        match &event.body {
            Body::RunEnd(end) => {
                self.machines[machine].end = Some(end.as_ref().clone());
                self.leave_behind(machine, end);
                self.reached.retain(|reached| reached.whose != machine);
            }
            Body::Error(error) if self.machines[machine].mind.as_agent().is_some() => {
                let bound = Bound::read(error.limit.as_ref(), error.limit_around);
                self.machines[machine].bound.clone_from(&bound);
                self.reach(machine, bound);
            }
            Body::NodeEnd(_) | Body::NodeRetry(_) | Body::EdgeTransition(_) => {
                self.reach(machine, bound_in(&event.body));
            }
            Body::GrantAdded(_) => self.share(machine, event),
            Body::NodeStart(start) => self.another_attempt(machine, event, start),
            Body::CancelRequested(request) if request.by == AROUND && request.mode == Mode::Now => {
                let around = self.machines[machine].parent.map(|(around, _)| &self.machines[around].mind);
                self.machines[machine].is_void = around.is_some_and(|around| around.as_flow().is_some());
            }
            Body::Resumed(_) => {
                let Machine { mind, is_void, .. } = &mut self.machines[machine];
                *is_void &= mind.as_flow().is_none_or(|flow| flow.is_being_cut_off());
            }
            _ => {}
        }
    }

    /// What a run has come to that did not complete is kept by the node whose work it is.
    fn leave_behind(&mut self, machine: usize, end: &RunEnd) {
        let Machine { mind: Mind::Flow(flow), parent: Some((around, attempt)), .. } = &self.machines[machine]
        else {
            return;
        };
        let (around, attempt) = (*around, *attempt);
        if flow.ended() == Some(&NodeStatus::Completed) || !flow.has_given() {
            return;
        }
        if let Mind::Flow(around) = &mut self.machines[around].mind {
            around.inside_ended(attempt, &end.final_output);
        }
    }

    /// Another attempt at a node goes on with the run inside it, if that is there: it is the work of that attempt now.
    fn another_attempt(&mut self, machine: usize, event: &Event, start: &NodeStart) {
        let Machine { mind, children, .. } = &self.machines[machine];
        let (NodeStart { execution, attempt, .. }, false) = (start, children.is_empty()) else { return };
        let node = event.head.node_id.as_ref().zip(mind.as_flow());
        let Some(node) = node.and_then(|(id, flow)| flow.flow().index(id.as_str())) else { return };
        let Some(&inner) = children.get(&(node, *execution)) else { return };
        let inner = &mut self.machines[inner];
        if inner.mind.goes_on() {
            let attempt = Attempt { node, execution: *execution, attempt: *attempt };
            (inner.parent, inner.is_void) = (Some((machine, attempt)), inner.mind.has_ended());
        }
    }

    /// Writes an event of a run into its ledger and those around it.
    fn enter(&mut self, machine: usize, body: &Body) {
        let counts = matches!(
            body,
            Body::BudgetReserved(_) | Body::BudgetSettled(_) | Body::NodeStart(_) | Body::HarnessStart(_)
        );
        if !counts {
            return;
        }
        match body {
            Body::BudgetReserved(reserved) => {
                self.held.insert(reserved.id.clone(), (machine, reserved.amounts.clone()));
            }
            Body::BudgetSettled(settled) => {
                self.held.remove(&settled.id);
            }
            _ => {}
        }
        let mut next = Some(machine);
        while let Some(machine) = next {
            let Machine { ledger, parent, .. } = &mut self.machines[machine];
            if let Some(ledger) = ledger {
                ledger.apply(body);
            }
            next = parent.map(|(around, _)| around);
        }
    }

    /// What people granted in the session before holds for all of the tree.
    pub(crate) fn remember(&mut self, before: &[Event]) {
        let grants = before.iter().filter(|event| matches!(event.body, Body::GrantAdded(_)));
        self.grants.extend(grants.cloned());
    }

    /// What people granted in the session.
    pub(crate) fn grants(&self) -> &[Event] {
        &self.grants
    }

    /// Whether anything can still happen in a run without a person; an agent that has called others and does nothing
    /// else waits if they do.
    pub(crate) fn is_at_work(&self, machine: usize) -> bool {
        let Machine { mind, children, away, .. } = &self.machines[machine];
        let Some(agent) = mind.as_agent().filter(|agent| agent.at_work()) else { return mind.is_at_work() };
        let mut called = 0;
        for open in agent.open() {
            let Open::Agent(call) = open else {
                if matches!(open, Open::Watch(..)) {
                    continue;
                }
                return true;
            };
            called += 1;
            let slot = self.machines[machine].known_slot(&call);
            if slot.and_then(|slot| away.get(&slot)).is_some_and(|away| away.waits) {
                continue;
            }
            let inner = slot.and_then(|slot| children.get(&(slot, 1)));
            let waits = |inner: &usize| self.machines[*inner].mind.has_started() && !self.is_at_work(*inner);
            if !inner.is_some_and(waits) {
                return true;
            }
        }
        called == 0
    }

    /// What was granted to one agent holds for all of the tree.
    pub(crate) fn share(&mut self, granted: usize, event: &Event) {
        self.grants.push(event.clone());
        for (machine, other) in self.machines.iter_mut().enumerate() {
            if let (Some(agent), true) = (other.mind.as_agent_mut(), machine != granted) {
                agent.heed(event);
            }
        }
    }

    pub(crate) fn of_run(&self, run: &RunId) -> Option<usize> {
        self.by_run.get(run).copied()
    }

    /// The machine that waits for an answer to this request.
    pub(crate) fn of_relay(&self, relay: &RelayId) -> Option<usize> {
        self.machines.iter().position(|machine| machine.mind.relays().contains(relay))
    }

    pub(crate) fn relays(&self) -> Vec<RelayId> {
        let away = |machine: &Machine| {
            machine.away.values().flat_map(|away| away.relays.clone()).collect::<Vec<_>>()
        };
        self.machines
            .iter()
            .flat_map(|machine| machine.mind.relays().into_iter().chain(away(machine)))
            .collect()
    }

    /// Whether what a run does is not to be done twice, as the node says whose work it is.
    fn is_work_that_writes(&self, machine: usize) -> bool {
        let Some((around, attempt)) = self.machines[machine].parent else { return true };
        self.machines[around].mind.as_flow().is_none_or(|flow| flow.flow().node(attempt.node).writes())
    }

    /// What the run inside a node comes to for the node, once it has ended.
    pub(crate) fn result(&self, machine: usize) -> Option<Result<Reply, Failure>> {
        let Machine { mind, end, bound, is_void: false, .. } = &self.machines[machine] else { return None };
        let scheduler = match mind {
            Mind::Flow(flow) => flow,
            Mind::Agent(agent) => {
                let bound = bound.clone().map(Box::new);
                return reply(agent).map(|result| result.map_err(|failure| Failure { bound, ..failure }));
            }
        };
        let end = end.as_ref()?;
        Some(match scheduler.ended()? {
            NodeStatus::Completed => {
                let mut reply = Reply::new(end.final_output.clone());
                if scheduler.origin().item {
                    reply.writes = scheduler.contributions();
                }
                Ok(reply)
            }
            NodeStatus::Cancelled => Err(Failure::of(ErrorCode::Cancelled, "the run inside was cancelled")),
            _ => {
                let failure = Failure::of(ErrorCode::Failed, why(scheduler, end));
                Err(Failure { finality: scheduler.finality(self.is_work_that_writes(machine)), ..failure })
            }
        })
    }
}

/// How many of the nodes that failed in a run are told of to the node around it.
const FAILURES_TOLD: usize = 10;

/// What an agent may spend, as flows say it.
fn bounds(agent: &Definition) -> Limits {
    let limits = &agent.limits;
    Limits {
        max_tokens: limits.max_tokens,
        max_cost_usd: limits.max_cost_usd,
        max_steps: limits.max_steps,
        ..Limits::default()
    }
}

fn why(scheduler: &Scheduler, end: &RunEnd) -> String {
    let mut failures = scheduler.failures();
    let told = failures.by_ref().take(FAILURES_TOLD);
    let mut told: Vec<String> = told.map(|(node, error)| format!("`{node}`: {}", error.message)).collect();
    let more = failures.count();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    match (told.as_slice(), &end.reason) {
        ([], Some(reason)) => format!("the run inside ended: {reason}"),
        ([], None) => "the run inside failed".to_owned(),
        (told, _) => told.join("; "),
    }
}

/// The run that does the work of a node, ready to begin.
pub(crate) fn child(around: &Scheduler, attempt: Attempt, run: RunId) -> Option<Mind> {
    let (flow, item) = match &around.flow().node(attempt.node).work {
        Work::Flow(flow) | Work::Swarm(flow) => (flow.clone(), false),
        Work::Map(_) => {
            let items = around.input(attempt.node).count()?;
            (around.flow().of_items(attempt.node, items)?, true)
        }
        _ => return None,
    };
    let origin = Origin {
        run,
        parent: Some(ParentId::from(start_id(around, attempt))),
        turn: around.origin().turn.clone(),
        path: around.path(attempt.node),
        item,
        span: around.trace().map(|_| around.span_of(attempt)),
    };
    let scheduler = Scheduler::new(flow, origin);
    let scheduler = if item { scheduler.inside(around) } else { scheduler };
    Some(Mind::Flow(Box::new(scheduler)))
}

/// The id of the node of the conversation graph that an attempt begins with.
pub(crate) fn start_id(around: &Scheduler, attempt: Attempt) -> String {
    let (run, node) = (&around.origin().run, around.flow().id(attempt.node));
    let Attempt { execution, attempt, .. } = attempt;
    match attempt {
        1 => format!("{run}:{node}:{execution}:start"),
        _ => format!("{run}:{node}:{execution}:start:{attempt}"),
    }
}

/// The run, node, execution and attempt that an id of that form names.
pub(crate) fn parse_start_id(id: &str) -> Option<(&str, &str, u32, u32)> {
    let mut parts = id.split(':');
    let (run, node, execution) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
    if parts.next() != Some("start") {
        return None;
    }
    let attempt = parts.next().map_or(Some(1), |attempt| attempt.parse().ok())?;
    Some((run, node, execution, attempt))
}
