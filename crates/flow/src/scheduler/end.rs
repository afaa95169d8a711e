//! What comes of an attempt: the node completes, is tried again, is taken over for, or fails.

use std::collections::BTreeMap;

use antiphon_event::body::flow::{
    EdgeDecision, EdgeTransition, GuardrailOverride, NodeEnd, NodeError, NodeRetry, NodeTimeout,
};
use antiphon_event::body::system;
use antiphon_event::{Body, EdgeType, ErrorCode, Event, Json, NodeStatus, StopReason};
use serde_json::{Map, Value, json};

use super::spot::{Prevented, Status, Why};
use super::start::{Watched, guard_result};
use super::{Attempt, Now, Refusal, Scheduler};
use crate::definition::{Human, NodeIndex, OnError, When, Work};
use crate::function::{Bound, Failure, Final, Reply};
use crate::guard::{self, Action};
use crate::hook::{Point, Verdict};
use crate::moment::{Handed, Moment};
use crate::state::{self, Reduce, State};

/// Whether the guards on an output still have to look at it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Guarding {
    Full,
    Waived,
}

/// What a node contributes to the state, by key, and the state with that in it if there is any.
type Written = (Option<BTreeMap<String, Json>>, Option<State>);

impl Scheduler {
    /// Whether this attempt is under way; one that was cut off or repeated is late.
    pub(super) fn current(&self, attempt: Attempt) -> Result<(), Refusal> {
        let spot = &self.spots[attempt.node];
        let rare = spot.rare();
        let working = matches!(spot.status, Status::Executing | Status::Interrupted)
            && rare.delay.is_none()
            && rare.prevented.is_none()
            && rare.deputy.is_none()
            && rare.relay.is_none();
        let same = spot.execution == attempt.execution && spot.attempt == attempt.attempt;
        let late = || Refusal::Late(self.flow.id(attempt.node).clone());
        if working && same { Ok(()) } else { Err(late()) }
    }

    pub(super) fn outcome(
        &self,
        attempt: Attempt,
        result: Result<Reply, Failure>,
        now: Now,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        self.current(attempt)?;
        match result {
            Ok(reply) => self.completed(attempt, reply, Guarding::Full, now, events),
            Err(failure) => self.failed_with(attempt, failure, now, events),
        }
        Ok(())
    }

    pub(super) fn overrun(&self, attempt: Attempt, now: Now) -> Result<Vec<Event>, Refusal> {
        self.current(attempt)?;
        let limit = self.flow.node(attempt.node).timeout.unwrap_or_default();
        let timeout_ms = limit.as_millis() as u64;
        Ok(vec![self.node_event(now, attempt.node, Body::NodeTimeout(NodeTimeout { timeout_ms }))])
    }

    /// What comes of an attempt whose work is not done, or not waited for.
    pub(super) fn without_work(&self, node: NodeIndex, prevented: &Prevented, now: Now) -> Vec<Event> {
        let (attempt, mut events) = (self.attempt(node), Vec::with_capacity(2));
        match prevented {
            Prevented::Rerouted(to) => self.reroute(attempt, to.as_str(), now, &mut events),
            Prevented::Failed(error) => {
                let failure = Failure::from(error);
                match failure.code {
                    // A person has decided it.
                    ErrorCode::Guardrail => {
                        self.gave_up(attempt, failure.for_good(Final::Decided), now, &mut events);
                    }
                    _ => self.failed(attempt, failure, now, &mut events),
                }
            }
        }
        events
    }

    /// A delay is over: the next attempt.
    pub(super) fn again(&self, attempt: Attempt, now: Now) -> Result<Vec<Event>, Refusal> {
        let spot = &self.spots[attempt.node];
        let same = spot.execution == attempt.execution && spot.attempt == attempt.attempt;
        if !same || spot.rare().delay.is_none() || spot.status != Status::Executing {
            return Err(Refusal::Late(self.flow.id(attempt.node).clone()));
        }
        Ok(vec![self.node_start(Attempt { attempt: attempt.attempt + 1, ..attempt }, None, now)])
    }

