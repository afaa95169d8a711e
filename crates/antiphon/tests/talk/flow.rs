//! Agents in flows: kept contexts, maps, nested flows, retries, timeouts, swarms.

use std::time::Duration;

use antiphon::{Body, Event, Outcome};
use expect_test::expect;
use serde_json::json;

use crate::stage::{Says, Stage, read};

fn count(events: &[Event], is: impl Fn(&Body) -> bool) -> usize {
    events.iter().filter(|event| is(&event.body)).count()
}

#[tokio::test]
async fn an_agent_that_keeps_its_context_hears_what_it_said_before() {
    for (context, expected) in [("keep", "answer 2 of 3 heard"), ("fresh", "answer 1 of 1 heard")] {
        let flow = format!(
            r#"
antiphon: 1
entry: talk
nodes:
  talk:
    agent:
      context: {context}
      model: {{provider: own, model: echo}}
  judge: {{function: {{output: "executions.talk"}}}}
edges:
  - talk -> judge
  - {{from: judge, to: talk, when: "executions.talk < 2"}}
output: outputs.talk
limits: {{max_node_executions: 10}}
"#
        );
        let stage = Stage::new();
        let (report, _) = stage.play(&flow, &[]).await;
        assert_eq!(report.output.to_text(), expected, "{context}");
    }
}

#[tokio::test]
async fn agents_in_a_map_in_a_nested_flow_ask_and_answer() {
    let flow = r#"
antiphon: 1
nodes:
  inner:
    flow:
      antiphon: 1
      nodes:
        each:
          map:
            over: "['a', 'b', 'c']"
            max_parallel: 2
            node:
              agent:
                tools: [bash]
                model:
                  provider: scripted
                  replies:
                    - [{tool_call: {name: bash, input: {command: "echo $RANDOM >> out"}}}]
                    - [{text: said}]
"#;
    let stage = Stage::new();
    let (report, events) = stage.play(flow, &[Says::Yes, Says::Yes, Says::Yes]).await;
    assert_eq!(report.output.value(), json!(["said", "said", "said"]), "{}", stage.told(&events));
    assert_eq!(std::fs::read_to_string(stage.folder().join("out")).expect("written").lines().count(), 3);
    let paths = events.iter().filter(|event| matches!(event.body, Body::HarnessStart(_)));
    let mut paths: Vec<String> = paths
        .map(|event| {
            event.head.node_path.iter().flatten().map(|id| id.as_str()).collect::<Vec<_>>().join("/")
        })
        .collect();
    paths.sort();
    assert_eq!(paths, ["inner/each/0", "inner/each/1", "inner/each/2"]);
}

#[tokio::test]
async fn a_node_that_fails_is_tried_again_with_another_run() {
    let flow = r#"
antiphon: 1
nodes:
  a:
    retry: {max: 2, delay: 1ms}
    agent: {model: {provider: scripted, replies: [[{error: broken}], [{text: fine}]]}}
"#;
    let stage = Stage::new();
    let (report, events) = stage.play(flow, &[]).await;
    assert_eq!(report.output.to_text(), "fine", "{}", stage.told(&events));
    assert_eq!(count(&events, |body| matches!(body, Body::HarnessEnd(_))), 2);
}

