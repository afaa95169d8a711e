//! From an event back along its causes, as tables.

// The expected texts are written by the test runner, which always uses hashes.
#![allow(clippy::needless_raw_string_hashes, clippy::needless_pass_by_value)]

use std::fmt::Write;

use antiphon_event::{Event, Lines};
use antiphon_testkit::{history, numbered};
use antiphon_view::why::{Causes, Place, Why};
use antiphon_view::{Changes, Fold, Tally, View};
use expect_test::{Expect, expect};

fn causes(events: &[Event]) -> Causes {
    Fold::<Causes>::of(events).view().clone()
}

fn dollars(tally: &Tally) -> String {
    tally.cost_usd.map_or("?".into(), |cost| serde_json::to_string(&cost).expect("a number"))
}

fn show(why: &Why) -> String {
    let mut shown = String::new();
    for cause in &why.causes {
        let relation = cause.relation.map(|relation| serde_json::to_value(relation).expect("a word"));
        let relation = relation.as_ref().and_then(|word| word.as_str()).unwrap_or("");
        let seq = cause.seq.map_or("-".into(), |seq| seq.to_string());
        write!(shown, "{relation:13} {seq:>3} {} | {}", cause.what.tag(), cause.text).expect("text");
        if let Some(ms) = cause.until_ms {
            write!(shown, " | {ms} ms").expect("text");
        }
        if let Some(spent) = cause.spent {
            let (read, written) = (spent.input_tokens, spent.output_tokens);
            write!(shown, " | {read}+{written} ${}", dollars(&spent)).expect("text");
        }
        if !cause.also.is_empty() {
            write!(shown, " | also {:?}", cause.also).expect("text");
        }
        shown.push('\n');
    }
    let (read, written) = (why.spent.input_tokens, why.spent.output_tokens);
    let total = why.total_ms.map_or("?".into(), |ms| ms.to_string());
    writeln!(shown, "= {total} ms, {read}+{written} ${}", dollars(&why.spent)).expect("text");
    shown
}

/// Why the last event of a table happened.
#[track_caller]
fn check(table: &str, expected: Expect) {
    let events = numbered(history(table));
    let why = causes(&events).why(events.len() as u64).expect("the last event is known");
    expected.assert_eq(&show(&why));
}

