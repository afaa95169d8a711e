//! [`Mind`]: the machine of a run, a flow's or an agent's, and what both can be asked.

use std::sync::Arc;

use antiphon_agent::machine::Agent;
use antiphon_event::body::flow::Telemetry;
use antiphon_event::{
    Body, Context, EndReason, ErrorCode, Event, EventFlowId, FlowNodeId, Head, NodeStatus, RelayId, RunId,
    Spans, Timestamp, TraceId,
};
use antiphon_flow::function::{Failure, Reply};
use antiphon_flow::{Attempt, Scheduler};
use serde_json::Map;

/// The machine of a run.
#[derive(Debug)]
pub(crate) enum Mind {
    /// Which node of a flow may run next.
    Flow(Box<Scheduler>),
    /// What an agent says and does.
    Agent(Box<Agent>),
}

/// What a machine wants done.
#[derive(Debug)]
pub(crate) enum Effect {
    Flow(antiphon_flow::Effect),
    Agent(antiphon_agent::machine::Effect),
}

/// Where the model of an agent has its place among what an agent has under way; its tools come after it.
pub(crate) const MODEL: usize = 0;

impl Mind {
    pub(crate) fn run(&self) -> &RunId {
        match self {
            Self::Flow(flow) => &flow.origin().run,
            Self::Agent(agent) => &agent.origin().run,
        }
    }

    pub(crate) fn turn(&self) -> Option<&EventFlowId> {
        match self {
            Self::Flow(flow) => flow.origin().turn.as_ref(),
            Self::Agent(agent) => agent.origin().turn.as_ref(),
        }
    }

    /// The flow; for work that only flows have.
    pub(crate) fn flow(&self) -> &Scheduler {
        match self {
            Self::Flow(flow) => flow,
            Self::Agent(_) => unreachable!("only a flow has nodes"),
        }
    }

    pub(crate) fn as_agent(&self) -> Option<&Agent> {
        match self {
            Self::Flow(_) => None,
            Self::Agent(agent) => Some(agent),
        }
    }

    pub(crate) fn as_agent_mut(&mut self) -> Option<&mut Agent> {
        match self {
            Self::Flow(_) => None,
            Self::Agent(agent) => Some(agent),
        }
    }

    pub(crate) fn as_flow(&self) -> Option<&Scheduler> {
        match self {
            Self::Flow(flow) => Some(flow),
            Self::Agent(_) => None,
        }
    }

