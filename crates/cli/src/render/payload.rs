//! Payloads (tool inputs, outputs, answers) as words a person reads.

use antiphon_event::Json;
use serde::Serialize;
use serde_json::Value;

use super::unit::{flat, one_line};

/// A payload on one line: `key: value, …` for an object, the text itself for a string, JSON for the rest.
pub(crate) fn brief(json: &Json) -> String {
    brief_value(&json.value())
}

/// The same for a payload that was taken apart already.
pub(crate) fn brief_value(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{name}: {}", one_line(&text(value))));
            members.collect::<Vec<_>>().join(", ")
        }
        value => flat(&text(value)),
    }
}

/// The same for a payload that may be missing.
pub(crate) fn brief_or_empty(json: Option<&Json>) -> String {
    json.map(brief).unwrap_or_default()
}

/// A payload on as many lines as it takes: the members of an object one below the other, text as it is.
pub(crate) fn full(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{name}: {}", text(value)));
            members.collect::<Vec<_>>().join("\n")
        }
        value => text(value),
    }
}

/// What a tool has said so far: what it printed, whole, after what else it said last, which `told` puts into words.
pub(crate) fn progress<'v>(
    said: impl IntoIterator<Item = &'v Value>,
    told: impl Fn(&Value) -> String,
) -> String {
    let (mut printed, mut last) = (String::new(), None);
    for value in said {
        match (value["stream"].is_string(), value["text"].as_str()) {
            (true, Some(text)) => printed.push_str(text),
            _ => last = Some(value),
        }
    }
    last.map(|value| told(value) + if printed.is_empty() { "" } else { "\n" }).unwrap_or_default() + &printed
}

/// A text as it is, anything else as JSON.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The word that stands for one of our own cases in JSON.
pub(crate) fn word(case: &impl Serialize) -> String {
    match serde_json::to_value(case) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
