//! [`Body`]: what happened, one case for each type of event.
//!
//! The table below is the vocabulary: the tag on the wire, the type that holds the members, and the members
//! of the head that an event of that type cannot do without. Adding a type means a struct in the file of its
//! family and one line here.

pub mod content;
pub mod flow;
pub mod lifecycle;
pub mod mission;
pub mod request;
pub mod rlm;
pub mod session;
pub mod system;
pub mod tool;
pub mod voice;

use std::sync::Arc;

use schemars::{Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::decode::Members;
use crate::{Extra, Head};

macro_rules! vocabulary {
    ($($tag:literal $case:ident($holder:ty) [$($need:ident)*],)*) => {
        /// What happened. `Unknown` is a type of a later version: kept, passed on, and without effect.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Body {
            $(#[doc = concat!("`", $tag, "`")] $case($holder),)*
            /// A type this version does not know; its members are the event's extra ones.
            Unknown(Arc<str>),
        }

        /// The type of an event, without its members.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $(#[doc = concat!("`", $tag, "`")] $case,)*
            /// A type this version does not know.
            Unknown,
        }

        impl Kind {
            /// Every type this version knows, in the order of the vocabulary.
            pub const ALL: &'static [Self] = &[$(Self::$case,)*];

            /// The tag on the wire; `unknown` for [`Kind::Unknown`].
            pub const fn tag(self) -> &'static str {
                match self {
                    $(Self::$case => $tag,)*
                    Self::Unknown => "unknown",
                }
            }

            /// The type with this tag.
            pub fn of(tag: &str) -> Self {
                match tag {
                    $($tag => Self::$case,)*
                    _ => Self::Unknown,
                }
            }

            /// Members of the head that an event of this type must have.
            pub const fn needs(self) -> &'static [Need] {
                match self {
                    $(Self::$case => &[$(Need::$need),*],)*
                    Self::Unknown => &[],
                }
            }

            pub(crate) fn members_schema(self, generator: &mut SchemaGenerator) -> Option<Schema> {
                match self {
                    $(Self::$case => Some(<$holder as schemars::JsonSchema>::json_schema(generator)),)*
                    Self::Unknown => None,
                }
            }
        }

        impl Body {
            /// The type, without the members.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$case(_) => Kind::$case,)*
                    Self::Unknown(_) => Kind::Unknown,
                }
            }

            pub(crate) fn decode(kind: Kind, tag: &str, members: &mut Members<'_, '_>) -> Result<Self, crate::Error> {
                match kind {
                    $(Kind::$case => members.read().map(Self::$case),)*
                    Kind::Unknown => Ok(Self::Unknown(tag.into())),
                }
            }
        }

        /// Writes the members without the tag.
        impl Serialize for Body {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$case(members) => members.serialize(serializer),)*
                    Self::Unknown(_) => serializer.collect_map::<&str, &str, _>([]),
                }
            }
        }
    };
}

/// A member of the head that events of some types cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// `runId`
    RunId,
    /// `nodeId`
    NodeId,
}

impl Need {
    /// The member as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RunId => "runId",
            Self::NodeId => "nodeId",
        }
    }
}

impl Kind {
    /// A member that an event of this type must have and one with this head does not.
    pub fn lacks(self, head: &Head) -> Option<Need> {
        let is_there = |need: Need| match need {
            Need::RunId => head.run_id.is_some(),
            Need::NodeId => head.node_id.is_some(),
        };
        self.needs().iter().copied().find(|need| !is_there(*need))
    }
}

impl Body {
    /// The members, in order, without the tag; payloads as they came.
    pub fn members(&self) -> Extra {
        let json = serde_json::to_string(self).expect("writing our own types to memory cannot fail");
        crate::decode::members(&json)
    }

    /// The body with this tag and these members, as [`Serialize`] writes them.
    pub fn from_json(tag: &str, members: &str) -> Result<Self, crate::Error> {
        crate::decode::body(tag, members)
    }

    /// The tag on the wire.
    pub fn tag(&self) -> &str {
        match self {
            Self::Unknown(tag) => tag,
            known => known.kind().tag(),
        }
    }

    /// The folder that a run says it works in, as it begins or is gone on with elsewhere.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Self::RunStart(start) => start.folder.as_deref(),
            Self::HarnessStart(start) => start.folder.as_deref(),
            Self::Resumed(resumed) => resumed.folder.as_deref(),
            _ => None,
        }
    }

    /// The place for it, where there is one.
    pub fn folder_mut(&mut self) -> Option<&mut Option<Box<str>>> {
        match self {
            Self::RunStart(start) => Some(&mut start.folder),
            Self::HarnessStart(start) => Some(&mut start.folder),
            Self::Resumed(resumed) => Some(&mut resumed.folder),
            _ => None,
        }
    }
}

