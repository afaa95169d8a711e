//! What the `timeline` view shows, as tables.

use antiphon_testkit::history;
use antiphon_view::{Fold, Timeline};
use expect_test::expect;

use super::{check, check_timed};

#[test]
fn rows_carry_times_layers_edges_and_ends() {
    check_timed::<Timeline>(
        r#"
        f  run_start        report
        f  layer_start      0
        f  node_start       a nodeType=command
        f  node_end         a COMPLETED "facts" durationMs=900 edges=[{"to":"b","live":true},{"to":"c","live":false}]
        f  edge_transition  a b conditional condition="x > 1"
        f  layer_start      1
        f  node_start       b nodeType=agent
        f  node_skipped     c "condition false"
        f  node_end         b FAILED null durationMs=5 error={"message":"no"}
        f  layer_end        1
        f  run_end          FAILED null reason=node_failed totalDurationMs=77
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow graphId=report status=FAILED startedAt=2027-01-15T08:00:00.000Z endedAt=2027-01-15T08:00:10.000Z durationMs=77 reason=node_failed resumed=0 counts={completed:1,failed:1,skipped:1}
              rows:
                nodeId=a execution=1 attempt=1 nodeType=command layer=0 status=COMPLETED startedAt=2027-01-15T08:00:02.000Z endedAt=2027-01-15T08:00:03.000Z durationMs=900 output=facts
                nodeId=b execution=1 attempt=1 nodeType=agent layer=1 status=FAILED startedAt=2027-01-15T08:00:06.000Z endedAt=2027-01-15T08:00:08.000Z durationMs=5 error=no
                nodeId=c execution=1 attempt=1 layer=1 status=SKIPPED endedAt=2027-01-15T08:00:07.000Z reason=condition false
              layers:
                layer=0 startedAt=2027-01-15T08:00:01.000Z ended=false
                layer=1 startedAt=2027-01-15T08:00:05.000Z endedAt=2027-01-15T08:00:09.000Z ended=true
              edges:
                from=a to=b edgeType=conditional condition=x > 1 at=2027-01-15T08:00:04.000Z
        "#]],
    );
}

#[test]
fn a_retry_is_a_row_of_its_own_and_does_not_count_as_failed() {
    check_timed::<Timeline>(
        r#"
        f  node_start    a
        f  node_timeout  a 50
        f  node_retry    a 1 delayMs=100 error={"message":"slow"}
        f  node_start    a 1 2
        f  node_end      a COMPLETED "ok" attempt=2
        f  run_end       COMPLETED "ok"
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow status=COMPLETED startedAt=2027-01-15T08:00:00.000Z endedAt=2027-01-15T08:00:05.000Z durationMs=0 output=ok resumed=0 counts={completed:1,retried:1}
              rows:
                nodeId=a execution=1 attempt=1 nodeType=function status=FAILED startedAt=2027-01-15T08:00:00.000Z endedAt=2027-01-15T08:00:02.000Z durationMs=2000 error=slow retryAfterMs=100 timeoutMs=50
                nodeId=a execution=1 attempt=2 nodeType=function status=COMPLETED startedAt=2027-01-15T08:00:03.000Z endedAt=2027-01-15T08:00:04.000Z durationMs=0 output=ok
        "#]],
    );
}

#[test]
fn an_end_without_a_start_makes_a_row_and_a_late_start_joins_it() {
    check::<Timeline>(
        r#"
        f  node_end    a COMPLETED 1
        f  node_start  a nodeType=command
        f  node_end    a FAILED 2
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow status=EXECUTING resumed=0 counts={completed:1}
              rows:
                nodeId=a execution=1 attempt=1 nodeType=command status=COMPLETED durationMs=0 output=1
        "#]],
    );
}

