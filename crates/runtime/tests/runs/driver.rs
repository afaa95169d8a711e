//! Flows on the driver: real tasks, real processes, a journal in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, Json, Mode, NodeStatus, RelayId};
use antiphon_flow::function::Failure;
use antiphon_flow::guard::{Action, Check, Guard, Pattern};
use antiphon_flow::hook::{Advice, Point, Verdict};
use antiphon_flow::retry::Retry;
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Class, Edge, Expression, Flow, Formula, Human, Join, Limits, Node};
use antiphon_port::{Fault, Journal};
use antiphon_runtime::{
    AsyncHook, Engine, Function, Invocation, Occasion, Outcome, Refused, Report, Run, TaskClock,
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::hands::{events, yes};

fn expression(text: &str) -> Node {
    Node::expression(text).expect("an expression")
}

fn formula(text: &str) -> Formula {
    Formula::from(Expression::parse(text).expect("an expression"))
}

fn engine() -> Engine {
    Engine::new(antiphon_store::open("memory:").expect("a store in memory"))
}

/// An engine that tells the time by the tasks' own clock, which these tests speed up.
fn quick_engine() -> Engine {
    engine().clock(TaskClock::new("2026-01-01T00:00:00Z".parse().expect("a moment")))
}

async fn finish(engine: &Engine, flow: Flow, task: Value) -> Report {
    let mut run = engine.start(flow, Invocation::new(task)).await.expect("accepted");
    run.wait().await.expect("no fault")
}

fn tags(events: &[Event]) -> Vec<String> {
    let node = |event: &Event| event.head.node_id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    events.iter().map(|event| format!("{}{}", event.body.tag(), node(event))).collect()
}

#[tokio::test]
async fn what_ends_at_the_same_time_is_taken_in_one_after_the_other() {
    let together = Arc::new(Barrier::new(6));
    let waits = || {
        let together = Arc::clone(&together);
        Node::function(Function::new(move |_| {
            let together = Arc::clone(&together);
            async move {
                together.wait().await;
                Ok(())
            }
        }))
    };
    let ends_at_once = || Node::function(Function::new(|_| async { Ok(()) }));
    for work in [&waits as &dyn Fn() -> Node, &ends_at_once] {
        let flow = Flow::new("race").node("two", expression("input").join(Join::Count(2)));
        let flow = ["a", "b", "c", "d", "e", "f"]
            .into_iter()
            .fold(flow, |flow, id| flow.node(id, work()).edge(Edge::new(id, "two")));
        let report = finish(&engine(), flow.build().expect("sound"), json!("")).await;
        let given = report.output.value();
        assert_eq!(given.as_object().map(|given| given.len()), Some(2), "the first two win: {given}");
    }
}

#[tokio::test]
async fn a_chain_hands_its_outputs_on_and_says_all_of_it() {
    let flow = Flow::new("chain")
        .node("a", expression("task + 'b'"))
        .node(
            "c",
            Node::function(Function::new(|call| async move { Ok(format!("{}c", call.input.to_text())) })),
        )
        .edge(Edge::new("a", "c"))
        .build()
        .expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("a")).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    assert_eq!((report.outcome, &*report.output.to_text()), (Outcome::Completed, "abc"));
    let told = tags(&events(&run).await);
    assert_eq!(
        told,
        [
            "session_created",
            "run_start",
            "layer_start",
            "node_start a",
            "node_end a",
            "edge_transition",
            "layer_end",
            "layer_start",
            "node_start c",
            "node_end c",
            "layer_end",
            "run_end"
        ]
    );
}

#[tokio::test]
async fn several_sources_come_as_an_object_and_state_is_folded_in_journal_order() {
    let number = || Schema::compile(json!({"type": "integer"})).expect("a schema");
    let key = Key { name: "n".into(), schema: number(), default: Some(json!(10)), reduce: Reduce::Sum };
    let flow = Flow::new("fan")
        .state(key)
        .node("s", expression("1"))
        .node("a", expression("input + 1").set("n", formula("1")))
        .node("b", expression("input + 2").set("n", formula("1")))
        .node("j", expression("input.a * 10 + input.b + state.n"))
        .edge(Edge::new("s", "a"))
        .edge(Edge::new("s", "b"))
        .edge(Edge::new("a", "j"))
        .edge(Edge::new("b", "j"))
        .build()
        .expect("sound");
    let report = finish(&engine(), flow, json!(null)).await;
    assert_eq!(report.output.value(), json!(2 * 10 + 3 + 12));
    assert_eq!(report.state["n"], 12);
}

#[tokio::test]
async fn a_map_runs_a_node_for_each_item_and_keeps_their_order() {
    let notes = Key {
        name: "notes".into(),
        schema: Schema::compile(json!({"type": "array"})).expect("a schema"),
        default: Some(json!([])),
        reduce: Reduce::Append,
    };
    let each = expression("item * item").set("notes", formula("output"));
    let flow = Flow::new("map")
        .state(notes)
        .node("each", Node::map(formula("task"), each).max_parallel(2))
        .build()
        .expect("sound");
    let report = finish(&engine(), flow, json!([1, 2, 3, 4])).await;
    assert_eq!(report.output.value(), json!([1, 4, 9, 16]));
    assert_eq!(report.state["notes"], json!([1, 4, 9, 16]));
}

