//! [`Tools`]: tool activity, one row for each call.
//!
//! In: calls, progress, results, and the requests and answers that hold calls up. Rows stand in the order of
//! their first appearance and never move. Start reading at [`Call`], then [`Tools::apply`].

use std::collections::BTreeMap;

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::body::tool::{ToolCall, ToolProgress, ToolResult};
use antiphon_event::{
    Body, CallId, CallType, Event, FlowNodeId, Json, MessageId, RunId, StreamId, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::index::{ByRun, Index};
use crate::request::{Requests, holds_up};
use crate::value::{agent_name, fill, given, put, renew};
use crate::{Changes, View, path};

/// Tool calls with their progress and results.
///
/// A call is known by its run and its id: equal ids in two runs are two calls. A result, a piece of progress
/// or a request whose run does not know the id belongs to the open call that last had it, in whatever run;
/// if there is none, it makes a row that is an orphan until its call arrives.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tools {
    calls: Vec<Call>,
    by_id: ByRun,
    progress: Index<(usize, StreamId)>,
    requests: Requests,
    /// The call each request is about, if any, by its number.
    about: Vec<Option<usize>>,
    /// Decisions that came before their requests, by the number of those.
    early: BTreeMap<usize, bool>,
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
    /// The tool; unknown for an orphan that has only been asked about.
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
        let known = self.by_id.begins(run, &id, |place| self.calls[place].orphan);
        let place = known.unwrap_or_else(|| self.add(run, event, &said.id, false, changes));
        self.by_id.begun(run, &id, place);
        let call = &mut self.calls[place];
        let again = known.is_some() && !call.orphan;
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

    fn progressed(&mut self, run: &RunId, event: &Event, said: &ToolProgress, changes: &mut Changes) {
        let place = self.place(run, event, &said.tool_call_id, changes);
        let call = &mut self.calls[place];
        let key = (place, said.id.clone());
        if let Some(piece) = self.progress.get(&key) {
            let content = &mut call.progress[piece].content;
            put(content, said.content.clone(), changes, path!["calls", place, "progress", piece, "content"]);
        } else {
            self.progress.insert(key, call.progress.len());
            let progress = Progress { id: said.id.clone(), content: said.content.clone() };
            changes.append(path!["calls", place, "progress"], &progress);
            call.progress.push(progress);
        }
        fill(&mut call.name, Some(said.name.clone()), changes, path!["calls", place, "name"]);
        if call.status == Status::Pending {
            put(&mut call.status, Status::Running, changes, path!["calls", place, "status"]);
        }
    }

    fn ended(&mut self, run: &RunId, event: &Event, result: &ToolResult, changes: &mut Changes) {
        let place = self.place(run, event, &result.id, changes);
        let call = &mut self.calls[place];
        fill(&mut call.name, Some(result.name.clone()), changes, path!["calls", place, "name"]);
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

    fn asked(&mut self, run: &RunId, event: &Event, relay: &Relay, changes: &mut Changes) {
        let about = relay.tool_call_id.as_ref().map(|id| self.place(run, event, id, changes));
        let (request, waits) = self.requests.ask(run, relay);
        self.set_about(request, about);
        let early = self.early.remove(&request);
        let Some(place) = about else { return };
        fill(&mut self.calls[place].name, relay.tool.clone(), changes, path!["calls", place, "name"]);
        if holds_up(relay) && waits && self.calls[place].status == Status::Pending {
            let status = &mut self.calls[place].status;
            put(status, Status::AwaitingPermission, changes, path!["calls", place, "status"]);
        }
        if let Some(allowed) = early {
            self.decide(place, allowed, changes);
        }
    }

    fn set_about(&mut self, request: usize, about: Option<usize>) {
        if self.about.len() <= request {
            self.about.resize(request + 1, None);
        }
        self.about[request] = about;
    }

    fn answered(&mut self, run: Option<&RunId>, answer: &RelayResolved, changes: &mut Changes) {
        let allowed = answer.approved != Some(false);
        let (request, counts) = self.requests.answer(run, &answer.relay_id);
        if !counts {
            return;
        }
        match self.about.get(request) {
            None => _ = self.early.insert(request, allowed),
            Some(None) => {}
            Some(Some(place)) => self.decide(*place, allowed, changes),
        }
    }

    /// A call about which nobody waits for an answer any more goes its way, or never runs.
    fn settle(&mut self, event: &Event, changes: &mut Changes) {
        for (request, _) in self.requests.settle(event) {
            if let Some(place) = self.about[request] {
                self.decide(place, true, changes);
            }
        }
    }

    /// A yes lets the call wait for its turn; a no is the end of it.
    fn decide(&mut self, place: usize, allowed: bool, changes: &mut Changes) {
        let call = &mut self.calls[place];
        let status = match (call.status, allowed) {
            (Status::AwaitingPermission, true) => Status::Pending,
            (Status::AwaitingPermission | Status::Pending | Status::Running, false) => Status::Denied,
            (status, _) => status,
        };
        put(&mut call.status, status, changes, path!["calls", place, "status"]);
    }

    fn discard(&mut self, run: &RunId, ids: &[String], changes: &mut Changes) {
        for id in ids {
            if let Some(place) = self.by_id.exact(run, &id.as_str().into()) {
                let discarded = &mut self.calls[place].discarded;
                put(discarded, true, changes, path!["calls", place, "discarded"]);
            }
        }
    }

    /// The call that something said about `id` in `run` belongs to; an orphan if there is none.
    fn place(&mut self, run: &RunId, event: &Event, id: &CallId, changes: &mut Changes) -> usize {
        let text = id.shared();
        let known = self.by_id.about(Some(run), &text, |place| !self.calls[place].is_over());
        let place = known.unwrap_or_else(|| self.add(run, event, id, true, changes));
        self.by_id.spoken_of(Some(run), &text, place);
        place
    }

    fn add(&mut self, run: &RunId, event: &Event, id: &CallId, orphan: bool, changes: &mut Changes) -> usize {
        let call = Call {
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
        };
        changes.append(path!["calls"], &call);
        self.calls.push(call);
        self.calls.len() - 1
    }
}
