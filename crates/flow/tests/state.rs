//! The state and its schemas through one door: keys and writes in, values or refusals out, as tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use antiphon_event::Json;
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce, State};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn key(name: &str, schema: Value, default: Option<Value>, reduce: Reduce) -> Key {
    Key { name: name.to_owned(), schema: Schema::compile(schema).expect("a schema"), default, reduce }
}

fn keys() -> Vec<Key> {
    vec![
        key("drafts", json!({"type": "integer"}), Some(json!(0)), Reduce::Last),
        key("winner", json!({"type": "string"}), Some(json!("nobody")), Reduce::First),
        key("notes", json!({"type": "array", "items": {"type": "string"}}), Some(json!([])), Reduce::Append),
        key("cost", json!({"type": "number"}), None, Reduce::Sum),
        key("count", json!({"type": "integer"}), Some(json!(10)), Reduce::Sum),
        key("best", json!({"type": "number"}), None, Reduce::Max),
        key("least", json!({"type": "string"}), None, Reduce::Min),
        key("facts", json!({"type": "object"}), Some(json!({"a": 1, "b": {"c": 1}})), Reduce::Merge),
        key("any", json!({}), None, Reduce::Append),
    ]
}

/// Writes one after another, `key value` a line; after each what the key then holds, or why not.
#[track_caller]
fn check(table: Expect) {
    let mut state = State::new(keys());
    let mut lines = String::new();
    for line in table.data().trim_matches(['\n', ' ']).lines() {
        let asked = line.split("  =>").next().unwrap_or_default().trim();
        let (name, value) = asked.split_once(' ').expect("a key and a value");
        let value: Json = serde_json::from_str(value).expect("JSON");
        let next = state.fold([(name, &value)]);
        let checked = state.check(&[(name.to_owned(), value.clone())]);
        assert_eq!(
            checked.as_ref().err(),
            next.as_ref().err(),
            "a check says what folding would, for {line}"
        );
        let said = match next {
            Ok(next) => {
                state = next;
                state.get(name).expect("it was written").to_string()
            }
            Err(error) => format!("refused: {error}"),
        };
        lines += &(asked.to_owned() + "  =>  " + &said + "\n");
    }
    table.assert_eq(&lines);
}

