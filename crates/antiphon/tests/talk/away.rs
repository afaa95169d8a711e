//! Agents that work on branches of their own: what they do is kept there, what they ask is asked here.

use antiphon::{Body, Event, Outcome, Run};
use antiphon_event::{BranchId, Mode, SessionId};
use antiphon_port::Branch;
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

/// A boss whose hand works by a policy: it touches a file, which is asked about, and answers.
fn boss(policy: &str) -> Value {
    json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "tools": ["bash"],
        "model": scripted(json!([[call("hand", "touch it")], [{"text": "it did"}]])),
        "agents": {"hand": {"policy": policy, "model": scripted(json!([bash("touch it"), [{"text": "touched"}]]))}},
    })
}

/// Where the agents of a run worked, as its journal says.
fn places(told: &[Event]) -> Vec<Branch> {
    let place = |event: &Event| match &event.body {
        Body::ToolProgress(progress) => {
            let value = progress.content.value();
            let session = SessionId::from(value["sessionId"].as_str()?);
            Some(Branch { session, branch: BranchId::from(value["branchId"].as_str()?) })
        }
        _ => None,
    };
    told.iter().filter_map(place).collect()
}

async fn at(stage: &Stage, branch: &Branch) -> Vec<Event> {
    stage.engine.journal().read(branch, 0, 1000).await.expect("readable")
}

/// A story without the ids that are another each time.
fn plain(story: &str, run: &Run) -> String {
    story.replace(run.id().as_str(), "RUN").replace(run.session().as_str(), "SESSION")
}

