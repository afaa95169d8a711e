//! The body of a request: members, then what the settings hand to the vendor as it is.

use antiphon_agent::ModelUse;
use serde::Serialize;
use serde_json::{Map, Value};

/// Puts a member into an object, if there is one.
pub(crate) fn put(object: &mut Map<String, Value>, name: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        let value = serde_json::to_value(value).expect("what is put into a request is JSON");
        object.insert(name.to_owned(), value);
    }
}

/// The body as bytes. What `extra` has stands in place of what is there, objects member by member; `null` takes it out.
pub(crate) fn write(mut body: Map<String, Value>, settings: &ModelUse) -> Vec<u8> {
    for (name, value) in &settings.extra {
        merge(&mut body, name, value.value());
    }
    serde_json::to_vec(&body).expect("an object of JSON values is JSON")
}

fn merge(object: &mut Map<String, Value>, name: &str, value: Value) {
    match (object.get_mut(name), value) {
        (_, Value::Null) => {
            object.shift_remove(name);
        }
        (Some(Value::Object(inner)), Value::Object(members)) => {
            for (name, value) in members {
                merge(inner, &name, value);
            }
        }
        (_, value) => {
            object.insert(name.to_owned(), value);
        }
    }
}