    /// The work is done: checks what came of it, and decides where it leads.
    pub(super) fn completed(
        &self,
        attempt: Attempt,
        mut reply: Reply,
        guarding: Guarding,
        now: Now,
        events: &mut Vec<Event>,
    ) {
        let node = attempt.node;
        if let Err(failure) = self.fits_schema(node, &reply.output) {
            return self.failed_with(attempt, failure, now, events);
        }
        let guards = &self.flow.node(node).guards.output;
        let mut rerouted = None;
        if !guards.is_empty() && guarding == Guarding::Full {
            match self.watch(node, guards, &reply.output, now, events) {
                Watched::Passed(output) => {
                    // What was taken out may be what made it fit.
                    if output != reply.output
                        && let Err(failure) = self.fits_schema(node, &output)
                    {
                        return self.failed(attempt, failure, now, events);
                    }
                    reply.output = output;
                }
                Watched::Rerouted { to, value } => (rerouted, reply.output) = (Some(to), value),
                Watched::Blocked { guard, why, value } => {
                    let Some(output) = self.overruled(node, &reply.output, &why) else {
                        reply.output = value;
                        return events.extend(self.ask_about_output(attempt, reply, &why, now));
                    };
                    let overruled = GuardrailOverride { guardrail_id: guard, reason: why };
                    events.push(self.node_event(now, node, Body::GuardrailOverride(overruled)));
                    reply.output = output;
                }
            }
        }
        let (writes, state) = match self.writes(node, &mut reply) {
            Ok(written) => written,
            Err(failure) => return self.failed_after(attempt, failure, now, events),
        };
        let contributed: usize = writes.iter().flatten().map(|(_, value)| value.size()).sum();
        if let Err(why) = fits(reply.output.size() + contributed) {
            let failure = Failure::of(ErrorCode::TooLarge, format!("what it gives is {why}"));
            return self.failed(attempt, failure, now, events);
        }
        let mut extra = Vec::new();
        match self.consequences(attempt, &reply, state.as_ref(), rerouted.as_deref(), &mut extra) {
            Ok(edges) => {
                events.extend(extra.into_iter().map(|body| self.node_event(now, node, body)));
                let end = NodeEnd {
                    status: NodeStatus::Completed,
                    execution: attempt.execution,
                    attempt: attempt.attempt,
                    output: reply.output,
                    duration_ms: 0,
                    error: None,
                    telemetry: reply.telemetry,
                    writes,
                    edges,
                };
                self.node_end(attempt, Box::new(end), now, events);
            }
            Err(failure) => self.failed_after(attempt, failure, now, events),
        }
    }

    fn fits_schema(&self, node: NodeIndex, output: &Json) -> Result<(), Failure> {
        let Some(schema) = &self.flow.node(node).output else { return Ok(()) };
        let fits = schema.fits(output).map(|_| ());
        fits.map_err(|violation| {
            Failure::of(ErrorCode::Schema, format!("its output does not fit: {violation}"))
        })
    }

    /// What follows from an output: hooks are heard, which may add something, and edges are decided.
    fn consequences(
        &self,
        attempt: Attempt,
        reply: &Reply,
        state: Option<&State>,
        rerouted: Option<&str>,
        extra: &mut Vec<Body>,
    ) -> Result<Vec<EdgeDecision>, Failure> {
        let node = attempt.node;
        let hooks = &self.flow.settings().hooks;
        if !hooks.is_empty() {
            let point = Point::AfterNode {
                node: self.flow.id(node),
                execution: attempt.execution,
                output: &reply.output,
            };
            let advice = hooks.consult(point).map_err(|why| Failure::of(ErrorCode::Hook, why))?;
            if let Verdict::Cancel(why) | Verdict::Ask(why) = advice.verdict {
                return Err(Failure::of(ErrorCode::Cancelled, why));
            }
            extra.extend(advice.events);
        }
        let moment = Moment {
            state: state.unwrap_or(&self.state),
            output: Some(&reply.output),
            ..self.moment(node, Handed::To(node))
        };
        self.edges(node, reply, rerouted, &moment, extra)
    }