#[test]
fn each_reducer_folds_its_way() {
    check(expect![[r#"
        drafts 1  =>  1
        drafts 2  =>  2
        winner "ann"  =>  "ann"
        winner "bob"  =>  "ann"
        notes "a"  =>  ["a"]
        notes ["b", "c"]  =>  ["a","b","c"]
        notes []  =>  ["a","b","c"]
        cost 1  =>  1
        cost 2  =>  3
        cost 0.5  =>  3.5
        count 1  =>  11
        count -20  =>  -9
        best 1  =>  1
        best 3  =>  3
        best 2.5  =>  3
        least "b"  =>  "b"
        least "a"  =>  "a"
        least "c"  =>  "a"
        facts {"b": 2, "d": 3}  =>  {"a":1,"b":2,"d":3}
        any {"x": 1}  =>  [{"x":1}]
        any [[1]]  =>  [{"x":1},[1]]
    "#]]);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    check(expect![[r#"
        drafts "many"  =>  refused: state key `drafts`: "many" is not of type "integer"
        draft 1  =>  refused: the state has no key `draft`; did you mean `drafts`?
        notes 1  =>  refused: state key `notes`: at /0: 1 is not of type "string"
        notes ["a", 2, 3]  =>  refused: state key `notes`: at /1: 2 is not of type "string" (and 1 more)
        notes "a"  =>  ["a"]
        count 0.5  =>  refused: state key `count`: 10.5 is not of type "integer"
        count "1"  =>  refused: state key `count`: `sum` wants numbers, found a text
        count 9223372036854775807  =>  refused: state key `count`: `sum` 10 + 9223372036854775807 does not fit 64 bits
        cost 1e308  =>  1e+308
        cost 1e308  =>  refused: state key `cost`: `sum` 1e+308 + 1e+308 is too large
        best "x"  =>  refused: state key `best`: "x" is not of type "number"
        best 1  =>  1
        best true  =>  refused: state key `best`: `max` wants numbers or texts, found a boolean
        least 1  =>  refused: state key `least`: 1 is not of type "string"
        facts [1]  =>  refused: state key `facts`: `merge` wants an object, found a list
        count 1  =>  11
    "#]]);
}

#[test]
fn writes_of_one_fold_are_all_made_or_none() {
    let state = State::new(keys());
    let (one, bad) = (Json::from(1), Json::from("x"));
    state.fold([("drafts", &one), ("count", &bad)]).expect_err("the second is refused");
    assert_eq!(state.get("drafts"), Some(&json!(0)));
    let next = state.fold([("count", &one), ("count", &one)]).expect("both fit");
    assert_eq!((next.get("count"), state.get("count")), (Some(&json!(12)), Some(&json!(10))));
}

#[test]
fn a_state_can_be_given_and_what_was_written_gives_it_again() {
    let start = State::new(keys());
    let given = |text: &str| serde_json::from_str::<BTreeMap<String, Json>>(text).expect("JSON");
    let state = start.with(&given(r#"{"drafts": 3, "winner": "ann"}"#)).expect("fits");
    let state = state.fold([("winner", &"bob".into()), ("notes", &"a".into())]).expect("fits");
    assert_eq!(state.get("winner"), Some(&json!("ann")), "what is given counts as the first");
    let saved = state.written().map(|(name, value)| (name.to_owned(), value.clone()));
    assert_eq!(start.with(&saved.collect::<BTreeMap<_, _>>()).expect("fits"), state);
    assert_eq!(
        Value::from(state.to_object()),
        json!({"count": 10, "drafts": 3, "facts": {"a": 1, "b": {"c": 1}}, "notes": ["a"], "winner": "ann"})
    );
    start.with(&given(r#"{"drafts": "x"}"#)).expect_err("validated");
}

/// A list that is looked at in every way, or in none, between contributions is the same list.
#[test]
fn a_list_that_grows_is_the_same_however_often_it_is_looked_at() {
    let list =
        |schema: Value| State::new([key("list", schema, Some(json!(["a very first item"])), Reduce::Append)]);
    let large = "x".repeat(1_000);
    let contributions =
        [json!(1), json!([]), json!([large, 2]), json!([[3]]), json!({"large": large}), json!(null)];
    for schema in [json!({"type": "array"}), json!({"type": "array", "items": {}}), json!({"maxItems": 99})] {
        for looks in 0..32_u32 {
            let (mut state, mut expected) = (list(schema.clone()), vec![json!("a very first item")]);
            let mut others = Vec::new();
            for (at, contribution) in contributions.iter().cycle().take(18).enumerate() {
                state.write("list", Json::from(contribution.clone())).expect("it fits");
                match contribution {
                    Value::Array(items) => expected.extend(items.clone()),
                    one => expected.push(one.clone()),
                }
                let looked_at = |bit: u32| looks >> bit & 1 == 1 && at % (bit as usize + 2) == 0;
                if looked_at(0) {
                    assert_eq!(state["list"], json!(expected));
                }
                if looked_at(1) {
                    assert_eq!(state.json("list").map(Json::as_str), Some(&*json!(expected).to_string()));
                }
                if looked_at(2) {
                    assert_eq!(state.count("list"), Some(expected.len()));
                }
                if looked_at(3) {
                    assert_eq!(state.last("list").map(|last| last.value()).as_ref(), expected.last());
                }
                if looked_at(4) {
                    others.push((state.clone(), json!(expected)));
                }
            }
            assert_eq!((&state["list"], state.count("list")), (&json!(expected), Some(expected.len())));
            for (other, expected) in others {
                assert_eq!(other["list"], expected, "what others have stays as it was");
            }
        }
    }
}

#[test]
fn a_reducer_of_the_wrong_type_and_a_wrong_default_are_found_when_checked() {
    let mut said = String::new();
    for (reduce, schema, default) in [
        (Reduce::Append, json!({"type": "string"}), None),
        (Reduce::Sum, json!({"type": "array"}), None),
        (Reduce::Max, json!({"type": "boolean"}), None),
        (Reduce::Min, json!({"type": "string"}), None),
        (Reduce::Merge, json!({"type": "integer"}), None),
        (Reduce::Merge, json!({}), None),
        (Reduce::Sum, json!({"type": ["number", "null"]}), Some(json!(null))),
        (Reduce::Last, json!({"type": "integer"}), Some(json!("none"))),
        (Reduce::First, json!({"type": "integer"}), Some(json!(0))),
    ] {
        let key = key("k", schema.clone(), default, reduce);
        let wrong: Vec<_> = key.check().iter().map(ToString::to_string).collect();
        let wrong = if wrong.is_empty() { "fine".to_owned() } else { wrong.join("; ") };
        writeln!(said, "{} {schema}: {wrong}", reduce.as_str()).expect("a text takes it");
    }
    expect![[r#"
        append {"type":"string"}: state key `k`: `append` wants a key of type array, this is a text
        sum {"type":"array"}: state key `k`: `sum` wants a key of type number or integer, this is a list
        max {"type":"boolean"}: state key `k`: `max` wants a key of type number, integer or string, this is a boolean
        min {"type":"string"}: fine
        merge {"type":"integer"}: state key `k`: `merge` wants a key of type object, this is an integer
        merge {}: fine
        sum {"type":["number","null"]}: fine
        last {"type":"integer"}: the default of state key `k`: "none" is not of type "integer"
        first {"type":"integer"}: fine
    "#]].assert_eq(&said);
}

/// A line for each schema and value.
#[test]
fn a_violation_names_the_place_and_what_was_expected() {
    let mut said = String::new();
    for (schema, value) in [
        (json!({"type": "string"}), json!(1)),
        (json!({"properties": {"a": {"items": {"type": "integer"}}}}), json!({"a": [1, "x", "y"]})),
        (json!({"required": ["ok"]}), json!({})),
        (json!({"additionalProperties": false}), json!({"secret": 1})),
        (json!({"enum": ["a", "b"]}), json!("c")),
        (json!({"maxLength": 3}), json!("a text that is long enough to be left out")),
        (json!({"pattern": "^(a+)+$"}), json!("a".repeat(50) + "b")),
        (json!({"properties": {"a/b": {"minimum": 1}}}), json!({"a/b": 0})),
        (json!(false), json!(1)),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!([1])),
        (
            json!({"$defs": {"t": {"properties": {"next": {"$ref": "#/$defs/t"}, "n": {"type": "integer"}}}}, "$ref": "#/$defs/t"}),
            json!({"next": {"next": {"n": "x"}}}),
        ),
    ] {
        let schema = Schema::compile(schema).expect("a schema");
        writeln!(said, "{}", schema.validate(&value).expect_err("does not fit")).expect("a text takes it");
    }
    expect![[r#"
        1 is not of type "string"
        at /a/1: "x" is not of type "integer" (and 1 more)
        "ok" is a required property
        nothing is allowed here
        "c" is not one of "a" or "b"
        the text is longer than 3 characters
        the text does not match "^(a+)+$"
        at /a~1b: 0 is less than the minimum of 1
        nothing is allowed here
        the list fits none of the allowed forms
        at /next/next/n: "x" is not of type "integer"
    "#]]
    .assert_eq(&said);
}

#[test]
fn what_is_no_schema_says_where() {
    let mut said = String::new();
    for schema in [
        json!(1),
        json!({"type": "strng"}),
        json!({"properties": {"a": {"minimum": "x"}}}),
        json!({"pattern": "("}),
        json!({"pattern": "(?=a)"}),
        json!({"pattern": "[a-z]{1000}{1000}"}),
        json!({"$ref": "http://example.com/schema.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "#/nowhere"}),
        json!({"$ref": "#"}),
        json!({"$ref": "#anchor", "$anchor": "anchor"}),
        json!({"$ref": "#/%24defs/a", "$defs": {"a": {}}}),
        json!({"$defs": {"a": {"$id": "http://x/", "$ref": "#"}}, "$ref": "#/$defs/a"}),
        json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}),
        json!({"enum": vec![0; 20_000]}),
    ] {
        let error = Schema::compile(schema.clone()).expect_err("no schema");
        writeln!(said, "{error}").expect("a text takes it");
    }
    expect![[r##"
        no JSON Schema: 1 is not of types "boolean", "object"
        no JSON Schema (at /type): "strng" fits none of the allowed forms
        no JSON Schema (at /properties/a/minimum): "x" is not of type "number"
        no JSON Schema (at /pattern): "(" is not a "regex"
        no JSON Schema (at /pattern): "(?=a)" is not a "regex"
        no JSON Schema (at /pattern): "[a-z]{1000}{1000}" is not a "regex"
        no JSON Schema: `$ref` leads elsewhere: only `$ref: "#/$defs/…"` within the schema is allowed
        no JSON Schema: `$ref` leads elsewhere: only `$ref: "#/$defs/…"` within the schema is allowed
        no JSON Schema: pointer '/nowhere' does not exist
        no JSON Schema: the reference leads to itself
        no JSON Schema: `$ref` leads elsewhere: only `$ref: "#/$defs/…"` within the schema is allowed
        no JSON Schema: `$ref` leads elsewhere: only `$ref: "#/$defs/…"` within the schema is allowed
        no JSON Schema (at /$defs/a): `$id` leads elsewhere: only `$ref: "#/$defs/…"` within the schema is allowed
        no JSON Schema (at /$defs/a/allOf/0): the reference leads to itself
        no JSON Schema: it has 20002 values, at most 10000 are allowed
    "##]].assert_eq(&said);
}
