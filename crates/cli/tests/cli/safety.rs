//! What events say never does anything to a terminal, and what is secret is in none.

use crate::door::fed;
use crate::place::Place;
use crate::views::VIEWS;

/// Text that clears the screen, sets a title, rings, writes backwards.
const HOSTILE: &str = "\\u001b[2J\\u001b]0;owned\\u0007 \u{9b}31m \u{202e}txet \\r\\b \\u007f";

#[test]
fn no_escape_sequence_of_an_event_is_ever_printed() {
    let lines = [
        r#"{"type":"user","seq":1,"at":"2026-01-01T00:00:00Z","sessionId":"s","runId":"u1","content":"X"}"#,
        r#"{"type":"harness_start","seq":2,"sessionId":"s","runId":"X","parentId":"u1:user","agent":{"id":"X","name":"X","chain":["X"]},"spanId":"X","traceId":"X"}"#,
        r#"{"type":"text","seq":3,"sessionId":"s","runId":"X","id":"X","content":"X"}"#,
        r#"{"type":"tool_call","seq":4,"sessionId":"s","runId":"X","id":"c","name":"X","input":{"X":"X"}}"#,
        r#"{"type":"relay","seq":5,"sessionId":"s","runId":"X","id":"p","kind":"permission","toolCallId":"c","tool":"X","prompt":"X","params":"X"}"#,
        r#"{"type":"tool_result","seq":6,"sessionId":"s","runId":"X","id":"c","name":"X","output":"X","isError":true}"#,
        r#"{"type":"usage","seq":7,"sessionId":"s","runId":"X","inputTokens":1,"outputTokens":1,"model":"X"}"#,
        r#"{"type":"node_start","seq":8,"sessionId":"s","runId":"X","nodeId":"X","nodeType":"X"}"#,
        r#"{"type":"repl_input","seq":9,"sessionId":"s","runId":"X","id":"e","code":"X"}"#,
        r#"{"type":"repl_output","seq":10,"sessionId":"s","runId":"X","id":"e","stdout":"X","error":"X","done":true}"#,
        r#"{"type":"error","seq":11,"sessionId":"s","runId":"X","message":"X","code":"X"}"#,
    ];
    let input = lines.join("\n").replace('X', HOSTILE);
    for view in VIEWS {
        let ran = fed(&["view", view], input.as_bytes());
        assert_eq!(ran.code, Some(0), "{view}: {}", ran.err);
        assert_clean(view, &ran.out);
    }
    let ran = fed(&["why", "6"], input.as_bytes());
    assert_clean("why", &ran.out);
}

#[test]
fn nor_one_in_a_line_that_is_no_event() {
    let ran = fed(&["view", "usage"], "{\"type\":\"\u{1b}[2J\u{9b}\u{202e}".as_bytes());
    assert_eq!(ran.code, Some(2));
    assert_clean("error", &ran.err);
}

#[test]
fn colours_come_only_when_asked_for() {
    let args = ["view", "usage", "simple-chat.jsonl"];
    assert!(!crate::door::antiphon(&args).out.contains('\u{1b}'));
    let forced = crate::door::command(&args).env("CLICOLOR_FORCE", "1").output().expect("it runs");
    assert!(forced.stdout.contains(&0x1b));
    let refused = crate::door::command(&args).env("NO_COLOR", "1").output().expect("it runs");
    assert!(!refused.stdout.contains(&0x1b));
    let asked = crate::door::antiphon(&[&args[..], &["--color", "always"]].concat());
    assert!(asked.out.contains('\u{1b}'));
}

fn assert_clean(what: &str, text: &str) {
    let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
    assert_eq!(bad, None, "{what}:\n{text}");
}

#[test]
fn secrets_that_programs_print_are_not_in_the_journal() {
    let flow = "\
antiphon: 1
nodes:
  own: {command: {run: [sh, -c, 'echo \"is $TOK\"; echo \"told $TOK\" >&2'], env: {TOK: sk-0123456789abcdef}}}
  ours: {command: [sh, -c, 'echo $OUR_API_KEY; echo $OUR_API_KEY >&2; exit 1']}
";
    let place = Place::new(&[("flow.yaml", flow)]);
    let run = place.command(&["run", "flow.yaml", "--json"]).env("OUR_API_KEY", "t0ps3cretly").output();
    let told = String::from_utf8(run.expect("it runs").stdout).expect("text");
    assert!(!told.contains("sk-0123456789abcdef") && !told.contains("t0ps3cretly"), "{told}");
    assert!(told.contains("is $TOK") && told.contains("told $TOK"), "{told}");
    assert!(told.contains("ended with code 1: $OUR_API_KEY"), "{told}");
}

#[test]
fn secrets_that_programs_get_are_not_in_the_journal() {
    let flow = "\
antiphon: 1
nodes:
  ask: {human: {prompt: \"Go on?\"}}
  use:
    command: {run: [sh, -c, 'printf %s \"${#API_TOKEN} $COLOUR\"'], env: {API_TOKEN: t0ps3cret, COLOUR: red}}
edges: [ask -> use]
";
    let place = Place::new(&[("flow.yaml", flow)]);
    assert_eq!(place.run(&["run", "flow.yaml"]).code, Some(3));
    let kept = place.run(&["sessions", "export", "last"]).out;
    assert!(kept.contains("$API_TOKEN") && !kept.contains("t0ps3cret"), "{kept}");
    let without = place.run(&["resume", "last", "--approve", "ask"]);
    assert!(without.told().contains("the environment has no variable `API_TOKEN`"), "{}", without.told());
    let with = place.command(&["resume", "last"]).env("API_TOKEN", "another").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&with.stdout).trim(), "7 red");
}
