//! Scripted models: what a script says is what comes out.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::{Content, Delta, Fault, Message, ModelUse, Prompt, Said};
use antiphon_event::Json;
use antiphon_model::{Models, Script, Step};
use antiphon_port::Model;
use expect_test::{Expect, expect};
use futures_util::StreamExt;
use serde_json::{Value, json};

/// A prompt of an agent that has asked so many times before.
fn prompt(text: &str, call: u32) -> Arc<Prompt> {
    let messages = Said::from_iter([Message::User { content: Content::Text(text.to_owned()) }]);
    Arc::new(Prompt { messages, call, ..Prompt::default() })
}

async fn say(model: &dyn Model, text: &str, call: u32) -> String {
    let said: Vec<Result<Delta, Fault>> = model.call(prompt(text, call)).collect().await;
    let line = |piece: &Result<Delta, Fault>| match piece {
        Ok(Delta::Text(text)) => text.clone(),
        Ok(Delta::Reasoning(text)) => format!("({text})"),
        Ok(Delta::Signature(text)) => format!("({text} signed)"),
        Ok(Delta::Call { id, name, arguments }) => format!("{name}#{id} {arguments}"),
        Ok(Delta::Usage(tokens)) => {
            format!(
                "{}+{}{}",
                tokens.input,
                tokens.output,
                tokens.cost_usd.map_or_else(String::new, |c| format!(" ${c}"))
            )
        }
        Ok(Delta::Stop(stop)) => format!("{stop:?}"),
        Err(fault) => format!("{} {} {}", fault.code, fault.retryable, fault.message),
    };
    said.iter().map(line).collect::<Vec<_>>().join(" | ")
}

/// Asks a scripted model these questions, one after another, from a call on.
#[track_caller]
fn check(replies: Value, first: u32, asked: &[&str], expected: Expect) {
    let settings = ModelUse {
        provider: "scripted".to_owned(),
        replies: Some(Json::from(replies)),
        ..ModelUse::default()
    };
    let model = Models::new().open(&settings).expect("opened");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let told = runtime.expect("a runtime").block_on(async {
        let mut told = String::new();
        for (text, call) in asked.iter().zip(first..) {
            told += &say(&*model, text, call).await;
            told.push('\n');
        }
        told
    });
    expected.assert_eq(&told);
}

#[test]
fn replies_come_in_order_and_the_last_one_from_then_on() {
    let replies = json!([[{"text": "one"}], [{"text": "two"}, {"usage": {"input": 3, "output": 4}}]]);
    check(
        replies.clone(),
        0,
        &["", "", ""],
        expect![[r#"
            one | 0+0 | Done
            two | 3+4 | Done
            two | 3+4 | Done
        "#]],
    );
    check(
        replies,
        1,
        &["", ""],
        expect![[r#"
            two | 3+4 | Done
            two | 3+4 | Done
        "#]],
    );
    check(
        json!([]),
        0,
        &[""],
        expect![[r#"
            0+0 | Done
        "#]],
    );
}

#[test]
fn every_step_has_its_place() {
    let steps = json!([[
        {"tool_call": {"name": "read", "input": {"path": "a"}}},
        {"reasoning": ["hm", " hm"]},
        {"signature": "sig"},
        {"delay": 60000},
        {"usage": {"input": 1, "cost_usd": 0.5}},
        {"text": ["a", "", "b"]},
        {"tool_call": {"name": "read", "raw": "{broken", "id": "mine"}},
        {"tool_call": {"name": "list"}},
        {"output": {"b": 1, "a": [true]}},
        {"usage": {"output": 2, "cost_usd": 0.25}},
    ], [{"text": "cut"}, {"stop": "length"}]]);
    check(
        steps,
        0,
        &["", ""],
        expect![[r#"
            (hm) | ( hm) | (sig signed) | a | b | {"b":1,"a":[true]} | read#call_1_1 {"path":"a"} | read#mine {broken | list#call_1_3 {} | 1+2 $0.75 | Calls
            cut | 0+0 | Length
        "#]],
    );
}

#[test]
fn an_error_is_the_end() {
    let replies = json!([
        [{"text": "half"}, {"error": "went wrong"}, {"text": "never"}],
        [{"error": {"message": "busy", "code": "overloaded", "retryable": true, "retry_after": 5}}],
    ]);
    check(
        replies,
        0,
        &["", ""],
        expect![[r#"
            half | script false went wrong
            overloaded true busy
        "#]],
    );
}

#[test]
fn a_reply_may_wait_for_what_is_said() {
    let replies = json!([
        {"when": "weather", "steps": [{"text": "rain"}], "times": 1},
        [{"text": "in order"}],
        {"when": "/^(what|how)/", "steps": [{"text": "who knows"}]},
        [{"text": "in order too"}],
    ]);
    let asked = ["hello", "what weather", "what weather", "hello", "how", "hello"];
    check(
        replies,
        0,
        &asked,
        expect![[r#"
            in order | 0+0 | Done
            rain | 0+0 | Done
            who knows | 0+0 | Done
            in order too | 0+0 | Done
            who knows | 0+0 | Done
            in order too | 0+0 | Done
        "#]],
    );
    check(
        json!([{"when": "x", "steps": []}]),
        0,
        &["x", "y"],
        expect![[r#"
            0+0 | Done
            script false no reply of the script fits what was said last: y
        "#]],
    );
}

#[tokio::test(start_paused = true)]
async fn a_delay_passes_on_the_clock_of_the_runtime() {
    let model = Script::new().reply([Step::delay(Duration::from_hours(1)), Step::text("late")]).model();
    let start = tokio::time::Instant::now();
    assert_eq!(say(&model, "", 0).await, "late | 0+0 | Done");
    assert_eq!(start.elapsed(), Duration::from_hours(1));
}

#[tokio::test]
async fn a_script_from_code_says_the_same() {
    let model = Script::new()
        .name("mine")
        .when_times("once", 1, [Step::output(json!({"a": 1}))])
        .reply([Step::chunks(["a", "b"]), Step::call("read", r#"{"path":"a"}"#), Step::usage(1, 2)])
        .reply([Step::error("over")])
        .model();
    assert_eq!(model.name(), "mine");
    assert_eq!(say(&model, "once", 0).await, r#"{"a":1} | 0+0 | Done"#);
    assert_eq!(say(&model, "once", 0).await, r#"a | b | read#call_1_1 {"path":"a"} | 1+2 | Calls"#);
    assert_eq!(say(&model, "", 1).await, "script false over");
}

#[tokio::test]
async fn what_a_reply_will_use_is_known_before() {
    let replies = json!([
        [{"usage": {"input": 1, "output": 2}}, {"text": "x"}, {"usage": {"input": 3, "cost_usd": 0.5}}],
        [{"text": "y"}],
        {"when": "once", "steps": [{"usage": {"input": 7}}], "times": 1},
    ]);
    let model = Script::parse(&Json::from(replies)).expect("a script").model();
    let foresee = |text: &str, call: u32| {
        model.foresee(&prompt(text, call)).map(|tokens| (tokens.input, tokens.output))
    };
    assert_eq!(foresee("", 0), Some((4, 2)));
    assert_eq!(foresee("", 1), None);
    assert_eq!(foresee("once", 1), Some((7, 0)), "looking does not count");
    say(&model, "once", 0).await;
    assert_eq!(foresee("once", 1), None);
}
