//! Bytes as a flow file, and each of its lines as an expression and as a duration: no panic, and it ends.
//!
//! A flow that can be read gives a document that reads as the same flow. What the check of types says is never
//! wrong about the result.

#![no_main]

use antiphon_flow::expr::{Expression, Type, Types};
use antiphon_flow::{Flow, file, time};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|input: &[u8]| {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    read(text);
    for line in text.lines() {
        expression(line);
        // The part after a member's name is where files keep their expressions.
        if let Some((_, value)) = line.split_once(": ") {
            expression(value.trim_matches(['"', '\'']));
        }
        if let Ok(duration) = time::parse(line) {
            assert_eq!(
                time::parse(&time::to_text(duration)),
                Ok(duration),
                "a duration is read as it was written"
            );
        }
    }
});

fn read(text: &str) {
    let Ok(read) = file::read("flow.yaml", text, &|_| Err("there is no other".to_owned())) else {
        return;
    };
    let document = read.flow.document().expect("it came from a file");
    let again = Flow::from_document(document).expect("a document can be read");
    assert_eq!(again.document(), Some(document), "nothing is lost in a document");
}

fn expression(text: &str) {
    let Ok(expression) = Expression::parse(text) else {
        return;
    };
    let scope = scope();
    let (expected, problems) = expression.infer(&types());
    let Ok(value) = expression.evaluate(&scope) else {
        return;
    };
    if problems.is_empty() {
        assert!(fits(&expected, &value), "{text} is {value}, not {expected}");
    }
    serde_json::to_string(&value).expect("a value is JSON");
}

fn scope() -> Value {
    json!({
        "task": "a text", "input": {"lines": ["a", "b"]}, "output": [1, 2.5, null], "item": 3,
        "state": {"drafts": 2, "approved": false, "notes": ["x"]},
        "outputs": {"write": {"ok": true}}, "status": {"write": "COMPLETED"}, "executions": {"write": 1},
    })
}

fn types() -> Types {
    let schema = |name: &str| json!({"type": name});
    Types {
        task: Some(schema("string")),
        state: [("drafts", "integer"), ("approved", "boolean"), ("notes", "array")]
            .map(|(key, name)| (key.to_owned(), schema(name)))
            .into(),
        nodes: [("write".to_owned(), None)].into(),
        ..Types::default()
    }
}

fn fits(expected: &Type, value: &Value) -> bool {
    match expected {
        Type::Dyn => true,
        Type::Null => value.is_null(),
        Type::Bool => value.is_boolean(),
        Type::Int => value.is_i64(),
        Type::Number => value.is_number(),
        Type::String => value.is_string(),
        Type::List(_) => value.is_array(),
        Type::Map { .. } => value.is_object(),
    }
}
