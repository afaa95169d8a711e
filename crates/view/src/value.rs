//! Values as they are shown and saved: whatever numbers and `null`s were sent to us.

use antiphon_event::{Event, Json};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{Changes, Step};

/// Gives a slot of a row its value, and says so if that changes anything.
pub(crate) fn put<T: PartialEq + Serialize>(
    slot: &mut T,
    value: T,
    changes: &mut Changes,
    path: &[Step<'_>],
) {
    if *slot != value {
        *slot = value;
        changes.set(path, slot);
    }
}

/// Gives a slot its value if there is one: what was not said again still holds.
pub(crate) fn renew<T: PartialEq + Serialize>(
    slot: &mut Option<T>,
    value: Option<T>,
    changes: &mut Changes,
    path: &[Step<'_>],
) {
    if value.is_some() {
        put(slot, value, changes, path);
    }
}

/// Gives a slot that has no value its first: what was said before is not corrected.
pub(crate) fn fill<T: PartialEq + Serialize>(
    slot: &mut Option<T>,
    value: Option<T>,
    changes: &mut Changes,
    path: &[Step<'_>],
) {
    if slot.is_none() {
        put(slot, value, changes, path);
    }
}

/// What people call the agent behind an event.
pub(crate) fn agent_name(event: &Event) -> Option<String> {
    let agent = event.head.agent.as_ref()?;
    Some(agent.name.clone().unwrap_or_else(|| agent.id.to_string()))
}

/// Loads a payload that may be absent so that `null` is a value that was given.
pub(crate) fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// The value of something serialisable. A number that no `f64` can hold becomes its text.
pub(crate) fn to_value<T: Serialize + ?Sized>(shown: &T) -> Value {
    serde_json::to_value(shown).unwrap_or_else(|_| {
        let text = serde_json::to_string(shown).expect("snapshots are JSON");
        serde_json::from_str(&quoted(&text)).expect("all that was wrong were its numbers")
    })
}

/// Puts quotation marks around the numbers that no `f64` can hold.
fn quoted(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 16);
    let mut rest = json;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' => string_length(rest),
            '-' | '0'..='9' => rest.find([',', ']', '}', ' ', '\t']).unwrap_or(rest.len()),
            _ => next.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let unholdable = next != '"' && token.parse().is_ok_and(f64::is_infinite);
        let mark = if unholdable { "\"" } else { "" };
        out.extend([mark, token, mark]);
        rest = after;
    }
    out
}

/// How long the string is that `json` begins with, with its quotation marks.
fn string_length(json: &str) -> usize {
    let mut escaped = false;
    let end = json.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(json.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use antiphon_event::Json;
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_nobody_can_hold_become_text_and_nothing_else_does() {
        let raw = r#"{"a":[1e999,-1e999, 1.50,"1e999 \" 1e999"],"b":{"c":1e400 },"d":-2,"e":true}"#;
        let json: Json = serde_json::from_str(raw).expect("valid JSON");
        let value =
            json!({"a": ["1e999", "-1e999", 1.5, "1e999 \" 1e999"], "b": {"c": "1e400"}, "d": -2, "e": true});
        assert_eq!(to_value(&json), value);
        assert_eq!(to_value(&[json]), json!([value]));
    }
}
