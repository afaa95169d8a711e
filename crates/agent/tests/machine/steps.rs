//! One step after another: what the model says, the calls it makes, what becomes of them.

use expect_test::expect;

use crate::table::check;

#[test]
fn a_model_that_only_speaks_is_done() {
    check(
        r#"
        task say hello
        start
        thinks they want a greeting
        signs s1
        says hel
        says lo
        see
        replies 10/5
        says more
        start
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            thinks they want a greeting
              reasoning reasoning they want a greeting
            signs s1
              reasoning reasoning signed s1
            says hel
              text text hel
            says lo
              text text lo
            see
              step, tools []
              user: say hello
              assistant: (they want a greeting signed s1); hello
            replies 10/5
              usage 10/5
              harness_end done after 1
              → stop
              = "hello"
            says more
              refused: run r has ended
            start
              refused: run r has ended
        "#]],
    );
}

#[test]
fn a_step_is_said_proposed_used_started_and_answered_in_this_order() {
    check(
        r#"
        tool bash write
        rule allow bash
        task count the files
        start
        thinks I look
        says let me see
        calls c1 bash {"command":"ls | wc -l"}
        replies 10/5
        c1 reports "12"
        c1 gives "12 files"
        see
        says there are 12
        replies 20/6
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            thinks I look
              reasoning reasoning I look
            says let me see
              text text let me see
            calls c1 bash {"command":"ls | wc -l"}
              tool_call c1 bash {"command":"ls | wc -l"}
            replies 10/5
              usage 10/5
              tool_call c1 bash {"command":"ls | wc -l"}
              → run c1
            c1 reports "12"
              tool_progress c1 "12"
            c1 gives "12 files"
              tool_result c1 "12 files"
              → ask
            see
              step, tools [bash]
              user: count the files
              assistant: (I look); let me see; calls c1 bash {"command":"ls | wc -l"}
              tool c1: 12 files
            says there are 12
              text text~2 there are 12
            replies 20/6
              usage 20/6
              harness_end done after 2
              → stop
              = "there are 12"
        "#]],
    );
}

#[test]
fn parallel_calls_start_together_and_their_results_come_as_they_are_there() {
    check(
        r#"
        tool read read
        rule allow read
        start
        calls a read {"path":"a"} & b read {"path":"b"} & c read {"path":"c"}
        replies 10/5
        c gives "C"
        a gives "A"
        c gives "C again"
        b fails no such file
        see
        says all read
        replies 30/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {"path":"a"} & b read {"path":"b"} & c read {"path":"c"}
              tool_call a read {"path":"a"}
              tool_call b read {"path":"b"}
              tool_call c read {"path":"c"}
            replies 10/5
              usage 10/5
              tool_call a read {"path":"a"}
              → run a
              tool_call b read {"path":"b"}
              → run b
              tool_call c read {"path":"c"}
              → run c
            c gives "C"
              tool_result c "C"
            a gives "A"
              tool_result a "A"
            c gives "C again"
              refused: run r does not wait for that
            b fails no such file
              tool_result b error {"error":"no such file","code":"failed"}
              → ask
            see
              step, tools [read]
              assistant: calls a read {"path":"a"}; calls b read {"path":"b"}; calls c read {"path":"c"}
              tool a: A
              tool b: error {"error":"no such file","code":"failed"}
              tool c: C
            says all read
              text text all read
            replies 30/5
              usage 30/5
              harness_end done after 2
              → stop
              = "all read"
        "#]],
    );
}

#[test]
fn as_many_calls_run_at_once_as_may_and_the_next_starts_when_one_is_done() {
    check(
        r#"
        tool read read
        rule allow read
        limit max_parallel_tools 2
        start
        calls a read {} & b read {} & c read {}
        replies 10/5
        b gives 1
        a gives 2
        c gives 3
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {} & b read {} & c read {}
              tool_call a read {}
              tool_call b read {}
              tool_call c read {}
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
              tool_call b read {}
              → run b
            b gives 1
              tool_result b 1
              tool_call c read {}
              → run c
            a gives 2
              tool_result a 2
            c gives 3
              tool_result c 3
              → ask
        "#]],
    );
}

