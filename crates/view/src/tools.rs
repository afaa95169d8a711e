//! [`Tools`]: tool activity, one row for each call.
//!
//! In: calls, progress, results, and the requests and answers that hold calls up. Rows stand in the order of
//! their first appearance and never move; what was only asked about has none, as it may be code. Start reading at
//! [`Call`], then [`Tools::apply`].

mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::body::tool::{ToolCall, ToolProgress, ToolResult};
use antiphon_event::{
    Body, CallId, CallType, Event, FlowNodeId, Json, MessageId, RunId, StreamId, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::index::ByRun;
use crate::request::{Requests, holds_up};
use crate::value::{agent_name, given};
use crate::{Changes, View};

use row::{Lent, Pieces, Row, Side, Slot};

/// Tool calls with their progress and results.
///
/// A call is known by its run and its id: equal ids in two runs are two calls. As long as a run has not made the call that it
/// gives a result or progress of, these are lent to the open call that last had the id, or to the next that comes; until
/// then they make a row that is an orphan. When their run makes the call, they go there.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tools {
    calls: Vec<Call>,
    /// Where the row of each call is, by the place of the call.
    slots: Vec<Slot>,
    by_id: ByRun,
    progress: Pieces,
    /// What other runs lend to calls, by the place of the call.
    lent: BTreeMap<usize, Lent>,
    requests: Requests,
    /// Code by run and id: whoever asks about it asks about no call.
    codes: BTreeSet<(RunId, Arc<str>)>,
    /// What each request is about, if it is about a call, by its number.
    about: Vec<Option<About>>,
    /// Decisions that came before their requests, by the number of those.
    early: BTreeMap<usize, bool>,
}

/// The call that a request is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct About {
    place: usize,
    /// The run that asks and the id, if the call is that run's, or a place that is kept for it.
    own: Option<(RunId, Arc<str>)>,
}

/// One tool call.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The call.
    pub call_id: CallId,
    /// The run that made it; for an orphan, the run that spoke of it.
    pub run_id: RunId,
    /// The tool; an orphan may not know it.
    pub name: Option<String>,
    /// The harness that offers the tool.
    pub harness: Option<String>,
    /// What kind of thing is called; a function if absent. Subagents are runs caused by this call.
    pub call_type: Option<CallType>,
    /// The agent that made it.
    pub agent: Option<String>,
    /// The assistant step it belongs to.
    pub message_id: Option<MessageId>,
    /// The flow node in whose scope it was made.
    pub node_id: Option<FlowNodeId>,
    /// How far it has come.
    pub status: Status,
    /// Its arguments as last said.
    #[serde(default, deserialize_with = "given")]
    pub input: Option<Json>,
    /// What it gave back.
    #[serde(default, deserialize_with = "given")]
    pub output: Option<Json>,
    /// What it had to say on the way: the latest of each, in the order of their first appearance.
    pub progress: Vec<Progress>,
    /// Whether the answer that made the call was thrown away.
    pub discarded: bool,
    /// Whether the call itself has not been seen.
    pub orphan: bool,
    /// When it began: when it was proposed, or rather, once that is known, when it was about to run.
    pub started_at: Option<Timestamp>,
    /// When its result came.
    pub ended_at: Option<Timestamp>,
    /// How long it ran, without the time it waited for permission.
    pub duration_ms: Option<u64>,
}

/// A piece of progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// This piece.
    pub id: StreamId,
    /// The latest it said.
    pub content: Json,
}

/// How far a tool call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Proposed.
    Pending,
    /// Proposed; a person was asked whether it may run.
    AwaitingPermission,
    /// About to run, or running.
    Running,
    /// It gave a result.
    Complete,
    /// It gave an error.
    Error,
    /// A person said no.
    Denied,
}

impl Call {
    /// Whether its result has come.
    pub fn is_over(&self) -> bool {
        self.output.is_some()
    }
}

