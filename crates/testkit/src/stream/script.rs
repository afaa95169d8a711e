//! The scripts: tables of what happens, as [`history`](crate::history) reads them, for any number of runs.
//!
//! In a script `$` stands for the number of the script, so that two of them do not share ids unless they are
//! given the same number. A line that begins with `*` is there as often as the script is long, `%` counting.

use std::collections::HashMap;
use std::fmt::Write;

use antiphon_event::{Agent, Event, Kind, RunId};
use proptest::prelude::*;

use crate::history;

/// One of the scripts, with its number and its length.
#[derive(Debug, Clone)]
pub(super) struct Script {
    table: &'static str,
    number: u8,
    length: u8,
}

/// Any script; the ordinary ones more often.
pub(super) fn script() -> impl Strategy<Value = Script> {
    let table = prop_oneof![
        3 => Just(ANSWER),
        3 => Just(TOOLS),
        3 => Just(SUBAGENTS),
        3 => Just(FLOW),
        2 => Just(REFUSED),
        2 => Just(RETRIED),
        2 => Just(ORPHANS),
        2 => Just(NODES),
        1 => Just(PAUSED),
        1 => Just(PROVIDER),
        1 => Just(REPL),
        1 => Just(SESSION),
        2 => Just(SUMMARIES),
        1 => Just(CIRCLES),
        1 => Just(OWN_CHILDREN),
        1 => Just(SHARED),
        2 => Just(LENT),
        1 => Just(VOICE_AND_MISSION),
    ];
    (table, 0_u8..6, 1_u8..4).prop_map(|(table, number, length)| Script { table, number, length })
}

impl Script {
    /// What happens, with everything a producer could say about it.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut table = String::new();
        for line in self.table.lines() {
            let line = line.trim().replace('$', &self.number.to_string());
            match line.strip_prefix('*') {
                None => writeln!(table, "{line}").expect("memory takes every line"),
                Some(line) => (0..self.length).for_each(|count| {
                    let line = line.replace('%', &count.to_string());
                    writeln!(table, "{line}").expect("memory takes every line");
                }),
            }
        }
        let mut events = history(&table);
        let mut steps = HashMap::new();
        for event in &mut events {
            dress(event, self.number, &mut steps);
        }
        events
    }
}

/// Says which turn, trace, span, agent and message an event belongs to.
fn dress(event: &mut Event, number: u8, steps: &mut HashMap<RunId, u32>) {
    let Some(run) = event.head.run_id.clone() else {
        return;
    };
    let level = run.as_str().chars().filter(|c| *c == '.').count() as u32;
    let digits: u32 = run.as_str().bytes().map(u32::from).sum();
    event.head.event_flow_id = Some(format!("u{number}").into());
    event.head.trace_id = Some(format!("{number:032x}").into());
    event.head.span_id = Some(format!("{digits:016x}").into());
    event.head.parent_span_id = (level > 0).then(|| format!("{:016x}", digits - 46).into());
    let step = steps.entry(run.clone()).or_insert(1);
    event.head.message_id = Some(format!("{run}/m{step}").into());
    if event.kind() == Kind::Usage {
        *step += 1;
    }
    if run.as_str().starts_with('a') {
        let names: Vec<String> = (0..=level).map(|depth| format!("agent{depth}")).collect();
        let agent = Agent {
            id: format!("agent{level}").as_str().into(),
            name: names.last().cloned(),
            parent_id: level.checked_sub(1).map(|depth| format!("agent{depth}").into()),
            depth: level,
            chain: names,
            extra: serde_json::Map::default(),
        };
        event.head.agent = Some(agent.into());
    }
}

const ANSWER: &str = r#"
    u$          user           "question $"
    a$^u$:user  harness_start  maxIterations=3 depth=0 agentId=agent0
    *a$         reasoning      a$/r1 "hm %. "
    *a$         text           a$/t1 "word % "
    a$          reasoning      a$/r1 "once more. " signature=sig
    *a$         text           a$/t1 "and % "
    a$          usage          50 20 model=small costUsd=0.0001 cacheReadTokens=5 cacheCreationTokens=1
    a$          harness_end    done iterations=1 totalUsage={"inputTokens":50,"outputTokens":20}
    v$^a$:harness_end  user    [{"type":"text","text":"thanks"},{"type":"image","mediaType":"image/png","data":"AA=="}] delivery=steer
"#;

