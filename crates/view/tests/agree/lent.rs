//! Whose a result or a piece of progress is, where runs use the same id for their calls: all views say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use antiphon_testkit::history;
use antiphon_view::Changes;
use antiphon_view::catalogue::find;
use antiphon_view::diff::diff;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fold;

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// What each call has, in each view: its output, its progress, how it stands.
fn check(table: &str, expected: Expect) {
    let mut shown = String::new();
    let mut say = |view: &str, what: Vec<Value>| {
        let what: Vec<_> =
            what.iter().map(|value| value.as_str().map_or(value.to_string(), str::to_owned)).collect();
        writeln!(shown, "{view}: {}", what.join(" ").trim_end()).expect("text");
    };
    for entry in list(&fold("thread", table), "entries") {
        for part in list(entry, "parts") {
            say(
                "thread",
                vec![
                    entry["runId"].clone(),
                    part["kind"].clone(),
                    part["output"].clone(),
                    part["progress"].clone(),
                    part["status"].clone(),
                ],
            );
        }
    }
    for message in
        list(&fold("messages", table), "messages").iter().filter(|message| message["role"] == "tool")
    {
        say("messages", vec![message["tool_call_id"].clone(), message["content"].clone()]);
    }
    for call in list(&fold("tools", table), "calls") {
        let orphan = if call["orphan"] == json!(true) { "orphan" } else { "call" };
        let pieces: Value = list(call, "progress").iter().map(|piece| piece["content"].clone()).collect();
        say(
            "tools",
            vec![
                call["runId"].clone(),
                json!(orphan),
                call["output"].clone(),
                pieces,
                call["status"].clone(),
            ],
        );
    }
    for call in list(&fold("nested", table), "nodes").iter().filter(|node| node["level"] == "call") {
        let orphan = if call["orphan"] == json!(true) { "orphan" } else { "call" };
        say(
            "nested",
            vec![
                call["label"].clone(),
                json!(orphan),
                call["output"].clone(),
                call["events"].clone(),
                call["status"].clone(),
            ],
        );
    }
    expected.assert_eq(&shown);
}