    /// What a node contributes to the state, and the state with that in it if somebody looks at it.
    fn writes(&self, node: NodeIndex, reply: &mut Reply) -> Result<Written, Failure> {
        let set = &self.flow.node(node).set;
        if set.is_empty() && reply.writes.is_empty() {
            return Ok((None, None));
        }
        let unfit = |error: state::Error| Failure::of(ErrorCode::Schema, error.to_string());
        let mut contributions = self.together(std::mem::take(&mut reply.writes)).map_err(unfit)?;
        for (key, formula) in set {
            let moment = Moment { output: Some(&reply.output), ..self.moment(node, Handed::To(node)) };
            let value = formula
                .json(&moment)
                .map_err(|error| Failure::of(ErrorCode::Expression, format!("`set.{key}`: {error}")))?;
            match contributions.iter_mut().find(|(known, _)| known == key) {
                None => contributions.push((key.clone(), value)),
                Some((_, before)) => {
                    *before = self.as_one(key, vec![before.clone(), value]).map_err(unfit)?;
                }
            }
        }
        let state = self.state_after(node, &contributions).map_err(unfit)?;
        Ok((Some(contributions.into_iter().collect()), state))
    }

    /// The state that the conditions of the edges see, if any looks at it; contributions have to fit in any case.
    fn state_after(
        &self,
        node: NodeIndex,
        contributions: &[(String, Json)],
    ) -> Result<Option<State>, state::Error> {
        // In the run of a map the keys are those of the flow around it, which folds them when the map ends.
        if self.origin.item {
            return Ok(None);
        }
        let looks = |edge: &usize| match &self.flow.edges()[*edge].when {
            When::If(condition) => condition.sees_state(),
            When::Always | When::Default | When::Reroute => false,
        };
        if !self.flow.shape().leaving[node].iter().any(looks) {
            return self.state.check(contributions).map(|()| None);
        }
        let values = contributions.iter().map(|(key, value)| (key.as_str(), value));
        self.state.fold(values).map(Some)
    }

    /// Several contributions to one key become one, in order, as the key's reducer would fold them.
    fn together(&self, writes: Vec<(String, Json)>) -> Result<Vec<(String, Json)>, state::Error> {
        let mut by_key: Vec<(String, Vec<Json>)> =
            Vec::with_capacity(writes.len().min(self.state.keys().count()));
        for (key, value) in writes {
            match by_key.iter_mut().find(|(known, _)| *known == key) {
                None => by_key.push((key, vec![value])),
                Some((_, before)) => before.push(value),
            }
        }
        let one = |(key, values): (String, Vec<Json>)| {
            let value = self.as_one(&key, values)?;
            Ok((key, value))
        };
        by_key.into_iter().map(one).collect()
    }

    /// Contributions to one key as one.
    fn as_one(&self, key: &str, contributions: Vec<Json>) -> Result<Json, state::Error> {
        let reduce = self.state.key(key).map_or(Reduce::Last, |key| key.reduce);
        let one = reduce.together(contributions);
        one.map_err(|misfit| state::Error::Misfit { key: key.to_owned(), misfit })
    }

    /// Decides every edge that leaves the node.
    fn edges(
        &self,
        node: NodeIndex,
        reply: &Reply,
        rerouted: Option<&str>,
        moment: &Moment<'_>,
        extra: &mut Vec<Body>,
    ) -> Result<Vec<EdgeDecision>, Failure> {
        let chosen = match &self.flow.node(node).work {
            Work::Router(_) if rerouted.is_none() => Some(self.chosen(node, &reply.output)?),
            _ => None,
        };
        let leaving = &self.flow.shape().leaving[node];
        let mut decisions = Vec::with_capacity(leaving.len());
        let (mut any, mut defaults) = (false, false);
        for &edge in leaving {
            let definition = &self.flow.edges()[edge];
            let live = match (rerouted, &definition.when, chosen) {
                (Some(to), When::Reroute, _) => definition.to == to,
                (Some(_), ..) | (None, When::Reroute | When::Default, _) => false,
                (None, When::Always, Some(chosen)) => self.flow.shape().ends[edge].1 == chosen,
                (None, When::Always, None) => true,
                (None, When::If(condition), _) => condition.truth(moment).map_err(|error| {
                    let what = format!("the condition of the edge to `{}`: {error}", definition.to);
                    Failure::of(ErrorCode::Expression, what)
                })?,
            };
            any |= live;
            defaults |= matches!(definition.when, When::Default);
            let to = self.flow.id(self.flow.shape().ends[edge].1).clone();
            decisions.push(EdgeDecision { to, live, extra: None });
        }
        if !defaults && self.flow.settings().hooks.is_empty() {
            return Ok(decisions);
        }
        for (&edge, decision) in leaving.iter().zip(&mut decisions) {
            let by_default = matches!(self.flow.edges()[edge].when, When::Default) && rerouted.is_none();
            let live = decision.live || (by_default && !any);
            decision.live = self.hear_about_edge(node, &decision.to, live, extra)?;
        }
        Ok(decisions)
    }

