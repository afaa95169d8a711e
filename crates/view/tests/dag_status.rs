//! How the boxes of the laid-out graph stand: events in, a row for each box that says how it stands out.

// The expected texts are written by the test runner, which always uses hashes.
#![allow(clippy::needless_raw_string_hashes, clippy::needless_pass_by_value)]

use std::fmt::Write;

use antiphon_event::Event;
use antiphon_testkit::history;
use antiphon_view::dag::{Dag, Layout};
use antiphon_view::{Changes, Fold, Projected};
use expect_test::{Expect, expect};
use serde_json::json;

type Folded = Fold<Projected<Dag>>;

/// A graph that was saved and loaded after every event; whoever heard of nothing but the changes has the same.
fn laid_out(events: &[Event]) -> Layout {
    let mut fold = Folded::default();
    let mut kept = json!(fold.view().projection().layout());
    let mut changes = Changes::wanted();
    for event in events {
        fold.apply(event, &mut changes);
        for change in changes.take() {
            let said = format!("{change:?}");
            assert!(change.apply(&mut kept), "{said} leads nowhere");
        }
        assert_eq!(kept, json!(fold.view().projection().layout()), "after {}", event.to_json());
        let saved = serde_json::to_string(&fold).expect("views are saved as JSON");
        fold = serde_json::from_str(&saved).expect("was saved");
    }
    fold.view().projection().layout().clone()
}

#[track_caller]
fn check(table: &str, expected: Expect) {
    let mut rows = String::new();
    for node in laid_out(&history(table)).nodes {
        if let Some(status) = node.status {
            let id = node.id.trim_start_matches("block:");
            writeln!(rows, "{id} {}", status.name()).expect("text");
        }
    }
    expected.assert_eq(&rows);
}

#[test]
fn a_retry_discards_what_its_own_run_said() {
    check(
        r#"
        a text t "from a"
        b reasoning t "thinking"
        b model_retry 2 ["t"] cut
        "#,
        expect![[r#"
            b/t discarded
        "#]],
    );
}

#[test]
fn a_result_that_comes_before_its_call_ends_it() {
    check(
        "
        a tool_result c
        a tool_call c bash
        a tool_result d isError=true
        a tool_call d bash
        a repl_output x printed
        a repl_input x code
        ",
        expect![[r#"
            c completed
            d:result failed
            d failed
            x completed
        "#]],
    );
}

#[test]
fn a_result_that_is_lent_goes_back_when_its_own_call_comes() {
    let lent = "a tool_call c bash\n b tool_result c";
    check(
        lent,
        expect![[r#"
            c completed
        "#]],
    );
    check(
        &format!("{lent}\n b tool_call c bash"),
        expect![[r#"
            c running
            b/c completed
        "#]],
    );
    check(
        &format!("{lent}\n a tool_result c isError=true\n b tool_call c bash"),
        expect![[r#"
            c failed
            a/c:result failed
            b/c completed
        "#]],
    );
}
