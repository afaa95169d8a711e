//! The agent loop: a model that says things, calls tools, and asks before it acts, one event at a time.
//!
//! In: what came back from outside. Out: events, and effects to perform. No clock, no I/O.
//! Start reading at [`Definition`], what an agent is, and [`Agent`], one run of it; [`Prompt`] and [`Delta`] are what
//! passes between it and a model.

pub mod permission;

mod definition;
pub mod machine;
mod prompt;
mod reply;
mod rlm;
mod said;
mod tool;

pub use definition::{
    Compact, Definition, Harness, Limits, Memory, ModelUse, OnLimit, PriceUse, Server, Subagent,
    SubagentPolicy,
};
pub use machine::{Agent, Outfit};
pub use prompt::Prompt;
pub use reply::{Delta, Fault, Price, Stop, Tokens};
pub use rlm::Rlm;
pub use said::Said;
pub use tool::{Class, Spec};

pub use antiphon_view::messages::{Call, Content, Message, Thought};
