//! What a thread's snapshot is made of, as far as it is shown.

use antiphon_event::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// The conversation, or what a run that a call started did.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Branch {
    pub(super) entries: Vec<Entry>,
}

/// A message.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Entry {
    pub(super) role: String,
    pub(super) agent: Option<String>,
    pub(super) node_id: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) status: String,
    pub(super) orphan: bool,
    /// The text of a summary.
    pub(super) text: Option<String>,
    pub(super) sources: Vec<String>,
    pub(super) parts: Vec<Part>,
}

/// A part of a message: text, reasoning, a call, code, a request, an error.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Part {
    pub(super) kind: String,
    pub(super) text: Option<String>,
    pub(super) message: Option<String>,
    pub(super) code: Option<String>,
    pub(super) name: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) prompt: Option<String>,
    pub(super) options: Vec<String>,
    pub(super) content: Option<Value>,
    pub(super) progress: Option<Value>,
    pub(super) output: Option<Value>,
    pub(super) is_error: bool,
    pub(super) relay: Option<Relay>,
    pub(super) status: Option<String>,
    pub(super) branches: Vec<Branch>,
}

/// A request to a person.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Relay {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) prompt: Option<String>,
    pub(super) options: Vec<String>,
    pub(super) answer: Option<Value>,
    pub(super) by: Option<String>,
    pub(super) reason: Option<String>,
}
