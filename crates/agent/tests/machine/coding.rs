//! A model that writes code: what its code prints and calls, and what becomes of it.

use expect_test::expect;

use crate::table::check;

#[test]
fn code_is_run_and_what_it_prints_is_what_the_model_sees_next() {
    check(
        r#"
        harness rlm
        task count
        start
        writes console.log(1)
        replies 10/5
        code prints 1
        code warns careful
        code ends 1
        see
        writes FINAL(2)
        replies 10/5
        code gives 2
        code gives 3
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            writes console.log(1)
              text text ```js
            console.log(1)
            ```
            replies 10/5
              usage 10/5
              repl_input code console.log(1)
              → evaluate code
            code prints 1
              repl_progress stdout 1
            code warns careful
              repl_progress stderr careful
            code ends 1
              repl_output code 1
              → ask
            see
              step, tools [], told You work by writing JavaScript. Each of your answers holds exactly one block fenced with ```js and ```; it is run, and you are told what it printed or what went wrong. It is the body of an async function: use `await`. What it declares at its top, or puts into `scope`, is there in your next answer. There are no files, no network, no timers and no imports; time stands still. In reach are:
              user: count
              assistant: ```js
            console.log(1)
            ```
              user: 1
            writes FINAL(2)
              text text~2 ```js
            FINAL(2)
            ```
            replies 10/5
              usage 10/5
              repl_input code~2 FINAL(2)
              → evaluate code~2
            code gives 2
              repl_output code~2  done
              text answer 2
              harness_end done after 2
              → stop
              = "2"
            code gives 3
              refused: run r has ended
        "#]],
    );
}

#[test]
fn calls_of_code_are_judged_and_answered_one_by_one() {
    check(
        r#"
        tool bash write
        harness rlm
        rule deny bash: rm *
        start
        writes await it
        replies 10/5
        code execs 0 ls
        code execs 1 rm x
        code asks 2 what?
        code execs 0 ls
        allow code:exec:0
        code:exec:0 reports "a"
        code:exec:0 gives "a b"
        code:query:2 gives "that"
        code ends
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            writes await it
              text text ```js
            await it
            ```
            replies 10/5
              usage 10/5
              repl_input code await it
              → evaluate code
            code execs 0 ls
              tool_call code:exec:0 bash {"command":"ls"}
              relay code:exec:0:permission permission: bash: no rule allows `ls` {"command":"ls"}
            code execs 1 rm x
              tool_call code:exec:1 bash {"command":"rm x"}
            code asks 2 what?
              tool_call code:query:2 llm_query {"prompt":"what?"}
            code execs 0 ls
            allow code:exec:0
              relay_resolved code:exec:0:permission yes by ann
              tool_result code:exec:1 error {"error":"denied: bash: {deny: bash, command: \"rm *\"} (agent) denies `rm x`","code":"denied"}
              → tell code:exec:1
              tool_call code:exec:0 bash {"command":"ls"}
              → run code:exec:0
              tool_call code:query:2 llm_query {"prompt":"what?"}
              → spawn code:query:2
            code:exec:0 reports "a"
              tool_progress code:exec:0 "a"
            code:exec:0 gives "a b"
              tool_result code:exec:0 "a b"
              → tell code:exec:0
            code:query:2 gives "that"
              tool_result code:query:2 "that"
              → tell code:query:2
            code ends
              repl_output code
              → stop
              → ask
            see
              step, tools [], told You work by writing JavaScript. Each of your answers holds exactly one block fenced with ```js and ```; it is run, and you are told what it printed or what went wrong. It is the body of an async function: use `await`. What it declares at its top, or puts into `scope`, is there in your next answer. There are no files, no network, no timers and no imports; time stands still. In reach are:
              assistant: ```js
            await it
            ```
              user: (it printed nothing)
        "#]],
    );
}

