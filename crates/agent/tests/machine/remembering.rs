//! Long conversations: what the model is shown of them, and summaries.

use expect_test::expect;

use crate::table::check;

#[test]
fn in_a_conversation_it_sees_all_that_was_said_before() {
    check(
        r#"
        user hello
        agent hi, who are you?
        user ann
        tool read read
        rule allow read
        start
        see
        says hi ann
        calls a read {}
        replies 10/5
        a gives 1
        see
        says done
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            see
              step, tools [read]
              user: hello
              assistant: hi, who are you?
              user: ann
            says hi ann
              text text hi ann
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
              step, tools [read]
              user: hello
              assistant: hi, who are you?
              user: ann
              assistant: hi ann; calls a read {}
              tool a: 1
            says done
              text text~2 done
            replies 10/5
              usage 10/5
              harness_end done after 2
              → stop
              = "done"
        "#]],
    );
}

#[test]
fn what_a_user_says_meanwhile_is_heard_at_the_next_step() {
    check(
        r#"
        user hello
        tool read read
        rule allow read
        start
        calls a read {}
        replies 10/5
        user and hurry
        a gives 1
        see
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
            user and hurry
              user and hurry
            a gives 1
              tool_result a 1
              → ask
            see
              step, tools [read]
              user: hello
              assistant: calls a read {}
              tool a: 1
              user: and hurry
        "#]],
    );
}

#[test]
fn a_subagent_in_the_same_branch_is_not_part_of_the_conversation() {
    check(
        r#"
        user hello
        event {"type":"tool_call","runId":"a9","parentId":"u0:user","id":"a9/c","name":"agent","input":{}}
        event {"type":"text","runId":"s9","parentId":"a9/c","id":"s9/text","content":"hidden"}
        event {"type":"summary","runId":"s9","id":"s9/summary~2","sources":["msg:s9/text"],"content":"hidden too"}
        event {"type":"tool_result","runId":"a9","id":"a9/c","name":"agent","output":"seen"}
        start
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            see
              step, tools []
              user: hello
              assistant: calls c agent {}
              tool c: seen
        "#]],
    );
}

#[test]
fn a_history_too_long_is_put_into_a_summary_whose_sources_are_kept() {
    check(
        r#"
        compact 100 keep 1
        tool read read
        rule allow read
        task read all
        start
        says one
        calls a read {}
        replies 50/5
        a gives 1
        says two
        calls b read {}
        replies 99/5
        b gives 2
        says three
        calls c read {}
        replies 100/5
        c gives 3
        see
        summary one and two were read
        see
        says all read
        replies 60/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says one
              text text one
            calls a read {}
              tool_call a read {}
            replies 50/5
              usage 50/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            says two
              text text~2 two
            calls b read {}
              tool_call b read {}
            replies 99/5
              usage 99/5
              tool_call b read {}
              → run b
            b gives 2
              tool_result b 2
              → ask
            says three
              text text~3 three
            calls c read {}
              tool_call c read {}
            replies 100/5
              usage 100/5
              tool_call c read {}
              → run c
            c gives 3
              tool_result c 3
              → ask
            see
              summary, tools [], told Summarize the conversation below for whoever goes on with it. Keep every decision, fact, number, name, path, open question and promise; leave out small talk and what was superseded. Write plain text.
              user: assistant: one ⏎   calls read({}) ⏎ read gave: 1 ⏎ assistant: two ⏎   calls read({}) ⏎ read gave: 2 ⏎ 
            summary one and two were read
              summary summary of [msg:r/step-1 msg:r/step-2]: one and two were read
              usage 90/9
              history_compacted summary
              → ask
            see
              step, tools [read]
              user: read all
              user: one and two were read
              assistant: three; calls c read {}
              tool c: 3
            says all read
              text text~4 all read
            replies 60/5
              usage 60/5
              harness_end done after 4
              → stop
              = "all read"
        "#]],
    );
}

#[test]
fn a_conversation_too_long_is_put_into_a_summary() {
    check(
        r#"
        user u1
        agent a1
        user u2
        agent a2
        user u3
        compact 100 keep 2
        tool read read
        rule allow read
        start
        calls a read {}
        replies 100/5
        a gives 1
        see
        summary they said u1 to a2
        see
        says done
        replies 60/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 100/5
              usage 100/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            see
              summary, tools [], told Summarize the conversation below for whoever goes on with it. Keep every decision, fact, number, name, path, open question and promise; leave out small talk and what was superseded. Write plain text.
              user: user: u1 ⏎ assistant: a1 ⏎ user: u2 ⏎ assistant: a2 ⏎ 
            summary they said u1 to a2
              summary summary of [msg:u0:user msg:a1/text msg:u2:user msg:a3/text]: they said u1 to a2
              usage 90/9
              history_compacted summary
              → ask
            see
              step, tools [read]
              user: they said u1 to a2
              user: u3
              assistant: calls a read {}
              tool a: 1
            says done
              text text done
            replies 60/5
              usage 60/5
              harness_end done after 2
              → stop
              = "done"
        "#]],
    );
}

