//! What the nested view is made of.

use serde::{Deserialize, Serialize};

/// One node of the nested view.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// What it is.
    pub level: Level,
    /// Its id at that level: a message id, a call id, a run id …; of a moment, the type of its event.
    pub id: String,
    /// The place in the list of the node it hangs from.
    pub parent: Option<usize>,
    /// Whether others spoke of it and it has not appeared itself.
    #[serde(default, skip_serializing_if = "not")]
    pub orphan: bool,
    /// What people call it: an agent, a flow, a tool, who speaks.
    pub label: Option<String>,
    /// How it stands.
    pub status: Option<String>,
    /// What was said, so far; what a moment was, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What was thought, so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// The beginning of what went in.
    pub input: Option<String>,
    /// The beginning of what came out, or of the answer.
    pub output: Option<String>,
    /// Whether it does not count, as the model call was made again.
    #[serde(default, skip_serializing_if = "not")]
    pub discarded: bool,
    /// Events that belong to it and to nothing below it.
    pub events: u64,
}

impl Node {
    pub(super) fn new(level: Level, id: &str, parent: Option<usize>) -> Self {
        Self {
            level,
            id: id.to_owned(),
            parent,
            orphan: false,
            label: None,
            status: None,
            text: String::new(),
            reasoning: String::new(),
            input: None,
            output: None,
            discarded: false,
            events: 0,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn not(flag: &bool) -> bool {
    !flag
}

/// What a node of the nested view is, from the outside in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A session and its branch.
    Scope,
    /// A turn, by its event flow.
    Flow,
    /// A turn, by its trace, where no event flow is known.
    Trace,
    /// A run, where nothing else says what its events belong to, or under what caused it; and an agent's without a name.
    Run,
    /// A run of an agent.
    Agent,
    /// A run of a flow.
    Workflow,
    /// An execution of a node of a flow.
    Node,
    /// A message.
    Message,
    /// A tool call, or code.
    Call,
    /// A request to a person.
    Request,
    /// Something that happened at a moment.
    Moment,
}
