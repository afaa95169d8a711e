//! What the `replay` view shows, as tables.

use expect_test::expect;

use crate::{check, check_recorded};

#[test]
fn a_branch_has_its_header_turns_counts_and_messages() {
    check_recorded(
        "replay",
        r#"
        - session_created title="Files" metadata={"k":null}
        u1 user "list" eventFlowId=u1
        a1^u1:user text t1 "one " eventFlowId=u1
        a1 text t1 "two" eventFlowId=u1
        a1 usage 1 1 eventFlowId=u1
        u2 user "more" eventFlowId=u2
        a1 harness_end done eventFlowId=u1
        - later_type
        a1 error "late" eventFlowId=u1
        "#,
        &expect![[r#"
            branches {sessionId:"s" branchId:"main" title:"Files" metadata:{k:null} firstSeq:1 lastSeq:9 startedAt:"2027-01-15T08:00:00.000Z" endedAt:"2027-01-15T08:00:08.000Z" events:8 types:{error:1 harness_end:1 session_created:1 text:2 usage:1 user:2} gaps:[] turns:[{eventFlowId:"u1" firstSeq:2 lastSeq:9 events:6 startedAt:"2027-01-15T08:00:01.000Z" endedAt:"2027-01-15T08:00:08.000Z"}, {eventFlowId:"u2" firstSeq:6 lastSeq:6 events:1 startedAt:"2027-01-15T08:00:05.000Z" endedAt:"2027-01-15T08:00:05.000Z"}] messages:[{id:"u1:user" role:"user" runId:"u1" depth:0 text:"list" reasoning:"" streaming:false startedAt:"2027-01-15T08:00:01.000Z" endedAt:"2027-01-15T08:00:01.000Z"}, {id:"t1" role:"assistant" runId:"a1" depth:0 text:"one two" reasoning:"" streaming:false startedAt:"2027-01-15T08:00:02.000Z" endedAt:"2027-01-15T08:00:04.000Z"}, {id:"u2:user" role:"user" runId:"u2" depth:0 text:"more" reasoning:"" streaming:false startedAt:"2027-01-15T08:00:05.000Z" endedAt:"2027-01-15T08:00:05.000Z"}]}
        "#]],
    );
}

#[test]
fn missing_positions_are_reported_and_repeats_are_not_counted() {
    check(
        "replay",
        r#"
        a text t "b" seq=3 sessionId=s branchId=main
        a text t "b" seq=3 sessionId=s branchId=main
        a text t "d" seq=5 sessionId=s branchId=main
        a text t "a" seq=1 sessionId=s branchId=main
        a text t "live only" sessionId=s branchId=main
        a text t "e" seq=6 sessionId=s branchId=main
        "#,
        &expect![[r#"
            branches {sessionId:"s" branchId:"main" firstSeq:3 lastSeq:6 events:3 types:{text:3} gaps:[{from:1 to:2}, {from:4 to:4}] turns:[] messages:[{id:"t" role:"assistant" runId:"a" depth:0 text:"bde" reasoning:"" streaming:true}]}
        "#]],
    );
}

#[test]
fn branches_are_told_apart_and_a_fork_begins_where_it_forks_off() {
    check(
        "replay",
        r#"
        a text t "on main" seq=1 sessionId=s branchId=main
        - branch_created {"branchId":"main","seq":1,"hash":"00"} seq=2 sessionId=s branchId=b
        a text t "on b" seq=3 sessionId=s branchId=b
        a text t "elsewhere" seq=1 sessionId=s2 branchId=main
        a text t "nowhere" seq=1
        "#,
        &expect![[r#"
            branches {sessionId:"s" branchId:"main" firstSeq:1 lastSeq:1 events:1 types:{text:1} gaps:[] turns:[] messages:[{id:"t" role:"assistant" runId:"a" depth:0 text:"on main" reasoning:"" streaming:true}]}
            branches {sessionId:"s" branchId:"b" from:{branchId:"main" seq:1 hash:"00"} firstSeq:2 lastSeq:3 events:2 types:{branch_created:1 text:1} gaps:[] turns:[] messages:[{id:"t" role:"assistant" runId:"a" depth:0 text:"on b" reasoning:"" streaming:true}]}
            branches {sessionId:"s2" branchId:"main" firstSeq:1 lastSeq:1 events:1 types:{text:1} gaps:[] turns:[] messages:[{id:"t" role:"assistant" runId:"a" depth:0 text:"elsewhere" reasoning:"" streaming:true}]}
            branches {firstSeq:1 lastSeq:1 events:1 types:{text:1} gaps:[] turns:[] messages:[{id:"t" role:"assistant" runId:"a" depth:0 text:"nowhere" reasoning:"" streaming:true}]}
        "#]],
    );
}

#[test]
fn a_record_of_an_unknown_type_is_no_gap() {
    check(
        "replay",
        r"
        - later_type seq=1
        u user hi seq=2
        - later_type seq=3
        - later_type seq=6
        u user ho seq=7
        - later_type seq=9
        ",
        &expect![[r#"
            branches {firstSeq:2 lastSeq:7 events:2 types:{user:2} gaps:[{from:4 to:5}] turns:[] messages:[{id:"u:user" role:"user" runId:"u" depth:0 text:"hi" reasoning:"" streaming:false}, {id:"u:user~2" role:"user" runId:"u" depth:0 text:"ho" reasoning:"" streaming:false}]}
        "#]],
    );
}