#[test]
fn what_code_did_not_wait_for_ends_with_it() {
    check(
        r#"
        tool bash write
        harness rlm
        start
        writes no await
        replies 10/5
        code execs 0 ls
        code asks 1 what?
        code ends
        code:query:1 gives "late"
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            writes no await
              text text ```js
            no await
            ```
            replies 10/5
              usage 10/5
              repl_input code no await
              → evaluate code
            code execs 0 ls
              tool_call code:exec:0 bash {"command":"ls"}
              relay code:exec:0:permission permission: bash: no rule allows `ls` {"command":"ls"}
            code asks 1 what?
              tool_call code:query:1 llm_query {"prompt":"what?"}
            code ends
              relay_resolved code:exec:0:permission no because the run ended before anybody answered by run
              tool_result code:exec:0 error {"error":"not run: the code that made the call has ended","code":"cancelled"}
              → tell code:exec:0
              tool_result code:query:1 error {"error":"not run: the code that made the call has ended","code":"cancelled"}
              → tell code:query:1
              repl_output code
              → stop
              → ask
            code:query:1 gives "late"
              refused: run r does not wait for that
        "#]],
    );
}

#[test]
fn an_answer_without_code_or_with_too_much_of_it_is_a_step() {
    check(
        r#"
        harness rlm
        max 2
        start
        says I think
        replies 10/5
        calls c1 bash {}
        replies 10/5
        see
        says I found nothing
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says I think
              text text I think
            replies 10/5
              usage 10/5
              user There is no code in your answer: write one block fenced with ```js and ```.
              → ask
            calls c1 bash {}
            replies 10/5
              usage 10/5
              user There is no code in your answer: write one block fenced with ```js and ```.
              → ask
            see
              step, tools [], told You have no more steps. Say what you found and what is left to do; write no code.
              assistant: I think
              user: There is no code in your answer: write one block fenced with ```js and ```.
              user: There is no code in your answer: write one block fenced with ```js and ```.
            says I found nothing
              text text~2 I found nothing
            replies 10/5
              usage 10/5
              harness_end max_iterations after 3
              → stop
              = "I found nothing"
        "#]],
    );
}

#[test]
fn a_process_that_takes_over_runs_the_code_again_and_asks_about_what_is_in_doubt() {
    check(
        r#"
        tool bash write
        rule allow bash
        harness rlm
        start
        writes await both
        replies 10/5
        code execs 0 ls
        code asks 1 what?
        resume
        lost code:exec:0
        lost code:query:1
        code execs 0 ls
        answer code:exec:0 "take as done"
        cancel now
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            writes await both
              text text ```js
            await both
            ```
            replies 10/5
              usage 10/5
              repl_input code await both
              → evaluate code
            code execs 0 ls
              tool_call code:exec:0 bash {"command":"ls"}
              tool_call code:exec:0 bash {"command":"ls"}
              → run code:exec:0
            code asks 1 what?
              tool_call code:query:1 llm_query {"prompt":"what?"}
              tool_call code:query:1 llm_query {"prompt":"what?"}
              → spawn code:query:1
            resume
              resumed
            lost code:exec:0
              relay code:exec:0:in_doubt approval: `bash` had started, and nobody knows whether it did its work {"command":"ls"} [run again, take as done, fail]
            lost code:query:1
              → again code:query:1
            code execs 0 ls
            answer code:exec:0 "take as done"
              relay_resolved code:exec:0:in_doubt "take as done" by ann
              tool_result code:exec:0 "done"
              → tell code:exec:0
            cancel now
              cancel_requested now
              tool_result code:query:1 error {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
              → tell code:query:1
              repl_output code  error: stopped: the agent was cancelled
              → stop
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
}

#[test]
fn a_graceful_end_lets_code_come_to_its_end_and_asks_no_more() {
    check(
        r#"
        harness rlm
        start
        writes 1
        replies 10/5
        cancel graceful
        code asks 0 what?
        code ends well
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            writes 1
              text text ```js
            1
            ```
            replies 10/5
              usage 10/5
              repl_input code 1
              → evaluate code
            cancel graceful
              cancel_requested graceful
            code asks 0 what?
              tool_call code:query:0 llm_query {"prompt":"what?"}
              tool_result code:query:0 error {"error":"not run: the agent is being cancelled","code":"cancelled"}
              → tell code:query:0
            code ends well
              repl_output code well
              → stop
              harness_end cancelled after 1
              → stop
              = cancelled: the agent was cancelled
        "#]],
    );
    check(
        r#"
        harness rlm
        start
        writes 1
        cancel graceful
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            writes 1
              text text ```js
            1
            ```
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
