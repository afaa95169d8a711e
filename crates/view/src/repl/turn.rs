//! What the repl view is made of: runs, and their turns.

use std::collections::BTreeMap;

use antiphon_event::{AgentId, ParentId, RelayId, ReplId, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Tally;
use crate::edit::Edit;

/// A run of an agent that writes code and has it run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplRun {
    /// The run.
    pub run_id: RunId,
    /// What caused it.
    pub parent_id: Option<ParentId>,
    /// The turn of another run whose code called it.
    pub within: Option<TurnRef>,
    /// The agent that runs.
    pub agent_id: Option<AgentId>,
    /// How deep it is nested.
    pub depth: u32,
    /// `running`, or why it ended.
    pub status: String,
    /// After how many turns it must stop.
    pub max_iterations: Option<u32>,
    /// When it was first heard of.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// From start to end.
    pub duration_ms: Option<u64>,
    /// Its turns, in order.
    pub turns: Vec<Turn>,
    /// What it said once its code had given the final answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// What it used itself.
    pub own: Tally,
    /// What it and all runs inside it used.
    pub total: Tally,
}

impl ReplRun {
    pub(super) fn new(run_id: RunId, started_at: Option<Timestamp>) -> Self {
        Self {
            run_id,
            parent_id: None,
            within: None,
            agent_id: None,
            depth: 0,
            status: "running".to_owned(),
            max_iterations: None,
            started_at,
            ended_at: None,
            duration_ms: None,
            turns: Vec::new(),
            answer: String::new(),
            own: Tally::default(),
            total: Tally::default(),
        }
    }

    /// Whether what is said now is the final answer: the last code that ran gave it.
    pub(super) fn answers(&self) -> bool {
        self.turns.last().and_then(|turn| turn.output.as_ref()).is_some_and(|output| output.done)
    }
}

/// A turn of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnRef {
    /// The run.
    pub run_id: RunId,
    /// The place of the turn in it.
    pub turn: usize,
}

/// One turn: what the model thought and wrote, what its code printed, what came of it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Which turn, counted from 0.
    pub iteration: u32,
    /// The piece of code; absent while there is none.
    pub id: Option<ReplId>,
    /// How far it got.
    pub phase: Phase,
    /// What the model thought.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// What the model said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The code.
    pub code: Option<String>,
    /// What the code printed, as it came.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// What the code printed as errors, as it came.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// What came of the code.
    pub output: Option<Output>,
    /// What went wrong beside the code: the model's answer held none, the model could not be reached.
    pub error: Option<String>,
    /// What the turn used.
    pub usage: Tally,
    /// Requests to people that nobody has answered.
    pub pending: BTreeMap<RelayId, Pending>,
    /// Runs that the code called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<RunId>,
}

impl Turn {
    pub(super) fn new(iteration: u32) -> Self {
        Self {
            iteration,
            id: None,
            phase: Phase::Thinking,
            reasoning: String::new(),
            text: String::new(),
            code: None,
            stdout: String::new(),
            stderr: String::new(),
            output: None,
            error: None,
            usage: Tally::default(),
            pending: BTreeMap::new(),
            children: Vec::new(),
        }
    }

    /// Takes out what was said, and the code with what came of it: none of it counts.
    pub(super) fn empty(&mut self, edit: &mut Edit<'_>) {
        edit.clear("id", &mut self.id);
        edit.wipe("reasoning", &mut self.reasoning);
        edit.wipe("text", &mut self.text);
        edit.clear("code", &mut self.code);
        edit.wipe("stdout", &mut self.stdout);
        edit.wipe("stderr", &mut self.stderr);
        edit.clear("output", &mut self.output);
    }

    /// Whether whatever the model says next belongs to another turn.
    pub fn is_over(&self) -> bool {
        self.output.is_some() || (self.error.is_some() && self.code.is_none())
    }

    pub(super) fn reached(&self) -> Phase {
        match &self.output {
            _ if !self.pending.is_empty() => Phase::Permission,
            Some(Output { error: Some(_), .. }) => Phase::Error,
            Some(_) => Phase::Done,
            None if self.code.is_some() => Phase::Executing,
            None if self.error.is_some() => Phase::Error,
            None => Phase::Thinking,
        }
    }
}

/// How far a turn got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The model speaks.
    Thinking,
    /// The code runs.
    Executing,
    /// The code waits for a person.
    Permission,
    /// The code came to its end.
    Done,
    /// The code failed, or there was none.
    Error,
}

/// What came of a piece of code.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// All it printed.
    pub stdout: String,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
    /// Whether `stdout` was cut.
    pub truncated: bool,
    /// Whether it gave the final answer.
    pub done: bool,
}

/// A request to a person that nobody has answered.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The tool.
    pub tool: Option<String>,
    /// What is asked, or the beginning of the tool's arguments.
    pub prompt: Option<String>,
}
