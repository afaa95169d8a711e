//! What is read, what is refused, and in which words.

use expect_test::{Expect, expect};

use crate::door::{antiphon, fed};
use crate::place::Place;

fn check(args: &[&str], input: &str, expected: Expect) {
    expected.assert_eq(&fed(args, input.as_bytes()).told());
}

const GOOD: &str = r#"{"type":"usage","runId":"r1","inputTokens":10,"outputTokens":5,"model":"small"}"#;

#[test]
fn the_first_bad_line_is_shown_with_its_place() {
    let input = format!("{GOOD}\n\n{{\"type\":\"text\",\"runId\":7,\"id\":\"t\"}}\n{GOOD}\n");
    check(
        &["view", "usage"],
        &input,
        expect![[r#"
        exit 2
        error: standard input: line 3, column 24: `runId`: invalid type: integer `7`, expected a string
          | {"type":"text","runId":7,"id":"t"}
          |                        ^
    "#]],
    );
}

#[test]
fn a_long_bad_line_is_cut_around_the_place() {
    let input = format!("{{\"type\":\"text\",\"runId\":\"r\",\"id\":\"{}\" oops}}\n", "x".repeat(300_000));
    check(
        &["view", "usage"],
        &input,
        expect![[r#"
        exit 2
        error: standard input: line 1, column 300036: expected `,` or `}`
          | …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" oops}
          |                                                                  ^
    "#]],
    );
}

#[test]
fn a_line_that_is_cut_off_at_the_end_is_shown_too() {
    check(
        &["view", "usage"],
        &GOOD[..40],
        expect![[r#"
        exit 2
        error: standard input: line 1, column 40: the line is cut off: EOF while parsing a string
          | {"type":"usage","runId":"r1","inputToken
          |                                        ^
    "#]],
    );
}

#[test]
fn bad_lines_can_be_passed_over() {
    let bad = "nonsense\n".repeat(12);
    check(
        &["view", "usage", "--keep-going"],
        &format!("{GOOD}\n{bad}{GOOD}\n"),
        expect![[r#"
            exit 0
            used by      calls  input  output  unpriced
            model small      2     20      10         2
            run   r1         2     20      10         2
            all              2     20      10         2
            standard input: line 2, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 3, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 4, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 5, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 6, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 7, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 8, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 9, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 10, column 1: expected an event as a JSON object
              | nonsense
              | ^
            standard input: line 11, column 1: expected an event as a JSON object
              | nonsense
              | ^
            … and 2 more
            warning: 12 lines were no event and passed over
        "#]],
    );
}

#[test]
fn files_that_cannot_be_read_are_refused_in_plain_words() {
    check(
        &["view", "usage", "nowhere.jsonl"],
        "",
        expect![[r#"
        exit 2
        error: there is no file nowhere.jsonl
    "#]],
    );
    check(
        &["view", "usage", "."],
        "",
        expect![[r#"
        exit 2
        error: . is a directory, not a file of events
    "#]],
    );
}

#[test]
fn no_events_at_all_are_no_error() {
    assert_eq!(fed(&["view", "usage"], b"\n\n").code, Some(0));
    assert_eq!(fed(&["view", "usage", "-"], b"").code, Some(0));
}

#[test]
fn invalid_text_is_refused() {
    let ran = fed(&["view", "usage"], b"{\"type\":\"text\",\"id\":\"\xff\"}\n");
    expect![[r#"
        exit 2
        error: standard input: line 1, column 22: the byte 0xff is not UTF-8
          | {"type":"text","id":"�"}
          |                      ^
    "#]]
    .assert_eq(&ran.told());
}

#[test]
fn a_line_without_end_is_refused_and_does_not_hide_the_next() {
    let input = format!("{}\n{GOOD}\nnonsense\n", "x".repeat(17 << 20));
    check(
        &["view", "usage", "--keep-going"],
        &input,
        expect![[r#"
            exit 0
            used by      calls  input  output  unpriced
            model small      1     10       5         1
            run   r1         1     10       5         1
            all              1     10       5         1
            standard input: line 1, column 16777217: the line is longer than 16777216 bytes
              | …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
              |                                                                  ^
            standard input: line 3, column 1: expected an event as a JSON object
              | nonsense
              | ^
            warning: 2 lines were no event and passed over
        "#]],
    );
}

#[test]
fn several_files_are_read_as_one() {
    let both = antiphon(&["view", "usage", "--json", "simple-chat.jsonl", "concurrent-tools.jsonl"]);
    let one = antiphon(&["view", "usage", "--json", "simple-chat.jsonl"]);
    assert_eq!(both.code, Some(0));
    assert_ne!(both.out, one.out);
}

/// A branch that another forks off from in the middle, and one of another session.
const FORKED: &str = r#"
{"type":"user","sessionId":"s","branchId":"main","seq":1,"runId":"u1","content":"before"}
{"type":"user","sessionId":"s","branchId":"main","seq":2,"runId":"u2","content":"behind"}
{"type":"branch_created","sessionId":"s","branchId":"fork","seq":2,"from":{"branchId":"main","seq":1}}
{"type":"user","sessionId":"s","branchId":"fork","seq":3,"runId":"u3","content":"instead"}
{"type":"branch_created","sessionId":"s","branchId":"deep","seq":4,"from":{"branchId":"fork","seq":3}}
{"type":"user","sessionId":"s","branchId":"deep","seq":5,"runId":"u4","content":"further on"}
{"type":"user","sessionId":"s","branchId":"fork","seq":4,"runId":"u5","content":"no more"}
{"type":"user","sessionId":"other","branchId":"main","seq":1,"runId":"u6","content":"elsewhere"}
{"type":"user","runId":"u7","content":"nowhere"}
"#;

#[test]
fn a_branch_of_a_file_is_read_with_what_it_forks_from() {
    let place = Place::new(&[("forked.jsonl", FORKED)]);
    let said = |args: &[&str]| {
        let ran = place.run(&[&["view", "messages", "--json", "forked.jsonl"], args].concat());
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{args:?}");
        let texts =
            ran.out.split("\"content\":\"").skip(1).map(|rest| rest.split('"').next().unwrap_or(rest));
        texts.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(said(&["--branch", "main"]), "before, behind, elsewhere");
    assert_eq!(said(&["--branch", "fork"]), "before, instead, no more");
    assert_eq!(said(&["--branch", "deep"]), "before, instead, further on");
    assert_eq!(said(&["--branch", "deep", "--at", "3"]), "before, instead");
    let every = "before, behind, instead, further on, no more, elsewhere, nowhere";
    assert_eq!(said(&[]), every);
}

#[test]
fn a_branch_that_is_not_in_the_files_is_refused() {
    let place = Place::new(&[("forked.jsonl", FORKED)]);
    let twice = |what: &str| {
        format!("error: --branch needs files, which can be read twice: write what comes from {what} to one\n")
    };
    for command in [&["view", "thread", "--branch"][..], &["reduce", "--branch"]] {
        let refused = |args: &[&str]| {
            let ran = place.run(&[command, args].concat());
            assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{command:?} {args:?}");
            ran.err
        };
        let unknown = "error: there is no branch nope in forked.jsonl: there is deep, fork, main\n";
        assert_eq!(refused(&["nope", "forked.jsonl"]), unknown);
        place.write("cut.jsonl", FORKED.trim_end_matches("}\n"));
        let cut = "error: cut.jsonl: line 10, column ";
        assert!(refused(&["nope", "cut.jsonl"]).starts_with(cut));
        assert_eq!(refused(&["main"]), twice("standard input"));
        assert_eq!(refused(&["main", "forked.jsonl", "/dev/null"]), twice("/dev/null"));
    }
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest() {
    let ran = antiphon(&["view", "usages", "simple-chat.jsonl"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("a similar value exists: 'usage'"), "{}", ran.err);
    let ran = antiphon(&["reduec"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("'reduce'"), "{}", ran.err);
}
