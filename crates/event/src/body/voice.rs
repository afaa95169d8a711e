//! Voice: what was heard and said. Sound itself never goes through events.
//!
//! The voice node is `nodeId` of the head.

use crate::whole::whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A voice session began or ended.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoiceSession {
    /// `started` or `ended`.
    pub action: String,
    /// Why it ended.
    pub exit_reason: Option<String>,
}

/// Speech was recognised.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoiceTranscript {
    /// What was understood.
    pub text: String,
    /// Whether it may still change.
    pub is_final: bool,
    /// Who spoke.
    pub speaker: Option<String>,
    /// How sure the recogniser is, 0 to 1.
    pub confidence: f64,
}

/// Sound went through.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoiceAudio {
    /// `inbound` or `outbound`.
    pub direction: String,
    /// How it is encoded.
    pub format: String,
    /// How long it lasts; 0 where that is not known.
    #[serde(deserialize_with = "whole")]
    pub duration_ms: u64,
}

/// Somebody spoke while the agent was speaking.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoiceBargeIn {
    /// What the agent was saying.
    pub interrupted_text: String,
    /// What was said.
    pub user_speech: String,
}

/// Somebody finished speaking.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoiceTurnComplete {
    /// What was said.
    pub transcript: String,
    /// Which turn, from 1.
    #[serde(deserialize_with = "whole")]
    pub turn_index: u64,
    /// How the end was noticed.
    pub endpoint_reason: String,
}
