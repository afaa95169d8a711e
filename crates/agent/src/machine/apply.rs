//! What an event changes, and what it asks for.

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::body::system::{Error, ModelRetry, Usage};
use antiphon_event::body::tool::ToolCall;
use antiphon_event::{Body, EndReason, ErrorCode, Event, Json, RelayKind, Scope};
use antiphon_view::{Changes, View};
use serde_json::json;

use super::ask::{Granting, is_run_again};
use super::calls::State;
use super::compact::{SOURCE, Summed};
use super::permit::{AGENT, ASK, HANDOFF, QUERY};
use super::{Agent, Effect, Phase};

/// Whether an error is why a model call came to nothing: only of those it is known whether trying again helps.
fn is_of_model(error: &Error) -> bool {
    error.retryable.is_some()
}

impl Agent {
    /// Takes in an event of its run, or of the conversation it sees; never fails, never asks.
    pub fn apply(&mut self, event: &Event) -> Vec<Effect> {
        self.pass_time(event);
        self.seen.apply(event, &mut Changes::default());
        self.sees(&event.body);
        self.heed(event);
        if event.head.run_id.as_ref() != Some(&self.origin.run) {
            return self.overhear(event);
        }
        match &event.body {
            Body::Text(text) => {
                self.unsaid = None;
                self.text(text.id.as_str(), &text.content);
            }
            Body::Reasoning(reasoning) => {
                if self.note(reasoning.id.as_str()) {
                    self.streamed(reasoning.id.as_str());
                }
                self.signed += u32::from(reasoning.signature.is_some());
            }
            Body::ReplInput(input) => {
                self.streamed(input.id.as_str());
                return self.code_begins(input, event.head.at);
            }
            Body::ReplProgress(progress) => self.code_printed(progress),
            Body::ReplOutput(output) => return self.code_ends(output),
            Body::ToolCall(call) => return self.call(call),
            Body::ToolProgress(progress) => self.calls.progressed(progress),
            Body::Usage(usage) => return self.used(usage),
            Body::ModelRetry(retry) => return self.again(retry),
            Body::ToolResult(result) => {
                self.tally.returned(result.is_error == Some(true));
                self.calls.set(&result.id, State::Done);
                if self.code.is_some() {
                    return self.code_given(result);
                }
                return self.perhaps_next();
            }
            Body::Relay(relay) => return self.requested(relay),
            Body::RelayResolved(resolved) => return self.resolved(resolved),
            Body::GrantAdded(grant) => {
                match &grant.relay_id {
                    Some(relay) => self.granting.retain(|granting| granting.relay != *relay),
                    None => drop(self.granting.pop()),
                }
                if grant.scope == Scope::Project {
                    return vec![Effect::Keep(grant.rule.clone())];
                }
            }
            Body::User(_) if self.phase == Phase::Answered => {
                // An answer without code is no answer that did not fit.
                self.repairs += u32::from(std::mem::take(&mut self.is_final) || !self.is_coding());
                return self.next_step();
            }
            Body::Summary(summary) => {
                self.streamed(&summary.id);
                self.summing = true;
                self.summed = Some(Summed { id: summary.id.clone(), sources: summary.sources.clone() });
            }
            Body::Resumed(_) if self.summing => self.is_summed(),
            Body::HistoryCompacted(_) => {
                self.summed = None;
                return self.ask();
            }
            Body::Diagnostic(diagnostic) if diagnostic.source == SOURCE => {
                self.unsummed = true;
                self.stepless += 1;
                return self.ask();
            }
            Body::Handoff(handoff) => {
                let (to, message) = (&handoff.to_node_id, &handoff.message);
                self.handed = Some(Json::from(json!({"handoff": to, "message": message})));
            }
            Body::CancelRequested(request) => self.cancel = Some(request.mode.clone()),
            Body::Error(error) => {
                let code = error.code.as_deref().map_or(ErrorCode::Failed, ErrorCode::from);
                self.error = Some((code, error.message.clone()));
                self.stepless += u32::from(is_of_model(error));
            }
            Body::HarnessStart(_) => {
                self.began = event.head.at;
                return self.next_step();
            }
            Body::HarnessEnd(end) => {
                self.phase = Phase::Ended(end.reason.clone().unwrap_or(EndReason::Done));
                self.calls.clear();
                self.code = None;
                self.continuation = None;
                return vec![Effect::Stop];
            }
            _ => {}
        }
        Vec::new()
    }

    /// Takes in what people granted, to it or to another agent of its tree.
    pub fn heed(&mut self, event: &Event) {
        if let Body::GrantAdded(grant) = &event.body {
            self.grants.extend(serde_json::from_str(grant.rule.as_str()));
        }
    }

    fn pass_time(&mut self, event: &Event) {
        let Some(at) = event.head.at else { return };
        if !matches!(event.body, Body::Resumed(_)) {
            self.worked_ms = self.worked_until(at);
        }
        self.last = Some(at);
    }

    /// Notes the id of something that was said in this model call; whether it is new.
    fn note(&mut self, id: &str) -> bool {
        let is_new =
            self.said.last().is_none_or(|last| last != id) && !self.said.iter().any(|said| said == id);
        if is_new {
            self.said.push(id.to_owned());
        }
        is_new
    }

    fn text(&mut self, id: &str, content: &str) {
        if !self.may_ask() || self.note(id) {
            self.streamed(id);
        }
        if self.text_of != self.begun {
            self.text_of = self.begun;
            self.text.clear();
        }
        self.text.push_str(content);
    }