#[tokio::test]
async fn a_nested_flow_streams_through_with_its_path_and_its_failure_is_its_nodes() {
    let inner = Flow::new("inner")
        .node(
            "x",
            Node::function(Function::plain(|call| match call.value().as_str() {
                Some("break") => Err(Failure::new("it broke")),
                _ => Ok("fine"),
            })),
        )
        .build()
        .expect("sound");
    let flow = Flow::new("outer").node("sub", Node::flow(inner)).build().expect("sound");
    let engine = engine();
    let mut run = engine.start(flow.clone(), Invocation::new("go")).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").output.to_text(), "fine");
    let told = events(&run).await;
    let inner =
        told.iter().find(|event| event.head.node_id.as_ref().is_some_and(|id| *id == "x")).expect("it ran");
    let path: Vec<&str> = inner.head.node_path.iter().flatten().map(|id| id.as_str()).collect();
    assert_eq!(path, ["sub", "x"]);
    let report = finish(&engine, flow, json!("break")).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.statuses["sub"], NodeStatus::Failed);
}

#[tokio::test]
async fn a_person_is_asked_and_the_decision_is_the_output_before_the_edges_are_judged() {
    let flow = Flow::new("gate")
        .node("gate", Node::human(Human { prompt: "Publish?".into(), ..Human::default() }))
        .node("yes", expression("'published'"))
        .node("no", expression("'dropped'"))
        .edge(Edge::new("gate", "yes").when(formula("output.approved")))
        .edge(Edge::new("gate", "no").when(formula("!output.approved")))
        .build()
        .expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    let paused = run.wait().await.expect("no fault");
    assert_eq!((paused.outcome, paused.relays.len()), (Outcome::Paused, 1));
    let answer = yes(paused.relays[0].clone());
    run.answer(answer.clone()).await.expect("taken");
    let report = run.wait().await.expect("no fault");
    assert_eq!((report.outcome, &*report.output.to_text()), (Outcome::Completed, "published"));
    run.answer(answer).await.expect_err("an answer is taken once");
}

