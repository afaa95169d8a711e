//! MCP servers: their tools run where the agent works, and an agent has those it names, or all.

use antiphon::{Definition, Invocation};
use expect_test::expect;
use serde_json::{Value, json};

use crate::place;
use crate::stage::Stage;

/// An agent with two servers that calls a tool of each.
fn agent(tools: Value) -> Value {
    let calls = json!([{"tool_call": {"name": "here_where"}}, {"tool_call": {"name": "there_echo"}}]);
    let server = place::server();
    json!({
        "model": {"provider": "scripted", "replies": [calls, [{"text": "done"}]]},
        "tools": tools, "mcp": {"here": server, "there": server}, "permissions": [{"allow": "*"}],
    })
}

fn results(told: &str) -> String {
    let mut results: Vec<&str> = told.lines().filter(|line| line.contains(" tool_result")).collect();
    results.sort_unstable();
    results.iter().map(|line| format!("{line}\n")).collect()
}

async fn told(agent: &Value) -> String {
    let mut stage = Stage::new();
    results(&stage.talk(agent, "go", &[]).await)
}

#[tokio::test]
async fn an_agent_has_all_tools_of_its_servers_or_those_it_names() {
    let mut lines = Vec::new();
    for tools in [json!([]), json!(["read"]), json!(["here/*"]), json!(["there_echo", "read"])] {
        let told = told(&agent(tools.clone())).await;
        lines.push(format!("{tools}\n{told}"));
    }
    expect![[r#"
        []
        agent    tool_result call_1_1 "FOLDER"
        agent    tool_result call_1_2 "{}"
        ["read"]
        agent    tool_result call_1_1 "FOLDER"
        agent    tool_result call_1_2 "{}"
        ["here/*"]
        agent    tool_result call_1_1 "FOLDER"
        agent    tool_result call_1_2 failed {"error":"there is no tool `there_echo`; did you mean `here_echo`?","code":"schema"}
        ["there_echo","read"]
        agent    tool_result call_1_1 failed {"error":"there is no tool `here_where`; there are read, there_echo","code":"schema"}
        agent    tool_result call_1_2 "{}"
    "#]].assert_eq(&lines.concat());
}

#[tokio::test]
async fn an_agent_below_has_those_it_names_of_its_callers() {
    let below = |tools: Value| {
        let mut caller = agent(json!(["here/*", "read"]));
        let model = caller["model"].take();
        caller["model"] = json!({"provider": "scripted", "replies": [
            [{"tool_call": {"name": "agent", "input": {"agent": "hand", "task": "t"}}}], [{"text": "well"}],
        ]});
        caller["agents"] = json!({"hand": {"model": model, "tools": tools}});
        caller
    };
    let mut lines = Vec::new();
    for tools in [json!(null), json!(["read"]), json!(["here/*", "there/*"]), json!(["here_where"])] {
        let told = told(&below(tools.clone())).await;
        lines.push(format!("{tools}\n{told}"));
    }
    expect![[r#"
        null
        agent    tool_result call_1_1 "done"
        agent/hand tool_result call_1_1 "FOLDER"
        agent/hand tool_result call_1_2 failed {"error":"there is no tool `there_echo`; did you mean `here_echo`?","code":"schema"}
        ["read"]
        agent    tool_result call_1_1 "done"
        agent/hand tool_result call_1_1 failed {"error":"there is no tool `here_where`; there are agent, read","code":"schema"}
        agent/hand tool_result call_1_2 failed {"error":"there is no tool `there_echo`; there are agent, read","code":"schema"}
        ["here/*","there/*"]
        agent    tool_result call_1_1 "done"
        agent/hand tool_result call_1_1 "FOLDER"
        agent/hand tool_result call_1_2 failed {"error":"there is no tool `there_echo`; did you mean `here_echo`?","code":"schema"}
        ["here_where"]
        agent    tool_result call_1_1 "done"
        agent/hand tool_result call_1_1 "FOLDER"
        agent/hand tool_result call_1_2 failed {"error":"there is no tool `there_echo`; there are agent, here_where","code":"schema"}
    "#]].assert_eq(&lines.concat());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let definition: Definition = serde_json::from_value(agent(json!(["ghost/*"]))).expect("an agent");
    let refused = Stage::new().engine.talk(definition, Invocation::new("go")).await.err().expect("refused");
    expect!["the agent cannot begin: there is no MCP server `ghost`, whose tools `ghost/*` names: say under `mcp` what it is"].assert_eq(&refused.to_string());
}
