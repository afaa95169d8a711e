//! What the `agents` view shows, as tables.

use antiphon_testkit::history;
use antiphon_view::{Agents, Fold};
use expect_test::expect;

use super::check;

#[test]
fn a_subagent_hangs_from_the_agent_it_names_and_its_usage_counts_above() {
    check::<Agents>(
        r#"
        a  harness_start  agent={"id":"lead","name":"Lead","chain":["Lead"]}
        b  harness_start  agent={"id":"w1","chain":["Lead","worker"],"depth":1,"parentId":"lead"}
        b  usage          100 10 costUsd=0.5
        b  harness_end    error
        a  usage          7 3
        a  harness_end    done
        "#,
        &expect![[r#"
            agents:
              id=lead name=Lead depth=0 placeholder=false status=done events=3 runs=1 running=0 own={inputTokens:7,outputTokens:3} tree={inputTokens:107,outputTokens:13,costUsd:0.5}
              id=w1 name=worker parent=0 depth=1 placeholder=false status=failed events=3 runs=1 running=0 own={inputTokens:100,outputTokens:10,costUsd:0.5} tree={inputTokens:100,outputTokens:10,costUsd:0.5}
        "#]],
    );
}

#[test]
fn ancestors_that_were_not_seen_get_a_place_that_they_take_when_they_appear() {
    check::<Agents>(
        r#"
        c  usage          5 5 agent={"id":"c","chain":["A","B","C"],"depth":2,"parentId":"b"}
        b  usage          1 1 agent={"id":"b","chain":["A","B"],"depth":1,"parentId":"a"}
        a  usage          2 2 agent={"id":"a","name":"A","chain":["A"]}
        "#,
        &expect![[r#"
            agents:
              id=a name=A depth=0 placeholder=false status=idle events=1 runs=0 running=0 own={inputTokens:2,outputTokens:2} tree={inputTokens:8,outputTokens:8}
              id=b name=B parent=0 depth=1 placeholder=false status=idle events=1 runs=0 running=0 own={inputTokens:1,outputTokens:1} tree={inputTokens:6,outputTokens:6}
              id=c name=C parent=1 depth=2 placeholder=false status=idle events=1 runs=0 running=0 own={inputTokens:5,outputTokens:5} tree={inputTokens:5,outputTokens:5}
        "#]],
    );
}

#[test]
fn events_without_metadata_belong_to_their_run_else_to_the_root() {
    check::<Agents>(
        r#"
        u  user           "hi"
        a  harness_start  agent={"id":"a","chain":["A"]}
        b  harness_start  agentId=sub depth=1
        b  text           t "x"
        b  usage          1 2
        -  session_created
        "#,
        &expect![[r#"
            agents:
              id=a name=A depth=0 placeholder=false status=running events=3 runs=1 running=1 own={inputTokens:0,outputTokens:0} tree={inputTokens:1,outputTokens:2}
              id=sub parent=0 depth=1 placeholder=false status=running events=3 runs=1 running=1 own={inputTokens:1,outputTokens:2} tree={inputTokens:1,outputTokens:2}
        "#]],
    );
}

#[test]
fn what_a_flow_does_is_nobodys() {
    check::<Agents>(
        r#"
        f  run_start      review
        f  node_start     nodeId=write
        a  harness_start  nodeId=write agent={"id":"writer","chain":["writer"]}
        a  text           t "done"
        a  harness_end    done
        f  node_end       nodeId=write status=COMPLETED output="done" durationMs=1
        f  run_end        status=COMPLETED finalOutput="done" totalDurationMs=1
        "#,
        &expect![[r#"
            agents:
              id=writer name=writer depth=0 placeholder=false status=done events=3 runs=1 running=0 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
        "#]],
    );
}

#[test]
fn a_parent_known_only_by_id_is_kept_a_place_and_adopted_into_the_tree() {
    check::<Agents>(
        r#"
        x  usage          1 1 agent={"id":"x","depth":2,"parentId":"p"}
        r  harness_start  agent={"id":"r"}
        p  harness_start  agent={"id":"p","depth":1,"parentId":"r"}
        "#,
        &expect![[r#"
            agents:
              id=p parent=2 depth=1 placeholder=false status=running events=1 runs=1 running=1 own={inputTokens:0,outputTokens:0} tree={inputTokens:1,outputTokens:1}
              id=x parent=0 depth=2 placeholder=false status=idle events=1 runs=0 running=0 own={inputTokens:1,outputTokens:1} tree={inputTokens:1,outputTokens:1}
              id=r depth=0 placeholder=false status=running events=1 runs=1 running=1 own={inputTokens:0,outputTokens:0} tree={inputTokens:1,outputTokens:1}
        "#]],
    );
}

#[test]
fn two_agents_of_one_name_are_two_and_their_children_are_told_apart() {
    check::<Agents>(
        r#"
        a  harness_start  agent={"id":"a1","chain":["A"]}
        c  harness_start  agent={"id":"c","chain":["A","C"],"depth":1,"parentId":"a2"}
        b  harness_start  agent={"id":"a2","chain":["A"]}
        n  text           t "no id" agent={"id":"","chain":["A","N"]}
        n  text           t "again" agent={"id":"","chain":["A","N"]}
        "#,
        &expect![[r#"
            agents:
              id=a1 name=A depth=0 placeholder=false status=running events=1 runs=1 running=1 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
              id=a2 name=A depth=0 placeholder=false status=running events=1 runs=1 running=1 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
              id=c name=C parent=1 depth=1 placeholder=false status=running events=1 runs=1 running=1 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
              name=N parent=1 depth=0 placeholder=false status=idle events=2 runs=0 running=0 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
        "#]],
    );
}

#[test]
fn a_circle_of_parents_stays_open() {
    check::<Agents>(
        r#"
        a  text  t "x" agent={"id":"a","parentId":"b"}
        b  text  t "x" agent={"id":"b","parentId":"a"}
        c  text  t "x" agent={"id":"c","parentId":"c"}
        "#,
        &expect![[r#"
            agents:
              id=b depth=0 placeholder=false status=idle events=1 runs=0 running=0 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
              id=a parent=0 depth=0 placeholder=false status=idle events=1 runs=0 running=0 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
              id=c depth=0 placeholder=false status=idle events=1 runs=0 running=0 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
        "#]],
    );
}

#[test]
fn runs_that_begin_or_end_twice_count_once() {
    let events = history(
        r#"
        a  harness_start  agent={"id":"a"}
        a  harness_start  agent={"id":"a"}
        a  harness_end    cancelled
        a  harness_end    done
        z  harness_end    done
        "#,
    );
    let fold = Fold::<Agents>::of(&events);
    let agent = fold.view().agent(&"a".into()).expect("it ran");
    assert_eq!((agent.runs, agent.running, agent.events), (1, 0, 5));
}

#[test]
fn a_walk_gives_the_depth_in_the_tree() {
    let events = history(r#"a text t "x" agent={"id":"z","chain":["A","B","Z"],"depth":2}"#);
    let fold = Fold::<Agents>::of(&events);
    let names: Vec<_> = fold.view().walk().map(|(depth, agent)| (depth, agent.name.clone())).collect();
    assert_eq!(names, [(0, Some("A".into())), (1, Some("B".into())), (2, Some("Z".into()))]);
}