#[test]
fn a_second_start_of_an_ended_row_opens_the_next_attempt() {
    check::<Timeline>(
        r#"
        f  node_start  a
        f  node_start  a nodeType=tool
        f  node_end    a COMPLETED 1
        f  node_start  a
        f  node_end    a COMPLETED 2
        f  node_start  a
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow status=EXECUTING resumed=0 counts={executing:1,completed:2}
              rows:
                nodeId=a execution=1 attempt=1 nodeType=function status=COMPLETED durationMs=0 output=1
                nodeId=a execution=1 attempt=2 nodeType=function status=COMPLETED durationMs=0 output=2
                nodeId=a execution=1 attempt=3 nodeType=function status=EXECUTING
        "#]],
    );
}

#[test]
fn executions_of_a_loop_are_rows_in_the_layer_of_the_first() {
    check::<Timeline>(
        r#"
        f  layer_start  0
        f  node_start   w
        f  node_end     w edges=[{"to":"r","live":true}]
        f  layer_start  1
        f  node_start   r
        f  node_end     r edges=[{"to":"w","live":true}]
        f  layer_end    1
        f  layer_start  0
        f  node_start   w 2
        f  layer_end    0
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow status=EXECUTING resumed=0 counts={executing:1,completed:2}
              rows:
                nodeId=w execution=1 attempt=1 nodeType=function layer=0 status=COMPLETED durationMs=0
                nodeId=r execution=1 attempt=1 nodeType=function layer=1 status=COMPLETED durationMs=0
                nodeId=w execution=2 attempt=1 nodeType=function layer=0 status=EXECUTING
              layers:
                layer=0 ended=false
                layer=1 ended=true
                layer=0 ended=true
        "#]],
    );
}

#[test]
fn a_node_that_waits_for_a_person_is_interrupted_until_it_ends() {
    check::<Timeline>(
        r#"
        f  node_start  gate nodeType=human
        f  relay       q approval
        f  interrupt   gate human_approval
        f  interrupt   nobody error
        f  node_end    gate COMPLETED {"approved":true}
        f  run_end     COMPLETED null
        f  resumed
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow status=EXECUTING resumed=1 counts={completed:1}
              rows:
                nodeId=gate execution=1 attempt=1 nodeType=human status=COMPLETED durationMs=0 output={'approved':true}
        "#]],
    );
}

#[test]
fn agents_and_flows_stand_inside_the_node_they_ran_in() {
    check_timed::<Timeline>(
        r#"
        f                 run_start      outer
        f                 node_start     a
        r^f:a:1:start     harness_start  agentId=writer
        r                 text           t "hi"
        r                 harness_end    done
        g^f:b:1:start     run_start      inner
        g                 node_start     x
        f                 node_start     b
        g^f:b:1:start     run_end        COMPLETED null
        f                 node_start     b 1 2
        h^f:b:1:start:2   harness_start
        u                 user           "hello"
        k                 harness_start  nodePath=["b","x"]
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow graphId=outer status=EXECUTING startedAt=2027-01-15T08:00:00.000Z resumed=0 counts={executing:3}
              rows:
                nodeId=a execution=1 attempt=1 nodeType=function status=EXECUTING startedAt=2027-01-15T08:00:01.000Z inside=[r]
                nodeId=b execution=1 attempt=1 nodeType=function status=EXECUTING startedAt=2027-01-15T08:00:07.000Z inside=[g]
                nodeId=b execution=1 attempt=2 nodeType=function status=EXECUTING startedAt=2027-01-15T08:00:09.000Z inside=[h]
              runId=r kind=agent agentId=writer within={runId:f,row:0} status=COMPLETED startedAt=2027-01-15T08:00:02.000Z endedAt=2027-01-15T08:00:04.000Z durationMs=2000 reason=done resumed=0 counts={}
              runId=g kind=flow graphId=inner within={runId:f,row:1} status=COMPLETED startedAt=2027-01-15T08:00:05.000Z endedAt=2027-01-15T08:00:08.000Z durationMs=0 resumed=0 counts={executing:1}
              rows:
                nodeId=x execution=1 attempt=1 nodeType=function status=EXECUTING startedAt=2027-01-15T08:00:06.000Z
              runId=h kind=agent within={runId:f,row:2} status=EXECUTING startedAt=2027-01-15T08:00:10.000Z resumed=0 counts={}
        "#]],
    );
}

