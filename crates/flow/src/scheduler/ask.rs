//! Requests to people: made, answered, left unanswered.

use antiphon_event::body::flow::Interrupt;
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Body, ErrorCode, Event, Json, RelayId, RelayKind, Timestamp};
use serde_json::{Map, Value, json};

use super::end::Guarding;
use super::finish::RUN;
use super::spot::{FOR_FALLBACK, Status, Why};
use super::{Attempt, Now, Refusal, Scheduler};
use crate::consent;
use crate::definition::{Auto, Human, NodeIndex, OnTimeout, Work};
use crate::function::{Failure, Final, Reply};
use crate::guard::{Guard, cleaned};
use crate::moment::{Formula, Handed};

const OVERRIDE: &str = "override";
const FAIL: &str = "fail";
const RUN_AGAIN: &str = "run again";
const TAKE_AS_DONE: &str = "take as done";
/// Why an answer that comes with an output is refused.
const NO_OUTPUT: &str = "it takes no output: that is for work in doubt that is taken as done, and for one that a guardrail stopped";
/// Says of a question that what it is about is not all there.
const WITHHELD: &str = "withheld";

impl Scheduler {
    /// Does the work of a node that needs nothing from outside.
    pub(super) fn work_inside(&self, node: NodeIndex, now: Now) -> Vec<Event> {
        let attempt = self.attempt(node);
        let mut events = Vec::with_capacity(3);
        let input = self.input(node);
        let evaluated = match &self.flow.node(node).work {
            Work::Expression(expression) => self.evaluated(node, &input, &Formula::from(expression.clone())),
            Work::Router(formula) => self.evaluated(node, &input, formula),
            Work::Human(human) => match human.auto {
                None => return self.ask_person(attempt, human, input, now),
                Some(auto) => Ok(Json::from(json!({"approved": auto == Auto::Accept, "by": "auto"}))),
            },
            _ => Ok(input),
        };
        match evaluated {
            Ok(output) => self.completed(attempt, Reply::new(output), Guarding::Full, now, &mut events),
            Err(failure) => self.failed_with(attempt, failure, now, &mut events),
        }
        events
    }

    fn evaluated(&self, node: NodeIndex, input: &Json, formula: &Formula) -> Result<Json, Failure> {
        let value = formula.evaluate(&self.moment(node, Handed::This(input)));
        value.map(Json::from).map_err(|error| Failure::of(ErrorCode::Expression, error))
    }

    fn ask_person(&self, attempt: Attempt, human: &Human, input: Json, now: Now) -> Vec<Event> {
        let asks_for_answer = human.schema.is_some() || !human.options.is_empty();
        let expires_at = human.timeout.and_then(|timeout| {
            Timestamp::from_millis(now.at.millis().saturating_add(timeout.as_millis() as i64))
        });
        let relay = Relay {
            kind: if asks_for_answer { RelayKind::Question } else { RelayKind::Approval },
            params: Some(input),
            prompt: Some(human.prompt.clone()),
            options: (!human.options.is_empty()).then(|| human.options.clone()),
            schema: human.schema.as_ref().map(|schema| Json::from(schema.source().clone())),
            expires_at,
            ..self.request(attempt, Why::Human)
        };
        self.asking(attempt, Why::Human, relay, now)
    }

    pub(super) fn ask_about_input(&self, next: Attempt, given: Json, why: &str, now: Now) -> Vec<Event> {
        let (given, withheld) = withheld(&self.flow.node(next.node).guards.input, given);
        let params = json!({"input": given, "violation": why});
        self.ask_about(next, Why::GuardInput, with(params, withheld), why, now)
    }

    pub(super) fn ask_about_output(&self, attempt: Attempt, reply: Reply, why: &str, now: Now) -> Vec<Event> {
        let writes = reply.writes.iter().map(|(key, value)| (key.clone(), value.value()));
        let writes: Map<String, Value> = writes.collect();
        let (output, withheld) = withheld(&self.flow.node(attempt.node).guards.output, reply.output);
        let params = json!({"output": output, "writes": writes, "violation": why});
        self.ask_about(attempt, Why::GuardOutput, with(params, withheld), why, now)
    }

