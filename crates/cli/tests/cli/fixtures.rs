//! `record` and `test`: a run as a fixture, and what a changed flow or agent does with it.

use std::process::Stdio;

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
fn a_change_of_the_work_or_of_what_it_gets_is_shown() {
    let flow = "\
antiphon: 1
models: {m: {provider: scripted, replies: [[{text: said}]]}}
nodes:
  first: {command: [sh, -c, cat], input: \"task + 'x'\"}
  each: {map: {over: \"['p', 'q']\", node: {command: {run: [cat], env: {API_TOKEN: sk-0123456789}}}}}
  agent: {agent: {model: m}}
edges: [first -> each -> agent]
";
    let place = Place::new(&[("flow.yaml", flow)]);
    place.run(&["run", "flow.yaml", "--input", "t"]);
    place.run(&["record", "last", "--to", "fix"]);
    let same = place.tell("test fix --flow flow.yaml");
    assert!(same.contains("1 same, 0 changed"), "{same}");
    let rows = [
        ("task + 'x'", "task + 'y'", "first gets differs"),
        ("-c, cat", "-c, tac", "what first does differs"),
        ("['p', 'q']", "['o', 'q']", "each gets differs"),
        ("run: [cat]", "run: [tac]", "what each does differs"),
        ("{model: m}", "{model: m, system: Be kind.}", "what agent does differs"),
        ("text: said", "text: other", "what agent does differs"),
    ];
    for (was, is, told) in rows {
        place.write("changed.yaml", &flow.replace(was, is));
        let test = place.tell("test fix --flow changed.yaml");
        assert!(test.contains(told) && test.contains("exit 1"), "{is}: {test}");
    }
}

#[test]
fn what_failed_again_with_the_node_around_it_is_no_change() {
    let inner = "{antiphon: 1, nodes: {x: {command: [sh, -c, 'sh tell'], effect: read}, y: {function: input}}, edges: [x -> y]}";
    let flow = format!(
        "antiphon: 1\nnodes:\n  s: {{retry: {{max: 2, delay: 1ms}}, on_error: isolate, flow: {inner}}}\n  \
         m: {{retry: 1, on_error: isolate, map: {{over: \"['a', 'b']\", node: {{flow: {inner}}}}}}}\n"
    );
    for tell in ["exit 1", "echo . >> told; test $(wc -l < told) -gt 4 && echo said"] {
        let place = Place::new(&[("flow.yaml", &flow), ("tell", tell)]);
        let ran = place.run(&["run", "flow.yaml"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        place.run(&["record", "last", "--to", "fix"]);
        let test = place.tell("test fix --flow flow.yaml");
        assert!(test.contains("1 same, 0 changed"), "{test}");
    }
}

#[test]
fn a_folder_of_fixtures_is_tested_whole() {
    let flow = "antiphon: 1\nnodes: {a: {function: \"'said'\"}}\n";
    let place = Place::new(&[("flow.yaml", flow)]);
    place.run(&["run", "flow.yaml"]);
    place.run(&["record", "last", "--to", "all/two"]);
    place.run(&["record", "last", "--to", "all/one"]);
    place.write("all/README.md", "what they are about");
    place.write("none/README.md", "nothing");
    expect![[r#"
        $ test all
        exit 0
        all/one  same, 3 things compared
        all/two  same, 3 things compared
        2 same, 0 changed
        $ test all/one
        exit 0
        all/one  same, 3 things compared
        1 same, 0 changed
        $ test none
        exit 2
        error: none: none/fixture.json cannot be read: is it a fixture?: No such file or directory (os error 2)
    "#]].assert_eq(&place.tell("test all\ntest all/one\ntest none"));
}

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
        fix  same, 7 things compared
        1 same, 0 changed
        $ test fix
        exit 1
        fix  2 of 7 things differ
          tell differs
            - fetched, used
            + fetched, taken
          the result differs
            - fetched, used
            + fetched, taken
        0 same, 1 changed
        $ test fix --flow other.yaml
        exit 1
        fix  2 of 8 things differ
          more is new
            + failed: execution 1 was not recorded
          the run differs
            - completed
            + failed: node_failed
        0 same, 1 changed
        $ test fix
        exit 0
        fix  same, 7 things compared
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

/// What each round of a loop comes to is its own, also inside a flow or a map; what failed stays so while others are asked.
const ROUNDS: [&str; 4] = [
    "entry: sub
nodes:
  sub: {flow: {antiphon: 1, nodes: {c: {command: [sh, -c, 'cat; echo x'], effect: pure}}}}
edges: [{from: sub, to: sub, when: executions.sub < 3}]
limits: {max_node_executions: 9}",
    "entry: each
nodes:
  each: {map: {over: '[executions.each, 5]', node: {command: [cat]}}}
edges: [{from: each, to: each, when: executions.each < 3}]
limits: {max_node_executions: 9}",
    "entry: outer
nodes:
  outer:
    flow:
      antiphon: 1
      entry: inner
      nodes: {inner: {map: {over: '[1, 2]', node: {command: [date, +%N]}}}}
      edges: [{from: inner, to: inner, when: executions.inner < 2}]
      limits: {max_node_executions: 9}
edges: [{from: outer, to: outer, when: executions.outer < 2}]
limits: {max_node_executions: 9}",
    "nodes: {bad: {command: ['false']}, gate: {human: 'Go on?'}}",
];

#[test]
fn every_round_of_a_loop_comes_to_what_it_came_to() {
    for flow in ROUNDS {
        let place = Place::new(&[("flow.yaml", &format!("antiphon: 1\n{flow}\n"))]);
        let ran = place.run(&["run", "flow.yaml", "--input", "a"]);
        if ran.code == Some(3) {
            place.run(&["resume", "last", "--approve", "gate"]);
        }
        place.run(&["record", "last", "--to", "fix"]);
        let tested = place.run(&["test", "fix"]);
        assert_eq!(tested.code, Some(0), "{flow}: {}", tested.told());
    }
}

#[test]
fn a_folder_that_says_nothing_of_rounds_gives_each_of_them_the_same() {
    let flow = ROUNDS[0].replace("cat; echo x", "echo x");
    let place = Place::new(&[("flow.yaml", &format!("antiphon: 1\n{flow}\n"))]);
    place.run(&["run", "flow.yaml", "--input", "a"]);
    place.run(&["record", "last", "--to", "fix"]);
    let outcomes = place.path().join("fix/outcomes.jsonl");
    let recorded = std::fs::read_to_string(&outcomes).expect("it was recorded");
    let first = recorded.lines().find(|line| line.contains("sub/c")).expect("it is there");
    let later = recorded.lines().filter(|line| !line.contains("sub/c"));
    let old: Vec<&str> = std::iter::once(first).chain(later).collect();
    place.write("fix/outcomes.jsonl", &(old.join("\n").replace(",\"around\":[1]", "") + "\n"));
    expect![[r#"
        $ test fix
        exit 0
        fix  same, 9 things compared
        1 same, 0 changed
    "#]]
    .assert_eq(&place.tell("test fix"));
}

#[test]
fn what_people_decided_about_an_output_is_decided_again() {
    let stopped = "  a: {command: [echo, bad], guardrails: {output: [{must_not_match: bad}]}}";
    let withheld = "  a: {command: [echo, me@example.com], guardrails: {output: [personal]}, retry: 2}";
    for (node, decided) in [
        (stopped, &["a=override"][..]),
        (stopped, &["a=override", "--input-for", "a=\"good\""]),
        (stopped, &["a=fail"]),
        (withheld, &["a=override"]),
        (withheld, &["a=fail"]),
    ] {
        let flow = format!("antiphon: 1\nnodes:\n{node}\n  b: {{function: input}}\nedges: [a -> b]\n");
        let place = Place::new(&[("flow.yaml", &flow)]);
        let paused = place.run(&["run", "flow.yaml"]);
        assert_eq!(paused.code, Some(3), "{flow}: {}", paused.err);
        place.run(&[&["resume", "last", "--answer"], decided].concat());
        let recorded = place.run(&["record", "last", "--to", "fix"]);
        assert_eq!(recorded.code, Some(0), "{flow}: {}", recorded.err);
        let tested = place.run(&["test", "fix"]);
        assert_eq!(tested.code, Some(0), "{node} {decided:?}: {}", tested.told());
    }
}

#[test]
fn what_was_decided_before_a_failure_was_resumed_does_not_count() {
    let flow =
        "antiphon: 1\nnodes: {a: {command: [echo, bad], guardrails: {output: [{must_not_match: bad}]}}}\n";
    let place = Place::new(&[("flow.yaml", flow)]);
    place.run(&["run", "flow.yaml"]);
    place.run(&["resume", "last", "--answer", "a=fail"]);
    place.run(&["resume", "last"]);
    place.run(&["resume", "last", "--answer", "a=override"]);
    expect![[r#"
        $ record last --to fix
        exit 0
        fix: 1 outcomes, 1 decisions
        $ test fix
        exit 0
        fix  same, 5 things compared
        1 same, 0 changed
    "#]]
    .assert_eq(&place.tell("record last --to fix\n test fix"));
}

#[test]
fn what_was_in_doubt_is_not_when_it_is_replayed() {
    let flow = "antiphon: 1
nodes:
  a: {command: [sh, -c, 'touch begun; while test -e begun -a $ANTIPHON_ATTEMPT = 1; do sleep 0.1; done; echo done'], retry: 1}
  b: {function: input}
edges: [a -> b]
";
    for decided in [&["a=run again"][..], &["a=take as done", "--input-for", "a=7"], &["a=fail"]] {
        let place = Place::new(&[("flow.yaml", flow)]);
        let mut run = place.command(&["run", "flow.yaml"]);
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        while !place.path().join("begun").exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        run.kill().expect("it can be killed");
        run.wait().expect("it is gone");
        let asked = place.run(&["resume", "last"]);
        std::fs::remove_file(place.path().join("begun")).expect("what was left behind ends with it");
        assert_eq!(asked.code, Some(3), "{}", asked.err);
        place.run(&[&["resume", "last", "--answer"], decided].concat());
        place.run(&["record", "last", "--to", "fix"]);
        let tested = place.run(&["test", "fix"]);
        assert_eq!(tested.code, Some(0), "{decided:?}: {}", tested.told());
    }
}

#[test]
fn what_a_fork_set_is_set_again_wherever_it_was() {
    let flow = "antiphon: 1
state: {n: {type: integer, default: 0, reduce: sum}, log: {type: array, default: [], reduce: append}}
nodes:
  a: {command: [echo, x], effect: read, set: {n: '1', log: state.n}}
  b: {function: state.n, set: {log: output}}
  c: {map: {over: '[state.n, 2]', node: {function: item + state.n}}}
  d: {flow: {antiphon: 1, nodes: {in: {command: [cat], effect: read}}}, input: string(state.n)}
  e: {human: 'Go on?'}
  f: {function: 'string(input) + string(state.n)', join: any}
entry: a
edges: [a -> b, b -> c, b -> d, {from: b, to: a, when: state.n < 2}, d -> e, c -> f]
limits: {max_node_executions: 20}
output: '[state.n, outputs.f]'
";
    let place = Place::new(&[("flow.yaml", flow)]);
    // It asks once in each round.
    let attend = |arguments: &[&str], branch: &str| {
        let mut ran = place.run(arguments);
        while ran.code == Some(3) {
            ran = place.run(&["resume", "last", "--branch", branch, "--approve", "e"]);
        }
        assert_eq!(ran.code, Some(0), "{branch}: {}", ran.told());
    };
    attend(&["run", "flow.yaml"], "main");
    let events = place.run(&["sessions", "events", "last"]).out;
    let last = events.lines().count();
    // Each takes a while, and many are alike.
    for at in (2..last).step_by(9) {
        let branch = format!("at-{at}");
        let forked = ["fork", "last", "--at", &at.to_string(), "--branch", &branch, "--set", "n=10"];
        assert_eq!(place.run(&forked).code, Some(0), "{branch}");
        attend(&["resume", "last", "--branch", &branch], &branch);
        let recorded = place.run(&["record", "last", "--branch", &branch, "--to", &branch]);
        assert_eq!((recorded.code, &*recorded.err), (Some(0), ""), "{branch}: {}", recorded.told());
        let tested = place.run(&["test", &branch]);
        assert_eq!(tested.code, Some(0), "{branch}: {}", tested.told());
    }
}

#[test]
fn what_went_on_because_of_what_a_fork_set_is_said_not_to_be_repeatable() {
    let flow = "antiphon: 1
state: {n: {type: integer, default: 0}}
nodes: {a: {function: 1 / state.n}, b: {command: [echo, x], effect: read}}
";
    let place = Place::new(&[("flow.yaml", flow)]);
    let events = place.run(&["run", "flow.yaml", "--json"]).out.lines().count();
    place.run(&["fork", "last", "--at", &events.to_string(), "--branch", "k", "--set", "n=1", "--run"]);
    expect![[r#"
        $ record last --branch k --to fix
        exit 0
        fix: 2 outcomes, 0 decisions
        a replay does not do the same: `antiphon test fix` shows how
    "#]]
    .assert_eq(&place.tell("record last --branch k --to fix"));
}

#[test]
fn a_budget_that_was_refused_is_no_change() {
    let model = "models: {s: {provider: scripted, replies: [[{text: x}, {usage: {input: 40, output: 10}}]]}}";
    let rows = [
        "entry: a\nnodes: {a: {agent: {model: s}}}\nedges: [a -> a]\nlimits: {max_tokens: 120, max_node_executions: 9}",
        "nodes: {a: {agent: {model: s}, retry: {max: 1, delay: 1ms}}}\nlimits: {max_tokens: 20}",
        "nodes: {a: {agent: {model: s}, fallback: f}, f: {function: \"'x'\"}}\nlimits: {max_tokens: 20}",
        "nodes: {a: {agent: {model: s}, on_error: isolate}, z: {function: \"'x'\"}}\nedges: [a -> z]\nlimits: {max_tokens: 20}",
        "nodes: {n: {flow: {antiphon: 1, MODEL, nodes: {a: {agent: {model: s}, fallback: f}, f: {function: \"'x'\"}}}}, z: {function: input}}\nedges: [n -> z]\nlimits: {max_tokens: 20}",
    ];
    for row in rows {
        let row = row.replace("MODEL", model);
        let place = Place::new(&[("flow.yaml", &format!("antiphon: 1\n{model}\n{row}\n"))]);
        let ran = place.run(&["run", "flow.yaml"]);
        assert!(ran.err.contains("failed: budget tokens"), "{row}: {}", ran.err);
        place.run(&["record", "last", "--to", "fix"]);
        let tested = place.run(&["test", "fix"]);
        assert_eq!(tested.code, Some(0), "{row}: {}{}", tested.out, tested.err);
    }
}

#[test]
fn what_took_over_in_vain_counts_no_more_when_the_node_succeeds_after_all() {
    let flow = "\
antiphon: 1
nodes:
  a: {command: [sh, -c, 'test -e there && echo a'], fallback: f, retry: RETRY, effect: read}
  f: {command: [sh, -c, 'test -e there && echo f'], fallback: g, effect: read}
  g: LAST
  z: {function: \"input + '!'\"}
edges: [a -> z]
";
    let asks = "{human: {prompt: 'And now?', timeout: 1ms}}";
    let fails = "{command: ['false']}";
    for (retry, last) in [("0", fails), ("{max: 1, delay: 1ms}", fails), ("0", asks)] {
        let flow = flow.replace("RETRY", retry).replace("LAST", last);
        let place = Place::new(&[("flow.yaml", &flow)]);
        let mut ran = place.run(&["run", "flow.yaml"]);
        if ran.code == Some(3) {
            ran = place.run(&["resume", "last"]);
        }
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        place.write("there", "");
        let ran = place.run(&["resume", "last"]);
        assert_eq!((ran.code, ran.out.trim()), (Some(0), "a!"), "{}", ran.err);
        let recorded = place.run(&["record", "last", "--to", "fix"]);
        assert_eq!(recorded.out.trim(), "fix: 2 outcomes, 0 decisions", "{}", recorded.err);
        expect![[r#"
            $ test fix
            exit 0
            fix  same, 5 things compared
            1 same, 0 changed
        "#]]
        .assert_eq(&place.tell("test fix"));
    }
}

/// Flows that are cancelled while a person is asked, and how each is gone on with; then there is a file `there`.
const CANCELLED: [(&str, &[&str]); 10] = [
    ("nodes: {h: {human: 'Ok?'}}", &["--approve h"]),
    // What it was to be taken over for succeeds after all, or does not.
    (
        "nodes: {a: {command: [sh, -c, 'test -e there && echo fine'], effect: pure, fallback: h}, h: {human: 'Take over?'}}",
        &[""],
    ),
    (
        "nodes: {a: {command: ['false'], effect: pure, fallback: h}, h: {human: 'Take over?'}}",
        &["--deny h"],
    ),
    // Two wait for the same node to take over, first the one first and then the other.
    (
        "nodes:
  a: {command: [sh, -c, 'test $ANTIPHON_ATTEMPT = 1 || sleep 0.3; exit 1'], effect: pure, fallback: h}
  b: {command: [sh, -c, 'test $ANTIPHON_ATTEMPT = 2 || sleep 0.3; exit 1'], effect: pure, fallback: h}
  h: {human: 'Take over?'}
  z: {function: '[outputs.a, outputs.b]'}
edges: [a -> z, b -> z]",
        &["--approve h", "--deny h"],
    ),
    // Inside a flow, what had come to something stays.
    (
        "nodes:
  sub:
    flow:
      antiphon: 1
      nodes: {c: {command: [date, +%N]}, d: {command: [sh, -c, 'test -e there && cat'], effect: pure}}
      edges: [c -> d]
  h: {human: 'Ok?'}",
        &["--approve h"],
    ),
    (
        "nodes:
  a: {command: [sh, -c, 'test -e there && echo fine'], effect: pure, fallback: sub}
  sub: {flow: {antiphon: 1, nodes: {c: {command: [date, +%N]}, h: {human: 'Ok?'}}, edges: [c -> h]}}",
        &[""],
    ),
    (
        "nodes:
  a: {command: ['false'], effect: pure, fallback: sub}
  sub: {flow: {antiphon: 1, nodes: {c: {command: [date, +%N]}, h: {human: 'Ok?'}}, edges: [c -> h]}}",
        &["--approve h"],
    ),
    // Attempts are counted anew.
    (
        "nodes:
  a: {command: [sh, -c, 'test $ANTIPHON_ATTEMPT = 4 && echo fine'], effect: pure, retry: {max: 1, delay: 1ms}}
  h: {human: 'Ok?'}",
        &["--approve h"],
    ),
    (
        "nodes: {a: {command: [echo, fine], effect: pure, input: \"'bad'\", guardrails: {input: [{must_not_match: bad}]}}}",
        &["--answer a=override"],
    ),
    (
        "nodes:
  a: {command: [sh, -c, 'test -e there && echo fine || echo bad'], effect: pure, guardrails: {output: [{must_not_match: bad}]}}",
        &[""],
    ),
];

#[test]
fn what_was_cancelled_and_gone_on_with_is_replayed_as_it_went_on() {
    for (flow, resumed) in CANCELLED {
        let place = Place::new(&[("flow.yaml", &format!("antiphon: 1\n{flow}\n"))]);
        let asked = place.run(&["run", "flow.yaml"]);
        assert_eq!(asked.code, Some(3), "{flow}: {}", asked.told());
        place.run(&["cancel", "last"]);
        place.write("there", "");
        let told: String = resumed.iter().map(|how| place.tell(&format!("resume last {how}"))).collect();
        assert!(told.contains("exit 0"), "{flow}: {told}");
        let recorded = place.run(&["record", "last", "--to", "fix"]);
        assert_eq!((recorded.code, &*recorded.err), (Some(0), ""), "{flow}: {}", recorded.told());
        let tested = place.run(&["test", "fix"]);
        assert_eq!(tested.code, Some(0), "{flow}: {}", tested.told());
    }
}

#[test]
fn what_was_cancelled_after_a_failure_ends_with_the_failure_again() {
    let flow = "antiphon: 1\nnodes: {bad: {command: ['false']}, h: {human: 'Ok?'}}\n";
    let place = Place::new(&[("flow.yaml", flow)]);
    place.run(&["run", "flow.yaml"]);
    place.run(&["cancel", "last"]);
    expect![[r#"
        $ record last --to fix
        exit 0
        fix: 1 outcomes, 0 decisions
        $ test fix
        exit 0
        fix  same, 6 things compared
        1 same, 0 changed
    "#]]
    .assert_eq(&place.tell("record last --to fix\ntest fix"));
    // Folders written earlier hold what the run answered itself.
    place.write(
        "fix/decisions.jsonl",
        r#"{"node":"h","request":"h:1:1:ask","resolved":{"relayId":"r/h:1:1:ask","approved":false,"by":"run"}}"#,
    );
    let tested = place.run(&["test", "fix"]);
    assert_eq!(tested.code, Some(0), "{}", tested.told());
}

#[test]
fn what_went_on_after_its_end_as_no_flow_does_is_said_not_to_be_repeatable() {
    // The second execution of what takes over for both is the first one once `a` needs it no more.
    let flow = "antiphon: 1
nodes:
  a: {command: [sh, -c, 'test -e there && echo fine'], effect: pure, fallback: f}
  b: {command: [sh, -c, 'sleep 0.3; exit 1'], effect: pure, fallback: f}
  f: {command: ['false'], effect: pure}
";
    let place = Place::new(&[("flow.yaml", flow)]);
    place.run(&["run", "flow.yaml"]);
    place.write("there", "");
    place.run(&["resume", "last"]);
    expect![[r#"
        $ record last --to fix
        exit 0
        fix: 3 outcomes, 0 decisions
        a replay does not do the same: `antiphon test fix` shows how
        $ test fix
        exit 1
        fix  2 of 9 things differ
          f is new
            + failed: execution 1 was not recorded
          f #2 is not there any more
            - failed: `false` ended with code 1
        0 same, 1 changed
    "#]]
    .assert_eq(&place.tell("record last --to fix\ntest fix"));
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
        fix  same, 5 things compared
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
        fix  1 of 41 things differ
          turn 1: what it hears in step 2 is new
            + hurry
        0 same, 1 changed
        # an answer is missing
        $ test fix
        exit 1
        fix  3 of 41 things differ
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

#[test]
fn a_fixture_names_the_file_of_the_flow_that_was_recorded_and_no_other() {
    let flow = |word: &str| format!("antiphon: 1\nnodes: {{{word}: {{function: \"'{word}'\"}}}}\n");
    let place = Place::new(&[("one.yaml", &flow("one")), ("two.yaml", &flow("two"))]);
    for (first, second, named) in
        [("one.yaml", "two.yaml", false), ("two.yaml", "one.yaml", false), ("one.yaml", "one.yaml", true)]
    {
        place.run(&["run", first]);
        place.run(&["run", second, "--session", "last"]);
        let fixture = format!("{first}-{second}");
        assert_eq!(place.run(&["record", "last", "--to", &fixture]).code, Some(0));
        let about =
            std::fs::read_to_string(place.path().join(&fixture).join("fixture.json")).expect("a fixture");
        assert_eq!(about.contains("\"flow\": \"../one.yaml\""), named, "{about}");
        let tested = place.run(&["test", &fixture]);
        assert_eq!(tested.code, Some(0), "{}", tested.told());
    }
}
