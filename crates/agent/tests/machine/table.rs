//! The door to the agent loop for tables: an agent, what happens to it, and what it does about that, a line each.
//!
//! Up to `start` the lines say what the agent is: `max 3`, `on_limit ask`, `tool bash write {schema}`, `rule deny bash`,
//! `output {schema}`, `harness rlm`, `limit max_calls 2`, `retries 1`, `compact 100 keep 2`, `system …`, `task …`, `depth 2`, and
//! `user …` and `agent …` for a conversation that it joins. Then come inputs, see [`Input`] and [`read::input`];
//! `see` shows what the model would be asked, `worked` how long it was at work, `time 5000` lets milliseconds pass, and
//! `user …` and `event {…}` are what others do meanwhile. After every line the laws are checked.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use antiphon_agent::machine::{Effect, Input, Next, Now, Open, Origin, World};
use antiphon_agent::permission::Subject;
use antiphon_agent::{Agent, Outfit, Said};
use antiphon_event::{Body, CallId, Event, Json, ReplId, Timestamp};
use antiphon_view::messages::Scope;
use antiphon_view::{Changes, Messages, Projected, View};
use expect_test::Expect;

use crate::read::{self, Setup};
use crate::write;

/// Takes the steps of a script and compares what the machine did after each.
pub(crate) fn check(script: &str, expect: Expect) {
    let lines: Vec<&str> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let begin = lines.iter().position(|line| *line == "start").expect("a script says `start`");
    let mut table = Table::new(Setup::read(&lines[..begin]));
    let mut shown = String::new();
    for line in &lines[begin..] {
        writeln!(shown, "{line}").expect("text takes it");
        for did in table.step(line) {
            writeln!(shown, "  {did}").expect("text takes it");
        }
    }
    expect.assert_eq(&shown);
}

/// A world in which calls touch nothing but the commands they name.
struct Commands;

impl World for Commands {
    fn subjects(&self, _tool: &str, input: &Json) -> Vec<Subject> {
        let command = input.value()["command"].as_str().map(str::to_owned);
        command.map(Subject::Command).into_iter().collect()
    }
}

/// A machine as a driver has it.
pub(crate) struct Table {
    setup: Setup,
    outfit: Arc<Outfit>,
    pub(crate) agent: Agent,
    pub(crate) history: Vec<Event>,
    time: i64,
    /// How long the history was after each append.
    pub(crate) appends: Vec<usize>,
    /// What the driver was told to do and has no outcome of.
    calls: BTreeSet<CallId>,
    is_asking: bool,
    code: Option<ReplId>,
}

impl Table {
    pub(crate) fn new(setup: Setup) -> Self {
        let outfit = Arc::new(setup.outfit());
        let agent = machine(&setup, &outfit);
        Self {
            setup,
            outfit,
            agent,
            history: Vec::new(),
            time: 0,
            appends: Vec::new(),
            calls: BTreeSet::new(),
            is_asking: false,
            code: None,
        }
    }

    /// The same machine as another process finds it that has only the beginning of the journal.
    pub(crate) fn after_crash(&self, appends: usize) -> Self {
        let mut again = Self::new(self.setup.clone());
        let kept = self.appends[..appends].last().copied().unwrap_or_default();
        for event in &self.history[..kept] {
            again.apply(event.clone());
        }
        again.time = self.time;
        again
    }

