//! [`Report`]: what came of a run, whatever ended it.

use std::collections::BTreeMap;

use antiphon_event::body::flow::{Pending, RunEnd};
use antiphon_event::{Json, NodeStatus, RelayId, RunId, SessionId, StopReason};
use antiphon_flow::Scheduler;
use serde_json::Value;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is done.
    Completed,
    /// Something failed, or a limit was reached.
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// Only people can get it further.
    Paused,
}

/// What came of a run: always there, with as much as was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The session it is in.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// How it stands.
    pub outcome: Outcome,
    /// What it gave; what its nodes gave so far if it did not complete.
    pub output: Json,
    /// Why it ended early.
    pub reason: Option<StopReason>,
    /// What was not done, and why.
    pub pending: Vec<Pending>,
    /// What each node gave, by id.
    pub outputs: BTreeMap<String, Json>,
    /// How each node stands, by id.
    pub statuses: BTreeMap<String, NodeStatus>,
    /// The state.
    pub state: Value,
    /// Requests that wait for a person, nested runs included.
    pub relays: Vec<RelayId>,
    /// Position of the last event.
    pub seq: u64,
}

impl Report {
    pub(crate) fn new(
        scheduler: &Scheduler,
        session: SessionId,
        end: Option<&RunEnd>,
        relays: Vec<RelayId>,
        seq: u64,
    ) -> Self {
        let flow = scheduler.flow();
        let ids = || flow.ids().iter().map(ToString::to_string).enumerate();
        let outputs = ids().filter_map(|(node, id)| Some((id, scheduler.output(node)?.clone())));
        let outcome = match scheduler.ended() {
            None => Outcome::Paused,
            Some(NodeStatus::Completed) => Outcome::Completed,
            Some(NodeStatus::Cancelled) => Outcome::Cancelled,
            Some(_) => Outcome::Failed,
        };
        Self {
            session,
            run: scheduler.origin().run.clone(),
            outcome,
            output: end.map_or_else(|| Json::from(Value::Null), |end| end.final_output.clone()),
            reason: end.and_then(|end| end.reason.clone()),
            pending: end.and_then(|end| end.pending.clone()).unwrap_or_default(),
            outputs: outputs.collect(),
            statuses: ids().map(|(node, id)| (id, scheduler.status(node))).collect(),
            state: Value::Object(scheduler.state().to_object()),
            relays,
            seq,
        }
    }
}
