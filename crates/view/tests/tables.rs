//! What each view shows, as tables: events in, rows of the snapshot out, one a line.

use antiphon_testkit::{history, numbered};
use antiphon_view::Changes;
use antiphon_view::catalogue::find;
use expect_test::Expect;
use serde_json::Value;

mod tables {
    mod permissions;
    mod replay;
    mod runs;
    mod tools;
    mod transcript;
    mod usage;
}

/// Folds a history without positions or moments.
#[track_caller]
fn check(view: &str, table: &str, expected: &Expect) {
    show(view, &history(table), expected);
}

/// Folds a history as a journal has it: positions from 1, a second between two events.
#[track_caller]
fn check_recorded(view: &str, table: &str, expected: &Expect) {
    show(view, &numbered(history(table)), expected);
}

fn show(view: &str, events: &[antiphon_event::Event], expected: &Expect) {
    let mut view = (find(view).expect("in the catalogue").make)();
    for event in events {
        view.apply(event, &mut Changes::unwanted());
    }
    let mut lines = String::new();
    for (name, member) in view.snapshot().as_object().expect("snapshots are objects") {
        let rows = member.as_array().map_or(std::slice::from_ref(member), Vec::as_slice);
        lines.extend(rows.iter().map(|row| format!("{name} {}\n", brief(row))));
    }
    expected.assert_eq(&lines);
}

/// A row as JSON, with a space after each member.
fn brief(row: &Value) -> String {
    match row {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{name}:{}", brief(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(" "))
        }
        Value::Array(rows) => format!("[{}]", rows.iter().map(brief).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}