const TOOLS: &str = r#"
    u$          user           "list files"
    a$^u$:user  harness_start
    *a$         text           a$/t1 "I will look % "
    *a$         tool_call      a$/c% bash {"command":"ls %"} harness=shell callType=function
    a$          tool_call      a$/bad read {"__toolParseError":true,"parseError":"eof","rawArguments":"{"}
    a$          usage          60 30 model=large costUsd=0.1
    a$          tool_result    a$/bad "bad arguments" isError=true
    a$          relay          a$/p1 permission a$/c0 bash {"command":"ls 0"} expiresAt=2030-01-01T00:00:00.000Z
    a$          relay_resolved a$/p1 true user scope=session
    -           grant_added    {"tool":"bash"} session user
    *a$         tool_call      a$/c% bash {"command":"ls -l %"}
    *a$         tool_progress  a$/g% a$/c% "half %"
    a$          tool_progress  a$/g0 a$/c0 {"done":1}
    a$          tool_result    a$/c2 ["z"]
    a$          tool_result    a$/c1 {"error":"gone"} isError=true
    a$          tool_result    a$/c0 "a b" provenance=web
    a$          text           a$/t1~2 "There are two."
    a$          usage          90 10
    a$          harness_end    done iterations=2
"#;

const REFUSED: &str = r#"
    a$          harness_start
    a$          text           a$/t1 "I would like to"
    a$          tool_call      a$/c0 bash {"command":"rm x"}
    a$          tool_call      a$/c1 ask {"q":"?"}
    a$          usage          10 5 model=small
    a$          relay          a$/p0 permission a$/c0 bash {"command":"rm x"}
    a$          relay_resolved a$/p0 false user reason=no
    a$          relay          a$/q1 question a$/c1 prompt="which?" options=["a","b"] schema={"type":"string"}
    -           relay_resolved a$/q1 by=alice answer="a" input={"q":"a"}
    a$          tool_result    a$/c0 "denied" isError=true
    a$          tool_call      a$/c1 ask {"q":"?"}
    a$          tool_result    a$/c1 "a"
    a$          relay          a$/k1 continuation prompt="go on?"
    a$          cancel_requested user now
    a$          harness_end    cancelled iterations=1
"#;

const SUBAGENTS: &str = r#"
    a$          harness_start  depth=0
    *a$         tool_call      a$/s% agent {"task":"%"} callType=sub_agent
    a$          usage          5 5
    *a$.%^a$/s% harness_start  depth=1
    *a$.%       reasoning      a$.%/r "think %"
    *a$.%       text           a$.%/t "found "
    *a$.%       text           a$.%/t "it %"
    *a$.%       tool_call      a$.%/c bash {"command":"grep"}
    *a$.%       usage          1 1 model=tiny costUsd=0.000000001
    a$.0.0^a$.0/c harness_start depth=2
    a$.0.0      text           a$.0.0/t "deep"
    a$.0.0      error          "boom" code=overloaded retryable=true
    a$.0.0      harness_end    error
    *a$.%       tool_result    a$.%/c "line %"
    *a$.%       harness_end    done
    *a$         tool_result    a$/s% "found it %"
    a$          harness_end    max_iterations
"#;

const RETRIED: &str = r#"
    a$          harness_start
    *a$         text           a$/t1 "half an ans"
    a$          reasoning      a$/r1 "half a thought"
    a$          tool_call      a$/c1 bash {}
    a$          model_retry    2 ["a$/t1","a$/r1","a$/c1","never"] overloaded
    *a$         text           a$/t2 "an answer "
    a$          text           a$/t1 "late"
    a$          usage          3 4 model=small costUsd=0.3
    a$          model_retry    3 ["a$/t2"]
    a$          error          "gave up"
    a$          harness_end    error
    a$          resumed
    a$          text           a$/t3 "again"
    a$          harness_end    interrupted
"#;

const PROVIDER: &str = r#"
    p$          text           t1 "raw "
    *p$         text           t1 "ids %"
    *p$         tool_call      call_% bash {"n":%}
    p$          usage          7 8 model=raw
    q$          text           t1 "the same ids"
    q$          tool_call      call_0 bash {"n":9}
    q$          usage          7 8
    q$          tool_result    call_0 "for q"
    p$          tool_result    call_0 "for p"
"#;

const REPL: &str = r#"
    a$          harness_start
    *a$         text           a$/t% "let me compute"
    *a$         repl_input     a$/x% "print(%)" iteration=%
    *a$         repl_progress  a$/x% "%\n" stdout
    *a$         repl_progress  a$/x% "warn" stderr
    a$.0^a$/x0  text           a$.0/t "queried"
    a$.0        usage          1 1
    *a$         repl_output    a$/x% "%\nwarn" false iteration=% durationMs=3 truncated=true
    a$          repl_progress  a$/x9 "lost" stdout
    a$          repl_output    a$/x8 "never asked" true error="ReferenceError"
    a$          repl_progress  a$/s "early" stdout
    a$          tool_result    a$/s "what a call gave"
    a$          repl_output    a$/s "what code printed" false
    a$          tool_call      a$/s bash {"n":1}
    a$          tool_progress  a$/g a$/s "half"
    a$          repl_input     a$/s "print()"
    a$          harness_end    done
