//! Begin and end of runs and of flow nodes, and what they say about what was said last.
//!
//! Start reading at [`Thread::lifecycle`].

use std::collections::BTreeMap;

use antiphon_event::{Body, EndReason, Event, FlowNodeId, NodeStatus};
use antiphon_graph::Conversation;
use antiphon_graph::hyper::Speaker;
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use super::{Status, Thread};
use crate::{Changes, Step};

/// The entries that nodes of flows are in the middle of while their run goes on with another, by run and node.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Beside(#[serde_as(as = "Vec<(_, _)>")] BTreeMap<(u32, Option<FlowNodeId>), u32>);

impl Beside {
    fn take(&mut self, run: u32, node: Option<&FlowNodeId>) -> Option<u32> {
        if self.0.is_empty() { None } else { self.0.remove(&(run, node.cloned())) }
    }

    fn take_all(&mut self, run: u32) -> Vec<u32> {
        let of_run = self.0.range((run, None)..(run + 1, None)).map(|(key, _)| key.clone());
        let of_run: Vec<_> = of_run.collect();
        of_run.iter().filter_map(|key| self.0.remove(key)).collect()
    }
}

/// What agents are called, by run and node.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Agents(#[serde_as(as = "Vec<(_, _)>")] BTreeMap<(u32, Option<FlowNodeId>), String>);

impl Agents {
    /// What the agent of a run is called, in a node of it if there are several.
    pub(super) fn of(&self, run: u32, node: Option<&FlowNodeId>) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(run, node.cloned())).or_else(|| self.0.get(&(run, None))).cloned()
    }
}

impl Thread {
    /// Begin and end of runs and of nodes.
    pub(super) fn lifecycle(
        &mut self,
        conversation: &Conversation,
        run: u32,
        event: &Event,
        changes: &mut Changes,
    ) {
        let status = match &event.body {
            Body::HarnessStart(start) => {
                self.runs[run as usize].has_lifecycle = true;
                if let (None, Some(agent)) = (&event.head.agent, &start.agent_id) {
                    let node = event.head.node_id.as_ref();
                    self.name_agent(conversation, (run, node), agent.as_str(), changes);
                }
                return;
            }
            Body::RunStart(_) => {
                self.runs[run as usize].has_lifecycle = true;
                return;
            }
            Body::HarnessEnd(end) => match &end.reason {
                Some(EndReason::Error) => Status::Error,
                Some(EndReason::Cancelled) => Status::Cancelled,
                Some(EndReason::Interrupted) => Status::Interrupted,
                _ => Status::Complete,
            },
            Body::NodeEnd(end) => status_of(Some(&end.status)),
            Body::RunEnd(end) => status_of(end.status.as_ref()),
            Body::Usage(_) if !self.runs[run as usize].has_lifecycle => Status::Complete,
            Body::Error(_) if !self.runs[run as usize].has_lifecycle => Status::Error,
            Body::ModelRetry(retry) => return self.discard(conversation, event, &retry.discards, changes),
            _ => return,
        };
        for entry in self.ended(run, event) {
            self.set_status(entry, status, changes);
        }
    }

    /// What is over with an event: what its node was saying, or with the end of a run all that was said in it.
    fn ended(&mut self, run: u32, event: &Event) -> Vec<u32> {
        let latest = self.runs[run as usize].entries.last().copied();
        let is_end = matches!(event.body, Body::RunEnd(_) | Body::HarnessEnd(_));
        match &event.head.node_id {
            Some(node) if !matches!(event.body, Body::RunEnd(_)) => {
                let of_latest = latest.map(|entry| self.entries[entry as usize].flow_node.as_ref());
                let is_of_node = matches!(event.body, Body::NodeEnd(_));
                match (of_latest, latest) {
                    (Some(Some(said)), Some(entry)) if said == node => vec![entry],
                    (Some(None), Some(entry)) if !is_of_node => vec![entry],
                    _ => self.beside.take(run, Some(node)).into_iter().collect(),
                }
            }
            _ if is_end => latest.into_iter().chain(self.beside.take_all(run)).collect(),
            _ => latest.into_iter().collect(),
        }
    }

    /// A run goes on with a new entry: what the same node said before is complete, what others say is not.
    pub(super) fn follow_on(&mut self, run: u32, entry: u32, changes: &mut Changes) {
        let before = self.runs[run as usize].entries.last().copied();
        self.runs[run as usize].entries.push(entry);
        let Some(before) = before else {
            return;
        };
        let node = |entry: u32| self.entries[entry as usize].flow_node.clone();
        let (said, says) = (node(before), node(entry));
        if said == says {
            return self.set_status(before, Status::Complete, changes);
        }
        if let Some(earlier) = self.beside.take(run, says.as_ref()) {
            self.set_status(earlier, Status::Complete, changes);
        }
        if self.entries[before as usize].status == Status::Streaming {
            self.beside.0.insert((run, said), before);
        }
    }

    fn set_status(&mut self, entry: u32, status: Status, changes: &mut Changes) {
        if self.entries[entry as usize].status == Status::Streaming && status != Status::Streaming {
            self.entries[entry as usize].status = status;
            self.say(entry, "status", &status, changes);
        }
    }

    /// Says what the agent of a run, or of a node of it, is called; it keeps its first name.
    fn name_agent(
        &mut self,
        conversation: &Conversation,
        (run, node): (u32, Option<&FlowNodeId>),
        name: &str,
        changes: &mut Changes,
    ) {
        if self.agents.0.contains_key(&(run, node.cloned())) {
            return;
        }
        self.agents.0.insert((run, node.cloned()), name.to_owned());
        for entry in self.runs[run as usize].entries.clone() {
            let said = &mut self.entries[entry as usize];
            let by_agent = conversation
                .message(said.message)
                .is_some_and(|message| message.speaker == Speaker::Assistant);
            if said.agent.is_none() && by_agent && (node.is_none() || said.flow_node.as_ref() == node) {
                said.agent = Some(name.to_owned());
                self.say(entry, "agent", name, changes);
            }
        }
    }

    /// Sets a member of an entry.
    fn say<T: Serialize + ?Sized>(&self, entry: u32, name: &'static str, value: &T, changes: &mut Changes) {
        if let Some(mut path) = self.entry_path(entry, changes) {
            path.push(Step::from(name));
            changes.set(&path, value);
        }
    }
}

fn status_of(status: Option<&NodeStatus>) -> Status {
    match status {
        Some(NodeStatus::Failed) => Status::Error,
        Some(NodeStatus::Cancelled) => Status::Cancelled,
        Some(NodeStatus::Interrupted | NodeStatus::Pending | NodeStatus::Executing) => Status::Interrupted,
        None | Some(NodeStatus::Completed | NodeStatus::Skipped | NodeStatus::Other(_)) => Status::Complete,
    }
}
