//! What the `risk` view shows, as tables.

use antiphon_testkit::history;
use antiphon_view::{Fold, Risk};
use expect_test::{Expect, expect};

use super::{check_timed, folded};

/// One line for each step, after checking the laws.
#[track_caller]
fn check(table: &str, expected: &Expect) {
    let events = history(table);
    let fold = Fold::<Risk>::of(&events);
    folded::<Risk>(&events);
    let word = |value| serde_json::to_value(value).expect("JSON").as_str().unwrap_or("-").to_owned();
    let mut drawn = String::new();
    for step in fold.view().steps() {
        let (kind, state) = (word(serde_json::json!(step.kind)), word(serde_json::json!(step.state)));
        let (effect, then) = (word(serde_json::json!(step.effect)), word(serde_json::json!(step.then)));
        let why = step.why.as_deref().unwrap_or("");
        let line = format!("{kind} {} {state}, effect {effect}, then {then}: {why}", step.id);
        drawn.push_str(line.trim_end());
        drawn.push('\n');
    }
    let counts = fold.view().counts();
    let in_flight = fold.view().in_flight().count() as u64;
    assert_eq!(
        (counts.in_flight, counts.in_flight),
        (in_flight, counts.run_again + counts.ask + counts.resume + counts.wait)
    );
    expected.assert_eq(&drawn);
}

