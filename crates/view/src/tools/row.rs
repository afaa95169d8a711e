//! Rows of calls: what is told of one, and what it would be without what another run lends it.
//!
//! A call that something is lent to is kept three times: as it is shown, as it is by itself, and as the row that the other
//! run would have alone. So what is lent can be taken back. Start reading at [`Tools::tell`].

use antiphon_event::body::tool::{ToolCall, ToolProgress, ToolResult};
use antiphon_event::{Event, RunId, StreamId};
use serde::{Deserialize, Serialize};

use super::{Call, Progress, Status, Tools};
use crate::index::Index;
use crate::value::{agent_name, fill, put, renew};
use crate::{Changes, path};

/// Where each piece of progress stands in its row.
pub(super) type Pieces = Index<(usize, Side, StreamId)>;

/// What a run that has not made a call lends to one that another made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Lent {
    /// The run that lends.
    run: RunId,
    /// The call without what is lent.
    pub(super) own: Call,
    /// What is lent, as a row.
    other: Call,
}

/// Where a row is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Slot {
    /// In the list.
    Shown(usize),
    /// Beside it, as long as the call was only asked about.
    Beside(Box<Call>),
}

/// Which form of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum Side {
    Shown,
    Own,
    Other,
}

/// One form of a row, to be told something.
pub(super) struct Row<'a> {
    call: &'a mut Call,
    pieces: &'a mut Pieces,
    place: usize,
    /// Where it is in the list, if it is there.
    index: usize,
    pub(super) side: Side,
}

impl Lent {
    /// Whether nothing but requests is lent.
    pub(super) fn is_only_asked_about(&self) -> bool {
        self.other.progress.is_empty() && !self.other.is_over()
    }
}

impl Tools {
    /// The row of a call.
    pub(super) fn call(&self, place: usize) -> &Call {
        match &self.slots[place] {
            Slot::Shown(index) => &self.calls[*index],
            Slot::Beside(call) => call,
        }
    }

    /// A row that is not shown; gives its place.
    pub(super) fn add(&mut self, call: Call) -> usize {
        self.slots.push(Slot::Beside(Box::new(call)));
        self.slots.len() - 1
    }

    /// Puts a row into the list.
    pub(super) fn show(&mut self, place: usize, changes: &mut Changes) {
        let shown = Slot::Shown(self.calls.len());
        if let Slot::Beside(call) = &self.slots[place] {
            changes.append(path!["calls"], &**call);
            self.calls.push((**call).clone());
            self.slots[place] = shown;
        }
    }

    /// Tells a row what a run said of it, or if it is none in particular, its own.
    pub(super) fn tell(
        &mut self,
        place: usize,
        run: Option<&RunId>,
        changes: &mut Changes,
        say: impl Fn(&mut Row<'_>, &mut Changes),
    ) {
        let pieces = &mut self.progress;
        if let Some(lent) = self.lent.get_mut(&place) {
            let (call, side) = match run {
                Some(run) if lent.run == *run => (&mut lent.other, Side::Other),
                _ => (&mut lent.own, Side::Own),
            };
            say(&mut Row { call, pieces, place, index: 0, side }, &mut Changes::unwanted());
        }
        let side = Side::Shown;
        match &mut self.slots[place] {
            Slot::Shown(index) => {
                let (call, index) = (&mut self.calls[*index], *index);
                say(&mut Row { call, pieces, place, index, side }, changes);
            }
            Slot::Beside(call) => {
                say(&mut Row { call, pieces, place, index: 0, side }, &mut Changes::unwanted());
            }
        }
    }

    pub(super) fn is_lent_by(&self, place: usize, run: &RunId) -> bool {
        self.lent.get(&place).is_some_and(|lent| lent.run == *run)
    }

    /// Lends to a row what its own call and the row of another run are from now on.
    pub(super) fn lend(&mut self, place: usize, own: Call, other: Call) {
        for (call, side) in [(&own, Side::Own), (&other, Side::Other)] {
            for (nth, piece) in call.progress.iter().enumerate() {
                self.progress.insert((place, side, piece.id.clone()), nth);
            }
        }
        self.lent.insert(place, Lent { run: other.run_id.clone(), own, other });
    }

    /// Takes from a row what was lent to it; gives the place of the row that it becomes, which is not shown.
    pub(super) fn take_back(&mut self, place: usize, changes: &mut Changes) -> usize {
        let new = self.slots.len();
        let Some(Lent { own, other, .. }) = self.lent.remove(&place) else {
            return place;
        };
        let Slot::Shown(index) = self.slots[place] else {
            return place;
        };
        for piece in &self.calls[index].progress {
            self.progress.remove(&(place, Side::Shown, piece.id.clone()));
        }
        for (call, side, to) in [(&own, Side::Own, place), (&other, Side::Other, new)] {
            for (nth, piece) in call.progress.iter().enumerate() {
                self.progress.remove(&(place, side, piece.id.clone()));
                self.progress.insert((to, Side::Shown, piece.id.clone()), nth);
            }
        }
        changes.set(path!["calls", index], &own);
        self.calls[index] = own;
        self.add(other)
    }
}

impl Row<'_> {
    pub(super) fn called(
        &mut self,
        run: &RunId,
        event: &Event,
        said: &ToolCall,
        again: bool,
        changes: &mut Changes,
    ) {
        let (call, place) = (&mut *self.call, self.index);
        put(&mut call.orphan, false, changes, path!["calls", place, "orphan"]);
        put(&mut call.run_id, run.clone(), changes, path!["calls", place, "runId"]);
        put(&mut call.name, Some(said.name.clone()), changes, path!["calls", place, "name"]);
        put(&mut call.input, Some(said.input.clone()), changes, path!["calls", place, "input"]);
        renew(&mut call.call_type, said.call_type.clone(), changes, path!["calls", place, "callType"]);
        renew(
            &mut call.harness,
            said.harness.as_deref().map(ToOwned::to_owned),
            changes,
            path!["calls", place, "harness"],
        );
        let head = &event.head;
        renew(&mut call.message_id, head.message_id.clone(), changes, path!["calls", place, "messageId"]);
        renew(&mut call.agent, agent_name(event), changes, path!["calls", place, "agent"]);
        renew(&mut call.node_id, head.node_id.clone(), changes, path!["calls", place, "nodeId"]);
        if call.is_over() {
            return;
        }
        if again {
            put(&mut call.status, Status::Running, changes, path!["calls", place, "status"]);
        }
        if again || call.started_at.is_none() {
            renew(&mut call.started_at, head.at, changes, path!["calls", place, "startedAt"]);
        }
    }

