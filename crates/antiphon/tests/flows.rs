//! Agents as nodes of flows, and guardrails of flow files.

use antiphon::{Body, Engine, Event, Flow, Invocation, Json, Node, Outcome, Run, Wardrobe, Workspace};
use antiphon_event::RelayId;
use antiphon_event::body::request::RelayResolved;
use antiphon_flow::{Edge, Expression, Formula, Limits};
use serde_json::json;

fn engine() -> Engine {
    let wardrobe = Wardrobe::new(Workspace::new(".").expect("a folder"));
    Engine::new(antiphon::open_store("memory:").expect("a store in memory")).agents(wardrobe)
}

fn formula(text: &str) -> Formula {
    Expression::parse(text).expect("an expression").into()
}

async fn events(run: &Run) -> Vec<Event> {
    let (mut tail, mut events) = (run.events(), Vec::new());
    while let Some(page) = tail.next().await.expect("readable") {
        events.extend(page);
    }
    events
}

#[tokio::test]
async fn a_scripted_agent_streams_and_its_loop_goes_round() {
    let script = json!({"model": {"provider": "scripted", "replies": [
        [{"text": "a draft"}, {"usage": {"input": 10, "output": 5}}], [{"text": "better"}],
    ]}});
    let review = json!({"output": {"type": "object"}, "model": {"provider": "scripted", "replies": [
        [{"output": {"ok": false}}], [{"output": {"ok": true}}],
    ]}});
    let flow = Flow::new("report")
        .limits(Limits { max_node_executions: Some(20), ..Limits::default() })
        .node("write", Node::agent("agent", script))
        .node("review", Node::agent("agent", review))
        .node("format", Node::command(["tr", "a-z", "A-Z"]).input(formula("outputs.write")))
        .edge(Edge::new("write", "review"))
        .edge(Edge::new("review", "write").when(formula("!output.ok")))
        .edge(Edge::new("review", "format").when(formula("output.ok")))
        .entry("write")
        .build()
        .expect("sound");
    let engine = engine();
    let mut run = engine.start(flow, Invocation::new("a report")).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    assert_eq!(report.output.to_text(), "BETTER");
    let told = events(&run).await;
    assert_eq!(told.iter().filter(|event| matches!(event.body, Body::HarnessEnd(_))).count(), 4);
    let blocks: Json = told
        .iter()
        .find_map(|event| match &event.body {
            Body::RunStart(start) => start.input.clone(),
            _ => None,
        })
        .expect("a task");
    assert_eq!(blocks.to_text(), "a report");
}

#[tokio::test]
async fn an_agent_of_a_flow_file_is_scripted_if_its_model_is_and_answers_in_json_if_asked_to() {
    let schema = "output: {type: object}";
    let rows = [
        ("provider: scripted, replies: [[{text: a}, {text: b}]]", "", Ok(json!("ab"))),
        ("provider: scripted, replies: [[{text: '{\"ok\": true}'}]]", schema, Ok(json!({"ok": true}))),
        ("provider: scripted, replies: [[{text: fine}]]", schema, Err("the answer does not fit its schema")),
        ("provider: scripted", "", Ok(json!(""))),
        ("provider: openai", "", Err("needs `model`")),
    ];
    for (model, output, expected) in rows {
        let text = format!("{{antiphon: 1, nodes: {{a: {{agent: {{model: {{{model}}}, {output}}}}}}}}}");
        let mut run = engine().start(read(&text), Invocation::new("task")).await.expect("accepted");
        let report = run.wait().await.expect("no fault");
        let error = events(&run).await.into_iter().find_map(|event| match event.body {
            Body::NodeEnd(end) => end.error.map(|error| error.message),
            _ => None,
        });
        match expected {
            Ok(output) => assert_eq!((report.output.value(), error), (output, None), "{model}"),
            Err(why) => assert!(error.as_ref().is_some_and(|error| error.contains(why)), "{error:?}"),
        }
    }
}

fn read(text: &str) -> Flow {
    let none = |_: &str| Err("there is no other".to_owned());
    antiphon_flow::file::read("a.yaml", text, &none).expect("sound").flow
}

/// An answer that says nothing yet.
fn nothing_said(relay: &RelayId, by: &str) -> RelayResolved {
    RelayResolved {
        relay_id: relay.clone(),
        approved: None,
        answer: None,
        input: None,
        scope: None,
        reason: None,
        by: by.to_owned(),
    }
}

#[tokio::test]
async fn what_a_guardrail_leaves_of_an_output_has_to_fit_too() {
    let flow = read(
        "{antiphon: 1, nodes: {a: {function: \"'x'\", output: {enum: [x]}, \
         guardrails: {output: [{must_not_match: x, action: sanitize}]}}}}",
    );
    let mut run = engine().start(flow, Invocation::new("task")).await.expect("accepted");
    let report = run.wait().await.expect("no fault");
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.statuses["a"].to_string(), "FAILED");
}

#[tokio::test]
async fn what_a_fallback_gave_is_another_question_than_what_the_node_gave() {
    let flow = read(
        "{antiphon: 1, nodes: {a: {function: \"'bad'\", fallback: f, \
         guardrails: {output: [{must_not_match: bad}]}}, f: {function: \"'bad too'\"}}}",
    );
    let mut run = engine().start(flow, Invocation::new("task")).await.expect("accepted");
    let first = run.wait().await.expect("no fault").relays.remove(0);
    let answer = |relay: &RelayId, answer: &str| RelayResolved {
        answer: Some(Json::from(answer)),
        ..nothing_said(relay, "ann")
    };
    run.answer(answer(&first, "fail")).await.expect("taken");
    let second = run.wait().await.expect("no fault").relays.remove(0);
    assert_ne!(first, second);
    run.answer(answer(&first, "override")).await.expect_err("the first one has its answer");
    run.answer(answer(&second, "override")).await.expect("taken");
    assert_eq!(run.wait().await.expect("no fault").output.value(), json!("bad too"));
}

#[tokio::test]
async fn nobody_answers_in_the_name_of_the_run_or_of_time() {
    let flow = read("{antiphon: 1, nodes: {h: {human: {prompt: go}}}}");
    let mut run = engine().start(flow, Invocation::new("task")).await.expect("accepted");
    let relay = run.wait().await.expect("no fault").relays.remove(0);
    let no = |by: &str| RelayResolved { approved: Some(false), ..nothing_said(&relay, by) };
    for name in ["run", "timeout"] {
        let refused = run.answer(no(name)).await.expect_err("nobody has that name").to_string();
        assert!(refused.contains("`by`"), "{refused}");
    }
    run.answer(no("ann")).await.expect("taken");
    let report = run.wait().await.expect("no fault");
    assert_eq!(report.outcome, Outcome::Completed);
    assert_eq!(report.output.value()["approved"], json!(false));
}
