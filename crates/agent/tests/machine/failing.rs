//! Models that fail, processes that die, answers that do not fit.

use expect_test::expect;

use crate::table::check;

#[test]
fn a_model_that_fails_is_asked_again_after_a_while_and_half_an_answer_does_not_count() {
    check(
        r#"
        tool read read
        rule allow read
        start
        thinks hm
        says hal
        calls a read {}
        fails overloaded retry
        see
        says whole
        calls a read {}
        replies 10/5
        a~2 gives 1
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            thinks hm
              reasoning reasoning hm
            says hal
              text text hal
            calls a read {}
              tool_call a read {}
            fails overloaded retry
              model_retry 2 in 250 ms, discards [reasoning text a]: the model said overloaded
              → wait 250
            see
              step, tools [read]
            says whole
              text text~2 whole
            calls a read {}
              tool_call a~2 read {}
            replies 10/5
              usage 10/5
              tool_call a~2 read {}
              → run a~2
            a~2 gives 1
              tool_result a~2 1
              → ask
            see
              step, tools [read]
              assistant: whole; calls a read {}
              tool a: 1
        "#]],
    );
}

#[test]
fn the_delay_doubles_and_what_the_vendor_asks_for_goes_first() {
    check(
        r#"
        retries 9
        start
        fails overloaded retry
        fails overloaded retry
        fails overloaded retry
        fails rate_limited retry after 7
        fails rate_limited retry after 100000
        fails rate_limited retry after 0
        fails overloaded retry
        fails overloaded retry
        fails overloaded retry
        fails overloaded retry
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            fails overloaded retry
              model_retry 2 in 250 ms, discards []: the model said overloaded
              → wait 250
            fails overloaded retry
              model_retry 3 in 500 ms, discards []: the model said overloaded
              → wait 500
            fails overloaded retry
              model_retry 4 in 1000 ms, discards []: the model said overloaded
              → wait 1000
            fails rate_limited retry after 7
              model_retry 5 in 7000 ms, discards []: the model said rate_limited
              → wait 7000
            fails rate_limited retry after 100000
              model_retry 6 in 300000 ms, discards []: the model said rate_limited
              → wait 300000
            fails rate_limited retry after 0
              model_retry 7 in 1 ms, discards []: the model said rate_limited
              → wait 1
            fails overloaded retry
              model_retry 8 in 15000 ms, discards []: the model said overloaded
              → wait 15000
            fails overloaded retry
              model_retry 9 in 15000 ms, discards []: the model said overloaded
              → wait 15000
            fails overloaded retry
              model_retry 10 in 15000 ms, discards []: the model said overloaded
              → wait 15000
            fails overloaded retry
              error overloaded: the model said overloaded
              harness_end error after 0
              → stop
              = overloaded: the model said overloaded
        "#]],
    );
}

#[test]
fn a_failure_that_trying_again_does_not_help_ends_the_run() {
    check(
        r#"
        tool read read
        start
        says let me
        calls a read {}
        fails authentication
        says late
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says let me
              text text let me
            calls a read {}
              tool_call a read {}
            fails authentication
              error authentication: the model said authentication
              tool_result a error {"error":"not run: the agent ended","code":"cancelled"}
              harness_end error after 0
              → stop
              = authentication: the model said authentication
            says late
              refused: run r has ended
        "#]],
    );
}

#[test]
fn attempts_are_counted_anew_for_each_step() {
    check(
        r#"
        tool read read
        rule allow read
        retries 1
        start
        fails overloaded retry
        calls a read {}
        replies 10/5
        a gives 1
        fails overloaded retry
        says done
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            fails overloaded retry
              model_retry 2 in 250 ms, discards []: the model said overloaded
              → wait 250
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            fails overloaded retry
              model_retry 2 in 250 ms, discards []: the model said overloaded
              → wait 250
            says done
              text text done
            replies 10/5
              usage 10/5
              harness_end done after 2
              → stop
              = "done"
        "#]],
    );
}