    fn hear_about_edge(
        &self,
        node: NodeIndex,
        to: &antiphon_event::FlowNodeId,
        live: bool,
        extra: &mut Vec<Body>,
    ) -> Result<bool, Failure> {
        let hooks = &self.flow.settings().hooks;
        if hooks.is_empty() {
            return Ok(live);
        }
        let from = self.flow.id(node);
        let hook = |why: String| Failure::of(ErrorCode::Hook, why);
        let before = hooks.consult(Point::BeforeEdge { from, to }).map_err(hook)?;
        let live = live && before.verdict == Verdict::Go;
        let after = hooks.consult(Point::AfterEdge { from, to, live }).map_err(hook)?;
        extra.extend(before.events.into_iter().chain(after.events));
        Ok(live)
    }

    /// The node a router sends the run to.
    fn chosen(&self, node: NodeIndex, output: &Json) -> Result<NodeIndex, Failure> {
        let wanted = output.to_text();
        let shape = self.flow.shape();
        let mut targets = shape.leaving[node].iter().map(|edge| shape.ends[*edge].1);
        targets.find(|target| self.flow.id(*target).as_str() == wanted).ok_or_else(|| {
            let ways: Vec<String> = shape.leaving[node]
                .iter()
                .map(|edge| format!("`{}`", self.flow.id(shape.ends[*edge].1)))
                .collect();
            let what = format!("the router chose `{wanted}`, and its edges lead to {}", ways.join(", "));
            Failure::of(ErrorCode::Expression, what)
        })
    }

    /// Writes the end of an execution down, with the edges that are taken at once.
    fn node_end(&self, attempt: Attempt, mut end: Box<NodeEnd>, now: Now, events: &mut Vec<Event>) {
        let started = self.spots[attempt.node].started.unwrap_or(now.at);
        end.duration_ms = now.at.millis().saturating_sub(started.millis()).max(0) as u64;
        let shape = self.flow.shape();
        let place = events.len();
        events.reserve(1 + end.edges.len());
        events.push(self.attempt_event(now, attempt, Body::NodeEnd(end)));
        for (position, &edge) in shape.leaving[attempt.node].iter().enumerate() {
            let Body::NodeEnd(end) = &events[place].body else { unreachable!("it was just put there") };
            let is_taken = !shape.back[edge] || shape.hands_over;
            if end.edges.get(position).is_some_and(|decision| decision.live) && is_taken {
                events.push(self.transition(edge, now));
            }
        }
    }

    /// A guard stops an input and sends the run another way: the work is not done.
    fn reroute(&self, attempt: Attempt, to: &str, now: Now, events: &mut Vec<Event>) {
        let lets_through = matches!(self.flow.node(attempt.node).work, Work::Guardrail);
        let status = if lets_through { NodeStatus::Completed } else { NodeStatus::Skipped };
        let leaving = self.flow.shape().leaving[attempt.node].iter();
        let decide = |edge: &usize| {
            let definition = &self.flow.edges()[*edge];
            let live = matches!(definition.when, When::Reroute) && definition.to == to;
            let to = self.flow.id(self.flow.shape().ends[*edge].1).clone();
            EdgeDecision { to, live, extra: None }
        };
        let mut end = Self::end_of(attempt, status, None);
        end.output = self.input(attempt.node);
        end.edges = leaving.map(decide).collect();
        self.node_end(attempt, Box::new(end), now, events);
    }

