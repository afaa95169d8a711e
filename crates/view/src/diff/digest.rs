//! [`Digest`]: one history, taken apart into rows that can be matched with those of another.
//!
//! In: events in order. Out: rows of messages, calls, decisions, executions and state, each with its place.
//! Start reading at [`Digest::take`].

mod outcome;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use antiphon_event::body::tool::ToolCall;
use antiphon_event::{Body, Event, FlowNodeId, Json, ParentId, RunId, StreamId};

use super::path::{Path, Paths, ROOT};
use super::row::{Contribution, Decision, Role, Spending};
use crate::Tally;
use crate::calls::{Calls, Gets, Name, Whose};
use crate::request::Requests;
use crate::steps::Steps;

/// How many streams of one message may take turns; one that rests for longer is a new part of it.
const INTERLEAVED_MAX: usize = 8;

/// Where a row belongs: which turn, and which run in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct At {
    pub(super) turn: u32,
    pub(super) path: Path,
}

#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) at: At,
    pub(super) role: Role,
    pub(super) position: u32,
    pub(super) seq: Option<u64>,
    /// The streams it consists of.
    parts: Vec<(Option<StreamId>, String)>,
}

impl Message {
    /// Whether all of it was said in vain.
    pub(super) fn is_discarded(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn text(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) at: At,
    pub(super) name: String,
    pub(super) seq: Option<u64>,
    pub(super) input: Json,
    pub(super) output: Option<Json>,
    pub(super) failed: bool,
    /// Whether it was made in vain.
    discarded: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) at: At,
    pub(super) kind: Decision,
    pub(super) about: String,
    pub(super) position: u32,
    pub(super) answer: String,
}

/// A run or an execution of a node, and how it ended.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) at: At,
    pub(super) node: Option<FlowNodeId>,
    pub(super) execution: u32,
    pub(super) status: String,
    pub(super) output: Option<Json>,
}

#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) at: At,
    pub(super) name: String,
    pub(super) writes: Vec<Contribution>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Digest {
    pub(super) messages: Vec<Message>,
    calls: Vec<Call>,
    pub(super) choices: Vec<Choice>,
    pub(super) works: Vec<Work>,
    pub(super) keys: Vec<Key>,
    pub(super) models: BTreeMap<String, Spending>,
    turn: At,
    runs: HashMap<RunId, Run>,
    /// The places of what may have started a run, by id.
    places: HashMap<Arc<str>, At>,
    /// How many runs each place has.
    taken: HashMap<Path, u32>,
    /// How many rows of a label each place has.
    counts: HashMap<(Path, String), u32>,
    /// The rows of calls, and those of code.
    rows: [Calls; 2],
    /// The results that runs gave of calls, or of code, that they have not made.
    strays: [HashMap<Name, Came>; 2],
    requests: Requests,
    /// The row of each request that has come, by its number.
    choice_rows: HashMap<usize, usize>,
    /// Answers whose request has not come, by its number.
    early: HashMap<usize, String>,
    edge_rows: HashMap<(Path, FlowNodeId, u32), usize>,
    work_rows: HashMap<(Path, Option<FlowNodeId>, u32), usize>,
    key_rows: HashMap<(Path, String), usize>,
}

/// What came of a call: the output, and whether it failed.
type Came = (Json, bool);

/// What has an id that a run gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Callee {
    Call,
    Code,
}

#[derive(Debug, Clone, Default)]
struct Run {
    at: At,
    steps: Steps,
    /// The message and the reasoning of the step under way.
    answer: Option<usize>,
    reasoning: Option<usize>,
}

impl Digest {
    /// The calls that count, each with how many there are of its name at its place, itself among them.
    pub(super) fn calls(&self) -> Vec<(u32, &Call)> {
        let mut counts = HashMap::<(At, &str), u32>::new();
        let calls = self.calls.iter().filter(|call| !call.discarded);
        let placed = calls.map(|call| {
            let count = counts.entry((call.at, &call.name)).or_default();
            *count += 1;
            (*count, call)
        });
        placed.collect()
    }

