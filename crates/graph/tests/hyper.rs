//! The hypergraph, rule by rule: a history in, messages with their blocks and chunks out.

use std::fmt::Write;

use antiphon_graph::hyper::Relation;
use antiphon_graph::{Active, Conversation, Hypergraph};
use antiphon_testkit::history;
use expect_test::{Expect, expect};

fn converse(table: &str) -> Hypergraph {
    let mut conversation = Conversation::default();
    for event in history(table) {
        conversation.apply(&event);
    }
    conversation.snapshot()
}

/// Draws a message a line, with what it answers and its blocks; a block's chunks stand in brackets.
fn draw(hyper: &Hypergraph) -> String {
    let mut out = String::new();
    for (place, message) in hyper.messages().enumerate() {
        let place = u32::try_from(place).expect("few messages");
        let parent = hyper.parent_message(place).and_then(|parent| hyper.message(parent));
        let answers = parent.map(|parent| format!(" ← {}", parent.id())).unwrap_or_default();
        let active = if hyper.is_active(place) { "" } else { " (inactive)" };
        let text = message.summary().map(|text| format!(" = {text}")).unwrap_or_default();
        writeln!(out, "{}{answers}{active}{text}", message.id()).expect("memory");
        for block in hyper.blocks_of(place) {
            let numbers = hyper.chunks_of(block).into_iter().map(|chunk| (chunk + 1).to_string());
            let found = hyper.block(block).expect("listed");
            let text = hyper.text_of(found).map(|text| format!(" {text}")).unwrap_or_default();
            let id = hyper.block_id(found);
            writeln!(out, "  {id} [{}]{text}", numbers.collect::<Vec<_>>().join(" ")).expect("memory");
        }
    }
    out
}

fn check(table: &str, expected: &Expect) {
    expected.assert_eq(&draw(&converse(table)));
}

fn active(hyper: &Hypergraph) -> String {
    let ids: Vec<_> = hyper.walk().into_iter().map(|item| hyper.item_id(item)).collect();
    ids.join(" ")
}

