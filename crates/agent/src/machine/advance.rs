//! What follows by itself from what has happened.

use antiphon_event::body::content::{User, UserContent};
use antiphon_event::body::flow::Handoff;
use antiphon_event::body::system::Error;
use antiphon_event::{Body, EndReason, ErrorCode, Event, FlowNodeId, Json, Mode, Provenance};
use serde_json::Value;

use super::calls::Call;
use super::{Agent, Now, Phase, Returned};
use crate::OnLimit;

impl Agent {
    /// What follows by itself; to be asked again until nothing does. Each step follows from the events before it alone,
    /// so that a fork between any two of them goes on as the run did.
    pub fn advance(&self, now: Now<'_>) -> Vec<Event> {
        if let Some(reason) = self.must_end() {
            return self.stop(reason, now);
        }
        if let Some(compacted) = self.compacted(now) {
            return vec![compacted];
        }
        match &self.phase {
            Phase::Ready | Phase::Delayed(_) if self.may_go_on() => Vec::new(),
            Phase::Ready | Phase::Delayed(_) if self.handed.is_some() => vec![self.end(EndReason::Done, now)],
            Phase::Ready | Phase::Delayed(_) | Phase::Limited | Phase::Declined if self.cancel.is_some() => {
                self.stop(EndReason::Cancelled, now)
            }
            Phase::Ready | Phase::Delayed(_) if self.is_beyond_limit() => self.conclude(now),
            Phase::Ready | Phase::Delayed(_) => vec![self.ask_to_continue(now)],
            Phase::Acting if self.cancel.is_some() && !self.calls.at_work() => {
                self.stop(EndReason::Cancelled, now)
            }
            Phase::Acting => self.grant(now).map_or_else(|| self.act(now), |granted| vec![granted]),
            Phase::Answered if self.owes_code() && self.cancel.is_some() => {
                self.stop(EndReason::Cancelled, now)
            }
            Phase::Answered if self.owes_code() => self.write_code(now),
            Phase::Answered => match &self.unsaid {
                Some(answer) => vec![self.say_answer(answer, now)],
                None => self.conclude(now),
            },
            Phase::Declined => self.conclude(now),
            Phase::New | Phase::Limited | Phase::Ended(_) => Vec::new(),
        }
    }

    /// Why it ends now whatever it is at, if it does: something went wrong, or somebody wants it.
    pub fn must_end(&self) -> Option<EndReason> {
        if !self.started() || self.ended().is_some() {
            return None;
        }
        match (&self.error, &self.cancel) {
            (Some((ErrorCode::BudgetExhausted, _)), _) => Some(EndReason::Budget),
            (Some(_), _) => Some(EndReason::Error),
            (None, Some(mode)) => (*mode != Mode::Graceful).then_some(EndReason::Cancelled),
            (None, None) => None,
        }
    }

    /// Whether the next model call may begin, or the one under way may come to its end. Half an answer is heard out
    /// whatever happens.
    pub(super) fn may_go_on(&self) -> bool {
        let is_over = self.cancel.is_some() || self.error.is_some() || self.handed.is_some();
        let is_over = is_over || self.owes_compaction();
        let must_ask = self.is_wrapping_up() && self.definition.on_limit == OnLimit::Ask;
        !self.said.is_empty() || !(is_over || must_ask || self.is_beyond_limit())
    }

    /// Whether its answer is to be code, and not yet what it comes to.
    fn owes_code(&self) -> bool {
        self.is_coding() && !self.is_final && !self.is_beyond_limit()
    }

    /// How often it may call its model.
    fn limit(&self) -> u32 {
        self.definition.max_iterations.saturating_add(self.extended)
    }

    /// Whether the bound on model calls is reached: one more follows, without tools.
    pub(super) fn is_wrapping_up(&self) -> bool {
        self.iterations >= self.limit()
    }

    /// Whether the model call beyond the bound was made.
    pub(super) fn is_beyond_limit(&self) -> bool {
        self.iterations > self.limit()
    }

    /// The model has said all it wanted, or all it may: it is done if its answer fits.
    fn conclude(&self, now: Now<'_>) -> Vec<Event> {
        let wanted = self.phase == Phase::Answered && !self.is_beyond_limit();
        let reason = if wanted { EndReason::Done } else { EndReason::MaxIterations };
        let Err(why) = self.outfit().answer(&self.text) else { return vec![self.end(reason, now)] };
        if self.cancel.is_some() {
            return self.stop(EndReason::Cancelled, now);
        }
        if self.repairs < self.definition.limits.max_repairs && wanted {
            let how = if self.is_coding() { "Give `FINAL` the JSON" } else { "Answer again, with the JSON" };
            let content = format!("Your answer does not fit: {why}. {how} and nothing else.");
            let provenance = Some(Provenance::from("agent"));
            let user = User { content: UserContent::Text(content), delivery: None, provenance };
            return vec![self.event(now, Body::User(user))];
        }
        let message = format!("the answer does not fit its schema: {why}");
        let code = Some(ErrorCode::Schema.as_str().to_owned());
        let error = Error { message, code, retryable: None, limit: None, limit_around: None };
        vec![self.event(now, Body::Error(error))]
    }

    /// Another agent takes the work over; then the call has its result, and the run ends.
    pub(super) fn hand_over(&self, call: &Call, now: Now<'_>) -> Event {
        let input = call.input.value();
        let to = input["to"].as_str().unwrap_or_default().to_owned();
        if self.handed.is_some() {
            let output = Json::from(Value::from(format!("handed over to {to}")));
            return self.tool_result(call, Ok(Returned { output, provenance: None }), now);
        }
        let message = input["message"].as_str().map(str::to_owned);
        let from = self.origin.path.last().cloned().unwrap_or_else(|| FlowNodeId::from("agent"));
        let handoff = Handoff { from_node_id: from, to_node_id: to.into(), message };
        self.event(now, Body::Handoff(handoff))
    }
}