fn recorded(name: &str) -> Vec<Event> {
    let path = format!("{}/../../examples/histories/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let mut events = Vec::new();
    let mut lines = Lines::new();
    lines.feed(&std::fs::read(path).expect("a history"), |event| events.push(event.expect("an event")));
    events
}

/// Why the last event of a type in a recorded history happened.
#[track_caller]
fn check_recorded(name: &str, tag: &str, expected: Expect) {
    let events = recorded(name);
    let index = events.iter().rposition(|event| event.body.tag() == tag).expect("an event of that type");
    let why = causes(&events).why(index as u64 + 1).expect("it is known");
    expected.assert_eq(&show(&why));
}

#[test]
fn an_answer_goes_back_to_what_was_asked() {
    check(
        r#"
        u1          user           "List files"
        a1^u1:user  harness_start
        a1          text           t1 "I will "
        a1          text           t1 "look."
        "#,
        expect![[r#"
                            3 text | I will look.
            said_by         3 step | model call 1 | 0 ms
            answers         2 harness_start | agent | 1000 ms
            started_by      1 user | List files | 1000 ms
            = 2000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_result_goes_back_over_the_approval_to_the_model_call() {
    check(
        r#"
        u1          user           "List files"
        a1^u1:user  harness_start
        a1          text           t1 "I will look."
        a1          tool_call      c1 bash {"command":"ls"}
        a1          usage          50 20 model=small-1 costUsd=0.25
        a1          relay          q1 permission c1 bash {"command":"ls"}
        a1          relay_resolved q1 true user
        a1          tool_call      c1 bash {"command":"ls"}
        a1          tool_result    c1 "a.txt"
        "#,
        expect![[r#"
                            9 tool_result | tool: a.txt
            result_of       8 tool_call | bash {"command":"ls"} | 1000 ms
            allowed_by      7 relay_resolved | approved by user | 1000 ms
            resolves        6 relay | permission: bash | 1000 ms
            asks_about      4 tool_call | bash {"command":"ls"} | 2000 ms
            proposed_by     3 step | model call 1 on small-1 | 1000 ms | 50+20 $0.25
            answers         2 harness_start | agent | 1000 ms
            started_by      1 user | List files | 1000 ms
            = 8000 ms, 50+20 $0.25
        "#]],
    );
}

#[test]
fn a_refused_call_goes_back_to_who_refused() {
    check(
        r#"
        a1 tool_call      c1 bash {"command":"rm -rf /"}
        a1 usage          50 20
        a1 relay          q1 permission c1 bash
        a1 relay_resolved q1 false operator reason="too dangerous"
        a1 tool_result    c1 {"error":"denied"} isError=true
        "#,
        expect![[r#"
                            5 tool_result | tool failed: {"error":"denied"}
            denied_by       4 relay_resolved | denied by operator: too dangerous | 1000 ms | also [1]
            resolves        3 relay | permission: bash | 1000 ms
            asks_about      1 tool_call | bash {"command":"rm -rf /"} | 2000 ms
            proposed_by     1 step | model call 1 | 0 ms | 50+20 $?
            = 4000 ms, 50+20 $?
        "#]],
    );
}

#[test]
fn a_model_call_answers_all_results_and_the_last_is_followed() {
    check(
        r#"
        u1          user        "go"
        a1^u1:user  harness_start
        a1          tool_call   c1
        a1          tool_call   c2
        a1          usage       10 5 model=small-1
        a1          tool_call   c1
        a1          tool_call   c2
        a1          tool_result c2 2
        a1          tool_result c1 1
        a1          text        t2 "both are there"
        a1          usage       20 5 model=small-1
        "#,
        expect![[r#"
                           11 usage | 20 + 5 tokens
            part_of        10 step | model call 2 on small-1 | 1000 ms | 20+5 $?
            answers         9 tool_result | tool: 1 | 1000 ms | also [8]
            result_of       6 tool_call | tool {} | 3000 ms
            runs_as         3 tool_call | tool {} | 3000 ms
            proposed_by     3 step | model call 1 on small-1 | 0 ms | 10+5 $?
            answers         2 harness_start | agent | 1000 ms
            started_by      1 user | go | 1000 ms
            = 10000 ms, 30+10 $?
        "#]],
    );
}

#[test]
fn a_call_that_ran_a_subagent_goes_back_through_it() {
    check(
        r#"
        a1    tool_call     c1 agent {"task":"look"} callType=sub_agent
        a1    usage         10 5
        a1    tool_call     c1 agent {"task":"look"} callType=sub_agent
        a2^c1 harness_start agentId=scout
        a2    text          t1 "Found it"
        a2    usage         7 3
        a2    harness_end   done
        a1    tool_result   c1 {"result":"Found it"}
        "#,
        expect![[r#"
                            8 tool_result | tool: {"result":"Found it"}
            returned_by     7 harness_end | done | 1000 ms | also [3]
            ends_with       5 step | model call 1 | 2000 ms | 7+3 $?
            answers         4 harness_start | scout | 1000 ms
            started_by      3 tool_call | agent {"task":"look"} | 1000 ms
            runs_as         1 tool_call | agent {"task":"look"} | 2000 ms
            proposed_by     1 step | model call 1 | 0 ms | 10+5 $?
            = 7000 ms, 17+8 $?
        "#]],
    );
}

#[test]
fn a_node_goes_back_over_its_edges_to_the_start() {
    check(
        r#"
        u1         user            "report"
        f1^u1:user run_start       report
        f1         node_start      a
        f1         node_start      b
        f1         node_end        b COMPLETED 1 edges=[{"to":"c","live":true}]
        f1         edge_transition b c
        f1         node_end        a COMPLETED 1 edges=[{"to":"c","live":true},{"to":"d","live":false}]
        f1         edge_transition a c conditional condition="state.ok"
        f1         node_start      c
        "#,
        expect![[r#"
                            9 node_start | c, execution 1
            reached_by      8 edge_transition | a → c if state.ok | 1000 ms | also [6]
            leaves          7 node_end | a COMPLETED | 1000 ms
            result_of       3 node_start | a, execution 1 | 4000 ms
            entry_of        2 run_start | report | 1000 ms
            started_by      1 user | report | 1000 ms
            = 8000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_node_that_was_passed_over_says_after_what() {
    check(
        r#"
        f1 run_start    report
        f1 node_start   a
        f1 node_end     a COMPLETED 1 edges=[{"to":"b","live":false}]
        f1 node_skipped b "no live edge"
        "#,
        expect![[r#"
                            4 node_skipped | b: no live edge
            skipped_after   3 node_end | a COMPLETED | 1000 ms
            result_of       2 node_start | a, execution 1 | 1000 ms
            entry_of        1 run_start | report | 1000 ms
            = 3000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_second_attempt_goes_back_to_the_first() {
    check(
        r#"
        f1 run_start  report
        f1 node_start a
        f1 node_retry a 1 error={"message":"no route"}
        f1 node_start a 1 2
        f1 node_end   a COMPLETED 1 attempt=2
        "#,
        expect![[r#"
                            5 node_end | a COMPLETED
            result_of       4 node_start | a, execution 1, attempt 2 | 1000 ms
            retries         3 node_retry | a: no route | 1000 ms
            part_of         2 node_start | a, execution 1 | 1000 ms
            entry_of        1 run_start | report | 1000 ms
            = 4000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_node_that_runs_again_after_a_crash_goes_back_over_the_resumption() {
    check(
        r#"
        f1 run_start  report
        f1 node_start a
        f1 node_end   a FAILED null error={"message":"no route"}
        f1 run_end    FAILED null
        f1 resumed
        f1 node_start a 1 2
        "#,
        expect![[r#"
                            6 node_start | a, execution 1, attempt 2
            retries         5 resumed |  | 1000 ms
            follows         4 run_end | FAILED | 1000 ms
            ends_with       3 node_end | a FAILED: no route | 1000 ms
            result_of       2 node_start | a, execution 1 | 1000 ms
            entry_of        1 run_start | report | 1000 ms
            = 5000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn nodes_side_by_side_do_not_cause_one_another() {
    check(
        r#"
        f1 run_start  report
        f1 node_start a
        f1 node_start b
        f1 node_end   a COMPLETED 1
        f1 node_end   b COMPLETED 1
        "#,
        expect![[r#"
                            5 node_end | b COMPLETED
            result_of       3 node_start | b, execution 1 | 2000 ms
            entry_of        1 run_start | report | 2000 ms
            = 4000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_person_in_a_flow_is_a_cause() {
    check(
        r#"
        f1 run_start      report
        f1 node_start     gate nodeType=human
        f1 relay          q1 approval prompt="Publish?" nodeId=gate
        f1 interrupt      gate human_approval
        f1 relay_resolved q1 true editor
        f1 node_end       gate COMPLETED {"approved":true}
        f1 run_end        COMPLETED 1
        "#,
        expect![[r#"
                            7 run_end | COMPLETED
            ends_with       6 node_end | gate COMPLETED | 1000 ms
            decided_by      5 relay_resolved | approved by editor | 1000 ms | also [2]
            resolves        3 relay | approval: Publish? | 2000 ms
            asks_about      2 node_start | gate, execution 1 | 1000 ms
            entry_of        1 run_start | report | 1000 ms
            = 6000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_failure_ends_a_run() {
    check(
        r#"
        u1         user  "go"
        a1^u1:user harness_start
        a1         text  t1 "Let me"
        a1         error "the provider answered 529"
        a1         harness_end error
        "#,
        expect![[r#"
                            5 harness_end | error
            stopped_by      4 error | the provider answered 529 | 1000 ms
            part_of         3 step | model call 1 | 1000 ms
            answers         2 harness_start | agent | 1000 ms
            started_by      1 user | go | 1000 ms
            = 4000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_summary_goes_back_to_its_sources() {
    check(
        r#"
        u1         user    "one" messageId=m1
        a1^u1:user text    t1 "two" messageId=m2
        -          summary s1 ["m1","msg:m2","gone"] "one and two"
        -          history_compacted s1 ["m1","m2"]
        "#,
        expect![[r#"
                            4 history_compacted | 2 messages
            part_of         3 summary | one and two | 1000 ms
            sums_up         2 step | model call 1 | 1000 ms | also [1]
            answers         1 user | one | 1000 ms
            = 3000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_cause_that_comes_late_is_adopted() {
    check(
        r#"
        a2^c1 harness_start
        a1    tool_call     c1 agent
        a2    text          t1 "hello"
        "#,
        expect![[r#"
                            3 text | hello
            said_by         3 step | model call 1 | 0 ms
            answers         1 harness_start | agent | 2000 ms
            started_by      2 tool_call | agent {} | -1000 ms
            proposed_by     2 step | model call 1 | 0 ms
            = 1000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn runs_that_name_each_other_as_cause_end_the_answer() {
    check(
        r#"
        a^b harness_start
        b^a harness_start
        a   text t hello
        "#,
        expect![[r#"
                            3 text | hello
            said_by         3 step | model call 1 | 0 ms
            answers         1 harness_start | agent | 2000 ms
            started_by      2 harness_start | agent | -1000 ms
            = 1000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn what_led_to_a_call_does_not_answer_what_came_of_it() {
    let table = "
        u         user q
        r^u:user  harness_start
        r         tool_result c 1
        r         text t a
        r         usage 1 1
        r         text v b
        r         tool_call c x
        ";
    check(
        table,
        expect![[r#"
                            7 tool_call | x {}
            proposed_by     6 step | model call 2 | 1000 ms
            follows         4 step | model call 1 | 2000 ms | 1+1 $?
            answers         2 harness_start | agent | 2000 ms
            started_by      1 user | q | 1000 ms
            = 6000 ms, 1+1 $?
        "#]],
    );
    let why = causes(&numbered(history(table))).why(3).expect("there is a result");
    expect![[r#"
                        3 tool_result | tool: 1
        result_of       7 tool_call | x {} | -4000 ms
        proposed_by     6 step | model call 2 | 1000 ms
        follows         4 step | model call 1 | 2000 ms | 1+1 $?
        answers         2 harness_start | agent | 2000 ms
        started_by      1 user | q | 1000 ms
        = 2000 ms, 1+1 $?
    "#]]
    .assert_eq(&show(&why));
}

#[test]
fn what_led_to_a_call_still_goes_back_to_what_caused_its_run() {
    check(
        "
        r^s/c     tool_result c 1
        r         text t a
        s         tool_call s/c agent
        r         tool_call c x
        ",
        expect![[r#"
                            4 tool_call | x {}
            proposed_by     2 step | model call 1 | 2000 ms
            answers         3 tool_call | agent {} | -1000 ms
            proposed_by     3 step | model call 1 | 0 ms
            = 1000 ms, 0+0 $?
        "#]],
    );
    check(
        "
        r^s/c     tool_result c 1
        r         text t a
        r         tool_call c x
        s         tool_call s/c agent
        r         text t b
        ",
        expect![[r#"
                            2 text | ab
            said_by         2 step | model call 1 | 0 ms
            answers         4 tool_call | agent {} | -2000 ms
            proposed_by     4 step | model call 1 | 0 ms
            = -2000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn what_its_own_effects_name_as_the_cause_of_its_run_is_no_cause_of_it() {
    check(
        r#"
        a^b/c  harness_start
        a      tool_call a/c agent
        b^a/c  harness_start
        b      tool_call b/c agent
        b      text t hello
        "#,
        expect![[r#"
                            5 text | hello
            said_by         4 step | model call 1 | 1000 ms
            answers         3 harness_start | agent | 1000 ms
            started_by      2 tool_call | agent {} | 1000 ms
            proposed_by     2 step | model call 1 | 0 ms
            answers         1 harness_start | agent | 1000 ms
            = 4000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn a_steered_message_is_among_the_causes() {
    check(
        r#"
        a1    harness_start
        a1    tool_call   c1
        a1    usage       1 1
        a1    tool_call   c1
        a1    tool_result c1 1
        u2^a1:usage:1 user "only the newest" delivery=steer
        a1    text        t2 "as you wish"
        "#,
        expect![[r#"
                            7 text | as you wish
            said_by         7 step | model call 2 | 0 ms
            answers         6 user | only the newest | 1000 ms | also [5]
            = 1000 ms, 0+0 $?
        "#]],
    );
}

#[test]
fn in_a_cycle_the_second_execution_goes_back_over_the_first() {
    check_recorded(
        "flow-with-cycle",
        "run_end",
        expect![[r#"
                           97 run_end | COMPLETED
            ends_with      95 node_end | format COMPLETED | 5 ms
            result_of      94 node_start | format, execution 1 | 3 ms
            reached_by     91 edge_transition | reviewer → format if state.approved | 12 ms
            leaves         90 node_end | reviewer COMPLETED | 5 ms
            returned_by    89 harness_end | done | 3 ms | also [84]
            ends_with      86 step | model call 1 of reviewer on small-1 | 69 ms | 309+19 $0.000308
            answers        85 harness_start | reviewer | 373 ms
            started_by     84 node_start | reviewer, execution 2 | 5 ms
            reached_by     81 edge_transition | writer → reviewer | 12 ms
            leaves         80 node_end | writer COMPLETED | 3 ms
            returned_by    79 harness_end | done | 3 ms | also [66]
            ends_with      68 step | model call 1 of writer on large-1 | 352 ms | 418+95 $0.002679
            answers        67 harness_start | writer | 614 ms
            started_by     66 node_start | writer, execution 2 | 3 ms
            reached_by     63 edge_transition | reviewer → writer if !state.approved | 10 ms
            leaves         62 node_end | reviewer COMPLETED | 5 ms
            returned_by    61 harness_end | done | 3 ms | also [48]
            ends_with      50 step | model call 1 of reviewer on small-1 | 366 ms | 297+48 $0.000391
            answers        49 harness_start | reviewer | 380 ms
            started_by     48 node_start | reviewer, execution 1 | 4 ms
            reached_by     45 edge_transition | writer → reviewer | 10 ms
            leaves         44 node_end | writer COMPLETED | 2 ms
            returned_by    43 harness_end | done | 3 ms | also [30]
            ends_with      32 step | model call 1 of writer on large-1 | 338 ms | 341+92 $0.002403
            answers        31 harness_start | writer | 424 ms
            started_by     30 node_start | writer, execution 1 | 3 ms
            reached_by     27 edge_transition | researcher → writer | 11 ms
            leaves         26 node_end | researcher COMPLETED | 2 ms
            returned_by    25 harness_end | done | 3 ms | also [6]
            ends_with      16 step | model call 2 of researcher on small-1 | 318 ms | 602+71 $0.000709
            answers        15 tool_result | search: {"results":["largest barrage in operation: 254 MW",… | 578 ms | also [14]
            result_of      12 tool_call | search {"query":"tidal power plants in operation capacity",… | 554 ms
            runs_as         9 tool_call | search {"query":"tidal power plants in operation capacity",… | 72 ms
            proposed_by     8 step | model call 1 of researcher on small-1 | 68 ms | 388+74 $0.000547
            answers         7 harness_start | researcher | 451 ms
            started_by      6 node_start | researcher, execution 1 | 3 ms
            entry_of        4 run_start | report | 4 ms
            started_by      3 user | Write a short report on tidal power. | 3 ms
            = 5077 ms, 2355+399 $0.007037
        "#]],
    );
}

#[test]
fn an_answer_from_code_goes_back_over_the_code() {
    check_recorded(
        "rlm-session",
        "harness_end",
        expect![[r#"
                           65 harness_end | done
            ends_with      63 repl_output | final answer | 57 ms
            result_of      62 repl_input | const [a, b] = [scope.medians['4.1.0'], scope.medians['4.2.… | 7 ms
            proposed_by    54 step | model call 4 of analyst on large-1 | 218 ms | 1264+104 $0.005352
            answers        53 repl_output | {"4.1.0":2.52,"4.2.0":6.91} 8c1f2ab check every row against… | 569 ms
            returned_by    50 harness_end | done | 59 ms | also [36]
            ends_with      48 repl_output | final answer | 38 ms
            result_of      47 repl_input | const hits = context.split('\n').filter(l => /row|schema/.t… | 7 ms
            proposed_by    43 step | model call 1 of analyst on small-1 | 113 ms | 352+61 $0.000477
            answers        42 harness_start | analyst | 445 ms
            started_by     36 repl_input | const per = {}; for (const r of scope.rows) (per[r.release]… | 5308 ms
            proposed_by    23 step | model call 3 of analyst on large-1 | 401 ms | 1010+187 $0.005835
            answers        22 repl_output | 18204 rows {"at":"2026-10-19T00:00:12Z","release":"4.1.0","… | 519 ms
            result_of      19 repl_input | scope.rows = context.split('\n').filter(Boolean).map(l => J… | 70 ms
            proposed_by    13 step | model call 2 of analyst on large-1 | 169 ms | 846+88 $0.003858
            answers        12 repl_output | SyntaxError: Unexpected end of JSON input | 313 ms
            result_of      11 repl_input | const lines = context.split('\n'); scope.rows = lines.map(l… | 7 ms
            proposed_by     5 step | model call 1 of analyst on large-1 | 121 ms | 731+96 $0.003633
            answers         4 harness_start | analyst | 330 ms
            started_by      3 user | The attached log covers three weeks of imports. Which relea… | 2 ms
            = 8753 ms, 4203+536 $0.019155
        "#]],
    );
}

#[test]
fn subagents_of_subagents_are_on_the_way() {
    check_recorded(
        "nested-subagents",
        "harness_end",
        expect![[r#"
                           86 harness_end | done
            ends_with      75 step | model call 2 of lead on large-1 | 308 ms | 1187+88 $0.004881
            answers        74 tool_result | agent: {"result":"The uploader reads `settings.upload.retri… | 587 ms | also [53]
            returned_by    73 harness_end | done | 7 ms | also [16]
            ends_with      69 step | model call 3 of code scout on small-1 | 93 ms | 671+46 $0.000684
            answers        68 tool_result | agent: {"result":"The default is `retries = 5` in the `[upl… | 577 ms
            returned_by    67 harness_end | done | 9 ms | also [55]
            ends_with      62 step | model call 2 of reader on small-1 | 170 ms | 466+27 $0.000459
            answers        61 tool_result | read: {"context":"[upload]\nretries = 5\nbackoff_ms = 200\n… | 609 ms
            result_of      60 tool_call | read {"path":"config/defaults.toml"} | 14 ms
            runs_as        58 tool_call | read {"path":"config/defaults.toml"} | 19 ms
            proposed_by    57 step | model call 1 of reader on small-1 | 35 ms | 402+31 $0.000421
            answers        56 harness_start | reader | 422 ms
            started_by     55 tool_call | agent {"agent":"reader","task":"Which value has upload.retr… | 2 ms
            runs_as        36 tool_call | agent {"agent":"reader","task":"Which value has upload.retr… | 1984 ms
            proposed_by    30 step | model call 2 of code scout on small-1 | 138 ms | 598+52 $0.000645
            answers        29 tool_result | bash: {"exitCode":0,"context":"src/upload/client.rs:31:    … | 499 ms
            result_of      27 tool_call | bash {"command":"grep -rn retries src/upload"} | 71 ms
            runs_as        24 tool_call | bash {"command":"grep -rn retries src/upload"} | 67 ms
            proposed_by    22 step | model call 1 of code scout on small-1 | 96 ms | 512+44 $0.00055
            answers        21 harness_start | code scout | 415 ms
            started_by     16 tool_call | agent {"agent":"code-scout","task":"Where is the retry limi… | 598 ms
            runs_as        13 tool_call | agent {"agent":"code-scout","task":"Where is the retry limi… | 100 ms
            proposed_by     5 step | model call 1 of lead on large-1 | 318 ms | 904+143 $0.004857
            answers         4 harness_start | lead | 604 ms
            started_by      3 user | Find out where the retry limit of the uploader is set and w… | 5 ms
            = 7747 ms, 4740+431 $0.012497
        "#]],
    );
}

#[test]
fn a_position_that_is_not_there_has_no_answer() {
    let events = numbered(history("u user hi\na^u:user text t hello\na text t there"));
    let causes = causes(&events);
    assert_eq!(causes.why(0), None);
    assert_eq!(causes.why(4), None);
    assert_eq!(causes.why_nth(3), None);
    assert_eq!(causes.why(2), causes.why(3), "pieces of one stream have the same causes");
    assert_eq!(causes.why(3), causes.why_nth(2));
}

#[test]
fn voices_and_missions_say_their_words() {
    check(
        r#"
        f  run_start                 mission
        f  node_start                nodeId=talk
        f  voice_transcript          nodeId=talk text=hello isFinal=true confidence=0.9 speaker=caller
        "#,
        expect![[r#"
                            3 voice_transcript | caller: hello
            part_of         2 node_start | talk, execution 1 | 1000 ms
            entry_of        1 run_start | mission | 1000 ms
            = 2000 ms, 0+0 $?
        "#]],
    );
    check(
        "m mission:approval_required action=deploy",
        expect![[r#"
                        1 mission:approval_required | approval needed: deploy
        = 0 ms, 0+0 $?
    "#]],
    );
}

#[test]
fn positions_are_those_of_a_branch() {
    let mut events = history(
        r#"
        u1  user  one   sessionId=s branchId=main seq=1
        u2  user  two   sessionId=s branchId=main seq=2
        -   branch_created {"branchId":"main","seq":1} sessionId=s branchId=fork seq=2
        u3  user  three sessionId=s branchId=main seq=3
        v1  user  other sessionId=t branchId=main seq=1
        w   user  again sessionId=s branchId=fork seq=3
        -   branch_created {"branchId":"loop","seq":9} sessionId=s branchId=loop seq=10
        "#,
    );
    events.push(events[1].clone());
    let causes = causes(&events);
    let at = |seq| causes.at(seq).map(|(_, nth)| nth).collect::<Vec<_>>();
    assert_eq!([at(1), at(2), at(3), at(4)], [vec![0, 4], vec![1, 2], vec![3, 5], vec![]]);
    assert_eq!(causes.why(3), None, "two branches have it");
    assert_eq!(causes.why(10), causes.why_nth(6));
    let on = |branch: &str, seq| {
        let place = Place { session_id: Some("s".into()), branch_id: Some(branch.into()) };
        causes.on(&place, seq)
    };
    assert_eq!(
        [on("main", 2), on("fork", 1), on("fork", 2), on("fork", 3)],
        [Some(1), Some(0), Some(2), Some(5)]
    );
    assert_eq!([on("fork", 4), on("loop", 1), on("none", 1)], [None; 3]);
    assert_eq!(causes.places().count(), 4);
}

#[test]
fn a_very_long_way_back_is_cut_and_says_so() {
    let mut table = String::from("a harness_start\n");
    for n in 0..6_000 {
        writeln!(table, "a tool_call c{n}\na usage 1 1\na tool_result c{n} 1").expect("text");
    }
    let events = numbered(history(&table));
    let why = causes(&events).why(events.len() as u64).expect("the last event is known");
    assert!(why.cut);
    assert_eq!(why.causes.len(), antiphon_view::why::CAUSES_MAX);
}

const RECORDED: [&str; 6] = [
    "simple-chat",
    "concurrent-tools",
    "nested-subagents",
    "flow-with-cycle",
    "rlm-session",
    "crash-in-the-middle",
];

#[test]
fn changes_lead_from_snapshot_to_snapshot_and_a_saved_fold_goes_on() {
    for name in RECORDED {
        let mut fold = Causes::default();
        let mut snapshot = serde_json::to_value(fold.snapshot()).expect("JSON");
        let mut changes = Changes::wanted();
        for event in recorded(name) {
            fold.apply(&event, &mut changes);
            for change in changes.take() {
                assert!(change.apply(&mut snapshot), "{name}");
            }
            let saved = serde_json::to_string(&fold).expect("a fold can be saved");
            fold = serde_json::from_str(&saved).expect("a saved fold can be loaded");
        }
        assert_eq!(snapshot, serde_json::to_value(fold.snapshot()).expect("JSON"), "{name}");
        assert_eq!(fold, causes(&recorded(name)), "{name}");
    }
}

#[test]
fn everything_but_people_and_the_start_has_a_cause() {
    for name in RECORDED {
        for fact in causes(&recorded(name)).facts() {
            let first = ["user", "session_created", "branch_created"].contains(&fact.what.tag());
            assert_eq!(fact.cause.is_none(), first, "{name}: {fact:?}");
        }
    }
}
