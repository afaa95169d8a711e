//! Antiphon: agents, and flows of agents, whose every step is an event.
//!
//! In: a model, tools, a task. Out: an answer, or the stream of everything that led to it. Start reading at [`Agent`];
//! [`Engine`] runs flows, with [`Wardrobe`] for the agents in them.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), antiphon::Error> {
//! use antiphon::{Agent, scripted};
//!
//! let agent = Agent::new(scripted(["The sea is blue."])).system("Answer in one sentence.");
//! let answer = agent.run("What colour is the sea?").await?;
//! assert_eq!(answer.text(), "The sea is blue.");
//! # Ok(())
//! # }
//! ```

mod agent;
mod inspect;
mod rules;
mod tools;
mod wardrobe;

pub use agent::{Agent, Answer, Error, scripted};
pub use antiphon_agent::permission::Rule;
pub use antiphon_agent::{Class, Definition, ModelUse, Spec};
pub use antiphon_event::{Body, Event, Json};
pub use antiphon_flow::{Flow, Node};
pub use antiphon_model::{Models, Prices, Recorder, Script, Step};
pub use antiphon_port::{Journal, Model, Tool, ToolCall, ToolFault, ToolReply};
pub use antiphon_runtime::{Engine, Invocation, Kit, Outcome, Outfitter, Refused, Report, Run, Tail};
pub use antiphon_sandbox::{Workspace, typed};
pub use antiphon_store::open as open_store;
pub use inspect::inspect;
pub use rules::Rules;
pub use wardrobe::Wardrobe;

/// The programs on the page about agents.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agents.md")]
struct Page;
