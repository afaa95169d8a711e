//! JSON Schemas: of a flow's input, of its state, of what nodes give.
//!
//! In: a schema as JSON, then values. Out: nothing, or the place in the value that does not fit and what was
//! expected there. Nothing is fetched: a reference leads within the schema or is refused.
//! Start reading at [`Schema::compile`].

mod reference;

use std::fmt;
use std::sync::Arc;

use antiphon_event::{Json, JsonKind};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// The largest compiled pattern, in bytes.
const PATTERN_MAX: usize = 256 * 1024;

/// The largest schema, counted in values.
const VALUES_MAX: usize = 10_000;

/// A compiled JSON Schema. Cloning is cheap.
///
/// ```
/// use antiphon_flow::schema::Schema;
/// use serde_json::json;
///
/// let schema = Schema::compile(json!({"type": "object", "properties": {"ok": {"type": "boolean"}}}))?;
/// let violation = schema.validate(&json!({"ok": 1})).unwrap_err();
/// assert_eq!(violation.to_string(), r#"at /ok: 1 is not of type "boolean""#);
/// # Ok::<(), antiphon_flow::schema::Invalid>(())
/// ```
#[derive(Clone)]
pub struct Schema(Arc<Inner>);

struct Inner {
    source: Value,
    validator: Validator,
    /// The types it allows, if it asks for nothing else.
    types: Option<Vec<JsonKind>>,
}

impl Schema {
    /// Compiles a schema, read as draft 2020-12. Patterns match in time linear in the text; formats are not checked.
    pub fn compile(source: Value) -> Result<Self, Invalid> {
        let values = count(&source);
        if values > VALUES_MAX {
            let message = format!("it has {values} values, at most {VALUES_MAX} are allowed");
            return Err(Invalid { pointer: String::new(), message });
        }
        reference::check(&source)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_MAX).dfa_size_limit(PATTERN_MAX);
        let built = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .with_pattern_options(patterns)
            .build(&source);
        match built {
            Ok(validator) => Ok(Self(Arc::new(Inner { types: types(&source), source, validator }))),
            Err(error) => {
                let message = said(&error);
                Err(Invalid { pointer: error.instance_path().to_string(), message })
            }
        }
    }

    /// The schema as it was given.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// Whether it judges the items of a list and the members of an object one by one: then what is added to a value
    /// that fits need only fit by itself.
    pub(crate) fn judges_members(&self) -> bool {
        const WORDS: &[&str] =
            &["additionalProperties", "items", "patternProperties", "properties", "required", "type"];
        match &self.0.source {
            Value::Object(words) => words.keys().all(|word| judges_nothing(word) || WORDS.contains(&&**word)),
            source => source.is_boolean(),
        }
    }

    /// Whether a value fits, and what it is parsed if it had to be.
    pub(crate) fn fits(&self, json: &Json) -> Result<Option<Value>, Violation> {
        if self.0.types.as_ref().is_some_and(|types| types.contains(&json.kind())) {
            return Ok(None);
        }
        let value = json.value();
        self.validate(&value)?;
        Ok(Some(value))
    }

    /// Whether a value fits; if not, the first place where it does not.
    pub fn validate(&self, value: &Value) -> Result<(), Violation> {
        if self.0.validator.is_valid(value) {
            return Ok(());
        }
        let mut errors = self.0.validator.iter_errors(value);
        let Some(first) = errors.next() else {
            return Ok(());
        };
        let message = said(&first);
        let pointer = first.instance_path().to_string();
        let others = errors.take(OTHERS_MAX).count();
        Err(Violation { pointer, message, others })
    }
}

/// Whether a word of a schema says nothing about values.
fn judges_nothing(word: &str) -> bool {
    matches!(word, "$comment" | "$defs" | "$schema" | "default" | "description" | "examples" | "title")
}

/// What a value can be and fit whatever is in it, for a schema that asks for no more than a type. Which numbers are
/// integers is seen only by a look at them.
fn types(source: &Value) -> Option<Vec<JsonKind>> {
    const TYPES: [(&str, JsonKind); 5] = [
        ("null", JsonKind::Null),
        ("boolean", JsonKind::Bool),
        ("string", JsonKind::Text),
        ("array", JsonKind::List),
        ("object", JsonKind::Object),
    ];
    let words = source.as_object()?;
    if !words.keys().all(|word| word == "type" || judges_nothing(word)) {
        return None;
    }
    let allows = |word: &str| match words.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|one| one == word),
        Some(one) => one == word,
    };
    Some(TYPES.iter().filter(|(word, _)| allows(word)).map(|(_, kind)| *kind).collect())
}

/// How many more violations are counted.
const OTHERS_MAX: usize = 100;

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.0.source)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source
    }
}

/// Why something is no JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no JSON Schema{}: {message}", place(pointer))]
pub struct Invalid {
    /// Where in the schema, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

/// Where a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}{}", at(pointer), and_others(*others))]
pub struct Violation {
    /// Where in the value, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What was expected there.
    pub message: String,
    /// How many more places there are, up to a hundred.
    pub others: usize,
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" (at {pointer})") }
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!("at {pointer}: ") }
}

fn and_others(others: usize) -> String {
    if others == 0 { String::new() } else { format!(" (and {others} more)") }
}

/// A value in an error: itself if it is short. Long ones would fill the error, and may be private.
fn named(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.len() <= 20 => value.to_string(),
        Value::String(_) => "the text".to_owned(),
        Value::Array(_) => "the list".to_owned(),
        Value::Object(_) => "the object".to_owned(),
    }
}

/// What was expected, in our words where the library's are about itself.
fn said(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::FalseSchema => "nothing is allowed here".to_owned(),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            format!("{} fits none of the allowed forms", named(error.instance()))
        }
        _ => lower_first(&error.masked_with(named(error.instance())).to_string()),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}
