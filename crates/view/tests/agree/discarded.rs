//! What a model call that is made again discards: all views say the same.

use std::fmt::Write;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::fold;

/// The lists of each view, and the members of their rows that say what counts.
const VIEWS: &[(&str, &str, &[&str])] = &[
    ("thread", "/entries/0/parts", &["kind", "code", "name", "output", "status"]),
    ("messages", "/messages", &["role", "content", "tool_calls"]),
    ("dag", "/nodes", &["id", "status"]),
    ("nested", "/nodes", &["id", "discarded"]),
    ("tools", "/calls", &["callId", "status", "discarded", "orphan"]),
    ("repl", "/runs/0/turns", &["id", "phase", "text", "code", "stdout", "output"]),
    ("risk", "/steps", &["kind", "id", "state", "then"]),
];

/// The rows of each view that are about a call, a piece of code or what came of them; whoever heard of nothing but the
/// changes has the same.
fn check(table: &str, expected: Expect) {
    let mut lines = String::new();
    for (view, list, members) in VIEWS {
        let snapshot = fold(view, table);
        for row in snapshot.pointer(list).and_then(Value::as_array).into_iter().flatten() {
            let shown = members.iter().filter(|name| !row[**name].is_null());
            let shown: Vec<_> = shown.map(|name| format!("{name}={}", row[*name])).collect();
            writeln!(lines, "{view} {}", shown.join(" ").replace('"', "")).expect("text");
        }
    }
    expected.assert_eq(&lines);
}

#[test]
fn code_is_discarded_as_calls_are() {
    check(
        r#"
        r  harness_start
        r  text         t "I count."
        r  repl_input   k "1"
        r  model_retry  2 ["t","k"]
        "#,
        expect![[r#"
            dag id=block:r:harness_start status=running
            dag id=block:t status=discarded
            dag id=block:k status=discarded
            dag id=block:r:model_retry:1
            nested id=r
            nested id=t discarded=true
            nested id=k discarded=true
            repl phase=thinking
            risk kind=model id=1 state=recorded
            risk kind=code id=k state=recorded
        "#]],
    );
}

#[test]
fn what_comes_of_discarded_code_later_does_not_count_and_what_the_model_says_then_does() {
    check(
        r#"
        r  repl_input     k "1"
        r  repl_progress  k "one"
        r  model_retry    2 ["k"]
        r  tool_call      c bash
        r  repl_input     k~2 "2"
        r  repl_output    k "one" true
        r  tool_call      of_code bash
        r  repl_output    k~2 "two"
        "#,
        expect![[r#"
            thread kind=tool_call name=bash status=proposed
            thread kind=code code=2 output={stdout:two,done:false} status=complete
            thread kind=tool_call name=bash status=proposed
            messages role=assistant tool_calls=[{id:c,name:bash,arguments:{}}]
            messages role=tool content=no result yet
            messages role=user content=two
            dag id=block:k status=discarded
            dag id=block:k:progress
            dag id=block:r:model_retry:1
            dag id=block:c status=pending
            dag id=block:k~2 status=completed
            dag id=block:k:output
            dag id=block:of_code status=pending
            dag id=block:k~2:output
            nested id=r
            nested id=k discarded=true
            nested id=c
            nested id=k~2
            nested id=of_code
            tools callId=c status=pending discarded=false orphan=false
            tools callId=of_code status=pending discarded=false orphan=false
            repl id=k~2 phase=done code=2 output={stdout:two,truncated:false,done:false}
            risk kind=code id=k state=recorded
            risk kind=tool id=c state=in_flight then=resume
            risk kind=code id=k~2 state=recorded
            risk kind=tool id=of_code state=in_flight then=resume
        "#]],
    );
}

#[test]
fn a_call_that_comes_after_the_retry_is_a_new_one_whatever_was_said_of_it_before() {
    check(
        "r tool_result c early\n r model_retry 2 [\"c\"]\n r tool_call c bash",
        expect![[r#"
        thread kind=tool_call name=bash output=early status=complete
        messages role=assistant tool_calls=[{id:c,name:bash,arguments:{}}]
        messages role=tool content=early
        dag id=block:c:result
        dag id=block:r:model_retry:1
        dag id=block:c status=completed
        nested id=r
        nested id=c
        tools callId=c status=complete discarded=false orphan=false
        risk kind=tool id=c state=recorded
    "#]],
    );
    check(
        "r tool_progress p c early\n r model_retry 2 [\"c\"]\n r tool_call c bash",
        expect![[r#"
        thread kind=tool_call name=bash status=running
        messages role=assistant tool_calls=[{id:c,name:bash,arguments:{}}]
        messages role=tool content=no result yet
        dag id=block:p
        dag id=block:r:model_retry:1
        dag id=block:c status=running
        nested id=r
        nested id=c
        tools callId=c status=running discarded=false orphan=false
        risk kind=tool id=c state=in_flight then=ask
    "#]],
    );
    check(
        "r relay q permission c bash\n r model_retry 2 [\"c\"]\n r tool_call c bash",
        expect![[r#"
            thread kind=tool_call name=bash status=waiting
            messages role=assistant tool_calls=[{id:c,name:bash,arguments:{}}]
            messages role=tool content=no result yet
            dag id=block:q status=pending
            dag id=block:r:model_retry:1
            dag id=block:c status=pending
            nested id=r
            nested id=c
            nested id=q
            tools callId=c status=awaiting_permission discarded=false orphan=false
            risk kind=relay id=q state=in_flight then=wait
            risk kind=tool id=c state=in_flight then=resume
        "#]],
    );
}

#[test]
fn code_that_comes_after_the_retry_is_new_too() {
    check(
        r#"
        r  repl_progress  k "early"
        r  model_retry    2 ["k"]
        r  repl_input     k "1"
        "#,
        expect![[r#"
            thread kind=code code=1 status=running
            messages role=user content=no result yet
            dag id=block:k:progress
            dag id=block:r:model_retry:1
            dag id=block:k status=running
            nested id=r
            nested id=k
            repl id=k phase=executing code=1 stdout=early
            risk kind=code id=k state=in_flight then=ask
        "#]],
    );
}
