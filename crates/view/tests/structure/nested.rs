//! What the `nested` view shows, as tables.

use antiphon_event::Event;
use antiphon_testkit::{history, numbered};
use antiphon_view::{Fold, Nested};
use expect_test::{Expect, expect};

use super::folded;

/// Draws the nodes as a tree, after checking the laws.
#[track_caller]
fn check(table: &str, expected: &Expect) {
    check_events(&history(table), expected);
}

#[track_caller]
fn check_events(events: &[Event], expected: &Expect) {
    let fold = Fold::<Nested>::of(events);
    folded::<Nested>(events);
    let mut drawn = String::new();
    for (depth, node) in fold.view().walk() {
        let mut members = serde_json::to_value(node).expect("a node is JSON");
        let members = members.as_object_mut().expect("a node is an object");
        members.shift_remove("parent");
        let words: Vec<_> = members
            .iter()
            .filter(|(name, _)| *name != "level" && *name != "id")
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let line = format!("{}{} {} {}\n", "  ".repeat(depth), members["level"], node.id, words.join(" "));
        drawn.push_str(&line.replace("\\\"", "'").replace('"', ""));
    }
    expected.assert_eq(&drawn);
}

#[test]
fn each_level_hangs_from_the_one_above_it() {
    let events = numbered(history(
        r#"
        u  user            "go" eventFlowId=f messageId=m0
        a  harness_start   eventFlowId=f agent={"id":"lead","name":"Lead"}
        a  reasoning       r "hm" eventFlowId=f messageId=m1 agent={"id":"lead"}
        a  text            t "I will " eventFlowId=f messageId=m1 agent={"id":"lead"}
        a  text            t "look." eventFlowId=f messageId=m1
        a  tool_call       c bash {"cmd":"ls"} eventFlowId=f messageId=m1
        a  relay           p permission c bash eventFlowId=f
        -  relay_resolved  p true
        a  tool_result     c "files"
        a  usage           1 1 messageId=m1
        a  harness_end     done
        "#,
    ));
    check_events(
        &events,
        &expect![[r#"
            scope s/main events=0
              flow f events=0
                message m0 label=user text=go events=1
                agent lead label=Lead status=done events=2
                  message m1 label=assistant text=I will look. reasoning=hm events=4
                    call c label=bash status=done input={'cmd':'ls'} output=files events=2
                      request p label=permission status=approved events=2
        "#]],
    );
}

#[test]
fn what_a_flow_says_of_a_node_hangs_from_its_last_execution() {
    check(
        r#"
        w  handoff          drafter reviewer nodeId=drafter
        w  run_start        x
        w  node_start       drafter
        w  node_end         drafter COMPLETED
        w  node_start       drafter execution=2
        w  text             t "I pass it on." nodeId=drafter agent={"id":"d"}
        w  edge_transition  drafter reviewer nodeId=drafter
        w  handoff          drafter reviewer nodeId=drafter
        w  handoff          reviewer drafter nodeId=reviewer
        w  handoff          drafter reviewer
        "#,
        &expect![[r#"
            workflow w label=x status=EXECUTING events=1
              moment handoff label=handoff text=drafter → reviewer events=1
              node drafter:1 label=drafter status=COMPLETED events=2
              node drafter:2 label=drafter status=EXECUTING events=2
                agent d events=0
                  message t label=assistant text=I pass it on. events=1
                moment handoff label=handoff text=drafter → reviewer events=1
              moment handoff label=handoff text=reviewer → drafter events=1
              moment handoff label=handoff text=drafter → reviewer events=1
        "#]],
    );
}

#[test]
fn a_missing_level_is_skipped() {
    check(
        r#"
        a  text       t "only a run"
        b  text       t "a trace" traceId=x
        b  tool_call  c bash
        c  text       t "an agent" agent={"id":"","chain":["A","B"]}
        d  text       t "a message" messageId=m
        "#,
        &expect![[r#"
            run a events=0
              message t label=assistant text=only a run events=1
            trace x events=0
              message t label=assistant text=a trace events=1
              call c label=bash status=pending input={} events=1
            agent A/B label=B events=0
              message t label=assistant text=an agent events=1
            run d events=0
              message m label=assistant text=a message events=1
        "#]],
    );
}

#[test]
fn a_flow_once_known_is_used_for_its_trace_and_its_run() {
    check(
        r#"
        a  text   t "1" eventFlowId=f traceId=x
        b  text   t "2" traceId=x
        b  error  "3"
        "#,
        &expect![[r#"
            flow f events=0
              message t label=assistant text=1 events=1
              message t label=assistant text=2 events=1
              moment error label=error text=3 events=1
        "#]],
    );
}

#[test]
fn results_and_answers_before_their_start_keep_a_place_for_it() {
    check(
        r#"
        a  tool_result     c "early"
        -  relay_resolved  p false reason="no"
        a  tool_progress   g d "half"
        a  relay           p permission c bash eventFlowId=f
        a  tool_call       c bash {} eventFlowId=f messageId=m
        "#,
        &expect![[r#"
            run a events=0
              call d orphan=true status=running events=1
            flow f events=0
              message m events=0
                call c label=bash status=done input={} output=early events=2
                  request p label=permission status=denied output=no events=2
        "#]],
    );
}

#[test]
fn a_run_hangs_from_the_call_that_caused_it_whichever_comes_first() {
    check(
        r#"
        a    harness_start  eventFlowId=f agent={"id":"lead"}
        a    tool_call      c1 agent eventFlowId=f
        b^c1 harness_start  eventFlowId=f agent={"id":"sub","parentId":"lead"}
        b    text           t "working"
        d^c2 harness_start  eventFlowId=f agent={"id":"other"}
        a    tool_call      c2 agent eventFlowId=f
        e^c2 text           t "no metadata" eventFlowId=f
        "#,
        &expect![[r#"
            flow f events=0
              agent lead status=running events=1
                call c1 label=agent status=pending input={} events=1
                  agent sub status=running events=1
                    message t label=assistant text=working events=1
                call c2 label=agent status=pending input={} events=1
                  agent other status=running events=1
                  run e events=0
                    message t label=assistant text=no metadata events=1
        "#]],
    );
}

#[test]
fn agents_hang_from_agents_they_name_and_agents_in_nodes_from_the_node() {
    check(
        r#"
        x                harness_start  agent={"id":"child","parentId":"boss"}
        y                harness_start  agent={"id":"boss"}
        f                run_start      report
        f                node_start     n
        r^f:n:1:start    harness_start  agent={"id":"writer"}
        f                node_end       n
        f                run_end        COMPLETED
        "#,
        &expect![[r#"
            agent boss status=running events=1
              agent child status=running events=1
            workflow f label=report status=COMPLETED events=2
              node n:1 label=n status=COMPLETED events=2
                agent writer status=running events=1
        "#]],
    );
}

#[test]
fn a_question_of_a_node_hangs_from_the_execution_that_asks() {
    check(
        r#"
        f  run_start       gate
        f  relay           g approval nodeId=gate
        f  node_start      nodeId=gate
        f  node_start      nodeId=other
        f  relay           q approval nodeId=gate
        -  relay_resolved  q true
        "#,
        &expect![[r#"
            workflow f label=gate status=EXECUTING events=1
              request g label=approval status=pending events=1
              node gate:1 label=gate status=EXECUTING events=1
                request q label=approval status=approved events=2
              node other:1 label=other status=EXECUTING events=1
        "#]],
    );
}

#[test]
fn the_same_id_in_two_branches_or_runs_is_two_nodes() {
    check(
        r#"
        a  text       t "1" sessionId=s branchId=main messageId=m
        a  text       t "2" sessionId=s branchId=b2 messageId=m
        a  tool_call  c x {} sessionId=s branchId=main
        z  tool_call  c y {} sessionId=s branchId=main
        z  tool_result c "of y" sessionId=s branchId=main
        "#,
        &expect![[r#"
            scope s/main events=0
              run a events=0
                message m label=assistant text=1 events=1
                call c label=x status=pending input={} events=1
              run z events=0
                call c label=y status=done input={} output=of y events=2
            scope s/b2 events=0
              run a events=0
                message m label=assistant text=2 events=1
        "#]],
    );
}

#[test]
fn a_parent_once_known_stays() {
    check(
        r#"
        a  text       t "1" eventFlowId=f messageId=m
        a  text       t "2" eventFlowId=g messageId=m
        a  tool_call  c bash {} messageId=m
        a  tool_call  c bash {} messageId=n
        "#,
        &expect![[r#"
            flow f events=0
              message m label=assistant text=12 events=2
                call c label=bash status=running input={} events=2
        "#]],
    );
}

#[test]
fn what_a_retry_discards_is_marked_and_gives_way_to_what_follows() {
    check(
        r#"
        a  text         t1 "half an ans" messageId=m
        a  text         t9 "alone"
        a  tool_call    c bash
        a  model_retry  2 ["t1","t9","c","nobody"]
        a  text         t2 "whole answer" messageId=m
        "#,
        &expect![[r#"
            run a events=1
              message m label=assistant text=whole answer events=2
              message t9 label=assistant text=alone discarded=true events=1
              call c label=bash status=pending input={} discarded=true events=1
        "#]],
    );
}

#[test]
fn a_result_without_a_session_or_of_another_run_finds_its_call() {
    check(
        "
        a tool_call c x sessionId=s branchId=main
        a tool_result c R
        a tool_call d x
        a tool_result d R sessionId=s branchId=main
        a tool_call e x sessionId=s branchId=main
        a tool_result e R sessionId=s
        a tool_call f x
        b tool_result f R
        b tool_result g R
        a tool_call g x sessionId=s branchId=main
        x tool_call h x
        x tool_result h R sessionId=s branchId=main
        ",
        &expect![[r#"
            scope s/main events=0
              run a events=0
                call c label=x status=done input={} output=R events=2
                call d label=x status=done input={} output=R events=2
                call e label=x status=done input={} output=R events=2
                call f label=x status=done input={} output=R events=2
                call g label=x status=done input={} output=R events=2
            run b events=0
            run x events=0
              call h label=x status=done input={} output=R events=2
        "#]],
    );
}

#[test]
fn an_answer_without_a_session_or_of_another_run_finds_its_request() {
    check(
        "
        a relay p question sessionId=s branchId=main
        - relay_resolved p true
        a relay q question
        b relay_resolved q true sessionId=s branchId=main
        x relay w question
        x relay_resolved w true sessionId=s branchId=main
        - relay_resolved r true sessionId=s
        a relay r question sessionId=s branchId=main
        ",
        &expect![[r#"
            scope s/main events=0
              run a events=0
                request p label=question status=approved events=2
                request q label=question status=approved events=2
                request r label=question status=approved events=2
            run x events=0
              request w label=question status=approved events=2
            scope s/ events=0
        "#]],
    );
}

#[test]
fn equal_ids_of_two_runs_or_sessions_are_two_calls_and_two_requests() {
    check(
        "
        a tool_call c xa
        b tool_call c xb
        a relay q permission c xa prompt=A
        b relay q permission c xb prompt=B
        a relay_resolved q true
        b tool_result c RB
        a tool_call c one sessionId=s branchId=main
        a tool_result c R sessionId=t branchId=main
        k^c text t child
        l^b/c text t child
        ",
        &expect![[r#"
            run a events=0
              call c label=xa status=pending input={} events=1
                request q label=permission status=approved input=A events=2
                run k events=0
                  message t label=assistant text=child events=1
            run b events=0
              call c label=xb status=done input={} output=RB events=2
                request q label=permission status=answered_elsewhere input=B events=1
                run l events=0
                  message t label=assistant text=child events=1
            scope s/main events=0
              run a events=0
                call c label=one status=pending input={} events=1
            scope t/main events=0
              run a events=0
                call c orphan=true label=tool status=done output=R events=1
        "#]],
    );
}

#[test]
fn code_is_a_call_and_what_it_calls_hangs_from_it() {
    check(
        r#"
        r     repl_input     p0 "llm_query()" messageId=m
        r     relay          q permission p0 exec
        s^p0  harness_start  agentId=reader
        s     text           t "42"
        r     repl_progress  p0 "4"
        r     repl_output    p0 "42\n"
        r     repl_input     p1 "oops("
        r     repl_output    p1 "" false error="SyntaxError"
        r     repl_input     p2 "FINAL(1)"
        r     repl_output    p2 "" true answer="1"
        r     repl_input     p3 "sleep()"
        r     repl_output    p4 "early"
        r     repl_input     p4 "print()"
        o     repl_output    p3 "lent"
        o     repl_output    nobody ""
        "#,
        &expect![[r#"
            run r events=0
              message m events=0
                call p0 label=code status=done input=llm_query() output=42 events=3
                  request q label=permission status=answered_elsewhere events=1
                  agent reader status=running events=1
                    message t label=assistant text=42 events=1
              call p1 label=code status=error input=oops( output=SyntaxError events=2
              call p2 label=code status=done input=FINAL(1) output=1 events=2
              call p3 label=code status=done input=sleep() output=lent events=2
              call p4 label=code status=done input=print() output=early events=2
            run o events=0
              call nobody orphan=true label=code status=done events=1
        "#]],
    );
}

#[test]
fn a_run_hangs_from_the_run_that_caused_it_whichever_comes_first() {
    check(
        r#"
        a    harness_start
        b^a  harness_start
        b    text           t "B"
        d^c  harness_start  agentId=early
        c    text           t "C"
        e^a  text           t "E"
        a    harness_end    done
        x^x  harness_start
        y^z  harness_start
        z^y  harness_start
        "#,
        &expect![[r#"
            run a status=done events=2
              run b status=running events=1
                message t label=assistant text=B events=1
              run e events=0
                message t label=assistant text=E events=1
            run c events=0
              agent early status=running events=1
              message t label=assistant text=C events=1
            run x status=running events=1
            run y status=running events=1
              run z status=running events=1
        "#]],
    );
    check(
        r#"
        u    user           "go" eventFlowId=u
        a^u  harness_start  eventFlowId=u
        a    text           t "A" eventFlowId=u
        b^a  harness_start  eventFlowId=u agent={"id":"sub","name":"Sub"}
        b^a  text           t "B" eventFlowId=u
        d^b  text           t "D" eventFlowId=u
        a    tool_call      b agent
        e^b  harness_start  eventFlowId=u
        v^a  user           "more" eventFlowId=v
        "#,
        &expect![[r#"
            flow u events=0
              message u label=user text=go events=1
              run a status=running events=1
                message t label=assistant text=A events=1
                agent sub label=Sub status=running events=1
                  message t label=assistant text=B events=1
                  run d events=0
                    message t label=assistant text=D events=1
                call b label=agent status=pending input={} events=1
                  run e status=running events=1
            flow v events=0
              message v label=user text=more events=1
        "#]],
    );
}

#[test]
fn an_agent_that_only_its_start_names_is_an_agent() {
    check(
        r#"
        a    harness_start  agentId=lead eventFlowId=f
        a    text           t "A" eventFlowId=f
        a    tool_call      c agent eventFlowId=f
        b^c  harness_start  agentId=scout depth=1 eventFlowId=f
        b    text           t "B" eventFlowId=f
        b    harness_end    done eventFlowId=f
        x    harness_start  agentId=alone
        x    text           t "X"
        "#,
        &expect![[r#"
            flow f events=0
              agent lead status=running events=1
                message t label=assistant text=A events=1
                call c label=agent status=pending input={} events=1
                  agent scout status=done events=2
                    message t label=assistant text=B events=1
            agent alone status=running events=1
              message t label=assistant text=X events=1
        "#]],
    );
}

#[test]
fn what_happens_in_a_node_of_its_own_flow_hangs_from_the_node() {
    check(
        r#"
        f  run_start      g
        f  text           t0 "before" nodeId=a
        f  node_start     a nodeType=agent
        f  text           t1 "A says" nodeId=a
        f  node_end       a
        f  text           t1 ", late" nodeId=a
        f  node_start     b nodeType=agent
        f  text           t2 "B says" nodeId=b messageId=m
        f  tool_call      c bash {} nodeId=b
        f  relay          q permission c bash nodeId=b
        f  tool_result    c "ok" nodeId=b
        f  relay          p question nodeId=b
        f  usage          1 1 nodeId=b
        f  guardrail_result b toxicity false block
        f  node_start     a 2
        f  text           t3 "again" nodeId=a agent={"id":"writer"}
        f  text           t3 ", and on" nodeId=a
        f  tool_call      d bash {} nodeId=a
        f  text           t4 "of nobody"
        f  node_start     w nodeType=agent
        f  text           t5 "W" nodeId=w agent={"id":"writer"}
        "#,
        &expect![[r#"
            workflow f label=g status=EXECUTING events=1
              message t0 label=assistant text=before events=1
              node a:1 label=a status=COMPLETED events=2
                message t1 label=assistant text=A says, late events=2
              node b:1 label=b status=EXECUTING events=2
                message m label=assistant text=B says events=1
                call c label=bash status=done input={} output=ok events=2
                  request q label=permission status=answered_elsewhere events=1
                request p label=question status=pending events=1
                moment guardrail_result label=guardrail result text=toxicity failed: block events=1
              node a:2 label=a status=EXECUTING events=1
                agent writer events=0
                  message t3 label=assistant text=again, and on events=2
                  call d label=bash status=pending input={} events=1
              message t4 label=assistant text=of nobody events=1
              node w:1 label=w status=EXECUTING events=1
                agent writer events=0
                  message t5 label=assistant text=W events=1
        "#]],
    );
}

#[test]
fn no_run_stands_beside_its_flow_or_agent() {
    check(
        r#"
        f  run_start         g
        f  node_start        n
        f  usage             1 1
        f  error             "odd"
        f  text              t "of the flow"
        f  state_patched     {"k":1}
        f  checkpoint_saved  c1
        f  voice_session     nodeId=n action=started
        f  run_end
        a  harness_start     agent={"id":"lead"}
        a  usage             1 1
        a  tool_call         c bash
        "#,
        &expect![[r#"
            workflow f label=g status=COMPLETED events=3
              node n:1 label=n status=EXECUTING events=1
                moment voice_session label=voice session text=voice session started events=1
              moment error label=error text=odd events=1
              message t label=assistant text=of the flow events=1
              moment state_patched label=state patched text=k by user events=1
              moment checkpoint_saved label=checkpoint saved text=c1 events=1
            agent lead status=running events=2
              call c label=bash status=pending input={} events=1
        "#]],
    );
}

#[test]
fn a_node_a_call_and_a_run_stand_as_the_last_event_says() {
    check(
        r#"
        f  node_start     h
        f  interrupt      h human_approval
        f  interrupt      nobody error
        f  node_start     k
        f  node_retry     k 1
        f  node_timeout   k 5
        f  node_start     l
        f  node_retry     l 1
        f  node_start     l 1 2
        f  node_end       m COMPLETED
        f  interrupt      m error
        f  run_end        FAILED
        f  resumed
        a  harness_start
        a  tool_call      c1 bash
        a  tool_call      c1 bash
        a  tool_call      c2 bash
        a  tool_progress  p c2 "half"
        a  tool_call      c3 bash
        a  tool_result    c3 "whole"
        a  tool_call      c3 bash
        a  tool_progress  p3 c3 "late"
        a  tool_call      c4 bash
        a  harness_end    interrupted
        a  resumed
        "#,
        &expect![[r#"
            workflow f status=EXECUTING events=3
              node h:1 label=h status=INTERRUPTED events=2
              node k:1 label=k status=FAILED events=3
              node l:1 label=l status=EXECUTING events=3
              node m:1 label=m status=COMPLETED events=2
            run a status=running events=3
              call c1 label=bash status=running input={} events=2
              call c2 label=bash status=running input={} events=2
              call c3 label=bash status=done input={} output=whole events=4
              call c4 label=bash status=pending input={} events=1
        "#]],
    );
}

#[test]
fn what_happens_at_a_moment_is_told_in_words() {
    check(
        r#"
        -  mission:planning_start     goal="ship it"
        f  run_start                  g
        f  node_start                 talk
        f  voice_session              nodeId=talk action=started
        f  voice_transcript           nodeId=talk text="hel" isFinal=false speaker=caller confidence=0.4
        f  voice_transcript           nodeId=talk text="I" isFinal=false speaker=agent confidence=0.4
        f  voice_transcript           nodeId=talk text="hello" isFinal=true speaker=caller confidence=0.9
        f  voice_transcript           nodeId=talk text="bye" isFinal=true speaker=caller confidence=0.9
        f  voice_barge_in             nodeId=talk interruptedText="as I was" userSpeech=stop
        f  mission:agent_spawned      agentId=ag2 role=tester provider=scripted model=small-1
        f  memory_read                nodeId=talk traceCount=3
        f  discovery_result           nodeId=talk toolsFound=[]
        f  mission:approval_required  action=deploy sessionId=s branchId=main
        x  voice_session              nodeId=talk action=ended messageId=m
        "#,
        &expect![[r#"
            moment mission:planning_start label=mission planning start text=planning: ship it events=1
            workflow f label=g status=EXECUTING events=1
              node talk:1 label=talk status=EXECUTING events=1
                moment voice_session label=voice session text=voice session started events=1
                moment voice_transcript label=voice transcript text=caller: hello events=2
                moment voice_transcript label=voice transcript text=agent: I… events=1
                moment voice_transcript label=voice transcript text=caller: bye events=1
                moment voice_barge_in label=voice barge in text='as I was' cut short by 'stop' events=1
                moment memory_read label=memory read text=3 read events=1
                moment discovery_result label=discovery result events=1
              moment mission:agent_spawned label=mission agent spawned text=agent ag2: tester, on small-1 of scripted events=1
            scope s/main events=0
              run f events=0
                moment mission:approval_required label=mission approval required text=approval needed: deploy events=1
            run x events=0
              message m events=0
                moment voice_session label=voice session text=voice session ended events=1
        "#]],
    );
}

#[test]
fn equal_names_of_two_runs_are_two_messages() {
    check(
        r#"
        a  text            a/t "I am " messageId=m agent={"id":"alice"}
        b  text            b/t "I am " messageId=m agent={"id":"bob"}
        a  text            a/t "A."    messageId=m
        b  text            b/u "B."    messageId=m
        b  tool_call       c bash {}   messageId=m
        a  tool_call       d bash {}   messageId=m
        e  tool_result     d "lent"    messageId=m
        e  usage           1 1         messageId=m
        -  relay_resolved  p true      messageId=m
        -  error           "of whom"   messageId=m
        -  error           "of nobody" messageId=n
        g  text            g/t "of g"  messageId=n
        h  usage           1 1         messageId=o
        h  text            h/t "of h"  messageId=o
        "#,
        &expect![[r#"
            agent alice events=0
              message m label=assistant text=I am A. events=2
                call d label=bash status=done input={} output=lent events=2
            agent bob events=0
              message m label=assistant text=I am B. events=3
                call c label=bash status=pending input={} events=1
                request p orphan=true status=approved events=1
                moment error label=error text=of whom events=1
            message n label=assistant text=of g events=1
              moment error label=error text=of nobody events=1
            run h events=0
              message o label=assistant text=of h events=2
        "#]],
    );
}

#[test]
fn what_names_no_session_is_where_its_run_was_last_heard() {
    check(
        r#"
        r1    harness_start   sessionId=s branchId=main eventFlowId=f1 agent={"id":"A","name":"lead"}
        r1    text            t1 "hello" sessionId=s branchId=main messageId=m1
        r1    text            t1 " world" messageId=m1
        r1    tool_call       c bash {} messageId=m1
        r1    tool_call       c bash {} sessionId=s branchId=main messageId=m1
        r1    relay           p permission c bash sessionId=s
        r1    relay_resolved  p true
        r2^c  harness_start
        r2    text            u "sub"
        r3^r1 text            v "of the run"
        v^r1:harness_end user "more"
        r1    harness_end     done
        r1    text            w "forked" sessionId=s branchId=b2
        r1    text            x "on"
        f     node_start      n sessionId=s branchId=main
        g^f:n:1:start harness_start agentId=writer
        k^z   text            y "early"
        r1    tool_call       z agent {}
        k     text            y ", late"
        o     text            o "outside"
        o^c   text            o2 "stays outside"
        "#,
        &expect![[r#"
            scope s/main events=0
              flow f1 events=0
                agent A label=lead status=done events=2
                  message m1 label=assistant text=hello world events=2
                    call c label=bash status=running input={} events=2
                      request p label=permission status=approved events=2
                      run r2 status=running events=1
                        message u label=assistant text=sub events=1
                  run r3 events=0
                    message v label=assistant text=of the run events=1
              message v label=user text=more events=1
              workflow f events=0
                node n:1 label=n status=EXECUTING events=1
                  agent writer status=running events=1
            scope s/b2 events=0
              run r1 events=0
                message w label=assistant text=forked events=1
                message x label=assistant text=on events=1
                call z label=agent status=pending input={} events=1
                  run k events=0
                    message y label=assistant text=early, late events=2
            run o events=0
              message o label=assistant text=outside events=1
              message o2 label=assistant text=stays outside events=1
        "#]],
    );
}

#[test]
fn an_agent_hangs_from_the_one_its_chain_names() {
    check(
        r#"
        a    harness_start  eventFlowId=f agent={"id":"A","name":"lead","chain":["lead"]}
        b    harness_start  eventFlowId=f agent={"id":"B","chain":["lead","kid"],"depth":1}
        d    harness_start  eventFlowId=f agent={"id":"D","chain":["lead","kid","late"],"depth":2}
        e    harness_start  eventFlowId=f agent={"id":"E","chain":["boss","kid","deep"],"depth":2}
        g    harness_start  eventFlowId=f agent={"id":"G","chain":["boss","kid"],"depth":1}
        h    harness_start  eventFlowId=f agent={"id":"H","name":"boss"}
        a    tool_call      c agent {}
        i^c  harness_start  eventFlowId=f agent={"id":"I","chain":["boss","called"],"depth":1}
        j    harness_start  eventFlowId=f agent={"id":"J","chain":["boss","owned"],"depth":1,"parentId":"B"}
        k    harness_start  eventFlowId=f agent={"id":"","chain":["boss","nameless"],"depth":1}
        l    harness_start  eventFlowId=f agent={"id":"L","chain":["nobody","knows"],"depth":1}
        "#,
        &expect![[r#"
            flow f events=0
              agent A label=lead status=running events=1
                agent B label=kid status=running events=1
                  agent D label=late status=running events=1
                  agent J label=owned status=running events=1
                call c label=agent status=pending input={} events=1
                  agent I label=called status=running events=1
              agent H label=boss status=running events=1
                agent G label=kid status=running events=1
                  agent E label=deep status=running events=1
                agent boss/nameless label=nameless status=running events=1
              agent L label=knows status=running events=1
        "#]],
    );
}
