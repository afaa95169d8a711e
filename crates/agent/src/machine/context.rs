//! What the model is asked: the conversation as the agent sees it.

use std::collections::BTreeMap;

use antiphon_event::body::content::{Part, PartKind};
use antiphon_event::body::flow::Resumed;
use antiphon_event::{Body, CallId, Event, Json, RelayId, ReplId, Timestamp};

use super::code::without_calls;
use super::permit::{AGENT, QUERY};
use super::{Agent, Now, Phase};
use crate::{Content, Message, Prompt};

/// What the model is to be asked next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// To go on.
    Step(Prompt),
    /// To put what was said so far into a summary.
    Summary(Prompt),
}

/// Something that has begun and has no outcome: what a new process has to take care of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Open {
    /// The model is to be asked.
    Ask,
    /// The model is to be asked after so many milliseconds.
    Wait(u64),
    /// A call of a tool was under way.
    Call(CallId),
    /// A call of another agent was.
    Agent(CallId),
    /// Code was.
    Code(ReplId),
    /// A request ends at this moment.
    Watch(RelayId, Timestamp),
}

const WRAP_UP: &str = "You have no more steps. Say what you found and what is left to do; call no tools.";

const WRAP_UP_CODE: &str =
    "You have no more steps. Say what you found and what is left to do; write no code.";

impl Agent {
    /// What the model is to be asked now. What was asked before is kept, so it costs what has come since.
    pub fn next_ask(&mut self) -> Next {
        self.catch_up();
        if let Some(prompt) = self.summary_prompt() {
            return Next::Summary(prompt);
        }
        let (outfit, wrapping) = (self.outfit(), self.is_wrapping_up());
        let system = [self.definition.system.as_deref().unwrap_or_default(), &outfit.notes];
        let mut system: Vec<&str> = system.into_iter().filter(|part| !part.is_empty()).collect();
        let coding = self.is_coding();
        if coding && !wrapping {
            system.push(&self.told.notes);
        }
        if wrapping {
            system.push(if coding { WRAP_UP_CODE } else { WRAP_UP });
        }
        let model = &self.definition.model;
        Next::Step(Prompt {
            system: system.join("\n\n"),
            messages: self.told.said.clone(),
            tools: if wrapping || coding { Vec::new() } else { outfit.specs().cloned().collect() },
            output: self.definition.output.clone().filter(|_| wrapping || !coding),
            max_tokens: model.max_tokens,
            temperature: model.temperature,
            thinking_tokens: model.thinking_tokens,
            call: self.asked(),
        })
    }

    /// The conversation as it sees it, with long results cut.
    pub fn messages(&self) -> Vec<Message> {
        let own = self.seen.projection().list(self.seen.conversation());
        self.before.iter().cloned().chain(own).filter_map(|message| self.shown(message)).collect()
    }

    /// A message as the model is shown it, if it is at all.
    pub(super) fn shown(&self, mut message: Message) -> Option<Message> {
        if let Message::Tool { content, .. } = &mut message {
            cut(content, self.definition.limits.max_result_chars);
        }
        if self.is_coding() { without_calls(message) } else { Some(message) }
    }

    /// Every call that gave text, as far as it sees it: the tool, its arguments and the text, the first one first.
    pub fn recollect(&self, mut each: impl FnMut(&str, &Json, &str)) {
        let own = self.seen.projection().list(self.seen.conversation());
        let mut calls = BTreeMap::new();
        for message in self.before.iter().cloned().chain(own) {
            match message {
                Message::Assistant { tool_calls, .. } => {
                    let made = tool_calls.into_iter().flatten();
                    calls.extend(made.map(|call| (call.id, call.arguments)));
                }
                Message::Tool { tool_call_id, name, content: Content::Text(text), is_error } => {
                    let arguments = calls.remove(&tool_call_id).filter(|_| is_error != Some(true));
                    if let Some(arguments) = arguments {
                        each(&name, &arguments, &text);
                    }
                }
                Message::Tool { .. } | Message::User { .. } => {}
            }
        }
    }