    fn now(&self) -> Now<'static> {
        Now { at: Timestamp::from_millis(self.time).expect("a moment"), dice: 0.0, world: &Commands }
    }

    /// Takes one line of a script; what came of it.
    pub(crate) fn step(&mut self, line: &str) -> Vec<String> {
        if line == "see" {
            return write::prompt(&self.agent.next_ask());
        }
        if let Some(millis) = line.strip_prefix("time ") {
            self.time += millis.parse::<i64>().expect("milliseconds");
            return Vec::new();
        }
        if line == "worked" {
            return vec![format!("{} ms", self.agent.worked_until(self.now().at))];
        }
        if let Some(event) = read::of_others(line, self.history.len()) {
            let shown = write::event(&event);
            self.apply(event);
            return vec![shown];
        }
        let input = read::input(line, &self.agent);
        self.feed(input)
    }

    /// Gives an input to the machine as a driver does, then checks the laws.
    pub(crate) fn feed(&mut self, input: Input) -> Vec<String> {
        self.time += 1;
        let lost = match &input {
            Input::Lost(call) => Some(call.clone()),
            _ => None,
        };
        let mut events = match self.agent.decide(input, self.now()) {
            Err(refusal) => return vec![format!("refused: {refusal}")],
            Ok(events) => events,
        };
        let again = lost.filter(|_| events.is_empty());
        let mut did: Vec<String> =
            again.iter().map(|call| format!("→ again {}", write::short(call.as_str()))).collect();
        loop {
            for event in events {
                did.push(write::event(&event));
                did.extend(self.apply(event).iter().map(write::effect));
            }
            self.appends.push(self.history.len());
            events = self.agent.advance(self.now());
            if events.is_empty() {
                break;
            }
            assert!(did.len() < 10_000, "what follows by itself comes to an end: {did:?}");
        }
        if let Some(Ok(value)) = self.agent.result() {
            did.push(format!("= {}", value.as_str()));
        } else if let Some(Err(failure)) = self.agent.result() {
            did.push(format!("= {}: {}", failure.code, failure.message));
        }
        self.laws();
        did
    }

    /// What a driver keeps in mind: what it has to do, and what it has an outcome of.
    fn apply(&mut self, event: Event) -> Vec<Effect> {
        let mut loaded = saved_and_loaded(&self.agent, &self.outfit);
        let effects = self.agent.apply(&event);
        assert_eq!(loaded.apply(&event), effects, "what was loaded wants the same done");
        self.agent = loaded;
        match &event.body {
            Body::ToolResult(result) => self.calls.retain(|call| *call != result.id),
            Body::Relay(relay) => self.calls.retain(|call| Some(call) != relay.tool_call_id.as_ref()),
            Body::Usage(_) => self.is_asking = false,
            Body::ReplOutput(_) => self.code = None,
            _ => {}
        }
        for effect in &effects {
            match effect {
                Effect::Ask | Effect::Wait(_) => self.is_asking = true,
                Effect::Run(call) | Effect::Spawn(call) => {
                    assert!(self.calls.insert(call.clone()), "{call} runs once at a time");
                }
                Effect::Stop => {
                    self.calls.clear();
                    self.is_asking = false;
                }
                Effect::Evaluate(code) => self.code = Some(code.clone()),
                Effect::Tell(_) | Effect::Watch(..) | Effect::Keep(_) => {}
            }
        }
        self.history.push(event);
        effects
    }

    pub(crate) fn laws(&mut self) {
        self.replays();
        self.waits();
        self.answers();
    }

    /// Applying the history, as a journal keeps it, to a new machine gives the machine that made it.
    fn replays(&mut self) {
        let mut again = machine(&self.setup, &self.outfit);
        for event in &self.history {
            let kept = Event::from_json(&event.to_json()).expect("what was written can be read");
            again.apply(&kept);
        }
        assert_eq!(told(&again), told(&self.agent), "a replay ends where the run did");
        let next = self.agent.next_ask();
        assert_eq!(again.next_ask(), next, "a replay asks the model the same");
        if let Next::Step(prompt) = next {
            let whole = Said::from(self.agent.messages());
            assert_eq!(prompt.messages, whole, "what is kept of what was said is all of it");
        }
    }

    /// What is open is what the driver was told to do, and a run that is not over waits for something.
    fn waits(&self) {
        let open = self.agent.open();
        let calls = open.iter().filter_map(|open| match open {
            Open::Call(call) | Open::Agent(call) => Some(call.clone()),
            Open::Ask | Open::Wait(_) | Open::Code(_) | Open::Watch(..) => None,
        });
        assert_eq!(calls.collect::<BTreeSet<_>>(), self.calls, "the calls under way are those told to run");
        let code = open.iter().find_map(|open| match open {
            Open::Code(code) => Some(code.clone()),
            Open::Ask | Open::Wait(_) | Open::Call(_) | Open::Agent(_) | Open::Watch(..) => None,
        });
        assert_eq!(code, self.code, "the code under way is the one told to run");
        let asks = open.iter().any(|open| matches!(open, Open::Ask | Open::Wait(_)));
        assert_eq!(asks, self.is_asking, "the model is asked if and only if the driver was told so");
        let is_over = self.agent.ended().is_some();
        let is_idle = open.is_empty() && self.agent.relays().next().is_none();
        assert_eq!(is_idle, is_over || !self.agent.started(), "a run waits for something until it is over");
        assert!(!is_over || self.agent.advance(self.now()).is_empty(), "nothing follows the end");
    }

    /// Every call has one result and every request one answer by the end, and the end comes once, last.
    fn answers(&self) {
        let mut discarded = BTreeSet::new();
        let (mut calls, mut results) = (BTreeSet::<String>::new(), Vec::new());
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        let (mut codes, mut outputs) = (Vec::new(), Vec::new());
        let (mut starts, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
        let own = |event: &&Event| event.head.run_id.as_ref().is_some_and(|run| run.as_str() == "r");
        for event in self.history.iter().filter(own) {
            assert!(
                event.head.at.is_some() && event.head.agent.is_some(),
                "an event says when and who: {event:?}"
            );
            at += 1;
            match &event.body {
                Body::ToolCall(call) => calls.extend([call.id.to_string()]),
                Body::ToolResult(result) => results.push(result.id.to_string()),
                Body::ModelRetry(retry) => discarded.extend(retry.discards.iter().cloned()),
                Body::ReplInput(input) => codes.push(input.id.to_string()),
                Body::ReplOutput(output) => outputs.push(output.id.to_string()),
                Body::Relay(relay) => asked.push(relay.id.to_string()),
                Body::RelayResolved(resolved) => answered.push(resolved.relay_id.to_string()),
                Body::HarnessStart(_) => starts.push(at),
                Body::HarnessEnd(_) => ends.push(at),
                _ => {}
            }
        }
        assert_eq!(starts, [1], "the beginning comes once, first");
        let known: BTreeSet<String> = results.iter().cloned().collect();
        assert_eq!(known.len(), results.len(), "a call has one result: {results:?}");
        let unique: BTreeSet<String> = asked.iter().cloned().collect();
        assert_eq!(unique.len(), asked.len(), "a request has an id of its own: {asked:?}");
        let closed: BTreeSet<String> = answered.iter().cloned().collect();
        assert_eq!(closed.len(), answered.len(), "a request is answered once: {answered:?}");
        let pending: BTreeSet<String> = self.agent.relays().map(ToString::to_string).collect();
        assert_eq!(
            pending,
            unique.difference(&closed).cloned().collect(),
            "what is pending was not answered"
        );
        if self.agent.ended().is_some() {
            let open: Vec<_> = calls.difference(&known).filter(|id| !discarded.contains(*id)).collect();
            assert!(open.is_empty(), "every call has a result: {open:?}");
            assert_eq!(codes, outputs, "every piece of code has an output");
            assert!(pending.is_empty(), "no request outlives its run: {pending:?}");
            assert_eq!(ends, [at], "the end comes once, last");
        } else {
            assert!(ends.is_empty(), "a run that goes on has not ended");
        }
    }
}

