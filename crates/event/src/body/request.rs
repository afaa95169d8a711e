//! Requests to people, and their answers. All durable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, Json, RelayId, RelayKind, Scope, Timestamp};

/// A person is asked for something; the run waits.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Relay {
    /// The request.
    pub id: RelayId,
    /// What is asked for.
    pub kind: RelayKind,
    /// The tool call it is about.
    pub tool_call_id: Option<CallId>,
    /// The tool.
    pub tool: Option<String>,
    /// The tool's arguments, or whatever the question is about.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub params: Option<Json>,
    /// The question, in words.
    pub prompt: Option<String>,
    /// Answers to choose from.
    pub options: Option<Vec<String>>,
    /// What shape an answer must have.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub schema: Option<Json>,
    /// When it is decided without an answer.
    pub expires_at: Option<Timestamp>,
    /// How far a yes can reach, if not as far as one likes: of some calls no rule can be made.
    pub scopes: Option<Vec<Scope>>,
}

/// A request was answered, by a person or by the clock.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelayResolved {
    /// The request.
    pub relay_id: RelayId,
    /// Yes or no.
    pub approved: Option<bool>,
    /// The answer to a question.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub answer: Option<Json>,
    /// What to go on with instead.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub input: Option<Json>,
    /// How far a yes reaches.
    pub scope: Option<Scope>,
    /// Why.
    pub reason: Option<String>,
    /// Who answered; `timeout` if nobody did.
    pub by: String,
}

/// A permission now holds without asking.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantAdded {
    /// What is allowed.
    pub rule: Json,
    /// How far.
    pub scope: Scope,
    /// Who allowed it.
    pub by: String,
    /// The request that was answered.
    pub relay_id: Option<RelayId>,
}
