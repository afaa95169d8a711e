//! Speaking while an agent works.

use antiphon::{Body, Event, Run};
use antiphon_event::body::content::{User, UserContent};
use antiphon_event::{Delivery, EventFlowId, Json, Mode};
use antiphon_view::{Fold, Messages, Projected, View};
use expect_test::expect;
use serde_json::{Value, json};

use crate::stage::{Says, Stage, answer, events};

fn asking() -> Value {
    json!({
        "model": {"provider": "scripted", "replies": [
            [{"tool_call": {"name": "ask", "input": {"question": "Which?"}}}],
            [{"text": "as you wish"}],
        ]},
        "tools": ["ask"],
    })
}

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

#[tokio::test]
async fn a_message_is_part_of_the_running_turn() {
    let mut stage = Stage::new();
    let mut run = stage.say(&asking(), "go").await;
    run.wait().await.expect("no fault");
    run.steer("the red one").await.expect("it listens");
    answer(&mut run, &[Says::Text("red")]).await;
    let told = events(&run).await;
    expect![[r#"
                 session_created
                 user "go"
        agent    harness_start
        agent    tool_call call_1_1 {"question":"Which?"}
        agent    usage
        agent    tool_call call_1_1 {"question":"Which?"}
        agent    relay Question ask: Which?
                 user "the red one"
        agent    relay_resolved "red" by ann
        agent    tool_result call_1_1 "red"
        agent    text as you wish
        agent    usage
        agent    harness_end done after 2
    "#]]
    .assert_eq(&stage.told(&told));
    let turn = told.iter().find_map(|event| event.head.event_flow_id.clone());
    let said = told.iter().find(|event| matches!(&event.body, Body::User(user) if user.delivery.is_some()));
    let head = &said.expect("it is there").head;
    assert_eq!(head.event_flow_id, turn, "it belongs to the turn it steers");
    let own = head.run_id.as_ref().map(|run| EventFlowId::from(run.shared()));
    assert_ne!(own, turn, "and is a run of its own");
    let parent = head.parent_id.as_ref().map(ToString::to_string);
    assert_eq!(parent, Some(format!("{}:usage:1", run.id())));
}

#[tokio::test]
async fn a_model_that_speaks_hears_it_before_its_next_call() {
    let agent = json!({"model": {"provider": "scripted", "replies": [
        [{"text": "One"}, {"delay": 300}, {"text": "."}], [{"text": "Two."}],
    ]}});
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "count").await;
    until(&run, |event| matches!(event.body, Body::Text(_))).await;
    run.steer("go on").await.expect("it listens");
    let report = answer(&mut run, &[]).await;
    assert_eq!(report.output.to_text(), "Two.");
}

#[tokio::test]
async fn a_model_that_has_said_nothing_is_asked_anew() {
    let agent = json!({"model": {"provider": "scripted", "replies": [
        {"when": "hurry", "steps": [{"text": "Here."}]},
        [{"delay": 600_000}, {"text": "late"}],
    ]}});
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    run.steer("hurry").await.expect("it listens");
    let report = answer(&mut run, &[]).await;
    assert_eq!(report.output.to_text(), "Here.");
}

#[tokio::test]
async fn nobody_hears_a_turn_that_has_ended() {
    let mut stage = Stage::new();
    let mut run = stage.say(&asking(), "go").await;
    run.wait().await.expect("no fault");
    run.cancel("ann", Mode::Now).await.expect("it works");
    run.wait().await.expect("no fault");
    let refused = run.steer("wait").await.expect_err("it is over");
    assert_eq!(refused.to_string(), format!("run {} has ended", run.id()));
}

#[tokio::test]
async fn a_flow_hears_nothing() {
    let stage = Stage::new();
    let run = stage.start("{antiphon: 1, nodes: {gate: {human: {prompt: Well?}}}}").await;
    let refused = run.steer("wait").await.expect_err("there is nobody");
    assert_eq!(refused.to_string(), "the message is not taken: a flow hears nothing while it runs");
}

#[tokio::test]
async fn another_process_speaks_through_the_inbox() {
    let mut stage = Stage::new();
    stage.engine = stage.engine.clone().inbox();
    let mut run = stage.say(&asking(), "go").await;
    run.wait().await.expect("no fault");
    // What is handed over again after a crash is said once.
    for delivery in [None, Some(Delivery::Steer), Some(Delivery::Steer)] {
        let content = UserContent::Text("the red one".to_owned());
        let user = User { content, delivery, provenance: None };
        let event = Event::new("said-elsewhere", Body::User(user));
        let sent = stage.engine.journal().send(run.session(), &event.to_json()).await;
        sent.expect("left there");
    }
    until_said(&run).await;
    answer(&mut run, &[Says::Text("red")]).await;
    let told = events(&run).await;
    let of = |event: &&Event| matches!(event.body, Body::User(_) | Body::Diagnostic(_));
    let told: Vec<String> = told
        .iter()
        .filter(of)
        .map(|event| match &event.body {
            Body::Diagnostic(remark) => remark.message.clone(),
            other => other.tag().to_owned(),
        })
        .collect();
    expect![[r#"
        user
        a command from another process was refused: a message that does not steer is a turn of its own: say it when this one has ended
        user"#]].assert_eq(&told.join("\n"));
}

/// Waits until a second message is in the journal, whether or not the run is paused.
async fn until_said(run: &Run) {
    loop {
        let users = events(run).await.into_iter().filter(|event| matches!(event.body, Body::User(_)));
        if users.count() == 2 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_was_said_survives_the_process() {
    let mut stage = Stage::new();
    let mut run = stage.say(&asking(), "go").await;
    run.wait().await.expect("no fault");
    run.steer(Json::from(json!("the red one"))).await.expect("it listens");
    let branch = run.branch().clone();
    drop(run);
    let mut run = resumed(&stage, &branch).await;
    answer(&mut run, &[Says::Text("red")]).await;
    let told = stage.engine.journal().read(&branch, 0, 1000).await.expect("readable");
    let fold = Fold::<Projected<Messages>>::of(&told);
    let said = serde_json::to_value(fold.view().snapshot()).expect("JSON");
    let said = said["messages"].as_array().expect("messages").iter();
    let said: Vec<String> =
        said.map(|message| format!("{}: {}", message["role"], message["content"])).collect();
    expect![[r#"
        "user": "go"
        "assistant": null
        "tool": "red"
        "user": "the red one"
        "assistant": "as you wish""#]]
    .assert_eq(&said.join("\n"));
}

/// The run, as soon as whoever ran it before has let go of it.
async fn resumed(stage: &Stage, branch: &antiphon_port::Branch) -> Run {
    loop {
        match stage.engine.resume(branch.clone(), None).await {
            Ok(run) => return run,
            // The driver before has not let go of the session yet.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}
