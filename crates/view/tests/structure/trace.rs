//! What the `trace` view shows, as tables.

use antiphon_testkit::history;
use antiphon_view::{Fold, Traces};
use expect_test::expect;

use super::{check, check_timed};

#[test]
fn a_turn_holds_iterations_and_these_hold_tools() {
    check_timed::<Traces>(
        r#"
        u  user           "go" traceId=t spanId=s0
        a  harness_start  traceId=t spanId=s1 parentSpanId=s0 agentId=lead
        a  reasoning      r "hm" traceId=t spanId=s2 parentSpanId=s1
        a  tool_call      c bash traceId=t spanId=s2 parentSpanId=s1
        a  usage          1 1 traceId=t spanId=s2
        a  tool_call      c bash traceId=t spanId=s3 parentSpanId=s2
        a  tool_result    c "no" isError=true traceId=t
        a  harness_end    done traceId=t spanId=s1
        "#,
        &expect![[r#"
            traces:
              traceId=t startedAt=2027-01-15T08:00:00.000Z lastAt=2027-01-15T08:00:07.000Z durationMs=7000
            spans:
              trace=0 spanId=s0 kind=input name=user placeholder=false status=ok startedAt=2027-01-15T08:00:00.000Z endedAt=2027-01-15T08:00:00.000Z durationMs=0 events=1
              trace=0 spanId=s1 parent=0 kind=turn name=lead placeholder=false status=ok startedAt=2027-01-15T08:00:01.000Z endedAt=2027-01-15T08:00:07.000Z durationMs=6000 events=2
              trace=0 spanId=s2 parent=1 kind=iteration placeholder=false status=ok startedAt=2027-01-15T08:00:02.000Z endedAt=2027-01-15T08:00:04.000Z durationMs=2000 events=3
              trace=0 spanId=s3 parent=2 kind=tool name=bash placeholder=false status=error startedAt=2027-01-15T08:00:05.000Z endedAt=2027-01-15T08:00:06.000Z durationMs=1000 events=1
              annotations:
                kind=tool_result id=c count=1 at=2027-01-15T08:00:06.000Z
        "#]],
    );
}

#[test]
fn events_without_a_span_annotate_their_call_else_the_iteration_else_the_turn() {
    check::<Traces>(
        r#"
        a  text           x "before all" traceId=t
        a  harness_start  traceId=t spanId=s1
        a  error          "early" traceId=t
        a  text           x "1" traceId=t spanId=s2 parentSpanId=s1
        a  text           y "2" traceId=t
        a  text           y "3" traceId=t
        a  tool_call      c bash traceId=t spanId=s3 parentSpanId=s2
        a  relay          p permission c
        -  relay_resolved p true
        a  tool_progress  g c "half"
        a  usage          1 1
        b  text           z "nobody knows"
        a  error          "late"
        "#,
        &expect![[r#"
            traces:
              traceId=t
              annotations:
                kind=text id=x count=1
            spans:
              trace=0 spanId=s1 kind=turn placeholder=false status=open events=1
              annotations:
                kind=error count=2
              trace=0 spanId=s2 parent=0 kind=iteration placeholder=false status=ok events=1
              annotations:
                kind=text id=y count=2
                kind=usage count=1
              trace=0 spanId=s3 parent=1 kind=tool name=bash placeholder=false status=open events=1
              annotations:
                kind=relay id=p count=1
                kind=relay_resolved id=p count=1
                kind=tool_progress id=c count=1
        "#]],
    );
}

#[test]
fn a_parent_that_never_appears_keeps_its_place_and_one_that_does_takes_it() {
    check::<Traces>(
        r#"
        a  text           x "1" traceId=t spanId=s3 parentSpanId=s2
        a  usage          1 1 traceId=t spanId=s4 parentSpanId=s9
        a  harness_start  traceId=t spanId=s2 parentSpanId=s1
        "#,
        &expect![[r#"
            traces:
              traceId=t
            spans:
              trace=0 spanId=s3 parent=1 kind=iteration placeholder=false status=open events=1
              trace=0 spanId=s2 parent=4 kind=turn placeholder=false status=open events=1
              trace=0 spanId=s4 parent=3 kind=iteration placeholder=false status=ok events=1
              trace=0 spanId=s9 placeholder=true status=open events=0
              trace=0 spanId=s1 placeholder=true status=open events=0
        "#]],
    );
}

#[test]
fn the_same_span_in_two_traces_is_two_spans() {
    check::<Traces>(
        r#"
        a  harness_start  traceId=t spanId=s1
        b  harness_start  traceId=u spanId=s1
        b  text           x "1" traceId=u
        a  harness_end    error traceId=t
        "#,
        &expect![[r#"
            traces:
              traceId=t
              traceId=u
            spans:
              trace=0 spanId=s1 kind=turn placeholder=false status=error events=1
              annotations:
                kind=harness_end count=1
              trace=1 spanId=s1 kind=turn placeholder=false status=open events=1
              annotations:
                kind=text id=x count=1
        "#]],
    );
}

#[test]
fn flows_and_their_nodes_are_spans_too() {
    check::<Traces>(
        r#"
        f  run_start   report traceId=t spanId=s1
        f  node_start  n traceId=t spanId=s2 parentSpanId=s1
        f  node_end    n FAILED traceId=t spanId=s2
        f  run_end     FAILED traceId=t spanId=s1
        "#,
        &expect![[r#"
            traces:
              traceId=t
            spans:
              trace=0 spanId=s1 kind=turn name=report placeholder=false status=error events=2
              trace=0 spanId=s2 parent=0 kind=node name=n placeholder=false status=error events=2
        "#]],
    );
}

#[test]
fn spans_that_would_contain_themselves_stand_side_by_side() {
    check::<Traces>(
        r#"
        a  text  x "1" traceId=t spanId=s1 parentSpanId=s1
        a  text  x "1" traceId=t spanId=s2 parentSpanId=s3
        a  text  x "1" traceId=t spanId=s3 parentSpanId=s2
        "#,
        &expect![[r#"
            traces:
              traceId=t
            spans:
              trace=0 spanId=s1 kind=iteration placeholder=false status=open events=1
              trace=0 spanId=s2 parent=2 kind=iteration placeholder=false status=open events=1
              trace=0 spanId=s3 kind=iteration placeholder=false status=open events=1
        "#]],
    );
}

#[test]
fn a_parent_is_not_exchanged_for_another() {
    let events = history(
        "a text x hi traceId=t spanId=s1 parentSpanId=s2\na text x hi traceId=t spanId=s1 parentSpanId=s3",
    );
    let fold = Fold::<Traces>::of(&events);
    let walk: Vec<_> = fold.view().walk().map(|(depth, span)| (depth, span.span_id.to_string())).collect();
    assert_eq!(walk, [(0, "s2".to_owned()), (1, "s1".to_owned())]);
}

#[test]
fn a_trace_ends_with_its_latest_moment_not_with_its_last_event() {
    check::<Traces>(
        "
        a harness_start traceId=t spanId=s at=2027-01-15T08:00:00.000Z
        a tool_call c read traceId=t spanId=r parentSpanId=s at=2027-01-15T08:00:01.000Z
        a tool_result c 1 traceId=t spanId=r at=2027-01-15T08:00:05.000Z
        a text x late traceId=t spanId=s at=2027-01-15T08:00:04.000Z
        ",
        &expect![[r#"
            traces:
              traceId=t startedAt=2027-01-15T08:00:00.000Z lastAt=2027-01-15T08:00:05.000Z durationMs=5000
            spans:
              trace=0 spanId=s kind=turn placeholder=false status=open startedAt=2027-01-15T08:00:00.000Z events=2
              trace=0 spanId=r parent=0 kind=tool name=read placeholder=false status=ok startedAt=2027-01-15T08:00:01.000Z endedAt=2027-01-15T08:00:05.000Z durationMs=4000 events=2
        "#]],
    );
}

#[test]
fn a_model_call_is_over_with_its_run() {
    check_timed::<Traces>(
        r#"
        a  harness_start  traceId=t spanId=s1
        b  harness_start  traceId=t spanId=s2
        a  text           x "1" traceId=t spanId=s3 parentSpanId=s1
        b  text           y "2" traceId=t spanId=s4 parentSpanId=s2
        a  text           z "3" traceId=t spanId=s5 parentSpanId=s1
        a  harness_end    error traceId=t spanId=s1
        b  harness_end    done
        b  usage          1 1 traceId=t spanId=s4
        "#,
        &expect![[r#"
            traces:
              traceId=t startedAt=2027-01-15T08:00:00.000Z lastAt=2027-01-15T08:00:07.000Z durationMs=7000
            spans:
              trace=0 spanId=s1 kind=turn placeholder=false status=error startedAt=2027-01-15T08:00:00.000Z endedAt=2027-01-15T08:00:05.000Z durationMs=5000 events=2
              trace=0 spanId=s2 kind=turn placeholder=false status=ok startedAt=2027-01-15T08:00:01.000Z endedAt=2027-01-15T08:00:06.000Z durationMs=5000 events=1
              trace=0 spanId=s3 parent=0 kind=iteration placeholder=false status=error startedAt=2027-01-15T08:00:02.000Z endedAt=2027-01-15T08:00:05.000Z durationMs=3000 events=1
              trace=0 spanId=s4 parent=1 kind=iteration placeholder=false status=ok startedAt=2027-01-15T08:00:03.000Z endedAt=2027-01-15T08:00:06.000Z durationMs=3000 events=2
              annotations:
                kind=harness_end count=1 at=2027-01-15T08:00:06.000Z
              trace=0 spanId=s5 parent=0 kind=iteration placeholder=false status=error startedAt=2027-01-15T08:00:04.000Z endedAt=2027-01-15T08:00:05.000Z durationMs=1000 events=1
        "#]],
    );
}
