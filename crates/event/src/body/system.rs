//! What model calls cost, what went wrong, what was set aside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::StopReason;
use crate::whole::{maybe, whole};

/// What one model call used.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read.
    #[serde(deserialize_with = "whole")]
    pub input_tokens: u64,
    /// Tokens written.
    #[serde(deserialize_with = "whole")]
    pub output_tokens: u64,
    /// Of the tokens read, those that came from the vendor's cache.
    #[serde(default, deserialize_with = "maybe")]
    pub cache_read_tokens: Option<u64>,
    /// Of the tokens read, those that were put into the vendor's cache.
    #[serde(default, deserialize_with = "maybe")]
    pub cache_creation_tokens: Option<u64>,
    /// The model.
    pub model: Option<String>,
    /// The price, in US dollars.
    pub cost_usd: Option<f64>,
}

/// Something went wrong.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Error {
    /// What, for a person.
    pub message: String,
    /// What, for a program.
    pub code: Option<String>,
    /// Whether trying again may help.
    pub retryable: Option<bool>,
    /// The bound of a flow around it that was reached, if that is why.
    pub limit: Option<StopReason>,
    /// How many flows further out than that of its node the flow is whose bound it is; absent if it is that one.
    #[serde(default, deserialize_with = "maybe")]
    pub limit_around: Option<u32>,
}

/// A model call is made again; what it had said so far does not count.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRetry {
    /// Which attempt follows: 2 for the first retry.
    #[serde(deserialize_with = "whole")]
    pub attempt: u32,
    /// The content that does not count.
    #[serde(default)]
    pub discards: Vec<String>,
    /// Why.
    pub reason: String,
    /// How long it waits before.
    #[serde(default, deserialize_with = "maybe")]
    pub delay_ms: Option<u64>,
}

/// An amount was set aside before an effect.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetReserved {
    /// The reservation.
    pub id: String,
    /// How much.
    pub amounts: Amounts,
}

/// A reservation was settled with what was really used.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetSettled {
    /// The reservation.
    pub id: String,
    /// How much.
    pub amounts: Amounts,
}

/// What a budget counts.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Amounts {
    /// Tokens, read and written.
    #[serde(default, deserialize_with = "maybe")]
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Milliseconds.
    #[serde(default, deserialize_with = "maybe")]
    pub time_ms: Option<u64>,
    /// Model calls and node executions.
    #[serde(default, deserialize_with = "maybe")]
    pub steps: Option<u64>,
    /// Agents started.
    #[serde(default, deserialize_with = "maybe")]
    pub agents: Option<u64>,
    /// Members of a later version.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
