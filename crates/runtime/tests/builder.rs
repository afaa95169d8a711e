//! The examples of the builder: each comes to what it says.

use expect_test::{Expect, expect};

/// Takes an example in as a module, so that it is run here and not only built.
macro_rules! example {
    ($name:ident, $path:literal) => {
        #[path = $path]
        #[expect(dead_code, reason = "the example's own `main` is for `cargo run --example`")]
        mod $name;
    };
}

example!(hello, "../examples/hello.rs");
example!(ways, "../examples/ways.rs");
example!(data, "../examples/data.rs");
example!(people, "../examples/people.rs");
example!(trouble, "../examples/trouble.rs");

fn check(told: Result<String, Box<dyn std::error::Error>>, expected: Expect) {
    expected.assert_eq(&told.expect("an example that works"));
}

#[tokio::test]
async fn functions_may_block_wait_or_talk() {
    check(
        hello::run().await,
        expect![[r#"
        greet: hello world
        parse: Completed 42, Failed null
        stream: one two three
    "#]],
    );
}

#[tokio::test]
async fn a_run_goes_the_way_its_conditions_routers_loops_and_joins_say() {
    check(
        ways::run().await,
        expect![[r#"
        conditions: neither, even, large, {"large":"large","even":"even"}
        router: the sea, the hills
        loop: after 3 rounds
        joins: All COMPLETED/SKIPPED, Any COMPLETED/COMPLETED, Count(2) COMPLETED/COMPLETED
    "#]],
    );
}

#[tokio::test]
async fn state_is_folded_lists_are_mapped_and_flows_are_nested() {
    check(
        data::run().await,
        expect![[r#"
        state: {"longest":5,"sizes":[3,5],"total":108}
        map: [1,4,9]
        nested: RTM
        program: 5
    "#]],
    );
}

#[tokio::test]
async fn people_guardrails_and_hooks_have_a_say() {
    check(
        people::run().await,
        expect![[r#"
            human: Completed "published by ann", Completed "dropped by ann"
            guardrails: hello!, Completed "a long sentence!", Failed null
            hooks: Cancelled "<hello>", costly gave "<hello>"
            lookup: Cancelled, fuel "fuelled"
        "#]],
    );
}

#[tokio::test]
async fn what_fails_is_retried_replaced_bounded_cancelled_and_resumed() {
    check(
        trouble::run().await,
        expect![[r#"
        retry: came right at attempt 3
        timeout: the spare, it took longer than 5 ms
        limits: Failed max_node_executions 4
        cancel: Cancelled, quick "done"
        resume: Paused, then Cancelled after 2 starts
    "#]],
    );
}
