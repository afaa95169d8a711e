//! How a run begins, and how its nodes do.

use std::collections::BTreeMap;

use antiphon_event::body::flow::{LayerStart, NodeStart, Resumed, RunStart, StatePatched};
use antiphon_event::{Body, ErrorCode, Event, Json, JsonKind, StopReason};
use serde_json::Value;

use super::end::{fits, node_error};
use super::{Attempt, Now, Phase, Refusal, Scheduler};
use crate::definition::{NodeIndex, Work};
use crate::function::Failure;
use crate::guard::{Action, Guard, Verdict, cleaned};
use crate::hook::{self, Point};
use crate::moment::Handed;

/// How many nodes start with one decision, which is one append.
const STARTS_MAX: usize = 1000;

/// What became of a value that guards looked at.
pub(super) enum Watched {
    /// They let it through, as it was or without what they took out.
    Passed(Json),
    /// One sends the run another way.
    Rerouted {
        /// The node it sends the run to.
        to: String,
        /// The value without what others took out.
        value: Json,
    },
    /// A person has to decide.
    Blocked {
        /// The guard that stopped it.
        guard: String,
        /// What it found, and what others that stop it did.
        why: String,
        /// The value without what others took out.
        value: Json,
    },
}

/// Layers that open with one decision: mostly one.
#[derive(Default)]
struct Opened {
    last: Option<u32>,
    others: Vec<u32>,
}

impl Opened {
    /// Adds one; whether it was not there.
    fn insert(&mut self, layer: u32) -> bool {
        let new = self.last != Some(layer) && !self.others.contains(&layer);
        if new {
            self.others.extend(self.last.replace(layer));
        }
        new
    }
}

impl Scheduler {
    pub(super) fn begin(
        &self,
        task: Json,
        state: BTreeMap<String, Json>,
        now: Now,
    ) -> Result<Vec<Event>, Refusal> {
        if self.phase != Phase::New {
            return Err(Refusal::Started(self.origin.run.clone()));
        }
        let advice =
            self.flow.settings().hooks.consult(Point::BeforeRun { task: &task }).map_err(Refusal::Hook)?;
        if let hook::Verdict::Cancel(why) | hook::Verdict::Ask(why) = advice.verdict {
            return Err(Refusal::Hook(why));
        }
        let task = advice.input.unwrap_or(task);
        let given = task.size() + state.values().map(Json::size).sum::<usize>();
        fits(given).map_err(|why| Refusal::TooLarge(format!("with the state it is {why}")))?;
        if let Some(schema) = &self.flow.settings().input {
            schema.fits(&task).map_err(|violation| Refusal::Task(violation.to_string()))?;
        }
        self.state.with(&state).map_err(|error| Refusal::State(error.to_string()))?;
        let start = RunStart {
            graph_id: self.flow.name().to_owned(),
            input: Some(task),
            state: (!state.is_empty()).then_some(state),
            definition: self.flow.settings().document.clone().filter(|_| self.origin.path.is_empty()),
            folder: None,
        };
        let mut event = self.event(now, Body::RunStart(Box::new(start)));
        event.head.parent_id.clone_from(&self.origin.parent);
        let mut events = vec![event];
        events.extend(advice.events.into_iter().map(|body| self.event(now, body)));
        Ok(events)
    }

    pub(super) fn resume(&self, now: Now) -> Vec<Event> {
        let resumed =
            (self.phase != Phase::New).then(|| self.event(now, Body::Resumed(Resumed { folder: None })));
        resumed.into_iter().collect()
    }

    pub(super) fn patch(
        &self,
        writes: BTreeMap<String, Json>,
        by: String,
        now: Now,
    ) -> Result<Vec<Event>, Refusal> {
        let folded = self.state.fold(writes.iter().map(|(key, value)| (key.as_str(), value)));
        folded.map_err(|error| Refusal::State(error.to_string()))?;
        Ok(vec![self.event(now, Body::StatePatched(StatePatched { writes, by }))])
    }

    /// Whether what was being started together is not all started, as where a fork is in the middle of it.
    pub(super) fn goes_on_starting(&self, now: Now) -> bool {
        let left = self.flow.settings().limits.max_node_executions.is_none_or(|max| self.starts < max);
        let is_bounded = !left || now.steps == Some(0) || self.room() == 0;
        self.cancel.is_none() && !self.ready.is_empty() && self.follow.len() < STARTS_MAX && !is_bounded
    }

