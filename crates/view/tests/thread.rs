//! The thread, as a person would read it.

use std::fmt::Write;

use antiphon_event::Event;
use antiphon_testkit::{history, stream};
use antiphon_view::thread::{Options, Thread};
use antiphon_view::{Changes, Fold, Projected, View};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

fn fold(events: &[Event], options: Options) -> Value {
    let mut fold = Fold::new(Projected::new(Thread::new(options)));
    for event in events {
        fold.apply(event, &mut Changes::unwanted());
    }
    serde_json::to_value(fold.view().snapshot()).expect("a thread is JSON")
}

/// Draws entries and parts, a line each, branches indented.
fn draw(entries: &Value, indent: usize, out: &mut String) {
    let pad = "  ".repeat(indent);
    for entry in entries.as_array().expect("a list") {
        let orphan = if entry["orphan"] == true { " orphan" } else { "" };
        let text = entry["text"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        let (role, id, status) = (word(&entry["role"]), word(&entry["id"]), word(&entry["status"]));
        writeln!(out, "{pad}{role} {id} {status}{orphan}{text}").expect("memory");
        for part in entry["parts"].as_array().expect("a list") {
            let members = part.as_object().expect("an object").iter();
            let members =
                members.filter(|(name, _)| !matches!(name.as_str(), "kind" | "branches" | "callType"));
            let members: Vec<_> = members.map(|(name, value)| format!("{name}={}", short(value))).collect();
            writeln!(out, "{pad}  - {} {}", word(&part["kind"]), members.join(" ")).expect("memory");
            for branch in part["branches"].as_array().into_iter().flatten() {
                writeln!(out, "{pad}    {}:", word(&branch["runId"])).expect("memory");
                draw(&branch["entries"], indent + 3, out);
            }
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

fn short(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn check_with(options: Options, table: &str, expected: &Expect) {
    let mut out = String::new();
    draw(&fold(&history(table), options)["entries"], 0, &mut out);
    expected.assert_eq(&out);
}

fn check(table: &str, expected: &Expect) {
    check_with(Options::default(), table, expected);
}

const AGENT: &str = r#"
    u1           user          "List files"
    a1^u1:user   harness_start
    a1           reasoning     r1 "Let me "
    a1           reasoning     r1 "see."
    a1           text          t1 "I will "
    a1           text          t1 "look."
    a1           tool_call     c1 bash {"command":"ls"}
    a1           tool_call     c2 bash {"command":"rm x"}
    a1           usage         50 20
    a1           relay         p1 permission c1 bash
    a1           relay_resolved p1 true ann
    a1           relay         p2 permission c2 bash
    a1           relay_resolved p2 false ann reason="not that"
    a1           tool_call     c1 bash {"command":"ls"}
    a1           tool_result   c2 "denied" isError=true
    a1           tool_progress g1 c1 "half"
    a1           tool_result   c1 "a.txt"
    a1           text          t2 "One file."
    a1           usage         70 15
    a1           harness_end   done
"#;

#[test]
fn steps_hold_what_was_said_and_what_came_of_the_calls() {
    check(
        AGENT,
        &expect![[r#"
        user msg:u1:user complete
          - text id=u1:user text=List files
        assistant msg:r1 complete
          - reasoning id=r1 text=Let me see.
          - text id=t1 text=I will look.
          - tool_call id=c1 name=bash input={"command":"ls"} progress=["half"] output=a.txt relay={"id":"p1","kind":"permission","status":"approved","by":"ann"} status=complete
          - tool_call id=c2 name=bash input={"command":"rm x"} output=denied isError=true relay={"id":"p2","kind":"permission","status":"denied","by":"ann","reason":"not that"} status=denied
        assistant msg:t2 complete
          - text id=t2 text=One file.
    "#]],
    );
}

#[test]
fn reasoning_can_be_hidden_and_calls_folded() {
    check_with(
        Options { hide_reasoning: true, collapse_tools: true },
        AGENT,
        &expect![[r#"
        user msg:u1:user complete
          - text id=u1:user text=List files
        assistant msg:r1 complete
          - text id=t1 text=I will look.
          - tool_call id=c1 name=bash relay={"id":"p1","kind":"permission","status":"approved","by":"ann"} status=complete
          - tool_call id=c2 name=bash isError=true relay={"id":"p2","kind":"permission","status":"denied","by":"ann","reason":"not that"} status=denied
        assistant msg:t2 complete
          - text id=t2 text=One file.
    "#]],
    );
}

#[test]
fn subagents_stand_under_the_call_that_spawned_them_also_when_the_call_comes_late() {
    check(
        r#"
        a1      harness_start
        b2^c2   harness_start
        b2      text          t3 "early"
        a1      tool_call     c1 agent
        a1      tool_call     c2 agent
        b1^c1   harness_start
        b1      text          t2 "sub"
        b1      tool_call     d1 agent
        e1^d1   text          t4 "deep"
        b1      harness_end   done
        a1      tool_result   c1 "sub"
        zz^gone text          t9 "lost"
        "#,
        &expect![[r#"
            assistant msg:c1 streaming
              - tool_call id=c1 name=agent input={} output=sub status=complete
                b1:
                  assistant msg:t2 complete
                    - text id=t2 text=sub
                    - tool_call id=d1 name=agent input={} status=proposed
                      e1:
                        assistant msg:t4 streaming
                          - text id=t4 text=deep
              - tool_call id=c2 name=agent input={} status=proposed
                b2:
                  assistant msg:t3 streaming
                    - text id=t3 text=early
            assistant msg:t9 streaming orphan
              - text id=t9 text=lost
        "#]],
    );
}

#[test]
fn runs_nested_deeper_than_the_bound_stand_beside_what_started_them_in_whatever_order_they_come() {
    let (mut down, mut up) = (String::new(), String::new());
    for n in 0..60 {
        writeln!(down, "r{n}^c{} harness_start\nr{n} tool_call c{n} agent", n - 1).expect("memory");
        writeln!(up, "r{n}^c{} harness_start\nr{n} tool_call c{n} agent", n + 1).expect("memory");
    }
    for table in [down, up] {
        let thread = fold(&history(&table), Options::default());
        let json = serde_json::to_string(&thread).expect("JSON");
        assert!(serde_json::from_str::<Value>(&json).is_ok(), "a reader with the usual bound can read it");
        assert_eq!(json.matches("\"tool_call\"").count(), 60, "nothing is lost");
    }
}

#[test]
fn a_summary_stands_where_its_first_source_stood_until_it_is_expanded() {
    let table = r#"
        u1          user  "one"
        a1^u1:user  text  t1 "two"
        u2^t1       user  "three"
        a2^u2:user  text  t2 "four"
        -           summary s1 ["u1:user","msg:t1"] "they talked"
        -           active_changed toggle ["u2:user"]
    "#;
    check(
        table,
        &expect![[r#"
        summary msg:s1 complete: they talked
        assistant msg:t2 streaming
          - text id=t2 text=four
    "#]],
    );
    check(
        &format!("{table}\n - active_changed expand [\"s1\"]\n"),
        &expect![[r#"
        user msg:u1:user complete
          - text id=u1:user text=one
        assistant msg:t1 streaming
          - text id=t1 text=two
        assistant msg:t2 streaming
          - text id=t2 text=four
    "#]],
    );
}

#[test]
fn a_summary_that_comes_to_stand_for_more_says_so() {
    let events = history(
        r#"
        u1  user  "one"
        a1  text  t1 "two"
        -   summary s1 ["msg:t1"] "they talked"
        -   history_compacted s1 ["u1:user"]
        "#,
    );
    let mut fold = Fold::new(Projected::new(Thread::default()));
    let mut shown = serde_json::to_value(fold.view().snapshot()).expect("JSON");
    let mut changes = Changes::wanted();
    for event in &events {
        fold.apply(event, &mut changes);
    }
    assert!(changes.take().into_iter().all(|change| change.apply(&mut shown)));
    assert_eq!(
        shown.pointer("/entries/0/sources").map(Value::to_string).as_deref(),
        Some(r#"["msg:u1:user","msg:t1"]"#)
    );
}

#[test]
fn a_repeated_model_call_leaves_its_half_answer_out() {
    check(
        r#"
        a1  harness_start
        a1  text         t1 "half"
        a1  model_retry  2 ["t1"] overloaded
        a1  text         t2 "whole"
        a1  harness_end  error
        "#,
        &expect![[r#"
            assistant msg:t2 error
              - text id=t2 text=whole
        "#]],
    );
}

#[test]
fn text_and_reasoning_that_alternate_stay_in_time_order() {
    check(
        "
        a1  text       t1 one
        a1  reasoning  r1 two
        a1  text       t1 three
        ",
        &expect![[r#"
            assistant msg:t1 streaming
              - text id=t1 text=one
              - reasoning id=r1 text=two
              - text id=t1~2 text=three
        "#]],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folded_and_filtered_threads_keep_the_law_of_changes(
        events in stream(),
        hide_reasoning: bool,
        collapse_tools: bool,
    ) {
        let mut fold = Fold::new(Projected::new(Thread::new(Options { hide_reasoning, collapse_tools })));
        let mut shown = serde_json::to_value(fold.view().snapshot()).expect("JSON");
        let mut changes = Changes::wanted();
        for event in &events {
            fold.apply(event, &mut changes);
            for change in changes.take() {
                let said = format!("{change:?}");
                prop_assert!(change.apply(&mut shown), "{said} leads nowhere");
            }
            let now = serde_json::to_value(fold.view().snapshot()).expect("JSON");
            prop_assert_eq!(&shown, &now, "after {}", event.to_json());
        }
    }
}

#[test]
fn a_request_that_waits_is_shown_whatever_else_is_asked_about_its_call() {
    check(
        r#"
        a1  tool_call       c1 bash
        a1  relay           p1 permission c1
        a1  relay           p2 question c1
        a1  relay_resolved  p2 true
        "#,
        &expect![[r#"
            assistant msg:c1 streaming
              - tool_call id=c1 name=bash input={} relay={"id":"p1","kind":"permission","status":"pending"} status=waiting
        "#]],
    );
}
