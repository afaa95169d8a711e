//! Two histories side by side, as tables.

// The expected texts are written by the test runner, which always uses hashes.
#![allow(clippy::needless_raw_string_hashes, clippy::needless_pass_by_value)]

use std::fmt::Write;

use antiphon_event::{Event, Lines};
use antiphon_testkit::{history, numbered};
use antiphon_view::Tally;
use antiphon_view::diff::{Change, Diff, Op, Part, Spending, diff};
use expect_test::{Expect, expect};

fn mark(change: Change) -> char {
    match change {
        Change::Equal => '=',
        Change::Changed => '~',
        Change::OnlyA => '-',
        Change::OnlyB => '+',
    }
}

fn side<T: ToString>(side: Option<&T>) -> String {
    side.map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// One line for each row: how it compares, where it is, what it was and is.
fn show(diff: &Diff) -> String {
    let mut shown = format!("common {} same {}\n", diff.common, diff.same);
    for row in &diff.said {
        let place = format!("{} [{}] {:?} {}", row.turn, row.who, row.role, row.position);
        let pieces = row.pieces.iter().map(|piece| match piece.op {
            Op::Keep => piece.text.clone(),
            Op::Remove => format!("[-{}]", piece.text),
            Op::Add => format!("[+{}]", piece.text),
        });
        let pieces: String = pieces.collect();
        let text = if pieces.is_empty() { &row.text } else { &pieces };
        writeln!(shown, "{} said {place}: {text}", mark(row.change)).expect("text");
    }
    for row in &diff.called {
        let place = format!("{} [{}] {}#{}", row.turn, row.who, row.name, row.position);
        let call = |call: &antiphon_view::diff::CalledSide| {
            let output = side(call.output.as_ref());
            format!("{} → {output}{}", call.input, if call.failed { " failed" } else { "" })
        };
        let (a, b) = (row.a.as_ref().map(call), row.b.as_ref().map(call));
        match row.change {
            Change::Equal => writeln!(shown, "= called {place}: {}", row.text),
            change => writeln!(
                shown,
                "{} called {place}: {} | {}",
                mark(change),
                side(a.as_ref()),
                side(b.as_ref())
            ),
        }
        .expect("text");
    }
    for row in &diff.decided {
        let place = format!("{} [{}] {:?} {} {}", row.turn, row.who, row.kind, row.about, row.position);
        let (a, b) = (side(row.a.as_ref()), side(row.b.as_ref()));
        writeln!(shown, "{} decided {place}: {a} | {b}", mark(row.change)).expect("text");
    }
    for row in &diff.ran {
        let node =
            row.node.as_ref().map_or("run".into(), |node| format!("{node}#{}", row.execution.unwrap_or(0)));
        let (a, b) = (side(row.a.as_ref()), side(row.b.as_ref()));
        let outputs = match (&row.output_a, &row.output_b) {
            (None, None) => String::new(),
            (a, b) => format!(" gave {} | {}", side(a.as_ref()), side(b.as_ref())),
        };
        writeln!(shown, "{} ran {} [{}] {node}: {a} | {b}{outputs}", mark(row.change), row.turn, row.who)
            .expect("text");
    }
    for row in &diff.spent.models {
        let spent = |side: Spending| {
            let Tally { input_tokens, output_tokens, cost_usd } = side.tally;
            let cost = cost_usd.map_or("?".into(), |cost| serde_json::to_string(&cost).expect("a number"));
            format!("{}x {input_tokens}+{output_tokens} ${cost}", side.calls)
        };
        writeln!(shown, "  spent {}: {} | {}", row.model, spent(row.a), spent(row.b)).expect("text");
    }
    for row in &diff.state {
        let writes = |writes: &[antiphon_view::diff::Contribution]| {
            writes
                .iter()
                .map(|write| format!("{} by {}", write.value, write.by))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (a, b) = (writes(&row.a), writes(&row.b));
        writeln!(shown, "{} state {} [{}] {}: {a} | {b}", mark(row.change), row.turn, row.who, row.key)
            .expect("text");
    }
    shown
}

#[track_caller]
fn check(a: &str, b: &str, expected: Expect) {
    expected.assert_eq(&show(&diff(&history(a), &history(b))));
}

fn recorded(name: &str) -> Vec<Event> {
    let path = format!("{}/../../examples/histories/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let mut events = Vec::new();
    let mut lines = Lines::new();
    lines.feed(&std::fs::read(path).expect("a history"), |event| events.push(event.expect("an event")));
    events
}

/// The same history with other ids everywhere, as a second run would have.
fn with_other_ids(events: &[Event]) -> Vec<Event> {
    let other = |event: &Event| {
        let json = event.to_json().replace("01a1", "02b2").replace("-7", "-6");
        Event::from_json(&json).expect("still an event")
    };
    events.iter().map(other).collect()
}

#[test]
fn other_ids_and_times_make_no_difference() {
    for name in [
        "simple-chat",
        "concurrent-tools",
        "nested-subagents",
        "flow-with-cycle",
        "rlm-session",
        "crash-in-the-middle",
    ] {
        let events = recorded(name);
        let whole = diff(&events, &events);
        assert!(whole.same, "{name}");
        assert_eq!(whole.common, events.len() as u64);
        let other = with_other_ids(&events);
        assert_ne!(events[2].head.run_id, other[2].head.run_id);
        let found = diff(&events, &other);
        assert!(found.same, "{name}:\n{}", show(&found));
        assert_eq!(found.common, 0);
    }
}

#[test]
fn messages_are_matched_by_turn_speaker_role_and_position() {
    check(
        r#"
        u1          user      "hello"
        a1^u1:user  reasoning r1 "be polite"
        a1          text      t1 "good "
        a1          text      t1 "morning all"
        a1          usage     10 5 model=small-1 costUsd=0.5
        u2^a1:usage:1 user    "bye"
        a2^u2:user  text      t1 "see you"
        "#,
        r#"
        v1          user      "hello"
        b1^v1:user  reasoning r1 "be polite"
        b1          text      t1 "good evening all"
        b1          usage     12 5 model=small-1 costUsd=0.5
        b1          text      t2 "anything else?"
        b1          usage     20 5 model=large-1
        v2^b1:usage:2 user    "bye now"
        "#,
        expect![[r#"
            common 0 same false
            = said 1 [] User 1: hello
            = said 1 [] Reasoning 1: be polite
            ~ said 1 [] Assistant 1: good [-morning ][+evening ]all
            + said 1 [] Assistant 2: anything else?
            ~ said 2 [] User 1: [-bye][+bye now]
            - said 2 [] Assistant 1: see you
              spent large-1: 0x 0+0 $? | 1x 20+5 $?
              spent small-1: 1x 10+5 $0.5 | 1x 12+5 $0.5
        "#]],
    );
}

#[test]
fn calls_are_matched_by_name_and_order() {
    check(
        r#"
        a1 tool_call   c1 bash {"command":"ls"}
        a1 tool_call   c2 bash {"command":"pwd"}
        a1 tool_call   c3 read {"path":"a"}
        a1 tool_call   c1 bash {"command":"ls"}
        a1 tool_result c1 "a.txt"
        a1 tool_result c2 "/"
        a1 tool_result c3 "x"
        "#,
        r#"
        b1 tool_call   k1 read {"path": "a"}
        b1 tool_call   k2 bash {"command":"ls"}
        b1 tool_call   k2 bash {"command":"ls -l"}
        b1 tool_call   k3 fetch {"url":"https://example.com"}
        b1 tool_result k2 "no" isError=true
        b1 tool_result k1 "x"
        "#,
        expect![[r#"
            common 0 same false
            ~ called 0 [] bash#1: {"command":"ls"} → "a.txt" | {"command":"ls -l"} → "no" failed
            - called 0 [] bash#2: {"command":"pwd"} → "/" | none
            = called 0 [] read#1: {"path":"a"}
            + called 0 [] fetch#1: none | {"url":"https://example.com"} → none
        "#]],
    );
}

#[test]
fn subagents_are_matched_by_the_call_that_started_them() {
    check(
        r#"
        u1          user      "go"
        a1^u1:user  tool_call c1 agent {"task":"one"}
        a1          tool_call c2 agent {"task":"two"}
        s2^c2       text      t1 "second"
        s1^c1       text      t1 "first"
        "#,
        r#"
        v1          user      "go"
        b1^v1:user  tool_call k1 agent {"task":"one"}
        b1          tool_call k2 agent {"task":"two"}
        z1^k1       text      t1 "first"
        z2^k2       text      t1 "second!"
        z2          tool_call k9 agent {"task":"deeper"}
        z3^k9       text      t1 "deep"
        "#,
        expect![[r#"
            common 0 same false
            = said 1 [] User 1: go
            ~ said 1 [agent#2] Assistant 1: [-second][+second!]
            = said 1 [agent#1] Assistant 1: first
            + said 1 [agent#2 › agent#1] Assistant 1: deep
            = called 1 [] agent#1: {"task":"one"}
            = called 1 [] agent#2: {"task":"two"}
            + called 1 [agent#2] agent#1: none | {"task":"deeper"} → none
        "#]],
    );
}

#[test]
fn decisions_of_people_and_flows_are_compared() {
    check(
        r#"
        a1 relay            q1 permission c1 bash
        a1 relay_resolved   q1 true user scope=session
        a1 relay            q2 question
        f1 node_end         pick COMPLETED 1 edges=[{"to":"x","live":true},{"to":"y","live":false}]
        f1 handoff          triage billing
        f1 guardrail_result pick pii true
        "#,
        r#"
        b1 relay            p1 permission k1 bash
        b1 relay_resolved   p1 false user reason="not today"
        b1 relay            p2 question
        b1 relay_resolved   p2 answer="blue" by=user
        g1 node_end         pick COMPLETED 1 edges=[{"to":"x","live":false},{"to":"y","live":true}]
        g1 handoff          triage sales
        g1 guardrail_result pick pii false block
        "#,
        expect![[r#"
            common 0 same false
            ~ decided 0 [] Relay bash 1: approved for the session by user | denied by user: not today
            ~ decided 0 [] Relay question 1: open | blue by user
            ~ decided 0 [run#2] Edges pick 1: x, not y | not x, y
            ~ decided 0 [run#2] Handoff triage 1: billing | sales
            ~ decided 0 [run#2] Guardrail pii at pick 1: passed | failed: block
            = ran 0 [run#2] pick#1: COMPLETED | COMPLETED
        "#]],
    );
}

#[test]
fn nodes_are_matched_by_name_and_execution_and_writes_are_listed() {
    check(
        r#"
        f1 run_start    report
        f1 node_start   write
        f1 node_end     write COMPLETED "one" writes={"drafts":1,"title":"A"}
        f1 node_start   write 2
        f1 node_end     write COMPLETED "two" execution=2 writes={"drafts":1}
        f1 run_end      COMPLETED "two"
        "#,
        r#"
        g1 run_start     report
        g1 node_start    write
        g1 node_end      write COMPLETED "one" writes={"drafts":1,"title":"B"}
        g1 node_skipped  format "no live edge"
        g1 state_patched {"title":"C"} editor
        g1 node_start    write 2
        "#,
        expect![[r#"
            common 0 same false
            ~ ran 0 [] run: COMPLETED | running gave "two" | none
            = ran 0 [] write#1: COMPLETED | COMPLETED
            + ran 0 [] format#1: none | SKIPPED
            ~ ran 0 [] write#2: COMPLETED | running gave "two" | none
            ~ state 0 [] drafts: 1 by write#1, 1 by write#2 | 1 by write#1
            ~ state 0 [] title: "A" by write#1 | "B" by write#1, "C" by editor
        "#]],
    );
}

#[test]
fn what_was_said_in_vain_does_not_count() {
    check(
        r#"
        a1 text        t1 "Once upon"
        a1 model_retry 2 ["t1"]
        a1 text        t2 "Hello"
        a1 usage       1 1
        "#,
        r#"
        b1 text        t1 "Hello"
        b1 usage       1 1
        "#,
        expect![[r#"
            common 0 same true
            = said 0 [] Assistant 1: Hello
              spent : 1x 1+1 $? | 1x 1+1 $?
        "#]],
    );
}

#[test]
fn calls_made_in_vain_do_not_count() {
    check(
        r#"
        a tool_call   c1 bash {"void":1}
        a repl_input  x1 "void()"
        a tool_call   c0 bash {"kept":1}
        a model_retry 2 ["c1","x1"]
        a tool_call   c2 bash {"x":1}
        a tool_result c2 "ok"
        a repl_input  x2 "sum()"
        "#,
        r#"
        b tool_call   c0 bash {"kept":1}
        b tool_call   c2 bash {"x":1}
        b tool_result c2 "ok"
        b repl_input  x2 "sum()"
        "#,
        expect![[r#"
            common 0 same true
            = called 0 [] bash#1: {"kept":1}
            = called 0 [] bash#2: {"x":1}
            = called 0 [] repl#1: sum()
        "#]],
    );
}

#[test]
fn subagents_are_matched_also_if_another_call_was_made_in_vain() {
    check(
        r#"
        a      tool_call   c1 agent {"task":"void"}
        a      model_retry 2 ["c1"]
        a      tool_call   c2 agent {"task":"read"}
        s^c2   text        t "found"
        "#,
        r#"
        b      tool_call   c2 agent {"task":"read"}
        s^c2   text        t "found"
        "#,
        expect![[r#"
            common 0 same true
            = said 0 [agent#1] Assistant 1: found
            = called 0 [] agent#1: {"task":"read"}
        "#]],
    );
}

#[test]
fn a_fork_shares_its_beginning() {
    let shared = "u1 user go\na1^u1:user text t1 \"one \"\na1 text t1 \"two \"";
    let a = numbered(history(&format!("{shared}\na1 text t1 three")));
    let b = numbered(history(&format!("{shared}\na1 text t1 four\na1 harness_end cancelled")));
    expect![[r#"
        common 3 same false
        = said 1 [] User 1: go
        ~ said 1 [] Assistant 1: one two [-three][+four]
        + ran 1 [] run: none | cancelled
    "#]]
    .assert_eq(&show(&diff(&a, &b)));
}

#[test]
fn parts_of_one_history_can_be_compared() {
    let events = recorded("nested-subagents");
    let runs: Vec<_> = events.iter().filter(|event| event.body.tag() == "harness_start").collect();
    let run = |name: &str| {
        let start = runs.iter().find(|event| event.head.agent.as_ref().is_some_and(|agent| agent.id == name));
        Part::Run(start.and_then(|event| event.head.run_id.clone()).expect("the run is there"))
    };
    let (code, docs) = (run("code-scout").of(&events), run("docs-scout").of(&events));
    expect![[r###"
        common 0 same false
        ~ said 0 [] Assistant 1: [-Searching the source for ][+Opening ]the [-limit.][+page on uploads.]
        ~ said 0 [] Assistant 2: It [-comes from the settings, so ][+is not there; ]I [-ask a reader ][+look ]for [-their default.][+it.]
        - said 0 [agent#1] Assistant 1: Reading the defaults.
        - said 0 [agent#1] Assistant 2: The default is `retries = 5` in the `[upload]` table of con…
        ~ said 0 [] Assistant 3: [-The uploader reads `settings.upload.retries` (src/upload/client.rs:31); its default ][+docs/guide/uploading.md says: each part ]is [-5, set in config/defaults.toml.][+tried up to three times.]
        + called 0 [] read#1: none | {"path":"docs/upload.md"} → {"error":"no such file: docs/upload.md"} failed
        ~ called 0 [] bash#1: {"command":"grep -rn retries src/upload"} → {"exitCode":0,"context":"src/upload/client.rs:31:    let retries = settings.upload.retries;"} | {"command":"grep -rln -i 'retr' docs"} → {"exitCode":0,"context":"docs/guide/uploading.md"}
        - called 0 [] agent#1: {"agent":"reader","task":"Which value has upload.retries by default?"} → {"result":"The default is `retries = 5` in the `[upload]` table of config/defaults.toml."} | none
        - called 0 [agent#1] read#1: {"path":"config/defaults.toml"} → {"context":"[upload]\nretries = 5\nbackoff_ms = 200\n"} | none
        + called 0 [] read#2: none | {"path":"docs/guide/uploading.md"} → {"context":"## When an upload fails\n\nEach part is tried up to three times.\n"}
        = ran 0 [] run: done | done
        - ran 0 [agent#1] run: done | none
          spent small-1: 5x 2649+200 $0.002759 | 4x 2248+122 $0.002189
    "###]].assert_eq(&show(&diff(code, docs)));
    let (early, late) = (Part::Until(20).of(&events), Part::Until(86).of(&events));
    let found = diff(early, late.clone());
    assert_eq!((found.common, found.same), (20, false));
    assert_eq!(Part::Branch("main".into()).of(&events), late);
    assert!(Part::Branch("other".into()).of(&events).is_empty());
}

#[test]
fn the_shape_on_the_wire_is_stable() {
    let a = history(
        "u1 user hello\na1^u1:user text t1 \"good morning\"\na1 tool_call c1 bash {}\na1 usage 1 2 model=m",
    );
    let b = history("u1 user hello\na1^u1:user text t1 \"good evening\"\na1 tool_call c1 bash {\"x\":1}");
    let json = serde_json::to_string_pretty(&diff(&a, &b)).expect("JSON");
    expect![[r#"
        {
          "same": false,
          "common": 1,
          "said": [
            {
              "turn": 1,
              "who": "",
              "role": "user",
              "position": 1,
              "change": "equal",
              "text": "hello"
            },
            {
              "turn": 1,
              "who": "",
              "role": "assistant",
              "position": 1,
              "change": "changed",
              "text": "good morning",
              "pieces": [
                {
                  "op": "keep",
                  "text": "good "
                },
                {
                  "op": "remove",
                  "text": "morning"
                },
                {
                  "op": "add",
                  "text": "evening"
                }
              ]
            }
          ],
          "called": [
            {
              "turn": 1,
              "who": "",
              "name": "bash",
              "position": 1,
              "change": "changed",
              "text": "{}",
              "a": {
                "input": {},
                "failed": false
              },
              "b": {
                "input": {"x":1},
                "failed": false
              }
            }
          ],
          "decided": [],
          "ran": [],
          "spent": {
            "a": {
              "calls": 1,
              "inputTokens": 1,
              "outputTokens": 2
            },
            "b": {
              "calls": 0,
              "inputTokens": 0,
              "outputTokens": 0
            },
            "models": [
              {
                "model": "m",
                "a": {
                  "calls": 1,
                  "inputTokens": 1,
                  "outputTokens": 2
                },
                "b": {
                  "calls": 0,
                  "inputTokens": 0,
                  "outputTokens": 0
                }
              }
            ]
          },
          "state": []
        }"#]]
    .assert_eq(&json);
}
