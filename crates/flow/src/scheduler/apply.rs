//! What an event changes. Reads nothing but the event and the shape of the flow; never fails, never asks.

use std::sync::Arc;

use antiphon_event::body::flow::{EdgeTransition, NodeEnd, NodeError, NodeSkipped, NodeStart, RunStart};
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{
    Body, EdgeType, ErrorCode, Event, FlowNodeId, Json, JsonKind, Mode, NodeStatus, Timestamp,
};
use serde_json::Map;

use super::effect::Wants;
use super::end::node_error;
use super::settle::take_out;
use super::spot::{Known, Prevented, Queue, Rare, Spot, Status, Why};
use super::{Attempt, Effect, Phase, Scheduler};
use crate::definition::{EdgeIndex, NodeIndex, Work};
use crate::function::Failure;

impl Scheduler {
    /// Takes in an event of this run; events of other runs and of later versions change nothing.
    pub fn apply(&mut self, event: &Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.apply_to(event, &mut |effect| effects.push(effect));
        effects
    }

    /// The same with what is to be done handed over as it comes up.
    pub fn apply_to(&mut self, event: &Event, wants: Wants<'_>) {
        if event.head.run_id.as_ref() != Some(&self.origin.run) {
            return;
        }
        self.tick(event);
        self.starting = match &event.body {
            Body::NodeStart(_) | Body::LayerStart(_) => true,
            Body::Resumed(_) => self.starting,
            _ => false,
        };
        let node = event.head.node_id.as_ref().and_then(|id| self.find(id));
        match (&event.body, node) {
            (Body::RunStart(start), _) => self.run_started(start, event.head.at),
            (Body::NodeStart(start), Some(node)) => self.node_started(node, start, event, wants),
            (Body::NodeEnd(end), Some(node)) => self.node_ended(node, end, wants),
            (Body::NodeSkipped(skip), Some(node)) => self.node_skipped(node, skip),
            (Body::NodeRetry(retry), Some(node)) => {
                self.unfollow(node);
                self.shift(node, |spot| {
                    spot.status = Status::Executing;
                    let rare = spot.keep();
                    (rare.delay, rare.answer) = (Some(retry.delay_ms), None);
                    rare.prevented = None;
                    rare.retries += 1;
                });
                wants(Effect::Wait(self.attempt(node), retry.delay_ms));
            }
            (Body::NodeTimeout(timeout), Some(node)) => self.overran(node, timeout.timeout_ms, wants),
            (Body::EdgeTransition(transition), _) => self.moved(transition),
            (Body::LayerStart(layer), _) => self.layer_opened(layer.layer),
            (Body::LayerEnd(layer), _) => self.layer_closed(layer.layer),
            (Body::Relay(relay), Some(node)) => self.asked(node, relay, wants),
            (Body::Interrupt(_), Some(node)) => self.interrupted(node),
            (Body::RelayResolved(resolved), _) => self.resolved(resolved),
            // The edge to a node that takes over says it in full.
            (Body::Error(error), Some(node)) if !self.is_told_of(node) => {
                let code = error.code.as_deref().map(Into::into);
                let (message, extra) = (error.message.clone(), Map::new());
                let (retryable, decided) = (error.retryable, None);
                let error =
                    NodeError { code, message, limit: None, limit_around: None, retryable, decided, extra };
                self.spots[node].keep().error = Some(Box::new(error));
            }
            (Body::CancelRequested(request), _) => self.cancel_requested(&request.by, &request.mode, wants),
            (Body::Resumed(_), _) => self.resumed(),
            (Body::StatePatched(patch), _) => self.write(patch.writes.iter()),
            (Body::RunEnd(end), _) => {
                self.phase = Phase::Ended(end.status.clone().unwrap_or(NodeStatus::Completed));
            }
            _ => {}
        }
    }

    /// Whether another node takes over for this one, and why is known.
    fn is_told_of(&self, node: NodeIndex) -> bool {
        let rare = self.spots[node].rare();
        rare.deputy.is_some() && rare.error.is_some()
    }

