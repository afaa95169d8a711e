//! `reduce`, `why` and `diff`: graphs, causes and differences of recorded conversations.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::door::{antiphon, fed, histories, recorded};

fn check(args: &[&str], expected: Expect) {
    expected.assert_eq(&antiphon(args).told());
}

#[test]
fn why_leads_back_to_what_somebody_said() {
    check(
        &["why", "concurrent-tools.jsonl", "50"],
        expect![[r#"
        exit 0
        14:02:40.241
        #45   text  Not green: 30 tests pass and `rounding::half_even` fails. I…
           ↑ said by, 0 ms later
        #45   model call 3 of coder on large-1  2,764 + 131 tokens, $0.0103
           ↑ answers, 627 ms later
        #44   tool_result  read: {"context":"pub fn half_even(cents: i64, by: i64) -> …
           ↑ result of, 11 ms later
        #43   tool_call  read {"path":"src/rounding.rs","lines":"40-62"}
           ↑ runs as, 19 ms later
        #41   tool_call  read {"path":"src/rounding.rs","lines":"40-62"}
           ↑ proposed by, 143 ms later
        #38   model call 2 of coder on large-1  2,517 + 58 tokens, $0.0084
           ↑ answers, 668 ms later; also because of #27 #32 #35
        #37   tool_result  bash failed: {"exitCode":101,"context":"test rounding::half…
           ↑ result of, 10.9 s later
        #28   tool_call  bash {"command":"cargo test --workspace","timeout":600}
           ↑ allowed by, 9.1 s later
        #23   relay_resolved  approved by user
           ↑ resolves, 6.4 s later
        #22   relay  permission: Run `cargo test --workspace`?
           ↑ asks about, 201 ms later
        #17   tool_call  bash {"command":"cargo test --workspace","timeout":600}
           ↑ proposed by, 477 ms later
        #5    model call 1 of coder on large-1  1,841 + 236 tokens, $0.0091
           ↑ answers, 560 ms later
        #4    harness_start  coder
           ↑ started by, 3 ms later
        #3    user  Are the tests green on this branch? Clean up the build fold…

        13 steps back, 29.2 s, 7,122 + 425 tokens, $0.0277
    "#]],
    );
}

#[test]
fn why_counts_events_that_have_no_position() {
    let input = b"{\"type\":\"user\",\"runId\":\"u\",\"content\":\"hi\"}\n\
        {\"type\":\"text\",\"runId\":\"a\",\"parentId\":\"u:user\",\"id\":\"t\",\"content\":\"hello\"}\n";
    expect![[r#"
        exit 0
              text  hello
           ↑ said by
              model call 1
           ↑ answers
              user  hi

        2 steps back
    "#]]
    .assert_eq(&fed(&["why", "2"], input).told());
    expect![[r#"
        exit 2
        error: there is no event at position 3
    "#]]
    .assert_eq(&fed(&["why", "-", "3"], input).told());
}

#[test]
fn why_counts_events_of_types_nobody_knows() {
    let input = b"{\"type\":\"user\",\"runId\":\"u\",\"content\":\"one\"}\n\
        {\"type\":\"weird\",\"runId\":\"v\"}\n\
        {\"type\":\"user\",\"runId\":\"w\",\"content\":\"two\"}\n";
    expect![[r#"
        exit 0
              user  two

        0 steps back
    "#]]
    .assert_eq(&fed(&["why", "3"], input).told());
    expect![[r#"
        exit 2
        error: nobody knows the type of the event at position 2, or what caused it
    "#]]
    .assert_eq(&fed(&["why", "2"], input).told());
}

/// What was said at a position, or why that is not known.
#[track_caller]
fn check_said(input: &str, args: &[&str], expected: Expect) {
    expected.assert_eq(&fed(&[&["why"], args].concat(), input.as_bytes()).told());
}

/// Lines of users: session, branch, position and what they say.
fn said(lines: &[(&str, &str, u64)]) -> String {
    let line = |(session, branch, seq): &(&str, &str, u64)| {
        format!(
            "{{\"type\":\"user\",\"sessionId\":\"{session}\",\"branchId\":\"{branch}\",\"seq\":{seq},\"runId\":\"{session}{branch}{seq}\",\
             \"content\":\"{session} {branch} {seq}\"}}\n"
        )
    };
    lines.iter().map(line).collect()
}

#[test]
fn why_tells_sessions_of_one_file_apart() {
    let input = said(&[("s", "main", 1), ("s", "main", 2), ("s2", "main", 1)]);
    check_said(
        &input,
        &["2"],
        expect![[r#"
        exit 0
        #2    user  s main 2

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["1"],
        expect![[r#"
        exit 2
        error: position 1 is on 2 sessions, say which with --session: s, s2
    "#]],
    );
    check_said(
        &input,
        &["1", "--session", "s"],
        expect![[r#"
        exit 0
        #1    user  s main 1

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["1", "--session", "2"],
        expect![[r#"
        exit 0
        #1    user  s2 main 1

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["2", "--session", "s2"],
        expect![[r#"
        exit 2
        error: there is no event at position 2 of session s2
    "#]],
    );
}

#[test]
fn why_tells_branches_of_one_file_apart() {
    let fork = "{\"type\":\"branch_created\",\"sessionId\":\"s\",\"branchId\":\"fork\",\"seq\":3,\"from\":{\"branchId\":\"main\",\"seq\":2}}\n";
    let before = said(&[("s", "main", 1), ("s", "main", 2), ("s", "main", 3)]);
    let input = [&before, fork, &said(&[("s", "fork", 4), ("s", "main", 4), ("s", "main", 5)])].concat();
    check_said(
        &input,
        &["2"],
        expect![[r#"
        exit 0
        #2    user  s main 2

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["5"],
        expect![[r#"
        exit 0
        #5    user  s main 5

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["4"],
        expect![[r#"
        exit 2
        error: position 4 is on 2 branches, say which with --branch: fork, main
    "#]],
    );
    check_said(
        &input,
        &["4", "--branch", "fork"],
        expect![[r#"
        exit 0
        #4    user  s fork 4

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["4", "--branch", "main"],
        expect![[r#"
        exit 0
        #4    user  s main 4

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["2", "--branch", "fork"],
        expect![[r#"
        exit 0
        #2    user  s main 2

        0 steps back
    "#]],
    );
    check_said(
        &input,
        &["5", "--branch", "fork"],
        expect![[r#"
        exit 2
        error: there is no event at position 5 of branch fork
    "#]],
    );
    check_said(
        &input,
        &["5", "--branch", "other"],
        expect![[r#"
        exit 2
        error: there is no event at position 5 of branch other
    "#]],
    );
}

#[test]
fn diff_of_two_positions_shows_what_came_between() {
    check(
        &["diff", "flow-with-cycle.jsonl@30", "flow-with-cycle.jsonl@60"],
        expect![[r#"
            exit 0
            the first 30 events are identical

            said  3 the same
            + turn 1 writer#1 assistant 1
                # Tidal power The tides can be predicted years ahead, whic…
            + turn 1 reviewer#1 reasoning 1
                The notes say the cost is several times that of offshore wi…
            + turn 1 reviewer#1 assistant 1
                {"approved": false, "comment": "The last sentence contradic…

            called  2 the same

            decided  1 the same
            + turn 1 writer 1 reviewer

            ran  3 the same
            ~ turn 1 writer #1 running → COMPLETED
                B # Tidal power The tides can be predicted years ahead, which no wind or sun can. Barrages hold
                water back and let it out through turbines; stream turbines stand in the current. Tidal power is
                cheap and will soon replace offshore wind.
            + turn 1 writer#1 run done
            + turn 1 reviewer #1 running
            + turn 1 reviewer#1 run running

            state  1 the same
            + turn 1 drafts
                B 1 by writer#1

            spent       calls  input  output     cost
            large-1  A      0      0       0
                     B      1    341      92  $0.0024
            small-1  A      2    990     145  $0.0013
                     B      3  1,287     193  $0.0016
            all      A      2    990     145  $0.0013
                     B      4  1,628     285  $0.0040
        "#]],
    );
}

#[test]
fn diff_counts_what_is_identical_in_words() {
    let ran = antiphon(&["diff", "simple-chat.jsonl@1", "simple-chat.jsonl@3"]);
    assert!(ran.out.starts_with("the first event is identical\n"), "{}", ran.out);
}

#[test]
fn diff_with_itself_finds_nothing() {
    for history in recorded() {
        let ran = antiphon(&["diff", "--json", &history, &history]);
        let diff: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(diff["same"], true, "{history}");
    }
}

#[test]
fn diff_takes_a_branch_a_run_or_nothing() {
    let whole = antiphon(&["diff", "--json", "simple-chat.jsonl", "simple-chat.jsonl@main"]);
    assert!(whole.out.contains("\"same\":true"), "{}", whole.out);
    check(
        &["diff", "simple-chat.jsonl", "simple-chat.jsonl@nobody"],
        expect![[r#"
        exit 2
        error: simple-chat.jsonl has no position, branch or run nobody
    "#]],
    );
    check(
        &["diff", "-", "-"],
        expect![[r#"
        exit 2
        error: only one of the two can come from standard input
    "#]],
    );
}

#[test]
fn reduce_gives_nodes_edges_and_last_nodes() {
    for history in recorded() {
        let flat: Value = serde_json::from_str(&antiphon(&["reduce", &history]).out).expect("JSON");
        let nodes = flat["nodes"].as_array().expect("a list");
        assert!(!nodes.is_empty() && flat["edges"].is_object(), "{history}");
        let last = flat["lastNodeByRunId"].as_object().expect("an object");
        assert!(last.values().all(|id| nodes.iter().any(|node| node["id"] == *id)), "{history}");

        let hyper: Value =
            serde_json::from_str(&antiphon(&["reduce", "--hyper", &history]).out).expect("JSON");
        assert!(["nodes", "edges", "active"].iter().all(|name| hyper[*name].is_array()), "{history}");
    }
}

#[test]
fn json_is_compact_in_a_pipe_unless_asked() {
    let path = histories().join("simple-chat.jsonl");
    let path = path.to_str().expect("UTF-8");
    let plain = antiphon(&["reduce", path]);
    assert_eq!(plain.out.lines().count(), 1);
    assert_eq!(antiphon(&["reduce", "--json", path]).out, plain.out, "it is always JSON");
    assert!(antiphon(&["reduce", "--pretty", path]).out.lines().count() > 100);
    assert_eq!(antiphon(&["view", "usage", "--json", "--compact", path]).out.lines().count(), 1);
}