    /// Starts what is ready, as far as the bounds allow; whether anything comes of it.
    pub(super) fn starts(&self, now: Now, events: &mut Vec<Event>) -> bool {
        if !self.may_start() {
            return false;
        }
        let limits = &self.flow.settings().limits;
        let slots = self.room();
        let left = limits.max_node_executions.map_or(u64::MAX, |max| max.saturating_sub(self.starts));
        if left == 0 && slots > 0 {
            events.extend(self.cut_off(StopReason::MaxNodeExecutions, now));
            return true;
        }
        if now.steps == Some(0) && slots > 0 {
            events.extend(self.cut_off(StopReason::BudgetSteps, now));
            return true;
        }
        let left = usize::try_from(left.min(now.steps.unwrap_or(u64::MAX))).unwrap_or(usize::MAX);
        let count = self.ready.len().min(slots).min(left).min(STARTS_MAX);
        events.reserve(count + 1);
        let mut opened = Opened::default();
        for &node in self.ready.iter().take(count) {
            self.open_layer(node, &mut opened, now, events);
            self.start(node, now, events);
        }
        count > 0
    }

    fn open_layer(&self, node: NodeIndex, opened: &mut Opened, now: Now, events: &mut Vec<Event>) {
        let Some(layer) = self.flow.shape().layer[node] else { return };
        let open = self.layers[layer as usize].open && !self.closing.contains(&(layer as usize));
        if !open && opened.insert(layer) {
            events.push(self.event(now, Body::LayerStart(LayerStart { layer })));
        }
    }

    /// The events with which one node starts, is stopped by a guard, or fails before it could.
    fn start(&self, node: NodeIndex, now: Now, events: &mut Vec<Event>) {
        let next = self.next_attempt(node);
        let mut input = match self.written_input(node) {
            Ok(input) => input,
            Err(failure) => return events.push(self.prevented(next, None, failure, now)),
        };
        let waived = self.spots[node].rare().waived;
        if !self.flow.settings().hooks.is_empty() && !waived {
            let given = input.clone().unwrap_or_else(|| self.given(node));
            let point =
                Point::BeforeNode { node: self.flow.id(node), execution: next.execution, input: &given };
            let advice = match self.flow.settings().hooks.consult(point) {
                Ok(advice) => advice,
                Err(why) => {
                    let failure = Failure::of(ErrorCode::Hook, why);
                    return events.push(self.prevented(next, None, failure, now));
                }
            };
            events.extend(advice.events.into_iter().map(|body| self.node_event(now, node, body)));
            input = advice.input.or(input);
            match advice.verdict {
                hook::Verdict::Go => {}
                hook::Verdict::Cancel(why) => {
                    let failure = Failure::of(ErrorCode::Cancelled, why);
                    return events.push(self.prevented(next, input, failure, now));
                }
                hook::Verdict::Ask(prompt) => {
                    let given = input.unwrap_or(given);
                    return events.extend(self.ask_for_hook(next, given, prompt, now));
                }
            }
        }
        self.start_guarded(next, input, now, events);
    }

    /// The same once the hooks are content: the guards on the input have their say.
    pub(super) fn start_guarded(
        &self,
        next: Attempt,
        mut input: Option<Json>,
        now: Now,
        events: &mut Vec<Event>,
    ) {
        let node = next.node;
        if !self.flow.node(node).guards.input.is_empty() && !self.spots[node].rare().waived {
            let given = input.clone().unwrap_or_else(|| self.given(node));
            match self.watch(node, &self.flow.node(node).guards.input, &given, now, events) {
                Watched::Passed(value) if value == given => {}
                Watched::Passed(value) => input = Some(value),
                Watched::Rerouted { to, value } => {
                    let input = if value == given { input } else { Some(value) };
                    let start = NodeStart { reroute: Some(to.into()), ..self.starting(next, input) };
                    return events.push(self.node_event(now, node, Body::NodeStart(start)));
                }
                Watched::Blocked { why, value, .. } => {
                    return events.extend(self.ask_about_input(next, value, &why, now));
                }
            }
        }
        events.push(self.node_start(next, input, now));
    }

    /// What a node gets whose guards a person has waived, where the question does not say it: what they let through.
    pub(super) fn waived_input(&self, next: Attempt) -> Result<Json, Failure> {
        let node = next.node;
        let given = self.written_input(node)?.unwrap_or_else(|| self.given(node));
        let point = Point::BeforeNode { node: self.flow.id(node), execution: next.execution, input: &given };
        let advice = self.flow.settings().hooks.consult(point);
        let advice = advice.map_err(|why| Failure::of(ErrorCode::Hook, why))?;
        let given = advice.input.unwrap_or(given).value();
        let guards = &self.flow.node(node).guards.input;
        let takes_out = |guard: &Guard| guard.action == Action::Sanitize;
        let inspect = |guard: &Guard, value: &Value| self.inspect(node, guard, value);
        Ok(Json::from(cleaned(guards, given, takes_out, inspect)))
    }