    /// The work failed, and says why in words of its own: guards on its output that may show to nobody what they find look
    /// at these, too.
    pub(super) fn failed_with(&self, attempt: Attempt, failure: Failure, now: Now, events: &mut Vec<Event>) {
        let node = attempt.node;
        let said = Value::from(&*failure.message);
        for guard in self.flow.node(node).guards.output.iter().filter(|guard| guard.check.withholds()) {
            let passed = guard.inspect(&said) == guard::Verdict::Passed;
            events.push(self.node_event(now, node, guard_result(guard, passed)));
        }
        self.failed(attempt, failure, now, events);
    }

    /// A failure without what guards on the output of its node may show to nobody.
    pub(super) fn discreet(&self, node: NodeIndex, failure: Failure) -> Failure {
        match self.withheld(node, || Value::from(&*failure.message)) {
            Some(Value::String(message)) => Failure { message, ..failure },
            _ => failure,
        }
    }

    /// A value without what guards on the output of a node may show to nobody; nothing if that is not in it.
    pub(super) fn withheld(&self, node: NodeIndex, value: impl FnOnce() -> Value) -> Option<Value> {
        let guards = self.flow.node(node).guards.output.iter();
        let mut guards =
            guards.filter(|guard| guard.check.withholds() && guard.action != Action::Warn).peekable();
        // Most nodes have none.
        guards.peek()?;
        let value = value();
        guards.fold(None, |clean, guard| match guard.inspect(clean.as_ref().unwrap_or(&value)) {
            guard::Verdict::Violated { sanitized: Some(cleaner), .. } => Some(cleaner),
            _ => clean,
        })
    }

    /// An attempt failed: try again, let another node take over, isolate, or fail.
    pub(super) fn failed(&self, attempt: Attempt, failure: Failure, now: Now, events: &mut Vec<Event>) {
        let failure = self.discreet(attempt.node, failure);
        if failure.code == ErrorCode::Cancelled {
            return events.push(self.cancelled(attempt, failure.message, now));
        }
        if failure.bound.is_some() {
            // The run ends with it, so nothing more can come of it.
            return self.lost(attempt, failure, now, events);
        }
        if let Some(delay) = self.retry_delay(attempt, &failure, now) {
            let retry = NodeRetry {
                execution: attempt.execution,
                attempt: attempt.attempt,
                delay_ms: delay,
                error: node_error(failure),
            };
            return events.push(self.node_event(now, attempt.node, Body::NodeRetry(Box::new(retry))));
        }
        let failure =
            if self.in_doubt(attempt, &failure) { failure.for_good(Final::InDoubt) } else { failure };
        self.gave_up(attempt, failure, now, events);
    }

    /// The work is done and what it gave is well, but not what follows from it: that is no reason to do it again if it
    /// changes something.
    fn failed_after(&self, attempt: Attempt, failure: Failure, now: Now, events: &mut Vec<Event>) {
        if failure.code == ErrorCode::Cancelled || self.may_repeat(attempt, &failure) {
            return self.failed(attempt, failure, now, events);
        }
        self.gave_up(attempt, failure.for_good(Final::InDoubt), now, events);
    }

    /// Whether an attempt may have done its work although it failed, and may not be repeated unasked.
    fn in_doubt(&self, attempt: Attempt, failure: &Failure) -> bool {
        failure.finality.is_some()
            || (failure.code == ErrorCode::Timeout && !self.may_repeat(attempt, failure))
    }

    /// Whether an attempt that may have done its work may be repeated unasked.
    fn may_repeat(&self, attempt: Attempt, failure: &Failure) -> bool {
        let node = self.flow.node(attempt.node);
        !node.writes() || node.retry.as_ref().is_some_and(|retry| retry.names(failure.code.as_str()))
    }

    /// There are no more attempts, or somebody decided that: another node takes over if there is one.
    pub(super) fn gave_up(&self, attempt: Attempt, failure: Failure, now: Now, events: &mut Vec<Event>) {
        let failure = self.discreet(attempt.node, failure);
        if let Some(deputy) = self.spots[attempt.node].rare().deputy {
            let message =
                format!("what its fallback `{}` gave will not do: {}", self.flow.id(deputy), failure.message);
            return self.lost(attempt, Failure { message, ..failure }, now, events);
        }
        match self.flow.shape().fallback(attempt.node).filter(|_| self.may_start()) {
            Some(deputy) => self.call_deputy(attempt.node, deputy, failure, now, events),
            None => self.lost(attempt, failure, now, events),
        }
    }

