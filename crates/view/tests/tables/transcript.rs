//! What the `transcript` view shows, as tables.

use std::fmt::Write;

use antiphon_testkit::history;
use antiphon_view::{Fold, Transcript};
use expect_test::expect;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::{option, sample::Index};

use crate::{check, check_recorded};

#[test]
fn text_and_reasoning_of_one_step_are_one_message_and_stay_apart() {
    check_recorded(
        "transcript",
        r#"
        u user "List files"
        a^u:user harness_start
        a reasoning r1 "Let me "
        a text t1 "I will "
        a reasoning r1 "think."
        a text t1 "look."
        a tool_call c1 bash
        a usage 1 1
        a tool_result c1 "x"
        a text t2 "There is x."
        "#,
        &expect![[r#"
            messages {id:"u:user" role:"user" runId:"u" depth:0 text:"List files" reasoning:"" streaming:false startedAt:"2027-01-15T08:00:00.000Z" endedAt:"2027-01-15T08:00:00.000Z"}
            messages {id:"r1" role:"assistant" runId:"a" depth:0 text:"I will look." reasoning:"Let me think." streaming:false startedAt:"2027-01-15T08:00:02.000Z" endedAt:"2027-01-15T08:00:07.000Z"}
            messages {id:"t2" role:"assistant" runId:"a" depth:0 text:"There is x." reasoning:"" streaming:true startedAt:"2027-01-15T08:00:09.000Z"}
        "#]],
    );
}

#[test]
fn messages_go_by_the_name_their_events_give_them() {
    check(
        "transcript",
        r#"
        u user "hi" messageId=m0
        a text t1 "one " messageId=m1 agent={"id":"x","name":"Sub","depth":1}
        a text t2 "two " messageId=m2
        a text t3 "more of one" messageId=m1
        a usage 1 1 messageId=m1
        "#,
        &expect![[r#"
            messages {id:"m0" role:"user" runId:"u" depth:0 text:"hi" reasoning:"" streaming:false}
            messages {id:"m1" role:"assistant" runId:"a" agent:"Sub" depth:1 text:"one more of one" reasoning:"" streaming:false}
            messages {id:"m2" role:"assistant" runId:"a" depth:0 text:"two " reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn equal_names_of_two_runs_are_two_messages() {
    check(
        "transcript",
        r#"
        a text  a/t "I am "   messageId=step-1 agent={"id":"alice"}
        b text  b/t "I am "   messageId=step-1 agent={"id":"bob"}
        a text  a/t "A."      messageId=step-1
        b text  b/u "B."      messageId=step-1
        c usage 1 1           messageId=step-1
        b usage 1 1           messageId=step-1
        c text  c/t "I am C." messageId=step-1
        d text  d/t "I am D." messageId=step-1~2
        b text  b/v " Still." messageId=step-1
        "#,
        &expect![[r#"
            messages {id:"step-1" role:"assistant" runId:"a" agent:"alice" depth:0 text:"I am A." reasoning:"" streaming:true}
            messages {id:"step-1~2" role:"assistant" runId:"b" agent:"bob" depth:0 text:"I am B. Still." reasoning:"" streaming:true}
            messages {id:"step-1~3" role:"assistant" runId:"c" depth:0 text:"I am C." reasoning:"" streaming:true}
            messages {id:"step-1~2~2" role:"assistant" runId:"d" depth:0 text:"I am D." reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn runs_that_speak_at_once_do_not_mix() {
    check(
        "transcript",
        "a text t1 a\nb text t1 b\na text t1 a\nb text t1 b\na harness_end done",
        &expect![[r#"
            messages {id:"t1" role:"assistant" runId:"a" depth:0 text:"aa" reasoning:"" streaming:false}
            messages {id:"b/t1" role:"assistant" runId:"b" depth:0 text:"bb" reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn a_step_is_over_when_one_of_its_calls_has_a_result_or_somebody_speaks_in_between() {
    check_recorded(
        "transcript",
        r#"
        a harness_start
        a text        t1 "I will look."
        a tool_call   c1 ls
        a tool_call   c2 ls
        a tool_result c1 "x"
        a text        t2 "One is fine, "
        a tool_call   c2 ls
        a tool_result c2 "y"
        a tool_result nobody "z"
        a text        t3 "and so is two"
        a text        t1 " Late."
        a text        t4 "."
        a repl_input  p "code"
        a repl_output p "1"
        a text        t5 "It gave 1."
        b tool_result p "lent"
        a user        "Go on."
        a text        t6 "I do."
        "#,
        &expect![[r#"
            messages {id:"t1" role:"assistant" runId:"a" depth:0 text:"I will look. Late." reasoning:"" streaming:false startedAt:"2027-01-15T08:00:01.000Z" endedAt:"2027-01-15T08:00:13.000Z"}
            messages {id:"t2" role:"assistant" runId:"a" depth:0 text:"One is fine, and so is two." reasoning:"" streaming:false startedAt:"2027-01-15T08:00:05.000Z" endedAt:"2027-01-15T08:00:13.000Z"}
            messages {id:"t5" role:"assistant" runId:"a" depth:0 text:"It gave 1." reasoning:"" streaming:false startedAt:"2027-01-15T08:00:14.000Z" endedAt:"2027-01-15T08:00:16.000Z"}
            messages {id:"a:user" role:"user" runId:"a" depth:0 text:"Go on." reasoning:"" streaming:false startedAt:"2027-01-15T08:00:16.000Z" endedAt:"2027-01-15T08:00:16.000Z"}
            messages {id:"t6" role:"assistant" runId:"a" depth:0 text:"I do." reasoning:"" streaming:true startedAt:"2027-01-15T08:00:17.000Z"}
        "#]],
    );
    check(
        "transcript",
        r#"
        f run_start   g
        f node_start  a
        f node_start  b
        f text        t1 "a1" nodeId=a
        f text        t2 "b1" nodeId=b
        f tool_call   c  ls {} nodeId=a
        f tool_result c  "x"
        f text        t3 "a2" nodeId=a
        f text        t4 ", b1 too" nodeId=b
        f usage       1 1 nodeId=a
        f tool_call   d  ls {} nodeId=a
        f text        t5 "a3" nodeId=a
        f node_start  a 2
        f text        t6 "a4" nodeId=a
        f tool_result d  "x"
        f text        t7 ", a4 too" nodeId=a
        "#,
        &expect![[r#"
            messages {id:"t1" role:"assistant" runId:"f" nodeId:"a" depth:0 text:"a1" reasoning:"" streaming:false}
            messages {id:"t2" role:"assistant" runId:"f" nodeId:"b" depth:0 text:"b1, b1 too" reasoning:"" streaming:true}
            messages {id:"t3" role:"assistant" runId:"f" nodeId:"a" depth:0 text:"a2" reasoning:"" streaming:false}
            messages {id:"t5" role:"assistant" runId:"f" nodeId:"a" depth:0 text:"a3" reasoning:"" streaming:false}
            messages {id:"t6" role:"assistant" runId:"f" nodeId:"a" depth:0 text:"a4, a4 too" reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn what_a_retry_discards_is_left_out_even_if_it_comes_late() {
    check(
        "transcript",
        r#"
        a text t1 "kept "
        a reasoning r1 "half a thought"
        a text t2 "half an ans"
        a text t1 "and kept"
        a model_retry 2 ["r1","t2","t9"]
        a text t2 "wer"
        a text t9 "first heard now"
        a text t3 ". Whole."
        "#,
        &expect![[r#"
            messages {id:"t1" role:"assistant" runId:"a" depth:0 text:"kept and keptfirst heard now. Whole." reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn an_answer_discarded_as_a_whole_leaves_an_empty_message() {
    check(
        "transcript",
        "a text t1 half\na model_retry 2 [\"t1\"]\na harness_end error",
        &expect![[r#"
        messages {id:"t1" role:"assistant" runId:"a" depth:0 text:"" reasoning:"" streaming:false}
    "#]],
    );
}

#[test]
fn user_messages_keep_their_parts_and_each_has_a_row() {
    check(
        "transcript",
        r#"
        u user [{"type":"text","text":"see"},{"type":"image","mediaType":"image/png","data":"AA=="},{"type":"odd"}]
        u user "again" delivery=steer
        u user "named" messageId=m
        u user "the same name" messageId=m
        u text t1 "a model under a person's name" messageId=m
        "#,
        &expect![[r#"
            messages {id:"u:user" role:"user" runId:"u" depth:0 text:"see\n[image/png]\n[media]" reasoning:"" parts:[{type:"text" text:"see"}, {type:"image" mediaType:"image/png" data:"AA=="}, {type:"odd"}] streaming:false}
            messages {id:"u:user~2" role:"user" runId:"u" depth:0 text:"again" reasoning:"" streaming:false}
            messages {id:"m" role:"user" runId:"u" depth:0 text:"named" reasoning:"" streaming:false}
            messages {id:"m~2" role:"user" runId:"u" depth:0 text:"the same name" reasoning:"" streaming:false}
            messages {id:"m" role:"assistant" runId:"u" depth:0 text:"a model under a person's name" reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn what_comes_after_the_end_is_taken_in_but_opens_nothing() {
    check(
        "transcript",
        "a text t1 said\na harness_end done\na text t1 late\nb text t1 on\nb usage 1 1\nb text t1 more",
        &expect![[r#"
            messages {id:"t1" role:"assistant" runId:"a" depth:0 text:"saidlate" reasoning:"" streaming:false}
            messages {id:"b/t1" role:"assistant" runId:"b" depth:0 text:"onmore" reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn what_was_heard_is_a_message_of_who_spoke_once_it_is_final() {
    check(
        "transcript",
        r#"
        v  voice_transcript nodeId=talk text=hel isFinal=false confidence=0.5
        v  voice_transcript nodeId=talk text=hello isFinal=true confidence=0.9 speaker=caller agent={"id":"host"}
        v  text             t "good day" agent={"id":"host"}
        -  voice_transcript nodeId=talk text=again isFinal=true confidence=1
        -  voice_transcript nodeId=talk text="" isFinal=true confidence=0
        "#,
        &expect![[r#"
            messages {id:"talk:voice" role:"user" runId:"v" nodeId:"talk" depth:0 text:"hello" reasoning:"" speaker:"caller" streaming:false}
            messages {id:"t" role:"assistant" runId:"v" agent:"host" depth:0 text:"good day" reasoning:"" streaming:true}
            messages {id:"talk:voice~2" role:"user" nodeId:"talk" depth:0 text:"again" reasoning:"" streaming:false}
        "#]],
    );
}

#[test]
fn nodes_that_speak_in_the_run_of_their_flow_have_messages_of_their_own() {
    check(
        "transcript",
        r#"
        f  run_start   g
        f  node_start  a
        f  text        t  "a0 " nodeId=a
        f  node_start  b
        f  text        t2 "b0 " nodeId=b
        f  text        t  "a1"  nodeId=a
        f  text        o  "flow "
        f  reasoning   t3 "b1"  nodeId=b
        f  usage       1 1      nodeId=b
        f  text        t4 "b2"  nodeId=b
        f  text        o  "once more"
        f  node_end    a
        f  node_start  a 2
        f  text        t5 "a2"  nodeId=a
        "#,
        &expect![[r#"
            messages {id:"t" role:"assistant" runId:"f" nodeId:"a" depth:0 text:"a0 a1" reasoning:"" streaming:false}
            messages {id:"t2" role:"assistant" runId:"f" nodeId:"b" depth:0 text:"b0 " reasoning:"b1" streaming:false}
            messages {id:"o" role:"assistant" runId:"f" depth:0 text:"flow once more" reasoning:"" streaming:true}
            messages {id:"t4" role:"assistant" runId:"f" nodeId:"b" depth:0 text:"b2" reasoning:"" streaming:true}
            messages {id:"t5" role:"assistant" runId:"f" nodeId:"a" depth:0 text:"a2" reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn who_speaks_and_how_deep_is_known_from_the_start_of_the_run_or_from_its_call() {
    check(
        "transcript",
        r#"
        r1      harness_start agentId=root
        r1      text       t1 "root"
        r1      tool_call  c1 agent
        s1^c1   harness_start agentId=scout
        s1      text       t2 "one below"
        s1      repl_input x1 "ask()"
        q1^x1   text       t3 "two below"
        p1^s1   text       t4 "a model call of the scout"
        r2^c1   harness_start agentId=said depth=5
        r2      text       t5 "as it says"
        e2^c3   text       t6 "early, two below in the end"
        e1^c2   text       t7 "early"
        e1      tool_call  c3 agent
        r1      tool_call  c2 agent
        k1^k2   text       t8 "hangs from itself"
        k1      tool_call  k2 agent
        r1      text       t9 "named" agent={"id":"x","depth":3}
        "#,
        &expect![[r#"
            messages {id:"t1" role:"assistant" runId:"r1" agent:"root" depth:0 text:"rootnamed" reasoning:"" streaming:true}
            messages {id:"t2" role:"assistant" runId:"s1" agent:"scout" depth:1 text:"one below" reasoning:"" streaming:true}
            messages {id:"t3" role:"assistant" runId:"q1" depth:2 text:"two below" reasoning:"" streaming:true}
            messages {id:"t4" role:"assistant" runId:"p1" depth:1 text:"a model call of the scout" reasoning:"" streaming:true}
            messages {id:"t5" role:"assistant" runId:"r2" agent:"said" depth:5 text:"as it says" reasoning:"" streaming:true}
            messages {id:"t6" role:"assistant" runId:"e2" depth:2 text:"early, two below in the end" reasoning:"" streaming:true}
            messages {id:"t7" role:"assistant" runId:"e1" depth:1 text:"early" reasoning:"" streaming:true}
            messages {id:"t8" role:"assistant" runId:"k1" depth:0 text:"hangs from itself" reasoning:"" streaming:true}
        "#]],
    );
}

#[test]
fn however_deep_a_run_is_it_is_one_below_what_caused_it() {
    let mut table = String::from("r0 tool_call c0 agent\n");
    for nth in 1..=1_100 {
        writeln!(table, "r{nth}^c{} tool_call c{nth} agent", nth - 1).expect("text");
    }
    check(
        "transcript",
        &format!("{table}s^c1100 text t deep"),
        &expect![[r#"
            messages {id:"t" role:"assistant" runId:"s" depth:1101 text:"deep" reasoning:"" streaming:true}
        "#]],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn how_deep_a_run_is_does_not_depend_on_what_comes_first(
        runs in vec((any::<Index>(), option::weighted(0.1, 0_u32..9), any::<bool>()), 1..24),
        order in any::<[u8; 72]>(),
    ) {
        let (mut depths, mut lines): (Vec<u32>, Vec<String>) = (Vec::new(), Vec::new());
        for (nth, (above, said, by_call)) in runs.iter().enumerate() {
            let above = (nth > 0).then(|| above.index(nth));
            let cause = above.map_or_else(String::new, |above| format!("^{}{above}", if *by_call { "c" } else { "r" }));
            let below = above.map_or(0, |above| depths[above] + u32::from(*by_call));
            let said = said.filter(|_| nth > 0);
            depths.push(said.unwrap_or(below));
            let said = said.map_or_else(String::new, |depth| format!(" depth={depth}"));
            lines.push(format!("r{nth}{cause} harness_start{said}"));
            lines.push(format!("r{nth}{cause} tool_call c{nth} agent"));
            lines.push(format!("r{nth}{cause} text t{nth} r{nth}"));
        }
        let mut lines: Vec<_> = lines.into_iter().zip(order).collect();
        lines.sort_by_key(|(_, place)| *place);
        let table: Vec<_> = lines.into_iter().map(|(line, _)| line).collect();
        let fold = Fold::<Transcript>::of(&history(&table.join("\n")));
        for message in fold.view().messages() {
            let nth: usize = message.text[1..].parse().expect("the text is the run");
            prop_assert_eq!(message.depth, depths[nth], "{} in {:?}", &message.text, table);
        }
    }
}