"#;

const FLOW: &str = r#"
    f$          run_start      report
    f$          layer_start    0
    f$          node_start     research 1 1 nodeType=agent
    a$^f$:research:1:start harness_start nodeId=research
    *a$         text           a$/t "facts % " nodeId=research
    a$          tool_call      a$/c search {"q":"x"} nodeId=research
    a$          usage          20 5 nodeId=research model=small costUsd=0.01
    a$          tool_result    a$/c ["fact"] nodeId=research
    a$          harness_end    done nodeId=research
    f$          node_end       research COMPLETED "facts" edges=[{"to":"write","live":true},{"to":"skip","live":false}] durationMs=12 telemetry={"iterations":1,"totalTokens":25,"costUsd":0.01} writes={"notes":["a"]}
    f$          layer_end      0
    f$          edge_transition research write conditional condition="!state.ok"
    f$          node_skipped   skip "dead edge"
    f$          layer_start    1
    *f$         node_start     write 1 1 nodeType=command
    f$          node_retry     write 1 delayMs=5 error={"message":"exit 1","code":"failed"}
    f$          node_start     write 1 2
    f$          node_timeout   write 100
    f$          node_end       write FAILED null attempt=2 error={"code":"timeout","message":"slow"}
    f$          edge_transition write research back
    f$          node_start     research 2 1
    b$^f$:research:2:start text b$/t "second pass" nodeId=research nodePath=["outer","research"]
    b$          usage          2 2 nodeId=research
    f$          node_end       research COMPLETED "more" execution=2
    f$          handoff        research write "yours"
    f$          state_patched  {"n":1}
    f$          checkpoint_saved ck1 research
    f$          guardrail_result research g1 false block
    f$          guardrail:hitl-override nodeId=research guardrailId=g1 reason=fine
    f$          memory_read    nodeId=research traceCount=2
    f$          memory_write   nodeId=research traceType=fact value="x"
    f$          discovery_result nodeId=research toolsFound=["a"]
    f$          diagnostic     warn flow "slow"
    f$          layer_end      1
    f$          run_end        FAILED null reason=node_failed pending=[{"nodeId":"review","why":"write failed"}] totalDurationMs=40
"#;

/// Flow nodes that speak in the run of their flow, some of them at once.
const NODES: &str = r#"
    f$          run_start      talk
    f$          node_start     a 1 1 nodeType=agent
    f$          node_start     b 1 1 nodeType=agent
    f$          harness_start  nodeId=a agentId=ann depth=0
    f$          text           f$/a "a " nodeId=a
    *f$         reasoning      f$/b "b% " nodeId=b
    f$          text           f$/o "of the flow "
    *f$         text           f$/a "a% " nodeId=a
    f$          reasoning      f$/b "b "
    f$          text           f$/o "once more "
    f$          tool_call      f$/c bash {} nodeId=a
    f$          tool_call      f$/d agent {} nodeId=b
    g$^f$/d     harness_start  agentId=bob
    g$          text           f$/t "below" at=2027-01-14T08:00:00.000Z
    f$          usage          1 1 nodeId=a
    f$          relay          f$/r permission f$/d agent nodeId=b
    f$          tool_result    f$/d "done"
    f$          tool_result    f$/c "done" nodeId=a
    f$          text           f$/b2 "b again" nodeId=b at=2027-01-14T07:59:00.000Z
    f$          text           f$/a2 "a again" nodeId=a
    f$          model_retry    2 ["f$/a2"] nodeId=a
    f$          node_end       a
    f$          relay          f$/h approval nodeId=c
    f$          error          "went wrong" nodeId=b
    f$          node_end       b FAILED
    f$          harness_start  nodeId=a
    f$          node_start     a 2 1
    f$          text           f$/a3 "once more" nodeId=a
    f$          layer_end      0
    f$          run_end        FAILED
    f$          text           f$/a3 "late" nodeId=a
"#;

const PAUSED: &str = r#"
    f$          run_start      gated
    f$          node_start     gate 1 1 nodeType=human
    f$          relay          f$/g approval nodeId=gate prompt="Publish?" options=["yes","no"]
    f$          interrupt      gate human_approval
    f$          node_start     other
    f$          node_end       other
    f$          relay_resolved f$/g true alice nodeId=gate scope=call
    f$          resumed
    f$          node_end       gate COMPLETED {"approved":true}
    f$          run_end        COMPLETED "out"
    f$          resumed
    f$          run_end        CANCELLED null reason=cancelled