#[tokio::test]
async fn a_paused_run_is_gone_on_with_by_another_engine() {
    let built = || {
        Flow::new("gate")
            .node("gate", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
            .node("next", expression("input.by"))
            .edge(Edge::new("gate", "next"))
            .build()
            .expect("sound")
    };
    let first = engine();
    let mut run = first.start(built(), Invocation::new("text")).await.expect("accepted");
    let relay = run.wait().await.expect("no fault").relays[0].clone();
    let branch = run.branch().clone();
    drop(run);
    let second = Engine::new(Arc::clone(first.journal()));
    let mut run = loop {
        match second.resume(branch.clone(), Some(built())).await {
            Ok(run) => break run,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Paused);
    let answer = yes(relay);
    run.answer(answer).await.expect("taken");
    assert_eq!(run.wait().await.expect("no fault").output.to_text(), "tester");
}

#[tokio::test(start_paused = true)]
async fn a_failing_node_is_tried_again_and_its_attempts_are_numbered() {
    let tries = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&tries);
    let flaky = Function::new(move |call| {
        let seen = Arc::clone(&seen);
        async move {
            seen.fetch_add(1, Ordering::SeqCst);
            if call.attempt < 3 { Err(Failure::new("not yet")) } else { Ok(json!(call.attempt)) }
        }
    });
    let retry = Retry { delay: Duration::from_secs(5), ..Retry::new(5) };
    let flow = Flow::new("flaky").node("a", Node::function(flaky).retry(retry)).build().expect("sound");
    let report = finish(&quick_engine(), flow, json!(null)).await;
    assert_eq!((report.output.value(), tries.load(Ordering::SeqCst)), (json!(3), 3));
}

#[tokio::test]
async fn a_node_that_ignores_its_timeout_is_cut_off_and_its_late_output_dropped() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let stubborn = Function::plain(move |_| {
        let _ = held.lock().expect("one caller").recv();
        Ok("too late")
    });
    let flow = Flow::new("stubborn")
        .node("a", Node::function(stubborn).timeout(Duration::from_millis(20)).isolate())
        .node("b", expression("input.error.code"))
        .edge(Edge::new("a", "b"))
        .build()
        .expect("sound");
    let report = finish(&engine(), flow, json!(null)).await;
    assert_eq!((report.outcome, &*report.output.to_text()), (Outcome::Completed, "timeout"));
    drop(release);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_takes_too_long_ends_with_its_reason_and_what_there_is() {
    let slow = Function::new(|_| async {
        tokio::time::sleep(Duration::from_hours(1)).await;
        Ok(())
    });
    let limits = Limits { execution_timeout: Some(Duration::from_mins(1)), ..Limits::default() };
    let flow = Flow::new("slow")
        .limits(limits)
        .node("quick", expression("'done'"))
        .node("slow", Node::function(slow))
        .build()
        .expect("sound");
    let report = finish(&quick_engine(), flow, json!(null)).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.reason.expect("a reason").as_str(), "execution_timeout");
    assert_eq!(report.outputs["quick"].to_text(), "done");
    assert_eq!(report.statuses["slow"], NodeStatus::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn time_waiting_for_a_person_counts_in_no_timeout() {
    let limits = Limits { execution_timeout: Some(Duration::from_mins(1)), ..Limits::default() };
    let flow = Flow::new("gate")
        .limits(limits)
        .node("gate", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
        .build()
        .expect("sound");
    let engine = quick_engine();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    let relay = run.wait().await.expect("no fault").relays[0].clone();
    tokio::time::sleep(Duration::from_hours(1)).await;
    let answer = yes(relay);
    run.answer(answer).await.expect("still wanted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Completed);
}

#[tokio::test]
async fn a_cancel_now_stops_what_runs_at_any_depth_and_gives_the_partial_result() {
    let forever = || Node::function(Function::new(|_| std::future::pending::<Result<(), Failure>>()));
    let inner = Flow::new("inner").node("x", forever()).build().expect("sound");
    let flow = Flow::new("outer")
        .node("a", expression("'kept'"))
        .node("sub", Node::flow(inner))
        .node("after", expression("input"))
        .edge(Edge::new("sub", "after"))
        .build()
        .expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("go")).await.expect("accepted");
    let mut tail = run.events();
    while !tags(&tail.next().await.expect("readable").expect("more to come"))
        .contains(&"node_start x".to_owned())
    {}
    run.cancel("tester", Mode::Now).await.expect("taken");
    let report = run.wait().await.expect("no fault");
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert_eq!(report.outputs["a"].to_text(), "kept");
    let told = events(&run).await;
    let ends = told.iter().filter(|event| matches!(event.body, Body::RunEnd(_))).count();
    assert_eq!(ends, 2, "the run inside ended too");
}

#[tokio::test]
async fn text_is_live_and_a_reader_that_goes_away_holds_nothing_up() {
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(Some(wait)));
    let talker = Function::new(move |call| {
        let wait = wait.lock().expect("one caller").take();
        async move {
            call.say("hello ").await;
            if let Some(wait) = wait {
                let _ = wait.await;
            }
            for _ in 0..5000 {
                call.say("more").await;
            }
            Ok("done")
        }
    });
    let flow = Flow::new("talk").node("a", Node::function(talker)).build().expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("go")).await.expect("accepted");
    let mut tail = run.events();
    while !tags(&tail.next().await.expect("readable").expect("more to come")).contains(&"text a".to_owned()) {
    }
    drop(tail);
    go.send(()).expect("the node waits");
    assert_eq!(run.wait().await.expect("no fault").output.to_text(), "done");
}

#[tokio::test]
async fn a_command_gets_its_input_and_gives_its_output() {
    let flow = Flow::new("shell")
        .node("up", Node::command(["sh", "-c", "tr a-z A-Z; echo \" $ANTIPHON_NODE_ID\""]))
        .build()
        .expect("sound");
    let report = finish(&engine(), flow, json!("text")).await;
    assert_eq!(report.output.to_text(), "TEXT up");
}

#[tokio::test]
async fn a_command_that_fails_prints_too_much_or_never_ends_is_a_failure_with_its_reason() {
    let rows: [(&[&str], &str); 5] = [
        (&["sh", "-c", "echo oh no >&2; exit 3"], "`sh` ended with code 3: oh no"),
        (&["sh", "-c", "head -c 9000000 /dev/zero | tr '\\0' x"], "more than 8388608 bytes"),
        (&["sh", "-c", "sleep 1000 & sleep 1000"], "it took longer than 100 ms"),
        (&["there-is-no-such-program"], "`there-is-no-such-program` could not be started"),
        (&["printf", "\\377"], "not UTF-8"),
    ];
    for (run, expected) in rows {
        let node = Node::command(run.iter().copied()).timeout(Duration::from_millis(100)).isolate();
        let node = if expected.contains("100 ms") { node } else { node.timeout(Duration::from_mins(1)) };
        let flow = Flow::new("shell").node("a", node).build().expect("sound");
        let report = finish(&engine(), flow, json!("text")).await;
        let message = report.output.value()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains(expected), "{run:?}: {message}");
    }
}

#[tokio::test]
async fn a_run_is_refused_while_another_is_under_way_in_its_session() {
    let flow = Flow::new("gate")
        .node("gate", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
        .build()
        .expect("sound");
    let engine = engine();
    let mut run = engine.start(flow.clone(), Invocation::new("text")).await.expect("accepted");
    run.wait().await.expect("no fault");
    let again = Invocation { session: Some(run.session().clone()), ..Invocation::new("more") };
    let refused = engine.start(flow, again).await.err().expect("refused").to_string();
    assert!(refused.contains("in use") || refused.contains("under way"), "{refused}");
}

#[tokio::test]
async fn ten_thousand_nodes_of_every_shape_come_to_an_end() {
    let nothing = || Node::function(Function::new(|_| async { Ok(()) }));
    let mut fan = Flow::new("fan").node("s", nothing()).node("j", nothing().join(Join::All));
    for index in 0..2000 {
        let id = format!("n{index}");
        fan = fan.node(&id, nothing()).edge(Edge::new("s", &id)).edge(Edge::new(&id, "j"));
    }
    let report = finish(&engine(), fan.build().expect("sound"), json!(null)).await;
    assert_eq!(report.outcome, Outcome::Completed);
    let turns = Limits { max_node_executions: Some(10_000), ..Limits::default() };
    let round = Flow::new("round")
        .limits(turns)
        .entry("a")
        .node("a", nothing())
        .node("b", nothing())
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("b", "a"))
        .build()
        .expect("sound");
    let report = finish(&engine(), round, json!(null)).await;
    assert_eq!(report.reason.expect("a limit").as_str(), "max_node_executions");
    let each = Node::map(formula("task"), nothing());
    let map = Flow::new("map").node("each", each).build().expect("sound");
    let report = finish(&engine(), map, json!((0..3000).collect::<Vec<u32>>())).await;
    assert_eq!(report.output.value().as_array().map(Vec::len), Some(3000));
}

