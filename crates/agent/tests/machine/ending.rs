//! Limits, budgets, cancellation: how a run ends before it wants to.

use expect_test::expect;

use crate::table::check;

#[test]
fn at_the_limit_the_model_sums_up_without_tools() {
    check(
        r#"
        tool read read
        rule allow read
        max 1
        system be brief
        start
        calls a read {}
        replies 10/5
        a gives 1
        see
        says found 1
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            see
              step, tools [], told be brief
              assistant: calls a read {}
              tool a: 1
            says found 1
              text text found 1
            replies 10/5
              usage 10/5
              harness_end max_iterations after 2
              → stop
              = "found 1"
        "#]],
    );
}

#[test]
fn a_model_that_calls_tools_when_it_should_sum_up_is_cut_short() {
    check(
        r#"
        tool read read
        rule allow read
        max 1
        start
        calls a read {}
        replies 10/5
        a gives 1
        says one more
        calls b read {}
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            says one more
              text text one more
            calls b read {}
              tool_call b read {}
            replies 10/5
              usage 10/5
              tool_result b error {"error":"no more calls are made: the bound on steps is reached","code":"failed"}
              harness_end max_iterations after 2
              → stop
              = "one more"
        "#]],
    );
}

#[test]
fn a_model_that_may_not_be_asked_at_all_only_sums_up() {
    check(
        r#"
        tool read read
        max 0
        start
        see
        says nothing done
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            see
              step, tools [], told You have no more steps. Say what you found and what is left to do; call no tools.
            says nothing done
              text text nothing done
            replies 10/5
              usage 10/5
              harness_end max_iterations after 1
              → stop
              = "nothing done"
        "#]],
    );
}

#[test]
fn an_answer_at_the_limit_has_to_fit_too() {
    check(
        r#"
        tool read read
        rule allow read
        output {"type":"integer"}
        max 1
        start
        calls a read {}
        replies 10/5
        a gives 1
        says about one
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            says about one
              text text about one
            replies 10/5
              usage 10/5
              error schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
              harness_end error after 2
              → stop
              = schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
        "#]],
    );
}

#[test]
fn a_person_lets_it_go_on_beyond_the_limit() {
    check(
        r#"
        tool read read
        rule allow read
        on_limit ask
        max 1
        start
        calls a read {}
        replies 10/5
        a gives 1
        says too early
        answer go_on "yes"
        allow go_on
        calls b read {}
        replies 10/5
        b gives 2
        deny go_on
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              relay continue:1 continuation: its 1 model calls are used up and it is not done; may it go on?
            says too early
              refused: run r does not wait for that
            answer go_on "yes"
              refused: the answer to relay r/continue:1 does not fit: say yes or no
            allow go_on
              relay_resolved continue:1 yes by ann
              → ask
            calls b read {}
              tool_call b read {}
            replies 10/5
              usage 10/5
              tool_call b read {}
              → run b
            b gives 2
              tool_result b 2
              relay continue:2 continuation: its 2 model calls are used up and it is not done; may it go on?
            deny go_on
              relay_resolved continue:2 no by ann
              harness_end max_iterations after 2
              → stop
              = ""
        "#]],
    );
}

#[test]
fn nobody_lets_it_go_on_in_time() {
    check(
        r#"
        tool read read
        rule allow read
        on_limit ask
        max 1
        limit relay_timeout_ms 1000
        start
        says half way
        calls a read {}
        replies 10/5
        a gives 1
        time 1000
        allow go_on
        expire go_on
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says half way
              text text half way
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              relay continue:1 continuation: its 1 model calls are used up and it is not done; may it go on? until 1005
              → watch continue:1 until 1005
            time 1000
            allow go_on
              refused: relay r/continue:1 is not pending: it was answered, it expired, or it never was
            expire go_on
              relay_resolved continue:1 no because nobody answered in time by timeout
              harness_end max_iterations after 1
              → stop
              = "half way"
        "#]],
    );
}

#[test]
fn a_person_who_says_no_gets_no_answer_that_does_not_fit() {
    check(
        r#"
        tool read read
        rule allow read
        output {"type":"integer"}
        on_limit ask
        max 1
        start
        says half way
        calls a read {}
        replies 10/5
        a gives 1
        deny go_on
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says half way
              text text half way
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              relay continue:1 continuation: its 1 model calls are used up and it is not done; may it go on?
            deny go_on
              relay_resolved continue:1 no by ann
              error schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
              harness_end error after 1
              → stop
              = schema: the answer does not fit its schema: it is not JSON: expected value at line 1 column 1
        "#]],
    );
}

#[test]
fn cancel_now_before_it_says_anything() {
    check(
        r#"
        start
        cancel now
        says late
        cancel now
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            cancel now
              cancel_requested now
              harness_end cancelled after 0
              → stop
              = cancelled: the agent was cancelled
            says late
              refused: run r has ended
            cancel now
              refused: run r has ended
        "#]],
    );
}

