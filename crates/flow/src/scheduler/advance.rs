//! What follows by itself from what has happened.

use antiphon_event::body::flow::{EdgeTransition, LayerEnd, NodeSkipped};
use antiphon_event::{Body, EdgeType, Event, Mode, NodeStatus};

use super::spot::{Decision, Queue, Status};
use super::{Now, Phase, Scheduler};
use crate::definition::{EdgeIndex, Join, NodeIndex, OnFailure, When, Work};
use crate::moment::Formula;

impl Scheduler {
    /// The next events that follow from what has happened, to be applied before asking again; empty when nothing
    /// does before something comes in from outside.
    pub fn advance(&self, now: Now) -> Vec<Event> {
        let mut events = Vec::new();
        self.advance_into(now, &mut events);
        events
    }

    /// The same with the events added to those that are there.
    pub fn advance_into(&self, now: Now, events: &mut Vec<Event>) {
        if self.phase != Phase::Running {
            return;
        }
        events.extend(self.layers_ended(now));
        if self.must_stop() {
            return events.extend(self.stop(now));
        }
        if let Some(limit) = &self.limit {
            return events.extend(self.run_end(NodeStatus::Failed, Some(limit.clone()), now));
        }
        if self.starting && self.goes_on_starting(now) && self.starts(now, events) {
            return;
        }
        if let Some(&node) = self.follow.front() {
            let due = self.follow_up(node, now);
            assert!(!due.is_empty(), "a node is followed up only when something is due");
            return events.extend(due);
        }
        if !self.skips.is_empty() {
            return events.extend(self.skips.iter().map(|node| self.skip(*node, now)));
        }
        if self.cancel.is_none() {
            let taken = self.takeable();
            if !taken.is_empty() {
                return events.extend(taken.into_iter().map(|edge| self.transition(edge, now)));
            }
            if !self.ready.is_empty() && self.starts(now, events) {
                return;
            }
        } else if self.resting > 0 {
            let idle = self.cut_idle(now);
            if !idle.is_empty() {
                return events.extend(idle);
            }
        }
        if self.executing == 0 && (self.cancel.is_some() || self.paused == 0) {
            events.extend(self.wind_up(now));
        }
    }

    /// Whether anything may follow by itself: asked where it mostly does not.
    pub fn may_go_on(&self) -> bool {
        let lines = [&self.ready, &self.skips, &self.follow];
        let waits = lines.iter().any(|line| !line.is_empty()) || !self.closing.is_empty();
        let is_ending =
            self.executing == 0 || self.failed > 0 || self.cancel.is_some() || self.limit.is_some();
        self.phase == Phase::Running && (waits || !self.fired.is_empty() || is_ending)
    }

    /// Whether everything is to be cut off at once.
    fn must_stop(&self) -> bool {
        let is_over = self.fails_fast() || self.cancel == Some(Mode::Now) || self.limit.is_some();
        is_over && self.executing + self.paused > 0
    }

    /// Whether anything new may start.
    pub(super) fn may_start(&self) -> bool {
        self.cancel.is_none() && self.limit.is_none() && !self.fails_fast()
    }

    fn fails_fast(&self) -> bool {
        self.flow.settings().on_failure == OnFailure::FailFast && self.own(Status::Failed) > 0
    }

    /// How many nodes have come to this, without those that took over for others: what that comes to, the others say.
    pub(super) fn own(&self, status: Status) -> usize {
        let count = if status == Status::Failed { self.failed } else { self.cancelled };
        if count == 0 {
            return 0;
        }
        let deputies = self.flow.shape().deputies.iter();
        count - deputies.filter(|deputy| self.spots[**deputy].status == status).count()
    }

