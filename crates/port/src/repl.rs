//! [`Sandbox`]: runs code that a model wrote, with nothing in its reach but what is given to it.

use std::sync::Arc;
use std::time::Duration;

use antiphon_event::StreamName;

use crate::Future;

/// What code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplLimits {
    /// Bytes of memory.
    pub memory_bytes: usize,
    /// Time at work in one turn, without what it waits for.
    pub time: Duration,
    /// Characters of output that are kept in one turn.
    pub output_chars: usize,
}

impl Default for ReplLimits {
    fn default() -> Self {
        Self { memory_bytes: 64 << 20, time: Duration::from_secs(10), output_chars: 20_000 }
    }
}

/// Opens sessions for code.
pub trait Sandbox: Send + Sync + 'static {
    /// A session with `context` in its reach. Dropped to be closed; code that runs then is stopped.
    fn open(&self, context: String, limits: ReplLimits) -> Result<Box<dyn Repl>, String>;
}

/// One session: what code puts into `scope` is there in the next turn.
pub trait Repl: Send {
    /// Runs code. Whatever it does, the session can be used again after.
    fn run(&mut self, code: String, host: Arc<dyn Host>) -> Future<Turn>;
}

/// What code can reach. Called by the code that runs, several calls at once if it wants.
pub trait Host: Send + Sync + 'static {
    /// Code printed something.
    fn print(&self, stream: StreamName, chunk: String);

    /// Code asks a model: `llm_query(prompt, context?)`.
    fn query(&self, prompt: String, context: Option<String>) -> Future<Result<String, String>>;

    /// Code wants a command run: `exec(command)`.
    fn exec(&self, command: String) -> Future<Result<String, String>>;
}

/// What a turn came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// All that was printed, cut at the bound.
    pub stdout: String,
    /// Whether it was cut.
    pub truncated: bool,
    /// What went wrong, if something did: thrown, out of time, out of memory, not code.
    pub error: Option<String>,
    /// What `FINAL` was given in this turn, if the turn came to a good end.
    pub answer: Option<String>,
}