    /// Takes in one event.
    pub(super) fn take(&mut self, event: &Event, paths: &mut Paths) {
        let at = self.place(event, paths);
        for (request, standing) in self.requests.settle(event) {
            let row = self.choice_rows[&request];
            self.choices[row].answer = standing.name().replace('_', " ");
        }
        match &event.body {
            Body::User(user) => self.user(event, &user.content.to_text(), paths),
            Body::Text(text) => self.content(event, at, Role::Assistant, &text.id, &text.content),
            Body::Reasoning(reasoning) => {
                self.content(event, at, Role::Reasoning, &reasoning.id, &reasoning.content);
            }
            Body::ToolCall(call) => self.call(event, at, call, paths),
            Body::ToolResult(result) => {
                let came = (result.output.clone(), result.is_error == Some(true));
                self.result(Callee::Call, event, &result.id.shared(), came);
            }
            Body::ToolProgress(progress) => {
                self.whose(Callee::Call, event, &progress.tool_call_id.shared());
            }
            Body::ReplInput(input) => {
                let id = input.id.shared();
                let row = self.add_call(event, at, "repl", Json::from(input.code.as_str()), paths, &id);
                self.begun(Callee::Code, event, &id, row);
            }
            Body::ReplProgress(progress) => _ = self.whose(Callee::Code, event, &progress.id.shared()),
            Body::ReplOutput(output) => {
                let text = output.error.as_ref().unwrap_or(&output.stdout);
                let came = (Json::from(text.as_str()), output.error.is_some());
                self.result(Callee::Code, event, &output.id.shared(), came);
            }
            Body::HarnessStart(_) | Body::RunStart(_) => self.work(at, None, 1, "running", None),
            Body::HarnessEnd(end) => {
                let reason = end.reason.as_ref().map_or("ended", |reason| reason.as_str());
                self.work(at, None, 1, reason, None);
            }
            Body::RunEnd(end) => {
                let status = end.status.as_ref().map_or("ended", |status| status.as_str());
                self.work(at, None, 1, status, Some(&end.final_output));
            }
            Body::Usage(usage) => {
                let model = self.models.entry(usage.model.clone().unwrap_or_default()).or_default();
                *model = model.plus(Spending { calls: 1, tally: Tally::of(usage) });
                self.settle(event);
            }
            Body::ModelRetry(retry) => self.discard(event, &retry.discards),
            Body::Relay(relay) => self.relay(event, at, relay),
            Body::RelayResolved(resolved) => self.resolved(event, resolved),
            Body::NodeStart(start) => self.node_start(event, at, start, paths),
            Body::NodeEnd(end) => self.node_end(event, at, end),
            Body::NodeSkipped(skipped) => {
                self.work(at, event.head.node_id.as_ref(), skipped.execution, "SKIPPED", None);
            }
            Body::Handoff(handoff) => {
                let from = handoff.from_node_id.to_string();
                self.choose(at, Decision::Handoff, from, handoff.to_node_id.to_string());
            }
            Body::GuardrailResult(result) => {
                let found =
                    if result.passed { "passed".into() } else { format!("failed: {}", result.action) };
                let node = event.head.node_id.as_ref().map_or("", |node| node.as_str());
                self.choose(at, Decision::Guardrail, format!("{} at {node}", result.guardrail_id), found);
            }
            Body::StatePatched(patch) => self.write(at, &patch.writes, &patch.by),
            // The others are about when and how, not about what.
            _ => {}
        }
    }

    /// The place of the run an event belongs to; by what started it, and by order among its siblings.
    fn place(&mut self, event: &Event, paths: &mut Paths) -> At {
        let Some(id) = event.head.run_id.as_ref().filter(|_| !matches!(event.body, Body::User(_))) else {
            return self.turn;
        };
        if let Some(run) = self.runs.get(id) {
            return run.at;
        }
        let parent = event.head.parent_id.as_ref().map(ParentId::as_str);
        let named = parent.and_then(|parent| self.places.get(parent).copied());
        let run = parent.and_then(|parent| self.runs.get(parent)).map(|run| run.at);
        let above = named.or(run).unwrap_or(self.turn);
        let count = self.taken.entry(above.path).or_default();
        *count += 1;
        let path = match *count {
            1 => above.path,
            count => paths.below(above.path, format!("run#{count}")),
        };
        let at = At { path, ..above };
        self.runs.insert(id.clone(), Run { at, ..Run::default() });
        at
    }

