//! [`Run`]: a handle on a run that is under way.

use std::path::Path;
use std::sync::Arc;

use antiphon_event::body::content::UserContent;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Json, Mode, RunId, SessionId};
use antiphon_flow::Refusal;
use antiphon_port::{Branch, Fault, Journal};
use tokio::sync::{mpsc, oneshot, watch};

use crate::report::Report;
use crate::tail::Tail;
use crate::talk::content;

/// What somebody wants of a run.
#[derive(Debug)]
pub(crate) enum Wish {
    Cancel { by: String, mode: Mode },
    Answer(RelayResolved),
    Steer(UserContent),
}

/// A wish and where the answer goes.
pub(crate) type Asked = (Wish, oneshot::Sender<Result<(), Refusal>>);

/// How far a run is.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    /// Position of the last event that is durable.
    pub(crate) seq: u64,
    pub(crate) standing: Standing,
}

#[derive(Debug, Clone)]
pub(crate) enum Standing {
    Working,
    Paused(Arc<Report>),
    Ended(Arc<Report>),
    Broken(Arc<Stopped>),
}

/// Where to hear of a run: of every append, or only of how it stands, so that who waits for its end is not woken by
/// every step of the way.
#[derive(Debug, Clone)]
pub(crate) struct Watcher {
    pub(crate) progress: watch::Receiver<Progress>,
    pub(crate) standing: watch::Receiver<Standing>,
}

impl Standing {
    pub(crate) fn is_working(&self) -> bool {
        matches!(self, Self::Working)
    }
}

/// The journal would not take any more: what is durable is in it, and resuming goes on from there.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the journal failed and the run stopped; what had happened is kept, and it can be resumed: {fault}")]
pub struct Stopped {
    /// What the journal said.
    #[source]
    pub fault: Fault,
    /// How the run stood, as far as is durable.
    pub report: Report,
}

/// A run that is under way. When the last handle is dropped a run that waits for people lets go of its session; one
/// that is at work goes on.
#[derive(Clone)]
pub struct Run {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) branch: Branch,
    pub(crate) run: RunId,
    pub(crate) folder: Option<Arc<Path>>,
    pub(crate) began: u64,
    pub(crate) wishes: mpsc::Sender<Asked>,
    pub(crate) progress: Watcher,
}

impl Run {
    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.branch.session
    }

    /// The branch.
    pub fn branch(&self) -> &Branch {
        &self.branch
    }

    /// The run.
    pub fn id(&self) -> &RunId {
        &self.run
    }

    /// The folder it works in. Runs of earlier versions do not say it: they go on wherever they are gone on with.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Its events, from its first one on.
    pub fn events(&self) -> Tail {
        self.events_after(self.began)
    }

    /// The events of its branch after a position.
    pub fn events_after(&self, after: u64) -> Tail {
        Tail {
            journal: Arc::clone(&self.journal),
            branch: self.branch.clone(),
            after,
            progress: self.progress.progress.clone(),
            reading: None,
        }
    }

    /// Waits until it has ended or only people can get it further.
    pub async fn wait(&mut self) -> Result<Report, Stopped> {
        let standing = self.progress.standing.wait_for(|standing| !standing.is_working()).await;
        match standing.map(|standing| standing.clone()) {
            Ok(Standing::Paused(report) | Standing::Ended(report)) => Ok(Report::clone(&report)),
            Ok(Standing::Broken(stopped)) => Err(Stopped::clone(&stopped)),
            Ok(Standing::Working) | Err(_) => unreachable!("a driver says how it stands before it goes"),
        }
    }

    /// Asks it to stop. Refused if it has ended.
    pub async fn cancel(&self, by: impl Into<String>, mode: Mode) -> Result<(), Refusal> {
        self.wish(Wish::Cancel { by: by.into(), mode }).await
    }

    /// Answers a request. Durable when this returns.
    pub async fn answer(&self, answer: RelayResolved) -> Result<(), Refusal> {
        self.wish(Wish::Answer(answer)).await
    }

    /// Says something to an agent while it works: it hears it before its model is asked the next time. Durable when this
    /// returns. Refused if the turn has ended or is about to: say it as the next turn then.
    pub async fn steer(&self, message: impl Into<Json>) -> Result<(), Refusal> {
        self.wish(Wish::Steer(content(&message.into()))).await
    }

    async fn wish(&self, wish: Wish) -> Result<(), Refusal> {
        let (reply, mut answer) = oneshot::channel();
        let ended = || Refusal::Ended(self.run.clone());
        self.wishes.send((wish, reply)).await.map_err(|_| ended())?;
        tokio::select! {
            biased;
            answer = &mut answer => answer.map_err(|_| ended())?,
            // A wish that comes in the moment in which the driver goes stays in the channel, and nobody drops it.
            () = self.wishes.closed() => answer.try_recv().map_err(|_| ended())?,
        }
    }
}
