//! Views that show structure: tables of events in, exact snapshots out.
//!
//! [`check`] is the one door. Beside the snapshot it proves, for every table, that the changes lead from
//! each snapshot to the next and that a view saved after any event goes on as if nothing had happened.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod agents;
mod nested;
mod repl;
mod risk;
mod timeline;
mod trace;

use antiphon_event::Event;
use antiphon_testkit::{history, numbered};
use antiphon_view::{Changes, Fold, View};
use expect_test::Expect;
use serde_json::{Value, json};

/// Folds a table and compares the snapshot, as compact lines.
#[track_caller]
fn check<V: View>(table: &str, expected: &Expect) {
    expected.assert_eq(&lines(&folded::<V>(&history(table))));
}

/// Like [`check`], with positions and a second between events.
#[track_caller]
fn check_timed<V: View>(table: &str, expected: &Expect) {
    expected.assert_eq(&lines(&folded::<V>(&numbered(history(table)))));
}

/// The snapshot after the events, with the laws checked on the way.
#[track_caller]
fn folded<V: View>(events: &[Event]) -> Value {
    let mut fold = Fold::new(V::default());
    let mut snapshot = json!(fold.view().snapshot());
    for event in events {
        let saved = serde_json::to_string(&fold).expect("a view is saved as JSON");
        let mut loaded: Fold<V> = serde_json::from_str(&saved).expect("a saved view is loaded");
        loaded.apply(event, &mut Changes::unwanted());
        let mut changes = Changes::wanted();
        fold.apply(event, &mut changes);
        for change in changes.take() {
            let shown = json!(change).to_string();
            assert!(change.apply(&mut snapshot), "{shown} leads nowhere in {snapshot:#}");
        }
        let now = json!(fold.view().snapshot());
        assert_eq!(snapshot, now, "changes of {} lead to the snapshot", event.to_json());
        assert_eq!(json!(loaded.view().snapshot()), now, "saved and loaded before {}", event.to_json());
    }
    json!(fold.view().snapshot())
}

/// A snapshot with one line for each row: members that hold lists of objects are opened up, two levels deep.
fn lines(snapshot: &Value) -> String {
    let mut out = String::new();
    write_lines(snapshot, 0, &mut out);
    out
}

fn write_lines(value: &Value, depth: usize, out: &mut String) {
    let is_table = |value: &Value| value.as_array().is_some_and(|list| list.iter().any(Value::is_object));
    let Some(members) = value.as_object() else {
        return;
    };
    let indent = "  ".repeat(depth);
    let (tables, plain): (Vec<_>, Vec<_>) = members.iter().partition(|(_, value)| is_table(value));
    if !plain.is_empty() {
        let words: Vec<_> = plain.iter().map(|(name, value)| format!("{name}={value}")).collect();
        out.extend([&*indent, &words.join(" ").replace("\\\"", "'").replace('"', ""), "\n"]);
    }
    for (name, rows) in tables {
        out.extend([&*indent, name, ":\n"]);
        for row in rows.as_array().expect("a table is a list") {
            write_lines(row, depth + 1, out);
        }
    }
}
