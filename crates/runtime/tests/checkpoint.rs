//! Checkpoints: whoever goes on from one, or looks back to one, finds what all events give.

use std::sync::Arc;
use std::time::Duration;

use antiphon_event::body::flow::CheckpointSaved;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, RelayId};
use antiphon_flow::function::Failure;
use antiphon_flow::retry::Retry;
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Class, Edge, Expression, Flow, Formula, Human, Limits, Node};
use antiphon_port::{Batch, Branch, Form, Hash, Journal};
use antiphon_runtime::{Call, Engine, Forking, Function, Invocation, Outcome, Report, Run, TaskClock};
use serde_json::json;

const RUN: Form = Form { name: "run", version: 7 };

fn expression(text: &str) -> Node {
    Node::expression(text).expect("an expression")
}

fn formula(text: &str) -> Formula {
    Formula::from(Expression::parse(text).expect("an expression"))
}

fn human() -> Node {
    Node::human(Human { prompt: "Go on?".into(), ..Human::default() })
}

fn engine(journal: &Arc<dyn Journal>, every: u64) -> Engine {
    let clock = TaskClock::new("2026-01-01T00:00:00Z".parse().expect("a moment"));
    Engine::new(Arc::clone(journal)).clock(clock).checkpoint_every(every)
}

fn store() -> Arc<dyn Journal> {
    antiphon_store::open("memory:").expect("a store in memory")
}

/// Two nodes that go round so many times and count it in the state.
fn rounds(times: u32) -> Flow {
    Flow::new("rounds")
        .state(Key {
            name: "count".into(),
            schema: Schema::compile(json!({"type": "integer"})).expect("a schema"),
            default: Some(json!(0)),
            reduce: Reduce::Sum,
        })
        .limits(Limits { max_node_executions: Some(1_000_000), ..Limits::default() })
        .node("a", Node::function(Function::new(|_: Call| async { Ok::<_, Failure>(json!("a")) })))
        .node("b", expression("state.count").set("count", Formula::closure(|_| 1)))
        .entry("a")
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("b", "a").when(Formula::closure(move |moment| moment.executions_of("b") < times)))
        .build()
        .expect("a sound flow")
}

/// A loop around a map, a nested flow that asks, a retry and a person.
fn everything() -> Flow {
    let step =
        Node::function(Function::new(|call: Call| async move { Ok::<_, Failure>(call.input.value()) }));
    let flaky = Node::function(Function::new(|call: Call| async move {
        if call.attempt == 1 { Err(Failure::new("not at first")) } else { Ok(json!("at last")) }
    }));
    let inner =
        Flow::new("inner").node("x", expression("1")).node("ask", human()).edge(Edge::new("x", "ask"));
    Flow::new("everything")
        .state(Key {
            name: "seen".into(),
            schema: Schema::compile(json!({"type": "array"})).expect("a schema"),
            default: Some(json!([])),
            reduce: Reduce::Append,
        })
        .limits(Limits { max_node_executions: Some(1000), ..Limits::default() })
        .node("begin", expression("[1, 2, 3]"))
        .node("each", Node::map(formula("input"), step.effect(Class::Pure).set("seen", formula("output"))))
        .node("flaky", flaky.retry(Retry { delay: Duration::from_millis(10), ..Retry::new(3) }))
        .node("inside", Node::flow(inner.build().expect("a sound flow")))
        .node("last", human())
        .entry("begin")
        .edge(Edge::new("begin", "each"))
        .edge(Edge::new("each", "flaky"))
        .edge(Edge::new("flaky", "begin").when(formula("executions.flaky < 3")))
        .edge(Edge::new("flaky", "inside").otherwise())
        .edge(Edge::new("inside", "last"))
        .build()
        .expect("a sound flow")
}

fn yes(relay_id: RelayId, asked_again: bool) -> RelayResolved {
    RelayResolved {
        relay_id,
        approved: (!asked_again).then_some(true),
        answer: asked_again.then(|| "run again".into()),
        input: None,
        scope: None,
        reason: None,
        by: "tester".into(),
    }
}

/// Says yes to whatever is asked until the run has ended.
async fn attend(mut run: Run) -> Report {
    loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            return report;
        }
        assert!(!report.relays.is_empty(), "a run that waits asks something");
        for relay in report.relays {
            let in_doubt = relay.as_str().ends_with(":doubt");
            run.answer(yes(relay, in_doubt)).await.expect("it was asked");
        }
    }
}

async fn events(journal: &Arc<dyn Journal>, branch: &Branch) -> Vec<Event> {
    journal.read(branch, 0, 65_536).await.expect("reads")
}

/// The same events in a journal without folds.
async fn copy(events: &[Event], branch: &Branch) -> Arc<dyn Journal> {
    let copy = store();
    copy.create(branch).await.expect("creates");
    copy.append(branch, 0, Batch::new(events.to_vec()).expect("not empty")).await.expect("fits");
    copy
}

