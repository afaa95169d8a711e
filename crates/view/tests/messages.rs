//! The messages, as a model's vendor would get them.

use antiphon_testkit::history;
use antiphon_view::messages::{Messages, Scope};
use antiphon_view::{Changes, Fold, Projected, View};
use expect_test::{Expect, expect};
use serde_json::Value;

fn check(scope: Scope, table: &str, expected: &Expect) {
    let mut fold = Fold::new(Projected::new(Messages::of(scope)));
    for event in history(table) {
        fold.apply(&event, &mut Changes::unwanted());
    }
    let json = serde_json::to_value(fold.view().snapshot()).expect("messages are JSON");
    let lines: Vec<_> = json["messages"].as_array().expect("a list").iter().map(Value::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn every_call_has_its_result_and_ids_are_the_vendors() {
    check(
        Scope::Root,
        r#"
        u1           user          "List files"
        a1^u1:user   harness_start
        a1           reasoning     a1/r1 "Hm" signature=sig
        a1           text          a1/t1 "I look."
        a1           tool_call     a1/c1 bash {"command":"ls"}
        a1           tool_call     a1/c2 read
        a1           usage         1 1
        a1           tool_call     a1/c2 read
        a1           tool_result   a1/c2 {"lines":3}
        "#,
        &expect![[r#"
            {"role":"user","content":"List files"}
            {"role":"assistant","content":"I look.","reasoning":[{"text":"Hm","signature":"sig"}],"tool_calls":[{"id":"c1","name":"bash","arguments":{"command":"ls"}},{"id":"c2","name":"read","arguments":{}}]}
            {"role":"tool","tool_call_id":"c1","name":"bash","content":"no result yet","is_error":true}
            {"role":"tool","tool_call_id":"c2","name":"read","content":"{\"lines\":3}"}"#]],
    );
}

#[test]
fn subagents_and_discarded_answers_are_left_out() {
    check(
        Scope::Root,
        r#"
        a1      text         t0 "half"
        a1      model_retry  2 ["t0"] overloaded
        a1      text         t1 "asking"
        a1      tool_call    c1 agent
        b1^c1   text         t2 "among ourselves"
        a1      tool_result  c1 "found" isError=false
        "#,
        &expect![[r#"
            {"role":"assistant","content":"asking","tool_calls":[{"id":"c1","name":"agent","arguments":{}}]}
            {"role":"tool","tool_call_id":"c1","name":"agent","content":"found","is_error":false}"#]],
    );
}

#[test]
fn one_run_can_be_had_alone() {
    check(
        Scope::Run("b1".into()),
        r#"
        a1      tool_call    c1 agent
        b1^c1   text         t2 "among ourselves"
        b1      tool_call    d1 read
        a1      text         t3 "outside"
        "#,
        &expect![[r#"
            {"role":"assistant","content":"among ourselves","tool_calls":[{"id":"d1","name":"read","arguments":{}}]}
            {"role":"tool","tool_call_id":"d1","name":"read","content":"no result yet","is_error":true}"#]],
    );
}

#[test]
fn a_summary_stands_for_its_sources_and_what_is_switched_off_is_not_sent() {
    check(
        Scope::Root,
        r#"
        u1          user  "one"
        a1^u1:user  text  t1 "two"
        u2^t1       user  [{"type":"text","text":"see"},{"type":"image","mediaType":"image/png","data":"AA=="}]
        a2^u2:user  text  t2 "four"
        -           summary s1 ["u1:user","t1"] "they spoke"
        -           active_changed toggle ["t2"]
        "#,
        &expect![[r#"
            {"role":"user","content":"they spoke"}
            {"role":"user","content":[{"type":"text","text":"see"},{"type":"image","mediaType":"image/png","data":"AA=="}]}"#]],
    );
}

#[test]
fn code_is_answered_by_what_it_printed() {
    check(
        Scope::Root,
        r#"
        a1  text         t1 "let me compute"
        a1  repl_input   x1 "1+"
        a1  repl_output  x1 "" false error="unexpected end"
        a1  text         t2 "again"
        a1  repl_input   x2 "1+1"
        "#,
        &expect![[r#"
            {"role":"assistant","content":"let me compute"}
            {"role":"user","content":"error: unexpected end"}
            {"role":"assistant","content":"again"}
            {"role":"user","content":"no result yet"}"#]],
    );
}
