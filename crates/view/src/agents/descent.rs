//! Which agent a run belongs to, and which agent is behind the run that caused it.

use antiphon_event::{Body, Event, ParentId};
use serde::{Deserialize, Serialize};

use super::Agents;
use crate::forest::CLIMB_MAX;
use crate::{Changes, Tally};

/// What is known of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RunOf {
    /// Whose it is.
    pub(super) agent: Option<usize>,
    /// Whether it is under way.
    pub(super) open: bool,
    kind: Kind,
    /// What it said caused it.
    parent: Option<ParentId>,
    /// The run that did, if that has come.
    cause: Option<usize>,
    /// Whether its agent was first heard of in it, and has no parent yet.
    hangs: bool,
    /// What it used, as far as that is counted.
    pub(super) counted: Tally,
}

/// Whether anybody can be an agent in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    /// An agent, or a model that somebody called.
    #[default]
    Agent,
    /// A flow, which is nobody's.
    Flow,
    /// A person.
    User,
}

/// Who is behind what caused a run.
pub(super) enum Behind {
    Agent(usize),
    /// A person, or the run does not say.
    Nobody,
    /// What is not known yet: what caused this run.
    Awaited(usize),
}

impl Agents {
    /// The place of the run of an event, with what it says caused it.
    pub(super) fn heard_of(&mut self, event: &Event) -> Option<usize> {
        let run = event.head.run_id.as_ref()?;
        let place = self.family.run(run).unwrap_or_else(|| {
            self.runs.push(RunOf::default());
            self.family.add(run)
        });
        let known = &mut self.runs[place];
        if let (None, Some(parent)) = (&known.parent, &event.head.parent_id) {
            known.parent = Some(parent.clone());
            known.cause = self.family.cause(parent).filter(|cause| *cause != place);
            if known.cause.is_none() {
                self.family.wait(place, parent);
            }
        }
        if known.agent.is_none() {
            match &event.body {
                Body::RunStart(_) if event.head.agent.is_none() => known.kind = Kind::Flow,
                Body::User(_) => known.kind = Kind::User,
                _ => {}
            }
        }
        self.family.know_content(run, place, &event.body);
        Some(place)
    }

    /// Whether an event is one of a flow itself.
    pub(super) fn is_of_flow(&self, run: usize, event: &Event) -> bool {
        event.head.agent.is_none() && self.runs[run].kind == Kind::Flow
    }

    /// The agent behind what caused a run. Flows have none, so it is looked for behind what caused them.
    pub(super) fn behind(&mut self, run: usize, changes: &mut Changes) -> Behind {
        let (mut at, mut anonymous) = (run, false);
        for _ in 0..CLIMB_MAX {
            let RunOf { cause, parent, .. } = &self.runs[at];
            let Some(cause) = *cause else {
                if parent.is_some() && !anonymous {
                    return Behind::Awaited(at);
                }
                break;
            };
            match self.runs[cause] {
                RunOf { agent: Some(agent), .. } => return Behind::Agent(agent),
                RunOf { kind: Kind::User, .. } => break,
                RunOf { kind, .. } => anonymous |= kind == Kind::Agent,
            }
            at = cause;
        }
        // What nobody in particular does is done by the root.
        if anonymous { Behind::Agent(self.root(changes)) } else { Behind::Nobody }
    }

    /// Lets the agent that was first heard of in a run hang from who caused that, now or when that is known.
    pub(super) fn hang_from_cause(&mut self, run: usize, changes: &mut Changes) {
        let Some(agent) = self.runs[run].agent else { return };
        match self.behind(run, changes) {
            Behind::Agent(parent) => self.hang(agent, parent, changes),
            Behind::Nobody => {}
            Behind::Awaited(above) => {
                let hangs = std::mem::replace(&mut self.runs[run].hangs, true);
                if above != run && !hangs {
                    self.below.entry(above).or_default().push(run);
                }
            }
        }
    }

    /// Gives those who waited for the run of an event, or for what it says, what caused them.
    pub(super) fn adopt(&mut self, event: &Event, changes: &mut Changes) {
        let Some(run) = &event.head.run_id else { return };
        for (child, cause) in self.family.arrived(run, &event.body) {
            if self.runs[child].cause.is_some() || child == cause {
                continue;
            }
            self.runs[child].cause = Some(cause);
            let below = self.below.remove(&child).unwrap_or_default();
            for waiting in std::iter::once(child).chain(below) {
                if std::mem::take(&mut self.runs[waiting].hangs) {
                    self.hang_from_cause(waiting, changes);
                }
            }
        }
    }
}
