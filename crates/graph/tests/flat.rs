//! The flat graph, rule by rule: a history in, the graph drawn as text out.

use std::fmt::Write;

use antiphon_graph::{Graph, Reducer};
use antiphon_testkit::history;
use expect_test::{Expect, expect};
use serde_json::Value;

fn reduce(table: &str) -> Graph {
    let mut reducer = Reducer::default();
    for event in history(table) {
        reducer.apply(&event);
    }
    reducer.snapshot()
}

/// Draws a node a line, with its members and where it leads.
fn draw(graph: &Graph) -> String {
    let json = serde_json::to_value(graph).expect("a graph is JSON");
    let mut out = String::new();
    for node in json["nodes"].as_array().expect("nodes are a list") {
        let id = node["id"].as_str().expect("ids are text");
        let members: Vec<_> = node.as_object().expect("nodes are objects").iter().skip(3).collect();
        let members: String = members.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let kind = node["kind"].as_str().expect("kinds are text");
        writeln!(out, "{id} [{kind}]{members}{}", targets(&json["edges"][id])).expect("memory");
    }
    for (parent, children) in json["edges"].as_object().expect("edges are an object") {
        if graph.node(parent).is_none() {
            writeln!(out, "({parent}){}", targets(children)).expect("memory");
        }
    }
    out
}

fn targets(children: &Value) -> String {
    let names: Vec<_> = children.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() { String::new() } else { format!(" → {}", names.join(", ")) }
}

fn check(table: &str, expected: Expect) {
    expected.assert_eq(&draw(&reduce(table)));
}