    fn ask_about(&self, attempt: Attempt, why: Why, params: Value, prompt: &str, now: Now) -> Vec<Event> {
        let relay = Relay {
            params: Some(Json::from(params)),
            prompt: Some(prompt.to_owned()),
            options: Some(vec![OVERRIDE.into(), FAIL.into()]),
            ..self.request(attempt, why)
        };
        self.asking(attempt, why, relay, now)
    }

    pub(super) fn ask_for_hook(&self, next: Attempt, given: Json, prompt: String, now: Now) -> Vec<Event> {
        let relay = Relay { prompt: Some(prompt), params: Some(given), ..self.request(next, Why::Hook) };
        self.asking(next, Why::Hook, relay, now)
    }

    /// Nobody knows how an attempt ended: it is repeated if that is safe, else a person decides.
    pub(super) fn lose(&self, attempt: Attempt, now: Now) -> Result<Vec<Event>, Refusal> {
        self.current(attempt)?;
        if self.flow.node(attempt.node).repeatable() {
            return Ok(vec![self.node_start(Attempt { attempt: attempt.attempt + 1, ..attempt }, None, now)]);
        }
        let id = self.flow.id(attempt.node);
        let prompt = format!("`{id}` had started, and nobody knows whether it did its work");
        let relay = Relay {
            prompt: Some(prompt),
            params: Some(self.input(attempt.node)),
            options: Some(vec![RUN_AGAIN.into(), TAKE_AS_DONE.into(), FAIL.into()]),
            ..self.request(attempt, Why::InDoubt)
        };
        Ok(self.asking(attempt, Why::InDoubt, relay, now))
    }

    /// The run inside a node waits for a person, and so does the node.
    pub(super) fn pause(&self, attempt: Attempt, now: Now) -> Result<Vec<Event>, Refusal> {
        self.current(attempt)?;
        if self.spots[attempt.node].status == Status::Interrupted {
            return Ok(Vec::new());
        }
        let interrupt = Interrupt { reason: Why::Inside.reason().to_owned() };
        Ok(vec![self.node_event(now, attempt.node, Body::Interrupt(interrupt))])
    }

    fn request(&self, attempt: Attempt, why: Why) -> Relay {
        let (run, id) = (&self.origin.run, self.flow.id(attempt.node));
        // What its fallback gave is another question than what it gave itself.
        let whose = if self.spots[attempt.node].rare().deputy.is_some() { FOR_FALLBACK } else { "" };
        let id = format!("{run}/{id}:{}:{}:{whose}{}", attempt.execution, attempt.attempt, why.suffix());
        Relay {
            id: id.into(),
            kind: RelayKind::Approval,
            tool_call_id: None,
            tool: None,
            params: None,
            prompt: None,
            options: None,
            schema: None,
            expires_at: None,
            scopes: None,
        }
    }

    fn asking(&self, attempt: Attempt, why: Why, relay: Relay, now: Now) -> Vec<Event> {
        let interrupt = Interrupt { reason: why.reason().to_owned() };
        vec![
            self.node_event(now, attempt.node, Body::Relay(Box::new(relay))),
            self.node_event(now, attempt.node, Body::Interrupt(interrupt)),
        ]
    }

    fn pending(&self, relay: &RelayId) -> Option<(NodeIndex, &Relay)> {
        let mut spots = self.spots.iter().enumerate();
        spots.find_map(|(node, spot)| {
            Some((node, &**spot.rare().relay.as_ref().filter(|asked| asked.id == *relay)?))
        })
    }

