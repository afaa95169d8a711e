//! May a call run? Calls are judged one after another in the order in which the model made them.

use std::borrow::Cow;

use antiphon_event::body::request::Relay;
use antiphon_event::body::tool::ToolCall;
use antiphon_event::{Body, Event, Json, RelayKind, Timestamp};

use super::calls::{Call, State};
use super::say::parse_error;
use super::{Agent, Failure, Now};
use crate::permission::{Ask, Policy, Verdict};

/// The tool by which a model asks a person.
pub const ASK: &str = "ask";
/// The tool by which a model calls another agent.
pub const AGENT: &str = "agent";
/// The tool by which a model hands its work to another agent.
pub const HANDOFF: &str = "handoff";

/// What is to be done about a call that nobody has let through yet.
enum Judged {
    /// It may run, with these arguments.
    Fine(Json),
    /// A person decides; why.
    Ask(String),
    /// It cannot; why.
    No(Failure),
}

impl Agent {
    /// The next thing that follows for the calls of a step: a result without running, a request, or a start.
    pub(super) fn act(&self, now: Now<'_>) -> Vec<Event> {
        let mut allowed = Vec::new();
        for (nth, call) in self.calls.iter().enumerate() {
            match &call.state {
                State::Done => {}
                State::Answered(answer) => return vec![self.given(call, answer, now)],
                State::Running if call.relay.is_some() => {}
                State::Running if call.name == ASK => return vec![self.question(call, now)],
                State::Running if call.name == HANDOFF && self.calls.are_done_but(&call.id) => {
                    return self.hand_over(call, now);
                }
                State::Running => {}
                State::Refused(why) => {
                    return vec![self.tool_result(call, Err(super::ask::denied(why)), now)];
                }
                State::Approved(_) | State::Proposed if call.relay.is_some() => return Vec::new(),
                State::Approved(input) => {
                    let input = input.as_ref().unwrap_or(&call.input);
                    match self.outfit().check(&call.name, input) {
                        Ok(input) => allowed.push((call, input)),
                        Err(why) => return vec![self.tool_result(call, Err(Failure::schema(why)), now)],
                    }
                }
                State::Proposed => match self.judge(nth, call, now) {
                    Judged::Fine(input) => allowed.push((call, input)),
                    Judged::Ask(why) => return vec![self.ask_permission(call, why, now)],
                    Judged::No(failure) => return vec![self.tool_result(call, Err(failure), now)],
                },
            }
        }
        self.start_some(allowed, now)
    }

    /// Lets as many calls run as may at once; each is written down once more before it does.
    fn start_some(&self, allowed: Vec<(&Call, Json)>, now: Now<'_>) -> Vec<Event> {
        let free = self
            .definition
            .limits
            .max_parallel_tools
            .max(1)
            .saturating_sub(self.calls.count(&State::Running));
        let start = |(call, input): (&Call, Json)| {
            let call_type = self.outfit().spec(&call.name).and_then(|spec| spec.call_type.clone());
            let (id, name) = (call.id.clone(), call.name.clone());
            self.event(now, Body::ToolCall(ToolCall { id, name, input, call_type, harness: None }))
        };
        allowed.into_iter().take(free).map(start).collect()
    }

    fn judge(&self, nth: usize, call: &Call, now: Now<'_>) -> Judged {
        if self.is_wrapping_up() {
            return Judged::No(Failure::new(
                "no more calls are made: the bound on steps is reached".to_owned(),
            ));
        }
        let max = self.definition.limits.max_calls;
        if nth >= max {
            return Judged::No(Failure::new(format!(
                "at most {max} calls are made in one step; call it again"
            )));
        }
        if let Some(why) = parse_error(&call.input) {
            return Judged::No(Failure::schema(why));
        }
        let input = match self.outfit().check(&call.name, &call.input) {
            Ok(input) => input,
            Err(why) => return Judged::No(Failure::schema(why)),
        };
        match call.name.as_str() {
            ASK => return Judged::Fine(input),
            AGENT => return self.judge_agent(input),
            HANDOFF => return self.judge_handoff(nth, input),
            _ => {}
        }
        let subjects = now.world.subjects(&call.name, &input);
        let sources = self.sources(&input);
        let ask = Ask { tool: &call.name, input: &input, subjects: &subjects, sources: &sources };
        match self.policy().judge(&ask) {
            Verdict::Allow => Judged::Fine(input),
            Verdict::Ask(why) => Judged::Ask(why),
            Verdict::Deny(why) => Judged::No(super::ask::denied(&why)),
        }
    }

    /// The rules as they are now.
    fn policy(&self) -> Cow<'_, Policy> {
        let policy = &self.outfit().policy;
        if self.grants.is_empty() {
            return Cow::Borrowed(policy);
        }
        let mut policy = policy.clone();
        for rule in &self.grants {
            policy.grant(rule.clone());
        }
        Cow::Owned(policy)
    }

    fn judge_agent(&self, input: Json) -> Judged {
        let limits = &self.definition.limits;
        let (depth, started) = (self.origin.who.depth, self.agents);
        if depth >= limits.max_depth {
            let why = format!("agents may call agents {} deep, and this one is at {depth}", limits.max_depth);
            return Judged::No(Failure::new(why));
        }
        if started >= limits.max_agents {
            let why = format!("an agent may call {} agents, and this one has", limits.max_agents);
            return Judged::No(Failure::new(why));
        }
        Judged::Fine(input)
    }

    /// Only one agent can take the work over.
    fn judge_handoff(&self, nth: usize, input: Json) -> Judged {
        if self.calls.iter().take(nth).any(|call| call.name == HANDOFF) {
            let why = "the work can be handed to one agent at a time; the first handoff counts";
            return Judged::No(Failure::new(why.to_owned()));
        }
        Judged::Fine(input)
    }

    fn ask_permission(&self, call: &Call, why: String, now: Now<'_>) -> Event {
        let relay = Relay {
            kind: RelayKind::Permission,
            params: Some(call.input.clone()),
            prompt: Some(why),
            ..self.request(format!("{}:permission", call.id), Some(call), now)
        };
        self.event(now, Body::Relay(Box::new(relay)))
    }

    /// An empty request.
    pub(super) fn request(&self, id: String, call: Option<&Call>, now: Now<'_>) -> Relay {
        let timeout = self.definition.limits.relay_timeout_ms;
        let expires_at = timeout
            .and_then(|timeout| Timestamp::from_millis(now.at.millis().saturating_add(timeout as i64)));
        Relay {
            id: id.into(),
            kind: RelayKind::Question,
            tool_call_id: call.map(|call| call.id.clone()),
            tool: call.map(|call| call.name.clone()),
            params: None,
            prompt: None,
            options: None,
            schema: None,
            expires_at,
        }
    }
}
