//! The risk view: what is safely recorded, what is in flight, and what would run again if the process died now.
//!
//! In: the beginnings and ends of model calls, tool calls, nodes, pieces of code and requests. Out:
//! `{counts: Counts, steps: [Step]}`; steps are only ever added. Start reading at [`Risk::apply`](View::apply);
//! the rules are in `rule.rs`.

mod lent;
mod rule;
mod step;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_event::body::flow::{NodeEnd, NodeStart};
use antiphon_event::body::request::Relay;
use antiphon_event::body::tool::ToolCall;
use antiphon_event::{Body, ErrorCode, Event, NodeType, RelayId, RunId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::calls::Whose;
use crate::edit::Edit;
use crate::request::{Requests, Standing};
use crate::{Changes, View, path};

use lent::{Called, Stray};
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
    calls: Called,
    codes: Called,
    /// What steps are by themselves that something is lent to by another run, by their places.
    borrowers: BTreeMap<usize, (Step, Stray)>,
    /// Requests that were only spoken of: their beginning has not been told.
    kept: BTreeSet<usize>,
    /// Steps of each run that have no end; requests are not among them, as they outlive a run that is cut off.
    open: BTreeMap<RunId, BTreeSet<usize>>,
    requests: Requests,
    /// The step of each request, by its number.
    asked: Vec<usize>,
    /// What becomes of calls that were proposed, once they have started.
    #[serde_as(as = "Vec<(_, _)>")]
    proposed: BTreeMap<usize, Fate>,
    /// Model calls of each run, and the one under way.
    models: BTreeMap<RunId, Models>,
    #[serde_as(as = "Vec<(_, _)>")]
    attempts: BTreeMap<(Option<RunId>, String), usize>,
    /// The latest attempt at each node.
    #[serde_as(as = "Vec<(_, _)>")]
    nodes: BTreeMap<(RunId, String), usize>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Models {
    made: u64,
    open: Option<usize>,
    /// Whether the run says itself when it is over.
    has_lifecycle: bool,
}

/// What has an id that a run gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Call,
    Code,
}

impl Work {
    fn step(self) -> StepKind {
        match self {
            Self::Call => StepKind::Tool,
            Self::Code => StepKind::Code,
        }
    }
}

impl Risk {
    /// All steps, in the order they began.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Steps that have begun and not ended, run by run, requests last.
    pub fn in_flight(&self) -> impl Iterator<Item = &Step> {
        let relays = self.requests.numbers_waiting().map(|number| self.asked[number]);
        let open = self.open.values().flatten().copied().chain(relays);
        open.map(|place| &self.steps[place]).filter(|step| step.state == State::InFlight)
    }

    /// How many steps there are of each state, and what would become of those in flight.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn begin(&mut self, step: Step, changes: &mut Changes) -> usize {
        let place = self.steps.len();
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