fn saved(events: &[Event]) -> Vec<String> {
    let saved = events.iter().filter_map(|event| match &event.body {
        Body::CheckpointSaved(saved) => {
            let node = event.head.node_id.as_ref().map_or("rest", |node| node.as_str());
            let (_, seq) = saved.checkpoint_id.split_once('@').expect("an id names its position");
            Some(format!("{node}@{seq}"))
        }
        _ => None,
    });
    saved.collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_is_saved_after_so_many_events_when_a_node_has_ended_and_says_so() {
    let journal = store();
    let run = engine(&journal, 40).start(rounds(30), Invocation::new("task")).await.expect("accepted");
    let branch = run.branch().clone();
    let report = attend(run).await;
    assert_eq!(report.outcome, Outcome::Completed);
    let events = events(&journal, &branch).await;
    let marks = saved(&events);
    assert!(marks.len() >= 3 && marks.len() as u64 <= report.seq / 40, "{marks:?} of {} events", report.seq);
    for mark in marks {
        let (node, seq) = mark.split_once('@').expect("as it was made");
        let seq: u64 = seq.parse().expect("a number");
        assert!(matches!(node, "a" | "b"), "{mark}");
        let kept = journal.saved(&branch, RUN, seq).await.expect("looks").expect("is there");
        assert_eq!(kept.seq, seq);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_never_waits_is_saved_as_often_and_says_so_soon() {
    let flow = Flow::new("busy")
        .limits(Limits { max_node_executions: Some(1_000_000), ..Limits::default() })
        .node("a", expression("1"))
        .node("b", expression("2"))
        .entry("a")
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("b", "a").when(Formula::closure(|moment| moment.executions_of("b") < 4000)));
    let folder = tempfile::tempdir().expect("a folder");
    let file = format!("sqlite:{}", folder.path().join("s.db").display());
    let journal = antiphon_store::open(&file).expect("a store in a file");
    let flow = flow.build().expect("a sound flow");
    let run = engine(&journal, 5000).start(flow, Invocation::new("task")).await.expect("accepted");
    let branch = run.branch().clone();
    let report = attend(run).await;
    let events = events(&journal, &branch).await;
    let marks = saved(&events).len() as u64;
    assert!(marks >= report.seq / 20_000, "{marks} of {} events", report.seq);
    let late = events.iter().filter_map(|event| match &event.body {
        Body::CheckpointSaved(saved) => Some(event.head.seq? - saved.seq()?),
        _ => None,
    });
    assert!(late.max() < Some(12_000));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_people_is_saved_once_it_waits() {
    let journal = store();
    let flow = Flow::new("short").node("x", expression("1")).node("ask", human()).edge(Edge::new("x", "ask"));
    let flow = flow.build().expect("a sound flow");
    let mut run = engine(&journal, 50).start(flow, Invocation::new("task")).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    assert_eq!(report.outcome, Outcome::Paused);
    let told = events(&journal, run.branch()).await;
    let before = told.len() - 1;
    assert_eq!(saved(&told), [format!("rest@{before}")]);
    assert_eq!(attend(run).await.outcome, Outcome::Completed);
}

#[tokio::test(start_paused = true)]
async fn every_position_looks_the_same_with_and_without_checkpoints() {
    for (flow, every) in
        [(rounds(20), 1), (rounds(20), 30), (everything(), 1), (everything(), 7), (everything(), 25)]
    {
        let journal = store();
        let engine_with = engine(&journal, every);
        let run = engine_with.start(flow.clone(), Invocation::new("task")).await.expect("accepted");
        let branch = run.branch().clone();
        assert_eq!(attend(run).await.outcome, Outcome::Completed);
        let events = events(&journal, &branch).await;
        assert!(saved(&events).len() > 1, "{:?}", saved(&events));
        let without = engine(&copy(&events, &branch).await, every);
        for at in 3..=events.len() as u64 {
            let look = async |engine: &Engine| {
                engine.look(&branch, Some(at), Some(flow.clone())).await.expect("looks")
            };
            assert_eq!(look(&engine_with).await, look(&without).await, "at {at}, saved every {every}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_gone_on_with_from_any_position_comes_to_the_same() {
    let journal = store();
    let with = engine(&journal, 5);
    let run = with.start(everything(), Invocation::new("task")).await.expect("accepted");
    let branch = run.branch().clone();
    let whole = attend(run).await;
    let events = events(&journal, &branch).await;
    for at in 3..events.len() as u64 {
        let into = Branch::new(branch.session.clone(), format!("at {at}"));
        let forking =
            Forking { from: branch.clone(), at, into: into.clone(), writes: [].into(), by: "t".into() };
        with.fork(forking, Some(everything())).await.expect("forks");
        let forked = attend(with.resume(into, Some(everything())).await.expect("resumes")).await;
        let without = engine(&copy(&events[..at as usize], &branch).await, 5);
        let replayed =
            attend(without.resume(branch.clone(), Some(everything())).await.expect("resumes")).await;
        for other in [forked, replayed] {
            assert_eq!((&other.outcome, &other.output), (&whole.outcome, &whole.output), "at {at}");
            assert_eq!((&other.statuses, &other.state), (&whole.statuses, &whole.state), "at {at}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_does_not_fit_is_passed_over() {
    let journal = store();
    let with = engine(&journal, 10);
    let run = with.start(rounds(20), Invocation::new("task")).await.expect("accepted");
    let branch = run.branch().clone();
    let report = attend(run).await;
    // Whatever these bytes are, they are no run.
    let mut seq = report.seq;
    for bytes in ["", "{}", "nonsense", r#"{"began":0,"machines":[],"held":{},"grants":[]}"#] {
        let hash = journal.save(&branch, RUN, seq, bytes.into()).await.expect("saves");
        seq = journal.append(&branch, seq, says_saved(seq, hash)).await.expect("fits").last;
        let looked = with.look(&branch, None, Some(rounds(20))).await.expect("looks");
        assert_eq!(looked, Report { seq, ..report.clone() });
    }
    let other = Flow::new("rounds").node("a", expression("1")).build().expect("a sound flow");
    let looked = with.look(&branch, None, Some(other)).await.expect("looks");
    assert_eq!(looked.run, report.run);
}

/// The event about a checkpoint.
fn says_saved(seq: u64, hash: Hash) -> Batch {
    let saved_hash = Some(hash.to_string());
    let saved = CheckpointSaved { checkpoint_id: format!("r@{seq}"), saved_hash };
    Event::new("r", Body::CheckpointSaved(saved)).into()
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_counts_only_if_an_event_after_it_says_that_just_this_was_saved() {
    let journal = store();
    let with = engine(&journal, 40);
    let run = with.start(rounds(60), Invocation::new("task")).await.expect("accepted");
    let branch = run.branch().clone();
    let report = attend(run).await;
    let looked = async |branch: &Branch| with.look(branch, None, Some(rounds(60))).await.expect("looks");
    // Somebody would have the count be another. What stands there is a run, and may be gone on from as far as it tells.
    let forged = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).expect("JSON");
        assert!(text.contains(r#""count":"#), "the count is in it: {text}");
        text.replace(r#""count":"#, r#""count":9"#).into_bytes()
    };
    let last = journal.saved(&branch, RUN, u64::MAX).await.expect("looks").expect("there is one");
    let bytes = forged(&last.bytes);
    let hash = journal.save(&branch, RUN, last.seq, bytes.clone()).await.expect("saves");
    assert_eq!(looked(&branch).await, report, "another was saved there");
    // Neither what was saved elsewhere nor what is said before it counts.
    let seq = journal.append(&branch, report.seq, says_saved(last.seq - 1, hash)).await.expect("fits").last;
    journal.save(&branch, RUN, seq, bytes.clone()).await.expect("saves");
    assert_eq!(looked(&branch).await, Report { seq, ..report.clone() }, "nothing is said of it");
    let other = Branch::new(branch.session.clone(), "other");
    journal.fork(&branch, seq, &other).await.expect("forks");
    let end = journal.append(&branch, seq, says_saved(seq, hash)).await.expect("fits").last;
    assert_ne!(looked(&branch).await, Report { seq: end, ..report.clone() }, "now the branch vouches for it");
    assert_eq!(looked(&other).await, Report { seq, ..report }, "and no other does");
}

/// A nested flow that fails at first, and asks when it is tried again.
fn second_try() -> Flow {
    let fails = Node::function(Function::new(|call: Call| async move {
        if call.attempt == 1 { Err(Failure::new("not at first")) } else { Ok(json!("at last")) }
    }));
    let inner = Flow::new("inner").node("fails", fails).node("ask", human()).edge(Edge::new("fails", "ask"));
    let inner = Node::flow(inner.build().expect("a sound flow"));
    let retry = Retry { delay: Duration::from_millis(10), ..Retry::new(3) };
    Flow::new("outer").node("inside", inner.retry(retry)).build().expect("a sound flow")
}

#[tokio::test(start_paused = true)]
async fn a_nested_run_that_was_tried_again_is_taken_up_with_the_attempt_it_is_the_work_of() {
    for every in [u64::MAX, 5] {
        let journal = store();
        let mut run =
            engine(&journal, every).start(second_try(), Invocation::new("task")).await.expect("accepted");
        let branch = run.branch().clone();
        assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Paused);
        drop(run);
        while journal.claim(&branch.session).is_err() {
            tokio::task::yield_now().await;
        }
        let run = engine(&journal, every).resume(branch, Some(second_try())).await.expect("resumes");
        assert_eq!(attend(run).await.outcome, Outcome::Completed, "saved every {every}");
    }
}
