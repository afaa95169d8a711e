//! [`Function`]: Rust code as the work of a node.
//!
//! Plain functions, async functions, and functions that say something while they work. The driver calls them;
//! nothing here starts a task.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use antiphon_event::body::content::Text;
use antiphon_event::body::flow::Telemetry;
use antiphon_event::{Body, ErrorCode, FlowNodeId, Json, RunId};
use serde_json::Value;

use crate::state::State;

/// A future that can be sent to another thread.
pub type Future<T> = Pin<Box<dyn std::future::Future<Output = T> + Send>>;

/// Rust code as the work of a node.
#[derive(Clone)]
pub struct Function(pub(crate) Code);

/// How the code wants to be called.
#[derive(Clone)]
pub enum Code {
    /// It may block its thread, and gets one of its own.
    Plain(Arc<dyn Fn(Call) -> Result<Reply, Failure> + Send + Sync>),
    /// It waits without blocking.
    Async(Arc<dyn Fn(Call) -> Future<Result<Reply, Failure>> + Send + Sync>),
}

/// One execution of a node, as its code sees it.
#[derive(Clone)]
pub struct Call {
    /// What it gets.
    pub input: Json,
    /// The state when it started; what it wants to change goes into its [`Reply`].
    pub state: State,
    /// The task of the whole flow.
    pub task: Json,
    /// The run it is part of.
    pub run: RunId,
    /// The node.
    pub node: FlowNodeId,
    /// Which execution, from 1.
    pub execution: u32,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// The same for every attempt at this execution: what lets others tell a repeat from a second wish.
    pub key: Arc<str>,
    /// Where what it says while it works goes.
    pub voice: Arc<dyn Voice>,
}

/// Takes in what a node says while it works.
pub trait Voice: Send + Sync {
    /// Hands an event over. Waits while the journal is behind; what is said after the node ended is dropped.
    fn say(&self, body: Body) -> Future<()>;
}

/// What a node gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its output.
    pub output: Json,
    /// What it contributes to the state, by key.
    pub writes: Vec<(String, Value)>,
    /// What it counted.
    pub telemetry: Option<Telemetry>,
}

/// Why an attempt failed. What it is worth trying again for is the node's `retry`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// For a program.
    pub code: ErrorCode,
    /// For a person.
    pub message: String,
}

impl Function {
    /// Code that may block its thread.
    pub fn plain<R: Into<Reply>>(
        code: impl Fn(Call) -> Result<R, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(Code::Plain(Arc::new(move |call| code(call).map(Into::into))))
    }

    /// Code that waits without blocking, and may [say](Call::say) things while it works.
    pub fn new<R, F>(code: impl Fn(Call) -> F + Send + Sync + 'static) -> Self
    where
        R: Into<Reply>,
        F: std::future::Future<Output = Result<R, Failure>> + Send + 'static,
    {
        Self(Code::Async(Arc::new(move |call| {
            let work = code(call);
            Box::pin(async move { work.await.map(Into::into) })
        })))
    }

    /// How it wants to be called.
    pub fn code(&self) -> &Code {
        &self.0
    }
}

impl Call {
    /// The input, parsed.
    pub fn value(&self) -> Value {
        self.input.value()
    }

    /// Says a piece of text, which readers see at once.
    pub async fn say(&self, text: impl Into<String>) {
        let id = format!("{}/{}:{}", self.run, self.node, self.execution);
        self.voice.say(Body::Text(Text { id: id.into(), content: text.into(), provenance: None })).await;
    }
}

impl Reply {
    /// A reply that contributes nothing to the state.
    pub fn new(output: impl Into<Json>) -> Self {
        Self { output: output.into(), writes: Vec::new(), telemetry: None }
    }

    /// The same reply with a contribution to a key of the state.
    #[must_use]
    pub fn write(mut self, key: impl Into<String>, contribution: impl Into<Value>) -> Self {
        self.writes.push((key.into(), contribution.into()));
        self
    }
}

impl Failure {
    /// A failure that code reports about itself.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::Failed, message: message.into() }
    }

    pub(crate) fn of(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
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

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Code::Plain(_) => "Function(plain)",
            Code::Async(_) => "Function(async)",
        })
    }
}
