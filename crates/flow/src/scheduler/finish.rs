//! How a run ends: by itself, at a limit, or because somebody wants it to.

use antiphon_event::body::flow::{Pending, RunEnd};
use antiphon_event::body::lifecycle::CancelRequested;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::body::system;
use antiphon_event::{Body, ErrorCode, Event, Json, Mode, NodeStatus, StopReason};
use serde_json::{Map, Value};

use super::end::fits;
use super::spot::{Decision, Status};
use super::{Now, Phase, Refusal, Scheduler};
use crate::definition::{EdgeIndex, NodeIndex};
use crate::hook::Point;

/// Who answers what nobody needs to answer any more.
pub(super) const RUN: &str = "run";

impl Scheduler {
    pub(super) fn request_cancel(&self, by: String, mode: Mode, now: Now) -> Result<Vec<Event>, Refusal> {
        match self.phase {
            Phase::New | Phase::Ended(_) => Err(Refusal::Ended(self.origin.run.clone())),
            Phase::Running => Ok(vec![self.event(now, Body::CancelRequested(CancelRequested { by, mode }))]),
        }
    }

    pub(super) fn limit(&self, reason: StopReason, now: Now) -> Result<Vec<Event>, Refusal> {
        match self.phase {
            Phase::New | Phase::Ended(_) => Err(Refusal::Ended(self.origin.run.clone())),
            Phase::Running => {
                let mut events: Vec<Event> = self.layers_ended(now).collect();
                events.extend(self.cut_off(reason, now));
                Ok(events)
            }
        }
    }

    /// Cuts everything that is under way off; what is left of the run follows by itself.
    pub(super) fn stop(&self, now: Now) -> Vec<Event> {
        let why = match self.cancel {
            Some(_) => format!("cancelled by {}", self.canceller),
            None => match &self.limit {
                Some(limit) => return self.cut_off(limit.clone(), now),
                None => "another node failed, and the flow fails fast".to_owned(),
            },
        };
        self.cut(&why, None, now)
    }

    fn cut(&self, why: &str, limit: Option<&StopReason>, now: Now) -> Vec<Event> {
        let open =
            |node: &NodeIndex| matches!(self.spots[*node].status, Status::Executing | Status::Interrupted);
        let mut events = Vec::new();
        for node in (0..self.spots.len()).filter(open) {
            if let Some(relay) = &self.spots[node].rare().relay {
                let resolved = RelayResolved {
                    relay_id: relay.id.clone(),
                    approved: Some(false),
                    answer: None,
                    input: None,
                    scope: None,
                    reason: Some(why.to_owned()),
                    by: RUN.to_owned(),
                };
                events.push(self.node_event(now, node, Body::RelayResolved(Box::new(resolved))));
            }
            events.push(self.cut_short(self.attempt(node), why.to_owned(), limit.cloned(), now));
        }
        events
    }

    /// Nothing new starts in a run that winds down: what waits for its next attempt, or for a node to take over for it, has
    /// waited for nothing.
    pub(super) fn cut_idle(&self, now: Now) -> Vec<Event> {
        let takes_over = |deputy: NodeIndex, node: NodeIndex| {
            let spot = &self.spots[deputy];
            spot.status == Status::Executing && spot.rare().callers.front() == Some(&node)
        };
        let is_idle = |node: &NodeIndex| {
            let spot = &self.spots[*node];
            spot.rests() && !spot.rare().deputy.is_some_and(|deputy| takes_over(deputy, *node))
        };
        let why = format!("cancelled by {}", self.canceller);
        let idle = (0..self.spots.len()).filter(is_idle);
        idle.map(|node| self.cancelled(self.attempt(node), why.clone(), now)).collect()
    }

    /// A limit is reached: everything under way is cut off; then the run ends with what there is.
    pub(super) fn cut_off(&self, reason: StopReason, now: Now) -> Vec<Event> {
        let events = self.cut(&format!("the run reached its limit: {reason}"), Some(&reason), now);
        if events.is_empty() { self.run_end(NodeStatus::Failed, Some(reason), now) } else { events }
    }

    /// Nothing more can happen: ends the run, after what still waits for people if it was cancelled.
    pub(super) fn wind_up(&self, now: Now) -> Vec<Event> {
        if self.paused > 0 {
            return self.stop(now);
        }
        let stuck = self.pending_nodes().next().is_some();
        let (status, reason) = match (self.own(Status::Failed), &self.cancel, self.own(Status::Cancelled)) {
            (1.., ..) => (NodeStatus::Failed, Some(StopReason::NodeFailed)),
            (0, Some(_), _) | (0, None, 1..) => (NodeStatus::Cancelled, Some(StopReason::Cancelled)),
            (0, None, 0) if stuck => (NodeStatus::Failed, Some(StopReason::Stalled)),
            (0, None, 0) => (NodeStatus::Completed, None),
        };
        self.run_end(status, reason, now)
    }