    pub(crate) fn apply(&mut self, event: &Event, effects: &mut Vec<(usize, Effect)>, machine: usize) {
        match self {
            Self::Flow(flow) => {
                flow.apply_to(event, &mut |effect| effects.push((machine, Effect::Flow(effect))));
            }
            Self::Agent(agent) => {
                effects.extend(agent.apply(event).into_iter().map(|effect| (machine, Effect::Agent(effect))));
            }
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        match self {
            Self::Flow(flow) => flow.ended().is_some(),
            Self::Agent(agent) => agent.ended().is_some(),
        }
    }

    /// Whether there is nothing to go on with.
    pub(crate) fn has_completed(&self) -> bool {
        match self {
            Self::Flow(flow) => flow.ended() == Some(&NodeStatus::Completed),
            Self::Agent(agent) => agent.ended().is_some(),
        }
    }

    /// Whether another attempt goes on with a run that is there: an agent that has ended begins anew.
    pub(crate) fn goes_on(&self) -> bool {
        self.as_flow().is_some() || !self.has_ended()
    }

    pub(crate) fn has_started(&self) -> bool {
        match self {
            Self::Flow(flow) => flow.started(),
            Self::Agent(agent) => agent.started(),
        }
    }

    pub(crate) fn is_at_work(&self) -> bool {
        match self {
            Self::Flow(flow) => flow.at_work(),
            Self::Agent(agent) => agent.at_work(),
        }
    }

    pub(crate) fn worked_until(&self, now: Timestamp) -> u64 {
        match self {
            Self::Flow(flow) => flow.worked_until(now),
            Self::Agent(agent) => agent.worked_until(now),
        }
    }

    pub(crate) fn relays(&self) -> Vec<RelayId> {
        match self {
            Self::Flow(flow) => flow.relays().cloned().collect(),
            Self::Agent(agent) => agent.relays().cloned().collect(),
        }
    }

    /// Whether this is under way now: not something that was cut off or repeated.
    pub(crate) fn executes(&self, attempt: Attempt) -> bool {
        match self {
            Self::Flow(flow) => flow.executing(attempt).is_some(),
            Self::Agent(agent) if attempt.node == MODEL => {
                agent.may_ask() && agent.model_call() == attempt.execution
            }
            Self::Agent(agent) => agent.ended().is_none(),
        }
    }

    /// The same for something that may wait for the run inside it.
    pub(crate) fn executes_inside(&self, attempt: Attempt) -> bool {
        match self {
            Self::Flow(flow) => flow.executing_inside(attempt).is_some(),
            Self::Agent(agent) => agent.ended().is_none(),
        }
    }

    /// Whether a node is known to wait for people, or for those whom the run inside it waits for.
    pub(crate) fn waits_inside(&self, attempt: Attempt) -> bool {
        self.as_flow().is_some_and(|flow| flow.status(attempt.node) == NodeStatus::Interrupted)
    }

    /// An event of this run, or of an attempt in it, that the driver itself has to tell.
    pub(crate) fn event(&self, at: Timestamp, attempt: Option<Attempt>, body: Body) -> Event {
        let turn = self.turn().cloned();
        let span = |_| match (self, attempt) {
            (Self::Flow(flow), Some(attempt)) => flow.span_of(attempt),
            (Self::Flow(_), None) | (Self::Agent(_), _) => Spans::of(self.run()).own(),
        };
        let context = Context {
            run_id: Some(self.run().clone()),
            trace_id: turn.as_ref().map(TraceId::of),
            span_id: turn.as_ref().map(span),
            event_flow_id: turn,
            node_id: self.node(attempt),
            node_path: self.way(attempt),
            ..Context::default()
        };
        Event::of(Head::new(at, Arc::new(context)), body)
    }

    /// The node of the innermost flow that something belongs to.
    fn node(&self, attempt: Option<Attempt>) -> Option<FlowNodeId> {
        match self {
            Self::Flow(flow) => attempt.map(|attempt| flow.flow().id(attempt.node).clone()),
            Self::Agent(agent) => agent.origin().path.last().cloned(),
        }
    }

    /// The nodes it belongs to from the outermost flow, if that is not the flow of the run.
    fn way(&self, attempt: Option<Attempt>) -> Option<Vec<FlowNodeId>> {
        match self {
            Self::Flow(flow) if flow.origin().path.is_empty() => None,
            Self::Flow(flow) => {
                Some(attempt.map_or_else(|| flow.origin().path.clone(), |attempt| flow.path(attempt.node)))
            }
            Self::Agent(agent) => agent.origin().nested.then(|| agent.origin().path.clone()),
        }
    }
}

/// What an agent comes to, as a node of a flow takes it.
pub(crate) fn reply(agent: &Agent) -> Option<Result<Reply, Failure>> {
    let result = agent.result()?;
    let tally = agent.tally();
    let exhausted = agent.ended() == Some(&EndReason::MaxIterations);
    let telemetry = Telemetry {
        iterations: Some(u64::from(agent.iterations())),
        tool_calls: Some(tally.tool_calls),
        tool_errors: Some(tally.tool_errors),
        iterations_exhausted: exhausted.then_some(true),
        prompt_tokens: Some(tally.input_tokens),
        completion_tokens: Some(tally.output_tokens),
        total_tokens: Some(tally.input_tokens.saturating_add(tally.output_tokens)),
        cost_usd: tally.cost_usd,
        extra: Map::new(),
    };
    Some(match result {
        Ok(output) => Ok(Reply { telemetry: Some(Box::new(telemetry)), ..Reply::new(output) }),
        Err(failure) => Err(Failure::of(code(failure.code), failure.message)),
    })
}

/// A vendor's own word for what went wrong is a failure to a flow.
fn code(code: ErrorCode) -> ErrorCode {
    match code {
        ErrorCode::Other(_) => ErrorCode::Failed,
        known => known,
    }
}
