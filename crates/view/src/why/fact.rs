//! What [`Causes`](super::Causes) remembers of events, and what it answers with.

use antiphon_event::{Kind, RunId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Tally;

/// Something that happened and may have caused something else: an event, all pieces of one stream of content, or
/// a model call, which shows only in what it said.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// Position of its first event.
    pub seq: Option<u64>,
    /// When that happened.
    pub at: Option<Timestamp>,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub what: What,
    /// The run it belongs to.
    pub run_id: Option<RunId>,
    /// What it was, in a line.
    pub text: String,
    /// How it comes from its cause.
    pub relation: Option<Relation>,
    /// The fact that caused it, and of several the last one it waited for: an index in the list of facts.
    pub cause: Option<u32>,
    /// The other causes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<u32>,
    /// What it cost; model calls only.
    pub spent: Option<Tally>,
}

/// The kind of a fact: the type of an event, or `step` for a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// An event of this type.
    Event(Kind),
    /// A model call.
    Step,
}

impl What {
    /// The word for it.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Event(kind) => kind.tag(),
            Self::Step => "step",
        }
    }
}

impl Serialize for What {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.tag())
    }
}

impl<'de> Deserialize<'de> for What {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tag = String::deserialize(deserializer)?;
        Ok(if tag == "step" { Self::Step } else { Self::Event(Kind::of(&tag)) })
    }
}

/// How an effect comes from its cause; read `effect <relation> cause`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Content was said by a model call.
    SaidBy,
    /// A call, or code, was proposed by a model call.
    ProposedBy,
    /// A model call answers a message, results or the start of its run.
    Answers,
    /// A person is asked about a call or a node.
    AsksAbout,
    /// A decision answers a request.
    Resolves,
    /// A call about to run was allowed by a decision.
    AllowedBy,
    /// A call about to run needed nobody's permission.
    RunsAs,
    /// A result came from a call, an output from code or a node.
    ResultOf,
    /// A result says that a person refused.
    DeniedBy,
    /// A node came to what a person decided.
    DecidedBy,
    /// A result is what a child run came to.
    ReturnedBy,
    /// A run was started by a message, a call or a node.
    StartedBy,
    /// A node was reached by an edge or a handoff.
    ReachedBy,
    /// A node is where a flow begins.
    EntryOf,
    /// An edge leaves a node that ended.
    Leaves,
    /// A node was passed over because of what came before.
    SkippedAfter,
    /// An attempt follows one that failed.
    Retries,
    /// A run ended with this.
    EndsWith,
    /// A run was stopped by this.
    StoppedBy,
    /// A summary stands for messages.
    SumsUp,
    /// Something was noted about, or in the course of, something else.
    PartOf,
    /// Comes after; nothing closer is known.
    Follows,
}

/// One cause on the way back from an event.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// Position of its first event; absent where positions are.
    pub seq: Option<u64>,
    /// When.
    pub at: Option<Timestamp>,
    /// The type of the event, or `step` for a model call.
    #[serde(rename = "type")]
    pub what: What,
    /// The run it belongs to.
    pub run_id: Option<RunId>,
    /// What it was, in at most 60 characters.
    pub text: String,
    /// How the entry before comes from this one; absent on the first, which is what was asked about.
    pub relation: Option<Relation>,
    /// Milliseconds from this to the entry before.
    pub until_ms: Option<i64>,
    /// What it cost; model calls only.
    pub spent: Option<Tally>,
    /// Positions of the other causes of the entry before, at most [`ALSO_MAX`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<u64>,
}

/// How many of several causes are named beside the one that is followed.
pub const ALSO_MAX: usize = 16;

/// How many causes an answer goes back at most.
pub const CAUSES_MAX: usize = 10_000;

/// Why something happened: from it back along its causes, to the person or the start it goes back to.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// What was asked about, then its cause, the cause of that, and so on.
    pub causes: Vec<Cause>,
    /// Milliseconds from the first cause to what was asked about.
    pub total_ms: Option<i64>,
    /// What all model calls on the way used.
    pub spent: Tally,
    /// Whether there are causes beyond [`CAUSES_MAX`].
    pub cut: bool,
}
