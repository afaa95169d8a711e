//! What a model says becomes events; what it failed to say is tried again, or ends the run.

use std::collections::HashSet;

use antiphon_event::body::content::{Reasoning, Text};
use antiphon_event::body::flow::Diagnostic;
use antiphon_event::body::system::{Error, ModelRetry, Usage};
use antiphon_event::body::tool::ToolCall;
use antiphon_event::{Body, Event, Json, StreamId};
use serde_json::{Value, json};

use super::{Agent, Now, Refusal, Replied};
use crate::{Delta, Fault};

/// How often a model call that failed is made again, unless the model says otherwise.
const RETRIES: u32 = 2;
/// The delay before the first retry; each one after waits twice as long.
const DELAY_MS: f64 = 500.0;
/// The longest delay of our own.
const DELAY_MAX_MS: f64 = 30_000.0;
/// The longest delay that a vendor may ask for.
const RETRY_AFTER_MAX_MS: u64 = 300_000;
/// How long an id of a vendor may be.
const ID_MAX: usize = 256;

impl Agent {
    pub(super) fn say(&self, deltas: Vec<Delta>, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        if !self.may_ask() {
            return Err(Refusal::Late(self.origin.run.clone()));
        }
        let mut events = Vec::with_capacity(deltas.len());
        let mut fresh = HashSet::new();
        let mut signed = self.signed;
        let head = self.step_head(now);
        let text = StreamId::from(self.stream("text"));
        for delta in deltas {
            let body = match delta {
                Delta::Text(content) => Body::Text(Text { id: text.clone(), content, provenance: None }),
                Delta::Reasoning(content) => self.reasoning(signed, content, None),
                Delta::Signature(signature) => {
                    signed += 1;
                    self.reasoning(signed - 1, String::new(), Some(signature))
                }
                // Nothing was offered to a model that writes code.
                Delta::Call { .. } if self.is_coding() => continue,
                Delta::Call { id, name, arguments } => {
                    let id = self.call_id(id, &fresh);
                    let call = self.proposal(format!("{}/{id}", self.origin.run), name, &arguments);
                    fresh.insert(id);
                    Body::ToolCall(call)
                }
                // Both are said with what the whole call used.
                Delta::Usage(_) | Delta::Stop(_) => continue,
            };
            events.push(Event::of(head.clone(), body));
        }
        Ok(events)
    }

    /// A piece of a thought: of the one after those that the vendor has signed, as each has a signature of its own.
    fn reasoning(&self, signed: u32, content: String, signature: Option<String>) -> Body {
        let id = match signed {
            0 => self.stream("reasoning"),
            before => self.stream(&format!("reasoning-{}", before + 1)),
        };
        Body::Reasoning(Reasoning { id: id.into(), content, signature, provenance: None })
    }

    fn proposal(&self, id: String, name: String, arguments: &str) -> ToolCall {
        let input = match arguments.trim() {
            "" | "null" => Json::from(json!({})),
            given => match serde_json::from_str::<Json>(given) {
                Ok(input) if input.as_str().starts_with('{') => input,
                Ok(_) => malformed("they are no JSON object", arguments),
                Err(error) => malformed(&error.to_string(), arguments),
            },
        };
        let call_type = self.outfit().spec(&name).and_then(|spec| spec.call_type.clone());
        ToolCall { id: id.into(), name, input, call_type, harness: None }
    }

    /// The id of a stream of this model call: with a number from the second call on that has such a stream.
    pub(super) fn stream(&self, raw: &str) -> String {
        let nth = match self.streams.get(raw) {
            None => 1,
            Some((nth, call)) if *call == self.begun => *nth,
            Some((nth, _)) => nth.saturating_add(1),
        };
        match nth {
            1 => format!("{}/{raw}", self.origin.run),
            nth => format!("{}/{raw}~{nth}", self.origin.run),
        }
    }

    /// Notes that a stream has begun.
    pub(super) fn streamed(&mut self, id: &str) {
        let own = id.strip_prefix(self.origin.run.as_str()).and_then(|id| id.strip_prefix('/'));
        let Some(own) = own else { return };
        let (raw, nth) = match own.rsplit_once('~') {
            Some((raw, nth)) => (raw, nth.parse().unwrap_or(1)),
            None => (own, 1),
        };
        match self.streams.get_mut(raw) {
            Some(last) => *last = (nth, self.begun),
            None => drop(self.streams.insert(raw.to_owned(), (nth, self.begun))),
        }
    }