    /// The node with this id. Events about one node follow one another, and nodes often start and end in the order they
    /// were declared or in turns, so it is mostly the last one, the one after it, or the one before.
    fn find(&mut self, id: &FlowNodeId) -> Option<NodeIndex> {
        let ids = self.flow.ids();
        let is = |node: NodeIndex| ids.get(node).is_some_and(|other| other == id);
        if is(self.last) {
            return Some(self.last);
        }
        let near = [self.last.saturating_add(1), self.before];
        let node = near.into_iter().find(|node| is(*node)).or_else(|| self.flow.index(id.as_str()))?;
        (self.before, self.last) = (self.last, node);
        Some(node)
    }

    /// Time passes while the run is at work; not while it waits for people or has no process.
    fn tick(&mut self, event: &Event) {
        let Some(at) = event.head.at.filter(|at| self.clock.last != Some(*at)) else { return };
        // Whoever goes on with a run, or changes the state of a fork, comes when nobody is at work on it.
        let is_later = matches!(event.body, Body::Resumed(_) | Body::StatePatched(_));
        let counts = self.phase == Phase::Running && self.at_work() && !is_later;
        if let Some(last) = self.clock.last.filter(|_| counts) {
            self.clock.worked_ms += at.millis().saturating_sub(last.millis()).max(0) as u64;
        }
        self.clock.last = Some(at);
    }

    fn run_started(&mut self, start: &RunStart, at: Option<Timestamp>) {
        self.phase = Phase::Running;
        self.clock.began = at;
        if let Some(input) = &start.input {
            if self.origin.item {
                self.items = if input.kind() == JsonKind::List { input.items() } else { Vec::new() };
            } else {
                self.task = input.clone();
            }
        }
        if let Some(state) = &start.state {
            // Checked before it became an event; a flow that has changed since begins with its defaults.
            self.state = self.state.with(state).unwrap_or_else(|_| self.state.clone());
        }
        for index in 0..self.flow.shape().entries.len() {
            let entry = self.flow.shape().entries[index];
            self.enqueue(entry, Queue::Ready);
        }
    }

    fn node_started(&mut self, node: NodeIndex, start: &NodeStart, event: &Event, wants: Wants<'_>) {
        self.dequeue(node);
        self.unfollow(node);
        if start.attempt == 1 {
            self.starts += 1;
        }
        let input = start.input.clone().or_else(|| self.early_input(node));
        self.shift(node, |spot| {
            spot.status = Status::Executing;
            spot.execution = start.execution;
            spot.attempt = start.attempt;
            spot.started = event.head.at;
            // One that was read is of the branch it was written to.
            let is_new = event.head.session_id.is_none();
            spot.context = Known(is_new.then(|| Arc::clone(&event.head.context)));
            spot.again = false;
            if let Some(rare) = spot.kept() {
                rare.begin(start);
            }
            match (&start.error, &start.reroute) {
                (Some(error), _) => spot.keep().prevented = Some(Prevented::Failed(NodeError::clone(error))),
                (None, Some(to)) => spot.keep().prevented = Some(Prevented::Rerouted(to.clone())),
                (None, None) => {}
            }
        });
        if let Some(input) = input.filter(|_| start.input.is_some() || start.attempt == 1) {
            self.spots[node].keep().input = Some(input);
        }
        if self.works_inside(node) || self.spots[node].rare().prevented.is_some() {
            return self.follow.push_back(node);
        }
        wants(Effect::Perform(self.attempt(node)));
    }

    /// An attempt took too long: it has failed, whatever it still gives.
    fn overran(&mut self, node: NodeIndex, timeout_ms: u64, wants: Wants<'_>) {
        let failure = Failure::of(ErrorCode::Timeout, format!("it took longer than {timeout_ms} ms"));
        self.spots[node].keep().prevented = Some(Prevented::Failed(node_error(failure)));
        self.unfollow(node);
        self.follow.push_back(node);
        wants(Effect::Stop(self.attempt(node)));
    }

    /// The run inside a node has ended without having completed. Said by whoever keeps that run, of its `run_end`, now and
    /// on replay: what it came to is what the node's end says, whatever led to that.
    pub fn inside_ended(&mut self, attempt: Attempt, came_to: &Json) {
        let status = self.spots[attempt.node].status;
        if status.settled() || self.attempt(attempt.node) != attempt {
            return;
        }
        let clean = self.withheld(attempt.node, || came_to.value()).map(Json::from);
        self.spots[attempt.node].keep().partial = Some(clean.unwrap_or_else(|| came_to.clone()));
        // One that is under way gives it with its end.
        if matches!(status, Status::Failed | Status::Cancelled) {
            self.rounds.gave(attempt.node);
        }
    }

