//! [`Hook`]: code that looks at a run while it goes on, and may have a say.
//!
//! Hooks are consulted where decisions are made; what comes of it is in the journal, so a replay does not need
//! them. A hook that fails, or panics, is a named error of what it was consulted about.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use antiphon_event::{Body, FlowNodeId, Json, Kind, NodeStatus};

/// Where a hook is consulted.
#[derive(Debug, Clone, Copy)]
pub enum Point<'a> {
    /// An invocation is about to begin.
    BeforeRun {
        /// The task.
        task: &'a Json,
    },
    /// An invocation is about to end.
    AfterRun {
        /// How.
        status: &'a NodeStatus,
        /// What it gives.
        output: &'a Json,
    },
    /// A node is about to start.
    BeforeNode {
        /// The node.
        node: &'a FlowNodeId,
        /// Which execution, from 1.
        execution: u32,
        /// What it gets.
        input: &'a Json,
    },
    /// A node is about to complete.
    AfterNode {
        /// The node.
        node: &'a FlowNodeId,
        /// Which execution, from 1.
        execution: u32,
        /// What it gave.
        output: &'a Json,
    },
    /// An edge is about to be decided.
    BeforeEdge {
        /// The source.
        from: &'a FlowNodeId,
        /// The target.
        to: &'a FlowNodeId,
    },
    /// An edge was decided.
    AfterEdge {
        /// The source.
        from: &'a FlowNodeId,
        /// The target.
        to: &'a FlowNodeId,
        /// Whether it is taken.
        live: bool,
    },
}

/// What a hook has to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advice {
    /// Events to add: content, diagnostics and the like; never those by which runs are steered.
    pub events: Vec<Body>,
    /// Before a node or a run: what it gets instead.
    pub input: Option<Json>,
    /// Whether to go on.
    pub verdict: Verdict,
}

/// Whether to go on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    #[default]
    Go,
    /// Do not: the run is refused, the node cancelled, the edge not taken.
    Cancel(String),
    /// Before a node: ask a person this first.
    Ask(String),
}

/// Looks at a run while it goes on.
///
/// Called where the scheduler decides, so it must not block; called again for the same point after a crash.
pub trait Hook: Send + Sync {
    /// What it has to say at this point.
    fn look(&self, point: Point<'_>) -> Result<Advice, String>;
}

impl<F: for<'a> Fn(Point<'a>) -> Result<Advice, String> + Send + Sync> Hook for F {
    fn look(&self, point: Point<'_>) -> Result<Advice, String> {
        self(point)
    }
}

/// The hooks of a flow, in the order they were added.
#[derive(Clone, Default)]
pub struct Hooks(pub(crate) Vec<Arc<dyn Hook>>);

impl Hooks {
    /// What all hooks have to say: the first that does not want to go on wins, the last input counts.
    pub(crate) fn consult(&self, point: Point<'_>) -> Result<Advice, String> {
        let mut all = Advice::default();
        for hook in &self.0 {
            let advice = catch_unwind(AssertUnwindSafe(|| hook.look(point)))
                .unwrap_or_else(|_| Err("it panicked".to_owned()))?;
            if let Some(event) = advice.events.iter().find(|body| !may_be_said(body.kind())) {
                return Err(format!("it may not add `{}` events", event.tag()));
            }
            all.events.extend(advice.events);
            all.input = advice.input.or(all.input);
            if advice.verdict != Verdict::Go {
                all.verdict = advice.verdict;
                break;
            }
        }
        Ok(all)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooks({})", self.0.len())
    }
}

/// Whether code inside a run may say an event of this kind: not those by which runs are steered.
pub fn may_be_said(kind: Kind) -> bool {
    use Kind as K;
    !matches!(
        kind,
        K::SessionCreated
            | K::BranchCreated
            | K::Connected
            | K::CancelRequested
            | K::BudgetReserved
            | K::BudgetSettled
            | K::Relay
            | K::RelayResolved
            | K::GrantAdded
            | K::RunStart
            | K::NodeStart
            | K::NodeEnd
            | K::NodeSkipped
            | K::NodeRetry
            | K::NodeTimeout
            | K::EdgeTransition
            | K::LayerStart
            | K::LayerEnd
            | K::Interrupt
            | K::Resumed
            | K::StatePatched
            | K::CheckpointSaved
            | K::GuardrailResult
            | K::GuardrailOverride
            | K::RunEnd
    )
}
