//! `record` and `test`: a run as a fixture, and what a changed flow does with it.

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
