//! What goes into the machine and what comes out: [`Input`]s, [`Effect`]s and [`Refusal`]s, and what a decision may look at.

use antiphon_event::body::content::UserContent;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{
    CallId, ErrorCode, Json, Mode, Provenance, RelayId, ReplId, RunId, StopReason, StreamName, Timestamp,
};

use super::Ran;
use crate::permission::Subject;
use crate::{Delta, Fault, Tokens};

/// What comes in from outside.
#[derive(Debug)]
pub enum Input {
    /// Begin.
    Start,
    /// The model says something.
    Said(Vec<Delta>),
    /// The model has said all, and this is what it used.
    Replied(Replied),
    /// The model gave no answer.
    Failed(Fault),
    /// A tool says something while it works.
    Progress(CallId, Json),
    /// A call came to an end.
    Returned(CallId, Result<Returned, Failure>),
    /// A process died, and nobody knows how a call ended.
    Lost(CallId),
    /// Code printed something.
    Printed(ReplId, Vec<(StreamName, String)>),
    /// Code makes a call.
    Called {
        /// The code.
        code: ReplId,
        /// The call.
        call: CallId,
        /// The tool.
        name: String,
        /// Its arguments.
        input: Json,
    },
    /// Code came to its end.
    Evaluated(ReplId, Ran),
    /// Somebody says something to the running turn.
    Steer {
        /// The run that what is said is, of its own.
        run: RunId,
        /// What is said.
        content: UserContent,
    },
    /// Somebody answered.
    Answer(RelayResolved),
    /// Nobody answered in time.
    Expired(RelayId),
    /// What came before is put into a summary.
    Summarized(Result<Summarized, Fault>),
    /// Somebody wants the run to stop.
    Cancel {
        /// Who.
        by: String,
        /// How.
        mode: Mode,
    },
    /// A budget is spent.
    Spent {
        /// What is to be said about it.
        message: String,
        /// The bound of a flow around it, if it is the budget of one, and how many flows further out than that of its
        /// node that is.
        limit: Option<(StopReason, u32)>,
    },
    /// A process takes the run over.
    Resume,
}

/// How a model call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Replied {
    /// What it used.
    pub tokens: Tokens,
    /// What it cost, if anybody knows.
    pub cost_usd: Option<f64>,
    /// The model.
    pub model: String,
    /// Why it stopped.
    pub stop: crate::Stop,
}

/// A summary, and what it took to write it.
#[derive(Debug, Clone, PartialEq)]
pub struct Summarized {
    /// The summary.
    pub content: String,
    /// What it used.
    pub replied: Replied,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    /// What it gave.
    pub output: Json,
    /// Where that came from.
    pub provenance: Option<Provenance>,
}

/// Why a call gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong, for a program.
    pub code: ErrorCode,
    /// What went wrong, for the model and for people.
    pub message: String,
}

/// What the machine wants done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the model what [`Agent::next_ask`](super::Agent::next_ask) says.
    Ask,
    /// Ask the model after so many milliseconds.
    Wait(u64),
    /// Call a tool.
    Run(CallId),
    /// Begin the run of another agent, whose answer is what the call gives.
    Spawn(CallId),
    /// Run the code under way.
    Evaluate(ReplId),
    /// Tell the code under way what a call of it gave.
    Tell(CallId),
    /// Say [`Input::Expired`] at this moment.
    Watch(RelayId, Timestamp),
    /// Keep a rule for the whole project.
    Keep(Json),
    /// Cut everything off that is under way.
    Stop,
}

/// Why an input was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is over.
    #[error("run {0} has ended")]
    Ended(RunId),
    /// Nobody asked, or it was answered.
    #[error("relay {0} is not pending: it was answered, it expired, or it never was")]
    NotPending(RelayId),
    /// The answer is not one of those asked for.
    #[error("the answer to relay {relay} does not fit: {why}")]
    Answer {
        /// The request.
        relay: RelayId,
        /// What is wrong.
        why: String,
    },
    /// Something that is not under way: cut off, or repeated.
    #[error("run {0} does not wait for that")]
    Late(RunId),
}

/// What can be seen of the world when something is decided.
pub trait World {
    /// What a call of a tool would touch.
    fn subjects(&self, tool: &str, input: &Json) -> Vec<Subject>;
}

/// The moment a decision is made at, and what may be looked at for it.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// The time.
    pub at: Timestamp,
    /// A number from 0 up to 1, fresh each time.
    pub dice: f64,
    /// The world.
    pub world: &'a dyn World,
}