    fn call(&mut self, call: &ToolCall) -> Vec<Effect> {
        let may_run = self.phase == Phase::Acting;
        self.code_calls(call);
        if self.calls.take(call, may_run) && may_run {
            self.granting.retain(|granting| granting.call != call.id);
            return match call.name.as_str() {
                ASK | HANDOFF => Vec::new(),
                AGENT | QUERY => {
                    self.agents += 1;
                    vec![Effect::Spawn(call.id.clone())]
                }
                _ => vec![Effect::Run(call.id.clone())],
            };
        }
        if self.code.is_some() {
            return Vec::new();
        }
        self.note(call.id.as_str());
        let own = call.id.as_str().strip_prefix(self.origin.run.as_str()).and_then(|id| id.strip_prefix('/'));
        let raw = own.unwrap_or(call.id.as_str());
        let numbered = raw.rsplit_once('~').and_then(|(first, nth)| Some((first, nth.parse::<u32>().ok()?)));
        if let Some((first, nth)) = numbered
            && let Some(highest) = self.ids.get_mut(first)
        {
            *highest = nth.max(*highest);
        }
        self.ids.entry(raw.to_owned()).or_insert(1);
        Vec::new()
    }

    /// The model has made a summary, whether or not it is known what that used.
    fn is_summed(&mut self) {
        self.summing = false;
        self.stepless += 1;
        // How much the model reads from now on is not known before it has read it.
        self.tally.last_input_tokens = 0;
    }

    /// A step is whole. An answer to which somebody has said something is not the last one.
    fn used(&mut self, usage: &Usage) -> Vec<Effect> {
        self.tally.used(usage);
        self.usages += 1;
        if self.summing {
            self.is_summed();
            return Vec::new();
        }
        self.iterations += 1;
        self.reheard = 0;
        self.attempt = 1;
        self.failures = 0;
        self.unsummed = false;
        self.forget();
        if self.text_of != self.begun {
            self.text.clear();
        }
        self.phase = if self.calls.is_empty() { Phase::Answered } else { Phase::Acting };
        let goes_on = self.phase == Phase::Answered && self.has_unheard() && !self.is_coding();
        if goes_on { self.next_step() } else { Vec::new() }
    }

    /// A model call is made again: at once after a crash, after a while if the model failed.
    fn again(&mut self, retry: &ModelRetry) -> Vec<Effect> {
        self.reheard += u32::from(self.has_unheard());
        self.attempt = retry.attempt;
        self.begun += 1;
        self.forget();
        self.calls.clear();
        self.phase = match retry.delay_ms {
            None => Phase::Ready,
            Some(delay) => {
                self.failures += 1;
                self.stepless += 1;
                Phase::Delayed(delay)
            }
        };
        self.ask()
    }

    fn forget(&mut self) {
        self.said.clear();
        self.signed = 0;
    }

    /// Asks the model, unless something else follows.
    pub(super) fn ask(&self) -> Vec<Effect> {
        match self.phase {
            _ if !self.may_go_on() => Vec::new(),
            Phase::Delayed(millis) => vec![Effect::Wait(millis)],
            _ => vec![Effect::Ask],
        }
    }

    /// The next step begins when all calls of this one have their results.
    fn perhaps_next(&mut self) -> Vec<Effect> {
        if self.phase != Phase::Acting || !self.calls.are_done() {
            return Vec::new();
        }
        self.calls.clear();
        self.next_step()
    }

    pub(super) fn next_step(&mut self) -> Vec<Effect> {
        self.begun += 1;
        self.phase = Phase::Ready;
        self.ask()
    }

    fn requested(&mut self, relay: &Relay) -> Vec<Effect> {
        let watch = relay.expires_at.map(|at| Effect::Watch(relay.id.clone(), at));
        if let Some(call) = &relay.tool_call_id {
            self.calls.asked(call, relay.clone());
        } else {
            self.continuation = Some(Box::new(relay.clone()));
            self.phase = Phase::Limited;
        }
        watch.into_iter().collect()
    }

    fn resolved(&mut self, resolved: &RelayResolved) -> Vec<Effect> {
        let yes = resolved.approved == Some(true);
        if self.continuation.as_ref().is_some_and(|relay| relay.id == resolved.relay_id) {
            self.continuation = None;
            if yes {
                self.extended = self.extended.saturating_add(self.definition.max_iterations.max(1));
                self.phase = Phase::Ready;
                return self.ask();
            }
            self.phase = Phase::Declined;
            return Vec::new();
        }
        let Some((call, relay)) = self.calls.answered(&resolved.relay_id) else { return Vec::new() };
        let why = || resolved.reason.clone().unwrap_or_else(|| format!("{} said no", resolved.by));
        if let (RelayKind::Permission, true, Some(scope)) = (&relay.kind, yes, resolved.scope.as_ref())
            && *scope != Scope::Call
        {
            let (relay, call) = (resolved.relay_id.clone(), call.clone());
            self.granting.push(Granting { relay, call, scope: scope.clone(), by: resolved.by.clone() });
        }
        let state = match relay.kind {
            RelayKind::Permission if yes => State::Approved(resolved.input.clone()),
            RelayKind::Permission => State::Refused(why()),
            RelayKind::Approval if is_run_again(resolved) => return vec![Effect::Run(call)],
            _ => State::Answered(Box::new(resolved.clone())),
        };
        self.calls.set(&call, state);
        Vec::new()
    }
}