#[test]
fn calls_beyond_the_bound_of_a_step_are_not_made() {
    check(
        r#"
        tool read read
        rule allow read
        limit max_calls 1
        start
        calls a read {} & b read {}
        replies 10/5
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
              tool_result b error {"error":"at most 1 calls are made in one step; call it again","code":"failed"}
              tool_call a read {}
              → run a
            a gives 1
              tool_result a 1
              → ask
        "#]],
    );
}

#[test]
fn a_tool_nobody_knows_gives_an_error_and_the_loop_goes_on() {
    check(
        r#"
        tool read read
        tool write write
        rule allow *
        start
        calls a raed {} & b dance {}
        replies 10/5
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a raed {} & b dance {}
              tool_call a raed {}
              tool_call b dance {}
            replies 10/5
              usage 10/5
              tool_result a error {"error":"there is no tool `raed`; did you mean `read`?","code":"schema"}
              tool_result b error {"error":"there is no tool `dance`; there are read, write","code":"schema"}
              → ask
            see
              step, tools [read write]
              assistant: calls a raed {}; calls b dance {}
              tool a: error {"error":"there is no tool `raed`; did you mean `read`?","code":"schema"}
              tool b: error {"error":"there is no tool `dance`; there are read, write","code":"schema"}
        "#]],
    );
}

#[test]
fn arguments_that_are_no_json_are_answered_without_asking_anybody() {
    check(
        r#"
        tool bash write
        start
        calls a bash {"command": & b bash [1] & c bash "ls"
        replies 10/5
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a bash {"command": & b bash [1] & c bash "ls"
              tool_call a bash {"__toolParseError":true,"parseError":"EOF while parsing a value at line 1 column 11","rawArguments":"{\"command\":"}
              tool_call b bash {"__toolParseError":true,"parseError":"they are no JSON object","rawArguments":"[1]"}
              tool_call c bash {"__toolParseError":true,"parseError":"they are no JSON object","rawArguments":"\"ls\""}
            replies 10/5
              usage 10/5
              tool_result a error {"error":"the arguments could not be read as JSON: EOF while parsing a value at line 1 column 11","code":"schema"}
              tool_result b error {"error":"the arguments could not be read as JSON: they are no JSON object","code":"schema"}
              tool_result c error {"error":"the arguments could not be read as JSON: they are no JSON object","code":"schema"}
              → ask
            see
              step, tools [bash]
              assistant: calls a bash {"__toolParseError":true,"parseError":"EOF while parsing a value at line 1 column 11","rawArguments":"{\"command\":"}; calls b bash {"__toolParseError":true,"parseError":"they are no JSON object","rawArguments":"[1]"}; calls c bash {"__toolParseError":true,"parseError":"they are no JSON object","rawArguments":"\"ls\""}
              tool a: error {"error":"the arguments could not be read as JSON: EOF while parsing a value at line 1 column 11","code":"schema"}
              tool b: error {"error":"the arguments could not be read as JSON: they are no JSON object","code":"schema"}
              tool c: error {"error":"the arguments could not be read as JSON: they are no JSON object","code":"schema"}
        "#]],
    );
}

#[test]
fn no_arguments_are_an_empty_object() {
    check(
        r#"
        tool now pure
        rule allow now
        start
        calls a now & b now null & c now {}
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a now & b now null & c now {}
              tool_call a now {}
              tool_call b now {}
              tool_call c now {}
            replies 10/5
              usage 10/5
              tool_call a now {}
              → run a
              tool_call b now {}
              → run b
              tool_call c now {}
              → run c
        "#]],
    );
}

#[test]
fn arguments_are_held_against_the_schema_and_defaults_are_filled_in() {
    check(
        r#"
        tool read read {"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer","default":10},"how":{"type":"object","properties":{"raw":{"type":"boolean","default":true}}}},"required":["path"],"additionalProperties":false}
        rule ask read
        start
        calls a read {"path":1,"x":2} & b read {"path":"p","how":{}}
        replies 10/5
        allow b
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {"path":1,"x":2} & b read {"path":"p","how":{}}
              tool_call a read {"path":1,"x":2}
              tool_call b read {"path":"p","how":{}}
            replies 10/5
              usage 10/5
              tool_result a error {"error":"the arguments do not fit the schema of `read`: 1 is not of type \"string\" at `/path`; Additional properties are not allowed ('x' was unexpected) at ``","code":"schema"}
              relay b:permission permission: read: {ask: read} (agent) asks about this call {"path":"p","how":{"raw":true},"lines":10}
            allow b
              relay_resolved b:permission yes by ann
              tool_call b read {"path":"p","how":{"raw":true},"lines":10}
              → run b
        "#]],
    );
}

