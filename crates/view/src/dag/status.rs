//! How calls, requests, nodes and runs stand.

use antiphon_event::{Body, EndReason, Event, Kind, NodeStatus, RunId};
use antiphon_graph::{Change, Conversation, DISCARDABLE, Node as GraphNode, Place, Placed};

use super::{Dag, Status};
use crate::{Changes, path};

impl Dag {
    /// How a block stands that has just come.
    pub(super) fn first_status(node: &GraphNode) -> Option<Status> {
        if node.is_discarded() {
            return Some(Status::Discarded);
        }
        match node.body() {
            Body::ReplInput(_) | Body::NodeStart(_) | Body::HarnessStart(_) | Body::RunStart(_) => {
                Some(Status::Running)
            }
            Body::ToolCall(_) | Body::Relay(_) => Some(Status::Pending),
            body if fails(body) => Some(Status::Failed),
            Body::NodeEnd(end) => Some(of_node(&end.status)),
            Body::NodeSkipped(_) => Some(Status::Skipped),
            Body::Error(_) => Some(Status::Failed),
            _ => None,
        }
    }

    /// Notes what an event says about how others stand.
    pub(super) fn note_status(
        &mut self,
        conversation: &Conversation,
        placed: Option<Placed>,
        event: &Event,
        changes: &mut Changes,
    ) {
        self.settle_requests(event, changes);
        match &event.body {
            Body::ToolCall(_) | Body::ReplInput(_) => self.called(conversation, placed, changes),
            Body::ToolProgress(_) => self.progressed(conversation, placed, changes),
            Body::ToolResult(_) | Body::ReplOutput(_) => self.came(conversation, placed, event, changes),
            Body::NodeEnd(end) => {
                let start = self.start_of(conversation, event, (end.execution, end.attempt));
                self.set_status(start, of_node(&end.status), changes);
            }
            Body::NodeRetry(retry) => {
                let start = self.start_of(conversation, event, (retry.execution, retry.attempt));
                self.set_status(start, Status::Failed, changes);
            }
            Body::NodeStart(_) | Body::HarnessStart(_) | Body::RunStart(_) => {
                self.speaks(placed, event);
                self.begin_again(placed, changes);
            }
            Body::HarnessEnd(end) => {
                self.speaks(placed, event);
                self.end_run(conversation, placed, event, of_harness(end.reason.as_ref()), changes);
            }
            Body::RunEnd(end) => {
                let status = end.status.as_ref().map_or(Status::Completed, of_node);
                self.end_run(conversation, placed, event, status, changes);
            }
            Body::Resumed(_) => self.resume(placed, changes),
            Body::Relay(relay) => {
                if let (Some(run), Some(placed)) = (&event.head.run_id, placed) {
                    self.ask(run, relay, placed.block, changes);
                }
            }
            Body::RelayResolved(resolved) => self.answer(event.head.run_id.as_ref(), resolved, changes),
            Body::ModelRetry(retry) => {
                if let Some(run) = &event.head.run_id {
                    self.discard(conversation, run, &retry.discards, changes);
                }
            }
            _ => {}
        }
    }

    /// A call or a piece of code has come: what came of it may be there already, and another may have had it so far. A call
    /// that comes again is about to run.
    fn called(&mut self, conversation: &Conversation, placed: Option<Placed>, changes: &mut Changes) {
        let moved = conversation.moved_answers().iter().filter_map(|node| conversation.node(*node));
        let pieces = moved.filter(|node| node.kind() == Kind::ToolProgress).count() as u32;
        if let Some(freed) = conversation.freed_call() {
            let block = self.block_of(Some(freed));
            if let Some(spot) = self.spots.get_mut(block as usize) {
                spot.begun = spot.begun.saturating_sub(pieces);
            }
            let status = outcome(conversation, freed).unwrap_or_else(|| self.without_end(block));
            self.set_status(block, status, changes);
        }
        if let Some(placed) = placed {
            let again = u32::from(placed.change == Change::Updated);
            self.note_begun(placed.block, pieces + again, changes);
        }
        self.begin_again(placed, changes);
        let came = placed.and_then(|placed| Some((placed.block, outcome(conversation, placed.node)?)));
        if let Some((block, status)) = came {
            self.set_status(block, status, changes);
        }
    }

