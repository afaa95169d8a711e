//! Requests to people: which box shows each, and how it stands.
//!
//! Which request an answer is for says [`crate::request::Requests`]. Start reading at [`Dag::ask`] and
//! [`Dag::answer`].

use std::collections::BTreeMap;

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Event, RunId};
use serde::{Deserialize, Serialize};

use super::{Dag, NONE, Status};
use crate::{Changes, Standing};

/// All requests, and answers to those that have not come.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    known: crate::request::Requests,
    /// The block of each that has come, by its number.
    blocks: Vec<u32>,
    /// What answers make of those that have not come, by their numbers.
    early: BTreeMap<usize, Status>,
}

impl Requests {
    /// The block of a request.
    fn block(&self, number: usize) -> u32 {
        self.blocks.get(number).copied().unwrap_or(NONE)
    }

    /// The blocks of all that have come, and `NONE` for the others.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().copied()
    }

    fn put(&mut self, number: usize, block: u32) {
        let length = (number + 1).max(self.blocks.len());
        self.blocks.resize(length, NONE);
        self.blocks[number] = block;
    }
}

impl Dag {
    /// A request: it waits, unless its answer came before.
    pub(super) fn ask(&mut self, run: &RunId, relay: &Relay, block: u32, changes: &mut Changes) {
        let (number, waits) = self.requests.known.ask(run, relay);
        self.requests.put(number, block);
        let early = self.requests.early.remove(&number);
        if let Some(status) = early.or(waits.then_some(Status::Pending)) {
            self.set_status(block, status, changes);
        }
    }

    /// A request was answered; the first answer counts.
    pub(super) fn answer(&mut self, run: Option<&RunId>, resolved: &RelayResolved, changes: &mut Changes) {
        let (number, counts) = self.requests.known.answer(run, &resolved.relay_id);
        if !counts {
            return;
        }
        let status = stands(Standing::of(resolved));
        match self.requests.block(number) {
            NONE => _ = self.requests.early.insert(number, status),
            block => self.set_status(block, status, changes),
        }
    }

    /// Nobody waits any more for what an event shows to be over.
    pub(super) fn settle_requests(&mut self, event: &Event, changes: &mut Changes) {
        for (number, standing) in self.requests.known.settle(event) {
            self.set_status(self.requests.block(number), stands(standing), changes);
        }
    }
}

fn stands(standing: Standing) -> Status {
    match standing {
        Standing::Pending => Status::Pending,
        Standing::Approved => Status::Approved,
        Standing::Denied => Status::Denied,
        Standing::Answered => Status::Answered,
        Standing::Expired => Status::Expired,
        Standing::AnsweredElsewhere => Status::AnsweredElsewhere,
        Standing::Closed => Status::Closed,
    }
}
