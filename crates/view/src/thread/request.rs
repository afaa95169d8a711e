//! Requests to people: where each is shown, and what became of it.
//!
//! Which request an answer is for says [`crate::request::Requests`]. Start reading at [`Thread::request`] and
//! [`Thread::resolve`].

use std::collections::BTreeMap;

use antiphon_event::body::request::{self, RelayResolved};
use antiphon_event::{Body, CallId, Event, Kind, RunId};
use antiphon_graph::{Change, Conversation, Node, Placed};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use super::part::{Answer, Part, Relay};
use super::{Thread, answer_of};
use crate::{Changes, Standing};

/// All requests, and answers to those that have not come.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    known: crate::request::Requests,
    /// What there is of each, by its number.
    all: Vec<Request>,
    /// Those that are shown alone because the call of their run has not come, by run and call.
    #[serde(default)]
    #[serde_as(as = "Vec<(_, _)>")]
    early: BTreeMap<(RunId, CallId), Vec<usize>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
enum Request {
    /// It has no place to be shown in.
    #[default]
    Nowhere,
    /// It is the nth about a part.
    Shown { part: u32, nth: usize },
    /// Only its answer has come.
    Early(RelayResolved),
}

impl Requests {
    fn get(&mut self, number: usize) -> &mut Request {
        if self.all.len() <= number {
            self.all.resize_with(number + 1, Request::default);
        }
        &mut self.all[number]
    }
}

impl Thread {
    /// A request to a person: shown with its call, or on its own until that comes. It stays with the first call that has it.
    pub(super) fn request(
        &mut self,
        conversation: &Conversation,
        relay: &request::Relay,
        placed: Placed,
        event: &Event,
        entry: Option<u32>,
        changes: &mut Changes,
    ) {
        let Some(run) = event.head.run_id.as_ref() else { return };
        let (number, waits) = self.requests.known.ask(run, relay);
        let (part, nth) = if let Request::Shown { part, nth } = *self.requests.get(number) {
            (part, nth)
        } else {
            let call = relay.tool_call_id.as_ref();
            let call = call.and_then(|call| conversation.resolve(run, call.as_str(), Kind::ToolCall));
            let with = call.and_then(|node| self.part_of_node(conversation, node));
            let own = || Some(self.add_part(conversation, entry?, placed.block, changes));
            let Some(part) = with.or_else(own) else { return };
            if let (None, Some(call)) = (with, &relay.tool_call_id) {
                self.requests.early.entry((run.clone(), call.clone())).or_default().push(number);
            }
            (part, answer_of(&mut self.parts, part).next_relay())
        };
        let before = std::mem::replace(self.requests.get(number), Request::Shown { part, nth });
        let early = if let Request::Early(answer) = before { Some(answer) } else { None };
        let is_alone = self.parts[part as usize].block == placed.block;
        if waits || early.is_some() {
            answer_of(&mut self.parts, part).ask(nth, asked(relay, is_alone));
        }
        if let Some(answer) = early {
            answer_of(&mut self.parts, part).settle(nth, |relay| answered(relay, &answer));
        }
        match placed.change {
            Change::Updated if is_alone => self.replace_part(conversation, part, changes),
            _ => self.members_changed(conversation, part, &["relay", "status"], changes),
        }
    }

    /// What its run asked about a call before it came goes to the call.
    pub(super) fn adopt_requests(
        &mut self,
        conversation: &Conversation,
        part: u32,
        event: &Event,
        changes: &mut Changes,
    ) {
        let (Some(run), Body::ToolCall(call)) = (&event.head.run_id, &event.body) else { return };
        if self.requests.early.is_empty() {
            return;
        }
        let Some(numbers) = self.requests.early.remove(&(run.clone(), call.id.clone())) else { return };
        for number in numbers {
            self.adopt_request(conversation, number, part, changes);
        }
        self.members_changed(conversation, part, &["relay", "status"], changes);
    }

    /// A request that was shown alone is shown with its call; alone, it said itself what is asked.
    fn adopt_request(
        &mut self,
        conversation: &Conversation,
        number: usize,
        part: u32,
        changes: &mut Changes,
    ) {
        let Request::Shown { part: alone, .. } = *self.requests.get(number) else { return };
        let Part { block, answer, .. } = &self.parts[alone as usize];
        let asked =
            conversation.block(*block).and_then(|block| conversation.node(block.node)).map(Node::body);
        let relay = answer.as_ref().and_then(Answer::relay).cloned();
        let (Some(Body::Relay(asked)), Some(mut relay)) = (asked, relay) else { return };
        (relay.prompt, relay.options) = (asked.prompt.clone(), asked.options.clone());
        self.hide_part(conversation, alone, changes);
        let nth = answer_of(&mut self.parts, part).take_in(relay);
        *self.requests.get(number) = Request::Shown { part, nth };
    }

    /// A request was answered; the first answer counts.
    pub(super) fn resolve(
        &mut self,
        conversation: &Conversation,
        event: &Event,
        resolved: &RelayResolved,
        changes: &mut Changes,
    ) {
        let (number, counts) = self.requests.known.answer(event.head.run_id.as_ref(), &resolved.relay_id);
        if !counts {
            return;
        }
        match self.requests.get(number) {
            Request::Shown { part, nth } => {
                let (part, nth) = (*part, *nth);
                answer_of(&mut self.parts, part).settle(nth, |relay| answered(relay, resolved));
                self.members_changed(conversation, part, &["relay", "status"], changes);
            }
            other => *other = Request::Early(resolved.clone()),
        }
    }

    /// Nobody waits any more for what an event shows to be over.
    pub(super) fn settle(&mut self, conversation: &Conversation, event: &Event, changes: &mut Changes) {
        for (number, standing) in self.requests.known.settle(event) {
            let Request::Shown { part, nth } = *self.requests.get(number) else { continue };
            answer_of(&mut self.parts, part).settle(nth, |relay| relay.status = standing);
            self.members_changed(conversation, part, &["relay", "status"], changes);
        }
    }
}

/// A request that waits; one that is shown alone says what is asked itself.
fn asked(relay: &request::Relay, is_alone: bool) -> Relay {
    Relay {
        id: relay.id.clone(),
        kind: relay.kind.to_string(),
        status: Standing::Pending,
        prompt: relay.prompt.clone().filter(|_| !is_alone),
        options: relay.options.clone().filter(|_| !is_alone),
        answer: None,
        by: None,
        reason: None,
    }
}

fn answered(relay: &mut Relay, answer: &RelayResolved) {
    relay.answer.clone_from(&answer.answer);
    relay.status = Standing::of(answer);
    relay.by = Some(answer.by.clone());
    relay.reason.clone_from(&answer.reason);
}
