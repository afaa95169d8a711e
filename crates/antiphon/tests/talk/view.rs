//! Views of a conversation with all that agents do: nothing is left without its place.

use antiphon_view::{Agents, Fold, Permissions, Thread, Tools, View};
use expect_test::expect;
use serde_json::{Value, json};

use crate::stage::{Says, Stage, answer, events};

#[tokio::test]
async fn they_fold_what_agents_do_without_orphans() {
    let bash = json!({"tool_call": {"name": "bash", "input": {"command": "echo hi"}}});
    let call = json!({"tool_call": {"name": "agent", "input": {"agent": "hand", "task": "say hi"}}});
    let agent = json!({
        "name": "boss", "permissions": [{"allow": "agent"}], "tools": ["bash", "read", "ask"],
        "model": {"provider": "scripted", "replies": [
            [{"reasoning": "hm"}, {"text": "first"}, call, call, {"tool_call": {"name": "read", "input": {"path": "absent"}}}],
            [{"tool_call": {"name": "ask", "input": {"question": "Enough?"}}}],
            [{"text": "I beg"}, {"error": {"message": "busy", "code": "overloaded", "retryable": true, "retry_after": 1}}],
            [{"text": "done"}],
        ]},
        "agents": {"hand": {"model": {"provider": "scripted", "replies": [[bash], [{"text": "hi"}]]}}},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "go").await;
    answer(&mut run, &[Says::Yes, Says::No, Says::Text("yes")]).await;
    let told = events(&run).await;
    let thread = snapshot(Fold::<antiphon_view::Projected<Thread>>::of(&told).view());
    assert!(!thread.to_string().contains("\"orphan\":true"), "{thread:#}");
    let tools = Fold::<Tools>::of(&told);
    let mut lines = Vec::new();
    for call in tools.view().calls() {
        lines.push(format!("{:?} {:?}\n", call.name, call.status));
    }
    // Which of the two below comes first is a matter of chance.
    lines.sort();
    let permissions = Fold::<Permissions>::of(&told);
    for request in permissions.view().requests() {
        lines.push(format!("{:?} {:?} orphan {}\n", request.kind, request.status, request.orphan));
    }
    let agents = Fold::<Agents>::of(&told);
    for (depth, row) in agents.view().walk() {
        lines.push(format!(
            "{depth} {:?} {:?} {} runs placeholder {}\n",
            row.name, row.status, row.runs, row.placeholder
        ));
    }
    expect![[r#"
        Some("agent") Complete
        Some("agent") Complete
        Some("ask") Complete
        Some("bash") Complete
        Some("bash") Denied
        Some("read") Error
        Some(Permission) Approved orphan false
        Some(Permission) Denied orphan false
        Some(Question) Answered orphan false
        0 Some("boss") Done 1 runs placeholder false
        1 Some("hand") Done 1 runs placeholder false
        1 Some("hand") Done 1 runs placeholder false
    "#]]
    .assert_eq(&lines.concat());
}

fn snapshot(view: &impl View) -> Value {
    serde_json::to_value(view.snapshot()).expect("JSON")
}
