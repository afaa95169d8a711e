//! How a run ends, and what it comes to.

use antiphon_event::body::lifecycle::{CancelRequested, HarnessEnd, TotalUsage};
use antiphon_event::body::system::Error;
use antiphon_event::{Body, EndReason, ErrorCode, Event, Json, Mode, StopReason};
use serde_json::{Map, Value};

use super::{Agent, Failure, Now, Ran};

impl Agent {
    pub(super) fn request_cancel(&self, by: String, mode: Mode, now: Now<'_>) -> Event {
        self.event(now, Body::CancelRequested(CancelRequested { by, mode }))
    }

    /// It has spent more than it may, which ends it.
    pub(super) fn overspent(&self, message: String, limit: Option<(StopReason, u32)>, now: Now<'_>) -> Event {
        let code = Some(ErrorCode::BudgetExhausted.as_str().to_owned());
        let limit_around = limit.as_ref().map(|(_, around)| *around).filter(|around| *around > 0);
        let limit = limit.map(|(reason, _)| reason);
        self.event(now, Body::Error(Error { message, code, retryable: None, limit, limit_around }))
    }

    /// Ends the run now: every open request gets an answer, every open call a result.
    pub(super) fn stop(&self, reason: EndReason, now: Now<'_>) -> Vec<Event> {
        let word = match reason {
            EndReason::Cancelled => "the agent was cancelled",
            EndReason::Budget => "the budget is spent",
            _ => "the agent ended",
        };
        let mut events = Vec::new();
        events.extend(self.continuation.as_ref().map(|relay| self.withdraw(relay, now)));
        events.extend(self.end_calls(word, now));
        events
            .extend(self.code_output(Ran { error: Some(format!("stopped: {word}")), ..Ran::default() }, now));
        events.push(self.end(reason, now));
        events
    }

    pub(super) fn end(&self, reason: EndReason, now: Now<'_>) -> Event {
        let total_usage = TotalUsage {
            input_tokens: self.tally.input_tokens,
            output_tokens: self.tally.output_tokens,
            extra: Map::new(),
        };
        let end = HarnessEnd {
            agent_id: None,
            reason: Some(reason),
            iterations: Some(self.iterations),
            total_usage: Some(total_usage),
        };
        self.event(now, Body::HarnessEnd(Box::new(end)))
    }

    /// How many model calls came to an end.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// What it comes to, once it has ended: its answer, also a partial one, or why there is none.
    pub fn result(&self) -> Option<Result<Json, Failure>> {
        let fail = |code: ErrorCode, message: &str| {
            let (code, message) = self.error.clone().unwrap_or_else(|| (code, message.to_owned()));
            Some(Err(Failure { code, message }))
        };
        match self.ended()? {
            EndReason::Done | EndReason::MaxIterations => Some(Ok(self.value())),
            EndReason::Budget => fail(ErrorCode::BudgetExhausted, "the budget is spent"),
            EndReason::Cancelled | EndReason::Interrupted => Some(Err(Failure {
                code: ErrorCode::Cancelled,
                message: "the agent was cancelled".to_owned(),
            })),
            EndReason::Error | EndReason::Other(_) => fail(ErrorCode::Failed, "the agent failed"),
        }
    }

    /// The text of its last step, or what it is in JSON where that was asked for.
    fn value(&self) -> Json {
        if let Some(handed) = &self.handed {
            return handed.clone();
        }
        let text = || Json::from(Value::from(self.text.as_str()));
        match &self.definition.output {
            Some(_) => serde_json::from_str(unfenced(&self.text)).unwrap_or_else(|_| text()),
            None => text(),
        }
    }
}

/// JSON without the fence that models like to put around it.
pub(super) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).map_or(text, str::trim)
}
