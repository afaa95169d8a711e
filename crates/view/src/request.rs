//! How requests to people are settled: the one rule that all views that show requests share.
//!
//! A request is settled by its first answer. Where no answer is told, it is settled by the first event that shows
//! that nobody waits any more: the call it was about has a result, or is about to run though a person had to
//! allow that; or its run is over. An answer that is told later still counts.
//!
//! In: requests, answers and all other events. Out: what an event settles, by the place each view gives its
//! requests. Start reading at [`Open::settle`]; [`Requests`] says which request an answer is for.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Body, CallId, EndReason, Event, NodeStatus, RelayId, RelayKind, RunId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::index::ByRun;

/// How a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It waits for an answer.
    Pending,
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// Answered with something else than yes or no.
    Answered,
    /// The time was up.
    Expired,
    /// Its call went on, so somebody has answered; the answer was not told.
    AnsweredElsewhere,
    /// Its run ended without an answer.
    Closed,
}

impl Standing {
    /// What an answer makes of a request. A yes is a yes, also if the clock said it.
    pub(crate) fn of(resolved: &RelayResolved) -> Self {
        match (resolved.approved, resolved.by.as_str()) {
            (Some(true), _) => Self::Approved,
            (_, "timeout") => Self::Expired,
            (Some(false), _) => Self::Denied,
            (None, _) => Self::Answered,
        }
    }

    /// Its name in snapshots.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::AnsweredElsewhere => "answered_elsewhere",
            Self::Closed => "closed",
        }
    }
}

/// The requests that wait, by the place `P` where a view keeps each; and which have been answered.
///
/// A place that is settled without an answer is forgotten: whoever asks there again waits again. What one event
/// costs depends on what it settles, and on the number of open requests only by its logarithm.
#[serde_as]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "P: Ord + Serialize", deserialize = "P: Ord + Deserialize<'de>"))]
pub(crate) struct Open<P> {
    #[serde_as(as = "Vec<(_, _)>")]
    asked: BTreeMap<P, Asked>,
    /// The places of what waits, by run and call, and whether that call comes only when a person has allowed it.
    #[serde_as(as = "Vec<(_, Vec<(_, _)>)>")]
    about: BTreeMap<Asked, BTreeMap<P, bool>>,
    /// Those of them that a person must allow, and whose call has not come: it comes once before it is allowed.
    #[serde(default)]
    early: BTreeSet<P>,
    /// The calls that have come, and no result of them.
    #[serde(default)]
    called: BTreeSet<(RunId, CallId)>,
    answered: BTreeSet<P>,
}

/// Who asked, about which call.
type Asked = (RunId, Option<CallId>);

impl<P> Default for Open<P> {
    fn default() -> Self {
        Self {
            asked: BTreeMap::new(),
            about: BTreeMap::new(),
            early: BTreeSet::new(),
            called: BTreeSet::new(),
            answered: BTreeSet::new(),
        }
    }
}

impl<P: Ord + Clone> Open<P> {
    /// Takes note of a request; `true` if it waits now, `false` if its answer came before.
    pub(crate) fn ask(&mut self, place: P, run: &RunId, relay: &Relay) -> bool {
        if self.answered.contains(&place) {
            return false;
        }
        self.close(&place);
        let asked = (run.clone(), relay.tool_call_id.clone());
        let is_called = self.is_called(&asked);
        if holds_up(relay) && !is_called {
            self.early.insert(place.clone());
        }
        self.about.entry(asked.clone()).or_default().insert(place.clone(), holds_up(relay) && is_called);
        self.asked.insert(place, asked);
        true
    }

    /// Takes note of an answer, also to what was not asked yet; `true` if it is the first and counts.
    pub(crate) fn answer(&mut self, place: P) -> bool {
        self.close(&place);
        self.answered.insert(place)
    }

    /// Whether no answer is known.
    pub(crate) fn is_unanswered(&self, place: &P) -> bool {
        !self.answered.contains(place)
    }

    /// What an event settles that is no answer itself.
    pub(crate) fn settle(&mut self, event: &Event) -> Vec<(P, Standing)> {
        let Some(run) = &event.head.run_id else {
            return Vec::new();
        };
        self.note_call(run, &event.body);
        if self.asked.is_empty() {
            return Vec::new();
        }
        let elsewhere = Standing::AnsweredElsewhere;
        match &event.body {
            Body::ToolCall(call) => {
                let settled = self.settle_call(run, call.id.as_str(), true, elsewhere);
                self.begins(run, &call.id);
                settled
            }
            Body::ToolResult(result) => self.settle_call(run, result.id.as_str(), false, elsewhere),
            Body::ReplOutput(output) => self.settle_call(run, output.id.as_str(), false, elsewhere),
            body if ends_run(body) => self.settle_run(run),
            _ => Vec::new(),
        }
    }

    /// Notes which calls have come and have no result.
    fn note_call(&mut self, run: &RunId, body: &Body) {
        match body {
            Body::ToolCall(call) => _ = self.called.insert((run.clone(), call.id.clone())),
            Body::ToolResult(result) => _ = self.called.remove(&(run.clone(), result.id.clone())),
            _ => {}
        }
    }

