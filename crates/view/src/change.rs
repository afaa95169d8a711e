//! [`Change`]: how one snapshot of a view becomes the next.

use std::borrow::Cow;
use std::fmt::Write;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::value::to_value;

/// One change of a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What is done.
    pub op: Op,
    /// Where, as a JSON Pointer.
    #[serde(serialize_with = "pointer")]
    pub path: Vec<Step<'static>>,
    /// With what; absent for `remove`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// What a change does at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Puts the value in place of what is there; a member that is not there yet is added.
    Set,
    /// Puts the value into a list, before the element at the index; at the end if the index is the length.
    Insert,
    /// Takes a member or an element away.
    Remove,
    /// Adds text to the end of a text, or an element to the end of a list.
    Append,
}

/// One step of a path: a member by name or an element by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of an object.
    Name(Cow<'a, str>),
    /// An element of a list.
    Index(usize),
}

impl Step<'_> {
    fn into_owned(self) -> Step<'static> {
        match self {
            Self::Name(name) => Step::Name(Cow::Owned(name.into_owned())),
            Self::Index(index) => Step::Index(index),
        }
    }
}

impl<'a> From<&'a str> for Step<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(Cow::Borrowed(name))
    }
}

impl From<usize> for Step<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A path out of names and indexes: `path!["rows", 3, "status"]`.
#[macro_export]
macro_rules! path {
    ($($step:expr),* $(,)?) => { &[$($crate::Step::from($step)),*][..] };
}

/// Collects the changes an event makes; built only when somebody wants them.
#[derive(Debug, Default)]
pub struct Changes {
    list: Option<Vec<Change>>,
}

impl Changes {
    /// Collects changes.
    pub fn wanted() -> Self {
        Self { list: Some(Vec::new()) }
    }

    /// Ignores changes, at no cost: for folding a history nobody watches.
    pub fn unwanted() -> Self {
        Self { list: None }
    }

    /// Whether anybody wants them; ask before doing work only to describe a change.
    pub fn are_wanted(&self) -> bool {
        self.list.is_some()
    }

    /// Puts a value in place of what is at the path.
    pub fn set<T: Serialize + ?Sized>(&mut self, path: &[Step<'_>], value: &T) {
        self.push(Op::Set, path, Some(value));
    }

    /// Puts a value into a list, before the element at the index the path ends with.
    pub fn insert<T: Serialize + ?Sized>(&mut self, path: &[Step<'_>], value: &T) {
        self.push(Op::Insert, path, Some(value));
    }

    /// Adds to the end of the text or list at the path.
    pub fn append<T: Serialize + ?Sized>(&mut self, path: &[Step<'_>], value: &T) {
        self.push(Op::Append, path, Some(value));
    }

    /// Takes away what is at the path.
    pub fn remove(&mut self, path: &[Step<'_>]) {
        self.push::<()>(Op::Remove, path, None);
    }

    /// What was collected since the last call.
    pub fn take(&mut self) -> Vec<Change> {
        self.list.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn push<T: Serialize + ?Sized>(&mut self, op: Op, path: &[Step<'_>], value: Option<&T>) {
        let Some(list) = &mut self.list else {
            return;
        };
        let path = path.iter().map(|step| step.clone().into_owned()).collect();
        let value = value.map(to_value);
        list.push(Change { op, path, value });
    }
}

fn pointer<S: Serializer>(path: &[Step<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = String::new();
    for step in path {
        text.push('/');
        match step {
            Step::Name(name) => text.push_str(&name.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => write!(text, "{index}").map_err(serde::ser::Error::custom)?,
        }
    }
    serializer.serialize_str(&text)
}

impl Change {
    /// Makes the change in a snapshot. `false` if the path leads nowhere, and nothing was changed.
    #[must_use]
    pub fn apply(self, snapshot: &mut Value) -> bool {
        let Some((last, path)) = self.path.split_last() else {
            return self.op == Op::Set
                && self.value.is_some_and(|value| {
                    *snapshot = value;
                    true
                });
        };
        let mut place = snapshot;
        for step in path {
            let Some(next) = enter(place, step) else {
                return false;
            };
            place = next;
        }
        match (self.op, self.value) {
            (Op::Set, Some(value)) => set(place, last, value),
            (Op::Insert, Some(value)) => insert(place, last, value),
            (Op::Append, Some(value)) => enter(place, last).is_some_and(|end| append(end, value)),
            (Op::Remove, _) => remove(place, last),
            (Op::Set | Op::Insert | Op::Append, None) => false,
        }
    }
}

fn enter<'v>(place: &'v mut Value, step: &Step<'_>) -> Option<&'v mut Value> {
    match step {
        Step::Name(name) => place.get_mut(&**name),
        Step::Index(index) => place.get_mut(*index),
    }
}

fn set(place: &mut Value, step: &Step<'_>, value: Value) -> bool {
    match (place, step) {
        (Value::Object(members), Step::Name(name)) => {
            members.insert(name.to_string(), value);
            true
        }
        (Value::Array(list), Step::Index(index)) => list.get_mut(*index).map(|old| *old = value).is_some(),
        _ => false,
    }
}

fn insert(place: &mut Value, step: &Step<'_>, value: Value) -> bool {
    match (place, step) {
        (Value::Array(list), Step::Index(index)) if *index <= list.len() => {
            list.insert(*index, value);
            true
        }
        _ => false,
    }
}

fn append(end: &mut Value, value: Value) -> bool {
    match (end, value) {
        (Value::String(text), Value::String(more)) => {
            text.push_str(&more);
            true
        }
        (Value::Array(list), value) => {
            list.push(value);
            true
        }
        _ => false,
    }
}

fn remove(place: &mut Value, step: &Step<'_>) -> bool {
    match (place, step) {
        (Value::Object(members), Step::Name(name)) => members.shift_remove(&**name).is_some(),
        (Value::Array(list), Step::Index(index)) if *index < list.len() => {
            list.remove(*index);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use antiphon_event::Json;

    use super::*;

    #[test]
    fn a_payload_with_a_number_nobody_can_hold_can_be_shown() {
        let payload: Json = serde_json::from_str("[1e999]").expect("valid JSON");
        let mut changes = Changes::wanted();
        changes.set(path!["output"], &payload);
        assert_eq!(changes.take()[0].value, Some(serde_json::json!(["1e999"])));
    }
}
