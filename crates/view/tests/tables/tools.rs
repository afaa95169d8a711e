//! What the `tools` view shows, as tables.

use expect_test::expect;

use crate::{check, check_recorded};

#[test]
fn rows_keep_the_order_of_their_calls_whatever_the_order_of_results() {
    check(
        "tools",
        r#"
        a tool_call c1 bash {"command":"ls"} harness=shell callType=function messageId=m1 agent={"id":"x","name":"Root"}
        a tool_call c2 agent {"task":"t"} callType=sub_agent
        a tool_result c2 "found"
        a tool_result c1 {"error":"gone"} isError=true
        "#,
        &expect![[r#"
            calls {callId:"c1" runId:"a" name:"bash" harness:"shell" callType:"function" agent:"Root" messageId:"m1" status:"error" input:{command:"ls"} output:{error:"gone"} progress:[] discarded:false orphan:false}
            calls {callId:"c2" runId:"a" name:"agent" callType:"sub_agent" status:"complete" input:{task:"t"} output:"found" progress:[] discarded:false orphan:false}
        "#]],
    );
}

#[test]
fn a_call_waits_for_permission_then_runs_and_its_time_is_counted_from_then() {
    check_recorded(
        "tools",
        r#"
        a tool_call c1 bash {"command":"ls"}
        a usage 1 1
        a relay r1 permission c1 bash
        - relay_resolved r1 true
        a tool_call c1 bash {"command":"ls -l"}
        a tool_progress p1 c1 "10%"
        a tool_progress p2 c1 "reading"
        a tool_progress p1 c1 "90%"
        a tool_result c1 "a b"
        "#,
        &expect![[r#"
            calls {callId:"c1" runId:"a" name:"bash" status:"complete" input:{command:"ls -l"} output:"a b" progress:[{id:"p1" content:"90%"}, {id:"p2" content:"reading"}] discarded:false orphan:false startedAt:"2027-01-15T08:00:04.000Z" endedAt:"2027-01-15T08:00:08.000Z" durationMs:4000}
        "#]],
    );
}

#[test]
fn status_follows_every_step() {
    let steps = [
        (
            "a tool_call c bash",
            expect![[r#"
            calls {callId:"c" runId:"a" name:"bash" status:"pending" input:{} progress:[] discarded:false orphan:false}
        "#]],
        ),
        (
            "a relay r permission c bash",
            expect![[r#"
            calls {callId:"c" runId:"a" name:"bash" status:"awaiting_permission" input:{} progress:[] discarded:false orphan:false}
        "#]],
        ),
        (
            "a relay_resolved r true",
            expect![[r#"
            calls {callId:"c" runId:"a" name:"bash" status:"pending" input:{} progress:[] discarded:false orphan:false}
        "#]],
        ),
        (
            "a tool_call c bash",
            expect![[r#"
            calls {callId:"c" runId:"a" name:"bash" status:"running" input:{} progress:[] discarded:false orphan:false}
        "#]],
        ),
        (
            "a tool_result c null",
            expect![[r#"
            calls {callId:"c" runId:"a" name:"bash" status:"complete" input:{} output:null progress:[] discarded:false orphan:false}
        "#]],
        ),
        (
            "a tool_call c bash",
            expect![[r#"
            calls {callId:"c" runId:"a" name:"bash" status:"complete" input:{} output:null progress:[] discarded:false orphan:false}
        "#]],
        ),
        (
            "a relay r2 permission c",
            expect![[r#"
            calls {callId:"c" runId:"a" name:"bash" status:"complete" input:{} output:null progress:[] discarded:false orphan:false}
        "#]],
        ),
    ];
    let mut table = String::new();
    for (line, expected) in steps {
        table.extend([line, "\n"]);
        check("tools", &table, &expected);
    }
}

#[test]
fn a_denied_call_stays_denied_when_its_error_arrives() {
    check(
        "tools",
        r#"
        a tool_call c1 bash {"command":"rm"}
        a relay r1 permission c1
        a relay_resolved r1 false reason=no
        a tool_result c1 "denied" isError=true
        "#,
        &expect![[r#"
            calls {callId:"c1" runId:"a" name:"bash" status:"denied" input:{command:"rm"} output:"denied" progress:[] discarded:false orphan:false}
        "#]],
    );
}

#[test]
fn a_no_that_comes_after_the_result_still_counts() {
    let denied = expect![[r#"
        calls {callId:"c1" runId:"a" name:"bash" status:"denied" input:{command:"rm"} output:"denied" progress:[] discarded:false orphan:false}
    "#]];
    let steps =
        ["a relay r1 permission c1", "a relay_resolved r1 false", "a tool_result c1 denied isError=true"];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let steps = order.map(|step| steps[step]).join("\n");
        check("tools", &format!("a tool_call c1 bash {{\"command\":\"rm\"}}\n{steps}"), &denied);
    }
}

#[test]
fn a_question_does_not_hold_a_call_up_for_permission() {
    check(
        "tools",
        "a tool_call c1 ask\na relay q1 question c1",
        &expect![[r#"
        calls {callId:"c1" runId:"a" name:"ask" status:"pending" input:{} progress:[] discarded:false orphan:false}
    "#]],
    );
}

#[test]
fn equal_ids_in_two_runs_are_two_calls() {
    check(
        "tools",
        r#"
        p tool_call call_0 bash {"n":1}
        q tool_call call_0 bash {"n":2}
        p tool_result call_0 "one"
        q tool_result call_0 "two"
        "#,
        &expect![[r#"
            calls {callId:"call_0" runId:"p" name:"bash" status:"complete" input:{n:1} output:"one" progress:[] discarded:false orphan:false}
            calls {callId:"call_0" runId:"q" name:"bash" status:"complete" input:{n:2} output:"two" progress:[] discarded:false orphan:false}
        "#]],
    );
}

#[test]
fn a_result_from_a_run_that_does_not_know_the_call_goes_to_the_open_one() {
    check(
        "tools",
        r#"
        p tool_call c1 bash
        a tool_result c1 "by the agent"
        b tool_result c1 "once more, for nobody"
        "#,
        &expect![[r#"
            calls {callId:"c1" runId:"p" name:"bash" status:"complete" input:{} output:"by the agent" progress:[] discarded:false orphan:false}
            calls {callId:"c1" runId:"b" name:"tool" status:"complete" output:"once more, for nobody" progress:[] discarded:false orphan:true}
        "#]],
    );
}

#[test]
fn an_orphan_is_adopted_by_its_call_and_keeps_what_it_had() {
    check_recorded(
        "tools",
        r#"
        a tool_result c1 "early"
        a tool_progress p1 c1 "earlier still"
        b tool_call c1 bash {"command":"ls"}
        b tool_result c9 "never called"
        "#,
        &expect![[r#"
            calls {callId:"c1" runId:"b" name:"bash" status:"complete" input:{command:"ls"} output:"early" progress:[{id:"p1" content:"earlier still"}] discarded:false orphan:false endedAt:"2027-01-15T08:00:00.000Z"}
            calls {callId:"c9" runId:"b" name:"tool" status:"complete" output:"never called" progress:[] discarded:false orphan:true endedAt:"2027-01-15T08:00:03.000Z"}
        "#]],
    );
}

#[test]
fn calls_of_an_answer_that_was_thrown_away_are_marked() {
    check(
        "tools",
        "a tool_call c1 bash\nb tool_call c1 bash\na model_retry 2 [\"c1\",\"never\"]",
        &expect![[r#"
            calls {callId:"c1" runId:"a" name:"bash" status:"pending" input:{} progress:[] discarded:true orphan:false}
            calls {callId:"c1" runId:"b" name:"bash" status:"pending" input:{} progress:[] discarded:false orphan:false}
        "#]],
    );
}

#[test]
fn a_result_that_does_not_name_its_tool_leaves_that_to_the_call() {
    let early = r#"
        a tool_progress p1 c1 "10%" name=""
        a tool_result c1 "a b" name=""
    "#;
    check(
        "tools",
        early,
        &expect![[r#"
            calls {callId:"c1" runId:"a" status:"complete" output:"a b" progress:[{id:"p1" content:"10%"}] discarded:false orphan:true}
        "#]],
    );
    check(
        "tools",
        &format!("{early}a tool_call c1 bash {{}}"),
        &expect![[r#"
            calls {callId:"c1" runId:"a" name:"bash" status:"complete" input:{} output:"a b" progress:[{id:"p1" content:"10%"}] discarded:false orphan:false}
        "#]],
    );
}

#[test]
fn what_is_asked_about_code_makes_no_call() {
    let (asked, wrote) = ("a relay r1 permission x exec", "a repl_input x \"exec()\"");
    let rest = "a relay_resolved r1 false\na repl_output x \"\"\na harness_end done";
    for table in [format!("{wrote}\n{asked}\n{rest}"), format!("{asked}\n{wrote}\n{rest}")] {
        check("tools", &table, &expect![""]);
        check(
            "tools",
            &format!("{table}\nb tool_call x bash"),
            &expect![[r#"
                calls {callId:"x" runId:"b" name:"bash" status:"pending" input:{} progress:[] discarded:false orphan:false}
            "#]],
        );
    }
}

#[test]
fn what_is_asked_about_a_call_that_has_not_come_waits_for_it() {
    let asked = "a relay r1 permission c1 bash";
    check("tools", asked, &expect![""]);
    check(
        "tools",
        &format!(
            "b tool_call c2 bash\n{asked}\nb tool_call c3 bash\na tool_call c1 bash\na tool_result c1 done"
        ),
        &expect![[r#"
            calls {callId:"c2" runId:"b" name:"bash" status:"pending" input:{} progress:[] discarded:false orphan:false}
            calls {callId:"c3" runId:"b" name:"bash" status:"pending" input:{} progress:[] discarded:false orphan:false}
            calls {callId:"c1" runId:"a" name:"bash" status:"complete" input:{} output:"done" progress:[] discarded:false orphan:false}
        "#]],
    );
    check(
        "tools",
        &format!("{asked}\na relay_resolved r1 false\na tool_result c1 no isError=true"),
        &expect![[r#"
            calls {callId:"c1" runId:"a" name:"bash" status:"denied" output:"no" progress:[] discarded:false orphan:true}
        "#]],
    );
}

#[test]
fn what_is_asked_is_lent_to_another_call_until_it_turns_out_to_be_about_code() {
    let lent = "a relay r1 permission x exec\nb tool_call x bash";
    check(
        "tools",
        lent,
        &expect![[r#"
            calls {callId:"x" runId:"b" name:"bash" status:"awaiting_permission" input:{} progress:[] discarded:false orphan:false}
        "#]],
    );
    check(
        "tools",
        &format!("{lent}\na repl_input x \"exec()\"\na relay_resolved r1 false\nb tool_result x done"),
        &expect![[r#"
            calls {callId:"x" runId:"b" name:"bash" status:"complete" input:{} output:"done" progress:[] discarded:false orphan:false}
        "#]],
    );
}
