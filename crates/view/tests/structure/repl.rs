//! What the `repl` view shows, as tables.

use antiphon_testkit::history;
use antiphon_view::{Fold, Repl};
use expect_test::expect;

use super::{check, check_timed};

#[test]
fn a_turn_is_thought_code_output_and_the_answer_comes_last() {
    check_timed::<Repl>(
        r#"
        a  harness_start  agentId=rlm maxIterations=5
        a  reasoning      r "let me see. "
        a  text           t "First "
        a  text           t "step."
        a  usage          10 5 costUsd=0.1
        a  repl_input     c1 "print(1)" iteration=0
        a  repl_progress  c1 "1\n"
        a  repl_progress  c1 "warn\n" stderr
        a  usage          3 2
        a  repl_output    c1 "1\n" false durationMs=12
        a  text           t2 "Now I know."
        a  usage          20 6
        a  repl_input     c2 "FINAL(1)" iteration=1
        a  repl_output    c2 "" true truncated=true
        a  text           t3 "The answer "
        a  text           t3 "is 1."
        a  harness_end    done
        "#,
        &expect![[r#"
            runs:
              runId=a agentId=rlm depth=0 status=done maxIterations=5 startedAt=2027-01-15T08:00:00.000Z endedAt=2027-01-15T08:00:16.000Z durationMs=16000 answer=The answer is 1. own={inputTokens:33,outputTokens:13,costUsd:0.1} total={inputTokens:33,outputTokens:13,costUsd:0.1}
              turns:
                iteration=0 id=c1 phase=done reasoning=let me see.  text=First step. code=print(1) stdout=1\n stderr=warn\n output={stdout:1\n,durationMs:12,truncated:false,done:false} usage={inputTokens:13,outputTokens:7,costUsd:0.1} pending={}
                iteration=1 id=c2 phase=done text=Now I know. code=FINAL(1) output={stdout:,truncated:true,done:true} usage={inputTokens:20,outputTokens:6} pending={}
        "#]],
    );
}

#[test]
fn an_error_ends_a_turn_and_not_the_run_and_children_keep_their_turn() {
    check::<Repl>(
        r#"
        a     harness_start
        a     text         t "no code here"
        a     error        "no code block"
        a     text         t2 "now with code"
        a     repl_input   c1 "llm_query('x')"
        b^c1  harness_start depth=1
        b     text         s "child thinks"
        b     usage        7 7
        b     harness_end  done
        a     repl_output  c1 "" false error="boom"
        a     harness_end  max_iterations
        "#,
        &expect![[r#"
            runs:
              runId=a depth=0 status=max_iterations own={inputTokens:0,outputTokens:0} total={inputTokens:7,outputTokens:7}
              turns:
                iteration=0 phase=error text=no code here error=no code block usage={inputTokens:0,outputTokens:0} pending={}
                iteration=1 id=c1 phase=error text=now with code code=llm_query('x') output={stdout:,error:boom,truncated:false,done:false} usage={inputTokens:0,outputTokens:0} pending={} children=[b]
              runId=b parentId=c1 within={runId:a,turn:1} depth=1 status=done own={inputTokens:7,outputTokens:7} total={inputTokens:7,outputTokens:7}
              turns:
                iteration=0 phase=thinking text=child thinks usage={inputTokens:7,outputTokens:7} pending={}
        "#]],
    );
}

#[test]
fn late_output_goes_to_the_turn_it_came_from() {
    check::<Repl>(
        r#"
        a  repl_input     c1 "one"
        a  repl_output    c1 "" false
        a  repl_input     c2 "two"
        a  repl_progress  c1 "late"
        a  repl_progress  c2 "now"
        a  repl_input     c1 "one, again"
        "#,
        &expect![[r#"
            runs:
              runId=a depth=0 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=c1 phase=done code=one, again stdout=late output={stdout:,truncated:false,done:false} usage={inputTokens:0,outputTokens:0} pending={}
                iteration=1 id=c2 phase=executing code=two stdout=now usage={inputTokens:0,outputTokens:0} pending={}
        "#]],
    );
}

#[test]
fn output_before_its_code_keeps_a_turn_for_it() {
    check::<Repl>(
        r#"
        a  repl_output    c1 "early" false iteration=4
        a  repl_progress  c2 "p"
        a  repl_input     c1 "one"
        a  repl_input     c2 "two"
        "#,
        &expect![[r#"
            runs:
              runId=a depth=0 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=4 id=c1 phase=done code=one output={stdout:early,truncated:false,done:false} usage={inputTokens:0,outputTokens:0} pending={}
                iteration=1 id=c2 phase=executing code=two stdout=p usage={inputTokens:0,outputTokens:0} pending={}
        "#]],
    );
}

#[test]
fn a_request_is_pending_until_it_is_answered() {
    check::<Repl>(
        r#"
        a  repl_input      c1 "exec('rm')"
        a  relay           p permission x exec {"command":"rm"}
        a  relay           q permission y exec {"command":"ls"}
        -  relay_resolved  p true
        -  relay_resolved  nobody true
        "#,
        &expect![[r#"
            runs:
              runId=a depth=0 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=c1 phase=permission code=exec('rm') usage={inputTokens:0,outputTokens:0} pending={q:{tool:exec,prompt:{'command':'ls'}}}
        "#]],
    );
}

#[test]
fn totals_include_the_runs_inside_whenever_they_are_found() {
    check::<Repl>(
        r#"
        c^b1  usage       100 1
        c     repl_input  x "deep"
        b^a1  repl_input  b1 "mid"
        b     usage       10 1
        a     repl_input  a1 "top"
        c     usage       1000 1
        a     usage       1 1
        "#,
        &expect![[r#"
            runs:
              runId=c parentId=b1 within={runId:b,turn:0} depth=1 status=running own={inputTokens:1100,outputTokens:2} total={inputTokens:1100,outputTokens:2}
              turns:
                iteration=0 id=x phase=executing code=deep usage={inputTokens:1100,outputTokens:2} pending={}
              runId=b parentId=a1 within={runId:a,turn:0} depth=1 status=running own={inputTokens:10,outputTokens:1} total={inputTokens:1110,outputTokens:3}
              turns:
                iteration=0 id=b1 phase=executing code=mid usage={inputTokens:10,outputTokens:1} pending={} children=[c]
              runId=a depth=0 status=running own={inputTokens:1,outputTokens:1} total={inputTokens:1111,outputTokens:4}
              turns:
                iteration=0 id=a1 phase=executing code=top usage={inputTokens:1,outputTokens:1} pending={} children=[b]
        "#]],
    );
}

#[test]
fn a_run_inside_itself_stays_outside() {
    check::<Repl>(
        r#"
        a^c1  repl_input  c1 "one"
        b^c1  repl_input  c2 "two"
        d^c4  repl_input  c3 "three"
        e^c3  repl_input  c4 "four"
        "#,
        &expect![[r#"
            runs:
              runId=a parentId=c1 depth=0 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=c1 phase=executing code=one usage={inputTokens:0,outputTokens:0} pending={} children=[b]
              runId=b parentId=c1 within={runId:a,turn:0} depth=1 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=c2 phase=executing code=two usage={inputTokens:0,outputTokens:0} pending={}
              runId=d parentId=c4 depth=0 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=c3 phase=executing code=three usage={inputTokens:0,outputTokens:0} pending={} children=[e]
              runId=e parentId=c3 within={runId:d,turn:0} depth=1 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=c4 phase=executing code=four usage={inputTokens:0,outputTokens:0} pending={}
        "#]],
    );
}

#[test]
fn what_a_retry_discards_is_gone_and_agents_without_code_are_not_shown() {
    let events = history(
        r#"
        z  text         t "an agent without code"
        a  text         t "half"
        a  model_retry  2 ["t"]
        a  text         u "whole"
        a  repl_input   c "x"
        "#,
    );
    let fold = Fold::<Repl>::of(&events);
    let runs: Vec<_> = fold.view().walk().map(|(depth, run)| (depth, run.turns[0].text.as_str())).collect();
    assert_eq!(runs, [(0, "whole")]);
}

#[test]
fn equal_ids_of_two_runs_are_two_requests() {
    check::<Repl>(
        "
        a repl_input x one
        b repl_input x two
        a relay q question prompt=A
        b relay q question prompt=B
        a relay_resolved q true
        ",
        &expect![[r#"
            runs:
              runId=a depth=0 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=x phase=executing code=one usage={inputTokens:0,outputTokens:0} pending={}
              runId=b depth=0 status=running own={inputTokens:0,outputTokens:0} total={inputTokens:0,outputTokens:0}
              turns:
                iteration=0 id=x phase=permission code=two usage={inputTokens:0,outputTokens:0} pending={q:{prompt:B}}
        "#]],
    );
}
