//! Where the events of an agent belong: its run, its turn, the step of it, and the span.
//!
//! What the model says is in the span of its call, what a tool does in that of the tool's call, all else in that of the
//! run. Start reading at [`Agent::event`].

use std::sync::Arc;

use antiphon_event::{Body, CallId, Context, Event, Head, MessageId, SpanId};

use super::{Agent, Now};

impl Agent {
    /// An event of this run.
    pub(super) fn event(&self, now: Now<'_>, body: Body) -> Event {
        let head = match &body {
            Body::Text(_) | Body::Reasoning(_) | Body::Usage(_) | Body::ModelRetry(_) => self.step_head(now),
            Body::ToolCall(call) if self.calls.get(&call.id).is_none() => self.step_head(now),
            Body::ToolCall(call) => self.call_head(&call.id, now),
            Body::ToolProgress(progress) => self.call_head(&progress.tool_call_id, now),
            Body::ToolResult(result) => self.call_head(&result.id, now),
            Body::Relay(relay) => match &relay.tool_call_id {
                Some(call) => self.call_head(call, now),
                None => self.head(now),
            },
            Body::ReplInput(_) | Body::ReplProgress(_) | Body::ReplOutput(_) => {
                let context = Context { message_id: Some(self.step_id()), ..self.belonging() };
                Head::new(now.at, Arc::new(context))
            }
            _ => self.head(now),
        };
        Event::of(head, body)
    }

    /// The head of an event of this run.
    pub(super) fn head(&self, now: Now<'_>) -> Head {
        Head::new(now.at, Arc::new(self.belonging()))
    }

    /// What an event of this run belongs to.
    fn belonging(&self) -> Context {
        Context {
            run_id: Some(self.origin.run.clone()),
            event_flow_id: self.origin.turn.clone(),
            trace_id: self.trace.clone(),
            span_id: self.trace.as_ref().map(|_| self.spans.own()),
            parent_span_id: self.origin.span.clone(),
            agent: Some(Arc::clone(&self.origin.who)),
            node_id: self.origin.path.last().cloned(),
            node_path: self.origin.nested.then(|| self.origin.path.clone()),
            ..Context::default()
        }
    }

    /// The head of what belongs to the step that is under way.
    pub(super) fn step_head(&self, now: Now<'_>) -> Head {
        self.inside(self.spans.of_step(self.step()), now)
    }

    fn call_head(&self, call: &CallId, now: Now<'_>) -> Head {
        self.inside(self.spans.of_call(call), now)
    }

    /// The head of what belongs to the step that is under way and has a span of its own.
    fn inside(&self, span: SpanId, now: Now<'_>) -> Head {
        let traced = self.trace.is_some();
        let context = Context {
            span_id: traced.then_some(span),
            parent_span_id: traced.then(|| self.spans.own()),
            message_id: Some(self.step_id()),
            ..self.belonging()
        };
        Head::new(now.at, Arc::new(context))
    }

    /// The span of running one of its calls.
    pub fn span_of(&self, call: &CallId) -> Option<SpanId> {
        self.trace.as_ref().map(|_| self.spans.of_call(call))
    }

    /// Which step is under way, from 1: one for each model call that came to an end, and the next.
    fn step(&self) -> u32 {
        if self.may_ask() { self.iterations.saturating_add(1) } else { self.iterations.max(1) }
    }

    fn step_id(&self) -> MessageId {
        let (run, step) = (&self.origin.run, self.step());
        MessageId::from(match self.reheard {
            0 => format!("{run}/step-{step}"),
            // What was said before the answer that counts comes before it.
            again => format!("{run}/step-{step}-{}", again + 1),
        })
    }
}