#[test]
fn a_step_is_what_the_model_said_its_calls_and_their_results() {
    check(
        r#"
        u1           user          "List files"
        a1^u1:user   harness_start
        a1           text          t1 "I will "
        a1           text          t1 "look"
        a1           tool_call     c1 bash
        a1           usage         50 20
        a1           relay         p1 permission c1
        a1           relay_resolved p1 true
        a1           tool_call     c1 bash
        a1           tool_progress g1 c1 half
        a1           tool_result   c1 "a.txt"
        a1           text          t2 "done"
        a1           usage         70 15
        a1           harness_end   done
        u2^t2        user          "thanks"
        "#,
        &expect![[r#"
            msg:u1:user
              block:u1:user [1]
            msg:a1:structural ← msg:u1:user (inactive)
              block:a1:harness_start [2]
            msg:t1 ← msg:u1:user
              block:t1 [3 4] I will look
              block:c1 [5]
              block:a1:usage:1 [6]
              block:p1 [7]
              block:a1:relay_resolved:1 [8]
              block:g1 [9]
              block:c1:result [10]
            msg:t2 ← msg:t1
              block:t2 [11] done
              block:a1:usage:2 [12]
              block:a1:harness_end [13]
            msg:u2:user ← msg:t2
              block:u2:user [14]
        "#]],
    );
}

#[test]
fn a_stream_that_is_interrupted_goes_on_in_a_new_block() {
    check(
        "
        a  text       t one
        a  reasoning  r two
        b  text       s other
        a  reasoning  r three
        a  text       t four
        b  text       s more
        ",
        &expect![[r#"
            msg:t
              block:t [1] one
              block:r [2 4] twothree
              block:t~2 [5] four
            msg:s
              block:s [3 6] othermore
        "#]],
    );
}

#[test]
fn results_belong_to_the_message_of_their_call_whenever_they_come() {
    check(
        "
        a  tool_call    c1
        a  tool_call    c2
        a  usage        1 1
        a  tool_result  c2
        a  text         t2 next
        a  tool_result  c1
        a  tool_result  c9
        ",
        &expect![[r#"
            msg:c1
              block:c1 [1]
              block:c2 [2]
              block:a:usage:1 [3]
              block:c2:result [4]
              block:c1:result [6]
            msg:t2 ← msg:c1
              block:t2 [5] next
              block:c9:result [7]
        "#]],
    );
}

#[test]
fn a_result_that_comes_before_its_call_is_in_the_same_message() {
    check(
        "
        a  tool_result  c1
        a  tool_call    c1
        ",
        &expect![[r#"
            msg:c1:result
              block:c1:result [1]
              block:c1 [2]
        "#]],
    );
}

#[test]
fn a_subagent_answers_the_message_that_holds_the_call_also_when_that_comes_late() {
    check(
        "
        b^c1  harness_start
        b     text       t2 early
        a     text       t1 hi
        a     tool_call  c1 agent
        d^c1  text       t3 late
        ",
        &expect![[r#"
            msg:b:structural ← msg:t1 (inactive)
              block:b:harness_start [1]
            msg:t2 ← msg:t1
              block:t2 [2] early
            msg:t1
              block:t1 [3] hi
              block:c1 [4]
            msg:t3 ← msg:t1
              block:t3 [5] late
        "#]],
    );
}

#[test]
fn given_message_ids_are_used_and_never_shared() {
    check(
        "
        a  text  t1 one    messageId=m1
        a  text  t2 two    messageId=m1
        a  text  t3 three  messageId=m2
        b  text  t4 other  messageId=m1
        b  text  t5 more   messageId=m1
        ",
        &expect![[r#"
            msg:m1
              block:t1 [1] one
              block:t2 [2] two
            msg:m2 ← msg:m1
              block:t3 [3] three
            msg:m1~2
              block:t4 [4] other
              block:t5 [5] more
        "#]],
    );
}

#[test]
fn code_belongs_to_the_step_that_wrote_it() {
    check(
        r#"
        a  text         t1 "let me compute"
        a  usage        1 1
        a  repl_input   x1 "1+1"
        a  repl_progress x1 "2"
        a  repl_output  x1 "2" false
        a  text         t2 "now the rest"
        "#,
        &expect![[r#"
            msg:t1
              block:t1 [1] let me compute
              block:a:usage:1 [2]
              block:x1 [3]
              block:x1:progress [4] 2
              block:x1:output [5]
            msg:t2 ← msg:t1
              block:t2 [6] now the rest
        "#]],
    );
}

#[test]
fn in_a_run_of_several_flow_nodes_a_step_is_one_nodes() {
    check(
        r#"
        f  run_start   g
        f  node_start  a
        f  text        t1 "A says"    nodeId=a
        f  node_start  b
        f  text        t2 "B says"    nodeId=b
        f  tool_call   c2 bash        nodeId=b
        f  usage       1 1            nodeId=b
        f  tool_result c2 "done"
        f  text        t3 "B again"   nodeId=b
        f  node_end    a
        f  node_end    b
        f  node_start  a 2
        f  text        t4 "A, later"  nodeId=a
        f  node_retry  b
        f  layer_end   0
        f  run_end
        f  text        t5 "the flow"
        "#,
        &expect![[r#"
            msg:f:structural (inactive)
              block:f:run_start [1]
              block:f:a:1:start [2]
              block:f:b:1:start [4]
              block:f:a:2:start [12]
              block:f:node_retry:1 [14]
              block:f:layer_end:1 [15]
              block:f:run_end [16]
            msg:t1
              block:t1 [3] A says
              block:f:a:1:end [10]
            msg:t2 ← msg:t1
              block:t2 [5] B says
              block:c2 [6]
              block:f:usage:1 [7]
              block:c2:result [8]
            msg:t3 ← msg:t2
              block:t3 [9] B again
              block:f:b:1:end [11]
            msg:t4 ← msg:t3
              block:t4 [13] A, later
            msg:t5 ← msg:t4
              block:t5 [17] the flow
        "#]],
    );
}

#[test]
fn nodes_that_speak_at_once_have_a_step_each() {
    check(
        r#"
        f  node_start a
        f  text       ta "a0 " nodeId=a
        f  text       tb "b0 " nodeId=b
        f  text       to "o0 "
        f  text       ta "a1 " nodeId=a
        f  text       tb "b1 "
        f  text       to "o1 "
        f  tool_call  ca bash  nodeId=a
        f  tool_call  cb bash  nodeId=b
        f  usage      1 1      nodeId=a
        f  tool_result cb "b"  nodeId=b
        f  text       tb "b2"  nodeId=b
        f  text       ta "a2"  nodeId=a
        f  relay      r approval nodeId=c
        f  harness_end done    nodeId=a
        f  text       td "a3"  nodeId=a
        f  text       te "b3"  nodeId=b
        "#,
        &expect![[r#"
            msg:f:structural (inactive)
              block:f:a:1:start [1]
            msg:ta
              block:ta [2 5] a0 a1 
              block:ca [8]
              block:f:usage:1 [10]
            msg:tb ← msg:ta
              block:tb [3 6] b0 b1 
              block:cb [9]
              block:cb:result [11]
            msg:to ← msg:tb
              block:to [4 7] o0 o1 
            msg:tb~2 ← msg:to
              block:tb~2 [12] b2
              block:te [17] b3
            msg:ta~2 ← msg:tb~2
              block:ta~2 [13] a2
              block:f:harness_end [15]
            msg:r ← msg:ta~2
              block:r [14]
            msg:td ← msg:r
              block:td [16] a3
        "#]],
    );
}

#[test]
fn a_run_of_one_node_has_its_steps_also_where_not_every_event_names_the_node() {
    check(
        r#"
        a  harness_start      nodeId=x
        a  text       t1 one  nodeId=x
        a  tool_call  c1
        a  usage      1 1
        a  tool_result c1     nodeId=x
        a  text       t2 two  nodeId=x
        a  usage      1 1     nodeId=x
        a  harness_end done
        "#,
        &expect![[r#"
            msg:a:structural (inactive)
              block:a:harness_start [1]
            msg:t1
              block:t1 [2] one
              block:c1 [3]
              block:a:usage:1 [4]
              block:c1:result [5]
            msg:t2 ← msg:t1
              block:t2 [6] two
              block:a:usage:2 [7]
              block:a:harness_end [8]
        "#]],
    );
}

#[test]
fn a_block_is_never_called_what_a_node_is_called() {
    check(
        "
        a  text       t   one
        a  reasoning  r   x
        a  text       t   two
        a  text       t~2 three
        a  reasoning  r   y
        a  text       t~2 four
        ",
        &expect![[r#"
            msg:t
              block:t [1] one
              block:r [2] x
              block:t~2 [3] two
              block:t~2~2 [4] three
              block:r~2 [5] y
              block:t~2~3 [6] four
        "#]],
    );
}

const TALK: &str = r#"
    u1          user  "one"
    a1^u1:user  text  t1 "two"
    u2^t1       user  "three"
    a2^u2:user  text  t2 "four"
    a2          harness_end done
"#;

#[test]
fn a_summary_takes_the_place_of_its_sources_and_keeps_its_text() {
    let hyper = converse(&format!("{TALK}\n- summary s1 [\"msg:u1:user\",\"t1\"] \"they spoke\""));
    assert_eq!(active(&hyper), "msg:s1 msg:u2:user msg:t2");
    let summary = hyper.message_place("s1").expect("it is there");
    assert_eq!(hyper.message(summary).and_then(|message| message.summary()), Some("they spoke"));
    assert_eq!(
        active(&hyper.with_active(Active::full_history())),
        "msg:u1:user msg:t1 msg:u2:user msg:t2 msg:s1"
    );
    assert!(hyper.with_active(Active::full_history()).validate().is_err());
}

#[test]
fn every_operation_on_the_active_set() {
    for (operations, expected) in [
        ("", "msg:u1:user msg:t1 msg:u2:user msg:t2"),
        ("toggle [\"t1\"]", "msg:u1:user msg:u2:user msg:t2"),
        ("toggle [\"t1\"]; toggle [\"msg:t1\"]", "msg:u1:user msg:t1 msg:u2:user msg:t2"),
        ("toggle [\"t1\"]; append [\"t1\"]", "msg:u1:user msg:t1 msg:u2:user msg:t2"),
        ("toggle [\"t1\"]; default []", "msg:u1:user msg:t1 msg:u2:user msg:t2"),
        ("branch [\"t1\"]", "msg:u1:user msg:t1"),
        ("toggle [\"t1\"]; branch [\"t1\"]", "msg:u1:user msg:t1"),
        ("expand [\"t1\"]", "msg:u1:user block:t1 msg:u2:user msg:t2"),
        ("expand [\"t1\"]; expand [\"block:t1\"]", "msg:u1:user chunk:2 msg:u2:user msg:t2"),
        (
            "expand [\"t1\"]; expand [\"block:t1\"]; collapse [\"chunk:2\"]",
            "msg:u1:user block:t1 msg:u2:user msg:t2",
        ),
        ("expand [\"t1\"]; collapse [\"block:t1\"]", "msg:u1:user msg:t1 msg:u2:user msg:t2"),
        ("toggle [\"nobody\"]; levitate [\"t1\"]", "msg:u1:user msg:t1 msg:u2:user msg:t2"),
    ] {
        let lines: String = operations
            .split("; ")
            .filter(|op| !op.is_empty())
            .map(|op| format!("- active_changed {op}\n"))
            .collect();
        assert_eq!(active(&converse(&format!("{TALK}\n{lines}"))), expected, "after {operations}");
    }
}

#[test]
fn a_summary_that_is_switched_off_is_passed_over_with_what_it_stands_for() {
    let table = format!("{TALK}\n- summary s1 [\"u1:user\",\"t1\"] \"first\"");
    for (operations, expected) in [
        ("toggle [\"s1\"]", "msg:u2:user msg:t2"),
        ("toggle [\"s1\"]; toggle [\"s1\"]", "msg:s1 msg:u2:user msg:t2"),
        ("toggle [\"s1\"]; append [\"s1\"]", "msg:s1 msg:u2:user msg:t2"),
        ("toggle [\"s1\"]; expand [\"s1\"]", "msg:u1:user msg:t1 msg:u2:user msg:t2"),
        ("toggle [\"s1\"]; branch [\"t1\"]", "msg:u1:user msg:t1"),
        ("toggle [\"s1\"]; full []", "msg:u1:user msg:t1 msg:u2:user msg:t2 msg:s1"),
        ("toggle [\"t1\"]; expand [\"s1\"]", "msg:u1:user msg:u2:user msg:t2"),
    ] {
        let lines: String = operations.split("; ").map(|op| format!("- active_changed {op}\n")).collect();
        assert_eq!(active(&converse(&format!("{table}\n{lines}"))), expected, "after {operations}");
    }
    let over =
        format!("{table}\n- summary s2 [\"s1\",\"u2:user\"] \"second\"\n- active_changed toggle [\"s2\"]");
    assert_eq!(active(&converse(&over)), "msg:t2");
    // What comes after the place that a branch ends at does not come back through a summary of it.
    let later =
        format!("{TALK}\n- summary s1 [\"u2:user\",\"t2\"] \"last\"\n- active_changed branch [\"t1\"]");
    assert_eq!(active(&converse(&later)), "msg:u1:user msg:t1");
}

#[test]
fn a_summary_that_comes_again_has_its_latest_text_and_all_it_was_given() {
    let hyper = converse(&format!(
        "{TALK}\n- summary s1 [\"u1:user\"] \"old\"\n- summary s1 [\"t1\",\"later\"] \"new\"\na3 text later \"five\""
    ));
    assert_eq!(active(&hyper), "msg:s1 msg:u2:user msg:t2");
    let summary = hyper.message_place("s1").expect("it is there");
    assert_eq!(hyper.message(summary).and_then(|message| message.summary()), Some("new"));
    let sources: Vec<_> = hyper.sources_of(summary).map(ToString::to_string).collect();
    assert_eq!(sources.join(" "), "msg:u1:user msg:t1 msg:later");
    // Another run's is another one.
    let others = converse(&format!("{TALK}\n- summary s1 [] \"ours\"\na1 summary s1 [] \"theirs\""));
    assert_eq!(active(&others), "msg:u1:user msg:t1 msg:u2:user msg:t2 msg:s1 msg:s1~2");
}

#[test]
fn summaries_of_summaries_open_one_after_the_other() {
    let table = format!(
        "{TALK}\n- summary s1 [\"u1:user\",\"t1\"] \"first\"\n- summary s2 [\"s1\",\"u2:user\"] \"second\""
    );
    assert_eq!(active(&converse(&table)), "msg:s2 msg:t2");
    let opened = format!("{table}\n- active_changed expand [\"s2\"]");
    assert_eq!(active(&converse(&opened)), "msg:s1 msg:u2:user msg:t2");
    let branch = |at: &str| active(&converse(&format!("{table}\n- active_changed branch [\"{at}\"]")));
    assert_eq!(branch("u1:user"), "msg:u1:user", "what a summary holds is no place to hide");
    assert_eq!(branch("u2:user"), "msg:s1 msg:u2:user", "summaries of what came before stay");
    assert_eq!(branch("s1"), "msg:s1");
    assert_eq!(branch("s2"), "msg:s2");
    let both = format!("{opened}\n- active_changed expand [\"s1\"]");
    assert_eq!(active(&converse(&both)), "msg:u1:user msg:t1 msg:u2:user msg:t2");
    assert_eq!(
        active(&converse(&format!("{both}\n- active_changed collapse [\"t1\"]"))),
        "msg:s1 msg:u2:user msg:t2"
    );
}

#[test]
fn a_summary_takes_in_what_it_names_whenever_that_comes() {
    let late = r#"
        - summary s1 ["u1:user","msg:t1","never"] "first"
    "#;
    assert_eq!(active(&converse(&format!("{late}{TALK}"))), "msg:s1 msg:u2:user msg:t2");
    // The same for a summary, which comes with what it stands for itself.
    let nested = r#"
        - summary s2 ["s1","u2:user"] "second"
        - summary s1 ["t1","u1:user"] "first"
    "#;
    assert_eq!(active(&converse(&format!("{nested}{TALK}"))), "msg:s2 msg:t2");
    let opened = format!("{nested}{TALK}\n- active_changed expand [\"s2\"]");
    assert_eq!(active(&converse(&opened)), "msg:s1 msg:u2:user msg:t2");
    // What was opened before does not close over what comes.
    let opened = format!("{late}- active_changed expand [\"s1\"]\n{TALK}");
    assert_eq!(active(&converse(&opened)), "msg:u1:user msg:t1 msg:u2:user msg:t2");
    // A compaction that comes before its summary, or names what came after it.
    let early = format!("- history_compacted s1 [\"t1\"]\n{TALK}\n- summary s1 [\"u1:user\"] both");
    assert_eq!(active(&converse(&early)), "msg:s1 msg:u2:user msg:t2");
    let after = format!("- summary s1 [] \"of what is told later\"\n{TALK}\n- history_compacted s1 [\"t1\"]");
    assert_eq!(active(&converse(&after)), "msg:s1 msg:u1:user msg:u2:user msg:t2");
}

#[test]
fn a_message_is_in_the_summary_that_named_it_last() {
    let table = format!("{TALK}\n- summary s1 [\"u1:user\",\"t1\"] both\n- summary s2 [\"u1:user\"] one");
    let hyper = converse(&table);
    assert_eq!(active(&hyper), "msg:s2 msg:s1 msg:u2:user msg:t2");
    let sources = |id: &str| {
        let ids = hyper.sources_of(hyper.message_place(id).expect("it is there"));
        ids.map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([sources("s1"), sources("s2")], ["msg:t1", "msg:u1:user"]);
    let summed = format!("{table}\n- summary s3 [\"s1\",\"t2\"] rest\n- history_compacted s1 [\"u1:user\"]");
    assert_eq!(active(&converse(&summed)), "msg:s3 msg:u2:user msg:s2");
}

#[test]
fn a_chunk_names_the_flow_node_of_its_event() {
    let hyper = converse("f node_start a\nf node_end a");
    let json = serde_json::to_value(&hyper).expect("JSON");
    let nodes = json["nodes"].as_array().expect("a list").iter();
    let chunks: Vec<_> = nodes.filter(|node| node["kind"] == "chunk").map(|node| &node["content"]).collect();
    assert_eq!(chunks.iter().map(|chunk| &chunk["nodeId"]).collect::<Vec<_>>(), ["a", "a"]);
}

#[test]
fn links_have_roles() {
    let hyper = converse(
        "
        a     tool_call  c1 agent
        b^c1  text       t1 sub
        ",
    );
    let spawn = hyper.hyperedges().find(|edge| edge.relation == Relation::Spawn).expect("a run was spawned");
    expect![[r#"{"type":"spawn","roles":[["trigger",["block:c1"]],["invocation",["block:t1"]]]}"#]]
        .assert_eq(&serde_json::to_string(&spawn).expect("JSON"));
}

#[test]
fn links_never_lead_back() {
    let drawn = |table: &str| {
        let hyper = converse(table);
        let links = hyper
            .hyperedges()
            .filter(|edge| !matches!(edge.relation, Relation::ChunkToBlock | Relation::BlockToMessage));
        let links = links.map(|edge| {
            let ends: Vec<_> = edge.roles.iter().map(|(_, ids)| ids.join(" ")).collect();
            format!("{:?} {}\n", edge.relation, ends.join(" → "))
        });
        links.collect::<String>()
    };
    // A run that was started by a call of its own: the flat graph has the call as a root.
    expect![[r#"
        Spawn block:c1 → block:r1:harness_start
        Sequence block:r1:harness_start → block:t1
        Sequence block:c1 → block:t1~2
        ParentMessage msg:t1 → msg:r1:structural
    "#]]
    .assert_eq(&drawn(
        "
        r1^c1 harness_start
        r1    text t1 one
        r1    tool_call c1 read
        r1    text t1 two
    ",
    ));
    // A run that goes on after its end, and what it then starts has started it.
    expect![[r#"
        Spawn block:c → block:t1
        Sequence block:t1 → block:a:harness_end
        Sequence block:a:harness_end → block:a:resumed:1
        ParentMessage msg:t1 → msg:a:structural
        Sequence msg:t1 → msg:a:structural
        ParentMessage msg:a:structural → msg:t2
    "#]]
    .assert_eq(&drawn(
        "
        a^c   text t1 one
        a     harness_end
        a     resumed
        b^a:resumed:1 text t2 two
        b     tool_call c agent
    ",
    ));
    // Two summaries of one another.
    expect![[r#"
        Summary msg:u:user → msg:s1
        Summary msg:s1 → msg:s2
    "#]]
    .assert_eq(&drawn(
        r#"
        u user one
        - summary s1 ["msg:u:user"] short
        - summary s2 ["msg:s1"] shorter
        - history_compacted s1 ["msg:s2","msg:s1"]
    "#,
    ));
    // The same where the one that is named comes later: the earlier word counts.
    expect![[r#"
        Summary msg:s2 → msg:s1
        Summary msg:u:user → msg:s2
    "#]]
    .assert_eq(&drawn(
        r#"
        u user one
        - summary s1 ["msg:s2","msg:s1"] short
        - summary s2 ["msg:u:user","msg:s1"] shorter
    "#,
    ));
}

#[test]
fn messages_whose_ids_are_alike_are_not_the_same() {
    check(
        r#"
        a1  text  t1 "one"    messageId="msg:x"
        a1  text  t2 "two"    messageId=x
        a1  text  t3 "three"  messageId=m~x
        a1  text  t4 "four"   messageId=m
        "#,
        &expect![[r#"
            msg:msg:x
              block:t1 [1] one
            msg:x ← msg:msg:x
              block:t2 [2] two
            msg:m~x ← msg:x
              block:t3 [3] three
            msg:m ← msg:m~x
              block:t4 [4] four
        "#]],
    );
}

#[test]
fn nodes_that_name_one_message_interrupt_one_another_in_it() {
    check(
        "
        f  text  ta a0 nodeId=a messageId=m
        f  text  tb b0 nodeId=b messageId=m
        f  text  ta a1 nodeId=a messageId=m
        f  text  tc c0 nodeId=a messageId=n
        f  text  tb b1 nodeId=b messageId=m
        f  text  tc c1 nodeId=a messageId=n
        ",
        &expect![[r#"
            msg:m
              block:ta [1] a0
              block:tb [2] b0
              block:ta~2 [3] a1
              block:tb~2 [5] b1
            msg:n ← msg:m
              block:tc [4 6] c0c1
        "#]],
    );
}