#[tokio::test]
async fn everything_in_the_journal_can_be_read_back_in_order() {
    let store: Arc<dyn Journal> = antiphon_store::open("memory:").expect("a store in memory");
    let engine = Engine::new(Arc::clone(&store));
    let flow = Flow::new("one").node("a", expression("1")).build().expect("sound");
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    let read = store.read(run.branch(), 0, 1000).await.expect("readable");
    let numbers: Vec<u64> = read.iter().filter_map(|event| event.head.seq).collect();
    assert_eq!(numbers, (1..=report.seq).collect::<Vec<u64>>());
}

fn approved(relay_id: &RelayId) -> RelayResolved {
    yes(relay_id.clone())
}

/// Says yes to everything; what came of it, and how often was asked.
async fn say_yes(run: &mut Run) -> (Report, usize) {
    let mut asked = 0;
    loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            return (report, asked);
        }
        for relay in &report.relays {
            run.answer(approved(relay)).await.expect("taken");
            asked += 1;
        }
    }
}

#[tokio::test]
async fn who_overrides_a_guard_lets_through_what_it_looked_at() {
    let short = || Guard {
        id: "short".into(),
        check: Check::Length { min: None, max: Some(5) },
        action: Action::Block,
    };
    let personal = Guard { id: "personal".into(), check: Check::Personal, action: Action::Sanitize };
    let mail = expression("input").input(formula("'ann@example.com'"));
    let rows = [
        (expression("input").input(formula("'written'")), json!("written")),
        (mail.clone().guard_input(personal.clone()), json!("[removed: email]")),
        (Node::map(formula("['one', 'two']"), expression("item + '!'")), json!(["one!", "two!"])),
    ];
    for (node, expected) in rows {
        let mut node = node;
        node.guards.input.insert(0, short());
        let flow = Flow::new("guarded").node("a", node).build().expect("sound");
        let mut run = engine().start(flow, Invocation::new("task")).await.expect("accepted");
        let (report, asked) = say_yes(&mut run).await;
        assert_eq!((report.output.value(), asked), (expected, 1));
    }
    let after = mail.guard_output(short()).guard_output(personal);
    let flow = Flow::new("guarded").node("a", after).build().expect("sound");
    let mut run = engine().start(flow, Invocation::new("task")).await.expect("accepted");
    assert_eq!(say_yes(&mut run).await.0.output.to_text(), "[removed: email]");
}

#[tokio::test]
async fn guards_behind_one_that_sends_the_run_another_way_look_too() {
    let odd = Guard {
        id: "odd".into(),
        check: Check::MustMatch(Pattern::parse("zzz").expect("a pattern")),
        action: Action::Reroute("mend".into()),
    };
    let cut = Guard {
        id: "cut".into(),
        check: Check::Length { min: None, max: Some(4) },
        action: Action::Sanitize,
    };
    let before = expression("input").guard_input(odd.clone()).guard_input(cut.clone());
    let after = expression("input").guard_output(odd).guard_output(cut);
    for node in [before, after] {
        let flow = Flow::new("guarded").node("a", node).node("mend", expression("'mended ' + input"));
        let engine = engine();
        let invocation = Invocation::new("long text");
        let mut run = engine.start(flow.build().expect("sound"), invocation).await.expect("accepted");
        assert_eq!(run.wait().await.expect("no fault").output.to_text(), "mended long");
        let looked = |event: &Event| match &event.body {
            Body::GuardrailResult(result) => Some(result.guardrail_id.clone()),
            _ => None,
        };
        let looked: Vec<String> = events(&run).await.iter().filter_map(looked).collect();
        assert_eq!(looked, ["odd", "cut"]);
    }
}

#[tokio::test]
async fn what_may_not_be_seen_is_in_no_question_and_an_override_lets_the_input_through() {
    let secrets = Guard { id: "secrets".into(), check: Check::Secrets, action: Action::Block };
    // Put together here, so that no scanner takes this file for a leak.
    let secret = ["ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"].concat();
    let before = expression("input").guard_input(secrets.clone());
    let after = expression("input").guard_output(secrets);
    let given = Json::from("let through");
    for (node, input, output) in [
        (before, None, &*secret),
        (after.clone(), None, "[removed: github token]"),
        (after, Some(given), "let through"),
    ] {
        let flow = Flow::new("guarded").node("a", node).build().expect("sound");
        let engine = engine();
        let mut run = engine.start(flow, Invocation::new(&*secret)).await.expect("accepted");
        let paused = run.wait().await.expect("no fault");
        let asked = paused.relays[0].clone();
        run.answer(RelayResolved { input, ..yes(asked) }).await.expect("taken");
        assert_eq!(run.wait().await.expect("no fault").output.to_text(), output);
        let asks = |event: &&Event| matches!(event.body, Body::Relay(_));
        let question = events(&run).await.iter().find(asks).map(Event::to_json).unwrap_or_default();
        assert!(!question.contains("ghp_") && question.contains("withheld"), "{question}");
    }
}

