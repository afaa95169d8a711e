//! What somebody wants of a run: by its handle, or from another process.

use antiphon_agent::machine::Input as Hears;
use antiphon_event::body::content::{User, UserContent};
use antiphon_event::body::flow::Diagnostic;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Delivery, Event, Mode, RunId};
use antiphon_flow::{Input, Refusal};
use antiphon_port::{Fault, Sent};

use super::Driver;
use crate::mind::Mind;
use crate::run::{Asked, Standing, Wish};
use crate::talk::is_bounded;

impl Driver {
    /// Does what somebody wants, if it can be done, and says so when it is durable.
    pub(super) async fn grant(&mut self, (wish, reply): Asked) -> Result<(), Fault> {
        if let Wish::Answer(answer) = &wish {
            // An answer that was left before this one was given goes before it.
            let is_next = !self.parts.inbox || self.read_inbox().await?;
            if !is_next || self.is_early(answer) {
                self.early.push((wish, reply));
                return Ok(());
            }
        }
        let wish = match wish {
            Wish::Answer(answer) if self.is_asked_away(&answer.relay_id) => {
                self.forward(answer, Some(reply));
                return Ok(());
            }
            other => other,
        };
        let answer = match wish {
            Wish::Cancel { by, mode } => self.cancel(&by, &mode),
            Wish::Answer(answer) => self.answer(answer),
            Wish::Steer(content) => self.steer(self.parts.ids.run(), content),
        };
        if answer.is_ok() {
            self.stand(Standing::Working);
        }
        self.settle();
        self.commit().await?;
        // Whoever asked may be gone; what was asked for has happened.
        let _ = reply.send(answer);
        Ok(())
    }

    /// Takes the answers to agents that have been equipped since; whether there were any.
    pub(super) async fn grant_early(&mut self) -> Result<bool, Fault> {
        let waiting = std::mem::take(&mut self.early);
        let before = waiting.len();
        for asked in waiting {
            self.grant(asked).await?;
        }
        Ok(self.early.len() < before)
    }

    /// Whether an answer is for an agent that cannot decide anything before it is equipped.
    fn is_early(&self, answer: &RelayResolved) -> bool {
        self.tree.of_relay(&answer.relay_id).is_some_and(|machine| self.is_being_equipped(machine))
            || self.may_be_away(&answer.relay_id)
    }

    pub(super) fn answer(&mut self, answer: RelayResolved) -> Result<(), Refusal> {
        let machine = self.tree.of_relay(&answer.relay_id);
        let machine = machine.ok_or_else(|| Refusal::NotPending(answer.relay_id.clone()))?;
        match &self.tree.machines[machine].mind {
            Mind::Flow(_) => self.feed(machine, Input::Answer(answer)),
            Mind::Agent(_) => self.tell(machine, Hears::Answer(answer)),
        }
    }

    /// Says something to the agent that people talk with.
    fn steer(&mut self, run: RunId, content: UserContent) -> Result<(), Refusal> {
        is_bounded(&content)?;
        if self.agent(0).is_none() {
            let why = "a flow hears nothing while it runs".to_owned();
            return Err(Refusal::Message(why));
        }
        self.tell(0, Hears::Steer { run, content })
    }

    /// Stops the tree: at once from the innermost run outwards, or gracefully from the root down.
    pub(super) fn cancel(&mut self, by: &str, mode: &Mode) -> Result<(), Refusal> {
        if *mode == Mode::Now {
            for machine in (1..self.tree.machines.len()).rev() {
                let inner = &self.tree.machines[machine].mind;
                if inner.has_started() && !inner.has_ended() {
                    self.ask_to_stop(machine, by, mode);
                    self.see_off(machine);
                }
            }
        }
        let (by, how) = (by.to_owned(), mode.clone());
        match &self.tree.machines[0].mind {
            Mind::Flow(_) => self.feed(0, Input::Cancel { by, mode: how })?,
            Mind::Agent(_) => self.tell(0, Hears::Cancel { by, mode: how })?,
        }
        if *mode == Mode::Now {
            self.see_off(0);
        }
        Ok(())
    }

    /// Reads what other processes left for this one, in the order it was left; false if some of it has to wait for an agent
    /// that is being equipped.
    pub(super) async fn read_inbox(&mut self) -> Result<bool, Fault> {
        for sent in self.parts.journal.take(&self.branch.session, self.inbox_done).await? {
            let early =
                |event: Event| matches!(event.body, Body::RelayResolved(answer) if self.is_early(&answer));
            if Event::from_json(&sent.text).is_ok_and(early) {
                return Ok(false);
            }
            self.inbox_done = sent.number;
            match self.obey(&sent) {
                Ok(()) => self.stand(Standing::Working),
                Err(why) => self.remark(format!("a command from another process was refused: {why}")),
            }
        }
        Ok(true)
    }

    /// Does what another process wants.
    fn obey(&mut self, sent: &Sent) -> Result<(), String> {
        let event = Event::from_json(&sent.text).map_err(|error| error.to_string())?;
        let run = event.head.run_id.clone().unwrap_or_else(|| self.parts.ids.run());
        let done = match event.body {
            Body::CancelRequested(_) if sent.number <= self.inbox_old => {
                return Err("what it was to stop had ended when it came".to_owned());
            }
            Body::CancelRequested(request) => self.cancel(&request.by, &request.mode),
            Body::RelayResolved(answer) if self.is_asked_away(&answer.relay_id) => {
                self.forward(*answer, None);
                Ok(())
            }
            Body::RelayResolved(answer) => self.answer(*answer),
            Body::User(User { content, delivery: Some(Delivery::Steer), .. }) => self.steer(run, content),
            Body::User(_) => {
                return Err(
                    "a message that does not steer is a turn of its own: say it when this one has ended"
                        .to_owned(),
                );
            }
            other => return Err(format!("`{}` is no command", other.tag())),
        };
        done.map_err(|refusal| refusal.to_string())
    }

    /// Writes something down that is worth knowing and is no error of the run.
    pub(super) fn remark(&mut self, message: String) {
        let root = &self.tree.machines[0].mind;
        let diagnostic = Diagnostic { level: "warn".to_owned(), source: "inbox".to_owned(), message };
        let event = root.event(self.at(), None, Body::Diagnostic(diagnostic));
        self.batch.push(event);
    }
}