/// The same machine, taken up from what was written down.
fn saved_and_loaded(agent: &Agent, outfit: &Arc<Outfit>) -> Agent {
    let text = serde_json::to_string(agent).expect("it can be written");
    let mut loaded: Agent = serde_json::from_str(&text).expect("what was written can be read");
    loaded.equip(Arc::clone(outfit));
    assert_eq!(told(&loaded), told(agent), "saved and loaded is never saved");
    assert_eq!(loaded.next_ask(), agent.clone().next_ask(), "what was loaded asks the model the same");
    loaded
}

fn machine(setup: &Setup, outfit: &Arc<Outfit>) -> Agent {
    let origin = Origin {
        run: "r".into(),
        parent: setup.parent(),
        turn: None,
        who: Arc::new(setup.who()),
        path: Vec::new(),
        nested: false,
        span: None,
    };
    let mut agent = Agent::new(Arc::new(setup.definition.clone()), origin, setup.task.clone());
    if !setup.earlier.is_empty() {
        let mut seen = Projected::new(Messages::of(Scope::Root));
        for event in &setup.earlier {
            seen.apply(event, &mut Changes::unwanted());
        }
        agent = agent.in_conversation(seen);
    }
    agent.equip(Arc::clone(outfit));
    agent
}

/// All that can be told from outside of a machine, but for what it asks the model.
fn told(agent: &Agent) -> String {
    let state = (agent.started(), agent.ended(), agent.at_work(), agent.may_ask());
    let counts = (agent.iterations(), agent.model_call(), agent.attempt(), agent.tally());
    let at = Timestamp::from_millis(1_000_000_000).expect("a moment");
    let waits: Vec<_> = agent.relays().collect();
    format!(
        "{state:?} {counts:?} {waits:?} {:?} {:?} {}",
        agent.open(),
        agent.result(),
        agent.worked_until(at)
    )
}