    /// Whether the scheduler does the work of the node itself.
    pub(super) fn works_inside(&self, node: NodeIndex) -> bool {
        matches!(
            self.flow.node(node).work,
            Work::Expression(_) | Work::Router(_) | Work::Guardrail | Work::Human(_)
        )
    }

    fn node_ended(&mut self, node: NodeIndex, end: &NodeEnd, wants: Wants<'_>) {
        let attempt = self.attempt(node);
        let spot = &self.spots[node];
        // One that is interrupted and asks nobody itself waits for the run inside it.
        let at_work = match spot.status {
            Status::Executing => !self.works_inside(node),
            Status::Interrupted => spot.rare().relay.is_none() && !self.works_inside(node),
            _ => false,
        };
        self.dequeue(node);
        self.unfollow(node);
        if let Some(writes) = end.writes.as_ref().filter(|_| !self.origin.item) {
            self.write(writes.iter());
        }
        let status = match end.status {
            NodeStatus::Failed => Status::Failed,
            NodeStatus::Cancelled => Status::Cancelled,
            NodeStatus::Skipped => Status::Skipped,
            _ => Status::Completed,
        };
        let mut deputy = None;
        self.shift(node, |spot| deputy = spot.kept().and_then(Rare::finish));
        let spot = &mut self.spots[node];
        spot.context = Known::default();
        spot.started = None;
        // The driver sees to a bound that is not its own.
        let own = end.error.as_ref().filter(|error| error.limit_around.is_none());
        if let Some(limit) = own.and_then(|error| error.limit.clone()) {
            self.limit = Some(limit);
        }
        if end.error.is_some() || end.telemetry.is_some() {
            let rare = spot.keep();
            rare.error.clone_from(&end.error);
            rare.telemetry.clone_from(&end.telemetry);
        }
        if self.origin.item && end.writes.is_some() {
            spot.keep().writes.clone_from(&end.writes);
        }
        if status.settled() {
            spot.output = Some(end.output.clone());
            self.rounds.gave(node);
            self.decide_edges(node, &end.edges);
        } else if !end.output.is_null() {
            spot.keep().partial = Some(end.output.clone());
            self.rounds.gave(node);
        }
        self.settle(node, status);
        if let Some(deputy) = deputy {
            self.relieve(deputy, node);
        }
        self.report(node);
        if status == Status::Cancelled && at_work {
            wants(Effect::Stop(attempt));
        }
    }

    /// Tells the node it took over for that this one has ended.
    fn report(&mut self, node: NodeIndex) {
        if let Some(&caller) = self.spots[node].rare().callers.front() {
            self.follow.push_back(caller);
        }
    }

    /// A caller has no more need of its deputy: if that was to work, or worked, for it, it is the next one's turn.
    fn relieve(&mut self, deputy: NodeIndex, caller: NodeIndex) {
        let spot = self.spots[deputy].keep();
        let was_its_turn = spot.callers.front() == Some(&caller);
        spot.callers.retain(|other| *other != caller);
        let is_wanted = !spot.callers.is_empty();
        if !was_its_turn || self.spots[deputy].busy() == is_wanted {
            return;
        }
        if is_wanted {
            self.shift(deputy, |spot| spot.status = Status::Pending);
            self.enqueue(deputy, Queue::Ready);
        } else {
            self.dequeue(deputy);
            self.shift(deputy, |_| {});
        }
    }

    fn node_skipped(&mut self, node: NodeIndex, skip: &NodeSkipped) {
        self.dequeue(node);
        let is_counted = self.flow.node(node).max_executions.is_some();
        let spot = &mut self.spots[node];
        spot.execution = skip.execution;
        spot.again = false;
        spot.attempt = 0;
        if is_counted {
            spot.keep().skips += 1;
        }
        self.pass_edges(node);
        self.settle(node, Status::Skipped);
        self.report(node);
    }

