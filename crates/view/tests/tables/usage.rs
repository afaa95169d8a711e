//! What the `usage` view shows, as tables.

use expect_test::expect;

use crate::check;

#[test]
fn tokens_and_cost_are_counted_by_run_agent_node_and_model() {
    check(
        "usage",
        r#"
        a harness_start agentId=root
        a usage 10 5 model=large costUsd=0.1 cacheReadTokens=4 cacheCreationTokens=2
        b harness_start agent={"id":"w","name":"Writer"} nodeId=write
        b usage 1 1 model=small costUsd=0.2
        b usage 1 1 model=small nodeId=write nodePath=["outer","write"]
        p usage 7 0
        a usage 10 5 model=large costUsd=0.2
        "#,
        &expect![[r#"
            total {calls:5 inputTokens:29 outputTokens:12 cacheReadTokens:4 cacheCreationTokens:2 costUsd:0.5 unpriced:2}
            runs {id:"a" used:{calls:2 inputTokens:20 outputTokens:10 cacheReadTokens:4 cacheCreationTokens:2 costUsd:0.3 unpriced:0}}
            runs {id:"b" used:{calls:2 inputTokens:2 outputTokens:2 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.2 unpriced:1}}
            runs {id:"p" used:{calls:1 inputTokens:7 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:1}}
            agents {id:"root" used:{calls:2 inputTokens:20 outputTokens:10 cacheReadTokens:4 cacheCreationTokens:2 costUsd:0.3 unpriced:0}}
            agents {id:"w" name:"Writer" used:{calls:2 inputTokens:2 outputTokens:2 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.2 unpriced:1}}
            nodes {id:"write" used:{calls:1 inputTokens:1 outputTokens:1 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.2 unpriced:0}}
            nodes {id:"outer/write" used:{calls:1 inputTokens:1 outputTokens:1 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:1}}
            models {id:"large" used:{calls:2 inputTokens:20 outputTokens:10 cacheReadTokens:4 cacheCreationTokens:2 costUsd:0.3 unpriced:0}}
            models {id:"small" used:{calls:2 inputTokens:2 outputTokens:2 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.2 unpriced:1}}
            models {id:"unknown" used:{calls:1 inputTokens:7 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:1}}
        "#]],
    );
}

#[test]
fn what_was_thrown_away_was_paid_for() {
    check(
        "usage",
        "a text t x\na usage 5 5 model=m costUsd=0.3\na model_retry 2 [\"t\"]",
        &expect![[r#"
        total {calls:1 inputTokens:5 outputTokens:5 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.3 unpriced:0}
        runs {id:"a" used:{calls:1 inputTokens:5 outputTokens:5 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.3 unpriced:0}}
        models {id:"m" used:{calls:1 inputTokens:5 outputTokens:5 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.3 unpriced:0}}
    "#]],
    );
}

#[test]
fn nothing_used_is_nothing() {
    check(
        "usage",
        "a text t x\na harness_end done totalUsage={\"inputTokens\":0,\"outputTokens\":0} iterations=1",
        &expect![[r"
            total {calls:0 inputTokens:0 outputTokens:0 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:0}
        "]],
    );
}

#[test]
fn what_the_end_of_a_run_says_beyond_its_calls_counts_once() {
    check(
        "usage",
        r#"
        a harness_start agentId=root nodeId=n
        a harness_end done totalUsage={"inputTokens":5,"outputTokens":6} iterations=2
        b usage 10 5 model=large costUsd=0.1
        b harness_end done totalUsage={"inputTokens":12,"outputTokens":3} iterations=1
        b harness_end done totalUsage={"inputTokens":12,"outputTokens":3}
        c usage 1 1 model=large
        c harness_end done totalUsage={"inputTokens":1,"outputTokens":1} iterations=3
        "#,
        &expect![[r#"
            total {calls:4 inputTokens:18 outputTokens:12 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.1 unpriced:3}
            runs {id:"a" used:{calls:2 inputTokens:5 outputTokens:6 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:2}}
            runs {id:"b" used:{calls:1 inputTokens:12 outputTokens:5 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.1 unpriced:0}}
            runs {id:"c" used:{calls:1 inputTokens:1 outputTokens:1 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:1}}
            agents {id:"root" used:{calls:2 inputTokens:5 outputTokens:6 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:2}}
            nodes {id:"n" used:{calls:2 inputTokens:5 outputTokens:6 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:2}}
            models {id:"unknown" used:{calls:2 inputTokens:7 outputTokens:6 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0 unpriced:2}}
            models {id:"large" used:{calls:2 inputTokens:11 outputTokens:6 cacheReadTokens:0 cacheCreationTokens:0 costUsd:0.1 unpriced:1}}
        "#]],
    );
}