    /// Nobody takes over: the node fails, or its failure is isolated.
    fn lost(&self, attempt: Attempt, failure: Failure, now: Now, events: &mut Vec<Event>) {
        match self.flow.node(attempt.node).on_error {
            OnError::Isolate => self.isolated(attempt, failure, now, events),
            OnError::Fail => self.fails(attempt, failure, now, events),
        }
    }

    fn fails(&self, attempt: Attempt, failure: Failure, now: Now, events: &mut Vec<Event>) {
        let mut end = Self::end_of(attempt, NodeStatus::Failed, Some(node_error(failure)));
        end.output = self.partial_or_null(attempt);
        self.node_end(attempt, Box::new(end), now, events);
    }

    /// How long to wait before the next attempt, if there is to be one.
    fn retry_delay(&self, attempt: Attempt, failure: &Failure, now: Now) -> Option<u64> {
        let node = &self.flow.node(attempt.node);
        let is_done = self.spots[attempt.node].rare().deputy.is_some();
        let retry = node.retry.as_ref().filter(|_| self.may_start() && !is_done)?;
        let tries = self.spots[attempt.node].rare().retries + 1;
        if self.in_doubt(attempt, failure) || !retry.allows(tries, failure.code.as_str()) {
            return None;
        }
        Some(retry.delay(tries, now.dice).as_millis() as u64)
    }

    fn call_deputy(
        &self,
        node: NodeIndex,
        deputy: NodeIndex,
        failure: Failure,
        now: Now,
        events: &mut Vec<Event>,
    ) {
        let (limit, limit_around) = Bound::write(failure.bound.as_deref());
        let error = system::Error {
            message: failure.message.clone(),
            code: Some(failure.code.to_string()),
            retryable: Final::write(failure.finality).0,
            limit,
            limit_around,
        };
        let transition = EdgeTransition {
            source_id: self.flow.id(node).clone(),
            target_id: self.flow.id(deputy).clone(),
            edge_type: EdgeType::Fallback,
            condition: None,
            error: Some(Box::new(node_error(failure))),
        };
        // First, as it is all that what follows needs.
        events.push(self.event(now, Body::EdgeTransition(transition)));
        events.push(self.node_event(now, node, Body::Error(error)));
    }

    /// The node that took over has ended.
    pub(super) fn adopt(&self, node: NodeIndex, deputy: NodeIndex, now: Now) -> Vec<Event> {
        let attempt = self.attempt(node);
        let mut events = Vec::new();
        let helped = self.spots[deputy].status == Status::Completed;
        if let Some(output) = self.spots[deputy].output.as_ref().filter(|_| helped) {
            let reply = Reply::new(output.clone());
            self.completed(attempt, reply, Guarding::Full, now, &mut events);
            return events;
        }
        let error = self.spots[node].rare().error.as_deref();
        let failure = error.map_or_else(|| Failure::new("it failed"), Failure::from);
        let message =
            format!("{}; and its fallback `{}` did not help", failure.message, self.flow.id(deputy));
        let finality =
            failure.finality.or_else(|| self.spots[deputy].rare().error.as_deref().and_then(Final::read));
        self.lost(attempt, Failure { message, bound: None, finality, ..failure }, now, &mut events);
        events
    }

    /// The failure counts as completed. It is not what the work gives, so that guards say nothing about its form.
    fn isolated(&self, attempt: Attempt, failure: Failure, now: Now, events: &mut Vec<Event>) {
        let output = json!({"error": {"code": failure.code.as_str(), "message": failure.message}});
        let mut reply = Reply::new(output);
        // What it contributes may need the output that there is not; then it contributes nothing.
        let (writes, state) = self.writes(attempt.node, &mut reply).unwrap_or_default();
        let mut extra = Vec::new();
        let end = match self.consequences(attempt, &reply, state.as_ref(), None, &mut extra) {
            Ok(edges) => {
                events.extend(extra.into_iter().map(|body| self.node_event(now, attempt.node, body)));
                let end = Self::end_of(attempt, NodeStatus::Completed, Some(node_error(failure)));
                NodeEnd { output: reply.output, writes, edges, ..end }
            }
            Err(again) => return self.fails(attempt, not_isolated(failure, &again), now, events),
        };
        self.node_end(attempt, Box::new(end), now, events);
    }