    fn moved(&mut self, transition: &EdgeTransition) {
        // Edges that lead on were decided when their source ended; many flows have no others.
        if transition.edge_type != EdgeType::Fallback && self.flow.shape().regions.is_empty() {
            return;
        }
        let (Some(source), Some(target)) =
            (self.find(&transition.source_id), self.find(&transition.target_id))
        else {
            return;
        };
        if transition.edge_type == EdgeType::Fallback {
            self.unfollow(source);
            self.shift(source, |spot| {
                spot.status = Status::Executing;
                let rare = spot.keep();
                (rare.deputy, rare.answer) = (Some(target), None);
                rare.prevented = None;
                if let Some(error) = &transition.error {
                    rare.error = Some(error.clone());
                }
            });
            let callers = &mut self.spots[target].keep().callers;
            callers.push_back(source);
            if callers.len() == 1 {
                self.shift(target, |spot| spot.status = Status::Pending);
                self.enqueue(target, Queue::Ready);
            }
            return;
        }
        let shape = self.flow.shape();
        let leads_back = |edge: &&EdgeIndex| shape.back[**edge] && shape.ends[**edge].1 == target;
        if let Some(&edge) = shape.leaving[source].iter().find(leads_back) {
            self.take(edge);
        }
    }

    fn layer_opened(&mut self, layer: u32) {
        if let Some(layer) = self.layers.get_mut(layer as usize) {
            layer.open = true;
        }
    }

    fn layer_closed(&mut self, layer: u32) {
        take_out(&mut self.closing, &(layer as usize));
        if let Some(layer) = self.layers.get_mut(layer as usize) {
            layer.open = false;
        }
    }

    fn asked(&mut self, node: NodeIndex, relay: &Relay, wants: Wants<'_>) {
        let rare = self.spots[node].keep();
        rare.relay = Some(Arc::new(relay.clone()));
        rare.answer = None;
        // The `interrupt` that follows says so; a fork may be without it.
        self.interrupted(node);
        if let Some(at) = relay.expires_at {
            wants(Effect::Watch(relay.id.clone(), at));
        }
    }

    fn interrupted(&mut self, node: NodeIndex) {
        self.dequeue(node);
        self.unfollow(node);
        self.shift(node, |spot| spot.status = Status::Interrupted);
    }

    fn resolved(&mut self, resolved: &RelayResolved) {
        let asked =
            |spot: &Spot| spot.rare().relay.as_ref().is_some_and(|relay| relay.id == resolved.relay_id);
        let Some(node) = self.spots.iter().position(asked) else { return };
        let rare = self.spots[node].keep();
        let relay = rare.relay.take().expect("it was just found by its relay");
        rare.answer = Some(Arc::new((Relay::clone(&relay), resolved.clone())));
        rare.waived |= Why::of(relay.id.as_str()) == Some(Why::GuardInput);
        self.follow.push_back(node);
    }

    fn cancel_requested(&mut self, by: &str, mode: &Mode, wants: Wants<'_>) {
        self.cancel = Some(if self.cancel == Some(Mode::Now) { Mode::Now } else { mode.clone() });
        by.clone_into(&mut self.canceller);
        if *mode == Mode::Now {
            return;
        }
        let executing = (0..self.spots.len()).filter(|node| self.spots[*node].status == Status::Executing);
        executing.for_each(|node| wants(Effect::Wind(self.attempt(node))));
    }

    /// What had failed or was cancelled is to be done again.
    fn resumed(&mut self) {
        if self.ended().is_none() {
            return;
        }
        self.phase = Phase::Running;
        self.cancel = None;
        self.limit = None;
        let is_undone =
            |node: &NodeIndex| matches!(self.spots[*node].status, Status::Failed | Status::Cancelled);
        let undone: Vec<NodeIndex> = (0..self.spots.len()).filter(is_undone).collect();
        for &node in &undone {
            self.shift(node, |spot| {
                spot.status = Status::Pending;
                spot.again = true;
                spot.keep().retries = 0;
            });
            if let Some(layer) = self.flow.shape().layer[node] {
                self.layers[layer as usize].unsettled += 1;
            }
        }
        for node in undone {
            if !self.flow.shape().fallback.contains(&Some(node)) {
                self.admit(node);
            }
        }
        self.hold_again();
    }

    fn write<'a>(&mut self, writes: impl Iterator<Item = (&'a String, &'a Json)>) {
        for (key, contribution) in writes {
            // Checked before it became an event; a flow that has changed since leaves the key as it was.
            _ = self.state.write(key, contribution.clone());
        }
    }
}
