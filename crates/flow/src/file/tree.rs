//! A file as a tree in which everything knows its place.
//!
//! In: YAML by way of [`super::yaml`], or JSON without places. Out: nodes to read from, and JSON again.

use serde_json::{Map, Value};

use super::written::Written;

/// A place in a file: line and column, both from 1; 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) place: Place,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Scalar(Scalar),
    List(Vec<Tree>),
    Map(Vec<(Name, Tree)>),
}

/// The name of a member and its place.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) place: Place,
}

/// A value without parts.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    /// As it is written, without quotes.
    pub(super) text: String,
    /// What it is.
    pub(super) value: Value,
    /// Where in the file the characters of its text stand, if that can be told.
    pub(super) written: Option<Written>,
}

impl Tree {
    /// The member of a map with this name.
    pub(super) fn get(&self, name: &str) -> Option<&Tree> {
        self.members().iter().find(|(found, _)| found.text == name).map(|(_, tree)| tree)
    }

    /// The members of a map; none of anything else.
    pub(super) fn members(&self) -> &[(Name, Tree)] {
        match &self.kind {
            Kind::Map(members) => members,
            Kind::Scalar(_) | Kind::List(_) => &[],
        }
    }

    /// The items of a list; none of anything else.
    pub(super) fn items(&self) -> &[Tree] {
        match &self.kind {
            Kind::List(items) => items,
            Kind::Scalar(_) | Kind::Map(_) => &[],
        }
    }

    pub(super) fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        self.scalar().and_then(|scalar| scalar.value.as_str())
    }

    /// The place of a character of its text, counted from 1; its own place if that cannot be told.
    pub(super) fn inside(&self, column: u32) -> Place {
        let written = self.scalar().and_then(|scalar| scalar.written.as_ref());
        written.map_or(self.place, |written| written.place(column.saturating_sub(1)))
    }

    /// The part under a JSON pointer, as far as it leads.
    pub(super) fn pointed(&self, pointer: &str) -> &Tree {
        let mut tree = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &tree.kind {
                Kind::Map(_) => tree.get(&step),
                Kind::List(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                Kind::Scalar(_) => None,
            };
            let Some(next) = next else {
                break;
            };
            tree = next;
        }
        tree
    }

    /// What it is, for an error.
    pub(super) fn described(&self) -> &'static str {
        match &self.kind {
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
            Kind::Scalar(scalar) => match scalar.value {
                Value::Null => "nothing",
                Value::Bool(_) => "true or false",
                Value::Number(_) => "a number",
                _ => "a text",
            },
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Scalar(scalar) => scalar.value.clone(),
            Kind::List(items) => items.iter().map(Tree::to_json).collect(),
            Kind::Map(members) => members
                .iter()
                .map(|(name, tree)| (name.text.clone(), tree.to_json()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }

    /// Without places.
    pub(super) fn of_json(value: &Value) -> Self {
        let place = Place::default();
        let kind = match value {
            Value::Array(items) => Kind::List(items.iter().map(Tree::of_json).collect()),
            Value::Object(members) => Kind::Map(
                members
                    .iter()
                    .map(|(name, value)| (Name { text: name.clone(), place }, Tree::of_json(value)))
                    .collect(),
            ),
            other => {
                let text = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
                Kind::Scalar(Scalar { text, value: other.clone(), written: None })
            }
        };
        Self { place, kind }
    }
}