#[test]
fn a_turn_is_recorded_step_by_step() {
    check_timed::<Risk>(
        r#"
        a  text         t "I will look."
        a  tool_call    c read {"path":"x"}
        a  usage        1 1
        a  relay        p permission c read
        -  relay_resolved  p true
        a  tool_call    c read {"path":"x"}
        a  tool_result  c "text"
        a  text         u "It says"
        "#,
        &expect![[r#"
            counts={recorded:3,inFlight:1,unknown:0,runAgain:1,ask:0,resume:0,wait:0}
            steps:
              kind=model id=1 runId=a state=recorded startedAt=2027-01-15T08:00:00.000Z endedAt=2027-01-15T08:00:02.000Z
              kind=tool id=c runId=a name=read effect=read state=recorded startedAt=2027-01-15T08:00:01.000Z endedAt=2027-01-15T08:00:06.000Z
              kind=relay id=p runId=a name=read effect=human state=recorded startedAt=2027-01-15T08:00:03.000Z endedAt=2027-01-15T08:00:04.000Z
              kind=model id=2 runId=a state=in_flight then=run_again why=the answer is cut off; the model is asked again and what it said is discarded startedAt=2027-01-15T08:00:07.000Z
        "#]],
    );
}

#[test]
fn a_tool_runs_again_only_if_it_changes_nothing() {
    check(
        r#"
        a  tool_call      proposed write
        a  tool_call      r read
        a  tool_call      r read
        a  tool_call      w bash
        a  tool_call      w bash
        a  tool_call      x anything
        a  tool_progress  p x "started"
        a  tool_call      s helper {} callType=sub_agent
        a  tool_progress  q s "started"
        a  tool_call      i pay {} idempotent=true
        a  tool_call      i pay {} idempotent=true
        a  tool_call      k peek {} effect=read
        a  tool_progress  v k "started"
        a  tool_progress  o orphan "never called"
        a  tool_result    late "never called either"
        "#,
        &expect![[r#"
            tool proposed in_flight, effect write, then resume: proposed and not started; permission and execution follow when the agent goes on
            tool r in_flight, effect read, then run_again: it changes nothing, so it is run again as a new attempt
            tool w in_flight, effect write, then ask: it may have changed something already; a person decides
            tool x in_flight, effect -, then ask: it may have changed something already; a person decides
            tool s in_flight, effect -, then resume: it resumes inside itself; what is in flight there is listed on its own
            tool i in_flight, effect -, then run_again: it says that running it twice is like running it once
            tool k in_flight, effect read, then run_again: it changes nothing, so it is run again as a new attempt
            tool orphan in_flight, effect -, then ask: it may have changed something already; a person decides
            tool late recorded, effect -, then -:
        "#]],
    );
}

#[test]
fn nodes_follow_their_type() {
    check(
        r#"
        f  node_start  a nodeType=agent
        f  node_start  b nodeType=flow
        f  node_start  c nodeType=command
        f  node_start  d nodeType=function
        f  node_start  e nodeType=router
        f  node_start  g nodeType=human
        f  node_start  h nodeType=unheard_of
        f  node_start  i nodeType=command effect=pure
        f  interrupt   c guardrail_violation
        f  interrupt   nobody error
        f  node_end    d
        f  node_end    never_begun
        "#,
        &expect![[r#"
            node a:1:1 in_flight, effect -, then resume: it resumes inside itself; what is in flight there is listed on its own
            node b:1:1 in_flight, effect -, then resume: it resumes inside itself; what is in flight there is listed on its own
            node c:1:1 in_flight, effect write, then wait: it waits for a person, and goes on waiting
            node d:1:1 recorded, effect write, then -:
            node e:1:1 in_flight, effect pure, then run_again: it changes nothing, so it is run again as a new attempt
            node g:1:1 in_flight, effect human, then wait: a person is asked, and the question stays open
            node h:1:1 in_flight, effect -, then ask: it may have changed something already; a person decides
            node i:1:1 in_flight, effect pure, then run_again: it changes nothing, so it is run again as a new attempt
            node never_begun:1:1 recorded, effect -, then -:
        "#]],
    );
}

#[test]
fn an_attempt_that_was_overtaken_or_in_doubt_is_unknown() {
    check(
        r#"
        f  node_start  a 1 1
        f  node_start  a 1 1
        f  node_start  a 1 2
        f  node_retry  a 2
        f  node_start  a 1 3
        f  node_end    a FAILED null attempt=3 error={"code":"in_doubt","message":"?"}
        "#,
        &expect![[r#"
            node a:1:1 unknown, effect write, then -: it was begun again before its end was told
            node a:1:2 recorded, effect write, then -:
            node a:1:3 unknown, effect write, then -: nobody knows whether it was done
        "#]],
    );
}

#[test]
fn when_a_run_ends_what_is_open_in_it_is_unknown_and_requests_are_closed() {
    check(
        r#"
        a  reasoning    r "hm"
        a  tool_call    c bash
        a  repl_input   x "code"
        a  repl_input   x "code"
        a  repl_input   y "more"
        a  repl_output  y
        a  relay        p question
        b  text         t "another run"
        a  harness_end  cancelled
        a  tool_result  c "too late"
        "#,
        &expect![[r#"
            model 1 recorded, effect -, then -: its run is over, and what it said so far is kept
            tool c recorded, effect write, then -:
            code x unknown, effect -, then -: its run ended before its end was told
            code y recorded, effect -, then -:
            relay p recorded, effect human, then -: its run is over, and nobody waits for an answer
            model 1 in_flight, effect -, then run_again: the answer is cut off; the model is asked again and what it said is discarded
        "#]],
    );
}

#[test]
fn a_model_call_that_is_made_again_is_over() {
    check(
        r#"
        a  text         t "half"
        a  text         t "way"
        a  tool_call    c bash
        a  model_retry  2 ["t","c"]
        a  usage        1 1
        a  text         u "whole"
        "#,
        &expect![[r#"
            model 1 recorded, effect -, then -: discarded; the model is asked again
            tool c recorded, effect write, then -: discarded; the model is asked again
            model 2 in_flight, effect -, then run_again: the answer is cut off; the model is asked again and what it said is discarded
        "#]],
    );
}

#[test]
fn a_model_call_without_an_agent_around_it_is_over_when_it_fails() {
    check(
        "
        p  text          t half
        p  error         overloaded
        a  harness_start
        a  text          u half
        a  error         overloaded
        ",
        &expect![[r#"
            model 1 recorded, effect -, then -: it failed, and what it said so far is kept
            model 1 in_flight, effect -, then run_again: the answer is cut off; the model is asked again and what it said is discarded
        "#]],
    );
}
