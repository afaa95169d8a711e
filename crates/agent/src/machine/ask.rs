//! What is asked of people, and what comes of their answers.

use antiphon_event::body::request::{GrantAdded, Relay, RelayResolved};
use antiphon_event::body::tool::{ToolProgress, ToolResult, is_piece};
use antiphon_event::{Body, CallId, ErrorCode, Event, Json, RelayId, RelayKind, Scope, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::calls::{Call, State};
use super::permit::{AGENT, ASK, QUERY};
use super::{Agent, Failure, Now, Refusal, Returned};
use crate::permission::{Ask, Rule, Verdict};

const RUN_AGAIN: &str = "run again";
const TAKE_AS_DONE: &str = "take as done";
const FAIL: &str = "fail";
/// Who answered when nobody did.
const TIMEOUT: &str = "timeout";
const RUN: &str = "run";

/// A yes for longer than a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Granting {
    /// The request it was the answer to.
    pub(super) relay: RelayId,
    /// The call that was about.
    pub(super) call: CallId,
    /// For how long.
    pub(super) scope: Scope,
    /// Who said it.
    pub(super) by: String,
}

impl Failure {
    pub(super) fn new(message: String) -> Self {
        Self { code: ErrorCode::Failed, message }
    }

    pub(super) fn schema(message: String) -> Self {
        Self { code: ErrorCode::Schema, message }
    }
}

/// A call that somebody, or a rule, did not let through.
pub(super) fn denied(why: &str) -> Failure {
    Failure { code: ErrorCode::Other("denied".into()), message: format!("denied: {why}") }
}

/// A call that is not made because the run is about to end.
pub(super) fn cancelled() -> Failure {
    Failure { code: ErrorCode::Cancelled, message: "not run: the agent is being cancelled".to_owned() }
}

impl Agent {
    /// What a call comes to.
    pub(super) fn tool_result(&self, call: &Call, result: Result<Returned, Failure>, now: Now<'_>) -> Event {
        let (output, provenance, is_error) = match result {
            Ok(returned) => (returned.output, returned.provenance, None),
            Err(failure) => {
                let output = json!({"error": failure.message, "code": failure.code.as_str()});
                (Json::from(output), None, Some(true))
            }
        };
        let (id, name) = (call.id.clone(), call.name.clone());
        self.event(now, Body::ToolResult(ToolResult { id, name, output, is_error, provenance }))
    }

    pub(super) fn progress(&self, call: &CallId, content: Json, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        let call = self.under_way(call)?;
        let mut id = format!("{}:progress", call.id);
        if is_piece(&content) {
            // Each piece stays; what is no piece takes the place of what was said before.
            id = format!("{id}:{}", call.pieces.saturating_add(1));
        }
        let progress =
            ToolProgress { id: id.into(), tool_call_id: call.id.clone(), name: call.name.clone(), content };
        Ok(vec![self.event(now, Body::ToolProgress(progress))])
    }

    pub(super) fn returned(
        &self,
        call: &CallId,
        result: Result<Returned, Failure>,
        now: Now<'_>,
    ) -> Result<Vec<Event>, Refusal> {
        let call = self.under_way(call)?;
        Ok(vec![self.tool_result(call, result, now)])
    }

    fn under_way(&self, call: &CallId) -> Result<&Call, Refusal> {
        self.calls.under_way(call).ok_or_else(|| Refusal::Late(self.origin.run.clone()))
    }

    /// Nobody knows how a call ended: a person decides, unless it is safe to make it again, as it is for agents,
    /// which go on where they were; then nothing comes of it here.
    pub(super) fn lose(&self, call: &CallId, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        let call = self.under_way(call)?;
        if matches!(call.name.as_str(), AGENT | QUERY) || self.outfit().is_repeatable(&call.name) {
            return Ok(Vec::new());
        }
        let id = match call.doubts {
            0 => format!("{}:in_doubt", call.id),
            asked => format!("{}:in_doubt~{}", call.id, asked + 1),
        };
        let relay = Relay {
            kind: RelayKind::Approval,
            params: Some(call.input.clone()),
            prompt: Some(format!("`{}` had started, and nobody knows whether it did its work", call.name)),
            options: Some([RUN_AGAIN, TAKE_AS_DONE, FAIL].map(str::to_owned).to_vec()),
            ..self.request(id, Some(call), now)
        };
        Ok(vec![self.event(now, Body::Relay(Box::new(relay)))])
    }

