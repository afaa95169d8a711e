//! One rule for requests to people, in all views that show them: events in, how each view says the request `p`
//! stands out.

use antiphon_event::Event;
use antiphon_testkit::{history, stream};
use antiphon_view::Changes;
use antiphon_view::catalogue::find;
use antiphon_view::diff::diff;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

/// A view, what names the request in it, and where it says how that stands.
const VIEWS: &[(&str, &[(&str, &str)], &str)] = &[
    ("permissions", &[("id", "p")], "/status"),
    ("thread", &[("/relay/id", "p")], "/relay/status"),
    ("nested", &[("level", "request"), ("id", "p")], "/status"),
    ("risk", &[("kind", "relay"), ("id", "p")], "/state"),
    ("dag", &[("id", "block:p")], "/status"),
    ("tools", &[("callId", "c")], "/status"),
    ("runs", &[("runId", "a")], "/waiting"),
    ("repl", &[("id", "x")], "/pending"),
];

#[track_caller]
fn check(table: &str, expected: Expect) {
    let events = history(table);
    let mut lines = String::new();
    for (name, marks, place) in VIEWS {
        let snapshot = snapshot(name, &events);
        let stands = search(&snapshot, marks).and_then(|row| row.pointer(place));
        let stands =
            stands.map_or("-".to_owned(), |value| value.as_str().map_or(value.to_string(), str::to_owned));
        lines.extend([name, " ", &stands, "\n"]);
    }
    let diff = serde_json::to_value(diff([], &events)).expect("JSON");
    let decided = diff.pointer("/decided/0/b").and_then(Value::as_str).unwrap_or("-");
    lines.extend(["diff ", decided, "\n"]);
    expected.assert_eq(&lines);
}

fn snapshot(view: &str, events: &[Event]) -> Value {
    let mut view = (find(view).expect("in the catalogue").make)();
    for event in events {
        view.apply(event, &mut Changes::unwanted());
    }
    view.snapshot()
}

/// The first object, depth first, that has all the marks.
fn search<'v>(value: &'v Value, marks: &[(&str, &str)]) -> Option<&'v Value> {
    let has = |(name, mark): &(&str, &str)| {
        let pointer = format!("/{}", name.trim_start_matches('/'));
        value.pointer(&pointer).and_then(Value::as_str) == Some(*mark)
    };
    if value.is_object() && marks.iter().all(has) {
        return Some(value);
    }
    match value {
        Value::Object(members) => members.values().find_map(|member| search(member, marks)),
        Value::Array(rows) => rows.iter().find_map(|row| search(row, marks)),
        _ => None,
    }
}

/// A run with code, a call and a request about it.
const ASKED: &str = "
    a harness_start
    a repl_input x code
    a tool_call c bash
    a usage 1 1
    a relay p permission c bash
";

