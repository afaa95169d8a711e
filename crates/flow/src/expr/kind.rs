//! What a value is: types as far as they are known before there are values, and the words for them.
//!
//! In: a JSON Schema or a value. Out: a [`Type`]. Whatever a schema leaves open is [`Type::Dyn`].

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// How deep a schema is looked into.
const DEPTH_MAX: u32 = 16;

/// What is known about a value before it is there.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// Nothing.
    Dyn,
    /// It is `null`.
    Null,
    /// A boolean.
    Bool,
    /// An integer.
    Int,
    /// A number; whether an integer is not known.
    Number,
    /// A text.
    String,
    /// A list of such items.
    List(Box<Type>),
    /// An object.
    Map {
        /// The members that are known.
        members: BTreeMap<String, Type>,
        /// Whether there can be others.
        open: bool,
    },
}

impl Type {
    /// An object of which nothing else is known.
    pub fn any_map() -> Self {
        Self::Map { members: BTreeMap::new(), open: true }
    }

    /// What to do about a condition of this type.
    pub(super) fn as_condition(&self) -> &'static str {
        match self {
            Self::Int | Self::Number => "compare it with a number, as in `… > 0`",
            Self::String => "compare it with a text, as in `… == 'yes'`",
            Self::List(_) | Self::Map { .. } => "ask how many there are, as in `size(…) > 0`",
            Self::Null | Self::Bool | Self::Dyn => "compare it with a value, as in `… != null`",
        }
    }

    /// A list of which nothing else is known.
    pub fn any_list() -> Self {
        Self::List(Box::new(Self::Dyn))
    }

    /// What a JSON Schema says about the type of a value.
    pub fn of_schema(schema: &Value) -> Self {
        of_schema(schema, DEPTH_MAX)
    }

    /// The type of a value that is there.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_i64() => Self::Int,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::any_list(),
            Value::Object(_) => Self::any_map(),
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Number)
    }

    /// What both are; nothing is known if they differ.
    pub(super) fn common(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (a, b) if a.is_number() && b.is_number() => Self::Number,
            (Self::List(_), Self::List(_)) => Self::any_list(),
            (Self::Map { .. }, Self::Map { .. }) => Self::any_map(),
            _ => Self::Dyn,
        }
    }

    /// Whether a value could be of both types.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dyn, _)
            | (_, Self::Dyn)
            | (Self::List(_), Self::List(_))
            | (Self::Map { .. }, Self::Map { .. }) => true,
            (a, b) => a == b || (a.is_number() && b.is_number()),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dyn => "any value",
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Int => "an integer",
            Self::Number => "a number",
            Self::String => "a text",
            Self::List(_) => "a list",
            Self::Map { .. } => "an object",
        })
    }
}

fn of_schema(schema: &Value, depth: u32) -> Type {
    let Some(schema) = schema.as_object().filter(|_| depth > 0) else {
        return Type::Dyn;
    };
    if let Some(constant) = schema.get("const") {
        return Type::of(constant);
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        return words.iter().map(Type::of).reduce(Type::common).unwrap_or(Type::Dyn);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("null") => Type::Null,
        Some("boolean") => Type::Bool,
        Some("integer") => Type::Int,
        Some("number") => Type::Number,
        Some("string") => Type::String,
        Some("array") => {
            let items = schema.get("items").filter(|_| !schema.contains_key("prefixItems"));
            Type::List(Box::new(items.map_or(Type::Dyn, |items| of_schema(items, depth - 1))))
        }
        Some("object") => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let members = properties.into_iter().flatten();
            let members = members.map(|(name, part)| (name.clone(), of_schema(part, depth - 1))).collect();
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
                && !schema.contains_key("patternProperties");
            Type::Map { members, open: !closed }
        }
        _ => Type::Dyn,
    }
}

/// The names of types, which stand for themselves: `type(x) == int`.
pub(super) const NAMES: [&str; 7] = ["null_type", "bool", "int", "double", "string", "list", "map"];

/// The name of a value's type, one of [`NAMES`], as `type(x)` gives it.
pub(super) fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null_type",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int",
        Value::Number(_) => "double",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "map",
    }
}

/// A value for an error: what it is, and what it says if that is short. Long texts may be private.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => format!("the boolean {truth}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.len() <= 20 => format!("the text {text:?}"),
        Value::String(_) => "a text".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}
