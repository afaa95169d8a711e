//! [`Code`]: Rust code as the work of a node, and what work comes to: a [`Reply`] or a [`Failure`].
//!
//! What the code is, and how it is called, is between the driver and whoever wrote it; nothing here calls it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use antiphon_event::body::flow::{NodeError, Telemetry};
use antiphon_event::{ErrorCode, Json, StopReason};
use serde_json::Value;

/// Rust code as the work of a node, in the form its driver wants it.
#[derive(Clone)]
pub struct Code(Arc<dyn Any + Send + Sync>);

impl Code {
    /// Code in the form of a driver.
    pub fn new(code: impl Any + Send + Sync) -> Self {
        Self(Arc::new(code))
    }

    /// The code, if it is in this form.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

/// What a node gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its output.
    pub output: Json,
    /// What it contributes to the state, by key.
    pub writes: Vec<(String, Json)>,
    /// What it counted.
    pub telemetry: Option<Box<Telemetry>>,
}

/// Why an attempt failed. What it is worth trying again for is the node's `retry`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// For a program.
    pub code: ErrorCode,
    /// For a person.
    pub message: String,
    /// The bound that was reached, if that is why.
    pub bound: Option<Box<Bound>>,
    /// Why it is not for a program to try again, if it is not.
    pub finality: Option<Final>,
}

/// Why a failure is not for a program to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Final {
    /// Something that is not to be done twice may have been done.
    InDoubt,
    /// A person has decided.
    Decided,
}

impl Final {
    /// As members of an event say it.
    pub fn read(error: &NodeError) -> Option<Self> {
        (error.retryable == Some(false)).then_some(match error.decided {
            Some(true) => Self::Decided,
            _ => Self::InDoubt,
        })
    }

    /// The same for members of an event: `retryable` and `decided`.
    pub fn write(finality: Option<Self>) -> (Option<bool>, Option<bool>) {
        (finality.map(|_| false), (finality == Some(Self::Decided)).then_some(true))
    }
}

/// A bound of a run, seen from a node that reached it: the node fails, and with it the run whose bound it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// Which one.
    pub reason: StopReason,
    /// How many flows further out than that of the node the run is whose bound it is.
    pub around: u32,
}

impl Bound {
    /// As members of an event say it.
    pub fn read(limit: Option<&StopReason>, around: Option<u32>) -> Option<Self> {
        Some(Self { reason: limit?.clone(), around: around.unwrap_or(0) })
    }

    /// The same for members of an event.
    pub fn write(bound: Option<&Self>) -> (Option<StopReason>, Option<u32>) {
        let around = bound.map(|bound| bound.around).filter(|around| *around > 0);
        (bound.map(|bound| bound.reason.clone()), around)
    }
}

impl Reply {
    /// A reply that contributes nothing to the state.
    pub fn new(output: impl Into<Json>) -> Self {
        Self { output: output.into(), writes: Vec::new(), telemetry: None }
    }

    /// The same reply with a contribution to a key of the state. What is [`Json`] already is shared, not copied.
    #[must_use]
    pub fn write(mut self, key: impl Into<String>, contribution: impl Into<Json>) -> Self {
        self.writes.push((key.into(), contribution.into()));
        self
    }
}

impl Failure {
    /// A failure that code reports about itself.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(ErrorCode::Failed, message)
    }

    /// A failure of a kind that programs know.
    pub fn of(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), bound: None, finality: None }
    }

    /// The same, not for a program to try again; what it was before for that reason it stays.
    #[must_use]
    pub(crate) fn for_good(self, why: Final) -> Self {
        Self { finality: self.finality.or(Some(why)), ..self }
    }
}

impl From<&NodeError> for Failure {
    fn from(error: &NodeError) -> Self {
        Self {
            code: error.code.clone().unwrap_or(ErrorCode::Failed),
            message: error.message.clone(),
            bound: Bound::read(error.limit.as_ref(), error.limit_around).map(Box::new),
            finality: Final::read(error),
        }
    }
}

impl From<Json> for Reply {
    fn from(output: Json) -> Self {
        Self::new(output)
    }
}

impl From<Value> for Reply {
    fn from(output: Value) -> Self {
        Self::new(output)
    }
}

impl From<String> for Reply {
    fn from(output: String) -> Self {
        Self::new(Value::from(output))
    }
}

impl From<&str> for Reply {
    fn from(output: &str) -> Self {
        Self::new(output)
    }
}

impl From<()> for Reply {
    fn from((): ()) -> Self {
        Self::new(Value::Null)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}
