//! Every view of every recorded conversation, as text for people.

use std::fmt::Write;
use std::path::PathBuf;

use expect_test::expect_file;

use crate::door::{antiphon, fed, recorded};

/// All views.
pub(crate) const VIEWS: &[&str] = &[
    "thread",
    "messages",
    "dag",
    "transcript",
    "nested",
    "tools",
    "permissions",
    "repl",
    "timeline",
    "agents",
    "runs",
    "usage",
    "risk",
    "trace",
    "why",
    "replay",
];

#[test]
fn every_view_of_every_history_reads_as_recorded() {
    for view in VIEWS {
        for history in recorded() {
            let ran = antiphon(&["view", view, &history]);
            assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{view} of {history}");
            let name = format!("{view}.{}.txt", history.trim_end_matches(".jsonl"));
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots").join(name);
            expect_file![path].assert_eq(&ran.out);
        }
    }
}

#[test]
fn every_view_fits_the_page() {
    for view in VIEWS {
        for history in recorded() {
            let ran = antiphon(&["view", view, "--width", "60", &history]);
            let widest = ran.out.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
            assert!(widest.chars().count() <= 60, "{view} of {history}: {widest}");
        }
    }
}

const WORDS: &str = "one two three four five six seven eight nine ten eleven twelve";

/// Whether a view says all of the words so many times, on pages of all widths.
#[track_caller]
fn is_whole(view: &str, times: usize, events: &str) {
    for width in 40..=120 {
        let out = fed(&["view", view, "--width", &width.to_string()], events.as_bytes()).out;
        for word in WORDS.split(' ') {
            let told = out.split_whitespace().filter(|told| *told == word).count();
            assert_eq!(told, times, "{word} in {view} at {width}:\n{out}");
        }
    }
}

#[test]
fn what_was_said_is_whole_at_every_width() {
    let user = format!(r#"{{"type":"user","runId":"u","content":"{WORDS}"}}"#);
    let text = format!(r#"{{"type":"text","runId":"a","parentId":"u:user","id":"t","content":"{WORDS}"}}"#);
    for view in ["thread", "messages", "transcript", "nested"] {
        is_whole(view, 2, &format!("{user}\n{text}\n"));
    }
}

#[test]
fn what_was_said_deep_inside_is_whole_too() {
    let mut events = String::new();
    for n in 1..40 {
        writeln!(events, r#"{{"type":"harness_start","runId":"r{n}","parentId":"r{}"}}"#, n - 1)
            .expect("text");
        writeln!(events, r#"{{"type":"text","runId":"r{n}","id":"t{n}","content":"{WORDS}"}}"#)
            .expect("text");
    }
    is_whole("nested", 39, &events);
}

#[test]
fn runs_can_be_told_apart_on_every_page() {
    for (width, titles) in [(60, 5), (80, 7), (100, 8), (120, 8)] {
        let out = antiphon(&["view", "runs", "--width", &width.to_string(), "nested-subagents.jsonl"]).out;
        for name in ["user", "└─ lead", "├─ docs scout", "└─ code scout", "└─ reader"] {
            let row = out.lines().find(|line| line.contains(name)).unwrap_or_default();
            assert!(row.contains("  completed  "), "{name} at {width}:\n{out}");
        }
        let shown =
            out.lines().next().unwrap_or_default().split("  ").filter(|title| !title.trim().is_empty());
        assert_eq!(shown.count(), titles, "{width}:\n{out}");
    }
}

#[test]
fn every_view_is_listed() {
    let help = antiphon(&["view", "--help"]).out;
    for view in VIEWS {
        assert!(help.contains(&format!("- {view}:")), "{view} is missing in:\n{help}");
    }
}

#[test]
fn a_graph_can_be_drawn_in_every_format() {
    let drawn = |format: &str| antiphon(&["view", "dag", "--format", format, "nested-subagents.jsonl"]).out;
    assert!(drawn("svg").starts_with("<svg ") && drawn("svg").trim_end().ends_with("</svg>"));
    assert!(drawn("mermaid").starts_with("flowchart "));
    assert!(drawn("dot").starts_with("digraph "));
    assert_eq!(drawn("json"), antiphon(&["view", "dag", "--json", "nested-subagents.jsonl"]).out);
    assert_eq!(drawn("text"), antiphon(&["view", "dag", "nested-subagents.jsonl"]).out);
}

#[test]
fn a_thread_can_leave_things_out() {
    let whole = antiphon(&["view", "thread", "nested-subagents.jsonl"]).out;
    let hidden = antiphon(&["view", "thread", "--hide-reasoning", "nested-subagents.jsonl"]).out;
    let collapsed = antiphon(&["view", "thread", "--collapse-tools", "nested-subagents.jsonl"]).out;
    assert!(whole.contains("two scouts in parallel") && !hidden.contains("two scouts in parallel"));
    assert!(whole.contains("grep -rn retries") && !collapsed.contains("grep -rn retries"));
}

#[test]
fn a_thread_says_what_a_call_waits_for_and_what_the_answer_was() {
    let asked = concat!(
        r#"{"type":"tool_call","runId":"a","id":"c","name":"ask","input":{}}"#,
        "\n",
        r#"{"type":"relay","runId":"a","id":"q","kind":"question","toolCallId":"c","prompt":"which?","options":["x","y"]}"#,
        "\n",
    );
    let thread = |events: &str| fed(&["view", "thread"], events.as_bytes()).out;
    assert!(thread(asked).contains("waiting for question q which? x · y"), "{}", thread(asked));
    let answered = format!(
        "{asked}{}",
        r#"{"type":"relay_resolved","runId":"a","relayId":"q","answer":"x","by":"ann"}"#
    );
    assert!(thread(&answered).contains("answered x by ann"), "{}", thread(&answered));
}

#[test]
fn a_choice_that_a_view_does_not_know_is_refused() {
    for args in [
        &["view", "runs", "--format", "svg"][..],
        &["view", "runs", "--hide-reasoning"],
        &["view", "dag", "--json", "--format", "svg"],
    ] {
        let ran = antiphon(&[args, &["simple-chat.jsonl"]].concat());
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{args:?}");
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
    }
}