#[tokio::test]
async fn what_a_hook_asks_about_is_what_the_node_gets_and_its_guards_still_look_at_it() {
    let hook = |point: Point<'_>| match point {
        Point::BeforeNode { .. } => Ok(Advice {
            input: Some(Json::from("rewritten")),
            verdict: Verdict::Ask("go on?".to_owned()),
            ..Advice::default()
        }),
        _ => Ok(Advice::default()),
    };
    let short =
        Guard { id: "short".into(), check: Check::Length { min: None, max: Some(5) }, action: Action::Block };
    for (node, questions) in [(expression("input"), 1), (expression("input").guard_input(short), 2)] {
        let flow = Flow::new("hooked").hook(hook).node("a", node).build().expect("sound");
        let mut run = engine().start(flow, Invocation::new("task")).await.expect("accepted");
        let (report, asked) = say_yes(&mut run).await;
        assert_eq!((&*report.output.to_text(), asked), ("rewritten", questions));
    }
}

#[tokio::test]
async fn a_hook_may_look_things_up_and_what_goes_wrong_then_is_named() {
    let looks = |limit: u64| {
        let hook = AsyncHook::new(|occasion| async move {
            let Occasion::BeforeNode { input, .. } = occasion else { return Ok(Advice::default()) };
            tokio::task::yield_now().await;
            match &*input.to_text() {
                "fail" => Err("nobody knows".to_owned()),
                "panic" => panic!("on purpose"),
                "hang" => std::future::pending().await,
                known => {
                    Ok(Advice { input: Some(Json::from(known.to_uppercase().as_str())), ..Advice::default() })
                }
            }
        });
        hook.limit(Duration::from_millis(limit))
    };
    for (task, limit, told) in [
        ("known", 60_000, "KNOWN"),
        ("fail", 60_000, "hook: nobody knows"),
        ("panic", 60_000, "hook: it panicked"),
        ("hang", 20, "hook: it took longer than 20 ms"),
    ] {
        let flow =
            Flow::new("looks").hook(looks(limit)).node("a", expression("input")).build().expect("sound");
        let mut run = engine().start(flow, Invocation::new(task)).await.expect("accepted");
        let report = run.wait().await.expect("no fault");
        let failed = events(&run).await.into_iter().find_map(|event| match event.body {
            Body::NodeEnd(end) => end.error,
            _ => None,
        });
        let failed = failed.map(|error| format!("{}: {}", error.code.expect("a code"), error.message));
        assert_eq!(failed.unwrap_or_else(|| report.output.to_text().into_owned()), told);
    }
}

/// A flow in a node that may take a minute: a question, and then something that takes so long.
fn timed(work: Duration) -> Flow {
    let slow = Function::new(move |_| async move {
        tokio::time::sleep(work).await;
        Ok("done")
    });
    let inner = Flow::new("inner")
        .node("gate", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
        .node("slow", Node::function(slow).effect(Class::Read))
        .edge(Edge::new("gate", "slow"))
        .build()
        .expect("sound");
    let outer = Node::flow(inner).timeout(Duration::from_mins(1));
    Flow::new("outer").node("sub", outer).build().expect("sound")
}

#[tokio::test(start_paused = true)]
async fn time_waiting_for_a_person_inside_counts_in_no_timeout_and_work_after_it_does() {
    for (work, outcome) in [(50, Outcome::Completed), (70, Outcome::Failed)] {
        let engine = quick_engine();
        let flow = timed(Duration::from_secs(work));
        let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
        let paused = run.wait().await.expect("no fault");
        tokio::time::sleep(Duration::from_hours(1)).await;
        run.answer(approved(&paused.relays[0])).await.expect("still wanted");
        let report = run.wait().await.expect("no fault");
        assert_eq!(report.outcome, outcome, "{work} s of work");
    }
}

#[test]
fn a_timeout_around_a_run_holds_after_a_crash() {
    let life = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().start_paused(true).build().expect("a runtime")
    };
    let journal = antiphon_store::open("memory:").expect("a store in memory");
    let clock = || TaskClock::new("2026-01-01T00:00:00Z".parse().expect("a moment"));
    let flow = timed(Duration::from_secs(70));
    let first = life();
    let branch = first.block_on(async {
        let engine = Engine::new(Arc::clone(&journal)).clock(clock());
        let mut run = engine.start(flow.clone(), Invocation::new("text")).await.expect("accepted");
        let paused = run.wait().await.expect("no fault");
        run.answer(approved(&paused.relays[0])).await.expect("taken");
        run.branch().clone()
    });
    drop(first);
    let report = life().block_on(async {
        let engine = Engine::new(journal).clock(clock());
        let mut run = engine.resume(branch, Some(flow)).await.expect("resumed");
        run.wait().await.expect("no fault")
    });
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.statuses["sub"], NodeStatus::Failed);
}

#[tokio::test]
async fn the_items_of_a_map_see_the_task_and_the_nodes_of_the_flow() {
    let inner = Node::map(formula("[1, 2]"), expression("item * outputs.first"));
    let flow = Flow::new("map")
        .node("first", expression("10"))
        .node("each", Node::map(formula("['x']"), inner))
        .edge(Edge::new("first", "each"))
        .build()
        .expect("sound");
    assert_eq!(finish(&engine(), flow, json!(null)).await.output.value(), json!([[10, 20]]));
    let function =
        Function::new(|call| async move { Ok(format!("{}{}", call.task().to_text(), call.input)) });
    for node in [expression("task + string(item)"), Node::function(function)] {
        let flow = Flow::new("map").node("each", Node::map(formula("[1, 2]"), node)).build().expect("sound");
        assert_eq!(finish(&engine(), flow, json!("n")).await.output.value(), json!(["n1", "n2"]));
    }
}