    /// What a guard says about what a node gets or gives.
    fn inspect(&self, node: NodeIndex, guard: &Guard, value: &Value) -> Verdict {
        if !self.flow.node(node).work.reads_blocks() {
            return guard.inspect(value);
        }
        guard.inspect_blocks(value, |id| self.flow.index(id).is_some())
    }

    /// The number of the execution and attempt that comes next.
    pub(super) fn next_attempt(&self, node: NodeIndex) -> Attempt {
        let spot = &self.spots[node];
        if spot.again && spot.execution > 0 {
            return Attempt { node, execution: spot.execution, attempt: spot.attempt + 1 };
        }
        Attempt { node, execution: spot.execution + 1, attempt: 1 }
    }

    /// The input, where an expression or a list of items says what it is.
    fn written_input(&self, node: NodeIndex) -> Result<Option<Json>, Failure> {
        let formula = match (&self.flow.node(node).input, &self.flow.node(node).work) {
            (None, Work::Map(map)) => Some(&map.over),
            (formula, _) => formula.as_ref(),
        };
        let Some(formula) = formula else { return Ok(None) };
        let given = self.given(node);
        let input = formula
            .json(&self.moment(node, Handed::This(&given)))
            .map_err(|error| Failure::of(ErrorCode::Expression, format!("its input: {error}")))?;
        if matches!(self.flow.node(node).work, Work::Map(_)) && input.kind() != JsonKind::List {
            let what = format!("`over` must give a list, and gave {}", brief(&input.value()));
            return Err(Failure::of(ErrorCode::Expression, what));
        }
        Ok(Some(input))
    }

    pub(super) fn node_start(&self, next: Attempt, input: Option<Json>, now: Now) -> Event {
        self.attempt_event(now, next, Body::NodeStart(self.starting(next, input)))
    }

    /// The start of an attempt that will not do its work: it has failed already.
    pub(super) fn prevented(&self, next: Attempt, input: Option<Json>, failure: Failure, now: Now) -> Event {
        let error = Some(Box::new(node_error(self.discreet(next.node, failure))));
        let start = NodeStart { error, ..self.starting(next, input) };
        self.node_event(now, next.node, Body::NodeStart(start))
    }

    fn starting(&self, next: Attempt, input: Option<Json>) -> NodeStart {
        NodeStart {
            node_type: Some(self.flow.node(next.node).work.kind()),
            attempt: next.attempt,
            execution: next.execution,
            input,
            error: None,
            reroute: None,
        }
    }

    /// Shows a value to guards and writes down what each found. One that stops it, or sends it another way, does not keep
    /// the others from looking: what they would have taken out must not get through, and what one of them stops a person
    /// decides about.
    pub(super) fn watch(
        &self,
        node: NodeIndex,
        guards: &[Guard],
        value: &Json,
        now: Now,
        events: &mut Vec<Event>,
    ) -> Watched {
        let mut value = value.clone();
        let mut stopped: Option<(String, String)> = None;
        let mut rerouted: Option<String> = None;
        for guard in guards {
            let verdict = self.inspect(node, guard, &value.value());
            let passed = verdict == Verdict::Passed;
            events.push(self.node_event(now, node, guard_result(guard, passed)));
            let Verdict::Violated { message, sanitized } = verdict else { continue };
            match (&guard.action, sanitized) {
                (Action::Warn, _) => {}
                (Action::Sanitize, Some(clean)) => value = Json::from(clean),
                (Action::Reroute(to), _) => {
                    rerouted.get_or_insert_with(|| to.clone());
                }
                (Action::Sanitize, None) | (Action::Block, _) => {
                    let why = format!("guardrail `{}`: {message}", guard.id);
                    stopped = Some(match stopped {
                        None => (guard.id.clone(), why),
                        Some((first, others)) => (first, format!("{others}; {why}")),
                    });
                }
            }
        }
        match (stopped, rerouted) {
            (Some((guard, why)), _) => Watched::Blocked { guard, why, value },
            (None, Some(to)) => Watched::Rerouted { to, value },
            (None, None) => Watched::Passed(value),
        }
    }
}

pub(super) fn guard_result(guard: &Guard, passed: bool) -> Body {
    Body::GuardrailResult(antiphon_event::body::flow::GuardrailResult {
        guardrail_id: guard.id.clone(),
        passed,
        action: guard.action.word().to_owned(),
    })
}

/// The beginning of a value, for a message.
pub(super) fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
