//! [`Tool`]: something that can be called by name.

use std::pin::Pin;
use std::sync::Arc;

use antiphon_agent::Spec;
use antiphon_agent::permission::Subject;
use antiphon_event::{ErrorCode, Json, Provenance};

/// A future that can be sent to another thread.
pub type Future<T> = Pin<Box<dyn std::future::Future<Output = T> + Send>>;

/// A call of a tool.
#[derive(Clone)]
pub struct ToolCall {
    /// Its arguments, checked against the schema and with defaults filled in.
    pub input: Json,
    /// The same for every attempt at this call: what lets others tell a repeat from a second wish.
    pub key: Arc<str>,
    /// Where what it says while it works goes.
    pub progress: Arc<dyn Progress>,
    /// What it may touch beyond what it was called with.
    pub reach: Reach,
}

/// What a call may touch of what it comes upon, such as the files in a folder that it searches.
#[derive(Clone, Default)]
pub struct Reach(Option<Arc<dyn Fn(&Subject) -> bool + Send + Sync>>);

impl Reach {
    /// As far as this says.
    pub fn new(covers: impl Fn(&Subject) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(covers)))
    }

    /// As far as it gets.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Whether something may be touched without asking.
    pub fn covers(&self, subject: &Subject) -> bool {
        self.0.as_ref().is_none_or(|covers| covers(subject))
    }
}

/// Takes in what a tool says while it works.
pub trait Progress: Send + Sync {
    /// Hands something over. Waits while the journal is behind; what is said after the end is dropped.
    fn say(&self, content: Json) -> Future<()>;
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply {
    /// What it gives: text, any value, or a list of parts (`{type: text|image|document, …}`) that a model can look at.
    pub output: Json,
    /// Where that came from, if not from the tool itself.
    pub provenance: Option<Provenance>,
}

impl ToolReply {
    /// A reply that came from the tool itself.
    pub fn new(output: impl Into<Json>) -> Self {
        Self { output: output.into(), provenance: None }
    }
}

/// Why a call came to nothing; the model sees it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFault {
    /// What went wrong, for a program.
    pub code: ErrorCode,
    /// What was tried, with what, and what to do about it.
    pub message: String,
}

impl ToolFault {
    /// Something went wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: ErrorCode::Failed, message: message.into() }
    }
}

/// Something that can be called by name. May be called from many tasks at once; dropped to be cancelled, and then
/// stops at once whatever it had begun.
pub trait Tool: Send + Sync + 'static {
    /// What it is.
    fn spec(&self) -> &Spec;

    /// What a call with these arguments would touch; rules look at it. May look at the file system to resolve links.
    fn subjects(&self, _input: &Json) -> Vec<Subject> {
        Vec::new()
    }

    /// Hears of an earlier call that gave this text, in order, before the first call of a process that goes on with the
    /// conversation: what was learnt by calls is known again. A hint: it may be told twice, and of calls of a while ago.
    fn recall(&self, _input: &Json, _output: &str) {}

    /// Does it.
    fn call(&self, call: ToolCall) -> Future<Result<ToolReply, ToolFault>>;
}