    pub(super) fn progressed(&mut self, said: &ToolProgress, changes: &mut Changes) {
        let (call, place) = (&mut *self.call, self.index);
        let key = (self.place, self.side, said.id.clone());
        if let Some(piece) = self.pieces.get(&key) {
            let content = &mut call.progress[piece].content;
            put(content, said.content.clone(), changes, path!["calls", place, "progress", piece, "content"]);
        } else {
            self.pieces.insert(key, call.progress.len());
            let progress = Progress { id: said.id.clone(), content: said.content.clone() };
            changes.append(path!["calls", place, "progress"], &progress);
            call.progress.push(progress);
        }
        fill(&mut call.name, said.tool().map(ToOwned::to_owned), changes, path!["calls", place, "name"]);
        if call.status == Status::Pending {
            put(&mut call.status, Status::Running, changes, path!["calls", place, "status"]);
        }
    }

    pub(super) fn ended(&mut self, event: &Event, result: &ToolResult, changes: &mut Changes) {
        let (call, place) = (&mut *self.call, self.index);
        fill(&mut call.name, result.tool().map(ToOwned::to_owned), changes, path!["calls", place, "name"]);
        put(&mut call.output, Some(result.output.clone()), changes, path!["calls", place, "output"]);
        let status = match (call.status, result.is_error == Some(true)) {
            (Status::Denied, _) => Status::Denied,
            (_, true) => Status::Error,
            (_, false) => Status::Complete,
        };
        put(&mut call.status, status, changes, path!["calls", place, "status"]);
        renew(&mut call.ended_at, event.head.at, changes, path!["calls", place, "endedAt"]);
        if let (Some(start), Some(end)) = (call.started_at, call.ended_at) {
            let duration = u64::try_from(end.millis() - start.millis()).ok();
            renew(&mut call.duration_ms, duration, changes, path!["calls", place, "durationMs"]);
        }
    }

    pub(super) fn asked(&mut self, tool: Option<&String>, waits: bool, changes: &mut Changes) {
        let (call, place) = (&mut *self.call, self.index);
        fill(&mut call.name, tool.cloned(), changes, path!["calls", place, "name"]);
        if waits && call.status == Status::Pending {
            put(&mut call.status, Status::AwaitingPermission, changes, path!["calls", place, "status"]);
        }
    }

    /// A yes lets the call wait for its turn, if it does not run already; a no is the end of it, whenever it comes.
    pub(super) fn decide(&mut self, allowed: bool, changes: &mut Changes) {
        let (call, place) = (&mut *self.call, self.index);
        let status = match (call.status, allowed) {
            (Status::AwaitingPermission, true) if call.progress.is_empty() => Status::Pending,
            (Status::AwaitingPermission, true) => Status::Running,
            (_, false) => Status::Denied,
            (status, true) => status,
        };
        put(&mut call.status, status, changes, path!["calls", place, "status"]);
    }

    pub(super) fn discard(&mut self, changes: &mut Changes) {
        put(&mut self.call.discarded, true, changes, path!["calls", self.index, "discarded"]);
    }
}
