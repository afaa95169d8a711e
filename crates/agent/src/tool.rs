//! [`Spec`]: a tool as a model, a rule and a crash see it.

use antiphon_event::{CallType, Json};
use serde::{Deserialize, Serialize};

/// What a tool is.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// What it is called: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub input: Json,
    /// What a call changes.
    pub class: Class,
    /// What kind of thing is called; a function if absent.
    pub call_type: Option<CallType>,
}

impl Spec {
    /// How many bytes it is for a model.
    pub(crate) fn weight(&self) -> usize {
        self.name.len() + self.description.len() + self.input.as_str().len()
    }
}

/// What a call of a tool changes: whether it may be made again when nobody knows how the last one ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Nothing, and it reads nothing that changes.
    Pure,
    /// Nothing.
    Read,
    /// Something, but twice is the same as once.
    Idempotent,
    /// Something.
    Write,
}

impl Class {
    /// Whether a call may be repeated when nobody knows how it ended.
    pub fn is_repeatable(self) -> bool {
        self != Self::Write
    }
}