    fn user(&mut self, event: &Event, text: &str, paths: &mut Paths) {
        let turn = self.turn.turn + 1;
        self.turn = At { turn, path: paths.below(ROOT, format!("turn {turn}")) };
        self.add_message(event, self.turn, Role::User, None, text);
        if let Some(run) = &event.head.run_id {
            self.places.insert(format!("{run}:user").into(), self.turn);
        }
    }

    fn content(&mut self, event: &Event, at: At, role: Role, id: &StreamId, piece: &str) {
        self.step(event);
        let run = self.run(event).map(|run| if role == Role::Assistant { run.answer } else { run.reasoning });
        let Some(row) = run.flatten() else {
            let row = self.add_message(event, at, role, Some(id.clone()), piece);
            if let Some(run) = self.run(event) {
                let slot = if role == Role::Assistant { &mut run.answer } else { &mut run.reasoning };
                *slot = Some(row);
            }
            return;
        };
        let parts = &mut self.messages[row].parts;
        match parts.iter_mut().rev().take(INTERLEAVED_MAX).find(|(stream, _)| stream.as_ref() == Some(id)) {
            Some((_, text)) => text.push_str(piece),
            None => parts.push((Some(id.clone()), piece.to_owned())),
        }
    }

    fn add_message(&mut self, event: &Event, at: At, role: Role, id: Option<StreamId>, text: &str) -> usize {
        let position = self.count(at, format!("{role:?}"));
        let parts = vec![(id, text.to_owned())];
        self.messages.push(Message { at, role, position, seq: event.head.seq, parts });
        self.messages.len() - 1
    }

    /// What a model said and called before its call was made again does not count.
    fn discard(&mut self, event: &Event, ids: &[String]) {
        self.discard_calls(event, ids);
        let Some(run) = event.head.run_id.as_ref().and_then(|run| self.runs.get_mut(run)) else {
            return;
        };
        for slot in [&mut run.answer, &mut run.reasoning] {
            let Some(row) = *slot else {
                continue;
            };
            let message = &mut self.messages[row];
            message.parts.retain(|(stream, _)| {
                stream.as_ref().is_none_or(|stream| ids.iter().all(|id| stream != id.as_str()))
            });
            if message.parts.is_empty() {
                *slot = None;
                let said = self.counts.get_mut(&(run.at.path, format!("{:?}", message.role)));
                *said.expect("a message was counted when it was added") -= 1;
            }
        }
    }

    fn discard_calls(&mut self, event: &Event, ids: &[String]) {
        let Some(run) = &event.head.run_id else { return };
        for id in ids.iter().map(|id| Arc::from(id.as_str())) {
            for row in self.rows.iter().filter_map(|rows| rows.own(run, &id)) {
                let call = &mut self.calls[row];
                if !std::mem::replace(&mut call.discarded, true) {
                    let made = self.counts.get_mut(&(call.at.path, format!("call {}", call.name)));
                    *made.expect("a call was counted when it was made") -= 1;
                }
            }
        }
    }

    /// A call that is about to run is the one that was proposed.
    fn call(&mut self, event: &Event, at: At, call: &ToolCall, paths: &mut Paths) {
        let id = call.id.shared();
        let rows = &self.rows[Callee::Call as usize];
        let proposed = event.head.run_id.as_ref().and_then(|run| rows.own(run, &id));
        if let Some(row) = proposed {
            self.calls[row].input = call.input.clone();
            return;
        }
        self.step(event);
        let row = self.add_call(event, at, &call.name, call.input.clone(), paths, &id);
        self.begun(Callee::Call, event, &id, row);
    }