    pub(super) fn cancelled(&self, attempt: Attempt, why: String, now: Now) -> Event {
        self.cut_short(attempt, why, None, now)
    }

    /// The same, if a bound of the run is why.
    pub(super) fn cut_short(
        &self,
        attempt: Attempt,
        why: String,
        limit: Option<StopReason>,
        now: Now,
    ) -> Event {
        let failure = Failure::of(ErrorCode::Cancelled, why);
        let failure =
            if self.may_have_written(attempt.node) { failure.for_good(Final::InDoubt) } else { failure };
        let error = NodeError { limit, ..node_error(failure) };
        let mut end = Self::end_of(attempt, NodeStatus::Cancelled, Some(error));
        end.output = self.partial_or_null(attempt);
        let started = self.spots[attempt.node].started.unwrap_or(now.at);
        end.duration_ms = now.at.millis().saturating_sub(started.millis()).max(0) as u64;
        self.attempt_event(now, attempt, Body::NodeEnd(Box::new(end)))
    }

    /// Whether what is cut off may have done what is not to be done twice: it writes and is at work, or that is what a person
    /// is asked about.
    fn may_have_written(&self, node: NodeIndex) -> bool {
        let spot = &self.spots[node];
        let asked = spot.rare().relay.as_ref().map(|relay| Why::of(relay.id.as_str()));
        let is_at_work = match asked {
            Some(why) => matches!(why, Some(Why::InDoubt | Why::GuardOutput)),
            None => !spot.rests() && spot.rare().prevented.is_none() && !self.works_inside(node),
        };
        is_at_work && self.flow.node(node).writes()
    }

    /// What the run inside an attempt has come to, if it has ended in vain.
    fn partial_or_null(&self, attempt: Attempt) -> Json {
        let partial = self.partial(attempt.node).filter(|_| self.attempt(attempt.node) == attempt);
        partial.cloned().unwrap_or_else(|| Json::from(Value::Null))
    }

    fn end_of(attempt: Attempt, status: NodeStatus, error: Option<NodeError>) -> NodeEnd {
        NodeEnd {
            status,
            execution: attempt.execution,
            attempt: attempt.attempt,
            output: Json::from(Value::Null),
            duration_ms: 0,
            error: error.map(Box::new),
            telemetry: None,
            writes: None,
            edges: Vec::new(),
        }
    }

    /// What a guard makes of a yes that no person gave.
    fn overruled(&self, node: NodeIndex, output: &Json, why: &str) -> Option<Json> {
        let Work::Human(Human { .. }) = &self.flow.node(node).work else { return None };
        let value = output.value();
        let automated = matches!(value["by"].as_str(), Some("auto" | "timeout"));
        (automated && value["approved"] == true)
            .then(|| Json::from(json!({"approved": false, "reason": why, "by": "guardrail"})))
    }
}

/// How many bytes of JSON a node or a run may give: an event that is larger can be neither kept nor sent.
const OUTPUT_MAX: usize = 12 * 1024 * 1024;

/// Whether something of this size can be given; why not otherwise.
pub(super) fn fits(bytes: usize) -> Result<(), String> {
    let why = || {
        let max = OUTPUT_MAX;
        format!("{bytes} bytes of JSON, and {max} is the most: put it into a file and give its name")
    };
    if bytes > OUTPUT_MAX { Err(why()) } else { Ok(()) }
}

/// A failure that could not be isolated, as what follows from it fails, too: it stays what it was, and says so.
fn not_isolated(failure: Failure, again: &Failure) -> Failure {
    if again.message == failure.message {
        return failure;
    }
    let message = format!("{}; and isolated it failed again: {}", failure.message, again.message);
    Failure { message, ..failure }
}

pub(super) fn node_error(failure: Failure) -> NodeError {
    let (limit, limit_around) = Bound::write(failure.bound.as_deref());
    let (retryable, decided) = Final::write(failure.finality);
    NodeError {
        code: Some(failure.code),
        message: failure.message,
        limit,
        limit_around,
        retryable,
        decided,
        extra: Map::new(),
    }
}
