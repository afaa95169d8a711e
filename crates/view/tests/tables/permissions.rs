//! What the `permissions` view shows, as tables.

use expect_test::expect;

use crate::{check, check_recorded};

#[test]
fn all_kinds_of_requests_are_answered_in_their_own_way() {
    check_recorded(
        "permissions",
        r#"
        a relay p permission c1 bash {"command":"rm"} expiresAt=2030-01-01T00:00:00Z agent={"id":"root"}
        a relay q question prompt="which?" options=["x","y"] schema={"type":"string"}
        a relay k continuation prompt="go on?"
        f relay g approval nodeId=gate prompt="publish?"
        a relay w permission c2 bash
        a relay_resolved p true alice scope=session input={"command":"ls"}
        - relay_resolved q by=bob answer="x"
        - relay_resolved k false bob reason=enough
        - relay_resolved g false timeout
        - grant_added {"tool":"bash"} session alice
        "#,
        &expect![[r#"
            pending 1
            requests {id:"p" status:"approved" orphan:false kind:"permission" runId:"a" agent:"root" toolCallId:"c1" tool:"bash" params:{command:"rm"} askedAt:"2027-01-15T08:00:00.000Z" expiresAt:"2030-01-01T00:00:00.000Z" answer:{by:"alice" at:"2027-01-15T08:00:05.000Z" approved:true input:{command:"ls"} scope:"session"}}
            requests {id:"q" status:"answered" orphan:false kind:"question" runId:"a" prompt:"which?" options:["x", "y"] schema:{type:"string"} askedAt:"2027-01-15T08:00:01.000Z" answer:{by:"bob" at:"2027-01-15T08:00:06.000Z" answer:"x"}}
            requests {id:"k" status:"denied" orphan:false kind:"continuation" runId:"a" prompt:"go on?" askedAt:"2027-01-15T08:00:02.000Z" answer:{by:"bob" at:"2027-01-15T08:00:07.000Z" approved:false reason:"enough"}}
            requests {id:"g" status:"expired" orphan:false kind:"approval" runId:"f" nodeId:"gate" prompt:"publish?" askedAt:"2027-01-15T08:00:03.000Z" answer:{by:"timeout" at:"2027-01-15T08:00:08.000Z" approved:false}}
            requests {id:"w" status:"pending" orphan:false kind:"permission" runId:"a" toolCallId:"c2" tool:"bash" askedAt:"2027-01-15T08:00:04.000Z"}
            grants {rule:{tool:"bash"} scope:"session" by:"alice" at:"2027-01-15T08:00:09.000Z"}
        "#]],
    );
}

#[test]
fn the_first_answer_counts() {
    check(
        "permissions",
        "a relay p\n- relay_resolved p false\n- relay_resolved p true eve",
        &expect![[r#"
        pending 0
        requests {id:"p" status:"denied" orphan:false kind:"permission" runId:"a" answer:{by:"user" approved:false}}
    "#]],
    );
}

#[test]
fn the_end_of_a_run_closes_what_it_asked_and_nothing_else() {
    check(
        "permissions",
        r"
        a relay p1
        b relay p2
        f relay p3 approval
        a harness_end cancelled
        f run_end FAILED
        ",
        &expect![[r#"
            pending 1
            requests {id:"p1" status:"closed" orphan:false kind:"permission" runId:"a"}
            requests {id:"p2" status:"pending" orphan:false kind:"permission" runId:"b"}
            requests {id:"p3" status:"closed" orphan:false kind:"approval" runId:"f"}
        "#]],
    );
}

#[test]
fn a_run_that_was_only_interrupted_still_waits() {
    check(
        "permissions",
        "a relay p1\na harness_end interrupted",
        &expect![[r#"
        pending 1
        requests {id:"p1" status:"pending" orphan:false kind:"permission" runId:"a"}
    "#]],
    );
}

#[test]
fn a_request_that_is_asked_again_is_one_request() {
    check(
        "permissions",
        "a relay p prompt=old\na harness_end error\na relay p prompt=new",
        &expect![[r#"
        pending 1
        requests {id:"p" status:"pending" orphan:false kind:"permission" runId:"a" prompt:"new"}
    "#]],
    );
}

#[test]
fn equal_ids_in_two_runs_are_two_requests() {
    check(
        "permissions",
        "a relay p\nb relay p\na relay_resolved p true\nb relay_resolved p false",
        &expect![[r#"
            pending 0
            requests {id:"p" status:"approved" orphan:false kind:"permission" runId:"a" answer:{by:"user" approved:true}}
            requests {id:"p" status:"denied" orphan:false kind:"permission" runId:"b" answer:{by:"user" approved:false}}
        "#]],
    );
}

#[test]
fn answers_that_came_before_go_to_their_run_and_take_no_request_from_another() {
    check(
        "permissions",
        r"
        - relay_resolved q1 false ann
        a relay_resolved q1 true bob
        a relay q1
        b relay_resolved q2 true ann
        a relay q2
        b relay q2
        ",
        &expect![[r#"
            pending 1
            requests {id:"q1" status:"denied" orphan:false kind:"permission" runId:"a" answer:{by:"ann" approved:false}}
            requests {id:"q2" status:"approved" orphan:false kind:"permission" runId:"a" answer:{by:"ann" approved:true}}
            requests {id:"q2" status:"pending" orphan:false kind:"permission" runId:"b"}
        "#]],
    );
}

#[test]
fn an_answer_to_nobody_is_kept_until_its_request_arrives() {
    check(
        "permissions",
        r"
        - relay_resolved early true
        - relay_resolved never false
        a relay_resolved never false
        a relay early permission c1
        ",
        &expect![[r#"
            pending 0
            requests {id:"early" status:"approved" orphan:false kind:"permission" runId:"a" toolCallId:"c1" answer:{by:"user" approved:true}}
            requests {id:"never" status:"denied" orphan:true answer:{by:"user" approved:false}}
        "#]],
    );
}

#[test]
fn what_a_mission_asks_is_answered_by_what_becomes_of_the_change() {
    check(
        "permissions",
        r#"
        -  mission:approval_required  action=apply_graph_patch details={"trigger":"agent_request"}
        m  mission:approval_required  action=first agent={"id":"planner"}
        m  mission:approval_required  action=second
        n  mission:approval_required  action=third
        -  mission:expansion_approved by=user
        m  mission:expansion_rejected by=user reason=costly
        m  mission:expansion_approved by=auto
        m  mission:expansion_approved by=auto
        n  mission:complete           summary=over totalCost=0 totalDurationMs=1 agentCount=1
        o  mission:approval_required  action=fourth
        o  run_end                    COMPLETED
        o  mission:expansion_approved by=user
        -  mission:approval_required  action=fifth
        "#,
        &expect![[r#"
            pending 1
            requests {id:"mission:approval_required:1" status:"approved" orphan:false kind:"approval" params:{trigger:"agent_request"} prompt:"apply_graph_patch" answer:{by:"user" approved:true}}
            requests {id:"m:mission:approval_required:1" status:"denied" orphan:false kind:"approval" runId:"m" agent:"planner" prompt:"first" answer:{by:"user" approved:false reason:"costly"}}
            requests {id:"m:mission:approval_required:2" status:"approved" orphan:false kind:"approval" runId:"m" prompt:"second" answer:{by:"auto" approved:true}}
            requests {id:"n:mission:approval_required:1" status:"closed" orphan:false kind:"approval" runId:"n" prompt:"third"}
            requests {id:"o:mission:approval_required:1" status:"closed" orphan:false kind:"approval" runId:"o" prompt:"fourth"}
            requests {id:"mission:approval_required:2" status:"pending" orphan:false kind:"approval" prompt:"fifth"}
        "#]],
    );
}
