//! The repl view: turns of agents that write code and have it run.
//!
//! In: what such an agent says, its code and what that printed, usage, requests, and the runs its code calls.
//! Out: `{runs: [ReplRun]}`; runs and turns are only ever added. A run is shown from its first piece of code
//! on, or from when it is known that the code of another called it. Start reading at
//! [`Repl::apply`](View::apply).

mod nest;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::body::lifecycle::HarnessStart;
use antiphon_event::body::request::Relay;
use antiphon_event::body::rlm::{ReplInput, ReplOutput, ReplProgress};
use antiphon_event::{Body, EndReason, Event, ParentId, RelayId, ReplId, RunId, StreamName};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::brief::preview;
use crate::edit::Edit;
use crate::forest::Forest;
use crate::lapse::lapse;
use crate::request::Requests;
use crate::{Changes, Tally, View, path};

pub use turn::{Output, Pending, Phase, ReplRun, Turn, TurnRef};

/// Turns of agents that write code and have it run.
///
/// Output goes to the turn whose code it came from, however late it comes. An error ends a turn, never the
/// run: only `harness_end` says how a run ended. Usage is added up, per turn, per run, and with all the runs
/// inside it (to at most 1,024 levels above).
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Repl {
    shown: Vec<ReplRun>,
    tree: Forest,
    places: BTreeMap<RunId, usize>,
    /// Runs that had no code yet.
    hidden: BTreeMap<RunId, ReplRun>,
    /// The turn of each piece of code.
    #[serde_as(as = "Vec<(_, _)>")]
    codes: BTreeMap<(RunId, ReplId), usize>,
    /// Code that was discarded.
    #[serde(default)]
    void: BTreeSet<(RunId, ReplId)>,
    /// The run that last had a piece of code of this name: what a run names as its cause.
    owners: BTreeMap<ReplId, RunId>,
    /// Runs that wait for the code that caused them.
    waiting: BTreeMap<ParentId, Vec<RunId>>,
    requests: Requests,
    /// The turns of the requests that wait, by their number.
    relays: BTreeMap<usize, (TurnRef, RelayId)>,
}

impl Repl {
    /// The runs, in the order they were shown.
    pub fn runs(&self) -> &[ReplRun] {
        &self.shown
    }

