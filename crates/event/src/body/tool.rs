//! Tools: what a model asked to have done, how it went, what came back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, CallType, Json, Provenance, StreamId, Word};

/// A tool call: as proposed by the model, and again, with the same id, when it is about to run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The call.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// Its arguments; `{__toolParseError, parseError, rawArguments}` if the model wrote something else.
    pub input: Json,
    /// What kind of thing is called; a function if absent.
    pub call_type: Option<CallType>,
    /// The harness that offers the tool.
    pub harness: Option<Word>,
}

/// Something a running tool had to say; the same id again replaces it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    /// This piece of progress.
    pub id: StreamId,
    /// The call it belongs to.
    pub tool_call_id: CallId,
    /// The tool; may be left out, as its call says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whatever it says.
    pub content: Json,
}

impl ToolProgress {
    /// The tool, if it is said here.
    pub fn tool(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }
}

/// Whether what a tool says is a piece of what it prints: an object with `stream` and `text`. Each piece has an id of its
/// own, and all of them together are what was printed; anything else says how far it is, and the next one replaces it.
pub fn is_piece(content: &Json) -> bool {
    let text = content.as_str();
    // Most is no such object, which is seen without reading it.
    if !(text.starts_with('{') && text.contains("\"stream\"")) {
        return false;
    }
    let value = content.value();
    value["stream"].is_string() && value["text"].is_string()
}

/// What a tool call came to.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call.
    pub id: CallId,
    /// The tool; may be left out, as its call says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it gave back.
    pub output: Json,
    /// Whether it failed, was denied or is unknown.
    pub is_error: Option<bool>,
    /// Where the output came from, if not from the tool itself.
    pub provenance: Option<Provenance>,
}

impl ToolResult {
    /// The tool, if it is said here.
    pub fn tool(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }
}