    pub(super) fn run_end(&self, status: NodeStatus, reason: Option<StopReason>, now: Now) -> Vec<Event> {
        let mut events = Vec::with_capacity(1);
        let (mut status, mut reason) = (status, reason);
        let given = self.final_output(&status);
        let bounded = given.map_err(|why| (why, ErrorCode::Expression, StopReason::Expression));
        let bounded = bounded.and_then(|output| match fits(output.size()) {
            Ok(()) => Ok(output),
            Err(why) => {
                let why = format!("what the run gives is {why}");
                Err((why, ErrorCode::TooLarge, StopReason::TooLarge))
            }
        });
        let final_output = bounded.unwrap_or_else(|(message, code, why)| {
            events.push(self.error(message, &code, now));
            status = NodeStatus::Failed;
            reason.get_or_insert(why);
            let partial = self.last_outputs();
            if fits(partial.size()).is_ok() { partial } else { Json::from(Value::Null) }
        });
        match self.flow.settings().hooks.consult(Point::AfterRun { status: &status, output: &final_output }) {
            Ok(advice) => events.extend(advice.events.into_iter().map(|body| self.event(now, body))),
            Err(why) => events.push(self.error(why, &ErrorCode::Hook, now)),
        }
        let pending: Vec<Pending> = self.pending_nodes().map(|node| self.pending_entry(node)).collect();
        let began = self.clock.began.unwrap_or(now.at);
        let took = now.at.millis().saturating_sub(began.millis()).max(0);
        let end = RunEnd {
            status: Some(status),
            final_output,
            total_duration_ms: took as u64,
            reason,
            pending: (!pending.is_empty()).then_some(pending),
        };
        events.push(self.event(now, Body::RunEnd(Box::new(end))));
        events
    }

    /// Something went wrong that is about the run as a whole.
    fn error(&self, message: String, code: &ErrorCode, now: Now) -> Event {
        let code = Some(code.to_string());
        let error = system::Error { message, code, retryable: None, limit: None, limit_around: None };
        self.event(now, Body::Error(error))
    }

    /// Nodes that were not done, without those that only take over for others.
    fn pending_nodes(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        let deputy = |node: &NodeIndex| self.flow.shape().layer[*node].is_none();
        (0..self.spots.len()).filter(move |node| self.spots[*node].status == Status::Pending && !deputy(node))
    }

    fn pending_entry(&self, node: NodeIndex) -> Pending {
        Pending { node_id: self.flow.id(node).clone(), why: self.why_pending(node), extra: Map::new() }
    }

    /// What a run gives that ends so. What it would give had it completed may need what is not there.
    fn final_output(&self, status: &NodeStatus) -> Result<Json, String> {
        if let Some(formula) = &self.flow.settings().output {
            let moment = crate::moment::Moment {
                task: &self.task,
                state: &self.state,
                input: crate::moment::Handed::Nothing,
                output: None,
                item: None,
                others: self,
            };
            return match formula.json(&moment) {
                Ok(value) => Ok(value),
                Err(_) if *status != NodeStatus::Completed => Ok(self.last_outputs()),
                Err(why) => Err(format!("the flow's output: {why}")),
            };
        }
        Ok(self.last_outputs())
    }

    /// The outputs of completed nodes that lead nowhere, and if there are none, of those it came to last; one as it is,
    /// several by node id, items in order.
    fn last_outputs(&self) -> Json {
        let shape = self.flow.shape();
        let leads_on =
            |node: NodeIndex| shape.leaving[node].iter().any(|edge| self.decisions[*edge] == Decision::Live);
        let mut last: Vec<NodeIndex> = (0..self.spots.len())
            .filter(|node| self.spots[*node].status == Status::Completed && shape.layer[*node].is_some())
            .filter(|node| !leads_on(*node))
            .collect();
        if self.origin.item {
            return Json::list((0..self.spots.len()).map(|node| self.came_to(node)));
        }
        if last.is_empty() {
            last = self.furthest();
        }
        match last.as_slice() {
            [] => Json::from(Value::Null),
            [one] => self.came_to(*one),
            several => self.by_id(several, Self::came_to),
        }
    }

    /// What a node gave last, be it only a part.
    fn came_to(&self, node: NodeIndex) -> Json {
        self.partial(node).cloned().unwrap_or_else(|| self.gave(node))
    }

    /// The nodes that have given something, in this round or one before, and lead to none that has since.
    fn furthest(&self) -> Vec<NodeIndex> {
        let shape = self.flow.shape();
        let has_given = |node: NodeIndex| {
            shape.layer[node].is_some() && self.output(node).or(self.partial(node)).is_some()
        };
        let leads_to = |edge: EdgeIndex| {
            let (source, target) = shape.ends[edge];
            // What is decided tells about this round only.
            let is_of_before = self.spots[source].status != Status::Completed;
            let is_live = self.decisions[edge] == Decision::Live;
            let (from, to) = (self.rounds.of(source), self.rounds.of(target));
            // What is still to come in this round stands for what it gave before; what was skipped does not.
            let is_skipped = |node: NodeIndex| self.spots[node].status == Status::Skipped;
            let is_since = if shape.back[edge] {
                is_skipped(source) && to > from
            } else {
                to >= from || !is_skipped(target)
            };
            has_given(target) && is_since && (is_of_before || is_live)
        };
        let is_last = |node: &NodeIndex| !shape.leaving[*node].iter().any(|edge| leads_to(*edge));
        (0..self.spots.len()).filter(|node| has_given(*node)).filter(is_last).collect()
    }

    /// What the nodes of a map's run contributed, in the order of the items.
    pub fn contributions(&self) -> Vec<(String, Json)> {
        let writes = self.spots.iter().filter_map(|spot| spot.rare().writes.as_ref());
        writes.flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}