    /// How many times it has asked its model: for steps and for summaries, failures that were tried again included.
    pub fn asked(&self) -> u32 {
        self.asked_before.saturating_add(self.iterations).saturating_add(self.stepless)
    }

    /// The same agent that asked its model so many times before this run.
    #[must_use]
    pub fn after(mut self, asked: u32) -> Self {
        self.asked_before = asked;
        self
    }

    /// The same in a conversation that was so many tokens long when the model was last told it.
    #[must_use]
    pub fn grown_to(mut self, tokens: u64) -> Self {
        self.tally.last_input_tokens = tokens;
        self
    }

    /// A process takes the run over: half an answer does not count.
    pub(super) fn resume(&self, now: Now<'_>) -> Vec<Event> {
        if !self.started() {
            return Vec::new();
        }
        let mut events = vec![self.event(now, Body::Resumed(Resumed { folder: None }))];
        if self.may_ask() && !self.said.is_empty() {
            events.push(self.retry("the process that asked the model died".to_owned(), None, now));
        }
        events
    }

    /// What has begun and has no outcome. What the machine does itself is not among it: it follows by itself.
    pub fn open(&self) -> Vec<Open> {
        let mut open = Vec::new();
        match &self.phase {
            Phase::Ready if self.may_go_on() => open.push(Open::Ask),
            Phase::Delayed(millis) if self.may_go_on() => open.push(Open::Wait(*millis)),
            Phase::New
            | Phase::Ready
            | Phase::Delayed(_)
            | Phase::Acting
            | Phase::Answered
            | Phase::Limited
            | Phase::Declined
            | Phase::Ended(_) => {}
        }
        for call in self.calls.iter().filter(|call| call.is_under_way()) {
            open.push(if matches!(call.name.as_str(), AGENT | QUERY) {
                Open::Agent(call.id.clone())
            } else {
                Open::Call(call.id.clone())
            });
        }
        open.extend(self.code.as_ref().map(|code| Open::Code(code.id.clone())));
        let relays = self.calls.iter().filter_map(|call| call.relay.as_ref()).chain(&self.continuation);
        open.extend(relays.filter_map(|relay| Some(Open::Watch(relay.id.clone(), relay.expires_at?))));
        open
    }
}

/// Cuts a result that is too long for the model; the whole of it is in the journal.
fn cut(content: &mut Content, max: usize) {
    match content {
        Content::Text(text) => shorten(text, max),
        Content::Parts(parts) => cut_parts(parts, max),
    }
}

/// Cuts the first text that is too much, and leaves those after it out. Images and documents stay.
fn cut_parts(parts: &mut Vec<Part>, max: usize) {
    let (mut room, mut left_out) = (max, 0);
    parts.retain_mut(|part| {
        let PartKind::Text { text } = &mut part.kind else { return true };
        let size = text.len();
        if room == 0 {
            left_out += size;
            return false;
        }
        if size > room {
            shorten(text, room);
            *part = text_part(std::mem::take(text));
        }
        room = room.saturating_sub(size);
        true
    });
    if left_out > 0 {
        parts.push(text_part(notice(left_out)));
    }
}

fn text_part(text: String) -> Part {
    let json = Json::from(serde_json::json!({"type": "text", "text": text}));
    Part { kind: PartKind::Text { text }, json }
}

fn notice(left_out: usize) -> String {
    format!("\n… {left_out} bytes left out; ask for less at a time to see them …\n")
}

fn shorten(text: &mut String, max: usize) {
    if text.len() <= max {
        return;
    }
    let (head, tail) = (text.floor_char_boundary(max / 2), text.ceil_char_boundary(text.len() - max / 2));
    text.replace_range(head..tail, &notice(tail - head));
}
