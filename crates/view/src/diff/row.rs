//! The rows of a comparison.

use antiphon_event::Json;
use serde::Serialize;

use super::text::Piece;
use crate::Tally;

/// How a row of A compares with the row of B at the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The same in both.
    Equal,
    /// In both, but not the same.
    Changed,
    /// Not in B.
    OnlyA,
    /// Not in A.
    OnlyB,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person.
    User,
    /// A model, in its answer.
    Assistant,
    /// A model, to itself.
    Reasoning,
}

/// A message.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// The turn, from 1; 0 before anybody spoke.
    pub turn: u32,
    /// Which run, by its place below the turn: `writer#2`, `agent#1 › agent#1`; empty for the turn's own run.
    pub who: String,
    /// In which role.
    pub role: Role,
    /// Which message of that run in that role, from 1.
    pub position: u32,
    /// How it compares.
    pub change: Change,
    /// Where it begins in A.
    pub seq_a: Option<u64>,
    /// Where it begins in B.
    pub seq_b: Option<u64>,
    /// How it begins; in A if it is there.
    pub text: String,
    /// What differs; empty unless it was changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
}

/// A tool call, or a turn of code.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Called {
    /// The turn, from 1; 0 before anybody spoke.
    pub turn: u32,
    /// Which run, as in [`Said`].
    pub who: String,
    /// The tool; `repl` for code.
    pub name: String,
    /// Which call of that tool in the run, from 1.
    pub position: u32,
    /// How it compares.
    pub change: Change,
    /// The arguments, in short; in A if it is there.
    pub text: String,
    /// The call in A, unless it is equal.
    pub a: Option<CalledSide>,
    /// The call in B, unless it is equal.
    pub b: Option<CalledSide>,
}

/// A call as it was in one history.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CalledSide {
    /// Where it was proposed.
    pub seq: Option<u64>,
    /// With what.
    pub input: Json,
    /// What came back; absent while it is open.
    pub output: Option<Json>,
    /// Whether it failed or was denied.
    pub failed: bool,
}

/// What kind of decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// A person's answer to a request.
    Relay,
    /// Which edges were taken.
    Edges,
    /// To whom an agent handed over.
    Handoff,
    /// What a guardrail found.
    Guardrail,
}

/// A decision.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The turn, from 1; 0 before anybody spoke.
    pub turn: u32,
    /// Which run, as in [`Said`].
    pub who: String,
    /// What kind of decision.
    pub kind: Decision,
    /// About what: a tool, a node, a guardrail.
    pub about: String,
    /// Which decision about it in the run, from 1; for edges the execution of the node.
    pub position: u32,
    /// How it compares.
    pub change: Change,
    /// The decision in A; `open` while nobody has decided.
    pub a: Option<String>,
    /// The decision in B.
    pub b: Option<String>,
}

/// A run, or an execution of a node in it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    /// The turn, from 1; 0 before anybody spoke.
    pub turn: u32,
    /// Which run, as in [`Said`].
    pub who: String,
    /// The node; absent for the run itself.
    pub node: Option<String>,
    /// Which execution of the node.
    pub execution: Option<u32>,
    /// How it compares.
    pub change: Change,
    /// How it ended in A: a status or the reason of a harness; `running` while it has not.
    pub a: Option<String>,
    /// How it ended in B.
    pub b: Option<String>,
    /// What it gave in A, if that differs.
    pub output_a: Option<Json>,
    /// What it gave in B, if that differs.
    pub output_b: Option<Json>,
}

/// What model calls used, in all and by model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpentBy {
    /// In A.
    pub a: Spending,
    /// In B.
    pub b: Spending,
    /// By model, in alphabetical order.
    pub models: Vec<SpentOn>,
}

/// What the calls of one model used.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpentOn {
    /// The model; empty where it was not said.
    pub model: String,
    /// In A.
    pub a: Spending,
    /// In B.
    pub b: Spending,
}

/// What some model calls used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spending {
    /// How many calls.
    pub calls: u64,
    /// Tokens, and the price as far as it is known.
    #[serde(flatten)]
    pub tally: Tally,
}

impl Spending {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { calls: self.calls + other.calls, tally: self.tally.plus(other.tally) }
    }
}

/// What was written under one key of a flow's state.
///
/// How contributions are folded into a value is known to the flow only; where the key keeps the last one, that is
/// the value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// The turn, from 1; 0 before anybody spoke.
    pub turn: u32,
    /// Which run, as in [`Said`].
    pub who: String,
    /// The key.
    pub key: String,
    /// How it compares.
    pub change: Change,
    /// What was contributed in A, in order.
    pub a: Vec<Contribution>,
    /// What was contributed in B, in order.
    pub b: Vec<Contribution>,
}

/// One write to the state.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contribution {
    /// The node and its execution as `writer#2`, or whoever changed the state from outside.
    pub by: String,
    /// What was written.
    pub value: Json,
}