#[test]
fn a_run_inside_itself_is_left_where_it_is() {
    check::<Timeline>(
        r#"
        f^f:a:1:start  node_start  a
        g^f:a:1:start  node_start  b
        f^g:b:1:start  node_end    a
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow status=EXECUTING resumed=0 counts={completed:1}
              rows:
                nodeId=a execution=1 attempt=1 nodeType=function status=COMPLETED durationMs=0 inside=[g]
              runId=g kind=flow within={runId:f,row:0} status=EXECUTING resumed=0 counts={executing:1}
              rows:
                nodeId=b execution=1 attempt=1 nodeType=function status=EXECUTING
        "#]],
    );
}

#[test]
fn marks_stand_in_order_and_find_their_run() {
    check::<Timeline>(
        r#"
        f  run_start         swarm
        f  handoff           a b "your turn"
        f  guardrail_result  a toxicity false block
        -  guardrail_result  a length
        -  checkpoint_saved  c1
        x  diagnostic        warn test "nobody knows this run"
        f  error             "odd"
        f  run_end           finalOutput=1
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow graphId=swarm status=COMPLETED durationMs=0 output=1 resumed=0 counts={}
              marks:
                kind=handoff text=a → b: your turn
                kind=guardrail_result nodeId=a text=toxicity failed: block
                kind=guardrail_result nodeId=a text=length passed
                kind=checkpoint_saved text=c1
                kind=error text=odd
        "#]],
    );
}

