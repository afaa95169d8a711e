//! `record` and `test`: a run as a fixture, and what a changed flow or agent does with it.

use expect_test::expect;

use crate::place::Place;

const FLOW: &str = "\
antiphon: 1
nodes:
  fetch: {command: [sh, -c, 'date +%s%N; echo ran >> ran.txt'], retry: {max: 2}}
  gate: {human: {prompt: \"Use it?\"}}
  tell: {function: \"'fetched, ' + (outputs.gate.approved ? 'used' : 'not used')\"}
edges: [fetch -> gate -> tell]
";

#[test]
fn a_fixture_is_replayed_without_doing_any_work_and_a_change_is_shown() {
    let place = Place::new(&[("flow.yaml", FLOW)]);
    place.run(&["run", "flow.yaml"]);
    let early = place.run(&["record", "last", "--to", "early"]);
    assert_eq!((early.code, early.err.contains("has not ended")), (Some(2), true), "{}", early.err);
    place.run(&["resume", "last", "--approve", "gate"]);
    let mut told = place.tell("record last --to fix\nrecord last --to fix\ntest fix");
    place.write("flow.yaml", &FLOW.replace("'used'", "'taken'"));
    told += &place.tell("test fix");
    place.write(
        "other.yaml",
        &FLOW
            .replace("gate -> tell", "gate -> tell -> more")
            .replace("  tell:", "  more: {command: [date]}\n  tell:"),
    );
    told += &place.tell("test fix --flow other.yaml");
    std::fs::remove_file(place.path().join("flow.yaml")).expect("it is there");
    told += &place.tell("test fix\ntest nowhere");
    expect![[r#"
        $ record last --to fix
        exit 0
        fix: 3 outcomes, 1 decisions
        $ record last --to fix
        exit 2
        error: fix is there already and not empty
        $ test fix
        exit 0
        fix  same, 6 things compared
        1 same, 0 changed
        $ test fix
        exit 1
        fix  2 of 6 things differ
          tell differs
            - fetched, used
            + fetched, taken
          the result differs
            - fetched, used
            + fetched, taken
        0 same, 1 changed
        $ test fix --flow other.yaml
        exit 1
        fix  3 of 6 things differ
          more is new
            + failed: execution 1 was not recorded
          the result differs
            - fetched, used
            + null
          the run differs
            - completed
            + failed: node_failed
        0 same, 1 changed
        $ test fix
        exit 0
        fix  same, 6 things compared
        1 same, 0 changed
        $ test nowhere
        exit 2
        error: nowhere: nowhere/fixture.json cannot be read: is it a fixture?: No such file or directory (os error 2)
    "#]].assert_eq(&told);
    let ran = std::fs::read_to_string(place.path().join("ran.txt")).expect("it ran once");
    assert_eq!(ran, "ran\n", "a replay performs nothing");
}

/// The winner is asked for last: behind a program, another attempt, a person.
const RACES: [&str; 4] =
    ["fast -> more, more -> first", "again -> first", "lost -> first", "gate -> more, more -> first"];

#[test]
fn whoever_won_a_race_wins_it_again() {
    for way in RACES {
        let flow = format!(
            "antiphon: 1\nnodes:
  slow: {{command: [sh, -c, 'until test -e won; do sleep 0.01; done; echo slow'], effect: read}}
  fast: {{command: [echo, fast], effect: read}}
  again: {{command: [sh, -c, 'test -e tried && echo again || {{ touch tried; exit 1; }}'], effect: read, retry: {{max: 1, delay: 50ms}}}}
  lost: {{command: [sleep, '9'], effect: read, timeout: 50ms, on_error: isolate}}
  gate: {{human: {{prompt: 'Go on?', timeout: 50ms, on_timeout: accept}}}}
  more: {{command: [cat], effect: read}}
  first: {{function: input, join: any}}
  end: {{command: [touch, won]}}
edges: [slow -> first, first -> end, {way}]\n"
        );
        let used: Vec<&str> = flow
            .lines()
            .filter(|line| {
                let node = line.trim_start().split(':').next().unwrap_or_default();
                let optional = ["fast", "again", "lost", "gate", "more"].contains(&node);
                !optional || way.split([' ', ',']).any(|word| word == node)
            })
            .collect();
        let place = Place::new(&[("flow.yaml", &used.join("\n"))]);
        let ran = place.run(&["run", "flow.yaml"]);
        assert_eq!(ran.code, Some(0), "{way}: {}", ran.err);
        place.run(&["record", "last", "--to", "fix"]);
        let tested = place.run(&["test", "fix"]);
        assert_eq!(tested.code, Some(0), "{way}: {}", tested.out);
    }
}

#[test]
fn what_was_cut_off_or_left_unanswered_is_so_again() {
    let cut_off = "nodes:
  bad: {command: [sh, -c, 'sleep 0.1; exit 1'], effect: read}
  long: {command: [sleep, '9'], effect: read}
on_failure: fail_fast";
    let unanswered = "nodes: {gate: {human: {prompt: 'Go on?', timeout: 50ms}}, long: {command: [sleep, '0.2'], effect: read}}";
    for flow in [cut_off, unanswered] {
        let place = Place::new(&[("flow.yaml", &format!("antiphon: 1\n{flow}\n"))]);
        let ran = place.run(&["run", "flow.yaml"]);
        assert_eq!(ran.code, Some(1), "{flow}: {}", ran.err);
        place.run(&["record", "last", "--to", "fix"]);
        let tested = place.run(&["test", "fix"]);
        assert_eq!(tested.code, Some(0), "{flow}: {}", tested.out);
    }
}

#[test]
fn a_budget_that_was_refused_is_no_change() {
    let tokens = "antiphon: 1
entry: a
models: {s: {provider: scripted, replies: [[{text: x}, {usage: {input: 40, output: 10}}]]}}
nodes: {a: {agent: {model: s}}}
edges: [a -> a]
limits: {max_tokens: 120, max_node_executions: 9}
";
    let place = Place::new(&[("flow.yaml", tokens)]);
    let ran = place.run(&["run", "flow.yaml"]);
    assert!(ran.err.contains("failed: budget tokens"), "{}", ran.err);
    place.run(&["record", "last", "--to", "fix"]);
    let tested = place.run(&["test", "fix"]);
    assert_eq!(tested.code, Some(0), "{}", tested.out);
}

#[test]
fn an_agent_in_a_flow_is_answered_for_whole_whatever_it_asked() {
    let flow = "\
antiphon: 1
nodes:
  work:
    agent:
      model: {provider: scripted, replies: [[{tool_call: {id: c1, name: bash, input: {command: echo hi}}}], [{text: done}]]}
      tools: [bash]
  tell: {function: \"input + '!'\"}
edges: [work -> tell]
";
    let place = Place::new(&[("flow.yaml", flow)]);
    place.run(&["run", "flow.yaml"]);
    place.run(&["resume", "last", "--approve", "work"]);
    expect![[r#"
        $ record last --to fix
        exit 0
        fix: 2 outcomes, 0 decisions
        $ test fix
        exit 0
        fix  same, 4 things compared
        1 same, 0 changed
    "#]]
    .assert_eq(&place.tell("record last --to fix\ntest fix"));
}

/// Uses tools, asks, calls other agents on its branch and elsewhere, fails for a moment.
const AGENT: &str = "\
antiphon: 1
name: helper
system: Be brief.
model:
  provider: scripted
  replies:
    - {when: change, steps: [{tool_call: {id: c1, name: bash, input: {command: echo ran >> ran.txt}}}, {usage: {input: 9, output: 3}}]}
    - {when: exit code, steps: [{text: Changed.}, {usage: {input: 12, output: 1}}]}
    - {when: denied, steps: [{text: Then not.}]}
    - {when: colour, steps: [{tool_call: {id: c1, name: ask, input: {question: Which?, options: [red, blue]}}}]}
    - {when: blue, steps: [{text: Blue it is.}]}
    - when: scouts
      steps:
        - {tool_call: {id: c1, name: agent, input: {agent: near, task: Look near.}}}
        - {tool_call: {id: c2, name: agent, input: {agent: far, task: Look far.}}}
    - {when: far and wide, steps: [{text: Both are back.}]}
    - {when: stumble, times: 1, steps: [{text: Half an}, {error: {message: out of breath, code: overloaded, retryable: true}}]}
    - [{text: [Hel, lo.]}]
tools: [bash, ask, agent]
agents:
  near: {tools: [bash], model: {provider: scripted, replies: [[{tool_call: {id: c1, name: bash, input: {command: echo near >> ran.txt}}}], [{text: near}]]}}
  far: {policy: new_session, model: {provider: scripted, replies: [[{text: far and wide}]]}}
";

/// A conversation in which all of that happens.
fn talked() -> Place {
    let place = Place::new(&[("agent.yaml", AGENT)]);
    let steps: [&[&str]; 7] = [
        &["chat", "--agent", "agent.yaml", "--input", "change it"],
        &["resume", "last", "--approve", "c1:permission"],
        &["chat", "--session", "last", "--input", "change it again"],
        &["resume", "last", "--deny", "c1:permission", "--reason", "enough"],
        &["chat", "--session", "last", "--input", "colour"],
        &["resume", "last", "--answer", "c1:question=blue"],
        &["chat", "--session", "last", "--input", "send scouts"],
    ];
    for step in steps {
        let ran = place.run(step);
        assert!(matches!(ran.code, Some(0 | 3)), "{step:?}: {}", ran.told());
    }
    let early = place.run(&["record", "last", "--to", "early"]);
    assert_eq!((early.code, early.err.contains("has not ended")), (Some(2), true), "{}", early.err);
    place.run(&["resume", "last", "--approve", "c1:permission"]);
    place.run(&["chat", "--session", "last", "--input", "stumble"]);
    place.run(&["chat", "--session", "last", "--input", "change it, or no"]);
    place.run(&["cancel", "last", "--now"]);
    place
}

#[test]
fn a_conversation_is_replayed_without_its_models_its_tools_and_its_people() {
    let place = talked();
    let mut told = place.tell("record last --to fix\ntest fix");
    // Without the file it is the agent that was recorded, and nothing of what is outside is needed.
    std::fs::remove_file(place.path().join("agent.yaml")).expect("it is there");
    std::fs::remove_dir_all(place.path().join("kept")).expect("the store is there");
    told += &place.tell("test fix");
    expect![[r#"
        $ record last --to fix
        exit 0
        fix: 20 outcomes, 4 decisions
        $ test fix
        exit 0
        fix  same, 40 things compared
        1 same, 0 changed
        $ test fix
        exit 0
        fix  same, 40 things compared
        1 same, 0 changed
    "#]]
    .assert_eq(&told);
    let ran = std::fs::read_to_string(place.path().join("ran.txt")).expect("it ran once");
    assert_eq!(ran, "ran\nnear\n", "a replay performs nothing");
}

#[test]
fn what_an_agent_does_differently_is_shown() {
    let place = talked();
    place.run(&["record", "last", "--to", "fix"]);
    let mut told = String::new();
    for (was, is) in [
        ("Be brief.", "Be brief. And kind."),
        ("tools: [bash, ask, agent]", "tools: [ask, agent]"),
        ("name: helper", "name: helper\npermissions: [{allow: bash}]"),
    ] {
        place.write("agent.yaml", &AGENT.replace(was, is));
        told.extend(["# ", is, "\n", &place.tell("test fix")]);
    }
    expect![[r##"
        # Be brief. And kind.
        $ test fix
        exit 1
        fix  1 of 40 things differ
          helper: its system prompt differs
            - Be brief.
            + Be brief. And kind.
        0 same, 1 changed
        # tools: [ask, agent]
        $ test fix
        exit 1
        fix  11 of 40 things differ
          helper/far: its list of tools differs
            - agent, ask, bash
            + agent, ask
          helper/near: its list of tools differs
            - agent, bash
            + agent
          helper: its list of tools differs
            - agent, ask, bash
            + agent, ask
          turn 1: request c1:permission is not there any more
            - bash {"command":"echo ran >> ran.txt"}
          turn 1: what call c1 gives differs
            - exit code: 0 (it printed nothing)
            + {"error":"there is no tool `bash`; there are agent, ask","code":"schema"}
          turn 2: request c1:permission is not there any more
            - bash {"command":"echo ran >> ran.txt"}
          turn 2: what call c1 gives differs
            - {"error":"denied: enough","code":"denied"}
            + {"error":"there is no tool `bash`; there are agent, ask","code":"schema"}
          turn 4/c1: request c1:permission is not there any more
            - bash {"command":"echo near >> ran.txt"}
          turn 4/c1: what call c1 gives differs
            - exit code: 0 (it printed nothing)
            + {"error":"there is no tool `bash`; there are agent","code":"schema"}
          turn 6: request c1:permission is not there any more
            - bash {"command":"echo ran >> ran.txt"}
          turn 6: what call c1 gives differs
            - {"error":"not run: the agent was cancelled","code":"cancelled"}
            + {"error":"there is no tool `bash`; there are agent, ask","code":"schema"}
        0 same, 1 changed
        # name: helper
        permissions: [{allow: bash}]
        $ test fix
        exit 1
        fix  6 of 40 things differ
          turn 1: request c1:permission is not there any more
            - bash {"command":"echo ran >> ran.txt"}
          turn 2: request c1:permission is not there any more
            - bash {"command":"echo ran >> ran.txt"}
          turn 2: what call c1 gives differs
            - {"error":"denied: enough","code":"denied"}
            + {"error":"what this call gives was not recorded","code":"failed"}
          turn 4/c1: request c1:permission is not there any more
            - bash {"command":"echo near >> ran.txt"}
          turn 6: request c1:permission is not there any more
            - bash {"command":"echo ran >> ran.txt"}
          turn 6: what call c1 gives differs
            - {"error":"not run: the agent was cancelled","code":"cancelled"}
            + {"error":"cut off before it came to an end: the agent was cancelled","code":"cancelled"}
        0 same, 1 changed
    "##]]
    .assert_eq(&told);
}

#[test]
fn what_was_recorded_is_all_that_an_agent_hears() {
    let place = talked();
    place.run(&["record", "last", "--to", "fix"]);
    let mut told = String::new();
    let outcomes = place.path().join("fix/outcomes.jsonl");
    let recorded = std::fs::read_to_string(&outcomes).expect("it was recorded");
    let steered = recorded.replacen(r#"{"text":"Changed."}"#, r#"{"steer":"hurry"},{"text":"Changed."}"#, 1);
    place.write("fix/outcomes.jsonl", &steered);
    told.extend(["# somebody says something meanwhile\n", &place.tell("test fix")]);
    let less: Vec<&str> = recorded.lines().filter(|line| !line.contains("Both are back")).collect();
    place.write("fix/outcomes.jsonl", &(less.join("\n") + "\n"));
    told.extend(["# an answer is missing\n", &place.tell("test fix")]);
    expect![[r##"
        # somebody says something meanwhile
        $ test fix
        exit 1
        fix  1 of 40 things differ
          turn 1: what it hears in step 2 is new
            + hurry
        0 same, 1 changed
        # an answer is missing
        $ test fix
        exit 1
        fix  3 of 40 things differ
          turn 4: what it says in step 2 is not there any more
            - Both are back.
          turn 4: how it ends differs
            - done
            + error
          turn 4: its error is new
            + its model was asked for more than was recorded
        0 same, 1 changed
    "##]]
    .assert_eq(&told);
}
