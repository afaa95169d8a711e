//! What follows by itself from what has happened.

use antiphon_event::body::content::{User, UserContent};
use antiphon_event::body::flow::Handoff;
use antiphon_event::body::system::Error;
use antiphon_event::{Body, EndReason, ErrorCode, Event, FlowNodeId, Json};
use serde_json::Value;

use super::calls::Call;
use super::{Agent, Now, Phase, Returned};
use crate::OnLimit;

impl Agent {
    /// What follows by itself; to be asked again until nothing does.
    pub fn advance(&self, now: Now<'_>) -> Vec<Event> {
        match &self.phase {
            Phase::Ready if self.cancel.is_some() && self.said.is_empty() => {
                self.stop(EndReason::Cancelled, None, now)
            }
            Phase::Ready if self.iterations > self.limit() => vec![self.end(EndReason::MaxIterations, now)],
            Phase::Ready if self.is_wrapping_up() && self.definition.on_limit == OnLimit::Ask => {
                vec![self.ask_to_continue(now)]
            }
            Phase::Acting if self.cancel.is_some() && !self.calls.at_work() => {
                self.stop(EndReason::Cancelled, None, now)
            }
            Phase::Acting => self.act(now),
            Phase::Answered => self.conclude(now),
            Phase::Limited if self.cancel.is_some() => self.stop(EndReason::Cancelled, None, now),
            Phase::Declined => vec![self.end(EndReason::MaxIterations, now)],
            Phase::New | Phase::Ready | Phase::Delayed(_) | Phase::Limited | Phase::Ended(_) => Vec::new(),
        }
    }

    /// How often it may call its model.
    fn limit(&self) -> u32 {
        self.definition.max_iterations.saturating_add(self.extended)
    }

    /// Whether the bound on model calls is reached: one more follows, without tools.
    pub(super) fn is_wrapping_up(&self) -> bool {
        self.iterations >= self.limit()
    }

    /// The model has said all it wanted: it is done if its answer fits.
    fn conclude(&self, now: Now<'_>) -> Vec<Event> {
        let reason = if self.iterations > self.limit() { EndReason::MaxIterations } else { EndReason::Done };
        let Err(why) = self.outfit().answer(&self.text) else { return vec![self.end(reason, now)] };
        if self.repairs < self.definition.limits.max_repairs && reason == EndReason::Done {
            let content =
                format!("Your answer does not fit: {why}. Answer again, with the JSON and nothing else.");
            let user = User { content: UserContent::Text(content), delivery: None, provenance: None };
            return vec![self.event(now, Body::User(user))];
        }
        let message = format!("the answer does not fit its schema: {why}");
        let error = Error {
            message: message.clone(),
            code: Some(ErrorCode::Schema.as_str().to_owned()),
            retryable: None,
        };
        vec![self.event(now, Body::Error(error)), self.end(EndReason::Error, now)]
    }

    /// Another agent takes the work over.
    pub(super) fn hand_over(&self, call: &Call, now: Now<'_>) -> Vec<Event> {
        let input = call.input.value();
        let to = input["to"].as_str().unwrap_or_default().to_owned();
        let message = input["message"].as_str().map(str::to_owned);
        let from = self.origin.path.last().cloned().unwrap_or_else(|| FlowNodeId::from("agent"));
        let handoff = Handoff { from_node_id: from, to_node_id: to.clone().into(), message };
        let output = Json::from(Value::from(format!("handed over to {to}")));
        vec![
            self.tool_result(call, Ok(Returned { output, provenance: None }), now),
            self.event(now, Body::Handoff(handoff)),
            self.end(EndReason::Done, now),
        ]
    }
}