    /// All runs depth first, those that code called under the run that called them, each with its depth.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &ReplRun)> {
        self.tree.walk().map(|(depth, place)| (depth, &self.shown[place]))
    }

    /// Edits a run, shown or not.
    fn edit_run(
        &mut self,
        id: &RunId,
        changes: &mut Changes,
        edit: impl FnOnce(&mut ReplRun, &mut Edit<'_>),
    ) {
        let place = self.places.get(id).copied();
        let run = match place {
            Some(place) => &mut self.shown[place],
            None => self.hidden.entry(id.clone()).or_insert_with(|| ReplRun::new(id.clone(), None)),
        };
        let steps = path!["runs", place.unwrap_or_default()];
        edit(run, &mut Edit::if_shown(place.is_some(), changes, steps));
    }

    /// Edits a turn of a run, shown or not, and says how far it got.
    fn edit_turn(
        &mut self,
        id: &RunId,
        turn: usize,
        changes: &mut Changes,
        edit: impl FnOnce(&mut Turn, &mut Edit<'_>),
    ) {
        let place = self.places.get(id).copied();
        let run = match place {
            Some(place) => &mut self.shown[place],
            None => match self.hidden.get_mut(id) {
                Some(hidden) => hidden,
                None => return,
            },
        };
        let steps = path!["runs", place.unwrap_or_default(), "turns", turn];
        let mut said = Edit::if_shown(place.is_some(), changes, steps);
        let turn = &mut run.turns[turn];
        edit(turn, &mut said);
        let phase = turn.reached();
        said.put("phase", &mut turn.phase, phase);
    }

    fn run(&self, id: &RunId) -> Option<&ReplRun> {
        self.places.get(id).map(|place| &self.shown[*place]).or_else(|| self.hidden.get(id))
    }

    fn add_turn(&mut self, id: &RunId, changes: &mut Changes) -> usize {
        let mut place = 0;
        self.edit_run(id, changes, |run, edit| {
            place = run.turns.len();
            edit.push("turns", &mut run.turns, Turn::new(place as u32));
        });
        place
    }

    /// The turn that what is said now belongs to.
    fn open_turn(&mut self, id: &RunId, changes: &mut Changes) -> usize {
        let turns = self.run(id).map(|run| run.turns.as_slice()).unwrap_or_default();
        match turns.last() {
            Some(last) if !last.is_over() => turns.len() - 1,
            _ => self.add_turn(id, changes),
        }
    }

    /// The last turn, over or not.
    fn last_turn(&mut self, id: &RunId, changes: &mut Changes) -> usize {
        let turns = self.run(id).map_or(0, |run| run.turns.len());
        turns.checked_sub(1).unwrap_or_else(|| self.add_turn(id, changes))
    }

    /// The turn of a piece of code; made if the code is not known.
    fn turn_of(&mut self, id: &RunId, code: &ReplId, changes: &mut Changes) -> usize {
        self.show(id, changes);
        if let Some(turn) = self.codes.get(&(id.clone(), code.clone())) {
            return *turn;
        }
        let turn = self.open_turn(id, changes);
        let taken = self.run(id).is_some_and(|run| run.turns[turn].id.is_some());
        let turn = if taken { self.add_turn(id, changes) } else { turn };
        self.codes.insert((id.clone(), code.clone()), turn);
        self.edit_turn(id, turn, changes, |turn, edit| edit.put("id", &mut turn.id, Some(code.clone())));
        self.code_known(id, code, turn, changes);
        turn
    }

    fn say(&mut self, id: &RunId, text: &str, changes: &mut Changes) {
        if self.run(id).is_some_and(ReplRun::answers) {
            self.edit_run(id, changes, |run, edit| edit.write("answer", &mut run.answer, text));
        } else {
            let turn = self.open_turn(id, changes);
            self.edit_turn(id, turn, changes, |turn, edit| edit.write("text", &mut turn.text, text));
        }
    }

    fn think(&mut self, id: &RunId, text: &str, changes: &mut Changes) {
        let answers = self.run(id).is_some_and(ReplRun::answers);
        let turn = if answers { self.last_turn(id, changes) } else { self.open_turn(id, changes) };
        self.edit_turn(id, turn, changes, |turn, edit| edit.write("reasoning", &mut turn.reasoning, text));
    }

    fn input(&mut self, id: &RunId, input: &ReplInput, changes: &mut Changes) {
        let turn = self.turn_of(id, &input.id, changes);
        self.edit_turn(id, turn, changes, |turn, edit| {
            edit.put("code", &mut turn.code, Some(input.code.clone()));
            edit.put_given("iteration", &mut turn.iteration, input.iteration);
        });
    }

    fn progress(&mut self, id: &RunId, progress: &ReplProgress, changes: &mut Changes) {
        let turn = self.turn_of(id, &progress.id, changes);
        self.edit_turn(id, turn, changes, |turn, edit| match progress.stream {
            StreamName::Stderr => edit.write("stderr", &mut turn.stderr, &progress.chunk),
            StreamName::Stdout | StreamName::Other(_) => {
                edit.write("stdout", &mut turn.stdout, &progress.chunk);
            }
        });
    }

    fn output(&mut self, id: &RunId, output: &ReplOutput, changes: &mut Changes) {
        let turn = self.turn_of(id, &output.id, changes);
        let came = Output {
            stdout: output.stdout.clone(),
            error: output.error.clone(),
            duration_ms: output.duration_ms,
            truncated: output.truncated.unwrap_or(false),
            done: output.done,
        };
        self.edit_turn(id, turn, changes, |turn, edit| {
            edit.put("output", &mut turn.output, Some(came));
            edit.put_given("iteration", &mut turn.iteration, output.iteration);
        });
    }

    fn error(&mut self, id: &RunId, message: &str, changes: &mut Changes) {
        let turn = self.open_turn(id, changes);
        self.edit_turn(id, turn, changes, |turn, edit| {
            edit.put("error", &mut turn.error, Some(message.to_owned()));
        });
    }

    /// What the model said so far in this turn does not count, nor does code that is discarded.
    fn retry(&mut self, id: &RunId, discards: &[String], changes: &mut Changes) {
        for code in discards {
            self.discard(id, &ReplId::from(code.as_str()), changes);
        }
        let turn = self.last_turn(id, changes);
        self.edit_turn(id, turn, changes, |turn, edit| {
            if turn.code.is_none() {
                edit.wipe("text", &mut turn.text);
                edit.wipe("reasoning", &mut turn.reasoning);
            }
        });
    }

    /// Empties the turn of a piece of code. What comes of that later goes nowhere.
    fn discard(&mut self, id: &RunId, code: &ReplId, changes: &mut Changes) {
        let key = (id.clone(), code.clone());
        let Some(turn) = self.codes.get(&key).copied() else {
            return;
        };
        let has_code = self.run(id).is_some_and(|run| run.turns[turn].code.is_some());
        if has_code && self.void.insert(key) {
            self.edit_turn(id, turn, changes, Turn::empty);
        }
    }

    /// Whether an event is about code that was discarded.
    fn is_void(&self, id: &RunId, body: &Body) -> bool {
        let code = match body {
            Body::ReplInput(input) => &input.id,
            Body::ReplProgress(progress) => &progress.id,
            Body::ReplOutput(output) => &output.id,
            _ => return false,
        };
        !self.void.is_empty() && self.void.contains(&(id.clone(), code.clone()))
    }

    fn usage(&mut self, id: &RunId, used: Tally, changes: &mut Changes) {
        let turn = self.last_turn(id, changes);
        self.edit_turn(id, turn, changes, |turn, edit| {
            edit.add("usage", &mut turn.usage, used);
        });
        self.edit_run(id, changes, |run, edit| {
            edit.add("own", &mut run.own, used);
            edit.add("total", &mut run.total, used);
        });
        if let Some(place) = self.places.get(id).copied() {
            self.add_above(place, used, changes);
        }
    }

    fn relay(&mut self, id: &RunId, relay: &Relay, changes: &mut Changes) {
        let (request, waits) = self.requests.ask(id, relay);
        // Asked again, it is asked in the turn of now.
        self.no_longer_pending(request, changes);
        if !waits {
            return;
        }
        let turn = self.last_turn(id, changes);
        let prompt = relay.prompt.clone().or_else(|| relay.params.as_ref().and_then(preview));
        let pending = Pending { tool: relay.tool.clone(), prompt };
        if let Some(place) = self.places.get(id) {
            changes.set(path!["runs", *place, "turns", turn, "pending", relay.id.as_str()], &pending);
        }
        self.relays.insert(request, (TurnRef { run_id: id.clone(), turn }, relay.id.clone()));
        self.edit_turn(id, turn, changes, |turn, _| {
            turn.pending.insert(relay.id.clone(), pending);
        });
    }

    fn no_longer_pending(&mut self, request: usize, changes: &mut Changes) {
        let Some((TurnRef { run_id, turn }, relay)) = self.relays.remove(&request) else {
            return;
        };
        if let Some(place) = self.places.get(&run_id) {
            changes.remove(path!["runs", *place, "turns", turn, "pending", relay.as_str()]);
        }
        self.edit_turn(&run_id, turn, changes, |turn, _| {
            turn.pending.remove(&relay);
        });
    }

    fn start(&mut self, id: &RunId, start: &HarnessStart, event: &Event, changes: &mut Changes) {
        let agent = event.head.agent.as_ref();
        let agent_id = start.agent_id.clone().or_else(|| agent.map(|agent| agent.id.clone()));
        let depth = start.depth.or_else(|| agent.map(|agent| agent.depth));
        self.edit_run(id, changes, |run, edit| {
            edit.fill("agentId", &mut run.agent_id, agent_id);
            edit.put_given("depth", &mut run.depth, depth);
            edit.take("maxIterations", &mut run.max_iterations, start.max_iterations);
            edit.put("status", &mut run.status, "running".to_owned());
            edit.clear("endedAt", &mut run.ended_at);
            edit.clear("durationMs", &mut run.duration_ms);
        });
    }

    fn end(&mut self, id: &RunId, reason: Option<&EndReason>, event: &Event, changes: &mut Changes) {
        let status = reason.map_or("done", |reason| reason.as_str()).to_owned();
        self.edit_run(id, changes, |run, edit| {
            edit.put("status", &mut run.status, status);
            edit.take("endedAt", &mut run.ended_at, event.head.at);
            edit.take("durationMs", &mut run.duration_ms, lapse(run.started_at, event.head.at));
        });
    }
}

impl View for Repl {
    const NAME: &'static str = "repl";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        if let Body::RelayResolved(resolved) = &event.body {
            let (request, _) = self.requests.answer(event.head.run_id.as_ref(), &resolved.relay_id);
            return self.no_longer_pending(request, changes);
        }
        for (request, _) in self.requests.settle(event) {
            self.no_longer_pending(request, changes);
        }
        let Some(id) = &event.head.run_id else {
            return;
        };
        self.heard_of(id, event, changes);
        match &event.body {
            body if self.is_void(id, body) => {}
            Body::HarnessStart(start) => self.start(id, start, event, changes),
            Body::Text(text) => self.say(id, &text.content, changes),
            Body::Reasoning(reasoning) => self.think(id, &reasoning.content, changes),
            Body::ReplInput(input) => self.input(id, input, changes),
            Body::ReplProgress(progress) => self.progress(id, progress, changes),
            Body::ReplOutput(output) => self.output(id, output, changes),
            Body::Usage(usage) => self.usage(id, Tally::of(usage), changes),
            Body::Error(error) => self.error(id, &error.message, changes),
            Body::ModelRetry(retry) => self.retry(id, &retry.discards, changes),
            Body::Relay(relay) => self.relay(id, relay, changes),
            Body::HarnessEnd(end) => self.end(id, end.reason.as_ref(), event, changes),
            _ => {}
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { runs: &self.shown }
    }
}

#[derive(Serialize)]
struct Snapshot<'a> {
    runs: &'a [ReplRun],
}