#[test]
fn a_summary_that_fails_is_not_tried_again_in_this_step() {
    check(
        r#"
        compact 100 keep 0
        tool read read
        rule allow read
        start
        calls a read {}
        replies 100/5
        a gives 1
        calls b read {}
        replies 100/5
        b gives 2
        summary fails
        see
        calls c read {}
        replies 100/5
        c gives 3
        see
        summary
        summary late
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 100/5
              usage 100/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            calls b read {}
              tool_call b read {}
            replies 100/5
              usage 100/5
              tool_call b read {}
              → run b
            b gives 2
              tool_result b 2
              → ask
            summary fails
              diagnostic no summary of what was said before could be made: the model said overloaded
              → ask
            see
              step, tools [read]
              assistant: calls a read {}
              tool a: 1
              assistant: calls b read {}
              tool b: 2
            calls c read {}
              tool_call c read {}
            replies 100/5
              usage 100/5
              tool_call c read {}
              → run c
            c gives 3
              tool_result c 3
              → ask
            see
              summary, tools [], told Summarize the conversation below for whoever goes on with it. Keep every decision, fact, number, name, path, open question and promise; leave out small talk and what was superseded. Write plain text.
              user: assistant:  ⏎   calls read({}) ⏎ read gave: 1 ⏎ assistant:  ⏎   calls read({}) ⏎ read gave: 2 ⏎ assistant:  ⏎   calls read({}) ⏎ read gave: 3 ⏎ 
            summary
              diagnostic no summary of what was said before could be made: the model said nothing
              → ask
            summary late
              refused: run r does not wait for that
        "#]],
    );
}

#[test]
fn a_summary_can_itself_be_summed_up() {
    check(
        r#"
        compact 100 keep 0
        tool read read
        rule allow read
        start
        calls a read {}
        replies 50/5
        a gives 1
        calls b read {}
        replies 100/5
        b gives 2
        summary first
        calls c read {}
        replies 100/5
        c gives 3
        see
        summary second
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 50/5
              usage 50/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            calls b read {}
              tool_call b read {}
            replies 100/5
              usage 100/5
              tool_call b read {}
              → run b
            b gives 2
              tool_result b 2
              → ask
            summary first
              summary summary of [msg:r/step-1 msg:r/step-2]: first
              usage 90/9
              history_compacted summary
              → ask
            calls c read {}
              tool_call c read {}
            replies 100/5
              usage 100/5
              tool_call c read {}
              → run c
            c gives 3
              tool_result c 3
              → ask
            see
              summary, tools [], told Summarize the conversation below for whoever goes on with it. Keep every decision, fact, number, name, path, open question and promise; leave out small talk and what was superseded. Write plain text.
              user: user: first ⏎ assistant:  ⏎   calls read({}) ⏎ read gave: 3 ⏎ 
            summary second
              summary summary~2 of [msg:r/summary msg:r/step-3]: second
              usage 90/9
              history_compacted summary~2
              → ask
            see
              step, tools [read]
              user: second
        "#]],
    );
}

#[test]
fn no_summary_is_taken_that_nobody_asked_for() {
    check(
        r#"
        start
        summary of nothing
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            summary of nothing
              refused: run r does not wait for that
        "#]],
    );
}

#[test]
fn a_summary_is_not_waited_for_when_it_is_cancelled() {
    check(
        r#"
        compact 100 keep 0
        tool read read
        rule allow read
        start
        calls a read {}
        replies 100/5
        a gives 1
        calls b read {}
        replies 100/5
        b gives 2
        cancel now
        summary late
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {}
              tool_call a read {}
            replies 100/5
              usage 100/5
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
            calls b read {}
              tool_call b read {}
            replies 100/5
              usage 100/5
              tool_call b read {}
              → run b
            b gives 2
              tool_result b 2
              → ask
            cancel now
              cancel_requested now
              harness_end cancelled after 2
              → stop
              = cancelled: the agent was cancelled
            summary late
              refused: run r has ended
        "#]],
    );
}

#[test]
fn without_a_word_about_summaries_one_is_made_when_the_context_is_four_fifths_full() {
    check(
        r#"
        user u1
        agent a1
        user u2
        agent a2
        user u3
        context 100
        tool read read
        rule allow read
        start
        calls a read {"n":1}
        replies 79/5
        a gives 1
        calls b read {"n":2}
        replies 80/5
        b gives 2
        summary they said u1 and a1 and u2
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {"n":1}
              tool_call a read {"n":1}
            replies 79/5
              usage 79/5
              tool_call a read {"n":1}
              → run a
            a gives 1
              tool_result a 1
              → ask
            calls b read {"n":2}
              tool_call b read {"n":2}
            replies 80/5
              usage 80/5
              tool_call b read {"n":2}
              → run b
            b gives 2
              tool_result b 2
              → ask
            summary they said u1 and a1 and u2
              summary summary of [msg:u0:user msg:a1/text msg:u2:user]: they said u1 and a1 and u2
              usage 90/9
              history_compacted summary
              → ask
            see
              step, tools [read]
              user: they said u1 and a1 and u2
              assistant: a2
              user: u3
              assistant: calls a read {"n":1}
              tool a: 1
              assistant: calls b read {"n":2}
              tool b: 2
        "#]],
    );
}

#[test]
fn half_an_answer_of_a_turn_that_was_cut_off_is_shown_to_the_next() {
    check(
        r#"
        user hello
        event {"type":"harness_start","runId":"a9","parentId":"u0:user"}
        event {"type":"text","runId":"a9","id":"a9/text","content":"discarded"}
        event {"type":"model_retry","runId":"a9","attempt":2,"discards":["a9/text"],"reason":"crash"}
        event {"type":"text","runId":"a9","id":"a9/text~2","content":"let me see"}
        event {"type":"tool_call","runId":"a9","id":"a9/c","name":"bash","input":{}}
        event {"type":"usage","runId":"a9","inputTokens":1,"outputTokens":1}
        event {"type":"tool_result","runId":"a9","id":"a9/c","name":"bash","output":{"error":"cut off"},"isError":true}
        event {"type":"harness_end","runId":"a9","reason":"cancelled"}
        event {"type":"user","runId":"u9","parentId":"a9:harness_end","content":"go on"}
        start
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            see
              step, tools []
              user: hello
              assistant: let me see; calls c bash {}
              tool c: error {"error":"cut off"}
              user: go on
        "#]],
    );
}
