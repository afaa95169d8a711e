//! Going on from the journal: an agent that is taken up again is bound and stopped as before.

use antiphon::{Body, Run};
use antiphon_event::Mode;
use expect_test::expect;

use crate::stage::{Says, Stage, answer, events};

/// An agent of a flow whose subagent asks something, and then does what its caller may not.
const FLOW: &str = r#"
antiphon: 1
nodes:
  lead:
    agent:
      tools: [bash, ask]
      permissions: [{allow: agent}, {deny: bash, command: echo secret}]
      model: {provider: scripted, replies: [[{tool_call: {name: agent, input: {agent: hand, task: try}}}], [{text: well}]]}
      agents:
        hand:
          permissions: [{allow: bash}]
          model:
            provider: scripted
            replies:
              - [{tool_call: {name: ask, input: {question: Shall I?}}}]
              - [{tool_call: {name: bash, input: {command: echo secret}}}]
              - [{text: tried}]
"#;

/// A run that waits for a person is left alone, and taken up by another driver.
async fn left_alone(stage: &Stage) -> Run {
    let mut run = stage.start(FLOW).await;
    run.wait().await.expect("no fault");
    let branch = run.branch().clone();
    drop(run);
    loop {
        match stage.engine.resume(branch.clone(), None).await {
            Ok(run) => return run,
            // The driver before has not let go of the session yet.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test]
async fn a_subagent_is_within_the_rules_of_its_caller() {
    let stage = Stage::new();
    let mut run = left_alone(&stage).await;
    answer(&mut run, &[Says::Text("yes")]).await;
    let told = events(&run).await;
    let results = told.iter().filter(|event| matches!(event.body, Body::ToolResult(_))).cloned();
    expect![[r#"
        lead/hand tool_result call_1_1 "yes"
        lead/hand tool_result call_2_1 failed {"error":"denied: bash: {deny: bash, command: \"echo secret\"} (agent) denies `echo secret`","code":"denied"}
        lead     tool_result call_1_1 "tried"
    "#]].assert_eq(&stage.told(&results.collect::<Vec<_>>()));
}

#[tokio::test]
async fn a_node_waits_with_the_agents_inside_it_and_says_so_once() {
    let stage = Stage::new();
    let mut run = left_alone(&stage).await;
    assert_eq!(answer(&mut run, &[Says::Text("yes")]).await.output.to_text(), "well");
    let told = events(&run).await;
    let waits = told.iter().filter(|event| matches!(event.body, Body::Interrupt(_))).count();
    assert_eq!(waits, 1);
}

#[tokio::test]
async fn an_answer_is_taken_at_once() {
    let stage = Stage::new();
    let mut run = left_alone(&stage).await;
    let asked = stage.engine.journal().read(run.branch(), 0, 1_000).await.expect("readable");
    let relay = asked.iter().find_map(|event| match &event.body {
        Body::Relay(relay) => Some(relay.as_ref().clone()),
        _ => None,
    });
    run.answer(Says::Text("yes").answer(&relay.expect("it asks"))).await.expect("it waits");
    assert_eq!(answer(&mut run, &[]).await.output.to_text(), "well");
}

#[tokio::test]
async fn all_agents_are_stopped_at_once() {
    let stage = Stage::new();
    let mut run = left_alone(&stage).await;
    run.cancel("ann", Mode::Now).await.expect("it waits");
    answer(&mut run, &[]).await;
    expect![[r#"
                 run_start
                 layer_start
                 node_start
        lead     harness_start
        lead     tool_call call_1_1 {"agent":"hand","task":"try"}
        lead     usage
        lead     tool_call call_1_1 {"agent":"hand","task":"try"}
        lead/hand harness_start
        lead/hand tool_call call_1_1 {"question":"Shall I?"}
        lead/hand usage
        lead/hand tool_call call_1_1 {"question":"Shall I?"}
        lead/hand relay Question ask: Shall I?
                 interrupt
                 resumed
        lead/hand cancel_requested Now by ann
        lead/hand relay_resolved false by run
        lead/hand tool_result call_1_1 failed {"error":"not run: the agent was cancelled","code":"cancelled"}
        lead/hand harness_end cancelled after 1
        lead     cancel_requested Now by ann
        lead     tool_result call_1_1 failed {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
        lead     harness_end cancelled after 1
                 cancel_requested Now by ann
                 node_end null cancelled by ann
                 layer_end
                 run_end
    "#]].assert_eq(&stage.told(&events(&run).await));
}
