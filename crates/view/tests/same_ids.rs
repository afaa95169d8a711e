//! Two runs may use the same id: every view tells them apart by the run.

// The expected texts are written by the test runner, which always uses hashes.
#![allow(clippy::needless_raw_string_hashes, clippy::needless_pass_by_value)]

use std::fmt::Write;

use antiphon_testkit::{history, numbered};
use antiphon_view::Fold;
use antiphon_view::diff::diff;
use antiphon_view::{Risk, Runs, why::Causes};
use expect_test::{Expect, expect};

/// What each fact of a table is caused by, what a diff says was called and decided, and how steps stand.
#[track_caller]
fn check(table: &str, expected: Expect) {
    let events = numbered(history(table));
    let mut shown = String::new();
    let fold = Fold::<Causes>::of(&events);
    for seq in 1..=events.len() as u64 {
        let why = fold.view().why(seq).expect("it is known");
        let chain = why.causes.iter().map(|cause| format!("{} {}", cause.what.tag(), cause.text));
        let chain: Vec<_> = chain.take(3).collect();
        writeln!(shown, "why {seq}: {}", chain.join(" ← ")).expect("text");
    }
    let diff = diff([], &events);
    for row in &diff.called {
        let call = row.b.as_ref().expect("only there");
        let output = call.output.as_ref().map_or("none", |output| output.as_str());
        writeln!(shown, "called {} → {output}", row.name).expect("text");
    }
    for row in &diff.decided {
        writeln!(shown, "decided {} {}", row.about, row.b.as_deref().unwrap_or("none")).expect("text");
    }
    for step in Fold::<Risk>::of(&events).view().steps() {
        let run = step.run_id.as_ref().map_or("-", |run| run.as_str());
        let name = step.name.as_deref().unwrap_or("-");
        writeln!(shown, "step {run} {} {name} {:?}", step.id, step.state).expect("text");
    }
    expected.assert_eq(&shown);
}

#[test]
fn results_go_to_the_call_of_their_run() {
    check(
        "
        a tool_call c xa
        b tool_call c xb
        a tool_result c RA
        ",
        expect![[r#"
            why 1: tool_call xa {} ← step model call 1
            why 2: tool_call xb {} ← step model call 1
            why 3: tool_result tool: RA ← tool_call xa {} ← step model call 1
            called xa → "RA"
            called xb → none
            step a c xa Recorded
            step b c xb InFlight
        "#]],
    );
}

#[test]
fn outputs_go_to_the_code_of_their_run() {
    check(
        "
        a repl_input z one
        b repl_input z two
        a repl_output z printed
        ",
        expect![[r#"
            why 1: repl_input one
            why 2: repl_input two
            why 3: repl_output printed ← repl_input one
            called repl → "printed"
            called repl → none
            step a z - Recorded
            step b z - InFlight
        "#]],
    );
}

#[test]
fn answers_go_to_the_request_of_their_run() {
    check(
        "
        a tool_call c xa
        b tool_call c xb
        a relay q permission c xa
        b relay q permission c xb
        a relay_resolved q false
        b tool_result c RB
        ",
        expect![[r#"
            why 1: tool_call xa {} ← step model call 1
            why 2: tool_call xb {} ← step model call 1
            why 3: relay permission: xa ← tool_call xa {} ← step model call 1
            why 4: relay permission: xb ← tool_call xb {} ← step model call 1
            why 5: relay_resolved denied by user ← relay permission: xa ← tool_call xa {}
            why 6: tool_result tool: RB ← relay permission: xb ← tool_call xb {}
            called xa → none
            called xb → "RB"
            decided xa denied by user
            decided xb answered elsewhere
            step a c xa InFlight
            step b c xb Recorded
            step a q xa Recorded
            step b q xb Recorded
        "#]],
    );
}

#[test]
fn what_names_another_run_finds_what_is_open() {
    check(
        "
        a tool_call c xa
        a relay q permission c xa
        b relay_resolved q true
        b tool_result c RA
        ",
        expect![[r#"
            why 1: tool_call xa {} ← step model call 1
            why 2: relay permission: xa ← tool_call xa {} ← step model call 1
            why 3: relay_resolved approved by user ← relay permission: xa ← tool_call xa {}
            why 4: tool_result tool: RA ← relay_resolved approved by user ← relay permission: xa
            called xa → "RA"
            decided xa approved by user
            step a c xa Recorded
            step a q xa Recorded
        "#]],
    );
}

#[test]
fn what_is_lent_goes_to_the_call_of_its_own_run_when_that_comes() {
    check(
        "
        a tool_call c xa
        a relay q permission c xa
        b relay_resolved q true
        b tool_result c RA
        b tool_call c xb
        ",
        expect![[r#"
            why 1: tool_call xa {} ← step model call 1
            why 2: relay permission: xa ← tool_call xa {} ← step model call 1
            why 3: relay_resolved approved by user ← relay permission: xa ← tool_call xa {}
            why 4: tool_result tool: RA ← tool_call xb {} ← step model call 1
            why 5: tool_call xb {} ← step model call 1
            called xa → none
            called xb → "RA"
            decided xa approved by user
            step a c xa InFlight
            step a q xa Recorded
            step b c xb Recorded
        "#]],
    );
}

#[test]
fn a_call_that_comes_after_its_result_takes_it_from_whatever_run() {
    check(
        "
        b tool_result c R
        b relay_resolved q true
        a tool_call c xa
        a relay q permission c xa
        ",
        expect![[r#"
            why 1: tool_result tool: R ← tool_call xa {} ← step model call 1
            why 2: relay_resolved approved by user ← tool_result tool: R ← tool_call xa {}
            why 3: tool_call xa {} ← step model call 1
            why 4: relay permission: xa ← tool_call xa {} ← step model call 1
            called xa → "R"
            decided xa approved by user
            step a c xa Recorded
            step a q xa Recorded
        "#]],
    );
}

#[test]
fn an_answer_that_comes_before_its_request_ends_the_wait_of_its_own_run() {
    let waiting = |table: &str| {
        let fold = Fold::<Runs>::of(&history(table));
        let waits = fold.view().runs().iter().map(|run| format!("{} {}", run.run_id, run.waiting));
        waits.collect::<Vec<_>>().join(", ")
    };
    let answers = "a relay_resolved r true\nb relay_resolved r false\n";
    let requests = "b relay r permission c1\na relay r permission c1\nc relay r permission c1";
    assert_eq!(waiting(&format!("{answers}{requests}")), "b false, a false, c true");
    assert_eq!(waiting(&format!("{requests}\na relay_resolved r true")), "b true, a false, c true");
}