#[test]
fn an_id_that_a_vendor_uses_again_gets_a_number_and_the_vendor_its_own_back() {
    check(
        r#"
        tool read read
        rule allow read
        start
        calls a read {"n":1} & a read {"n":2}
        replies 10/5
        a gives 1
        a~2 gives 2
        calls a read {"n":3}
        replies 10/5
        a~3 gives 3
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a read {"n":1} & a read {"n":2}
              tool_call a read {"n":1}
              tool_call a~2 read {"n":2}
            replies 10/5
              usage 10/5
              tool_call a read {"n":1}
              → run a
              tool_call a~2 read {"n":2}
              → run a~2
            a gives 1
              tool_result a 1
            a~2 gives 2
              tool_result a~2 2
              → ask
            calls a read {"n":3}
              tool_call a~3 read {"n":3}
            replies 10/5
              usage 10/5
              tool_call a~3 read {"n":3}
              → run a~3
            a~3 gives 3
              tool_result a~3 3
              → ask
            see
              step, tools [read]
              assistant: calls a read {"n":1}; calls a_2 read {"n":2}
              tool a: 1
              tool a_2: 2
              assistant: calls a read {"n":3}
              tool a: 3
        "#]],
    );
}

#[test]
fn an_id_that_looks_like_a_number_of_ours_never_passes_for_a_call_that_was_let_through() {
    check(
        r#"
        tool bash write
        start
        calls a bash {"n":1} & a bash {"n":2} & a~2 bash {"n":3} & a~2 bash {"n":4}
        replies 10/5
        deny a
        deny a~2
        deny a~2~2
        deny a~2~3
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a bash {"n":1} & a bash {"n":2} & a~2 bash {"n":3} & a~2 bash {"n":4}
              tool_call a bash {"n":1}
              tool_call a~2 bash {"n":2}
              tool_call a~2~2 bash {"n":3}
              tool_call a~2~3 bash {"n":4}
            replies 10/5
              usage 10/5
              relay a:permission permission: bash: no rule allows this call {"n":1}
            deny a
              relay_resolved a:permission no by ann
              tool_result a error {"error":"denied: ann said no","code":"denied"}
              relay a~2:permission permission: bash: no rule allows this call {"n":2}
            deny a~2
              relay_resolved a~2:permission no by ann
              tool_result a~2 error {"error":"denied: ann said no","code":"denied"}
              relay a~2~2:permission permission: bash: no rule allows this call {"n":3}
            deny a~2~2
              relay_resolved a~2~2:permission no by ann
              tool_result a~2~2 error {"error":"denied: ann said no","code":"denied"}
              relay a~2~3:permission permission: bash: no rule allows this call {"n":4}
            deny a~2~3
              relay_resolved a~2~3:permission no by ann
              tool_result a~2~3 error {"error":"denied: ann said no","code":"denied"}
              → ask
            see
              step, tools [bash]
              assistant: calls a bash {"n":1}; calls a_2 bash {"n":2}; calls a~2 bash {"n":3}; calls a~2_2 bash {"n":4}
              tool a: error {"error":"denied: ann said no","code":"denied"}
              tool a_2: error {"error":"denied: ann said no","code":"denied"}
              tool a~2: error {"error":"denied: ann said no","code":"denied"}
              tool a~2_2: error {"error":"denied: ann said no","code":"denied"}
        "#]],
    );
}