impl View for Tools {
    const NAME: &'static str = "tools";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        self.settle(event, changes);
        match &event.body {
            Body::RelayResolved(answer) => self.answered(event.head.run_id.as_ref(), answer, changes),
            body => {
                let Some(run) = &event.head.run_id else { return };
                match body {
                    Body::ToolCall(call) => self.called(run, event, call, changes),
                    Body::ToolProgress(progress) => self.progressed(run, event, progress, changes),
                    Body::ToolResult(result) => self.ended(run, event, result, changes),
                    Body::ReplInput(code) => self.wrote(run, code.id.shared(), changes),
                    Body::Relay(relay) => self.asked(run, event, relay, changes),
                    Body::ModelRetry(retry) => self.discard(run, &retry.discards, changes),
                    _ => {}
                }
            }
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Snapshot<'a> {
            calls: &'a [Call],
        }
        Snapshot { calls: &self.calls }
    }
}

impl Tools {
    /// All calls, in the order of their first appearance.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    fn called(&mut self, run: &RunId, event: &Event, said: &ToolCall, changes: &mut Changes) {
        let id = said.id.shared();
        let mut known = self.by_id.begins(run, &id, |place| self.is_kept(place));
        let own = self.by_id.exact(run, &id);
        if let Some(place) = own.filter(|place| self.is_lent_by(*place, run)) {
            known = Some(self.take_back(place, changes));
        } else if let Some(place) = known.filter(|_| own.is_none()) {
            let call = Call::new(run, event, &said.id, false);
            self.lend(place, call, self.call(place).clone());
        }
        let place = known.unwrap_or_else(|| self.add(Call::new(run, event, &said.id, false)));
        let again = known.is_some() && !self.call(place).orphan;
        if !again {
            self.by_id.begun(run, &id, place);
        }
        self.show(place, changes);
        self.tell(place, None, changes, |row, changes| row.called(run, event, said, again, changes));
    }

    fn progressed(&mut self, run: &RunId, event: &Event, said: &ToolProgress, changes: &mut Changes) {
        let place = self.place(run, event, &said.tool_call_id);
        self.show(place, changes);
        self.tell(place, Some(run), changes, |row, changes| row.progressed(said, changes));
    }

    fn ended(&mut self, run: &RunId, event: &Event, result: &ToolResult, changes: &mut Changes) {
        let place = self.place(run, event, &result.id);
        self.show(place, changes);
        // A result of the call's own run counts for more than one that is lent.
        let counts = !self.is_lent_by(place, run) || !self.lent[&place].own.is_over();
        self.tell(place, Some(run), changes, |row, changes| {
            if counts || row.side != Side::Shown {
                row.ended(event, result, changes);
            }
        });
    }

    fn asked(&mut self, run: &RunId, event: &Event, relay: &Relay, changes: &mut Changes) {
        let about = relay.tool_call_id.as_ref().and_then(|id| self.asked_about(run, event, id));
        let (request, waits) = self.requests.ask(run, relay);
        if self.about.len() <= request {
            self.about.resize(request + 1, None);
        }
        self.about[request].clone_from(&about);
        let early = self.early.remove(&request);
        let Some(about) = about else { return };
        self.tell_about(&about, changes, |row, changes| {
            row.asked(relay.tool.as_ref(), holds_up(relay) && waits, changes);
        });
        if let Some(allowed) = early {
            self.tell_about(&about, changes, |row, changes| row.decide(allowed, changes));
        }
    }

    /// What a request is about: the call of its run, an open one of another, or a place that is kept; nothing if it is code.
    fn asked_about(&mut self, run: &RunId, event: &Event, id: &CallId) -> Option<About> {
        let text = id.shared();
        let own = self.by_id.exact(run, &text);
        if own.is_none_or(|place| self.call(place).orphan)
            && self.codes.contains(&(run.clone(), text.clone()))
        {
            return None;
        }
        let is_open = |place: usize| !self.call(place).is_over() && !self.call(place).orphan;
        Some(match self.by_id.about(Some(run), &text, is_open) {
            Some(place) if own.is_none() => About { place, own: None },
            _ => About { place: self.place(run, event, id), own: Some((run.clone(), text)) },
        })
    }

    /// Code of a run: what was asked about that is no call.
    fn wrote(&mut self, run: &RunId, id: Arc<str>, changes: &mut Changes) {
        let borrower = self.by_id.exact(run, &id).filter(|place| self.is_lent_by(*place, run));
        if let Some(place) = borrower.filter(|place| self.lent[place].is_only_asked_about()) {
            let code = self.take_back(place, changes);
            self.by_id.spoken_of(Some(run), &id, code);
        }
        self.codes.insert((run.clone(), id));
    }

    /// Whether a row is a place that is kept for a call.
    fn is_kept(&self, place: usize) -> bool {
        let call = self.call(place);
        call.orphan && !self.codes.contains(&(call.run_id.clone(), call.call_id.shared()))
    }

    /// Tells the row that a request is about something.
    fn tell_about(&mut self, about: &About, changes: &mut Changes, say: impl Fn(&mut Row<'_>, &mut Changes)) {
        let now = about.own.as_ref().and_then(|(run, id)| self.by_id.exact(run, id));
        let run = about.own.as_ref().map(|(run, _)| run);
        self.tell(now.unwrap_or(about.place), run, changes, say);
    }

    fn answered(&mut self, run: Option<&RunId>, answer: &RelayResolved, changes: &mut Changes) {
        let allowed = answer.approved != Some(false);
        let (request, counts) = self.requests.answer(run, &answer.relay_id);
        if !counts {
            return;
        }
        match self.about.get(request).cloned() {
            None => _ = self.early.insert(request, allowed),
            Some(None) => {}
            Some(Some(about)) => {
                self.tell_about(&about, changes, |row, changes| row.decide(allowed, changes));
            }
        }
    }

    /// A call about which nobody waits for an answer any more goes its way, or never runs.
    fn settle(&mut self, event: &Event, changes: &mut Changes) {
        for (request, _) in self.requests.settle(event) {
            if let Some(about) = self.about[request].clone() {
                self.tell_about(&about, changes, |row, changes| row.decide(true, changes));
            }
        }
    }

    fn discard(&mut self, run: &RunId, ids: &[String], changes: &mut Changes) {
        for id in ids {
            let own = self.by_id.exact(run, &id.as_str().into());
            // A call of another run is not this one's to throw away, and one that comes after the retry is a new one.
            let is_made = |call: &Call| call.run_id == *run && !call.orphan;
            if let Some(place) = own.filter(|place| is_made(self.call(*place))) {
                self.tell(place, Some(run), changes, |row, changes| row.discard(changes));
            }
        }
    }

    /// The call that what `run` says about `id` belongs to, or is lent to; an orphan if there is none.
    fn place(&mut self, run: &RunId, event: &Event, id: &CallId) -> usize {
        let text = id.shared();
        if let Some(place) = self.by_id.exact(run, &text) {
            return place;
        }
        let borrows = |place: usize| {
            let call = self.call(place);
            !call.is_over() && !call.orphan && !self.lent.contains_key(&place)
        };
        let call = Call::new(run, event, id, true);
        let place = match self.by_id.about(Some(run), &text, borrows) {
            Some(place) => {
                self.lend(place, self.call(place).clone(), call);
                place
            }
            None => self.add(call),
        };
        self.by_id.first_spoken_of(run, &text, place);
        place
    }
}

impl Call {
    fn new(run: &RunId, event: &Event, id: &CallId, orphan: bool) -> Self {
        Self {
            call_id: id.clone(),
            run_id: run.clone(),
            name: None,
            harness: None,
            call_type: None,
            agent: agent_name(event),
            message_id: event.head.message_id.clone(),
            node_id: event.head.node_id.clone(),
            status: Status::Pending,
            input: None,
            output: None,
            progress: Vec::new(),
            discarded: false,
            orphan,
            started_at: None,
            ended_at: None,
            duration_ms: None,
        }
    }
}