    /// Progress proves that a call has begun.
    fn progressed(&mut self, conversation: &Conversation, placed: Option<Placed>, changes: &mut Changes) {
        if let Some(placed) = placed.filter(|placed| placed.change == Change::Added) {
            self.note_begun(self.block_of(conversation.call_of(placed.node)), 1, changes);
        }
    }

    /// Notes how often more it was said of a call that it has begun.
    fn note_begun(&mut self, call: u32, times: u32, changes: &mut Changes) {
        let Some(spot) = self.spots.get_mut(call as usize) else {
            return;
        };
        spot.begun = spot.begun.saturating_add(times);
        if spot.begun > 0 && self.node(call).status == Some(Status::Pending) {
            self.set_status(call, Status::Running, changes);
        }
    }

    /// A result or an output has come: it is that of a call, and says itself whether that failed.
    fn came(
        &mut self,
        conversation: &Conversation,
        placed: Option<Placed>,
        event: &Event,
        changes: &mut Changes,
    ) {
        let Some(placed) = placed else {
            return;
        };
        self.show_status(placed.block, fails(&event.body).then_some(Status::Failed), changes);
        let call = conversation.call_of(placed.node);
        if let Some(status) = call.and_then(|call| outcome(conversation, call)) {
            self.set_status(self.block_of(call), status, changes);
        }
    }

    fn discard(&mut self, conversation: &Conversation, run: &RunId, ids: &[String], changes: &mut Changes) {
        for id in ids {
            for kind in DISCARDABLE {
                let node = conversation.own(run, id, kind);
                let mut block = self.block_of(node);
                // All that is earlier than what was discarded before was discarded with it.
                while let Some(spot) = self.spot(block).filter(|_| !self.is_discarded(block)) {
                    let earlier = spot.earlier;
                    self.set_status(block, Status::Discarded, changes);
                    block = earlier;
                }
            }
        }
    }

    fn is_discarded(&self, block: u32) -> bool {
        self.node(block).status == Some(Status::Discarded)
    }

    /// Sets the status of a block; what was discarded stays so.
    pub(super) fn set_status(&mut self, block: u32, status: Status, changes: &mut Changes) {
        self.show_status(block, Some(status), changes);
    }

    fn show_status(&mut self, block: u32, status: Option<Status>, changes: &mut Changes) {
        let Some(node) = self.layout.nodes.get_mut(block as usize) else {
            return;
        };
        if node.status == status || node.status == Some(Status::Discarded) {
            return;
        }
        let before = std::mem::replace(&mut node.status, status);
        self.note_open(block, before);
        match status {
            Some(status) => changes.set(path!["nodes", block as usize, "status"], &status),
            None => changes.remove(path!["nodes", block as usize, "status"]),
        }
    }
}

/// What came of a call or of a piece of code, if anything did.
fn outcome(conversation: &Conversation, call: Place) -> Option<Status> {
    let answer = conversation.node(conversation.answer_to(call)?)?;
    Some(if fails(answer.body()) { Status::Failed } else { Status::Completed })
}

/// Whether a result or an output says that what it answers went wrong.
fn fails(body: &Body) -> bool {
    match body {
        Body::ToolResult(result) => result.is_error == Some(true),
        Body::ReplOutput(output) => output.error.is_some(),
        _ => false,
    }
}

fn of_node(status: &NodeStatus) -> Status {
    match status {
        NodeStatus::Pending => Status::Pending,
        NodeStatus::Executing => Status::Running,
        NodeStatus::Completed | NodeStatus::Other(_) => Status::Completed,
        NodeStatus::Failed => Status::Failed,
        NodeStatus::Cancelled => Status::Cancelled,
        NodeStatus::Skipped => Status::Skipped,
        NodeStatus::Interrupted => Status::Interrupted,
    }
}

fn of_harness(reason: Option<&EndReason>) -> Status {
    match reason {
        None | Some(EndReason::Done | EndReason::MaxIterations | EndReason::Other(_)) => Status::Completed,
        Some(EndReason::Budget | EndReason::Error) => Status::Failed,
        Some(EndReason::Cancelled) => Status::Cancelled,
        Some(EndReason::Interrupted) => Status::Interrupted,
    }
}
