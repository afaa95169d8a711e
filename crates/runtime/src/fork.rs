//! Another way on from a position of the past, a look at the past as it was, and at what would be taken now.

use std::collections::BTreeMap;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::body::session::{BranchCreated, BranchName, ForkPoint};
use antiphon_event::{Body, Event, Head, Json, RelayId};
use antiphon_flow::{Flow, Input, Now, Refusal};
use antiphon_port::{Batch, Branch};

use crate::driver::refusal;
use crate::engine::{Engine, Refused};
use crate::mind::Mind;
use crate::report::Report;
use crate::resume::{self, Resumption};
use crate::tree::Tree;

/// A branch to be made.
#[derive(Debug, Clone)]
pub struct Forking {
    /// The branch it leaves.
    pub from: Branch,
    /// The last position that both have.
    pub at: u64,
    /// The new branch.
    pub into: Branch,
    /// What is contributed to the state there, by key.
    pub writes: BTreeMap<String, Json>,
    /// Who wants it.
    pub by: String,
}

impl Engine {
    /// Begins a branch that goes its own way after a position; nothing is copied, and nothing runs until it is resumed.
    /// Changes of the state are refused if they do not fit the flow; nothing is made then. The position of its last
    /// event.
    pub async fn fork(&self, forking: Forking, flow: Option<Flow>) -> Result<u64, Refused> {
        let Forking { from, at, into, writes, by } = forking;
        let patch =
            if writes.is_empty() { Vec::new() } else { self.patch(&from, at, flow, writes, by).await? };
        let journal = self.journal();
        let head = journal.fork(&from, at, &into).await?;
        let from = ForkPoint { branch_id: from.branch, seq: at, hash: Some(head.hash.to_string()) };
        let name = BranchName { session_id: into.session.clone(), branch_id: into.branch.clone() };
        let created = Body::BranchCreated(BranchCreated { from: Some(from), into: Some(name) });
        let head_of = Head { at: Some(self.0.clock.now()), ..Head::default() };
        let mut events = vec![Event::of(head_of, created)];
        events.extend(patch);
        let batch = Batch::new(events).expect("it holds at least the first event");
        Ok(journal.append(&into, head.seq, batch).await?.last)
    }

    async fn patch(
        &self,
        from: &Branch,
        at: u64,
        flow: Option<Flow>,
        writes: BTreeMap<String, Json>,
        by: String,
    ) -> Result<Vec<Event>, Refused> {
        let past = resume::load(&self.0, from, Some(at), flow).await?;
        let now = Now { at: self.0.clock.now(), dice: self.0.ids.dice(), steps: None };
        let Some(flow) = past.tree.machines[0].mind.as_flow() else {
            return Err(Refused::NoState(from.session.clone()));
        };
        Ok(flow.decide(Input::Patch { writes, by }, now)?)
    }

    /// How the last run of a branch stood at a position, or stands now; changes nothing. A run that has not ended is
    /// reported as paused, whether or not somebody is at work on it.
    pub async fn look(
        &self,
        branch: &Branch,
        at: Option<u64>,
        flow: Option<Flow>,
    ) -> Result<Report, Refused> {
        let Resumption { tree, seq, .. } = resume::load(&self.0, branch, at, flow).await?;
        Ok(Report::new(&tree, branch.session.clone(), seq))
    }

    /// Whether the last run of a branch would take an answer if it were resumed now; changes nothing. Whether an agent's
    /// rules allow what a person makes of the arguments of a call it judges itself, when it is there.
    pub async fn accepts(
        &self,
        branch: &Branch,
        flow: Option<Flow>,
        answer: &RelayResolved,
    ) -> Result<(), Refused> {
        let Resumption { tree, .. } = resume::load(&self.0, branch, None, flow).await?;
        let at = self.0.clock.now();
        let asked = tree.of_relay(&answer.relay_id).map(|machine| &tree.machines[machine].mind);
        match asked {
            Some(Mind::Flow(flow)) => {
                let now = Now { at, dice: self.0.ids.dice(), steps: None };
                flow.decide(Input::Answer(answer.clone()), now)?;
                Ok(())
            }
            Some(Mind::Agent(agent)) => Ok(agent.accepts(answer, at).map_err(refusal)?),
            // The agent on another branch that asks it judges the answer when it is there.
            None if self.is_asked_away(branch, &tree, &answer.relay_id).await? => Ok(()),
            None => Err(Refusal::NotPending(answer.relay_id.clone()).into()),
        }
    }

    /// Whether an agent on another branch asks this: it is told on this one as the question of a run that is not here.
    async fn is_asked_away(&self, branch: &Branch, tree: &Tree, relay: &RelayId) -> Result<bool, Refused> {
        let mut is_asked = false;
        for event in resume::read_all(&self.0, branch).await? {
            match &event.body {
                Body::Relay(asked) if asked.id == *relay => {
                    is_asked = event.head.run_id.as_ref().is_some_and(|run| tree.of_run(run).is_none());
                }
                Body::RelayResolved(resolved) if resolved.relay_id == *relay => is_asked = false,
                _ => {}
            }
        }
        Ok(is_asked)
    }

    /// Whether only people can get the last run of a branch further, as far as its events tell.
    pub async fn awaits_people(&self, branch: &Branch, flow: Option<Flow>) -> Result<bool, Refused> {
        let Resumption { tree, .. } = resume::load(&self.0, branch, None, flow).await?;
        let root = &tree.machines[0].mind;
        Ok(root.has_started() && !root.has_ended() && !tree.is_at_work(0))
    }
}
