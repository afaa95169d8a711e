//! The life of a harness run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::whole::{maybe, whole};
use crate::{AgentId, EndReason, Json, Mode};

/// A harness began to run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HarnessStart {
    /// The agent that runs.
    pub agent_id: Option<AgentId>,
    /// How deep it is nested; 0 for the outermost.
    #[serde(default, deserialize_with = "maybe")]
    pub depth: Option<u32>,
    /// After how many model calls it must stop.
    #[serde(default, deserialize_with = "maybe")]
    pub max_iterations: Option<u32>,
    /// What the agent is, where no flow says so: what going on after a crash needs.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub definition: Option<Json>,
    /// The folder it works in, whoever goes on with it, if it is nobody's child.
    pub folder: Option<Box<str>>,
}

/// A harness came to its end, good or bad; exactly one per run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HarnessEnd {
    /// The agent that ran.
    pub agent_id: Option<AgentId>,
    /// Why. A line of an older version may lack it.
    pub reason: Option<EndReason>,
    /// Model calls made.
    #[serde(default, deserialize_with = "maybe")]
    pub iterations: Option<u32>,
    /// What all of them used.
    pub total_usage: Option<TotalUsage>,
}

/// Tokens used by a whole run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TotalUsage {
    /// Tokens read.
    #[serde(deserialize_with = "whole")]
    pub input_tokens: u64,
    /// Tokens written.
    #[serde(deserialize_with = "whole")]
    pub output_tokens: u64,
    /// Members of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Somebody asked for a run to stop.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelRequested {
    /// Who.
    pub by: String,
    /// At the next good moment, or at once.
    pub mode: Mode,
}
