//! [`Permissions`]: what people were asked, in the order they were asked, and what came of it.
//!
//! In: requests, answers, grants, and what settles a request without an answer. A request is never moved; one that waits is `pending`.
//! Start reading at [`Request`], then [`Permissions::apply`]; what a mission asks is in `permissions/mission.rs`.

mod mission;

use std::collections::BTreeMap;

use antiphon_event::body::request::{GrantAdded, Relay, RelayResolved};
use antiphon_event::{Body, CallId, Event, FlowNodeId, Json, RelayId, RelayKind, RunId, Scope, Timestamp};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::request::Requests;
use crate::value::{agent_name, given, put, renew};
use crate::{Changes, View, path};

pub use crate::request::Standing as Status;
use mission::Mission;

/// Requests to people with their answers, and standing grants.
///
/// What settles a request is said in `request.rs`. An answer to a request that nobody saw is an orphan until the
/// request arrives.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Permissions {
    /// All requests, by their number.
    requests: Vec<Request>,
    grants: Vec<Grant>,
    known: Requests,
    /// The missions that have asked for something, by their run.
    #[serde_as(as = "Vec<(_, _)>")]
    missions: BTreeMap<Option<RunId>, Mission>,
}

/// One request to a person.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The request.
    pub id: RelayId,
    /// Whether it waits, or how it was closed.
    pub status: Status,
    /// Whether only the answer has been seen.
    pub orphan: bool,
    /// What is asked for.
    pub kind: Option<RelayKind>,
    /// The run that waits.
    pub run_id: Option<RunId>,
    /// The agent that asks.
    pub agent: Option<String>,
    /// The flow node that asks.
    pub node_id: Option<FlowNodeId>,
    /// The call it is about.
    pub tool_call_id: Option<CallId>,
    /// The tool it is about.
    pub tool: Option<String>,
    /// The tool's arguments, or whatever the question is about.
    #[serde(default, deserialize_with = "given")]
    pub params: Option<Json>,
    /// The question, in words.
    pub prompt: Option<String>,
    /// Answers to choose from.
    pub options: Option<Vec<String>>,
    /// What shape an answer must have.
    #[serde(default, deserialize_with = "given")]
    pub schema: Option<Json>,
    /// When it was asked.
    pub asked_at: Option<Timestamp>,
    /// When it is decided without an answer.
    pub expires_at: Option<Timestamp>,
    /// What was answered.
    pub answer: Option<Answer>,
}

/// What was answered, by whom and when.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Who answered; `timeout` if nobody did.
    pub by: String,
    /// When.
    pub at: Option<Timestamp>,
    /// Yes or no.
    pub approved: Option<bool>,
    /// The answer to a question.
    #[serde(default, deserialize_with = "given")]
    pub answer: Option<Json>,
    /// What to go on with instead.
    #[serde(default, deserialize_with = "given")]
    pub input: Option<Json>,
    /// How far a yes reaches.
    pub scope: Option<Scope>,
    /// Why.
    pub reason: Option<String>,
}

/// What holds without asking.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// What is allowed.
    pub rule: Json,
    /// How far.
    pub scope: Scope,
    /// Who allowed it.
    pub by: String,
    /// When.
    pub at: Option<Timestamp>,
}

impl View for Permissions {
    const NAME: &'static str = "permissions";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        self.settle(event, changes);
        match (&event.body, &event.head.run_id) {
            (Body::RelayResolved(resolved), run) => self.answered(run.as_ref(), event, resolved, changes),
            (Body::GrantAdded(grant), _) => self.granted(event, grant, changes),
            (Body::Relay(relay), Some(run)) => {
                self.asked(run, event, relay, changes);
            }
            _ => self.of_mission(event, changes),
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Snapshot<'a> {
            pending: usize,
            requests: &'a [Request],
            grants: &'a [Grant],
        }
        Snapshot { pending: self.known.waiting(), requests: &self.requests, grants: &self.grants }
    }
}

impl Permissions {
    /// All requests, in the order they were asked.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The requests that wait for an answer, first come, first served.
    pub fn pending(&self) -> impl Iterator<Item = &Request> {
        self.known.numbers_waiting().map(|number| &self.requests[number])
    }

