//! The risk view: what is safely recorded, what is in flight, and what would run again if the process died now.
//!
//! In: the beginnings and ends of model calls, tool calls, nodes, pieces of code and requests. Out:
//! `{counts: Counts, steps: [Step]}`; steps are only ever added. Start reading at [`Risk::apply`](View::apply);
//! the rules are in `rule.rs`.

mod rule;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::body::flow::{NodeEnd, NodeStart};
use antiphon_event::body::request::Relay;
use antiphon_event::body::tool::ToolCall;
use antiphon_event::{Body, ErrorCode, Event, NodeType, RunId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::edit::Edit;
use crate::request::{Open, Standing};
use crate::{Changes, View, path};

use rule::Fate;
pub use step::{Counts, Effect, State, Step, StepKind, Then};

/// Every step that was begun outside, with what is known about its end.
///
/// A step whose run has ended, or that was begun again, without an end of its own is unknown: nobody will
/// tell. Nodes and tools whose effect nobody knows count as in doubt.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Risk {
    steps: Vec<Step>,
    counts: Counts,
    #[serde_as(as = "Vec<(_, _)>")]
    places: BTreeMap<(StepKind, Option<RunId>, String), usize>,
    /// Steps of each run that have no end; requests are not among them, as they outlive a run that is cut off.
    open: BTreeMap<RunId, BTreeSet<usize>>,
    requests: Open<usize>,
    /// What becomes of calls that were proposed, once they have started.
    #[serde_as(as = "Vec<(_, _)>")]
    proposed: BTreeMap<usize, Fate>,
    /// Model calls of each run, and the one under way.
    models: BTreeMap<RunId, Models>,
    /// The latest attempt at each node.
    #[serde_as(as = "Vec<(_, _)>")]
    nodes: BTreeMap<(RunId, String), usize>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Models {
    made: u64,
    open: Option<usize>,
}

impl Risk {
    /// All steps, in the order they began.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Steps that have begun and not ended, run by run, requests last.
    pub fn in_flight(&self) -> impl Iterator<Item = &Step> {
        let relays = self.places.range((StepKind::Relay, None, String::new())..).map(|(_, place)| *place);
        let open = self.open.values().flatten().copied().chain(relays);
        open.map(|place| &self.steps[place]).filter(|step| step.state == State::InFlight)
    }

    /// How many steps there are of each state, and what would become of those in flight.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn begin(&mut self, step: Step, changes: &mut Changes) -> usize {
        let place = self.steps.len();
        let key = (step.kind, step.run_id.clone().filter(|_| step.kind != StepKind::Relay), step.id.clone());
        self.places.insert(key, place);
        if let Some(run) = step.run_id.as_ref().filter(|_| step.kind != StepKind::Relay) {
            self.open.entry(run.clone()).or_default().insert(place);
        }
        for count in self.counts.of(&step).into_iter().flatten() {
            *count += 1;
        }
        changes.append(path!["steps"], &step);
        changes.set(path!["counts"], &self.counts);
        self.steps.push(step);
        place
    }

    /// Edits a step, and the counts with it.
    fn edit(&mut self, place: usize, changes: &mut Changes, edit: impl FnOnce(&mut Step, &mut Edit<'_>)) {
        let step = &mut self.steps[place];
        let before = self.counts.clone();
        for count in self.counts.of(step).into_iter().flatten() {
            *count -= 1;
        }
        edit(step, &mut Edit::at(changes, path!["steps", place]));
        for count in self.counts.of(step).into_iter().flatten() {
            *count += 1;
        }
        if self.counts != before {
            changes.set(path!["counts"], &self.counts);
        }
    }

    /// Gives a step that is in flight another fate.
    fn judge(&mut self, place: usize, fate: Fate, changes: &mut Changes) {
        self.edit(place, changes, |step, edit| {
            if step.state == State::InFlight {
                edit.put("then", &mut step.then, Some(fate.then()));
                edit.put("why", &mut step.why, Some(fate.why().to_owned()));
            }
        });
    }

    /// Ends a step. An end that is told after nobody expected it any more is recorded too.
    fn end(&mut self, place: usize, state: State, why: Option<&str>, event: &Event, changes: &mut Changes) {
        let step = &self.steps[place];
        let over = step.state == State::Recorded || step.state == state;
        if over {
            return;
        }
        if let Some(open) = step.run_id.as_ref().and_then(|run| self.open.get_mut(run)) {
            open.remove(&place);
        }
        self.proposed.remove(&place);
        self.edit(place, changes, |step, edit| {
            edit.put("state", &mut step.state, state);
            edit.clear("then", &mut step.then);
            edit.clear("why", &mut step.why);
            edit.take("why", &mut step.why, why.map(ToOwned::to_owned));
            edit.take("endedAt", &mut step.ended_at, event.head.at);
        });
    }

    fn find(&self, kind: StepKind, run: Option<&RunId>, id: &str) -> Option<usize> {
        self.places.get(&(kind, run.cloned(), id.to_owned())).copied()
    }

    /// Ends a step by its id; one that was never begun is recorded all the same.
    fn end_by_id(&mut self, kind: StepKind, id: &str, event: &Event, changes: &mut Changes) {
        let run = event.head.run_id.as_ref().filter(|_| kind != StepKind::Relay);
        let place = self.find(kind, run, id).unwrap_or_else(|| {
            let step = Step { run_id: run.cloned(), started_at: None, ..begun(kind, id, event) };
            self.begin(step, changes)
        });
        self.end(place, State::Recorded, None, event, changes);
    }

    /// A model speaks: its call is in flight until its usage is told.
    fn speaks(&mut self, event: &Event, changes: &mut Changes) {
        let Some(run) = &event.head.run_id else {
            return;
        };
        let models = self.models.entry(run.clone()).or_default();
        if models.open.is_some() {
            return;
        }
        models.made += 1;
        let id = models.made.to_string();
        let place = self.begin(judged(begun(StepKind::Model, &id, event), Fate::CutOff), changes);
        self.models.entry(run.clone()).or_default().open = Some(place);
    }

    fn model_ends(&mut self, why: Option<&str>, event: &Event, changes: &mut Changes) {
        let models = event.head.run_id.as_ref().and_then(|run| self.models.get_mut(run));
        if let Some(place) = models.and_then(|models| models.open.take()) {
            self.end(place, State::Recorded, why, event, changes);
        }
    }

    /// A model call is made again: what it said and proposed so far does not count.
    fn retry(&mut self, discards: &[String], event: &Event, changes: &mut Changes) {
        let why = Some("discarded; the model is asked again");
        self.model_ends(why, event, changes);
        for id in discards {
            if let Some(call) = self.find(StepKind::Tool, event.head.run_id.as_ref(), id) {
                self.end(call, State::Recorded, why, event, changes);
            }
        }
    }

    /// A call is proposed at first; when it is told again, it is about to run.
    fn tool_call(&mut self, event: &Event, call: &ToolCall, changes: &mut Changes) {
        let (effect, fate) = rule::tool(event, call);
        if let Some(place) = self.find(StepKind::Tool, event.head.run_id.as_ref(), call.id.as_str()) {
            self.proposed.remove(&place);
            self.edit(place, changes, |step, edit| {
                edit.put("name", &mut step.name, Some(call.name.clone()));
                edit.take("effect", &mut step.effect, effect);
            });
            self.judge(place, fate, changes);
            return;
        }
        let step =
            Step { name: Some(call.name.clone()), effect, ..begun(StepKind::Tool, call.id.as_str(), event) };
        let place = self.begin(judged(step, Fate::Proposed), changes);
        self.proposed.insert(place, fate);
    }

    /// Progress proves that a call has started, if it was told only once or not at all.
    fn tool_runs(&mut self, event: &Event, id: &str, name: &str, changes: &mut Changes) {
        let Some(place) = self.find(StepKind::Tool, event.head.run_id.as_ref(), id) else {
            let step = Step { name: Some(name.to_owned()), ..begun(StepKind::Tool, id, event) };
            self.begin(judged(step, Fate::InDoubt), changes);
            return;
        };
        if let Some(fate) = self.proposed.remove(&place) {
            self.judge(place, fate, changes);
        }
    }

    fn node_start(&mut self, event: &Event, start: &NodeStart, changes: &mut Changes) -> Option<()> {
        let (run, node) = (event.head.run_id.as_ref()?, event.head.node_id.as_ref()?);
        let id = format!("{node}:{}:{}", start.execution, start.attempt);
        let latest = (run.clone(), node.to_string());
        if let Some(before) = self.nodes.get(&latest).copied() {
            if self.steps[before].id == id {
                return None;
            }
            self.end(
                before,
                State::Unknown,
                Some("it was begun again before its end was told"),
                event,
                changes,
            );
        }
        let (effect, fate) = rule::node(event, start.node_type.as_ref().map(NodeType::as_str));
        let step = Step {
            name: start.node_type.as_ref().map(ToString::to_string),
            effect,
            ..begun(StepKind::Node, &id, event)
        };
        let place = self.begin(judged(step, fate), changes);
        self.nodes.insert(latest, place);
        Some(())
    }

    fn node_end(&mut self, event: &Event, end: &NodeEnd, changes: &mut Changes) -> Option<()> {
        let id = format!("{}:{}:{}", event.head.node_id.as_ref()?, end.execution, end.attempt);
        let in_doubt = end.error.as_ref().is_some_and(|error| error.code == Some(ErrorCode::InDoubt));
        match self.find(StepKind::Node, event.head.run_id.as_ref(), &id) {
            Some(place) if in_doubt => {
                self.end(place, State::Unknown, Some("nobody knows whether it was done"), event, changes);
            }
            _ => self.end_by_id(StepKind::Node, &id, event, changes),
        }
        Some(())
    }

    fn interrupt(&mut self, event: &Event, changes: &mut Changes) -> Option<()> {
        let (run, node) = (event.head.run_id.as_ref()?, event.head.node_id.as_ref()?);
        let place = *self.nodes.get(&(run.clone(), node.to_string()))?;
        self.judge(place, Fate::Interrupted, changes);
        Some(())
    }

    fn relay(&mut self, event: &Event, relay: &Relay, changes: &mut Changes) {
        let known = self.find(StepKind::Relay, None, relay.id.as_str());
        let place = known.unwrap_or_else(|| {
            let name = relay.tool.clone().unwrap_or_else(|| relay.kind.to_string());
            let step = Step {
                name: Some(name),
                effect: Some(Effect::Human),
                ..begun(StepKind::Relay, relay.id.as_str(), event)
            };
            self.begin(judged(step, Fate::Open), changes)
        });
        let waits = event.head.run_id.as_ref().is_some_and(|run| self.requests.ask(place, run, relay));
        if waits {
            self.reopen(place, changes);
        }
    }

    /// A request that is asked again waits again.
    fn reopen(&mut self, place: usize, changes: &mut Changes) {
        self.edit(place, changes, |step, edit| {
            edit.put("state", &mut step.state, State::InFlight);
            edit.clear("endedAt", &mut step.ended_at);
        });
        self.judge(place, Fate::Open, changes);
    }

    /// An answer; one to what nobody was seen to ask is recorded all the same.
    fn answered(&mut self, event: &Event, id: &str, changes: &mut Changes) {
        self.end_by_id(StepKind::Relay, id, event, changes);
        if let Some(place) = self.find(StepKind::Relay, None, id).filter(|place| self.requests.answer(*place))
        {
            self.edit(place, changes, |step, edit| edit.clear("why", &mut step.why));
        }
    }

    /// Nobody waits any more for what an event shows to be over.
    fn settle(&mut self, event: &Event, changes: &mut Changes) {
        for (place, standing) in self.requests.settle(event) {
            let why = match standing {
                Standing::AnsweredElsewhere => "its call went on; the answer was not told",
                _ => "its run is over, and nobody waits for an answer",
            };
            self.end(place, State::Recorded, Some(why), event, changes);
        }
    }

    fn code(&mut self, event: &Event, id: &str, changes: &mut Changes) {
        if self.find(StepKind::Code, event.head.run_id.as_ref(), id).is_none() {
            self.begin(judged(begun(StepKind::Code, id, event), Fate::Code), changes);
        }
    }

    /// A run is over: whatever of it has no end will get none.
    fn run_ends(&mut self, event: &Event, changes: &mut Changes) {
        self.model_ends(Some("its run is over, and what it said so far is kept"), event, changes);
        let open = event.head.run_id.as_ref().and_then(|run| self.open.remove(run));
        for place in open.into_iter().flatten() {
            self.end(place, State::Unknown, Some("its run ended before its end was told"), event, changes);
        }
    }
}

fn begun(kind: StepKind, id: &str, event: &Event) -> Step {
    Step {
        kind,
        id: id.to_owned(),
        run_id: event.head.run_id.clone(),
        name: None,
        effect: None,
        state: State::InFlight,
        then: None,
        why: None,
        started_at: event.head.at,
        ended_at: None,
    }
}

fn judged(step: Step, fate: Fate) -> Step {
    Step { then: Some(fate.then()), why: Some(fate.why().to_owned()), ..step }
}

impl View for Risk {
    const NAME: &'static str = "risk";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        self.settle(event, changes);
        match &event.body {
            Body::Text(_) | Body::Reasoning(_) => self.speaks(event, changes),
            Body::Usage(_) => self.model_ends(None, event, changes),
            Body::ModelRetry(retry) => self.retry(&retry.discards, event, changes),
            Body::ToolCall(call) => self.tool_call(event, call, changes),
            Body::ToolProgress(progress) => {
                self.tool_runs(event, progress.tool_call_id.as_str(), &progress.name, changes);
            }
            Body::ToolResult(result) => self.end_by_id(StepKind::Tool, result.id.as_str(), event, changes),
            Body::ReplInput(input) => self.code(event, input.id.as_str(), changes),
            Body::ReplOutput(output) => self.end_by_id(StepKind::Code, output.id.as_str(), event, changes),
            Body::Relay(relay) => self.relay(event, relay, changes),
            Body::RelayResolved(resolved) => self.answered(event, resolved.relay_id.as_str(), changes),
            Body::NodeStart(start) => {
                self.node_start(event, start, changes);
            }
            Body::NodeEnd(end) => {
                self.node_end(event, end, changes);
            }
            Body::NodeRetry(retry) => {
                if let Some(node) = &event.head.node_id {
                    let id = format!("{node}:{}:{}", retry.execution, retry.attempt);
                    self.end_by_id(StepKind::Node, &id, event, changes);
                }
            }
            Body::Interrupt(_) => {
                self.interrupt(event, changes);
            }
            Body::HarnessEnd(_) | Body::RunEnd(_) => self.run_ends(event, changes),
            _ => {}
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { counts: &self.counts, steps: &self.steps }
    }
}

#[derive(Serialize)]
struct Snapshot<'a> {
    counts: &'a Counts,
    steps: &'a [Step],
}
