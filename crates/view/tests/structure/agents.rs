//! What the `agents` view shows, as tables.

use std::fmt::Write;

use antiphon_event::AgentId;
use antiphon_testkit::history;
use antiphon_view::{Agents, Fold};
use expect_test::{Expect, expect};

use super::{check, folded};

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

/// The tree of agents with what each used, one a line.
#[track_caller]
fn check_tree(table: &str, expected: &Expect) {
    let events = history(table);
    folded::<Agents>(&events);
    let fold = Fold::<Agents>::of(&events);
    let mut shown = String::new();
    for (depth, agent) in fold.view().walk() {
        let name = agent.id.as_ref().map_or("nobody", AgentId::as_str);
        let (own, tree) = (agent.own.input_tokens, agent.tree.input_tokens);
        writeln!(shown, "{}{name} {own} of {tree}", "  ".repeat(depth)).expect("text");
    }
    expected.assert_eq(&shown);
}

#[test]
fn whoever_is_named_first_is_an_agent_also_where_a_person_speaks() {
    check_tree(
        r#"
        u  user  "hi" agent={"id":"host","chain":["host"],"depth":0}
        "#,
        &expect![[r#"
            host 0 of 0
        "#]],
    );
}

#[test]
fn an_agent_hangs_from_whoever_called_its_run() {
    check_tree(
        r"
        a1     harness_start  agentId=lead1 depth=0
        a1     tool_call      c1 agent
        a2     harness_start  agentId=lead2 depth=0
        b^c1   harness_start  agentId=kid depth=1
        b      usage          9 9
        b      text           t x
        a2     tool_call      c1 agent
        c^a2/c1 harness_start agentId=other
        c      usage          2 2
        d^b    harness_start  agentId=deep
        d      usage          1 1
        ",
        &expect![[r#"
            lead1 0 of 10
              kid 9 of 10
                deep 1 of 1
            lead2 0 of 2
              other 2 of 2
        "#]],
    );
}

#[test]
fn an_agent_waits_for_what_caused_its_run_and_is_nowhere_else_before() {
    check_tree(
        r"
        a1     harness_start  agentId=lead1
        a2     harness_start  agentId=lead2
        b^c1   harness_start  agentId=kid depth=1
        b      usage          9 9
        d^c9   harness_start  agentId=lost depth=1
        a1     tool_call      c1 agent
        ",
        &expect![[r#"
            lead1 0 of 9
              kid 9 of 9
            lead2 0 of 0
            lost 0 of 0
        "#]],
    );
}

#[test]
fn a_person_is_no_parent_and_a_flow_is_passed_over() {
    check_tree(
        r"
        u1         user           hi
        a1^u1:user harness_start  agentId=lead
        a1         text           t1 hello
        u2^t1      user           again
        a2^u2:user harness_start  agentId=second
        f^c1       run_start      flow
        f          node_start     n 1
        b^f:n:1:start harness_start agentId=worker
        b          usage          3 3
        a1         tool_call      c1 flow
        g          run_start      flow
        g          node_start     n 1
        h^g:n:1:start harness_start agentId=alone
        ",
        &expect![[r#"
            lead 0 of 3
              worker 3 of 3
            second 0 of 0
            alone 0 of 0
        "#]],
    );
}

#[test]
fn whom_nobody_in_particular_calls_hangs_from_the_root() {
    check_tree(
        r"
        a      tool_call      c1 agent
        b^c1   harness_start  agentId=kid
        p^b    text           t x
        p      tool_call      c2 agent
        c^c2   harness_start  agentId=grandchild
        c      usage          4 4
        ",
        &expect![[r#"
            nobody 0 of 4
              kid 0 of 4
                grandchild 4 of 4
        "#]],
    );
}

#[test]
fn an_agent_that_causes_itself_stays_where_it_is() {
    check_tree(
        r"
        a^b    harness_start  agentId=a
        b^a    harness_start  agentId=b
        c^c    harness_start  agentId=c
        d^a    harness_start  agentId=a
        e^f    run_start      flow
        f^e    run_start      flow
        g^e    harness_start  agentId=g
        ",
        &expect![[r#"
            a 0 of 0
              b 0 of 0
            c 0 of 0
            g 0 of 0
        "#]],
    );
}

#[test]
fn what_the_end_of_a_run_says_beyond_its_calls_counts() {
    check_tree(
        r#"
        a      harness_start  agentId=lead
        a      tool_call      c1 agent
        b^c1   harness_start  agentId=kid
        b      harness_end    done totalUsage={"inputTokens":5,"outputTokens":6}
        a      usage          7 7
        a      harness_end    done totalUsage={"inputTokens":10,"outputTokens":2}
        a      harness_end    done totalUsage={"inputTokens":10,"outputTokens":2}
        "#,
        &expect![[r#"
            lead 10 of 15
              kid 5 of 5
        "#]],
    );
}

#[test]
fn agents_that_join_a_mission_are_there_before_they_do_anything() {
    check::<Agents>(
        r#"
        -  mission:planning_start  goal=win
        -  mission:agent_spawned   agentId=ag1 role=tester provider=scripted model=small
        a  harness_start           agent={"id":"lead"}
        a  mission:agent_spawned   agentId=ag2 role=writer provider=scripted model=small
        f  run_start               mission
        f  mission:agent_spawned   agentId=ag3 role=reader provider=scripted model=large
        b  harness_start           agentId=ag1
        b  usage                   1 1
        -  mission:complete        summary=done totalCost=0 totalDurationMs=1 agentCount=3
        "#,
        &expect![[r#"
            agents:
              id=lead depth=0 placeholder=false status=running events=3 runs=1 running=1 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
              id=ag1 role=tester model=small provider=scripted depth=0 placeholder=false status=running events=3 runs=1 running=1 own={inputTokens:1,outputTokens:1} tree={inputTokens:1,outputTokens:1}
              id=ag2 role=writer model=small provider=scripted parent=0 depth=0 placeholder=true status=idle events=1 runs=0 running=0 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
              id=ag3 role=reader model=large provider=scripted depth=0 placeholder=true status=idle events=1 runs=0 running=0 own={inputTokens:0,outputTokens:0} tree={inputTokens:0,outputTokens:0}
        "#]],
    );
}

#[test]
fn whoever_only_joined_does_not_do_what_nobody_does() {
    check_tree(
        r"
        -  mission:agent_spawned   agentId=ag1 role=tester provider=scripted model=small
        x  usage                   1 1
        b  harness_start           agentId=ag1
        y  usage                   1 1
        ",
        &expect![[r#"
            ag1 0 of 0
            nobody 2 of 2
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

#[test]
fn sessions_and_people_do_not_show_that_there_is_an_agent() {
    check::<Agents>(
        r#"
        -  session_created  title=t
        -  branch_created
        u  user             "hi"
        "#,
        &expect![[r#"
            agents=[]
        "#]],
    );
}
