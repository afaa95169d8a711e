//! The JSON Schema of every event, made from the types.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use crate::{Head, Kind};

/// The JSON Schema of an event: one definition for each type, each with the members of the head.
///
/// Types this version does not know are valid too, as long as they have a `type`.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let head = <Head as schemars::JsonSchema>::json_schema(&mut generator).to_value();
    let mut definitions = Map::new();
    let mut cases = Vec::new();
    for kind in Kind::ALL {
        let members = kind.members_schema(&mut generator).expect("a known type has members").to_value();
        definitions.insert(kind.tag().to_owned(), definition(*kind, &head, members));
        cases.push(json!({"$ref": format!("#/$defs/{}", kind.tag().replace('/', "~1"))}));
    }
    for (name, part) in generator.take_definitions(true) {
        definitions.insert(name, part);
    }
    cases.push(json!({
        "description": "A type of a later version.",
        "type": "object",
        "properties": {"type": {"type": "string", "not": {"enum": Kind::ALL.iter().map(|kind| kind.tag()).collect::<Vec<_>>()}}},
        "required": ["type"],
    }));
    let mut schema = json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Antiphon event",
        "description": "One event: what happened, and where it belongs. Members nobody knows are allowed and kept.",
        "oneOf": cases,
        "$defs": definitions,
    });
    RecursiveTransform(bound).transform(&mut schema);
    schema.to_value()
}

/// Says of a whole number how large it may be.
fn bound(schema: &mut Schema) {
    let most = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => u64::from(u32::MAX),
        Some("uint64") => u64::MAX,
        _ => return,
    };
    schema.insert("maximum".into(), most.into());
}

/// The members of the head and of the body in one object.
fn definition(kind: Kind, head: &Value, members: Value) -> Value {
    let mut properties = Map::new();
    properties.insert("type".into(), json!({"const": kind.tag()}));
    let mut required = vec![json!("type")];
    required.extend(kind.needs().iter().map(|need| json!(need.name())));
    for part in [head, &members] {
        if let Some(Value::Object(found)) = part.get("properties") {
            properties.extend(found.clone());
        }
        if let Some(Value::Array(found)) = part.get("required") {
            required.extend(found.iter().cloned());
        }
    }
    // Elsewhere `null` is as good as absent.
    for need in kind.needs() {
        properties[need.name()]["type"] = json!("string");
    }
    json!({
        "description": members.get("description"),
        "type": "object",
        "properties": properties,
        "required": required,
    })
}