    /// Edits a step; where another run lends it something, as it is by itself.
    fn edit(&mut self, place: usize, changes: &mut Changes, edit: impl FnOnce(&mut Step, &mut Edit<'_>)) {
        let Some((own, stray)) = self.borrowers.get_mut(&place) else {
            self.write(place, changes, edit);
            return;
        };
        edit(own, &mut Edit::at(&mut Changes::unwanted(), path![]));
        let shown = stray.lent_to(own, self.proposed.get(&place).copied());
        self.write(place, changes, |step, edit| step.become_another(shown, edit));
    }

    /// Edits a step as it is shown, and the counts with it.
    fn write(&mut self, place: usize, changes: &mut Changes, edit: impl FnOnce(&mut Step, &mut Edit<'_>)) {
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

    /// A step by itself, without what is lent to it.
    fn own(&self, place: usize) -> &Step {
        self.borrowers.get(&place).map_or(&self.steps[place], |(own, _)| own)
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
        let step = self.own(place);
        let over = step.state == State::Recorded || step.state == state;
        if over {
            return;
        }
        let run = step.run_id.clone();
        self.close(place, run.as_ref());
        self.proposed.remove(&place);
        self.edit(place, changes, |step, edit| {
            edit.put("state", &mut step.state, state);
            edit.clear("then", &mut step.then);
            edit.clear("why", &mut step.why);
            edit.take("why", &mut step.why, why.map(ToOwned::to_owned));
            edit.take("endedAt", &mut step.ended_at, event.head.at);
        });
    }

    /// Nobody waits for the end of a step of a run any more.
    fn close(&mut self, place: usize, run: Option<&RunId>) {
        if let Some(open) = run.and_then(|run| self.open.get_mut(run)) {
            open.remove(&place);
        }
    }

    fn of(&mut self, kind: Work) -> &mut Called {
        match kind {
            Work::Call => &mut self.calls,
            Work::Code => &mut self.codes,
        }
    }

    /// Ends a call, or code; one that was never begun is recorded all the same.
    fn end_work(&mut self, kind: Work, id: &Arc<str>, event: &Event, changes: &mut Changes) {
        let whose = self.of(kind).steps.whose(event.head.run_id.as_ref(), id);
        if let Whose::Own(place) = whose {
            self.of(kind).steps.answered(place);
            self.end(place, State::Recorded, None, event, changes);
            return;
        }
        let at = event.head.at;
        let step =
            Step { started_at: None, ended_at: at, state: State::Recorded, ..begun(kind.step(), id, event) };
        let ends = |stray: &mut Stray| {
            if !std::mem::replace(&mut stray.ended, true) {
                stray.ended_at = at;
            }
        };
        self.stray(kind, id, whose.call(), ends, step, changes);
    }

    fn attempt(&self, event: &Event, id: &str) -> Option<usize> {
        self.attempts.get(&(event.head.run_id.clone(), id.to_owned())).copied()
    }

    fn begin_attempt(&mut self, id: &str, step: Step, changes: &mut Changes) -> usize {
        let run = step.run_id.clone();
        let place = self.begin(step, changes);
        self.attempts.insert((run, id.to_owned()), place);
        place
    }

    /// Ends an attempt at a node; one that was never begun is recorded all the same.
    fn end_attempt(&mut self, id: &str, event: &Event, changes: &mut Changes) {
        let place = self.attempt(event, id).unwrap_or_else(|| {
            let step = Step { started_at: None, ..begun(StepKind::Node, id, event) };
            self.begin_attempt(id, step, changes)
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

    /// A run that says when it is over may go on after an error; one that is a model call and nothing else is over.
    fn fails(&mut self, event: &Event, changes: &mut Changes) {
        let models = event.head.run_id.as_ref().and_then(|run| self.models.get(run));
        if models.is_some_and(|models| !models.has_lifecycle) {
            self.model_ends(Some("it failed, and what it said so far is kept"), event, changes);
        }
    }

    /// A model call is made again: what it said and proposed so far does not count.
    fn retry(&mut self, discards: &[String], event: &Event, changes: &mut Changes) {
        let why = Some("discarded; the model is asked again");
        self.model_ends(why, event, changes);
        for id in discards {
            let Some(run) = &event.head.run_id else { continue };
            let id = id.as_str().into();
            for place in
                [&self.calls, &self.codes].map(|called| called.steps.own(run, &id)).into_iter().flatten()
            {
                self.end(place, State::Recorded, why, event, changes);
            }
        }
    }

    /// A call is proposed at first; when it is told again, it is about to run.
    fn tool_call(&mut self, event: &Event, call: &ToolCall, changes: &mut Changes) {
        let (effect, fate) = rule::tool(event, call);
        let id = call.id.shared();
        let known = event.head.run_id.as_ref().and_then(|run| self.calls.steps.own(run, &id));
        if let Some(place) = known {
            self.proposed.remove(&place);
            self.edit(place, changes, |step, edit| {
                edit.put("name", &mut step.name, Some(call.name.clone()));
                edit.take("effect", &mut step.effect, effect);
            });
            self.judge(place, fate, changes);
            return;
        }
        let step = Step { name: Some(call.name.clone()), effect, ..begun(StepKind::Tool, &id, event) };
        self.begin_work(Work::Call, &id, judged(step, Fate::Proposed), Some(fate), changes);
    }

    /// Progress proves that a call has started, if it was told only once or not at all.
    fn tool_runs(&mut self, event: &Event, id: &Arc<str>, name: Option<&str>, changes: &mut Changes) {
        let whose = self.calls.steps.whose(event.head.run_id.as_ref(), id);
        if let Whose::Own(place) = whose {
            if let Some(fate) = self.proposed.remove(&place) {
                self.judge(place, fate, changes);
            }
            return;
        }
        let step = Step { name: name.map(ToOwned::to_owned), ..begun(StepKind::Tool, id, event) };
        let runs = |stray: &mut Stray| stray.runs = true;
        self.stray(Work::Call, id, whose.call(), runs, judged(step, Fate::InDoubt), changes);
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
        let place = self.begin_attempt(&id, judged(step, fate), changes);
        self.nodes.insert(latest, place);
        Some(())
    }

    fn node_end(&mut self, event: &Event, end: &NodeEnd, changes: &mut Changes) -> Option<()> {
        let id = format!("{}:{}:{}", event.head.node_id.as_ref()?, end.execution, end.attempt);
        let in_doubt = end.error.as_ref().is_some_and(|error| error.code == Some(ErrorCode::InDoubt));
        match self.attempt(event, &id) {
            Some(place) if in_doubt => {
                self.end(place, State::Unknown, Some("nobody knows whether it was done"), event, changes);
            }
            _ => self.end_attempt(&id, event, changes),
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
        let Some(run) = &event.head.run_id else { return };
        let (number, waits) = self.requests.ask(run, relay);
        let name = Some(relay.tool.clone().unwrap_or_else(|| relay.kind.to_string()));
        let Some(place) = self.asked.get(number).copied() else {
            let step = begun(StepKind::Relay, relay.id.as_str(), event);
            let step = Step { name, effect: Some(Effect::Human), ..step };
            let place = self.begin(judged(step, Fate::Open), changes);
            self.asked.push(place);
            return;
        };
        if self.kept.remove(&place) {
            self.edit(place, changes, |step, edit| {
                edit.put("runId", &mut step.run_id, Some(run.clone()));
                edit.put("name", &mut step.name, name);
                edit.put("effect", &mut step.effect, Some(Effect::Human));
            });
        }
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
    fn answered(&mut self, event: &Event, id: &RelayId, changes: &mut Changes) {
        let (number, counts) = self.requests.answer(event.head.run_id.as_ref(), id);
        let place = self.asked.get(number).copied().unwrap_or_else(|| {
            let step = Step { run_id: None, started_at: None, ..begun(StepKind::Relay, id.as_str(), event) };
            let place = self.begin(step, changes);
            self.kept.insert(place);
            self.asked.push(place);
            place
        });
        self.end(place, State::Recorded, None, event, changes);
        if counts {
            self.edit(place, changes, |step, edit| edit.clear("why", &mut step.why));
        }
    }

    /// Nobody waits any more for what an event shows to be over.
    fn settle(&mut self, event: &Event, changes: &mut Changes) {
        for (number, standing) in self.requests.settle(event) {
            let place = self.asked[number];
            let why = match standing {
                Standing::AnsweredElsewhere => "its call went on; the answer was not told",
                _ => "its run is over, and nobody waits for an answer",
            };
            self.end(place, State::Recorded, Some(why), event, changes);
        }
    }

    fn code(&mut self, event: &Event, id: &Arc<str>, changes: &mut Changes) {
        let known = event.head.run_id.as_ref().and_then(|run| self.codes.steps.own(run, id));
        if known.is_none() {
            let step = judged(begun(StepKind::Code, id, event), Fate::Code);
            self.begin_work(Work::Code, id, step, None, changes);
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
            Body::Error(_) => self.fails(event, changes),
            Body::HarnessStart(_) | Body::RunStart(_) => {
                if let Some(run) = &event.head.run_id {
                    self.models.entry(run.clone()).or_default().has_lifecycle = true;
                }
            }
            Body::ModelRetry(retry) => self.retry(&retry.discards, event, changes),
            Body::ToolCall(call) => self.tool_call(event, call, changes),
            Body::ToolProgress(progress) => {
                self.tool_runs(event, &progress.tool_call_id.shared(), progress.tool(), changes);
            }
            Body::ToolResult(result) => self.end_work(Work::Call, &result.id.shared(), event, changes),
            Body::ReplInput(input) => self.code(event, &input.id.shared(), changes),
            // It says nothing new of code that runs, but of whose the output will be.
            Body::ReplProgress(progress) => {
                self.codes.steps.whose(event.head.run_id.as_ref(), &progress.id.shared());
            }
            Body::ReplOutput(output) => self.end_work(Work::Code, &output.id.shared(), event, changes),
            Body::Relay(relay) => self.relay(event, relay, changes),
            Body::RelayResolved(resolved) => self.answered(event, &resolved.relay_id, changes),
            Body::NodeStart(start) => {
                self.node_start(event, start, changes);
            }
            Body::NodeEnd(end) => {
                self.node_end(event, end, changes);
            }
            Body::NodeRetry(retry) => {
                if let Some(node) = &event.head.node_id {
                    let id = format!("{node}:{}:{}", retry.execution, retry.attempt);
                    self.end_attempt(&id, event, changes);
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
