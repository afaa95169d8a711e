//! The JSON Schema of the file format, for editors; made from the table of the format.

use serde_json::{Map, Value, json};

use super::format::{AGENT_FILE, FLOW, Form, Object};

/// The JSON Schema of flow files.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    define(&FLOW, &mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Antiphon flow",
        "description": FLOW.about,
        "$ref": "#/$defs/flow",
        "$defs": definitions,
    })
}

/// The JSON Schema of files with an agent.
pub fn agent_schema() -> Value {
    let mut definitions = Map::new();
    define(&AGENT_FILE, &mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Antiphon agent",
        "description": AGENT_FILE.about,
        "$ref": "#/$defs/agent_file",
        "$defs": definitions,
    })
}

/// A reference to an object, which is defined if it was not.
fn define(object: &Object, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(object.name) {
        // Nodes hold flows that hold nodes: what is begun is not begun again.
        definitions.insert(object.name.to_owned(), Value::Null);
        let members = object.members.iter().map(|member| {
            let mut schema = of(&member.form, definitions);
            schema["description"] = member.about.into();
            (member.name.to_owned(), schema)
        });
        let properties: Map<_, _> = members.collect();
        let mut schema = json!({"type": "object", "description": object.about, "properties": properties});
        if !object.required.is_empty() {
            schema["required"] = json!(object.required);
        }
        if !object.one_of.is_empty() {
            schema["oneOf"] = object.one_of.iter().map(|name| json!({"required": [name]})).collect();
        }
        if !object.is_schema() {
            schema["additionalProperties"] = false.into();
        }
        definitions.insert(object.name.to_owned(), schema);
    }
    json!({"$ref": format!("#/$defs/{}", object.name)})
}

fn of(form: &Form, definitions: &mut Map<String, Value>) -> Value {
    match form {
        Form::Text => json!({"type": "string"}),
        Form::Expression => json!({"type": ["string", "number", "boolean", "null"]}),
        Form::Duration => json!({"type": "string", "pattern": "^[0-9]+(ms|s|m|h)([0-9]+(ms|s|m))*$"}),
        Form::Count(least) => json!({"type": "integer", "minimum": least}),
        Form::Number => json!({"type": "number", "minimum": 0}),
        Form::Part => json!({"type": "number", "minimum": 0, "maximum": 1}),
        Form::Truth => json!({"type": "boolean"}),
        Form::Schema => json!({"type": ["object", "boolean"]}),
        Form::Pattern => json!({"type": "string", "format": "regex"}),
        Form::Word(words) => json!({"enum": words}),
        Form::Arrow => json!({"type": "string", "pattern": "^\\s*\\S+(\\s*->\\s*\\S+)+\\s*$"}),
        Form::Any => json!({}),
        Form::List(items) => json!({"type": "array", "items": of(items, definitions)}),
        Form::Filled(items) => {
            json!({"type": "array", "items": of(items, definitions), "minItems": 1})
        }
        Form::Dict(values) => json!({"type": "object", "additionalProperties": of(values, definitions)}),
        Form::Object(object) => define(object, definitions),
        Form::Either(forms) => {
            json!({"anyOf": forms.iter().map(|form| of(form, definitions)).collect::<Vec<_>>()})
        }
    }
}
