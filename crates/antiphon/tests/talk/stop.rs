//! Stopping: whatever an agent is about, it ends at once and every call has a result.

use std::time::Duration;

use antiphon::{Body, Event, Run};
use antiphon_event::Mode;
use expect_test::expect;
use serde_json::json;

use crate::stage::{Stage, answer, events};

/// Waits until something is in the journal.
async fn until(run: &Run, holds: impl Fn(&Event) -> bool) {
    let mut tail = run.events();
    while let Some(page) = tail.next().await.expect("readable") {
        if page.iter().any(&holds) {
            return;
        }
    }
    panic!("the run came to its end before");
}

async fn until_there(path: &std::path::Path) {
    while !path.exists() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn is_alive(pid: &str) -> bool {
    std::path::Path::new(&format!("/proc/{}", pid.trim())).exists()
}

#[tokio::test]
async fn in_mid_answer() {
    let agent = json!({"model": {"provider": "scripted", "replies": [[{"text": "I beg"}, {"delay": 60000}, {"text": "in"}]]}});
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    until(&run, |event| matches!(event.body, Body::Text(_))).await;
    run.cancel("ann", Mode::Now).await.expect("it works");
    answer(&mut run, &[]).await;
    expect![[r#"
                 session_created
                 user "go"
        agent    harness_start
        agent    text I beg
        agent    cancel_requested Now by ann
        agent    harness_end cancelled after 0
    "#]]
    .assert_eq(&stage.told(&events(&run).await));
}

#[tokio::test]
async fn in_mid_tool() {
    let slow = json!([
        {"tool_call": {"name": "bash", "input": {"command": "echo $$ > pid; sleep 60; echo late > late"}}},
        {"tool_call": {"name": "ask", "input": {"question": "Well?"}}},
    ]);
    let agent = json!({
        "model": {"provider": "scripted", "replies": [slow]},
        "tools": ["bash", "ask"], "permissions": [{"allow": "bash"}],
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    until(&run, |event| matches!(event.body, Body::Relay(_))).await;
    let pid = stage.folder().join("pid");
    until_there(&pid).await;
    run.cancel("ann", Mode::Now).await.expect("it works");
    answer(&mut run, &[]).await;
    expect![[r#"
                 session_created
                 user "go"
        agent    harness_start
        agent    tool_call call_1_1 {"command":"echo $$ > pid; sleep 60; echo late > late"}
        agent    tool_call call_1_2 {"question":"Well?"}
        agent    usage
        agent    tool_call call_1_1 {"command":"echo $$ > pid; sleep 60; echo late > late"}
        agent    tool_call call_1_2 {"question":"Well?"}
        agent    relay Question ask: Well?
        agent    cancel_requested Now by ann
        agent    tool_result call_1_1 failed {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
        agent    relay_resolved false by run
        agent    tool_result call_1_2 failed {"error":"not run: the agent was cancelled","code":"cancelled"}
        agent    harness_end cancelled after 1
    "#]].assert_eq(&stage.told(&events(&run).await));
    let pid = std::fs::read_to_string(pid).expect("readable");
    while is_alive(&pid) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(!stage.folder().join("late").exists());
}

#[tokio::test]
async fn with_agents_below_it() {
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}],
        "model": {"provider": "scripted", "replies": [[{"tool_call": {"name": "agent", "input": {"agent": "slow", "task": "t"}}}]]},
        "agents": {"slow": {"model": {"provider": "scripted", "replies": [[{"text": "hm"}, {"delay": 60000}]]}}},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    until(&run, |event| matches!(event.body, Body::Text(_))).await;
    run.cancel("ann", Mode::Now).await.expect("it works");
    answer(&mut run, &[]).await;
    expect![[r#"
                 session_created
                 user "go"
        boss     harness_start
        boss     tool_call call_1_1 {"agent":"slow","task":"t"}
        boss     usage
        boss     tool_call call_1_1 {"agent":"slow","task":"t"}
        boss/slow harness_start
        boss/slow text hm
        boss/slow cancel_requested Now by ann
        boss/slow harness_end cancelled after 0
        boss     cancel_requested Now by ann
        boss     tool_result call_1_1 failed {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
        boss     harness_end cancelled after 1
    "#]].assert_eq(&stage.told(&events(&run).await));
}

#[tokio::test]
async fn the_next_turn_goes_on_after_it() {
    let slow = json!([{"text": "I beg"}, {"tool_call": {"name": "bash", "input": {"command": "touch there; sleep 60"}}}]);
    let agent = json!({
        "model": {"provider": "scripted", "replies": [{"when": "go", "steps": slow}, {"when": "what now", "steps": [{"text": "nothing"}]}]},
        "tools": ["bash"], "permissions": [{"allow": "bash"}],
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    until_there(&stage.folder().join("there")).await;
    run.cancel("ann", Mode::Now).await.expect("it works");
    answer(&mut run, &[]).await;
    drop(run);
    expect![[r#"
                 user "what now"
        agent    harness_start
        agent    text nothing
        agent    usage
        agent    harness_end done after 1
    "#]]
    .assert_eq(&stage.talk(&agent, "what now", &[]).await);
}
