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
fn a_call_takes_in_what_calls_give_and_code_what_code_prints() {
    check(
        r#"
            a  tool_result    x "of the call"
            a  repl_progress  x "of the code" stdout
            a  repl_input     x "1 + 1"
            a  tool_call      x bash {}
            a  repl_output    x "2" false
        "#,
        &expect![[r#"
            assistant msg:x:result streaming
              - code id=x code=1 + 1 progress=of the code output={"stdout":"2","done":false} status=complete
              - tool_call id=a/x name=bash input={} output=of the call status=complete
        "#]],
    );
}

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
fn a_call_with_progress_is_running() {
    check_watched(
        Options { collapse_tools: true, ..Options::default() },
        r#"
        a  tool_call      c read
        a  tool_call      d read
        a  relay          r permission d
        a  tool_progress  p c half
        a  tool_progress  q d half
        "#,
        &expect![[r#"
            assistant msg:c streaming
              - tool_call id=c name=read status=running
              - tool_call id=d name=read relay={"id":"r","kind":"permission","status":"pending"} status=waiting
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
fn a_run_that_waits_for_a_call_of_its_own_stays_where_it_is() {
    check(
        r#"
        r1^c1   harness_start
        r1      tool_call     c1 read
        "#,
        &expect![[r#"
            assistant msg:c1 streaming
              - tool_call id=c1 name=read input={} status=proposed
        "#]],
    );
    check(
        r#"
        r1^c1   tool_call     c0 read
        r9^c0   text          t9 "below"
        r1      usage         1 1
        r1      text          t1 "next"
        r1      tool_call     c1 read
        "#,
        &expect![[r#"
            assistant msg:c0 complete
              - tool_call id=c0 name=read input={} status=proposed
                r9:
                  assistant msg:t9 streaming
                    - text id=t9 text=below
            assistant msg:t1 streaming
              - text id=t1 text=next
              - tool_call id=c1 name=read input={} status=proposed
        "#]],
    );
    check(
        r#"
        r1^x1   harness_start
        r1      repl_input    x1 "ask()"
        r2^r1   text          t2 "beside"
        r2      tool_call     c2 agent
        "#,
        &expect![[r#"
            assistant msg:x1 streaming
              - code id=x1 code=ask() status=running
                r2:
                  assistant msg:t2 streaming
                    - text id=t2 text=beside
                    - tool_call id=c2 name=agent input={} status=proposed
        "#]],
    );
}

#[test]
fn what_is_a_root_because_of_a_circle_waits_for_nobody() {
    check(
        r#"
        x^y:user        text t "x was first"
        y^t             user "then y"
        z^z             user "caused by itself"
        "#,
        &expect![[r#"
            assistant msg:t streaming
              - text id=t text=x was first
            user msg:y:user complete
              - text id=y:user text=then y
            user msg:z:user complete
              - text id=z:user text=caused by itself
        "#]],
    );
}

#[test]
fn runs_that_wait_for_calls_of_one_another_hang_from_the_one_that_was_first() {
    check(
        r#"
        r1^c2   harness_start
        r1      tool_call     c1 agent
        r2^c1   harness_start
        r2      tool_call     c2 agent
        "#,
        &expect![[r#"
            assistant msg:c1 streaming
              - tool_call id=c1 name=agent input={} status=proposed
                r2:
                  assistant msg:c2 streaming
                    - tool_call id=c2 name=agent input={} status=proposed
        "#]],
    );
    // What stands beside a run because of it moves along, and nothing that it waits for is among that.
    check(
        r#"
        r1^c3   text          t1 "first"
        r2^r1   text          t2 "beside the first"
        r3^r2   text          t3 "beside the second"
        r4^c4   text          t4 "waits for another"
        r3      tool_call     c3 agent
        r0      text          t0 "elsewhere"
        r1      tool_call     c4 agent
        r4      tool_call     c0 agent
        r5^c0   tool_call     c5 agent
        "#,
        &expect![[r#"
            assistant msg:t1 streaming
              - text id=t1 text=first
              - tool_call id=c4 name=agent input={} status=proposed
                r4:
                  assistant msg:t4 streaming
                    - text id=t4 text=waits for another
                    - tool_call id=c0 name=agent input={} status=proposed
                      r5:
                        assistant msg:c5 streaming
                          - tool_call id=c5 name=agent input={} status=proposed
            assistant msg:t2 streaming
              - text id=t2 text=beside the first
            assistant msg:t3 streaming
              - text id=t3 text=beside the second
              - tool_call id=c3 name=agent input={} status=proposed
            assistant msg:t0 streaming
              - text id=t0 text=elsewhere
        "#]],
    );
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
fn a_summary_that_comes_again_has_its_latest_text() {
    check_watched(
        Options::default(),
        r#"
        u1  user  "one"
        a1  text  t1 "two"
        -   summary s1 ["u1:user"] "old"
        -   summary s1 ["msg:t1"] "new"
        "#,
        &expect![[r#"
            summary msg:s1 complete: new
        "#]],
    );
}

#[test]
fn a_summary_that_another_takes_a_source_from_stays_with_the_rest() {
    check(
        r#"
        u1          user  "one"
        a1^u1:user  text  t1 "two"
        u2^t1       user  "three"
        -           summary s1 ["u1:user","t1"] "both"
        -           summary s2 ["u1:user"] "the first"
        "#,
        &expect![[r#"
            summary msg:s2 complete: the first
            summary msg:s1 complete: both
            user msg:u2:user complete
              - text id=u2:user text=three
        "#]],
    );
}

const NODES: &str = r#"
    f  run_start   g
    f  node_start  a
    f  text        t  "a0 " nodeId=a
    f  node_start  b
    f  text        t2 "b0 " nodeId=b
    f  text        t  "a1"  nodeId=a
    f  tool_call   c  bash  nodeId=b
    f  text        t2 "b1"  nodeId=b
    f  tool_result c  "done"
"#;

#[test]
fn nodes_that_speak_in_the_run_of_their_flow_have_entries_of_their_own() {
    check_watched(
        Options::default(),
        NODES,
        &expect![[r#"
        assistant msg:t streaming
          - text id=t text=a0 a1
        assistant msg:t2 streaming
          - text id=t2 text=b0 
          - tool_call id=c name=bash input={} output=done status=complete
          - text id=t2~2 text=b1
    "#]],
    );
    check_watched(
        Options::default(),
        &format!(
            "{NODES}
            f  usage     1 1 nodeId=b
            f  text      t3 b2 nodeId=b
            f  node_end  a FAILED
            f  text      t4 flow
            f  run_end   CANCELLED"
        ),
        &expect![[r#"
            assistant msg:t error
              - text id=t text=a0 a1
            assistant msg:t2 complete
              - text id=t2 text=b0 
              - tool_call id=c name=bash input={} output=done status=complete
              - text id=t2~2 text=b1
            assistant msg:t3 cancelled
              - text id=t3 text=b2
            assistant msg:t4 cancelled
              - text id=t4 text=flow
        "#]],
    );
}

#[test]
fn an_entry_stands_where_its_moment_says_and_never_before_what_it_answers() {
    check_watched(
        Options::default(),
        r#"
        b           text  b1 "third"   at=2026-01-01T00:00:05.000Z
        a           text  a1 "second"  at=2026-01-01T00:00:03.000Z
        b           usage 1 1
        b           text  b2 "after the third, whatever it says" at=2026-01-01T00:00:01.000Z
        n           text  n1 "after what came before it"
        c           user  "first"      at=2026-01-01T00:00:02.000Z
        d^c:user    text  d1 "its answer, not before it" at=2026-01-01T00:00:00.000Z
        e           text  e1 "as late as the second, and after it" at=2026-01-01T00:00:03.000Z
        e           text  e1 ", and more" at=2026-01-01T00:00:00.000Z
        b           tool_call x agent {} at=2026-01-01T00:00:06.000Z
        s^x         text  s1 "below, later"  at=2026-01-01T00:00:05.000Z
        r^s1        text  r1 "below, earlier" at=2026-01-01T00:00:00.000Z
        q^x         text  q1 "in another branch"  at=2026-01-01T00:00:04.000Z
        o^y         text  o1 "waits for a call" at=2026-01-01T00:00:00.000Z
        -           summary z ["msg:a1","msg:e1"] "second and as late" at=2026-01-01T00:00:09.000Z
        "#,
        &expect![[r#"
            assistant msg:o1 streaming orphan
              - text id=o1 text=waits for a call
            user msg:c:user complete
              - text id=c:user text=first
            assistant msg:d1 streaming
              - text id=d1 text=its answer, not before it
            summary msg:z complete: second and as late
            assistant msg:b1 complete
              - text id=b1 text=third
            assistant msg:b2 streaming
              - text id=b2 text=after the third, whatever it says
              - tool_call id=x name=agent input={} status=proposed
                s:
                  assistant msg:s1 streaming
                    - text id=s1 text=below, later
                  assistant msg:r1 streaming
                    - text id=r1 text=below, earlier
                q:
                  assistant msg:q1 streaming
                    - text id=q1 text=in another branch
            assistant msg:n1 streaming
              - text id=n1 text=after what came before it
        "#]],
    );
}

#[test]
fn an_agent_is_called_as_its_start_says_where_nothing_else_says_it() {
    check_named(
        r#"
        a  harness_start      agentId=lead
        a  text       t1 one
        a  harness_start      agentId=other
        a  usage      1 1
        a  text       t2 two  agent={"id":"x","name":"said"}
        f  harness_start      agentId=ann nodeId=a
        f  text       t3 three nodeId=a
        f  text       t4 four nodeId=b
        f  harness_start      agentId=bob nodeId=b
        "#,
        "lead said ann bob",
    );
}

fn check_named(table: &str, expected: &str) {
    let thread = fold(&history(table), Options::default());
    let entries = thread["entries"].as_array().expect("a list");
    let names: Vec<_> = entries.iter().map(|entry| entry["agent"].as_str().unwrap_or("-")).collect();
    assert_eq!(names.join(" "), expected);
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
fn what_was_discarded_before_stays_out_however_often_it_comes_again() {
    let table = r#"
        a1  text         t1 "half"
        a1  reasoning    r1 "a thought"
        a1  text         t1 "more"
        a1  model_retry  2 ["t1"] overloaded
        a1  text         t1 "late"
        a1  model_retry  3 ["t1"] overloaded
        a1  text         t1 "later"
        a1  text         t2 "whole"
        a1  text         t1 "at last"
        a1  model_retry  4 ["t1","r1"] overloaded
        a1  reasoning    r1 "late too"
        a1  model_retry  5 ["t1","r1"] overloaded
    "#;
    for hide_reasoning in [false, true] {
        check_watched(
            Options { hide_reasoning, ..Options::default() },
            table,
            &expect![[r#"
                assistant msg:t1~3 complete
                  - text id=t2 text=whole
            "#]],
        );
    }
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

/// Somebody who heard of nothing but the changes shows the same.
fn check_watched(options: Options, table: &str, expected: &Expect) {
    let mut fold = Fold::new(Projected::new(Thread::new(options)));
    let mut shown = serde_json::to_value(fold.view().snapshot()).expect("JSON");
    for event in history(table) {
        let mut changes = Changes::wanted();
        fold.apply(&event, &mut changes);
        for change in changes.take() {
            let said = format!("{change:?}");
            assert!(change.apply(&mut shown), "{said} leads nowhere");
        }
    }
    assert_eq!(shown, serde_json::to_value(fold.view().snapshot()).expect("JSON"));
    check_with(options, table, expected);
}

#[test]
fn the_result_of_another_run_leaves_nothing_behind_when_the_own_one_comes() {
    check_watched(
        Options::default(),
        r#"
        a  tool_call    c read
        b  tool_result  c 1 isError=true
        a  tool_result  c 2
        "#,
        &expect![[r#"
            assistant msg:c streaming
              - tool_call id=c name=read input={} output=2 status=complete
        "#]],
    );
}

#[test]
fn a_result_that_comes_again_is_as_it_was_said_last() {
    check_watched(
        Options::default(),
        r#"
        a  tool_call      c1 bash
        a  tool_progress  p1 c1 "half"
        b  tool_result    c1 lent isError=true
        a  tool_result    c1 one isError=true
        a  tool_result    c1 two
        b  tool_result    c1 again isError=true
        a  tool_call      c2 bash
        b  tool_result    c2 lent isError=true
        a  tool_result    c2 own
        "#,
        &expect![[r#"
            assistant msg:c1 complete
              - tool_call id=c1 name=bash input={} progress=["half"] output=two status=complete
            assistant msg:c2 streaming
              - tool_call id=c2 name=bash input={} output=own status=complete
        "#]],
    );
}

#[test]
fn what_calls_gave_is_folded_also_as_long_as_they_have_not_come() {
    check_watched(
        Options { collapse_tools: true, ..Options::default() },
        r#"
        a  tool_result    c1 "big" isError=true
        a  tool_progress  g1 c2 "half"
        a  tool_progress  g1 c2 "all"
        a  repl_progress  x1 "one "
        a  repl_progress  x1 "two"
        a  repl_output    x1 "one two"
        "#,
        &expect![[r#"
            assistant msg:c1:result streaming
              - tool_result id=c1:result name=tool isError=true
              - tool_progress id=g1
              - output id=x1:progress
              - output id=x1:output
        "#]],
    );
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

#[test]
fn requests_of_two_runs_under_one_id_are_told_apart() {
    // Each answer goes to the request of its run.
    check_watched(
        Options::default(),
        r#"
        a  relay           q question prompt="A?"
        b  relay           q question prompt="B?"
        a  relay_resolved  q by=ann answer=forA
        "#,
        &expect![[r#"
            assistant msg:q streaming
              - relay id=q prompt=A? relay={"id":"q","kind":"question","status":"answered","answer":"forA","by":"ann"} status=answered
            assistant msg:b/q streaming
              - relay id=b/q prompt=B? relay={"id":"q","kind":"question","status":"pending"} status=waiting
        "#]],
    );
    check_watched(
        Options::default(),
        r#"
        a  tool_call       c xa
        b  tool_call       c xb
        a  relay           q permission c
        b  relay           q permission c
        a  relay_resolved  q false ann reason="no A"
        b  tool_result     c RB
        "#,
        &expect![[r#"
            assistant msg:c streaming
              - tool_call id=c name=xa input={} relay={"id":"q","kind":"permission","status":"denied","by":"ann","reason":"no A"} status=denied
            assistant msg:b/c streaming
              - tool_call id=b/c name=xb input={} output=RB relay={"id":"q","kind":"permission","status":"answered_elsewhere"} status=complete
        "#]],
    );
    // Answers that came before: each to its run, and what one of them has taken is not taken from it.
    check_watched(
        Options::default(),
        r#"
        b  relay_resolved  q true ann
        a  relay_resolved  q false bob
        a  relay           q permission
        b  relay           q permission
        "#,
        &expect![[r#"
            assistant msg:q streaming
              - relay id=q relay={"id":"q","kind":"permission","status":"denied","by":"bob"} status=denied
            assistant msg:b/q streaming
              - relay id=b/q relay={"id":"q","kind":"permission","status":"approved","by":"ann"} status=approved
        "#]],
    );
    // An answer that names another run, or none, is to whoever asks.
    check_watched(
        Options::default(),
        r#"
        -  relay_resolved  q1 false ann
        a  relay_resolved  q1 true bob
        a  relay           q1 permission
        b  relay_resolved  q2 true ann
        a  relay           q2 permission
        b  relay           q2 permission
        a  relay           q3 permission
        b  relay_resolved  q3 true ann
        "#,
        &expect![[r#"
            assistant msg:q1 streaming
              - relay id=q1 relay={"id":"q1","kind":"permission","status":"denied","by":"ann"} status=denied
              - relay id=q2 relay={"id":"q2","kind":"permission","status":"approved","by":"ann"} status=approved
              - relay id=q3 relay={"id":"q3","kind":"permission","status":"approved","by":"ann"} status=approved
            assistant msg:b/q2 streaming
              - relay id=b/q2 relay={"id":"q2","kind":"permission","status":"pending"} status=waiting
        "#]],
    );
}

#[test]
fn a_request_that_comes_before_its_call_is_shown_with_it_when_that_comes() {
    let lines = [
        r#"a relay q permission c bash prompt="ok?" messageId=m"#,
        "a tool_call c bash messageId=m",
        "a relay_resolved q false",
        r#"a tool_result c {"error":"denied"} isError=true"#,
    ];
    let mut late = lines;
    late.swap(0, 1);
    for upto in 2..=lines.len() {
        let [one, other] =
            [lines, late].map(|lines| fold(&history(&lines[..upto].join("\n")), Options::default()));
        assert_eq!(one, other, "after {}", lines[upto - 1]);
    }
    check_watched(
        Options::default(),
        &lines.join("\n"),
        &expect![[r#"
        assistant msg:m streaming
          - tool_call id=c name=bash input={} output={"error":"denied"} isError=true relay={"id":"q","kind":"permission","status":"denied","prompt":"ok?","by":"user"} status=denied
    "#]],
    );
    // It goes to the call of its own run only, whoever has the id.
    check_watched(
        Options::default(),
        r#"
        a  relay           p question c prompt="which?" options=["x","y"]
        b  relay           q permission c
        a  relay           r permission c
        a  relay_resolved  p true
        b  tool_call       c bash
        a  tool_call       c bash
        a  tool_call       c bash
        "#,
        &expect![[r#"
            assistant msg:p streaming
              - tool_call id=a/c name=bash input={} relay={"id":"r","kind":"permission","status":"answered_elsewhere"} status=running
            assistant msg:q streaming
              - tool_call id=c name=bash input={} relay={"id":"q","kind":"permission","status":"pending"} status=waiting
        "#]],
    );
    check_watched(
        Options::default(),
        r#"
        a  text       c "has the id"
        a  relay      q permission c
        b  relay      q permission c
        a  tool_call  c bash
        "#,
        &expect![[r#"
            assistant msg:c streaming
              - text id=c text=has the id
              - tool_call id=a/c name=bash input={} relay={"id":"q","kind":"permission","status":"pending"} status=waiting
            assistant msg:b/q streaming
              - relay id=b/q relay={"id":"q","kind":"permission","status":"pending"} status=waiting
        "#]],
    );
    // What hangs from the call, and what is in the message, stays where it is.
    check_watched(
        Options::default(),
        r#"
        a    text       t "look"          messageId=m1
        a    relay      q permission c    messageId=m2
        b^c  text       u "inside"
        a    tool_call  c agent           messageId=m1
        b    relay      p permission d
        b    tool_call  d bash
        b    relay_resolved  p true
        a    relay_resolved  q true
        "#,
        &expect![[r#"
            assistant msg:m1 complete
              - text id=t text=look
              - tool_call id=c name=agent input={} relay={"id":"q","kind":"permission","status":"approved","by":"user"} status=proposed
                b:
                  assistant msg:u streaming
                    - text id=u text=inside
                    - tool_call id=d name=bash input={} relay={"id":"p","kind":"permission","status":"approved","by":"user"} status=proposed
        "#]],
    );
}

#[test]
fn a_request_stays_where_it_was_shown_first() {
    check_watched(
        Options::default(),
        r#"
        a  relay           q permission c1 bash prompt="first?"
        a  tool_call       c1 bash
        a  tool_call       c2 bash
        a  relay           q permission c1 bash prompt="second?"
        a  relay           p permission c1
        a  relay           p permission c2
        a  relay_resolved  p true
        "#,
        &expect![[r#"
            assistant msg:q streaming
              - tool_call id=c1 name=bash input={} relay={"id":"q","kind":"permission","status":"pending","prompt":"second?"} status=waiting
              - tool_call id=c2 name=bash input={} status=proposed
        "#]],
    );
}

#[test]
fn what_a_person_is_asked_about_a_call_is_shown_with_the_call_and_so_is_the_answer() {
    let asked = r#"
        a  tool_call  c ask {}
        a  relay      r question c prompt="which one?" options=["x","y"]
    "#;
    check(
        asked,
        &expect![[r#"
        assistant msg:c streaming
          - tool_call id=c name=ask input={} relay={"id":"r","kind":"question","status":"pending","prompt":"which one?","options":["x","y"]} status=waiting
    "#]],
    );
    check(
        &format!("{asked}a relay_resolved r by=ann answer=x"),
        &expect![[r#"
        assistant msg:c streaming
          - tool_call id=c name=ask input={} relay={"id":"r","kind":"question","status":"answered","prompt":"which one?","options":["x","y"],"answer":"x","by":"ann"} status=proposed
    "#]],
    );
}