    pub(super) fn answer(&self, mut answer: RelayResolved, now: Now) -> Result<Vec<Event>, Refusal> {
        let (node, relay) =
            self.pending(&answer.relay_id).ok_or_else(|| Refusal::NotPending(answer.relay_id.clone()))?;
        if relay.expires_at.is_some_and(|at| at <= now.at) {
            return self.expire(&answer.relay_id, now);
        }
        let unfit = |why: String| Refusal::Answer { relay: relay.id.clone(), why };
        if [RUN, TIMEOUT].contains(&answer.by.as_str()) {
            return Err(unfit(format!(
                "`by` is who answers, and `{RUN}` and `{TIMEOUT}` are nobody's names"
            )));
        }
        let why = Why::of(relay.id.as_str());
        if answer.input.is_some() && !matches!(why, Some(Why::InDoubt | Why::GuardOutput)) {
            return Err(unfit(NO_OUTPUT.to_owned()));
        }
        if answer.answer.is_none() && matches!(why, Some(Why::GuardInput | Why::GuardOutput)) {
            answer.answer = answer.approved.map(|yes| Json::from(if yes { OVERRIDE } else { FAIL }));
        }
        says_what_is_asked(relay, &mut answer).map_err(unfit)?;
        if let (Work::Human(Human { schema: Some(schema), .. }), Some(given)) =
            (&self.flow.node(node).work, &answer.answer)
        {
            schema.validate(&given.value()).map_err(|violation| unfit(violation.to_string()))?;
        }
        let choice = answer.answer.as_ref().map(|answer| answer.to_text());
        let output = match (why, choice.as_deref()) {
            (Some(Why::InDoubt), Some(TAKE_AS_DONE)) => {
                Some(answer.input.clone().unwrap_or_else(|| Json::from(Value::Null)))
            }
            (Some(Why::GuardOutput), Some(OVERRIDE)) => answer.input.clone(),
            _ if answer.input.is_some() => return Err(unfit(NO_OUTPUT.to_owned())),
            _ => None,
        };
        if let (Some(output), Some(schema)) = (output, &self.flow.node(node).output) {
            let fits = schema.validate(&output.value());
            fits.map_err(|violation| unfit(format!("give the output it is to have come to: {violation}")))?;
        }
        Ok(vec![self.node_event(now, node, Body::RelayResolved(Box::new(answer)))])
    }

    pub(super) fn expire(&self, relay: &RelayId, now: Now) -> Result<Vec<Event>, Refusal> {
        let (node, asked) = self.pending(relay).ok_or_else(|| Refusal::NotPending(relay.clone()))?;
        if asked.expires_at.is_none_or(|at| at > now.at) {
            return Ok(Vec::new());
        }
        let policy = match &self.flow.node(node).work {
            Work::Human(human) => human.on_timeout,
            _ => OnTimeout::Fail,
        };
        let resolved = RelayResolved {
            relay_id: relay.clone(),
            approved: match policy {
                OnTimeout::Accept => Some(true),
                OnTimeout::Reject => Some(false),
                OnTimeout::Fail => None,
            },
            answer: None,
            input: None,
            scope: None,
            reason: Some("nobody answered in time".to_owned()),
            by: TIMEOUT.to_owned(),
        };
        Ok(vec![self.node_event(now, node, Body::RelayResolved(Box::new(resolved)))])
    }

    /// What an answer leads to.
    pub(super) fn after_answer(
        &self,
        node: NodeIndex,
        relay: &Relay,
        resolved: &RelayResolved,
        now: Now,
    ) -> Vec<Event> {
        let attempt = self.attempt(node);
        let mut events = Vec::with_capacity(3);
        let choice = resolved.answer.as_ref().map(|answer| answer.to_text().into_owned());
        let choice = choice.as_deref();
        let why = Why::of(relay.id.as_str()).unwrap_or(Why::Human);
        let reason = || resolved.reason.clone().unwrap_or_else(|| format!("{} said no", resolved.by));
        if resolved.by == RUN && resolved.approved == Some(false) {
            return vec![self.cancelled(attempt, reason(), now)];
        }
        match (why, choice) {
            (Why::Human, _) => self.decided(attempt, resolved, now, &mut events),
            (Why::GuardInput, Some(OVERRIDE)) => {
                let params = relay.params.as_ref().map(Json::value).unwrap_or_default();
                let next = self.next_attempt(node);
                let is_withheld = params[WITHHELD] == true;
                let given = || Ok(Json::from(params["input"].clone()));
                let input = if is_withheld { self.waived_input(next) } else { given() };
                events.push(match input {
                    Ok(input) => self.node_start(next, Some(input), now),
                    Err(failure) => self.prevented(next, None, failure, now),
                });
            }
            (Why::GuardOutput, Some(OVERRIDE)) => {
                let params = relay.params.as_ref().map(Json::value).unwrap_or_default();
                let given = resolved.input.clone();
                let mut reply = Reply::new(given.unwrap_or_else(|| Json::from(params["output"].clone())));
                if let Some(writes) = params["writes"].as_object() {
                    reply.writes =
                        writes.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
                }
                self.completed(attempt, reply, Guarding::Waived, now, &mut events);
            }
            (Why::InDoubt, Some(RUN_AGAIN)) => {
                events.push(self.node_start(Attempt { attempt: attempt.attempt + 1, ..attempt }, None, now));
            }
            (Why::InDoubt, Some(TAKE_AS_DONE)) => {
                let output = resolved.input.clone().unwrap_or_else(|| Json::from(Value::Null));
                self.completed(attempt, Reply::new(output), Guarding::Full, now, &mut events);
            }
            (Why::InDoubt, _) => {
                let failure = Failure::of(ErrorCode::InDoubt, reason());
                self.gave_up(attempt, failure.for_good(Final::Decided), now, &mut events);
            }
            (Why::Hook, _) if resolved.approved == Some(true) => {
                self.start_guarded(self.next_attempt(node), relay.params.clone(), now, &mut events);
            }
            (Why::Hook | Why::Inside, _) => {
                let failure = Failure::of(ErrorCode::Cancelled, reason());
                events.push(self.prevented(self.next_attempt(node), None, failure, now));
            }
            (Why::GuardInput, _) => {
                let failure = Failure::of(ErrorCode::Guardrail, relay.prompt.clone().unwrap_or_default());
                events.push(self.prevented(self.next_attempt(node), None, failure, now));
            }
            (Why::GuardOutput, _) => {
                let failure = Failure::of(ErrorCode::Guardrail, relay.prompt.clone().unwrap_or_default());
                self.gave_up(attempt, failure.for_good(Final::Decided), now, &mut events);
            }
        }
        events
    }

