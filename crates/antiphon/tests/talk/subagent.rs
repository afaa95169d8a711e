//! Agents that call agents.

use antiphon::{Body, Outcome};
use expect_test::expect;
use serde_json::{Value, json};

use crate::stage::{Says, Stage, answer, events};

fn call(agent: &str, task: &str) -> Value {
    json!({"tool_call": {"name": "agent", "input": {"agent": agent, "task": task}}})
}

fn scripted(replies: Value) -> Value {
    json!({"provider": "scripted", "replies": replies})
}

fn bash(command: &str) -> Value {
    json!([{"tool_call": {"name": "bash", "input": {"command": command}}}])
}

#[tokio::test]
async fn two_at_once_are_runs_of_their_own_below_the_calls_that_made_them() {
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}],
        "model": scripted(json!([[call("one", "first"), call("two", "second")], [{"text": "both are done"}]])),
        "agents": {
            "one": {"model": scripted(json!([[{"text": "1"}]]))},
            "two": {"model": scripted(json!([[{"text": "2"}]]))},
        },
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    let report = answer(&mut run, &[]).await;
    assert_eq!(report.output.to_text(), "both are done");
    let told = events(&run).await;
    let calls: Vec<String> = told
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolCall(call) => Some(call.id.to_string()),
            _ => None,
        })
        .collect();
    let mut runs = Vec::new();
    for event in &told {
        let (Body::HarnessStart(start), Some(who)) = (&event.body, &event.head.agent) else { continue };
        let parent = event.head.parent_id.as_ref().map(|id| id.to_string()).unwrap_or_default();
        let nth = calls.iter().position(|call| *call == parent);
        runs.push(format!("{} depth {:?} call {nth:?}", who.chain.join("/"), start.depth));
    }
    runs.sort();
    expect![[r#"
        boss depth Some(0) call None
        boss/one depth Some(1) call Some(0)
        boss/two depth Some(1) call Some(1)
    "#]]
    .assert_eq(&(runs.join("\n") + "\n"));
    let ids: std::collections::BTreeSet<_> =
        told.iter().filter_map(|event| event.head.run_id.clone()).collect();
    assert_eq!(ids.len(), 4, "the user, the boss and the two");
}

#[tokio::test]
async fn what_a_subagent_asks_is_answered_from_outside() {
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "tools": ["bash"],
        "model": scripted(json!([[call("hand", "touch it")], [{"text": "it did"}]])),
        "agents": {"hand": {"model": scripted(json!([bash("touch it"), [{"text": "touched"}]]))}},
    });
    let mut stage = Stage::new();
    let told = stage.talk(&agent, "go", &[Says::Yes]).await;
    assert!(stage.folder().join("it").exists());
    expect![[r#"
                 session_created
                 user "go"
        boss     harness_start
        boss     tool_call call_1_1 {"agent":"hand","task":"touch it"}
        boss     usage
        boss     tool_call call_1_1 {"agent":"hand","task":"touch it"}
        boss/hand harness_start
        boss/hand tool_call call_1_1 {"command":"touch it"}
        boss/hand usage
        boss/hand relay Permission bash: bash: no rule allows `touch it`
        boss/hand relay_resolved true by ann
        boss/hand tool_call call_1_1 {"command":"touch it"}
        boss/hand tool_result call_1_1 "exit code: 0\n(it printed nothing)"
        boss/hand text touched
        boss/hand usage
        boss/hand harness_end done after 2
        boss     tool_result call_1_1 "touched"
        boss     text it did
        boss     usage
        boss     harness_end done after 2
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn a_yes_for_the_session_holds_for_agents_called_later() {
    let hand = json!({"model": scripted(json!([bash("touch it"), [{"text": "touched"}]]))});
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "tools": ["bash"],
        "model": scripted(json!([bash("touch it"), [call("hand", "touch it")], [{"text": "it did"}]])),
        "agents": {"hand": hand},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    let report = answer(&mut run, &[Says::Always]).await;
    assert_eq!(report.outcome, Outcome::Completed, "asked again: {:?}", report.relays);
}

#[tokio::test]
async fn it_may_do_no_more_than_its_caller() {
    let hand = json!({
        "model": scripted(json!([bash("echo secret"), bash("touch it"), [{"text": "tried"}]])),
        "permissions": [{"allow": "bash"}], "tools": ["bash", "write"],
    });
    let agent = json!({
        "name": "boss", "tools": ["bash"],
        "permissions": [{"allow": "agent"}, {"deny": "bash", "command": "echo secret"}],
        "model": scripted(json!([[call("hand", "try")], [{"text": "well"}]])),
        "agents": {"hand": hand},
    });
    let told = Stage::new().talk(&agent, "go", &[Says::No]).await;
    expect![[r#"
                 session_created
                 user "go"
        boss     harness_start
        boss     tool_call call_1_1 {"agent":"hand","task":"try"}
        boss     usage
        boss     tool_call call_1_1 {"agent":"hand","task":"try"}
        boss/hand harness_start
        boss/hand tool_call call_1_1 {"command":"echo secret"}
        boss/hand usage
        boss/hand tool_result call_1_1 failed {"error":"denied: bash: {deny: bash, command: \"echo secret\"} (agent) denies `echo secret`","code":"denied"}
        boss/hand tool_call call_2_1 {"command":"touch it"}
        boss/hand usage
        boss/hand relay Permission bash: bash: no rule allows `touch it`
        boss/hand relay_resolved false by ann
        boss/hand tool_result call_2_1 failed {"error":"denied: not now","code":"denied"}
        boss/hand text tried
        boss/hand usage
        boss/hand harness_end done after 3
        boss     tool_result call_1_1 "tried"
        boss     text well
        boss     usage
        boss     harness_end done after 2
    "#]].assert_eq(&told);
}

#[tokio::test]
async fn depth_and_number_are_bounded() {
    let again = json!([[call("same", "deeper")], [{"text": "back"}]]);
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "limits": {"max_depth": 2},
        "model": scripted(again), "agents": {"same": {}},
    });
    expect![[r#"
                 session_created
                 user "go"
        boss     harness_start
        boss     tool_call call_1_1 {"agent":"same","task":"deeper"}
        boss     usage
        boss     tool_call call_1_1 {"agent":"same","task":"deeper"}
        boss/same harness_start
        boss/same tool_call call_1_1 {"agent":"same","task":"deeper"}
        boss/same usage
        boss/same tool_call call_1_1 {"agent":"same","task":"deeper"}
        boss/same/same harness_start
        boss/same/same tool_call call_1_1 {"agent":"same","task":"deeper"}
        boss/same/same usage
        boss/same/same tool_result call_1_1 failed {"error":"agents may call agents 2 deep, and this one is at 2","code":"failed"}
        boss/same/same text back
        boss/same/same usage
        boss/same/same harness_end done after 2
        boss/same tool_result call_1_1 "back"
        boss/same text back
        boss/same usage
        boss/same harness_end done after 2
        boss     tool_result call_1_1 "back"
        boss     text back
        boss     usage
        boss     harness_end done after 2
    "#]].assert_eq(&Stage::new().talk(&agent, "go", &[]).await);
    let many = json!([[call("one", "a"), call("one", "b"), call("one", "c")], [{"text": "back"}]]);
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "limits": {"max_agents": 2},
        "model": scripted(many), "agents": {"one": {"model": scripted(json!([[{"text": "1"}]]))}},
    });
    let told = Stage::new().talk(&agent, "go", &[]).await;
    let mut results: Vec<&str> = told.lines().filter(|line| line.contains(" tool_result")).collect();
    results.sort_unstable();
    expect![[r#"
        boss     tool_result call_1_1 "1"
        boss     tool_result call_1_2 "1"
        boss     tool_result call_1_3 failed {"error":"an agent may call 2 agents, and this one has","code":"failed"}
    "#]].assert_eq(&(results.join("\n") + "\n"));
}

#[tokio::test]
async fn it_cannot_hand_over_what_is_its_callers() {
    let agent = |replies: Value| {
        json!({
            "name": "boss", "permissions": [{"allow": "agent"}], "handoffs": ["other"],
            "model": scripted(json!([[call("hand", "try")], [{"text": "well"}]])),
            "agents": {"hand": {"model": scripted(replies)}},
        })
    };
    let handoff =
        json!([[{"tool_call": {"name": "handoff", "input": {"to": "other"}}}], [{"text": "could not"}]]);
    expect![[r#"
                 session_created
                 user "go"
        boss     harness_start
        boss     tool_call call_1_1 {"agent":"hand","task":"try"}
        boss     usage
        boss     tool_call call_1_1 {"agent":"hand","task":"try"}
        boss/hand harness_start
        boss/hand tool_call call_1_1 {"to":"other"}
        boss/hand usage
        boss/hand tool_result call_1_1 failed {"error":"there is no tool `handoff`; there are agent","code":"schema"}
        boss/hand text could not
        boss/hand usage
        boss/hand harness_end done after 2
        boss     tool_result call_1_1 "could not"
        boss     text well
        boss     usage
        boss     harness_end done after 2
    "#]]
    .assert_eq(&Stage::new().talk(&agent(handoff), "go", &[]).await);
}
