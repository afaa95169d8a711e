//! The door to the scheduler for tables: a flow in one line, what happens to it, and what it does about that.
//!
//! `a > b, a >no c:any | start | finish a` is a flow, then steps. Arrows: `>` always, `>yes`, `>no`, `>else`, `>1` only
//! after the source's first execution, `>2` only after later ones. After a node's colon: `any`, a number to join, `pure`,
//! `x2` (at most two executions), `or=z` (fallback), `isolate`, `retry2`, `on=expression` (what is tried again), `text`
//! (nothing else does as its output), and first of all `broken`: an expression that fails. So does the condition of the
//! arrow `>broken`, and that of `>tenth` unless the output is a number that is not 0.
//! Before the flow: `fail-fast`, `max2`, `limit3`. Instead of a flow: `each3`, the items `0`, `1` and `2` of a map.
//! The entries are those that say so right after their id, as `a:entry`; where none does and every node has an edge that
//! leads to it, the first one is. The step `see a` shows what `a` gets,
//! `why a` why it was skipped last, `error a` with which error it ended, `given` what the run gave, `worked` how long it was
//! at work and `took` how long it took, and `hours pass` leaves it without a process. `give a=text` finishes `a` with an
//! output, and `part a=text` says what the run inside it had come to when that ended in vain.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, Json, Mode, NodeStatus, Timestamp};
use antiphon_flow::expr::Expression;
use antiphon_flow::function::{Code, Failure, Reply};
use antiphon_flow::retry::Retry;
use antiphon_flow::schema::Schema;
use antiphon_flow::{
    Attempt, Builder, Class, Edge, Effect, Flow, Formula, Input, Join, Limits, Node, Now, OnFailure, Origin,
    Scheduler,
};
use expect_test::Expect;
use serde_json::Value;

/// How many times something more may follow from one step.
const ROUNDS_MAX: usize = 100;

/// Builds the flow, takes the steps and compares what the scheduler did after each.
pub(crate) fn check(line: &str, expect: Expect) {
    let mut parts = line.split('|').map(str::trim);
    let flow = flow(parts.next().expect("a flow"));
    let mut table = Table::new(flow.clone());
    let steps: Vec<&str> = parts.collect();
    let width = steps.iter().map(|step| step.len()).filter(|length| *length < 20).max().unwrap_or(0);
    let mut shown = String::new();
    for step in steps {
        let did = table.step(step);
        writeln!(shown, "{step:width$}  {did}").expect("text takes it");
        table.scheduler = saved_and_loaded(&table.scheduler);
    }
    expect.assert_eq(&shown);
    table.replays(flow);
}

/// The same machine, taken up from what was written down.
fn saved_and_loaded(scheduler: &Scheduler) -> Scheduler {
    let text = serde_json::to_string(&scheduler.save()).expect("it can be written");
    let saved = serde_json::from_str(&text).expect("what was written can be read");
    let loaded = Scheduler::load(scheduler.flow().clone(), saved, None).expect("the flow is the same");
    assert_eq!(format!("{loaded:?}"), format!("{scheduler:?}"), "saved and loaded is never saved");
    loaded
}

struct Table {
    scheduler: Scheduler,
    history: Vec<Event>,
    /// What runs inside nodes came to, after how many events.
    parts: Vec<(usize, Attempt, Json)>,
    time: i64,
}

impl Table {
    fn new(flow: Flow) -> Self {
        Self { scheduler: Scheduler::new(flow, origin()), history: Vec::new(), parts: Vec::new(), time: 0 }
    }

    fn now(&mut self) -> Now {
        self.time += 1;
        Now { at: Timestamp::from_millis(self.time).expect("a moment"), dice: 0.0, steps: None }
    }

