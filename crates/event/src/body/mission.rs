//! Missions: plans that are made, weighed, carried out and changed on the way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::whole::{maybe, whole};
use crate::{AgentId, Json};

/// A planner began to take a goal apart.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanningStart {
    /// The goal.
    pub goal: String,
}

/// A candidate plan was made.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchGenerated {
    /// The candidate.
    pub mission_branch_id: String,
    /// In short.
    pub summary: String,
    /// How it was judged, 0 to 1 on each count.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub scores: Option<Json>,
}

/// A candidate was chosen.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchSelected {
    /// The candidate.
    pub mission_branch_id: String,
    /// Why.
    pub reason: String,
}

/// The chosen plan was improved.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefinementApplied {
    /// How.
    pub changes: Vec<String>,
}

/// The plan became a flow.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GraphCompiled {
    /// Its nodes.
    #[serde(deserialize_with = "whole")]
    pub node_count: u64,
    /// Its edges.
    #[serde(deserialize_with = "whole")]
    pub edge_count: u64,
    /// What it may cost, in US dollars.
    pub estimated_cost: f64,
}

/// A change of the running plan was proposed.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpansionProposed {
    /// The change.
    pub patch: Json,
    /// Why.
    pub reason: Option<String>,
    /// What led to it: `agent_request`, `supervisor_manage` or `planner_reeval`.
    pub trigger: String,
}

/// A change was approved.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpansionApproved {
    /// By whom: `auto` or `user`.
    pub by: String,
}

/// A change was rejected.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpansionRejected {
    /// By whom.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// A change took effect.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExpansionApplied {
    /// Nodes added.
    #[serde(deserialize_with = "whole")]
    pub nodes_added: u64,
    /// Edges added.
    #[serde(default, deserialize_with = "maybe")]
    pub edges_added: Option<u64>,
}

/// A position of the mission was saved.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissionCheckpointSaved {
    /// The checkpoint.
    pub checkpoint_id: String,
}

/// A threshold was reached.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThresholdReached {
    /// Which.
    pub threshold: String,
    /// The value now.
    pub value: f64,
    /// The most it may be.
    pub cap: f64,
}

/// What the mission has cost so far.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostUpdate {
    /// US dollars spent.
    pub total_spent: f64,
    /// US dollars allowed.
    pub cost_cap: f64,
}

/// The mission is over.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Complete {
    /// In short.
    pub summary: String,
    /// US dollars spent.
    pub total_cost: f64,
    /// How long it took.
    #[serde(deserialize_with = "whole")]
    pub total_duration_ms: u64,
    /// Agents that took part.
    #[serde(deserialize_with = "whole")]
    pub agent_count: u64,
}

/// An agent joined.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSpawned {
    /// The agent.
    pub agent_id: AgentId,
    /// Its task.
    pub role: String,
    /// Who serves its model.
    pub provider: String,
    /// Its model.
    pub model: String,
}

/// A tool was made on the way.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolForged {
    /// The tool.
    pub tool_id: String,
    /// What it is called.
    pub name: String,
    /// How it is made: `compose` or `sandbox`.
    pub mode: String,
}

/// A person must decide before the mission goes on.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequired {
    /// What is to be done.
    pub action: String,
    /// What there is to know about it.
    #[serde(default, deserialize_with = "crate::json::given")]
    pub details: Option<Json>,
}
