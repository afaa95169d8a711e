//! What a node contributes that is handed contributions, as a map is by its items, and has some of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use antiphon_event::{Body, Json, Timestamp};
use antiphon_flow::expr::Expression;
use antiphon_flow::function::{Code, Reply};
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Attempt, Flow, Formula, Input, Node, Now, Origin, Scheduler};
use expect_test::{Expect, expect};
use serde_json::Value;

/// `reducer default | items | own` a line; after it what the key then holds, or why the node failed.
fn check(table: Expect) {
    let mut lines = String::new();
    for line in table.data().trim_matches(['\n', ' ']).lines() {
        let asked = line.split("  =>").next().unwrap_or_default().trim();
        let parts: Vec<&str> = asked.split('|').map(str::trim).collect();
        let [key, items, own] = parts[..] else { panic!("three parts in {line}") };
        writeln!(lines, "{asked}  =>  {}", held(key, items, own)).expect("text takes it");
    }
    table.assert_eq(&lines);
}

fn held(key: &str, items: &str, own: &str) -> String {
    let (reduce, default) = key.split_once(' ').expect("a reducer and a default");
    let reduce = Reduce::ALL.iter().find(|other| other.as_str() == reduce).expect("a reducer");
    let schema = Schema::compile(serde_json::json!({})).expect("a schema");
    let default: Value = serde_json::from_str(default).expect("JSON");
    let key = Key { name: "k".into(), schema, default: Some(default), reduce: *reduce };
    let own = Formula::Expression(Expression::parse(own).expect("an expression"));
    let node = Node::function(Code::new(())).set("k", own);
    let flow = Flow::new("table").state(key).node("m", node).build().expect("a sound flow");
    let origin =
        Origin { run: "r".into(), parent: None, turn: None, path: Vec::new(), item: false, span: None };
    let now = Now { at: Timestamp::from_millis(1).expect("a moment"), dice: 0.0, steps: None };
    let mut run = Scheduler::new(flow, origin);
    let begun = run.decide(Input::Start { task: Json::from("task"), state: BTreeMap::new() }, now);
    for event in begun.expect("it begins") {
        run.apply(&event);
    }
    for event in run.advance(now) {
        run.apply(&event);
    }
    let items: Vec<Value> = serde_json::from_str(items).expect("a list");
    let writes = items.into_iter().map(|item| ("k".to_owned(), Json::from(item))).collect();
    let result = Ok(Reply { writes, ..Reply::new(Value::Null) });
    let attempt = Attempt { node: 0, execution: 1, attempt: 1 };
    let ended = run.decide(Input::Outcome { attempt, result }, now);
    let mut failed = None;
    for event in ended.expect("it is taken") {
        if let Body::NodeEnd(end) = &event.body {
            failed = end.error.as_ref().map(|error| format!("failed: {}", error.message));
        }
        run.apply(&event);
    }
    failed.unwrap_or_else(|| run.state()["k"].to_string())
}

#[test]
fn what_a_node_contributes_itself_is_folded_with_what_it_was_handed() {
    check(expect![[r#"
        append [] | [1, 2] | 'own'  =>  [1,2,"own"]
        append [0] | [[1, 2], 3] | [4, 5]  =>  [0,1,2,3,4,5]
        append [] | [] | 'own'  =>  ["own"]
        sum 10 | [1, 2, 3] | 100  =>  116
        sum 10 | [] | 100  =>  110
        sum 10 | ["text", 1] | 100  =>  failed: state key `k`: `sum` wants numbers, found a text
        sum 10 | ["text"] | 100  =>  failed: state key `k`: `sum` wants numbers, found a text
        max 0 | [1, 7, 3] | 5  =>  7
        min 9 | [4, 7] | 5  =>  4
        merge {} | [{"a": 1}, {"b": 2}] | {'a': 3}  =>  {"a":3,"b":2}
        last 0 | [1, 2] | 3  =>  3
        first 0 | [1, 2] | 3  =>  1
    "#]]);
}
