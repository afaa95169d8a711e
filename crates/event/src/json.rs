//! [`Json`]: a JSON value kept as the text it came in.
//!
//! Payloads (tool inputs, outputs, members nobody knows) are carried far more often than looked into, and
//! must come out as they went in: `1.0` stays `1.0`, and a number of forty digits keeps all of them.

mod list;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use list::List;

/// How deep a payload may be nested. Readers commonly stop at 128, and must still be able to read a payload
/// that stands some levels down in a snapshot.
pub(crate) const DEPTH_MAX: usize = 100;

/// A JSON value as its text: cheap to clone, parsed only when somebody looks inside.
///
/// Two values are equal if their texts are; the text is on one line. A list may be kept as its items, which it then
/// shares with whoever else has them ([`Json::list`]); its text is put together when somebody reads it.
#[derive(Clone)]
pub struct Json(Form);

/// How a value is kept.
#[derive(Clone)]
enum Form {
    Text(Arc<RawValue>),
    Other(Other),
}

/// What is kept without its text, in a word, so that a value takes no more than two.
#[derive(Clone)]
enum Other {
    List(Arc<List>),
    /// `null`: what a node gives that gives nothing. Nobody counts who has it.
    Null,
}

const _: () = assert!(size_of::<Json>() == 2 * size_of::<usize>(), "a value is two words");

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    List,
    /// An object.
    Object,
}

impl Json {
    fn of(raw: Box<RawValue>) -> Self {
        Self(Form::Text(raw.into()))
    }

    const fn null() -> Self {
        Self(Form::Other(Other::Null))
    }

    fn raw(&self) -> &RawValue {
        match &self.0 {
            Form::Text(raw) => raw,
            Form::Other(Other::List(list)) => list.text(),
            Form::Other(Other::Null) => RawValue::NULL,
        }
    }

    /// The value as JSON text, on one line.
    pub fn as_str(&self) -> &str {
        self.raw().get()
    }

    /// How many bytes its text has.
    pub fn size(&self) -> usize {
        match &self.0 {
            Form::Text(raw) => raw.get().len(),
            Form::Other(Other::List(list)) => list.size(),
            Form::Other(Other::Null) => RawValue::NULL.get().len(),
        }
    }

    /// What it is, without a look inside.
    pub fn kind(&self) -> Kind {
        let raw = match &self.0 {
            Form::Text(raw) => raw,
            Form::Other(Other::List(_)) => return Kind::List,
            Form::Other(Other::Null) => return Kind::Null,
        };
        match raw.get().as_bytes().first() {
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'"') => Kind::Text,
            Some(b'[') => Kind::List,
            Some(b'{') => Kind::Object,
            _ => Kind::Number,
        }
    }

    /// The value, parsed. A number that no `f64` can hold comes back as its text.
    pub fn value(&self) -> Value {
        self.parse().unwrap_or_else(|_| Value::from(self.as_str()))
    }

    fn parse(&self) -> serde_json::Result<Value> {
        match &self.0 {
            Form::Text(raw) => serde_json::from_str(raw.get()),
            Form::Other(Other::List(list)) => list.parse(),
            Form::Other(Other::Null) => Ok(Value::Null),
        }
    }

    /// The text of a JSON string, or the JSON itself for anything else: what a person would read.
    pub fn to_text(&self) -> Cow<'_, str> {
        let raw = self.as_str();
        if !raw.starts_with('"') {
            return Cow::Borrowed(raw);
        }
        serde_json::from_str(raw).map_or(Cow::Borrowed(raw), Cow::Owned)
    }

    /// The object with these members, in this order; whoever names one twice gets both. Their texts are taken as they
    /// are.
    ///
    /// ```
    /// use antiphon_event::Json;
    ///
    /// let object = Json::object(&[("one", Json::from(1)), ("two", Json::from("2"))]);
    /// assert_eq!(object.as_str(), r#"{"one":1,"two":"2"}"#);
    /// ```
    pub fn object(members: &[(&str, Self)]) -> Self {
        Self::of(to_raw_value(&Members(members)).expect("JSON texts are JSON"))
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Takes a raw value over: checks its depth and puts it on one line.
    pub(crate) fn from_raw(raw: &RawValue) -> Result<Self, TooDeep> {
        Ok(Self::of(on_one_line(raw.get())?.unwrap_or_else(|| raw.to_owned())))
    }
}

