//! The rule of readiness, as tables: a flow in one line, what happens, and what the scheduler does about it.

mod contribution;
mod table;

use expect_test::expect;
use table::check;

#[test]
fn a_chain_runs_one_after_the_other() {
    check(
        "a > b > c | start | finish a | finish b | finish c",
        expect![[r"
            start     run a
            finish a  run b
            finish b  run c
            finish c  end COMPLETED
        "]],
    );
}

#[test]
fn a_join_waits_for_all_its_sources() {
    check(
        "a > b > d, a > c > d | start | finish a | finish b | finish d | finish c | finish d",
        expect![[r"
            start     run a
            finish a  run b, run c
            finish b  wait
            finish d  refused: node d is not executing that attempt
            finish c  run d
            finish d  end COMPLETED
        "]],
    );
}

#[test]
fn an_exclusive_branch_joins_again_and_the_other_arm_is_skipped_as_far_as_it_goes() {
    check(
        "a >yes b > d > e, a >no c > c2 > d | start | finish a | finish b | finish d | finish e",
        expect![[r"
            start     run a
            finish a  skip c, skip c2, run b
            finish b  run d
            finish d  run e
            finish e  end COMPLETED
        "]],
    );
}

#[test]
fn a_condition_of_its_own_that_is_false_holds_a_join_back() {
    check(
        "a > c, b >no c > d | start | finish a | finish b",
        expect![[r"
            start     run a, run b
            finish a  wait
            finish b  skip c, skip d, end COMPLETED
        "]],
    );
}

#[test]
fn any_starts_at_the_first_live_edge_and_not_again_in_that_pass() {
    check(
        "a > c:any > d, b > c | start | finish b | finish c | finish a | finish d",
        expect![[r"
            start     run a, run b
            finish b  run c
            finish c  run d
            finish a  wait
            finish d  end COMPLETED
        "]],
    );
}

#[test]
fn a_count_starts_at_its_edge_and_is_skipped_when_out_of_reach() {
    check(
        "a > d:2, b > d, c > d | start | finish a | finish c | finish d | finish b",
        expect![[r"
            start     run a, run b, run c
            finish a  wait
            finish c  run d
            finish d  wait
            finish b  end COMPLETED
        "]],
    );
    check(
        "a >no d:2, b >no d, c > d | start | finish a | finish b | finish c",
        expect![[r"
            start     run a, run b, run c
            finish a  wait
            finish b  skip d
            finish c  end COMPLETED
        "]],
    );
}

#[test]
fn the_default_edge_is_taken_if_no_other_is() {
    check(
        "a >no b, a >else c | start | finish a | finish c",
        expect![[r"
            start     run a
            finish a  skip b, run c
            finish c  end COMPLETED
        "]],
    );
    check(
        "a >yes b, a >else c | start | finish a | finish b",
        expect![[r"
            start     run a
            finish a  skip c, run b
            finish b  end COMPLETED
        "]],
    );
}

#[test]
fn the_review_loop_of_the_seed_runs_as_its_authors_meant() {
    check(
        "research > write > review, review >1 write, review >2 format \
         | start | finish research | finish write | finish review | finish write | finish review | finish format",
        expect![[r"
            start            run research
            finish research  run write
            finish write     run review
            finish review    run write#2
            finish write     run review#2
            finish review    run format
            finish format    end COMPLETED
        "]],
    );
}

#[test]
fn a_way_out_of_a_loop_is_dead_only_when_the_loop_is_at_rest() {
    check(
        "a > b, b >1 a, b >no c > d:any, a > d \
         | start | finish a | finish d | finish b | finish a | finish d | finish b",
        expect![[r"
            start     run a
            finish a  run b, run d
            finish d  wait
            finish b  run a#2
            finish a  run b#2, run d#2
            finish d  wait
            finish b  skip c, end COMPLETED
        "]],
    );
}

/// Whichever of their back edges is declared first.
#[test]
fn a_way_out_of_two_loops_waits_for_what_the_inner_one_lets_go_of_in_the_outer_one() {
    let steps = "start | finish o | finish r | finish o | finish p | finish q | finish r | finish d";
    let outer = "r >1 o";
    let rest = "o >2 p, p > d, p > q, q >no p, o > r, q > r, r > d";
    for flow in [format!("o:entry, {outer}, {rest}"), format!("o:entry, {rest}, {outer}")] {
        let wanted = expect![[r"
            start     run o
            finish o  skip p, skip q, run r
            finish r  run o#2
            finish o  run p#2
            finish p  run q#2
            finish q  run r#2
            finish r  run d
            finish d  end COMPLETED
        "]];
        check(&format!("{flow} | {steps}"), wanted);
    }
}

#[test]
fn a_loop_is_at_rest_although_the_back_edge_of_another_has_fired() {
    check(
        "a:entry, a > c, a > b, b > d, b >else e, d >1 e, c >1 a, b >no a | start | finish a | finish c | finish b \
        | finish d | finish e | finish a | finish c | finish b | finish d",
        expect![[r"
            start     run a
            finish a  run c, run b
            finish c  wait
            finish b  run d
            finish d  run e
            finish e  run a#2
            finish a  run c#2, run b#2
            finish c  wait
            finish b  run d#2
            finish d  skip e, end COMPLETED
        "]],
    );
}

#[test]
fn a_loop_arms_the_joins_inside_it_again() {
    check(
        "s > a > j, s > b > j, j >1 s, j >2 end | start | finish s | finish a | finish b | finish j \
         | finish s | finish b | finish a | finish j | finish end",
        expect![[r"
            start       run s
            finish s    run a, run b
            finish a    wait
            finish b    run j
            finish j    run s#2
            finish s    run a#2, run b#2
            finish b    wait
            finish a    run j#2
            finish j    run end
            finish end  end COMPLETED
        "]],
    );
}

#[test]
fn a_fired_back_edge_waits_for_what_is_under_way_beyond_its_target() {
    check(
        "a > b, b >1 a, b > slow | start | finish a | finish b | finish slow | finish a | finish b | finish slow",
        expect![[r"
            start        run a
            finish a     run b
            finish b     run slow
            finish slow  run a#2
            finish a     run b#2
            finish b     run slow#2
            finish slow  end COMPLETED
        "]],
    );
}

#[test]
fn a_node_may_lead_back_to_itself() {
    check(
        "a >2 a > b | start | finish a | finish a | finish b",
        expect![[r"
            start     run a
            finish a  run b
            finish a  refused: node a is not executing that attempt
            finish b  end COMPLETED
        "]],
    );
    check(
        "a >1 a | start | finish a | finish a",
        expect![[r"
            start     run a
            finish a  run a#2
            finish a  end COMPLETED
        "]],
    );
}

#[test]
fn a_back_edge_starts_its_target_again_also_if_that_had_failed_and_no_other_node_that_had() {
    check(
        "a > t > s:any, a > x > s >1 t | start | finish a | fail t | finish x | finish s | finish t | finish s",
        expect![[r#"
            start     run a
            finish a  run t, run x
            fail t    wait
            finish x  run s
            finish s  run t#2, run s#2
            finish t  wait
            finish s  end COMPLETED
        "#]],
    );
    check(
        "a > f > g, a > s >1 a | start | finish a | fail f | finish s | finish a | finish s",
        expect![[r#"
            start     run a
            finish a  run f, run s
            fail f    wait
            finish s  run a#2
            finish a  run s#2
            finish s  end FAILED node_failed; g: it waits for `f`, which failed
        "#]],
    );
}

#[test]
fn several_back_edges_to_one_node_that_may_run_no_more_skip_it_once() {
    check(
        "start > draft:x2 > check > draft, draft > style > draft \
         | start | finish start | finish draft | finish check | finish style | finish draft | finish style | finish check",
        expect![[r#"
            start         run start
            finish start  run draft
            finish draft  run check, run style
            finish check  wait
            finish style  run draft#2
            finish draft  run check#2, run style#2
            finish style  wait
            finish check  skip draft, skip style, skip check, end COMPLETED
        "#]],
    );
    check(
        "limit6 a > b > e:x1 > d:any, a > d > b, d > e \
         | start | finish a | finish d | finish b | finish e | finish d | finish b",
        expect![[r#"
            start     run a
            finish a  run b, run d
            finish d  wait
            finish b  run e
            finish e  run b#2, run d#2
            finish d  wait
            finish b  skip e, end FAILED max_node_executions; b: it was ready, and the run stopped before it could start; e: it waits for `b`, which is not done; d: it was ready, and the run stopped before it could start
        "#]],
    );
}

#[test]
fn of_back_edges_that_fired_together_the_outermost_is_taken_and_covers_the_others() {
    check(
        "a > b >1 b >1 a | start | finish a | finish b | finish a | finish b",
        expect![[r#"
            start     run a
            finish a  run b
            finish b  run a#2
            finish a  run b#2
            finish b  end COMPLETED
        "#]],
    );
    check(
        "start > research > write > review >1 write, review >1 research \
         | start | finish start | finish research | finish write | finish review | finish research | finish write | finish review",
        expect![[r#"
            start            run start
            finish start     run research
            finish research  run write
            finish write     run review
            finish review    run research#2
            finish research  run write#2
            finish write     run review#2
            finish review    end COMPLETED
        "#]],
    );
    check(
        "limit9 a > b > e > d:any, a > d > b, d > e \
         | start | finish a | finish d | finish b | finish e | finish d | finish b | finish e",
        expect![[r#"
            start     run a
            finish a  run b, run d
            finish d  wait
            finish b  run e
            finish e  run b#2, run d#2
            finish d  wait
            finish b  run e#2
            finish e  run b#3, run d#3
        "#]],
    );
    check(
        "a > x > y > s > end, x > slow, s >1 y, s >1 x | start | finish a | finish x | finish y | finish s | finish slow \
         | finish end | finish x | finish y | finish s | finish slow | finish end",
        expect![[r#"
            start        run a
            finish a     run x
            finish x     run y, run slow
            finish y     run s
            finish s     run end
            finish slow  wait
            finish end   run x#2
            finish x     run y#2, run slow#2
            finish y     run s#2
            finish s     run end#2
            finish slow  wait
            finish end   end COMPLETED
        "#]],
    );
}

#[test]
fn a_back_edge_is_not_taken_any_more_once_its_source_is_to_run_again() {
    check(
        "a > x > s >1 x > slow, a > y > s, y > t >1 y | start | finish a | finish x | finish y | finish s | finish t \
         | finish slow | finish y | finish t | finish s",
        expect![[r#"
            start        run a
            finish a     run x, run y
            finish x     run slow
            finish y     run s, run t
            finish s     wait
            finish t     run y#2
            finish slow  wait
            finish y     run s#2, run t#2
            finish t     wait
            finish s     end COMPLETED
        "#]],
    );
    check(
        "a > x > s >1 x, a > y > s, y > t >1 y | start | finish a | finish x | finish y | finish t | finish s \
         | finish y | finish t | finish x | finish s",
        expect![[r#"
            start     run a
            finish a  run x, run y
            finish x  wait
            finish y  run s, run t
            finish t  wait
            finish s  run x#2, run y#2
            finish y  run t#2
            finish t  wait
            finish x  run s#2
            finish s  end COMPLETED
        "#]],
    );
}

#[test]
fn a_failure_leaves_its_dependents_pending_and_lets_the_rest_go_on() {
    check(
        "a > b > c, x > y | start | fail a | finish x | finish y",
        expect![[r"
            start     run a, run x
            fail a    wait
            finish x  run y
            finish y  end FAILED node_failed; b: it waits for `a`, which failed; c: it waits for `b`, which is not done
        "]],
    );
}

#[test]
fn fail_fast_cuts_everything_off() {
    check(
        "fail-fast a > b, x > y | start | fail a",
        expect![[r"
            start   run a, run x
            fail a  cancel x, end FAILED node_failed; b: it waits for `a`, which failed; y: it waits for `x`, which was cancelled
        "]],
    );
}

#[test]
fn fail_fast_reaches_into_a_map() {
    check(
        "fail-fast max1 each3 | start | finish 0 | fail 1",
        expect![[r#"
            start     run 0
            finish 0  run 1
            fail 1    end FAILED node_failed; 2: it was ready, and the run stopped before it could start
        "#]],
    );
    check(
        "fail-fast max2 each4 | start | fail 1",
        expect![[r#"
            start   run 0, run 1
            fail 1  cancel 0, end FAILED node_failed; 2: it was ready, and the run stopped before it could start; 3: it was ready, and the run stopped before it could start
        "#]],
    );
    check(
        "max1 each3 | start | fail 0 | finish 1 | finish 2",
        expect![[r#"
            start     run 0
            fail 0    run 1
            finish 1  run 2
            finish 2  end FAILED node_failed
        "#]],
    );
}

#[test]
fn time_without_a_process_is_no_time_at_work() {
    check(
        "a:pure > b | start | hours pass | patch | worked | hours pass | resume | lose a | finish a | worked",
        expect![[r#"
            start       run a
            hours pass  nobody is there
            patch       wait
            worked      1 ms
            hours pass  nobody is there
            resume      wait
            lose a      run a~2
            finish a    run b
            worked      6 ms
        "#]],
    );
}

#[test]
fn resuming_attempts_what_failed_once_more_and_nothing_else() {
    check(
        "a > b > c | start | finish a | fail b | resume | finish b | finish c",
        expect![[r"
            start     run a
            finish a  run b
            fail b    end FAILED node_failed; c: it waits for `b`, which failed
            resume    run b~2
            finish b  run c
            finish c  end COMPLETED
        "]],
    );
}

#[test]
fn what_failed_in_a_round_before_is_done_again_only_if_the_way_to_it_is_open_now() {
    check(
        "a >1 f > g, a > s >1 a | start | finish a | fail f | finish s | finish a | finish s | resume",
        expect![[r#"
            start     run a
            finish a  run f, run s
            fail f    wait
            finish s  run a#2
            finish a  run s#2
            finish s  end FAILED node_failed; g: it waits for `f`, which failed
            resume    skip f, skip g, end COMPLETED
        "#]],
    );
    check(
        "a > p > f, p > s >1 a | start | finish a | finish p | fail f | finish s | finish a | fail p \
         | resume | finish p | finish f | finish s",
        expect![[r#"
            start     run a
            finish a  run p
            finish p  run f, run s
            fail f    wait
            finish s  run a#2
            finish a  run p#2
            fail p    end FAILED node_failed; s: it waits for `p`, which failed
            resume    run p#2~2
            finish p  run f~2, run s#2
            finish f  wait
            finish s  end COMPLETED
        "#]],
    );
}

#[test]
fn a_graceful_cancel_lets_running_nodes_finish_and_starts_nothing() {
    check(
        "a > b, x | start | cancel | finish a | finish x",
        expect![[r"
            start     run a, run x
            cancel    wind a, wind x
            finish a  wait
            finish x  end CANCELLED cancelled; b: it was ready, and the run stopped before it could start
        "]],
    );
    check(
        "a > b, x | start | cancel now | finish a",
        expect![[r"
            start       run a, run x
            cancel now  cancel a, cancel x, end CANCELLED cancelled; b: it waits for `a`, which was cancelled
            finish a    refused: node a is not executing that attempt
        "]],
    );
}

#[test]
fn what_is_lost_is_repeated_if_that_is_safe_and_asked_about_if_not() {
    check(
        "a:pure > b | start | lose a | finish a | finish b",
        expect![[r"
            start     run a
            lose a    run a~2
            finish a  run b
            finish b  end COMPLETED
        "]],
    );
    check(
        "a > b | start | lose a | answer a=run again | finish a | lose b | answer b=take as done",
        expect![[r"
            start               run a
            lose a              ask a in_doubt
            answer a=run again  run a~2
            finish a            run b
            lose b              ask b in_doubt
            answer b=take as done  end COMPLETED
        "]],
    );
    check(
        "a > b | start | lose a | answer a=perhaps | answer a=fail",
        expect![[r"
            start             run a
            lose a            ask a in_doubt
            answer a=perhaps  refused: the answer to relay r/a:1:1:doubt does not fit: answer with one of: run again, take as done, fail
            answer a=fail     end FAILED node_failed; b: it waits for `a`, which failed
        "]],
    );
}

#[test]
fn no_more_nodes_start_than_may_run_at_once_and_the_first_ready_goes_first() {
    check(
        "max2 a, b, c, d | start | finish b | finish a | finish c | finish d",
        expect![[r"
            start     run a, run b
            finish b  run c
            finish a  run d
            finish c  wait
            finish d  end COMPLETED
        "]],
    );
}

#[test]
fn a_run_that_starts_too_many_nodes_is_cut_off_with_what_there_is() {
    check(
        "limit3 a >yes b, b >yes a | start | finish a | finish b | finish a",
        expect![[r"
            start     run a
            finish a  run b
            finish b  run a#2
            finish a  end FAILED max_node_executions; b: it was ready, and the run stopped before it could start
        "]],
    );
}

#[test]
fn a_node_that_ran_as_often_as_it_may_is_skipped() {
    check(
        "a:x2 > b, b >yes a, b >else c | start | finish a | finish b | finish a | finish b",
        expect![[r"
            start     run a
            finish a  run b
            finish b  run a#2
            finish a  run b#2
            finish b  skip a, skip b, skip c, end COMPLETED
        "]],
    );
}

#[test]
fn a_skip_is_no_run_and_says_why_it_was_one() {
    check(
        "a >2 once:x1 > j:any, a > j >1 a | start | finish a | why once | finish j | finish a | finish once | finish j",
        expect![[r#"
            start        run a
            finish a     skip once, run j
            why once     the condition of the edge from `a` was false
            finish j     run a#2
            finish a     run once#2, run j#2
            finish once  wait
            finish j     end COMPLETED
        "#]],
    );
    check(
        "a > once:x1 > j:any, a > j >1 a | start | finish a | finish once | finish j | finish a | why once | finish j",
        expect![[r#"
            start        run a
            finish a     run once, run j
            finish once  wait
            finish j     run a#2
            finish a     skip once, run j#2
            why once     it has run 1 times, which is its max_executions
            finish j     end COMPLETED
        "#]],
    );
    check(
        "a >1 once:x1 > j:any, a > j >1 a | start | finish a | finish once | finish j | finish a | why once | finish j",
        expect![[r#"
            start        run a
            finish a     run once, run j
            finish once  wait
            finish j     run a#2
            finish a     skip once, run j#2
            why once     the condition of the edge from `a` was false
            finish j     end COMPLETED
        "#]],
    );
}

#[test]
fn what_skips_a_count_is_told_the_same_whoever_came_first() {
    check(
        "s >no b > two:2, s >no c > two, s >yes a > two | start | finish s | why two | finish a",
        expect![[r#"
            start     run s
            finish s  skip b, skip c, skip two, run a
            why two   fewer than 2 of its sources can give it a way in
            finish a  end COMPLETED
        "#]],
    );
    check(
        "a > two:2, s > x >no b > two, x >no c > two | start | finish a | finish s | finish x | why two",
        expect![[r#"
            start     run a, run s
            finish a  wait
            finish s  run x
            finish x  skip b, skip c, skip two, end COMPLETED
            why two   fewer than 2 of its sources can give it a way in
        "#]],
    );
    check(
        "a >no two:2, b >no two, c > two | start | finish a | finish b | why two | finish c",
        expect![[r#"
        start     run a, run b, run c
        finish a  wait
        finish b  skip two
        why two   fewer than 2 of its sources can give it a way in
        finish c  end COMPLETED
    "#]],
    );
}

#[test]
fn a_run_gives_what_was_given_last_and_nothing_of_a_round_before_that() {
    check(
        "a > b:x2 > a | start | give a=a1 | give b=b1 | give a=a2 | give b=b2 | give a=a3 | given",
        expect![[r#"
            start      run a
            give a=a1  run b
            give b=b1  run a#2
            give a=a2  run b#2
            give b=b2  run a#3
            give a=a3  skip b, end COMPLETED
            given      "a3"
        "#]],
    );
    check(
        "a >1 odd:x1 > j, a >2 even:x1 > j, j > a \
         | start | give a=1 | give odd=odd | give j=j1 | give a=2 | give even=even | give j=j2 | give a=3 | given",
        expect![[r#"
            start           run a
            give a=1        skip even, run odd
            give odd=odd    run j
            give j=j1       run a#2
            give a=2        skip odd, run even#2
            give even=even  run j#2
            give j=j2       run a#3
            give a=3        skip odd, skip even, skip j, end COMPLETED
            given           "3"
        "#]],
    );
    check(
        "x > a > m > b > a | start | give x=x | give a=a1 | give m=m1 | give b=b1 | give a=a2 | fail m | given",
        expect![[r#"
            start      run x
            give x=x   run a
            give a=a1  run m
            give m=m1  run b
            give b=b1  run a#2
            give a=a2  run m#2
            fail m     end FAILED node_failed; b: it waits for `m`, which failed
            given      "b1"
        "#]],
    );
    check(
        "x > a > m > b > a | start | give x=x | give a=a1 | give m=m1 | give b=b1 | fail a | given",
        expect![[r#"
            start      run x
            give x=x   run a
            give a=a1  run m
            give m=m1  run b
            give b=b1  run a#2
            fail a     end FAILED node_failed; m: it waits for `a`, which failed; b: it waits for `m`, which is not done
            given      "b1"
        "#]],
    );
    check(
        "a:x1 > b > a | start | give a=a1 | give b=b1 | given",
        expect![[r#"
        start      run a
        give a=a1  run b
        give b=b1  skip a, skip b, end COMPLETED
        given      "b1"
    "#]],
    );
    check(
        "a > c:any > d, b > c | start | give b=b | give c=c | give a=a | fail d | given",
        expect![[r#"
        start     run a, run b
        give b=b  run c
        give c=c  run d
        give a=a  wait
        fail d    end FAILED node_failed
        given     "c"
    "#]],
    );
}

#[test]
fn what_a_run_inside_had_come_to_is_given_where_it_was_given_last() {
    check(
        "a > m > z | start | give a=a | part m=half | fail m | given",
        expect![[r#"
        start        run a
        give a=a     run m
        part m=half  noted
        fail m       end FAILED node_failed; z: it waits for `m`, which failed
        given        "half"
    "#]],
    );
    check(
        "a > m > z, x | start | give a=a | give x=x | part m=half | fail m | given",
        expect![[r#"
        start        run a, run x
        give a=a     run m
        give x=x     wait
        part m=half  noted
        fail m       end FAILED node_failed; z: it waits for `m`, which failed
        given        "x"
    "#]],
    );
    check(
        "a > m:or=f > z, f | start | give a=a | part m=half | fail m | fail f | given",
        expect![[r#"
        start        run a
        give a=a     run m
        part m=half  noted
        fail m       run f
        fail f       end FAILED node_failed; z: it waits for `m`, which failed
        given        "half"
    "#]],
    );
    check(
        "a > m | start | give a=a | part m=half | cancel now | given | resume | give m=whole | given",
        expect![[r#"
            start         run a
            give a=a      run m
            part m=half   noted
            cancel now    cancel m, end CANCELLED cancelled
            given         "half"
            resume        run m~2
            give m=whole  end COMPLETED
            given         "whole"
        "#]],
    );
    check(
        "a > m > b > a, x > a | start | give x=x | give a=1 | give m=1 | give b=1 | give a=2 | part m=half | fail m | given",
        expect![[r#"
            start        run x
            give x=x     run a
            give a=1     run m
            give m=1     run b
            give b=1     run a#2
            give a=2     run m#2
            part m=half  noted
            fail m       end FAILED node_failed; b: it waits for `m`, which failed
            given        "1"
        "#]],
    );
}

#[test]
fn work_that_writes_is_not_done_again_for_what_follows_from_it() {
    check(
        "a:retry2 >broken b | start | finish a",
        expect![[r#"
        start     run a
        finish a  end FAILED node_failed; b: it waits for `a`, which failed
    "#]],
    );
    check(
        "a:retry2:pure >broken b | start | finish a | due a | finish a",
        expect![[r#"
        start     run a
        finish a  delay a 10
        due a     run a~2
        finish a  delay a 10
    "#]],
    );
    check(
        "a:retry2:on=expression >broken b | start | finish a | due a | finish a",
        expect![[r#"
        start     run a
        finish a  delay a 10
        due a     run a~2
        finish a  delay a 10
    "#]],
    );
    check(
        "a:retry2:or=z >broken b, z | start | finish a | finish z",
        expect![[r#"
        start     run a
        finish a  run z
        finish z  end FAILED node_failed; b: it waits for `a`, which failed
    "#]],
    );
    check(
        "a:retry2:text > b | start | finish a | due a | give a=text | finish b",
        expect![[r#"
        start        run a
        finish a     delay a 10
        due a        run a~2
        give a=text  run b
        finish b     end COMPLETED
    "#]],
    );
}

#[test]
fn how_long_a_run_took_is_by_the_clock() {
    check(
        "a:pure > b | start | hours pass | resume | lose a | finish a | finish b | worked | took",
        expect![[r#"
            start       run a
            hours pass  nobody is there
            resume      wait
            lose a      run a~2
            finish a    run b
            finish b    end COMPLETED
            worked      8 ms
            took        10800011 ms
        "#]],
    );
}

#[test]
fn a_fallback_takes_over_and_its_output_is_the_nodes() {
    check(
        "a:or=z > b, z:alone | start | fail a | finish z | finish b",
        expect![[r"
            start     run a
            fail a    run z
            finish z  run b
            finish b  end COMPLETED
        "]],
    );
    check(
        "a:or=z > b, c:or=z > b, z:alone | start | fail a | fail c | finish z | finish z | finish b",
        expect![[r"
            start     run a, run c
            fail a    run z
            fail c    wait
            finish z  run z#2
            finish z  run b
            finish b  end COMPLETED
        "]],
    );
    check(
        "a:or=z > b, z:alone | start | fail a | fail z",
        expect![[r"
            start   run a
            fail a  run z
            fail z  end FAILED node_failed; b: it waits for `a`, which failed
        "]],
    );
}

#[test]
fn a_fallback_that_will_not_do_is_called_once_and_needs_no_place_of_its_own() {
    check(
        "a:text:or=z > b, z:alone | start | fail a | finish z",
        expect![[r#"
        start     run a
        fail a    run z
        finish z  end FAILED node_failed; b: it waits for `a`, which failed
    "#]],
    );
    check(
        "a:text:retry2:or=z > b, z:alone | start | fail a | due a | fail a | due a | fail a | finish z",
        expect![[r#"
        start     run a
        fail a    delay a 10
        due a     run a~2
        fail a    delay a 10
        due a     run a~3
        fail a    run z
        finish z  end FAILED node_failed; b: it waits for `a`, which failed
    "#]],
    );
    check(
        "max1 a:or=z > b, z:alone | start | fail a | finish z | finish b",
        expect![[r#"
        start     run a
        fail a    run z
        finish z  run b
        finish b  end COMPLETED
    "#]],
    );
    check(
        "max1 a:or=z, c:or=z, z:alone | start | fail a | fail c | finish z | finish z",
        expect![[r#"
        start     run a
        fail a    run c
        fail c    run z
        finish z  run z#2
        finish z  end COMPLETED
    "#]],
    );
}

#[test]
fn an_isolated_failure_counts_as_completed() {
    check(
        "a:isolate > b | start | fail a | finish b",
        expect![[r"
            start     run a
            fail a    run b
            finish b  end COMPLETED
        "]],
    );
}

#[test]
fn a_failure_that_cannot_be_isolated_is_told_as_it_was_first() {
    check(
        "a:isolate >tenth b | start | give a=0 | error a",
        expect![[r#"
        start     run a
        give a=0  end FAILED node_failed; b: it waits for `a`, which failed
        error a   expression, for good: the condition of the edge to `b`: `/` cannot take the number 10 and the text "0" at column 4 in `10 / output > 1`; and isolated it failed again: the condition of the edge to `b`: `/` cannot take the number 10 and an object at column 4 in `10 / output > 1`
    "#]],
    );
    check(
        "a:isolate:pure >tenth b | start | fail a | error a",
        expect![[r#"
        start    run a
        fail a   end FAILED node_failed; b: it waits for `a`, which failed
        error a  failed: it broke; and isolated it failed again: the condition of the edge to `b`: `/` cannot take the number 10 and an object at column 4 in `10 / output > 1`
    "#]],
    );
    check(
        "a:isolate >broken b | start | finish a | error a",
        expect![[r#"
        start     run a
        finish a  end FAILED node_failed; b: it waits for `a`, which failed
        error a   expression, for good: the condition of the edge to `b`: division by zero at column 3 in `1 / 0 == 1`
    "#]],
    );
    check(
        "a:isolate >tenth b | start | part a=half | fail a | given",
        expect![[r#"
        start        run a
        part a=half  noted
        fail a       end FAILED node_failed; b: it waits for `a`, which failed
        given        "half"
    "#]],
    );
}

#[test]
fn a_failed_attempt_is_repeated_as_often_as_it_may_be() {
    check(
        "a:retry2 > b | start | fail a | due a | fail a | due a | fail a",
        expect![[r"
            start   run a
            fail a  delay a 10
            due a   run a~2
            fail a  delay a 10
            due a   run a~3
            fail a  end FAILED node_failed; b: it waits for `a`, which failed
        "]],
    );
}

#[test]
fn a_timeout_cuts_the_attempt_off_and_a_write_is_not_repeated_unasked() {
    check(
        "a:retry2 > b | start | time a | finish a",
        expect![[r"
            start     run a
            time a    stop a, end FAILED node_failed; b: it waits for `a`, which failed
            finish a  refused: node a is not executing that attempt
        "]],
    );
    check(
        "a:retry2:pure > b | start | time a | due a | finish a | finish b",
        expect![[r"
            start     run a
            time a    stop a, delay a 10
            due a     run a~2
            finish a  run b
            finish b  end COMPLETED
        "]],
    );
}

#[test]
fn what_a_node_got_stays_what_it_got_whoever_else_completes_meanwhile() {
    check(
        "a > c:any:retry2, b > c | start | finish a | see c | finish b | see c | fail c | due c | see c",
        expect![[r#"
            start     run a, run b
            finish a  run c
            see c     gets null
            finish b  wait
            see c     gets null
            fail c    delay c 10
            due c     run c~2
            see c     gets null
        "#]],
    );
}

#[test]
fn what_a_node_got_that_does_not_wait_for_what_leads_to_it_stays_what_it_got() {
    check(
        "a:entry > b:entry:retry2 | start | finish a | see b | fail b | due b | see b",
        expect![[r#"
        start     run a, run b
        finish a  wait
        see b     gets "task"
        fail b    delay b 10
        due b     run b~2
        see b     gets "task"
    "#]],
    );
    check(
        "e > x > t:retry2 > s:any, e > s, s >1 t | start | give e=e | give s=s | see t | give x=x | see t",
        expect![[r#"
            start     run e
            give e=e  run x, run s
            give s=s  run t, run s#2
            see t     gets "s"
            give x=x  wait
            see t     gets "s"
        "#]],
    );
}

#[test]
fn a_fallback_that_has_run_as_often_as_it_may_does_not_help() {
    check(
        "a:or=z, b:or=z, z:x1 | start | fail a | finish z | fail b",
        expect![[r#"
        start     run a, run b
        fail a    run z
        finish z  wait
        fail b    skip z, end FAILED node_failed
    "#]],
    );
}

#[test]
fn what_a_fallback_came_to_counts_for_whom_it_took_over() {
    check(
        "a:or=z:isolate > b, z:alone | start | fail a | fail z | finish b",
        expect![[r#"
            start     run a
            fail a    run z
            fail z    run b
            finish b  end COMPLETED
        "#]],
    );
    check(
        "fail-fast a:or=z:isolate > b, c, z:alone | start | fail a | fail z | finish c | finish b",
        expect![[r#"
            start     run a, run c
            fail a    run z
            fail z    run b
            finish c  wait
            finish b  end COMPLETED
        "#]],
    );
    check(
        "fail-fast a:or=z, c, z:alone | start | fail a | fail z",
        expect![[r#"
            start   run a, run c
            fail a  run z
            fail z  cancel c, end FAILED node_failed
        "#]],
    );
}

#[test]
fn an_expression_that_fails_waits_for_its_next_attempt_and_for_its_fallback() {
    check(
        "a:broken:retry2 > b | start | due a | due a",
        expect![[r"
            start  delay a 10
            due a  delay a 10
            due a  end FAILED node_failed; b: it waits for `a`, which failed
        "]],
    );
    check(
        "a:broken:or=z > b, z | start | finish z | finish b",
        expect![[r"
            start     run z
            finish z  run b
            finish b  end COMPLETED
        "]],
    );
}

#[test]
fn nothing_new_starts_in_a_run_that_winds_down() {
    check(
        "a:retry2, b | start | fail a | cancel | due a | finish b | resume | finish a",
        expect![[r#"
            start     run a, run b
            fail a    delay a 10
            cancel    wind a, wind b, cancel a
            due a     refused: node a is not executing that attempt
            finish b  end CANCELLED cancelled
            resume    run a~2
            finish a  end COMPLETED
        "#]],
    );
    check(
        "max1 a:or=f, b, f | start | fail a | cancel | finish b | resume | fail a | finish f",
        expect![[r#"
            start     run a
            fail a    run b
            cancel    wind a, wind b, cancel a
            finish b  end CANCELLED cancelled
            resume    run a~2
            fail a    run f
            finish f  end COMPLETED
        "#]],
    );
    check(
        "a:or=f, b:or=f, f | start | fail a | fail b | cancel | finish f | resume | finish b",
        expect![[r#"
            start     run a, run b
            fail a    run f
            fail b    wait
            cancel    wind a, wind b, wind f, cancel b
            finish f  end CANCELLED cancelled
            resume    run b~2
            finish b  end COMPLETED
        "#]],
    );
}

#[test]
fn a_loop_that_goes_on_after_a_failure_has_not_come_to_rest() {
    check(
        "a > b > s > out:x1, a >2 out, b >1 a | start | finish a | finish b | finish s | finish a | finish b | finish s | finish out",
        expect![[r#"
            start       run a
            finish a    run b
            finish b    run s
            finish s    run a#2
            finish a    run b#2
            finish b    run s#2
            finish s    run out
            finish out  end COMPLETED
        "#]],
    );
    check(
        "a > b > s > out:x1, a >2 out, b >1 a | start | finish a | fail b | resume | finish b | finish s | finish a | finish b | finish s | finish out",
        expect![[r#"
            start       run a
            finish a    run b
            fail b      end FAILED node_failed; s: it waits for `b`, which failed; out: it waits for `s`, which is not done
            resume      run b~2
            finish b    run s
            finish s    run a#2
            finish a    run b#2
            finish b    run s#2
            finish s    run out
            finish out  end COMPLETED
        "#]],
    );
    check(
        "a > b > s > out:x1, a >2 out, b >1 a | start | finish a | cancel now | resume | finish b | finish s | finish a | finish b | finish s | finish out",
        expect![[r#"
            start       run a
            finish a    run b
            cancel now  cancel b, end CANCELLED cancelled; s: it waits for `b`, which was cancelled; out: it waits for `s`, which is not done
            resume      run b~2
            finish b    run s
            finish s    run a#2
            finish a    run b#2
            finish b    run s#2
            finish s    run out
            finish out  end COMPLETED
        "#]],
    );
}