#[test]
fn a_result_goes_to_the_call_of_its_run_also_if_another_run_makes_one_before() {
    check(
        "a tool_result x RA\nb tool_call x bash\na tool_call x bash",
        expect![[r#"
        thread: a tool_call RA null complete
        thread: b tool_call null null proposed
        messages: x RA
        messages: x no result yet
        tools: b call null [] pending
        tools: a call RA [] complete
        nested: bash call null 1 pending
        nested: bash call RA 2 done
    "#]],
    );
}

#[test]
fn a_result_leaves_the_call_that_was_open_when_its_own_comes() {
    check(
        "b tool_call x bash\na tool_result x RA\na tool_call x bash\nb tool_result x RB",
        expect![[r#"
        thread: b tool_call RB null complete
        thread: a tool_call RA null complete
        messages: x RB
        messages: x RA
        tools: b call RB [] complete
        tools: a call RA [] complete
        nested: bash call RB 2 done
        nested: bash call RA 2 done
    "#]],
    );
}

#[test]
fn progress_goes_to_the_call_of_its_run_too() {
    check(
        "a tool_progress p x PA\nb tool_call x bash\nb tool_progress p x PB\na tool_call x bash\na tool_progress p x more",
        expect![[r#"
            thread: a tool_call null ["more"] running
            thread: b tool_call null ["PB"] running
            messages: x no result yet
            messages: x no result yet
            tools: b call null ["PB"] running
            tools: a call null ["more"] running
            nested: bash call null 2 running
            nested: bash call null 3 running
        "#]],
    );
}

#[test]
fn what_no_run_of_its_own_calls_is_lent_to_a_call_of_another() {
    check(
        "a tool_result x RA\nb tool_call x bash\nc tool_call y bash\nd tool_result y RD\nd tool_progress p y PD",
        expect![[r#"
            thread: b tool_call RA null complete
            thread: c tool_call RD ["PD"] complete
            messages: x RA
            messages: y RD
            tools: b call RA [] complete
            tools: c call RD ["PD"] complete
            nested: bash call RA 2 done
            nested: bash call RD 3 done
        "#]],
    );
}

#[test]
fn a_result_of_its_own_run_counts_for_more_than_one_that_is_lent() {
    check(
        "b tool_call x bash\na tool_result x RA\nb tool_result x RB\na tool_result x again",
        expect![[r#"
        thread: b tool_call RB null complete
        messages: x RB
        tools: b call RB [] complete
        nested: bash call RB 4 done
    "#]],
    );
}

#[test]
fn only_one_run_lends_to_a_call() {
    check(
        "b tool_call x bash\na tool_progress p x PA\nc tool_result x RC\nc tool_call x bash\na tool_call x bash",
        expect![[r#"
            thread: b tool_call null null proposed
            thread: c tool_call RC null complete
            thread: a tool_call null ["PA"] running
            messages: x no result yet
            messages: x RC
            messages: x no result yet
            tools: b call null [] pending
            tools: c call RC [] complete
            tools: a call null ["PA"] running
            nested: bash call null 1 pending
            nested: bash call RC 2 done
            nested: bash call null 2 running
        "#]],
    );
}

#[test]
fn what_is_lent_to_code_that_prints_on_stands_behind_what_its_own_run_prints() {
    check(
        "a repl_input x f()\na repl_progress x A stdout\nb repl_progress x B stderr\na repl_progress x C stdout",
        expect![[r#"
            thread: a code null ACB running
            nested: code call null 4 running
        "#]],
    );
}

/// How many bytes of changes a view makes of a beginning, of so many times a line with its number for `#`, and of so many
/// times an end. Whoever hears of nothing else has its snapshot.
fn said(view: &str, begin: &str, line: &str, times: usize, end: &str) -> usize {
    let lines = (0..times).map(|nth| line.replace('#', &nth.to_string()) + "\n").collect::<String>();
    let ends = format!("{end}\n").repeat(times);
    let mut fold = (find(view).expect("in the catalogue").make)();
    let mut kept = fold.snapshot();
    let mut bytes = 0;
    for event in history(&format!("{begin}\n{lines}{ends}")) {
        let mut changes = Changes::wanted();
        fold.apply(&event, &mut changes);
        for change in changes.take() {
            bytes += serde_json::to_string(&change).expect("changes are JSON").len();
            assert!(change.apply(&mut kept), "after {}", event.to_json());
        }
    }
    assert_eq!(kept, fold.snapshot());
    bytes
}

#[track_caller]
fn grows_with_what_is_said(begin: &str, line: &str, end: &str) {
    for view in ["thread", "tools", "nested"] {
        let (few, many) = (said(view, begin, line, 100, end), said(view, begin, line, 400, end));
        assert!(many < 5 * few, "{view}: {many} bytes of changes for 400 lines, and for 100 {few}");
    }
}

#[test]
fn what_is_said_of_progress_that_was_there_before_its_call_grows_with_it() {
    for content in [r#""piece #""#, r#"{"stream":"stdout","text":"piece #"}"#] {
        let line = format!("a tool_progress p# x {content}");
        grows_with_what_is_said("", &line, "a tool_call x bash");
        grows_with_what_is_said("", &line, "b tool_call x bash");
        grows_with_what_is_said("", &line, "b tool_call x bash\na tool_call x bash");
        grows_with_what_is_said("b tool_call x bash", &line, "a tool_call x bash");
    }
}

#[test]
fn what_comes_again_of_a_call_does_not_say_its_progress_again() {
    let line = r#"a tool_progress p# x "piece #""#;
    for again in ["a tool_result x 1", "b tool_result x 1 isError=true", "a relay q question x"] {
        grows_with_what_is_said("a tool_call x bash", line, again);
    }
}

/// What a view says came of each call, by what the call was given.
type Came = BTreeMap<String, (Value, Vec<Value>)>;

fn came<'a>(rows: impl IntoIterator<Item = &'a Value>) -> Came {
    let content = |piece: &Value| piece.get("content").unwrap_or(piece).clone();
    let rows = rows.into_iter().filter(|row| !row["input"].is_null());
    rows.map(|row| {
        let pieces = list(row, "progress").iter().map(content).collect();
        (row["input"].to_string(), (row["output"].clone(), pieces))
    })
    .collect()
}

/// The same for what says nothing of progress.
fn results(came: &Came) -> BTreeMap<&str, &Value> {
    came.iter().map(|(input, (output, _))| (input.as_str(), output)).collect()
}

/// What a diff says came of each call.
fn in_diff(table: &str) -> Came {
    let rows = diff([], &history(table)).called.into_iter().filter_map(|row| row.b);
    rows.map(|call| {
        let output = call.output.map_or(Value::Null, |output| output.value());
        (call.input.value().to_string(), (output, Vec::new()))
    })
    .collect()
}

/// The call that a result or a piece of progress comes from, as it is told why.
fn call_of(table: &str, said: &str) -> Option<String> {
    let facts = fold("why", table);
    let facts = list(&facts, "facts");
    let fact = facts.iter().find(|fact| fact["text"] == format!("tool: {said}"))?;
    let mut cause = &facts[usize::try_from(fact["cause"].as_u64()?).ok()?];
    while cause["relation"] == "runs_as" {
        cause = &facts[usize::try_from(cause["cause"].as_u64()?).ok()?];
    }
    (cause["type"] == "tool_call").then(|| cause["text"].as_str().unwrap_or_default().to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn views_agree_on_what_came_of_each_call(
        steps in proptest::collection::vec((0_usize..3, 0_usize..4, 0_usize..2, 0_usize..2), 0..24),
    ) {
        let mut table = String::new();
        for (nth, (kind, run, id, piece)) in steps.into_iter().enumerate() {
            let (run, id) = (["a", "b", "c", "d"][run], ["x", "y"][id]);
            let line = match kind {
                0 => format!(r#"{run} tool_call {id} bash {{"of":"{run}{id}"}}"#),
                1 => format!("{run} tool_result {id} R{nth}"),
                _ => format!("{run} tool_progress {run}{id}{piece} {id} P{nth}"),
            };
            writeln!(table, "{line}").expect("text");
        }
        let (thread, tools) = (fold("thread", &table), fold("tools", &table));
        let (messages, nested) = (fold("messages", &table), fold("nested", &table));
        let in_thread = came(list(&thread, "entries").iter().flat_map(|entry| list(entry, "parts")));
        let in_tools = came(list(&tools, "calls"));
        prop_assert_eq!(&in_thread, &in_tools, "{}", table);
        let sent = list(&messages, "messages");
        let calls = sent.iter().flat_map(|message| list(message, "tool_calls"));
        let answers = sent.iter().filter(|message| message["role"] == "tool");
        let in_messages: BTreeMap<_, _> = calls
            .zip(answers)
            .map(|(call, answer)| {
                let output = if answer["is_error"] == json!(true) { Value::Null } else { answer["content"].clone() };
                (call["arguments"].to_string(), output)
            })
            .collect();
        let in_messages = in_messages.iter().map(|(input, output)| (input.as_str(), output)).collect();
        prop_assert_eq!(results(&in_tools), in_messages, "{}", table);
        let nodes = list(&nested, "nodes").iter().filter(|node| !node["input"].is_null());
        let in_nested = nodes.map(|node| (node["input"].as_str().unwrap_or_default(), &node["output"])).collect();
        prop_assert_eq!(results(&in_tools), in_nested, "{}", table);
        let in_diff = in_diff(&table);
        prop_assert_eq!(results(&in_tools), results(&in_diff), "{}", table);
        let calls = list(&tools, "calls").iter().filter(|call| !call["input"].is_null());
        let ended = |call: &Value| (call["runId"].clone(), call["callId"].clone(), !call["output"].is_null());
        let in_tools: BTreeSet<_> = calls.map(|call| format!("{:?}", ended(call))).collect();
        let risk = fold("risk", &table);
        let steps = list(&risk, "steps").iter().filter(|step| step["name"] == "bash");
        let recorded = |step: &Value| (step["runId"].clone(), step["id"].clone(), step["state"] == "recorded");
        let in_risk: BTreeSet<_> = steps.map(|step| format!("{:?}", recorded(step))).collect();
        prop_assert_eq!(in_tools, in_risk, "{}", table);
        for (input, (output, pieces)) in in_thread {
            for said in pieces.iter().chain(Some(&output)).filter_map(Value::as_str) {
                prop_assert_eq!(call_of(&table, said), Some(format!("bash {input}")), "{} in {}", said, table);
            }
        }
    }
}