#[test]
fn it_waits_until_something_settles_it() {
    check(
        &format!("{ASKED}\n a tool_progress g c \"asking\"\n b tool_result c\n b harness_end done"),
        expect![[r#"
            permissions pending
            thread pending
            nested pending
            risk in_flight
            dag pending
            tools complete
            runs true
            repl {"p":{"tool":"bash"}}
            diff open
        "#]],
    );
}

#[test]
fn its_answer_settles_it_and_the_first_one_counts() {
    check(
        &format!("{ASKED}\n - relay_resolved p false\n a relay_resolved p true"),
        expect![[r#"
        permissions denied
        thread denied
        nested denied
        risk recorded
        dag denied
        tools denied
        runs false
        repl {}
        diff denied by user
    "#]],
    );
}

#[test]
fn an_answer_before_the_request_counts() {
    check(
        "a repl_input x code\n a tool_call c bash\n - relay_resolved p true\n a relay p permission c bash",
        expect![[r#"
            permissions approved
            thread approved
            nested approved
            risk recorded
            dag approved
            tools pending
            runs false
            repl {}
            diff approved by user
        "#]],
    );
}

#[test]
fn a_call_that_is_about_to_run_was_allowed_elsewhere() {
    check(
        &format!("{ASKED}\n a tool_call c bash"),
        expect![[r#"
        permissions answered_elsewhere
        thread answered_elsewhere
        nested answered_elsewhere
        risk recorded
        dag answered_elsewhere
        tools running
        runs false
        repl {}
        diff answered elsewhere
    "#]],
    );
}

#[test]
fn a_call_that_comes_first_after_its_request_is_not_about_to_run() {
    let asked = "a repl_input x code\n a relay p permission c bash\n a tool_call c bash";
    check(
        asked,
        expect![[r#"
        permissions pending
        thread pending
        nested pending
        risk in_flight
        dag pending
        tools awaiting_permission
        runs true
        repl {"p":{"tool":"bash"}}
        diff open
    "#]],
    );
    check(
        &format!("{asked}\n a tool_call c bash"),
        expect![[r#"
        permissions answered_elsewhere
        thread answered_elsewhere
        nested answered_elsewhere
        risk recorded
        dag answered_elsewhere
        tools running
        runs false
        repl {}
        diff answered elsewhere
    "#]],
    );
}

#[test]
fn a_question_of_a_call_that_runs_again_still_waits() {
    check(
        "a repl_input x code\n a tool_call c ask\n a relay p question c\n a tool_call c ask",
        expect![[r#"
            permissions pending
            thread pending
            nested pending
            risk in_flight
            dag pending
            tools running
            runs true
            repl {"p":{}}
            diff open
        "#]],
    );
}

#[test]
fn a_result_shows_that_somebody_answered() {
    check(
        &format!("{ASKED}\n a tool_result c \"files\"\n a harness_end done"),
        expect![[r#"
        permissions answered_elsewhere
        thread answered_elsewhere
        nested answered_elsewhere
        risk recorded
        dag answered_elsewhere
        tools complete
        runs false
        repl {}
        diff answered elsewhere
    "#]],
    );
}

#[test]
fn the_end_of_the_run_closes_it() {
    check(
        &format!("{ASKED}\n a harness_end error"),
        expect![[r#"
        permissions closed
        thread closed
        nested closed
        risk recorded
        dag closed
        tools pending
        runs false
        repl {}
        diff closed
    "#]],
    );
    check(
        "a repl_input x code\n a relay p approval nodeId=gate\n a run_end FAILED",
        expect![[r#"
        permissions closed
        thread closed
        nested closed
        risk recorded
        dag closed
        tools -
        runs false
        repl {}
        diff closed
    "#]],
    );
}

#[test]
fn a_run_that_is_only_interrupted_goes_on_waiting() {
    check(
        &format!("{ASKED}\n a harness_end interrupted"),
        expect![[r#"
        permissions pending
        thread pending
        nested pending
        risk in_flight
        dag pending
        tools awaiting_permission
        runs true
        repl {"p":{"tool":"bash"}}
        diff open
    "#]],
    );
    check(
        "a repl_input x code\n a relay p approval nodeId=gate\n a interrupt gate",
        expect![[r#"
        permissions pending
        thread pending
        nested pending
        risk in_flight
        dag pending
        tools -
        runs true
        repl {"p":{}}
        diff open
    "#]],
    );
}

#[test]
fn an_answer_after_the_end_still_counts() {
    check(
        &format!("{ASKED}\n a harness_end error\n - relay_resolved p true"),
        expect![[r#"
        permissions approved
        thread approved
        nested approved
        risk recorded
        dag approved
        tools pending
        runs false
        repl {}
        diff approved by user
    "#]],
    );
}

#[test]
fn who_asks_again_after_the_end_waits_again() {
    check(
        &format!("{ASKED}\n a harness_end error\n a resumed\n a relay p permission c bash"),
        expect![[r#"
        permissions pending
        thread pending
        nested pending
        risk in_flight
        dag pending
        tools awaiting_permission
        runs true
        repl {"p":{"tool":"bash"}}
        diff open
    "#]],
    );
}

#[test]
fn who_asks_again_after_the_answer_does_not_wait() {
    check(
        &format!("{ASKED}\n - relay_resolved p true\n a relay p permission c bash"),
        expect![[r#"
            permissions approved
            thread approved
            nested approved
            risk recorded
            dag approved
            tools pending
            runs false
            repl {}
            diff approved by user
        "#]],
    );
}

/// The requests that a thread shows on their own: run, id, and how they stand.
fn alone(entries: &Value, found: &mut Vec<(Value, Value, Value)>) {
    for entry in entries.as_array().into_iter().flatten() {
        for part in entry["parts"].as_array().into_iter().flatten() {
            if part["kind"] == "relay" {
                let relay = &part["relay"];
                found.push((entry["runId"].clone(), relay["id"].clone(), relay["status"].clone()));
            }
            for branch in part["branches"].as_array().into_iter().flatten() {
                alone(&branch["entries"], found);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_thread_says_of_every_request_what_permissions_say(events in stream()) {
        let permissions = snapshot("permissions", &events);
        let requests = permissions["requests"].as_array().expect("a list");
        let mut found = Vec::new();
        alone(&snapshot("thread", &events)["entries"], &mut found);
        for (run, id, status) in found {
            let request = requests.iter().find(|request| request["runId"] == run && request["id"] == id);
            prop_assert_eq!(request.map(|request| &request["status"]), Some(&status), "{} of {}", id, run);
        }
    }
}
