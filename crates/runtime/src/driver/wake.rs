//! What nodes, agents and those who look after them send to the driver, and where each of it goes.
//!
//! In: a [`Wake`]. Out: an input of a machine, which decides what becomes of it. Start reading at [`Driver::wake`].

use antiphon_agent::Delta;
use antiphon_agent::machine::{Input as Hears, Returned};
use antiphon_event::body::system::Amounts;
use antiphon_event::{Body, CallId, Event, Json, Spans, StreamName};
use antiphon_flow::function::{Failure, Reply};
use antiphon_flow::{Attempt, Refusal};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Driver, WAKES_MAX};
use crate::budget::{Want, spending};
use crate::code::{Asking, Evaluated};
use crate::model::Answered;
use crate::outfit::Kit;
use crate::tree::Began;

/// What a node sends to the driver.
#[derive(Debug)]
pub(crate) enum Wake {
    /// Its work is done.
    Outcome(usize, Attempt, Result<Reply, Failure>),
    /// It says something.
    Said(usize, Attempt, Box<Event>),
    /// Whether it waits for a place to work in.
    InLine(usize, Attempt, bool),
    /// It wants to spend something, and waits to hear whether it may.
    Wants(usize, Attempt, Amounts, oneshot::Sender<String>),
    /// It has spent something of what was set aside for it under this name, or without asking.
    Spent(usize, Option<String>, Amounts),
    /// An agent has, or cannot have, what it needs.
    Equipped(usize, Result<Kit, String>),
    /// The model of an agent says something.
    Heard(usize, Attempt, Vec<Delta>),
    /// The model of an agent has said all, or failed to.
    Answered(usize, Attempt, Answered),
    /// Code of an agent printed something.
    Printed(usize, Attempt, Vec<(StreamName, String)>),
    /// Code of an agent makes a call.
    Called(usize, Attempt, Asking),
    /// Code of an agent came to its end.
    Evaluated(usize, Attempt, Evaluated),
    /// A tool of an agent says something.
    Progress(usize, Attempt, CallId, Json),
    /// A tool of an agent came to an end.
    Returned(usize, Attempt, CallId, Result<Returned, Failure>),
    /// An agent on another branch came to an end.
    CameBack(usize, Attempt, CallId, Result<Returned, Failure>),
    /// Only people can get an agent on another branch further.
    Waits(usize, Attempt),
    /// An agent on another branch asks people something, or was answered, and whether nobody was told here before.
    Mirrored(usize, Attempt, Box<Event>, bool),
    /// An answer has reached an agent on another branch, or was refused there.
    Forwarded(usize, Attempt, Result<(), Refusal>, Option<oneshot::Sender<Result<(), Refusal>>>),
}

impl Wake {
    /// Whether something may follow from it by itself, but for outcomes, which see to that: not from what is only said on
    /// the way.
    fn is_news(&self) -> bool {
        let is_on_the_way = matches!(
            self,
            Self::Said(..) | Self::InLine(..) | Self::Heard(..) | Self::Printed(..) | Self::Progress(..)
        );
        !is_on_the_way && !matches!(self, Self::Outcome(..))
    }
}

impl Driver {
    /// Takes in all that nodes have sent by now, or about so many events of it: a record is read as a whole.
    pub(super) fn hear(&mut self, events_max: usize) {
        for _ in 0..WAKES_MAX {
            if self.batch.len() >= events_max {
                break;
            }
            let Ok(wake) = self.woken.try_recv() else { break };
            self.wake(wake);
        }
    }

    pub(super) fn wake(&mut self, wake: Wake) {
        let goes_on = wake.is_news();
        match wake {
            Wake::Outcome(machine, attempt, result) => {
                if self.has_task(machine, attempt) {
                    self.tree.machines[machine].tasks.remove(attempt.node);
                    self.working -= 1;
                    self.outcome(machine, attempt, result);
                }
            }
            Wake::Said(machine, attempt, event) => self.said(machine, attempt, *event),
            Wake::InLine(machine, attempt, waits) => {
                if let Some(task) = self.tree.machines[machine].tasks.of(attempt) {
                    task.began = if waits { Began::InLine } else { Began::At(Instant::now()) };
                }
            }
            Wake::Wants(machine, attempt, amounts, reply) => {
                self.wants(Want { machine, attempt, amounts, reply });
            }
            Wake::Spent(machine, id, amounts) => self.settles(machine, id, amounts),
            Wake::Equipped(machine, kit) => self.equipped(machine, kit),
            Wake::Heard(machine, attempt, deltas) => {
                if self.has_task(machine, attempt) {
                    self.try_tell(machine, Hears::Said(deltas));
                }
            }
            Wake::Answered(machine, attempt, answered) => self.answered(machine, attempt, answered),
            Wake::Printed(machine, attempt, chunks) => self.printed(machine, attempt, chunks),
            Wake::Called(machine, attempt, asking) => self.called(machine, attempt, asking),
            Wake::Evaluated(machine, attempt, evaluated) => self.evaluated(machine, attempt, evaluated),
            Wake::Progress(machine, attempt, call, content) => {
                if self.has_task(machine, attempt) {
                    self.try_tell(machine, Hears::Progress(call, content));
                }
            }
            Wake::Returned(machine, attempt, call, result) => self.returned(machine, attempt, call, result),
            Wake::CameBack(machine, attempt, call, result) => self.came_back(machine, attempt, call, result),
            Wake::Waits(machine, attempt) => self.away_waits(machine, attempt),
            Wake::Mirrored(machine, attempt, event, is_new) => {
                self.mirrored(machine, attempt, *event, is_new);
            }
            Wake::Forwarded(machine, attempt, result, reply) => {
                self.forwarded(machine, attempt, result, reply);
            }
        }
        if goes_on {
            self.catch_up();
        }
    }

    /// Whether this work is under way: not something that was cut off or repeated.
    pub(super) fn has_task(&self, machine: usize, attempt: Attempt) -> bool {
        self.tree.machines[machine].tasks.get(attempt.node).is_some_and(|task| task.attempt == attempt)
    }

    /// Takes in what a node says while it works; what comes after its end is dropped.
    fn said(&mut self, machine: usize, attempt: Attempt, mut event: Event) {
        let scheduler = self.tree.machines[machine].mind.flow();
        if scheduler.executing(attempt).is_none() {
            return;
        }
        if let (None, Body::Usage(usage)) = (&event.head.run_id, &event.body) {
            let amounts = spending(usage);
            self.spent(machine, None, amounts);
        }
        let scheduler = self.tree.machines[machine].mind.flow();
        event.head.at = Some(self.at());
        event.head.trace_id = scheduler.trace().cloned();
        if scheduler.trace().is_some() {
            let node = scheduler.span_of(attempt);
            (event.head.span_id, event.head.parent_span_id) = match &event.head.run_id {
                Some(run) => (Some(Spans::of(run).own()), Some(node)),
                None => (Some(node), Some(Spans::of(&scheduler.origin().run).own())),
            };
        }
        event.head.run_id.get_or_insert_with(|| scheduler.origin().run.clone());
        event.head.event_flow_id.clone_from(&scheduler.origin().turn);
        event.head.node_id = Some(scheduler.flow().id(attempt.node).clone());
        if !scheduler.origin().path.is_empty() {
            event.head.node_path = Some(scheduler.path(attempt.node));
        }
        self.batch.push(event);
    }
}
