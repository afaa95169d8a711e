//! Bounds that are reached further in than the flow whose they are.
//!
//! In: what an event of a run says about a bound. Out: whose it is, for the driver, which ends that flow. Start reading at
//! [`Tree::reach`].

use antiphon_event::{Body, StopReason};
use antiphon_flow::function::Bound;

use super::Tree;

/// A bound of a flow that was reached by it or by a run inside it.
#[derive(Debug)]
pub(crate) struct Reached {
    /// Who reached it.
    pub(crate) by: usize,
    /// Whose it is.
    pub(crate) whose: usize,
    pub(crate) reason: StopReason,
}

impl Tree {
    /// A bound was reached, seen from a node of a run, or from an agent.
    pub(super) fn reach(&mut self, by: usize, bound: Option<Bound>) {
        let Some(Bound { reason, around }) = bound else { return };
        let is_flow = |machine: &usize| self.machines[*machine].mind.as_flow().is_some();
        let whose = self.outward(by).filter(is_flow).nth(around as usize);
        self.reached.extend(whose.map(|whose| Reached { by, whose, reason }));
    }

    /// A bound of a run, seen from one inside it; nothing if it is that of an agent, which ends as it would anyway.
    pub(crate) fn bound(&self, by: usize, whose: usize, reason: &StopReason) -> Option<Bound> {
        self.machines[whose].mind.as_flow()?;
        let inside = self.outward(by).take_while(|machine| *machine != whose);
        let around = inside.filter(|machine| self.machines[*machine].mind.as_flow().is_some()).count();
        Some(Bound { reason: reason.clone(), around: around.try_into().unwrap_or(u32::MAX) })
    }
}

/// The bound that a node reached, as far as its own run does not see to it: that knows of one of its own when the node
/// has ended with it.
pub(super) fn bound_in(body: &Body) -> Option<Bound> {
    let error = match body {
        Body::NodeEnd(end) => end.error.as_deref().filter(|error| error.limit_around.is_some())?,
        Body::NodeRetry(retry) => &retry.error,
        Body::EdgeTransition(transition) => transition.error.as_deref()?,
        _ => return None,
    };
    Bound::read(error.limit.as_ref(), error.limit_around)
}
