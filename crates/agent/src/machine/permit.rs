//! May a call run? Calls are judged one after another in the order in which the model made them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use antiphon_event::body::request::Relay;
use antiphon_event::body::tool::ToolCall;
use antiphon_event::{Body, Event, Json, RelayKind, Scope, Timestamp};

use super::ask::{cancelled, denied};
use super::calls::{Call, State};
use super::say::parse_error;
use super::{Agent, Failure, Now, World};
use crate::permission::{Ask, Policy, Rule, Subject, Verdict};

/// The tool by which a model asks a person.
pub const ASK: &str = "ask";
/// The tool by which a model calls another agent.
pub const AGENT: &str = "agent";
/// The tool by which code asks a model.
pub const QUERY: &str = "llm_query";
/// The tool by which a model hands its work to another agent.
pub const HANDOFF: &str = "handoff";

/// What is to be done about a call that nobody has let through yet.
enum Judged {
    /// It may run, with these arguments.
    Fine(Json),
    /// A person decides, about these arguments; why.
    Ask(Json, String),
    /// It cannot; why.
    No(Failure),
}

impl Agent {
    /// The next thing that follows for the calls of a step: results without running, a request, or starts.
    pub(super) fn act(&self, now: Now<'_>) -> Vec<Event> {
        let mut results = Vec::new();
        let mut allowed: Vec<(&Call, Json)> = Vec::new();
        for (nth, call) in self.calls.iter().enumerate() {
            let judged = match &call.state {
                State::Running if call.relay.is_none() && call.is_own() && results.is_empty() => {
                    match self.carry_on(call, now) {
                        events if events.is_empty() => continue,
                        events => return events,
                    }
                }
                State::Running | State::Done => continue,
                State::Approved(_) | State::Proposed if call.relay.is_some() => return results,
                State::Answered(answer) => {
                    results.push(self.given(call, answer, now));
                    continue;
                }
                State::Refused(why) => Judged::No(denied(why)),
                State::Approved(input) => {
                    self.judge_approved(call, input.as_ref().unwrap_or(&call.input), &allowed)
                }
                State::Proposed => self.judge(nth, call, &allowed, now),
            };
            match judged {
                Judged::Fine(input) => allowed.push((call, input)),
                Judged::No(failure) => results.push(self.tool_result(call, Err(failure), now)),
                Judged::Ask(..) if !results.is_empty() => return results,
                Judged::Ask(input, why) => return vec![self.ask_permission(call, input, why, now)],
            }
        }
        if results.is_empty() { self.start_some(allowed, now) } else { results }
    }

    /// What follows for a call that the loop itself carries out.
    fn carry_on(&self, call: &Call, now: Now<'_>) -> Vec<Event> {
        match call.name.as_str() {
            ASK if self.calls.iter().any(Call::is_asked) => Vec::new(),
            ASK => vec![self.question(call, now)],
            _ if self.calls.are_done_but(&call.id) => vec![self.hand_over(call, now)],
            _ => Vec::new(),
        }
    }

    /// Lets as many calls run as may at once; each is written down once more before it does.
    fn start_some(&self, allowed: Vec<(&Call, Json)>, now: Now<'_>) -> Vec<Event> {
        let under_way = self.calls.iter().filter(|call| call.is_under_way()).count();
        let mut free = self.definition.limits.max_parallel_tools.max(1).saturating_sub(under_way);
        let mut events = Vec::new();
        for (call, input) in allowed {
            if !call.is_own() {
                let Some(left) = free.checked_sub(1) else { continue };
                free = left;
            }
            let call_type = self.outfit().spec(&call.name).and_then(|spec| spec.call_type.clone());
            let (id, name) = (call.id.clone(), call.name.clone());
            let call = ToolCall { id, name, input, call_type, harness: None };
            events.push(self.event(now, Body::ToolCall(call)));
        }
        events
    }

    fn judge_approved(&self, call: &Call, input: &Json, before: &[(&Call, Json)]) -> Judged {
        match self.outfit().check(&call.name, input) {
            Ok(input) => match self.beyond(call, before) {
                None => Judged::Fine(input),
                Some(why) => Judged::No(Failure::new(why)),
            },
            Err(why) => Judged::No(Failure::schema(why)),
        }
    }