    /// That layers have ended, which is still to be told.
    pub(super) fn layers_ended(&self, now: Now) -> impl Iterator<Item = Event> + '_ {
        let ended = |layer: &usize| LayerEnd { layer: *layer as u32 };
        self.closing.iter().map(move |layer| self.event(now, Body::LayerEnd(ended(layer))))
    }

    fn skip(&self, node: NodeIndex, now: Now) -> Event {
        let execution = self.spots[node].execution + 1;
        self.node_event(
            now,
            node,
            Body::NodeSkipped(NodeSkipped { execution, reason: self.skip_reason(node) }),
        )
    }

    fn skip_reason(&self, node: NodeIndex) -> String {
        let shape = self.flow.shape();
        if let Some(max) = self.spent(node).filter(|_| self.is_wanted(node)) {
            return format!("it has run {max} times, which is its max_executions");
        }
        if let Join::Count(count @ 2..) = self.flow.node(node).join {
            // Which of them were decided first does not count.
            return format!("fewer than {count} of its sources can give it a way in");
        }
        let refused = shape.entering[node].iter().find(|edge| self.decisions[**edge] == Decision::Refused);
        match refused {
            Some(&edge) => {
                format!("the condition of the edge from `{}` was false", self.flow.id(shape.ends[edge].0))
            }
            None => "no way leads to it: its sources were skipped or went another way".to_owned(),
        }
    }

    /// Whether the run has come to a node, so that it would start.
    fn is_wanted(&self, node: NodeIndex) -> bool {
        let rare = self.spots[node].rare();
        let is_called = !rare.brought.is_empty() || !rare.callers.is_empty();
        is_called || self.flow.shape().entering[node].is_empty() || self.readiness(node) != Some(false)
    }

    /// The event that an edge is taken.
    pub(super) fn transition(&self, edge: EdgeIndex, now: Now) -> Event {
        let (source, target) = self.flow.shape().ends[edge];
        let when = &self.flow.edges()[edge].when;
        let condition = match when {
            When::If(Formula::Expression(condition)) => Some(condition.shared_text()),
            _ => None,
        };
        let edge_type = match self.flow.node(source).work {
            Work::Router(_) => EdgeType::Router,
            _ => when.kind(),
        };
        let transition = EdgeTransition {
            source_id: self.flow.id(source).clone(),
            target_id: self.flow.id(target).clone(),
            edge_type,
            condition,
            error: None,
        };
        self.event(now, Body::EdgeTransition(transition))
    }

    /// What is due for a node that the scheduler itself has to see to.
    fn follow_up(&self, node: NodeIndex, now: Now) -> Vec<Event> {
        let spot = self.spots[node].rare();
        if let Some(answer) = &spot.answer {
            return self.after_answer(node, &answer.0, &answer.1, now);
        }
        if let Some(prevented) = &spot.prevented {
            return self.without_work(node, prevented, now);
        }
        if let Some(deputy) = spot.deputy {
            return self.adopt(node, deputy, now);
        }
        self.work_inside(node, now)
    }

    /// Why a node that was not done stayed so.
    pub(super) fn why_pending(&self, node: NodeIndex) -> String {
        if self.spots[node].queue == Queue::Ready {
            return "it was ready, and the run stopped before it could start".to_owned();
        }
        let shape = self.flow.shape();
        for &edge in &shape.entering[node] {
            let source = shape.ends[edge].0;
            let id = self.flow.id(source);
            match (self.decisions[edge], self.spots[source].status) {
                (Decision::Undecided, Status::Failed) => return format!("it waits for `{id}`, which failed"),
                (Decision::Undecided, Status::Cancelled) => {
                    return format!("it waits for `{id}`, which was cancelled");
                }
                _ => {}
            }
        }
        let waits = shape.entering[node]
            .iter()
            .find(|edge| matches!(self.decisions[**edge], Decision::Undecided | Decision::Held(_)));
        match waits {
            Some(&edge) => format!("it waits for `{}`, which is not done", self.flow.id(shape.ends[edge].0)),
            None => "it was not reached".to_owned(),
        }
    }
}