#[test]
fn an_id_of_any_length_is_cut_and_stays_unique() {
    check(
        r#"
        tool read read
        rule allow read
        start
        calls xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx read {} & xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx read {}
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx read {} & xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx read {}
              tool_call xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx read {}
              tool_call xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~2 read {}
            replies 10/5
              usage 10/5
              tool_call xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx read {}
              → run xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
              tool_call xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~2 read {}
              → run xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx~2
        "#]],
    );
}

#[test]
fn thoughts_keep_their_signatures_apart() {
    check(
        r#"
        tool read read
        rule allow read
        start
        thinks one
        signs s1
        thinks two
        signs s2
        calls a read {}
        replies 10/5
        a gives 1
        see
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            thinks one
              reasoning reasoning one
            signs s1
              reasoning reasoning signed s1
            thinks two
              reasoning reasoning-2 two
            signs s2
              reasoning reasoning-2 signed s2
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
              assistant: (one signed s1); (two signed s2); calls a read {}
              tool a: 1
        "#]],
    );
}

#[test]
fn an_answer_that_was_cut_is_remarked() {
    check(
        r#"
        start
        says half of
        replies 10/5 cut
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            says half of
              text text half of
            replies 10/5 cut
              usage 10/5
              diagnostic the model ran into the bound on what it may write: its answer is cut
              harness_end done after 1
              → stop
              = "half of"
        "#]],
    );
}

#[test]
fn a_result_too_long_for_the_model_is_cut_with_a_notice_and_kept_whole() {
    check(
        r#"
        tool read read
        rule allow read
        limit max_result_chars 20
        start
        calls a read {} & b read {}
        replies 10/5
        a gives 0123456789abcdefghijKLMNOPQRSTUVWXYZ
        b gives [{"type":"text","text":"0123456789"},{"type":"text","text":"abcdefghijKLMNOPQRSTUVWXYZ"},{"type":"text","text":"more"}]
        see
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
            a gives 0123456789abcdefghijKLMNOPQRSTUVWXYZ
              tool_result a "0123456789abcdefghijKLMNOPQRSTUVWXYZ"
            b gives [{"type":"text","text":"0123456789"},{"type":"text","text":"abcdefghijKLMNOPQRSTUVWXYZ"},{"type":"text","text":"more"}]
              tool_result b [{"type":"text","text":"0123456789"},{"type":"text","text":"abcdefghijKLMNOPQRSTUVWXYZ"},{"type":"text","text":"more"}]
              → ask
            see
              step, tools [read]
              assistant: calls a read {}; calls b read {}
              tool a: 0123456789 ⏎ … 16 bytes left out; ask for less at a time to see them … ⏎ QRSTUVWXYZ
              tool b: 0123456789 ⏎ abcde ⏎ … 16 bytes left out; ask for less at a time to see them … ⏎ VWXYZ ⏎  ⏎ … 4 bytes left out; ask for less at a time to see them … ⏎ 
        "#]],
    );
}

#[test]
fn agents_are_called_as_deep_and_as_often_as_they_may_be() {
    check(
        r#"
        tool agent write
        rule allow agent
        limit max_agents 2
        start
        calls a agent {"task":"1"} & b agent {"task":"2"} & c agent {"task":"3"}
        replies 10/5
        a gives "one"
        lost b
        b gives "two"
        calls d agent {}
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a agent {"task":"1"} & b agent {"task":"2"} & c agent {"task":"3"}
              tool_call a agent {"task":"1"}
              tool_call b agent {"task":"2"}
              tool_call c agent {"task":"3"}
            replies 10/5
              usage 10/5
              tool_result c error {"error":"an agent may call 2 agents, and this one has","code":"failed"}
              tool_call a agent {"task":"1"}
              → spawn a
              tool_call b agent {"task":"2"}
              → spawn b
            a gives "one"
              tool_result a "one"
            lost b
              → again b
            b gives "two"
              tool_result b "two"
              → ask
            calls d agent {}
              tool_call d agent {}
            replies 10/5
              usage 10/5
              tool_result d error {"error":"an agent may call 2 agents, and this one has","code":"failed"}
              → ask
        "#]],
    );
}

