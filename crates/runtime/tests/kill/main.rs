//! Killed at any moment, as often as you like, a run comes to what it comes to undisturbed.
//!
//! A real process runs a flow of real programs on a SQLite file and is killed with SIGKILL; another goes on from the
//! file, and is killed too, until the run is through. Each test is one flow. Start reading at [`check`].

mod account;
mod person;
mod process;
mod story;

use std::path::Path;

/// How many processes are killed for each flow: with the seven flows here more than two hundred.
const KILLS: usize = 32;

/// A flow with `WORK` in the place of its programs. Nodes whose id begins with `look` only look; all others write, and
/// must not run again unless somebody says so.
fn check(test: &str, flow: &str) {
    if let Some(folder) = std::env::var_os(process::FOLDER) {
        process::play(Path::new(&folder), flow);
    }
    let mut chance = story::chance(test);
    let undisturbed = account::Account::undisturbed(flow);
    let mut killed = 0;
    let mut doubts = 0;
    while killed < KILLS {
        let told = story::tell(test, &mut chance, KILLS - killed);
        account::compare(&told, &undisturbed);
        killed += told.killed;
        doubts += told.doubts();
    }
    eprintln!("{test}: {killed} killed, {doubts} times in doubt");
    assert!(doubts > 0, "no kill ever met a program at work");
}

#[test]
fn chain() {
    check(
        "chain",
        r#"
antiphon: 1
nodes:
  a: WORK
  b: WORK
  look_c: {effect: read, WORK
  d: WORK
  look_e: {idempotent: true, WORK
  f: WORK
edges: [a -> b -> look_c -> d -> look_e -> f]
"#,
    );
}

#[test]
fn fan_out() {
    check(
        "fan_out",
        r#"
antiphon: 1
state: {n: {type: integer, default: 0, reduce: sum}}
nodes:
  start: WORK
  a: {set: {n: 1}, WORK
  b: {set: {n: 10}, WORK
  look_c: {effect: read, set: {n: 100}, WORK
  d: {set: {n: 1000}, WORK
  join: {input: "string(state.n)", WORK
edges: [start -> a -> join, start -> b -> join, start -> look_c -> join, start -> d -> join]
limits: {max_concurrency: 3}
"#,
    );
}

#[test]
fn round_and_round() {
    check(
        "round_and_round",
        r#"
antiphon: 1
entry: a
state: {n: {type: integer, default: 0, reduce: sum}}
nodes:
  a: {set: {n: 1}, WORK
  look_b: {effect: pure, WORK
  c: WORK
edges:
  - a -> look_b
  - {from: look_b, to: a, when: "state.n < 4"}
  - {from: look_b, to: c, when: "state.n >= 4"}
limits: {max_node_executions: 20}
"#,
    );
}

#[test]
fn map() {
    check(
        "map",
        r#"
antiphon: 1
state: {seen: {type: array, default: [], reduce: append}}
nodes:
  each: {map: {over: "['p', 'q', 'r', 's']", max_parallel: 2, node: {set: {seen: item}, WORK}}
  look_each: {map: {over: input, max_parallel: 3, node: {effect: read, WORK}}
  last: {input: "string(input) + string(state.seen)", WORK
edges: [each -> look_each -> last]
"#,
    );
}

#[test]
fn nested() {
    check(
        "nested",
        r#"
antiphon: 1
nodes:
  before: WORK
  inner:
    flow:
      antiphon: 1
      nodes:
        a: WORK
        look_b: {effect: read, WORK
        innermost: {flow: {antiphon: 1, nodes: {c: WORK, d: WORK}, edges: [c -> d]}}
      edges: [a -> look_b -> innermost]
  after: WORK
edges: [before -> inner -> after]
"#,
    );
}

#[test]
fn human() {
    check(
        "human",
        r#"
antiphon: 1
nodes:
  a: WORK
  gate: {human: {prompt: "Go on?", timeout: 1h}}
  beside: WORK
  b: {input: "input.by", WORK
  c: WORK
  again: {human: "And again?"}
edges:
  - a -> gate
  - a -> beside
  - {from: gate, to: b, when: output.approved}
  - {from: gate, to: c, default: true}
  - b -> again
"#,
    );
}

#[test]
fn retries() {
    check(
        "retries",
        r#"
antiphon: 1
nodes:
  a: {retry: {max: 9, delay: 5ms}, FLAKY
  look_b: {effect: read, retry: {max: 9, delay: 2ms, backoff: exponential}, FLAKY
  bad_c: {fallback: d, BROKEN
  d: WORK
  bad_e: {on_error: isolate, BROKEN
  f: {input: "input.bad_c + string(has(input.bad_e.error))", WORK
edges: [a -> look_b -> bad_c -> f, look_b -> bad_e -> f]
"#,
    );
}