    /// A decision becomes the node's output.
    fn decided(&self, attempt: Attempt, resolved: &RelayResolved, now: Now, events: &mut Vec<Event>) {
        if resolved.by == TIMEOUT && resolved.approved.is_none() {
            let failure = Failure::of(ErrorCode::Timeout, "nobody answered in time");
            return self.gave_up(attempt, failure, now, events);
        }
        let mut output = Map::new();
        let approved = resolved.approved.unwrap_or(resolved.answer.is_some());
        output.insert("approved".into(), approved.into());
        if let Some(answer) = &resolved.answer {
            output.insert("answer".into(), answer.value());
        }
        if let Some(reason) = &resolved.reason {
            output.insert("reason".into(), reason.as_str().into());
        }
        output.insert("by".into(), resolved.by.as_str().into());
        self.completed(attempt, Reply::new(Value::Object(output)), Guarding::Full, now, events);
    }
}

/// Whether an answer is one to the request; one in words to a question of yes or no becomes that.
fn says_what_is_asked(relay: &Relay, answer: &mut RelayResolved) -> Result<(), String> {
    let denied = answer.approved == Some(false) && answer.answer.is_none();
    let chosen = answer.answer.as_ref().map(|answer| answer.to_text().into_owned());
    if let Some(options) = &relay.options {
        return match chosen {
            Some(chosen) if options.contains(&chosen) => Ok(()),
            None if denied => Ok(()),
            _ => Err(format!("answer with one of: {}", options.join(", "))),
        };
    }
    if relay.schema.is_some() {
        let is_given = chosen.is_some() || denied;
        return if is_given { Ok(()) } else { Err("a yes is not enough: say what the answer is".to_owned()) };
    }
    match (answer.approved, chosen.as_deref().map(consent::said)) {
        (None, Some(Some(yes))) => (answer.approved, answer.answer) = (Some(yes), None),
        (None, _) => return Err("answer with yes or no".to_owned()),
        (Some(yes), Some(Some(said))) if yes != said => {
            return Err("it says both yes and no".to_owned());
        }
        (Some(_), _) => {}
    }
    Ok(())
}

/// What a question is about without what its guards find and nobody may see, and whether that is less.
fn withheld(guards: &[Guard], value: Json) -> (Json, bool) {
    if !guards.iter().any(|guard| guard.check.withholds()) {
        return (value, false);
    }
    let shown = Json::from(cleaned(guards, value.value(), |guard| guard.check.withholds(), Guard::inspect));
    let is_less = shown != value;
    (shown, is_less)
}

fn with(mut params: Value, withheld: bool) -> Value {
    if withheld {
        params[WITHHELD] = true.into();
    }
    params
}

/// Who answered when nobody did.
const TIMEOUT: &str = "timeout";