    /// The id of a call within its run: the vendor's, with a number from its second use on. No other call has it,
    /// whatever ids the vendor makes up: a call with the id of another would pass for one that was let through.
    fn call_id(&self, raw: String, fresh: &HashSet<String>) -> String {
        let raw: String = if raw.len() > ID_MAX { raw.chars().take(ID_MAX / 4).collect() } else { raw };
        let is_free = |id: &String| !self.ids.contains_key(id) && !fresh.contains(id);
        if is_free(&raw) {
            return raw;
        }
        let highest = self.ids.get(&raw).copied().unwrap_or(1);
        let mut numbered = (u64::from(highest) + 1..).map(|nth| format!("{raw}~{nth}"));
        numbered.find(is_free).expect("a run has fewer calls than there are numbers")
    }

    pub(super) fn replied(&self, replied: Replied, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        if !self.may_ask() {
            return Err(Refusal::Late(self.origin.run.clone()));
        }
        let cut = replied.stop.remark();
        let mut events = vec![self.event(now, Body::Usage(Box::new(usage(&replied))))];
        events.extend(cut.map(|message| self.remark(now, message.to_owned())));
        Ok(events)
    }

    pub(super) fn remark(&self, now: Now<'_>, message: String) -> Event {
        let diagnostic = Diagnostic { level: "warn".to_owned(), source: "agent".to_owned(), message };
        self.event(now, Body::Diagnostic(diagnostic))
    }

    pub(super) fn failed(&self, fault: Fault, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        if !self.may_ask() {
            return Err(Refusal::Late(self.origin.run.clone()));
        }
        let retries = self.definition.model.retries.unwrap_or(RETRIES);
        if fault.retryable && self.failures < retries {
            let delay_ms = self.delay_ms(&fault, now.dice);
            return Ok(vec![self.retry(fault.message, Some(delay_ms), now)]);
        }
        let error = Error {
            message: fault.message,
            code: Some(fault.code.to_owned()),
            retryable: Some(fault.retryable),
            limit: None,
            limit_around: None,
        };
        Ok(vec![self.event(now, Body::Error(error))])
    }

    /// A model call is made again: what it said so far does not count. After a while if the model failed, at once
    /// if the process did.
    pub(super) fn retry(&self, reason: String, delay_ms: Option<u64>, now: Now<'_>) -> Event {
        let attempt = self.attempt.saturating_add(1);
        let retry = ModelRetry { attempt, discards: self.said.clone(), reason, delay_ms };
        self.event(now, Body::ModelRetry(retry))
    }

    fn delay_ms(&self, fault: &Fault, dice: f64) -> u64 {
        if let Some(after) = fault.retry_after {
            return u64::try_from(after.as_millis()).unwrap_or(u64::MAX).clamp(1, RETRY_AFTER_MAX_MS);
        }
        let delay = DELAY_MS * f64::from(2_u32.saturating_pow(self.failures));
        ((delay.min(DELAY_MAX_MS) * (0.5 + dice / 2.0)) as u64).max(1)
    }
}

/// What stands for arguments that are none.
fn malformed(error: &str, arguments: &str) -> Json {
    Json::from(json!({"__toolParseError": true, "parseError": error, "rawArguments": arguments}))
}

/// What a model call used, as an event says it.
pub(super) fn usage(replied: &Replied) -> Usage {
    let tokens = &replied.tokens;
    Usage {
        input_tokens: tokens.input,
        output_tokens: tokens.output,
        cache_read_tokens: tokens.cache_read,
        cache_creation_tokens: tokens.cache_creation,
        model: Some(replied.model.clone()),
        cost_usd: replied.cost_usd,
    }
}

/// Whether the model wrote something else than arguments.
pub(super) fn parse_error(input: &Json) -> Option<String> {
    if !input.as_str().contains("__toolParseError") {
        return None;
    }
    let value = input.value();
    (value["__toolParseError"] == Value::Bool(true)).then(|| {
        let error = value["parseError"].as_str().unwrap_or("no JSON").to_owned();
        format!("the arguments could not be read as JSON: {error}")
    })
}