/// The run, as soon as whoever ran it before has let go of it.
async fn resumed(stage: &Stage, branch: &Branch) -> Run {
    loop {
        match stage.engine.resume(branch.clone(), None).await {
            Ok(run) => return run,
            // The driver before has not let go of the session yet.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test]
async fn on_a_fresh_branch_it_keeps_what_it_does_and_asks_where_it_was_called() {
    let mut stage = Stage::new();
    let mut run = stage.say(&boss("fresh_branch"), "go").await;
    let report = answer(&mut run, &[Says::Yes]).await;
    assert_eq!(report.output.to_text(), "it did");
    assert!(stage.folder().join("it").exists());
    let told = events(&run).await;
    expect![[r#"
                 session_created
                 user "go"
        boss     harness_start
        boss     tool_call call_1_1 {"agent":"hand","task":"touch it"}
        boss     usage
        boss     tool_call call_1_1 {"agent":"hand","task":"touch it"}
        boss     tool_progress {"sessionId":"SESSION","branchId":"hand-RUN.call_1_1"}
        boss/hand relay Permission bash: bash: no rule allows `touch it`
        boss/hand relay_resolved true by ann
        boss     tool_result call_1_1 "touched"
        boss     text it did
        boss     usage
        boss     harness_end done after 2
    "#]]
    .assert_eq(&plain(&stage.told(&told), &run));
    let [place] = places(&told).try_into().expect("one place");
    assert_eq!(place.session, *run.session());
    let there = at(&stage, &place).await;
    expect![[r#"
                 branch_created
                 user "touch it"
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
    "#]]
    .assert_eq(&plain(&stage.told(&there), &run));
    let calls = |event: &&Event| matches!(event.body, Body::ToolCall(_));
    let caused = told.iter().find(calls).map(|event| match &event.body {
        Body::ToolCall(call) => call.id.to_string(),
        other => panic!("{}", other.tag()),
    });
    let start = there.iter().find(|event| matches!(event.body, Body::HarnessStart(_))).expect("it began");
    assert_eq!(start.head.parent_id.as_ref().map(ToString::to_string), caused);
}

#[tokio::test]
async fn in_a_session_of_its_own_it_does_the_same() {
    let mut stage = Stage::new();
    let mut run = stage.say(&boss("new_session"), "go").await;
    answer(&mut run, &[Says::Yes]).await;
    let [place] = places(&events(&run).await).try_into().expect("one place");
    assert_ne!(place.session, *run.session());
    let there = at(&stage, &place).await;
    let tags: Vec<&str> = there.iter().map(|event| event.body.tag()).collect();
    assert_eq!(&tags[..3], ["session_created", "user", "harness_start"]);
    assert_eq!(tags.last(), Some(&"harness_end"));
    stage.engine.journal().claim(&place.session).expect("nobody holds it any more");
}

#[tokio::test]
async fn what_it_may_not_do_is_told_to_its_model_and_no_more_is_asked() {
    let mut stage = Stage::new();
    let mut run = stage.say(&boss("fresh_branch"), "go").await;
    answer(&mut run, &[Says::No]).await;
    assert!(!stage.folder().join("it").exists());
    let [place] = places(&events(&run).await).try_into().expect("one place");
    let there = at(&stage, &place).await;
    let denied = there
        .iter()
        .any(|event| matches!(&event.body, Body::ToolResult(result) if result.is_error == Some(true)));
    assert!(denied, "{}", stage.told(&there));
}

#[tokio::test]
async fn a_named_branch_goes_on_with_every_call() {
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}],
        "model": scripted(json!([[call("scribe", "one")], [call("scribe", "two")], [{"text": "noted"}]])),
        "agents": {"scribe": {"policy": "existing_branch", "branch": "notes", "model": {"provider": "own", "model": "echo"}}},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    assert_eq!(answer(&mut run, &[]).await.output.to_text(), "noted");
    let there = at(&stage, &Branch::new(run.session().clone(), "notes")).await;
    expect![[r#"
                 branch_created
                 user "one"
        boss/scribe harness_start
        boss/scribe text answer 1 of 1 heard
        boss/scribe usage
        boss/scribe harness_end done after 1
                 user "two"
        boss/scribe harness_start
        boss/scribe text answer 2 of 3 heard
        boss/scribe usage
        boss/scribe harness_end done after 1
    "#]]
    .assert_eq(&plain(&stage.told(&there), &run));
}

#[tokio::test]
async fn its_callers_own_branch_is_not_for_it() {
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}],
        "model": scripted(json!([[call("scribe", "one")], [{"text": "well"}]])),
        "agents": {"scribe": {"policy": "existing_branch", "branch": "main", "model": scripted(json!([[{"text": "1"}]]))}},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    answer(&mut run, &[]).await;
    let results = events(&run).await;
    let results: Vec<Event> =
        results.into_iter().filter(|event| matches!(event.body, Body::ToolResult(_))).collect();
    expect![[r#"
        boss     tool_result call_1_1 failed {"error":"the agent cannot begin: the branch SESSION/main is in use by another agent","code":"failed"}
    "#]].assert_eq(&plain(&stage.told(&results), &run));
}

#[tokio::test]
async fn another_process_finds_it_where_it_was() {
    for policy in ["fresh_branch", "new_session"] {
        let mut stage = Stage::new();
        let mut run = stage.say(&boss(policy), "go").await;
        let report = run.wait().await.expect("no fault");
        assert_eq!((report.outcome, report.relays.len()), (Outcome::Paused, 1), "{policy}");
        let (branch, relay) = (run.branch().clone(), report.relays[0].clone());
        drop(run);
        let mut run = resumed(&stage, &branch).await;
        // Answered before the agent is found again.
        let asked = at(&stage, &branch).await;
        let asked = asked.iter().find_map(|event| match &event.body {
            Body::Relay(asked) if asked.id == relay => Some(asked.clone()),
            _ => None,
        });
        run.answer(Says::Yes.answer(&asked.expect("it was asked here"))).await.expect("it waits");
        let report = answer(&mut run, &[]).await;
        assert_eq!(report.output.to_text(), "it did", "{policy}");
        let told = at(&stage, &branch).await;
        let asked = told.iter().filter(|event| matches!(event.body, Body::Relay(_))).count();
        let answered = told.iter().filter(|event| matches!(event.body, Body::RelayResolved(_))).count();
        assert_eq!((asked, answered), (1, 1), "{policy}: told once each");
        let place = places(&told).pop().expect("a place");
        let there = at(&stage, &place).await;
        let starts = there.iter().filter(|event| matches!(event.body, Body::HarnessStart(_))).count();
        assert_eq!(starts, 1, "{policy}: it was not begun again");
    }
}

#[tokio::test]
async fn it_stops_with_its_caller() {
    for policy in ["fresh_branch", "new_session"] {
        let mut stage = Stage::new();
        let mut run = stage.say(&boss(policy), "go").await;
        run.wait().await.expect("no fault");
        run.cancel("ann", Mode::Now).await.expect("it works");
        let report = run.wait().await.expect("no fault");
        assert_eq!(report.outcome, Outcome::Cancelled, "{policy}");
        let [place] = places(&events(&run).await).try_into().expect("one place");
        let there = at(&stage, &place).await;
        let end = there.last().expect("something happened");
        assert!(
            matches!(&end.body, Body::HarnessEnd(end) if end.reason.as_ref().is_some_and(|reason| reason.as_str() == "cancelled")),
            "{policy}: {}",
            stage.told(&there)
        );
    }
}

#[tokio::test]
async fn one_that_outlived_its_caller_is_ended_before_anything_else_happens() {
    for policy in ["fresh_branch", "new_session"] {
        let mut stage = Stage::new();
        let mut run = stage.say(&boss(policy), "go").await;
        run.wait().await.expect("no fault");
        let told = events(&run).await;
        let [place] = places(&told).try_into().expect("one place");
        let (branch, id) = (run.branch().clone(), run.id().clone());
        drop(run);
        let journal = stage.engine.journal();
        while journal.claim(&branch.session).is_err() || journal.claim(&place.session).is_err() {
            tokio::task::yield_now().await;
        }
        // What a process leaves that was told to stop, and died before the other run had ended.
        let call = told.iter().find_map(|event| match &event.body {
            Body::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        });
        let result = json!({
            "type": "tool_result", "runId": id.as_str(), "id": call.expect("a call").as_str(), "name": "agent",
            "output": {"error": "cancelled", "code": "cancelled"}, "isError": true,
        });
        let end = json!({"type": "harness_end", "runId": id.as_str(), "reason": "cancelled"});
        let left = [result, end].map(|event| Event::from_json(&event.to_string()).expect("an event"));
        let seq = at(&stage, &branch).await.last().and_then(|event| event.head.seq).expect("a position");
        let batch = antiphon_port::Batch::new(left.to_vec()).expect("two events");
        journal.append(&branch, seq, batch).await.expect("kept");
        let ends =
            |there: &[Event]| there.iter().filter(|event| matches!(event.body, Body::HarnessEnd(_))).count();
        assert_eq!(ends(&at(&stage, &place).await), 0, "{policy}: it waits for a person");
        let hello = json!({"model": scripted(json!([[{"text": "hello"}]]))});
        stage.say(&hello, "are you there?").await.wait().await.expect("no fault");
        let there = at(&stage, &place).await;
        assert_eq!(ends(&there), 1, "{policy}: {}", stage.told(&there));
    }
}

#[tokio::test]
async fn two_at_once_ask_one_after_another_or_together() {
    let hand = |file: &str| {
        let touch = bash(&format!("touch {file}"));
        json!({"policy": "fresh_branch", "model": scripted(json!([touch, [{"text": "touched"}]]))})
    };
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "tools": ["bash"],
        "model": scripted(json!([[call("one", "a"), call("two", "b")], [{"text": "both"}]])),
        "agents": {"one": hand("a"), "two": hand("b")},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    let report = answer(&mut run, &[Says::Yes, Says::Yes]).await;
    assert_eq!(report.output.to_text(), "both");
    assert!(stage.folder().join("a").exists() && stage.folder().join("b").exists());
}

#[tokio::test]
async fn what_it_spends_is_its_callers() {
    let costly = json!([{"text": "much"}, {"usage": {"input": 600, "output": 100}}]);
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "limits": {"max_tokens": 1000},
        "model": scripted(json!([[call("hand", "a"), {"usage": {"input": 100, "output": 100}}], [call("hand", "b"), {"usage": {"input": 10, "output": 10}}], [{"text": "done"}]])),
        "agents": {"hand": {"policy": "new_session", "model": scripted(json!([costly]))}},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    let report = answer(&mut run, &[]).await;
    assert_eq!(report.outcome, Outcome::Failed);
    let told = events(&run).await;
    let budget = |event: &&Event| {
        matches!(
            event.body,
            Body::BudgetReserved(_) | Body::BudgetSettled(_) | Body::HarnessEnd(_) | Body::Error(_)
        )
    };
    let lines: Vec<String> = told
        .iter()
        .filter(budget)
        .map(|event| match &event.body {
            Body::BudgetReserved(reserved) => format!("reserved {:?}", reserved.amounts.tokens),
            Body::BudgetSettled(settled) => format!("settled {:?}", settled.amounts.tokens),
            Body::HarnessEnd(end) => format!("end {:?}", end.reason),
            Body::Error(error) => format!("error {}", error.message),
            other => other.tag().to_owned(),
        })
        .collect();
    expect![[r#"
        reserved Some(200)
        settled Some(200)
        reserved Some(700)
        settled Some(700)
        reserved Some(20)
        settled Some(20)
        error what it needs is more than is left: budget_tokens
        end Some(Budget)
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
    let last = places(&told).pop().expect("a place");
    let there = at(&stage, &last).await;
    assert!(
        matches!(there.last().map(|event| &event.body), Some(Body::HarnessEnd(_))),
        "{}",
        stage.told(&there)
    );
}

#[tokio::test]
async fn in_a_flow_its_node_waits_with_it() {
    const FLOW: &str = r#"
antiphon: 1
nodes:
  lead:
    agent:
      tools: [bash]
      permissions: [{allow: agent}]
      model: {provider: scripted, replies: [[{tool_call: {name: agent, input: {agent: hand, task: try}}}], [{text: well}]]}
      agents:
        hand:
          policy: fresh_branch
          model: {provider: scripted, replies: [[{tool_call: {name: bash, input: {command: touch it}}}], [{text: tried}]]}
"#;
    let stage = Stage::new();
    let (report, told) = stage.play(FLOW, &[Says::Yes]).await;
    assert_eq!(report.output.to_text(), "well");
    let waits = told.iter().filter(|event| matches!(event.body, Body::Interrupt(_))).count();
    assert_eq!(waits, 1);
}
