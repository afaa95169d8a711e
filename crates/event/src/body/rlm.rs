//! Turns of an agent that writes code and has it run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::whole::maybe;
use crate::{ReplId, StreamName};

/// Code from the model, about to run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplInput {
    /// The turn.
    pub id: ReplId,
    /// The code.
    pub code: String,
    /// Which turn, counted from 0.
    #[serde(default, deserialize_with = "maybe")]
    pub iteration: Option<u32>,
}

/// Output of running code, as it comes.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplProgress {
    /// The turn.
    pub id: ReplId,
    /// A piece of output.
    pub chunk: String,
    /// Which output.
    pub stream: StreamName,
}

/// The code came to its end.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplOutput {
    /// The turn.
    pub id: ReplId,
    /// All it printed.
    pub stdout: String,
    /// What went wrong.
    pub error: Option<String>,
    /// Whether it gave the final answer.
    pub done: bool,
    /// That answer; the `text` that says it follows.
    pub answer: Option<String>,
    /// Which turn, counted from 0.
    #[serde(default, deserialize_with = "maybe")]
    pub iteration: Option<u32>,
    /// How long it ran.
    #[serde(default, deserialize_with = "maybe")]
    pub duration_ms: Option<u64>,
    /// Whether `stdout` was cut.
    pub truncated: Option<bool>,
}
