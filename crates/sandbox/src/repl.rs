//! Code that a model wrote, run in an engine inside this process: [`JavaScript`].
//!
//! In: code, and a host that answers `llm_query` and `exec`. Out: what it printed, what went wrong, its answer.
//! Start reading at [`JavaScript`], then `session`, `thread`, `engine` and `prelude.js`.
//!
//! # What is a boundary and what is not
//!
//! Code reaches what the language itself brings, and the things that are given to it: `context`, `scope`, `console`,
//! `llm_query`, `exec` and `FINAL`. There is no file, socket, module, timer, thread or environment; the clock stands
//! at the moment the session was opened with, in UTC, and chance repeats itself from the seed. Memory, stack, time at
//! work, output, answers and calls are bounded, and every bound ends in a turn with an error, not in the end of the
//! program.
//!
//! That holds as far as the engine, `QuickJS`, is without fault. It is a large program in C in this very process: code
//! that knows a fault in it has everything that this process has, and a fault that it stumbles over ends the process.
//! Its weak side is memory: where an allocation fails, a few of its built-ins go wrong. Two that did (`bind` and the
//! compiler) are only entered with room to spare; `eval` of code at the very edge of memory is not. So this keeps a
//! model's mistakes and its common mischief in; it is no wall against somebody who attacks. Code from strangers
//! belongs into a process or a machine of its own, with the whole program around it. What `exec` does is not bounded
//! here at all: that is up to the host and its permissions.
//!
//! The engine looks at the clock between steps of JavaScript and in most loops of its built-ins, not in all. A turn
//! that hangs in one of those ends two seconds after twice its time with an error; its thread is left behind, works on
//! until the built-in is done, and is counted: with four of them no new session opens.
//!
//! # What is kept
//!
//! Code is the body of an async function. What it declares at its top and what it puts into `scope` is found by its
//! name in the next turn, also after an error: for a declaration that was not reached there is nothing to keep. A
//! function sees the variables of the turn it was made in; what a later turn assigns to one of those names it does
//! not see, unless both say `scope.name`. When the engine had to be replaced, `scope` is empty and the error says so.

mod desk;
mod engine;
mod gate;
mod names;
mod place;
mod session;
mod thread;
mod watch;

use antiphon_port::{Opening, Repl, Sandbox};

use session::Session;

/// Runs JavaScript, each session in a thread of its own.
///
/// ```
/// # use std::sync::Arc;
/// # use antiphon_event::{StreamName, Timestamp};
/// # use antiphon_port::{Future, Host, Opening, ReplLimits, Sandbox};
/// # use antiphon_sandbox::repl::JavaScript;
/// # struct Nobody;
/// # impl Host for Nobody {
/// #     fn print(&self, _: StreamName, _: String) {}
/// #     fn query(&self, _: u32, prompt: String, _: Option<String>) -> Future<Result<String, String>> {
/// #         Box::pin(async move { Ok(prompt.to_uppercase()) })
/// #     }
/// #     fn exec(&self, _: u32, _: String) -> Future<Result<String, String>> {
/// #         Box::pin(async { Err("not here".to_owned()) })
/// #     }
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let host = Arc::new(Nobody);
/// # let now = Timestamp::from_millis(0).unwrap();
/// # let opening = Opening { context: "a b c".into(), limits: ReplLimits::default(), now, seed: 1 };
/// let mut session = JavaScript.open(opening)?;
/// let turn = session.run("const words = context.split(' ')".into(), host.clone()).await;
/// assert_eq!(turn.error, None);
/// let turn = session.run("FINAL(await llm_query(words[1]))".into(), host).await;
/// assert_eq!(turn.answer.as_deref(), Some("B"));
/// # Ok::<(), String>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct JavaScript;

impl Sandbox for JavaScript {
    fn open(&self, opening: Opening) -> Result<Box<dyn Repl>, String> {
        let (size, memory) = (opening.context.len(), opening.limits.memory_bytes);
        // In the engine a string takes up to two bytes for each of ours.
        if size > memory / 4 {
            return Err(format!(
                "cannot open a session: the context has {size} bytes, at most a fourth of its memory of {memory}"
            ));
        }
        Ok(Box::new(Session::open(opening)?))
    }
}