#[tokio::test]
async fn an_isolated_failure_contributes_what_it_can_and_stays_isolated() {
    let failed = Key {
        name: "failed".into(),
        schema: Schema::compile(json!({"type": "boolean"})).expect("a schema"),
        default: Some(json!(false)),
        reduce: Reduce::Last,
    };
    for (set, state) in [("has(output.error)", true), ("output.ok", false)] {
        let flow = Flow::new("isolated")
            .state(failed.clone())
            .node("a", expression("1 / 0").set("failed", formula(set)).isolate())
            .node("b", expression("input.error.code"))
            .edge(Edge::new("a", "b"))
            .build()
            .expect("sound");
        let report = finish(&engine(), flow, json!(null)).await;
        assert_eq!((&*report.output.to_text(), &report.state["failed"]), ("expression", &json!(state)));
    }
}

#[tokio::test]
async fn what_guards_withhold_is_not_told_by_a_failure_either() {
    // Put together here, so that no scanner takes this file for a leak.
    let key = || ["AKIA", "ABCDEFGHIJKLMNOP"].concat();
    let fails = || Node::function(Function::new(move |_| async move { Err::<(), _>(Failure::new(key())) }));
    let schema = || Schema::compile(json!({"enum": ["no"]})).expect("a schema");
    let unfit = || Node::function(Function::new(move |_| async move { Ok(key()) })).output(schema());
    for work in [&fails as &dyn Fn() -> Node, &unfit] {
        for action in [Action::Block, Action::Sanitize, Action::Warn] {
            let guard = Guard { id: "keys".into(), check: Check::Secrets, action: action.clone() };
            let node = || work().retry(Retry::new(2)).guard_output(guard.clone());
            let flow = Flow::new("tells").node("a", node().isolate()).node("b", node());
            let engine = engine();
            let flow = flow.build().expect("sound");
            let mut run = engine.start(flow, Invocation::new("")).await.expect("accepted");
            run.wait().await.expect("no fault");
            let events = events(&run).await;
            let told = events.iter().filter(|event| event.to_json().contains("AKIA")).count();
            assert_eq!(told > 0, action == Action::Warn, "{action:?}: {told} events");
            let found =
                |event: &&Event| matches!(&event.body, Body::GuardrailResult(result) if !result.passed);
            assert_eq!(events.iter().filter(found).count(), 6, "{action:?}: one for each attempt");
        }
    }
}

#[tokio::test]
async fn what_guards_withhold_is_not_in_what_is_left_of_a_run_inside_nor_in_what_an_expression_says() {
    let key = || ["AKIA", "ABCDEFGHIJKLMNOP"].concat();
    let tells = || Node::function(Function::new(move |_| async move { Ok(key()) }));
    let fails = || Node::function(Function::new(|_| async { Err::<(), _>(Failure::new("no")) }));
    let inner = Flow::new("inner").node("x", tells()).node("y", fails()).edge(Edge::new("x", "y"));
    let inside = Node::flow(inner.build().expect("sound"));
    let fragile = expression("{'a': 1}[input]").retry(Retry::new(1));
    for (work, is_inside) in [(inside, true), (fragile, false)] {
        let guard = Guard { id: "keys".into(), check: Check::Secrets, action: Action::Sanitize };
        let flow = Flow::new("tells").node("key", tells()).node("a", work.guard_output(guard));
        let flow = flow.edge(Edge::new("key", "a")).build().expect("sound");
        let engine = engine();
        let mut run = engine.start(flow, Invocation::new("")).await.expect("accepted");
        let report = run.wait().await.expect("no fault");
        assert_eq!(report.outcome, Outcome::Failed);
        // What an expression fails with leaves the output of the node before it.
        assert_eq!(report.output.to_text().contains("removed"), is_inside, "{}", report.output.as_str());
        let of_guarded = |event: &&Event| event.head.node_id.as_ref().is_some_and(|id| id.as_str() == "a");
        let events = events(&run).await;
        for event in events.iter().filter(of_guarded) {
            assert!(!event.to_json().contains("AKIA"), "{}", event.to_json());
        }
    }
}

#[tokio::test]
async fn what_is_cut_off_at_the_same_time_is_taken_in_one_after_the_other() {
    let never = || Node::function(Function::new(|_| std::future::pending::<Result<(), Failure>>()));
    let cut_off = || never().timeout(Duration::from_millis(20)).isolate();
    let flow = Flow::new("late").node("p", cut_off()).node("q", cut_off());
    let flow = flow.node("one", expression("input").join(Join::Any));
    let flow = flow.edge(Edge::new("p", "one")).edge(Edge::new("q", "one")).build().expect("sound");
    let given = finish(&engine(), flow, json!("")).await.output.value();
    assert_eq!(given.as_object().and_then(|given| given.get("q")), None, "the first one wins: {given}");
}