    fn step(&mut self, step: &str) -> String {
        if let Some(id) = step.strip_prefix("see ") {
            let node = self.scheduler.flow().index(id).expect("a node");
            return format!("gets {}", self.scheduler.input(node).as_str());
        }
        if let Some(id) = step.strip_prefix("why ") {
            return self.why(id);
        }
        if let Some(id) = step.strip_prefix("error ") {
            return self.error(id);
        }
        if let Some((id, text)) = step.strip_prefix("part ").and_then(|part| part.split_once('=')) {
            self.scheduler.inside_ended(self.attempt(id), &Json::from(text));
            self.parts.push((self.history.len(), self.attempt(id), Json::from(text)));
            return "noted".to_owned();
        }
        if step == "given" || step == "took" {
            let Some(Body::RunEnd(end)) = self.history.last().map(|event| &event.body) else {
                return "not ended".to_owned();
            };
            let took = format!("{} ms", end.total_duration_ms);
            return if step == "took" { took } else { end.final_output.as_str().to_owned() };
        }
        if step == "hours pass" {
            self.time += 3 * 3_600_000;
            return "nobody is there".to_owned();
        }
        if step == "worked" {
            return format!("{} ms", self.scheduler.worked_ms());
        }
        let input = self.input(step);
        let now = self.now();
        let mut did = Vec::new();
        match self.scheduler.decide(input, now) {
            Err(refusal) => return format!("refused: {refusal}"),
            Ok(events) => self.take(events, &mut did),
        }
        for round in 0.. {
            assert!(round < ROUNDS_MAX, "it never comes to rest: {}", did.join(", "));
            let now = self.now();
            let events = self.scheduler.advance(now);
            if events.is_empty() {
                break;
            }
            self.take(events, &mut did);
        }
        if did.is_empty() { "wait".to_owned() } else { did.join(", ") }
    }

    fn why(&self, id: &str) -> String {
        let skipped = self.history.iter().rev().find_map(|event| match &event.body {
            Body::NodeSkipped(skip) if event.head.node_id.as_ref()?.as_str() == id => Some(&skip.reason),
            _ => None,
        });
        skipped.expect("it was skipped").clone()
    }

    fn error(&self, id: &str) -> String {
        let ended = self.history.iter().rev().find_map(|event| match &event.body {
            Body::NodeEnd(end) if event.head.node_id.as_ref()?.as_str() == id => Some(end),
            _ => None,
        });
        let error = ended.and_then(|end| end.error.as_ref()).expect("it failed");
        let code = error.code.as_ref().expect("a code");
        let finality = if error.retryable == Some(false) { ", for good" } else { "" };
        format!("{code}{finality}: {}", error.message)
    }

    fn take(&mut self, events: Vec<Event>, did: &mut Vec<String>) {
        for event in events {
            let mut loaded = saved_and_loaded(&self.scheduler);
            let effects = self.scheduler.apply(&event);
            assert_eq!(loaded.apply(&event), effects, "what was loaded wants the same done");
            self.scheduler = loaded;
            did.extend(told(&event));
            let cancelled = matches!(&event.body, Body::NodeEnd(end) if end.status == NodeStatus::Cancelled);
            did.extend(effects.iter().filter(|_| !cancelled).map(|effect| self.wanted(effect)));
            self.history.push(event);
        }
    }

    fn wanted(&self, effect: &Effect) -> String {
        let id = |attempt: &Attempt| self.scheduler.flow().id(attempt.node).to_string();
        match effect {
            Effect::Perform(attempt) => {
                let execution =
                    if attempt.execution > 1 { format!("#{}", attempt.execution) } else { String::new() };
                let repeat =
                    if attempt.attempt > 1 { format!("~{}", attempt.attempt) } else { String::new() };
                format!("run {}{execution}{repeat}", id(attempt))
            }
            Effect::Wait(attempt, millis) => format!("delay {} {millis}", id(attempt)),
            Effect::Watch(relay, _) => format!("watch {relay}"),
            Effect::Stop(attempt) => format!("stop {}", id(attempt)),
            Effect::Wind(attempt) => format!("wind {}", id(attempt)),
        }
    }

    fn attempt(&self, id: &str) -> Attempt {
        let node = self.scheduler.flow().index(id).expect("a node");
        let open = self.scheduler.open().into_iter().find(|(attempt, _)| attempt.node == node);
        open.map_or(Attempt { node, execution: 1, attempt: 1 }, |(attempt, _)| attempt)
    }

