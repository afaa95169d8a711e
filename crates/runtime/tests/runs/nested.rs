//! Runs inside runs: when they end, when they wait, and who hears of it in which order.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, FlowNodeId, Mode};
use antiphon_flow::function::Failure;
use antiphon_flow::guard::{Action, Check, Guard};
use antiphon_flow::retry::Retry;
use antiphon_flow::schema::Schema;
use antiphon_flow::{Class, Edge, Flow, Formula, Human, Limits, Node, OnFailure, OnTimeout};
use antiphon_runtime::{Engine, Function, Invocation, Outcome, Run, TaskClock};
use expect_test::{Expect, expect};

use crate::hands::{events, yes};

fn engine() -> Engine {
    let clock = TaskClock::new("2026-01-01T00:00:00Z".parse().expect("a moment"));
    Engine::new(antiphon_store::open("memory:").expect("a store in memory")).clock(clock)
}

fn never() -> Node {
    Node::function(Function::new(|_| std::future::pending::<Result<(), _>>()))
}

fn ask(timeout: Option<Duration>) -> Node {
    Node::human(Human { prompt: "Go on?".into(), timeout, on_timeout: OnTimeout::Accept, ..Human::default() })
}

/// Goes on with a run when the process that had it has let go of it.
async fn resume(engine: &Engine, run: Run, flow: &Flow) -> Run {
    let branch = run.branch().clone();
    drop(run);
    let next = Engine::clone(engine);
    loop {
        match next.resume(branch.clone(), Some(flow.clone())).await {
            Ok(run) => return run,
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// What happens in a run inside a node names the nodes around it, whether or not it is about a node of that run.
fn assert_inner_runs_have_their_way(events: &[Event]) {
    let mut ways = HashMap::new();
    for event in events {
        let (run, way) = (&event.head.run_id, event.head.node_path.as_deref());
        if matches!(event.body, Body::RunStart(_)) {
            ways.insert(run.clone(), way.map(<[FlowNodeId]>::to_vec));
        }
        let around = ways.get(run).cloned().flatten();
        let Some(around) = around else { continue };
        let expected: Vec<_> = around.iter().chain(&event.head.node_id).collect();
        assert_eq!(way.map(|way| way.iter().collect()), Some(expected), "{} of {run:?}", event.body.tag());
    }
}

/// Events of runs and nodes, those of inner runs with their way.
fn told(events: &[Event]) -> String {
    assert_inner_runs_have_their_way(events);
    let mut lines = String::new();
    for event in events {
        let path: Vec<&str> = event.head.node_path.iter().flatten().map(AsRef::as_ref).collect();
        let scope = match (&event.head.node_id, path.as_slice()) {
            (Some(node), []) => node.to_string(),
            (_, path) => path.join("/"),
        };
        let more = match &event.body {
            Body::NodeEnd(end) => end.status.to_string(),
            Body::RunEnd(end) => {
                let status = end.status.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{status} {}", end.reason.as_ref().map(ToString::to_string).unwrap_or_default())
            }
            Body::CancelRequested(request) => format!("by {}", request.by),
            Body::RelayResolved(answer) => format!("by {}", answer.by),
            Body::LayerStart(_) | Body::LayerEnd(_) | Body::EdgeTransition(_) | Body::SessionCreated(_) => {
                continue;
            }
            _ => String::new(),
        };
        let line = format!("{:16} {} {more}", event.body.tag(), if scope.is_empty() { "-" } else { &scope });
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

async fn check(flow: Flow, expected: Expect) {
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    run.wait().await.expect("no fault");
    expected.assert_eq(&told(&events(&run).await));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cut_off_with_its_node_ends_before_it() {
    let innermost = Flow::new("innermost").node("x", never()).build().expect("sound");
    let inner = Flow::new("inner").node("y", Node::flow(innermost)).build().expect("sound");
    let flow = Flow::new("outer")
        .node("s", Node::flow(inner).timeout(Duration::from_millis(200)))
        .build()
        .expect("sound");
    check(
        flow,
        expect![[r#"
            run_start        -
            node_start       s
            run_start        s
            node_start       s/y
            run_start        s/y
            node_start       s/y/x
            node_timeout     s
            cancel_requested s by the run around it
            cancel_requested s/y by the run around it
            node_end         s/y/x CANCELLED
            run_end          s/y CANCELLED cancelled
            node_end         s/y CANCELLED
            run_end          s CANCELLED cancelled
            node_end         s FAILED
            run_end          - FAILED node_failed
        "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_run_waits_says_so_once() {
    let items = Formula::closure(|_| serde_json::json!([1, 2]));
    let flow = Flow::new("each").node("m", Node::map(items, ask(None))).build().expect("sound");
    let engine = engine();
    let mut run = engine.start(flow.clone(), Invocation::new("text")).await.expect("accepted");
    loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            break;
        }
        run.answer(yes(report.relays[0].clone())).await.expect("taken");
        run = resume(&engine, run, &flow).await;
    }
    let interrupts: Vec<String> = events(&run)
        .await
        .iter()
        .filter(|event| matches!(event.body, Body::Interrupt(_)))
        .filter_map(|event| event.head.node_id.as_ref().map(ToString::to_string))
        .collect();
    assert_eq!(interrupts.iter().filter(|node| *node == "m").count(), 1, "{interrupts:?}");
}

#[tokio::test(start_paused = true)]
async fn what_expired_while_nobody_was_there_is_judged_before_the_run_is_said_to_wait() {
    let code = Function::new(|_| async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok("written")
    });
    let flow = Flow::new("gate")
        .node("gate", ask(Some(Duration::from_secs(1))))
        .node("write", Node::function(code))
        .edge(Edge::new("gate", "write"))
        .build()
        .expect("sound");
    let engine = engine();
    let mut run = engine.start(flow.clone(), Invocation::new("text")).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Paused);
    let (branch, journal) = (run.branch().clone(), Arc::clone(engine.journal()));
    drop(run);
    while journal.claim(&branch.session).is_err() {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_secs(2)).await;
    let mut run = engine.resume(branch, Some(flow)).await.expect("gone on with");
    let report = run.wait().await.expect("no fault");
    assert_eq!(
        (report.outcome, report.output.to_text().into_owned()),
        (Outcome::Completed, "written".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_output_cannot_be_worked_out_says_why_it_failed() {
    let output = antiphon_flow::Expression::parse("outputs.a / 0").expect("an expression");
    let flow = Flow::new("output")
        .node("a", Node::expression("1").expect("an expression"))
        .output(output)
        .build()
        .expect("sound");
    check(
        flow,
        expect![[r#"
            run_start        -
            node_start       a
            node_end         a COMPLETED
            error            -
            run_end          - FAILED expression
        "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_is_not_asked_again_and_the_fallback_takes_over() {
    let ask = Human {
        prompt: "Go on?".into(),
        timeout: Some(Duration::from_millis(1)),
        on_timeout: OnTimeout::Fail,
        ..Human::default()
    };
    let flow = Flow::new("gate")
        .node("gate", Node::human(ask).retry(Retry::new(2)).fallback("other"))
        .node("other", Node::expression("'instead'").expect("an expression"))
        .build()
        .expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    let report = loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            break report;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    assert_eq!(report.output.to_text(), "instead");
    let events = events(&run).await;
    let asked = events.iter().filter(|event| matches!(event.body, Body::Relay(_))).count();
    assert_eq!(asked, 1, "{}", told(&events));
}

/// What people are asked inside a node ends with it, and is asked again when the run goes on.
async fn check_cancelled_inside(node: Node, expected: Expect) {
    let flow = Flow::new("outer").node("s", node).build().expect("sound");
    let engine = engine();
    let mut run = engine.start(flow.clone(), Invocation::new("text")).await.expect("accepted");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Paused);
    run.cancel("ann", Mode::Graceful).await.expect("taken");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Cancelled);
    let mut run = resume(&engine, run, &flow).await;
    loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            assert_eq!(report.outcome, Outcome::Completed);
            break;
        }
        run.answer(yes(report.relays[0].clone())).await.expect("taken");
    }
    expected.assert_eq(&told(&events(&run).await));
}

#[tokio::test(start_paused = true)]
async fn a_person_asked_inside_a_node_is_not_asked_on_when_that_is_cancelled() {
    let inner = Flow::new("inner").node("h", ask(None)).build().expect("sound");
    check_cancelled_inside(
        Node::flow(inner),
        expect![[r#"
        run_start        -
        node_start       s
        run_start        s
        node_start       s/h
        relay            s/h
        interrupt        s/h
        interrupt        s
        cancel_requested - by ann
        cancel_requested s by the run around it
        relay_resolved   s/h by run
        node_end         s/h CANCELLED
        run_end          s CANCELLED cancelled
        node_end         s CANCELLED
        run_end          - CANCELLED cancelled
        resumed          -
        node_start       s
        resumed          s
        node_start       s/h
        relay            s/h
        interrupt        s/h
        interrupt        s
        relay_resolved   s/h by tester
        node_end         s/h COMPLETED
        run_end          s COMPLETED
        node_end         s COMPLETED
        run_end          - COMPLETED
    "#]],
    )
    .await;
    let items = Formula::closure(|_| serde_json::json!([1, 2]));
    check_cancelled_inside(
        Node::map(items, ask(None)),
        expect![[r#"
        run_start        -
        node_start       s
        run_start        s
        node_start       s/0
        node_start       s/1
        relay            s/0
        interrupt        s/0
        relay            s/1
        interrupt        s/1
        interrupt        s
        cancel_requested - by ann
        cancel_requested s by the run around it
        relay_resolved   s/0 by run
        node_end         s/0 CANCELLED
        relay_resolved   s/1 by run
        node_end         s/1 CANCELLED
        run_end          s CANCELLED cancelled
        node_end         s CANCELLED
        run_end          - CANCELLED cancelled
        resumed          -
        node_start       s
        resumed          s
        node_start       s/0
        node_start       s/1
        relay            s/0
        interrupt        s/0
        relay            s/1
        interrupt        s/1
        interrupt        s
        relay_resolved   s/0 by tester
        node_end         s/0 COMPLETED
        relay_resolved   s/1 by tester
        node_end         s/1 COMPLETED
        run_end          s COMPLETED
        node_end         s COMPLETED
        run_end          - COMPLETED
    "#]],
    )
    .await;
}

/// What nodes and runs came to, and how.
fn came_to(events: &[Event]) -> String {
    let mut lines = String::new();
    for event in events {
        let mut path: Vec<&str> = event.head.node_path.iter().flatten().map(AsRef::as_ref).collect();
        if path.is_empty() {
            path.extend(event.head.node_id.iter().map(AsRef::<str>::as_ref));
        }
        let (status, output) = match &event.body {
            Body::NodeEnd(end) => (&end.status, &end.output),
            Body::RunEnd(end) => (end.status.as_ref().expect("a status"), &end.final_output),
            _ => continue,
        };
        let scope = if path.is_empty() { "-".to_owned() } else { path.join("/") };
        writeln!(lines, "{} {scope} {status} {}", event.body.tag(), output.as_str()).expect("text takes it");
    }
    lines
}

async fn check_partial(flow: Flow, expected: Expect) {
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    let events = events(&run).await;
    let Some(Body::RunEnd(end)) = events.last().map(|event| &event.body) else { panic!("it has ended") };
    assert_eq!(report.output, end.final_output);
    expected.assert_eq(&came_to(&events));
}

fn formula(text: &str) -> Formula {
    antiphon_flow::Expression::parse(text).expect("an expression").into()
}

/// Takes as many seconds as its input says.
fn takes() -> Node {
    Node::function(Function::new(|call| async move {
        tokio::time::sleep(Duration::from_secs(call.input.value().as_u64().expect("a number"))).await;
        Ok("done")
    }))
}

#[tokio::test(start_paused = true)]
async fn what_a_run_inside_came_to_is_kept_whatever_ended_it() {
    let map = || Node::map(formula("[0, 0, 9]"), takes());
    let sized =
        |seconds| Limits { execution_timeout: Some(Duration::from_secs(seconds)), ..Limits::default() };
    let flow = || Flow::new("outer").limits(sized(1)).node("m", map());
    check_partial(
        flow().build().expect("sound"),
        expect![[r#"
        node_end m/0 COMPLETED "done"
        node_end m/1 COMPLETED "done"
        node_end m/2 CANCELLED null
        run_end m CANCELLED ["done","done",null]
        node_end m CANCELLED ["done","done",null]
        run_end - FAILED ["done","done",null]
    "#]],
    )
    .await;
    let inner = Flow::new("inner").node("m", map()).build().expect("sound");
    let around = Flow::new("outer").node("s", Node::flow(inner.clone()).timeout(Duration::from_secs(1)));
    let before = Node::expression("'before'").expect("an expression");
    let flow = around.node("a", before.clone()).edge(Edge::new("a", "s")).build().expect("sound");
    check_partial(
        flow,
        expect![[r#"
        node_end a COMPLETED "before"
        node_end s/m/0 COMPLETED "done"
        node_end s/m/1 COMPLETED "done"
        node_end s/m/2 CANCELLED null
        run_end s/m CANCELLED ["done","done",null]
        node_end s/m CANCELLED ["done","done",null]
        run_end s CANCELLED ["done","done",null]
        node_end s FAILED ["done","done",null]
        run_end - FAILED ["done","done",null]
    "#]],
    )
    .await;
    let divided = Node::map(formula("[1, 2, 0]"), Node::expression("6 / item").expect("an expression"));
    let flow = Flow::new("outer").node("m", divided).node("z", before.clone()).edge(Edge::new("m", "z"));
    check_partial(
        flow.build().expect("sound"),
        expect![[r#"
        node_end m/0 COMPLETED 6
        node_end m/1 COMPLETED 3
        node_end m/2 FAILED null
        run_end m FAILED [6,3,null]
        node_end m FAILED [6,3,null]
        run_end - FAILED [6,3,null]
    "#]],
    )
    .await;
    let broken = Node::map(formula("[1]"), Node::expression("1 / 0").expect("an expression"));
    let flow = Flow::new("outer").node("a", before).node("m", broken).edge(Edge::new("a", "m"));
    check_partial(
        flow.build().expect("sound"),
        expect![[r#"
        node_end a COMPLETED "before"
        node_end m/0 FAILED null
        run_end m FAILED [null]
        node_end m FAILED null
        run_end - FAILED "before"
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_write_inside_that_was_cut_off_is_not_done_again_unasked() {
    let inner = |node: Node| Flow::new("inner").node("x", node).build().expect("sound");
    let flow = |node: Node| Node::flow(inner(node));
    let each = |node: Node| Node::map(formula("[1]"), node);
    let retry = Retry::new(1);
    let on = || Retry { on: vec!["timeout".to_owned()], ..Retry::new(1) };
    for (name, node, retry, attempts) in [
        ("a write in a flow", flow(never()), retry.clone(), 1),
        ("a write in a map", each(never()), retry.clone(), 1),
        ("a write further in", flow(each(never())), retry.clone(), 1),
        ("a write that is asked for", flow(never()), on(), 2),
        ("one that may be done twice", flow(never().idempotent()), retry.clone(), 2),
        ("a flow that may be done twice", flow(never()).idempotent(), retry.clone(), 2),
        ("a flow that says it only reads", flow(never()).effect(Class::Read), retry.clone(), 2),
        ("a look in a flow", flow(never().effect(Class::Read)), retry.clone(), 2),
        ("a question in a map", each(never().effect(Class::Human)), retry.clone(), 2),
    ] {
        let node = node.timeout(Duration::from_millis(150)).retry(retry);
        assert_eq!(attempts_at(node).await, attempts, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_have_been_done_inside_is_not_done_again_for_the_node_around_it() {
    let inner = |node: Node| Flow::new("inner").node("x", node).build().expect("sound");
    let flow = |node: Node| Node::flow(inner(node));
    let each = |node: Node| Node::map(formula("[1]"), node);
    let slow = || never().timeout(Duration::from_millis(150));
    let on = || Retry { on: vec!["timeout".to_owned()], ..Retry::new(1) };
    let led_nowhere = |node: Node| {
        let edge = Edge::new("x", "y").when(formula("1 / output > 0"));
        Node::flow(Flow::new("inner").node("x", node).node("y", zero()).edge(edge).build().expect("sound"))
    };
    let beside_one_that_fails = |node: Node| {
        let fails = Node::expression("1 / 0").expect("an expression");
        let flow = Flow::new("inner").on_failure(OnFailure::FailFast).node("x", node).node("y", fails);
        Node::flow(flow.build().expect("sound"))
    };
    let fails_later = || {
        let work = async |_| {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Err::<(), _>(Failure::new("it broke"))
        };
        Node::function(Function::new(work)).effect(Class::Read)
    };
    let while_it_waits = || {
        let retry = Retry { delay: Duration::from_secs(3), ..Retry::new(1) };
        let waits =
            Node::function(Function::new(async |_| Err::<(), _>(Failure::new("it broke")))).retry(retry);
        let flow =
            Flow::new("inner").on_failure(OnFailure::FailFast).node("x", waits).node("y", fails_later());
        Node::flow(flow.build().expect("sound"))
    };
    let helped_in_vain = || {
        let helped = Node::expression("1 / 0").expect("an expression").fallback("z").isolate();
        let flow = Flow::new("inner").node("x", helped).node("y", fails_later()).node("z", slow());
        Node::flow(flow.build().expect("sound"))
    };
    for (name, node, attempts) in [
        ("a write that only waits for its next attempt", while_it_waits(), 2),
        ("a write for what was isolated", helped_in_vain(), 2),
        ("a write that took too long", flow(slow()), 1),
        ("one in a map", each(slow()), 1),
        ("one further in", flow(flow(slow())), 1),
        ("one that is asked for", flow(slow().retry(on())), 2),
        ("one that may be done twice", flow(slow().idempotent()), 2),
        ("one in a flow that may be done twice", flow(slow()).idempotent(), 2),
        ("a look that took too long", flow(slow().effect(Class::Read)), 2),
        ("a write that led nowhere", led_nowhere(zero()), 1),
        ("a look that led nowhere", led_nowhere(zero().effect(Class::Read)), 2),
        ("a write that was cut off", beside_one_that_fails(never()), 1),
        ("a look that was cut off", beside_one_that_fails(never().effect(Class::Read)), 2),
    ] {
        assert_eq!(attempts_at(node.retry(Retry::new(1))).await, attempts, "{name}");
    }
}

#[tokio::test]
async fn what_a_person_let_fail_inside_is_not_done_again_for_the_node_around_it() {
    let check = Check::Length { min: None, max: Some(1) };
    let guard = Guard { id: "short".into(), check, action: Action::Block };
    let work = Node::expression("'done'").expect("an expression").guard_output(guard);
    let inner = |node: Node| Node::flow(Flow::new("inner").node("x", node).build().expect("sound"));
    let write = inner(never()).timeout(Duration::from_millis(1)).isolate();
    let beside = Flow::new("inner").node("x", work.clone()).node("y", write).build().expect("sound");
    for node in [inner(work.clone()), inner(inner(work)), inner(Node::flow(beside))] {
        let flow = Flow::new("outer").node("s", node.idempotent().retry(Retry::new(1)));
        let engine = engine();
        let mut run =
            engine.start(flow.build().expect("sound"), Invocation::new("text")).await.expect("accepted");
        let relay = run.wait().await.expect("no fault").relays[0].clone();
        run.answer(RelayResolved { approved: None, answer: Some("fail".into()), ..yes(relay) })
            .await
            .expect("taken");
        let report = run.wait().await.expect("no fault");
        assert_eq!(report.outcome, Outcome::Failed);
        assert_eq!(events(&run).await.iter().filter(|event| is_start_of(event, "s")).count(), 1);
    }
}

fn zero() -> Node {
    Node::function(Function::new(async |_| Ok(serde_json::json!(0))))
}

/// How many times a node is attempted that is all there is.
async fn attempts_at(node: Node) -> usize {
    let flow = Flow::new("outer").node("s", node).build().expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    run.wait().await.expect("no fault");
    events(&run).await.iter().filter(|event| is_start_of(event, "s")).count()
}

fn is_start_of(event: &Event, node: &str) -> bool {
    matches!(event.body, Body::NodeStart(_)) && event.head.node_id.as_ref().is_some_and(|id| *id == *node)
}

#[tokio::test]
async fn an_input_that_does_not_fit_a_flow_inside_has_the_code_for_that() {
    let schema = Schema::compile(serde_json::json!({"type": "integer"})).expect("a schema");
    let inner = Flow::new("inner").input(schema).node("x", takes()).build().expect("sound");
    let flow = Flow::new("outer").node("s", Node::flow(inner)).build().expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("text")).await.expect("accepted");
    run.wait().await.expect("no fault");
    let told = events(&run).await;
    let error = told.iter().find_map(|event| match &event.body {
        Body::NodeEnd(end) => end.error.as_ref().map(|error| format!("{:?}: {}", error.code, error.message)),
        _ => None,
    });
    expect![[r#"Some(Schema): the input does not fit the flow: "text" is not of type "integer""#]]
        .assert_eq(&error.expect("it failed"));
}

#[tokio::test(start_paused = true)]
async fn the_time_people_take_is_part_of_how_long_a_run_took() {
    let inner = Flow::new("inner").node("h", ask(None)).build().expect("sound");
    let flow = Flow::new("outer").node("s", Node::flow(inner)).build().expect("sound");
    let engine = engine();
    let mut run = engine.start(flow.clone(), Invocation::new("text")).await.expect("accepted");
    let relay = run.wait().await.expect("no fault").relays[0].clone();
    let mut run = resume(&engine, run, &flow).await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    run.answer(yes(relay)).await.expect("taken");
    run.wait().await.expect("no fault");
    let took: Vec<u64> = events(&run)
        .await
        .iter()
        .filter_map(|event| match &event.body {
            Body::RunEnd(end) => Some(end.total_duration_ms),
            _ => None,
        })
        .collect();
    assert_eq!(took, [7000, 7000]);
}
