//! Permissions: who is asked for what, how often, and where an answer goes.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::stage::{Says, Stage};

fn bash(command: &str) -> Value {
    json!([{"tool_call": {"name": "bash", "input": {"command": command}}}])
}

fn agent(rules: Value, commands: &[&str]) -> Value {
    let mut replies: Vec<Value> = commands.iter().map(|command| bash(command)).collect();
    replies.push(json!([{"text": "done"}]));
    json!({"model": {"provider": "scripted", "replies": replies}, "tools": ["bash"], "permissions": rules})
}

/// Only what has to do with permission, and what came of it.
fn asked(told: &str) -> String {
    let of_interest = |line: &&str| {
        ["relay", "grant", "tool_result", "harness_end"].iter().any(|tag| line.contains(&format!(" {tag}")))
    };
    told.lines().filter(of_interest).map(|line| format!("{line}\n")).collect()
}

async fn check(rules: Value, commands: &[&str], people: &[Says], expected: Expect) {
    let told = Stage::new().talk(&agent(rules, commands), "go", people).await;
    expected.assert_eq(&asked(&told));
}

#[tokio::test]
async fn rules_allow_and_deny_without_asking() {
    let rules = json!([{"deny": "bash", "command": "echo no*"}, {"allow": "bash", "command": "echo *"}]);
    check(rules, &["echo yes", "echo no", "echo yes; echo no"], &[], expect![[r#"
        agent    tool_result call_1_1 "exit code: 0\nstdout:\nyes"
        agent    tool_result call_2_1 failed {"error":"denied: bash: {deny: bash, command: \"echo no*\"} (agent) denies `echo no`","code":"denied"}
        agent    tool_result call_3_1 failed {"error":"denied: bash: {deny: bash, command: \"echo no*\"} (agent) denies `echo no` (a part of the line)","code":"denied"}
        agent    harness_end done after 4
    "#]]).await;
}

#[tokio::test]
async fn a_yes_is_for_one_call_or_for_the_session() {
    check(
        json!([]),
        &["echo 1", "echo 1"],
        &[Says::Yes, Says::No],
        expect![[r#"
        agent    relay Permission bash: bash: no rule allows `echo 1`
        agent    relay_resolved true by ann
        agent    tool_result call_1_1 "exit code: 0\nstdout:\n1"
        agent    relay Permission bash: bash: no rule allows `echo 1`
        agent    relay_resolved false by ann
        agent    tool_result call_2_1 failed {"error":"denied: not now","code":"denied"}
        agent    harness_end done after 3
    "#]],
    )
    .await;
    check(
        json!([]),
        &["echo 1", "echo 1"],
        &[Says::Always],
        expect![[r#"
        agent    relay Permission bash: bash: no rule allows `echo 1`
        agent    relay_resolved true by ann
        agent    grant_added Session {"allow":"bash","command":"echo 1"}
        agent    tool_result call_1_1 "exit code: 0\nstdout:\n1"
        agent    tool_result call_2_1 "exit code: 0\nstdout:\n1"
        agent    harness_end done after 3
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_yes_for_the_session_holds_in_its_later_turns() {
    let mut stage = Stage::new();
    let first = stage.talk(&agent(json!([]), &["echo 1"]), "go", &[Says::Always]).await;
    let replies = json!([[{"text": "unused"}], [{"text": "unused"}], bash("echo 1")[0].as_object().map(|call| vec![call]), [{"text": "again"}]]);
    let next = json!({"model": {"provider": "scripted", "replies": replies}, "tools": ["bash"]});
    let second = stage.talk(&next, "again", &[]).await;
    expect![[r#"
        agent    relay Permission bash: bash: no rule allows `echo 1`
        agent    relay_resolved true by ann
        agent    grant_added Session {"allow":"bash","command":"echo 1"}
        agent    tool_result call_1_1 "exit code: 0\nstdout:\n1"
        agent    harness_end done after 2
        ---
        agent    tool_result call_3_1 "exit code: 0\nstdout:\n1"
        agent    harness_end done after 2
    "#]]
    .assert_eq(&format!("{}---\n{}", asked(&first), asked(&second)));
}

#[tokio::test]
async fn a_yes_for_the_project_is_kept_for_other_engines() {
    let mut stage = Stage::new();
    let first = stage.talk(&agent(json!([]), &["echo 1"]), "go", &[Says::ForTheProject]).await;
    let kept = std::fs::read_to_string(stage.folder().join(".antiphon/grants.json")).expect("kept");
    let second = stage.again().talk(&agent(json!([]), &["echo 1"]), "go", &[]).await;
    expect![[r#"
        agent    relay Permission bash: bash: no rule allows `echo 1`
        agent    relay_resolved true by ann
        agent    grant_added Project {"allow":"bash","command":"echo 1"}
        agent    tool_result call_1_1 "exit code: 0\nstdout:\n1"
        agent    harness_end done after 2
        ---
        {
          "permissions": [
            {
              "allow": "bash",
              "command": "echo 1"
            }
          ]
        }
        ---
        agent    tool_result call_1_1 "exit code: 0\nstdout:\n1"
        agent    harness_end done after 2
    "#]]
    .assert_eq(&format!("{}---\n{kept}---\n{}", asked(&first), asked(&second)));
}

#[tokio::test]
async fn a_search_leaves_out_what_it_would_have_to_ask_about() {
    let search = |input: Value| json!([{"tool_call": {"name": "search", "input": input}}]);
    let agent = json!({
        "model": {"provider": "scripted", "replies": [
            search(json!({"pattern": "PASSWORD"})),
            search(json!({"files": "*"})),
            search(json!({"pattern": "PASSWORD", "path": "private"})),
            search(json!({"pattern": "PASSWORD", "path": ".env"})),
            [{"text": "done"}],
        ]},
        "tools": ["search"],
        "permissions": [{"deny": "*", "path": "private/**"}],
    });
    let mut stage = Stage::new();
    for file in [".env", ".ssh/id_rsa", "a.pem", "open.txt", "private/x.txt"] {
        let path = stage.folder().join(file);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
        std::fs::write(path, format!("PASSWORD of {file}")).expect("written");
    }
    let told = stage.talk(&agent, "go", &[Says::Yes]).await;
    expect![[r#"
        agent    tool_result call_1_1 "open.txt\n     1: PASSWORD of open.txt\n(1 match in 1 of 1 file)\n(4 files left out: rules do not allow them; name one with `path` to ask for it)"
        agent    tool_result call_2_1 "open.txt\n(1 file)\n(4 files left out: rules do not allow them; name one with `path` to ask for it)"
        agent    tool_result call_3_1 failed {"error":"denied: search: {deny: \"*\", path: \"private/**\"} (agent) denies reading `private` (really `FOLDER/private`)","code":"denied"}
        agent    relay Permission search: search: {ask: "*", path: ["/**/.env", "/**/.env.*", "/**/.netrc", "/**/.ssh", "/**/.aws", "/**/*.pem", "/**/*.key"]} (built in) asks about reading `.env` (really `FOLDER/.env`)
        agent    relay_resolved true by ann
        agent    tool_result call_4_1 ".env\n     1: PASSWORD of .env\n(1 match in 1 of 1 file)"
        agent    harness_end done after 5
    "#]].assert_eq(&asked(&told));
}