/// Refuses what is nested too deep, before anybody goes into it.
pub(crate) fn check_depth(text: &str) -> Result<(), TooDeep> {
    // Every level takes two bytes.
    let may_be_deep = text.len() > 2 * DEPTH_MAX && text.starts_with(['{', '[']);
    if may_be_deep && depth(text) > DEPTH_MAX { Err(TooDeep) } else { Ok(()) }
}

/// A value as it is on one line, if it is not on one already.
fn on_one_line(text: &str) -> Result<Option<Box<RawValue>>, TooDeep> {
    check_depth(text)?;
    let container = text.starts_with(['{', '[']);
    let flat = (container && text.contains(['\n', '\r'])).then(|| one_line(text));
    Ok(flat.map(|flat| RawValue::from_string(flat).expect("white space between tokens means nothing")))
}

/// A value nested deeper than [`DEPTH_MAX`].
#[derive(Debug, thiserror::Error)]
#[error("nested deeper than {DEPTH_MAX} levels")]
pub(crate) struct TooDeep;

/// Whether each byte of `raw` stands outside of strings, in order.
fn outside_strings(raw: &str) -> impl Iterator<Item = (u8, bool)> + '_ {
    let mut inside = false;
    let mut escaped = false;
    raw.bytes().map(move |byte| {
        let was_inside = inside;
        if inside {
            inside = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
        } else {
            inside = byte == b'"';
        }
        (byte, !was_inside && !inside)
    })
}

fn depth(raw: &str) -> usize {
    let mut open = 0_usize;
    let mut deepest = 0;
    for (byte, outside) in outside_strings(raw) {
        match byte {
            b'{' | b'[' if outside => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' if outside => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn one_line(raw: &str) -> String {
    let kept = outside_strings(raw).filter(|(byte, outside)| !(*outside && matches!(byte, b'\n' | b'\r')));
    let bytes = kept.map(|(byte, _)| byte).collect();
    String::from_utf8(bytes).expect("only whole ASCII characters were left out")
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// Members of an object, in order.
struct Members<'m>(&'m [(&'m str, Json)]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        if value.is_null() {
            return Self::null();
        }
        Self::of(to_raw_value(&value).expect("a value is JSON"))
    }
}

macro_rules! from_values {
    ($($kind:ty),*) => {
        $(impl From<$kind> for Json {
            fn from(value: $kind) -> Self {
                Self::from(Value::from(value))
            }
        })*
    };
}

from_values!(bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f32, f64, String, Vec<Value>, ());

impl From<&str> for Json {
    /// A JSON string.
    fn from(text: &str) -> Self {
        Self::from(Value::from(text))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Text(raw) => raw.serialize(serializer),
            Form::Other(Other::List(list)) => list.serialize(serializer),
            Form::Other(Other::Null) => RawValue::NULL.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let flat = on_one_line(raw.get()).map_err(D::Error::custom)?;
        Ok(Self::of(flat.unwrap_or(raw)))
    }
}

impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

/// Reads an optional payload so that `null` is a value that was given, not a member that is absent.
pub(crate) fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_to_the_letter() {
        for raw in ["1.0", "123456789012345678901234567890", r#"{"a":[1,2],"b":"x\ny"}"#, r#""\u00e9""#] {
            let json: Json = serde_json::from_str(raw).expect("valid");
            assert_eq!(json.as_str(), raw);
            assert_eq!(serde_json::to_string(&json).expect("serialises"), raw);
        }
    }

    #[test]
    fn a_number_nobody_can_hold_is_shown_as_its_text() {
        let json: Json = serde_json::from_str("1e999").expect("valid JSON");
        assert_eq!(json.value(), Value::from("1e999"));
    }

    #[test]
    fn line_breaks_go_but_not_those_in_strings() {
        let json: Json = serde_json::from_str("{\n \"a\\\"\":\r\n \"b\\n\"}").expect("valid");
        assert_eq!(json.as_str(), r#"{ "a\"": "b\n"}"#);
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        let deepest: Json = serde_json::from_str(&nested(DEPTH_MAX)).expect("deep enough");
        assert!(serde_json::to_value([[[&deepest]]]).is_ok(), "still readable inside something else");
        let error = serde_json::from_str::<Json>(&nested(DEPTH_MAX + 1)).expect_err("too deep");
        assert!(error.to_string().contains("100"), "{error}");
        assert!(serde_json::from_str::<Json>(&format!("[\"{}\"]", "[".repeat(1000))).is_ok());
    }
}
