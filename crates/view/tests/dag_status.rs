//! How the boxes of the laid-out graph stand: events in, a row for each box that says how it stands out.

// The expected texts are written by the test runner, which always uses hashes.
#![allow(clippy::needless_raw_string_hashes, clippy::needless_pass_by_value)]

use std::collections::BTreeMap;
use std::fmt::Write;

use antiphon_event::Event;
use antiphon_testkit::{history, stream};
use antiphon_view::dag::{Dag, Layout, NodeKind, Status};
use antiphon_view::{Changes, Fold, Permissions, Projected, Tools, tools};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

type Folded = Fold<Projected<Dag>>;

fn laid_out(events: &[Event]) -> Layout {
    Folded::of(events).view().projection().layout().clone()
}

/// A graph that was saved and loaded after every event; whoever heard of nothing but the changes has the same.
fn watched(events: &[Event]) -> Layout {
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
    for node in watched(&history(table)).nodes {
        if let Some(status) = node.status {
            let id = node.id.trim_start_matches("block:");
            writeln!(rows, "{id} {}", status.name()).expect("text");
        }
    }
    expected.assert_eq(&rows);
}

#[test]
fn an_attempt_that_is_followed_by_another_has_failed() {
    check(
        "
        f run_start
        f node_start w 1 1
        f node_retry w 1
        f node_start w 1 2
        f node_end w COMPLETED attempt=2
        f run_end COMPLETED
        ",
        expect![[r#"
            f:run_start completed
            f:w:1:start failed
            f:w:1:start:2 completed
            f:w:1:end:2 completed
        "#]],
    );
}

#[test]
fn of_what_a_run_leaves_open_when_it_ends_nobody_knows() {
    check(
        "
        f run_start
        f node_start v 1 1
        f node_end v
        f node_start w 1 1
        f tool_call c bash
        f repl_input x code
        a^f:w:1:start harness_start
        a tool_call d bash
        a tool_call e bash
        a tool_result e
        f run_end CANCELLED
        a harness_end error
        ",
        expect![[r#"
            f:run_start cancelled
            f:v:1:start completed
            f:v:1:end completed
            f:w:1:start unknown
            c unknown
            x unknown
            a:harness_start failed
            d unknown
            e completed
        "#]],
    );
}

#[test]
fn what_an_interruption_left_open_does_not_go_on_once_its_run_has_ended_for_good() {
    check(
        "
        f run_start
        f node_start gate 1 1
        f tool_call c bash
        f run_end INTERRUPTED
        f resumed
        f run_end CANCELLED
        ",
        expect![[r#"
            f:run_start cancelled
            f:gate:1:start unknown
            c unknown
        "#]],
    );
}

#[test]
fn a_run_that_is_interrupted_may_go_on_with_what_it_leaves_open() {
    let paused = "
        f run_start
        f node_start gate 1 1
        f tool_call c bash
        f tool_call d bash
        f run_end INTERRUPTED
    ";
    check(
        paused,
        expect![[r#"
            f:run_start interrupted
            f:gate:1:start interrupted
            c interrupted
            d interrupted
        "#]],
    );
    check(
        &format!("{paused}\n f resumed\n f node_end gate\n f tool_result c\n f tool_call d bash"),
        expect![[r#"
            f:run_start running
            f:gate:1:start completed
            c completed
            d running
            f:gate:1:end completed
        "#]],
    );
}

#[test]
fn a_run_says_its_beginning_also_where_something_came_before() {
    check(
        "
        f state_patched
        f run_start
        f run_end CANCELLED
        f resumed
        ",
        expect![[r#"
            f:run_start running
        "#]],
    );
    check(
        "
        f harness_start nodeId=a
        f run_start
        f harness_end done nodeId=a
        f run_end
        ",
        expect![[r#"
            f:harness_start completed
            f:run_start completed
        "#]],
    );
}

#[test]
fn an_end_that_is_told_after_its_run_has_ended_counts() {
    check(
        "a harness_start\n a tool_call c bash\n a harness_end done\n a tool_result c",
        expect![[r#"
            a:harness_start completed
            c completed
        "#]],
    );
}

#[test]
fn the_end_of_a_node_that_speaks_in_the_run_of_its_flow_ends_no_other() {
    check(
        "
        f run_start
        f node_start a 1 1
        f node_start b 1 1
        f harness_start nodeId=a
        f tool_call c bash nodeId=a
        f tool_call d bash nodeId=b
        f harness_end done nodeId=a
        ",
        expect![[r#"
            f:run_start running
            f:a:1:start running
            f:b:1:start running
            f:harness_start completed
            c unknown
            d pending
        "#]],
    );
}

#[test]
fn what_a_node_leaves_open_in_the_run_of_its_flow_may_go_on_and_end_later() {
    let paused = "
        f run_start
        f node_start a 1 1
        f node_start a 2 1
        f harness_start nodeId=a
        f tool_call c bash nodeId=a
        f tool_call d bash nodeId=ab
        f harness_end interrupted nodeId=a
        f tool_call e bash nodeId=a
        f harness_end interrupted nodeId=a
    ";
    check(
        paused,
        expect![[r#"
            f:run_start running
            f:a:1:start running
            f:a:2:start running
            f:harness_start interrupted
            c interrupted
            d pending
            e interrupted
        "#]],
    );
    check(
        &format!("{paused}\n f tool_call e bash nodeId=a\n f harness_end error nodeId=a\n f run_end"),
        expect![[r#"
            f:run_start completed
            f:a:1:start unknown
            f:a:2:start unknown
            f:harness_start failed
            c unknown
            d unknown
            e unknown
        "#]],
    );
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
fn what_was_discarded_stays_so_and_what_comes_of_it_later_is_discarded_too() {
    check(
        r#"
        a text t "half"
        a tool_call c bash
        a text t "more"
        a model_retry 2 ["t","c"] cut
        a text t "late"
        a tool_call c bash
        a text u "whole"
        a tool_result c
        a text t "later"
        a model_retry 3 ["t","c","u"] cut
        a text u "still"
        a text t "at last"
        "#,
        expect![[r#"
            t discarded
            c discarded
            t~2 discarded
            t~3 discarded
            u discarded
            t~4 discarded
            u~2 discarded
            t~5 discarded
        "#]],
    );
}

#[test]
fn a_call_runs_once_it_comes_again_or_has_progress() {
    let asked = "
        a harness_start
        a tool_call c bash
        a tool_call d bash
        a tool_call e bash
        a tool_call f bash
        a relay q permission c
        a relay_resolved q true
        a relay r permission d
        a relay_resolved r false
        a tool_progress p e going
        b tool_progress p f going
    ";
    check(
        asked,
        expect![[r#"
            a:harness_start running
            c pending
            d pending
            e running
            f running
            q approved
            r denied
        "#]],
    );
    check(
        &format!("{asked}\n a tool_call c bash\n a tool_result d isError=true\n b tool_call f bash"),
        expect![[r#"
            a:harness_start running
            c running
            d failed
            e running
            f pending
            q approved
            r denied
            d:result failed
            b/f running
        "#]],
    );
    check(
        &format!("{asked}\n a harness_end cancelled"),
        expect![[r#"
            a:harness_start cancelled
            c unknown
            d unknown
            e unknown
            f unknown
            q approved
            r denied
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
            c pending
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

#[test]
fn a_call_that_gives_a_result_back_after_its_run_has_ended_is_left_open_by_it() {
    check(
        "a tool_call c bash\n b tool_result c\n a harness_end done\n b tool_call c bash",
        expect![[r#"
            c unknown
            b/c completed
        "#]],
    );
    check(
        "a tool_call c bash\n b tool_result c\n a harness_end done\n a resumed\n b tool_call c bash",
        expect![[r#"
            c pending
            b/c completed
        "#]],
    );
}

#[test]
fn of_answers_that_come_before_their_request_the_first_of_its_run_counts() {
    check(
        "
        a relay_resolved q false
        b relay_resolved q true other
        a relay q permission
        ",
        expect![[r#"
            q denied
        "#]],
    );
    check(
        "a relay q permission\n b relay q permission\n a relay_resolved q false",
        expect![[r#"
            q denied
            b/q pending
        "#]],
    );
}

/// How the calls stand in a graph, by their names.
fn calls(layout: &Layout) -> BTreeMap<&str, Option<Status>> {
    let calls = layout.nodes.iter().filter(|node| node.kind == NodeKind::ToolCall);
    calls.map(|call| (call.label.as_str(), call.status)).collect()
}

/// How a call stands in a graph that stands so among tools.
fn of_tool(status: tools::Status) -> Status {
    match status {
        tools::Status::Pending | tools::Status::AwaitingPermission => Status::Pending,
        tools::Status::Running => Status::Running,
        tools::Status::Complete => Status::Completed,
        tools::Status::Error | tools::Status::Denied => Status::Failed,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn calls_have_begun_and_are_over_as_among_tools(
        steps in proptest::collection::vec((0_usize..3, 0_usize..4, 0_usize..2), 0..24),
    ) {
        let mut table = String::new();
        for (kind, run, id) in steps {
            let (run, id) = (["a", "b", "c", "d"][run], ["x", "y"][id]);
            let line = match kind {
                0 => format!("{run} tool_call {id} {run}{id}"),
                1 => format!("{run} tool_result {id}"),
                _ => format!("{run} tool_progress {run}{id} {id} going"),
            };
            writeln!(table, "{line}").expect("text");
        }
        let events = history(&table);
        let tools = Fold::<Tools>::of(&events);
        let known = tools.view().calls().iter().filter(|call| !call.orphan);
        let stand: BTreeMap<_, _> =
            known.map(|call| (call.name.as_deref().unwrap_or_default(), Some(of_tool(call.status)))).collect();
        let layout = laid_out(&events);
        prop_assert_eq!(calls(&layout), stand, "{}", table);
    }

    #[test]
    fn requests_stand_as_among_permissions(events in stream()) {
        let permissions = Fold::<Permissions>::of(&events);
        for node in laid_out(&events).nodes.iter().filter(|node| node.kind == NodeKind::Relay) {
            let run = &node.run_id;
            let is_it = |id: &str| {
                let names = [format!("block:{id}"), format!("block:{run}/{id}")];
                names.iter().any(|name| {
                    let again = node.id.strip_prefix(name.as_str());
                    again.is_some_and(|again| again.is_empty() || again.starts_with('~'))
                })
            };
            let mut requests = permissions.view().requests().iter();
            let request =
                requests.find(|request| request.run_id.as_ref() == Some(run) && is_it(request.id.as_str()));
            prop_assert_eq!(json!(request.map(|request| request.status)), json!(node.status), "{}", node.id);
        }
    }
}
