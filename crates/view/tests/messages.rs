//! The messages, as a model's vendor would get them.

use antiphon_testkit::{history, stream};
use antiphon_view::messages::{Message, Messages, Scope};
use antiphon_view::{Changes, Fold, Projected, View};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

/// Draws a message a line. With and without somebody who follows the changes, the list must be the same.
fn check(scope: Scope, table: &str, expected: &Expect) {
    let read = |mut changes: Changes| {
        let mut fold = Fold::new(Projected::new(Messages::of(scope.clone())));
        for event in history(table) {
            fold.apply(&event, &mut changes);
        }
        serde_json::to_value(fold.view().snapshot()).expect("messages are JSON")
    };
    let json = read(Changes::unwanted());
    assert_eq!(json, read(Changes::wanted()));
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

#[test]
fn what_code_calls_is_no_call_of_the_model() {
    check(
        Scope::Root,
        r#"
        a1  text         t1 "I look"       messageId=m1
        a1  repl_input   x1 "await exec()" messageId=m1
        a1  tool_call    c1 bash           messageId=m1
        a1  tool_call    c1 bash           messageId=m1
        a1  tool_result  c1 one            messageId=m1
        a1  tool_call    c2 bash           messageId=m1
        a1  repl_output  x1 ""             messageId=m1
        a1  tool_result  c2 two            messageId=m1
        a1  text         t2 "Done."        messageId=m2
        "#,
        &expect![[r#"
            {"role":"assistant","content":"I look"}
            {"role":"user","content":"(it printed nothing)"}
            {"role":"assistant","content":"Done."}"#]],
    );
    // The same where nobody says which step it is, and the model says nothing beside its code.
    check(
        Scope::Root,
        r#"
        a1  repl_input   x1 "await exec()"
        a1  tool_call    c1 bash
        a1  tool_result  c1 one
        a1  tool_call    c2 bash
        a1  repl_output  x1 "seen"
        a1  tool_call    c3 read
        a1  repl_input   x2 "more"
        "#,
        &expect![[r#"
            {"role":"user","content":"seen"}
            {"role":"assistant","tool_calls":[{"id":"c3","name":"read","arguments":{}}]}
            {"role":"tool","tool_call_id":"c3","name":"read","content":"no result yet","is_error":true}
            {"role":"user","content":"no result yet"}"#]],
    );
}

#[test]
fn a_vendor_is_sent_the_id_it_gave_also_when_it_gives_it_again() {
    check(
        Scope::Root,
        r#"
        a1   tool_call     a1/c bash
        a1   tool_result   a1/c one
        a1   tool_call     a1/c~2 bash
        a1   tool_result   a1/c~2 two
        a1   tool_call     a1/own~2 bash
        "#,
        &expect![[r#"
            {"role":"assistant","tool_calls":[{"id":"c","name":"bash","arguments":{}}]}
            {"role":"tool","tool_call_id":"c","name":"bash","content":"one"}
            {"role":"assistant","tool_calls":[{"id":"c","name":"bash","arguments":{}}]}
            {"role":"tool","tool_call_id":"c","name":"bash","content":"two"}
            {"role":"assistant","tool_calls":[{"id":"own~2","name":"bash","arguments":{}}]}
            {"role":"tool","tool_call_id":"own~2","name":"bash","content":"no result yet","is_error":true}"#]],
    );
}

#[test]
fn a_vendor_is_sent_the_id_it_gave_whatever_else_has_that_id() {
    check(
        Scope::Root,
        r#"
        a1   text          x hi
        a1   reasoning     x hm
        a1   tool_call     x bash
        a1   tool_result   x one
        a1   usage         1 1
        a1   tool_call     a1/z~2 bash
        a1   tool_call     a1/z bash
        "#,
        &expect![[r#"
            {"role":"assistant","content":"hi","reasoning":[{"text":"hm"}],"tool_calls":[{"id":"x","name":"bash","arguments":{}}]}
            {"role":"tool","tool_call_id":"x","name":"bash","content":"one"}
            {"role":"assistant","tool_calls":[{"id":"z~2","name":"bash","arguments":{}},{"id":"z","name":"bash","arguments":{}}]}
            {"role":"tool","tool_call_id":"z~2","name":"bash","content":"no result yet","is_error":true}
            {"role":"tool","tool_call_id":"z","name":"bash","content":"no result yet","is_error":true}"#]],
    );
}

#[test]
fn no_two_calls_of_a_message_have_the_same_id() {
    check(
        Scope::Root,
        r#"
        a1   tool_call     a1/x bash {"n":1}
        a1   tool_call     x bash {"n":2}
        a1   tool_call     a1/x~2 bash {"n":3}
        a1   model_retry   2 ["x"]
        a1   tool_call     a1/x~3 bash {"n":4}
        "#,
        &expect![[r#"
            {"role":"assistant","tool_calls":[{"id":"x","name":"bash","arguments":{"n":1}},{"id":"x_3","name":"bash","arguments":{"n":3}}]}
            {"role":"tool","tool_call_id":"x","name":"bash","content":"no result yet","is_error":true}
            {"role":"tool","tool_call_id":"x_3","name":"bash","content":"no result yet","is_error":true}
            {"role":"assistant","tool_calls":[{"id":"x","name":"bash","arguments":{"n":4}}]}
            {"role":"tool","tool_call_id":"x","name":"bash","content":"no result yet","is_error":true}"#]],
    );
}

#[test]
fn what_is_switched_off_discarded_or_somebody_elses_is_left_out_whoever_follows() {
    check(
        Scope::Root,
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
            {"role":"assistant","content":"answer","tool_calls":[{"id":"c9","name":"agent","arguments":{}},{"id":"c8","name":"agent","arguments":{}}]}
            {"role":"tool","tool_call_id":"c9","name":"agent","content":"nine"}
            {"role":"tool","tool_call_id":"c8","name":"agent","content":"eight"}"#]],
    );
}

#[test]
fn a_message_stands_where_it_began_also_when_others_spoke_before_it_did() {
    check(
        Scope::Root,
        r#"
        a1  error  "could not reach the model"
        b1  text   t2 "second to begin"
        a1  text   t1 "first to begin"
        -   active_changed default
        "#,
        &expect![[r#"
            {"role":"assistant","content":"first to begin"}
            {"role":"assistant","content":"second to begin"}"#]],
    );
}

/// How many bytes of changes a history makes.
fn said(table: &str) -> usize {
    let mut changes = Changes::wanted();
    let mut fold = Fold::new(Projected::<Messages>::default());
    for event in history(table) {
        fold.apply(&event, &mut changes);
    }
    serde_json::to_string(&changes.take()).expect("changes are JSON").len()
}

#[test]
fn what_was_discarded_before_changes_nothing_when_it_comes_again_and_is_discarded_again() {
    let half = r#"
        a1  text         t0 "kept"            messageId=m
        a1  text         t1 "half"            messageId=m
        a1  tool_call    a1/c bash {"n":1}    messageId=m
        a1  model_retry  2 ["t1","a1/c"]      messageId=m
        a1  tool_call    a1/c~2 bash {"n":2}  messageId=m
    "#;
    let again = r#"
        a1  text         t1 "late"        messageId=m
        a1  text         t1 "later"
        a1  model_retry  3 ["t1","a1/c"]  messageId=m
    "#;
    assert_eq!(said(&format!("{half}{}", again.repeat(100))), said(half));
    check(
        Scope::Root,
        &format!("{half}{again}a1 tool_call a1/c~3 bash {{\"n\":3}} messageId=m"),
        &expect![[r#"
            {"role":"assistant","content":"kept","tool_calls":[{"id":"c","name":"bash","arguments":{"n":2}},{"id":"c_2","name":"bash","arguments":{"n":3}}]}
            {"role":"tool","tool_call_id":"c","name":"bash","content":"no result yet","is_error":true}
            {"role":"tool","tool_call_id":"c_2","name":"bash","content":"no result yet","is_error":true}"#]],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn news_add_up_to_all_of_it(events in stream(), asked in proptest::collection::vec(any::<bool>(), 7)) {
        let mut view = Projected::<Messages>::default();
        let mut known: Vec<Vec<Message>> = Vec::new();
        for (event, asked) in events.iter().zip(asked.iter().cycle()) {
            view.apply(event, &mut Changes::unwanted());
            if !asked {
                continue;
            }
            let (conversation, messages) = view.projection_mut();
            let (kept, turns) = messages.news(conversation, known.len());
            known.truncate(kept);
            known.extend(turns);
            let all = view.projection().list(view.conversation());
            prop_assert_eq!(known.concat(), all, "after {}", event.to_json());
        }
    }

    #[test]
    fn what_a_retry_leaves_is_what_is_there_when_the_message_is_brought_in_anew(
        steps in proptest::collection::vec((0_usize..9, 0_usize..2, 0_usize..3), 0..32),
    ) {
        let mut view = Projected::<Messages>::default();
        let mut kept = serde_json::to_value(view.snapshot()).expect("messages are JSON");
        for (nth, (kind, message, id)) in steps.into_iter().enumerate() {
            let line = match kind {
                0..=2 => format!("a text t{id} n{nth} messageId=m{message}"),
                3 => format!("a reasoning r{id} n{nth} messageId=m{message}"),
                4 => format!("a tool_call c{nth} bash {nth} messageId=m{message}"),
                5 => format!("a user n{nth} messageId=u{message}"),
                6 => format!("a repl_input k{nth} n{nth} messageId=m{message}"),
                _ => {
                    let last = nth.saturating_sub(id + 1);
                    format!(r#"a model_retry 2 ["t{id}","r{message}","c{last}","k{last}"]"#)
                }
            };
            let mut changes = Changes::wanted();
            view.apply(&history(&line)[0], &mut changes);
            for change in changes.take() {
                prop_assert!(change.apply(&mut kept), "{} leads nowhere", line);
            }
            let shown = serde_json::to_value(view.snapshot()).expect("messages are JSON");
            prop_assert_eq!(&kept, &shown, "after {}", line);
            let mut anew = view.clone();
            for toggled in history(&"- active_changed toggle [\"m0\",\"m1\"]\n".repeat(2)) {
                anew.apply(&toggled, &mut Changes::unwanted());
            }
            prop_assert_eq!(shown, serde_json::to_value(anew.snapshot()).expect("messages are JSON"));
        }
    }
}

#[test]
fn nodes_that_speak_at_once_in_the_run_of_their_flow_have_messages_of_their_own() {
    check(
        Scope::Root,
        r#"
        f  run_start   g
        f  text        ta "a0 " nodeId=a
        f  text        tb "b0 " nodeId=b
        f  text        ta "a1"  nodeId=a
        f  tool_call   c  bash  nodeId=b
        f  text        tb "b1"  nodeId=b
        f  tool_result c  "done"
        "#,
        &expect![[r#"
            {"role":"assistant","content":"a0 a1"}
            {"role":"assistant","content":"b0 b1","tool_calls":[{"id":"c","name":"bash","arguments":{}}]}
            {"role":"tool","tool_call_id":"c","name":"bash","content":"done"}"#]],
    );
}

#[test]
fn a_summary_that_comes_again_says_the_latest_once() {
    check(
        Scope::Root,
        r#"
        m1  user    "text"
        u2  user    "more"
        -   summary s1 ["m1:user"] "OLD"
        -   summary s1 ["u2:user"] "NEW"
        "#,
        &expect![[r#"{"role":"user","content":"NEW"}"#]],
    );
    check(
        Scope::Root,
        r#"
        m1  user    "text"
        u2  user    "more"
        -   summary s1 ["m1:user"] "summed up"
        -   active_changed toggle ["s1"]
        "#,
        &expect![[r#"{"role":"user","content":"more"}"#]],
    );
}
