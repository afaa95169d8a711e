//! [`Sandbox`]: runs code that a model wrote, with nothing in its reach but what is given to it.
//!
//! In: code, and answers to what it asks its [`Host`]. Out: a [`Turn`] for each piece of code, whatever it does.
//! Start reading at [`Sandbox`].

use std::sync::Arc;
use std::time::Duration;

use antiphon_event::{StreamName, Timestamp};

use crate::Future;

/// What code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplLimits {
    /// Bytes of memory, the context among them.
    pub memory_bytes: usize,
    /// Bytes of stack: how deep calls go.
    pub stack_bytes: usize,
    /// Time at work in one turn, without what it waits for.
    pub time: Duration,
    /// Characters of output that are kept in one turn.
    pub output_chars: usize,
    /// Characters of an answer.
    pub answer_chars: usize,
    /// Characters that one call hands to the host.
    pub call_chars: usize,
    /// Calls of the host that wait for their answer at the same time.
    pub calls: usize,
}

impl Default for ReplLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 64 << 20,
            stack_bytes: 512 << 10,
            time: Duration::from_secs(10),
            output_chars: 20_000,
            answer_chars: 1 << 20,
            call_chars: 4 << 20,
            calls: 256,
        }
    }
}

/// What a session begins with. The same beginning, the same code and the same answers of the host come to the same
/// turns, as long as none of them was out of time or memory.
#[derive(Debug, Clone)]
pub struct Opening {
    /// `context`.
    pub context: String,
    /// What code may use.
    pub limits: ReplLimits,
    /// The only time that code ever sees.
    pub now: Timestamp,
    /// Where `Math.random` begins.
    pub seed: u64,
}

/// Opens sessions for code.
pub trait Sandbox: Send + Sync + 'static {
    /// A session. Dropped to be closed; code that runs then is stopped.
    fn open(&self, opening: Opening) -> Result<Box<dyn Repl>, String>;
}

/// One session: what code declares at its top or puts into `scope` is there in the next turn.
pub trait Repl: Send {
    /// Runs code. Whatever it does, the session can be used again after. Nothing happens before the future is polled;
    /// dropped, it stops the code. One at a time: a future has ended or is dropped before the next one is polled.
    fn run(&mut self, code: String, host: Arc<dyn Host>) -> Future<Turn>;
}

/// What code can reach. Called while the future of the turn is polled, several calls at once if the code wants; a
/// call that the turn no longer waits for is dropped.
///
/// Calls are numbered in each turn, 0, 1, 2 …, in the order in which the code makes them. The number is the same when
/// the turn is run again, so that an answer that was written down can be handed back.
pub trait Host: Send + Sync + 'static {
    /// Code printed something.
    fn print(&self, stream: StreamName, chunk: String);

    /// Code asks a model: `llm_query(prompt, context?)`.
    fn query(&self, call: u32, prompt: String, context: Option<String>) -> Future<Result<String, String>>;

    /// Code wants a command run: `exec(command)`.
    fn exec(&self, call: u32, command: String) -> Future<Result<String, String>>;
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
