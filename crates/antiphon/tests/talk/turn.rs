//! Turns: what an agent says and does, in which order, and what it knows of the turns before.

use std::sync::Arc;

use antiphon::{Class, typed};
use antiphon_port::{Tool, ToolFault};
use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::stage::{Says, Stage};

async fn check(agent: Value, task: &str, people: &[Says], expected: Expect) {
    expected.assert_eq(&Stage::new().talk(&agent, task, people).await);
}

fn model(replies: Value) -> Value {
    json!({"provider": "scripted", "replies": replies})
}

#[tokio::test]
async fn a_turn_is_told_in_the_order_of_the_design() {
    let write =
        |path: &str| json!({"tool_call": {"name": "write", "input": {"path": path, "content": "one"}}});
    let replies = json!([
        [
            {"reasoning": ["let me ", "see"]}, {"text": ["I loo", "k"]}, write("a.txt"), write("b.txt"),
            {"usage": {"input": 7, "output": 3}}
        ],
        [{"tool_call": {"name": "bash", "input": {"command": "cat a.txt"}}}],
        [{"text": "done"}]
    ]);
    let agent = json!({"model": model(replies), "tools": ["write", "bash"]});
    check(
        agent,
        "look",
        &[Says::Yes, Says::No, Says::Yes],
        expect![[r#"
                 session_created
                 user "look"
        agent    harness_start
        agent    reasoning let me
        agent    reasoning see
        agent    text I loo
        agent    text k
        agent    tool_call call_1_1 {"path":"a.txt","content":"one"}
        agent    tool_call call_1_2 {"path":"b.txt","content":"one"}
        agent    usage
        agent    relay Permission write: write: no rule allows writing `a.txt` (really `FOLDER/a.txt`)
        agent    relay_resolved true by ann
        agent    relay Permission write: write: no rule allows writing `b.txt` (really `FOLDER/b.txt`)
        agent    relay_resolved false by ann
        agent    tool_result call_1_2 failed {"error":"denied: not now","code":"denied"}
        agent    tool_call call_1_1 {"path":"a.txt","content":"one"}
        agent    tool_result call_1_1 "wrote `a.txt`, a new file of 3 bytes"
        agent    tool_call call_2_1 {"command":"cat a.txt"}
        agent    usage
        agent    relay Permission bash: bash: no rule allows `cat a.txt`
        agent    relay_resolved true by ann
        agent    tool_call call_2_1 {"command":"cat a.txt"}
        agent    tool_progress {"stream":"stdout","text":"one"}
        agent    tool_result call_2_1 "exit code: 0\nstdout:\none"
        agent    text done
        agent    usage
        agent    harness_end done after 3
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_turn_sees_the_turns_before_it() {
    let replies = json!([
        {"when": "my name is Ann", "steps": [{"text": "hello Ann"}]},
        {"when": "what is in it", "steps": [{"tool_call": {"name": "read", "input": {"path": "note"}}}]},
        {"when": "milk", "steps": [{"text": "milk"}]},
    ]);
    let agent = json!({"model": model(replies), "tools": ["read"]});
    let mut stage = Stage::new();
    std::fs::write(stage.folder().join("note"), "milk").expect("written");
    let first = stage.talk(&agent, "my name is Ann", &[]).await;
    let second = stage.talk(&agent, "what is in it", &[]).await;
    let order = json!({"model": model(json!([[{"text": "0"}], [{"text": "1"}], [{"text": "2"}], [{"text": "3"}], [{"text": "4"}]]))});
    let third = stage.talk(&order, "how often did you answer before?", &[]).await;
    expect![[r#"
                 session_created
                 user "my name is Ann"
        agent    harness_start
        agent    text hello Ann
        agent    usage
        agent    harness_end done after 1
        ---
                 user "what is in it"
        agent    harness_start
        agent    tool_call call_2_1 {"path":"note"}
        agent    usage
        agent    tool_call call_2_1 {"path":"note"}
        agent    tool_result call_2_1 "   1\tmilk"
        agent    text milk
        agent    usage
        agent    harness_end done after 2
        ---
                 user "how often did you answer before?"
        agent    harness_start
        agent    text 3
        agent    usage
        agent    harness_end done after 1
    "#]]
    .assert_eq(&format!("{first}---\n{second}---\n{third}"));
}

#[tokio::test]
async fn tools_of_one_step_run_side_by_side() {
    #[derive(Deserialize, JsonSchema)]
    struct Meet {}
    let door = Arc::new(tokio::sync::Barrier::new(3));
    let meet = typed("meet", "Waits for two others.", Class::Pure, move |_: Meet, _| {
        let door = Arc::clone(&door);
        async move {
            door.wait().await;
            Ok::<_, ToolFault>("met")
        }
    });
    let call = json!({"tool_call": {"name": "meet"}});
    let agent = json!({
        "model": model(json!([[call, call, call], [{"text": "all met"}]])),
        "tools": ["meet"], "permissions": [{"allow": "meet"}],
    });
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(meet)];
    let told = Stage::with(tools).talk(&agent, "meet", &[]).await;
    let mut results: Vec<&str> = told.lines().filter(|line| line.contains(" tool_result")).collect();
    results.sort_unstable();
    expect![[r#"
        agent    tool_result call_1_1 "met"
        agent    tool_result call_1_2 "met"
        agent    tool_result call_1_3 "met"
    "#]]
    .assert_eq(&(results.join("\n") + "\n"));
}

#[tokio::test]
async fn calls_that_cannot_be_made_get_results_and_the_loop_goes_on() {
    let replies = json!([
        [
            {"tool_call": {"name": "raed", "input": {}}},
            {"tool_call": {"name": "read", "raw": "{\"path\": "}},
            {"tool_call": {"name": "read", "input": {"path": 7}}},
            {"tool_call": {"name": "read", "input": {"path": "absent"}}}
        ],
        [{"text": "so be it"}]
    ]);
    check(json!({"model": model(replies), "tools": ["read"]}), "try", &[], expect![[r#"
                 session_created
                 user "try"
        agent    harness_start
        agent    tool_call call_1_1 {}
        agent    tool_call call_1_2 {"__toolParseError":true,"parseError":"EOF while parsing a value at line 1 column 8","rawArguments":"{\"path\": "}
        agent    tool_call call_1_3 {"path":7}
        agent    tool_call call_1_4 {"path":"absent"}
        agent    usage
        agent    tool_result call_1_1 failed {"error":"there is no tool `raed`; did you mean `read`?","code":"schema"}
        agent    tool_result call_1_2 failed {"error":"the arguments could not be read as JSON: EOF while parsing a value at line 1 column 8","code":"schema"}
        agent    tool_result call_1_3 failed {"error":"the arguments do not fit the schema of `read`: 7 is not of type \"string\" at `/path`","code":"schema"}
        agent    tool_call call_1_4 {"path":"absent"}
        agent    tool_result call_1_4 failed {"error":"`absent` does not exist","code":"failed"}
        agent    text so be it
        agent    usage
        agent    harness_end done after 2
    "#]]).await;
}

#[tokio::test]
async fn the_bound_on_model_calls_leaves_one_to_say_what_was_found() {
    let call = json!([{"tool_call": {"name": "read", "input": {"path": "a"}}}]);
    let agent = |on_limit: &str| {
        json!({
            "model": model(json!([call, call, [{"text": "so far so good"}]])),
            "tools": ["read"], "max_iterations": 2, "on_limit": on_limit,
        })
    };
    check(
        agent("wrap_up"),
        "go",
        &[],
        expect![[r#"
                 session_created
                 user "go"
        agent    harness_start
        agent    tool_call call_1_1 {"path":"a"}
        agent    usage
        agent    tool_call call_1_1 {"path":"a"}
        agent    tool_result call_1_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    tool_call call_2_1 {"path":"a"}
        agent    usage
        agent    tool_call call_2_1 {"path":"a"}
        agent    tool_result call_2_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    text so far so good
        agent    usage
        agent    harness_end max_iterations after 3
    "#]],
    )
    .await;
    check(
        agent("ask"),
        "go",
        &[Says::Yes],
        expect![[r#"
                 session_created
                 user "go"
        agent    harness_start
        agent    tool_call call_1_1 {"path":"a"}
        agent    usage
        agent    tool_call call_1_1 {"path":"a"}
        agent    tool_result call_1_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    tool_call call_2_1 {"path":"a"}
        agent    usage
        agent    tool_call call_2_1 {"path":"a"}
        agent    tool_result call_2_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    relay Continuation : its 2 model calls are used up and it is not done; may it go on?
        agent    relay_resolved true by ann
        agent    text so far so good
        agent    usage
        agent    harness_end done after 3
    "#]],
    )
    .await;
    check(
        agent("ask"),
        "go",
        &[Says::No],
        expect![[r#"
                 session_created
                 user "go"
        agent    harness_start
        agent    tool_call call_1_1 {"path":"a"}
        agent    usage
        agent    tool_call call_1_1 {"path":"a"}
        agent    tool_result call_1_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    tool_call call_2_1 {"path":"a"}
        agent    usage
        agent    tool_call call_2_1 {"path":"a"}
        agent    tool_result call_2_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    relay Continuation : its 2 model calls are used up and it is not done; may it go on?
        agent    relay_resolved false by ann
        agent    harness_end max_iterations after 2
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let agent = json!({
        "model": model(json!([[{"text": "four"}], [{"output": {"n": "four"}}], [{"output": {"n": 4}}]])),
        "output": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    });
    let mut stage = Stage::new();
    let mut run = stage.say(&agent, "2 + 2?").await;
    let report = run.wait().await.expect("no fault");
    assert_eq!(report.output.value(), json!({"n": 4}));
    expect![[r#"
                 session_created
                 user "2 + 2?"
        agent    harness_start
        agent    text four
        agent    usage
        agent    user "Your answer does not fit: it is not JSON: expected ident at line 1 column 2. Answer again, with the JSON and nothing else."
        agent    text {"n":"four"}
        agent    usage
        agent    user "Your answer does not fit: \"four\" is not of type \"integer\" at `/n`. Answer again, with the JSON and nothing else."
        agent    text {"n":4}
        agent    usage
        agent    harness_end done after 3
    "#]].assert_eq(&stage.told(&crate::stage::events(&run).await));
}

#[tokio::test]
async fn a_call_of_the_model_that_fails_is_made_again() {
    let flaky = json!([{"text": "I thi"}, {"error": {"message": "overloaded", "code": "overloaded", "retryable": true, "retry_after": 1}}]);
    let agent = json!({"model": model(json!([flaky, [{"text": "I think so"}]]))});
    check(
        agent,
        "well?",
        &[],
        expect![[r#"
                 session_created
                 user "well?"
        agent    harness_start
        agent    text I thi
        agent    model_retry 2 without ["text"]: overloaded
        agent    text I think so
        agent    usage
        agent    harness_end done after 1
    "#]],
    )
    .await;
    let agent = json!({"model": model(json!([[{"error": "no such model"}]]))});
    check(
        agent,
        "well?",
        &[],
        expect![[r#"
                 session_created
                 user "well?"
        agent    harness_start
        agent    error no such model
        agent    harness_end error after 0
    "#]],
    )
    .await;
}

#[tokio::test]
async fn the_next_turn_gets_the_reply_after_those_that_failed() {
    let flaky =
        json!([{"error": {"message": "busy", "code": "overloaded", "retryable": true, "retry_after": 1}}]);
    let agent =
        json!({"model": model(json!([flaky, [{"text": "1"}], [{"error": "broken"}], [{"text": "3"}]]))});
    let mut stage = Stage::new();
    let mut told = String::new();
    for task in ["one", "two", "three"] {
        told += &stage.talk(&agent, task, &[]).await;
    }
    expect![[r#"
                 session_created
                 user "one"
        agent    harness_start
        agent    model_retry 2 without []: busy
        agent    text 1
        agent    usage
        agent    harness_end done after 1
                 user "two"
        agent    harness_start
        agent    error broken
        agent    harness_end error after 0
                 user "three"
        agent    harness_start
        agent    text 3
        agent    usage
        agent    harness_end done after 1
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn a_long_history_is_put_into_a_summary() {
    let read = json!({"tool_call": {"name": "read", "input": {"path": "a"}}});
    let agent = json!({
        "model": model(json!([
            [read, {"usage": {"input": 100, "output": 5}}], [read, {"usage": {"input": 2000, "output": 5}}],
            [{"text": "they read a"}], [{"text": "and that was it"}],
        ])),
        "tools": ["read"], "compact": {"at_tokens": 1000, "keep_messages": 1},
    });
    check(
        agent,
        "read it",
        &[],
        expect![[r#"
                 session_created
                 user "read it"
        agent    harness_start
        agent    tool_call call_1_1 {"path":"a"}
        agent    usage
        agent    tool_call call_1_1 {"path":"a"}
        agent    tool_result call_1_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    tool_call call_2_1 {"path":"a"}
        agent    usage
        agent    tool_call call_2_1 {"path":"a"}
        agent    tool_result call_2_1 failed {"error":"`a` does not exist","code":"failed"}
        agent    summary they read a
        agent    usage
        agent    history_compacted
        agent    text and that was it
        agent    usage
        agent    harness_end done after 3
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_question_waits_for_its_answer() {
    let ask =
        json!({"tool_call": {"name": "ask", "input": {"question": "Which one?", "options": ["a", "b"]}}});
    let agent = json!({"model": model(json!([[ask], [{"text": "as you wish"}]])), "tools": ["ask"]});
    check(
        agent,
        "choose",
        &[Says::Text("b")],
        expect![[r#"
                 session_created
                 user "choose"
        agent    harness_start
        agent    tool_call call_1_1 {"question":"Which one?","options":["a","b"]}
        agent    usage
        agent    tool_call call_1_1 {"question":"Which one?","options":["a","b"]}
        agent    relay Question ask: Which one?
        agent    relay_resolved "b" by ann
        agent    tool_result call_1_1 "b"
        agent    text as you wish
        agent    usage
        agent    harness_end done after 2
    "#]],
    )
    .await;
}
