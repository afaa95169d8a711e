//! What somebody says while the agent works.

use expect_test::expect;

use crate::table::check;

#[test]
fn what_is_said_while_tools_run_comes_after_their_results() {
    check(
        "
        tool look pure
        rule allow look
        user what is there?
        start
        says looking
        calls c1 look {} & c2 look {}
        replies 10/5
        c1 gives a sea
        steer and name it
        see
        c2 gives a ship
        see
        ",
        expect![[r#"
            start
              harness_start
              → ask
            says looking
              text text looking
            calls c1 look {} & c2 look {}
              tool_call c1 look {}
              tool_call c2 look {}
            replies 10/5
              usage 10/5
              tool_call c1 look {}
              → run c1
              tool_call c2 look {}
              → run c2
            c1 gives a sea
              tool_result c1 "a sea"
            steer and name it
              user after r:usage:1: and name it
            see
              step, tools [look]
              user: what is there?
              assistant: looking; calls c1 look {}; calls c2 look {}
              tool c1: a sea
              tool c2: error no result yet
              user: and name it
            c2 gives a ship
              tool_result c2 "a ship"
              → ask
            see
              step, tools [look]
              user: what is there?
              assistant: looking; calls c1 look {}; calls c2 look {}
              tool c1: a sea
              tool c2: a ship
              user: and name it
        "#]],
    );
}

#[test]
fn a_model_that_has_said_nothing_is_asked_anew() {
    check(
        "
        user what is there?
        start
        steer in one word
        see
        says sea
        replies 10/5
        ",
        expect![[r#"
            start
              harness_start
              → ask
            steer in one word
              user after r:harness_start: in one word
              → ask
            see
              step, tools []
              user: what is there?
              user: in one word
            says sea
              text text sea
            replies 10/5
              usage 10/5
              harness_end done after 1
              → stop
              = "sea"
        "#]],
    );
}

#[test]
fn a_model_that_has_begun_to_speak_hears_it_next_and_its_answer_is_not_the_last() {
    check(
        "
        user what is there?
        start
        says a sea
        steer and what else?
        replies 10/5
        see
        says a ship
        replies 20/5
        ",
        expect![[r#"
            start
              harness_start
              → ask
            says a sea
              text text a sea
            steer and what else?
              user after r:harness_start: and what else?
            replies 10/5
              usage 10/5
              → ask
            see
              step, tools []
              user: what is there?
              assistant: a sea
              user: and what else?
            says a ship
              text text~2 a ship
            replies 20/5
              usage 20/5
              harness_end done after 2
              → stop
              = "a ship"
        "#]],
    );
}

#[test]
fn half_an_answer_is_thrown_away_and_the_next_one_hears_what_was_said() {
    check(
        "
        user what is there?
        start
        says a s
        steer and what else?
        resume
        see
        says a sea and a ship
        see
        replies 20/5
        ",
        expect![[r#"
            start
              harness_start
              → ask
            says a s
              text text a s
            steer and what else?
              user after r:harness_start: and what else?
            resume
              resumed
              model_retry 2, discards [text]: the process that asked the model died
              → ask
            see
              step, tools []
              user: what is there?
              user: and what else?
            says a sea and a ship
              text text~2 a sea and a ship
            see
              step, tools []
              user: what is there?
              user: and what else?
              assistant: a sea and a ship
            replies 20/5
              usage 20/5
              harness_end done after 1
              → stop
              = "a sea and a ship"
        "#]],
    );
}

#[test]
fn what_is_said_during_the_last_call_is_kept_for_the_next_turn() {
    check(
        "
        max 1
        tool look pure
        rule allow look
        user what is there?
        start
        calls c1 look {}
        replies 10/5
        c1 gives a sea
        says a sea
        steer go on
        replies 20/5
        steer still there?
        ",
        expect![[r#"
            start
              harness_start
              → ask
            calls c1 look {}
              tool_call c1 look {}
            replies 10/5
              usage 10/5
              tool_call c1 look {}
              → run c1
            c1 gives a sea
              tool_result c1 "a sea"
              → ask
            says a sea
              text text a sea
            steer go on
              user after r:usage:1: go on
            replies 20/5
              usage 20/5
              harness_end max_iterations after 2
              → stop
              = "a sea"
            steer still there?
              refused: run r has ended
        "#]],
    );
}

#[test]
fn while_a_person_is_asked_one_can_speak_too() {
    check(
        "
        tool look pure
        rule ask look
        user what is there?
        start
        calls c1 look {}
        replies 10/5
        steer look closely
        allow c1
        c1 gives a sea
        see
        says a sea
        replies 20/5
        ",
        expect![[r#"
            start
              harness_start
              → ask
            calls c1 look {}
              tool_call c1 look {}
            replies 10/5
              usage 10/5
              relay c1:permission permission: look: {ask: look} (agent) asks about this call {}
            steer look closely
              user after r:usage:1: look closely
            allow c1
              relay_resolved c1:permission yes by ann
              tool_call c1 look {}
              → run c1
            c1 gives a sea
              tool_result c1 "a sea"
              → ask
            see
              step, tools [look]
              user: what is there?
              assistant: calls c1 look {}
              tool c1: a sea
              user: look closely
            says a sea
              text text a sea
            replies 20/5
              usage 20/5
              harness_end done after 2
              → stop
              = "a sea"
        "#]],
    );
}

#[test]
fn a_delayed_call_hears_it_and_a_run_that_is_being_stopped_does_not() {
    check(
        "
        user what is there?
        start
        fails overloaded retry
        steer take your time
        see
        cancel graceful
        steer one more thing
        ",
        expect![[r#"
            start
              harness_start
              → ask
            fails overloaded retry
              model_retry 2 in 250 ms, discards []: the model said overloaded
              → wait 250
            steer take your time
              user after r:harness_start: take your time
            see
              step, tools []
              user: what is there?
              user: take your time
            cancel graceful
              cancel_requested graceful
              harness_end cancelled after 0
              → stop
              = cancelled: the agent was cancelled
            steer one more thing
              refused: run r has ended
        "#]],
    );
}

#[test]
fn a_final_answer_of_code_that_has_not_heard_it_is_not_taken() {
    check(
        "
        harness rlm
        user count
        start
        writes FINAL(1)
        replies 10/5
        steer count twice
        code gives 1
        see
        writes FINAL(2)
        replies 20/5
        code gives 2
        ",
        expect![[r#"
            start
              harness_start
              → ask
            writes FINAL(1)
              text text ```js
            FINAL(1)
            ```
            replies 10/5
              usage 10/5
              repl_input code FINAL(1)
              → evaluate code
            steer count twice
              user after r:usage:1: count twice
            code gives 1
              repl_output code 
            FINAL was not taken, for somebody said something meanwhile; it was: 1
              → ask
            see
              step, tools [], told You work by writing JavaScript. Each of your answers holds exactly one block fenced with ```js and ```; it is run, and you are told what it printed or what went wrong. It is the body of an async function: use `await`. What it declares at its top, or puts into `scope`, is there in your next answer. There are no files, no network, no timers and no imports; time stands still. In reach are:
              user: count
              assistant: ```js
            FINAL(1)
            ```
              user:  ⏎ FINAL was not taken, for somebody said something meanwhile; it was: 1
              user: count twice
            writes FINAL(2)
              text text~2 ```js
            FINAL(2)
            ```
            replies 20/5
              usage 20/5
              repl_input code~2 FINAL(2)
              → evaluate code~2
            code gives 2
              repl_output code~2  done
              text answer 2
              harness_end done after 2
              → stop
              = "2"
        "#]],
    );
}

#[test]
fn a_summary_that_was_begun_before_is_begun_anew() {
    check(
        "
        compact 100 keep 1
        tool look pure
        rule allow look
        user what is there?
        agent much
        user tell me
        start
        calls c1 look {}
        replies 200/5
        c1 gives a sea
        steer briefly
        see
        summary there is much
        see
        ",
        expect![[r#"
            start
              harness_start
              → ask
            calls c1 look {}
              tool_call c1 look {}
            replies 200/5
              usage 200/5
              tool_call c1 look {}
              → run c1
            c1 gives a sea
              tool_result c1 "a sea"
              → ask
            steer briefly
              user after r:usage:1: briefly
              → ask
            see
              summary, tools [], told Summarize the conversation below for whoever goes on with it. Keep every decision, fact, number, name, path, open question and promise; leave out small talk and what was superseded. Write plain text.
              user: user: what is there? ⏎ assistant: much ⏎ user: tell me ⏎ assistant:  ⏎   calls look({}) ⏎ look gave: a sea ⏎ 
            summary there is much
              summary summary of [msg:u0:user msg:a1/text msg:u2:user msg:r/step-1]: there is much
              usage 90/9
              history_compacted summary
              → ask
            see
              step, tools [look]
              user: there is much
              user: briefly
        "#]],
    );
}