#[test]
fn voices_and_missions_leave_marks_that_say_what_they_say() {
    check::<Timeline>(
        r#"
        f  run_start                   mission
        f  voice_session               nodeId=talk action=started
        f  voice_transcript            nodeId=talk text="hel" isFinal=false confidence=0.4
        f  voice_transcript            nodeId=talk text="hello" isFinal=true speaker=caller confidence=0.9
        f  voice_audio                 nodeId=talk direction=inbound format=opus durationMs=20
        f  voice_audio                 nodeId=talk direction=outbound format=opus durationMs=0
        f  voice_barge_in              nodeId=talk interruptedText="as I was" userSpeech=stop
        f  voice_turn_complete         nodeId=talk transcript="hello there" turnIndex=1 endpointReason=silence
        f  voice_session               nodeId=talk action=ended exitReason=hangup
        -  mission:planning_start      goal="ship it"
        f  mission:branch_generated    missionBranchId=m1 summary="one agent" scores={"cost":0.5}
        f  mission:branch_generated    missionBranchId=m2 summary="two agents"
        f  mission:branch_selected     missionBranchId=m1 reason=cheapest
        f  mission:refinement_applied  changes=["check twice","ask once"]
        f  mission:graph_compiled      nodeCount=4 edgeCount=1 estimatedCost=0.75
        f  mission:expansion_proposed  patch={"add":[]} reason="too slow" trigger=agent_request
        f  mission:expansion_proposed  patch={"add":["n"]} trigger=planner_reeval
        f  mission:expansion_approved  by=auto
        f  mission:expansion_rejected  by=user reason="too dear"
        f  mission:expansion_applied   nodesAdded=2
        f  mission:expansion_applied   nodesAdded=1 edgesAdded=1
        f  mission:checkpoint_saved    nodeId=write checkpointId=cp2
        f  mission:threshold_reached   threshold=cost value=9.5 cap=10
        f  mission:cost_update         totalSpent=1.25 costCap=10
        f  mission:agent_spawned       agentId=ag2 role=tester provider=scripted model=small-1
        f  mission:tool_forged         toolId=t1 name=count mode=sandbox
        f  mission:approval_required   action=deploy details={"to":"production"}
        f  mission:complete            summary="all done" totalCost=1.25 totalDurationMs=9000 agentCount=3
        "#,
        &expect![[r#"
            marks=[]
            runs:
              runId=f kind=flow graphId=mission status=EXECUTING resumed=0 counts={}
              marks:
                kind=voice_session nodeId=talk text=voice session started
                kind=voice_transcript nodeId=talk text=heard: hel…
                kind=voice_transcript nodeId=talk text=caller: hello
                kind=voice_audio nodeId=talk text=inbound audio, opus, 20 ms
                kind=voice_audio nodeId=talk text=outbound audio, opus
                kind=voice_barge_in nodeId=talk text='as I was' cut short by 'stop'
                kind=voice_turn_complete nodeId=talk text=turn 1 over, silence: hello there
                kind=voice_session nodeId=talk text=voice session ended: hangup
                kind=mission:planning_start text=planning: ship it
                kind=mission:branch_generated text=plan m1: one agent {'cost':0.5}
                kind=mission:branch_generated text=plan m2: two agents
                kind=mission:branch_selected text=plan m1 chosen: cheapest
                kind=mission:refinement_applied text=plan refined: check twice; ask once
                kind=mission:graph_compiled text=plan became a flow: 4 nodes, 1 edge, about $0.75
                kind=mission:expansion_proposed text=change proposed, agent_request: too slow
                kind=mission:expansion_proposed text=change proposed, planner_reeval: {'add':['n']}
                kind=mission:expansion_approved text=change approved by auto
                kind=mission:expansion_rejected text=change rejected by user: too dear
                kind=mission:expansion_applied text=change made: 2 nodes more
                kind=mission:expansion_applied text=change made: 1 node, 1 edge more
                kind=mission:checkpoint_saved nodeId=write text=cp2
                kind=mission:threshold_reached text=cost at 9.5 of 10
                kind=mission:cost_update text=$1.25 of $10 spent
                kind=mission:agent_spawned text=agent ag2: tester, on small-1 of scripted
                kind=mission:tool_forged text=tool count made, sandbox
                kind=mission:approval_required text=approval needed: deploy {'to':'production'}
                kind=mission:complete text=mission complete: all done (3 agents, $1.25, 9000 ms)
        "#]],
    );
}

#[test]
fn voices_and_missions_need_no_flow_to_leave_a_mark() {
    check::<Timeline>(
        r#"
        -  mission:planning_start  goal="ship it"
        v  voice_transcript        nodeId=talk text="hello" isFinal=true confidence=0.9
        m  mission:complete        summary="done" totalCost=0 totalDurationMs=1 agentCount=1
        x  error                   "of a run that is not shown"
        -  diagnostic              warn test "of no run"
        f  run_start               g
        -  mission:cost_update     totalSpent=1 costCap=2
        "#,
        &expect![[r#"
            runs:
              runId=f kind=flow graphId=g status=EXECUTING resumed=0 counts={}
              marks:
                kind=mission:cost_update text=$1 of $2 spent
            marks:
              kind=mission:planning_start text=planning: ship it
              kind=voice_transcript nodeId=talk text=heard: hello
              kind=mission:complete text=mission complete: done (1 agent, $0, 1 ms)
              kind=diagnostic text=warn: of no run
        "#]],
    );
}

#[test]
fn a_run_end_without_a_status_is_judged_by_the_rows() {
    let events = history("f node_end a FAILED\nf node_end b CANCELLED\nf run_end");
    let fold = Fold::<Timeline>::of(&events);
    let run = fold.view().run(&"f".into()).expect("it ran");
    assert_eq!(run.status.as_str(), "FAILED");
    assert_eq!((run.counts.failed, run.counts.cancelled, run.rows.len()), (1, 1, 2));
}

#[test]
fn a_list_without_marks_is_empty() {
    check::<Timeline>(
        "f run_start report",
        &expect![[r#"
        marks=[]
        runs:
          runId=f kind=flow graphId=report status=EXECUTING resumed=0 counts={}
    "#]],
    );
}
