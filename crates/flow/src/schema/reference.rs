//! References within a schema: that they stay in it, and that following them ends.
//!
//! In: a schema. Out: nothing, or the reference that leads elsewhere or back to itself without going down into
//! the value, where checking would never end. Start reading at [`check`].

use std::collections::BTreeSet;

use serde_json::Value;

use super::Invalid;

/// Keywords whose schemas look at the same value as the schema they stand in.
const IN_PLACE: &[&str] =
    &["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$ref"];

/// Keywords that lead elsewhere, or change where others lead.
const ELSEWHERE: &[&str] = &["$dynamicRef", "$recursiveRef", "$id"];

/// Refuses references that leave the schema and those that never arrive.
pub(super) fn check(schema: &Value) -> Result<(), Invalid> {
    let mut starts = Vec::new();
    collect(schema, "", &mut starts)?;
    match returning(schema, starts) {
        Some(pointer) => Err(Invalid { pointer, message: "the reference leads to itself".to_owned() }),
        None => Ok(()),
    }
}

/// The places of all schemas that refer to another.
fn collect(value: &Value, pointer: &str, found: &mut Vec<String>) -> Result<(), Invalid> {
    match value {
        Value::Object(members) => {
            for (name, part) in members {
                if let Value::String(target) = part {
                    let leaves = ELSEWHERE.contains(&name.as_str()) && !(name == "$id" && pointer.is_empty());
                    let is_reference = name == "$ref";
                    if leaves || is_reference && !leads_within(target) {
                        return Err(Invalid { pointer: pointer.to_owned(), message: elsewhere(name) });
                    }
                    if is_reference {
                        found.push(pointer.to_owned());
                    }
                }
                collect(part, &format!("{pointer}/{}", escaped(name)), found)?;
            }
            Ok(())
        }
        Value::Array(items) => {
            for (index, part) in items.iter().enumerate() {
                collect(part, &format!("{pointer}/{index}"), found)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn elsewhere(keyword: &str) -> String {
    format!("`{keyword}` leads elsewhere: only `$ref: \"#/$defs/…\"` within the schema is allowed")
}

fn leads_within(target: &str) -> bool {
    target == "#" || (target.starts_with("#/") && !target.contains('%'))
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A schema that is met again on a way from it that stays at one value. Every schema is left once.
fn returning(schema: &Value, starts: Vec<String>) -> Option<String> {
    let (mut left, mut open) = (BTreeSet::new(), BTreeSet::new());
    for start in starts {
        let mut way = vec![(start.clone(), vec![start])];
        while let Some((pointer, next)) = way.last_mut() {
            let Some(to) = next.pop() else {
                open.remove(pointer);
                left.insert(pointer.clone());
                way.pop();
                continue;
            };
            if open.contains(&to) {
                return Some(to);
            }
            if !left.contains(&to) {
                open.insert(to.clone());
                let next = same_value(schema, &to);
                way.push((to, next));
            }
        }
    }
    None
}

/// The places of the schemas that look at the same value as the one at a place.
fn same_value(schema: &Value, pointer: &str) -> Vec<String> {
    let Some(Value::Object(members)) = schema.pointer(pointer) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for keyword in IN_PLACE {
        let here = format!("{pointer}/{keyword}");
        match members.get(*keyword) {
            Some(Value::String(reference)) => found.extend(reference.strip_prefix('#').map(str::to_owned)),
            Some(Value::Array(parts)) => {
                found.extend((0..parts.len()).map(|index| format!("{here}/{index}")));
            }
            Some(Value::Object(parts)) if *keyword == "dependentSchemas" => {
                found.extend(parts.keys().map(|name| format!("{here}/{}", escaped(name))));
            }
            Some(_) => found.push(here),
            None => {}
        }
    }
    found
}