#[test]
fn an_agent_too_deep_calls_no_other() {
    check(
        r#"
        tool agent write
        rule allow agent
        limit max_depth 2
        depth 2
        start
        calls a agent {}
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a agent {}
              tool_call a agent {}
            replies 10/5
              usage 10/5
              tool_result a error {"error":"agents may call agents 2 deep, and this one is at 2","code":"failed"}
              → ask
        "#]],
    );
}

#[test]
fn rules_hold_for_agents_and_questions_too() {
    check(
        r#"
        tool agent write
        tool ask write
        tool handoff write
        rule deny *
        start
        calls a agent {} & b ask {"question":"?"} & c handoff {"to":"z"}
        replies 10/5
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls a agent {} & b ask {"question":"?"} & c handoff {"to":"z"}
              tool_call a agent {}
              tool_call b ask {"question":"?"}
              tool_call c handoff {"to":"z"}
            replies 10/5
              usage 10/5
              tool_result a error {"error":"denied: agent: {deny: \"*\"} (agent) denies this call","code":"denied"}
              tool_result b error {"error":"denied: ask: {deny: \"*\"} (agent) denies this call","code":"denied"}
              tool_result c error {"error":"denied: handoff: {deny: \"*\"} (agent) denies this call","code":"denied"}
              → ask
        "#]],
    );
}

#[test]
fn work_is_handed_to_one_agent_after_the_others_have_finished() {
    check(
        r#"
        tool handoff write {"type":"object","properties":{"to":{"enum":["writer","tester"]},"message":{"type":"string"}},"required":["to"]}
        tool read read
        rule allow read
        limit max_parallel_tools 1
        start
        calls x handoff {"to":"nobody"} & a handoff {"to":"writer","message":"draft it"} & b handoff {"to":"tester"} & c read {} & d read {}
        replies 10/5
        c gives 1
        d gives 2
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            calls x handoff {"to":"nobody"} & a handoff {"to":"writer","message":"draft it"} & b handoff {"to":"tester"} & c read {} & d read {}
              tool_call x handoff {"to":"nobody"}
              tool_call a handoff {"to":"writer","message":"draft it"}
              tool_call b handoff {"to":"tester"}
              tool_call c read {}
              tool_call d read {}
            replies 10/5
              usage 10/5
              tool_result x error {"error":"the arguments do not fit the schema of `handoff`: \"nobody\" is not one of \"writer\" or \"tester\" at `/to`","code":"schema"}
              tool_result b error {"error":"the work can be handed to one agent at a time; the first handoff counts","code":"failed"}
              tool_call a handoff {"to":"writer","message":"draft it"}
              tool_call c read {}
              → run c
            c gives 1
              tool_result c 1
              tool_call d read {}
              → run d
            d gives 2
              tool_result d 2
              handoff to writer: draft it
              tool_result a "handed over to writer"
              harness_end done after 1
              → stop
              = {"handoff":"writer","message":"draft it"}
        "#]],
    );
}

#[test]
fn a_model_that_says_nothing_is_done() {
    check(
        r#"
        start
        replies 10/0
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            replies 10/0
              usage 10/0
              harness_end done after 1
              → stop
              = ""
        "#]],
    );
}

#[test]
fn what_nobody_waits_for_is_refused() {
    check(
        r#"
        tool read read
        rule allow read
        start
        start
        a gives 1
        a reports 1
        lost a
        allow a
        expire a
        calls a read {}
        a gives 1
        replies 10/5
        says too late
        replies 10/5
        fails overloaded retry
        "#,
        expect![[r#"
            start
              harness_start
              → ask
            start
              refused: run r does not wait for that
            a gives 1
              refused: run r does not wait for that
            a reports 1
              refused: run r does not wait for that
            lost a
              refused: run r does not wait for that
            allow a
              refused: relay r/a:permission is not pending: it was answered, it expired, or it never was
            expire a
              refused: relay r/a:permission is not pending: it was answered, it expired, or it never was
            calls a read {}
              tool_call a read {}
            a gives 1
              refused: run r does not wait for that
            replies 10/5
              usage 10/5
              tool_call a read {}
              → run a
            says too late
              refused: run r does not wait for that
            replies 10/5
              refused: run r does not wait for that
            fails overloaded retry
              refused: run r does not wait for that
        "#]],
    );
}