    fn input(&self, step: &str) -> Input {
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        match verb {
            "start" => Input::Start { task: Json::from("task"), state: BTreeMap::new() },
            "finish" => Input::Outcome { attempt: self.attempt(rest), result: Ok(Reply::new(Value::Null)) },
            "give" => {
                let (node, output) = rest.split_once('=').expect("node=output");
                Input::Outcome { attempt: self.attempt(node), result: Ok(Reply::new(output)) }
            }
            "fail" => Input::Outcome { attempt: self.attempt(rest), result: Err(Failure::new("it broke")) },
            "time" => Input::Timeout(self.attempt(rest)),
            "due" => Input::Due(self.attempt(rest)),
            "lose" => Input::Lost(self.attempt(rest)),
            "resume" => Input::Resume,
            "patch" => Input::Patch { writes: BTreeMap::new(), by: "somebody".into() },
            "cancel" => {
                let mode = if rest == "now" { Mode::Now } else { Mode::Graceful };
                Input::Cancel { by: "somebody".into(), mode }
            }
            "answer" => {
                let (node, answer) = rest.split_once('=').expect("node=answer");
                let node = self.scheduler.flow().index(node).expect("a node");
                Input::Answer(RelayResolved {
                    relay_id: self.scheduler.relay_of(node).expect("a pending request").clone(),
                    approved: None,
                    answer: Some(Json::from(answer)),
                    input: None,
                    scope: None,
                    reason: None,
                    by: "somebody".into(),
                })
            }
            other => panic!("no step is called {other}"),
        }
    }

    /// Applying the history to a new machine gives the machine that made it, after every event.
    fn replays(&self, flow: Flow) {
        let mut again = Scheduler::new(flow, origin());
        for (place, event) in self.history.iter().enumerate() {
            for (_, attempt, part) in self.parts.iter().filter(|(after, ..)| *after == place) {
                again.inside_ended(*attempt, part);
            }
            again.apply(event);
        }
        assert_eq!(format!("{again:?}"), format!("{:?}", self.scheduler), "a replay ends where the run did");
    }
}

fn told(event: &Event) -> Option<String> {
    let id = event.head.node_id.as_ref().map(ToString::to_string).unwrap_or_default();
    match &event.body {
        Body::NodeSkipped(_) => Some(format!("skip {id}")),
        Body::NodeEnd(end) if end.status == NodeStatus::Cancelled => Some(format!("cancel {id}")),
        Body::Interrupt(interrupt) => Some(format!("ask {id} {}", interrupt.reason)),
        Body::RunEnd(end) => {
            let mut words = format!("end {}", end.status.as_ref().expect("a status"));
            if let Some(reason) = &end.reason {
                write!(words, " {reason}").expect("text takes it");
            }
            for pending in end.pending.iter().flatten() {
                write!(words, "; {}: {}", pending.node_id, pending.why).expect("text takes it");
            }
            Some(words)
        }
        _ => None,
    }
}

fn origin() -> Origin {
    Origin { run: "r".into(), parent: None, turn: None, path: Vec::new(), item: false, span: None }
}

/// Reads a flow of one line.
fn flow(line: &str) -> Flow {
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    let mut order = Vec::new();
    let mut edges = Vec::new();
    let mut limits = Limits { max_node_executions: Some(1000), ..Limits::default() };
    let mut policy = OnFailure::Graceful;
    for (index, chain) in line.split(',').enumerate() {
        let mut words = chain.split_whitespace().peekable();
        while index == 0 && words.peek().is_some_and(|word| setting(word, &mut limits, &mut policy)) {
            words.next();
        }
        let mut last: Option<String> = None;
        let mut arrow = None;
        for word in words {
            if let Some(kind) = word.strip_prefix('>') {
                arrow = Some(kind.to_owned());
                continue;
            }
            let id = node(word, &mut nodes, &mut order);
            if let (Some(from), Some(kind)) = (last.take(), arrow.take()) {
                edges.push(edge(&from, &id, &kind));
            }
            last = Some(id);
        }
    }
    if let Some(count) = items(&order) {
        let mut each = Node::map(Formula::closure(|_| true), Node::function(Code::new(())));
        if let Some(most) = limits.max_concurrency {
            each = each.max_parallel(most);
        }
        let around = Flow::new("table").on_failure(policy).node("each", each).build().expect("a sound flow");
        return around.of_items(0, count).expect("it is a map");
    }
    let mut builder: Builder = Flow::new("table").limits(limits).on_failure(policy);
    if !line.contains(":entry") && order.iter().all(|id| edges.iter().any(|edge| edge.to == *id)) {
        builder = builder.entry(&order[0]);
    }
    let entries = line.split_whitespace().filter_map(|word| word.trim_end_matches(',').split_once(":entry"));
    builder = entries.fold(builder, |builder, (id, _)| builder.entry(id));
    for id in order {
        let node = nodes.remove(&id).expect("each id is listed once");
        builder = builder.node(id, node);
    }
    edges.into_iter().fold(builder, Builder::edge).build().expect("a sound flow")
}