#[tokio::test(start_paused = true)]
async fn a_nested_run_that_has_used_up_its_time_gets_no_more_by_being_tried_again() {
    let limits = Limits { execution_timeout: Some(Duration::from_secs(10)), ..Limits::default() };
    let never = Function::new(|_| std::future::pending::<Result<(), Failure>>());
    let inner = Flow::new("inner").limits(limits).node("x", Node::function(never)).build().expect("sound");
    let flow = Flow::new("outer").node("sub", Node::flow(inner).retry(Retry::new(2))).build().expect("sound");
    let engine = quick_engine();
    let report = tokio::time::timeout(Duration::from_mins(1), finish(&engine, flow, json!(null))).await;
    assert_eq!(report.expect("it ends").outcome, Outcome::Failed);
}

#[tokio::test]
async fn a_command_of_another_process_is_done_or_its_refusal_is_on_record() {
    let flow = Flow::new("gate")
        .node("gate", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
        .build()
        .expect("sound");
    let engine = engine().inbox();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    let relay = run.wait().await.expect("no fault").relays[0].clone();
    let session = run.session().clone();
    let late = r#"{"type":"relay_resolved","relayId":"nobody asked","approved":true,"by":"elsewhere"}"#;
    let answer =
        format!(r#"{{"type":"relay_resolved","relayId":"{relay}","approved":true,"by":"elsewhere"}}"#);
    for text in ["rubbish", late, &answer] {
        engine.journal().send(&session, text).await.expect("left there");
    }
    let mut tail = run.events();
    let mut told = Vec::new();
    while !told.iter().any(|event: &Event| matches!(event.body, Body::RunEnd(_))) {
        match tail.next().await.expect("readable") {
            Some(events) => told.extend(events),
            None => tokio::task::yield_now().await,
        }
    }
    let refused = told.iter().filter(|event| matches!(event.body, Body::Diagnostic(_))).count();
    assert_eq!(refused, 2, "{:?}", tags(&told));
}

#[tokio::test]
async fn a_wish_to_stop_a_run_that_has_ended_stops_no_other() {
    let flow = || Flow::new("quick").node("first", expression("1")).build().expect("sound");
    let engine = engine().inbox();
    let ended = finish(&engine, flow(), json!(null)).await;
    let cancel = r#"{"type":"cancel_requested","by":"elsewhere","mode":"now"}"#;
    engine.journal().send(&ended.session, cancel).await.expect("left there");
    let again = Invocation { session: Some(ended.session), ..Invocation::new("text") };
    let mut run = loop {
        match engine.start(flow(), again.clone()).await {
            Ok(run) => break run,
            Err(Refused::Journal(Fault::Owned { .. })) => tokio::task::yield_now().await,
            Err(refused) => panic!("{refused}"),
        }
    };
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Completed);
}

#[tokio::test]
async fn what_is_too_large_to_be_kept_fails_its_node_and_nothing_else() {
    let large = || Node::function(Function::new(|_| async { Ok(Value::from("x".repeat(7 << 20))) }));
    let flow = Flow::new("large")
        .node("larger", Node::function(Function::new(|_| async { Ok(Value::from("\u{1}".repeat(4 << 20))) })))
        .node("each", Node::map(formula("[1, 2]"), large()))
        .node("fine", large())
        .build()
        .expect("sound");
    let report = finish(&engine(), flow, json!(null)).await;
    let status = |node: &str| report.statuses[node].clone();
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(
        ["larger", "each", "fine"].map(status),
        ["FAILED", "FAILED", "COMPLETED"].map(NodeStatus::from)
    );
}

#[tokio::test]
async fn a_run_that_nobody_holds_lets_go_of_its_session_when_it_comes_to_wait_for_people() {
    let (go, wait) = tokio::sync::oneshot::channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(Some(wait)));
    let first = Function::new(move |_| {
        let wait = wait.lock().expect("one caller").take();
        async move {
            if let Some(wait) = wait {
                let _ = wait.await;
            }
            Ok(())
        }
    });
    let flow = Flow::new("gate")
        .node("first", Node::function(first))
        .node("gate", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
        .edge(Edge::new("first", "gate"))
        .build()
        .expect("sound");
    let engine = engine();
    let run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    let session = run.session().clone();
    drop(run);
    assert!(engine.journal().claim(&session).is_err(), "it is at work");
    go.send(()).expect("the node waits");
    while engine.journal().claim(&session).is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_fork_at_any_position_goes_on_from_there_to_the_same_end() {
    let engine = engine();
    let built = || {
        Flow::new("gate")
            .node("draft", expression("task + '!'"))
            .node("gate", Node::human(Human { prompt: "Go on?".into(), ..Human::default() }))
            .node("each", Node::map(formula("[1, 2]"), expression("item + 1")))
            .node("end", expression("string(input.gate.approved) + string(input.each)"))
            .edge(Edge::new("draft", "gate"))
            .edge(Edge::new("draft", "each"))
            .edge(Edge::new("gate", "end"))
            .edge(Edge::new("each", "end"))
            .build()
            .expect("sound")
    };
    let mut run = engine.start(built(), Invocation::new("text")).await.expect("accepted");
    let report = approve_all(&mut run).await;
    let main = run.branch().clone();
    drop(run);
    for at in 2..report.seq {
        let fork = antiphon_port::Branch::new(main.session.clone(), format!("at-{at}"));
        engine.journal().fork(&main, at, &fork).await.expect("forked");
        let mut again = loop {
            match engine.resume(fork.clone(), Some(built())).await {
                Ok(run) => break run,
                Err(Refused::Journal(Fault::Owned { .. })) => tokio::task::yield_now().await,
                Err(refused) => panic!("at {at}: {refused}"),
            }
        };
        let ended = approve_all(&mut again).await;
        assert_eq!((ended.outcome, &ended.output), (Outcome::Completed, &report.output), "at {at}");
        let events = engine.journal().read(&fork, 0, 1000).await.expect("readable");
        let asked = events.iter().filter(|event| matches!(event.body, Body::Relay(_))).count();
        assert_eq!(asked, 1, "at {at} it is asked once");
    }
}

/// Two nodes side by side with runs inside, which contribute to a list in the order in which they end.
fn two_inside() -> Flow {
    let inner = || Flow::new("inner").node("u", expression("'u'")).build().expect("sound");
    let list = Key {
        name: "l".into(),
        schema: Schema::compile(json!({"type": "array"})).expect("a schema"),
        default: Some(json!([])),
        reduce: Reduce::Append,
    };
    let flow = ["n1", "n2"].into_iter().fold(Flow::new("two").state(list), |flow, id| {
        flow.node(id, Node::flow(inner()).set("l", formula(&format!("'{id}'"))))
    });
    flow.build().expect("sound")
}

/// Two loops, of which it depends on what starts first how often they go round.
fn two_loops() -> Flow {
    Flow::new("loops")
        .entry("a")
        .node("a", expression("'a'"))
        .node("b", expression("'b'"))
        .node("c", expression("'c'"))
        .node("d", expression("[executions.b, executions.d]"))
        .edge(Edge::new("a", "b"))
        .edge(Edge::new("a", "c"))
        .edge(Edge::new("b", "b").when(formula("executions.b < 2")))
        .edge(Edge::new("c", "a").when(formula("executions.c < 2")))
        .edge(Edge::new("b", "d"))
        .edge(Edge::new("c", "d"))
        .limits(Limits { max_node_executions: Some(40), ..Limits::default() })
        .build()
        .expect("sound")
}

#[tokio::test]
async fn a_fork_in_the_middle_of_what_happened_together_comes_to_what_the_run_came_to() {
    for built in [two_inside, two_loops] {
        let engine = engine();
        let mut run = engine.start(built(), Invocation::new("")).await.expect("accepted");
        let report = run.wait().await.expect("no fault");
        let main = run.branch().clone();
        drop(run);
        for at in 2..report.seq {
            let fork = antiphon_port::Branch::new(main.session.clone(), format!("at-{at}"));
            engine.journal().fork(&main, at, &fork).await.expect("forked");
            while engine.journal().claim(&main.session).is_err() {
                tokio::task::yield_now().await;
            }
            let mut again = engine.resume(fork, Some(built())).await.expect("it goes on");
            let ended = again.wait().await.expect("no fault");
            assert_eq!((ended.output, ended.state), (report.output.clone(), report.state.clone()), "at {at}");
        }
    }
}

/// Says yes to whatever is asked until the run has ended.
async fn approve_all(run: &mut Run) -> Report {
    loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            return report;
        }
        for relay_id in report.relays {
            let answer = yes(relay_id);
            run.answer(answer).await.expect("a yes is enough: nothing here is in doubt");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_waits_for_its_next_attempt_leaves_its_place_to_others() {
    let flaky = Node::function(Function::new(|call| async move {
        if call.attempt == 1 { Err(Failure::new("not at first")) } else { Ok(json!("at last")) }
    }));
    let slow = Node::function(Function::new(|_| async {
        tokio::time::sleep(Duration::from_mins(1)).await;
        Ok(json!("done"))
    }));
    let flow = Flow::new("places")
        .limits(Limits { max_concurrency: Some(1), ..Limits::default() })
        .node("a", flaky.retry(Retry { delay: Duration::from_secs(1), ..Retry::new(1) }))
        .node("b", slow)
        .node("c", expression("1"))
        .build()
        .expect("sound");
    let engine = quick_engine();
    let mut run = engine.start(flow, Invocation::new(json!("T"))).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Completed);
    let told = tags(&events(&run).await);
    let told: Vec<&str> = told.iter().map(String::as_str).filter(|tag| tag.starts_with("node_")).collect();
    // It is due while another is at work, and goes on before what is only ready.
    let expected = [
        "node_start a",
        "node_retry a",
        "node_start b",
        "node_end b",
        "node_start a",
        "node_end a",
        "node_start c",
        "node_end c",
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn guards_do_not_look_at_what_says_where_content_came_from() {
    let digits = Check::MustNotMatch(Pattern::parse("1|text").expect("a pattern"));
    let guard = Guard { id: "digits".into(), check: digits, action: Action::Sanitize };
    let ask = Node::human(Human { prompt: "q".into(), ..Human::default() }).guard_input(guard);
    let flow = Flow::new("labels")
        .node("n01", expression("'a 1'"))
        .node("h", ask)
        .edge(Edge::new("n01", "h"))
        .build()
        .expect("sound");
    let mut run = engine().start(flow, Invocation::new(json!("T"))).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Paused);
    let about = events(&run).await.into_iter().find_map(|event| match event.body {
        Body::Relay(relay) => relay.params,
        _ => None,
    });
    let block = json!({"type": "text", "text": "a [removed: match]", "nodeId": "n01"});
    assert_eq!(about.expect("it asks").value(), json!([{"type": "text", "text": "T"}, block]));
}