    /// What a call of the `ask` tool asks.
    pub(super) fn question(&self, call: &Call, now: Now<'_>) -> Event {
        let input = call.input.value();
        let options = input["options"].as_array().filter(|options| !options.is_empty()).map(|options| {
            options
                .iter()
                .map(|option| option.as_str().map_or_else(|| option.to_string(), str::to_owned))
                .collect()
        });
        let relay = Relay {
            kind: RelayKind::Question,
            prompt: input["question"].as_str().map(str::to_owned),
            options,
            ..self.request(format!("{}:question", call.id), Some(call), now)
        };
        self.event(now, Body::Relay(Box::new(relay)))
    }

    /// Asks whether it may go on beyond its bound.
    pub(super) fn ask_to_continue(&self, now: Now<'_>) -> Event {
        let prompt =
            format!("its {} model calls are used up and it is not done; may it go on?", self.iterations);
        let relay = Relay {
            kind: RelayKind::Continuation,
            prompt: Some(prompt),
            ..self.request(format!("{}/continue:{}", self.origin.run, self.iterations), None, now)
        };
        self.event(now, Body::Relay(Box::new(relay)))
    }

    pub(super) fn answer(&self, answer: RelayResolved, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        let (call, relay) = self.awaited(&answer, now.at)?;
        if let Some(call) = call.filter(|_| relay.kind == RelayKind::Permission) {
            self.may_change(call, &answer, now)?;
        }
        Ok(vec![self.event(now, Body::RelayResolved(Box::new(answer)))])
    }

    /// Whether an answer would be taken now, as far as that can be told without what the agent works with: something
    /// asks for it, and it says what was asked.
    pub fn accepts(&self, answer: &RelayResolved, at: Timestamp) -> Result<(), Refusal> {
        self.awaited(answer, at).map(|_| ())
    }

    /// The request that an answer is to, and the call that is about.
    fn awaited(&self, answer: &RelayResolved, at: Timestamp) -> Result<(Option<&Call>, &Relay), Refusal> {
        let id = &answer.relay_id;
        let (call, relay) = self.pending(id).ok_or_else(|| Refusal::NotPending(id.clone()))?;
        if relay.expires_at.is_some_and(|expires| expires <= at) {
            return Err(Refusal::NotPending(id.clone()));
        }
        fits(relay, answer)?;
        Ok((call, relay))
    }

    /// A request that waits for a person, and the call it is about.
    fn pending(&self, id: &RelayId) -> Option<(Option<&Call>, &Relay)> {
        let about_none = self.continuation.as_deref().filter(|relay| relay.id == *id);
        about_none
            .map(|relay| (None, relay))
            .or_else(|| self.calls.of_relay(id).map(|(call, relay)| (Some(call), relay)))
    }

    /// Whoever lets a call through may change its arguments, as far as the tool and the rules go along.
    fn may_change(&self, call: &Call, answer: &RelayResolved, now: Now<'_>) -> Result<(), Refusal> {
        let Some(input) = answer.input.as_ref().filter(|_| answer.approved == Some(true)) else {
            return Ok(());
        };
        let input = self.outfit().check(&call.name, input).map_err(|why| unfit(&answer.relay_id, &why))?;
        match self.verdict(call, &input, now) {
            Verdict::Allow | Verdict::Ask(_) => Ok(()),
            Verdict::Deny(why) => Err(unfit(&answer.relay_id, &why)),
        }
    }

    /// What holds from now on because of an answer: a rule that covers the call and its like.
    pub(super) fn grant(&self, now: Now<'_>) -> Option<Event> {
        let mut granting = self.granting.iter();
        granting.find_map(|Granting { relay, call, scope, by }| {
            let call = self.calls.get(call)?;
            let State::Approved(input) = &call.state else { return None };
            let rule = self.rule_for(call, input.as_ref().unwrap_or(&call.input), now)?;
            let rule = Json::from(serde_json::to_value(&rule).expect("a rule is JSON"));
            let relay_id = Some(relay.clone());
            let grant = GrantAdded { rule, scope: scope.clone(), by: by.clone(), relay_id };
            Some(self.event(now, Body::GrantAdded(grant)))
        })
    }

