//! The messages, as a vendor is sent them.

use std::fmt::Write;

use antiphon_testkit::history;
use antiphon_view::messages::Messages;
use antiphon_view::{Changes, Fold, Projected, View};
use expect_test::{Expect, expect};
use serde_json::Value;

/// Draws a message a line: its role, the id it answers, what it says, the ids it calls. With and without
/// somebody who follows the changes, the list must be the same.
fn check(table: &str, expected: &Expect) {
    let read = |mut changes: Changes| {
        let mut fold = Fold::new(Projected::<Messages>::default());
        history(table).iter().for_each(|event| fold.apply(event, &mut changes));
        serde_json::to_value(fold.view().snapshot()).expect("messages are JSON")
    };
    let messages = read(Changes::unwanted());
    assert_eq!(messages, read(Changes::wanted()));
    let mut out = String::new();
    for message in messages["messages"].as_array().expect("a list") {
        let word = |name: &str| message[name].as_str().map(|word| format!(" {word}")).unwrap_or_default();
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls: String = calls.map(|call| format!(" {}()", call["id"].as_str().unwrap_or("-"))).collect();
        let error = if message["is_error"] == Value::Bool(true) { " (error)" } else { "" };
        let role = message["role"].as_str().expect("a role");
        writeln!(out, "{role}{}{}{calls}{error}", word("tool_call_id"), word("content")).expect("memory");
    }
    expected.assert_eq(&out);
}

#[test]
fn a_vendor_is_sent_the_id_it_gave_also_when_it_gives_it_again() {
    check(
        r#"
        a1   tool_call     a1/c bash
        a1   tool_result   a1/c one
        a1   tool_call     a1/c~2 bash
        a1   tool_result   a1/c~2 two
        a1   tool_call     a1/own~2 bash
        "#,
        &expect![[r#"
            assistant c()
            tool c one
            assistant c()
            tool c two
            assistant own~2()
            tool own~2 no result yet (error)
        "#]],
    );
}

#[test]
fn what_is_switched_off_discarded_or_somebody_elses_is_left_out_whoever_follows() {
    check(
        r#"
        u1          user           "hello"
        b1^c9       text           t9 "of a subagent"
        a1^u1:user  text           t1 "half an ans"
        a1          model_retry    2 ["t1"]
        a1          text           t2 "answer"
        a1          tool_call      c9 agent
        a1          tool_call      c8 agent
        a1          tool_result    c8 "eight"
        -           active_changed toggle ["u1:user"]
        a1          tool_result    c9 "nine"
        "#,
        &expect![[r#"
            assistant answer c9() c8()
            tool c9 nine
            tool c8 eight
        "#]],
    );
}