#[tokio::test]
async fn a_timeout_kills_the_tools_of_its_agent() {
    let flow = r#"
antiphon: 1
nodes:
  a:
    timeout: 2s
    agent:
      tools: [bash]
      permissions: [{allow: bash}]
      model: {provider: scripted, replies: [[{tool_call: {name: bash, input: {command: "echo $$ > pid; sleep 60"}}}]]}
"#;
    let stage = Stage::new();
    let (report, events) = stage.play(flow, &[]).await;
    assert_eq!(report.outcome, Outcome::Failed);
    expect![[r#"
                 session_created
                 run_start
                 layer_start
                 node_start
        a        harness_start
        a        tool_call call_1_1 {"command":"echo $$ > pid; sleep 60"}
        a        usage
        a        tool_call call_1_1 {"command":"echo $$ > pid; sleep 60"}
                 node_timeout
        a        cancel_requested Now by the run around it
        a        tool_result call_1_1 failed {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
        a        harness_end cancelled after 1
                 node_end null it took longer than 2000 ms
                 layer_end
                 run_end
    "#]].assert_eq(&stage.told(&events));
    let pid = std::fs::read_to_string(stage.folder().join("pid")).expect("it had begun");
    while std::path::Path::new(&format!("/proc/{}", pid.trim())).exists() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn an_agent_that_was_too_slow_is_tried_again_from_the_start() {
    let flow = r#"
antiphon: 1
nodes:
  a:
    timeout: 1s
    retry: {max: 1, delay: 1ms}
    agent:
      tools: [bash]
      permissions: [{allow: bash}]
      model: {provider: scripted, replies: [[{tool_call: {name: bash, input: {command: "sleep 60"}}}], [{text: quick}]]}
"#;
    let stage = Stage::new();
    let (_, events) = stage.play(flow, &[]).await;
    expect![[r#"
                 session_created
                 run_start
                 layer_start
                 node_start
        a        harness_start
        a        tool_call call_1_1 {"command":"sleep 60"}
        a        usage
        a        tool_call call_1_1 {"command":"sleep 60"}
                 node_timeout
        a        cancel_requested Now by the run around it
        a        tool_result call_1_1 failed {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
        a        harness_end cancelled after 1
                 node_retry
                 node_start
        a        harness_start
        a        text quick
        a        usage
        a        harness_end done after 1
                 node_end "quick"
                 layer_end
                 run_end
    "#]].assert_eq(&stage.told(&events));
}

fn swarm(limits: &str, last: &str) -> String {
    format!(
        r#"
antiphon: 1
nodes:
  team:
    swarm:
      entry: plan
      {limits}
      agents:
        plan:
          model: {{provider: scripted, replies: [[{{tool_call: {{name: handoff, input: {{to: code, message: build it}}}}}}], [{{text: planned}}]]}}
        code:
          model: {{provider: scripted, replies: [[{{tool_call: {{name: handoff, input: {{to: {last}, message: look at it}}}}}}], [{{text: coded}}]]}}
        review:
          model: {{provider: scripted, replies: [[{{text: good}}]]}}
"#
    )
}

#[tokio::test]
async fn a_swarm_hands_its_work_on() {
    let stage = Stage::new();
    let (report, events) = stage.play(&swarm("", "review"), &[]).await;
    expect![[r#"
        "good"
                 session_created
                 run_start
                 layer_start
                 node_start
                 run_start
                 layer_start
                 node_start
        plan     harness_start
        plan     tool_call call_1_1 {"to":"code","message":"build it"}
        plan     usage
        plan     tool_call call_1_1 {"to":"code","message":"build it"}
        plan     handoff plan to code
        plan     tool_result call_1_1 "handed over to code"
        plan     harness_end done after 1
                 node_end {"handoff":"code","message":"build it"}
                 edge_transition
                 layer_end
                 layer_start
                 node_start
        code     harness_start
        code     tool_call call_1_1 {"to":"review","message":"look at it"}
        code     usage
        code     tool_call call_1_1 {"to":"review","message":"look at it"}
        code     handoff code to review
        code     tool_result call_1_1 "handed over to review"
        code     harness_end done after 1
                 node_end {"handoff":"review","message":"look at it"}
                 edge_transition
                 layer_end
                 layer_start
                 node_start
        review   harness_start
        review   text good
        review   usage
        review   harness_end done after 1
                 node_end "good"
                 layer_end
                 run_end
                 node_end "good"
                 layer_end
                 run_end
    "#]]
    .assert_eq(&format!("{}\n{}", report.output.as_str(), stage.told(&events)));
}

#[tokio::test]
async fn a_swarm_is_bounded_and_hands_nothing_to_strangers() {
    let stage = Stage::new();
    let (report, events) = stage.play(&swarm("", "nobody"), &[]).await;
    let results: String = stage
        .told(&events)
        .lines()
        .filter(|line| line.contains("tool_result"))
        .map(|line| format!("{line}\n"))
        .collect();
    expect![[r#"
        "coded"
        plan     tool_result call_1_1 "handed over to code"
        code     tool_result call_1_1 failed {"error":"the arguments do not fit the schema of `handoff`: \"nobody\" is not one of \"plan\" or \"review\" at `/to`","code":"schema"}
    "#]].assert_eq(&format!("{}\n{results}", report.output.as_str()));
    let round = swarm("max_handoffs: 1", "review");
    let (report, events) = stage.play(&round, &[]).await;
    let error = events.iter().find_map(|event| match &event.body {
        Body::NodeEnd(end) => end.error.as_ref().map(|error| error.message.clone()),
        _ => None,
    });
    expect![[r#"Failed Some("the run inside ended: max_node_executions")"#]]
        .assert_eq(&format!("{:?} {error:?}", report.outcome));
    let stranger = read(&swarm("", "review").replace("entry: plan", "entry: stranger"));
    expect!["flow.yaml:6:7: error: the entry `stranger` is no node; there are plan, code, review"]
        .assert_eq(&stranger.expect_err("nobody is called that"));
    let plan = swarm("", "review").replacen("plan:\n", "plan:\n          handoffs: [stranger]\n", 1);
    expect![[r#"
        flow.yaml:6:7: error: the edge leads to `stranger`, which is no node; there are plan, code, review
        flow.yaml:6:7: error: `code` is unreachable: no path leads to it from an entry; add an edge to `code`, or name it under `entry`
        flow.yaml:6:7: error: `review` is unreachable: no path leads to it from an entry; add an edge to `review`, or name it under `entry`"#]].assert_eq(&read(&plan).expect_err("nobody is called that"));
}

#[tokio::test]
async fn a_swarm_that_goes_round_in_circles_fails() {
    let agents = [("a", "b"), ("b", "a")].map(|(agent, to)| {
        format!(
            "{agent}: {{model: {{provider: scripted, replies: [[{{tool_call: {{name: handoff, input: {{to: {to}}}}}}}]]}}}}"
        )
    });
    let flow = format!(
        "antiphon: 1\nnodes:\n  s:\n    swarm:\n      max_turns: 2\n      agents:\n        {}\n",
        agents.join("\n        ")
    );
    let stage = Stage::new();
    let (report, events) = stage.play(&flow, &[]).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(count(&events, |body| matches!(body, Body::Handoff(_))), 4, "{}", stage.told(&events));
    let why = events.iter().rev().find_map(|event| match &event.body {
        Body::NodeEnd(end) => end.error.as_ref().map(|error| error.message.clone()),
        _ => None,
    });
    expect!["`b`: the condition of the edge to `a`: the work goes round in circles: `a` has had it 2 times, which is `max_turns`"]
        .assert_eq(&why.unwrap_or_default());
}