    /// What holds without asking, in the order it was granted.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Takes in a request, and gives its number.
    fn asked(&mut self, run: &RunId, event: &Event, relay: &Relay, changes: &mut Changes) -> usize {
        let (place, waits) = self.known.ask(run, relay);
        let asked = Request {
            id: relay.id.clone(),
            status: Status::Pending,
            orphan: false,
            kind: Some(relay.kind.clone()),
            run_id: event.head.run_id.clone(),
            agent: agent_name(event),
            node_id: event.head.node_id.clone(),
            tool_call_id: relay.tool_call_id.clone(),
            tool: relay.tool.clone(),
            params: relay.params.clone(),
            prompt: relay.prompt.clone(),
            options: relay.options.clone(),
            schema: relay.schema.clone(),
            asked_at: event.head.at,
            expires_at: relay.expires_at,
            answer: None,
        };
        self.keep(place, asked, changes);
        if waits {
            changes.set(path!["pending"], &self.known.waiting());
        }
        place
    }

    /// Adds a request, or puts it in the place of one that was seen or answered before, with its answer.
    fn keep(&mut self, place: usize, mut asked: Request, changes: &mut Changes) {
        let Some(request) = self.requests.get_mut(place) else {
            changes.append(path!["requests"], &asked);
            self.requests.push(asked);
            return;
        };
        if let Some(answer) = request.answer.take() {
            asked.status = request.status;
            asked.answer = Some(answer);
        }
        asked.asked_at = request.asked_at.or(asked.asked_at);
        *request = asked;
        changes.set(path!["requests", place], request);
    }

    fn answered(
        &mut self,
        run: Option<&RunId>,
        event: &Event,
        resolved: &RelayResolved,
        changes: &mut Changes,
    ) {
        let waited = self.known.waiting();
        let (place, counts) = self.known.answer(run, &resolved.relay_id);
        if place == self.requests.len() {
            self.keep(place, orphan(run, &resolved.relay_id), changes);
        }
        if !counts {
            return;
        }
        let answer = Answer {
            by: resolved.by.clone(),
            at: event.head.at,
            approved: resolved.approved,
            answer: resolved.answer.clone(),
            input: resolved.input.clone(),
            scope: resolved.scope.clone(),
            reason: resolved.reason.clone(),
        };
        let status = Status::of(resolved);
        let request = &mut self.requests[place];
        renew(&mut request.answer, Some(answer), changes, path!["requests", place, "answer"]);
        put(&mut request.status, status, changes, path!["requests", place, "status"]);
        self.count(waited, changes);
    }

    fn granted(&mut self, event: &Event, granted: &GrantAdded, changes: &mut Changes) {
        let grant = Grant {
            rule: granted.rule.clone(),
            scope: granted.scope.clone(),
            by: granted.by.clone(),
            at: event.head.at,
        };
        changes.append(path!["grants"], &grant);
        self.grants.push(grant);
    }

    /// Nobody waits any more for what an event shows to be over.
    fn settle(&mut self, event: &Event, changes: &mut Changes) {
        let waited = self.known.waiting();
        for (place, standing) in self.known.settle(event) {
            let status = &mut self.requests[place].status;
            put(status, standing, changes, path!["requests", place, "status"]);
        }
        self.count(waited, changes);
    }

    /// Says how many wait, if that has changed.
    fn count(&self, waited: usize, changes: &mut Changes) {
        if self.known.waiting() != waited {
            changes.set(path!["pending"], &self.known.waiting());
        }
    }
}

/// A row for an answer whose request nobody saw.
fn orphan(run: Option<&RunId>, id: &RelayId) -> Request {
    Request {
        id: id.clone(),
        status: Status::Closed,
        orphan: true,
        kind: None,
        run_id: run.cloned(),
        agent: None,
        node_id: None,
        tool_call_id: None,
        tool: None,
        params: None,
        prompt: None,
        options: None,
        schema: None,
        asked_at: None,
        expires_at: None,
        answer: None,
    }
}
