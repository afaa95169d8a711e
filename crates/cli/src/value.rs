//! Values as they are typed: text, or JSON where that is what is wanted.

use std::fs;
use std::io::{self, Read};

use antiphon_event::{Json, JsonKind};
use antiphon_flow::schema::Schema;
use anyhow::{Context, Result, bail};
use serde_json::Value;

/// How many bytes of a file or of standard input are taken as one value.
const INPUT_MAX: u64 = 64 * 1024 * 1024;

/// The text that was meant: itself, `@FILE` for what is in a file, `-` for standard input, both without a line break
/// at the end, which most files of text have.
pub(crate) fn text(given: &str) -> Result<String> {
    let mut text = String::new();
    let (name, reader): (&str, Box<dyn Read>) = match given.strip_prefix('@') {
        Some(path) => {
            (path, Box::new(fs::File::open(path).with_context(|| format!("{path} cannot be opened"))?))
        }
        None if given == "-" => ("standard input", Box::new(io::stdin())),
        None => return Ok(given.to_owned()),
    };
    let read = reader.take(INPUT_MAX + 1).read_to_string(&mut text);
    let read = read.with_context(|| format!("{name} cannot be read as text"))?;
    anyhow::ensure!(read as u64 <= INPUT_MAX, "{name} is larger than {INPUT_MAX} bytes");
    let end = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).map_or(text.len(), str::len);
    text.truncate(end);
    Ok(text)
}

/// The value of an option that takes what fits a schema. Text that begins like JSON and is none, where text does not fit,
/// is refused as such: that a text is no object would not say what is wrong with it.
pub(crate) fn fitting(option: &str, given: &str, schema: Option<&Schema>) -> Result<Json> {
    let text = text(given)?;
    let value = typed(&text, schema.map(Schema::source));
    let kind = match text.trim_start().chars().next() {
        Some('{') => "an object",
        Some('[') => "a list",
        _ => return Ok(value),
    };
    let will_do = |schema: &Schema| value.kind() != JsonKind::Text || schema.validate(&value.value()).is_ok();
    if schema.is_none_or(will_do) {
        return Ok(value);
    }
    let Some(error) = serde_json::from_str::<Value>(&text).err() else { return Ok(value) };
    let name = match given.strip_prefix('@') {
        Some(path) => path,
        None if given == "-" => "standard input",
        None => option,
    };
    let why = error.to_string();
    let why = why.split(" at line ").next().unwrap_or_default();
    let (line, column) = place(&text, &error);
    bail!(
        "{name} begins like {kind} and is no JSON: {why} at line {line}, column {column}; mend it there, as the flow takes no text"
    )
}

/// Line and character, both from 1.
fn place(text: &str, error: &serde_json::Error) -> (usize, usize) {
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    // It counts bytes.
    let before = line.char_indices().filter(|(at, _)| *at < error.column()).count();
    (error.line(), before.max(1))
}

/// The value a text stands for where a schema says what is wanted: text where that is a string, else JSON if it is
/// any. Without a schema only what looks like an object or a list is JSON.
pub(crate) fn typed(text: &str, schema: Option<&Value>) -> Json {
    let as_text = || Json::from(Value::String(text.to_owned()));
    let is_json = match schema {
        Some(schema) => schema.get("type").is_none_or(|kind| kind != "string"),
        None => text.trim_start().starts_with(['{', '[']),
    };
    if !is_json {
        return as_text();
    }
    serde_json::from_str::<Value>(text).map_or_else(|_| as_text(), Json::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::typed;

    #[test]
    fn text_is_json_only_where_that_is_wanted() {
        for (text, schema, value) in [
            ("42", None, json!("42")),
            ("[1]", None, json!([1])),
            ("{no", None, json!("{no")),
            ("42", Some(json!({"type": "string"})), json!("42")),
            ("42", Some(json!({"type": "integer"})), json!(42)),
            ("many", Some(json!({"type": "integer"})), json!("many")),
            ("true", Some(json!({"enum": [true, "x"]})), json!(true)),
        ] {
            assert_eq!(typed(text, schema.as_ref()).value(), value, "{text}");
        }
    }
}