#[test]
fn the_example_of_seed_000() {
    check(
        r#"
        u1           user          "List files"
        a1^u1:user   harness_start
        a1           text          t1 "I'll list "
        a1           text          t1 "the files"
        a1           tool_call     c1 bash {"command":"ls"}
        a1           usage         50 20
        a1           relay         p1 permission c1 bash {"command":"ls"}
        a1           tool_call     c1 bash {"command":"ls"}
        a1           tool_result   c1 "a.txt" name=bash
        a1           text          t2 "done"
        a1           usage         70 15
        a1           harness_end   done
        "#,
        expect![[r#"
            u1:user [user] content="List files" → a1:harness_start
            a1:harness_start [harness_start] parentId="u1:user" → t1
            t1 [text] content="I'll list the files" → c1
            c1 [tool_call] name="bash" input={"command":"ls"} → a1:usage:1
            a1:usage:1 [usage] inputTokens=50 outputTokens=20 → p1
            p1 [relay] relayKind="permission" toolCallId="c1" tool="bash" params={"command":"ls"} → c1:result
            c1:result [tool_result] name="bash" output="a.txt" → t2
            t2 [text] content="done" → a1:usage:2
            a1:usage:2 [usage] inputTokens=70 outputTokens=15 → a1:harness_end
            a1:harness_end [harness_end] reason="done"
        "#]],
    );
}

#[test]
fn a_subagent_hangs_from_the_call_that_spawned_it() {
    check(
        "
        a1      tool_call     c1 agent
        a2^c1   harness_start
        a2      text          t2 found
        a2      harness_end   done
        a1      tool_result   c1 found
        ",
        expect![[r#"
            c1 [tool_call] name="agent" input={} → a2:harness_start, c1:result
            a2:harness_start [harness_start] parentId="c1" → t2
            t2 [text] content="found" → a2:harness_end
            a2:harness_end [harness_end] reason="done"
            c1:result [tool_result] name="tool" output="found"
        "#]],
    );
}

#[test]
fn a_parent_may_be_a_run_and_means_its_last_node() {
    check(
        "
        a1      harness_start
        a1      text          t1 one
        p1^a1   text          t2 two
        a1      text          t3 three
        ",
        expect![[r#"
            a1:harness_start [harness_start] → t1
            t1 [text] content="one" → t2, t3
            t2 [text] parentId="a1" content="two"
            t3 [text] content="three"
        "#]],
    );
}

#[test]
fn a_parent_that_comes_late_adopts_a_node_by_id_and_a_run_by_its_first_node() {
    check(
        "
        b1^c9   text       t1 one
        b2^a1   text       t2 two
        b3^zz   text       t3 three
        a1      text       t4 four
        a1      tool_call  c9
        ",
        expect![[r#"
            t1 [text] parentId="c9" content="one"
            t2 [text] parentId="a1" content="two"
            t3 [text] parentId="zz" content="three"
            t4 [text] content="four" → t2, c9
            c9 [tool_call] name="tool" input={} → t1
            (zz) → t3
        "#]],
    );
}

#[test]
fn an_edge_that_would_close_a_cycle_is_not_added() {
    check(
        "
        a^tb  text ta one
        b^ta  text tb two
        c^c   text tc three
        d^td  text td four
        e^te2 text te1 five
        e     text te2 six
        ",
        expect![[r#"
            ta [text] parentId="tb" content="one"
            tb [text] parentId="ta" content="two" → ta
            tc [text] parentId="c" content="three"
            td [text] parentId="td" content="four"
            te1 [text] parentId="te2" content="five"
            te2 [text] content="six" → te1
        "#]],
    );
}

#[test]
fn an_id_that_another_run_or_kind_holds_is_not_the_same_node() {
    check(
        "
        a  text       x one
        b  text       x two
        b  text       x more
        b  tool_call  x
        b  reasoning  x why
        a  text       x end
        ",
        expect![[r#"
            x [text] content="oneend"
            b/x [text] content="twomore" → b/x~2
            b/x~2 [tool_call] name="tool" input={} → b/x~3
            b/x~3 [reasoning] content="why"
        "#]],
    );
}

#[test]
fn repeated_things_are_numbered_per_run_and_flow_nodes_by_execution_and_attempt() {
    check(
        r#"
        a  error        one
        a  error        two
        b  usage        1 1
        a  usage        1 1
        f  run_start    report
        f  node_start   write 1
        f  node_retry   write 1
        f  node_start   write 1 2
        f  node_end     write COMPLETED "x" attempt=2
        f  node_start   write 2
        f  node_skipped gate
        f  layer_start  0
        f  layer_start  1
        "#,
        expect![[r#"
            a:error [error] message="one" → a:error:2
            a:error:2 [error] message="two" → a:usage:1
            b:usage:1 [usage] inputTokens=1 outputTokens=1
            a:usage:1 [usage] inputTokens=1 outputTokens=1
            f:run_start [run_start] graphId="report" → f:write:1:start
            f:write:1:start [node_start] nodeId="write" nodeType="function" attempt=1 execution=1 → f:node_retry:1
            f:node_retry:1 [node_retry] nodeId="write" execution=1 attempt=1 delayMs=0 error={"message":"failed"} → f:write:1:start:2
            f:write:1:start:2 [node_start] nodeId="write" nodeType="function" attempt=2 execution=1 → f:write:1:end:2
            f:write:1:end:2 [node_end] nodeId="write" status="COMPLETED" execution=1 attempt=2 output="x" durationMs=0 edges=[] → f:write:2:start
            f:write:2:start [node_start] nodeId="write" nodeType="function" attempt=1 execution=2 → f:gate:1:skipped
            f:gate:1:skipped [node_skipped] nodeId="gate" execution=1 reason="dead edge" → f:layer_start:1
            f:layer_start:1 [layer_start] layer=0 → f:layer_start:2
            f:layer_start:2 [layer_start] layer=1
        "#]],
    );
}

#[test]
fn progress_replaces_or_accumulates_by_its_type() {
    check(
        r#"
        a  tool_progress  p1 c1 10
        a  tool_progress  p1 c1 20
        a  repl_input     r1 "1+1"
        a  repl_progress  r1 "2"
        a  repl_progress  r1 "\n"
        a  repl_output    r1 "2\n" true
        "#,
        expect![[r#"
            p1 [tool_progress] toolCallId="c1" name="tool" content=20 → r1
            r1 [repl_input] code="1+1" → r1:progress
            r1:progress [repl_progress] chunk="2\n" stream="stdout" → r1:output
            r1:output [repl_output] stdout="2\n" done=true
        "#]],
    );
}

#[test]
fn a_repeated_model_call_discards_what_it_had_said() {
    let graph = reduce(
        r#"
        a  text         t1 "half an ans"
        a  repl_input   k1 "1 +"
        a  tool_call    c1 bash
        a  model_retry  2 ["t1","k1","c1"] overloaded
        a  text         t2 "whole"
        b  model_retry  2 ["t2"] "not its own"
        "#,
    );
    for id in ["t1", "k1", "c1"] {
        assert!(graph.node(id).expect("kept").is_discarded(), "{id}");
    }
    assert_eq!(graph.text_of("a"), "whole");
}

#[test]
fn members_that_nobody_knows_are_kept_in_their_latest_form() {
    check(
        r#"
        r  text         t "hel" index=0 vendor={"a":1}
        r  text         t "lo" index=1
        r  tool_call    c bash kind=mine trace=on
        r  tool_call    c bash again=true
        r  harness_end  done agentId=x note="of a later version"
        "#,
        expect![[r#"
            t [text] content="hello" index=1 vendor={"a":1} → c
            c [tool_call] name="bash" input={} again=true → r:harness_end
            r:harness_end [harness_end] agentId="x" reason="done" note="of a later version"
        "#]],
    );
}

#[test]
fn events_without_a_run_and_unknown_types_are_no_part_of_it() {
    check(
        r#"
        -  session_created
        -  error        "no run"
        a  hologram     x=1
        a  text         t1 "hi"
        "#,
        expect![[r#"
            t1 [text] content="hi"
        "#]],
    );
}

#[test]
fn questions_are_answered_in_order_and_each_node_once() {
    let graph = reduce(
        "
        u       user       hi
        a^u     text       t1 one
        a       tool_call  c1 agent
        b^c1    text       t2 two
        b       tool_call  c2
        a       text       t3 three
        ",
    );
    let ids = |nodes: Vec<&antiphon_graph::Node>| {
        nodes.iter().map(|n| n.id().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(graph.walk("u:user").collect()), "u:user t1 c1 t2 c2 t3");
    assert_eq!(ids(graph.children("c1").collect()), "t2 t3");
    assert_eq!(ids(graph.parents("t2").collect()), "c1");
    assert_eq!(ids(graph.ancestors("c2").collect()), "t2 c1 t1 u:user");
    assert_eq!(ids(graph.path("t1", "c2").expect("there is a way")), "t1 c1 t2 c2");
    assert!(graph.path("t3", "c2").is_none());
    assert_eq!(ids(graph.roots().collect()), "u:user");
    assert_eq!(ids(graph.nodes_of("b")), "t2 c2");
    assert_eq!(ids(graph.tool_calls_of("a")), "c1");
    assert_eq!(graph.text_of("a"), "onethree");
    assert_eq!(graph.subgraph("c1").len(), 4);
    assert_eq!(graph.children("nobody").count(), 0);
    assert_eq!(graph.walk("nobody").count(), 0);
}