vocabulary! {
    "session_created" SessionCreated(session::SessionCreated) [],
    "branch_created" BranchCreated(session::BranchCreated) [],
    "summary" Summary(session::Summary) [],
    "active_changed" ActiveChanged(session::ActiveChanged) [],
    "history_compacted" HistoryCompacted(session::HistoryCompacted) [],
    "connected" Connected(session::Connected) [],

    "user" User(content::User) [RunId],
    "text" Text(content::Text) [RunId],
    "reasoning" Reasoning(content::Reasoning) [RunId],

    "tool_call" ToolCall(tool::ToolCall) [RunId],
    "tool_progress" ToolProgress(tool::ToolProgress) [RunId],
    "tool_result" ToolResult(tool::ToolResult) [RunId],

    "harness_start" HarnessStart(lifecycle::HarnessStart) [RunId],
    "harness_end" HarnessEnd(Box<lifecycle::HarnessEnd>) [RunId],
    "cancel_requested" CancelRequested(lifecycle::CancelRequested) [],

    "usage" Usage(Box<system::Usage>) [RunId],
    "error" Error(system::Error) [],
    "model_retry" ModelRetry(system::ModelRetry) [RunId],
    "budget_reserved" BudgetReserved(Box<system::BudgetReserved>) [],
    "budget_settled" BudgetSettled(Box<system::BudgetSettled>) [],

    "relay" Relay(Box<request::Relay>) [RunId],
    "relay_resolved" RelayResolved(Box<request::RelayResolved>) [],
    "grant_added" GrantAdded(request::GrantAdded) [],

    "repl_input" ReplInput(rlm::ReplInput) [RunId],
    "repl_progress" ReplProgress(rlm::ReplProgress) [RunId],
    "repl_output" ReplOutput(Box<rlm::ReplOutput>) [RunId],

    "run_start" RunStart(Box<flow::RunStart>) [RunId],
    "node_start" NodeStart(flow::NodeStart) [RunId NodeId],
    "node_end" NodeEnd(Box<flow::NodeEnd>) [RunId NodeId],
    "node_skipped" NodeSkipped(flow::NodeSkipped) [RunId NodeId],
    "node_retry" NodeRetry(Box<flow::NodeRetry>) [RunId NodeId],
    "node_timeout" NodeTimeout(flow::NodeTimeout) [RunId NodeId],
    "edge_transition" EdgeTransition(flow::EdgeTransition) [RunId],
    "layer_start" LayerStart(flow::LayerStart) [RunId],
    "layer_end" LayerEnd(flow::LayerEnd) [RunId],
    "handoff" Handoff(flow::Handoff) [RunId],
    "interrupt" Interrupt(flow::Interrupt) [RunId NodeId],
    "resumed" Resumed(flow::Resumed) [RunId],
    "state_patched" StatePatched(flow::StatePatched) [],
    "checkpoint_saved" CheckpointSaved(flow::CheckpointSaved) [],
    "guardrail_result" GuardrailResult(flow::GuardrailResult) [NodeId],
    "guardrail:hitl-override" GuardrailOverride(flow::GuardrailOverride) [NodeId],
    "memory_read" MemoryRead(flow::MemoryRead) [NodeId],
    "memory_write" MemoryWrite(flow::MemoryWrite) [NodeId],
    "discovery_result" DiscoveryResult(flow::DiscoveryResult) [NodeId],
    "diagnostic" Diagnostic(flow::Diagnostic) [],
    "run_end" RunEnd(Box<flow::RunEnd>) [RunId],

    "voice_session" VoiceSession(voice::VoiceSession) [NodeId],
    "voice_transcript" VoiceTranscript(voice::VoiceTranscript) [NodeId],
    "voice_audio" VoiceAudio(voice::VoiceAudio) [NodeId],
    "voice_barge_in" VoiceBargeIn(voice::VoiceBargeIn) [NodeId],
    "voice_turn_complete" VoiceTurnComplete(voice::VoiceTurnComplete) [NodeId],

    "mission:planning_start" MissionPlanningStart(mission::PlanningStart) [],
    "mission:branch_generated" MissionBranchGenerated(mission::BranchGenerated) [],
    "mission:branch_selected" MissionBranchSelected(mission::BranchSelected) [],
    "mission:refinement_applied" MissionRefinementApplied(mission::RefinementApplied) [],
    "mission:graph_compiled" MissionGraphCompiled(mission::GraphCompiled) [],
    "mission:expansion_proposed" MissionExpansionProposed(mission::ExpansionProposed) [],
    "mission:expansion_approved" MissionExpansionApproved(mission::ExpansionApproved) [],
    "mission:expansion_rejected" MissionExpansionRejected(mission::ExpansionRejected) [],
    "mission:expansion_applied" MissionExpansionApplied(mission::ExpansionApplied) [],
    "mission:checkpoint_saved" MissionCheckpointSaved(mission::MissionCheckpointSaved) [NodeId],
    "mission:threshold_reached" MissionThresholdReached(mission::ThresholdReached) [],
    "mission:cost_update" MissionCostUpdate(mission::CostUpdate) [],
    "mission:complete" MissionComplete(mission::Complete) [],
    "mission:agent_spawned" MissionAgentSpawned(Box<mission::AgentSpawned>) [],
    "mission:tool_forged" MissionToolForged(mission::ToolForged) [],
    "mission:approval_required" MissionApprovalRequired(mission::ApprovalRequired) [],
}
