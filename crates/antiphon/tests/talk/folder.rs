//! The folder of a run: files, rules and servers of agents are those of the folder the run began in.

use std::path::Path;
use std::sync::Arc;

use antiphon::{Body, Definition, Engine, Event, Invocation, Journal, Rules, Run, Wardrobe, Workspace};
use antiphon_port::Branch;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::place::server;
use crate::stage::{Says, answer, events, read};

/// What is in each of two folders: a file with its name, and a rule that lets commands with its name run.
fn folders() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for name in ["one", "two"] {
        let folder = root.path().join(name);
        std::fs::create_dir_all(folder.join(".antiphon")).expect("a folder");
        std::fs::write(folder.join("name.txt"), name).expect("a file");
        let rules = json!({"permissions": [{"allow": "bash", "command": format!("echo {name}")}]});
        std::fs::write(folder.join(".antiphon/permissions.json"), rules.to_string()).expect("a file");
    }
    root
}

/// An engine as a process has it that is in a folder.
fn engine(journal: &Arc<dyn Journal>, folder: &Path) -> Engine {
    let rules = Rules { user: None, home: None, ..Rules::usual(folder) };
    let wardrobe = Wardrobe::new(Workspace::new(folder).expect("a folder")).rules(rules);
    let tools = wardrobe.tools();
    tools.into_iter().fold(Engine::new(Arc::clone(journal)).agents(wardrobe), Engine::tool)
}

async fn resumed(engine: &Engine, branch: &Branch) -> Run {
    loop {
        match engine.resume(branch.clone(), None).await {
            Ok(run) => return run,
            // The driver before has not let go of the session yet.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// What was asked, and what tools and nodes gave.
fn check(root: &Path, events: &[Event], expected: Expect) {
    let lines = events.iter().filter_map(|event| match &event.body {
        Body::Relay(relay) => {
            let params = relay.params.as_ref().map_or(Value::Null, |params| params.value());
            let tool = relay.tool.as_deref()?;
            Some(format!("asks {tool} {}\n", params.get("input").unwrap_or(&params)))
        }
        Body::ToolResult(result) => Some(format!("{}\n", result.output.to_text().trim_end())),
        Body::NodeEnd(end) => Some(format!("node: {}\n", end.output.to_text().trim_end())),
        _ => None,
    });
    let told = lines.collect::<String>().replace(&*root.to_string_lossy(), "ROOT");
    expected.assert_eq(&told);
}

#[tokio::test]
async fn an_agent_goes_on_with_the_files_rules_and_servers_of_its_folder() {
    let root = folders();
    let journal = antiphon::open_store("memory:").expect("a store in memory");
    let call = |name: &str, input: Value| json!([{"tool_call": {"name": name, "input": input}}]);
    let other = root.path().join("two/name.txt");
    let definition: Definition = serde_json::from_value(json!({
        "tools": ["ask", "read", "bash"],
        "mcp": {"here": server()},
        "permissions": [{"allow": "here_*"}],
        "model": {"provider": "scripted", "replies": [
            call("ask", json!({"question": "Shall I?"})),
            call("read", json!({"path": "name.txt"})),
            call("bash", json!({"command": "echo one"})),
            call("bash", json!({"command": "echo two"})),
            call("read", json!({"path": other})),
            call("here_where", json!({})),
            [{"text": "done"}],
        ]},
    }))
    .expect("an agent");
    let first = engine(&journal, &root.path().join("one"));
    let mut run = first.talk(definition.clone(), Invocation::new("go")).await.expect("accepted");
    run.wait().await.expect("no fault");
    let branch = run.branch().clone();
    drop(run);
    let second = engine(&journal, &root.path().join("two"));
    let mut run = resumed(&second, &branch).await;
    answer(&mut run, &[Says::Text("yes"), Says::No, Says::No]).await;
    check(
        root.path(),
        &events(&run).await,
        expect![[r#"
            asks ask null
            yes
               1	one
            exit code: 0
            stdout:
            one
            asks bash {"command":"echo two"}
            {"error":"denied: not now","code":"denied"}
            asks read {"path":"ROOT/two/name.txt"}
            {"error":"denied: not now","code":"denied"}
            ROOT/one
        "#]],
    );

    // The next turn is a run of its own, and works where it begins.
    let invocation = Invocation { session: Some(branch.session.clone()), ..Invocation::new("again") };
    let mut run = second.talk(definition, invocation).await.expect("accepted");
    run.wait().await.expect("no fault");
    assert_eq!(run.folder(), Some(&*root.path().join("two")));
}

#[tokio::test]
async fn tools_and_agents_of_a_flow_go_on_in_its_folder() {
    let root = folders();
    let journal = antiphon::open_store("memory:").expect("a store in memory");
    let flow = r#"
        antiphon: 1
        nodes:
          gate: {human: "Go on?"}
          look: {tool: read, input: "{'path': 'name.txt'}"}
          agent:
            agent:
              tools: [read]
              model: {provider: scripted, replies: [[{tool_call: {name: read, input: {path: name.txt}}}], [{text: done}]]}
              agents: {}
        edges: [gate -> look -> agent]
    "#;
    let flow = read(flow).unwrap_or_else(|problems| panic!("{problems}"));
    let first = engine(&journal, &root.path().join("one"));
    let mut run = first.start(flow, Invocation::new("go")).await.expect("accepted");
    run.wait().await.expect("no fault");
    let branch = run.branch().clone();
    drop(run);
    let mut run = resumed(&engine(&journal, &root.path().join("two")), &branch).await;
    answer(&mut run, &[Says::Yes]).await;
    check(
        root.path(),
        &events(&run).await,
        expect![[r#"
            node: {"approved":true,"by":"ann"}
            node:    1	one
               1	one
            node: done
        "#]],
    );
}
