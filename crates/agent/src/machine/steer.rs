//! What somebody says while the agent works: heard before its model is asked the next time.

use antiphon_event::body::content::{User, UserContent};
use antiphon_event::{Body, Delivery, Event, EventFlowId, Head, ParentId, RunId};

use super::{Agent, Effect, Now, Phase, Refusal};

impl Agent {
    /// Somebody says something to the running turn. It is a run of its own, caused by the last step that is whole; what
    /// comes again after a crash is not said again.
    pub(super) fn steer(
        &self,
        run: RunId,
        content: UserContent,
        now: Now<'_>,
    ) -> Result<Vec<Event>, Refusal> {
        let is_ending = self.cancel.is_some() || self.error.is_some() || self.handed.is_some();
        if is_ending || !self.started() {
            return Err(Refusal::Late(self.origin.run.clone()));
        }
        if self.steered.contains(&run) {
            return Ok(Vec::new());
        }
        let said = User { content, delivery: Some(Delivery::Steer), provenance: None };
        let turn = self.origin.turn.clone().unwrap_or_else(|| EventFlowId::from(run.shared()));
        let mut head = Head { at: Some(now.at), ..Head::of_user(run, turn) };
        head.parent_id = Some(self.last_whole());
        Ok(vec![Event::of(head, Body::User(said))])
    }

    /// The node of the conversation graph that the last whole step ends with, or that the run began with.
    fn last_whole(&self) -> ParentId {
        let run = &self.origin.run;
        ParentId::from(match self.usages {
            0 => format!("{run}:harness_start"),
            nth => format!("{run}:usage:{nth}"),
        })
    }

    /// Takes in what others say: a message that steers is heard by the next model call. A model that was asked and has
    /// said nothing yet is asked anew, so that it hears it at once.
    pub(super) fn overhear(&mut self, event: &Event) -> Vec<Effect> {
        let Body::User(User { delivery: Some(Delivery::Steer), .. }) = &event.body else { return Vec::new() };
        self.steered.extend(event.head.run_id.clone());
        match self.phase {
            Phase::Ready if self.said.is_empty() => {
                self.begun += 1;
                self.ask()
            }
            Phase::Ready | Phase::Acting => {
                self.unheard = Some(self.begun);
                Vec::new()
            }
            Phase::New
            | Phase::Delayed(_)
            | Phase::Answered
            | Phase::Limited
            | Phase::Declined
            | Phase::Ended(_) => Vec::new(),
        }
    }

    /// Whether somebody said something that no model call has heard.
    pub(super) fn has_unheard(&self) -> bool {
        self.unheard == Some(self.begun)
    }
}