    /// The rule that covers a call and its like, if one can.
    pub(super) fn rule_for(&self, call: &Call, input: &Json, now: Now<'_>) -> Option<Rule> {
        let input = self.outfit().check(&call.name, input).unwrap_or_else(|_| input.clone());
        let subjects = now.world.subjects(&call.name, &input);
        let sources = self.sources(&input);
        let ask = Ask { tool: &call.name, input: &input, subjects: &subjects, sources: &sources };
        self.policy().rule_for(&ask)
    }

    pub(super) fn expire(&self, id: &RelayId, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        let (_, relay) = self.pending(id).ok_or_else(|| Refusal::NotPending(id.clone()))?;
        if relay.expires_at.is_none_or(|at| at > now.at) {
            return Ok(Vec::new());
        }
        Ok(vec![self.turn_down(relay, "nobody answered in time", TIMEOUT, now)])
    }

    /// A request that nobody needs to answer any more: its run ends.
    pub(super) fn withdraw(&self, relay: &Relay, now: Now<'_>) -> Event {
        self.turn_down(relay, "the run ended before anybody answered", RUN, now)
    }

    fn turn_down(&self, relay: &Relay, reason: &str, by: &str, now: Now<'_>) -> Event {
        let resolved = RelayResolved {
            relay_id: relay.id.clone(),
            approved: Some(false),
            answer: None,
            input: None,
            scope: None,
            reason: Some(reason.to_owned()),
            by: by.to_owned(),
        };
        self.event(now, Body::RelayResolved(Box::new(resolved)))
    }

    /// What an answer about a call that had begun gives.
    pub(super) fn given(&self, call: &Call, answer: &RelayResolved, now: Now<'_>) -> Event {
        let no = || answer.reason.clone().unwrap_or_else(|| format!("{} said no", answer.by));
        let said = |said: &Json| Ok(Returned { output: said.clone(), provenance: None });
        let result = match &answer.answer {
            Some(answered) if call.name == ASK => said(answered),
            Some(choice) if choice.to_text() == TAKE_AS_DONE => {
                said(answer.input.as_ref().unwrap_or(&Json::from(Value::from("done"))))
            }
            None if call.name == ASK => Err(denied(&no())),
            Some(_) => Err(in_doubt(format!("nobody knows how it ended; {} counts it as failed", answer.by))),
            None => Err(in_doubt(no())),
        };
        self.tool_result(call, result, now)
    }
}

/// Whether an answer lets a call in doubt run once more.
pub(super) fn is_run_again(answer: &RelayResolved) -> bool {
    answer.answer.as_ref().is_some_and(|answer| answer.to_text() == RUN_AGAIN)
}

fn in_doubt(message: String) -> Failure {
    Failure { code: ErrorCode::InDoubt, message }
}

fn unfit(relay: &RelayId, why: &str) -> Refusal {
    Refusal::Answer { relay: relay.clone(), why: why.to_owned() }
}

/// Whether an answer says what was asked. A no may be said to anything.
fn fits(relay: &Relay, answer: &RelayResolved) -> Result<(), Refusal> {
    let chosen = answer.answer.as_ref().map(|answer| answer.to_text().into_owned());
    let options = relay.options.as_deref().unwrap_or_default();
    let is_known = || chosen.as_ref().is_some_and(|chosen| options.contains(chosen));
    let why = match relay.kind {
        RelayKind::Permission | RelayKind::Continuation if answer.approved.is_none() => "say yes or no",
        RelayKind::Approval | RelayKind::Question if answer.approved == Some(false) && chosen.is_none() => {
            return Ok(());
        }
        RelayKind::Approval | RelayKind::Question if !options.is_empty() && !is_known() => {
            &format!("answer with one of: {}", options.join(", "))
        }
        RelayKind::Question if chosen.is_none() => "say what the answer is",
        _ => return Ok(()),
    };
    Err(unfit(&relay.id, why))
}