    /// May a call run that the model made as its nth, when these are about to run before it?
    fn judge(&self, nth: usize, call: &Call, before: &[(&Call, Json)], now: Now<'_>) -> Judged {
        if self.is_beyond_limit() {
            let why = "no more calls are made: the bound on steps is reached";
            return Judged::No(Failure::new(why.to_owned()));
        }
        let max = self.definition.limits.max_calls;
        if nth >= max {
            let why = format!("at most {max} calls are made in one step; call it again");
            return Judged::No(Failure::new(why));
        }
        if let Some(why) = parse_error(&call.input) {
            return Judged::No(Failure::schema(why));
        }
        let input = match self.outfit().check(&call.name, &call.input) {
            Ok(input) => input,
            Err(why) => return Judged::No(Failure::schema(why)),
        };
        let verdict = self.verdict(call, &input, now);
        if let Verdict::Deny(why) = &verdict {
            return Judged::No(denied(why));
        }
        if let Some(why) = self.beyond(call, before) {
            return Judged::No(Failure::new(why));
        }
        let begins = call.is_own() || matches!(call.name.as_str(), AGENT | QUERY);
        match verdict {
            _ if begins && self.cancel.is_some() => Judged::No(cancelled()),
            Verdict::Ask(_) if self.cancel.is_some() => Judged::No(cancelled()),
            // A question is itself how a person is asked, a handoff goes only where the definition says, and a query is a
            // call of the model that the agent has anyway.
            Verdict::Ask(why) if !call.is_own() && call.name != QUERY => Judged::Ask(input, why),
            Verdict::Ask(_) | Verdict::Allow | Verdict::Deny(_) => Judged::Fine(input),
        }
    }

    /// Why a call is beyond what agents may do with one another, if it is.
    fn beyond(&self, call: &Call, before: &[(&Call, Json)]) -> Option<String> {
        match call.name.as_str() {
            AGENT => self.too_deep().or_else(|| self.too_many_agents(before)),
            QUERY => self.too_many_agents(before),
            HANDOFF => self.too_many_handoffs(before),
            _ => None,
        }
    }

    /// What the rules say about a call with these arguments.
    pub(super) fn verdict(&self, call: &Call, input: &Json, now: Now<'_>) -> Verdict {
        let subjects = now.world.subjects(&call.name, input);
        let sources = self.sources(input);
        self.policy().judge(&Ask { tool: &call.name, input, subjects: &subjects, sources: &sources })
    }

    /// Whether what a call comes upon is as free to it as what it was called with.
    pub fn reach(&self, call: &Call, world: &dyn World) -> impl Fn(&Subject) -> bool + Send + Sync + use<> {
        let (tool, input) = (call.name.clone(), call.input.clone());
        let (subjects, sources) = (world.subjects(&tool, &input), self.sources(&input));
        let (outfit, grants) = (Arc::clone(self.outfit()), self.grants.clone());
        // Most calls come upon nothing.
        let policy = OnceLock::new();
        move |found| {
            let policy = policy.get_or_init(|| granted(&outfit.policy, &grants).into_owned());
            let asked = Ask { tool: &tool, input: &input, subjects: &subjects, sources: &sources };
            policy.reaches(&asked, found)
        }
    }

    /// The rules as they are now.
    pub(super) fn policy(&self) -> Cow<'_, Policy> {
        granted(&self.outfit().policy, &self.grants)
    }

    fn too_deep(&self) -> Option<String> {
        let (depth, max) = (self.origin.who.depth, self.definition.limits.max_depth);
        (depth >= max).then(|| format!("agents may call agents {max} deep, and this one is at {depth}"))
    }

    fn too_many_agents(&self, before: &[(&Call, Json)]) -> Option<String> {
        let limits = &self.definition.limits;
        let begins = |(call, _): &&(&Call, Json)| matches!(call.name.as_str(), AGENT | QUERY);
        let started = self.agents as usize + before.iter().filter(begins).count();
        (started >= limits.max_agents as usize)
            .then(|| format!("an agent may call {} agents, and this one has", limits.max_agents))
    }

    /// Only one agent can take the work over.
    fn too_many_handoffs(&self, before: &[(&Call, Json)]) -> Option<String> {
        let under_way = self.calls.iter().filter(|call| call.state == State::Running);
        let another = under_way.chain(before.iter().map(|(call, _)| *call)).any(|call| call.name == HANDOFF);
        another.then(|| "the work can be handed to one agent at a time; the first handoff counts".to_owned())
    }

    fn ask_permission(&self, call: &Call, input: Json, why: String, now: Now<'_>) -> Event {
        let only_once = self.rule_for(call, &input, now).is_none();
        let relay = Relay {
            kind: RelayKind::Permission,
            params: Some(input),
            scopes: only_once.then(|| vec![Scope::Call]),
            prompt: Some(why),
            ..self.request(format!("{}:permission", call.id), Some(call), now)
        };
        self.event(now, Body::Relay(Box::new(relay)))
    }

    /// An empty request.
    pub(super) fn request(&self, id: String, call: Option<&Call>, now: Now<'_>) -> Relay {
        let timeout = self.definition.limits.relay_timeout_ms;
        let expires_at = timeout.and_then(|timeout| {
            let millis = now.at.millis().saturating_add(i64::try_from(timeout).unwrap_or(i64::MAX));
            Timestamp::from_millis(millis)
        });
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
            scopes: None,
        }
    }
}

/// Rules with what people granted.
fn granted<'a>(policy: &'a Policy, grants: &[Rule]) -> Cow<'a, Policy> {
    if grants.is_empty() {
        return Cow::Borrowed(policy);
    }
    let mut policy = policy.clone();
    for rule in grants {
        policy.grant(rule.clone());
    }
    Cow::Owned(policy)
}
