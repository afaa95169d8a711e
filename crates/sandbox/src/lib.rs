//! What agents act with: the shell, files, the web, and code they write themselves.
//!
//! In: calls of tools. Out: what came of them, with bounds on time and size. A tool does what it is told wherever the
//! account it runs under may: what an agent may ask for is decided before, by rules that look at
//! [`subjects`](antiphon_port::Tool::subjects). Start reading at [`Workspace`], then [`tools()`].

mod tools;
mod typed;
mod workspace;

pub mod repl;

mod bash;
mod fetch;
mod patch;
mod read;
mod search;
mod todo;
mod write;

mod blocking;
mod file;
mod place;
mod promise;
mod seen;
mod text;

pub use tools::{NAMES, tool, tools};
pub use typed::{Answer, Typed, typed};
pub use workspace::{Limits, Workspace};
