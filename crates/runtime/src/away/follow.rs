//! [`Follower`]: looks after the run of an agent on another branch: tells its caller's driver what it asks, hands answers
//! on, and says what it comes to.

use std::collections::BTreeSet;

use antiphon_agent::machine::Returned;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{ErrorCode, Event, Mode, RelayId};
use antiphon_flow::Refusal;
use antiphon_flow::function::Failure;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{Order, about, failure};
use crate::driver::Wake;
use crate::perform::Mouth;
use crate::report::{Outcome, Report};
use crate::run::{Run, Standing};

/// Looks after the run of an agent for the driver of its caller.
pub(super) struct Follower<'m> {
    pub(super) run: Run,
    pub(super) task: JoinHandle<()>,
    /// What the caller's branch knows already of requests.
    pub(super) told: BTreeSet<(bool, RelayId)>,
    pub(super) mouth: &'m Mouth,
    /// Whether the driver of the caller knows that only people can get it further.
    pub(super) waits: bool,
}

/// What a call gives.
type Given = Result<Returned, Failure>;

impl Follower<'_> {
    /// What the run comes to; nothing if nobody waits for that any more.
    pub(super) async fn follow(mut self, orders: &mut mpsc::Receiver<Order>) -> Option<Given> {
        let (mut tail, mut standing) = (self.run.events(), self.run.progress.standing.clone());
        let mut is_idle = false;
        loop {
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(Order::Answer(answer, reply)) => {
                        self.answer(answer, reply).await;
                        is_idle = false;
                    }
                    Some(Order::Stop) => {
                        self.stop().await;
                        return None;
                    }
                    None => {
                        self.leave().await;
                        return None;
                    }
                },
                next = tail.next(), if !is_idle => match next {
                    Ok(Some(events)) => self.mirror(events).await,
                    Ok(None) => {
                        is_idle = true;
                        let now = standing.borrow_and_update().clone();
                        if let Some(result) = self.stands(now).await {
                            return Some(result);
                        }
                    }
                    Err(fault) => return Some(Err(failure(&fault.into()))),
                },
                changed = standing.changed(), if is_idle => {
                    if changed.is_err() {
                        let gone = "its driver ended before it did".to_owned();
                        return Some(Err(Failure::of(ErrorCode::Failed, gone)));
                    }
                    is_idle = false;
                }
            }
        }
    }

    async fn answer(&mut self, answer: RelayResolved, reply: Option<oneshot::Sender<Result<(), Refusal>>>) {
        let result = self.run.answer(answer).await;
        self.waits &= result.is_err();
        self.mouth.wake(|machine, attempt| Wake::Forwarded(machine, attempt, result, reply)).await;
    }

    /// Stops it, and waits until that is durable.
    async fn stop(mut self) {
        // One that has ended by itself meanwhile needs no stopping.
        let _ = self.run.cancel("run", Mode::Now).await;
        let _ = self.run.wait().await;
        let _ = self.task.await;
    }

    /// Lets go of it: one that waits for people ends, and can be found again.
    async fn leave(self) {
        drop(self.run);
        if self.waits {
            let _ = self.task.await;
        }
    }

    /// Tells what is asked of people, and what they answer.
    async fn mirror(&mut self, events: Vec<Event>) {
        for event in events {
            let Some(about) = about(&event) else { continue };
            self.waits &= !about.0;
            let is_new = self.told.insert(about);
            let event = Box::new(event);
            self.mouth.wake(|machine, attempt| Wake::Mirrored(machine, attempt, event, is_new)).await;
        }
    }

    /// What it comes to, if it has ended.
    async fn stands(&mut self, standing: Standing) -> Option<Given> {
        match standing {
            Standing::Working => None,
            Standing::Ended(report) => Some(result(&report)),
            Standing::Broken(stopped) => Some(Err(Failure::of(ErrorCode::Failed, stopped.to_string()))),
            Standing::Paused(_) => {
                if !std::mem::replace(&mut self.waits, true) {
                    self.mouth.wake(Wake::Waits).await;
                }
                None
            }
        }
    }
}

fn result(report: &Report) -> Given {
    let code = match report.outcome {
        Outcome::Completed => return Ok(Returned { output: report.output.clone(), provenance: None }),
        Outcome::Cancelled => ErrorCode::Cancelled,
        Outcome::Failed | Outcome::Paused => ErrorCode::Failed,
    };
    let value = report.output.value();
    let message = value["error"].as_str().map_or_else(|| value.to_string(), str::to_owned);
    Err(Failure::of(code, message))
}