"#;

const ORPHANS: &str = r#"
    a$          tool_result    nobody "for nobody"
    a$          tool_progress  pr1 c-late "before its call"
    a$          relay          r-late permission c-late bash
    -           relay_resolved r-never true
    -           relay_resolved r-late2 false bob
    o$^c-late   harness_start
    o$          text           o$/t "a child before its parent"
    a$          tool_result    c-late "result first" isError=true
    a$          tool_call      c-late bash {}
    a$          relay          r-late2 question prompt="asked after its answer"
    n$^never    text           n$/t "a parent that never comes"
    n$          harness_end
    m$^o$       harness_start
    m$          usage          1 2
"#;

const CIRCLES: &str = r#"
    x$^y$:harness_start  harness_start
    y$^x$:harness_start  harness_start
    x$          text           x$/t "who was first?"
    y$          text           y$/t "nobody"
    z$^z$:user  user           "caused by itself"
    z$^z$       text           z$/t "still"
    x$^w$/c     tool_call      x$/c agent {}
    w$^x$/c     tool_call      w$/c agent {}
    w$          tool_result    x$/c "crossed"
"#;

const OWN_CHILDREN: &str = r#"
    s$^s$/c     harness_start
    *s$         tool_call      s$/d% agent {}
    *t$.%^s$/d% text           t$.%/t "below %"
    s$          usage          1 1
    s$          text           s$/t "the next step"
    s$          tool_call      s$/c agent {}
    k$^l$/c     text           k$/t "first of two"
    m$^k$       text           m$/t "beside the first"
    l$^k$/x     text           l$/t "second of two"
    k$          harness_end    done
    k$          resumed
    n$^k$:resumed:1  repl_input  n$/y "ask()"
    k$          repl_input     k$/x "ask()"
    m$          tool_call      l$/c agent {}
    l$          tool_call      l$/c agent {}
    v$^n$/y     text           v$/t "deeper"
    w$^v$/z     repl_input     w$/z "ask()"
    v$          repl_input     v$/z "ask()"
"#;

const SHARED: &str = r#"
    p$          tool_call      c bash {"of":"p"}
    q$          repl_input     x "of q"
    q$          relay          r permission c bash prompt="of q"
    p$          relay          r question c prompt="of p"
    q$          tool_result    c "of q" isError=true
    q$          relay_resolved r false ann
    -           relay_resolved r true bob
    p$          repl_progress  x "of p" stdout
    p$          tool_result    c "of p"
    q$          tool_call      c bash {"of":"q"}
    p$          repl_input     x "of p"
    p$          relay_resolved r by=cy answer="of p"
    q$          relay          r permission c bash prompt="again of q"
    *q$         tool_progress  g c "%"
    q$          repl_output    x "of q" false
    p$          repl_output    x "of p" true error="gone"
    q$          tool_result    c "at last"
    p$          relay          n question prompt="of p"
    q$          relay          n approval prompt="of q"
    p$          relay_resolved n by=ann answer="of p"
    q$          harness_end    done
    -           summary        r ["msg:p$/m1"] "of p"
    -           summary        s ["msg:r"] "of p again"
    -           history_compacted r ["msg:s","msg:q$/m1"]
"#;

/// What runs say of calls that others make by the same ids, before they make them themselves, and if they never do.
const LENT: &str = r#"
    q$          tool_result    x "of q"
    p$          tool_call      x bash {"of":"p"}
    r$          tool_progress  g x "of r"
    p$          tool_progress  g x "of p"
    q$          tool_progress  g x "of q"
    *q$         tool_progress  h% x "more of q"
    q$          tool_call      x bash {"of":"q"}
    p$          tool_result    x "of p" isError=true
    q$          tool_result    x "again of q" isError=true
    r$          tool_call      x bash {"of":"r"}
    s$          tool_result    x "of s"
    p$          tool_call      y bash {"of":"p"}
    *s$         tool_progress  g% y "of s"
    s$          tool_result    y "of s" isError=true
    t$          tool_result    y "of t"
    p$          tool_call      y bash {"again":"of p"} later=true
    s$          relay          k permission y bash
    s$          tool_call      y bash {"of":"s"}
    p$          tool_progress  g0 y "of p"
    t$          repl_output    z "of t" false
    p$          repl_input     z "of p"
    p$          tool_call      c bash {"by":"code"}
    s$          repl_progress  z "of s" stdout
    t$          repl_input     z "of t"
    s$          repl_input     z "of s"
    p$          repl_output    z "of p" true
    p$          repl_input     w "of p"
    *p$         repl_progress  w "% of p" stdout
    s$          repl_progress  w "of s" stderr
    p$          repl_progress  w "more of p" stdout
    p$          text           o "one id" index=0 later={"n":1e999}
    p$          reasoning      o "for three"
    p$          tool_call      o bash {"n":0}
    p$          tool_call      p$/o bash {"n":1}
    p$          tool_call      p$/o~2 bash {"n":2}
    p$          tool_result    o "of o"
