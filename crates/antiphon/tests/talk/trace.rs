//! Spans and steps of what agents and flows do, as the trace and the graph show them.

use antiphon_view::{Fold, Traces};
use expect_test::expect;
use serde_json::json;

use crate::stage::{Stage, answer, events};

fn tree(events: &[antiphon::Event]) -> String {
    let fold = Fold::<Traces>::of(events);
    assert_eq!(fold.view().traces().len(), 1, "one turn is one trace");
    let line = |(depth, span): (usize, &antiphon_view::trace::Span)| {
        assert!(!span.placeholder, "every span that is named is there");
        let kind = span.kind.map(|kind| format!("{kind:?}").to_lowercase()).unwrap_or_default();
        let name = span.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("{}{kind}{name}: {:?}\n", "  ".repeat(depth), span.status)
    };
    fold.view().walk().map(line).collect()
}

#[tokio::test]
async fn an_agent_that_calls_another_has_it_below_the_call() {
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}],
        "model": {"provider": "scripted", "replies": [
            [{"tool_call": {"name": "agent", "input": {"agent": "hand", "task": "do it"}}}],
            [{"text": "done"}],
        ]},
        "agents": {"hand": {"model": {"provider": "scripted", "replies": [[{"text": "1"}]]}}},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    answer(&mut run, &[]).await;
    let told = events(&run).await;
    expect![[r#"
        input user: Ok
          turn boss: Ok
            iteration: Ok
            tool agent: Ok
              turn hand: Ok
                iteration: Ok
            iteration: Ok
    "#]]
    .assert_eq(&tree(&told));
    let steps: Vec<String> = told
        .iter()
        .map(|event| {
            let id = event.head.message_id.as_ref().map(ToString::to_string).unwrap_or_default();
            format!(
                "{} {}",
                event.body.tag(),
                id.split_once('/').map_or(if id.is_empty() { "-" } else { "run" }, |(_, step)| step)
            )
        })
        .collect();
    expect![[r#"
        session_created -
        user run
        harness_start -
        tool_call step-1
        usage step-1
        tool_call step-1
        harness_start -
        text step-1
        usage step-1
        harness_end -
        tool_result step-1
        text step-2
        usage step-2
        harness_end -"#]]
    .assert_eq(&steps.join("\n"));
}

#[tokio::test]
async fn a_flow_has_its_nodes_below_it_and_their_agents_below_them() {
    let flow = r#"
antiphon: 1
nodes:
  ask: {agent: {model: {provider: scripted, replies: [[{text: one}]]}}}
  inner: {flow: {antiphon: 1, nodes: {two: {function: {output: "2"}}}}}
edges: [ask -> inner]
"#;
    let stage = Stage::new();
    let (_, events) = stage.play(flow, &[]).await;
    expect![[r#"
        turn flow: Ok
          node ask: Ok
            turn ask: Ok
              iteration: Ok
          node inner: Ok
            turn flow: Ok
              node two: Ok
    "#]]
    .assert_eq(&tree(&events));
}
