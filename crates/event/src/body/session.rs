//! Events of a session as a whole: its branches, its summaries, what of it is active.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::whole::{maybe, whole};
use crate::{BranchId, Json, SessionId};

/// A session began.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCreated {
    /// What people call it.
    pub title: Option<String>,
    /// Whatever its maker wants to keep with it.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub metadata: Option<Json>,
}

/// A branch began, empty or as a pointer into another.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchCreated {
    /// Where it forks off; absent for a branch of its own.
    pub from: Option<ForkPoint>,
    /// What a fork was called when it began: the chain of hashes covers its events, and the name only here.
    pub into: Option<BranchName>,
}

/// A branch of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchName {
    /// The session.
    pub session_id: SessionId,
    /// The branch.
    pub branch_id: BranchId,
}

/// A position in another branch.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForkPoint {
    /// The branch forked from.
    pub branch_id: BranchId,
    /// The last position shared with it.
    #[serde(deserialize_with = "whole")]
    pub seq: u64,
    /// The hash of the journal there.
    pub hash: Option<String>,
}

/// Messages were summed up; the text is what the model sees in their place.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The message that the summary is.
    pub id: String,
    /// The messages it stands for.
    pub sources: Vec<String>,
    /// The summary itself.
    pub content: String,
}

/// Somebody chose what of the conversation is active.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveChanged {
    /// What was done: `default`, `full`, `expand`, `collapse`, `append`, `branch` or `toggle`.
    pub op: String,
    /// To which messages, blocks or chunks.
    #[serde(default)]
    pub ids: Vec<String>,
}

/// The history was compacted: a summary took the place of its sources.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryCompacted {
    /// The summary.
    pub summary_id: String,
    /// What it replaced.
    pub sources: Vec<String>,
}

/// A reader was connected. Live only; never in a journal.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Connected {
    /// The position after which events follow.
    #[serde(default, deserialize_with = "maybe")]
    pub after: Option<u64>,
}