"#;

const SESSION: &str = r#"
    -           session_created title="A session" metadata={"k":1}
    -           branch_created {"branchId":"main","seq":3,"hash":"00"}
    -           connected      after=3
    u$          user           "first"
    a$^u$:user  text           a$/t "answer"
    a$          usage          1 1
    -           summary        s$ ["msg:u$/m1","msg:a$/m1","msg:never"] "asked and answered"
    -           active_changed collapse ["msg:a$/m1","msg:never"]
    -           active_changed toggle ["msg:u$/m1"]
    -           history_compacted s$ ["msg:u$/m1"]
    -           active_changed full
    a$          budget_reserved b$ {"tokens":100,"costUsd":0.5}
    a$          budget_settled b$ {"tokens":20,"later":1}
    -           later_type     id=a$/t content="of a later version"
    a$          later_type     id=a$/t deep={"x":[1,2]}
    -           error          "session trouble"
    -           active_changed later_op ["x"]
"#;

const SUMMARIES: &str = r#"
    -           summary        i$ ["msg:h$","msg:g$/m1","msg:j$/m1","i$"] "of what comes later"
    -           history_compacted k$ ["msg:g$/m2","msg:i$"]
    g$          user           "first"
    -           summary        h$ ["msg:i$","msg:g$/m1","msg:f0"] "would be its own"
    j$^g$:user  text           j$/t "answer"
    -           active_changed expand ["i$"]
    *-          summary        f% ["msg:f0","msg:f1","msg:g$/m1","msg:j$/m%"] "of each other"
    j$          usage          1 1
    j$          text           j$/t2 "and more"
    -           active_changed branch ["msg:j$/m1"]
    *-          active_changed toggle ["msg:f%","msg:h$"]
    j$          summary        k$ ["msg:j$/m2","msg:f0"] "with a run"
    -           active_changed collapse ["msg:j$/m1"]
    g$          user           "second"
    -           history_compacted i$ ["msg:k$","msg:g$/m2"]
    *-          active_changed expand ["msg:f%","k$"]
    -           active_changed full
    x$^c        text           x$/t "in the scope of nobody knows what"
    x$          summary        y$ ["msg:x$/m1"] "by one of them"
    -           active_changed branch ["msg:f0"]
    j$          tool_call      c agent {}
    -           active_changed append ["msg:f1","msg:k$"]
    -           active_changed default
"#;

const VOICE_AND_MISSION: &str = r#"
    v$          voice_session  nodeId=v action=started
    v$          voice_transcript nodeId=v text="hel" isFinal=false confidence=0.5
    v$          voice_audio    nodeId=v direction=inbound format=pcm durationMs=20
    v$          voice_barge_in nodeId=v interruptedText="as I" userSpeech="stop"
    v$          voice_turn_complete nodeId=v transcript="hello" turnIndex=1 endpointReason=silence
    v$          voice_session  nodeId=v action=ended exitReason=hangup
    -           mission:planning_start goal="g"
    -           mission:branch_generated missionBranchId=b1 summary=s scores={}
    -           mission:branch_selected missionBranchId=b1 reason=best
    -           mission:refinement_applied changes=["c"]
    -           mission:graph_compiled nodeCount=1 edgeCount=0 estimatedCost=0.1
    -           mission:expansion_proposed patch={} trigger=t reason=r
    -           mission:expansion_approved by=user patchId=p
    -           mission:expansion_rejected by=user patchId=p reason=r
    -           mission:expansion_applied nodesAdded=1 edgesAdded=1
    -           mission:checkpoint_saved checkpointId=c nodeId=n
    -           mission:threshold_reached threshold=t value=1 cap=1
    -           mission:cost_update totalSpent=1 costCap=2
    -           mission:agent_spawned agentId=a role=r provider=p model=m
    -           mission:tool_forged toolId=t name=n mode=compose
    -           mission:approval_required action=a details={}
    -           mission:complete summary=s totalCost=1 totalDurationMs=5 agentCount=1
"#;
