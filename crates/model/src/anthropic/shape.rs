//! [`Shape`]: how an answer is made to fit a schema.
//!
//! Models that can be told the form of their answer are told it: the schema, with its objects closed and without bounds,
//! for that is all the vendor takes; whoever asked checks the rest. Elsewhere, and where a schema cannot be closed, the
//! answer is the arguments of a tool that is made up for it. Start reading at [`Shape::of`].

use antiphon_agent::Prompt;
use serde_json::{Map, Value, json};

use super::generation::Generation;

/// What an answer is called that is no object.
pub(super) const WRAP: &str = "value";

/// Members of a schema that the vendor takes as they are.
const PLAIN: &[&str] = &["type", "description", "title", "enum", "const", "required", "$ref"];

/// How an answer is made to fit.
#[derive(Debug)]
pub(super) enum Shape {
    /// It need not.
    Free,
    /// The model is told its form.
    Format(Value),
    /// It is what a tool is called with.
    Form(Form),
}

/// The tool whose arguments are the answer.
#[derive(Debug)]
pub(super) struct Form {
    /// A name no other tool has.
    pub(super) name: String,
    /// Whether the answer is a member of the arguments: arguments are an object, an answer need not be one.
    pub(super) is_wrapped: bool,
    pub(super) schema: Value,
}

impl Shape {
    pub(super) fn of(prompt: &Prompt, generation: Generation) -> Self {
        let Some(schema) = &prompt.output else {
            return Self::Free;
        };
        let schema = schema.value();
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        let closed = || if is_object { close(&schema) } else { None };
        match generation {
            Generation::Formed | Generation::Adaptive if let Some(closed) = closed() => Self::Format(closed),
            Generation::Early | Generation::Formed | Generation::Adaptive => {
                Self::Form(Form::of(prompt, schema, is_object))
            }
        }
    }

    /// The tool whose arguments are the answer, if there is one.
    pub(super) fn form(&self) -> Option<&Form> {
        match self {
            Self::Form(form) => Some(form),
            Self::Free | Self::Format(_) => None,
        }
    }
}

impl Form {
    fn of(prompt: &Prompt, schema: Value, is_object: bool) -> Self {
        let mut name = "answer".to_owned();
        while prompt.tools.iter().any(|tool| tool.name == name) {
            name.push('_');
        }
        let wrapped = |schema| json!({"type": "object", "properties": {WRAP: schema}, "required": [WRAP]});
        let schema = if is_object { schema } else { wrapped(schema) };
        Self { name, is_wrapped: !is_object, schema }
    }
}

/// The schema with its objects closed and without what the vendor does not take; nothing if that would change what it means.
fn close(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    let mut closed = Map::new();
    for (name, value) in members {
        let (name, value) = match name.as_str() {
            "type" if !value.is_string() => return None,
            name if PLAIN.contains(&name) => (name, value.clone()),
            "properties" | "$defs" => (name.as_str(), close_each(value)?),
            "items" => ("items", close(value)?),
            "anyOf" | "oneOf" => ("anyOf", value.as_array()?.iter().map(close).collect::<Option<_>>()?),
            "additionalProperties" if *value == Value::Bool(false) => continue,
            "additionalProperties" | "patternProperties" | "allOf" | "not" | "prefixItems" => return None,
            // A bound, a default, an example: more than the vendor takes, and checked by whoever asked.
            _ => continue,
        };
        closed.insert(name.to_owned(), value);
    }
    if members.get("type").is_some_and(|kind| kind == "object") {
        // One that may have any members would have none.
        members
            .get("properties")
            .filter(|properties| properties.as_object().is_some_and(|all| !all.is_empty()))?;
        closed.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Some(Value::Object(closed))
}

fn close_each(schemas: &Value) -> Option<Value> {
    let each = schemas.as_object()?.iter().map(|(name, schema)| Some((name.clone(), close(schema)?)));
    each.collect::<Option<Map<_, _>>>().map(Value::Object)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::close;

    #[test]
    fn objects_are_closed_and_bounds_left_out() {
        let schemas = [
            json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}, "type": {"enum": ["a"]}}}),
            json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"a": {"const": 1}}}, "maxItems": 3}}, "required": ["l"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"x": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/x"}]}}, "$defs": {"x": {"type": "string", "format": "email"}}}),
            json!({"type": "object"}),
            json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}}),
            json!({"type": "object", "properties": {"m": {"type": ["string", "null"]}}}),
            json!({"type": "object", "properties": {"m": true}}),
        ];
        let told = schemas
            .map(|schema| close(&schema).map_or("cannot be closed\n".to_owned(), |it| format!("{it}\n")));
        expect![[r##"
            {"type":"object","properties":{"n":{"type":"integer"},"type":{"enum":["a"]}},"additionalProperties":false}
            {"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"const":1}},"additionalProperties":false}}},"required":["l"],"additionalProperties":false}
            {"type":"object","properties":{"x":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}]}},"$defs":{"x":{"type":"string"}},"additionalProperties":false}
            cannot be closed
            cannot be closed
            cannot be closed
            cannot be closed
        "##]].assert_eq(&told.concat());
    }
}
