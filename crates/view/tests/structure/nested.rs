//! What the `nested` view shows, as tables.

use antiphon_event::Event;
use antiphon_testkit::{history, numbered};
use antiphon_view::{Fold, Nested};
use expect_test::{Expect, expect};

use super::folded;

/// Draws the nodes as a tree, after checking the laws.
#[track_caller]
fn check(table: &str, expected: &Expect) {
    check_events(&history(table), expected);
}

#[track_caller]
fn check_events(events: &[Event], expected: &Expect) {
    let fold = Fold::<Nested>::of(events);
    folded::<Nested>(events);
    let mut drawn = String::new();
    for (depth, node) in fold.view().walk() {
        let mut members = serde_json::to_value(node).expect("a node is JSON");
        let members = members.as_object_mut().expect("a node is an object");
        members.shift_remove("parent");
        let words: Vec<_> = members
            .iter()
            .filter(|(name, _)| *name != "level" && *name != "id")
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let line = format!("{}{} {} {}\n", "  ".repeat(depth), members["level"], node.id, words.join(" "));
        drawn.push_str(&line.replace("\\\"", "'").replace('"', ""));
    }
    expected.assert_eq(&drawn);
}

#[test]
fn each_level_hangs_from_the_one_above_it() {
    let events = numbered(history(
        r#"
        u  user            "go" eventFlowId=f messageId=m0
        a  harness_start   eventFlowId=f agent={"id":"lead","name":"Lead"}
        a  reasoning       r "hm" eventFlowId=f messageId=m1 agent={"id":"lead"}
        a  text            t "I will " eventFlowId=f messageId=m1 agent={"id":"lead"}
        a  text            t "look." eventFlowId=f messageId=m1
        a  tool_call       c bash {"cmd":"ls"} eventFlowId=f messageId=m1
        a  relay           p permission c bash eventFlowId=f
        -  relay_resolved  p true
        a  tool_result     c "files"
        a  usage           1 1 messageId=m1
        a  harness_end     done
        "#,
    ));
    check_events(
        &events,
        &expect![[r#"
            scope s/main events=0
              flow f events=0
                message m0 label=user text=go events=1
                agent lead label=Lead status=done events=2
                  message m1 label=assistant text=I will look. reasoning=hm events=4
                    call c label=bash status=done input={'cmd':'ls'} output=files events=2
                      request p label=permission status=approved events=2
        "#]],
    );
}

#[test]
fn a_missing_level_is_skipped() {
    check(
        r#"
        a  text       t "only a run"
        b  text       t "a trace" traceId=x
        b  tool_call  c bash
        c  text       t "an agent" agent={"id":"","chain":["A","B"]}
        d  text       t "a message" messageId=m
        "#,
        &expect![[r#"
            run a events=0
              message t label=assistant text=only a run events=1
            trace x events=0
              message t label=assistant text=a trace events=1
              call c label=bash status=pending input={} events=1
            agent A/B label=B events=0
              message t label=assistant text=an agent events=1
            run d events=0
              message m label=assistant text=a message events=1
        "#]],
    );
}

#[test]
fn a_flow_once_known_is_used_for_its_trace_and_its_run() {
    check(
        r#"
        a  text   t "1" eventFlowId=f traceId=x
        b  text   t "2" traceId=x
        b  error  "3"
        "#,
        &expect![[r#"
            flow f events=1
              message t label=assistant text=1 events=1
              message t label=assistant text=2 events=1
        "#]],
    );
}

#[test]
fn results_and_answers_before_their_start_keep_a_place_for_it() {
    check(
        r#"
        a  tool_result     c "early"
        -  relay_resolved  p false reason="no"
        a  tool_progress   g d "half"
        a  relay           p permission c bash eventFlowId=f
        a  tool_call       c bash {} eventFlowId=f messageId=m
        "#,
        &expect![[r#"
            run a events=0
              call d orphan=true events=1
            flow f events=0
              message m events=0
                call c label=bash status=done input={} output=early events=2
                  request p label=permission status=denied output=no events=2
        "#]],
    );
}

#[test]
fn a_run_hangs_from_the_call_that_caused_it_whichever_comes_first() {
    check(
        r#"
        a    harness_start  eventFlowId=f agent={"id":"lead"}
        a    tool_call      c1 agent eventFlowId=f
        b^c1 harness_start  eventFlowId=f agent={"id":"sub","parentId":"lead"}
        b    text           t "working"
        d^c2 harness_start  eventFlowId=f agent={"id":"other"}
        a    tool_call      c2 agent eventFlowId=f
        e^c2 text           t "no metadata" eventFlowId=f
        "#,
        &expect![[r#"
            flow f events=0
              agent lead status=running events=1
                call c1 label=agent status=pending input={} events=1
                  agent sub status=running events=1
                    message t label=assistant text=working events=1
                call c2 label=agent status=pending input={} events=1
                  agent other status=running events=1
                  run e events=0
                    message t label=assistant text=no metadata events=1
        "#]],
    );
}

#[test]
fn agents_hang_from_agents_they_name_and_agents_in_nodes_from_the_node() {
    check(
        r#"
        x                harness_start  agent={"id":"child","parentId":"boss"}
        y                harness_start  agent={"id":"boss"}
        f                run_start      report
        f                node_start     n
        r^f:n:1:start    harness_start  agent={"id":"writer"}
        f                node_end       n
        f                run_end        COMPLETED
        "#,
        &expect![[r#"
            agent boss status=running events=1
              agent child status=running events=1
            workflow f label=report status=COMPLETED events=2
              node n:1 label=n status=COMPLETED events=2
                agent writer status=running events=1
        "#]],
    );
}

#[test]
fn a_question_of_a_node_hangs_from_the_execution_that_asks() {
    check(
        r#"
        f  run_start       gate
        f  relay           g approval nodeId=gate
        f  node_start      nodeId=gate
        f  node_start      nodeId=other
        f  relay           q approval nodeId=gate
        -  relay_resolved  q true
        "#,
        &expect![[r#"
            workflow f label=gate status=EXECUTING events=1
              request g label=approval status=pending events=1
              node gate:1 label=gate status=EXECUTING events=1
                request q label=approval status=approved events=2
              node other:1 label=other status=EXECUTING events=1
            run f events=0
        "#]],
    );
}

#[test]
fn the_same_id_in_two_branches_or_runs_is_two_nodes() {
    check(
        r#"
        a  text       t "1" sessionId=s branchId=main messageId=m
        a  text       t "2" sessionId=s branchId=b2 messageId=m
        a  tool_call  c x {} sessionId=s branchId=main
        z  tool_call  c y {} sessionId=s branchId=main
        z  tool_result c "of y" sessionId=s branchId=main
        "#,
        &expect![[r#"
            scope s/main events=0
              run a events=0
                message m label=assistant text=1 events=1
                call c label=x status=pending input={} events=1
              run z events=0
                call c label=y status=done input={} output=of y events=2
            scope s/b2 events=0
              run a events=0
                message m label=assistant text=2 events=1
        "#]],
    );
}

#[test]
fn a_parent_once_known_stays() {
    check(
        r#"
        a  text       t "1" eventFlowId=f messageId=m
        a  text       t "2" eventFlowId=g messageId=m
        a  tool_call  c bash {} messageId=m
        a  tool_call  c bash {} messageId=n
        "#,
        &expect![[r#"
            flow f events=0
              message m label=assistant text=12 events=2
                call c label=bash status=pending input={} events=2
        "#]],
    );
}

#[test]
fn what_a_retry_discards_is_marked_and_gives_way_to_what_follows() {
    check(
        r#"
        a  text         t1 "half an ans" messageId=m
        a  text         t9 "alone"
        a  tool_call    c bash
        a  model_retry  2 ["t1","t9","c","nobody"]
        a  text         t2 "whole answer" messageId=m
        "#,
        &expect![[r#"
            run a events=1
              message m label=assistant text=whole answer events=2
              message t9 label=assistant text=alone discarded=true events=1
              call c label=bash status=pending input={} discarded=true events=1
        "#]],
    );
}

#[test]
fn a_result_without_a_session_or_of_another_run_finds_its_call() {
    check(
        "
        a tool_call c x sessionId=s branchId=main
        a tool_result c R
        a tool_call d x
        a tool_result d R sessionId=s branchId=main
        a tool_call e x sessionId=s branchId=main
        a tool_result e R sessionId=s
        a tool_call f x
        b tool_result f R
        b tool_result g R
        a tool_call g x sessionId=s branchId=main
        ",
        &expect![[r#"
            scope s/main events=0
              run a events=0
                call c label=x status=done input={} output=R events=2
                call e label=x status=done input={} output=R events=2
                call g label=x status=done input={} output=R events=2
            run a events=0
              call d label=x status=done input={} output=R events=2
              call f label=x status=done input={} output=R events=2
            run b events=0
        "#]],
    );
}

#[test]
fn an_answer_without_a_session_or_of_another_run_finds_its_request() {
    check(
        "
        a relay p question sessionId=s branchId=main
        - relay_resolved p true
        a relay q question
        b relay_resolved q true sessionId=s branchId=main
        - relay_resolved r true sessionId=s
        a relay r question sessionId=s branchId=main
        ",
        &expect![[r#"
            scope s/main events=0
              run a events=0
                request p label=question status=approved events=2
                request r label=question status=approved events=2
            run a events=0
              request q label=question status=approved events=2
            scope s/ events=0
        "#]],
    );
}

#[test]
fn equal_ids_of_two_runs_or_sessions_are_two_calls_and_two_requests() {
    check(
        "
        a tool_call c xa
        b tool_call c xb
        a relay q permission c xa prompt=A
        b relay q permission c xb prompt=B
        a relay_resolved q true
        b tool_result c RB
        a tool_call c one sessionId=s branchId=main
        a tool_result c R sessionId=t branchId=main
        k^c text t child
        l^b/c text t child
        ",
        &expect![[r#"
            run a events=0
              call c label=xa status=pending input={} events=1
                request q label=permission status=approved input=A events=2
                run k events=0
                  message t label=assistant text=child events=1
            run b events=0
              call c label=xb status=done input={} output=RB events=2
                request q label=permission status=answered_elsewhere input=B events=1
                run l events=0
                  message t label=assistant text=child events=1
            scope s/main events=0
              run a events=0
                call c label=one status=pending input={} events=1
            scope t/main events=0
              run a events=0
                call c orphan=true label=tool status=done output=R events=1
        "#]],
    );
}