    fn is_called(&self, (run, call): &Asked) -> bool {
        call.as_ref().is_some_and(|call| self.called.contains(&(run.clone(), call.clone())))
    }

    /// A call is there for the requests that came before it: when it comes again, it was allowed.
    fn begins(&mut self, run: &RunId, call: &CallId) {
        if self.early.is_empty() {
            return;
        }
        for (place, waits) in self.about.get_mut(&(run.clone(), Some(call.clone()))).into_iter().flatten() {
            *waits |= self.early.remove(place);
        }
    }

    fn settle_call(
        &mut self,
        run: &RunId,
        call: &str,
        held_up_only: bool,
        to: Standing,
    ) -> Vec<(P, Standing)> {
        let about = (run.clone(), Some(CallId::from(call)));
        let waiting = self.about.get(&about).into_iter().flatten();
        let settled = waiting.filter(|(_, held_up)| **held_up || !held_up_only);
        let settled: Vec<_> = settled.map(|(place, _)| (place.clone(), to)).collect();
        for (place, _) in &settled {
            self.close(place);
        }
        settled
    }

    fn settle_run(&mut self, run: &RunId) -> Vec<(P, Standing)> {
        let of_run = self.about.range((run.clone(), None)..).take_while(|((of, _), _)| of == run);
        let places = of_run.flat_map(|(_, places)| places.keys().cloned());
        let settled: Vec<_> = places.map(|place| (place, Standing::Closed)).collect();
        for (place, _) in &settled {
            self.close(place);
        }
        settled
    }

    fn close(&mut self, place: &P) {
        let Some(about) = self.asked.remove(place) else {
            return;
        };
        self.early.remove(place);
        if let Some(places) = self.about.get_mut(&about) {
            places.remove(place);
            if places.is_empty() {
                self.about.remove(&about);
            }
        }
    }

    /// How many requests wait.
    pub(crate) fn len(&self) -> usize {
        self.asked.len()
    }

    /// The places of the requests that wait, in order.
    pub(crate) fn places(&self) -> impl Iterator<Item = &P> {
        self.asked.keys()
    }
}

/// Requests by number, from 0 in the order they were heard of: which of them an answer is for, and which wait.
///
/// Equal ids in two runs are two requests. An answer that came before its request has the number of that.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Requests {
    by_id: ByRun,
    heard: Vec<Heard>,
    open: Open<usize>,
}

/// What was heard of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Heard {
    /// The request.
    Question,
    /// An answer that somebody gave in a run.
    Answer,
    /// An answer that named no run.
    AnswerAnywhere,
}

impl Requests {
    /// The number of a request, and whether it waits now; it does not if its answer came before.
    pub(crate) fn ask(&mut self, run: &RunId, relay: &Relay) -> (usize, bool) {
        let id = relay.id.shared();
        let known = self.by_id.begins(run, &id, |number| self.heard[number] != Heard::Question);
        let number = known.unwrap_or_else(|| self.add(Heard::Question));
        self.heard[number] = Heard::Question;
        self.by_id.begun(run, &id, number);
        (number, self.open.ask(number, run, relay))
    }

    /// The number of the request that an answer is for, and whether it is the first and counts.
    pub(crate) fn answer(&mut self, run: Option<&RunId>, relay: &RelayId) -> (usize, bool) {
        let id = relay.shared();
        let known = self.by_id.about(run, &id, |number| {
            self.open.is_unanswered(&number) || self.heard[number] == Heard::AnswerAnywhere
        });
        let heard = if run.is_some() { Heard::Answer } else { Heard::AnswerAnywhere };
        let number = known.unwrap_or_else(|| self.add(heard));
        self.by_id.spoken_of(run, &id, number);
        (number, self.open.answer(number))
    }

    fn add(&mut self, heard: Heard) -> usize {
        self.heard.push(heard);
        self.heard.len() - 1
    }

    /// What an event settles that is no answer itself.
    pub(crate) fn settle(&mut self, event: &Event) -> Vec<(usize, Standing)> {
        self.open.settle(event)
    }

    /// Nobody waits for a request any more.
    pub(crate) fn withdraw(&mut self, number: usize) {
        self.open.close(&number);
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.open.len()
    }

    /// The numbers of those that wait, in order.
    pub(crate) fn numbers_waiting(&self) -> impl Iterator<Item = usize> {
        self.open.places().copied()
    }
}

/// Whether a call does not begin to run before a person has allowed it.
pub(crate) fn holds_up(relay: &Relay) -> bool {
    matches!(relay.kind, RelayKind::Permission | RelayKind::Approval)
}

/// Whether a run is over for good, and does not only wait to be resumed.
fn ends_run(body: &Body) -> bool {
    match body {
        Body::HarnessEnd(end) => end.reason != Some(EndReason::Interrupted),
        Body::RunEnd(end) => {
            !matches!(end.status, Some(NodeStatus::Interrupted | NodeStatus::Pending | NodeStatus::Executing))
        }
        _ => false,
    }
}