#[test]
fn a_process_that_dies_in_mid_answer_costs_none_of_the_attempts() {
    check(
        r#"
        retries 1
        start
        says ha
        resume
        resume
        says hal
        resume
        fails overloaded retry
        says half
        resume
        says whole
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says ha
              text text ha
            resume
              resumed
              model_retry 2, discards [text]: the process that asked the model died
              → ask
            resume
              resumed
            says hal
              text text~2 hal
            resume
              resumed
              model_retry 3, discards [text~2]: the process that asked the model died
              → ask
            fails overloaded retry
              model_retry 4 in 250 ms, discards []: the model said overloaded
              → wait 250
            says half
              text text~3 half
            resume
              resumed
              model_retry 5, discards [text~3]: the process that asked the model died
              → ask
            says whole
              text text~4 whole
            replies 10/5
              usage 10/5
              harness_end done after 1
              → stop
              = "whole"
        "#]],
    );
}

#[test]
fn a_process_that_takes_over_goes_on_where_the_run_was() {
    check(
        r#"
        tool bash write
        on_limit ask
        max 1
        start
        resume
        calls a bash {}
        replies 10/5
        resume
        allow a
        a gives 1
        resume
        allow go_on
        resume
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            resume
              resumed
            calls a bash {}
              tool_call a bash {}
            replies 10/5
              usage 10/5
              relay a:permission permission: bash: no rule allows this call {}
            resume
              resumed
            allow a
              relay_resolved a:permission yes by ann
              tool_call a bash {}
              → run a
            a gives 1
              tool_result a 1
              relay continue:1 continuation: its 1 model calls are used up and it is not done; may it go on?
            resume
              resumed
            allow go_on
              relay_resolved continue:1 yes by ann
              → ask
            resume
              resumed
        "#]],
    );
}

#[test]
fn an_answer_that_does_not_fit_is_asked_for_again() {
    check(
        r#"
        output {"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}
        task is it ok?
        start
        says yes
        replies 10/5
        see
        says {"ok": "yes"}
        replies 10/5
        says ```json
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says yes
              text text yes
            replies 10/5
              usage 10/5
              user Your answer does not fit: it is not JSON: expected value at line 1 column 1. Answer again, with the JSON and nothing else.
              → ask
            see
              step, tools []
              user: is it ok?
              assistant: yes
              user: Your answer does not fit: it is not JSON: expected value at line 1 column 1. Answer again, with the JSON and nothing else.
            says {"ok": "yes"}
              text text~2 {"ok": "yes"}
            replies 10/5
              usage 10/5
              user Your answer does not fit: "yes" is not of type "boolean" at `/ok`. Answer again, with the JSON and nothing else.
              → ask
            says ```json
              text text~3 ```json
            replies 10/5
              usage 10/5
              error schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
              harness_end error after 3
              → stop
              = schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
        "#]],
    );
}

#[test]
fn an_answer_that_fits_is_the_value_it_is() {
    check(
        r#"
        output {"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}
        start
        says no
        replies 10/5
        says {"ok": true}
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says no
              text text no
            replies 10/5
              usage 10/5
              user Your answer does not fit: it is not JSON: expected ident at line 1 column 2. Answer again, with the JSON and nothing else.
              → ask
            says {"ok": true}
              text text~2 {"ok": true}
            replies 10/5
              usage 10/5
              harness_end done after 2
              → stop
              = {"ok": true}
        "#]],
    );
}

#[test]
fn a_model_that_may_not_repair_fails_at_once() {
    check(
        r#"
        output {"type":"integer"}
        limit max_repairs 0
        start
        says one
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says one
              text text one
            replies 10/5
              usage 10/5
              error schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
              harness_end error after 1
              → stop
              = schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
        "#]],
    );
}

#[test]
fn json_in_a_fence_is_json() {
    check(
        r#"
        output {"type":"object"}
        start
        says ```json {"ok": true} ```
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says ```json {"ok": true} ```
              text text ```json {"ok": true} ```
            replies 10/5
              usage 10/5
              harness_end done after 1
              → stop
              = {"ok": true}
        "#]],
    );
}
