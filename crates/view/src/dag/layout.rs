//! [`Layout`]: the graph as a reader gets it, with a place for every box. Also what the pictures are drawn from.

use std::sync::Arc;

use antiphon_event::{MessageId, RunId};
use antiphon_graph::hyper::Speaker;
use serde::{Deserialize, Serialize};

/// A conversation laid out: boxes that do not overlap, and arrows that all point down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// One box per block, in the order they came.
    pub nodes: Vec<Node>,
    /// Arrows, in the order they came.
    pub edges: Vec<Edge>,
    /// One frame per message, in the order they came.
    pub groups: Vec<Group>,
    /// The left side of everything: 0, or less if a cause that came late was put there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub x: i64,
    /// The upper side of everything: 0, or less if a cause that came late was put there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub y: i64,
    /// How far everything has ever reached from there to the right, with a margin.
    pub width: i64,
    /// How far everything has ever reached from there down, with a margin.
    pub height: i64,
}

/// A box: one block.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// The block.
    pub id: Arc<str>,
    /// The left side.
    pub x: i64,
    /// The upper side.
    pub y: i64,
    /// How wide.
    pub w: i64,
    /// How high.
    pub h: i64,
    /// What it says, on one line, cut where it is long.
    pub label: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: NodeKind,
    /// The run that it is part of.
    pub run_id: RunId,
    /// The message that it is part of.
    pub message_id: MessageId,
    /// How it stands, where that is known.
    pub status: Option<Status>,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Somebody said something.
    User,
    /// A model said something.
    Text,
    /// A model thought something.
    Reasoning,
    /// A tool was called.
    ToolCall,
    /// A running tool had something to say.
    ToolProgress,
    /// A call came back.
    ToolResult,
    /// A person was asked.
    Relay,
    /// Code that was run.
    Repl,
    /// What code printed, and what it came to.
    ReplOutput,
    /// Something went wrong.
    Error,
    /// Lifecycle, flow and usage: how things went.
    Structural,
}

impl NodeKind {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::ToolCall => "tool call",
            Self::ToolProgress => "progress",
            Self::ToolResult => "result",
            Self::Relay => "request",
            Self::Repl => "code",
            Self::ReplOutput => "output",
            Self::Error => "error",
            Self::Structural => "step",
        }
    }
}

/// How a call, a request, a node of a flow or a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Begun, and not over.
    Running,
    /// Not begun; of a request, that a person has to answer.
    Pending,
    /// It came to a good end.
    Completed,
    /// It came to a bad end.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// It was stopped and may go on.
    Interrupted,
    /// Its run ended before its end was told.
    Unknown,
    /// It was not run.
    Skipped,
    /// A person said yes.
    Approved,
    /// A person said no.
    Denied,
    /// A person gave an answer.
    Answered,
    /// The time for an answer was up.
    Expired,
    /// What was asked about went on; the answer was not told.
    AnsweredElsewhere,
    /// Nobody waits for an answer any more.
    Closed,
    /// A repeated model call made it void.
    Discarded,
}

impl Status {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
            Self::Skipped => "skipped",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::AnsweredElsewhere => "answered elsewhere",
            Self::Closed => "closed",
            Self::Discarded => "discarded",
        }
    }
}

/// An arrow between two boxes. It always points down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The block it leaves.
    pub from: Arc<str>,
    /// The block it enters.
    pub to: Arc<str>,
    /// Why.
    pub kind: EdgeKind,
}

/// Why an arrow is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// One comes after the other in the same run.
    Sequence,
    /// A run answers what it hangs from.
    Reply,
    /// A call, a piece of code or a node of a flow started a run.
    Spawn,
    /// What a run came to goes back to what started it.
    Return,
}

impl EdgeKind {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Reply => "reply",
            Self::Spawn => "spawn",
            Self::Return => "return",
        }
    }
}

/// A frame around the blocks of one message, and around nothing else.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The message.
    pub id: MessageId,
    /// Who speaks.
    pub label: String,
    /// The left side.
    pub x: i64,
    /// The upper side.
    pub y: i64,
    /// How wide.
    pub w: i64,
    /// How high.
    pub h: i64,
    /// Whose it is.
    pub speaker: Speaker,
    /// The summary that stands for it.
    pub summary: Option<MessageId>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(length: &i64) -> bool {
    *length == 0
}

impl Node {
    /// The lower side.
    pub fn bottom(&self) -> i64 {
        self.y + self.h
    }
}

impl Group {
    /// The lower side.
    pub fn bottom(&self) -> i64 {
        self.y + self.h
    }
}
