//! What the `runs` view shows, as tables.

use expect_test::expect;

use crate::{check, check_recorded};

#[test]
fn a_turn_is_a_run_of_the_user_and_the_runs_it_causes() {
    check_recorded(
        "runs",
        r#"
        u user "hi"
        a^u:user harness_start agent={"id":"root","name":"Root"}
        a text t1 "hm"
        a tool_call c1 agent callType=sub_agent
        a usage 10 5 model=m costUsd=0.1
        b^c1 harness_start agentId=helper
        b usage 1 1 costUsd=0.2
        b harness_end done iterations=3
        a tool_result c1 "x"
        a usage 10 5 costUsd=0.2
        a harness_end max_iterations
        v^a:harness_end user "thanks"
        "#,
        &expect![[r#"
            runs {runId:"u" kind:"user" status:"completed" waiting:false orphan:false startedAt:"2027-01-15T08:00:00.000Z" endedAt:"2027-01-15T08:00:00.000Z" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:1}
            runs {runId:"a" kind:"agent" status:"completed" waiting:false reason:"max_iterations" parentId:"u:user" parentRunId:"u" orphan:false agent:"Root" startedAt:"2027-01-15T08:00:01.000Z" endedAt:"2027-01-15T08:00:10.000Z" iterations:2 used:{calls:2 inputTokens:20 outputTokens:10 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.3 unpriced:0} children:1}
            runs {runId:"b" kind:"agent" status:"completed" waiting:false reason:"done" parentId:"c1" parentRunId:"a" orphan:false agent:"helper" startedAt:"2027-01-15T08:00:05.000Z" endedAt:"2027-01-15T08:00:07.000Z" iterations:3 used:{calls:1 inputTokens:1 outputTokens:1 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.2 unpriced:0} children:0}
            runs {runId:"v" kind:"user" status:"completed" waiting:false parentId:"a:harness_end" parentRunId:"a" orphan:false startedAt:"2027-01-15T08:00:11.000Z" endedAt:"2027-01-15T08:00:11.000Z" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
    );
}

#[test]
fn every_way_to_end_has_its_status() {
    check(
        "runs",
        r#"
        r1 harness_end done
        r2 harness_end budget
        r3 harness_end error
        r4 harness_end cancelled
        r5 harness_end interrupted
        r6 harness_end
        r7 harness_start
        f1 run_end COMPLETED
        f2 run_end FAILED reason=node_failed
        f3 run_end CANCELLED reason=cancelled
        f4 run_end reason=stalled
        f5 run_end
        p1 text t "only text"
        p2 usage 1 1
        p3 error "provider broke"
        "#,
        &expect![[r#"
            runs {runId:"r1" kind:"agent" status:"completed" waiting:false reason:"done" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"r2" kind:"agent" status:"failed" waiting:false reason:"budget" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"r3" kind:"agent" status:"failed" waiting:false reason:"error" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"r4" kind:"agent" status:"cancelled" waiting:false reason:"cancelled" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"r5" kind:"agent" status:"interrupted" waiting:false reason:"interrupted" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"r6" kind:"agent" status:"completed" waiting:false orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"r7" kind:"agent" status:"active" waiting:false orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"f1" kind:"flow" status:"completed" waiting:false orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"f2" kind:"flow" status:"failed" waiting:false reason:"node_failed" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"f3" kind:"flow" status:"cancelled" waiting:false reason:"cancelled" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"f4" kind:"flow" status:"failed" waiting:false reason:"stalled" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"f5" kind:"flow" status:"completed" waiting:false orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"p1" kind:"provider" status:"active" waiting:false orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"p2" kind:"provider" status:"completed" waiting:false orphan:false iterations:1 used:{calls:1 inputTokens:1 outputTokens:1 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:1} children:0}
            runs {runId:"p3" kind:"provider" status:"failed" waiting:false orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
    );
}

#[test]
fn a_bare_model_call_that_turns_out_to_be_an_agent_goes_on() {
    check_recorded(
        "runs",
        "a text t hi\na usage 1 1\na harness_start",
        &expect![[r#"
        runs {runId:"a" kind:"agent" status:"active" waiting:false orphan:false startedAt:"2027-01-15T08:00:00.000Z" iterations:1 used:{calls:1 inputTokens:1 outputTokens:1 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:1} children:0}
    "#]],
    );
}

#[test]
fn an_error_ends_no_run_that_turns_out_to_be_more_than_a_model_call() {
    check(
        "runs",
        r#"
        a relay q question
        a error "the first try failed"
        a harness_start
        a text t hi
        b error "provider broke"
        b harness_end error
        f error "nobody knows it"
        f run_start x
        "#,
        &expect![[r#"
            runs {runId:"a" kind:"agent" status:"active" waiting:true orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"b" kind:"agent" status:"failed" waiting:false reason:"error" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"f" kind:"flow" status:"active" waiting:false orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
    );
}

#[test]
fn a_resumed_run_is_active_again() {
    check_recorded(
        "runs",
        "f run_start x\nf run_end FAILED reason=node_failed\nf resumed",
        &expect![[r#"
        runs {runId:"f" kind:"flow" status:"active" waiting:false orphan:false graphId:"x" startedAt:"2027-01-15T08:00:00.000Z" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
    "#]],
    );
}

#[test]
fn a_run_waits_while_a_person_is_asked() {
    let steps = [
        (
            "f run_start x",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"active" waiting:false orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
        (
            "f relay g approval nodeId=gate",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"active" waiting:true orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
        (
            "f interrupt gate human_approval",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"active" waiting:true orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
        (
            "- relay_resolved g true",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"active" waiting:false orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
        (
            "f interrupt gate2 error",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"active" waiting:true orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
        (
            "f node_end gate2",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"active" waiting:false orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
        (
            "f relay g2 question",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"active" waiting:true orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
        (
            "f run_end CANCELLED",
            expect![[r#"
            runs {runId:"f" kind:"flow" status:"cancelled" waiting:false orphan:false graphId:"x" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
        ),
    ];
    let mut table = String::new();
    for (line, expected) in steps {
        table.extend([line, "\n"]);
        check("runs", &table, &expected);
    }
}

#[test]
fn parents_are_found_by_call_by_node_and_by_run_also_when_they_come_late() {
    check(
        "runs",
        r#"
        b^f:write:1:start harness_start nodeId=write
        c^late harness_start
        d^a harness_start
        e^never harness_start
        g^t1 user "after a text"
        f run_start flow
        a tool_call late agent
        a text t1 "x"
        "#,
        &expect![[r#"
            runs {runId:"b" kind:"agent" status:"active" waiting:false parentId:"f:write:1:start" parentRunId:"f" orphan:false nodeId:"write" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"c" kind:"agent" status:"active" waiting:false parentId:"late" parentRunId:"a" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"d" kind:"agent" status:"active" waiting:false parentId:"a" parentRunId:"a" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"e" kind:"agent" status:"active" waiting:false parentId:"never" orphan:true iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"g" kind:"user" status:"completed" waiting:false parentId:"t1" parentRunId:"a" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"f" kind:"flow" status:"active" waiting:false orphan:false graphId:"flow" iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:1}
            runs {runId:"a" kind:"provider" status:"active" waiting:false orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:2}
        "#]],
    );
}

#[test]
fn nobody_is_their_own_ancestor() {
    check(
        "runs",
        r"
        x^y:harness_start harness_start
        y^x:harness_start harness_start
        z^z harness_start
        ",
        &expect![[r#"
            runs {runId:"x" kind:"agent" status:"active" waiting:false parentId:"y:harness_start" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:1}
            runs {runId:"y" kind:"agent" status:"active" waiting:false parentId:"x:harness_start" parentRunId:"x" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
            runs {runId:"z" kind:"agent" status:"active" waiting:false parentId:"z" orphan:false iterations:0 used:{calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0} children:0}
        "#]],
    );
}

#[test]
fn an_answer_or_a_wish_to_stop_makes_no_run() {
    check("runs", "x relay_resolved r true\ny cancel_requested", &expect![""]);
}