    /// Notes the row of a call, or of code, and gives it what came before it.
    fn begun(&mut self, callee: Callee, event: &Event, id: &Arc<str>, row: usize) {
        let Some(run) = &event.head.run_id else { return };
        let rows = &mut self.rows[callee as usize];
        let gets = rows.gets(run, id);
        rows.begun(run, id, row, &gets);
        let strays = &mut self.strays[callee as usize];
        let came = match gets {
            Gets::Nothing => return,
            Gets::Loan { of } => strays.get(&(of, Arc::clone(id))).cloned(),
            Gets::Own { from } => {
                if let Some(borrower) = from.filter(|borrower| !rows.is_answered(*borrower)) {
                    self.calls[borrower].output = None;
                    self.calls[borrower].failed = false;
                }
                let came = strays.remove(&(run.clone(), Arc::clone(id)));
                if came.is_some() {
                    rows.answered(row);
                }
                came
            }
        };
        if let Some((output, failed)) = came {
            self.calls[row].output = Some(output);
            self.calls[row].failed = failed;
        }
    }

    fn whose(&mut self, callee: Callee, event: &Event, id: &Arc<str>) -> Whose {
        self.rows[callee as usize].whose(event.head.run_id.as_ref(), id)
    }

    fn add_call(
        &mut self,
        event: &Event,
        at: At,
        name: &str,
        input: Json,
        paths: &mut Paths,
        id: &Arc<str>,
    ) -> usize {
        let count = self.count(at, format!("call {name}"));
        let path = paths.below(at.path, format!("{name}#{count}"));
        self.places.insert(self.name(event, id), At { path, ..at });
        let seq = event.head.seq;
        self.calls.push(Call {
            at,
            name: name.to_owned(),
            seq,
            input,
            output: None,
            failed: false,
            discarded: false,
        });
        self.calls.len() - 1
    }

    /// What a call is known by to the runs it starts: its id, or with its run before it if another run has that id.
    fn name(&self, event: &Event, id: &Arc<str>) -> Arc<str> {
        let run = event.head.run_id.as_ref().filter(|_| self.places.contains_key(id));
        let is_own = |run: &RunId| self.rows.iter().any(|rows| rows.own(run, id).is_some());
        match run.filter(|run| !is_own(run)) {
            Some(run) => format!("{run}/{id}").into(),
            None => Arc::clone(id),
        }
    }

    /// Notes what came of a call, or of code; a result of its own run counts for more than one that is lent.
    fn result(&mut self, callee: Callee, event: &Event, id: &Arc<str>, came: Came) {
        let whose = self.whose(callee, event, id);
        let rows = &mut self.rows[callee as usize];
        let row = match whose {
            Whose::Own(row) => {
                rows.answered(row);
                Some(row)
            }
            Whose::Lent(row) => Some(row).filter(|row| !rows.is_answered(*row)),
            Whose::Nobodys => None,
        };
        if let Some(row) = row {
            self.calls[row].output = Some(came.0.clone());
            self.calls[row].failed = came.1;
        }
        if let Some(run) = event.head.run_id.as_ref().filter(|_| !matches!(whose, Whose::Own(_))) {
            self.strays[callee as usize].insert((run.clone(), Arc::clone(id)), came);
        }
        self.settle(event);
    }

    /// How many rows of a label there are now at a place.
    fn count(&mut self, at: At, label: String) -> u32 {
        let count = self.counts.entry((at.path, label)).or_default();
        *count += 1;
        *count
    }

    fn step(&mut self, event: &Event) {
        if let Some(run) = self.run(event)
            && run.steps.begins(event.head.message_id.as_ref())
        {
            run.answer = None;
            run.reasoning = None;
        }
    }

    fn settle(&mut self, event: &Event) {
        if let Some(run) = self.run(event) {
            run.steps.settle();
        }
    }

    fn run(&mut self, event: &Event) -> Option<&mut Run> {
        self.runs.get_mut(event.head.run_id.as_ref()?)
    }
}