#[test]
fn cancel_now_in_mid_answer() {
    check(
        r#"
        tool read read
        start
        says ha
        calls a read {}
        cancel now
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says ha
              text text ha
            calls a read {}
              tool_call a read {}
            cancel now
              cancel_requested now
              tool_result a error {"error":"not run: the agent was cancelled","code":"cancelled"}
              harness_end cancelled after 0
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn cancel_now_while_a_person_is_asked() {
    check(
        r#"
        tool bash write
        tool read read
        rule allow read
        start
        calls a read {} & b bash {} & c bash {}
        replies 10/5
        cancel now
        allow b
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {} & b bash {} & c bash {}
              tool_call a read {}
              tool_call b bash {}
              tool_call c bash {}
            replies 10/5
              usage 10/5
              relay b:permission permission: bash: no rule allows this call {}
            cancel now
              cancel_requested now
              tool_result a error {"error":"not run: the agent was cancelled","code":"cancelled"}
              relay_resolved b:permission no because the run ended before anybody answered by run
              tool_result b error {"error":"not run: the agent was cancelled","code":"cancelled"}
              tool_result c error {"error":"not run: the agent was cancelled","code":"cancelled"}
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
            allow b
              refused: run r has ended
        "#]],
    );
}

#[test]
fn cancel_now_while_tools_run() {
    check(
        r#"
        tool read read
        rule allow read
        start
        calls a read {} & b read {}
        replies 10/5
        b gives 2
        cancel now
        a gives 1
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {} & b read {}
              tool_call a read {}
              tool_call b read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
              tool_call b read {}
              → run b
            b gives 2
              tool_result b 2
            cancel now
              cancel_requested now
              tool_result a error {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
            a gives 1
              refused: run r has ended
        "#]],
    );
}

#[test]
fn cancel_now_while_it_waits_to_ask_again() {
    check(
        r#"
        start
        fails overloaded retry
        cancel now
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            fails overloaded retry
              model_retry 2 in 250 ms, discards []: the model said overloaded
              → wait 250
            cancel now
              cancel_requested now
              harness_end cancelled after 0
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn cancel_now_while_it_waits_at_the_limit_or_for_an_answer_about_a_lost_call() {
    check(
        r#"
        tool bash write
        rule allow bash
        max 1
        on_limit ask
        start
        calls a bash {}
        replies 10/5
        lost a
        answer a "fail"
        cancel now
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a bash {}
              tool_call a bash {}
            replies 10/5
              usage 10/5
              tool_call a bash {}
              → run a
            lost a
              relay a:in_doubt approval: `bash` had started, and nobody knows whether it did its work {} [run again, take as done, fail]
            answer a "fail"
              relay_resolved a:in_doubt "fail" by ann
              tool_result a error {"error":"nobody knows how it ended; ann counts it as failed","code":"in_doubt"}
              relay continue:1 continuation: its 1 model calls are used up and it is not done; may it go on?
            cancel now
              cancel_requested now
              relay_resolved continue:1 no because the run ended before anybody answered by run
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn a_lost_call_is_given_up_with_its_run() {
    check(
        r#"
        tool bash write
        rule allow bash
        start
        calls a bash {}
        replies 10/5
        lost a
        cancel now
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a bash {}
              tool_call a bash {}
            replies 10/5
              usage 10/5
              tool_call a bash {}
              → run a
            lost a
              relay a:in_doubt approval: `bash` had started, and nobody knows whether it did its work {} [run again, take as done, fail]
            cancel now
              cancel_requested now
              relay_resolved a:in_doubt no because the run ended before anybody answered by run
              tool_result a error {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn graceful_cancel_ends_a_run_that_has_said_nothing() {
    check(
        r#"
        start
        cancel graceful
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            cancel graceful
              cancel_requested graceful
              harness_end cancelled after 0
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn graceful_cancel_hears_half_an_answer_out() {
    check(
        r#"
        start
        says ha
        cancel graceful
        says lf
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says ha
              text text ha
            cancel graceful
              cancel_requested graceful
            says lf
              text text lf
            replies 10/5
              usage 10/5
              harness_end done after 1
              → stop
              = "half"
        "#]],
    );
}

#[test]
fn graceful_cancel_lets_the_step_finish_but_asks_nobody_and_begins_nothing_new() {
    check(
        r#"
        tool read read
        tool bash write
        tool agent write
        tool ask write
        tool handoff write
        rule allow read
        start
        says ha
        cancel graceful
        calls a read {} & b bash {} & c agent {} & d ask {"question":"?"} & e handoff {"to":"x"}
        replies 10/5
        a gives 1
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says ha
              text text ha
            cancel graceful
              cancel_requested graceful
            calls a read {} & b bash {} & c agent {} & d ask {"question":"?"} & e handoff {"to":"x"}
              tool_call a read {}
              tool_call b bash {}
              tool_call c agent {}
              tool_call d ask {"question":"?"}
              tool_call e handoff {"to":"x"}
            replies 10/5
              usage 10/5
              tool_result b error {"error":"not run: the agent is being cancelled","code":"cancelled"}
              tool_result c error {"error":"not run: the agent is being cancelled","code":"cancelled"}
              tool_result d error {"error":"not run: the agent is being cancelled","code":"cancelled"}
              tool_result e error {"error":"not run: the agent is being cancelled","code":"cancelled"}
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn graceful_cancel_does_not_wait_for_people() {
    check(
        r#"
        tool bash write
        tool read read
        rule allow read
        start
        calls a read {} & b bash {}
        replies 10/5
        cancel graceful
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {} & b bash {}
              tool_call a read {}
              tool_call b bash {}
            replies 10/5
              usage 10/5
              relay b:permission permission: bash: no rule allows this call {}
            cancel graceful
              cancel_requested graceful
              tool_result a error {"error":"not run: the agent was cancelled","code":"cancelled"}
              relay_resolved b:permission no because the run ended before anybody answered by run
              tool_result b error {"error":"not run: the agent was cancelled","code":"cancelled"}
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn graceful_cancel_waits_for_tools_but_not_for_a_lost_one() {
    check(
        r#"
        tool bash write
        rule allow bash
        start
        calls a bash {} & b bash {}
        replies 10/5
        lost a
        cancel graceful
        b gives 2
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a bash {} & b bash {}
              tool_call a bash {}
              tool_call b bash {}
            replies 10/5
              usage 10/5
              tool_call a bash {}
              → run a
              tool_call b bash {}
              → run b
            lost a
              relay a:in_doubt approval: `bash` had started, and nobody knows whether it did its work {} [run again, take as done, fail]
            cancel graceful
              cancel_requested graceful
            b gives 2
              tool_result b 2
              relay_resolved a:in_doubt no because the run ended before anybody answered by run
              tool_result a error {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn graceful_cancel_does_not_try_again_nor_repair() {
    check(
        r#"
        start
        fails overloaded retry
        cancel graceful
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            fails overloaded retry
              model_retry 2 in 250 ms, discards []: the model said overloaded
              → wait 250
            cancel graceful
              cancel_requested graceful
              harness_end cancelled after 0
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn graceful_cancel_asks_for_no_repair() {
    check(
        r#"
        output {"type":"integer"}
        start
        says x
        cancel graceful
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says x
              text text x
            cancel graceful
              cancel_requested graceful
            replies 10/5
              usage 10/5
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn graceful_cancel_ends_a_run_that_waits_at_its_limit() {
    check(
        r#"
        max 0
        on_limit ask
        start
        cancel graceful
        "#,
        expect![[r#"
            start
              harness_start
              relay continue:0 continuation: its 0 model calls are used up and it is not done; may it go on?
            cancel graceful
              cancel_requested graceful
              relay_resolved continue:0 no because the run ended before anybody answered by run
              harness_end cancelled after 0
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn cancel_now_goes_beyond_graceful() {
    check(
        r#"
        tool read read
        rule allow read
        start
        calls a read {}
        replies 10/5
        cancel graceful
        cancel now
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            cancel graceful
              cancel_requested graceful
            cancel now
              cancel_requested now
              tool_result a error {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn a_spent_budget_ends_it_whatever_it_does() {
    check(
        r#"
        tool read read
        tool bash write
        rule allow read
        start
        says first
        calls a read {} & b bash {}
        replies 10/5
        spent
        spent
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says first
              text text first
            calls a read {} & b bash {}
              tool_call a read {}
              tool_call b bash {}
            replies 10/5
              usage 10/5
              relay b:permission permission: bash: no rule allows this call {}
            spent
              error budget_exhausted: 1000 of 1000 tokens are used
              tool_result a error {"error":"not run: the budget is spent","code":"cancelled"}
              relay_resolved b:permission no because the run ended before anybody answered by run
              tool_result b error {"error":"not run: the budget is spent","code":"cancelled"}
              harness_end budget after 1
              → stop
              = budget_exhausted: 1000 of 1000 tokens are used
            spent
              refused: run r has ended
        "#]],
    );
}

#[test]
fn a_spent_budget_ends_it_while_tools_run() {
    check(
        r#"
        tool read read
        rule allow read
        start
        calls a read {}
        replies 10/5
        spent
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            spent
              error budget_exhausted: 1000 of 1000 tokens are used
              tool_result a error {"error":"cut off before it came to an end: the budget is spent","code":"cancelled"}
              harness_end budget after 1
              → stop
              = budget_exhausted: 1000 of 1000 tokens are used
        "#]],
    );
}

#[test]
fn a_spent_budget_ends_it_in_mid_answer() {
    check(
        r#"
        start
        says ha
        spent
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says ha
              text text ha
            spent
              error budget_exhausted: 1000 of 1000 tokens are used
              harness_end budget after 0
              → stop
              = budget_exhausted: 1000 of 1000 tokens are used
        "#]],
    );
}