/// How many items there are, if what stands in place of nodes says so.
fn items(order: &[String]) -> Option<usize> {
    order.first()?.strip_prefix("each")?.parse().ok()
}

fn setting(word: &str, limits: &mut Limits, policy: &mut OnFailure) -> bool {
    if word == "fail-fast" {
        *policy = OnFailure::FailFast;
    } else if let Some(max) = word.strip_prefix("max").and_then(|max| max.parse().ok()) {
        limits.max_concurrency = Some(max);
    } else if let Some(max) = word.strip_prefix("limit").and_then(|max| max.parse().ok()) {
        limits.max_node_executions = Some(max);
    } else {
        return false;
    }
    true
}

fn node(word: &str, nodes: &mut BTreeMap<String, Node>, order: &mut Vec<String>) -> String {
    let mut parts = word.split(':');
    let id = parts.next().expect("an id").to_owned();
    if !nodes.contains_key(&id) {
        order.push(id.clone());
        nodes.insert(id.clone(), Node::function(Code::new(())));
    }
    for part in parts {
        let node = nodes.remove(&id).expect("it was just put there");
        nodes.insert(id.clone(), told_about(node, part));
    }
    id
}

fn told_about(node: Node, part: &str) -> Node {
    let number = |prefix: &str| part.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
    if part == "broken" {
        return Node::expression("1 / 0").expect("an expression");
    }
    if let Some(fallback) = part.strip_prefix("or=") {
        return node.fallback(fallback);
    }
    if let Some(code) = part.strip_prefix("on=") {
        let retry = node.retry.clone().expect("it is said after how often");
        return node.retry(Retry { on: vec![code.to_owned()], ..retry });
    }
    if let Some(count) = number("") {
        return node.join(Join::Count(count));
    }
    if let Some(max) = number("x") {
        return node.max_executions(max);
    }
    if let Some(max) = number("retry") {
        return node.retry(Retry { delay: Duration::from_millis(10), ..Retry::new(max) });
    }
    match part {
        "any" => node.join(Join::Any),
        "pure" => node.effect(Class::Pure),
        "isolate" => node.isolate(),
        "text" => node.output(Schema::compile(serde_json::json!({"type": "string"})).expect("a schema")),
        "alone" | "entry" => node,
        other => panic!("nothing about a node is called {other}"),
    }
}

fn edge(from: &str, to: &str, kind: &str) -> Edge {
    let edge = Edge::new(from, to);
    let source = from.to_owned();
    match kind {
        "" => edge,
        "yes" => edge.when(Formula::closure(|_| true)),
        "no" => edge.when(Formula::closure(|_| false)),
        "else" => edge.otherwise(),
        "broken" => edge.when(Expression::parse("1 / 0 == 1").expect("an expression")),
        "tenth" => edge.when(Expression::parse("10 / output > 1").expect("an expression")),
        "1" => edge.when(Formula::closure(move |moment| moment.executions_of(&source) == 1)),
        "2" => edge.when(Formula::closure(move |moment| moment.executions_of(&source) > 1)),
        other => panic!("no arrow is called >{other}"),
    }
}
