//! [`Harness`]: turns the settings of an agent node into events and an answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::body::system::Amounts;
use antiphon_event::{Body, Json, RunId};
use antiphon_flow::function::{Failure, Reply};

use crate::function::{Call, Future};

use crate::perform::Mouth;

/// One invocation of an agent.
pub struct Invoke {
    /// What the node says about the agent.
    pub settings: Json,
    /// The execution it is the work of.
    pub call: Call,
    /// The agent's own run.
    pub run: RunId,
    /// Where its events go.
    pub(crate) mouth: Mouth,
}

impl Invoke {
    /// Hands an event of the agent's run over.
    pub async fn say(&self, body: Body) {
        self.mouth.say(self.run.clone(), body).await;
    }
}

impl Invoke {
    /// Sets an amount aside before it is spent: waits while others hold what it needs, fails if it can never fit.
    pub async fn reserve(&self, amounts: Amounts) -> Result<Reservation, Failure> {
        Ok(Reservation { id: self.mouth.reserve(amounts).await?, mouth: self.mouth.clone() })
    }
}

/// An amount that was set aside. One that is never settled counts as spent whole when the work ends.
#[must_use = "what was set aside is to be settled"]
pub struct Reservation {
    id: Option<String>,
    mouth: Mouth,
}

impl Reservation {
    /// Says what was really spent.
    pub async fn settle(self, spent: Amounts) {
        self.mouth.settle(self.id, spent).await;
    }
}

/// Turns the settings of an agent node into events and an answer. Dropped to be cancelled.
pub trait Harness: Send + Sync + 'static {
    /// Runs the agent.
    fn invoke(&self, invoke: Invoke) -> Future<Result<Reply, Failure>>;
}

pub(crate) type Harnesses = BTreeMap<String, Arc<dyn Harness>>;
